//! From flow and PSN to the transmit slot.

use super::{EVENT_BITS, SLOT_BITS};
use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::{LevelFifo, FLOW_BITS};
use rust_hdl::prelude::*;

/// Looks up the slot of what comes with flow and PSN only: healed PSNs first, then ACKs, then lost
/// PSNs that wait to be sent again. Events are words of [`EVENT_BITS`] bits.
#[derive(Clone, Debug, LogicBlock)]
pub struct SlotLookup {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A slot is given to a PSN.
    pub commit: Signal<In, Bit>,
    /// Flow.
    pub commit_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub commit_psn: Signal<In, Bits<24>>,
    /// Slot.
    pub commit_slot: Signal<In, Bits<SLOT_BITS>>,
    /// An ACK, a NAK, or the ACK of a probe.
    pub ack_valid: Signal<In, Bit>,
    /// It is taken.
    pub ack_ready: Signal<Out, Bit>,
    /// The event.
    pub ack_event: Signal<In, Bits<EVENT_BITS>>,
    /// A PSN that arrived without an ACK of its own.
    pub heal_valid: Signal<In, Bit>,
    /// It is taken.
    pub heal_ready: Signal<Out, Bit>,
    /// The event.
    pub heal_event: Signal<In, Bits<EVENT_BITS>>,
    /// A lost PSN.
    pub lost_valid: Signal<In, Bit>,
    /// It is taken.
    pub lost_ready: Signal<Out, Bit>,
    /// The event.
    pub lost_event: Signal<In, Bits<EVENT_BITS>>,
    /// An event with its slot.
    pub found_valid: Signal<Out, Bit>,
    /// It is taken.
    pub found_ready: Signal<In, Bit>,
    /// The event.
    pub found_event: Signal<Out, Bits<EVENT_BITS>>,
    slots: Ram<Bits<SLOT_BITS>, 20>,
    events: LevelFifo<Bits<EVENT_BITS>, 5>,
    valid_1: Reg<Bit>,
    event_1: Reg<Bits<EVENT_BITS>>,
    chosen: Signal<Local, Bits<EVENT_BITS>>,
    take_ack: Signal<Local, Bit>,
    take_lost: Signal<Local, Bit>,
}

impl SlotLookup {
    /// For `flows` flows; each has 1,024 PSNs in the table.
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_slot_lookup",
                "From flow and PSN to the transmit slot: healed PSNs, ACKs, lost PSNs.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            commit: Signal::default(),
            commit_flow: Signal::default(),
            commit_psn: Signal::default(),
            commit_slot: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_event: Signal::default(),
            heal_valid: Signal::default(),
            heal_ready: Signal::default(),
            heal_event: Signal::default(),
            lost_valid: Signal::default(),
            lost_ready: Signal::default(),
            lost_event: Signal::default(),
            found_valid: Signal::default(),
            found_ready: Signal::default(),
            found_event: Signal::default(),
            slots: Ram::new(flows << 10),
            events: LevelFifo::new("found", 29),
            valid_1: Reg::default(),
            event_1: Reg::default(),
            chosen: Signal::default(),
            take_ack: Signal::default(),
            take_lost: Signal::default(),
        }
    }
}

impl Logic for SlotLookup {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, valid_1, event_1);
        clock!(self, clk, slots);
        self.events.clk.next = self.clk.val();
        self.events.rst.next = self.rst.val();

        self.heal_ready.next = self.events.room.val();
        self.take_ack.next = self.events.room.val() && !self.heal_valid.val();
        self.ack_ready.next = self.take_ack.val();
        self.take_lost.next =
            self.events.room.val() && !self.heal_valid.val() && !self.ack_valid.val();
        self.lost_ready.next = self.take_lost.val();
        self.chosen.next = self.lost_event.val();
        if self.ack_valid.val() {
            self.chosen.next = self.ack_event.val();
        }
        if self.heal_valid.val() {
            self.chosen.next = self.heal_event.val();
        }
        self.valid_1.d.next = self.events.room.val()
            && (self.heal_valid.val() || self.ack_valid.val() || self.lost_valid.val());
        self.event_1.d.next = self.chosen.val();
        self.slots.read_address.next =
            (bit_cast::<20, FLOW_BITS>(self.chosen.val().get_bits::<FLOW_BITS>(7)) << 10)
                | bit_cast::<20, SLOT_BITS>(self.chosen.val().get_bits::<SLOT_BITS>(17));

        self.events.push.next = self.valid_1.q.val();
        self.events.push_data.next = self.event_1.q.val()
            | (bit_cast::<EVENT_BITS, SLOT_BITS>(self.slots.read_data.val()) << 161);
        self.found_valid.next = self.events.valid.val();
        self.events.ready.next = self.found_ready.val();
        self.found_event.next = self.events.data.val();

        self.slots.write_enable.next = self.commit.val();
        self.slots.write_address.next = (bit_cast::<20, FLOW_BITS>(self.commit_flow.val()) << 10)
            | bit_cast::<20, SLOT_BITS>(self.commit_psn.val().get_bits::<SLOT_BITS>(0));
        self.slots.write_data.next = self.commit_slot.val();

        if self.rst.val() {
            self.valid_1.d.next = false;
        }
    }
}
