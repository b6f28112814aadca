//! From frames to data packets, probes and ACKs.

use super::words::{AckWord, DataWord, ProbeWord};
use super::{FrameAlign, HeaderVerdict, PayloadCheck};
use crate::prim::{ModuleId, Reg};
use crate::stream::{LevelFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Words in a queue of 32 from which on no beat is taken.
///
/// `rx_ready` knows a word 2 clocks after it is pushed, 7 clocks after its beat was taken or 8: 10
/// beats may be on their way, and they make 11 words at most, since only a frame's last beat makes
/// two.
const QUEUE_LIMIT: usize = 20;

/// Takes Ethernet frames, drops what is not for an open flow or damaged, and hands on data packets,
/// probes and ACKs, each on a stream of its own.
///
/// The pipeline never stalls: a beat that is taken makes at most one word for each queue, and
/// `rx_ready` falls while the queues can still hold what may be on its way.
///
/// Frames whose headers are wrong leave nothing on the data stream. Of a longer frame the length and
/// the payload CRC are known when its end is there: then `data_bad` says so. Never more beats come
/// than the header's payload length has.
#[derive(Clone, Debug, LogicBlock)]
pub struct FrameParser {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties queues and pipeline; the next beat starts a frame.
    pub rst: Signal<In, Bit>,
    /// Our MAC, first byte on the wire in the highest bits. All `local` and the port change only while no frame is under way.
    pub local_mac: Signal<In, Bits<48>>,
    /// Our IPv4 address as a number.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// Our IPv6 address as a number.
    pub local_ipv6: Signal<In, Bits<128>>,
    /// Our UDP port.
    pub udp_port: Signal<In, Bits<16>>,
    /// Time, ns, wrapping.
    pub now_ns: Signal<In, Bits<32>>,
    /// A beat from the network.
    pub rx_valid: Signal<In, Bit>,
    /// It is taken.
    pub rx_ready: Signal<Out, Bit>,
    /// Its bytes, the first in bits 7:0.
    pub rx_data: Signal<In, Bits<512>>,
    /// Bytes that count in a last beat, from byte 0 on; all others are full.
    pub rx_keep: Signal<In, Bits<64>>,
    /// It ends its frame.
    pub rx_last: Signal<In, Bit>,
    /// Flow whose context is read.
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// It, one clock later.
    pub context_data: Signal<In, Bits<256>>,
    /// A beat of a data packet's payload.
    pub data_valid: Signal<Out, Bit>,
    /// It is taken. While it is not, all that comes behind it waits.
    pub data_ready: Signal<In, Bit>,
    /// Its bytes, zeros behind the last.
    pub data_data: Signal<Out, Bits<512>>,
    /// Bytes that count.
    pub data_keep: Signal<Out, Bits<64>>,
    /// It ends its packet.
    pub data_last: Signal<Out, Bit>,
    /// With `data_last`: drop the packet, its CRC or its length is wrong.
    pub data_bad: Signal<Out, Bit>,
    /// Flow.
    pub data_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN.
    pub data_psn: Signal<Out, Bits<24>>,
    /// Path that the packet took.
    pub data_path: Signal<Out, Bits<4>>,
    /// Message place.
    pub data_place: Signal<Out, Bits<112>>,
    /// When it was sent, on the sender's clock.
    pub data_sent_ns: Signal<Out, Bits<32>>,
    /// `now_ns` when its frame's first beat was taken.
    pub data_received_ns: Signal<Out, Bits<32>>,
    /// A probe.
    pub probe_valid: Signal<Out, Bit>,
    /// It is taken.
    pub probe_ready: Signal<In, Bit>,
    /// Flow.
    pub probe_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path that it took.
    pub probe_path: Signal<Out, Bits<4>>,
    /// When it was sent, on the sender's clock.
    pub probe_sent_ns: Signal<Out, Bits<32>>,
    /// `now_ns` when its first beat was taken.
    pub probe_received_ns: Signal<Out, Bits<32>>,
    /// An ACK or NAK.
    pub ack_valid: Signal<Out, Bit>,
    /// It is taken.
    pub ack_ready: Signal<In, Bit>,
    /// Flow.
    pub ack_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path of the packet that is acknowledged.
    pub ack_path: Signal<Out, Bits<4>>,
    /// Its PSN; nothing for a probe.
    pub ack_psn: Signal<Out, Bits<24>>,
    /// Next expected PSN; nothing for a probe.
    pub ack_expected: Signal<Out, Bits<24>>,
    /// Which PSNs of its group of 64 have arrived; nothing for a probe.
    pub ack_selective: Signal<Out, Bits<64>>,
    /// A probe is acknowledged.
    pub ack_probe: Signal<Out, Bit>,
    /// It is a NAK.
    pub ack_nak: Signal<Out, Bit>,
    /// The packet was a duplicate.
    pub ack_duplicate: Signal<Out, Bit>,
    /// When the packet was sent, on our clock.
    pub ack_sent_ns: Signal<Out, Bits<32>>,
    /// When it arrived, on the receiver's clock.
    pub ack_received_ns: Signal<Out, Bits<32>>,
    /// `now_ns` when the ACK's first beat was taken.
    pub ack_now_ns: Signal<Out, Bits<32>>,
    /// Pulse: a frame is accepted.
    pub frame_valid: Signal<Out, Bit>,
    /// 0 data, 1 probe, 2 ACK, 3 NAK.
    pub frame_kind: Signal<Out, Bits<2>>,
    /// Pulse: a frame is dropped.
    pub drop_valid: Signal<Out, Bit>,
    /// Why: 1 to 14.
    pub drop_cause: Signal<Out, Bits<4>>,
    align: FrameAlign,
    verdict: HeaderVerdict,
    payload: PayloadCheck,
    data_queue: LevelFifo<DataWord, QUEUE_ADDRESS_BITS>,
    probe_queue: LevelFifo<ProbeWord, QUEUE_ADDRESS_BITS>,
    ack_queue: LevelFifo<AckWord, QUEUE_ADDRESS_BITS>,
    room: Reg<Bit>,
    sent: Reg<Bits<8>>,
    closed: Reg<Bit>,
    is_data: Signal<Local, Bit>,
    at_whole_end: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    push_last: Signal<Local, Bit>,
    final_cause: Signal<Local, Bits<4>>,
    accepted: Signal<Local, Bit>,
    place: Signal<Local, Bits<112>>,
    selective: Signal<Local, Bits<64>>,
    last_beat: Signal<Local, Bits<16>>,
    unused_low: Signal<Local, Bits<6>>,
    keep: Signal<Local, Bits<64>>,
    frame_valid_q: Reg<Bit>,
    frame_kind_q: Reg<Bits<2>>,
    drop_valid_q: Reg<Bit>,
    drop_cause_q: Reg<Bits<4>>,
    ones: Constant<Bits<64>>,
}

impl FrameParser {
    /// For `flows` flows, at most 1,024.
    pub fn new(flows: usize) -> Self {
        assert!(flows <= 1 << FLOW_BITS, "flow numbers have 10 bits");
        Self {
            id: ModuleId::new(
                format!("rondo_frame_parser_{flows}"),
                &format!(
                    "Checks frames for {flows} flows and hands on data packets, probes and ACKs."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            now_ns: Signal::default(),
            rx_valid: Signal::default(),
            rx_ready: Signal::default(),
            rx_data: Signal::default(),
            rx_keep: Signal::default(),
            rx_last: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            data_valid: Signal::default(),
            data_ready: Signal::default(),
            data_data: Signal::default(),
            data_keep: Signal::default(),
            data_last: Signal::default(),
            data_bad: Signal::default(),
            data_flow: Signal::default(),
            data_psn: Signal::default(),
            data_path: Signal::default(),
            data_place: Signal::default(),
            data_sent_ns: Signal::default(),
            data_received_ns: Signal::default(),
            probe_valid: Signal::default(),
            probe_ready: Signal::default(),
            probe_flow: Signal::default(),
            probe_path: Signal::default(),
            probe_sent_ns: Signal::default(),
            probe_received_ns: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_selective: Signal::default(),
            ack_probe: Signal::default(),
            ack_nak: Signal::default(),
            ack_duplicate: Signal::default(),
            ack_sent_ns: Signal::default(),
            ack_received_ns: Signal::default(),
            ack_now_ns: Signal::default(),
            frame_valid: Signal::default(),
            frame_kind: Signal::default(),
            drop_valid: Signal::default(),
            drop_cause: Signal::default(),
            align: FrameAlign::default(),
            verdict: HeaderVerdict::new(flows),
            payload: PayloadCheck::default(),
            data_queue: LevelFifo::new("rx_data", QUEUE_LIMIT),
            probe_queue: LevelFifo::new("rx_probes", QUEUE_LIMIT),
            ack_queue: LevelFifo::new("rx_acks", QUEUE_LIMIT),
            room: Reg::default(),
            sent: Reg::default(),
            closed: Reg::default(),
            is_data: Signal::default(),
            at_whole_end: Signal::default(),
            push: Signal::default(),
            push_last: Signal::default(),
            final_cause: Signal::default(),
            accepted: Signal::default(),
            place: Signal::default(),
            selective: Signal::default(),
            last_beat: Signal::default(),
            unused_low: Signal::default(),
            keep: Signal::default(),
            frame_valid_q: Reg::default(),
            frame_kind_q: Reg::default(),
            drop_valid_q: Reg::default(),
            drop_cause_q: Reg::default(),
            ones: Constant::new(Bits::<64>::mask()),
        }
    }
}

impl Logic for FrameParser {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, room, sent, closed);
        dff_setup!(
            self,
            clk,
            frame_valid_q,
            frame_kind_q,
            drop_valid_q,
            drop_cause_q
        );
        self.align.clk.next = self.clk.val();
        self.verdict.clk.next = self.clk.val();
        self.payload.clk.next = self.clk.val();
        self.data_queue.clk.next = self.clk.val();
        self.probe_queue.clk.next = self.clk.val();
        self.ack_queue.clk.next = self.clk.val();
        self.align.rst.next = self.rst.val();
        self.verdict.rst.next = self.rst.val();
        self.payload.rst.next = self.rst.val();
        self.data_queue.rst.next = self.rst.val();
        self.probe_queue.rst.next = self.rst.val();
        self.ack_queue.rst.next = self.rst.val();

        // In.
        self.room.d.next =
            self.data_queue.room.val() && self.probe_queue.room.val() && self.ack_queue.room.val();
        self.rx_ready.next = self.room.q.val();
        self.align.take.next = self.rx_valid.val() && self.room.q.val();
        self.align.data.next = self.rx_data.val();
        self.align.keep.next = self.rx_keep.val();
        self.align.last.next = self.rx_last.val();
        self.align.now_ns.next = self.now_ns.val();

        // The header, 2 clocks after a frame's second beat; its verdict 8 clocks after.
        self.verdict.valid.next = self.align.head_valid.val();
        self.verdict.low.next = self.align.head_low.val();
        self.verdict.high.next = self.align.head_high.val();
        self.verdict.ipv6.next = self.align.head_ipv6.val();
        self.verdict.ended.next = self.align.head_ended.val();
        self.verdict.size.next = self.align.head_size.val();
        self.verdict.arrived_ns.next = self.align.head_arrived_ns.val();
        self.verdict.local_mac.next = self.local_mac.val();
        self.verdict.local_ipv4.next = self.local_ipv4.val();
        self.verdict.local_ipv6.next = self.local_ipv6.val();
        self.verdict.udp_port.next = self.udp_port.val();
        self.context_flow.next = self.verdict.context_flow.val();
        self.verdict.context_data.next = self.context_data.val();

        // The payload, 2 clocks after the beat that completes it, or 3; checked 7 clocks after, or
        // 8. A frame's first payload beat is completed after its second beat, and its end comes
        // before the next frame's second beat: the verdict is there from the one to the other.
        self.payload.valid.next = self.align.out_valid.val();
        self.payload.first.next = self.align.out_first.val();
        self.payload.last.next = self.align.out_last.val();
        self.payload.data.next = self.align.out_data.val();
        self.payload.size.next = self.align.out_size.val();
        self.payload.frame_end.next = self.align.out_end.val();
        self.payload.payload_low.next = self.verdict.payload_low.val();
        self.payload.payload_crc.next = self.verdict.payload_crc.val();
        self.payload.whole_size.next = self.verdict.whole_size.val();

        // Data: beats up to the one that the header says is the last.
        self.is_data.next =
            (self.verdict.cause.val() == 0) && (self.verdict.header.val().kind == 0);
        self.last_beat.next = self.verdict.header.val().payload - 1;
        self.at_whole_end.next = self.sent.q.val() == self.last_beat.val().get_bits::<8>(6);
        self.push.next = self.payload.out_valid.val() && self.is_data.val() && !self.closed.q.val();
        self.push_last.next = self.payload.out_last.val() || self.at_whole_end.val();
        if self.push.val() {
            self.sent.d.next = self.sent.q.val() + 1;
            self.closed.d.next = self.push_last.val();
        }
        if self.payload.out_end.val() {
            self.sent.d.next = 0.into();
            self.closed.d.next = false;
        }
        self.place.next = bit_cast::<112, 32>(self.verdict.header.val().message)
            | (bit_cast::<112, 32>(self.verdict.header.val().offset) << 32)
            | (bit_cast::<112, 32>(self.verdict.header.val().length) << 64)
            | (bit_cast::<112, 14>(self.verdict.header.val().payload.get_bits::<14>(0)) << 96)
            | (bit_cast::<112, 1>(self.verdict.header.val().flags.get_bits::<1>(0)) << 110);
        self.unused_low.next = bits::<6>(0) - bit_cast::<6, 16>(self.verdict.header.val().payload);
        self.data_queue.push.next = self.push.val();
        self.data_queue.push_data.next.data = self.payload.out_data.val();
        self.data_queue.push_data.next.keep = self.keep.val();
        self.data_queue.push_data.next.last = self.push_last.val();
        self.data_queue.push_data.next.bad = !self.payload.out_last.val()
            || !self.at_whole_end.val()
            || !self.payload.size_right.val()
            || !self.payload.crc_right.val();
        self.data_queue.push_data.next.flow =
            bit_cast::<FLOW_BITS, 16>(self.verdict.header.val().flow);
        self.data_queue.push_data.next.psn = bit_cast::<24, 32>(self.verdict.header.val().psn);
        self.data_queue.push_data.next.path = self.verdict.header.val().path;
        self.data_queue.push_data.next.place = self.place.val();
        self.data_queue.push_data.next.sent_ns = self.verdict.header.val().sent_ns;
        self.data_queue.push_data.next.received_ns = self.verdict.received_ns.val();
        self.keep.next = self.ones.val();
        if self.push_last.val() {
            self.keep.next = self.ones.val() >> self.unused_low.val();
        }

        // The frame's end: what it was. A length that is wrong comes after the early checks only.
        self.final_cause.next = self.verdict.cause.val();
        if (self.verdict.cause.val() == 0)
            && (self.verdict.header.val().kind == 0)
            && !self.payload.crc_right.val()
        {
            self.final_cause.next = 14.into();
        }
        if !self.verdict.early.val() && !self.payload.size_right.val() {
            self.final_cause.next = 8.into();
        }
        self.accepted.next = self.payload.out_end.val() && (self.final_cause.val() == 0);
        self.frame_valid_q.d.next = self.accepted.val();
        self.frame_kind_q.d.next = bit_cast::<2, 4>(self.verdict.header.val().kind);
        self.drop_valid_q.d.next = self.payload.out_end.val() && (self.final_cause.val() != 0);
        self.drop_cause_q.d.next = self.final_cause.val();
        self.frame_valid.next = self.frame_valid_q.q.val();
        self.frame_kind.next = self.frame_kind_q.q.val();
        self.drop_valid.next = self.drop_valid_q.q.val();
        self.drop_cause.next = self.drop_cause_q.q.val();

        // Probes and ACKs.
        self.probe_queue.push.next = self.accepted.val() && (self.verdict.header.val().kind == 1);
        self.probe_queue.push_data.next.flow =
            bit_cast::<FLOW_BITS, 16>(self.verdict.header.val().flow);
        self.probe_queue.push_data.next.path = self.verdict.header.val().path;
        self.probe_queue.push_data.next.sent_ns = self.verdict.header.val().sent_ns;
        self.probe_queue.push_data.next.received_ns = self.verdict.received_ns.val();
        self.selective.next = bit_cast::<64, 32>(self.verdict.header.val().length)
            | (bit_cast::<64, 32>(self.verdict.header.val().offset) << 32);
        self.ack_queue.push.next = self.accepted.val() && self.verdict.header.val().kind.get_bit(1);
        self.ack_queue.push_data.next.flow =
            bit_cast::<FLOW_BITS, 16>(self.verdict.header.val().flow);
        self.ack_queue.push_data.next.path = self.verdict.header.val().path;
        self.ack_queue.push_data.next.psn = bit_cast::<24, 32>(self.verdict.header.val().psn);
        self.ack_queue.push_data.next.expected =
            bit_cast::<24, 32>(self.verdict.header.val().message);
        self.ack_queue.push_data.next.selective = self.selective.val();
        self.ack_queue.push_data.next.probe = self.verdict.header.val().flags.get_bit(2);
        self.ack_queue.push_data.next.nak = self.verdict.header.val().kind.get_bit(0);
        self.ack_queue.push_data.next.duplicate = self.verdict.header.val().flags.get_bit(3);
        self.ack_queue.push_data.next.sent_ns = self.verdict.header.val().sent_ns;
        self.ack_queue.push_data.next.received_ns = self.verdict.header.val().crc;
        self.ack_queue.push_data.next.now_ns = self.verdict.received_ns.val();

        // Out.
        self.data_valid.next = self.data_queue.valid.val();
        self.data_data.next = self.data_queue.data.val().data;
        self.data_keep.next = self.data_queue.data.val().keep;
        self.data_last.next = self.data_queue.data.val().last;
        self.data_bad.next = self.data_queue.data.val().bad && self.data_queue.data.val().last;
        self.data_flow.next = self.data_queue.data.val().flow;
        self.data_psn.next = self.data_queue.data.val().psn;
        self.data_path.next = self.data_queue.data.val().path;
        self.data_place.next = self.data_queue.data.val().place;
        self.data_sent_ns.next = self.data_queue.data.val().sent_ns;
        self.data_received_ns.next = self.data_queue.data.val().received_ns;
        self.data_queue.ready.next = self.data_ready.val();
        self.probe_valid.next = self.probe_queue.valid.val();
        self.probe_flow.next = self.probe_queue.data.val().flow;
        self.probe_path.next = self.probe_queue.data.val().path;
        self.probe_sent_ns.next = self.probe_queue.data.val().sent_ns;
        self.probe_received_ns.next = self.probe_queue.data.val().received_ns;
        self.probe_queue.ready.next = self.probe_ready.val();
        self.ack_valid.next = self.ack_queue.valid.val();
        self.ack_flow.next = self.ack_queue.data.val().flow;
        self.ack_path.next = self.ack_queue.data.val().path;
        self.ack_psn.next = self.ack_queue.data.val().psn;
        self.ack_expected.next = self.ack_queue.data.val().expected;
        self.ack_selective.next = self.ack_queue.data.val().selective;
        self.ack_probe.next = self.ack_queue.data.val().probe;
        self.ack_nak.next = self.ack_queue.data.val().nak;
        self.ack_duplicate.next = self.ack_queue.data.val().duplicate;
        self.ack_sent_ns.next = self.ack_queue.data.val().sent_ns;
        self.ack_received_ns.next = self.ack_queue.data.val().received_ns;
        self.ack_now_ns.next = self.ack_queue.data.val().now_ns;
        self.ack_queue.ready.next = self.ack_ready.val();

        if self.rst.val() {
            self.room.d.next = false;
            self.sent.d.next = 0.into();
            self.closed.d.next = false;
            self.frame_valid_q.d.next = false;
            self.drop_valid_q.d.next = false;
        }
    }
}
