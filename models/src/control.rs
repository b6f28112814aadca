//! The control of one flow: counters in, windows, skips, pace and probing out, every `T_u`
//! (paper §4.2, §4.3).
//!
//! What the datapath counts between two updates comes in by [`FlowControl::sent`],
//! [`FlowControl::acked`] and [`FlowControl::probe_acked`]; [`FlowControl::update`] decides. Firmware,
//! testbed and network simulator run this; no allocation, no clock.

use crate::arcc::{Interval, Parameters, Path, INITIAL_WINDOW, MAX_SPAN};
use crate::deficit::{INITIAL_WINDOW as INITIAL_SELECTOR_WINDOW, MAX_PATHS};
use crate::pacing::pace;
use crate::probing::Probing;
use crate::skips::{stable_skips, DelayEstimate, PathDelay};

/// Intervals whose sent packets are remembered: a base RTT may span this many updates.
pub const RECENT_INTERVALS: usize = 8;

/// A queueing delay of the network's largest base RTT over this is none: half of the paper's target.
pub const SLACK_SHARE: u32 = 50;

/// A new window counts 1/8 in the one that skips are computed with.
const SKIP_SMOOTHING: u32 = 3;

/// What a path is set up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSetup {
    /// ARCC's parameters, for the path's own interval: `period` of the flow's.
    pub parameters: Parameters,
    /// The path is updated every so many of the flow's intervals, so that its loop is no faster than
    /// its RTT; not 0.
    pub period: u8,
    /// Base RTT of the path, ns; not 0.
    pub base_rtt_ns: u32,
    /// An RTT this much above the base RTT, ns, says that no queue stands.
    pub slack_ns: u32,
}

impl PathSetup {
    /// The paper's parameters (§6.2.1) for a path of base RTT `rtt_ns` in a flow that is updated
    /// every `interval_ns`, half of its shortest base RTT, in a network whose largest base RTT is
    /// `max_rtt_ns`.
    pub fn paper(rtt_ns: u32, interval_ns: u32, max_rtt_ns: u32) -> Self {
        let period = Self::period(rtt_ns, 2 * interval_ns);
        let own_ns = u32::from(period) * interval_ns;
        Self {
            parameters: Parameters::paper(rtt_ns, own_ns, max_rtt_ns),
            period,
            base_rtt_ns: rtt_ns,
            slack_ns: max_rtt_ns / SLACK_SHARE,
        }
    }

    /// Intervals of the flow between updates of a path of base RTT `rtt_ns`, the flow's shortest
    /// being `shortest_ns`: their ratio, rounded.
    pub fn period(rtt_ns: u32, shortest_ns: u32) -> u8 {
        let shortest_ns = shortest_ns.max(1);
        let ratio = (rtt_ns.saturating_add(shortest_ns / 2)) / shortest_ns;
        ratio.clamp(1, u8::MAX.into()) as u8
    }
}

#[derive(Clone, Copy, Debug)]
struct PathState {
    parameters: Parameters,
    arcc: Path,
    /// `2^32 / T`, T in ns.
    inverse_rtt: u32,
    period: u8,
    /// Intervals of the flow until the next update.
    wait: u8,
    /// Updates that a base RTT spans, rounded up.
    rtt_updates: u8,
    /// Probe ACKs let packets out at once: no update has taken this phase's probe ACKs in yet.
    granting: bool,
    base_rtt_ns: u32,
    slack_ns: u32,
    in_flight: u16,
    /// Integral of what is in flight since the last update, packets times ns, up to `area_ns`.
    area: u64,
    area_ns: u32,
    sent: u16,
    acked: u16,
    probes: u16,
    /// Packets that probe ACKs have let out before the first update.
    granted: u16,
    samples: u16,
    forward_sum_ns: u32,
    first_forward_ns: u32,
    rtt_sum_ns: u32,
    rtt_ns: u32,
    delays: DelayEstimate,
    /// The window that skips are computed with: smoothed, since a skip is a rate times a delay and
    /// both have to be steady.
    skip_window: u32,
    /// ACKs of the latest intervals, the newest first.
    acks: [u16; MAX_SPAN],
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
                .div_ceil(interval_ns.max(1) * u32::from(s.period.max(1)))
                .clamp(1, RECENT_INTERVALS as u32) as u8,
            period: s.period.max(1),
            wait: s.period.max(1),
            granting: probing,
            base_rtt_ns: s.base_rtt_ns,
            slack_ns: s.slack_ns,
            in_flight: 0,
            area: 0,
            area_ns: 0,
            sent: 0,
            acked: 0,
            probes: 0,
            granted: 0,
            samples: 0,
            forward_sum_ns: 0,
            first_forward_ns: 0,
            rtt_sum_ns: 0,
            rtt_ns: s.base_rtt_ns,
            delays: DelayEstimate::default(),
            skip_window: INITIAL_WINDOW,
            acks: [0; MAX_SPAN],
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
            updates: 0,
        }
    }

    /// What holds before the first update: `W0` a path.
    pub fn initial(&self) -> Decision {
        let mut d = Decision {
            probing: self.probing.is_some(),
            ..Decision::default()
        };
        for (w, p) in d.windows.iter_mut().zip(&self.paths[..self.count]) {
            *w = INITIAL_SELECTOR_WINDOW;
            d.pace = d.pace.saturating_add(pace(INITIAL_WINDOW, p.inverse_rtt));
        }
        d
    }

    /// Updates so far.
    pub fn updates(&self) -> u32 {
        self.updates
    }

    /// The latest forward-delay estimate of `path`, ns, on the two hosts' clocks.
    pub fn forward_ns(&self, path: usize) -> u32 {
        self.paths[path].delays.forward_ns()
    }

    /// The latest RTT of `path`, ns, never below its base RTT.
    pub fn rtt_ns(&self, path: usize) -> u32 {
        let p = &self.paths[path];
        p.rtt_ns.max(p.base_rtt_ns)
    }

    /// A data packet was sent on `path`.
    #[inline]
    pub fn sent(&mut self, path: usize, now_ns: u32) {
        let p = &mut self.paths[path];
        p.integrate(now_ns);
        p.sent = p.sent.saturating_add(1);
        p.in_flight = p.in_flight.saturating_add(1);
    }

    /// A data packet on `path` was acknowledged for the first time, with its measured delays.
    #[inline]
    pub fn acked(&mut self, path: usize, now_ns: u32, forward_ns: u32, rtt_ns: u32) {
        let p = &mut self.paths[path];
        p.integrate(now_ns);
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
    pub fn lost(&mut self, path: usize, now_ns: u32) {
        let p = &mut self.paths[path];
        p.integrate(now_ns);
        p.in_flight = p.in_flight.saturating_sub(1);
    }

    /// A probe on `path` was acknowledged; whether it lets one more data packet out at once.
    #[inline]
    pub fn probe_acked(&mut self, path: usize) -> bool {
        let p = &mut self.paths[path];
        p.probes = p.probes.saturating_add(1);
        p.granted += u16::from(p.granting);
        p.granting
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
    pub fn update(&mut self, now_ns: u32) -> Decision {
        self.updates = self.updates.wrapping_add(1);
        let mut d = Decision::default();
        let mut delays = [PathDelay::default(); MAX_PATHS];
        let mut estimates = [DelayEstimate::default(); MAX_PATHS];
        for (i, p) in self.paths[..self.count].iter_mut().enumerate() {
            p.wait -= 1;
            if p.wait == 0 {
                p.wait = p.period;
                p.update(now_ns);
            }
            d.windows[i] = p.arcc.selector_window();
            if p.arcc.fresh {
                // No update has taken probe ACKs in yet: what they let out stays out.
                let granted = p.granted.saturating_mul(crate::deficit::WINDOW_ONE);
                d.windows[i] = d.windows[i].saturating_add(granted);
            }
            d.pace = d.pace.saturating_add(pace(p.arcc.window, p.inverse_rtt));
            estimates[i] = p.delays;
            delays[i] = PathDelay {
                window: p.skip_window,
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
        self.update_probing();
        d.probing = self.probing.is_some_and(|p| p.is_probing());
        d
    }

    fn update_probing(&mut self) {
        let quiet = self.old_acknowledged();
        let Some(probing) = &mut self.probing else {
            return;
        };
        let before = probing.is_probing();
        probing.update(self.interval_ns, self.max_rtt_ns, quiet);
        if probing.is_probing() && !before {
            for p in &mut self.paths[..self.count] {
                p.granting = true;
            }
        }
    }
}

impl PathState {
    /// Mean RTT of the interval within the slack of the base RTT.
    fn is_unqueued(&self) -> bool {
        let limit = self.base_rtt_ns.saturating_add(self.slack_ns);
        self.samples > 0 && u64::from(self.rtt_sum_ns) <= u64::from(limit) * u64::from(self.samples)
    }

    /// ACKs an interval over half an RTT.
    fn sustained(&self) -> u32 {
        let span = self.parameters.span.clamp(1, MAX_SPAN as u8);
        let sum: u32 = self.acks[..span.into()].iter().map(|&n| u32::from(n)).sum();
        (sum << 16) / u32::from(span)
    }

    #[inline]
    fn integrate(&mut self, now_ns: u32) {
        let passed = now_ns.wrapping_sub(self.area_ns);
        self.area_ns = now_ns;
        self.area += u64::from(self.in_flight) * u64::from(passed);
    }

    fn update(&mut self, now_ns: u32) {
        self.integrate(now_ns);
        let mean = (self.area * u64::from(self.parameters.inverse_interval)) >> 16;
        let mean = u32::try_from(mean).unwrap_or(u32::MAX);
        self.area = 0;
        if let Some(n) = core::num::NonZeroU32::new(self.samples.into()) {
            // One sample an interval: the mean over its ACKs.
            let change = self.forward_sum_ns as i32 / n.get() as i32;
            self.delays
                .push(self.first_forward_ns.wrapping_add(change as u32));
            self.rtt_ns = (self.rtt_sum_ns / n).max(1);
        }
        self.acks.rotate_right(1);
        self.acks[0] = self.acked.saturating_add(self.probes);
        self.arcc.update(
            &self.parameters,
            &Interval {
                data_acks: self.acked,
                probe_acks: self.probes,
                in_flight: self.in_flight,
                sent: self.sent,
                unqueued: self.is_unqueued(),
                mean_in_flight: mean,
                sustained: self.sustained(),
            },
        );
        // A fresh path has not taken them in: it waits for a whole interval of ACKs.
        if self.probes > 0 && !self.arcc.fresh {
            self.granting = false;
            self.granted = 0;
        }
        // A window that is not filled says less than what is in flight.
        let filled = self.arcc.window.min(mean);
        let change = filled.wrapping_sub(self.skip_window) as i32;
        self.skip_window = self
            .skip_window
            .wrapping_add((change >> SKIP_SMOOTHING) as u32);
        self.recent.rotate_right(1);
        self.recent[0] = self.sent;
        (self.sent, self.acked, self.probes, self.samples) = (0, 0, 0, 0);
        (self.forward_sum_ns, self.rtt_sum_ns) = (0, 0);
    }
}
