//! What a run counts.

use crate::packet::Kind;
use crate::time::Ps;
use crate::transport::SenderCounters;
use serde::Serialize;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// A data queue was at its limit.
    QueueFull,
    /// A probe queue was at its limit: how probes are meant to end.
    ProbeQueue,
    /// The switch's shared buffer left no more for the queue.
    SharedBuffer,
    /// A link was down.
    LinkDown,
    /// Chance, as the scenario asks.
    RandomLoss,
    /// The reorder buffer was full, or the packet beyond the receiver's window; a NAK went back.
    ReorderBuffer,
}

/// Names of the causes, in the order of [`Drop`].
pub const CAUSES: [&str; 6] = [
    "queue_full",
    "probe_queue",
    "shared_buffer",
    "link_down",
    "random_loss",
    "reorder_buffer",
];

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u64,
}

impl Histogram {
    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, value: u32) {
        let v = value as usize;
        if v >= self.counts.len() {
            self.counts.resize(v + 1, 0);
        }
        self.counts[v] += 1;
        self.total += 1;
        self.sum += u64::from(value);
    }

    /// Samples.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Samples above 0.
    pub fn above_zero(&self) -> u64 {
        self.total - self.counts.first().copied().unwrap_or(0)
    }

    /// The smallest value that `share` of the samples do not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        let rank = (self.total as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        let at = self.counts.iter().position(|n| {
            seen += n;
            seen >= rank
        });
        at.unwrap_or(0) as f64
    }

    /// Average, p99 and maximum of the samples.
    pub fn spread(&self) -> Spread {
        if self.total == 0 {
            return Spread::default();
        }
        Spread {
            avg: self.sum as f64 / self.total as f64,
            p99: self.percentile(0.99),
            max: (self.counts.len() - 1) as f64,
        }
    }
}

/// Counters of a run.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Data packets taken by receivers, each once.
    pub packets: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Dropped by cause: data, probes, ACKs.
    pub drops: [[u64; 3]; CAUSES.len()],
    /// Packets marked as congested.
    pub marks: u64,
    /// Pauses sent.
    pub pauses: u64,
    /// Out-of-order degree of the flow, over arrivals.
    pub ood: Histogram,
    /// Sum over the NIC's flows, over arrivals.
    pub nic_ood: Histogram,
    /// Packets of the flow that wait, over arrivals.
    pub rbo: Histogram,
    /// Most bytes in a NIC's reorder buffer.
    pub buffered_max: u64,
    /// Arrivals of what had arrived.
    pub duplicates: u64,
    /// Those that were retransmissions: spurious.
    pub spurious: u64,
    /// When the last packet was taken.
    pub last: Ps,
    /// What closed senders counted.
    pub senders: SenderCounters,
}

impl Metrics {
    #[inline]
    pub(crate) fn dropped(&mut self, cause: Drop, kind: Kind) {
        let kind = match kind {
            Kind::Data => 0,
            Kind::Probe => 1,
            _ => 2,
        };
        self.drops[cause as usize][kind] += 1;
    }

    #[inline]
    pub(crate) fn arrival(&mut self, ood: u32, nic_ood: u32, waiting: u32, buffered: u64) {
        self.ood.add(ood);
        self.nic_ood.add(nic_ood);
        self.rbo.add(waiting);
        self.buffered_max = self.buffered_max.max(buffered);
    }

    #[inline]
    pub(crate) fn accepted(&mut self, now: Ps, payload: u64) {
        self.packets += 1;
        self.payload_bytes += payload;
        self.last = now;
    }

    pub(crate) fn duplicate(&mut self, retransmission: bool) {
        self.duplicates += 1;
        self.spurious += u64::from(retransmission);
    }

    pub(crate) fn sender_closed(&mut self, counters: &SenderCounters) {
        self.senders.add(counters);
    }

    /// Data packets dropped, whatever the cause.
    pub fn data_drops(&self) -> u64 {
        self.drops.iter().map(|d| d[0]).sum()
    }
}

/// Jain's index of `values`: 1 when all are equal, `1/n` when one has all.
pub fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|v| v * v).sum();
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (values.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact() {
        let mut h = Histogram::default();
        for v in 0..1000 {
            h.add(v);
        }
        assert_eq!(h.percentile(0.5), 499.0);
        let s = h.spread();
        assert_eq!((s.avg, s.p99, s.max), (499.5, 989.0, 999.0));
        assert_eq!(h.above_zero(), 999);
    }

    #[test]
    fn jain_knows_the_extremes() {
        assert!((jain(&[3.0, 3.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((jain(&[1.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
    }
}
