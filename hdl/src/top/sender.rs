//! The sender datapath: selector, picker, acknowledgement tracker and the state around them.

use crate::picker::PsnPicker;
use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::selector::DeficitSelector;
use crate::stream::{InitSweep, IssueGate, StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use crate::tracker::BitmapTracker;
use rust_hdl::prelude::*;

/// Sender datapath for `P` paths and windows of `64 G` PSNs (`Q` is `P / 4` rounded up, `LG` the
/// logarithm of `G`, `LP` that of `P`).
///
/// A request says that a flow may send. The answer comes on one of two ports: `res` with path and
/// PSN, or `idle` when the flow has nothing to send or no open path. `again` asks for a path for a
/// PSN that was lost, ahead of new ones; its answer comes on `retry`, or on `idle`. Who writes what: the host the
/// limit (first PSN that it has not posted), the control port windows and skips, transmit the sent
/// counters and bitmap, ACKs the acknowledged ones.
#[derive(Clone, Debug, LogicBlock)]
pub struct SenderDatapath<
    const P: usize,
    const Q: usize,
    const LP: usize,
    const G: usize,
    const LG: usize,
> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Open a flow at a first PSN. Nothing of the flow may be under way.
    pub open_valid: Signal<In, Bit>,
    /// The open is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// The host posts packets.
    pub post_valid: Signal<In, Bit>,
    /// The post is accepted.
    pub post_ready: Signal<Out, Bit>,
    /// Flow.
    pub post_flow: Signal<In, Bits<FLOW_BITS>>,
    /// First PSN that is not posted; never moves back.
    pub post_limit: Signal<In, Bits<24>>,
    /// Set the window of a path.
    pub window_valid: Signal<In, Bit>,
    /// The window is accepted.
    pub window_ready: Signal<Out, Bit>,
    /// Flow.
    pub window_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub window_path: Signal<In, Bits<4>>,
    /// Window in packets, UQ10.6.
    pub window_value: Signal<In, Bits<16>>,
    /// Set the skip of a path.
    pub skip_valid: Signal<In, Bit>,
    /// The skip is accepted.
    pub skip_ready: Signal<Out, Bit>,
    /// Flow.
    pub skip_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub skip_path: Signal<In, Bits<4>>,
    /// Unsent PSNs to pass over.
    pub skip_value: Signal<In, Bits<10>>,
    /// An ACK of a data packet.
    pub ack_valid: Signal<In, Bit>,
    /// The ACK is accepted.
    pub ack_ready: Signal<Out, Bit>,
    /// Flow.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path that the packet took.
    pub ack_path: Signal<In, Bits<4>>,
    /// PSN acknowledged.
    pub ack_psn: Signal<In, Bits<24>>,
    /// The PSN was in flight: its path has room for one more. Not so when it had been found lost.
    pub ack_count: Signal<In, Bit>,
    /// A packet is in flight no more, though not acknowledged: its path has room for one more.
    pub resolve_valid: Signal<In, Bit>,
    /// It is counted.
    pub resolve_ready: Signal<Out, Bit>,
    /// Flow.
    pub resolve_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub resolve_path: Signal<In, Bits<4>>,
    /// A lost PSN is to be sent again.
    pub again_valid: Signal<In, Bit>,
    /// The request is accepted.
    pub again_ready: Signal<Out, Bit>,
    /// Flow.
    pub again_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub again_psn: Signal<In, Bits<24>>,
    /// A flow may send.
    pub req_valid: Signal<In, Bit>,
    /// The request is accepted.
    pub req_ready: Signal<Out, Bit>,
    /// Flow.
    pub req_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Send this packet.
    pub res_valid: Signal<Out, Bit>,
    /// The answer is taken.
    pub res_ready: Signal<In, Bit>,
    /// Flow.
    pub res_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path.
    pub res_path: Signal<Out, Bits<4>>,
    /// PSN.
    pub res_psn: Signal<Out, Bits<24>>,
    /// There was a PSN, as there always is unless a limit moved back.
    pub res_found: Signal<Out, Bit>,
    /// Send this PSN again.
    pub retry_valid: Signal<Out, Bit>,
    /// The answer is taken.
    pub retry_ready: Signal<In, Bit>,
    /// Flow.
    pub retry_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path.
    pub retry_path: Signal<Out, Bits<4>>,
    /// PSN.
    pub retry_psn: Signal<Out, Bits<24>>,
    /// Send nothing.
    pub idle_valid: Signal<Out, Bit>,
    /// The answer is taken.
    pub idle_ready: Signal<In, Bit>,
    /// Flow.
    pub idle_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// A retransmission has no open path.
    pub idle_again: Signal<Out, Bit>,
    /// Its PSN, else 0.
    pub idle_psn: Signal<Out, Bits<24>>,
    /// An ACK was counted.
    pub acked_valid: Signal<Out, Bit>,
    /// It is taken.
    pub acked_ready: Signal<In, Bit>,
    /// Flow.
    pub acked_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN acknowledged.
    pub acked_psn: Signal<Out, Bits<24>>,
    /// Path that the packet took.
    pub acked_path: Signal<Out, Bits<4>>,
    /// It was the PSN's first ACK.
    pub acked_new: Signal<Out, Bit>,
    /// Lowest unacknowledged PSN.
    pub acked_una: Signal<Out, Bits<24>>,
    sweep: InitSweep,
    gate: IssueGate<1>,
    bounds: StreamFifo<Bits<35>, QUEUE_ADDRESS_BITS>,
    selector: DeficitSelector<P, Q>,
    picker: PsnPicker<G, LG>,
    acks: BitmapTracker<G, LG, 5>,
    limits: Ram<Bits<24>, FLOW_BITS>,
    unacknowledged: Ram<Bits<24>, FLOW_BITS>,
    skips: Ram<Bits<10>, 14>,
    held: Reg<Bit>,
    held_flow: Reg<Bits<FLOW_BITS>>,
    held_again: Reg<Bit>,
    held_psn: Reg<Bits<24>>,
    again_2: Delay<Bit, 2>,
    again_3: Reg<Bit>,
    psn_2: Delay<Bits<24>, 2>,
    valid: Reg<Bits<3>>,
    flow_3: Delay<Bits<FLOW_BITS>, 3>,
    limit_2: Reg<Bits<24>>,
    edge_2: Reg<Bits<24>>,
    span_2: Reg<Bits<24>>,
    bound_3: Reg<Bits<24>>,
    chosen: Reg<Bit>,
    chosen_flow: Reg<Bits<FLOW_BITS>>,
    chosen_path: Reg<Bits<4>>,
    chosen_bound: Reg<Bits<24>>,
    window_start: Signal<Local, Bits<24>>,
    take: Signal<Local, Bit>,
    open_all: Signal<Local, Bit>,
    open_taken: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    selected: Signal<Local, Bit>,
    skip_at: Signal<Local, Bits<14>>,
    ack_taken: Signal<Local, Bit>,
    counting: Signal<Local, Bit>,
    resolving: Signal<Local, Bit>,
    sweep_skip: Signal<Local, Bits<14>>,
    skip_write: Signal<Local, Bit>,
    window_psns: Constant<Bits<24>>,
    path_bits: Constant<Bits<5>>,
    path_mask: Constant<Bits<4>>,
}

impl<const P: usize, const Q: usize, const LP: usize, const G: usize, const LG: usize>
    SenderDatapath<P, Q, LP, G, LG>
{
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        assert_eq!(1 << LP, P);
        Self {
            id: ModuleId::new(
                "rondo_sender",
                &format!(
                    "Sender datapath: {P} paths, windows of {} PSNs, {flows} flows.",
                    64 * G
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            post_valid: Signal::default(),
            post_ready: Signal::default(),
            post_flow: Signal::default(),
            post_limit: Signal::default(),
            window_valid: Signal::default(),
            window_ready: Signal::default(),
            window_flow: Signal::default(),
            window_path: Signal::default(),
            window_value: Signal::default(),
            skip_valid: Signal::default(),
            skip_ready: Signal::default(),
            skip_flow: Signal::default(),
            skip_path: Signal::default(),
            skip_value: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            ack_psn: Signal::default(),
            ack_count: Signal::default(),
            resolve_valid: Signal::default(),
            resolve_ready: Signal::default(),
            resolve_flow: Signal::default(),
            resolve_path: Signal::default(),
            again_valid: Signal::default(),
            again_ready: Signal::default(),
            again_flow: Signal::default(),
            again_psn: Signal::default(),
            req_valid: Signal::default(),
            req_ready: Signal::default(),
            req_flow: Signal::default(),
            res_valid: Signal::default(),
            res_ready: Signal::default(),
            res_flow: Signal::default(),
            res_path: Signal::default(),
            res_psn: Signal::default(),
            res_found: Signal::default(),
            retry_valid: Signal::default(),
            retry_ready: Signal::default(),
            retry_flow: Signal::default(),
            retry_path: Signal::default(),
            retry_psn: Signal::default(),
            idle_valid: Signal::default(),
            idle_ready: Signal::default(),
            idle_flow: Signal::default(),
            idle_again: Signal::default(),
            idle_psn: Signal::default(),
            acked_valid: Signal::default(),
            acked_ready: Signal::default(),
            acked_flow: Signal::default(),
            acked_psn: Signal::default(),
            acked_path: Signal::default(),
            acked_new: Signal::default(),
            acked_una: Signal::default(),
            sweep: InitSweep::new(flows, P),
            gate: IssueGate::default(),
            bounds: StreamFifo::new("bounds"),
            selector: DeficitSelector::new(flows),
            picker: PsnPicker::new(flows),
            acks: BitmapTracker::new(flows),
            limits: Ram::new(flows),
            unacknowledged: Ram::new(flows),
            skips: Ram::new(flows * P),
            held: Reg::default(),
            held_flow: Reg::default(),
            held_again: Reg::default(),
            held_psn: Reg::default(),
            again_2: Delay::default(),
            again_3: Reg::default(),
            psn_2: Delay::default(),
            valid: Reg::default(),
            flow_3: Delay::default(),
            limit_2: Reg::default(),
            edge_2: Reg::default(),
            span_2: Reg::default(),
            bound_3: Reg::default(),
            chosen: Reg::default(),
            chosen_flow: Reg::default(),
            chosen_path: Reg::default(),
            chosen_bound: Reg::default(),
            window_start: Signal::default(),
            take: Signal::default(),
            open_all: Signal::default(),
            open_taken: Signal::default(),
            advance: Signal::default(),
            selected: Signal::default(),
            skip_at: Signal::default(),
            ack_taken: Signal::default(),
            counting: Signal::default(),
            resolving: Signal::default(),
            sweep_skip: Signal::default(),
            skip_write: Signal::default(),
            window_psns: Constant::new((64 * G as u64).into()),
            path_bits: Constant::new((LP as u64).into()),
            path_mask: Constant::new((P as u64 - 1).into()),
        }
    }
}

impl<const P: usize, const Q: usize, const LP: usize, const G: usize, const LG: usize> Logic
    for SenderDatapath<P, Q, LP, G, LG>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, held, held_flow, held_again, held_psn, valid, again_3);
        dff_setup!(self, clk, limit_2, edge_2, span_2, bound_3);
        dff_setup!(self, clk, chosen, chosen_flow, chosen_path, chosen_bound);
        clock!(self, clk, limits, unacknowledged, skips);
        self.sweep.clk.next = self.clk.val();
        self.gate.clk.next = self.clk.val();
        self.bounds.clk.next = self.clk.val();
        self.selector.clk.next = self.clk.val();
        self.picker.clk.next = self.clk.val();
        self.acks.clk.next = self.clk.val();
        self.flow_3.clk.next = self.clk.val();
        self.again_2.clk.next = self.clk.val();
        self.psn_2.clk.next = self.clk.val();
        self.sweep.rst.next = self.rst.val();
        self.gate.rst.next = self.rst.val();
        self.bounds.rst.next = self.rst.val();
        self.selector.rst.next = self.rst.val();
        self.picker.rst.next = self.rst.val();
        self.acks.rst.next = self.rst.val();

        // Open: all four state holders at once, and while no counted ACK is on offer, because the
        // sweep would withdraw it.
        self.open_all.next = self.sweep.open_ready.val()
            && self.selector.open_ready.val()
            && self.picker.open_ready.val()
            && self.acks.open_ready.val()
            && !self.acks.res_valid.val();
        self.open_ready.next = self.open_all.val();
        self.open_taken.next = self.open_all.val() && self.open_valid.val();
        self.sweep.open_valid.next = self.open_taken.val();
        self.sweep.open_flow.next = self.open_flow.val();
        self.sweep.open_psn.next = self.open_psn.val();
        self.selector.open_valid.next = self.open_taken.val();
        self.selector.open_flow.next = self.open_flow.val();
        self.selector.open_psn.next = self.open_psn.val();
        self.picker.open_valid.next = self.open_taken.val();
        self.picker.open_flow.next = self.open_flow.val();
        self.picker.open_psn.next = self.open_psn.val();
        self.acks.open_valid.next = self.open_taken.val();
        self.acks.open_flow.next = self.open_flow.val();
        self.acks.open_psn.next = self.open_psn.val();

        // Control.
        self.selector.window_valid.next = self.window_valid.val();
        self.window_ready.next = self.selector.window_ready.val();
        self.selector.window_flow.next = self.window_flow.val();
        self.selector.window_path.next = self.window_path.val();
        self.selector.window_value.next = self.window_value.val();
        self.post_ready.next = !self.sweep.busy.val();
        self.limits.write_enable.next =
            self.sweep.write.val() || (self.post_valid.val() && !self.sweep.busy.val());
        self.limits.write_address.next = self.post_flow.val();
        self.limits.write_data.next = self.post_limit.val();
        self.skip_ready.next = !self.sweep.busy.val();
        self.skip_write.next = self.skip_valid.val() && !self.sweep.busy.val();
        self.skips.write_enable.next = self.sweep.write.val() || self.skip_write.val();
        self.skips.write_address.next = (bit_cast::<14, FLOW_BITS>(self.skip_flow.val())
            << self.path_bits.val())
            | bit_cast::<14, 4>(self.skip_path.val() & self.path_mask.val());
        self.skips.write_data.next = self.skip_value.val();

        // Request: the bound is the limit, or the end of the window that begins with the group of
        // 64 PSNs of the lowest unacknowledged one. The receiver's window is never behind it, so it
        // never has to refuse what is sent here.
        self.gate.waiting.next = self.held.q.val();
        self.gate.flow.next = self.held_flow.q.val();
        self.gate.busy.next = self.sweep.busy.val();
        self.gate.popped.next = self.bounds.valid.val() && self.selector.req_ready.val();
        self.take.next = !self.sweep.busy.val() && (!self.held.q.val() || self.gate.issue.val());
        // A lost PSN goes first.
        self.again_ready.next = self.take.val();
        self.req_ready.next = self.take.val() && !self.again_valid.val();
        if self.gate.issue.val() {
            self.held.d.next = false;
        }
        if self.take.val() && (self.req_valid.val() || self.again_valid.val()) {
            self.held.d.next = true;
            self.held_flow.d.next = self.req_flow.val();
            self.held_again.d.next = self.again_valid.val();
            self.held_psn.d.next = self.again_psn.val();
            if self.again_valid.val() {
                self.held_flow.d.next = self.again_flow.val();
            }
        }
        self.valid.d.next =
            (self.valid.q.val() << 1) | bit_cast::<3, 1>(self.gate.issue.val().into());
        self.flow_3.d.next = self.held_flow.q.val();
        self.limits.read_address.next = self.held_flow.q.val();
        self.unacknowledged.read_address.next = self.held_flow.q.val();
        self.limit_2.d.next = self.limits.read_data.val();
        self.window_start.next = (self.unacknowledged.read_data.val() >> 6) << 6;
        self.edge_2.d.next = self.window_start.val() + self.window_psns.val();
        self.span_2.d.next = self.limits.read_data.val() - self.window_start.val();
        self.bound_3.d.next = self.limit_2.q.val();
        if self.span_2.q.val() > self.window_psns.val() {
            self.bound_3.d.next = self.edge_2.q.val();
        }
        self.again_2.d.next = self.held_again.q.val();
        self.psn_2.d.next = self.held_psn.q.val();
        self.again_3.d.next = self.again_2.q.val();
        if self.again_2.q.val() {
            self.bound_3.d.next = self.psn_2.q.val();
        }
        self.bounds.push.next = self.valid.q.val().get_bit(2);
        self.bounds.push_data.next = bit_cast::<35, 24>(self.bound_3.q.val())
            | (bit_cast::<35, FLOW_BITS>(self.flow_3.q.val()) << 24)
            | (bit_cast::<35, 1>(self.again_3.q.val().into()) << 34);
        self.bounds.ready.next = self.selector.req_ready.val();

        // Path.
        self.selector.req_valid.next = self.bounds.valid.val();
        self.selector.req_limit.next = self.bounds.data.val().get_bits::<24>(0);
        self.selector.req_flow.next = self.bounds.data.val().get_bits::<FLOW_BITS>(24);
        self.selector.req_again.next = self.bounds.data.val().get_bit(34);
        self.advance.next = !self.chosen.q.val() || self.picker.req_ready.val();
        self.selector.res_ready.next = self.idle_ready.val();
        if self.selector.res_granted.val() {
            self.selector.res_ready.next = self.advance.val();
            if self.selector.res_again.val() {
                self.selector.res_ready.next = self.retry_ready.val();
            }
        }
        self.idle_valid.next = self.selector.res_valid.val() && !self.selector.res_granted.val();
        self.idle_flow.next = self.selector.res_flow.val();
        self.idle_again.next = self.selector.res_again.val();
        self.idle_psn.next = 0.into();
        if self.selector.res_again.val() {
            self.idle_psn.next = self.selector.res_limit.val();
        }
        self.selected.next = self.selector.res_valid.val()
            && self.selector.res_granted.val()
            && !self.selector.res_again.val();
        self.retry_valid.next = self.selector.res_valid.val()
            && self.selector.res_granted.val()
            && self.selector.res_again.val();
        self.retry_flow.next = self.selector.res_flow.val();
        self.retry_path.next = self.selector.res_path.val();
        self.retry_psn.next = self.selector.res_limit.val();

        // Skip of the path, read one clock ahead of the pick; a waiting pick reads its own again.
        self.skip_at.next = (bit_cast::<14, FLOW_BITS>(self.chosen_flow.q.val())
            << self.path_bits.val())
            | bit_cast::<14, 4>(self.chosen_path.q.val());
        if self.advance.val() {
            self.skip_at.next = (bit_cast::<14, FLOW_BITS>(self.selector.res_flow.val())
                << self.path_bits.val())
                | bit_cast::<14, 4>(self.selector.res_path.val());
            self.chosen.d.next = self.selected.val();
            self.chosen_flow.d.next = self.selector.res_flow.val();
            self.chosen_path.d.next = self.selector.res_path.val();
            self.chosen_bound.d.next = self.selector.res_limit.val();
        }
        self.skips.read_address.next = self.skip_at.val();

        // PSN.
        self.picker.req_valid.next = self.chosen.q.val();
        self.picker.req_flow.next = self.chosen_flow.q.val();
        self.picker.req_path.next = self.chosen_path.q.val();
        self.picker.req_bound.next = self.chosen_bound.q.val();
        self.picker.req_skip.next = self.skips.read_data.val();
        self.res_valid.next = self.picker.res_valid.val();
        self.picker.res_ready.next = self.res_ready.val();
        self.res_flow.next = self.picker.res_flow.val();
        self.res_path.next = self.picker.res_path.val();
        self.res_psn.next = self.picker.res_psn.val();
        self.res_found.next = self.picker.res_found.val();

        // ACK: count a PSN's first, and move the lowest unacknowledged PSN.
        self.acks.req_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.acks.req_ready.val();
        self.acks.req_flow.next = self.ack_flow.val();
        self.acks.req_psn.next = self.ack_psn.val();
        self.acks.req_room.next = true;
        self.acks.req_tag.next = bit_cast::<5, 4>(self.ack_path.val())
            | (bit_cast::<5, 1>(self.ack_count.val().into()) << 4);
        self.ack_taken.next = self.acks.res_valid.val()
            && self.selector.ack_ready.val()
            && self.acked_ready.val()
            && !self.sweep.busy.val();
        self.acks.res_ready.next =
            self.selector.ack_ready.val() && self.acked_ready.val() && !self.sweep.busy.val();
        // One count a clock: an ACK's, or what is resolved otherwise.
        self.counting.next = self.ack_taken.val()
            && self.acks.res_accepted.val()
            && self.acks.res_tag.val().get_bit(4);
        self.resolve_ready.next =
            self.selector.ack_ready.val() && !self.sweep.busy.val() && !self.acks.res_valid.val();
        self.resolving.next = self.resolve_valid.val()
            && self.selector.ack_ready.val()
            && !self.sweep.busy.val()
            && !self.acks.res_valid.val();
        self.selector.ack_valid.next = self.counting.val() || self.resolving.val();
        self.selector.ack_flow.next = self.acks.res_flow.val();
        self.selector.ack_path.next = self.acks.res_tag.val().get_bits::<4>(0);
        if self.resolving.val() {
            self.selector.ack_flow.next = self.resolve_flow.val();
            self.selector.ack_path.next = self.resolve_path.val();
        }
        self.acked_valid.next =
            self.acks.res_valid.val() && self.selector.ack_ready.val() && !self.sweep.busy.val();
        self.acked_flow.next = self.acks.res_flow.val();
        self.acked_psn.next = self.acks.res_psn.val();
        self.acked_path.next = self.acks.res_tag.val().get_bits::<4>(0);
        self.acked_new.next = self.acks.res_accepted.val();
        self.acked_una.next = self.acks.res_expected.val();
        self.unacknowledged.write_enable.next = self.ack_taken.val() || self.sweep.write.val();
        self.unacknowledged.write_address.next = self.acks.res_flow.val();
        self.unacknowledged.write_data.next = self.acks.res_expected.val();

        self.sweep_skip.next = (bit_cast::<14, FLOW_BITS>(self.sweep.flow.val())
            << self.path_bits.val())
            | bit_cast::<14, 6>(self.sweep.sub.val());
        if self.sweep.write.val() {
            self.limits.write_address.next = self.sweep.flow.val();
            self.limits.write_data.next = self.sweep.psn.val();
            self.unacknowledged.write_address.next = self.sweep.flow.val();
            self.unacknowledged.write_data.next = self.sweep.psn.val();
            self.skips.write_address.next = self.sweep_skip.val();
            self.skips.write_data.next = 0.into();
        }

        if self.rst.val() {
            self.held.d.next = false;
            self.valid.d.next = 0.into();
            self.chosen.d.next = false;
        }
    }
}
