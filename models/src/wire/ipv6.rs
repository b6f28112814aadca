//! IPv6 without extension headers.

use super::{put, take, Error};
use core::net::Ipv6Addr;

/// Next header number of UDP.
pub const UDP: u8 = super::ipv4::UDP;

mod field {
    use core::ops::Range;
    /// Version, traffic class and flow label.
    pub const FIRST_WORD: Range<usize> = 0..4;
    pub const PAYLOAD_LENGTH: Range<usize> = 4..6;
    pub const NEXT_HEADER: usize = 6;
    pub const HOP_LIMIT: usize = 7;
    pub const SOURCE: Range<usize> = 8..24;
    pub const DESTINATION: Range<usize> = 24..40;
}

/// Bytes of the header.
pub const HEADER_BYTES: usize = field::DESTINATION.end;

const FLOW_LABEL: u32 = 0xf_ffff;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer`; accessors panic when it is shorter than the header.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is shorter than the header.
    pub fn new_checked(buffer: T) -> Result<Self, Error> {
        match buffer.as_ref().len() {
            0..HEADER_BYTES => Err(Error::Truncated),
            _ => Ok(Self { buffer }),
        }
    }

    fn first_word(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::FIRST_WORD))
    }

    /// Version: 6.
    pub fn version(&self) -> u8 {
        (self.first_word() >> 28) as u8
    }

    /// Differentiated services code point, 6 bits.
    pub fn dscp(&self) -> u8 {
        (self.first_word() >> 22 & 0x3f) as u8
    }

    /// Explicit congestion notification, 2 bits.
    pub fn ecn(&self) -> u8 {
        (self.first_word() >> 20 & 3) as u8
    }

    /// Flow label, 20 bits.
    pub fn flow_label(&self) -> u32 {
        self.first_word() & FLOW_LABEL
    }

    /// Bytes after the header.
    pub fn payload_len(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::PAYLOAD_LENGTH))
    }

    /// What the payload is.
    pub fn next_header(&self) -> u8 {
        self.buffer.as_ref()[field::NEXT_HEADER]
    }

    /// Hops left.
    pub fn hop_limit(&self) -> u8 {
        self.buffer.as_ref()[field::HOP_LIMIT]
    }

    /// Source.
    pub fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from(take::<16>(self.buffer.as_ref(), field::SOURCE))
    }

    /// Destination.
    pub fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from(take::<16>(self.buffer.as_ref(), field::DESTINATION))
    }

    /// What follows the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_BYTES..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets version 6, DSCP (6 bits), ECN (2 bits) and flow label (20 bits).
    pub fn set_first_word(&mut self, dscp: u8, ecn: u8, flow_label: u32) {
        let class = u32::from(dscp & 0x3f) << 2 | u32::from(ecn & 3);
        let word = 6 << 28 | class << 20 | flow_label & FLOW_LABEL;
        put(self.buffer.as_mut(), field::FIRST_WORD, word.to_be_bytes());
    }

    /// Sets the bytes after the header.
    pub fn set_payload_len(&mut self, value: u16) {
        put(
            self.buffer.as_mut(),
            field::PAYLOAD_LENGTH,
            value.to_be_bytes(),
        );
    }

    /// Sets what the payload is.
    pub fn set_next_header(&mut self, value: u8) {
        self.buffer.as_mut()[field::NEXT_HEADER] = value;
    }

    /// Sets the hops left.
    pub fn set_hop_limit(&mut self, value: u8) {
        self.buffer.as_mut()[field::HOP_LIMIT] = value;
    }

    /// Sets the source.
    pub fn set_source(&mut self, value: Ipv6Addr) {
        put(self.buffer.as_mut(), field::SOURCE, value.octets());
    }

    /// Sets the destination.
    pub fn set_destination(&mut self, value: Ipv6Addr) {
        put(self.buffer.as_mut(), field::DESTINATION, value.octets());
    }

    /// What follows the header.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[HEADER_BYTES..]
    }
}

/// An IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source.
    pub source: Ipv6Addr,
    /// Destination.
    pub destination: Ipv6Addr,
    /// What the payload is.
    pub next_header: u8,
    /// Bytes after the header.
    pub payload_len: u16,
    /// Hops left.
    pub hop_limit: u8,
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification, 2 bits.
    pub ecn: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
}

impl Repr {
    /// The header of a packet.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the version is another.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, Error> {
        if packet.version() != 6 {
            return Err(Error::Malformed);
        }
        Ok(Self {
            source: packet.source(),
            destination: packet.destination(),
            next_header: packet.next_header(),
            payload_len: packet.payload_len(),
            hop_limit: packet.hop_limit(),
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            flow_label: packet.flow_label(),
        })
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        packet.set_first_word(self.dscp, self.ecn, self.flow_label);
        packet.set_payload_len(self.payload_len);
        packet.set_next_header(self.next_header);
        packet.set_hop_limit(self.hop_limit);
        packet.set_source(self.source);
        packet.set_destination(self.destination);
    }
}
