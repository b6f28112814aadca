//! Host memories on both ends: messages to send, and what was delivered, checked by content.

use super::bits::to_beat;
use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::wire::host::{Packet, ReceiveRepr, SendRepr, BEAT_BYTES};
use std::collections::VecDeque;

/// Bytes of a chunk at most, its descriptor not counted.
const CHUNK_BYTES: u32 = 9_216;

/// Contents of a message: `out.len()` bytes of message `id` of `flow` from `offset` on. `side` tells the
/// two hosts' messages apart.
pub fn contents(side: usize, flow: u16, id: u32, offset: u32, out: &mut [u8]) {
    let key = (side as u64) << 63 | u64::from(flow) << 48 ^ u64::from(id) << 32;
    let mut word = u64::MAX;
    let mut number = u64::MAX;
    for (i, byte) in out.iter_mut().enumerate() {
        let at = u64::from(offset) + i as u64;
        if at / 8 != number {
            number = at / 8;
            // SplitMix64.
            let mut z = (key ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word = z ^ (z >> 31);
        }
        *byte = (word >> (8 * (at % 8))) as u8;
    }
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Number, in the order of posting.
    pub id: u32,
    /// Bytes.
    pub length: u32,
}

/// A flow's messages that are to be sent.
#[derive(Debug, Clone, Default)]
struct Outgoing {
    messages: VecDeque<Message>,
    at: u32,
    mtu: u32,
    open: bool,
    /// Messages of this length without end.
    endless: Option<u32>,
    next_id: u32,
}

/// A beat of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// 64 bytes.
    pub data: [u64; 8],
    /// Valid bytes.
    pub keep: u64,
    /// Last of its packet.
    pub last: bool,
    /// Bytes of its packet.
    pub size: u16,
}

/// The sending half of a host: hands chunks of all flows' messages over, flows in turn at random.
pub struct Sender {
    side: usize,
    flows: Vec<Outgoing>,
    chunk: Vec<u8>,
    at: usize,
    /// Flow of the chunk that is being handed over.
    flow: u16,
    /// Bytes handed over.
    pub bytes: u64,
}

impl Sender {
    /// For `flows` flows.
    pub fn new(side: usize, flows: usize) -> Self {
        Self {
            side,
            flows: vec![Outgoing::default(); flows],
            chunk: Vec::new(),
            at: 0,
            flow: 0,
            bytes: 0,
        }
    }

    /// `flow` is open, with payloads of `mtu` bytes.
    pub fn open(&mut self, flow: u16, mtu: u16) {
        let f = &mut self.flows[usize::from(flow)];
        f.open = true;
        f.mtu = mtu.into();
    }

    /// `flow` is closed: what was not handed over is forgotten. Between two chunks only.
    pub fn close(&mut self, flow: u16) {
        self.flows[usize::from(flow)] = Outgoing {
            next_id: self.flows[usize::from(flow)].next_id + 1,
            ..Outgoing::default()
        };
    }

    /// Flow of the chunk that is being handed over.
    pub fn current(&self) -> Option<u16> {
        (!self.chunk.is_empty()).then_some(self.flow)
    }

    /// Posts a message of `length` bytes; returns it.
    pub fn post(&mut self, flow: u16, length: u32) -> Message {
        let f = &mut self.flows[usize::from(flow)];
        let m = Message {
            id: f.next_id,
            length,
        };
        f.next_id += 1;
        f.messages.push_back(m);
        m
    }

    /// Number of the next message of `flow`.
    pub fn next_id(&self, flow: u16) -> u32 {
        self.flows[usize::from(flow)].next_id
    }

    /// Messages of `length` bytes without end; `None` ends it.
    pub fn set_endless(&mut self, flow: u16, length: Option<u32>) {
        self.flows[usize::from(flow)].endless = length;
    }

    /// Everything posted was handed over.
    pub fn is_empty(&self) -> bool {
        self.chunk.is_empty() && self.flows.iter().all(|f| f.messages.is_empty())
    }

    fn next_chunk(&mut self, rng: &mut SmallRng) {
        let from = rng.random_range(0..self.flows.len());
        let flow = (0..self.flows.len())
            .map(|i| (from + i) % self.flows.len())
            .find(|&i| {
                let f = &self.flows[i];
                f.open && (!f.messages.is_empty() || f.endless.is_some())
            });
        let Some(flow) = flow else { return };
        if let (true, Some(length)) = (
            self.flows[flow].messages.is_empty(),
            self.flows[flow].endless,
        ) {
            self.post(flow as u16, length);
        }
        let f = &mut self.flows[flow];
        let Some(m) = f.messages.front().copied() else {
            return;
        };
        let packets = (CHUNK_BYTES / f.mtu).max(1);
        let most = rng.random_range(1..=packets) * f.mtu;
        let length = most.min(m.length - f.at);
        self.chunk.resize(BEAT_BYTES + length as usize, 0);
        let (head, body) = self.chunk.split_at_mut(BEAT_BYTES);
        SendRepr {
            flow: flow as u16,
            message: m.id,
            offset: f.at,
            message_len: m.length,
            chunk_len: length,
        }
        .emit(&mut Packet::new_unchecked(head));
        contents(self.side, flow as u16, m.id, f.at, body);
        f.at += length;
        if f.at == m.length {
            f.at = 0;
            f.messages.pop_front();
        }
        self.flow = flow as u16;
        self.at = 0;
        self.bytes += u64::from(length);
    }

    /// The beat on offer.
    pub fn beat(&mut self, rng: &mut SmallRng) -> Option<Beat> {
        if self.chunk.is_empty() {
            self.next_chunk(rng);
        }
        if self.chunk.is_empty() {
            return None;
        }
        let (data, keep) = to_beat(&self.chunk[self.at..]);
        Some(Beat {
            data,
            keep,
            last: self.at + 64 >= self.chunk.len(),
            size: self.chunk.len() as u16,
        })
    }

    /// The chunk that is being handed over.
    pub fn chunk(&self) -> Option<&[u8]> {
        (!self.chunk.is_empty()).then_some(&self.chunk[..])
    }

    /// The beat was taken; whether it was the chunk's last.
    pub fn taken(&mut self) -> bool {
        self.at += 64;
        let last = self.at >= self.chunk.len();
        if last {
            self.chunk.clear();
        }
        last
    }
}

/// How far a flow's delivery is.
#[derive(Debug, Clone, Copy, Default)]
struct Incoming {
    id: u32,
    offset: u32,
    completes: bool,
    length: u32,
}

/// What a host was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Payload bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Completed messages.
    pub messages: u64,
}

/// The receiving half of a host: every byte has to come once, in order, as it was sent.
pub struct Receiver {
    /// Side of the messages' sender.
    side: usize,
    /// Number of each flow there.
    peers: Vec<u16>,
    flows: Vec<Incoming>,
    packet: Vec<u8>,
    expected: Vec<u8>,
    delivered: Delivered,
    per_flow: Vec<u64>,
    wrong: Vec<String>,
}

impl Receiver {
    /// For what `side` sends.
    pub fn new(side: usize, flows: usize) -> Self {
        Self {
            side,
            peers: (0..flows as u16).collect(),
            flows: vec![Incoming::default(); flows],
            packet: Vec::new(),
            expected: Vec::new(),
            delivered: Delivered::default(),
            per_flow: vec![0; flows],
            wrong: Vec::new(),
        }
    }

    /// `flow` is opened, `peer` at the sender; its next message is `id`.
    pub fn open(&mut self, flow: u16, peer: u16, id: u32) {
        self.peers[usize::from(flow)] = peer;
        self.flows[usize::from(flow)] = Incoming {
            id,
            ..Incoming::default()
        };
    }

    /// A beat of the stream to the host.
    pub fn beat(&mut self, data: &[u8; 64], keep: u64, last: bool, size: u16) {
        let n = keep.trailing_ones() as usize;
        self.packet.extend_from_slice(&data[..n]);
        if last {
            let packet = std::mem::take(&mut self.packet);
            if packet.len() != usize::from(size) {
                self.fail(format!("{} bytes in a packet of size {size}", packet.len()));
            }
            self.packet_done(&packet);
            self.packet = packet;
            self.packet.clear();
        }
    }

    fn fail(&mut self, what: String) {
        if self.wrong.len() < 8 {
            self.wrong.push(what);
        }
    }

    fn packet_done(&mut self, packet: &[u8]) {
        let first = Packet::new_checked(packet).and_then(|p| ReceiveRepr::parse(&p));
        match first {
            Err(_) => self.fail("a packet without a first beat that can be read".into()),
            Ok(ReceiveRepr::Payload { flow, place, .. }) => {
                self.payload(flow, place, &packet[BEAT_BYTES..]);
            }
            Ok(ReceiveRepr::Completion {
                flow,
                message,
                message_len,
                ..
            }) => {
                let Some(f) = self.flows.get_mut(usize::from(flow)) else {
                    return self.fail(format!("completion of flow {flow}"));
                };
                let as_due = f.completes && f.id == message && f.length == message_len;
                f.completes = false;
                f.id += 1;
                f.offset = 0;
                self.delivered.messages += 1;
                if !as_due {
                    self.fail(format!(
                        "completion of message {message} of flow {flow} is not due"
                    ));
                }
            }
        }
    }

    fn payload(&mut self, flow: u16, place: rondo_models::wire::Place, payload: &[u8]) {
        let Some(f) = self.flows.get_mut(usize::from(flow)) else {
            return self.fail(format!("payload of flow {flow}"));
        };
        let due = (f.id, f.offset);
        f.offset += payload.len() as u32;
        f.completes = f.offset == place.message_len;
        f.length = place.message_len;
        let ends = place.last == f.completes;
        self.per_flow[usize::from(flow)] += payload.len() as u64;
        self.delivered.bytes += payload.len() as u64;
        self.delivered.packets += 1;
        self.expected.resize(payload.len(), 0);
        let peer = self.peers[usize::from(flow)];
        contents(
            self.side,
            peer,
            place.message,
            place.offset,
            &mut self.expected,
        );
        if (place.message, place.offset) != due {
            self.fail(format!(
                "flow {flow}: byte {} of message {} comes when byte {} of message {} is due",
                place.offset, place.message, due.1, due.0
            ));
        } else if self.expected != payload
            || usize::from(place.payload_len) != payload.len()
            || !ends
        {
            self.fail(format!(
                "flow {flow}: wrong contents at byte {} of message {}",
                place.offset, place.message
            ));
        }
    }

    /// What was delivered.
    pub fn delivered(&self) -> Delivered {
        self.delivered
    }

    /// Bytes of `flow` that were delivered.
    pub fn bytes_of(&self, flow: u16) -> u64 {
        self.per_flow[usize::from(flow)]
    }

    /// What was wrong; at most the first few.
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }
}
