//! UDP, with a checksum of 0: not computed (RFC 6935, 6936).

use super::{put, take, Error};

/// Rondo's UDP destination port, unless configured.
pub const RONDO_PORT: u16 = 4793;

mod field {
    use core::ops::Range;
    pub const SOURCE_PORT: Range<usize> = 0..2;
    pub const DESTINATION_PORT: Range<usize> = 2..4;
    pub const LENGTH: Range<usize> = 4..6;
    pub const CHECKSUM: Range<usize> = 6..8;
}

/// Bytes of the header.
pub const HEADER_BYTES: usize = field::CHECKSUM.end;

/// A datagram.
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

    /// Source port: the flow's base and the path.
    pub fn source_port(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::SOURCE_PORT))
    }

    /// Destination port.
    pub fn destination_port(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::DESTINATION_PORT))
    }

    /// Bytes of header and payload.
    pub fn len(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::LENGTH))
    }

    /// Whether the length field leaves no payload.
    pub fn is_empty(&self) -> bool {
        usize::from(self.len()) <= HEADER_BYTES
    }

    /// Checksum.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// What follows the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_BYTES..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the source port.
    pub fn set_source_port(&mut self, value: u16) {
        put(
            self.buffer.as_mut(),
            field::SOURCE_PORT,
            value.to_be_bytes(),
        );
    }

    /// Sets the destination port.
    pub fn set_destination_port(&mut self, value: u16) {
        put(
            self.buffer.as_mut(),
            field::DESTINATION_PORT,
            value.to_be_bytes(),
        );
    }

    /// Sets the bytes of header and payload.
    pub fn set_len(&mut self, value: u16) {
        put(self.buffer.as_mut(), field::LENGTH, value.to_be_bytes());
    }

    /// Sets the checksum.
    pub fn set_checksum(&mut self, value: u16) {
        put(self.buffer.as_mut(), field::CHECKSUM, value.to_be_bytes());
    }

    /// What follows the header.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[HEADER_BYTES..]
    }
}

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Bytes after the header.
    pub payload_len: u16,
}

impl Repr {
    /// The header of a datagram.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the length is less than the header's.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, Error> {
        let payload_len = packet.len().checked_sub(HEADER_BYTES as u16);
        Ok(Self {
            source_port: packet.source_port(),
            destination_port: packet.destination_port(),
            payload_len: payload_len.ok_or(Error::Malformed)?,
        })
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        packet.set_source_port(self.source_port);
        packet.set_destination_port(self.destination_port);
        packet.set_len(HEADER_BYTES as u16 + self.payload_len);
        packet.set_checksum(0);
    }
}
