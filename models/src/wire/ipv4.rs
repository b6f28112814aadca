//! IPv4 without options and fragments.

use super::{put, take, Error};
use core::net::Ipv4Addr;

/// Protocol number of UDP.
pub const UDP: u8 = 17;

mod field {
    use core::ops::Range;
    pub const VERSION_IHL: usize = 0;
    pub const TRAFFIC_CLASS: usize = 1;
    pub const TOTAL_LENGTH: Range<usize> = 2..4;
    pub const IDENTIFICATION: Range<usize> = 4..6;
    pub const FRAGMENT: Range<usize> = 6..8;
    pub const TTL: usize = 8;
    pub const PROTOCOL: usize = 9;
    pub const CHECKSUM: Range<usize> = 10..12;
    pub const SOURCE: Range<usize> = 12..16;
    pub const DESTINATION: Range<usize> = 16..20;
}

/// Bytes of the header.
pub const HEADER_BYTES: usize = field::DESTINATION.end;

const VERSION_IHL: u8 = 0x45;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS_AND_OFFSET: u16 = 0x3fff;

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
    /// [`Error::Truncated`] if it is shorter than a header without options.
    pub fn new_checked(buffer: T) -> Result<Self, Error> {
        match buffer.as_ref().len() {
            0..HEADER_BYTES => Err(Error::Truncated),
            _ => Ok(Self { buffer }),
        }
    }

    /// Version: 4.
    pub fn version(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION_IHL] >> 4
    }

    /// Words of 32 bits in the header: 5.
    pub fn header_words(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION_IHL] & 0xf
    }

    /// Differentiated services code point, 6 bits.
    pub fn dscp(&self) -> u8 {
        self.buffer.as_ref()[field::TRAFFIC_CLASS] >> 2
    }

    /// Explicit congestion notification, 2 bits.
    pub fn ecn(&self) -> u8 {
        self.buffer.as_ref()[field::TRAFFIC_CLASS] & 3
    }

    /// Bytes of header and payload.
    pub fn total_len(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::TOTAL_LENGTH))
    }

    /// Identification of a datagram's fragments.
    pub fn identification(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::IDENTIFICATION))
    }

    fn fragment(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::FRAGMENT))
    }

    /// Whether routers may not fragment it.
    pub fn dont_fragment(&self) -> bool {
        self.fragment() & DONT_FRAGMENT != 0
    }

    /// Whether it is a fragment: more follow, or it has an offset.
    pub fn is_fragment(&self) -> bool {
        self.fragment() & MORE_FRAGMENTS_AND_OFFSET != 0
    }

    /// Hops left.
    pub fn ttl(&self) -> u8 {
        self.buffer.as_ref()[field::TTL]
    }

    /// What the payload is.
    pub fn protocol(&self) -> u8 {
        self.buffer.as_ref()[field::PROTOCOL]
    }

    /// Checksum of the header.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Source.
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from(take(self.buffer.as_ref(), field::SOURCE))
    }

    /// Destination.
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from(take(self.buffer.as_ref(), field::DESTINATION))
    }

    /// What follows a header without options.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_BYTES..]
    }

    /// Whether the ones' complement sum of the header's 16-bit words, checksum included, is all
    /// ones.
    pub fn verify_checksum(&self) -> bool {
        sum(&self.buffer.as_ref()[..HEADER_BYTES]) == u16::MAX
    }

    /// Whether it is version 4 without options, no fragment, with a right checksum.
    pub fn is_well_formed(&self) -> bool {
        self.buffer.as_ref()[field::VERSION_IHL] == VERSION_IHL
            && !self.is_fragment()
            && self.verify_checksum()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets version 4 and a header without options.
    pub fn set_version(&mut self) {
        self.buffer.as_mut()[field::VERSION_IHL] = VERSION_IHL;
    }

    /// Sets DSCP, 6 bits, and ECN, 2 bits.
    pub fn set_traffic_class(&mut self, dscp: u8, ecn: u8) {
        self.buffer.as_mut()[field::TRAFFIC_CLASS] = dscp << 2 | ecn & 3;
    }

    /// Sets the bytes of header and payload.
    pub fn set_total_len(&mut self, value: u16) {
        put(
            self.buffer.as_mut(),
            field::TOTAL_LENGTH,
            value.to_be_bytes(),
        );
    }

    /// Sets "don't fragment", offset and identification 0.
    pub fn set_unfragmented(&mut self) {
        let bytes = self.buffer.as_mut();
        put(bytes, field::IDENTIFICATION, [0; 2]);
        put(bytes, field::FRAGMENT, DONT_FRAGMENT.to_be_bytes());
    }

    /// Sets the hops left.
    pub fn set_ttl(&mut self, value: u8) {
        self.buffer.as_mut()[field::TTL] = value;
    }

    /// Sets what the payload is.
    pub fn set_protocol(&mut self, value: u8) {
        self.buffer.as_mut()[field::PROTOCOL] = value;
    }

    /// Sets the source.
    pub fn set_source(&mut self, value: Ipv4Addr) {
        put(self.buffer.as_mut(), field::SOURCE, value.octets());
    }

    /// Sets the destination.
    pub fn set_destination(&mut self, value: Ipv4Addr) {
        put(self.buffer.as_mut(), field::DESTINATION, value.octets());
    }

    /// Computes the checksum of the header and sets it.
    pub fn fill_checksum(&mut self) {
        let bytes = self.buffer.as_mut();
        put(bytes, field::CHECKSUM, [0; 2]);
        let checksum = !sum(&bytes[..HEADER_BYTES]);
        put(bytes, field::CHECKSUM, checksum.to_be_bytes());
    }

    /// What follows a header without options.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[HEADER_BYTES..]
    }
}

/// Ones' complement sum of 16-bit words.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks_exact(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let sum: u32 = words.sum();
    let once = (sum >> 16) + (sum & 0xffff);
    ((once >> 16) + once) as u16
}

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source.
    pub source: Ipv4Addr,
    /// Destination.
    pub destination: Ipv4Addr,
    /// What the payload is.
    pub protocol: u8,
    /// Bytes after the header.
    pub payload_len: u16,
    /// Hops left.
    pub ttl: u8,
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification, 2 bits.
    pub ecn: u8,
}

impl Repr {
    /// The header of a packet.
    ///
    /// # Errors
    /// [`Error::Malformed`] if version or header length are others, it is a fragment, or the total
    /// length is less than the header's; [`Error::Checksum`].
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, Error> {
        if packet.version() != 4 || packet.header_words() != 5 || packet.is_fragment() {
            return Err(Error::Malformed);
        }
        if !packet.verify_checksum() {
            return Err(Error::Checksum);
        }
        let payload_len = packet.total_len().checked_sub(HEADER_BYTES as u16);
        Ok(Self {
            source: packet.source(),
            destination: packet.destination(),
            protocol: packet.protocol(),
            payload_len: payload_len.ok_or(Error::Malformed)?,
            ttl: packet.ttl(),
            dscp: packet.dscp(),
            ecn: packet.ecn(),
        })
    }

    /// Writes the header: identification 0, "don't fragment", with checksum.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        packet.set_version();
        packet.set_traffic_class(self.dscp, self.ecn);
        packet.set_total_len(HEADER_BYTES as u16 + self.payload_len);
        packet.set_unfragmented();
        packet.set_ttl(self.ttl);
        packet.set_protocol(self.protocol);
        packet.set_source(self.source);
        packet.set_destination(self.destination);
        packet.fill_checksum();
    }
}
