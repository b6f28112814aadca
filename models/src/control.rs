//! The control of one flow: counters in, windows, skips, pace and probing out, every `T_u`
//! (paper §4.2, §4.3).
//!
//! What the datapath counts between two updates comes in by [`FlowControl::sent`],
//! [`FlowControl::acked`] and [`FlowControl::probe_acked`]; [`FlowControl::update`] decides. Firmware,
//! testbed and network simulator run this; no allocation, no clock.

use crate::arcc::{Interval, Parameters, Path, INITIAL_WINDOW};
use crate::deficit::MAX_PATHS;
use crate::pacing::pace;
use crate::probing::Probing;
use crate::skips::{stable_skips, DelayEstimate, PathDelay};

/// Intervals whose sent packets are remembered: a base RTT may span this many updates.
pub const RECENT_INTERVALS: usize = 8;

/// What a path is set up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSetup {
    /// ARCC's parameters.
    pub parameters: Parameters,
    /// Base RTT of the path, ns; not 0.
    pub base_rtt_ns: u32,
}

#[derive(Clone, Copy, Debug)]
struct PathState {
    parameters: Parameters,
    arcc: Path,
    /// `2^32 / T`, T in ns.
    inverse_rtt: u32,
    /// Updates that a base RTT spans, rounded up.
    rtt_updates: u8,
    in_flight: u16,
    sent: u16,
    acked: u16,
    probes: u16,
    samples: u16,
    forward_sum_ns: u32,
    first_forward_ns: u32,
    rtt_sum_ns: u32,
    rtt_ns: u32,
    delays: DelayEstimate,
    /// Packets sent in the latest intervals, the newest first.
    recent: [u16; RECENT_INTERVALS],
}

/// What an update decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Windows, UQ10.6 packets.
    pub windows: [u16; MAX_PATHS],
    /// Skips, PSNs.
    pub skips: [u16; MAX_PATHS],
    /// Pace of the flow, packets a 1,024 ns in UQ8.24.
    pub pace: u32,
    /// Opportunities without an open path send probes.
    pub probing: bool,
    /// A probe ACK lets one more data packet out at once: no update has taken this phase's probe
    /// ACKs in yet.
    pub granting: bool,
}

/// Control state of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowControl {
    paths: [PathState; MAX_PATHS],
    count: usize,
    interval_ns: u32,
    max_rtt_ns: u32,
    tolerance_ns: u32,
    scheduler: bool,
    probing: Option<Probing>,
    granting: bool,
    updates: u32,
}

impl FlowControl {
    /// For a flow over `paths` (1 to [`MAX_PATHS`]), updated every `interval_ns`. Delay estimates
    /// are stable within `tolerance_ns`. Without `scheduler` all skips stay 0, without `probing` no
    /// probe is sent.
    pub fn new(
        paths: &[PathSetup],
        interval_ns: u32,
        tolerance_ns: u32,
        scheduler: bool,
        probing: bool,
    ) -> Self {
        let state = |s: &PathSetup| PathState {
            parameters: s.parameters,
            arcc: Path::new(&s.parameters),
            inverse_rtt: ((1u64 << 32) / u64::from(s.base_rtt_ns.max(1))).min(u32::MAX.into())
                as u32,
            rtt_updates: s
                .base_rtt_ns
                .div_ceil(interval_ns.max(1))
                .clamp(1, RECENT_INTERVALS as u32) as u8,
            in_flight: 0,
            sent: 0,
            acked: 0,
            probes: 0,
            samples: 0,
            forward_sum_ns: 0,
            first_forward_ns: 0,
            rtt_sum_ns: 0,
            rtt_ns: s.base_rtt_ns,
            delays: DelayEstimate::default(),
            recent: [0; RECENT_INTERVALS],
        };
        let count = paths.len().min(MAX_PATHS);
        let mut states = [state(&paths[0]); MAX_PATHS];
        for (to, from) in states.iter_mut().zip(paths) {
            *to = state(from);
        }
        let max_rtt_ns = paths.iter().map(|p| p.base_rtt_ns).max().unwrap_or(0);
        Self {
            paths: states,
            count,
            interval_ns,
            max_rtt_ns,
            tolerance_ns,
            scheduler,
            probing: probing.then(|| Probing::at_start(max_rtt_ns)),
            granting: probing,
            updates: 0,
        }
    }

    /// What holds before the first update: `W0` a path.
    pub fn initial(&self) -> Decision {
        let mut d = Decision {
            probing: self.probing.is_some(),
            granting: self.granting,
            ..Decision::default()
        };
        for (w, p) in d.windows.iter_mut().zip(&self.paths[..self.count]) {
            *w = p.arcc.selector_window();
            d.pace = d.pace.saturating_add(pace(INITIAL_WINDOW, p.inverse_rtt));
        }
        d
    }

    /// Updates so far.
    pub fn updates(&self) -> u32 {
        self.updates
    }

    /// Data packets in flight on `path`.
    pub fn in_flight(&self, path: usize) -> u16 {
        self.paths[path].in_flight
    }

    /// The latest forward-delay estimate of `path`, ns, on the two hosts' clocks.
    pub fn forward_ns(&self, path: usize) -> u32 {
        self.paths[path].delays.forward_ns()
    }

    /// A data packet was sent on `path`.
    #[inline]
    pub fn sent(&mut self, path: usize) {
        let p = &mut self.paths[path];
        p.sent = p.sent.saturating_add(1);
        p.in_flight = p.in_flight.saturating_add(1);
    }

    /// A data packet on `path` was acknowledged for the first time, with its measured delays.
    #[inline]
    pub fn acked(&mut self, path: usize, forward_ns: u32, rtt_ns: u32) {
        let p = &mut self.paths[path];
        p.acked = p.acked.saturating_add(1);
        p.in_flight = p.in_flight.saturating_sub(1);
        if p.samples == 0 {
            p.first_forward_ns = forward_ns;
        }
        p.samples = p.samples.saturating_add(1);
        // Against the first sample, so that the sum cannot overflow whatever the clocks' offset.
        let change = forward_ns.wrapping_sub(p.first_forward_ns);
        p.forward_sum_ns = p.forward_sum_ns.wrapping_add(change);
        p.rtt_sum_ns = p.rtt_sum_ns.saturating_add(rtt_ns);
    }

    /// A data packet on `path` left the network unacknowledged: it was found lost.
    #[inline]
    pub fn lost(&mut self, path: usize) {
        let p = &mut self.paths[path];
        p.in_flight = p.in_flight.saturating_sub(1);
    }

    /// A probe on `path` was acknowledged; whether it lets one more data packet out at once.
    #[inline]
    pub fn probe_acked(&mut self, path: usize) -> bool {
        let p = &mut self.paths[path];
        p.probes = p.probes.saturating_add(1);
        self.granting
    }

    /// Every data packet sent a base RTT ago or earlier has been acknowledged: no path has more in
    /// flight than it sent in the latest base RTT. Exact while paths keep their packets in order.
    fn old_acknowledged(&self) -> bool {
        self.paths[..self.count].iter().all(|p| {
            let young: u16 = p.recent[..p.rtt_updates.into()].iter().sum();
            p.in_flight <= young
        })
    }

    /// The update of an interval.
    pub fn update(&mut self) -> Decision {
        self.updates = self.updates.wrapping_add(1);
        let mut d = Decision::default();
        let mut delays = [PathDelay::default(); MAX_PATHS];
        let mut estimates = [DelayEstimate::default(); MAX_PATHS];
        let mut probe_acks = false;
        for (i, p) in self.paths[..self.count].iter_mut().enumerate() {
            probe_acks |= p.probes > 0;
            p.update();
            d.windows[i] = p.arcc.selector_window();
            d.pace = d.pace.saturating_add(pace(p.arcc.window, p.inverse_rtt));
            estimates[i] = p.delays;
            delays[i] = PathDelay {
                window: p.arcc.window,
                rtt_ns: p.rtt_ns,
                forward_ns: p.delays.forward_ns(),
            };
        }
        if self.scheduler {
            stable_skips(
                &delays[..self.count],
                &estimates[..self.count],
                self.tolerance_ns,
                &mut d.skips,
            );
        }
        self.update_probing(probe_acks);
        d.probing = self.probing.is_some_and(|p| p.is_probing());
        d.granting = self.granting;
        d
    }

    fn update_probing(&mut self, probe_acks: bool) {
        let quiet = self.old_acknowledged();
        let Some(probing) = &mut self.probing else {
            return;
        };
        let before = probing.is_probing();
        probing.update(self.interval_ns, self.max_rtt_ns, quiet);
        if probe_acks {
            self.granting = false;
        } else if probing.is_probing() && !before {
            self.granting = true;
        }
    }
}

impl PathState {
    fn update(&mut self) {
        self.arcc.update(
            &self.parameters,
            &Interval {
                data_acks: self.acked,
                probe_acks: self.probes,
                in_flight: self.in_flight,
                sent: self.sent,
            },
        );
        if let Some(n) = core::num::NonZeroU32::new(self.samples.into()) {
            // One sample an interval: the mean over its ACKs.
            let change = self.forward_sum_ns as i32 / n.get() as i32;
            self.delays
                .push(self.first_forward_ns.wrapping_add(change as u32));
            self.rtt_ns = (self.rtt_sum_ns / n).max(1);
        }
        self.recent.rotate_right(1);
        self.recent[0] = self.sent;
        (self.sent, self.acked, self.probes, self.samples) = (0, 0, 0, 0);
        (self.forward_sum_ns, self.rtt_sum_ns) = (0, 0);
    }
}
