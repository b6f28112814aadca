//! What a run reports.

use serde::Serialize;
use std::collections::BTreeMap;

/// Average, 99th percentile and maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Average.
    pub avg: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

/// Counts small integers: exact percentiles without keeping samples.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u64,
}

impl Histogram {
    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, value: u16) {
        let v = usize::from(value);
        if v >= self.counts.len() {
            self.counts.resize(v + 1, 0);
        }
        self.counts[v] += 1;
        self.total += 1;
        self.sum += u64::from(value);
    }

    /// Average, p99 and maximum of the samples.
    pub fn spread(&self) -> Spread {
        if self.total == 0 {
            return Spread::default();
        }
        let rank = self.total - self.total / 100;
        let mut seen = 0;
        let p99 = self.counts.iter().position(|n| {
            seen += n;
            seen >= rank
        });
        Spread {
            avg: self.sum as f64 / self.total as f64,
            p99: p99.unwrap_or(0) as f64,
            max: (self.counts.len() - 1) as f64,
        }
    }
}

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
}

/// Control updates of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Updates {
    /// How many.
    pub count: u64,
}
