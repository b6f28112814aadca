//! The deficit selector: which path takes a flow's next packet.

use super::{Argmax4, PathLane, OWN_FLOW_INTERVAL};
use crate::prim::{Delay, ModuleId, Ram, Reg, Rom};
use crate::stream::{InitSweep, IssueGate, StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rondo_models::deficit::RECIPROCALS;
use rust_hdl::prelude::*;

const RECENT: usize = OWN_FLOW_INTERVAL - 1;

/// Deficit selector for `P` paths; `Q` is `P / 4`, rounded up.
///
/// A request names a flow and the first PSN that it may not send (`limit`). The answer says
/// whether the flow may send one packet now, and on which path. It may not when it has no unsent
/// PSN below the limit, or when every path's window is closed.
///
/// Comments give the clock `t + n`, counted from the clock `t` in which the request is issued.
#[derive(Clone, Debug, LogicBlock)]
pub struct DeficitSelector<const P: usize, const Q: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Open a flow at a first PSN.
    pub open_valid: Signal<In, Bit>,
    /// The open is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// Set the window of a path.
    pub window_valid: Signal<In, Bit>,
    /// The window is accepted.
    pub window_ready: Signal<Out, Bit>,
    /// Flow of the window.
    pub window_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path of the window.
    pub window_path: Signal<In, Bits<4>>,
    /// Window in packets, UQ10.6.
    pub window_value: Signal<In, Bits<16>>,
    /// A data packet was acknowledged for the first time.
    pub ack_valid: Signal<In, Bit>,
    /// The ACK is accepted.
    pub ack_ready: Signal<Out, Bit>,
    /// Flow of the ACK.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path of the ACK.
    pub ack_path: Signal<In, Bits<4>>,
    /// A flow may send.
    pub req_valid: Signal<In, Bit>,
    /// The request is accepted.
    pub req_ready: Signal<Out, Bit>,
    /// Flow of the request.
    pub req_flow: Signal<In, Bits<FLOW_BITS>>,
    /// First PSN that it may not send; of a retransmission the PSN, which is handed on.
    pub req_limit: Signal<In, Bits<24>>,
    /// The packet is a retransmission: no new PSN of the flow, and not bound by the limit.
    pub req_again: Signal<In, Bit>,
    /// A decision.
    pub res_valid: Signal<Out, Bit>,
    /// The decision is taken.
    pub res_ready: Signal<In, Bit>,
    /// Flow of the decision.
    pub res_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// The flow sends one packet.
    pub res_granted: Signal<Out, Bit>,
    /// Path of the packet; 0 when there is none.
    pub res_path: Signal<Out, Bits<4>>,
    /// The request's limit, handed on.
    pub res_limit: Signal<Out, Bits<24>>,
    /// The request was for a retransmission.
    pub res_again: Signal<Out, Bit>,
    gate: IssueGate<RECENT>,
    sweep: InitSweep,
    results: StreamFifo<Bits<40>, QUEUE_ADDRESS_BITS>,
    lane: [PathLane; P],
    group: [Argmax4; Q],
    last: Argmax4,
    reciprocals: Rom<16, 8>,
    posted: Ram<Bits<24>, FLOW_BITS>,
    held: Reg<Bit>,
    held_flow: Reg<Bits<FLOW_BITS>>,
    held_limit: Reg<Bits<24>>,
    held_again: Reg<Bit>,
    valid: Reg<Bits<18>>,
    flow_13: Delay<Bits<FLOW_BITS>, 13>,
    flow_18: Delay<Bits<FLOW_BITS>, 5>,
    limit_14: Delay<Bits<24>, 14>,
    limit_18: Delay<Bits<24>, 4>,
    again_15: Delay<Bit, 15>,
    again_18: Delay<Bit, 3>,
    room_4: [Reg<Bits<20>>; P],
    room_5: [Reg<Bits<20>>; P],
    room_6: [Reg<Bits<20>>; P],
    room_7: [Reg<Bits<20>>; P],
    sum_8: Reg<Bits<20>>,
    sum_9: Reg<Bits<20>>,
    nibble_any: [Reg<Bit>; 5],
    nibble_shift: [Reg<Bits<2>>; 5],
    fine_9: Reg<Bits<2>>,
    coarse_9: Reg<Bits<3>>,
    coarse_10: Reg<Bits<3>>,
    half_11: Reg<Bit>,
    sum_10: Reg<Bits<20>>,
    sum_11: Reg<Bits<20>>,
    sum_12: Reg<Bits<20>>,
    share_15: [Reg<Bits<20>>; P],
    share_16: [Reg<Bits<20>>; P],
    share_17: [Reg<Bits<20>>; P],
    share_18: [Reg<Bits<20>>; P],
    remaining_15: Reg<Bits<24>>,
    pending_16: Reg<Bit>,
    pending_18: Delay<Bit, 2>,
    posted_15: Reg<Bits<24>>,
    posted_next_16: Reg<Bits<24>>,
    posted_18: Delay<Bits<24>, 2>,
    group_index_18: [Reg<Bits<2>>; Q],
    take: Signal<Local, Bit>,
    sum_7: Signal<Local, Bits<20>>,
    handed_out: Signal<Local, Bits<20>>,
    path: Signal<Local, Bits<4>>,
    answered_path: Signal<Local, Bits<4>>,
    low_index: Signal<Local, Bits<2>>,
    granted: Signal<Local, Bit>,
    commit: Signal<Local, Bit>,
    window_write: Signal<Local, Bit>,
    ack: Signal<Local, Bit>,
    popped: Signal<Local, Bit>,
    available: [Signal<Local, Bit>; 16],
    candidate: [Signal<Local, Bits<20>>; 16],
}

impl<const P: usize, const Q: usize> DeficitSelector<P, Q> {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        assert_eq!(Q, P.div_ceil(4));
        Self {
            id: ModuleId::new(
                format!("rondo_selector_{P}"),
                &format!(
                    "Deficit-based path selection over {P} paths, {flows} flows.\n\
                     One decision a clock across flows, a flow's own {OWN_FLOW_INTERVAL} clocks apart.\n\
                     A suffix _n is the clock after issue in which the value is present."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            window_valid: Signal::default(),
            window_ready: Signal::default(),
            window_flow: Signal::default(),
            window_path: Signal::default(),
            window_value: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            req_valid: Signal::default(),
            req_ready: Signal::default(),
            req_flow: Signal::default(),
            req_limit: Signal::default(),
            req_again: Signal::default(),
            res_valid: Signal::default(),
            res_ready: Signal::default(),
            res_flow: Signal::default(),
            res_granted: Signal::default(),
            res_path: Signal::default(),
            res_limit: Signal::default(),
            res_again: Signal::default(),
            gate: IssueGate::default(),
            sweep: InitSweep::new(flows, 1),
            results: StreamFifo::new("selector"),
            lane: std::array::from_fn(|_| PathLane::new(flows)),
            group: std::array::from_fn(|_| Argmax4::default()),
            last: Argmax4::default(),
            reciprocals: Rom::new(
                "rondo_reciprocals",
                RECIPROCALS.iter().map(|&r| u32::from(r)).collect(),
            ),
            posted: Ram::new(flows),
            held: Reg::default(),
            held_flow: Reg::default(),
            held_limit: Reg::default(),
            held_again: Reg::default(),
            valid: Reg::default(),
            flow_13: Delay::default(),
            flow_18: Delay::default(),
            limit_14: Delay::default(),
            limit_18: Delay::default(),
            again_15: Delay::default(),
            again_18: Delay::default(),
            room_4: std::array::from_fn(|_| Reg::default()),
            room_5: std::array::from_fn(|_| Reg::default()),
            room_6: std::array::from_fn(|_| Reg::default()),
            room_7: std::array::from_fn(|_| Reg::default()),
            sum_8: Reg::default(),
            sum_9: Reg::default(),
            nibble_any: Default::default(),
            nibble_shift: Default::default(),
            fine_9: Reg::default(),
            coarse_9: Reg::default(),
            coarse_10: Reg::default(),
            half_11: Reg::default(),
            sum_10: Reg::default(),
            sum_11: Reg::default(),
            sum_12: Reg::default(),
            share_15: std::array::from_fn(|_| Reg::default()),
            share_16: std::array::from_fn(|_| Reg::default()),
            share_17: std::array::from_fn(|_| Reg::default()),
            share_18: std::array::from_fn(|_| Reg::default()),
            remaining_15: Reg::default(),
            pending_16: Reg::default(),
            pending_18: Delay::default(),
            posted_15: Reg::default(),
            posted_next_16: Reg::default(),
            posted_18: Delay::default(),
            group_index_18: std::array::from_fn(|_| Reg::default()),
            take: Signal::default(),
            sum_7: Signal::default(),
            handed_out: Signal::default(),
            path: Signal::default(),
            answered_path: Signal::default(),
            low_index: Signal::default(),
            granted: Signal::default(),
            commit: Signal::default(),
            window_write: Signal::default(),
            ack: Signal::default(),
            popped: Signal::default(),
            available: std::array::from_fn(|_| Signal::default()),
            candidate: std::array::from_fn(|_| Signal::default()),
        }
    }
}

/// The smaller of two loop bounds.
const fn lesser(a: usize, b: usize) -> usize {
    if a < b {
        a
    } else {
        b
    }
}

impl<const P: usize, const Q: usize> Logic for DeficitSelector<P, Q> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, held, held_flow, held_limit, held_again, valid, sum_8, sum_9);
        dff_setup!(self, clk, fine_9, coarse_9, coarse_10, half_11, sum_10, sum_11, sum_12);
        dff_setup!(
            self,
            clk,
            remaining_15,
            pending_16,
            posted_15,
            posted_next_16
        );
        clock!(self, clk, reciprocals, posted);
        self.gate.clk.next = self.clk.val();
        self.sweep.clk.next = self.clk.val();
        self.results.clk.next = self.clk.val();
        self.last.clk.next = self.clk.val();
        self.flow_13.clk.next = self.clk.val();
        self.flow_18.clk.next = self.clk.val();
        self.limit_14.clk.next = self.clk.val();
        self.limit_18.clk.next = self.clk.val();
        self.again_15.clk.next = self.clk.val();
        self.again_18.clk.next = self.clk.val();
        self.pending_18.clk.next = self.clk.val();
        self.posted_18.clk.next = self.clk.val();
        self.gate.rst.next = self.rst.val();
        self.sweep.rst.next = self.rst.val();
        self.results.rst.next = self.rst.val();
        for i in 0..P {
            self.lane[i].clk.next = self.clk.val();
            self.room_4[i].clock.next = self.clk.val();
            self.room_5[i].clock.next = self.clk.val();
            self.room_6[i].clock.next = self.clk.val();
            self.room_7[i].clock.next = self.clk.val();
            self.share_15[i].clock.next = self.clk.val();
            self.share_16[i].clock.next = self.clk.val();
            self.share_17[i].clock.next = self.clk.val();
            self.share_18[i].clock.next = self.clk.val();
        }
        for i in 0..Q {
            self.group[i].clk.next = self.clk.val();
            self.group_index_18[i].clock.next = self.clk.val();
        }
        for i in 0..5 {
            self.nibble_any[i].clock.next = self.clk.val();
            self.nibble_shift[i].clock.next = self.clk.val();
        }

        // Door: one request waits until the gate lets it in.
        self.gate.waiting.next = self.held.q.val();
        self.gate.flow.next = self.held_flow.q.val();
        self.gate.busy.next = self.sweep.busy.val();
        self.popped.next = self.results.valid.val() && self.res_ready.val();
        self.gate.popped.next = self.popped.val();
        self.take.next = !self.sweep.busy.val() && (!self.held.q.val() || self.gate.issue.val());
        self.req_ready.next = self.take.val();
        if self.gate.issue.val() {
            self.held.d.next = false;
        }
        if self.take.val() && self.req_valid.val() {
            self.held.d.next = true;
            self.held_flow.d.next = self.req_flow.val();
            self.held_limit.d.next = self.req_limit.val();
            self.held_again.d.next = self.req_again.val();
        }
        // valid[n - 1]: a request is at t + n.
        self.valid.d.next =
            (self.valid.q.val() << 1) | bit_cast::<18, 1>(self.gate.issue.val().into());

        // Control and ACK ports.
        self.sweep.open_valid.next = self.open_valid.val();
        self.sweep.open_flow.next = self.open_flow.val();
        self.sweep.open_psn.next = self.open_psn.val();
        self.open_ready.next = self.sweep.open_ready.val();
        self.window_ready.next = !self.sweep.busy.val();
        self.window_write.next = self.window_valid.val() && !self.sweep.busy.val();
        self.ack_ready.next = !self.sweep.busy.val();
        self.ack.next = self.ack_valid.val() && !self.sweep.busy.val();

        self.flow_13.d.next = self.held_flow.q.val();
        self.flow_18.d.next = self.flow_13.q.val();
        self.limit_14.d.next = self.held_limit.q.val();
        self.limit_18.d.next = self.limit_14.q.val();
        self.again_15.d.next = self.held_again.q.val();
        self.again_18.d.next = self.again_15.q.val();

        for i in 0..P {
            self.lane[i].init_write.next = self.sweep.write.val();
            self.lane[i].init_flow.next = self.sweep.flow.val();
            self.lane[i].init_count.next = self.sweep.psn.val().get_bits::<16>(0);
            self.lane[i].issue_flow.next = self.held_flow.q.val();
            self.lane[i].decide_flow.next = self.flow_13.q.val();
            self.lane[i].window_write.next =
                self.window_write.val() && (self.window_path.val() == i.to_bits());
            self.lane[i].window_flow.next = self.window_flow.val();
            self.lane[i].window.next = self.window_value.val();
            self.lane[i].ack.next = self.ack.val() && (self.ack_path.val() == i.to_bits());
            self.lane[i].ack_flow.next = self.ack_flow.val();
            self.lane[i].shift_fine.next = self.fine_9.q.val();
            self.lane[i].shift_coarse.next = self.coarse_10.q.val().get_bits::<2>(0);
            self.lane[i].shift_half.next = self.half_11.q.val();
            self.lane[i].reciprocal.next = self.reciprocals.data.val();
        }

        // t + 3 .. t + 7: sum of the rooms, as a prefix sum of which the last is used.
        self.room_4[0].d.next = self.lane[0].room.val();
        for i in 1..P {
            self.room_4[i].d.next = self.lane[i].room.val() + self.lane[i - 1].room.val();
        }
        for i in 0..lesser(2, P) {
            self.room_5[i].d.next = self.room_4[i].q.val();
        }
        for i in 2..P {
            self.room_5[i].d.next = self.room_4[i].q.val() + self.room_4[i - 2].q.val();
        }
        for i in 0..lesser(4, P) {
            self.room_6[i].d.next = self.room_5[i].q.val();
        }
        for i in 4..P {
            self.room_6[i].d.next = self.room_5[i].q.val() + self.room_5[i - 4].q.val();
        }
        for i in 0..lesser(8, P) {
            self.room_7[i].d.next = self.room_6[i].q.val();
        }
        for i in 8..P {
            self.room_7[i].d.next = self.room_6[i].q.val() + self.room_6[i - 8].q.val();
        }
        for i in (P - 1)..P {
            self.sum_7.next = self.room_7[i].q.val();
        }

        // t + 7: per nibble, whether it has a one and how far that is from the nibble's top.
        self.sum_8.d.next = self.sum_7.val();
        for i in 0..5 {
            self.nibble_any[i].d.next = self.sum_7.val().get_bits::<4>(4 * i) != 0;
            self.nibble_shift[i].d.next = 3.into();
            if self.sum_7.val().get_bit(4 * i + 3) {
                self.nibble_shift[i].d.next = 0.into();
            } else if self.sum_7.val().get_bit(4 * i + 2) {
                self.nibble_shift[i].d.next = 1.into();
            } else if self.sum_7.val().get_bit(4 * i + 1) {
                self.nibble_shift[i].d.next = 2.into();
            }
        }
        // t + 8: shift of the highest nibble that has a one.
        self.sum_9.d.next = self.sum_8.q.val();
        self.coarse_9.d.next = 4.into();
        self.fine_9.d.next = self.nibble_shift[0].q.val();
        if self.nibble_any[4].q.val() {
            self.coarse_9.d.next = 0.into();
            self.fine_9.d.next = self.nibble_shift[4].q.val();
        } else if self.nibble_any[3].q.val() {
            self.coarse_9.d.next = 1.into();
            self.fine_9.d.next = self.nibble_shift[3].q.val();
        } else if self.nibble_any[2].q.val() {
            self.coarse_9.d.next = 2.into();
            self.fine_9.d.next = self.nibble_shift[2].q.val();
        } else if self.nibble_any[1].q.val() {
            self.coarse_9.d.next = 3.into();
            self.fine_9.d.next = self.nibble_shift[1].q.val();
        }
        // t + 9 .. t + 12: normalise the sum; the lanes do the same with their rooms.
        self.sum_10.d.next = self.sum_9.q.val() << self.fine_9.q.val();
        self.coarse_10.d.next = self.coarse_9.q.val();
        self.sum_11.d.next =
            self.sum_10.q.val() << (bit_cast::<4, 2>(self.coarse_10.q.val().get_bits::<2>(0)) << 2);
        self.half_11.d.next = self.coarse_10.q.val().get_bit(2);
        self.sum_12.d.next = self.sum_11.q.val();
        if self.half_11.q.val() {
            self.sum_12.d.next = self.sum_11.q.val() << 16;
        }
        self.reciprocals.address.next = self.sum_12.q.val().get_bits::<8>(11);

        // t + 14 .. t + 18: sum of the shares.
        self.share_15[0].d.next = self.lane[0].share.val();
        for i in 1..P {
            self.share_15[i].d.next = self.lane[i].share.val() + self.lane[i - 1].share.val();
        }
        for i in 0..lesser(2, P) {
            self.share_16[i].d.next = self.share_15[i].q.val();
        }
        for i in 2..P {
            self.share_16[i].d.next = self.share_15[i].q.val() + self.share_15[i - 2].q.val();
        }
        for i in 0..lesser(4, P) {
            self.share_17[i].d.next = self.share_16[i].q.val();
        }
        for i in 4..P {
            self.share_17[i].d.next = self.share_16[i].q.val() + self.share_16[i - 4].q.val();
        }
        for i in 0..lesser(8, P) {
            self.share_18[i].d.next = self.share_17[i].q.val();
        }
        for i in 8..P {
            self.share_18[i].d.next = self.share_17[i].q.val() + self.share_17[i - 8].q.val();
        }
        for i in (P - 1)..P {
            self.handed_out.next = self.share_18[i].q.val();
        }

        // t + 13 .. t + 16: has the flow an unsent PSN below its limit? A retransmission needs none.
        self.posted.read_address.next = self.flow_13.q.val();
        self.remaining_15.d.next = self.limit_14.q.val() - self.posted.read_data.val();
        self.posted_15.d.next = self.posted.read_data.val();
        self.pending_16.d.next = self.again_15.q.val()
            || ((self.remaining_15.q.val() != 0) && !self.remaining_15.q.val().get_bit(23));
        self.pending_18.d.next = self.pending_16.q.val();
        self.posted_next_16.d.next = self.posted_15.q.val() + 1;
        self.posted_18.d.next = self.posted_next_16.q.val();

        // t + 16 .. t + 18: the open path with the largest deficit.
        for i in 0..P {
            self.available[i].next = self.lane[i].open.val();
            self.candidate[i].next = self.lane[i].deficit.val();
        }
        for i in P..16 {
            self.available[i].next = false;
            self.candidate[i].next = 0.into();
        }
        for i in 0..Q {
            self.group[i].available[0].next = self.available[4 * i].val();
            self.group[i].available[1].next = self.available[4 * i + 1].val();
            self.group[i].available[2].next = self.available[4 * i + 2].val();
            self.group[i].available[3].next = self.available[4 * i + 3].val();
            self.group[i].value[0].next = self.candidate[4 * i].val();
            self.group[i].value[1].next = self.candidate[4 * i + 1].val();
            self.group[i].value[2].next = self.candidate[4 * i + 2].val();
            self.group[i].value[3].next = self.candidate[4 * i + 3].val();
            self.last.available[i].next = self.group[i].any.val();
            self.last.value[i].next = self.group[i].largest.val();
            self.group_index_18[i].d.next = self.group[i].index.val();
        }
        for i in Q..4 {
            self.last.available[i].next = false;
            self.last.value[i].next = 0.into();
        }

        // t + 18: write back and answer.
        self.low_index.next = self.group_index_18[0].q.val();
        for i in 1..Q {
            if self.last.index.val() == i.to_bits() {
                self.low_index.next = self.group_index_18[i].q.val();
            }
        }
        self.path.next =
            (bit_cast::<4, 2>(self.last.index.val()) << 2) | bit_cast::<4, 2>(self.low_index.val());
        self.granted.next = self.last.any.val() && self.pending_18.q.val();
        self.commit.next = self.granted.val() && self.valid.q.val().get_bit(17);
        for i in 0..P {
            self.lane[i].commit.next = self.commit.val();
            self.lane[i].commit_flow.next = self.flow_18.q.val();
            self.lane[i].win.next = self.path.val() == i.to_bits();
            self.lane[i].handed_out.next = self.handed_out.val();
        }
        self.posted.write_enable.next =
            (self.commit.val() && !self.again_18.q.val()) || self.sweep.write.val();
        self.posted.write_address.next = self.flow_18.q.val();
        self.posted.write_data.next = self.posted_18.q.val();
        if self.sweep.write.val() {
            self.posted.write_address.next = self.sweep.flow.val();
            self.posted.write_data.next = self.sweep.psn.val();
        }

        self.answered_path.next = 0.into();
        if self.granted.val() {
            self.answered_path.next = self.path.val();
        }
        self.results.push.next = self.valid.q.val().get_bit(17);
        self.results.push_data.next = bit_cast::<40, 24>(self.limit_18.q.val())
            | (bit_cast::<40, 4>(self.answered_path.val()) << 24)
            | (bit_cast::<40, 1>(self.granted.val().into()) << 28)
            | (bit_cast::<40, FLOW_BITS>(self.flow_18.q.val()) << 29)
            | (bit_cast::<40, 1>(self.again_18.q.val().into()) << 39);
        self.results.ready.next = self.res_ready.val();
        self.res_valid.next = self.results.valid.val();
        self.res_limit.next = self.results.data.val().get_bits::<24>(0);
        self.res_path.next = self.results.data.val().get_bits::<4>(24);
        self.res_granted.next = self.results.data.val().get_bit(28);
        self.res_flow.next = self.results.data.val().get_bits::<FLOW_BITS>(29);
        self.res_again.next = self.results.data.val().get_bit(39);

        if self.rst.val() {
            self.held.d.next = false;
            self.valid.d.next = 0.into();
        }
    }
}
