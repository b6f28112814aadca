//! What two NICs are run with.

use rondo_models::control::PathSetup;

/// A path as the two NICs see it.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshPath {
    /// Rate of the bottleneck, Gbps.
    pub gbps: f64,
    /// Propagation from side 0 to side 1, ps.
    pub forward_ps: u64,
    /// Propagation from side 1 to side 0, ps.
    pub backward_ps: u64,
    /// When the path carries nothing: from, to, ps.
    pub outages_ps: Vec<(u64, u64)>,
}

/// What the network does to a frame, by chance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Impairments {
    /// Lost, of 1.
    pub loss: f64,
    /// Delivered twice.
    pub duplicate: f64,
    /// With one to three bits flipped.
    pub corrupt: f64,
    /// Delayed by up to so much, ps.
    pub jitter_ps: u64,
}

/// What the hosts send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Traffic {
    /// So many messages a flow, of sizes drawn evenly on a logarithmic scale.
    Messages {
        /// Messages a flow.
        per_flow: u32,
        /// Shortest, bytes.
        min_bytes: u32,
        /// Longest, bytes.
        max_bytes: u32,
    },
    /// Messages of this length without end.
    Endless {
        /// Bytes.
        bytes: u32,
    },
}

/// A run of two NICs.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Paths.
    pub paths: Vec<MeshPath>,
    /// Impairments in both directions.
    pub impairments: Impairments,
    /// Bytes of data that wait in a path's queue at most.
    pub queue_limit_bytes: u64,
    /// Rate of the NICs' links, Gbps.
    pub host_gbps: f64,
    /// Window, PSNs.
    pub window: usize,
    /// Flows that the NIC is made for.
    pub flows: usize,
    /// Flows that are opened.
    pub open_flows: usize,
    /// Payload of a full packet, bytes.
    pub mtu: u16,
    /// Odd flows use IPv6.
    pub both_ip_versions: bool,
    /// First PSN of every flow.
    pub first_psn: u32,
    /// What side 0 sends.
    pub traffic: Traffic,
    /// Side 1 sends the same.
    pub both_ways: bool,
    /// Slots of the reorder buffer in use before only the next expected packet gets in.
    pub reorder_slots: u32,
    /// End of the sending, ps of network time; with messages the run ends when all are delivered.
    pub end_ps: u64,
    /// Start of the measured part, ps.
    pub measure_from_ps: u64,
    /// Base RTT of every path, ns.
    pub rtt_ns: Vec<u32>,
    /// Update interval, ns.
    pub interval_ns: u32,
    /// How far delay samples may lie from their mean, ns.
    pub delay_tolerance_ns: u32,
    /// Skips by Eq. 7.
    pub scheduler: bool,
    /// Capacity probing.
    pub probing: bool,
    /// The hosts take beats in so many of 256 clocks.
    pub host_pace: u32,
}

impl Mesh {
    /// Largest base RTT, ns.
    pub fn max_rtt_ns(&self) -> u32 {
        self.rtt_ns.iter().copied().max().unwrap_or(0)
    }

    /// What each path is controlled with.
    pub fn path_setups(&self) -> Vec<PathSetup> {
        let max = self.max_rtt_ns();
        self.rtt_ns
            .iter()
            .map(|&rtt| PathSetup::paper(rtt, self.interval_ns, max))
            .collect()
    }
}
