//! The network between two NICs: paths with rate, delay, queue, loss, duplication, corruption, jitter
//! and outages.
//!
//! A frame's path is the low bits of its UDP source port, its class its DSCP. Each path has, a direction,
//! three queues in strict precedence (ACKs, data, probes) in front of its link. Then the frame may be
//! lost, doubled, corrupted or delayed, and waits for the NIC's link.

use super::scenario::{Impairments, MeshPath};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Bytes that a frame takes on an Ethernet link beside its own: preamble, FCS, gap.
pub const OVERHEAD_BYTES: u64 = 24;
/// Probes that a path's queue holds.
const PROBE_QUEUE: usize = 4;
/// Bytes that may wait for a NIC's link before the NIC is held.
const MAC_FIFO_BYTES: u64 = 2_048;

/// A frame, and when it left its NIC, ps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// Number in the order of sending.
    pub number: u64,
    /// Bytes without FCS.
    pub bytes: Vec<u8>,
}

/// What the network did to frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fates {
    /// Dropped by loss.
    pub lost: u64,
    /// Dropped during an outage.
    pub outage: u64,
    /// Dropped for want of room in a queue.
    pub queue_full: u64,
    /// Doubled.
    pub duplicated: u64,
    /// Corrupted.
    pub corrupted: u64,
}

/// A path's part.
#[derive(Debug, Clone, Copy, Default)]
pub struct Carried {
    /// Bytes of data frames on the wire, without overhead.
    pub data_bytes: u64,
    /// Data frames.
    pub data_frames: u64,
    /// Sum of their times in the queue, ps.
    pub queued_ps_sum: u64,
    /// Longest of them, ps.
    pub queued_ps_max: u64,
}

#[derive(Default)]
struct Link {
    ps_per_byte: f64,
    delay_ps: u64,
    busy_until_ps: u64,
    queues: [VecDeque<(u64, Frame)>; 3],
    queued_bytes: u64,
    carried: Carried,
}

/// One direction.
struct Way {
    links: Vec<Link>,
    /// The sending NIC's link.
    host_free_ps: u64,
    /// Frames on the sending NIC's link: when they are through.
    leaving: VecDeque<(u64, u8, usize, Frame)>,
    arriving: BinaryHeap<Reverse<(u64, u64, Vec<u8>)>>,
    /// The receiving NIC's link.
    in_free_ps: u64,
}

/// The network.
pub struct Mesh {
    ways: [Way; 2],
    paths: Vec<MeshPath>,
    impairments: Impairments,
    queue_limit_bytes: u64,
    host_ps_per_byte: f64,
    rng: SmallRng,
    number: u64,
    fates: Fates,
}

/// Service class of a frame by its DSCP: 0 ACK, 1 data, 2 probe, and its path.
fn classify(bytes: &[u8]) -> Option<(u8, usize)> {
    let v6 = *bytes.get(12)? == 0x86;
    let (dscp, udp) = if v6 {
        let class = bytes.get(14)? << 4 | bytes.get(15)? >> 4;
        (class >> 2, 54)
    } else {
        (bytes.get(15)? >> 2, 34)
    };
    let class = match dscp {
        46 => 0,
        8 => 2,
        _ => 1,
    };
    Some((class, usize::from(bytes.get(udp + 1)? & 15)))
}

impl Mesh {
    /// Between two NICs whose links have `host_gbps`.
    pub fn new(
        paths: &[MeshPath],
        impairments: Impairments,
        queue_limit_bytes: u64,
        host_gbps: f64,
        seed: u64,
    ) -> Self {
        let way = || Way {
            links: paths
                .iter()
                .map(|p| Link {
                    ps_per_byte: 8_000.0 / p.gbps,
                    ..Link::default()
                })
                .collect(),
            host_free_ps: 0,
            leaving: VecDeque::new(),
            arriving: BinaryHeap::new(),
            in_free_ps: 0,
        };
        let mut ways = [way(), way()];
        for (i, p) in paths.iter().enumerate() {
            ways[0].links[i].delay_ps = p.forward_ps;
            ways[1].links[i].delay_ps = p.backward_ps;
        }
        Self {
            ways,
            paths: paths.to_vec(),
            impairments,
            queue_limit_bytes,
            host_ps_per_byte: 8_000.0 / host_gbps,
            rng: SmallRng::seed_from_u64(seed),
            number: 0,
            fates: Fates::default(),
        }
    }

    /// Whether the NIC at the start of `way` may send a beat.
    pub fn takes(&self, way: usize, now_ps: u64) -> bool {
        let room = (MAC_FIFO_BYTES as f64 * self.host_ps_per_byte) as u64;
        self.ways[way].host_free_ps <= now_ps + room
    }

    /// The NIC at the start of `way` has sent a frame.
    pub fn send(&mut self, way: usize, bytes: Vec<u8>, now_ps: u64) {
        let w = &mut self.ways[way];
        let wire = bytes.len() as u64 + OVERHEAD_BYTES;
        let through = w.host_free_ps.max(now_ps) + (wire as f64 * self.host_ps_per_byte) as u64;
        w.host_free_ps = through;
        let (class, path) = classify(&bytes).unwrap_or((1, 0));
        let path = path % w.links.len();
        let frame = Frame {
            number: self.number,
            bytes,
        };
        self.number += 1;
        w.leaving.push_back((through, class, path, frame));
    }

    /// Lets the network run until `now_ps`.
    pub fn advance(&mut self, now_ps: u64) {
        for way in 0..2 {
            while self.ways[way]
                .leaving
                .front()
                .is_some_and(|f| f.0 <= now_ps)
            {
                if let Some((at, class, path, frame)) = self.ways[way].leaving.pop_front() {
                    self.enqueue(way, at, class, path, frame);
                }
            }
            for path in 0..self.ways[way].links.len() {
                self.serve(way, path, now_ps);
            }
        }
    }

    fn is_out(&self, path: usize, at_ps: u64) -> bool {
        self.paths[path]
            .outages_ps
            .iter()
            .any(|&(from, to)| (from..to).contains(&at_ps))
    }

    fn enqueue(&mut self, way: usize, at: u64, class: u8, path: usize, frame: Frame) {
        if self.is_out(path, at) {
            self.fates.outage += 1;
            return;
        }
        let link = &mut self.ways[way].links[path];
        let bytes = frame.bytes.len() as u64;
        let full = match class {
            1 => link.queued_bytes + bytes > self.queue_limit_bytes,
            2 => link.queues[2].len() >= PROBE_QUEUE,
            _ => false,
        };
        if full {
            self.fates.queue_full += 1;
            return;
        }
        if class == 1 {
            link.queued_bytes += bytes;
        }
        link.queues[usize::from(class)].push_back((at, frame));
    }

    fn serve(&mut self, way: usize, path: usize, now_ps: u64) {
        loop {
            let link = &mut self.ways[way].links[path];
            let next = link.queues.iter().position(|q| !q.is_empty());
            let Some(class) = next else { return };
            if link.busy_until_ps > now_ps {
                return;
            }
            let Some((at, frame)) = link.queues[class].pop_front() else {
                return;
            };
            let start = link.busy_until_ps.max(at);
            let wire = frame.bytes.len() as u64 + OVERHEAD_BYTES;
            link.busy_until_ps = start + (wire as f64 * link.ps_per_byte) as u64;
            if class == 1 {
                link.queued_bytes -= frame.bytes.len() as u64;
                link.carried.data_bytes += frame.bytes.len() as u64;
                link.carried.data_frames += 1;
                link.carried.queued_ps_sum += start - at;
                link.carried.queued_ps_max = link.carried.queued_ps_max.max(start - at);
            }
            let arrives = link.busy_until_ps + link.delay_ps;
            self.travel(way, path, arrives, frame);
        }
    }

    fn travel(&mut self, way: usize, path: usize, arrives: u64, mut frame: Frame) {
        if self.is_out(path, arrives) {
            self.fates.outage += 1;
            return;
        }
        let i = self.impairments;
        if self.rng.random_bool(i.loss) {
            self.fates.lost += 1;
            return;
        }
        let jitter = |rng: &mut SmallRng| {
            if i.jitter_ps == 0 {
                0
            } else {
                rng.random_range(0..i.jitter_ps)
            }
        };
        if self.rng.random_bool(i.duplicate) {
            self.fates.duplicated += 1;
            let again = arrives + jitter(&mut self.rng);
            self.ways[way]
                .arriving
                .push(Reverse((again, frame.number, frame.bytes.clone())));
        }
        if self.rng.random_bool(i.corrupt) {
            self.fates.corrupted += 1;
            for _ in 0..self.rng.random_range(1..4) {
                let at = self.rng.random_range(0..frame.bytes.len());
                frame.bytes[at] ^= 1 << self.rng.random_range(0..8);
            }
        }
        let at = arrives + jitter(&mut self.rng);
        self.ways[way]
            .arriving
            .push(Reverse((at, frame.number, frame.bytes)));
    }

    /// The next frame for the NIC at the end of `way`, when its link has brought it.
    pub fn arrival(&mut self, way: usize, now_ps: u64) -> Option<Vec<u8>> {
        let w = &mut self.ways[way];
        let Reverse((at, _, bytes)) = w.arriving.peek()?;
        let wire = bytes.len() as u64 + OVERHEAD_BYTES;
        let through = w.in_free_ps.max(*at) + (wire as f64 * self.host_ps_per_byte) as u64;
        if through > now_ps {
            return None;
        }
        w.in_free_ps = through;
        w.arriving.pop().map(|Reverse((_, _, bytes))| bytes)
    }

    /// Nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.ways.iter().all(|w| {
            w.leaving.is_empty()
                && w.arriving.is_empty()
                && w.links
                    .iter()
                    .all(|l| l.queues.iter().all(VecDeque::is_empty))
        })
    }

    /// What happened to frames.
    pub fn fates(&self) -> Fates {
        self.fates
    }

    /// What `path` carried forward since this was last asked.
    pub fn take_carried(&mut self, path: usize) -> Carried {
        std::mem::take(&mut self.ways[0].links[path].carried)
    }
}
