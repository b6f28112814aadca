//! The verdict on a frame's headers.

use super::words::{EarlyChecks, RondoHeader};
use super::{HeaderFields, Ipv4Sum};
use crate::prim::{Crc32c, Delay, ModuleId, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Judges a frame by its first 100 bytes and its flow's context, and says which check failed first.
///
/// Nothing stalls: outputs that come "from `s + n` on" stand until the next frame's, which comes at
/// least a clock later.
#[derive(Clone, Debug, LogicBlock)]
pub struct HeaderVerdict {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A frame's first 100 bytes, at `s`; one a clock at most.
    pub valid: Signal<In, Bit>,
    /// Bytes 0 to 63.
    pub low: Signal<In, Bits<512>>,
    /// Bytes 64 to 99.
    pub high: Signal<In, Bits<288>>,
    /// The EtherType is IPv6's.
    pub ipv6: Signal<In, Bit>,
    /// The frame has no third beat.
    pub ended: Signal<In, Bit>,
    /// Its bytes less one, if it has none.
    pub size: Signal<In, Bits<17>>,
    /// When it came, ns.
    pub arrived_ns: Signal<In, Bits<32>>,
    /// Our MAC, first byte on the wire in the highest bits.
    pub local_mac: Signal<In, Bits<48>>,
    /// Our IPv4 address as a number.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// Our IPv6 address as a number.
    pub local_ipv6: Signal<In, Bits<128>>,
    /// Our UDP port.
    pub udp_port: Signal<In, Bits<16>>,
    /// Flow whose context is read, at `s + 1`.
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// It, at `s + 2`.
    pub context_data: Signal<In, Bits<256>>,
    /// Low bits of the header's payload length, from `s + 1` on.
    pub payload_low: Signal<Out, Bits<6>>,
    /// The header's payload CRC, from `s + 5` on.
    pub payload_crc: Signal<Out, Bits<32>>,
    /// Bytes that the frame must have, less one; from `s + 5` on.
    pub whole_size: Signal<Out, Bits<17>>,
    /// First check that failed, 1 to 13, or 0; from `s + 6` on.
    pub cause: Signal<Out, Bits<4>>,
    /// It comes before the check of the lengths.
    pub early: Signal<Out, Bit>,
    /// Rondo header, with `cause`.
    pub header: Signal<Out, RondoHeader>,
    /// When the frame came, ns, with `cause`.
    pub received_ns: Signal<Out, Bits<32>>,
    fields: HeaderFields,
    ipv4_sum: Ipv4Sum,
    header_crc: Crc32c,
    valid_1: Reg<Bit>,
    valid_2: Reg<Bit>,
    valid_3: Reg<Bit>,
    valid_4: Reg<Bit>,
    valid_5: Reg<Bit>,
    ended_1: Reg<Bit>,
    size_1: Reg<Bits<17>>,
    ended_2: Reg<Bit>,
    size_2: Reg<Bits<17>>,
    payload_1: Signal<Local, Bits<17>>,
    least_1: Signal<Local, Bits<17>>,
    checks_2: Reg<EarlyChecks>,
    checks_5: Delay<EarlyChecks, 3>,
    whole_2: Reg<Bits<17>>,
    whole_4: Delay<Bits<17>, 2>,
    ip_length_2: Reg<Bits<17>>,
    ip_must_2: Reg<Bits<17>>,
    udp_length_2: Reg<Bits<17>>,
    udp_must_2: Reg<Bits<17>>,
    reach_2: Reg<Bits<33>>,
    rondo_2: Reg<RondoHeader>,
    rondo_3: Reg<RondoHeader>,
    rondo_4: Reg<RondoHeader>,
    rondo_5: Reg<RondoHeader>,
    rondo_6: Reg<RondoHeader>,
    ipv6_2: Reg<Bit>,
    ipv6_3: Reg<Bit>,
    known_2: Reg<Bit>,
    known_3: Reg<Bit>,
    known_4: Reg<Bit>,
    source_3: Delay<Bits<128>, 2>,
    crc_4: Delay<Bits<32>, 3>,
    arrived_5: Delay<Bits<32>, 5>,
    arrived_6: Reg<Bits<32>>,
    context_3: Reg<Bits<256>>,
    acks_2: Signal<Local, Bit>,
    of_probe_2: Signal<Local, Bit>,
    data_psn_2: Signal<Local, Bit>,
    lengths_3: Reg<Bit>,
    format_3: Reg<Bit>,
    beyond_3: Reg<Bit>,
    lengths_4: Reg<Bit>,
    format_4: Reg<Bit>,
    beyond_4: Reg<Bit>,
    low_differs_4: Reg<Bit>,
    high_differs_4: Reg<Bit>,
    other_peer_4: Reg<Bit>,
    longer_4: Reg<Bit>,
    not_full_4: Reg<Bit>,
    lengths_5: Reg<Bit>,
    format_5: Reg<Bit>,
    crc_5: Reg<Bit>,
    unknown_5: Reg<Bit>,
    peer_5: Reg<Bit>,
    size_5: Reg<Bit>,
    crc_held: Reg<Bits<32>>,
    whole_held: Reg<Bits<17>>,
    cause_6: Reg<Bits<4>>,
    early_6: Reg<Bit>,
    first: Signal<Local, Bits<4>>,
    flows: Constant<Bits<16>>,
}

impl HeaderVerdict {
    /// For `flows` flows.
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_rx_verdict_{flows}"),
                "Judges a frame by its headers and its flow's context, in six clocks.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            valid: Signal::default(),
            low: Signal::default(),
            high: Signal::default(),
            ipv6: Signal::default(),
            ended: Signal::default(),
            size: Signal::default(),
            arrived_ns: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            payload_low: Signal::default(),
            payload_crc: Signal::default(),
            whole_size: Signal::default(),
            cause: Signal::default(),
            early: Signal::default(),
            header: Signal::default(),
            received_ns: Signal::default(),
            fields: HeaderFields::default(),
            ipv4_sum: Ipv4Sum::default(),
            header_crc: Crc32c::default(),
            valid_1: Reg::default(),
            valid_2: Reg::default(),
            valid_3: Reg::default(),
            valid_4: Reg::default(),
            valid_5: Reg::default(),
            ended_1: Reg::default(),
            size_1: Reg::default(),
            ended_2: Reg::default(),
            size_2: Reg::default(),
            payload_1: Signal::default(),
            least_1: Signal::default(),
            checks_2: Reg::default(),
            checks_5: Delay::default(),
            whole_2: Reg::default(),
            whole_4: Delay::default(),
            ip_length_2: Reg::default(),
            ip_must_2: Reg::default(),
            udp_length_2: Reg::default(),
            udp_must_2: Reg::default(),
            reach_2: Reg::default(),
            rondo_2: Reg::default(),
            rondo_3: Reg::default(),
            rondo_4: Reg::default(),
            rondo_5: Reg::default(),
            rondo_6: Reg::default(),
            ipv6_2: Reg::default(),
            ipv6_3: Reg::default(),
            known_2: Reg::default(),
            known_3: Reg::default(),
            known_4: Reg::default(),
            source_3: Delay::default(),
            crc_4: Delay::default(),
            arrived_5: Delay::default(),
            arrived_6: Reg::default(),
            context_3: Reg::default(),
            acks_2: Signal::default(),
            of_probe_2: Signal::default(),
            data_psn_2: Signal::default(),
            lengths_3: Reg::default(),
            format_3: Reg::default(),
            beyond_3: Reg::default(),
            lengths_4: Reg::default(),
            format_4: Reg::default(),
            beyond_4: Reg::default(),
            low_differs_4: Reg::default(),
            high_differs_4: Reg::default(),
            other_peer_4: Reg::default(),
            longer_4: Reg::default(),
            not_full_4: Reg::default(),
            lengths_5: Reg::default(),
            format_5: Reg::default(),
            crc_5: Reg::default(),
            unknown_5: Reg::default(),
            peer_5: Reg::default(),
            size_5: Reg::default(),
            crc_held: Reg::default(),
            whole_held: Reg::default(),
            cause_6: Reg::default(),
            early_6: Reg::default(),
            first: Signal::default(),
            flows: Constant::new((flows as u64).into()),
        }
    }
}

impl Logic for HeaderVerdict {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, valid_1, valid_2, valid_3, valid_4, valid_5);
        dff_setup!(self, clk, ended_1, size_1, ended_2, size_2, checks_2, whole_2);
        dff_setup!(
            self,
            clk,
            ip_length_2,
            ip_must_2,
            udp_length_2,
            udp_must_2,
            reach_2
        );
        dff_setup!(self, clk, rondo_2, rondo_3, rondo_4, rondo_5, rondo_6, arrived_6);
        dff_setup!(self, clk, ipv6_2, ipv6_3, known_2, known_3, known_4, context_3);
        dff_setup!(self, clk, lengths_3, format_3, beyond_3, lengths_4, format_4, beyond_4);
        dff_setup!(
            self,
            clk,
            low_differs_4,
            high_differs_4,
            other_peer_4,
            longer_4,
            not_full_4
        );
        dff_setup!(self, clk, lengths_5, format_5, crc_5, unknown_5, peer_5, size_5);
        dff_setup!(self, clk, crc_held, whole_held, cause_6, early_6);
        self.fields.clk.next = self.clk.val();
        self.ipv4_sum.clk.next = self.clk.val();
        self.header_crc.clk.next = self.clk.val();
        self.checks_5.clk.next = self.clk.val();
        self.whole_4.clk.next = self.clk.val();
        self.source_3.clk.next = self.clk.val();
        self.crc_4.clk.next = self.clk.val();
        self.arrived_5.clk.next = self.clk.val();

        // s
        self.valid_1.d.next = self.valid.val();
        self.fields.valid.next = self.valid.val();
        self.fields.low.next = self.low.val();
        self.fields.high.next = self.high.val();
        self.fields.ipv6.next = self.ipv6.val();
        self.ipv4_sum.header.next = self.low.val().get_bits::<160>(112);
        self.ended_1.d.next = self.ended.val();
        self.size_1.d.next = self.size.val();
        self.arrived_5.d.next = self.arrived_ns.val();

        // s + 1
        self.valid_2.d.next = self.valid_1.q.val();
        self.context_flow.next = bit_cast::<FLOW_BITS, 16>(self.fields.rondo.val().flow);
        self.payload_low.next = bit_cast::<6, 16>(self.fields.rondo.val().payload);
        self.header_crc.valid.next = self.valid_1.q.val();
        self.header_crc.first.next = true;
        self.header_crc.data.next = bit_cast::<512, 272>(self.fields.covered.val());
        self.crc_4.d.next = self.fields.header_crc.val();
        self.source_3.d.next = self.fields.source.val();
        self.rondo_2.d.next = self.fields.rondo.val();
        self.ipv6_2.d.next = self.fields.is_ipv6.val();
        self.ended_2.d.next = self.ended_1.q.val();
        self.size_2.d.next = self.size_1.q.val();
        self.known_2.d.next = self.fields.rondo.val().flow < self.flows.val();
        // Bytes around the payload, less one for the frame's.
        self.payload_1.next = bit_cast::<17, 16>(self.fields.rondo.val().payload);
        self.least_1.next = 79.into();
        self.ip_must_2.d.next = self.payload_1.val() + 66;
        if self.fields.is_ipv6.val() {
            self.least_1.next = 99.into();
            self.ip_must_2.d.next = self.payload_1.val() + 46;
        }
        self.whole_2.d.next = self.payload_1.val() + self.least_1.val();
        self.udp_must_2.d.next = self.payload_1.val() + 46;
        self.ip_length_2.d.next = bit_cast::<17, 16>(self.fields.ip_length.val());
        self.udp_length_2.d.next = bit_cast::<17, 16>(self.fields.udp_length.val());
        self.reach_2.d.next = bit_cast::<33, 32>(self.fields.rondo.val().offset)
            + bit_cast::<33, 16>(self.fields.rondo.val().payload);
        self.checks_2.d.next.truncated =
            self.ended_1.q.val() && (self.size_1.q.val() < self.least_1.val());
        self.checks_2.d.next.mac = self.fields.mac.val() != self.local_mac.val();
        self.checks_2.d.next.ether_type = !self.fields.is_ipv4.val() && !self.fields.is_ipv6.val();
        self.checks_2.d.next.plain = !self.fields.plain.val();
        self.checks_2.d.next.address = (self.fields.is_ipv6.val()
            && (self.fields.destination.val() != self.local_ipv6.val()))
            || (!self.fields.is_ipv6.val()
                && (self.fields.destination.val().get_bits::<32>(0) != self.local_ipv4.val()));
        self.checks_2.d.next.protocol = self.fields.protocol.val() != 17;
        self.checks_2.d.next.port = self.fields.port.val() != self.udp_port.val();
        self.checks_2.d.next.ipv4 = self.fields.is_ipv4.val();

        // s + 2
        self.valid_3.d.next = self.valid_2.q.val();
        self.checks_5.d.next = self.checks_2.q.val();
        self.whole_4.d.next = self.whole_2.q.val();
        self.rondo_3.d.next = self.rondo_2.q.val();
        self.ipv6_3.d.next = self.ipv6_2.q.val();
        self.known_3.d.next = self.known_2.q.val();
        self.context_3.d.next = self.context_data.val();
        // A frame that has not ended has a third beat: it must have at least 129 bytes.
        self.lengths_3.d.next = (self.ip_length_2.q.val() != self.ip_must_2.q.val())
            || (self.udp_length_2.q.val() != self.udp_must_2.q.val())
            || (self.ended_2.q.val() && (self.size_2.q.val() != self.whole_2.q.val()))
            || (!self.ended_2.q.val() && !self.whole_2.q.val().get_bits::<10>(7).any());
        self.beyond_3.d.next =
            self.reach_2.q.val() > bit_cast::<33, 32>(self.rondo_2.q.val().length);
        self.acks_2.next = self.rondo_2.q.val().kind.get_bit(1);
        self.of_probe_2.next = self.rondo_2.q.val().flags.get_bit(2);
        self.data_psn_2.next = !self.rondo_2.q.val().psn.get_bits::<8>(24).any();
        self.format_3.d.next =
            (self.rondo_2.q.val().version != 1) || (self.rondo_2.q.val().kind > 3);
        // Data: 1 to 9,216 bytes.
        if (self.rondo_2.q.val().kind == 0)
            && (!self.data_psn_2.val()
                || !self.rondo_2.q.val().payload.any()
                || (self.rondo_2.q.val().payload > 9216))
        {
            self.format_3.d.next = true;
        }
        // Probes, and what acknowledges them, have the reserved PSN.
        if ((self.rondo_2.q.val().kind == 1) || (self.acks_2.val() && self.of_probe_2.val()))
            && !self.rondo_2.q.val().psn.all()
        {
            self.format_3.d.next = true;
        }
        if self.acks_2.val()
            && (self.rondo_2.q.val().payload.any()
                || (!self.of_probe_2.val() && !self.data_psn_2.val())
                || (self.of_probe_2.val() && self.rondo_2.q.val().kind.get_bit(0)))
        {
            self.format_3.d.next = true;
        }

        // s + 3
        self.valid_4.d.next = self.valid_3.q.val();
        self.rondo_4.d.next = self.rondo_3.q.val();
        self.known_4.d.next = self.known_3.q.val() && self.context_3.q.val().get_bit(15);
        self.lengths_4.d.next = self.lengths_3.q.val();
        self.format_4.d.next = self.format_3.q.val();
        self.beyond_4.d.next = self.beyond_3.q.val();
        self.low_differs_4.d.next =
            self.source_3.q.val().get_bits::<32>(0) != self.context_3.q.val().get_bits::<32>(128);
        self.high_differs_4.d.next = self.ipv6_3.q.val()
            && (self.source_3.q.val().get_bits::<96>(32)
                != self.context_3.q.val().get_bits::<96>(160));
        self.other_peer_4.d.next = (self.ipv6_3.q.val() != self.context_3.q.val().get_bit(14))
            || (self.rondo_3.q.val().epoch != self.context_3.q.val().get_bits::<16>(48));
        self.longer_4.d.next = self.rondo_3.q.val().payload
            > bit_cast::<16, 14>(self.context_3.q.val().get_bits::<14>(0));
        self.not_full_4.d.next = self.rondo_3.q.val().payload
            != bit_cast::<16, 14>(self.context_3.q.val().get_bits::<14>(0));

        // s + 4
        self.valid_5.d.next = self.valid_4.q.val();
        self.rondo_5.d.next = self.rondo_4.q.val();
        self.lengths_5.d.next = self.lengths_4.q.val();
        self.format_5.d.next = self.format_4.q.val();
        self.crc_5.d.next = self.header_crc.crc.val() != self.crc_4.q.val();
        self.unknown_5.d.next = !self.known_4.q.val();
        self.peer_5.d.next =
            self.low_differs_4.q.val() || self.high_differs_4.q.val() || self.other_peer_4.q.val();
        self.size_5.d.next = ((self.rondo_4.q.val().kind == 0)
            && (self.longer_4.q.val()
                || self.beyond_4.q.val()
                || (self.not_full_4.q.val() && !self.rondo_4.q.val().flags.get_bit(0))))
            || ((self.rondo_4.q.val().kind == 1) && self.not_full_4.q.val());
        if self.valid_4.q.val() {
            self.crc_held.d.next = self.rondo_4.q.val().crc;
            self.whole_held.d.next = self.whole_4.q.val();
        }
        self.payload_crc.next = self.crc_held.q.val();
        self.whole_size.next = self.whole_held.q.val();

        // s + 5: the first that failed, written last.
        self.first.next = 0.into();
        if self.size_5.q.val() {
            self.first.next = 13.into();
        }
        if self.peer_5.q.val() {
            self.first.next = 12.into();
        }
        if self.unknown_5.q.val() {
            self.first.next = 11.into();
        }
        if self.crc_5.q.val() {
            self.first.next = 10.into();
        }
        if self.format_5.q.val() {
            self.first.next = 9.into();
        }
        if self.lengths_5.q.val() {
            self.first.next = 8.into();
        }
        if self.checks_5.q.val().port {
            self.first.next = 7.into();
        }
        if self.checks_5.q.val().protocol {
            self.first.next = 6.into();
        }
        if self.checks_5.q.val().address {
            self.first.next = 5.into();
        }
        if self.checks_5.q.val().plain || (self.checks_5.q.val().ipv4 && !self.ipv4_sum.right.val())
        {
            self.first.next = 4.into();
        }
        if self.checks_5.q.val().ether_type {
            self.first.next = 3.into();
        }
        if self.checks_5.q.val().mac {
            self.first.next = 2.into();
        }
        if self.checks_5.q.val().truncated {
            self.first.next = 1.into();
        }
        if self.valid_5.q.val() {
            self.cause_6.d.next = self.first.val();
            self.early_6.d.next = (self.first.val() != 0) && (self.first.val() < 8);
            self.rondo_6.d.next = self.rondo_5.q.val();
            self.arrived_6.d.next = self.arrived_5.q.val();
        }

        // s + 6
        self.cause.next = self.cause_6.q.val();
        self.early.next = self.early_6.q.val();
        self.header.next = self.rondo_6.q.val();
        self.received_ns.next = self.arrived_6.q.val();

        if self.rst.val() {
            self.valid_1.d.next = false;
            self.valid_2.d.next = false;
            self.valid_3.d.next = false;
            self.valid_4.d.next = false;
            self.valid_5.d.next = false;
        }
    }
}
