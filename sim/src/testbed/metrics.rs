//! What a run reports.

use serde::Serialize;
use std::collections::BTreeMap;

pub use rondo_net::metrics::{Histogram, Spread};

/// Average and maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Peak {
    /// Average.
    pub avg: f64,
    /// Maximum.
    pub max: f64,
}

/// A path's part in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PathReport {
    /// Wire rate carried.
    pub gbps: f64,
    /// Queueing delay of its packets.
    pub queue_us: Peak,
}

/// What the host got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delivered {
    /// Payload bytes.
    pub bytes: u64,
    /// Messages: packets here, every packet being one.
    pub messages: u64,
}

/// A point of the curves over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Time, ms.
    pub ms: f64,
    /// Wire rate since the last point, Gbps.
    pub gbps: f64,
    /// Average out-of-order degree since the last point, packets.
    pub ood: f64,
    /// Largest queueing delay of each path since the last point, us.
    pub queue_us: Vec<f64>,
}

/// The report of one run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunReport {
    /// Name of the scheme.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// Who decides: `rtl` or `model`.
    pub decisions: &'static str,
    /// Wire rate of delivered packets in the measured part.
    pub throughput_gbps: f64,
    /// Payload rate.
    pub goodput_gbps: f64,
    /// Length of the measured part.
    pub duration_us: f64,
    /// Out-of-order degree over arrivals, packets.
    pub ood: Spread,
    /// Packets that wait in the reorder buffer, over arrivals.
    pub rbo: Peak,
    /// Paths.
    pub paths: Vec<PathReport>,
    /// Clocks in which RTL and model differed.
    pub mismatches: u64,
    /// Delivered in the whole run.
    pub delivered: Delivered,
    /// Everything was delivered in order, with the right contents.
    pub in_order: bool,
    /// Payload bytes sent, neither delivered nor under way at the end.
    pub lost_bytes: u64,
    /// Payload bytes delivered twice.
    pub duplicated_bytes: u64,
    /// Dropped packets by cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Control updates.
    pub updates: Updates,
    /// Clocks simulated a second of wall-clock time.
    pub cycles_per_second: f64,
    /// Curves over time.
    #[serde(skip)]
    pub points: Vec<Point>,
    /// PSN and path of the packets in the order in which they were sent, if it was kept.
    #[serde(skip)]
    pub trace: Vec<(u32, u8)>,
}

/// Control updates of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Updates {
    /// How many.
    pub count: u64,
}
