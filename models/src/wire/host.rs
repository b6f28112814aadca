//! The first beat, 64 bytes, of a packet on the host's streams. Little-endian.

use super::context::Place;
use super::{put, take, Error};
use crate::psn::Psn;

/// Bytes of a descriptor or header beat.
pub const BEAT_BYTES: usize = super::crc::BEAT_BYTES;

mod field {
    use core::ops::Range;
    pub const OPERATION: usize = 0;
    pub const FLAGS: usize = 1;
    pub const FLOW: Range<usize> = 2..4;
    pub const MESSAGE: Range<usize> = 4..8;
    pub const OFFSET: Range<usize> = 8..12;
    pub const MESSAGE_LENGTH: Range<usize> = 12..16;
    pub const LENGTH: Range<usize> = 16..20;
    pub const PSN: Range<usize> = 20..24;
}

/// Operation of a chunk to send.
pub const SEND: u8 = 1;
/// Kind of a delivered payload.
pub const PAYLOAD: u8 = 1;
/// Kind of a received message's completion.
pub const COMPLETION: u8 = 2;

const LAST: u8 = 1;

/// A first beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer`; accessors panic when it is shorter than a beat.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is shorter than a beat.
    pub fn new_checked(buffer: T) -> Result<Self, Error> {
        match buffer.as_ref().len() {
            0..BEAT_BYTES => Err(Error::Truncated),
            _ => Ok(Self { buffer }),
        }
    }

    /// h2c: operation. c2h: kind.
    pub fn operation(&self) -> u8 {
        self.buffer.as_ref()[field::OPERATION]
    }

    /// c2h: last packet of its message.
    pub fn last(&self) -> bool {
        self.buffer.as_ref()[field::FLAGS] & LAST != 0
    }

    /// Flow, 16 bits.
    pub fn flow(&self) -> u16 {
        u16::from_le_bytes(take(self.buffer.as_ref(), field::FLOW))
    }

    /// Number of the message.
    pub fn message(&self) -> u32 {
        u32::from_le_bytes(take(self.buffer.as_ref(), field::MESSAGE))
    }

    /// Where in the message the bytes start.
    pub fn offset(&self) -> u32 {
        u32::from_le_bytes(take(self.buffer.as_ref(), field::OFFSET))
    }

    /// Bytes of the message.
    pub fn message_len(&self) -> u32 {
        u32::from_le_bytes(take(self.buffer.as_ref(), field::MESSAGE_LENGTH))
    }

    /// h2c: bytes of the chunk. c2h: bytes of the payload.
    pub fn length(&self) -> u32 {
        u32::from_le_bytes(take(self.buffer.as_ref(), field::LENGTH))
    }

    /// c2h: all 32 bits of the PSN.
    pub fn psn_bits(&self) -> u32 {
        u32::from_le_bytes(take(self.buffer.as_ref(), field::PSN))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets operation or kind, and zeroes the rest of the beat.
    pub fn set_operation(&mut self, value: u8) {
        let bytes = self.buffer.as_mut();
        bytes[..BEAT_BYTES].fill(0);
        bytes[field::OPERATION] = value;
    }

    /// Sets whether it is the last packet of its message.
    pub fn set_last(&mut self, value: bool) {
        self.buffer.as_mut()[field::FLAGS] = if value { LAST } else { 0 };
    }

    /// Sets the flow.
    pub fn set_flow(&mut self, value: u16) {
        put(self.buffer.as_mut(), field::FLOW, value.to_le_bytes());
    }

    /// Sets the number of the message.
    pub fn set_message(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::MESSAGE, value.to_le_bytes());
    }

    /// Sets where in the message the bytes start.
    pub fn set_offset(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::OFFSET, value.to_le_bytes());
    }

    /// Sets the bytes of the message.
    pub fn set_message_len(&mut self, value: u32) {
        put(
            self.buffer.as_mut(),
            field::MESSAGE_LENGTH,
            value.to_le_bytes(),
        );
    }

    /// Sets the bytes of chunk or payload.
    pub fn set_length(&mut self, value: u32) {
        put(self.buffer.as_mut(), field::LENGTH, value.to_le_bytes());
    }

    /// Sets the PSN.
    pub fn set_psn(&mut self, value: Psn) {
        put(
            self.buffer.as_mut(),
            field::PSN,
            value.value().to_le_bytes(),
        );
    }
}

/// Descriptor of a chunk that the host gives to be sent (h2c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SendRepr {
    /// Flow.
    pub flow: u16,
    /// Number of the message.
    pub message: u32,
    /// Where in the message the chunk starts.
    pub offset: u32,
    /// Bytes of the message.
    pub message_len: u32,
    /// Bytes of the chunk, which follow the beat.
    pub chunk_len: u32,
}

impl SendRepr {
    /// The descriptor in a beat.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the operation is another than [`SEND`].
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, Error> {
        if packet.operation() != SEND {
            return Err(Error::Malformed);
        }
        Ok(Self {
            flow: packet.flow(),
            message: packet.message(),
            offset: packet.offset(),
            message_len: packet.message_len(),
            chunk_len: packet.length(),
        })
    }

    /// Writes the beat.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        packet.set_operation(SEND);
        packet.set_flow(self.flow);
        packet.set_message(self.message);
        packet.set_offset(self.offset);
        packet.set_message_len(self.message_len);
        packet.set_length(self.chunk_len);
    }
}

/// First beat of what the NIC gives to the host (c2h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiveRepr {
    /// A payload follows.
    Payload {
        /// Flow.
        flow: u16,
        /// Which bytes.
        place: Place,
        /// PSN of the packet.
        psn: Psn,
    },
    /// A message has arrived as a whole; nothing follows.
    Completion {
        /// Flow.
        flow: u16,
        /// Number of the message.
        message: u32,
        /// Bytes of the message.
        message_len: u32,
        /// PSN of its last packet.
        psn: Psn,
    },
}

impl ReceiveRepr {
    /// The header in a beat.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the kind is neither, the PSN has more than 24 bits, or the payload
    /// more than 14 bits of length.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, Error> {
        let psn = match packet.psn_bits() {
            bits @ 0..Psn::COUNT => Psn::new(bits),
            _ => return Err(Error::Malformed),
        };
        let (flow, message) = (packet.flow(), packet.message());
        let message_len = packet.message_len();
        match packet.operation() {
            PAYLOAD if packet.length() < 1 << 14 => Ok(Self::Payload {
                flow,
                place: Place {
                    message,
                    offset: packet.offset(),
                    message_len,
                    payload_len: packet.length() as u16,
                    last: packet.last(),
                },
                psn,
            }),
            COMPLETION => Ok(Self::Completion {
                flow,
                message,
                message_len,
                psn,
            }),
            _ => Err(Error::Malformed),
        }
    }

    /// Writes the beat. A completion has the flag of a message's last packet, too.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        match *self {
            Self::Payload { flow, place, psn } => {
                packet.set_operation(PAYLOAD);
                packet.set_last(place.last);
                packet.set_flow(flow);
                packet.set_message(place.message);
                packet.set_offset(place.offset);
                packet.set_message_len(place.message_len);
                packet.set_length(place.payload_len.into());
                packet.set_psn(psn);
            }
            Self::Completion {
                flow,
                message,
                message_len,
                psn,
            } => {
                packet.set_operation(COMPLETION);
                packet.set_last(true);
                packet.set_flow(flow);
                packet.set_message(message);
                packet.set_message_len(message_len);
                packet.set_psn(psn);
            }
        }
    }
}
