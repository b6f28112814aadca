//! The fields of a frame's headers as numbers, wherever IPv4 and IPv6 put them.

use super::words::RondoHeader;
use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Picks the fields out of a frame's first 100 bytes. Outputs are registered: they come one clock
/// after `valid` and stand until the next frame's.
#[derive(Clone, Debug, LogicBlock)]
pub struct HeaderFields {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// The bytes are a frame's.
    pub valid: Signal<In, Bit>,
    /// Bytes 0 to 63.
    pub low: Signal<In, Bits<512>>,
    /// Bytes 64 to 99.
    pub high: Signal<In, Bits<288>>,
    /// The EtherType is IPv6's.
    pub ipv6: Signal<In, Bit>,
    /// Destination MAC.
    pub mac: Signal<Out, Bits<48>>,
    /// The EtherType is IPv4's.
    pub is_ipv4: Signal<Out, Bit>,
    /// The EtherType is IPv6's.
    pub is_ipv6: Signal<Out, Bit>,
    /// IPv4 without options, no fragment; or version 6.
    pub plain: Signal<Out, Bit>,
    /// IPv4's total length, or IPv6's payload length.
    pub ip_length: Signal<Out, Bits<16>>,
    /// IPv4's protocol, or IPv6's next header.
    pub protocol: Signal<Out, Bits<8>>,
    /// Source address; an IPv4 address in the low 32 bits, the others then mean nothing.
    pub source: Signal<Out, Bits<128>>,
    /// Destination address, likewise.
    pub destination: Signal<Out, Bits<128>>,
    /// UDP destination port.
    pub port: Signal<Out, Bits<16>>,
    /// UDP length.
    pub udp_length: Signal<Out, Bits<16>>,
    /// Rondo header.
    pub rondo: Signal<Out, RondoHeader>,
    /// What the header CRC covers, as it lies on the wire.
    pub covered: Signal<Out, Bits<272>>,
    /// Header CRC.
    pub header_crc: Signal<Out, Bits<32>>,
    /// Bytes `2 * i` and `2 * i + 1` of the frame as a number.
    half: [Signal<Local, Bits<16>>; 32],
    /// Rondo header, as it lies on the wire.
    bytes: Signal<Local, Bits<304>>,
    /// Bytes `2 * i` and `2 * i + 1` of it as a number.
    rondo_half: [Signal<Local, Bits<16>>; 19],
    word: [Signal<Local, Bits<32>>; 8],
    source_word: [Signal<Local, Bits<32>>; 4],
    destination_word: [Signal<Local, Bits<32>>; 4],
    mac_q: Reg<Bits<48>>,
    ipv4_q: Reg<Bit>,
    ipv6_q: Reg<Bit>,
    plain_q: Reg<Bit>,
    ip_length_q: Reg<Bits<16>>,
    protocol_q: Reg<Bits<8>>,
    source_q: Reg<Bits<128>>,
    destination_q: Reg<Bits<128>>,
    port_q: Reg<Bits<16>>,
    udp_length_q: Reg<Bits<16>>,
    rondo_q: Reg<RondoHeader>,
    covered_q: Reg<Bits<272>>,
    header_crc_q: Reg<Bits<32>>,
}

impl Default for HeaderFields {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_rx_fields",
                "Picks the header fields out of a frame's first 100 bytes, IPv4 or IPv6.",
            ),
            clk: Signal::default(),
            valid: Signal::default(),
            low: Signal::default(),
            high: Signal::default(),
            ipv6: Signal::default(),
            mac: Signal::default(),
            is_ipv4: Signal::default(),
            is_ipv6: Signal::default(),
            plain: Signal::default(),
            ip_length: Signal::default(),
            protocol: Signal::default(),
            source: Signal::default(),
            destination: Signal::default(),
            port: Signal::default(),
            udp_length: Signal::default(),
            rondo: Signal::default(),
            covered: Signal::default(),
            header_crc: Signal::default(),
            half: std::array::from_fn(|_| Signal::default()),
            bytes: Signal::default(),
            rondo_half: std::array::from_fn(|_| Signal::default()),
            word: std::array::from_fn(|_| Signal::default()),
            source_word: std::array::from_fn(|_| Signal::default()),
            destination_word: std::array::from_fn(|_| Signal::default()),
            mac_q: Reg::default(),
            ipv4_q: Reg::default(),
            ipv6_q: Reg::default(),
            plain_q: Reg::default(),
            ip_length_q: Reg::default(),
            protocol_q: Reg::default(),
            source_q: Reg::default(),
            destination_q: Reg::default(),
            port_q: Reg::default(),
            udp_length_q: Reg::default(),
            rondo_q: Reg::default(),
            covered_q: Reg::default(),
            header_crc_q: Reg::default(),
        }
    }
}

impl Logic for HeaderFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            mac_q,
            ipv4_q,
            ipv6_q,
            plain_q,
            ip_length_q,
            protocol_q
        );
        dff_setup!(self, clk, source_q, destination_q, port_q, udp_length_q);
        dff_setup!(self, clk, rondo_q, covered_q, header_crc_q);

        // Big-endian numbers. All fields lie at even bytes.
        for i in 0..32 {
            self.half[i].next = (self.low.val().get_bits::<8>(16 * i).get_bits::<16>(0) << 8)
                | self.low.val().get_bits::<8>(16 * i + 8).get_bits::<16>(0);
        }
        self.bytes.next = bit_cast::<304, 176>(self.low.val().get_bits::<176>(336))
            | (bit_cast::<304, 128>(self.high.val().get_bits::<128>(0)) << 176);
        if self.ipv6.val() {
            self.bytes.next = bit_cast::<304, 16>(self.low.val().get_bits::<16>(496))
                | (bit_cast::<304, 288>(self.high.val()) << 16);
        }
        for i in 0..19 {
            self.rondo_half[i].next = (self.bytes.val().get_bits::<8>(16 * i).get_bits::<16>(0)
                << 8)
                | self.bytes.val().get_bits::<8>(16 * i + 8).get_bits::<16>(0);
        }
        for i in 0..8 {
            self.word[i].next = (self.rondo_half[2 * i].val().get_bits::<32>(0) << 16)
                | self.rondo_half[2 * i + 1].val().get_bits::<32>(0);
        }
        // An IPv6 address's words, the last first; IPv4's only word takes the last's place.
        for i in 0..4 {
            self.source_word[i].next = (self.half[17 - 2 * i].val().get_bits::<32>(0) << 16)
                | self.half[18 - 2 * i].val().get_bits::<32>(0);
            self.destination_word[i].next = (self.half[25 - 2 * i].val().get_bits::<32>(0) << 16)
                | self.half[26 - 2 * i].val().get_bits::<32>(0);
        }
        if !self.ipv6.val() {
            self.source_word[0].next = (bit_cast::<32, 16>(self.half[13].val()) << 16)
                | bit_cast::<32, 16>(self.half[14].val());
            self.destination_word[0].next = (bit_cast::<32, 16>(self.half[15].val()) << 16)
                | bit_cast::<32, 16>(self.half[16].val());
        }

        if self.valid.val() {
            self.mac_q.d.next = (bit_cast::<48, 16>(self.half[0].val()) << 32)
                | (bit_cast::<48, 16>(self.half[1].val()) << 16)
                | bit_cast::<48, 16>(self.half[2].val());
            self.ipv4_q.d.next = self.half[6].val() == 0x0800;
            self.ipv6_q.d.next = self.ipv6.val();
            self.source_q.d.next = bit_cast::<128, 32>(self.source_word[0].val())
                | (bit_cast::<128, 32>(self.source_word[1].val()) << 32)
                | (bit_cast::<128, 32>(self.source_word[2].val()) << 64)
                | (bit_cast::<128, 32>(self.source_word[3].val()) << 96);
            self.destination_q.d.next = bit_cast::<128, 32>(self.destination_word[0].val())
                | (bit_cast::<128, 32>(self.destination_word[1].val()) << 32)
                | (bit_cast::<128, 32>(self.destination_word[2].val()) << 64)
                | (bit_cast::<128, 32>(self.destination_word[3].val()) << 96);
            if self.ipv6.val() {
                self.plain_q.d.next = self.half[7].val().get_bits::<4>(12) == 6;
                self.ip_length_q.d.next = self.half[9].val();
                self.protocol_q.d.next = self.half[10].val().get_bits::<8>(8);
                self.port_q.d.next = self.half[28].val();
                self.udp_length_q.d.next = self.half[29].val();
            } else {
                // Version 4, 5 words; neither more fragments nor an offset.
                self.plain_q.d.next = (self.half[7].val().get_bits::<8>(8) == 0x45)
                    && !self.half[10].val().get_bits::<14>(0).any();
                self.ip_length_q.d.next = self.half[8].val();
                self.protocol_q.d.next = self.half[11].val().get_bits::<8>(0);
                self.port_q.d.next = self.half[18].val();
                self.udp_length_q.d.next = self.half[19].val();
            }
            self.rondo_q.d.next.version = self.word[0].val().get_bits::<4>(28);
            self.rondo_q.d.next.kind = self.word[0].val().get_bits::<4>(24);
            self.rondo_q.d.next.flags = self.word[0].val().get_bits::<8>(16);
            self.rondo_q.d.next.path = self.word[0].val().get_bits::<4>(8);
            self.rondo_q.d.next.flow = self.word[1].val().get_bits::<16>(16);
            self.rondo_q.d.next.epoch = self.word[1].val().get_bits::<16>(0);
            self.rondo_q.d.next.psn = self.word[2].val();
            self.rondo_q.d.next.message = self.word[3].val();
            self.rondo_q.d.next.offset = self.word[4].val();
            self.rondo_q.d.next.length = self.word[5].val();
            self.rondo_q.d.next.sent_ns = self.word[6].val();
            self.rondo_q.d.next.crc = self.word[7].val();
            self.rondo_q.d.next.payload = self.rondo_half[16].val();
            self.covered_q.d.next = self.bytes.val().get_bits::<272>(0);
            self.header_crc_q.d.next = (bit_cast::<32, 16>(self.rondo_half[17].val()) << 16)
                | bit_cast::<32, 16>(self.rondo_half[18].val());
        }

        self.mac.next = self.mac_q.q.val();
        self.is_ipv4.next = self.ipv4_q.q.val();
        self.is_ipv6.next = self.ipv6_q.q.val();
        self.plain.next = self.plain_q.q.val();
        self.ip_length.next = self.ip_length_q.q.val();
        self.protocol.next = self.protocol_q.q.val();
        self.source.next = self.source_q.q.val();
        self.destination.next = self.destination_q.q.val();
        self.port.next = self.port_q.q.val();
        self.udp_length.next = self.udp_length_q.q.val();
        self.rondo.next = self.rondo_q.q.val();
        self.covered.next = self.covered_q.q.val();
        self.header_crc.next = self.header_crc_q.q.val();
    }
}
