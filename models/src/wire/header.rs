//! Rondo's header, 38 bytes.

use super::crc::crc32c_padded;
use super::{put, take, Error};
use crate::psn::Psn;

mod repr;

pub use repr::{Acked, Repr};

/// Version of the format.
pub const VERSION: u8 = 1;

/// PSN of a probe, and of its ACK.
pub const RESERVED_PSN: u32 = u32::MAX;

mod field {
    use core::ops::Range;
    pub const VERSION_KIND: usize = 0;
    pub const FLAGS: usize = 1;
    pub const PATH: usize = 2;
    pub const RESERVED: usize = 3;
    pub const FLOW: Range<usize> = 4..6;
    pub const EPOCH: Range<usize> = 6..8;
    pub const PSN: Range<usize> = 8..12;
    pub const MESSAGE: Range<usize> = 12..16;
    pub const OFFSET: Range<usize> = 16..20;
    pub const MESSAGE_LENGTH: Range<usize> = 20..24;
    pub const SENT: Range<usize> = 24..28;
    pub const PAYLOAD_CRC: Range<usize> = 28..32;
    pub const PAYLOAD_LENGTH: Range<usize> = 32..34;
    pub const HEADER_CRC: Range<usize> = 34..38;

    // In ACK and NAK.
    pub const EXPECTED: Range<usize> = MESSAGE;
    pub const SELECTIVE: Range<usize> = 16..24;
    pub const RECEIVED: Range<usize> = PAYLOAD_CRC;
}

/// Bytes of the header.
pub const HEADER_BYTES: usize = field::HEADER_CRC.end;

/// Bytes that the header CRC covers, before padding.
pub const CRC_BYTES: usize = field::HEADER_CRC.start;

/// Bits of the flags.
pub mod flag {
    /// Last packet of its message (data).
    pub const LAST: u8 = 1;
    /// Sent before (data).
    pub const RETRANSMISSION: u8 = 2;
    /// A probe is acknowledged (ACK).
    pub const OF_PROBE: u8 = 4;
    /// The packet was a duplicate (ACK).
    pub const DUPLICATE: u8 = 8;
}

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Carries a message's bytes.
    Data = 0,
    /// Measures a path.
    Probe = 1,
    /// Acknowledges a packet.
    Ack = 2,
    /// Acknowledges a packet and reports that others are missing.
    Nak = 3,
}

impl Kind {
    /// The kind of 4 bits.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Self::Data),
            1 => Some(Self::Probe),
            2 => Some(Self::Ack),
            3 => Some(Self::Nak),
            _ => None,
        }
    }

    /// DSCP of its packets.
    pub const fn dscp(self) -> u8 {
        match self {
            Self::Data => 26,
            Self::Probe => 8,
            Self::Ack | Self::Nak => 46,
        }
    }
}

/// A Rondo packet.
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

    /// Version, 4 bits.
    pub fn version(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION_KIND] >> 4
    }

    /// The kind's 4 bits; see [`Kind::from_bits`].
    pub fn kind_bits(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION_KIND] & 0xf
    }

    /// Flags; see [`flag`].
    pub fn flags(&self) -> u8 {
        self.buffer.as_ref()[field::FLAGS]
    }

    /// Path, 4 bits; the byte's upper bits are reserved.
    pub fn path(&self) -> u8 {
        self.buffer.as_ref()[field::PATH] & 0xf
    }

    /// Number of the flow at the packet's receiver.
    pub fn flow(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::FLOW))
    }

    /// Incarnation of the connection.
    pub fn epoch(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::EPOCH))
    }

    /// All 32 bits of the PSN.
    pub fn psn_bits(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::PSN))
    }

    /// Data: number of the message.
    pub fn message(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::MESSAGE))
    }

    /// Data: where in its message the payload starts.
    pub fn offset(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::OFFSET))
    }

    /// Data: bytes of the message.
    pub fn message_len(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::MESSAGE_LENGTH))
    }

    /// ACK: every PSN before it has arrived; the field's upper 8 bits are reserved.
    pub fn expected(&self) -> Psn {
        Psn::new(u32::from_be_bytes(take(
            self.buffer.as_ref(),
            field::EXPECTED,
        )))
    }

    /// ACK: which PSNs of the acknowledged one's group of 64 have arrived.
    pub fn selective(&self) -> u64 {
        u64::from_be_bytes(take(self.buffer.as_ref(), field::SELECTIVE))
    }

    /// Time of sending, in ns; ACK: that of the acknowledged packet.
    pub fn sent_ns(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::SENT))
    }

    /// Data: CRC-32C of the payload.
    pub fn payload_crc(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::PAYLOAD_CRC))
    }

    /// ACK: time of the acknowledged packet's arrival, in ns.
    pub fn received_ns(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::RECEIVED))
    }

    /// Bytes after the header.
    pub fn payload_len(&self) -> u16 {
        u16::from_be_bytes(take(self.buffer.as_ref(), field::PAYLOAD_LENGTH))
    }

    /// The header CRC that it carries.
    pub fn header_crc(&self) -> u32 {
        u32::from_be_bytes(take(self.buffer.as_ref(), field::HEADER_CRC))
    }

    /// Whether the header CRC is right.
    pub fn verify_header_crc(&self) -> bool {
        self.header_crc() == crc32c_padded(&self.buffer.as_ref()[..CRC_BYTES])
    }

    /// What follows the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_BYTES..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets version 1 and the kind, and the reserved byte to 0.
    pub fn set_kind(&mut self, kind: Kind) {
        let bytes = self.buffer.as_mut();
        bytes[field::VERSION_KIND] = VERSION << 4 | kind as u8;
        bytes[field::RESERVED] = 0;
    }

    /// Sets the flags.
    pub fn set_flags(&mut self, value: u8) {
        self.buffer.as_mut()[field::FLAGS] = value;
    }

    /// Sets the path, 4 bits.
    pub fn set_path(&mut self, value: u8) {
        self.buffer.as_mut()[field::PATH] = value & 0xf;
    }

    /// Sets the flow.
    pub fn set_flow(&mut self, value: u16) {
        put(self.buffer.as_mut(), field::FLOW, value.to_be_bytes());
    }

    /// Sets the epoch.
    pub fn set_epoch(&mut self, value: u16) {
        put(self.buffer.as_mut(), field::EPOCH, value.to_be_bytes());
    }

    /// Sets all 32 bits of the PSN.
    pub fn set_psn_bits(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::PSN, value.to_be_bytes());
    }

    /// Sets the number of the message.
    pub fn set_message(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::MESSAGE, value.to_be_bytes());
    }

    /// Sets where in its message the payload starts.
    pub fn set_offset(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::OFFSET, value.to_be_bytes());
    }

    /// Sets the bytes of the message.
    pub fn set_message_len(&mut self, value: u32) {
        put(
            self.buffer.as_mut(),
            field::MESSAGE_LENGTH,
            value.to_be_bytes(),
        );
    }

    /// Sets an ACK's next expected PSN.
    pub fn set_expected(&mut self, value: Psn) {
        put(
            self.buffer.as_mut(),
            field::EXPECTED,
            value.value().to_be_bytes(),
        );
    }

    /// Sets an ACK's selective map.
    pub fn set_selective(&mut self, value: u64) {
        put(self.buffer.as_mut(), field::SELECTIVE, value.to_be_bytes());
    }

    /// Sets the time of sending.
    pub fn set_sent_ns(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::SENT, value.to_be_bytes());
    }

    /// Sets the payload CRC.
    pub fn set_payload_crc(&mut self, value: u32) {
        put(
            self.buffer.as_mut(),
            field::PAYLOAD_CRC,
            value.to_be_bytes(),
        );
    }

    /// Sets an ACK's time of arrival.
    pub fn set_received_ns(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::RECEIVED, value.to_be_bytes());
    }

    /// Sets the bytes after the header.
    pub fn set_payload_len(&mut self, value: u16) {
        put(
            self.buffer.as_mut(),
            field::PAYLOAD_LENGTH,
            value.to_be_bytes(),
        );
    }

    /// Computes the header CRC and sets it.
    pub fn fill_header_crc(&mut self) {
        let bytes = self.buffer.as_mut();
        let crc = crc32c_padded(&bytes[..CRC_BYTES]);
        put(bytes, field::HEADER_CRC, crc.to_be_bytes());
    }

    /// What follows the header.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[HEADER_BYTES..]
    }
}
