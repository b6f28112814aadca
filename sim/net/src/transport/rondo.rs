//! Rondo: ARCC, deficit selection, the packet scheduler and probing, all by the golden model.

use super::multipath::{Controller, FlowSetup, Multipath, Selection};
use super::receiver::Tracked;
use super::{BadParameter, Receiver, Sender, Transport};
use crate::time::{Ps, NS};
use rondo_models::arcc::Parameters;
use rondo_models::control::{Decision, FlowControl, PathSetup, SLACK_SHARE};
use rondo_models::fixed::ONE_PACKET;
use rondo_models::recovery::{Recovery, DEFAULT_THRESHOLD, TIMEOUT_RTTS};
use serde::{Deserialize, Serialize};

/// Who computes the updates, and how long that takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlTiming {
    /// Nobody: decisions hold at once.
    Ideal,
    /// A soft core at 250 MHz, 200 cycles a flow (paper Appendix D), one flow after the other.
    Core,
    /// A pipeline of one path a clock at 250 MHz.
    Engine,
}

/// Cycles of a soft core's update of a flow with four paths.
const CORE_CYCLES: u32 = 200;
/// Depth of an engine's pipeline, clocks.
const ENGINE_CLOCKS: u32 = 40;
/// A clock at 250 MHz.
const CLOCK: Ps = 4 * NS;

/// Rondo's parameters. Defaults are the golden model's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RondoConfig {
    /// Logical paths a flow, 1 to 16.
    pub paths: u8,
    /// Window in PSNs, a power of two of 128 to 2,048; the RTL has 128, 256 and 512.
    pub window: u32,
    /// Update interval `T_u` over the flow's base RTT.
    pub interval_rtts: f64,
    /// Target queueing delay over the network's largest base RTT.
    pub target_rtts: f64,
    /// Weight of the history in the ACK rate.
    pub alpha: f64,
    /// Weight of the new value in the window.
    pub gamma: f64,
    /// Cap of the margin `q0`, packets.
    pub margin_packets: f64,
    /// Dead band of the queue estimate, packets.
    pub dead_band_packets: f64,
    /// Share of `C` that the dead band may not exceed.
    pub dead_band_share: f64,
    /// A rate above the estimate counts at once while nothing queues at it.
    pub rise: bool,
    /// The packet scheduler.
    pub scheduler: bool,
    /// Capacity probing.
    pub probing: bool,
    /// Path selection.
    pub selection: Selection,
    /// Who computes the updates.
    pub control: ControlTiming,
    /// Forward delays are stable when the latest estimates lie this near to their mean, ns.
    pub delay_tolerance_ns: u32,
    /// Early recovery's threshold, PSNs.
    pub recovery_threshold: u16,
    /// The timeout, RTTs as measured.
    pub timeout_rtts: u32,
}

impl Default for RondoConfig {
    fn default() -> Self {
        let p = Parameters::paper(10_000, 5_000, 10_000);
        Self {
            paths: 4,
            window: 512,
            interval_rtts: 0.5,
            target_rtts: 0.04,
            alpha: f64::from(p.alpha) / 65_536.0,
            gamma: f64::from(p.gamma) / 65_536.0,
            margin_packets: packets(p.margin_cap),
            dead_band_packets: packets(p.dead_band),
            dead_band_share: f64::from(p.dead_band_share) / 65_536.0,
            rise: p.rise,
            scheduler: true,
            probing: true,
            selection: Selection::Deficit,
            control: ControlTiming::Core,
            delay_tolerance_ns: 1_000,
            recovery_threshold: DEFAULT_THRESHOLD,
            timeout_rtts: TIMEOUT_RTTS,
        }
    }
}

fn packets(fixed: u32) -> f64 {
    f64::from(fixed) / f64::from(ONE_PACKET)
}

fn fixed(value: f64, one: f64) -> u32 {
    (value * one).round().clamp(0.0, f64::from(u32::MAX)) as u32
}

impl RondoConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`BadParameter`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        super::check_window(self.window)?;
        let bad = |key, value: f64, wanted| {
            Err(BadParameter {
                key,
                value: value.to_string(),
                wanted,
            })
        };
        if !(1..=16).contains(&self.paths) {
            return bad("paths", self.paths.into(), "1 to 16 paths");
        }
        if !(self.interval_rtts > 0.0 && self.interval_rtts <= 4.0) {
            return bad(
                "interval_rtts",
                self.interval_rtts,
                "above 0, at most 4 RTTs",
            );
        }
        if !(0.0..=1.0).contains(&self.target_rtts) {
            return bad("target_rtts", self.target_rtts, "0 to 1 RTT");
        }
        if !(0.0..1.0).contains(&self.alpha) {
            return bad("alpha", self.alpha, "a weight from 0 to below 1");
        }
        if !(self.gamma > 0.0 && self.gamma <= 1.0) {
            return bad("gamma", self.gamma, "a weight above 0, at most 1");
        }
        if !(self.margin_packets > 0.0 && self.margin_packets <= 1_000.0) {
            return bad(
                "margin_packets",
                self.margin_packets,
                "above 0, at most 1000",
            );
        }
        if !(1..=1_000).contains(&self.timeout_rtts) {
            return bad("timeout_rtts", self.timeout_rtts.into(), "1 to 1000 RTTs");
        }
        if !(0.0..=16.0).contains(&self.dead_band_share) {
            return bad("dead_band_share", self.dead_band_share, "0 to 16");
        }
        if !(0.0..=1_000.0).contains(&self.dead_band_packets) {
            return bad("dead_band_packets", self.dead_band_packets, "0 to 1000");
        }
        Ok(())
    }

    /// Update interval of a flow whose largest base RTT is `rtt_ns`.
    fn interval_ns(&self, rtt_ns: u32) -> u32 {
        ((f64::from(rtt_ns) * self.interval_rtts).round() as u32).max(100)
    }

    /// ARCC's parameters for a path.
    fn parameters(&self, rtt_ns: u32, interval_ns: u32, max_rtt_ns: u32) -> Parameters {
        let base = Parameters::paper(rtt_ns, interval_ns, max_rtt_ns);
        let target = self.target_rtts * f64::from(max_rtt_ns) / f64::from(interval_ns);
        let cap = fixed(self.margin_packets, 65_536.0);
        Parameters {
            target_per_interval: fixed(target, f64::from(1 << 24)),
            alpha: fixed(self.alpha.powf(self.interval_rtts / 0.5), 65_536.0).min(65_536),
            gamma: fixed(
                1.0 - (1.0 - self.gamma).powf(self.interval_rtts / 0.5),
                65_536.0,
            )
            .min(65_536),
            margin_cap: cap,
            margin_step: fixed(
                self.margin_packets / 4.0 * self.interval_rtts / 0.5,
                65_536.0,
            )
            .min(cap),
            dead_band: fixed(self.dead_band_packets, 65_536.0),
            dead_band_share: fixed(self.dead_band_share, 65_536.0),
            rise: self.rise,
            ..base
        }
    }

    /// A flow's sender; `flows` of the host share its control processor.
    pub fn sender(&self, setup: &FlowSetup, flows: u32) -> Multipath<Arcc> {
        // T_u follows the shortest path, so that no path waits longer than it should.
        let shortest = setup.rtt_ns.iter().copied().min().unwrap_or(1);
        let interval_ns = self.interval_ns(shortest);
        let paths: Vec<PathSetup> = setup
            .rtt_ns
            .iter()
            .map(|&rtt| {
                let period = PathSetup::period(rtt, shortest);
                let own_ns = interval_ns * u32::from(period);
                PathSetup {
                    parameters: self.parameters(rtt, own_ns, setup.max_rtt_ns),
                    period,
                    base_rtt_ns: rtt,
                    slack_ns: setup.max_rtt_ns / SLACK_SHARE,
                }
            })
            .collect();
        let control = FlowControl::new(
            &paths,
            interval_ns,
            self.delay_tolerance_ns,
            self.scheduler,
            self.probing,
        );
        let latency = self.latency(flows, Ps::from(interval_ns) * NS);
        let arcc = Arcc {
            control,
            interval: Ps::from(interval_ns) * NS,
            latency,
            timeout_rtts: self.timeout_rtts,
        };
        let longest = setup.rtt_ns.iter().copied().max().unwrap_or(1);
        Multipath::new(setup, arcc, self.selection, self.window as usize).with_recovery(Recovery {
            threshold: self.recovery_threshold,
            ..Recovery::early(longest)
        })
    }

    /// From tick to decision when `flows` share the processor. A core that cannot keep up gives way
    /// to an engine, as `rondo budget` says.
    fn latency(&self, flows: u32, interval: Ps) -> Ps {
        let core = Ps::from(flows.max(1) * CORE_CYCLES * u32::from(self.paths).div_ceil(4)) * CLOCK;
        let engine = Ps::from(flows.max(1) * u32::from(self.paths) + ENGINE_CLOCKS) * CLOCK;
        match self.control {
            ControlTiming::Ideal => 0,
            ControlTiming::Core if core < interval => core,
            _ => engine.min(interval.saturating_sub(1)),
        }
    }
}

impl Transport for RondoConfig {
    fn paths(&self) -> u8 {
        self.paths
    }

    fn open(&self, setup: &FlowSetup, flows: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        (
            Box::new(self.sender(setup, flows)),
            Box::new(Tracked::new(setup.first_psn, self.window as usize)),
        )
    }
}

/// The golden model's control of a flow.
pub struct Arcc {
    control: FlowControl,
    interval: Ps,
    latency: Ps,
    timeout_rtts: u32,
}

impl Controller for Arcc {
    fn initial(&mut self) -> Decision {
        self.control.initial()
    }

    #[inline]
    fn sent(&mut self, now: Ps, path: usize) {
        self.control.sent(path, (now / NS) as u32);
    }

    #[inline]
    fn acked(&mut self, now: Ps, path: usize, forward_ns: u32, rtt_ns: u32) -> Option<u16> {
        let now_ns = (now / NS) as u32;
        self.control.acked(path, now_ns, forward_ns, rtt_ns);
        None
    }

    fn lost(&mut self, now: Ps, path: usize) {
        self.control.lost(path, (now / NS) as u32);
    }

    #[inline]
    fn probe_acked(&mut self, path: usize) -> bool {
        self.control.probe_acked(path)
    }

    fn update(&mut self, now: Ps) -> Decision {
        self.control.update((now / NS) as u32)
    }

    #[inline]
    fn forward_ns(&self, path: usize) -> u32 {
        self.control.forward_ns(path)
    }

    #[inline]
    fn timeout_ns(&self, path: usize) -> u32 {
        self.timeout_rtts.saturating_mul(self.control.rtt_ns(path))
    }

    fn interval(&self) -> Ps {
        self.interval
    }

    fn latency(&self) -> Ps {
        self.latency
    }

    fn is_paced(&self) -> bool {
        true
    }
}
