//! Free slots of the transmit pool.

use super::SLOT_BITS;
use crate::prim::{ModuleId, Reg};
use crate::stream::LevelFifo;
use rust_hdl::prelude::*;

/// First-in first-out list of free slots, filled after reset.
///
/// A slot is in the list, with the segmenter, or live in the ledger: so the list never overflows.
#[derive(Clone, Debug, LogicBlock)]
pub struct SlotPool {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all slots are freed.
    pub rst: Signal<In, Bit>,
    /// The list is being filled: clear the record of `fill_slot`; `free` must not be given.
    pub filling: Signal<Out, Bit>,
    /// Slot that is being freed.
    pub fill_slot: Signal<Out, Bits<SLOT_BITS>>,
    /// A slot is free again.
    pub free: Signal<In, Bit>,
    /// Its number.
    pub free_slot: Signal<In, Bits<SLOT_BITS>>,
    /// A free slot is on offer.
    pub valid: Signal<Out, Bit>,
    /// It is taken.
    pub ready: Signal<In, Bit>,
    /// Its number.
    pub slot: Signal<Out, Bits<SLOT_BITS>>,
    /// Slots in the list.
    pub level: Signal<Out, Bits<11>>,
    list: LevelFifo<Bits<SLOT_BITS>, SLOT_BITS>,
    fills: Reg<Bit>,
    fill: Reg<Bits<SLOT_BITS>>,
    last: Constant<Bits<SLOT_BITS>>,
}

impl SlotPool {
    /// For `slots` slots, 2 to 1,024.
    pub fn new(slots: usize) -> Self {
        assert!(
            (2..=1 << SLOT_BITS).contains(&slots),
            "{slots} transmit slots"
        );
        Self {
            id: ModuleId::new(
                "rondo_slot_pool",
                &format!("List of free slots, {slots} in all, filled after reset."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            filling: Signal::default(),
            fill_slot: Signal::default(),
            free: Signal::default(),
            free_slot: Signal::default(),
            valid: Signal::default(),
            ready: Signal::default(),
            slot: Signal::default(),
            level: Signal::default(),
            list: LevelFifo::new("transmit_slots", (1 << SLOT_BITS) - 1),
            fills: Reg::default(),
            fill: Reg::default(),
            last: Constant::new((slots as u64 - 1).into()),
        }
    }
}

impl Logic for SlotPool {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, fills, fill);
        self.list.clk.next = self.clk.val();
        self.list.rst.next = self.rst.val();
        self.list.push.next = self.fills.q.val() || self.free.val();
        self.list.push_data.next = self.free_slot.val();
        if self.fills.q.val() {
            self.list.push_data.next = self.fill.q.val();
            self.fill.d.next = self.fill.q.val() + 1;
            if self.fill.q.val() == self.last.val() {
                self.fills.d.next = false;
            }
        }
        self.filling.next = self.fills.q.val();
        self.fill_slot.next = self.fill.q.val();
        self.valid.next = self.list.valid.val() && !self.fills.q.val();
        self.list.ready.next = self.ready.val() && !self.fills.q.val();
        self.slot.next = self.list.data.val();
        self.level.next = self.list.level.val();
        if self.rst.val() {
            self.fills.d.next = true;
            self.fill.d.next = 0.into();
        }
    }
}
