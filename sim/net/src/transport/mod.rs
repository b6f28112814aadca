//! Transports: what a sender and a receiver of a flow do. A new one is one file here and a variant
//! of the scenario's transport table; its decisions, Rondo's or a rival's, live in `models/`.

pub mod dcqcn;
pub mod ideal;
pub mod multipath;
pub mod receiver;
pub mod rondo;
pub mod round_robin;
pub mod swift;

use crate::packet::{Kind, Packet};
use crate::time::Ps;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A packet that a sender lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Data or probe.
    pub kind: Kind,
    /// PSN, 24 bits; of no meaning for probes.
    pub psn: u32,
    /// Logical path.
    pub path: u8,
    /// Sent before.
    pub retransmission: bool,
    /// Bytes on the wire.
    pub bytes: u16,
}

/// What a sender answers when its NIC could send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// This.
    Send(Outgoing),
    /// Nothing before that time.
    WaitUntil(Ps),
    /// Nothing before an ACK or a timer.
    Blocked,
}

/// What an ACK, a NAK or a probe's ACK says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Ack, probe ACK or NAK.
    pub kind: Kind,
    /// The PSN acknowledged or refused.
    pub psn: u32,
    /// The receiver's next expected PSN.
    pub cumulative: u32,
    /// Path.
    pub path: u8,
    /// When the packet was sent.
    pub sent: Ps,
    /// When it was complete at the receiver.
    pub arrived: Ps,
    /// It had met congestion.
    pub ce: bool,
    /// It was a retransmission.
    pub retransmission: bool,
}

/// What a sender counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Probes sent.
    pub probes: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// From a PSN's first transmission to its retransmission, summed, ps.
    pub retransmission_delay: u64,
}

impl SenderCounters {
    /// Adds `other`.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.probes += other.probes;
        self.retransmissions += other.retransmissions;
        self.retransmission_delay += other.retransmission_delay;
    }
}

/// The sending side of a flow.
pub trait Sender: Send {
    /// The flow starts; returns the time of the first timer.
    fn start(&mut self, now: Ps) -> Ps;
    /// The NIC could send a packet.
    fn poll(&mut self, now: Ps) -> Poll;
    /// An ACK, NAK or probe ACK arrived. Whether it may have made something sendable.
    fn on_ack(&mut self, now: Ps, ack: &Ack) -> bool;
    /// The timer went off; returns the time of the next.
    fn on_timer(&mut self, now: Ps) -> Ps;
    /// Everything is acknowledged.
    fn is_done(&self) -> bool;
    /// What it counted.
    fn counters(&self) -> SenderCounters;
    /// Skips of the flow's paths, for senders that have them.
    fn skips(&self) -> &[u16] {
        &[]
    }
    /// From now on the flow has nothing new to send; returns the packets that it has in all.
    fn stop(&mut self) -> u64;
}

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What the receiver sends back.
    pub reply: Kind,
    /// New and taken.
    pub accepted: bool,
    /// It had arrived before.
    pub duplicate: bool,
    /// Next expected PSN afterwards.
    pub expected: u32,
    /// Packets that are in order now and were not before.
    pub advance: u32,
    /// Out-of-order degree afterwards, packets.
    pub ood: u32,
    /// Packets that wait for an earlier one.
    pub waiting: u32,
}

/// The receiving side of a flow.
pub trait Receiver: Send {
    /// A data packet is complete; without `room` in the reorder buffer only the next expected one
    /// may be taken.
    fn on_data(&mut self, packet: &Packet, room: bool) -> Arrival;
}

/// Makes the two sides of a flow.
pub trait Transport: Send + Sync {
    /// Logical paths of a flow.
    fn paths(&self) -> u8;
    /// Switches choose among equal next hops by themselves.
    fn is_adaptive(&self) -> bool {
        false
    }
    /// A flow as `setup` says; `flows` is how many its host sends at that moment.
    fn open(
        &self,
        setup: &multipath::FlowSetup,
        flows: u32,
    ) -> (Box<dyn Sender>, Box<dyn Receiver>);
}

/// A parameter that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// Key.
    pub key: &'static str,
    /// Value given.
    pub value: String,
    /// What it must be.
    pub wanted: &'static str,
}

/// A scenario's transport table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TransportConfig {
    /// Rondo.
    Rondo(rondo::RondoConfig),
    /// The ideal controller of §3.2.
    Ideal(ideal::IdealConfig),
    /// ECMP with DCQCN and selective repeat; with `adaptive`, RoCE adaptive routing.
    Dcqcn(dcqcn::DcqcnConfig),
    /// Round-robin packet spraying.
    RoundRobin(round_robin::RoundRobinConfig),
    /// Swift windows a path.
    Swift(swift::SwiftConfig),
}

impl Default for TransportConfig {
    fn default() -> Self {
        Self::Rondo(rondo::RondoConfig::default())
    }
}

impl TransportConfig {
    /// The transport.
    pub fn build(&self) -> Arc<dyn Transport> {
        match self {
            Self::Rondo(c) => Arc::new(*c),
            Self::Ideal(c) => Arc::new(*c),
            Self::Dcqcn(c) => Arc::new(*c),
            Self::RoundRobin(c) => Arc::new(*c),
            Self::Swift(c) => Arc::new(*c),
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`BadParameter`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        match self {
            Self::Rondo(c) => c.check(),
            Self::Ideal(c) => c.check(),
            Self::Dcqcn(c) => c.check(),
            Self::RoundRobin(c) => c.check(),
            Self::Swift(c) => c.check(),
        }
    }
}

/// A window of PSNs that the model has.
pub(crate) fn check_window(psns: u32) -> Result<(), BadParameter> {
    if psns.is_power_of_two() && (128..=2048).contains(&psns) {
        return Ok(());
    }
    Err(BadParameter {
        key: "window",
        value: psns.to_string(),
        wanted: "128, 256, 512, 1024 or 2048 PSNs",
    })
}
