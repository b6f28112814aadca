//! One path's share of the deficit selector: its memories and its arithmetic.

use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rondo_models::deficit::{DEFICIT_ZERO, INITIAL_WINDOW};
use rust_hdl::prelude::*;

/// State and arithmetic of one path, for all flows.
///
/// Comments give the pipeline's clock `t + n`, counted from the clock `t` in which the selector
/// issues the request. Writers: window by the control port, `sent` and deficit by the decision,
/// `acked` by the ACK port; the init sweep takes each port's turn while the block is busy.
#[derive(Clone, Debug, LogicBlock)]
pub struct PathLane {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Init sweep writes this flow's state.
    pub init_write: Signal<In, Bit>,
    /// Flow of the init sweep.
    pub init_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Low bits of its first PSN: where the packet counters start.
    pub init_count: Signal<In, Bits<16>>,
    /// Flow issued, at `t`.
    pub issue_flow: Signal<In, Bits<FLOW_BITS>>,
    /// The same flow at `t + 13`, when the decision's own state is read.
    pub decide_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Control port: a new window for this path.
    pub window_write: Signal<In, Bit>,
    /// Its flow.
    pub window_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Window in packets, UQ10.6.
    pub window: Signal<In, Bits<16>>,
    /// A data packet of this path was acknowledged.
    pub ack: Signal<In, Bit>,
    /// Its flow.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Normalising shift of 0 to 3 bits, at `t + 9`.
    pub shift_fine: Signal<In, Bits<2>>,
    /// Normalising shift in nibbles, at `t + 10`.
    pub shift_coarse: Signal<In, Bits<2>>,
    /// Normalising shift of 16 bits, at `t + 11`.
    pub shift_half: Signal<In, Bit>,
    /// Reciprocal of the normalised sum, at `t + 13`.
    pub reciprocal: Signal<In, Bits<16>>,
    /// The decision stands, at `t + 18`.
    pub commit: Signal<In, Bit>,
    /// Its flow.
    pub commit_flow: Signal<In, Bits<FLOW_BITS>>,
    /// This path won it.
    pub win: Signal<In, Bit>,
    /// What all paths together were given, UQ4.16.
    pub handed_out: Signal<In, Bits<20>>,
    /// Room of this path, UQ14.6, at `t + 3`.
    pub room: Signal<Out, Bits<20>>,
    /// Share of this path, UQ4.16, at `t + 14`.
    pub share: Signal<Out, Bits<20>>,
    /// The path may be chosen, at `t + 16`.
    pub open: Signal<Out, Bit>,
    /// Deficit with this decision's share added, at `t + 16`.
    pub deficit: Signal<Out, Bits<20>>,
    windows: Ram<Bits<16>, FLOW_BITS>,
    sent_for_share: Ram<Bits<16>, FLOW_BITS>,
    sent_for_decision: Ram<Bits<16>, FLOW_BITS>,
    acked_for_share: Ram<Bits<16>, FLOW_BITS>,
    acked_for_count: Ram<Bits<16>, FLOW_BITS>,
    deficits: Ram<Bits<20>, FLOW_BITS>,
    in_flight_2: Reg<Bits<16>>,
    window_2: Reg<Bits<16>>,
    room_3: Reg<Bits<16>>,
    has_room_4: Reg<Bit>,
    room_9: Delay<Bits<16>, 6>,
    shifted_10: Reg<Bits<20>>,
    shifted_11: Reg<Bits<20>>,
    shifted_12: Reg<Bits<20>>,
    normalised_13: Reg<Bits<16>>,
    product_14: Reg<Bits<32>>,
    acked_14: Delay<Bits<16>, 13>,
    window_15: Delay<Bits<16>, 13>,
    has_room_15: Delay<Bit, 11>,
    has_room_18: Delay<Bit, 3>,
    raised_15: Reg<Bits<20>>,
    raised_16: Reg<Bits<20>>,
    raised_18: Delay<Bits<20>, 2>,
    in_flight_15: Reg<Bits<16>>,
    open_16: Reg<Bit>,
    sent_17: Delay<Bits<16>, 3>,
    sent_next_18: Reg<Bits<16>>,
    ack_1: Reg<Bit>,
    ack_flow_1: Reg<Bits<FLOW_BITS>>,
    ack_repeats: Reg<Bit>,
    acked_last: Reg<Bits<16>>,
    acked_next: Signal<Local, Bits<16>>,
    window_taken_2: Signal<Local, Bits<16>>,
    window_taken_15: Signal<Local, Bits<16>>,
    raised_sum: Signal<Local, Bits<21>>,
    share_14: Signal<Local, Bits<20>>,
    lowered: Signal<Local, Bits<20>>,
    write_acked: Signal<Local, Bit>,
    acked_address: Signal<Local, Bits<FLOW_BITS>>,
    acked_data: Signal<Local, Bits<16>>,
    write_sent: Signal<Local, Bit>,
    sent_address: Signal<Local, Bits<FLOW_BITS>>,
    sent_data: Signal<Local, Bits<16>>,
    deficit_zero: Constant<Bits<20>>,
    initial_window: Constant<Bits<16>>,
}

impl PathLane {
    /// For `flows` flows (a power of two).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_path_lane",
                "One path of the deficit selector: windows, counters, deficits and their arithmetic.\n\
                 A suffix _n is the clock after issue in which the value is present.",
            ),
            clk: Signal::default(),
            init_write: Signal::default(),
            init_flow: Signal::default(),
            init_count: Signal::default(),
            issue_flow: Signal::default(),
            decide_flow: Signal::default(),
            window_write: Signal::default(),
            window_flow: Signal::default(),
            window: Signal::default(),
            ack: Signal::default(),
            ack_flow: Signal::default(),
            shift_fine: Signal::default(),
            shift_coarse: Signal::default(),
            shift_half: Signal::default(),
            reciprocal: Signal::default(),
            commit: Signal::default(),
            commit_flow: Signal::default(),
            win: Signal::default(),
            handed_out: Signal::default(),
            room: Signal::default(),
            share: Signal::default(),
            open: Signal::default(),
            deficit: Signal::default(),
            windows: Ram::new(flows),
            sent_for_share: Ram::new(flows),
            sent_for_decision: Ram::new(flows),
            acked_for_share: Ram::new(flows),
            acked_for_count: Ram::new(flows),
            deficits: Ram::new(flows),
            in_flight_2: Reg::default(),
            window_2: Reg::default(),
            room_3: Reg::default(),
            has_room_4: Reg::default(),
            room_9: Delay::default(),
            shifted_10: Reg::default(),
            shifted_11: Reg::default(),
            shifted_12: Reg::default(),
            normalised_13: Reg::default(),
            product_14: Reg::default(),
            acked_14: Delay::default(),
            window_15: Delay::default(),
            has_room_15: Delay::default(),
            has_room_18: Delay::default(),
            raised_15: Reg::default(),
            raised_16: Reg::default(),
            raised_18: Delay::default(),
            in_flight_15: Reg::default(),
            open_16: Reg::default(),
            sent_17: Delay::default(),
            sent_next_18: Reg::default(),
            ack_1: Reg::default(),
            ack_flow_1: Reg::default(),
            ack_repeats: Reg::default(),
            acked_last: Reg::default(),
            acked_next: Signal::default(),
            window_taken_2: Signal::default(),
            window_taken_15: Signal::default(),
            raised_sum: Signal::default(),
            share_14: Signal::default(),
            lowered: Signal::default(),
            write_acked: Signal::default(),
            acked_address: Signal::default(),
            acked_data: Signal::default(),
            write_sent: Signal::default(),
            sent_address: Signal::default(),
            sent_data: Signal::default(),
            deficit_zero: Constant::new((DEFICIT_ZERO as u64).into()),
            initial_window: Constant::new((INITIAL_WINDOW as u64).into()),
        }
    }
}

impl Logic for PathLane {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, in_flight_2, window_2, room_3, has_room_4);
        dff_setup!(self, clk, shifted_10, shifted_11, shifted_12, normalised_13);
        dff_setup!(self, clk, product_14, raised_15, raised_16, in_flight_15);
        dff_setup!(self, clk, open_16, sent_next_18, ack_1, ack_flow_1);
        dff_setup!(self, clk, ack_repeats, acked_last);
        clock!(self, clk, windows, sent_for_share, sent_for_decision);
        clock!(self, clk, acked_for_share, acked_for_count, deficits);
        self.room_9.clk.next = self.clk.val();
        self.acked_14.clk.next = self.clk.val();
        self.window_15.clk.next = self.clk.val();
        self.has_room_15.clk.next = self.clk.val();
        self.has_room_18.clk.next = self.clk.val();
        self.raised_18.clk.next = self.clk.val();
        self.sent_17.clk.next = self.clk.val();

        // Room of the path: window less packets in flight, never below zero. 64 units a packet.
        self.windows.read_address.next = self.issue_flow.val();
        self.sent_for_share.read_address.next = self.issue_flow.val();
        self.acked_for_share.read_address.next = self.issue_flow.val();
        self.in_flight_2.d.next =
            self.sent_for_share.read_data.val() - self.acked_for_share.read_data.val();
        self.window_2.d.next = self.windows.read_data.val();
        self.window_taken_2.next = self.in_flight_2.q.val() << 6;
        self.room_3.d.next = self.window_2.q.val() - self.window_taken_2.val();
        if (self.in_flight_2.q.val().get_bits::<6>(10) != 0)
            || (self.window_2.q.val() <= self.window_taken_2.val())
        {
            self.room_3.d.next = 0.into();
        }
        self.room.next = bit_cast::<20, 16>(self.room_3.q.val());
        self.has_room_4.d.next = self.room_3.q.val() != 0;

        // Share: room over the sum of all rooms, both normalised so that the sum has its leading
        // one in bit 19.
        self.room_9.d.next = self.room_3.q.val();
        self.shifted_10.d.next = bit_cast::<20, 16>(self.room_9.q.val()) << self.shift_fine.val();
        self.shifted_11.d.next =
            self.shifted_10.q.val() << (bit_cast::<4, 2>(self.shift_coarse.val()) << 2);
        self.shifted_12.d.next = self.shifted_11.q.val();
        if self.shift_half.val() {
            self.shifted_12.d.next = self.shifted_11.q.val() << 16;
        }
        self.normalised_13.d.next = self.shifted_12.q.val().get_bits::<16>(4);
        self.product_14.d.next = self.normalised_13.q.val() * self.reciprocal.val();
        self.share_14.next = bit_cast::<20, 18>(self.product_14.q.val().get_bits::<18>(14));
        self.share.next = self.share_14.val();

        // Decision: the flow's own counters and deficits are read late, so that a flow may decide
        // again a few clocks later. The ACK count of `t` only errs towards a smaller room; a window
        // that is lowered in these 18 clocks counts from the next request on.
        self.sent_for_decision.read_address.next = self.decide_flow.val();
        self.deficits.read_address.next = self.decide_flow.val();
        self.acked_14.d.next = self.acked_for_share.read_data.val();
        self.window_15.d.next = self.window_2.q.val();
        self.has_room_15.d.next = self.has_room_4.q.val();
        self.has_room_18.d.next = self.has_room_15.q.val();
        self.raised_sum.next = bit_cast::<21, 20>(self.deficits.read_data.val())
            + bit_cast::<21, 20>(self.share_14.val());
        self.raised_15.d.next = self.raised_sum.val().get_bits::<20>(0);
        if self.raised_sum.val().get_bit(20) {
            self.raised_15.d.next = 0xf_ffff.into();
        }
        self.raised_16.d.next = self.raised_15.q.val();
        self.raised_18.d.next = self.raised_16.q.val();
        self.in_flight_15.d.next = self.sent_for_decision.read_data.val() - self.acked_14.q.val();
        self.window_taken_15.next = self.in_flight_15.q.val() << 6;
        self.open_16.d.next = self.has_room_15.q.val()
            && (self.in_flight_15.q.val().get_bits::<6>(10) == 0)
            && (self.window_taken_15.val() < self.window_15.q.val());
        self.open.next = self.open_16.q.val();
        self.deficit.next = self.raised_16.q.val();
        self.sent_17.d.next = self.sent_for_decision.read_data.val();
        self.sent_next_18.d.next = self.sent_17.q.val() + 1;

        // Write-back. The winner pays exactly what all paths were given, so the deficits' sum
        // never drifts, whatever the rounding of the shares.
        self.lowered.next = self.raised_18.q.val();
        if self.win.val() {
            self.lowered.next = self.raised_18.q.val() - self.handed_out.val();
            if self.raised_18.q.val() < self.handed_out.val() {
                self.lowered.next = 0.into();
            }
        }
        self.deficits.write_enable.next =
            self.init_write.val() || (self.commit.val() && self.has_room_18.q.val());
        self.deficits.write_address.next = self.commit_flow.val();
        self.deficits.write_data.next = self.lowered.val();
        self.write_sent.next = self.init_write.val() || (self.commit.val() && self.win.val());
        self.sent_address.next = self.commit_flow.val();
        self.sent_data.next = self.sent_next_18.q.val();

        // ACK count: read, add one, write; an ACK of the same flow in the next clock takes the
        // count that is just being written.
        self.acked_for_count.read_address.next = self.ack_flow.val();
        self.ack_1.d.next = self.ack.val();
        self.ack_flow_1.d.next = self.ack_flow.val();
        self.ack_repeats.d.next =
            self.ack_1.q.val() && (self.ack_flow_1.q.val() == self.ack_flow.val());
        self.acked_next.next = self.acked_for_count.read_data.val() + 1;
        if self.ack_repeats.q.val() {
            self.acked_next.next = self.acked_last.q.val() + 1;
        }
        self.acked_last.d.next = self.acked_next.val();
        self.write_acked.next = self.init_write.val() || self.ack_1.q.val();
        self.acked_address.next = self.ack_flow_1.q.val();
        self.acked_data.next = self.acked_next.val();

        self.windows.write_enable.next = self.init_write.val() || self.window_write.val();
        self.windows.write_address.next = self.window_flow.val();
        self.windows.write_data.next = self.window.val();

        if self.init_write.val() {
            self.deficits.write_address.next = self.init_flow.val();
            self.deficits.write_data.next = self.deficit_zero.val();
            self.sent_address.next = self.init_flow.val();
            self.sent_data.next = self.init_count.val();
            self.acked_address.next = self.init_flow.val();
            self.acked_data.next = self.init_count.val();
            self.windows.write_address.next = self.init_flow.val();
            self.windows.write_data.next = self.initial_window.val();
        }
        self.sent_for_share.write_enable.next = self.write_sent.val();
        self.sent_for_share.write_address.next = self.sent_address.val();
        self.sent_for_share.write_data.next = self.sent_data.val();
        self.sent_for_decision.write_enable.next = self.write_sent.val();
        self.sent_for_decision.write_address.next = self.sent_address.val();
        self.sent_for_decision.write_data.next = self.sent_data.val();
        self.acked_for_share.write_enable.next = self.write_acked.val();
        self.acked_for_share.write_address.next = self.acked_address.val();
        self.acked_for_share.write_data.next = self.acked_data.val();
        self.acked_for_count.write_enable.next = self.write_acked.val();
        self.acked_for_count.write_address.next = self.acked_address.val();
        self.acked_for_count.write_data.next = self.acked_data.val();
    }
}
