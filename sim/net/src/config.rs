//! What a simulation is configured with, beside topology and flows.

use serde::{Deserialize, Serialize};

/// Bytes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PacketConfig {
    /// Payload of a full packet.
    pub payload_bytes: u16,
    /// Headers of a data packet on the wire.
    pub header_bytes: u16,
    /// An ACK on the wire.
    pub ack_bytes: u16,
}

impl Default for PacketConfig {
    fn default() -> Self {
        Self {
            payload_bytes: 1000,
            header_bytes: 48,
            ack_bytes: 64,
        }
    }
}

impl PacketConfig {
    /// A full packet on the wire, bytes.
    pub fn wire_bytes(&self) -> u16 {
        self.payload_bytes + self.header_bytes
    }
}

/// Switches. Thresholds of a port are given for 100 Gbps and scale with its rate where it says so.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchConfig {
    /// Buffer of a switch, shared by its ports.
    pub buffer_bytes: u64,
    /// A data queue may take this share of what is free of the buffer (dynamic threshold).
    pub dynamic_alpha: f64,
    /// Tail drop of a data queue, whatever the buffer.
    pub data_queue_bytes: u32,
    /// Tail drop of a probe queue, in full packets: small, so that probes hold no buffer.
    pub probe_queue_packets: u32,
    /// ECN: no mark up to here (a 100 Gbps port; scales).
    pub ecn_min_bytes: u32,
    /// ECN: always marked from here on (a 100 Gbps port; scales).
    pub ecn_max_bytes: u32,
    /// ECN: probability just below the upper threshold.
    pub ecn_probability: f64,
    /// Priority flow control, pausing data and probes a hop back.
    pub pfc: bool,
    /// PFC: an ingress pauses its sender above this.
    pub pfc_xoff_bytes: u32,
    /// PFC: and lets it go on below this.
    pub pfc_xon_bytes: u32,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        Self {
            buffer_bytes: 32_000_000,
            dynamic_alpha: 1.0,
            data_queue_bytes: 16_000_000,
            probe_queue_packets: 4,
            ecn_min_bytes: 400_000,
            ecn_max_bytes: 1_600_000,
            ecn_probability: 0.2,
            pfc: false,
            pfc_xoff_bytes: 500_000,
            pfc_xon_bytes: 480_000,
        }
    }
}

/// NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NicConfig {
    /// Shared reorder buffer of a NIC (paper §6.2.1: 1.2 MB).
    pub reorder_bytes: u64,
    /// From a data packet complete at the receiver to its ACK counted at the sender, beyond the
    /// network: the two datapaths' pipelines.
    pub turnaround_ns: u32,
}

impl Default for NicConfig {
    fn default() -> Self {
        Self {
            reorder_bytes: 1_200_000,
            turnaround_ns: 0,
        }
    }
}
