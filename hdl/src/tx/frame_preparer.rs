//! Prepares headers: everything but the send timestamp.

use super::WireOrder;
use crate::prim::{Crc32c, Delay, ModuleId, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Bits of a prepared frame.
pub(super) const PREPARED_BITS: usize = 603;

/// Takes a job a clock and gives its frame's header seven clocks later. It never stalls.
///
/// The header's CRC is that with timestamp 0, unless it is an ACK. The IPv4 checksum is a sum in
/// four steps.
#[derive(Clone, Debug, LogicBlock)]
pub struct FramePreparer {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A job.
    pub job_valid: Signal<In, Bit>,
    /// As [`JobChoice`](super::JobChoice) makes it.
    pub job: Signal<In, Bits<222>>,
    /// Flow whose context is read.
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its context, one clock later.
    pub context_data: Signal<In, Bits<256>>,
    /// Slot whose segment is read.
    pub segment_slot: Signal<Out, Bits<10>>,
    /// Its segment, one clock later.
    pub segment_data: Signal<In, Bits<144>>,
    /// The NIC's IPv4 address.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// The job's flow is not open.
    pub dropped: Signal<Out, Bit>,
    /// It was data or a probe.
    pub dropped_large: Signal<Out, Bit>,
    /// A frame is prepared.
    pub prepared_valid: Signal<Out, Bit>,
    /// From bit 0 on: Rondo header without CRC (272, bytes in the order of the wire, timestamp 0
    /// unless it is an ACK), its CRC (32), IPv4 checksum (16), peer's MAC (48), peer's IP address
    /// (128), UDP source port (16), IPv6 (1), payload length (14), frame length (16), number of the
    /// last beat (8), beats of payload in the pool (8), slot (10), flow (10), PSN (24).
    pub prepared: Signal<Out, Bits<PREPARED_BITS>>,
    valid_2: Reg<Bit>,
    job_2: Reg<Bits<222>>,
    valid_3: Reg<Bit>,
    job_3: Reg<Bits<222>>,
    context_3: Reg<Bits<256>>,
    segment_3: Reg<Bits<144>>,
    source_sum: Reg<Bits<19>>,
    kind: Signal<Local, Bits<2>>,
    is_data: Signal<Local, Bit>,
    flags: Signal<Local, Bits<4>>,
    port: Signal<Local, Bits<16>>,
    field: [Signal<Local, Bits<32>>; 5],
    payload_length: Signal<Local, Bits<14>>,
    traffic_class: Signal<Local, Bits<16>>,
    first_word: Signal<Local, Bits<32>>,
    wire_order: WireOrder,
    valid_4: Reg<Bit>,
    dropped_4: Reg<Bit>,
    large_4: Reg<Bit>,
    data_4: Reg<Bit>,
    ipv6_4: Reg<Bit>,
    rondo_4: Reg<Bits<272>>,
    length_4: Reg<Bits<16>>,
    peer_sum_4: Reg<Bits<19>>,
    fixed_sum_4: Reg<Bits<19>>,
    envelope_4: Reg<Bits<237>>,
    header_bytes: Signal<Local, Bits<16>>,
    header_crc: Crc32c,
    valid_5: Reg<Bit>,
    address_sum_5: Reg<Bits<19>>,
    rest_sum_5: Reg<Bits<19>>,
    size_5: Reg<Bits<16>>,
    pool_beats_5: Reg<Bits<8>>,
    valid_6: Reg<Bit>,
    sum_6: Reg<Bits<19>>,
    last_6: Reg<Bits<8>>,
    valid_7: Reg<Bit>,
    folded_7: Reg<Bits<17>>,
    last_7: Reg<Bits<8>>,
    rondo_7: Delay<Bits<272>, 3>,
    envelope_7: Delay<Bits<237>, 3>,
    length_7: Delay<Bits<16>, 3>,
    size_7: Delay<Bits<16>, 2>,
    pool_beats_7: Delay<Bits<8>, 2>,
    checksum: Signal<Local, Bits<16>>,
    version: Constant<Bits<32>>,
    port_base: Constant<Bits<16>>,
    data_class: Constant<Bits<16>>,
    probe_class: Constant<Bits<16>>,
    ack_class: Constant<Bits<16>>,
    fixed_words: Constant<Bits<19>>,
    ipv4_bytes: Constant<Bits<16>>,
    ipv6_bytes: Constant<Bits<16>>,
    round_up: Constant<Bits<16>>,
}

impl Default for FramePreparer {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_frame_preparer",
                "Prepares a frame's header a clock: everything but the send timestamp.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            job_valid: Signal::default(),
            job: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            segment_slot: Signal::default(),
            segment_data: Signal::default(),
            local_ipv4: Signal::default(),
            dropped: Signal::default(),
            dropped_large: Signal::default(),
            prepared_valid: Signal::default(),
            prepared: Signal::default(),
            valid_2: Reg::default(),
            job_2: Reg::default(),
            valid_3: Reg::default(),
            job_3: Reg::default(),
            context_3: Reg::default(),
            segment_3: Reg::default(),
            source_sum: Reg::default(),
            kind: Signal::default(),
            is_data: Signal::default(),
            flags: Signal::default(),
            port: Signal::default(),
            field: std::array::from_fn(|_| Signal::default()),
            payload_length: Signal::default(),
            traffic_class: Signal::default(),
            first_word: Signal::default(),
            wire_order: WireOrder::default(),
            valid_4: Reg::default(),
            dropped_4: Reg::default(),
            large_4: Reg::default(),
            data_4: Reg::default(),
            ipv6_4: Reg::default(),
            rondo_4: Reg::default(),
            length_4: Reg::default(),
            peer_sum_4: Reg::default(),
            fixed_sum_4: Reg::default(),
            envelope_4: Reg::default(),
            header_bytes: Signal::default(),
            header_crc: Crc32c::default(),
            valid_5: Reg::default(),
            address_sum_5: Reg::default(),
            rest_sum_5: Reg::default(),
            size_5: Reg::default(),
            pool_beats_5: Reg::default(),
            valid_6: Reg::default(),
            sum_6: Reg::default(),
            last_6: Reg::default(),
            valid_7: Reg::default(),
            folded_7: Reg::default(),
            last_7: Reg::default(),
            rondo_7: Delay::default(),
            envelope_7: Delay::default(),
            length_7: Delay::default(),
            size_7: Delay::default(),
            pool_beats_7: Delay::default(),
            checksum: Signal::default(),
            version: Constant::new(0x1000_0000.into()),
            port_base: Constant::new(0xfff0.into()),
            // DSCP 26, 8, 46; ECN 0.
            data_class: Constant::new((26 << 2).into()),
            probe_class: Constant::new((8 << 2).into()),
            ack_class: Constant::new((46 << 2).into()),
            // Version and header length, don't fragment, TTL 64 and UDP, and of the total length the
            // headers of IPv4, UDP and Rondo.
            fixed_words: Constant::new((0x4500 + 0x4000 + 0x4011 + 20 + 8 + 38).into()),
            ipv4_bytes: Constant::new(80.into()),
            ipv6_bytes: Constant::new(100.into()),
            round_up: Constant::new(63.into()),
        }
    }
}

impl Logic for FramePreparer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, valid_2, valid_3, valid_4, valid_5, valid_6, valid_7);
        dff_setup!(self, clk, job_2, job_3, context_3, segment_3, source_sum);
        dff_setup!(self, clk, dropped_4, large_4, data_4, ipv6_4, rondo_4, length_4);
        dff_setup!(self, clk, peer_sum_4, fixed_sum_4, envelope_4);
        dff_setup!(self, clk, address_sum_5, rest_sum_5, size_5, pool_beats_5);
        dff_setup!(self, clk, sum_6, last_6, folded_7, last_7);
        self.header_crc.clk.next = self.clk.val();
        self.rondo_7.clk.next = self.clk.val();
        self.envelope_7.clk.next = self.clk.val();
        self.length_7.clk.next = self.clk.val();
        self.size_7.clk.next = self.clk.val();
        self.pool_beats_7.clk.next = self.clk.val();

        // 1: context and segment are read.
        self.context_flow.next = self.job.val().get_bits::<FLOW_BITS>(20);
        self.segment_slot.next = self.job.val().get_bits::<10>(10);
        self.valid_2.d.next = self.job_valid.val();
        self.job_2.d.next = self.job.val();

        // 2
        self.valid_3.d.next = self.valid_2.q.val();
        self.job_3.d.next = self.job_2.q.val();
        self.context_3.d.next = self.context_data.val();
        self.segment_3.d.next = self.segment_data.val();

        // 3: the fields of the Rondo header.
        self.kind.next = self.job_3.q.val().get_bits::<2>(0);
        self.is_data.next = !self.kind.val().any();
        self.flags.next = self.job_3.q.val().get_bits::<4>(2);
        for i in 0..5 {
            self.field[i].next = self.job_3.q.val().get_bits::<32>(62 + 32 * i);
        }
        self.payload_length.next = 0.into();
        self.traffic_class.next = self.ack_class.val();
        if self.kind.val() == 1 {
            self.payload_length.next = self.context_3.q.val().get_bits::<14>(0);
            self.traffic_class.next = self.probe_class.val();
        }
        if !self.kind.val().get_bit(1) {
            // The job's fields are those of an ACK.
            for i in 0..5 {
                self.field[i].next = 0.into();
            }
        }
        if self.is_data.val() {
            self.flags.next = self.job_3.q.val().get_bits::<4>(2)
                | bit_cast::<4, 1>(self.segment_3.q.val().get_bits::<1>(110));
            self.field[0].next = self.segment_3.q.val().get_bits::<32>(0);
            self.field[1].next = self.segment_3.q.val().get_bits::<32>(32);
            self.field[2].next = self.segment_3.q.val().get_bits::<32>(64);
            self.field[4].next = self.segment_3.q.val().get_bits::<32>(111);
            self.payload_length.next = self.segment_3.q.val().get_bits::<14>(96);
            self.traffic_class.next = self.data_class.val();
        }
        self.port.next = (self.context_3.q.val().get_bits::<16>(16) & self.port_base.val())
            | bit_cast::<16, 4>(self.job_3.q.val().get_bits::<4>(6));
        self.first_word.next = self.version.val()
            | (bit_cast::<32, 2>(self.kind.val()) << 24)
            | (bit_cast::<32, 4>(self.flags.val()) << 16)
            | (bit_cast::<32, 4>(self.job_3.q.val().get_bits::<4>(6)) << 8);
        self.wire_order.number.next = (bit_cast::<512, 32>(self.first_word.val()) << 480)
            | (bit_cast::<512, 16>(self.context_3.q.val().get_bits::<16>(32)) << 464)
            | (bit_cast::<512, 16>(self.context_3.q.val().get_bits::<16>(48)) << 448)
            | (bit_cast::<512, 32>(self.job_3.q.val().get_bits::<32>(30)) << 416)
            | (bit_cast::<512, 32>(self.field[0].val()) << 384)
            | (bit_cast::<512, 32>(self.field[1].val()) << 352)
            | (bit_cast::<512, 32>(self.field[2].val()) << 320)
            | (bit_cast::<512, 32>(self.field[3].val()) << 288)
            | (bit_cast::<512, 32>(self.field[4].val()) << 256)
            | (bit_cast::<512, 14>(self.payload_length.val()) << 240);
        self.rondo_4.d.next = self.wire_order.bytes.val().get_bits::<272>(0);
        self.valid_4.d.next = self.valid_3.q.val() && self.context_3.q.val().get_bit(15);
        self.dropped_4.d.next = self.valid_3.q.val() && !self.context_3.q.val().get_bit(15);
        self.large_4.d.next = !self.kind.val().get_bit(1);
        self.data_4.d.next = self.is_data.val();
        self.ipv6_4.d.next = self.context_3.q.val().get_bit(14);
        self.length_4.d.next = bit_cast::<16, 14>(self.payload_length.val());
        self.peer_sum_4.d.next = bit_cast::<19, 16>(self.context_3.q.val().get_bits::<16>(128))
            + bit_cast::<19, 16>(self.context_3.q.val().get_bits::<16>(144));
        self.fixed_sum_4.d.next =
            self.fixed_words.val() + bit_cast::<19, 16>(self.traffic_class.val());
        self.envelope_4.d.next = bit_cast::<237, 48>(self.context_3.q.val().get_bits::<48>(64))
            | (bit_cast::<237, 128>(self.context_3.q.val().get_bits::<128>(128)) << 48)
            | (bit_cast::<237, 16>(self.port.val()) << 176)
            | (bit_cast::<237, 1>(self.context_3.q.val().get_bits::<1>(14)) << 192)
            | (bit_cast::<237, 10>(self.job_3.q.val().get_bits::<10>(10)) << 193)
            | (bit_cast::<237, FLOW_BITS>(self.job_3.q.val().get_bits::<FLOW_BITS>(20)) << 203)
            | (bit_cast::<237, 24>(self.job_3.q.val().get_bits::<24>(30)) << 213);

        // 4: the CRC starts; sums and lengths.
        self.dropped.next = self.dropped_4.q.val();
        self.dropped_large.next = self.large_4.q.val();
        self.header_crc.valid.next = self.valid_4.q.val();
        self.header_crc.first.next = self.valid_4.q.val();
        self.header_crc.data.next = bit_cast::<512, 272>(self.rondo_4.q.val());
        self.source_sum.d.next = bit_cast::<19, 16>(self.local_ipv4.val().get_bits::<16>(0))
            + bit_cast::<19, 16>(self.local_ipv4.val().get_bits::<16>(16));
        self.valid_5.d.next = self.valid_4.q.val();
        self.address_sum_5.d.next = self.peer_sum_4.q.val() + self.source_sum.q.val();
        self.rest_sum_5.d.next =
            self.fixed_sum_4.q.val() + bit_cast::<19, 16>(self.length_4.q.val());
        self.header_bytes.next = self.ipv4_bytes.val();
        if self.ipv6_4.q.val() {
            self.header_bytes.next = self.ipv6_bytes.val();
        }
        self.size_5.d.next = self.length_4.q.val() + self.header_bytes.val();
        self.pool_beats_5.d.next = 0.into();
        if self.data_4.q.val() {
            self.pool_beats_5.d.next =
                ((self.length_4.q.val() + self.round_up.val()) >> 6).get_bits::<8>(0);
        }

        // 5
        self.valid_6.d.next = self.valid_5.q.val();
        self.sum_6.d.next = self.address_sum_5.q.val() + self.rest_sum_5.q.val();
        self.last_6.d.next = ((self.size_5.q.val() - 1) >> 6).get_bits::<8>(0);

        // 6
        self.valid_7.d.next = self.valid_6.q.val();
        self.folded_7.d.next = bit_cast::<17, 16>(self.sum_6.q.val().get_bits::<16>(0))
            + bit_cast::<17, 3>(self.sum_6.q.val().get_bits::<3>(16));
        self.last_7.d.next = self.last_6.q.val();

        // 7
        self.rondo_7.d.next = self.rondo_4.q.val();
        self.envelope_7.d.next = self.envelope_4.q.val();
        self.length_7.d.next = self.length_4.q.val();
        self.size_7.d.next = self.size_5.q.val();
        self.pool_beats_7.d.next = self.pool_beats_5.q.val();
        self.checksum.next = !(self.folded_7.q.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.folded_7.q.val().get_bits::<1>(16)));
        self.prepared_valid.next = self.valid_7.q.val();
        self.prepared.next = bit_cast::<603, 272>(self.rondo_7.q.val())
            | (bit_cast::<603, 32>(self.header_crc.crc.val()) << 272)
            | (bit_cast::<603, 16>(self.checksum.val()) << 304)
            | (bit_cast::<603, 193>(self.envelope_7.q.val().get_bits::<193>(0)) << 320)
            | (bit_cast::<603, 14>(self.length_7.q.val().get_bits::<14>(0)) << 513)
            | (bit_cast::<603, 16>(self.size_7.q.val()) << 527)
            | (bit_cast::<603, 8>(self.last_7.q.val()) << 543)
            | (bit_cast::<603, 8>(self.pool_beats_7.q.val()) << 551)
            | (bit_cast::<603, 44>(self.envelope_7.q.val().get_bits::<44>(193)) << 559);

        if self.rst.val() {
            self.valid_2.d.next = false;
            self.valid_3.d.next = false;
            self.valid_4.d.next = false;
            self.dropped_4.d.next = false;
            self.valid_5.d.next = false;
            self.valid_6.d.next = false;
            self.valid_7.d.next = false;
        }
    }
}
