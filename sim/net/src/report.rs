//! The report of a run.

use crate::fabric::Node;
use crate::flows::Flow;
use crate::metrics::{jain, Spread, CAUSES};
use crate::simulation::Simulation;
use crate::time::{to_us, Ps, NEVER};
use serde::Serialize;
use std::collections::BTreeMap;

/// Percentiles of completion times, us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Completion {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

/// Out-of-order degree of NICs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NicOod {
    /// 99th percentile over arrivals.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// Reorder buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Buffering {
    /// Average over arrivals, packets of the flow.
    pub avg: f64,
    /// Largest, packets of the flow.
    pub max: f64,
    /// Most bytes in one NIC.
    pub nic_max_kb: f64,
}

/// Queues of switches: data only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Queues {
    /// Most that waited in one port, kB.
    pub max: f64,
    /// Largest difference between parallel ports of one switch, kB; null when it was not followed.
    pub interpath_max: Option<f64>,
}

/// Retransmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Retransmits {
    /// Of packets that had been lost.
    #[serde(rename = "true")]
    pub needed: u64,
    /// Of packets that had arrived, or did.
    pub spurious: u64,
    /// From a packet's transmission to its retransmission, mean, us.
    pub delay_us: f64,
}

/// What depends on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Time of the run's thread.
    pub cpu_seconds: f64,
    /// Data packets delivered a second of it.
    pub packets_per_cpu_second: f64,
    /// Events a second of it.
    pub events_per_cpu_second: f64,
    /// Largest memory of the process so far.
    pub peak_rss_mb: f64,
}

/// The report of a run: a function of scenario and seed but for `cost`.
#[derive(Clone, Debug, Serialize)]
pub struct NetReport {
    /// Scenario.
    pub scenario: String,
    /// Seed.
    pub seed: u64,
    /// Hash of the scenario, its flows and the simulator's version, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Hosts.
    pub hosts: u32,
    /// Simulated time, us.
    pub duration_us: f64,
    /// Flows, and how many of them were delivered whole.
    pub flows: u64,
    /// Delivered whole, those that were stopped not counted.
    pub flows_completed: u64,
    /// Stopped by the scenario.
    pub flows_stopped: u64,
    /// Data packets delivered, each once.
    pub packets_delivered: u64,
    /// Their payload.
    pub bytes_delivered: u64,
    /// Events.
    pub events: u64,
    /// Completion times of flows.
    pub fct_us: Completion,
    /// Completion time over the ideal at line rate.
    pub slowdown: Completion,
    /// When the last flow of all was delivered, from the first one's start; null while flows are
    /// missing.
    pub jct_us: f64,
    /// Payload rate of all flows while the run lasted.
    pub goodput_gbps: f64,
    /// Out-of-order degree of flows over arrivals, packets.
    pub ood: Spread,
    /// Share of arrivals out of order.
    pub out_of_order_share: f64,
    /// Out-of-order degree of NICs.
    pub nic_ood: NicOod,
    /// Reorder buffers.
    pub rbo: Buffering,
    /// Queues.
    pub queue_kb: Queues,
    /// Jain's index of the flows' rates.
    pub jain: f64,
    /// Data on the busiest receiver's link, of its rate, from the first flow's start to the last
    /// delivery.
    pub utilisation: f64,
    /// Retransmissions.
    pub retransmits: Retransmits,
    /// Probes sent.
    pub probes: u64,
    /// Dropped data packets, probes and ACKs by cause.
    pub drops: BTreeMap<&'static str, [u64; 3]>,
    /// ECN marks.
    pub marks: u64,
    /// PFC pauses.
    pub pauses: u64,
    /// What depends on the machine.
    #[serde(flatten)]
    pub cost: Option<Cost>,
}

/// Percentiles; not a number (null in JSON) when there is no value.
fn completion(mut values: Vec<f64>) -> Completion {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let rank = (values.len() as f64 * share).ceil() as usize;
        values
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(f64::NAN)
    };
    Completion {
        p50: at(0.5),
        p99: at(0.99),
        p999: at(0.999),
        max: at(1.0),
    }
}

impl NetReport {
    /// Of a run that has ended.
    pub fn of(s: &Simulation, scenario: &str, cost: Option<Cost>) -> Self {
        let m = s.metrics();
        let started: Vec<_> = s.flows().iter().filter(|f| f.started != NEVER).collect();
        let whole = |f: &&&Flow| f.finished != NEVER && !f.stopped;
        let done: Vec<_> = started.iter().filter(whole).collect();
        let stopped = s.flows().iter().filter(|f| f.stopped).count();
        let first = started.iter().map(|f| f.started).min().unwrap_or(0);
        let last = done.iter().map(|f| f.finished).max().unwrap_or(0);
        let all = done.len() + stopped == s.flows().len();
        // Stopped flows carried bytes too: the run's rates are over all of them.
        let ends = started.iter().map(|f| f.finished);
        let end = match ends.max() {
            Some(end) if all && end != NEVER => end,
            _ => s.now(),
        };
        let fct = |f: &&&Flow| to_us(f.finished - f.started);
        let mut counters = m.senders;
        counters.add(&s.open_counters());
        let rates: Vec<f64> = started
            .iter()
            .map(|f| f.arrived_bytes as f64 / (f.finished.min(s.now()) - f.started).max(1) as f64)
            .collect();
        let rbo = m.rbo.spread();
        Self {
            scenario: scenario.into(),
            seed: s.seed,
            fingerprint: None,
            hosts: s.fabric().hosts,
            duration_us: to_us(s.now()),
            flows: s.flows().len() as u64,
            flows_completed: done.len() as u64,
            flows_stopped: stopped as u64,
            packets_delivered: m.packets,
            bytes_delivered: m.payload_bytes,
            events: s.events(),
            fct_us: completion(done.iter().map(fct).collect()),
            slowdown: completion(
                done.iter()
                    .map(|f| (f.finished - f.started) as f64 / f.ideal.max(1) as f64)
                    .collect(),
            ),
            jct_us: if all && !done.is_empty() {
                to_us(last.saturating_sub(first))
            } else {
                f64::NAN
            },
            goodput_gbps: gbps(m.payload_bytes, end - first),
            ood: m.ood.spread(),
            out_of_order_share: m.ood.above_zero() as f64 / m.ood.total().max(1) as f64,
            nic_ood: NicOod {
                p99: m.nic_ood.percentile(0.99),
                max: m.nic_ood.spread().max,
            },
            rbo: Buffering {
                avg: rbo.avg,
                max: rbo.max,
                nic_max_kb: m.buffered_max as f64 / 1000.0,
            },
            queue_kb: Queues {
                max: f64::from(s.largest_queue()) / 1000.0,
                interpath_max: s
                    .recorder()
                    .watch_groups
                    .then(|| f64::from(s.recorder().interpath_max) / 1000.0),
            },
            jain: jain(&rates),
            utilisation: s.busiest_utilisation(first, end),
            retransmits: Retransmits {
                needed: counters.retransmissions.saturating_sub(m.spurious),
                spurious: m.spurious,
                delay_us: to_us(counters.retransmission_delay / counters.retransmissions.max(1)),
            },
            probes: counters.probes,
            drops: CAUSES.iter().copied().zip(m.drops).collect(),
            marks: m.marks,
            pauses: m.pauses,
            cost,
        }
    }
}

/// Rate of `bytes` in `time`.
pub fn gbps(bytes: u64, time: Ps) -> f64 {
    if time == 0 {
        return 0.0;
    }
    bytes as f64 * 8_000.0 / time as f64
}

impl Simulation {
    /// Most data bytes that waited in one switch port.
    pub fn largest_queue(&self) -> u32 {
        let ports = self.ports.iter().filter(|p| !p.is_host);
        ports.map(|p| p.longest_bytes).max().unwrap_or(0)
    }

    /// Data on the busiest host-facing port, of its rate.
    fn busiest_utilisation(&self, first: Ps, end: Ps) -> f64 {
        let specs = self.ports.iter().zip(&self.fabric.ports);
        let time = end.saturating_sub(first);
        if time == 0 {
            return 0.0;
        }
        specs
            .filter(|(p, _)| matches!(p.to, Node::Host(_)))
            .map(|(p, spec)| gbps(p.data_bytes, time) / spec.gbps)
            .fold(0.0, f64::max)
    }
}

/// Largest memory of this process so far, MB; 0 where the system does not say.
pub fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kb.unwrap_or(0.0) * 1024.0 / 1e6
}

/// Runs to the end of the scenario; `progress` gets simulated time and packets delivered every few
/// thousand events and returns false to stop. Whether it ran to the end.
pub fn run(s: &mut Simulation, end: Ps, progress: &mut dyn FnMut(Ps, u64) -> bool) -> bool {
    while s.run_until(end, 1 << 17) {
        if !progress(s.now(), s.metrics().packets) {
            return false;
        }
    }
    true
}
