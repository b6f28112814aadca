//! Scenario files.

use rondo_models::reorder::{Buffer, BEAT_BYTES};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A path between the two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Rate of the bottleneck link in Gbps.
    pub gbps: f64,
    /// Delay added to the base one-way delay, in microseconds.
    #[serde(default)]
    pub extra_delay_us: f64,
}

/// A closed-loop run between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name, used for the output folder.
    pub name: String,
    /// Length of the run in milliseconds of network time.
    pub duration_ms: f64,
    /// Start of the measured part.
    #[serde(default)]
    pub measure_from_ms: f64,
    /// Base round-trip time of an unloaded path without extra delay, in microseconds.
    pub base_rtt_us: f64,
    /// Bytes of a packet on the wire, headers included.
    pub packet_bytes: usize,
    /// Header bytes of a packet.
    pub header_bytes: usize,
    /// Rate of the hosts' links in Gbps.
    pub host_gbps: f64,
    /// Tail-drop limit of a path's queue in KiB.
    pub queue_limit_kib: usize,
    /// Window in PSNs: 128, 256 or 512.
    pub window: usize,
    /// First PSN of the flow.
    #[serde(default)]
    pub first_psn: u32,
    /// Slots that may be in use in the reorder buffer before only the next packet gets in.
    #[serde(default = "all_slots")]
    pub reorder_slots: u32,
    /// How far forward-delay samples may lie from their mean and still count as stable, in ns.
    #[serde(default = "paper_tolerance")]
    pub delay_tolerance_ns: u32,
    /// Paths: 2, 4, 8 or 16.
    pub paths: Vec<PathConfig>,
}

fn all_slots() -> u32 {
    253
}

fn paper_tolerance() -> u32 {
    1_000
}

/// What is wrong with a scenario file.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// File.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// It is no valid TOML, or has a key that is unknown, missing or of a wrong type.
    #[error("{path}: {message}")]
    Syntax {
        /// File.
        path: PathBuf,
        /// Parser's message, with line and key.
        message: String,
    },
    /// A value that makes no sense.
    #[error("{path}: `{key}` is {value}, but must be {wanted}")]
    Value {
        /// File.
        path: PathBuf,
        /// Key.
        key: String,
        /// Value given.
        value: String,
        /// What is possible.
        wanted: &'static str,
    },
}

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// [`ScenarioError`] names the file, the key and the mend.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::File {
            path: path.to_owned(),
            source,
        })?;
        let s: Scenario = toml::from_str(&text).map_err(|e| ScenarioError::Syntax {
            path: path.to_owned(),
            message: e.to_string().trim_end().to_owned(),
        })?;
        s.check(path)?;
        Ok(s)
    }

    fn check(&self, path: &Path) -> Result<(), ScenarioError> {
        let bad = |key: &str, value: String, wanted| {
            Err(ScenarioError::Value {
                path: path.to_owned(),
                key: key.to_owned(),
                value,
                wanted,
            })
        };
        let rate = |v: f64| v.is_finite() && (0.1..=1000.0).contains(&v);
        if self.name.is_empty()
            || !self
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        {
            return bad(
                "name",
                format!("{:?}", self.name),
                "letters, digits, - and _",
            );
        }
        if !(self.duration_ms > 0.0 && self.duration_ms <= 10_000.0) {
            return bad(
                "duration_ms",
                self.duration_ms.to_string(),
                "above 0 and at most 10000",
            );
        }
        if !(self.measure_from_ms >= 0.0 && self.measure_from_ms < self.duration_ms) {
            return bad(
                "measure_from_ms",
                self.measure_from_ms.to_string(),
                "at least 0 and below duration_ms",
            );
        }
        if !(self.base_rtt_us >= 2.0 && self.base_rtt_us <= 1000.0) {
            return bad(
                "base_rtt_us",
                self.base_rtt_us.to_string(),
                "between 2 and 1000",
            );
        }
        if self.header_bytes >= self.packet_bytes {
            return bad(
                "header_bytes",
                self.header_bytes.to_string(),
                "less than packet_bytes",
            );
        }
        if !(64..=Buffer::DEFAULT.slot_bytes + self.header_bytes).contains(&self.packet_bytes) {
            return bad(
                "packet_bytes",
                self.packet_bytes.to_string(),
                "at least 64, with a payload of at most 4096 bytes (a slot of the reorder buffer)",
            );
        }
        if !rate(self.host_gbps) {
            return bad(
                "host_gbps",
                self.host_gbps.to_string(),
                "between 0.1 and 1000",
            );
        }
        if self.queue_limit_kib == 0 {
            return bad("queue_limit_kib", "0".into(), "at least 1");
        }
        if ![128, 256, 512].contains(&self.window) {
            return bad("window", self.window.to_string(), "128, 256 or 512 PSNs");
        }
        if self.first_psn >= 1 << 24 {
            return bad(
                "first_psn",
                self.first_psn.to_string(),
                "below 16777216 (24 bits)",
            );
        }
        if !(1..=253).contains(&self.reorder_slots) {
            return bad(
                "reorder_slots",
                self.reorder_slots.to_string(),
                "between 1 and 253",
            );
        }
        if ![2, 4, 8, 16].contains(&self.paths.len()) {
            return bad(
                "paths",
                format!("a list of {}", self.paths.len()),
                "a list of 2, 4, 8 or 16 (the shapes that can be generated)",
            );
        }
        for (i, p) in self.paths.iter().enumerate() {
            if !rate(p.gbps) {
                return bad(
                    &format!("paths[{i}].gbps"),
                    p.gbps.to_string(),
                    "between 0.1 and 1000",
                );
            }
            if !(p.extra_delay_us >= 0.0 && p.extra_delay_us <= 1000.0) {
                return bad(
                    &format!("paths[{i}].extra_delay_us"),
                    p.extra_delay_us.to_string(),
                    "between 0 and 1000",
                );
            }
        }
        Ok(())
    }

    /// Base RTT of path `p` in ns.
    pub fn rtt_ns(&self, p: usize) -> u32 {
        ((self.base_rtt_us + self.paths[p].extra_delay_us) * 1000.0).round() as u32
    }

    /// Largest base RTT of all paths in ns.
    pub fn max_rtt_ns(&self) -> u32 {
        (0..self.paths.len())
            .map(|p| self.rtt_ns(p))
            .max()
            .unwrap_or(0)
    }

    /// Update interval `T_u`: half the base RTT.
    pub fn interval_ns(&self) -> u32 {
        (self.base_rtt_us * 500.0).round() as u32
    }

    /// Sum of the paths' rates.
    pub fn capacity_gbps(&self) -> f64 {
        self.paths.iter().map(|p| p.gbps).sum()
    }

    /// Payload bytes of a packet.
    pub fn payload_bytes(&self) -> usize {
        self.packet_bytes - self.header_bytes
    }

    /// Beats of a packet's payload.
    pub fn payload_beats(&self) -> usize {
        self.payload_bytes().div_ceil(BEAT_BYTES)
    }
}
