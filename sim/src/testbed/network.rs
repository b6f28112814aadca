//! Links and queues between the two NICs: the network simulator, the two hosts being outside of it.
//!
//! Forward: the sender's link, then the path's queue and bottleneck, the path's delay, and the
//! receiver's link, which the paths share. Backward: ACKs have the highest priority. A path's
//! propagation delays are such that an unloaded packet and its ACK take the base RTT, serialisation
//! and the two NICs' pipelines included: what a host would measure.

use super::scenario::Scenario;
use super::CLOCK_NS;
use crate::SimError;
use rondo_models::cycle::{reorder, sender, tracker};
use rondo_net::config::{NicConfig, PacketConfig, SwitchConfig};
use rondo_net::packet::{Kind, Packet as NetPacket};
use rondo_net::recorder::Recorder;
use rondo_net::simulation::{Setup, Simulation};
use rondo_net::time::NS;
use rondo_net::topology::Topology;
use std::collections::VecDeque;

const SENDER: u32 = 0;
const RECEIVER: u32 = 1;
/// An ACK on the wire, bytes.
const ACK_BYTES: u16 = 64;

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
    /// Packets that arrived.
    pub packets: u64,
    /// Sum of queueing delays, ns.
    pub queued_ns_sum: u64,
    /// Largest queueing delay, ns.
    pub queued_ns_max: u64,
    /// Packets dropped.
    pub drops: u64,
}

#[derive(Default)]
struct Path {
    /// PSNs under way, and how long each waited for the sender's link, ps.
    under_way: VecDeque<(u32, u64)>,
    /// From the sender's NIC to the receiver's, unloaded, ps.
    unloaded_ps: u64,
    counters: PathCounters,
    peak_ns: u64,
}

/// The network between the hosts.
pub struct Network {
    simulation: Simulation,
    flow: u32,
    paths: Vec<Path>,
    packet_bytes: u16,
    host_packet_ps: u64,
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

/// The scenario's topology, and the time in ns that its NICs add to a round trip.
pub fn topology(s: &Scenario) -> (Topology, u32) {
    let topology = Topology::Testbed {
        path_gbps: s.paths.iter().map(|p| p.gbps).collect(),
        extra_delay_ns: s.paths.iter().map(|p| p.extra_delay_us * 1000.0).collect(),
        host_gbps: s.host_gbps,
        base_rtt_ns: s.base_rtt_us * 1000.0,
    };
    let nic_ns = nic_clocks(s.payload_beats() as u64) * CLOCK_NS;
    (topology, nic_ns as u32)
}

/// The scenario's switches: queues of so many packets, no more and no shared limit.
pub fn switches(s: &Scenario) -> SwitchConfig {
    SwitchConfig {
        data_queue_bytes: (s.queue_limit_kib * 1024).max(s.packet_bytes) as u32,
        buffer_bytes: 1 << 40,
        ..SwitchConfig::default()
    }
}

/// The scenario's packets.
pub fn packets(s: &Scenario) -> PacketConfig {
    PacketConfig {
        payload_bytes: s.payload_bytes() as u16,
        header_bytes: s.header_bytes as u16,
        ack_bytes: ACK_BYTES,
    }
}

impl Network {
    /// As `scenario` says.
    ///
    /// # Errors
    /// [`SimError::Network`] for a base RTT that is shorter than the packets on the way.
    pub fn new(s: &Scenario) -> Result<Self, SimError> {
        let (topology, nic_ns) = topology(s);
        let wire = s.packet_bytes as u32;
        let nic = u64::from(nic_ns) * NS;
        let fabric = topology
            .fabric(wire, ACK_BYTES.into(), nic, 0)
            .map_err(|e| SimError::Network {
                what: format!("`{}` is {}, but must be {}", e.key, e.value, e.wanted),
            })?;
        let port = fabric.host_port[SENDER as usize];
        let paths = (0..s.paths.len())
            .map(|p| {
                let route = fabric.route(SENDER, RECEIVER, fabric.source_port(0, p as u8));
                Path {
                    unloaded_ps: fabric.unloaded(port, &route.unwrap_or_default(), wire),
                    ..Path::default()
                }
            })
            .collect();
        let host_packet_ps = rondo_net::fabric::serialisation(wire, s.host_gbps);
        let mut simulation = Simulation::new(Setup {
            fabric,
            packet: packets(s),
            switch: switches(s),
            // The NICs are outside: their time passes there.
            nic: NicConfig::default(),
            transports: Vec::new(),
            flows: Vec::new(),
            triggers: Vec::new(),
            changes: Vec::new(),
            first_psn: s.first_psn,
            seed: 0,
            recorder: Recorder::default(),
        });
        simulation.open_outbox(SENDER);
        simulation.open_outbox(RECEIVER);
        let flow = simulation.external_flow(SENDER, RECEIVER, s.paths.len() as u8);
        Ok(Self {
            simulation,
            flow,
            paths,
            packet_bytes: wire as u16,
            host_packet_ps,
        })
    }

    /// Lets the network run until `now_ns`.
    pub fn advance(&mut self, now_ns: u64) {
        while self.simulation.run_until(now_ns * NS, u64::MAX) {}
    }

    /// Time to ask for another packet: with the `asked` that are not sent yet the sender's link is
    /// busy for no longer than a packet, or than the datapath's latency, so that neither costs
    /// throughput.
    #[inline]
    pub fn sender_is_free(&self, now_ns: u64, asked: u32) -> bool {
        let latency_ps = u64::from(sender::TIMING.latency_clocks) * CLOCK_NS * NS;
        let ahead_ps = self.host_packet_ps.max(latency_ps);
        let (busy_until, queued) = self.simulation.port_free_at(SENDER);
        let waiting = u64::from(queued / u32::from(self.packet_bytes)) + u64::from(asked);
        let now_ps = now_ns * NS;
        busy_until.max(now_ps) + waiting * self.host_packet_ps < now_ps + ahead_ps
    }

    /// Sends a packet.
    pub fn send(&mut self, packet: Packet, now_ns: u64) {
        let (busy_until, queued) = self.simulation.port_free_at(SENDER);
        let ahead = u64::from(queued / u32::from(self.packet_bytes)) * self.host_packet_ps;
        let waits = busy_until.saturating_sub(now_ns * NS) + ahead;
        let path = &mut self.paths[usize::from(packet.path)];
        path.under_way.push_back((packet.psn, waits));
        self.simulation.inject(NetPacket {
            sent: packet.sent_ns * NS,
            flow: self.flow,
            psn: packet.psn,
            path: packet.path,
            bytes: self.packet_bytes,
            kind: Kind::Data,
            ..NetPacket::default()
        });
    }

    /// The next packet that is complete at the receiver's NIC, with the time it was.
    #[inline]
    pub fn receive(&mut self) -> Option<(Packet, u64)> {
        let (at, p) = self.simulation.take_arrival(RECEIVER)?;
        let path = &mut self.paths[usize::from(p.path)];
        // A path keeps its order: what is missing before this one was dropped.
        while let Some((psn, waited)) = path.under_way.pop_front() {
            if psn != p.psn {
                path.counters.drops += 1;
                continue;
            }
            let took = at - p.sent;
            let queued_ns = took.saturating_sub(waited + path.unloaded_ps) / NS;
            path.counters.packets += 1;
            path.counters.queued_ns_sum += queued_ns;
            path.counters.queued_ns_max = path.counters.queued_ns_max.max(queued_ns);
            path.peak_ns = path.peak_ns.max(queued_ns);
            break;
        }
        let packet = Packet {
            psn: p.psn,
            path: p.path,
            sent_ns: p.sent / NS,
        };
        Some((packet, at / NS))
    }

    /// Sends an ACK back.
    pub fn acknowledge(&mut self, ack: Ack) {
        self.simulation.inject(NetPacket {
            sent: ack.packet.sent_ns * NS,
            arrived: ack.arrived_ns * NS,
            flow: self.flow,
            psn: ack.packet.psn,
            path: ack.packet.path,
            bytes: ACK_BYTES,
            kind: if ack.nak { Kind::Nak } else { Kind::Ack },
            ..NetPacket::default()
        });
    }

    /// An ACK that has arrived.
    #[inline]
    pub fn acknowledged(&mut self) -> Option<Ack> {
        let (_, p) = self.simulation.take_arrival(SENDER)?;
        Some(Ack {
            packet: Packet {
                psn: p.psn,
                path: p.path,
                sent_ns: p.sent / NS,
            },
            arrived_ns: p.arrived / NS,
            nak: p.kind == Kind::Nak,
        })
    }

    /// Largest queueing delay that a packet met on `path` since this was last asked, ns.
    pub fn take_peak_ns(&mut self, path: usize) -> u64 {
        std::mem::take(&mut self.paths[path].peak_ns)
    }

    /// Counters of `path` since they were last taken.
    pub fn take_counters(&mut self, path: usize) -> PathCounters {
        std::mem::take(&mut self.paths[path].counters)
    }
}
