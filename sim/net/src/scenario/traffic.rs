//! Traffic: what a scenario's `[[traffic]]` tables can be.

use super::start_at;
use crate::time::{from_us, Ps};
use crate::transport::{BadParameter, TransportConfig};
use crate::workload::cdf::SizeCdf;
use crate::workload::collective::{self, Collective};
use crate::workload::matrix::ConnectionMatrix;
use crate::workload::trace::{self, ProcessGroups, RankTrace, ReplayOptions, Stage};
use crate::workload::{generate, FlowSpec, Workload, WorkloadError};
use rand::rngs::SmallRng;
use rand::SeedableRng;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Payload of a flow that runs until the end, or until it is stopped.
const LONG: u64 = 1 << 44;

/// One table of traffic. `kind` says which of the other keys count.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct Traffic {
    /// Pattern.
    pub pattern: Pattern,
    /// Transport of these flows, if not the scenario's.
    pub transport: Option<TransportConfig>,
    /// From then on they have nothing new to send, us.
    pub stop_us: Option<f64>,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Ring, twice around.
    AllReduce,
    /// Ring.
    ReduceScatter,
    /// Ring.
    AllGather,
    /// All pairs at once.
    AllToAll,
}

/// Patterns. Sizes are payload bytes; times microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// Given pairs of hosts; without `bytes` the flows do not end by themselves.
    Pairs {
        /// `[sender, receiver]` each.
        pairs: Vec<[u32; 2]>,
        /// Size.
        bytes: Option<u64>,
        /// Start of the first.
        #[serde(default)]
        start_us: f64,
        /// Start of each further one after the one before.
        #[serde(default)]
        stagger_us: f64,
    },
    /// Many to one; without `senders` all other hosts.
    Incast {
        /// Number of senders: the first hosts but the receiver.
        senders: Option<u32>,
        /// Receiver.
        receiver: u32,
        /// Size.
        bytes: Option<u64>,
        /// Start.
        #[serde(default)]
        start_us: f64,
    },
    /// Each host sends to one and receives from one.
    Permutation {
        /// Size.
        bytes: Option<u64>,
        /// Start.
        #[serde(default)]
        start_us: f64,
    },
    /// Pairs drawn at random.
    Random {
        /// Number of flows.
        flows: u32,
        /// Size.
        bytes: u64,
        /// Start.
        #[serde(default)]
        start_us: f64,
    },
    /// Every host to every other.
    AllToAll {
        /// Size of each flow.
        bytes: u64,
        /// The first so many hosts; all by default.
        hosts: Option<u32>,
        /// Start.
        #[serde(default)]
        start_us: f64,
    },
    /// Every host to several others at once, as a mixture-of-experts layer does.
    FanOut {
        /// Receivers of each.
        receivers: u32,
        /// Size of each flow.
        bytes: u64,
        /// Start.
        #[serde(default)]
        start_us: f64,
    },
    /// Bursts with exponential gaps between their starts.
    OnOff {
        /// `[sender, receiver]` each.
        pairs: Vec<[u32; 2]>,
        /// Size of a burst.
        bytes: u64,
        /// Mean gap.
        gap_us: f64,
        /// No burst starts later; the end of the run by default.
        until_us: Option<f64>,
    },
    /// Poisson arrivals with sizes of a table.
    Sizes {
        /// Name of a built-in table, or a file.
        table: String,
        /// Share of the hosts' rate.
        load: f64,
        /// No flow starts later; the end of the run by default.
        until_us: Option<f64>,
    },
    /// A connection matrix of htsim (`.cm`).
    Matrix {
        /// File, relative to the scenario.
        file: PathBuf,
    },
    /// A collective among the first hosts.
    Collective {
        /// Operation.
        operation: Operation,
        /// Hosts that take part.
        ranks: u32,
        /// Bytes of the whole vector.
        bytes: u64,
        /// Start.
        #[serde(default)]
        start_us: f64,
    },
    /// A training trace: one rank's file for each pipeline stage, and the process groups.
    Trace {
        /// A rank's trace, one a stage.
        files: Vec<PathBuf>,
        /// First rank of each stage.
        ranks: Vec<u32>,
        /// Ranks of a stage.
        stage_ranks: u32,
        /// Process groups (JSON).
        groups: PathBuf,
        /// Micro-batches kept.
        micro_batches: Option<u32>,
        /// Sizes are divided by this.
        shrink: Option<u64>,
    },
}

impl Pattern {
    /// Its times and their keys.
    fn times(&self) -> [(&'static str, Option<f64>); 2] {
        let none = ("", None);
        let start = |us: &f64| ("start_us", Some(*us));
        match self {
            Self::Pairs {
                start_us,
                stagger_us,
                ..
            } => [start(start_us), ("stagger_us", Some(*stagger_us))],
            Self::Incast { start_us, .. }
            | Self::Permutation { start_us, .. }
            | Self::Random { start_us, .. }
            | Self::AllToAll { start_us, .. }
            | Self::FanOut { start_us, .. }
            | Self::Collective { start_us, .. } => [start(start_us), none],
            Self::OnOff {
                gap_us, until_us, ..
            } => [("gap_us", Some(*gap_us)), ("until_us", *until_us)],
            Self::Sizes { until_us, .. } => [("until_us", *until_us), none],
            Self::Matrix { .. } | Self::Trace { .. } => [none, none],
        }
    }

    /// Size of its flows, if it gives one.
    fn bytes(&self) -> Option<u64> {
        match self {
            Self::Pairs { bytes, .. }
            | Self::Incast { bytes, .. }
            | Self::Permutation { bytes, .. } => *bytes,
            Self::Random { bytes, .. }
            | Self::AllToAll { bytes, .. }
            | Self::FanOut { bytes, .. }
            | Self::OnOff { bytes, .. }
            | Self::Collective { bytes, .. } => Some(*bytes),
            Self::Sizes { .. } | Self::Matrix { .. } | Self::Trace { .. } => None,
        }
    }
}

impl TryFrom<toml::Table> for Traffic {
    type Error = toml::de::Error;

    /// The keys that every pattern may have, and the pattern's own.
    fn try_from(mut table: toml::Table) -> Result<Self, Self::Error> {
        let transport = table.remove("transport").map(toml::Value::try_into);
        let stop_us = table.remove("stop_us").map(toml::Value::try_into);
        Ok(Self {
            transport: transport.transpose()?,
            stop_us: stop_us.transpose()?,
            pattern: toml::Value::Table(table).try_into()?,
        })
    }
}

impl Traffic {
    /// The flows of `pattern` by the scenario's transport.
    pub fn of(pattern: Pattern) -> Self {
        Self {
            pattern,
            transport: None,
            stop_us: None,
        }
    }

    /// The flows, on `hosts` hosts with links of `gbps`, in a run that ends at `end`.
    ///
    /// # Errors
    /// [`WorkloadError`] says what of it makes no sense.
    pub fn workload(
        &self,
        hosts: u32,
        gbps: f64,
        end: Ps,
        folder: &Path,
        seed: u64,
    ) -> Result<Workload, WorkloadError> {
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x666c_6f77);
        let all: Vec<u32> = (0..hosts).collect();
        let until = |us: &Option<f64>| us.map_or(end, from_us);
        match &self.pattern {
            Pattern::Pairs {
                pairs,
                bytes,
                start_us,
                stagger_us,
            } => {
                let flow = |(i, pair): (usize, &[u32; 2])| FlowSpec {
                    src: pair[0],
                    dst: pair[1],
                    bytes: bytes.unwrap_or(LONG),
                    start: start_at(start_us + i as f64 * stagger_us),
                    done: None,
                    group: 0,
                };
                Ok(Workload::of_flows(
                    pairs.iter().enumerate().map(flow).collect(),
                ))
            }
            Pattern::Incast {
                senders,
                receiver,
                bytes,
                start_us,
            } => {
                let others: Vec<u32> = all.into_iter().filter(|h| h != receiver).collect();
                let count = senders.map_or(others.len(), |n| n as usize);
                let Some(from) = others.get(..count) else {
                    return Err(WorkloadError::argument(
                        "incast",
                        format!("{count} senders, but there are {} hosts", hosts),
                    ));
                };
                generate::incast(from, *receiver, bytes.unwrap_or(LONG), start_at(*start_us))
            }
            Pattern::Permutation { bytes, start_us } => {
                let start = start_at(*start_us);
                generate::permutation(&all, bytes.unwrap_or(LONG), start, &mut rng)
            }
            Pattern::Random {
                flows,
                bytes,
                start_us,
            } => {
                let start = start_at(*start_us);
                generate::random_pairs(*flows as usize, &all, *bytes, start, &mut rng)
            }
            Pattern::AllToAll {
                bytes,
                hosts: some,
                start_us,
            } => {
                let count = some.map_or(all.len(), |n| n as usize).min(all.len());
                generate::all_to_all(&all[..count], *bytes, start_at(*start_us))
            }
            Pattern::FanOut {
                receivers,
                bytes,
                start_us,
            } => {
                let start = start_at(*start_us);
                generate::fan_out(&all, *receivers as usize, *bytes, start, &mut rng)
            }
            Pattern::OnOff {
                pairs,
                bytes,
                gap_us,
                until_us,
            } => {
                let pairs: Vec<(u32, u32)> = pairs.iter().map(|p| (p[0], p[1])).collect();
                let gap = generate::Gap::Exponential(from_us(*gap_us));
                generate::on_off(&pairs, *bytes, gap, until(until_us), &mut rng)
            }
            Pattern::Sizes {
                table,
                load,
                until_us,
            } => {
                let cdf = if SizeCdf::names().any(|n| n == table) {
                    SizeCdf::built_in(table)?
                } else {
                    SizeCdf::load(&folder.join(table))?
                };
                generate::poisson(&all, &cdf, *load, gbps, until(until_us), &mut rng)
            }
            Pattern::Matrix { file } => {
                let path = folder.join(file);
                let matrix = ConnectionMatrix::load(&path)?;
                matrix.validate(&path.display().to_string(), hosts)?;
                Ok(matrix.workload)
            }
            Pattern::Collective {
                operation,
                ranks,
                bytes,
                start_us,
            } => collective(*operation, &all, *ranks, *bytes, *start_us),
            Pattern::Trace { .. } => self.trace(&all, folder),
        }
    }

    /// Checks what needs neither topology nor files.
    ///
    /// # Errors
    /// [`BadParameter`] names the first key that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        let bad = |key, value: String, wanted| Err(BadParameter { key, value, wanted });
        let times = self.pattern.times();
        let named = times.into_iter().chain([("stop_us", self.stop_us)]);
        for (key, us) in named.filter_map(|(key, us)| Some((key, us?))) {
            if !(0.0..=1e9).contains(&us) {
                return bad(key, us.to_string(), "0 to 1e9 us");
            }
        }
        if self.pattern.bytes() == Some(0) {
            return bad("bytes", "0".into(), "1 or more bytes");
        }
        match &self.pattern {
            Pattern::OnOff { gap_us, .. } if from_us(*gap_us) == 0 => {
                bad("gap_us", gap_us.to_string(), "1e-6 to 1e9 us")
            }
            Pattern::Trace { files, .. } if files.is_empty() => {
                bad("files", "empty".into(), "one file or more")
            }
            Pattern::Trace { files, ranks, .. } if files.len() != ranks.len() => bad(
                "ranks",
                format!("{} ranks for {} files", ranks.len(), files.len()),
                "one first rank for each of `files`",
            ),
            Pattern::Trace { stage_ranks, .. } if !(1..=65_536).contains(stage_ranks) => {
                bad("stage_ranks", stage_ranks.to_string(), "1 to 65536 ranks")
            }
            Pattern::Trace {
                shrink: Some(0), ..
            } => bad("shrink", "0".into(), "1 or more"),
            _ => Ok(()),
        }
    }

    /// The key that `error` of [`Traffic::workload`] is about, after [`Traffic::check`]; `folder` as
    /// there.
    pub(crate) fn key_of(&self, error: &WorkloadError, folder: &Path) -> &'static str {
        let is_argument = matches!(error, WorkloadError::Argument { .. });
        match &self.pattern {
            Pattern::Pairs { .. } | Pattern::OnOff { .. } => "pairs",
            Pattern::Incast { .. } if is_argument => "senders",
            Pattern::Incast { .. } => "receiver",
            Pattern::Permutation { .. } | Pattern::Random { .. } => "kind",
            Pattern::AllToAll { .. } => "hosts",
            Pattern::FanOut { .. } => "receivers",
            Pattern::Sizes { .. } if is_argument => "load",
            Pattern::Sizes { .. } => "table",
            Pattern::Matrix { .. } => "file",
            Pattern::Collective { .. } => "ranks",
            Pattern::Trace { .. } if is_argument => "stage_ranks",
            Pattern::Trace { groups, .. } => match error {
                WorkloadError::Read { path, .. } | WorkloadError::Trace { path, .. }
                    if *path == folder.join(groups).display().to_string() =>
                {
                    "groups"
                }
                _ => "files",
            },
        }
    }

    fn trace(&self, hosts: &[u32], folder: &Path) -> Result<Workload, WorkloadError> {
        let Pattern::Trace {
            files,
            ranks,
            stage_ranks,
            groups,
            micro_batches,
            shrink,
        } = &self.pattern
        else {
            return Ok(Workload::default());
        };
        let groups = ProcessGroups::load(&folder.join(groups))?;
        let mut traces = Vec::new();
        for (file, &rank) in files.iter().zip(ranks) {
            let mut t = RankTrace::load(&folder.join(file), rank)?;
            if let Some(n) = micro_batches {
                t.keep_micro_batches(*n);
            }
            traces.push(t);
        }
        let members: Vec<Vec<u32>> = ranks
            .iter()
            .map(|&r| (r..r.saturating_add(*stage_ranks)).collect())
            .collect();
        let stages: Vec<Stage> = traces
            .iter()
            .zip(&members)
            .map(|(trace, ranks)| Stage { trace, ranks })
            .collect();
        let needed = stages.iter().map(|s| s.ranks.len()).sum::<usize>();
        let options = ReplayOptions {
            shrink: shrink.unwrap_or(1),
            ..ReplayOptions::default()
        };
        let Some(placed) = hosts.get(..needed) else {
            return Err(WorkloadError::argument(
                "trace",
                format!(
                    "{needed} ranks need as many hosts; there are {}",
                    hosts.len()
                ),
            ));
        };
        trace::replay(&stages, &groups, placed, &options)
    }
}

fn collective(
    operation: Operation,
    hosts: &[u32],
    ranks: u32,
    bytes: u64,
    start_us: f64,
) -> Result<Workload, WorkloadError> {
    let Some(members) = hosts.get(..ranks as usize) else {
        return Err(WorkloadError::argument(
            "collective",
            format!("{ranks} ranks, but there are {} hosts", hosts.len()),
        ));
    };
    let mut w = Workload::default();
    let c = Collective {
        hosts: members,
        bytes,
        start: start_at(start_us),
        group: 0,
    };
    match operation {
        Operation::AllReduce => collective::ring_all_reduce(&mut w, &c)?,
        Operation::ReduceScatter => collective::ring_reduce_scatter(&mut w, &c)?,
        Operation::AllGather => collective::ring_all_gather(&mut w, &c)?,
        Operation::AllToAll => collective::direct_all_to_all(&mut w, &c)?,
    };
    Ok(w)
}
