//! The free slots, and how many are in use.

use super::SLOT_BITS;
use crate::prim::{ModuleId, Reg};
use crate::stream::StreamFifo;
use rust_hdl::prelude::*;

/// Hands out slots. Filled after reset, then fed by the drain and by dropped packets, which must
/// not free a slot in one clock.
#[derive(Clone, Debug, LogicBlock)]
pub struct FreeList {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Slots that may be in use before only the next expected packet gets in.
    pub limit: Signal<In, Bits<SLOT_BITS>>,
    /// A delivered packet frees its slot.
    pub freed: Signal<In, Bit>,
    /// Its number.
    pub freed_slot: Signal<In, Bits<SLOT_BITS>>,
    /// A dropped packet frees its slot.
    pub dropped: Signal<In, Bit>,
    /// Its number.
    pub dropped_slot: Signal<In, Bits<SLOT_BITS>>,
    /// A free slot is on offer.
    pub slot_valid: Signal<Out, Bit>,
    /// It is taken.
    pub slot_ready: Signal<In, Bit>,
    /// Its number.
    pub slot: Signal<Out, Bits<SLOT_BITS>>,
    /// The list is being filled after reset: no slot may be used yet.
    pub filling: Signal<Out, Bit>,
    /// An out-of-order packet may be kept.
    pub room: Signal<Out, Bit>,
    /// Slots in use.
    pub occupied: Signal<Out, Bits<10>>,
    /// Most slots ever in use since reset.
    pub high_water: Signal<Out, Bits<10>>,
    slots: StreamFifo<Bits<SLOT_BITS>, SLOT_BITS>,
    filling_q: Reg<Bit>,
    fill: Reg<Bits<SLOT_BITS>>,
    in_use: Reg<Bits<10>>,
    high_water_q: Reg<Bits<10>>,
    room_q: Reg<Bit>,
    push: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    last_slot: Constant<Bits<SLOT_BITS>>,
    all_slots: Constant<Bits<10>>,
    reserved_from: Constant<Bits<10>>,
}

impl FreeList {
    /// For `slots` slots.
    pub fn new(slots: usize) -> Self {
        let count = slots as u64;
        Self {
            id: ModuleId::new(
                "rondo_reorder_free_list",
                &format!("The free ones of {slots} slots, and how many are in use."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            limit: Signal::default(),
            freed: Signal::default(),
            freed_slot: Signal::default(),
            dropped: Signal::default(),
            dropped_slot: Signal::default(),
            slot_valid: Signal::default(),
            slot_ready: Signal::default(),
            slot: Signal::default(),
            filling: Signal::default(),
            room: Signal::default(),
            occupied: Signal::default(),
            high_water: Signal::default(),
            slots: StreamFifo::new("reorder_free_slots"),
            filling_q: Reg::default(),
            fill: Reg::default(),
            in_use: Reg::default(),
            high_water_q: Reg::default(),
            room_q: Reg::default(),
            push: Signal::default(),
            taken: Signal::default(),
            last_slot: Constant::new((count - 1).into()),
            all_slots: Constant::new(count.into()),
            reserved_from: Constant::new((count - 2).into()),
        }
    }
}

impl Logic for FreeList {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, filling_q, fill, in_use, high_water_q, room_q);
        self.slots.clk.next = self.clk.val();
        self.slots.rst.next = self.rst.val();

        self.push.next = self.filling_q.q.val() || self.freed.val() || self.dropped.val();
        self.slots.push.next = self.push.val();
        self.slots.push_data.next = self.dropped_slot.val();
        if self.freed.val() {
            self.slots.push_data.next = self.freed_slot.val();
        }
        if self.filling_q.q.val() {
            self.slots.push_data.next = self.fill.q.val();
            self.fill.d.next = self.fill.q.val() + 1;
            if self.fill.q.val() == self.last_slot.val() {
                self.filling_q.d.next = false;
            }
        }
        self.slots.ready.next = self.slot_ready.val();
        self.taken.next = self.slots.valid.val() && self.slot_ready.val();
        self.slot_valid.next = self.slots.valid.val();
        self.slot.next = self.slots.data.val();

        // The slot that the next packet will use counts as in use.
        if self.taken.val() && !self.push.val() {
            self.in_use.d.next = self.in_use.q.val() + 1;
        }
        if !self.taken.val() && self.push.val() {
            self.in_use.d.next = self.in_use.q.val() - 1;
        }
        if (self.in_use.q.val() > self.high_water_q.q.val()) && !self.filling_q.q.val() {
            self.high_water_q.d.next = self.in_use.q.val();
        }
        self.room_q.d.next = (self.in_use.q.val() <= bit_cast::<10, SLOT_BITS>(self.limit.val()))
            && (self.in_use.q.val() < self.reserved_from.val());
        self.filling.next = self.filling_q.q.val();
        self.room.next = self.room_q.q.val();
        self.occupied.next = self.in_use.q.val();
        self.high_water.next = self.high_water_q.q.val();

        if self.rst.val() {
            self.filling_q.d.next = true;
            self.fill.d.next = 0.into();
            // Every slot counts as in use until the fill frees it.
            self.in_use.d.next = self.all_slots.val();
            self.high_water_q.d.next = 0.into();
            self.room_q.d.next = false;
        }
    }
}
