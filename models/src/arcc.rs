//! ACK-rate congestion control (paper §4.2.1), one update of one path, bit-exact.
//!
//! A pure function of counters: no division, no clock. Rates are packets an update interval in
//! UQ16.16, so that `C = r T` is one multiplication by `T / T_u`.
//!
//! What the paper leaves open is decided here, with the measurements in `docs/parameters.md`:
//! `alpha` weighs the history; `T` is the path's own; what is in flight is the interval's mean; the
//! estimated queue is large above `q0` and the target; a dead band of about a packet keeps the packet
//! granularity of the estimate from being read as a queue; and while no queue stands, what is in
//! flight is what the path carries.

use crate::fixed::{reciprocal, Packets, ONE_PACKET};

/// Parameters of a path; all precomputed when the flow is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// `T / T_u`, UQ8.24.
    pub rtt_per_interval: u32,
    /// `T_u / T`, UQ8.24.
    pub interval_per_rtt: u32,
    /// `tau_q / T_u`, UQ8.24.
    pub target_per_interval: u32,
    /// Weight of the history in the ACK rate, UQ0.16.
    pub alpha: u32,
    /// Weight of the new value in the window, UQ0.16.
    pub gamma: u32,
    /// Cap of the margin, UQ16.16 packets.
    pub margin_cap: Packets,
    /// Additive step of the margin: a quarter of the cap.
    pub margin_step: Packets,
    /// The margin never falls below this.
    pub margin_floor: Packets,
    /// Queue estimates up to this are noise: one packet.
    pub dead_band: Packets,
    /// Fraction of `C` that the dead band may not exceed, UQ16.16; 65,535 is all of it.
    pub dead_band_share: u32,
    /// A rate above the estimate counts at once while no queue stands.
    pub rise: bool,
    /// `2^32 / T_u`, `T_u` in ns.
    pub inverse_interval: u32,
    /// Intervals that make half a base RTT, rounded up, at most [`MAX_SPAN`]: the rate of probe ACKs
    /// is taken over as many.
    pub span: u8,
}

/// Largest [`Parameters::span`].
pub const MAX_SPAN: usize = 4;

impl Parameters {
    /// The paper's parameters (§6.2.1) for a path of base RTT `rtt_ns`, updates every
    /// `interval_ns` and the largest base RTT of the network `max_rtt_ns`.
    pub fn paper(rtt_ns: u32, interval_ns: u32, max_rtt_ns: u32) -> Self {
        let per_interval = |ns: u64| ((ns << 24) / u64::from(interval_ns)) as u32;
        Self {
            rtt_per_interval: per_interval(rtt_ns.into()),
            interval_per_rtt: ((u64::from(interval_ns) << 24) / u64::from(rtt_ns)) as u32,
            // 0.04 of the largest base RTT.
            target_per_interval: ((u64::from(max_rtt_ns) << 24) / 25 / u64::from(interval_ns))
                as u32,
            alpha: 52_429,
            gamma: 32_768,
            margin_cap: 3 * ONE_PACKET,
            margin_step: 3 * ONE_PACKET / 4,
            margin_floor: ONE_PACKET / 16,
            dead_band: ONE_PACKET,
            dead_band_share: 65_535,
            rise: true,
            inverse_interval: ((1u64 << 32) / u64::from(interval_ns)) as u32,
            span: rtt_ns.div_ceil(2 * interval_ns).clamp(1, MAX_SPAN as u32) as u8,
        }
    }
}

/// What happened on the path since the last update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Data packets acknowledged.
    pub data_acks: u16,
    /// Probes acknowledged.
    pub probe_acks: u16,
    /// Data packets in flight now.
    pub in_flight: u16,
    /// Data packets sent.
    pub sent: u16,
    /// Packets were acknowledged, and their mean RTT was hardly more than the base RTT: no queue
    /// stands on the path.
    pub unqueued: bool,
    /// Data packets in flight, mean over the interval.
    pub mean_in_flight: Packets,
    /// ACKs an interval, mean over the latest [`Parameters::span`] intervals.
    pub sustained: Packets,
}

/// What the firmware keeps of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// ACK rate, packets an interval, UQ16.16.
    pub rate: Packets,
    /// Margin, UQ16.16 packets.
    pub margin: Packets,
    /// Window, UQ16.16 packets.
    pub window: Packets,
    /// No update has happened yet.
    pub fresh: bool,
    /// Intervals since the first ACK, while the path is fresh.
    pub heard: u8,
    /// Updates until the window may rise with what is in flight again.
    pub hold: u8,
}

/// In-flight counts below this change much in an update.
const FEW_PACKETS: Packets = 8 * ONE_PACKET;
/// Window of a fresh path: `W0`.
pub const INITIAL_WINDOW: Packets = ONE_PACKET;

/// `a * b` with `b` of `fraction` bits, saturating.
#[inline]
fn scale(a: u32, b: u32, fraction: u32) -> u32 {
    u32::try_from((u64::from(a) * u64::from(b)) >> fraction).unwrap_or(u32::MAX)
}

impl Path {
    /// Before the first update.
    pub fn new(p: &Parameters) -> Self {
        Self {
            rate: 0,
            margin: p.margin_step,
            window: INITIAL_WINDOW,
            fresh: true,
            heard: 0,
            hold: 0,
        }
    }

    /// One update. An interval in which the path was idle leaves it as it is.
    #[inline]
    pub fn update(&mut self, p: &Parameters, i: &Interval) {
        let acks = u32::from(i.data_acks) + u32::from(i.probe_acks);
        if acks == 0 && i.in_flight == 0 && i.sent == 0 {
            return;
        }
        if self.fresh && self.heard < p.span + 1 {
            // The interval in which the first ACK comes is measured in part only, and a rate is
            // measured over half an RTT at least.
            self.heard += u8::from(acks > 0 || self.heard > 0);
            if self.heard < p.span + 1 {
                return;
            }
        }
        let sample = acks << 16;
        let history = u64::from(self.rate) * u64::from(p.alpha);
        let news = u64::from(sample) * u64::from((1 << 16) - p.alpha);
        let smoothed = ((history + news) >> 16) as u32;
        // While no queue stands, what is in flight is what the path carries (Little's law).
        // The mean lags behind a window that grows, by much of a window of a few packets.
        let aloft = if i.mean_in_flight < FEW_PACKETS {
            i.mean_in_flight.max(u32::from(i.in_flight) << 16)
        } else {
            i.mean_in_flight
        };
        let carried = scale(aloft, p.interval_per_rtt, 24);
        let may_rise = !self.fresh && self.hold == 0;
        let unqueued = may_rise && p.rise && i.unqueued;
        let probed = may_rise
            && i.probe_acks > 0
            && (i.unqueued || i.data_acks == 0)
            && i.sustained > smoothed;
        // Once in half an RTT: what a rise lets out has to be seen before the next.
        self.hold = if unqueued || probed {
            p.span - 1
        } else {
            self.hold.saturating_sub(1)
        };
        self.rate = if self.fresh || probed {
            i.sustained
        } else if unqueued {
            smoothed.max(carried)
        } else {
            smoothed
        };
        let pipe = scale(self.rate, p.rtt_per_interval, 24);
        let queue = i.mean_in_flight.saturating_sub(pipe);
        let band = p.dead_band.min(scale(pipe, p.dead_band_share, 16));
        let excess = queue.saturating_sub(band);

        // d <= tau  is  Q <= r tau.
        let target = scale(self.rate, p.target_per_interval, 24);
        self.margin = if excess <= target {
            // Probes tell what the path has to spare: the margin need not ask for it too.
            let steps = match (i.probe_acks > 0, unqueued) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 1,
            };
            p.margin_cap.min(self.margin + steps * p.margin_step)
        } else {
            // q tau / d  is  q (r tau) / Q, and r tau < Q.
            let share = reciprocal(excess).times_wide(target);
            scale(self.margin, share, 16).max(p.margin_floor)
        };

        let aim = pipe.saturating_add(self.margin);
        self.window = if self.fresh || unqueued || queue > p.margin_cap.saturating_add(target) {
            aim
        } else {
            let old = u64::from(self.window) * u64::from((1 << 16) - p.gamma);
            let new = u64::from(aim) * u64::from(p.gamma);
            ((old + new) >> 16) as u32
        };
        self.fresh = false;
    }

    /// The window as the selector takes it: UQ10.6 packets, rounded to nearest, saturating.
    #[inline]
    pub fn selector_window(&self) -> u16 {
        let rounded = (u64::from(self.window) + (1 << 9)) >> 10;
        u16::try_from(rounded).unwrap_or(u16::MAX)
    }
}
