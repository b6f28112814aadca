//! The flow scheduler: which flow is asked for its next packet.

use super::event_door::SOURCES;
use super::{Earned, EventDoor, FlowWord, WaitQueue, WAITS, WAIT_CLOCK_BITS};
use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::{InitSweep, StreamFifo, FLOW_BITS};
use rondo_models::schedule::WAITS_LOG2_NS;
use rust_hdl::prelude::*;

/// Kinds of events: visit, post, refusal, grant, open, close.
const KINDS: usize = 6;
/// Depth of the queue of requests, log2: more than the visits under way, for one a clock.
const REQUESTS: usize = 4;
/// Depth of the queue of probes, log2: few, so that they are not old when they leave.
const PROBES: usize = 2;

/// Asks the sender datapath for packets of up to 1,024 flows, each at its own pace.
///
/// A flow with unsent packets is in one of the queues, once: the ring, whose first flow is visited
/// next, or a wait queue, from which it comes back when its time is over. A visit lets the flow's
/// pacer earn and, if a packet is due, asks for it. Everything that changes a flow's state is an
/// event; events pass through one pipeline, one a clock, and take effect in that order.
///
/// After reset all flows are closed. An open or close is an event like any other and stops nobody.
#[derive(Clone, Debug, LogicBlock)]
pub struct FlowScheduler {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Time, ns, wrapping.
    pub now_ns: Signal<In, Bits<32>>,
    /// Open a flow: rate 0, nothing to send. Nothing of it may be under way.
    pub open_valid: Signal<In, Bit>,
    /// The open is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Close a flow: what it has not sent is dropped.
    pub close_valid: Signal<In, Bit>,
    /// The close is accepted.
    pub close_ready: Signal<Out, Bit>,
    /// Flow to close.
    pub close_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A flow has one packet more to send.
    pub post_valid: Signal<In, Bit>,
    /// The post is accepted.
    pub post_ready: Signal<Out, Bit>,
    /// Flow of the post.
    pub post_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Set a flow's pace.
    pub rate_valid: Signal<In, Bit>,
    /// The pace is accepted.
    pub rate_ready: Signal<Out, Bit>,
    /// Flow of the pace.
    pub rate_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Packets a 1,024 ns, UQ8.24.
    pub rate_value: Signal<In, Bits<32>>,
    /// The flow probes: a refused request is worth a probe.
    pub rate_probing: Signal<In, Bit>,
    /// The sender datapath refused a request.
    pub idle_valid: Signal<In, Bit>,
    /// The refusal is accepted.
    pub idle_ready: Signal<Out, Bit>,
    /// Flow of the request.
    pub idle_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A probe came back: one packet may go beside the pace.
    pub grant_valid: Signal<In, Bit>,
    /// The grant is accepted.
    pub grant_ready: Signal<Out, Bit>,
    /// Flow of the grant.
    pub grant_flow: Signal<In, Bits<FLOW_BITS>>,
    /// A packet is asked for.
    pub req_valid: Signal<Out, Bit>,
    /// The request is taken.
    pub req_ready: Signal<In, Bit>,
    /// Flow asked.
    pub req_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// A probe is to be sent.
    pub probe_valid: Signal<Out, Bit>,
    /// The probe is taken.
    pub probe_ready: Signal<In, Bit>,
    /// Flow of the probe.
    pub probe_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path of the probe.
    pub probe_path: Signal<Out, Bits<4>>,
    /// Flows in the ring and in the wait queues.
    pub active_flows: Signal<Out, Bits<11>>,
    /// Monitor: an event was issued one clock ago. Pulses, in the order in which they take effect.
    pub event_valid: Signal<Out, Bit>,
    /// 0 visit from the ring, 1 to 4 from a wait queue, 5 post, 6 idle, 7 grant, 8 open, 9 close.
    pub event_source: Signal<Out, Bits<4>>,
    /// Its flow.
    pub event_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its time, ns.
    pub event_ns: Signal<Out, Bits<32>>,
    /// A refusal's probe has a place in the queue.
    pub event_room: Signal<Out, Bit>,
    sweep: InitSweep,
    door: EventDoor,
    earned: Earned,
    word: FlowWord,
    ring: StreamFifo<Bits<FLOW_BITS>, FLOW_BITS>,
    wait: [WaitQueue; WAITS],
    requests: StreamFifo<Bits<FLOW_BITS>, REQUESTS>,
    probes: StreamFifo<Bits<14>, PROBES>,
    rates: Ram<Bits<33>, FLOW_BITS>,
    valid: Reg<Bits<6>>,
    source_1: Reg<Bits<SOURCES>>,
    source_4: Delay<Bits<SOURCES>, 3>,
    source_6: Delay<Bits<SOURCES>, 2>,
    kind_7: Reg<Bits<KINDS>>,
    flow_1: Reg<Bits<FLOW_BITS>>,
    flow_4: Delay<Bits<FLOW_BITS>, 3>,
    flow_7: Delay<Bits<FLOW_BITS>, 3>,
    flow_8: Reg<Bits<FLOW_BITS>>,
    now_1: Reg<Bits<32>>,
    now_8: Delay<Bits<WAIT_CLOCK_BITS>, 7>,
    rate_7: Delay<Bits<33>, 6>,
    room_1: Reg<Bit>,
    room_7: Delay<Bit, 6>,
    room_8: Reg<Bit>,
    visit_8: Reg<Bit>,
    request_places: Reg<Bits<5>>,
    probe_places: Reg<Bits<3>>,
    active: Reg<Bits<11>>,
    opens_1: Signal<Local, Bit>,
    takes_rate: Signal<Local, Bit>,
    request_back: Signal<Local, Bit>,
    request_left: Signal<Local, Bit>,
    probe_back: Signal<Local, Bit>,
    probe_left: Signal<Local, Bit>,
    visits: Constant<Bits<SOURCES>>,
    all_requests: Constant<Bits<5>>,
    all_probes: Constant<Bits<3>>,
}

impl FlowScheduler {
    /// For `flows` flows (a power of two, at most 1,024) of `paths` paths (2, 4, 8 or 16).
    pub fn new(flows: usize, paths: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_flow_scheduler",
                &format!(
                    "Flow scheduler: {flows} flows of {paths} paths, each with a pacer.\n\
                     A suffix _n is the clock after issue in which the value is present."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            now_ns: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            close_valid: Signal::default(),
            close_ready: Signal::default(),
            close_flow: Signal::default(),
            post_valid: Signal::default(),
            post_ready: Signal::default(),
            post_flow: Signal::default(),
            rate_valid: Signal::default(),
            rate_ready: Signal::default(),
            rate_flow: Signal::default(),
            rate_value: Signal::default(),
            rate_probing: Signal::default(),
            idle_valid: Signal::default(),
            idle_ready: Signal::default(),
            idle_flow: Signal::default(),
            grant_valid: Signal::default(),
            grant_ready: Signal::default(),
            grant_flow: Signal::default(),
            req_valid: Signal::default(),
            req_ready: Signal::default(),
            req_flow: Signal::default(),
            probe_valid: Signal::default(),
            probe_ready: Signal::default(),
            probe_flow: Signal::default(),
            probe_path: Signal::default(),
            active_flows: Signal::default(),
            event_valid: Signal::default(),
            event_source: Signal::default(),
            event_flow: Signal::default(),
            event_ns: Signal::default(),
            event_room: Signal::default(),
            sweep: InitSweep::new(flows, 1),
            door: EventDoor::default(),
            earned: Earned::new(flows),
            word: FlowWord::new(flows, paths),
            ring: StreamFifo::new("ring"),
            wait: WAITS_LOG2_NS.map(WaitQueue::new),
            requests: StreamFifo::new("requests"),
            probes: StreamFifo::new("probes"),
            rates: Ram::new(flows),
            valid: Reg::default(),
            source_1: Reg::default(),
            source_4: Delay::default(),
            source_6: Delay::default(),
            kind_7: Reg::default(),
            flow_1: Reg::default(),
            flow_4: Delay::default(),
            flow_7: Delay::default(),
            flow_8: Reg::default(),
            now_1: Reg::default(),
            now_8: Delay::default(),
            rate_7: Delay::default(),
            room_1: Reg::default(),
            room_7: Delay::default(),
            room_8: Reg::default(),
            visit_8: Reg::default(),
            request_places: Reg::default(),
            probe_places: Reg::default(),
            active: Reg::default(),
            opens_1: Signal::default(),
            takes_rate: Signal::default(),
            request_back: Signal::default(),
            request_left: Signal::default(),
            probe_back: Signal::default(),
            probe_left: Signal::default(),
            visits: Constant::new(((1u64 << (1 + WAITS)) - 1).into()),
            all_requests: Constant::new((1u64 << REQUESTS).into()),
            all_probes: Constant::new((1u64 << PROBES).into()),
        }
    }
}

impl Logic for FlowScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, valid, source_1, kind_7, flow_1, flow_8, now_1);
        dff_setup!(
            self,
            clk,
            room_1,
            room_8,
            visit_8,
            request_places,
            probe_places,
            active
        );
        clock!(self, clk, rates);
        self.sweep.clk.next = self.clk.val();
        self.door.clk.next = self.clk.val();
        self.earned.clk.next = self.clk.val();
        self.word.clk.next = self.clk.val();
        self.ring.clk.next = self.clk.val();
        self.requests.clk.next = self.clk.val();
        self.probes.clk.next = self.clk.val();
        self.source_4.clk.next = self.clk.val();
        self.source_6.clk.next = self.clk.val();
        self.flow_4.clk.next = self.clk.val();
        self.flow_7.clk.next = self.clk.val();
        self.now_8.clk.next = self.clk.val();
        self.rate_7.clk.next = self.clk.val();
        self.room_7.clk.next = self.clk.val();
        self.sweep.rst.next = self.rst.val();
        self.door.rst.next = self.rst.val();
        self.word.rst.next = self.rst.val();
        self.ring.rst.next = self.rst.val();
        self.requests.rst.next = self.rst.val();
        self.probes.rst.next = self.rst.val();
        for i in 0..WAITS {
            self.wait[i].clk.next = self.clk.val();
            self.wait[i].rst.next = self.rst.val();
        }

        // After reset all flows are closed.
        self.sweep.open_valid.next = false;
        self.sweep.open_flow.next = 0.into();
        self.sweep.open_psn.next = 0.into();
        self.word.init_write.next = self.sweep.write.val();
        self.word.init_flow.next = self.sweep.flow.val();

        // t: events come in.
        self.door.busy.next = self.sweep.busy.val();
        self.door.post_valid.next = self.post_valid.val();
        self.post_ready.next = self.door.post_ready.val();
        self.door.post_flow.next = self.post_flow.val();
        self.door.idle_valid.next = self.idle_valid.val();
        self.idle_ready.next = self.door.idle_ready.val();
        self.door.idle_flow.next = self.idle_flow.val();
        self.door.grant_valid.next = self.grant_valid.val();
        self.grant_ready.next = self.door.grant_ready.val();
        self.door.grant_flow.next = self.grant_flow.val();
        self.door.open_valid.next = self.open_valid.val();
        self.open_ready.next = self.door.open_ready.val();
        self.door.open_flow.next = self.open_flow.val();
        self.door.close_valid.next = self.close_valid.val();
        self.close_ready.next = self.door.close_ready.val();
        self.door.close_flow.next = self.close_flow.val();
        self.door.ring_valid.next = self.ring.valid.val();
        self.ring.ready.next = self.door.ring_take.val();
        self.door.ring_flow.next = self.ring.data.val();
        self.door.wait_valid.next = bit_cast::<WAITS, 1>(self.wait[0].valid.val().into())
            | (bit_cast::<WAITS, 1>(self.wait[1].valid.val().into()) << 1)
            | (bit_cast::<WAITS, 1>(self.wait[2].valid.val().into()) << 2)
            | (bit_cast::<WAITS, 1>(self.wait[3].valid.val().into()) << 3);
        for i in 0..WAITS {
            self.wait[i].now_ns.next = self.now_ns.val().get_bits::<WAIT_CLOCK_BITS>(0);
            self.wait[i].take.next = self.door.wait_take.val().get_bit(i);
            self.door.wait_flow[i].next = self.wait[i].flow.val();
        }
        // valid[n - 1]: an event is at t + n.
        self.valid.d.next =
            (self.valid.q.val() << 1) | bit_cast::<6, 1>(self.door.issue.val().into());
        self.source_1.d.next = self.door.source.val();
        self.source_4.d.next = self.source_1.q.val();
        self.source_6.d.next = self.source_4.q.val();
        self.flow_1.d.next = self.door.flow.val();
        self.flow_4.d.next = self.flow_1.q.val();
        self.flow_7.d.next = self.flow_4.q.val();
        self.flow_8.d.next = self.flow_7.q.val();
        self.now_1.d.next = self.now_ns.val();
        self.now_8.d.next = self.now_1.q.val().get_bits::<WAIT_CLOCK_BITS>(0);
        self.room_1.d.next = self.door.room.val();
        self.room_7.d.next = self.room_1.q.val();
        self.room_8.d.next = self.room_7.q.val() && self.kind_7.q.val().get_bit(2);

        // Paces: the control side writes, an open clears. A pace that comes after an open waits for
        // it.
        self.opens_1.next = self.valid.q.val().get_bit(0) && self.source_1.q.val().get_bit(8);
        self.takes_rate.next =
            !self.sweep.busy.val() && !self.door.opening.val() && !self.opens_1.val();
        self.rate_ready.next = self.takes_rate.val();
        self.rates.write_enable.next =
            self.opens_1.val() || (self.rate_valid.val() && self.takes_rate.val());
        self.rates.write_address.next = self.rate_flow.val();
        self.rates.write_data.next = bit_cast::<33, 32>(self.rate_value.val())
            | (bit_cast::<33, 1>(self.rate_probing.val().into()) << 32);
        if self.opens_1.val() {
            self.rates.write_address.next = self.flow_1.q.val();
            self.rates.write_data.next = 0.into();
        }
        self.rates.read_address.next = self.door.flow.val();
        self.rate_7.d.next = self.rates.read_data.val();

        // t + 1 to t + 5: what the flow has earned.
        self.earned.flow.next = self.door.flow.val();
        self.earned.visit_1.next =
            self.valid.q.val().get_bit(0) && (self.source_1.q.val() & self.visits.val()).any();
        self.earned.flow_1.next = self.flow_1.q.val();
        self.earned.now_1.next = self.now_1.q.val();
        self.earned.rate_1.next = self.rates.read_data.val().get_bits::<32>(0);
        self.earned.visit_4.next = (self.source_4.q.val() & self.visits.val()).any();
        self.earned.refusal_4.next = self.source_4.q.val().get_bit(6);

        // t + 4 to t + 8: the flow's word.
        self.word.flow_4.next = self.flow_4.q.val();
        self.word.earned_5.next = self.earned.earned_5.val();
        self.kind_7.d.next = 0.into();
        if self.valid.q.val().get_bit(5) {
            self.kind_7.d.next =
                bit_cast::<KINDS, 1>((self.source_6.q.val() & self.visits.val()).any().into())
                    | (bit_cast::<KINDS, 5>(self.source_6.q.val().get_bits::<5>(5)) << 1);
        }
        self.word.visit_7.next = self.kind_7.q.val().get_bit(0);
        self.word.post_7.next = self.kind_7.q.val().get_bit(1);
        self.word.refusal_7.next = self.kind_7.q.val().get_bit(2);
        self.word.grant_7.next = self.kind_7.q.val().get_bit(3);
        self.word.open_7.next = self.kind_7.q.val().get_bit(4);
        self.word.close_7.next = self.kind_7.q.val().get_bit(5);
        self.word.flow_7.next = self.flow_7.q.val();
        self.word.rate_7.next = self.rate_7.q.val().get_bits::<32>(0);
        self.word.probing_7.next = self.rate_7.q.val().get_bit(32);
        self.word.room_7.next = self.room_7.q.val();

        // t + 8: what the event does.
        self.ring.push.next = self.word.to_ring.val();
        self.ring.push_data.next = self.flow_8.q.val();
        for i in 0..WAITS {
            self.wait[i].push.next = self.word.to_wait.val().get_bit(i);
            self.wait[i].push_flow.next = self.flow_8.q.val();
            self.wait[i].push_ns.next = self.now_8.q.val();
        }
        self.requests.push.next = self.word.request.val();
        self.requests.push_data.next = self.flow_8.q.val();
        self.requests.ready.next = self.req_ready.val();
        self.req_valid.next = self.requests.valid.val();
        self.req_flow.next = self.requests.data.val();
        self.probes.push.next = self.word.probe.val();
        self.probes.push_data.next = bit_cast::<14, FLOW_BITS>(self.flow_8.q.val())
            | (bit_cast::<14, 4>(self.word.probe_path.val()) << 10);
        self.probes.ready.next = self.probe_ready.val();
        self.probe_valid.next = self.probes.valid.val();
        self.probe_flow.next = self.probes.data.val().get_bits::<FLOW_BITS>(0);
        self.probe_path.next = self.probes.data.val().get_bits::<4>(10);

        // Places in the queues: kept when an event comes in, given back when it did not need one or
        // when what it put there has left.
        self.visit_8.d.next = self.kind_7.q.val().get_bit(0);
        self.request_back.next = self.visit_8.q.val() && !self.word.request.val();
        self.request_left.next = self.requests.valid.val() && self.req_ready.val();
        self.door.request_room.next = self.request_places.q.val() != 0;
        self.request_places.d.next = self.request_places.q.val()
            + bit_cast::<5, 1>(self.request_back.val().into())
            + bit_cast::<5, 1>(self.request_left.val().into())
            - bit_cast::<5, 1>(self.door.request_kept.val().into());
        self.probe_back.next = self.room_8.q.val() && !self.word.probe.val();
        self.probe_left.next = self.probes.valid.val() && self.probe_ready.val();
        self.door.probe_room.next = self.probe_places.q.val() != 0;
        self.probe_places.d.next = self.probe_places.q.val()
            + bit_cast::<3, 1>(self.probe_back.val().into())
            + bit_cast::<3, 1>(self.probe_left.val().into())
            - bit_cast::<3, 1>(self.door.probe_kept.val().into());

        if self.word.enters.val() {
            self.active.d.next = self.active.q.val() + 1;
        }
        if self.word.leaves.val() {
            self.active.d.next = self.active.q.val() - 1;
        }
        self.active_flows.next = self.active.q.val();

        self.event_valid.next = self.valid.q.val().get_bit(0);
        self.event_source.next = 0.into();
        for i in 1..SOURCES {
            if self.source_1.q.val().get_bit(i) {
                self.event_source.next = i.to_bits();
            }
        }
        self.event_flow.next = self.flow_1.q.val();
        self.event_ns.next = self.now_1.q.val();
        self.event_room.next = self.room_1.q.val();

        if self.rst.val() {
            self.valid.d.next = 0.into();
            self.kind_7.d.next = 0.into();
            self.room_8.d.next = false;
            self.visit_8.d.next = false;
            self.request_places.d.next = self.all_requests.val();
            self.probe_places.d.next = self.all_probes.val();
            self.active.d.next = 0.into();
        }
    }
}
