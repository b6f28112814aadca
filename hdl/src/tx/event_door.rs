//! Where the flow scheduler's events come in, and in which order.

use super::{RoundRobin, WAITS};
use crate::prim::{ModuleId, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Kinds of events from outside.
const INPUTS: usize = 5;
/// Sources of events: ring, wait queues, then the kinds from outside.
pub(super) const SOURCES: usize = 1 + WAITS + INPUTS;
/// Clocks after an event in which no other of the same flow is issued.
const RECENT: usize = 3;
/// An event: flow, source (one bit of several), room.
const EVENT: usize = FLOW_BITS + SOURCES + 1;

/// Takes one event a clock from the queues and from outside, and issues it once no event of the same
/// flow is under way.
///
/// Visits and events from outside take turns, among the visits the ring and the wait queues, and
/// among equals each source: every source is served while others are busy. An event that waits for
/// its flow stops those behind it, 3 clocks at most.
///
/// A visit comes in only with a place in the queue of requests, so that it never waits for one; what
/// comes from outside needs none, so that a stalled sender can give back what it could not send.
#[derive(Clone, Debug, LogicBlock)]
pub struct EventDoor {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Nothing comes in: the state is being initialised.
    pub busy: Signal<In, Bit>,
    /// A flow has one packet more to send.
    pub post_valid: Signal<In, Bit>,
    /// It is taken.
    pub post_ready: Signal<Out, Bit>,
    /// Flow.
    pub post_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A request was refused.
    pub idle_valid: Signal<In, Bit>,
    /// It is taken.
    pub idle_ready: Signal<Out, Bit>,
    /// Flow.
    pub idle_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A flow may send one packet beside its pace.
    pub grant_valid: Signal<In, Bit>,
    /// It is taken.
    pub grant_ready: Signal<Out, Bit>,
    /// Flow.
    pub grant_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A flow is opened.
    pub open_valid: Signal<In, Bit>,
    /// It is taken.
    pub open_ready: Signal<Out, Bit>,
    /// Flow.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A flow is closed.
    pub close_valid: Signal<In, Bit>,
    /// It is taken.
    pub close_ready: Signal<Out, Bit>,
    /// Flow.
    pub close_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A flow is first in the ring.
    pub ring_valid: Signal<In, Bit>,
    /// It is taken.
    pub ring_take: Signal<Out, Bit>,
    /// Flow.
    pub ring_flow: Signal<In, Bits<FLOW_BITS>>,
    /// In which wait queues the first flow's wait is over.
    pub wait_valid: Signal<In, Bits<WAITS>>,
    /// Which of them is taken.
    pub wait_take: Signal<Out, Bits<WAITS>>,
    /// Their first flows.
    pub wait_flow: [Signal<In, Bits<FLOW_BITS>>; WAITS],
    /// A request can be queued.
    pub request_room: Signal<In, Bit>,
    /// A place in that queue is kept for a visit.
    pub request_kept: Signal<Out, Bit>,
    /// A probe can be queued.
    pub probe_room: Signal<In, Bit>,
    /// A place in that queue is kept for a refused request.
    pub probe_kept: Signal<Out, Bit>,
    /// An open was taken and is not issued yet.
    pub opening: Signal<Out, Bit>,
    /// An event is issued.
    pub issue: Signal<Out, Bit>,
    /// Its flow, or that of the event that waits.
    pub flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Where it comes from: bit 0 the ring, then the wait queues, post, idle, grant, open, close.
    pub source: Signal<Out, Bits<SOURCES>>,
    /// A place for its probe is kept.
    pub room: Signal<Out, Bit>,
    inputs: RoundRobin<INPUTS>,
    waits: RoundRobin<WAITS>,
    held: Reg<Bits<INPUTS>>,
    held_flow: [Reg<Bits<FLOW_BITS>>; INPUTS],
    visit_is_next: Reg<Bit>,
    ring_is_next: Reg<Bit>,
    front_valid: Reg<Bit>,
    front: Reg<Bits<EVENT>>,
    spare_valid: Reg<Bit>,
    spare: Reg<Bits<EVENT>>,
    recent: [Reg<Bit>; RECENT],
    recent_flow: [Reg<Bits<FLOW_BITS>>; RECENT],
    offered: Signal<Local, Bits<INPUTS>>,
    accepted: Signal<Local, Bits<INPUTS>>,
    offered_flow: [Signal<Local, Bits<FLOW_BITS>>; INPUTS],
    may_take: Signal<Local, Bit>,
    any_input: Signal<Local, Bit>,
    any_wait: Signal<Local, Bit>,
    any_visit: Signal<Local, Bit>,
    take_visit: Signal<Local, Bit>,
    take_input: Signal<Local, Bit>,
    take_ring: Signal<Local, Bit>,
    take_wait: Signal<Local, Bit>,
    taken_input: Signal<Local, Bits<INPUTS>>,
    taken_wait: Signal<Local, Bits<WAITS>>,
    taken: Signal<Local, Bits<SOURCES>>,
    keeps_room: Signal<Local, Bit>,
    source_flow: [Signal<Local, Bits<FLOW_BITS>>; SOURCES],
    either_flow: [Signal<Local, Bits<FLOW_BITS>>; SOURCES],
    taken_flow: Signal<Local, Bits<FLOW_BITS>>,
    entry: Signal<Local, Bits<EVENT>>,
    conflict: [Signal<Local, Bit>; RECENT],
    issued: Signal<Local, Bit>,
}

impl Default for EventDoor {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_event_door",
                &format!(
                    "Takes the flow scheduler's events one a clock and issues them, a flow's own\n\
                     at least {} clocks apart.",
                    RECENT + 1
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            busy: Signal::default(),
            post_valid: Signal::default(),
            post_ready: Signal::default(),
            post_flow: Signal::default(),
            idle_valid: Signal::default(),
            idle_ready: Signal::default(),
            idle_flow: Signal::default(),
            grant_valid: Signal::default(),
            grant_ready: Signal::default(),
            grant_flow: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            close_valid: Signal::default(),
            close_ready: Signal::default(),
            close_flow: Signal::default(),
            ring_valid: Signal::default(),
            ring_take: Signal::default(),
            ring_flow: Signal::default(),
            wait_valid: Signal::default(),
            wait_take: Signal::default(),
            wait_flow: Default::default(),
            request_room: Signal::default(),
            request_kept: Signal::default(),
            probe_room: Signal::default(),
            probe_kept: Signal::default(),
            opening: Signal::default(),
            issue: Signal::default(),
            flow: Signal::default(),
            source: Signal::default(),
            room: Signal::default(),
            inputs: RoundRobin::default(),
            waits: RoundRobin::default(),
            held: Reg::default(),
            held_flow: Default::default(),
            visit_is_next: Reg::default(),
            ring_is_next: Reg::default(),
            front_valid: Reg::default(),
            front: Reg::default(),
            spare_valid: Reg::default(),
            spare: Reg::default(),
            recent: Default::default(),
            recent_flow: Default::default(),
            offered: Signal::default(),
            accepted: Signal::default(),
            offered_flow: Default::default(),
            may_take: Signal::default(),
            any_input: Signal::default(),
            any_wait: Signal::default(),
            any_visit: Signal::default(),
            take_visit: Signal::default(),
            take_input: Signal::default(),
            take_ring: Signal::default(),
            take_wait: Signal::default(),
            taken_input: Signal::default(),
            taken_wait: Signal::default(),
            taken: Signal::default(),
            keeps_room: Signal::default(),
            source_flow: Default::default(),
            either_flow: Default::default(),
            taken_flow: Signal::default(),
            entry: Signal::default(),
            conflict: Default::default(),
            issued: Signal::default(),
        }
    }
}

impl Logic for EventDoor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, held, visit_is_next, ring_is_next);
        dff_setup!(self, clk, front_valid, front, spare_valid, spare);
        self.inputs.clk.next = self.clk.val();
        self.waits.clk.next = self.clk.val();
        self.inputs.rst.next = self.rst.val();
        self.waits.rst.next = self.rst.val();
        for i in 0..RECENT {
            self.recent[i].clock.next = self.clk.val();
            self.recent_flow[i].clock.next = self.clk.val();
        }

        // One place for each kind of event from outside.
        self.offered.next = bit_cast::<INPUTS, 1>(self.post_valid.val().into())
            | (bit_cast::<INPUTS, 1>(self.idle_valid.val().into()) << 1)
            | (bit_cast::<INPUTS, 1>(self.grant_valid.val().into()) << 2)
            | (bit_cast::<INPUTS, 1>(self.open_valid.val().into()) << 3)
            | (bit_cast::<INPUTS, 1>(self.close_valid.val().into()) << 4);
        self.offered_flow[0].next = self.post_flow.val();
        self.offered_flow[1].next = self.idle_flow.val();
        self.offered_flow[2].next = self.grant_flow.val();
        self.offered_flow[3].next = self.open_flow.val();
        self.offered_flow[4].next = self.close_flow.val();
        self.post_ready.next = !self.busy.val() && !self.held.q.val().get_bit(0);
        self.idle_ready.next = !self.busy.val() && !self.held.q.val().get_bit(1);
        self.grant_ready.next = !self.busy.val() && !self.held.q.val().get_bit(2);
        self.open_ready.next = !self.busy.val() && !self.held.q.val().get_bit(3);
        self.close_ready.next = !self.busy.val() && !self.held.q.val().get_bit(4);
        self.accepted.next = 0.into();
        if !self.busy.val() {
            self.accepted.next = self.offered.val() & !self.held.q.val();
        }
        self.held.d.next = (self.held.q.val() & !self.taken_input.val()) | self.accepted.val();
        for i in 0..INPUTS {
            self.held_flow[i].clock.next = self.clk.val();
            self.held_flow[i].d.next = self.held_flow[i].q.val();
            if self.accepted.val().get_bit(i) {
                self.held_flow[i].d.next = self.offered_flow[i].val();
            }
        }

        // Whose turn it is.
        self.may_take.next = !self.spare_valid.q.val() && !self.busy.val();
        self.any_input.next = self.held.q.val().any();
        self.any_wait.next = self.wait_valid.val().any();
        self.any_visit.next =
            self.request_room.val() && (self.ring_valid.val() || self.any_wait.val());
        self.take_visit.next = self.may_take.val()
            && self.any_visit.val()
            && (self.visit_is_next.q.val() || !self.any_input.val());
        self.take_input.next = self.may_take.val()
            && self.any_input.val()
            && !(self.visit_is_next.q.val() && self.any_visit.val());
        self.take_ring.next = self.take_visit.val()
            && self.ring_valid.val()
            && (self.ring_is_next.q.val() || !self.any_wait.val());
        self.take_wait.next = self.take_visit.val() && !self.take_ring.val();
        if self.take_visit.val() || self.take_input.val() {
            self.visit_is_next.d.next = self.take_input.val();
        }
        if self.take_visit.val() {
            self.ring_is_next.d.next = self.take_wait.val();
        }
        self.inputs.waiting.next = self.held.q.val();
        self.inputs.take.next = self.take_input.val();
        self.waits.waiting.next = self.wait_valid.val();
        self.waits.take.next = self.take_wait.val();
        self.taken_input.next = 0.into();
        if self.take_input.val() {
            self.taken_input.next = self.inputs.chosen.val();
        }
        self.taken_wait.next = 0.into();
        if self.take_wait.val() {
            self.taken_wait.next = self.waits.chosen.val();
        }
        self.ring_take.next = self.take_ring.val();
        self.wait_take.next = self.taken_wait.val();
        self.request_kept.next = self.take_visit.val();
        self.keeps_room.next = self.probe_room.val() && self.taken_input.val().get_bit(1);
        self.probe_kept.next = self.keeps_room.val();

        self.taken.next = bit_cast::<SOURCES, 1>(self.take_ring.val().into())
            | (bit_cast::<SOURCES, WAITS>(self.taken_wait.val()) << 1)
            | (bit_cast::<SOURCES, INPUTS>(self.taken_input.val()) << 5);
        self.source_flow[0].next = self.ring_flow.val();
        for i in 0..WAITS {
            self.source_flow[i + 1].next = self.wait_flow[i].val();
        }
        for i in 0..INPUTS {
            self.source_flow[i + 5].next = self.held_flow[i].q.val();
        }
        self.either_flow[0].next = 0.into();
        if self.taken.val().get_bit(0) {
            self.either_flow[0].next = self.source_flow[0].val();
        }
        for i in 1..SOURCES {
            self.either_flow[i].next = self.either_flow[i - 1].val();
            if self.taken.val().get_bit(i) {
                self.either_flow[i].next =
                    self.either_flow[i - 1].val() | self.source_flow[i].val();
            }
        }
        for i in (SOURCES - 1)..SOURCES {
            self.taken_flow.next = self.either_flow[i].val();
        }
        self.entry.next = bit_cast::<EVENT, FLOW_BITS>(self.taken_flow.val())
            | (bit_cast::<EVENT, SOURCES>(self.taken.val()) << 10)
            | (bit_cast::<EVENT, 1>(self.keeps_room.val().into()) << 20);

        // The front waits for its flow; one more has room behind it, so that whose turn it is does
        // not depend on the front in the same clock.
        self.conflict[0].next =
            self.recent[0].q.val() && (self.recent_flow[0].q.val() == self.flow.val());
        for i in 1..RECENT {
            self.conflict[i].next = self.conflict[i - 1].val()
                || (self.recent[i].q.val() && (self.recent_flow[i].q.val() == self.flow.val()));
        }
        for i in (RECENT - 1)..RECENT {
            self.issued.next = self.front_valid.q.val() && !self.conflict[i].val();
        }
        if self.issued.val() || !self.front_valid.q.val() {
            self.front_valid.d.next = self.spare_valid.q.val() || self.taken.val().any();
            self.front.d.next = self.entry.val();
            if self.spare_valid.q.val() {
                self.front.d.next = self.spare.q.val();
            }
            self.spare_valid.d.next = false;
        } else if self.taken.val().any() {
            self.spare_valid.d.next = true;
            self.spare.d.next = self.entry.val();
        }
        self.recent[0].d.next = self.issued.val();
        self.recent_flow[0].d.next = self.flow.val();
        for i in 1..RECENT {
            self.recent[i].d.next = self.recent[i - 1].q.val();
            self.recent_flow[i].d.next = self.recent_flow[i - 1].q.val();
        }
        self.opening.next = self.held.q.val().get_bit(3)
            || (self.spare_valid.q.val() && self.spare.q.val().get_bit(18))
            || (self.front_valid.q.val() && self.front.q.val().get_bit(18));
        self.issue.next = self.issued.val();
        self.flow.next = self.front.q.val().get_bits::<FLOW_BITS>(0);
        self.source.next = self.front.q.val().get_bits::<SOURCES>(10);
        self.room.next = self.front.q.val().get_bit(20);

        if self.rst.val() {
            self.held.d.next = 0.into();
            self.visit_is_next.d.next = false;
            self.ring_is_next.d.next = false;
            self.front_valid.d.next = false;
            self.spare_valid.d.next = false;
            for i in 0..RECENT {
                self.recent[i].d.next = false;
            }
        }
    }
}
