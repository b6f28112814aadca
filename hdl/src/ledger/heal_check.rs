//! Finds PSNs whose own ACK was lost.

use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::{LevelFifo, FLOW_BITS};
use rust_hdl::prelude::*;

/// When a flow's lowest unacknowledged PSN lies below what the receiver expects next, that PSN has
/// arrived: it is to be acknowledged without an ACK of its own.
///
/// A check is made for every PSN that was acknowledged, and for every ACK that acknowledged none.
/// Each check finds one PSN, whose acknowledgement is checked in turn: so all are found. A check that
/// finds no room is left out; a later ACK, at the latest that of a retransmission, makes another.
#[derive(Clone, Debug, LogicBlock)]
pub struct HealCheck {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// The init sweep writes this flow.
    pub init_write: Signal<In, Bit>,
    /// Flow of the init sweep.
    pub init_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub init_psn: Signal<In, Bits<24>>,
    /// The receiver's next expected PSN has moved.
    pub expected_write: Signal<In, Bit>,
    /// Its flow.
    pub expected_flow: Signal<In, Bits<FLOW_BITS>>,
    /// The PSN.
    pub expected_psn: Signal<In, Bits<24>>,
    /// A PSN was acknowledged.
    pub acked_valid: Signal<In, Bit>,
    /// Its flow.
    pub acked_flow: Signal<In, Bits<FLOW_BITS>>,
    /// The flow's lowest unacknowledged PSN.
    pub acked_una: Signal<In, Bits<24>>,
    /// An ACK acknowledged nothing.
    pub stale_valid: Signal<In, Bit>,
    /// Its flow.
    pub stale_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A PSN arrived without an ACK of its own.
    pub heal_valid: Signal<Out, Bit>,
    /// It is taken.
    pub heal_ready: Signal<In, Bit>,
    /// Flow.
    pub heal_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN.
    pub heal_psn: Signal<Out, Bits<24>>,
    unacknowledged: Ram<Bits<24>, FLOW_BITS>,
    expected: Ram<Bits<24>, FLOW_BITS>,
    triggers: LevelFifo<Bits<FLOW_BITS>, 5>,
    heals: LevelFifo<Bits<34>, 5>,
    valid_1: Reg<Bit>,
    valid_2: Reg<Bit>,
    own_1: Reg<Bit>,
    una_1: Reg<Bits<24>>,
    una_2: Reg<Bits<24>>,
    flow_1: Reg<Bits<FLOW_BITS>>,
    flow_2: Reg<Bits<FLOW_BITS>>,
    behind_2: Reg<Bits<24>>,
    at: Signal<Local, Bits<FLOW_BITS>>,
    una: Signal<Local, Bits<24>>,
}

impl HealCheck {
    /// For `flows` flows.
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_heal_check",
                "Finds PSNs that arrived but whose own ACK was lost, by the cumulative state.\n\
                 A suffix _n is the clock after the check in which the value is present.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            init_write: Signal::default(),
            init_flow: Signal::default(),
            init_psn: Signal::default(),
            expected_write: Signal::default(),
            expected_flow: Signal::default(),
            expected_psn: Signal::default(),
            acked_valid: Signal::default(),
            acked_flow: Signal::default(),
            acked_una: Signal::default(),
            stale_valid: Signal::default(),
            stale_flow: Signal::default(),
            heal_valid: Signal::default(),
            heal_ready: Signal::default(),
            heal_flow: Signal::default(),
            heal_psn: Signal::default(),
            unacknowledged: Ram::new(flows),
            expected: Ram::new(flows),
            triggers: LevelFifo::new("stale_acks", 30),
            heals: LevelFifo::new("heals", 28),
            valid_1: Reg::default(),
            valid_2: Reg::default(),
            own_1: Reg::default(),
            una_1: Reg::default(),
            una_2: Reg::default(),
            flow_1: Reg::default(),
            flow_2: Reg::default(),
            behind_2: Reg::default(),
            at: Signal::default(),
            una: Signal::default(),
        }
    }
}

impl Logic for HealCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, valid_1, valid_2, own_1, una_1, una_2, flow_1, flow_2, behind_2);
        clock!(self, clk, unacknowledged, expected);
        self.triggers.clk.next = self.clk.val();
        self.heals.clk.next = self.clk.val();
        self.triggers.rst.next = self.rst.val();
        self.heals.rst.next = self.rst.val();

        self.triggers.push.next = self.stale_valid.val() && self.triggers.room.val();
        self.triggers.push_data.next = self.stale_flow.val();
        self.triggers.ready.next = !self.acked_valid.val();

        // An acknowledged PSN brings its flow's state with it; an ACK that acknowledged nothing
        // reads what was stored last.
        self.at.next = self.triggers.data.val();
        if self.acked_valid.val() {
            self.at.next = self.acked_flow.val();
        }
        self.unacknowledged.read_address.next = self.at.val();
        self.expected.read_address.next = self.at.val();
        self.valid_1.d.next = self.acked_valid.val() || self.triggers.valid.val();
        self.own_1.d.next = self.acked_valid.val();
        self.una_1.d.next = self.acked_una.val();
        self.flow_1.d.next = self.at.val();

        self.una.next = self.unacknowledged.read_data.val();
        if self.own_1.q.val() {
            self.una.next = self.una_1.q.val();
        }
        self.valid_2.d.next = self.valid_1.q.val();
        self.flow_2.d.next = self.flow_1.q.val();
        self.una_2.d.next = self.una.val();
        self.behind_2.d.next = self.expected.read_data.val() - self.una.val();

        self.heals.push.next = self.valid_2.q.val()
            && (self.behind_2.q.val() != 0)
            && !self.behind_2.q.val().get_bit(23)
            && self.heals.room.val();
        self.heals.push_data.next = bit_cast::<34, 24>(self.una_2.q.val())
            | (bit_cast::<34, FLOW_BITS>(self.flow_2.q.val()) << 24);
        self.heal_valid.next = self.heals.valid.val();
        self.heals.ready.next = self.heal_ready.val();
        self.heal_psn.next = self.heals.data.val().get_bits::<24>(0);
        self.heal_flow.next = self.heals.data.val().get_bits::<FLOW_BITS>(24);

        self.unacknowledged.write_enable.next = self.acked_valid.val() || self.init_write.val();
        self.unacknowledged.write_address.next = self.acked_flow.val();
        self.unacknowledged.write_data.next = self.acked_una.val();
        self.expected.write_enable.next = self.expected_write.val() || self.init_write.val();
        self.expected.write_address.next = self.expected_flow.val();
        self.expected.write_data.next = self.expected_psn.val();
        if self.init_write.val() {
            self.unacknowledged.write_address.next = self.init_flow.val();
            self.unacknowledged.write_data.next = self.init_psn.val();
            self.expected.write_address.next = self.init_flow.val();
            self.expected.write_data.next = self.init_psn.val();
        }

        if self.rst.val() {
            self.valid_1.d.next = false;
            self.valid_2.d.next = false;
        }
    }
}
