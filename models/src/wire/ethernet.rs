//! Ethernet II, without VLAN tag and FCS.

use super::{put, take, Error};
use core::fmt;

/// A MAC address, in the order of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The address as a number: the first byte on the wire in bits 47:40.
    pub const fn to_number(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    /// The address that is `number`'s low 48 bits.
    pub const fn from_number(number: u64) -> Self {
        let [_, _, a, b, c, d, e, f] = number.to_be_bytes();
        Self([a, b, c, d, e, f])
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;

mod field {
    use core::ops::Range;
    pub const DESTINATION: Range<usize> = 0..6;
    pub const SOURCE: Range<usize> = 6..12;
    pub const ETHER_TYPE: Range<usize> = 12..14;
}

/// Bytes of the header.
pub const HEADER_BYTES: usize = field::ETHER_TYPE.end;

/// A frame.
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

    /// Destination.
    pub fn destination(&self) -> MacAddress {
        MacAddress(take(self.buffer.as_ref(), field::DESTINATION))
    }

    /// Source.
    pub fn source(&self) -> MacAddress {
        MacAddress(take(self.buffer.as_ref(), field::SOURCE))
    }

    /// What the payload is.
    pub fn ether_type(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::ETHER_TYPE))
    }

    /// What follows the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_BYTES..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the destination.
    pub fn set_destination(&mut self, value: MacAddress) {
        put(self.buffer.as_mut(), field::DESTINATION, value.0);
    }

    /// Sets the source.
    pub fn set_source(&mut self, value: MacAddress) {
        put(self.buffer.as_mut(), field::SOURCE, value.0);
    }

    /// Sets what the payload is.
    pub fn set_ether_type(&mut self, value: u16) {
        put(self.buffer.as_mut(), field::ETHER_TYPE, value.to_be_bytes());
    }

    /// What follows the header.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[HEADER_BYTES..]
    }
}

/// An Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Destination.
    pub destination: MacAddress,
    /// Source.
    pub source: MacAddress,
    /// What the payload is.
    pub ether_type: u16,
}

impl Repr {
    /// The header of a frame.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Self {
        Self {
            destination: packet.destination(),
            source: packet.source(),
            ether_type: packet.ether_type(),
        }
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        packet.set_destination(self.destination);
        packet.set_source(self.source);
        packet.set_ether_type(self.ether_type);
    }
}
