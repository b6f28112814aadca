//! Links and queues between the two NICs.
//!
//! Forward: the sender's link, then the path's queue and bottleneck, the path's delay, and the
//! receiver's link, which the paths share. Backward: ACKs have the highest priority and never
//! queue. A path's propagation delays are such that an unloaded packet and its ACK take the base
//! RTT, serialisation and the two NICs' pipelines included: what a host would measure.

use super::scenario::Scenario;
use super::CLOCK_NS;
use rondo_models::cycle::{reorder, sender, tracker};
use std::collections::VecDeque;

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// PSN.
    pub psn: u32,
    /// Path.
    pub path: u8,
    /// When the NIC sent it, ns.
    pub sent_ns: u64,
}

#[derive(Debug, Default)]
struct Path {
    /// Serialisation of one packet, in picoseconds so that rates need no rounding.
    packet_ps: u64,
    /// From the end of serialisation to the receiver's link, ns.
    forward_ns: u64,
    backward_ns: u64,
    free_at_ps: u64,
    /// Packets in the queue or being sent, by the time they leave.
    queue: VecDeque<u64>,
    under_way: VecDeque<(u64, Packet)>,
    acks: VecDeque<(u64, Ack)>,
    queued_ns_sum: u64,
    queued_ns_max: u64,
    peak_ns: u64,
    packets: u64,
    drops: u64,
}

/// An ACK on its way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The packet acknowledged.
    pub packet: Packet,
    /// When it reached the receiver's NIC, ns.
    pub arrived_ns: u64,
    /// Negative.
    pub nak: bool,
}

/// What a path carried since the last reset of the counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathCounters {
    /// Packets that left the queue.
    pub packets: u64,
    /// Sum of queueing delays, ns.
    pub queued_ns_sum: u64,
    /// Largest queueing delay, ns.
    pub queued_ns_max: u64,
    /// Packets dropped at the tail.
    pub drops: u64,
}

/// The network between the hosts.
#[derive(Debug)]
pub struct Network {
    paths: Vec<Path>,
    host_packet_ps: u64,
    sender_free_ps: u64,
    receiver_free_ps: u64,
    queue_limit: usize,
}

/// Clocks that a packet of `beats` beats and its ACK spend in the NICs: stored, announced, judged,
/// acknowledged, and the ACK counted.
fn nic_clocks(beats: u64) -> u64 {
    let ack_queue = 2;
    beats
        + u64::from(reorder::ANNOUNCE.latency_clocks)
        + u64::from(tracker::TIMING.latency_clocks)
        + ack_queue
        + u64::from(tracker::TIMING.latency_clocks)
}

impl Network {
    /// As `scenario` says.
    pub fn new(s: &Scenario) -> Self {
        let packet_ps = |gbps: f64| (s.packet_bytes as f64 * 8000.0 / gbps).round() as u64;
        let host_packet_ps = packet_ps(s.host_gbps);
        let nic_ns = nic_clocks(s.payload_beats() as u64) * CLOCK_NS;
        let paths = (0..s.paths.len())
            .map(|p| {
                let own = packet_ps(s.paths[p].gbps);
                let serial_ns = (2 * host_packet_ps + own) / 1000;
                let backward_ns = (s.base_rtt_us * 500.0).round() as u64;
                let forward_ns =
                    (u64::from(s.rtt_ns(p)) - backward_ns).saturating_sub(serial_ns + nic_ns);
                Path {
                    packet_ps: own,
                    forward_ns,
                    backward_ns,
                    ..Path::default()
                }
            })
            .collect();
        Self {
            paths,
            host_packet_ps,
            sender_free_ps: 0,
            receiver_free_ps: 0,
            queue_limit: (s.queue_limit_kib * 1024 / s.packet_bytes).max(1),
        }
    }

    /// Time to ask for another packet: with the `asked` that are not sent yet the sender's link is
    /// busy for no longer than a packet, or than the datapath's latency, so that neither costs
    /// throughput.
    #[inline]
    pub fn sender_is_free(&self, now_ns: u64, asked: u32) -> bool {
        let ahead_ps = self
            .host_packet_ps
            .max(u64::from(sender::TIMING.latency_clocks) * CLOCK_NS * 1000);
        let busy_until = self.sender_free_ps.max(now_ns * 1000);
        busy_until + u64::from(asked) * self.host_packet_ps < now_ns * 1000 + ahead_ps
    }

    /// Sends a packet at `now_ns`; false when the path's queue was full and dropped it.
    pub fn send(&mut self, packet: Packet, now_ns: u64) -> bool {
        let start = self.sender_free_ps.max(now_ns * 1000);
        let at_queue_ps = start + self.host_packet_ps;
        self.sender_free_ps = at_queue_ps;
        let path = &mut self.paths[usize::from(packet.path)];
        while path.queue.front().is_some_and(|&out| out <= at_queue_ps) {
            path.queue.pop_front();
        }
        if path.queue.len() >= self.queue_limit {
            path.drops += 1;
            return false;
        }
        let begin = path.free_at_ps.max(at_queue_ps);
        let waited_ns = (begin - at_queue_ps) / 1000;
        path.queued_ns_sum += waited_ns;
        path.queued_ns_max = path.queued_ns_max.max(waited_ns);
        path.peak_ns = path.peak_ns.max(waited_ns);
        path.packets += 1;
        path.free_at_ps = begin + path.packet_ps;
        path.queue.push_back(path.free_at_ps);
        let arrives = path.free_at_ps + path.forward_ns * 1000;
        path.under_way.push_back((arrives, packet));
        true
    }

    /// The next packet that is complete at the receiver's NIC, with the time it was.
    #[inline]
    pub fn receive(&mut self, now_ns: u64) -> Option<(Packet, u64)> {
        let now_ps = now_ns * 1000;
        let first = self
            .paths
            .iter()
            .enumerate()
            .filter_map(|(i, p)| p.under_way.front().map(|&(at, _)| (at, i)))
            .min()?;
        let (at, i) = first;
        let done = self.receiver_free_ps.max(at) + self.host_packet_ps;
        if done > now_ps {
            return None;
        }
        self.receiver_free_ps = done;
        let (_, packet) = self.paths[i].under_way.pop_front()?;
        Some((packet, done / 1000))
    }

    /// Sends an ACK back.
    pub fn acknowledge(&mut self, ack: Ack, now_ns: u64) {
        let path = &mut self.paths[usize::from(ack.packet.path)];
        path.acks.push_back((now_ns + path.backward_ns, ack));
    }

    /// An ACK that has arrived.
    #[inline]
    pub fn acknowledged(&mut self, now_ns: u64) -> Option<Ack> {
        for p in &mut self.paths {
            if p.acks.front().is_some_and(|&(at, _)| at <= now_ns) {
                return p.acks.pop_front().map(|(_, a)| a);
            }
        }
        None
    }

    /// Largest queueing delay that a packet met on `path` since this was last asked, ns.
    pub fn take_peak_ns(&mut self, path: usize) -> u64 {
        std::mem::take(&mut self.paths[path].peak_ns)
    }

    /// Counters of `path` since they were last taken.
    pub fn take_counters(&mut self, path: usize) -> PathCounters {
        let p = &mut self.paths[path];
        let c = PathCounters {
            packets: p.packets,
            queued_ns_sum: p.queued_ns_sum,
            queued_ns_max: p.queued_ns_max,
            drops: p.drops,
        };
        (p.packets, p.queued_ns_sum, p.queued_ns_max, p.drops) = (0, 0, 0, 0);
        c
    }
}
