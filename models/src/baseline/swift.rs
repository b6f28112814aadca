//! Swift as Falcon runs it: a window for each path from the delay of its ACKs, and a window for the
//! receiver's buffer.
//!
//! Windows are fractions of packets; below one packet the path is paced instead.

use super::sqrt;

/// Parameters of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Target delay of a large window without hops, ns.
    pub base_target_ns: f64,
    /// Most that flow scaling adds to the target, ns.
    pub max_scaling_ns: f64,
    /// Window at which flow scaling reaches its maximum, packets.
    pub scaling_min_packets: f64,
    /// Window at which flow scaling ends, packets.
    pub scaling_max_packets: f64,
    /// Added to the target for each forward hop, ns.
    pub hop_ns: f64,
    /// Forward hops of the path.
    pub hops: u32,
    /// Packets the window grows by in a round trip.
    pub additive: f64,
    /// Weight of the excess delay in a decrease.
    pub beta: f64,
    /// Largest fraction the window loses in a decrease.
    pub max_decrease: f64,
    /// Bounds of the window, packets.
    pub min_window: f64,
    /// See `min_window`.
    pub max_window: f64,
    /// Window at the start, packets.
    pub initial_window: f64,
    /// Weight of the history in the round-trip time.
    pub rtt_history: f64,
    /// Round-trip time before the first sample, ns.
    pub initial_rtt_ns: f64,
    /// Lower bound of the retransmission timeout, ns.
    pub min_rto_ns: u64,
    /// Retransmission timeout before the first sample, ns.
    pub initial_rto_ns: u64,
}

impl Default for Parameters {
    /// Defaults of one of four paths over one hop; 32 packets for all four at the start.
    fn default() -> Self {
        Self {
            base_target_ns: 25_000.0,
            max_scaling_ns: 100_000.0,
            scaling_min_packets: 0.1,
            scaling_max_packets: 256.0,
            hop_ns: 1_000.0,
            hops: 1,
            additive: 1.0,
            beta: 0.8,
            max_decrease: 0.5,
            min_window: 0.01,
            max_window: 256.0,
            initial_window: 8.0,
            rtt_history: 0.75,
            initial_rtt_ns: 25_000.0,
            min_rto_ns: 250_000,
            initial_rto_ns: 1_000_000,
        }
    }
}

/// Retransmissions of one packet that collapse the window.
pub const COLLAPSE_RETRANSMISSIONS: u32 = 3;

/// Congestion control of one path.
#[derive(Clone, Debug)]
pub struct Path {
    p: Parameters,
    window: f64,
    smoothed_rtt: f64,
    sampled: bool,
    /// When the window last went down or stood at its minimum, ns.
    marker: Option<u64>,
    scaling: f64,
    offset: f64,
}

impl Path {
    /// A path before its first ACK.
    pub fn new(p: &Parameters) -> Self {
        let end = inverse_root(p.scaling_max_packets);
        let span = inverse_root(p.scaling_min_packets) - end;
        let scaling = if span > 0.0 {
            p.max_scaling_ns / span
        } else {
            0.0
        };
        Self {
            p: *p,
            window: p.initial_window.max(p.min_window).min(p.max_window),
            smoothed_rtt: p.initial_rtt_ns,
            sampled: false,
            marker: None,
            scaling,
            offset: -scaling * end,
        }
    }

    /// Delay above which the window shrinks, ns: small windows tolerate more, so that many flows
    /// can share a queue.
    pub fn target_ns(&self) -> f64 {
        let scaled = self.scaling * inverse_root(self.window) + self.offset;
        self.p.base_target_ns
            + scaled.max(0.0).min(self.p.max_scaling_ns)
            + self.p.hop_ns * f64::from(self.p.hops)
    }

    /// An ACK of one packet: `delay_ns` of the fabric (round trip less the receiver's part),
    /// `rtt_ns` of the whole round trip.
    pub fn on_ack(&mut self, delay_ns: u64, rtt_ns: u64, now_ns: u64) {
        self.on_acks(1, delay_ns, rtt_ns, now_ns);
    }

    /// An ACK of `packets` packets; the times are those of the latest.
    pub fn on_acks(&mut self, packets: u32, delay_ns: u64, rtt_ns: u64, now_ns: u64) {
        let history = self.p.rtt_history;
        self.smoothed_rtt = history * self.smoothed_rtt + (1.0 - history) * rtt_ns as f64;
        self.sampled = true;
        let delay = delay_ns as f64;
        let target = self.target_ns();
        if delay < target {
            let growth = self.p.additive * f64::from(packets);
            let share = if self.window >= 1.0 { self.window } else { 1.0 };
            self.set_window(self.window + growth / share, false, now_ns);
        } else if self.may_decrease(now_ns) {
            let loss = self.p.beta * (delay - target) / delay.max(1.0);
            let factor = 1.0 - loss.min(self.p.max_decrease);
            self.set_window(self.window * factor, true, now_ns);
        } else {
            self.set_window(self.window, false, now_ns);
        }
    }

    /// A packet is sent again for the `count`-th time, by timeout or early. The first halves the
    /// window, at most once a round trip; the third and later ones collapse it.
    pub fn on_retransmit(&mut self, count: u32, now_ns: u64) {
        if count >= COLLAPSE_RETRANSMISSIONS {
            self.set_window(self.p.min_window, true, now_ns);
        } else if count == 1 && self.may_decrease(now_ns) {
            self.set_window(self.window * (1.0 - self.p.max_decrease), true, now_ns);
        }
    }

    /// Window, packets; may be below 1.
    pub fn window_packets(&self) -> f64 {
        self.window
    }

    /// Packets that may be in flight: the whole packets of the window, at least one.
    pub fn allowed_in_flight(&self) -> u32 {
        (self.window as u32).max(1)
    }

    /// Least time from one send to the next, ns: a window below 1 is a fraction of a packet for
    /// each round trip. 0 from 1 on.
    pub fn pacing_gap_ns(&self) -> u64 {
        if self.window >= 1.0 {
            0
        } else {
            (self.smoothed_rtt / self.window) as u64
        }
    }

    /// Smoothed round-trip time, ns.
    pub fn smoothed_rtt_ns(&self) -> u64 {
        self.smoothed_rtt as u64
    }

    /// Time from a send to its timeout, ns.
    pub fn rto_ns(&self) -> u64 {
        if !self.sampled {
            return self.p.initial_rto_ns;
        }
        let round_trips = (2.0 * self.smoothed_rtt) as u64;
        self.p
            .min_rto_ns
            .max(round_trips.saturating_add(self.pacing_gap_ns()))
    }

    fn may_decrease(&self, now_ns: u64) -> bool {
        self.marker
            .is_none_or(|m| now_ns.saturating_sub(m) as f64 >= self.smoothed_rtt)
    }

    fn set_window(&mut self, window: f64, decreased: bool, now_ns: u64) {
        self.window = window.max(self.p.min_window).min(self.p.max_window);
        // At the minimum the first growth is not undone before a round trip has shown its effect.
        if decreased || self.window <= self.p.min_window {
            self.marker = Some(now_ns);
        }
    }
}

fn inverse_root(x: f64) -> f64 {
    let root = sqrt(x);
    if root > 0.0 {
        1.0 / root
    } else {
        0.0
    }
}

/// Window that protects the receiver's buffer, one for all paths of a connection. ACKs carry the
/// buffer's occupancy in 32 levels.
#[derive(Clone, Debug)]
pub struct BufferWindow {
    window: f64,
    marker: Option<u64>,
    grew: bool,
}

impl BufferWindow {
    /// Levels of the occupancy.
    pub const LEVELS: u32 = 32;
    /// Level that the window holds: half of the buffer.
    pub const TARGET_LEVEL: u32 = 15;
    /// Largest window, packets.
    pub const MAX: f64 = 256.0;

    /// At the initial 64 packets.
    pub fn new() -> Self {
        Self {
            window: 64.0,
            marker: None,
            grew: false,
        }
    }

    /// Level of `used` of `size` bytes, below [`BufferWindow::LEVELS`].
    pub fn level(used: u64, size: u64) -> u32 {
        let scaled = u128::from(used) * u128::from(Self::LEVELS);
        let level = scaled.checked_div(u128::from(size)).unwrap_or(0);
        level.min(u128::from(Self::LEVELS - 1)) as u32
    }

    /// An ACK with the occupancy `level`; `rtt_ns` is the round-trip time of the connection.
    pub fn on_ack(&mut self, level: u32, rtt_ns: u64, now_ns: u64) {
        if level < Self::TARGET_LEVEL {
            self.window = (self.window + 1.0).min(Self::MAX);
            self.grew = true;
        } else if self.round_trip_passed(rtt_ns, now_ns) {
            let excess = f64::from(level - Self::TARGET_LEVEL) / f64::from(level);
            self.shrink((1.0 - 0.8 * excess).max(0.5), now_ns);
        }
    }

    /// The receiver dropped a packet for lack of buffer.
    pub fn on_refusal(&mut self, rtt_ns: u64, now_ns: u64) {
        if self.grew || self.round_trip_passed(rtt_ns, now_ns) {
            self.shrink(0.5, now_ns);
        }
    }

    /// Window, packets.
    pub fn window_packets(&self) -> f64 {
        self.window
    }

    fn round_trip_passed(&self, rtt_ns: u64, now_ns: u64) -> bool {
        self.marker
            .is_none_or(|m| now_ns.saturating_sub(m) >= rtt_ns)
    }

    fn shrink(&mut self, factor: f64, now_ns: u64) {
        self.window = (self.window * factor).max(1.0);
        self.marker = Some(now_ns);
        self.grew = false;
    }
}

impl Default for BufferWindow {
    fn default() -> Self {
        Self::new()
    }
}
