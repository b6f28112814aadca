//! Cuts frames into their first two beats, for the header, and a payload that starts at bit 0.

use crate::prim::{ModuleId, Reg};
use crate::tracker::FirstMissing;
use rust_hdl::prelude::*;

/// Frame beats in, payload beats out, by two constant shifts: the payload starts at byte 80 of an
/// IPv4 frame and at byte 100 of an IPv6 frame.
///
/// A payload beat is made of two beats that follow each other and comes 2 clocks after the second
/// of them was taken. What is left of a frame's last beat comes one clock later, with `out_end`. Every
/// frame has one `out_end`, 3 clocks after its last beat, with payload or without: the next frame's
/// first beat makes no payload, so that the two never meet.
#[derive(Clone, Debug, LogicBlock)]
pub struct FrameAlign {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: the next beat starts a frame.
    pub rst: Signal<In, Bit>,
    /// A beat is taken.
    pub take: Signal<In, Bit>,
    /// Its bytes.
    pub data: Signal<In, Bits<512>>,
    /// Bytes that count in a last beat, from byte 0 on.
    pub keep: Signal<In, Bits<64>>,
    /// It ends its frame.
    pub last: Signal<In, Bit>,
    /// Time, ns.
    pub now_ns: Signal<In, Bits<32>>,
    /// A frame's second beat, or its only one, was taken 2 clocks ago.
    pub head_valid: Signal<Out, Bit>,
    /// The frame's first beat.
    pub head_low: Signal<Out, Bits<512>>,
    /// The first 36 bytes of its second beat.
    pub head_high: Signal<Out, Bits<288>>,
    /// The frame has ended.
    pub head_ended: Signal<Out, Bit>,
    /// Its EtherType is IPv6's.
    pub head_ipv6: Signal<Out, Bit>,
    /// Bytes so far less one, when it has ended.
    pub head_size: Signal<Out, Bits<17>>,
    /// When the first beat was taken, ns.
    pub head_arrived_ns: Signal<Out, Bits<32>>,
    /// A payload beat.
    pub out_valid: Signal<Out, Bit>,
    /// It is the frame's first.
    pub out_first: Signal<Out, Bit>,
    /// It is the frame's last.
    pub out_last: Signal<Out, Bit>,
    /// Its bytes; what is beyond the frame's end means nothing.
    pub out_data: Signal<Out, Bits<512>>,
    /// Bytes of the frame less one, with `out_last` and `out_end`; 131,008 or more when it is longer
    /// than can be told.
    pub out_size: Signal<Out, Bits<17>>,
    /// The frame ended.
    pub out_end: Signal<Out, Bit>,
    kept_bytes: FirstMissing,
    at_first: Reg<Bit>,
    at_second: Reg<Bit>,
    index: Reg<Bits<11>>,
    arrived: Reg<Bits<32>>,
    valid_1: Reg<Bit>,
    first_1: Reg<Bit>,
    second_1: Reg<Bit>,
    last_1: Reg<Bit>,
    data_1: Reg<Bits<512>>,
    beyond_16_1: Reg<Bit>,
    beyond_36_1: Reg<Bit>,
    index_1: Reg<Bits<11>>,
    index_2: Reg<Bits<11>>,
    size_2: Signal<Local, Bits<17>>,
    size_3: Reg<Bits<17>>,
    low_2: Reg<Bits<512>>,
    latest_2: Reg<Bits<512>>,
    arrived_2: Reg<Bits<32>>,
    ipv6_2: Reg<Bit>,
    head_2: Reg<Bit>,
    ended_2: Reg<Bit>,
    joins: Signal<Local, Bit>,
    joins_first: Reg<Bit>,
    more: Signal<Local, Bit>,
    rest: Reg<Bit>,
    finish: Reg<Bit>,
    following: Signal<Local, Bits<512>>,
    out_valid_2: Reg<Bit>,
    out_first_2: Reg<Bit>,
    out_last_2: Reg<Bit>,
    out_data_2: Reg<Bits<512>>,
    end_2: Reg<Bit>,
}

impl Default for FrameAlign {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_rx_align",
                "Cuts frames into header and payload; the payload starts at byte 80 on IPv4, 100 on IPv6.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            take: Signal::default(),
            data: Signal::default(),
            keep: Signal::default(),
            last: Signal::default(),
            now_ns: Signal::default(),
            head_valid: Signal::default(),
            head_low: Signal::default(),
            head_high: Signal::default(),
            head_ended: Signal::default(),
            head_ipv6: Signal::default(),
            head_size: Signal::default(),
            head_arrived_ns: Signal::default(),
            out_valid: Signal::default(),
            out_first: Signal::default(),
            out_last: Signal::default(),
            out_data: Signal::default(),
            out_size: Signal::default(),
            out_end: Signal::default(),
            kept_bytes: FirstMissing::default(),
            at_first: Reg::default(),
            at_second: Reg::default(),
            index: Reg::default(),
            arrived: Reg::default(),
            valid_1: Reg::default(),
            first_1: Reg::default(),
            second_1: Reg::default(),
            last_1: Reg::default(),
            data_1: Reg::default(),
            beyond_16_1: Reg::default(),
            beyond_36_1: Reg::default(),
            index_1: Reg::default(),
            index_2: Reg::default(),
            size_2: Signal::default(),
            size_3: Reg::default(),
            low_2: Reg::default(),
            latest_2: Reg::default(),
            arrived_2: Reg::default(),
            ipv6_2: Reg::default(),
            head_2: Reg::default(),
            ended_2: Reg::default(),
            joins: Signal::default(),
            joins_first: Reg::default(),
            more: Signal::default(),
            rest: Reg::default(),
            finish: Reg::default(),
            following: Signal::default(),
            out_valid_2: Reg::default(),
            out_first_2: Reg::default(),
            out_last_2: Reg::default(),
            out_data_2: Reg::default(),
            end_2: Reg::default(),
        }
    }
}

impl Logic for FrameAlign {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, at_first, at_second, index, arrived);
        dff_setup!(self, clk, valid_1, first_1, second_1, last_1, data_1);
        dff_setup!(self, clk, beyond_16_1, beyond_36_1, index_1, index_2);
        dff_setup!(self, clk, size_3, low_2, latest_2, arrived_2, ipv6_2);
        dff_setup!(self, clk, head_2, ended_2, joins_first, rest, finish);
        dff_setup!(
            self,
            clk,
            out_valid_2,
            out_first_2,
            out_last_2,
            out_data_2,
            end_2
        );

        // In: where the beat is in its frame.
        if self.take.val() {
            self.at_first.d.next = self.last.val();
            self.at_second.d.next = self.at_first.q.val() && !self.last.val();
            if self.at_first.q.val() {
                self.arrived.d.next = self.now_ns.val();
            }
            if !self.index.q.val().all() {
                self.index.d.next = self.index.q.val() + 1;
            }
            if self.last.val() {
                self.index.d.next = 0.into();
            }
        }
        self.valid_1.d.next = self.take.val();
        self.first_1.d.next = self.at_first.q.val();
        self.second_1.d.next = self.at_second.q.val();
        self.last_1.d.next = self.last.val();
        self.data_1.d.next = self.data.val();
        self.beyond_16_1.d.next = self.keep.val().get_bit(16);
        self.beyond_36_1.d.next = self.keep.val().get_bit(36);
        self.index_1.d.next = self.index.q.val();

        // The frame's size, if its last beat was taken 2 clocks ago.
        self.kept_bytes.clk.next = self.clk.val();
        self.kept_bytes.word.next = self.keep.val();
        self.index_2.d.next = self.index_1.q.val();
        self.size_2.next = (bit_cast::<17, 11>(self.index_2.q.val()) << 6)
            | bit_cast::<17, 6>(bit_cast::<6, 7>(self.kept_bytes.run.val()) - 1);
        self.size_3.d.next = self.size_2.val();

        // The header's beats.
        if self.valid_1.q.val() {
            self.latest_2.d.next = self.data_1.q.val();
            if self.first_1.q.val() {
                self.low_2.d.next = self.data_1.q.val();
                self.arrived_2.d.next = self.arrived.q.val();
                // EtherType 0x86dd.
                self.ipv6_2.d.next = self.data_1.q.val().get_bits::<16>(96) == 0xdd86;
            }
        }
        self.head_2.d.next = self.valid_1.q.val()
            && (self.second_1.q.val() || (self.first_1.q.val() && self.last_1.q.val()));
        self.ended_2.d.next = self.last_1.q.val();

        // Payload: the third beat and those behind it join the one before; what a last beat has
        // beyond the payload's place goes alone, one clock later.
        self.joins.next = self.valid_1.q.val() && !self.first_1.q.val() && !self.second_1.q.val();
        self.more.next = self.beyond_16_1.q.val();
        if self.ipv6_2.q.val() {
            self.more.next = self.beyond_36_1.q.val();
        }
        if self.valid_1.q.val() {
            self.joins_first.d.next = self.second_1.q.val();
        }
        self.finish.d.next = self.valid_1.q.val() && self.last_1.q.val();
        self.rest.d.next =
            self.valid_1.q.val() && self.last_1.q.val() && !self.first_1.q.val() && self.more.val();
        self.following.next = self.data_1.q.val();
        if self.finish.q.val() {
            self.following.next = 0.into();
        }
        self.out_data_2.d.next = (self.latest_2.q.val() >> 128) | (self.following.val() << 384);
        if self.ipv6_2.q.val() {
            self.out_data_2.d.next = (self.latest_2.q.val() >> 288) | (self.following.val() << 224);
        }
        self.out_valid_2.d.next = self.joins.val() || self.rest.q.val();
        self.out_first_2.d.next = self.joins_first.q.val();
        self.out_last_2.d.next = self.last_1.q.val() && !self.more.val();
        if self.finish.q.val() {
            self.out_last_2.d.next = true;
        }
        self.end_2.d.next = self.finish.q.val();

        self.head_valid.next = self.head_2.q.val();
        self.head_low.next = self.low_2.q.val();
        self.head_high.next = self.latest_2.q.val().get_bits::<288>(0);
        self.head_ended.next = self.ended_2.q.val();
        self.head_ipv6.next = self.ipv6_2.q.val();
        self.head_size.next = self.size_2.val();
        self.head_arrived_ns.next = self.arrived_2.q.val();
        self.out_valid.next = self.out_valid_2.q.val();
        self.out_first.next = self.out_first_2.q.val();
        self.out_last.next = self.out_last_2.q.val();
        self.out_data.next = self.out_data_2.q.val();
        self.out_size.next = self.size_2.val();
        if self.end_2.q.val() {
            self.out_size.next = self.size_3.q.val();
        }
        self.out_end.next = self.end_2.q.val();

        if self.rst.val() {
            self.at_first.d.next = true;
            self.at_second.d.next = false;
            self.index.d.next = 0.into();
            self.valid_1.d.next = false;
            self.head_2.d.next = false;
            self.finish.d.next = false;
            self.rest.d.next = false;
            self.out_valid_2.d.next = false;
            self.end_2.d.next = false;
        }
    }
}
