//! DCQCN with the timers of common network simulators: every ACK echoes the mark of its packet, and
//! three timers (estimate, decrease, increase) act on whether marks came.
//!
//! There is neither a congestion notification packet nor a byte counter. Timers are caught up with
//! by [`Dcqcn::advance`], so that a flow needs no event of its own for most of them.

/// Probability of marking a packet that meets `q_bytes` in its egress queue: 0 up to `kmin` bytes,
/// rising linearly to `pmax` at `kmax` bytes, 1 above.
pub fn mark_probability(q_bytes: u64, kmin: u64, kmax: u64, pmax: f64) -> f64 {
    if q_bytes <= kmin {
        0.0
    } else if q_bytes > kmax {
        1.0
    } else {
        pmax * (q_bytes - kmin) as f64 / (kmax - kmin) as f64
    }
}

/// Marking thresholds of an egress port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marking {
    /// No marks up to this queue, bytes.
    pub kmin: u64,
    /// Every packet is marked above this queue, bytes.
    pub kmax: u64,
    /// Probability at `kmax`, 0 to 1.
    pub pmax: f64,
}

impl Marking {
    /// Thresholds in proportion to the port: 400 KB, 1600 KB and 0.2 at 100 Gb/s.
    pub fn scaled(port_gbps: f64) -> Self {
        Self {
            kmin: (4_000.0 * port_gbps) as u64,
            kmax: (16_000.0 * port_gbps) as u64,
            pmax: 0.2,
        }
    }

    /// The smaller thresholds used at every speed: 100 KB, 400 KB and 0.2.
    pub fn shallow() -> Self {
        Self::scaled(25.0)
    }

    /// [`mark_probability`] with these thresholds.
    pub fn probability(&self, q_bytes: u64) -> f64 {
        mark_probability(q_bytes, self.kmin, self.kmax, self.pmax)
    }
}

/// A set of timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// "dcqcn": decreases every 4 us, increases every 300 us, one stage of fast recovery.
    Eager,
    /// "dcqcn_paper": decreases every 50 us, increases every 55 us, five stages.
    Paper,
}

impl Profile {
    /// The profile called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Eager, Self::Paper]
            .into_iter()
            .find(|p| p.name() == name)
    }

    /// Its name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eager => "dcqcn",
            Self::Paper => "dcqcn_paper",
        }
    }
}

/// Parameters of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Rate of the sender's link, Gb/s: start and upper bound.
    pub line_gbps: f64,
    /// Lower bound of the rate, Gb/s.
    pub min_gbps: f64,
    /// Additive step of the target, Gb/s.
    pub additive_gbps: f64,
    /// Step of the target after the additive stage, Gb/s.
    pub hyper_gbps: f64,
    /// Interval of the estimate, ns.
    pub alpha_ns: u64,
    /// Interval of decreases, ns.
    pub decrease_ns: u64,
    /// Interval of increases, ns.
    pub increase_ns: u64,
    /// Weight of an interval in the estimate.
    pub gain: f64,
    /// Increases that only close the gap to the target, after a decrease.
    pub recovery_stages: u32,
    /// Whether a decrease lowers the target even if no increase came since the last one.
    pub clamp_target: bool,
}

impl Parameters {
    /// The `profile`'s parameters; steps are in proportion to the line (20 and 200 Mb/s at
    /// 100 Gb/s), the lower bound is 1 Gb/s.
    pub fn profile(line_rate_gbps: f64, profile: Profile) -> Self {
        let (alpha_ns, decrease_ns, increase_ns, recovery_stages) = match profile {
            Profile::Eager => (1_000, 4_000, 300_000, 1),
            Profile::Paper => (50_000, 50_000, 55_000, 5),
        };
        Self {
            line_gbps: line_rate_gbps,
            min_gbps: 1.0,
            additive_gbps: 0.005 * line_rate_gbps / 25.0,
            hyper_gbps: 0.05 * line_rate_gbps / 25.0,
            alpha_ns,
            decrease_ns,
            increase_ns,
            gain: 1.0 / 256.0,
            recovery_stages,
            clamp_target: false,
        }
    }
}

/// When the timers expire, ns. They run from the first mark on.
#[derive(Clone, Copy, Debug)]
struct Timers {
    alpha: u64,
    decrease: u64,
    increase: u64,
}

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    p: Parameters,
    rate: f64,
    target: f64,
    alpha: f64,
    stage: u32,
    timers: Option<Timers>,
    marked_for_alpha: bool,
    marked_for_decrease: bool,
}

impl Dcqcn {
    /// A flow at line rate without a mark so far.
    pub fn new(p: &Parameters) -> Self {
        Self {
            // A timer without an interval would expire forever.
            p: Parameters {
                alpha_ns: p.alpha_ns.max(1),
                decrease_ns: p.decrease_ns.max(1),
                increase_ns: p.increase_ns.max(1),
                ..*p
            },
            rate: p.line_gbps,
            target: p.line_gbps,
            alpha: 1.0,
            stage: 0,
            timers: None,
            marked_for_alpha: false,
            marked_for_decrease: false,
        }
    }

    /// An ACK or NAK that echoes the mark `ce`, at `now_ns`. Due timers act first, without it.
    pub fn on_ack(&mut self, now_ns: u64, ce: bool) {
        self.advance(now_ns);
        if !ce {
            return;
        }
        self.marked_for_decrease = true;
        if self.timers.is_some() {
            self.marked_for_alpha = true;
            return;
        }
        // The first mark sets the estimate to 1 and so is already in it.
        self.alpha = 1.0;
        self.target = self.rate;
        self.timers = Some(Timers {
            alpha: now_ns.saturating_add(self.p.alpha_ns),
            decrease: now_ns.saturating_add(self.p.decrease_ns),
            increase: now_ns.saturating_add(self.p.increase_ns),
        });
    }

    /// Lets all timers due up to and including `now_ns` act, in order. Timers of one instant act as
    /// estimate, decrease, increase. Calling it more or less often makes no difference.
    pub fn advance(&mut self, now_ns: u64) {
        let Some(mut t) = self.timers else {
            return;
        };
        loop {
            let due = t.alpha.min(t.decrease).min(t.increase);
            // Time that cannot be told apart from the end of time never comes.
            if due > now_ns || due == u64::MAX {
                break;
            }
            if t.alpha == due {
                let news = if self.marked_for_alpha {
                    self.p.gain
                } else {
                    0.0
                };
                self.alpha = (1.0 - self.p.gain) * self.alpha + news;
                self.marked_for_alpha = false;
                t.alpha = due.saturating_add(self.p.alpha_ns);
            } else if t.decrease == due {
                if self.marked_for_decrease {
                    self.decrease();
                    t.increase = due.saturating_add(self.p.increase_ns);
                }
                t.decrease = due.saturating_add(self.p.decrease_ns);
            } else {
                self.increase();
                t.increase = due.saturating_add(self.p.increase_ns);
            }
        }
        self.timers = Some(t);
    }

    /// The next time, ns, at which the rate can change without another mark; what a sender waiting
    /// for its rate needs an event for. `None` at line rate without a mark.
    ///
    /// Timers that leave the rate alone are not reported; [`Dcqcn::advance`] catches up with them.
    pub fn next_timer_ns(&self) -> Option<u64> {
        let t = self.timers?;
        let decrease = self.marked_for_decrease.then_some(t.decrease);
        let increase = (self.rate < self.p.line_gbps).then_some(t.increase);
        match (decrease, increase) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Sending rate after the last call, Gb/s.
    pub fn rate_gbps(&self) -> f64 {
        self.rate
    }

    /// Rate that increases lead to, Gb/s.
    pub fn target_gbps(&self) -> f64 {
        self.target
    }

    /// Estimate of the congestion, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn decrease(&mut self) {
        // A decrease straight after another keeps the target: both belong to one congestion.
        if self.p.clamp_target || self.stage != 0 {
            self.target = self.rate;
        }
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(self.p.min_gbps);
        self.stage = 0;
        self.marked_for_decrease = false;
    }

    fn increase(&mut self) {
        let step = if self.stage < self.p.recovery_stages {
            0.0
        } else if self.stage == self.p.recovery_stages {
            self.p.additive_gbps
        } else {
            self.p.hyper_gbps
        };
        self.target = (self.target + step).min(self.p.line_gbps);
        self.rate = (self.rate + self.target) / 2.0;
        self.stage = self.stage.saturating_add(1);
    }
}
