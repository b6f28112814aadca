//! Which event enters the ledger's pipeline.

use super::{EVENT_BITS, EVENT_INTERVAL, SLOT_BITS};
use crate::prim::{ModuleId, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Chooses the event of a clock: sent, found, commit, and else a scan of the next slot.
///
/// Invariant: no event enters whose slot had one in the [`EVENT_INTERVAL`] clocks before, no ACK whose
/// flow had one, and no scan while an ACK is under way. So each reads what those before it wrote.
#[derive(Clone, Debug, LogicBlock)]
pub struct EventArbiter {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// No event may enter.
    pub stop: Signal<In, Bit>,
    /// A packet was sent.
    pub sent_valid: Signal<In, Bit>,
    /// The event enters.
    pub sent_ready: Signal<Out, Bit>,
    /// The event.
    pub sent_event: Signal<In, Bits<EVENT_BITS>>,
    /// An event with its slot from the lookup.
    pub found_valid: Signal<In, Bit>,
    /// It enters.
    pub found_ready: Signal<Out, Bit>,
    /// The event.
    pub found_event: Signal<In, Bits<EVENT_BITS>>,
    /// A slot holds a packet that is to be sent.
    pub commit_valid: Signal<In, Bit>,
    /// The event enters.
    pub commit_ready: Signal<Out, Bit>,
    /// The event.
    pub commit_event: Signal<In, Bits<EVENT_BITS>>,
    /// A lost packet would have room.
    pub scan_room: Signal<In, Bit>,
    /// Time, ns.
    pub now_ns: Signal<In, Bits<32>>,
    /// An event enters.
    pub valid: Signal<Out, Bit>,
    /// It.
    pub chosen: Signal<Out, Bits<EVENT_BITS>>,
    recent: [Reg<Bit>; EVENT_INTERVAL],
    recent_slot: [Reg<Bits<SLOT_BITS>>; EVENT_INTERVAL],
    recent_ack: [Reg<Bit>; EVENT_INTERVAL],
    recent_flow: [Reg<Bits<FLOW_BITS>>; EVENT_INTERVAL],
    sent_conflict: [Signal<Local, Bit>; EVENT_INTERVAL],
    found_conflict: [Signal<Local, Bit>; EVENT_INTERVAL],
    commit_conflict: [Signal<Local, Bit>; EVENT_INTERVAL],
    scan_conflict: [Signal<Local, Bit>; EVENT_INTERVAL],
    ack_conflict: [Signal<Local, Bit>; EVENT_INTERVAL],
    ack_recent: [Signal<Local, Bit>; EVENT_INTERVAL],
    scan_at: Reg<Bits<SLOT_BITS>>,
    take_sent: Signal<Local, Bit>,
    take_found: Signal<Local, Bit>,
    take_commit: Signal<Local, Bit>,
    take_scan: Signal<Local, Bit>,
    found_is_ack: Signal<Local, Bit>,
    here: Signal<Local, Bit>,
    scan_event: Signal<Local, Bits<EVENT_BITS>>,
    picked: Signal<Local, Bits<EVENT_BITS>>,
    last_slot: Constant<Bits<SLOT_BITS>>,
}

impl EventArbiter {
    /// For a pool of `slots` slots.
    pub fn new(slots: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_event_arbiter",
                "Chooses the event that enters the ledger: sent, found, commit, scan.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            stop: Signal::default(),
            sent_valid: Signal::default(),
            sent_ready: Signal::default(),
            sent_event: Signal::default(),
            found_valid: Signal::default(),
            found_ready: Signal::default(),
            found_event: Signal::default(),
            commit_valid: Signal::default(),
            commit_ready: Signal::default(),
            commit_event: Signal::default(),
            scan_room: Signal::default(),
            now_ns: Signal::default(),
            valid: Signal::default(),
            chosen: Signal::default(),
            recent: Default::default(),
            recent_slot: Default::default(),
            recent_ack: Default::default(),
            recent_flow: Default::default(),
            sent_conflict: Default::default(),
            found_conflict: Default::default(),
            commit_conflict: Default::default(),
            scan_conflict: Default::default(),
            ack_conflict: Default::default(),
            ack_recent: Default::default(),
            scan_at: Reg::default(),
            take_sent: Signal::default(),
            take_found: Signal::default(),
            take_commit: Signal::default(),
            take_scan: Signal::default(),
            found_is_ack: Signal::default(),
            here: Signal::default(),
            scan_event: Signal::default(),
            picked: Signal::default(),
            last_slot: Constant::new((slots as u64 - 1).into()),
        }
    }
}

impl Logic for EventArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, scan_at);
        for i in 0..EVENT_INTERVAL {
            self.recent[i].clock.next = self.clk.val();
            self.recent_slot[i].clock.next = self.clk.val();
            self.recent_ack[i].clock.next = self.clk.val();
            self.recent_flow[i].clock.next = self.clk.val();
        }
        self.scan_event.next = bits::<EVENT_BITS>(7)
            | (bit_cast::<EVENT_BITS, 32>(self.now_ns.val()) << 129)
            | (bit_cast::<EVENT_BITS, SLOT_BITS>(self.scan_at.q.val()) << 161);

        // conflict[i] looks i + 1 clocks back.
        self.sent_conflict[0].next = self.recent[0].q.val()
            && (self.recent_slot[0].q.val() == self.sent_event.val().get_bits::<SLOT_BITS>(161));
        self.found_conflict[0].next = self.recent[0].q.val()
            && (self.recent_slot[0].q.val() == self.found_event.val().get_bits::<SLOT_BITS>(161));
        self.commit_conflict[0].next = self.recent[0].q.val()
            && (self.recent_slot[0].q.val() == self.commit_event.val().get_bits::<SLOT_BITS>(161));
        self.scan_conflict[0].next =
            self.recent[0].q.val() && (self.recent_slot[0].q.val() == self.scan_at.q.val());
        self.ack_conflict[0].next = self.recent_ack[0].q.val()
            && (self.recent_flow[0].q.val() == self.found_event.val().get_bits::<FLOW_BITS>(7));
        self.ack_recent[0].next = self.recent_ack[0].q.val();
        for i in 1..EVENT_INTERVAL {
            self.sent_conflict[i].next = self.sent_conflict[i - 1].val()
                || (self.recent[i].q.val()
                    && (self.recent_slot[i].q.val()
                        == self.sent_event.val().get_bits::<SLOT_BITS>(161)));
            self.found_conflict[i].next = self.found_conflict[i - 1].val()
                || (self.recent[i].q.val()
                    && (self.recent_slot[i].q.val()
                        == self.found_event.val().get_bits::<SLOT_BITS>(161)));
            self.commit_conflict[i].next = self.commit_conflict[i - 1].val()
                || (self.recent[i].q.val()
                    && (self.recent_slot[i].q.val()
                        == self.commit_event.val().get_bits::<SLOT_BITS>(161)));
            self.scan_conflict[i].next = self.scan_conflict[i - 1].val()
                || (self.recent[i].q.val()
                    && (self.recent_slot[i].q.val() == self.scan_at.q.val()));
            self.ack_conflict[i].next = self.ack_conflict[i - 1].val()
                || (self.recent_ack[i].q.val()
                    && (self.recent_flow[i].q.val()
                        == self.found_event.val().get_bits::<FLOW_BITS>(7)));
            self.ack_recent[i].next = self.ack_recent[i - 1].val() || self.recent_ack[i].q.val();
        }
        self.found_is_ack.next = self.found_event.val().get_bits::<2>(1) == 1;
        for i in (EVENT_INTERVAL - 1)..EVENT_INTERVAL {
            self.take_sent.next =
                self.sent_valid.val() && !self.stop.val() && !self.sent_conflict[i].val();
            self.take_found.next = self.found_valid.val()
                && !self.stop.val()
                && !self.take_sent.val()
                && !self.found_conflict[i].val()
                && !self.ack_conflict[i].val();
            self.commit_ready.next = !self.stop.val()
                && !self.take_sent.val()
                && !self.take_found.val()
                && !self.commit_conflict[i].val();
            self.take_commit.next = self.commit_valid.val()
                && !self.stop.val()
                && !self.take_sent.val()
                && !self.take_found.val()
                && !self.commit_conflict[i].val();
            self.take_scan.next = self.scan_room.val()
                && !self.stop.val()
                && !self.take_sent.val()
                && !self.take_found.val()
                && !self.take_commit.val()
                && !self.scan_conflict[i].val()
                && !self.ack_recent[i].val();
        }
        self.sent_ready.next = self.take_sent.val();
        self.found_ready.next = self.take_found.val();
        self.picked.next = self.scan_event.val();
        if self.take_commit.val() {
            self.picked.next = self.commit_event.val();
        }
        if self.take_found.val() {
            self.picked.next = self.found_event.val();
        }
        if self.take_sent.val() {
            self.picked.next = self.sent_event.val();
        }
        if self.take_scan.val() {
            self.scan_at.d.next = self.scan_at.q.val() + 1;
            if self.scan_at.q.val() == self.last_slot.val() {
                self.scan_at.d.next = 0.into();
            }
        }
        self.here.next = self.take_sent.val()
            || self.take_found.val()
            || self.take_commit.val()
            || self.take_scan.val();
        self.recent[0].d.next = self.here.val();
        self.recent_slot[0].d.next = self.picked.val().get_bits::<SLOT_BITS>(161);
        self.recent_ack[0].d.next = self.take_found.val() && self.found_is_ack.val();
        self.recent_flow[0].d.next = self.picked.val().get_bits::<FLOW_BITS>(7);
        for i in 1..EVENT_INTERVAL {
            self.recent[i].d.next = self.recent[i - 1].q.val();
            self.recent_slot[i].d.next = self.recent_slot[i - 1].q.val();
            self.recent_ack[i].d.next = self.recent_ack[i - 1].q.val();
            self.recent_flow[i].d.next = self.recent_flow[i - 1].q.val();
        }
        self.valid.next = self.here.val();
        self.chosen.next = self.picked.val();

        if self.rst.val() {
            self.scan_at.d.next = 0.into();
            for i in 0..EVENT_INTERVAL {
                self.recent[i].d.next = false;
                self.recent_ack[i].d.next = false;
            }
        }
    }
}
