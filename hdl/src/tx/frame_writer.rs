//! Writes frames to the wire: header, then payload shifted behind it.

use super::frame_preparer::PREPARED_BITS;
use super::{TimestampCrc, WireOrder};
use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS};
use rust_hdl::prelude::*;

/// Room for prepared frames and for beats on their way out, log2.
const QUEUE_ADDRESS_BITS: usize = 3;

/// Gives a beat a clock, frame behind frame, while the queue behind it has room.
///
/// The first beat is header alone; the rest of the header, 16 bytes on IPv4 and 36 on IPv6, is
/// carried to the next beat, as is then the end of every beat of payload. The timestamp and the CRC
/// that covers it lie in the carried part, so that the time is taken when the frame starts.
#[derive(Clone, Debug, LogicBlock)]
pub struct FrameWriter<const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A frame is prepared; there is room by design.
    pub prepared_valid: Signal<In, Bit>,
    /// As [`FramePreparer`](super::FramePreparer) makes it.
    pub prepared: Signal<In, Bits<PREPARED_BITS>>,
    /// A frame starts.
    pub started: Signal<Out, Bit>,
    /// It is data or a probe.
    pub started_large: Signal<Out, Bit>,
    /// The NIC's MAC address.
    pub local_mac: Signal<In, Bits<48>>,
    /// Its IPv4 address.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// Its IPv6 address.
    pub local_ipv6: Signal<In, Bits<128>>,
    /// UDP destination port.
    pub udp_port: Signal<In, Bits<16>>,
    /// Time.
    pub now_ns: Signal<In, Bits<32>>,
    /// Slot and beat that are read.
    pub pool_address: Signal<Out, Bits<18>>,
    /// The beat, one clock later.
    pub pool_data: Signal<In, Bits<512>>,
    /// A beat of a frame.
    pub tx_valid: Signal<Out, Bit>,
    /// It is taken.
    pub tx_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub tx_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub tx_keep: Signal<Out, Bits<64>>,
    /// The frame's last beat.
    pub tx_last: Signal<Out, Bit>,
    /// Bytes of the frame.
    pub tx_size: Signal<Out, Bits<16>>,
    /// A frame has started.
    pub frame_valid: Signal<Out, Bit>,
    /// Its kind.
    pub frame_kind: Signal<Out, Bits<2>>,
    /// A data frame has started.
    pub sent_valid: Signal<Out, Bit>,
    /// Its slot.
    pub sent_slot: Signal<Out, Bits<10>>,
    /// Its flow.
    pub sent_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its PSN.
    pub sent_psn: Signal<Out, Bits<24>>,
    /// Its path.
    pub sent_path: Signal<Out, Bits<4>>,
    /// Its timestamp.
    pub sent_ns: Signal<Out, Bits<32>>,
    queue: StreamFifo<Bits<PREPARED_BITS>, QUEUE_ADDRESS_BITS>,
    out: StreamFifo<Bits<529>, QUEUE_ADDRESS_BITS>,
    credits: Reg<Bits<4>>,
    active: Reg<Bit>,
    beat: Reg<Bits<8>>,
    pool_beat: Reg<Bits<8>>,
    head: Reg<Bits<PREPARED_BITS>>,
    timestamp: Reg<Bits<32>>,
    ipv6: Signal<Local, Bit>,
    room: Signal<Local, Bit>,
    start: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    valid_1: Reg<Bit>,
    first_1: Reg<Bit>,
    payload_1: Reg<Bit>,
    last_1: Reg<Bit>,
    timestamp_crc: TimestampCrc,
    crc: Signal<Local, Bits<32>>,
    rondo: Signal<Local, Bits<304>>,
    payload_length: Signal<Local, Bits<16>>,
    udp_length: Signal<Local, Bits<16>>,
    total_length: Signal<Local, Bits<16>>,
    traffic_class: Signal<Local, Bits<8>>,
    ethernet: Signal<Local, Bits<112>>,
    udp: Signal<Local, Bits<64>>,
    below_ipv4: Signal<Local, Bits<512>>,
    below_ipv6: Signal<Local, Bits<512>>,
    wire_order: WireOrder,
    header: Signal<Local, Bits<800>>,
    word: Signal<Local, Bits<512>>,
    valid_2: Reg<Bit>,
    data_2: Reg<Bits<512>>,
    carry: Reg<Bits<288>>,
    last_2: Reg<Bit>,
    size_2: Reg<Bits<16>>,
    popped: Signal<Local, Bit>,
    tail: Signal<Local, Bits<6>>,
    keep: [Signal<Local, Bits<64>>; 64],
    depth: Constant<Bits<4>>,
    slot_bits: Constant<Bits<4>>,
    udp_bytes: Constant<Bits<16>>,
    total_bytes: Constant<Bits<16>>,
    ether_ipv4: Constant<Bits<112>>,
    ether_ipv6: Constant<Bits<112>>,
    version_ipv4: Constant<Bits<512>>,
    fragment_ttl_protocol: Constant<Bits<512>>,
    version_ipv6: Constant<Bits<512>>,
    next_header_hops: Constant<Bits<512>>,
    data_class: Constant<Bits<8>>,
    probe_class: Constant<Bits<8>>,
    ack_class: Constant<Bits<8>>,
    all_bytes: Constant<Bits<64>>,
}

impl<const SB: usize> Default for FrameWriter<SB> {
    fn default() -> Self {
        let wide = |value: u64| Constant::new(value.into());
        Self {
            id: ModuleId::new(
                format!("rondo_frame_writer_{}", 64 << SB),
                "Writes prepared frames, with their payload from the pool.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            prepared_valid: Signal::default(),
            prepared: Signal::default(),
            started: Signal::default(),
            started_large: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            now_ns: Signal::default(),
            pool_address: Signal::default(),
            pool_data: Signal::default(),
            tx_valid: Signal::default(),
            tx_ready: Signal::default(),
            tx_data: Signal::default(),
            tx_keep: Signal::default(),
            tx_last: Signal::default(),
            tx_size: Signal::default(),
            frame_valid: Signal::default(),
            frame_kind: Signal::default(),
            sent_valid: Signal::default(),
            sent_slot: Signal::default(),
            sent_flow: Signal::default(),
            sent_psn: Signal::default(),
            sent_path: Signal::default(),
            sent_ns: Signal::default(),
            queue: StreamFifo::new("prepared_frames"),
            out: StreamFifo::new("frame_beats"),
            credits: Reg::default(),
            active: Reg::default(),
            beat: Reg::default(),
            pool_beat: Reg::default(),
            head: Reg::default(),
            timestamp: Reg::default(),
            ipv6: Signal::default(),
            room: Signal::default(),
            start: Signal::default(),
            step: Signal::default(),
            ends: Signal::default(),
            valid_1: Reg::default(),
            first_1: Reg::default(),
            payload_1: Reg::default(),
            last_1: Reg::default(),
            timestamp_crc: TimestampCrc::default(),
            crc: Signal::default(),
            rondo: Signal::default(),
            payload_length: Signal::default(),
            udp_length: Signal::default(),
            total_length: Signal::default(),
            traffic_class: Signal::default(),
            ethernet: Signal::default(),
            udp: Signal::default(),
            below_ipv4: Signal::default(),
            below_ipv6: Signal::default(),
            wire_order: WireOrder::default(),
            header: Signal::default(),
            word: Signal::default(),
            valid_2: Reg::default(),
            data_2: Reg::default(),
            carry: Reg::default(),
            last_2: Reg::default(),
            size_2: Reg::default(),
            popped: Signal::default(),
            tail: Signal::default(),
            keep: std::array::from_fn(|_| Signal::default()),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
            slot_bits: Constant::new((SB as u64).into()),
            udp_bytes: Constant::new((8 + 38).into()),
            total_bytes: Constant::new((20 + 8 + 38).into()),
            ether_ipv4: Constant::new(0x0800.into()),
            ether_ipv6: Constant::new(0x86dd.into()),
            version_ipv4: wide(0x45),
            fragment_ttl_protocol: wide(0x4000_4011),
            version_ipv6: wide(6),
            next_header_hops: wide(0x1140),
            data_class: Constant::new((26 << 2).into()),
            probe_class: Constant::new((8 << 2).into()),
            ack_class: Constant::new((46 << 2).into()),
            all_bytes: Constant::new(u64::MAX.into()),
        }
    }
}

impl<const SB: usize> Logic for FrameWriter<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credits, active, beat, pool_beat, head, timestamp);
        dff_setup!(self, clk, valid_1, first_1, payload_1, last_1);
        dff_setup!(self, clk, valid_2, data_2, carry, last_2, size_2);
        self.queue.clk.next = self.clk.val();
        self.queue.rst.next = self.rst.val();
        self.out.clk.next = self.clk.val();
        self.out.rst.next = self.rst.val();

        self.queue.push.next = self.prepared_valid.val();
        self.queue.push_data.next = self.prepared.val();
        self.room.next = self.credits.q.val() != 0;
        self.start.next = self.queue.valid.val() && !self.active.q.val() && self.room.val();
        self.queue.ready.next = !self.active.q.val() && self.room.val();
        self.step.next = self.active.q.val() && self.room.val();
        self.started.next = self.start.val();
        self.started_large.next = !self.queue.data.val().get_bit(1);
        self.ends.next = self.beat.q.val() == self.head.q.val().get_bits::<8>(543);
        self.valid_1.d.next = self.start.val() || self.step.val();
        self.first_1.d.next = self.start.val();
        self.payload_1.d.next = self.pool_beat.q.val() < self.head.q.val().get_bits::<8>(551);
        self.last_1.d.next = self.step.val() && self.ends.val();
        self.pool_address.next = (bit_cast::<18, 10>(self.head.q.val().get_bits::<10>(559))
            << self.slot_bits.val())
            | bit_cast::<18, 8>(self.pool_beat.q.val());
        if self.start.val() {
            self.active.d.next = true;
            self.beat.d.next = 1.into();
            self.pool_beat.d.next = 0.into();
            self.head.d.next = self.queue.data.val();
            self.timestamp.d.next = self.now_ns.val();
            if self.queue.data.val().get_bit(1) {
                self.timestamp.d.next = 0.into();
            }
        }
        if self.step.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            self.pool_beat.d.next = self.pool_beat.q.val() + 1;
            self.active.d.next = !self.ends.val();
        }

        // 1, first beat: the header.
        self.ipv6.next = self.head.q.val().get_bit(512);
        self.timestamp_crc.timestamp.next = self.timestamp.q.val();
        self.crc.next = self.head.q.val().get_bits::<32>(272) ^ self.timestamp_crc.crc.val();
        self.rondo.next = bit_cast::<304, 272>(self.head.q.val().get_bits::<272>(0))
            | (bit_cast::<304, 8>(self.timestamp.q.val().get_bits::<8>(24)) << 192)
            | (bit_cast::<304, 8>(self.timestamp.q.val().get_bits::<8>(16)) << 200)
            | (bit_cast::<304, 8>(self.timestamp.q.val().get_bits::<8>(8)) << 208)
            | (bit_cast::<304, 8>(self.timestamp.q.val().get_bits::<8>(0)) << 216)
            | (bit_cast::<304, 8>(self.crc.val().get_bits::<8>(24)) << 272)
            | (bit_cast::<304, 8>(self.crc.val().get_bits::<8>(16)) << 280)
            | (bit_cast::<304, 8>(self.crc.val().get_bits::<8>(8)) << 288)
            | (bit_cast::<304, 8>(self.crc.val().get_bits::<8>(0)) << 296);
        self.payload_length.next = bit_cast::<16, 14>(self.head.q.val().get_bits::<14>(513));
        self.udp_length.next = self.payload_length.val() + self.udp_bytes.val();
        self.total_length.next = self.payload_length.val() + self.total_bytes.val();
        self.traffic_class.next = self.ack_class.val();
        if !self.head.q.val().get_bits::<2>(0).any() {
            self.traffic_class.next = self.data_class.val();
        } else if self.head.q.val().get_bits::<2>(0) == 1 {
            self.traffic_class.next = self.probe_class.val();
        }
        self.ethernet.next = (bit_cast::<112, 48>(self.head.q.val().get_bits::<48>(320)) << 64)
            | (bit_cast::<112, 48>(self.local_mac.val()) << 16)
            | self.ether_ipv4.val();
        if self.ipv6.val() {
            self.ethernet.next = (bit_cast::<112, 48>(self.head.q.val().get_bits::<48>(320)) << 64)
                | (bit_cast::<112, 48>(self.local_mac.val()) << 16)
                | self.ether_ipv6.val();
        }
        self.udp.next = (bit_cast::<64, 16>(self.head.q.val().get_bits::<16>(496)) << 48)
            | (bit_cast::<64, 16>(self.udp_port.val()) << 32)
            | (bit_cast::<64, 16>(self.udp_length.val()) << 16);
        // Numbers whose first byte is the highest: Ethernet from bit 400 on, IPv4 from 240, IPv6
        // from 80, UDP from 176 or 16.
        self.below_ipv4.next = (bit_cast::<512, 112>(self.ethernet.val()) << 400)
            | (self.version_ipv4.val() << 392)
            | (bit_cast::<512, 8>(self.traffic_class.val()) << 384)
            | (bit_cast::<512, 16>(self.total_length.val()) << 368)
            | (self.fragment_ttl_protocol.val() << 320)
            | (bit_cast::<512, 16>(self.head.q.val().get_bits::<16>(304)) << 304)
            | (bit_cast::<512, 32>(self.local_ipv4.val()) << 272)
            | (bit_cast::<512, 32>(self.head.q.val().get_bits::<32>(368)) << 240)
            | (bit_cast::<512, 64>(self.udp.val()) << 176);
        self.below_ipv6.next = (bit_cast::<512, 112>(self.ethernet.val()) << 400)
            | (self.version_ipv6.val() << 396)
            | (bit_cast::<512, 8>(self.traffic_class.val()) << 388)
            | (bit_cast::<512, 16>(self.head.q.val().get_bits::<16>(496)) << 368)
            | (bit_cast::<512, 16>(self.udp_length.val()) << 352)
            | (self.next_header_hops.val() << 336)
            | (bit_cast::<512, 128>(self.local_ipv6.val()) << 208)
            | (bit_cast::<512, 128>(self.head.q.val().get_bits::<128>(368)) << 80)
            | (bit_cast::<512, 64>(self.udp.val()) << 16);
        self.wire_order.number.next = self.below_ipv4.val();
        self.header.next = bit_cast::<800, 512>(self.wire_order.bytes.val())
            | (bit_cast::<800, 304>(self.rondo.val()) << 336);
        if self.ipv6.val() {
            self.wire_order.number.next = self.below_ipv6.val();
            self.header.next = bit_cast::<800, 512>(self.wire_order.bytes.val())
                | (bit_cast::<800, 304>(self.rondo.val()) << 496);
        }

        // 1, other beats: what was carried, then payload.
        self.word.next = 0.into();
        if self.payload_1.q.val() {
            self.word.next = self.pool_data.val();
        }
        self.valid_2.d.next = self.valid_1.q.val();
        self.last_2.d.next = self.last_1.q.val();
        self.size_2.d.next = self.head.q.val().get_bits::<16>(527);
        if self.valid_1.q.val() {
            if self.first_1.q.val() {
                self.data_2.d.next = self.header.val().get_bits::<512>(0);
                self.carry.d.next = self.header.val().get_bits::<288>(512);
            } else if self.ipv6.val() {
                self.data_2.d.next =
                    bit_cast::<512, 288>(self.carry.q.val()) | (self.word.val() << 288);
                self.carry.d.next = self.word.val().get_bits::<288>(224);
            } else {
                self.data_2.d.next =
                    bit_cast::<512, 288>(self.carry.q.val()) | (self.word.val() << 128);
                self.carry.d.next = bit_cast::<288, 128>(self.word.val().get_bits::<128>(384));
            }
        }
        self.frame_valid.next = self.first_1.q.val();
        self.frame_kind.next = self.head.q.val().get_bits::<2>(0);
        self.sent_valid.next = self.first_1.q.val() && !self.head.q.val().get_bits::<2>(0).any();
        self.sent_slot.next = self.head.q.val().get_bits::<10>(559);
        self.sent_flow.next = self.head.q.val().get_bits::<FLOW_BITS>(569);
        self.sent_psn.next = self.head.q.val().get_bits::<24>(579);
        self.sent_path.next = self.head.q.val().get_bits::<4>(496);
        self.sent_ns.next = self.timestamp.q.val();

        // 2
        self.out.push.next = self.valid_2.q.val();
        self.out.push_data.next = bit_cast::<529, 512>(self.data_2.q.val())
            | (bit_cast::<529, 16>(self.size_2.q.val()) << 512)
            | (bit_cast::<529, 1>(self.last_2.q.val().into()) << 528);
        self.out.ready.next = self.tx_ready.val();
        self.popped.next = self.out.valid.val() && self.tx_ready.val();
        self.credits.d.next = self.credits.q.val() + bit_cast::<4, 1>(self.popped.val().into())
            - bit_cast::<4, 1>((self.start.val() || self.step.val()).into());
        self.tx_valid.next = self.out.valid.val();
        self.tx_data.next = self.out.data.val().get_bits::<512>(0);
        self.tx_size.next = self.out.data.val().get_bits::<16>(512);
        self.tx_last.next = self.out.data.val().get_bit(528);
        // A last beat of `tail` bytes; 0 is a full one, as all others are.
        self.tail.next = 0.into();
        if self.out.data.val().get_bit(528) {
            self.tail.next = self.out.data.val().get_bits::<6>(512);
        }
        self.keep[0].next = self.all_bytes.val();
        for i in 1..64 {
            self.keep[i].next = self.keep[i - 1]
                .val()
                .replace_bit(i, !self.tail.val().any() || (self.tail.val() > i.to_bits()));
        }
        self.tx_keep.next = self.keep[63].val();

        if self.rst.val() {
            self.credits.d.next = self.depth.val();
            self.active.d.next = false;
            self.valid_1.d.next = false;
            self.first_1.d.next = false;
            self.valid_2.d.next = false;
        }
    }
}
