//! Chunks of a host that sends messages: mostly good ones, all kinds of bad ones.

use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::segmenter::{self, Cut, Packets, Refusal};
use rondo_models::wire::host::{Packet, SendRepr, BEAT_BYTES};
use rondo_models::wire::FlowContext;

/// A beat on the host's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostBeat {
    /// 64 bytes.
    pub data: [u64; 8],
    /// Valid bytes.
    pub keep: u64,
    /// The stream's last.
    pub last: bool,
    /// Bytes of the stream.
    pub size: u16,
}

/// What becomes of a chunk.
pub struct Fate {
    /// Its flow, even if there is no such.
    pub flow: u16,
    /// Packets that are sent, with their bytes.
    pub packets: Vec<(Cut, Vec<u8>)>,
    /// What is reported.
    pub refusal: Option<Refusal>,
}

/// Largest chunk, in bytes.
const LARGEST: u32 = 65_535 - 64;

/// A stream under way.
#[derive(Default)]
pub struct ChunkSource {
    beats: Vec<[u64; 8]>,
    at: usize,
    size: u16,
    keep: u64,
    message: u32,
}

fn to_words(bytes: &[u8]) -> [u64; 8] {
    std::array::from_fn(|w| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[8 * w..8 * w + 8]);
        u64::from_le_bytes(word)
    })
}

impl ChunkSource {
    /// The stream is dropped.
    pub fn reset(&mut self) {
        self.beats.clear();
        self.at = 0;
    }

    /// The stream is between its beats.
    pub fn is_busy(&self) -> bool {
        self.at < self.beats.len()
    }

    /// Starts a stream to `flow` with a chunk as its `context` demands, or a bad one.
    pub fn start(
        &mut self,
        rng: &mut SmallRng,
        flow: u16,
        context: Option<FlowContext>,
        slot_bytes: u16,
    ) -> Fate {
        self.message = self.message.wrapping_add(rng.random_range(0..3));
        let chunk = self.good_chunk(rng, flow, context.map_or(64, |c| c.mtu.max(64)));
        let (chunk, size, surplus, operation) = spoil(rng, chunk);
        let mut descriptor = [0; BEAT_BYTES];
        rng.fill(&mut descriptor[20..]);
        let mut kept = [0; BEAT_BYTES];
        chunk.emit(&mut Packet::new_unchecked(&mut kept[..]));
        descriptor[..20].copy_from_slice(&kept[..20]);
        descriptor[0] = operation;
        let packets = segmenter::cut(&Packet::new_unchecked(descriptor), size, slot_bytes, |_| {
            context
        });
        let right = match &packets {
            Ok(p) => p.beats(),
            // Nobody looks at how long a refused stream is.
            Err(_) => rng.random_range(0..8),
        };
        let beats = right.saturating_add_signed(surplus as isize);
        let mut bytes = vec![0; beats * BEAT_BYTES];
        rng.fill(&mut bytes[..]);
        self.beats = vec![to_words(&descriptor)];
        self.beats
            .extend(bytes.chunks_exact(BEAT_BYTES).map(to_words));
        self.at = 0;
        self.size = size;
        self.keep = u64::MAX >> (64 - (u32::from(size) + 63) % 64 - 1);
        fate(flow, packets, beats, &bytes)
    }

    fn good_chunk(&mut self, rng: &mut SmallRng, flow: u16, mtu: u16) -> SendRepr {
        let mtu = u32::from(mtu);
        let most = LARGEST / mtu;
        let packets = match rng.random_range(0..64) {
            0 => most,
            1..16 => rng.random_range(1..=most.min(9_216 / mtu + 1)),
            _ => rng.random_range(1..=most.min(3)),
        };
        let full = packets * mtu;
        let ends = rng.random_range(0..3) != 0;
        let chunk_len = match rng.random_range(0..4) {
            0..3 if ends => full - rng.random_range(0..mtu),
            _ => full,
        };
        let offset = match rng.random_range(0..3) {
            0 => 0,
            1 => rng.random_range(0..64) * mtu,
            _ => rng.random_range(0..=u32::MAX - chunk_len - mtu),
        };
        let rest = if ends { 0 } else { rng.random_range(1..=mtu) };
        SendRepr {
            flow,
            message: self.message,
            offset,
            message_len: offset + chunk_len + rest,
            chunk_len,
        }
    }

    /// The next beat of the stream.
    pub fn next_beat(&mut self) -> Option<HostBeat> {
        let data = *self.beats.get(self.at)?;
        self.at += 1;
        let last = self.at == self.beats.len();
        Some(HostBeat {
            data,
            keep: if last { self.keep } else { u64::MAX },
            last,
            size: self.size,
        })
    }
}

/// The chunk, the stream's size, its surplus beats (missing ones if negative) and its operation:
/// mostly as they were.
fn spoil(rng: &mut SmallRng, mut chunk: SendRepr) -> (SendRepr, u16, i64, u8) {
    let mut size = (chunk.chunk_len + 64) as u16;
    let (mut surplus, mut operation) = (0, 1);
    match rng.random_range(0..64) {
        0 => operation = rng.random(),
        1 => size = size.wrapping_add(1 << rng.random_range(0..16)),
        2 => chunk.chunk_len ^= 1 << rng.random_range(0..32),
        3 => {
            chunk.chunk_len = 0;
            size = 64;
        }
        4 => {
            // They agree but for a borrow.
            size = rng.random_range(0..64);
            chunk.chunk_len = u32::from(size).wrapping_sub(64);
            if rng.random() {
                chunk.chunk_len &= 0xffff;
            }
        }
        5 => chunk.message_len = chunk.message_len.wrapping_sub(rng.random_range(1..=64)),
        6 => chunk.offset = u32::MAX - rng.random_range(0..chunk.chunk_len),
        7 if chunk.chunk_len > 1 => {
            // Often no multiple of the MTU any more, sometimes not even of a beat.
            let cut = match rng.random_range(0..3) {
                0 => 64 * rng.random_range(0..chunk.chunk_len.div_ceil(64)),
                _ => rng.random_range(1..chunk.chunk_len),
            };
            chunk.chunk_len -= cut;
            size -= cut as u16;
        }
        8 => surplus = rng.random_range(1..5i64),
        9 | 10 => surplus = -rng.random_range(1..20i64),
        _ => {}
    }
    (chunk, size, surplus, operation)
}

/// What comes of a stream of `beats` beats after the descriptor.
fn fate(flow: u16, packets: Result<Packets, Refusal>, beats: usize, bytes: &[u8]) -> Fate {
    match packets {
        Err(refusal) => Fate {
            flow,
            packets: Vec::new(),
            refusal: Some(refusal),
        },
        Ok(packets) => {
            let (complete, refusal) = packets.arrived(beats);
            let sent = packets.take(complete);
            Fate {
                flow,
                packets: sent
                    .map(|cut| {
                        let payload = bytes[cut.bytes.clone()].to_vec();
                        (cut, payload)
                    })
                    .collect(),
                refusal,
            }
        }
    }
}
