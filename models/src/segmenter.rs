//! The segmenter's rules: which chunks of a host are refused, and how the others are cut into
//! packets.

use crate::psn::Psn;
use crate::wire::host::{Packet, SendRepr, BEAT_BYTES};
use crate::wire::{FlowContext, Place, Segment};
use core::ops::Range;

/// PSNs of a flow between its lowest unacknowledged and its next one: entries of its slot table.
pub const OUTSTANDING_PSNS: u32 = 1_024;

/// Why a chunk, or a part of it, is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// Unknown operation.
    Operation = 1,
    /// Flow that is not open, or whose MTU is no multiple of 64 bytes that fits a slot.
    Flow = 2,
    /// The chunk's length is 0 or does not agree with the stream's size.
    Length = 3,
    /// Bytes beyond the message's end.
    BeyondMessage = 4,
    /// A chunk that does not end its message and is no multiple of the flow's MTU.
    PartialPacket = 5,
    /// The stream ended before the chunk: the packet under way is lost.
    EndsEarly = 6,
    /// The stream went on after the chunk: the surplus is lost.
    EndsLate = 7,
}

impl Refusal {
    /// All, by code from 1 on.
    pub const ALL: [Self; 7] = [
        Self::Operation,
        Self::Flow,
        Self::Length,
        Self::BeyondMessage,
        Self::PartialPacket,
        Self::EndsEarly,
        Self::EndsLate,
    ];
}

/// Whether the flow's next PSN may be given out while `una` is its lowest unacknowledged one.
pub const fn may_commit(psn: Psn, una: Psn) -> bool {
    psn.minus(una.value()).value() < OUTSTANDING_PSNS
}

/// Packets of a chunk, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    chunk: SendRepr,
    mtu: u32,
    /// Bytes of the chunk before the next packet.
    at: u32,
}

/// A packet of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its bytes in the chunk.
    pub bytes: Range<usize>,
    /// Which bytes of the message they are.
    pub place: Place,
}

impl Cut {
    /// The segment of the packet, whose bytes are `payload`.
    pub fn segment(&self, payload: &[u8]) -> Segment {
        Segment {
            place: self.place,
            payload_crc: crate::wire::crc::crc32c_padded(payload),
        }
    }
}

impl Packets {
    /// Flow of the chunk.
    pub const fn flow(&self) -> u16 {
        self.chunk.flow
    }

    /// Beats of the chunk, without its descriptor.
    pub const fn beats(&self) -> usize {
        (self.chunk.chunk_len as usize).div_ceil(BEAT_BYTES)
    }

    /// How many packets are sent when the stream ends after `beats` beats of payload, and what is
    /// wrong with it. The last beat of a stream that ends early need not be full, so that the packet
    /// it belongs to is lost.
    pub fn arrived(self, beats: usize) -> (usize, Option<Refusal>) {
        let all = self.beats();
        if beats >= all {
            let late = (beats > all).then_some(Refusal::EndsLate);
            return (self.count(), late);
        }
        let complete = |cut: &Cut| cut.bytes.end.div_ceil(BEAT_BYTES) < beats;
        (self.take_while(complete).count(), Some(Refusal::EndsEarly))
    }
}

impl Iterator for Packets {
    type Item = Cut;

    fn next(&mut self) -> Option<Cut> {
        let left = self.chunk.chunk_len - self.at;
        if left == 0 {
            return None;
        }
        let length = left.min(self.mtu);
        let offset = self.chunk.offset + self.at;
        let start = self.at as usize;
        self.at += length;
        Some(Cut {
            bytes: start..self.at as usize,
            place: Place {
                message: self.chunk.message,
                offset,
                message_len: self.chunk.message_len,
                payload_len: length as u16,
                last: offset + length == self.chunk.message_len,
            },
        })
    }
}

/// The packets of the chunk that `descriptor` announces, in a stream of `size` bytes. A slot has
/// `slot_bytes` bytes; `context_of` is the context of a flow, `None` beyond the last flow.
///
/// # Errors
/// The first [`Refusal`] of those that concern the descriptor.
pub fn cut<T: AsRef<[u8]>>(
    descriptor: &Packet<T>,
    size: u16,
    slot_bytes: u16,
    context_of: impl FnOnce(u16) -> Option<FlowContext>,
) -> Result<Packets, Refusal> {
    let chunk = SendRepr::parse(descriptor).map_err(|_| Refusal::Operation)?;
    let mtu = context_of(chunk.flow)
        .filter(|c| c.valid && (1..=slot_bytes).contains(&c.mtu))
        .filter(|c| usize::from(c.mtu) % BEAT_BYTES == 0)
        .map(|c| u32::from(c.mtu))
        .ok_or(Refusal::Flow)?;
    let payload = u32::from(size).checked_sub(BEAT_BYTES as u32);
    if chunk.chunk_len == 0 || payload != Some(chunk.chunk_len) {
        return Err(Refusal::Length);
    }
    let end = u64::from(chunk.offset) + u64::from(chunk.chunk_len);
    if end > u64::from(chunk.message_len) {
        return Err(Refusal::BeyondMessage);
    }
    if end < u64::from(chunk.message_len) && chunk.chunk_len % mtu != 0 {
        return Err(Refusal::PartialPacket);
    }
    Ok(Packets { chunk, mtu, at: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: FlowContext = FlowContext {
        mtu: 256,
        valid: true,
        ..FlowContext::CLOSED
    };
    const CHUNK: SendRepr = SendRepr {
        flow: 3,
        message: 7,
        offset: 512,
        message_len: 2_000,
        chunk_len: 768,
    };

    fn cut_of(chunk: SendRepr, size: u32, context: FlowContext) -> Result<Packets, Refusal> {
        let mut beat = [0; BEAT_BYTES];
        chunk.emit(&mut Packet::new_unchecked(&mut beat[..]));
        let context_of = |flow| (flow < 16).then_some(context);
        cut(&Packet::new_unchecked(beat), size as u16, 4_096, context_of)
    }

    fn cut_open(chunk: SendRepr) -> Result<Packets, Refusal> {
        cut_of(chunk, chunk.chunk_len + 64, OPEN)
    }

    #[test]
    fn a_chunk_in_the_middle_is_full_packets() {
        let cuts: Vec<Cut> = cut_open(CHUNK).expect("is good").collect();
        assert_eq!(cuts.len(), 3);
        for (i, c) in cuts.iter().enumerate() {
            assert_eq!(c.bytes, i * 256..(i + 1) * 256);
            assert_eq!(c.place.offset, 512 + i as u32 * 256);
            assert_eq!((c.place.payload_len, c.place.last), (256, false));
        }
    }

    #[test]
    fn the_last_packet_of_a_message_may_be_short() {
        let tail = SendRepr {
            offset: 1_536,
            chunk_len: 464,
            ..CHUNK
        };
        let lengths: Vec<_> = cut_open(tail)
            .expect("is good")
            .map(|c| (c.place.payload_len, c.place.last))
            .collect();
        assert_eq!(lengths, [(256, false), (208, true)]);
    }

    #[test]
    fn every_refusal_of_a_descriptor() {
        let beat = Packet::new_unchecked([0; BEAT_BYTES]);
        assert_eq!(
            cut(&beat, 128, 4_096, |_| Some(OPEN)),
            Err(Refusal::Operation)
        );
        let foreign = SendRepr { flow: 16, ..CHUNK };
        assert_eq!(cut_open(foreign), Err(Refusal::Flow));
        for mtu in [0, 32, 96, 4_160] {
            let context = FlowContext { mtu, ..OPEN };
            assert_eq!(cut_of(CHUNK, 832, context), Err(Refusal::Flow), "{mtu}");
        }
        let closed = FlowContext {
            valid: false,
            ..OPEN
        };
        assert_eq!(cut_of(CHUNK, 832, closed), Err(Refusal::Flow));
        for size in [0, 63, 64, 831, 833] {
            assert_eq!(cut_of(CHUNK, size, OPEN), Err(Refusal::Length), "{size}");
        }
        // They agree in 16 and in 32 bits only.
        for (chunk_len, size) in [(0, 64), (0x1_0000, 64), (0xffff_ffca, 10), (0xffca, 10)] {
            let chunk = SendRepr { chunk_len, ..CHUNK };
            assert_eq!(cut_of(chunk, size, OPEN), Err(Refusal::Length));
        }
        let beyond = SendRepr {
            message_len: 1_279,
            ..CHUNK
        };
        assert_eq!(cut_open(beyond), Err(Refusal::BeyondMessage));
        let wrapping = SendRepr {
            offset: 0xffff_ff00,
            ..CHUNK
        };
        assert_eq!(cut_open(wrapping), Err(Refusal::BeyondMessage));
        let partial = SendRepr {
            chunk_len: 640,
            ..CHUNK
        };
        assert_eq!(cut_open(partial), Err(Refusal::PartialPacket));
    }

    #[test]
    fn a_stream_that_ends_early_or_late() {
        let packets = cut_open(CHUNK).expect("is good");
        assert_eq!(packets.beats(), 12);
        assert_eq!(packets.arrived(12), (3, None));
        assert_eq!(packets.arrived(13), (3, Some(Refusal::EndsLate)));
        for (beats, complete) in [(0, 0), (4, 0), (5, 1), (8, 1), (9, 2), (11, 2)] {
            assert_eq!(
                packets.arrived(beats),
                (complete, Some(Refusal::EndsEarly)),
                "{beats}"
            );
        }
    }

    #[test]
    fn psns_wait_for_the_slot_table() {
        let una = Psn::new(0xff_fff0);
        assert!(may_commit(una, una));
        assert!(may_commit(una.plus(1_023), una));
        assert!(!may_commit(una.plus(1_024), una));
        assert!(!may_commit(una.minus(1), una));
    }
}
