//! Swift's window for each path, over paths chosen per packet: the ablation that takes Rondo's control
//! away and leaves the rest.
//!
//! Windows of a packet and more allow their whole packets. A smaller one allows one packet, and
//! closes the path after each for the rest of its gap, to the nearest half base RTT.

use super::multipath::{Controller, FlowSetup, Multipath, Selection};
use super::receiver::Tracked;
use super::{BadParameter, Receiver, Sender, Transport};
use crate::time::{Ps, NS};
use rondo_models::baseline::swift::{Parameters, Path};
use rondo_models::control::Decision;
use rondo_models::deficit::{MAX_PATHS, WINDOW_ONE};
use rondo_models::recovery::{Recovery, DEFAULT_THRESHOLD};
use serde::{Deserialize, Serialize};

/// Parameters of Swift a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SwiftConfig {
    /// Logical paths a flow, 1 to 16.
    pub paths: u8,
    /// Window in PSNs, a power of two of 128 to 2,048.
    pub window: u32,
    /// Path selection.
    pub selection: Selection,
    /// Target delay of a large window without hops, us.
    pub base_target_us: f64,
    /// Most that a small window adds to the target, us.
    pub max_scaling_us: f64,
    /// Added to the target for each forward hop, us.
    pub hop_us: f64,
    /// Forward hops of a path; without it as many as its base RTT has room for.
    pub hops: Option<u32>,
    /// Packets by which a window grows in a round trip.
    pub additive_packets: f64,
    /// Weight of the excess delay in a decrease.
    pub beta: f64,
    /// Largest share of a window that a decrease takes.
    pub max_decrease: f64,
    /// Lower bound of a path's window, packets.
    pub min_packets: f64,
    /// Upper bound of a path's window, packets.
    pub max_packets: f64,
    /// A flow's windows at the start, all together, packets.
    pub initial_packets: f64,
    /// Early recovery's threshold, PSNs.
    pub recovery_threshold: u16,
    /// The timeout, us.
    pub timeout_us: f64,
}

impl Default for SwiftConfig {
    fn default() -> Self {
        let p = Parameters::default();
        Self {
            paths: 4,
            window: 2048,
            selection: Selection::Random,
            base_target_us: p.base_target_ns / 1_000.0,
            max_scaling_us: p.max_scaling_ns / 1_000.0,
            hop_us: p.hop_ns / 1_000.0,
            hops: None,
            additive_packets: p.additive,
            beta: p.beta,
            max_decrease: p.max_decrease,
            min_packets: p.min_window,
            max_packets: p.max_window,
            initial_packets: 32.0,
            recovery_threshold: DEFAULT_THRESHOLD,
            timeout_us: p.min_rto_ns as f64 / 1_000.0,
        }
    }
}

impl SwiftConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`BadParameter`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        super::check_window(self.window)?;
        let delay = (0.0..=1e6, "0 to 1e6 us");
        let share = (0.0..=1.0, "0 to 1");
        let packets = (0.01..=1_000.0, "0.01 to 1000 packets");
        let rules = [
            (
                "paths",
                f64::from(self.paths),
                (1.0..=16.0, "1 to 16 paths"),
            ),
            ("base_target_us", self.base_target_us, delay.clone()),
            ("max_scaling_us", self.max_scaling_us, delay.clone()),
            ("hop_us", self.hop_us, delay),
            ("additive_packets", self.additive_packets, packets.clone()),
            ("beta", self.beta, share.clone()),
            ("max_decrease", self.max_decrease, share),
            ("min_packets", self.min_packets, packets.clone()),
            ("max_packets", self.max_packets, packets),
            (
                "initial_packets",
                self.initial_packets,
                (0.01..=16_000.0, "0.01 to 16000 packets"),
            ),
            ("timeout_us", self.timeout_us, (1.0..=1e6, "1 to 1e6 us")),
        ];
        for (key, value, (range, wanted)) in rules {
            if !range.contains(&value) {
                let value = value.to_string();
                return Err(BadParameter { key, value, wanted });
            }
        }
        Ok(())
    }

    /// Forward hops of a path: given, or half its base RTT in hops.
    fn hops_of(&self, rtt_ns: u32) -> u32 {
        let derived = || {
            if self.hop_us > 0.0 {
                (f64::from(rtt_ns) / 2_000.0 / self.hop_us).round() as u32
            } else {
                0
            }
        };
        self.hops.unwrap_or_else(derived)
    }

    fn parameters(&self, rtt_ns: u32) -> Parameters {
        Parameters {
            base_target_ns: self.base_target_us * 1_000.0,
            max_scaling_ns: self.max_scaling_us * 1_000.0,
            hop_ns: self.hop_us * 1_000.0,
            hops: self.hops_of(rtt_ns),
            additive: self.additive_packets,
            beta: self.beta,
            max_decrease: self.max_decrease,
            min_window: self.min_packets,
            max_window: self.max_packets,
            initial_window: self.initial_packets / f64::from(self.paths.max(1)),
            ..Parameters::default()
        }
    }
}

impl Transport for SwiftConfig {
    fn paths(&self) -> u8 {
        self.paths
    }

    fn open(&self, setup: &FlowSetup, _flows: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        let shortest = setup.rtt_ns.iter().copied().min().unwrap_or(1);
        let longest = setup.rtt_ns.iter().copied().max().unwrap_or(1);
        let control = Swift {
            paths: setup
                .rtt_ns
                .iter()
                .take(MAX_PATHS)
                .map(|&rtt| PathState {
                    swift: Path::new(&self.parameters(rtt)),
                    forward_ns: rtt / 2,
                    wait: 0,
                    last_loss: None,
                    losses: 0,
                })
                .collect(),
            interval_ns: u64::from(shortest / 2).max(100),
            timeout_ns: (self.timeout_us * 1_000.0) as u32,
        };
        let recovery = Recovery {
            threshold: self.recovery_threshold,
            ..Recovery::early(longest)
        };
        let psns = self.window as usize;
        let sender = Multipath::new(setup, control, self.selection, psns).with_recovery(recovery);
        (
            Box::new(sender),
            Box::new(Tracked::new(setup.first_psn, psns)),
        )
    }
}

struct PathState {
    swift: Path,
    /// Latest forward delay.
    forward_ns: u32,
    /// Updates until the path opens again.
    wait: u64,
    /// Losses in a row, a round trip apart and without an ACK between, and when the last was.
    losses: u32,
    last_loss: Option<Ps>,
}

impl PathState {
    /// What the window allows, UQ10.6 packets.
    #[inline]
    fn allowed(&self) -> u16 {
        if self.wait > 0 {
            return 0;
        }
        let one = u32::from(WINDOW_ONE);
        let window = self.swift.window_packets();
        let fixed = if window >= 1.0 {
            self.swift.allowed_in_flight().saturating_mul(one)
        } else {
            (window * f64::from(one)).round().max(1.0) as u32
        };
        fixed.min(u16::MAX.into()) as u16
    }

    /// Closes the path for what is left of its gap, `passed_ns` after the send.
    #[inline]
    fn hold(&mut self, passed_ns: u64, interval_ns: u64) {
        let left = self.swift.pacing_gap_ns().saturating_sub(passed_ns);
        self.wait = (left + interval_ns / 2) / interval_ns;
    }
}

/// Swift on every path of a flow.
pub struct Swift {
    paths: Vec<PathState>,
    interval_ns: u64,
    timeout_ns: u32,
}

impl Swift {
    fn decision(&self) -> Decision {
        let mut decision = Decision::default();
        for (window, path) in decision.windows.iter_mut().zip(&self.paths) {
            *window = path.allowed();
        }
        decision
    }
}

impl Controller for Swift {
    fn initial(&mut self) -> Decision {
        self.decision()
    }

    #[inline]
    fn sent(&mut self, _now: Ps, _path: usize) {}

    #[inline]
    fn acked(&mut self, now: Ps, path: usize, forward_ns: u32, rtt_ns: u32) -> Option<u16> {
        let p = &mut self.paths[path];
        p.swift.on_ack(rtt_ns.into(), rtt_ns.into(), now / NS);
        p.forward_ns = forward_ns;
        p.losses = 0;
        p.hold(rtt_ns.into(), self.interval_ns);
        Some(p.allowed())
    }

    fn lost(&mut self, now: Ps, path: usize) {
        let p = &mut self.paths[path];
        let round_trip = p.swift.smoothed_rtt_ns() * NS;
        if p.last_loss.is_some_and(|at| now - at < round_trip) {
            return;
        }
        p.last_loss = Some(now);
        p.losses = p.losses.saturating_add(1);
        p.swift.on_retransmit(p.losses, now / NS);
        p.hold(p.swift.smoothed_rtt_ns(), self.interval_ns);
    }

    fn probe_acked(&mut self, _path: usize) -> bool {
        false
    }

    fn update(&mut self, _now: Ps) -> Decision {
        for path in &mut self.paths {
            path.wait = path.wait.saturating_sub(1);
        }
        self.decision()
    }

    #[inline]
    fn forward_ns(&self, path: usize) -> u32 {
        self.paths[path].forward_ns
    }

    fn timeout_ns(&self, _path: usize) -> u32 {
        self.timeout_ns
    }

    fn interval(&self) -> Ps {
        self.interval_ns * NS
    }

    fn latency(&self) -> Ps {
        0
    }

    fn is_paced(&self) -> bool {
        false
    }
}
