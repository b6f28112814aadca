//! When a flow probes for capacity (paper §4.2.2): a pure function of what the updates see.

/// Updates in a row with nothing old outstanding that start a probing phase.
pub const QUIET_UPDATES: u8 = 5;
/// Length of a probing phase, in base RTTs.
pub const PHASE_RTTS: u32 = 3;

/// A flow's probing state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probing {
    quiet: u8,
    left_ns: u32,
}

impl Probing {
    /// At flow start: a phase begins.
    pub fn at_start(base_rtt_ns: u32) -> Self {
        Self {
            quiet: 0,
            left_ns: PHASE_RTTS * base_rtt_ns,
        }
    }

    /// Whether a transmission opportunity that finds every path closed sends a probe.
    #[inline]
    pub fn is_probing(&self) -> bool {
        self.left_ns > 0
    }

    /// One update, `interval_ns` after the one before. `old_acknowledged` says that every data
    /// packet sent at least one base RTT ago has been acknowledged.
    #[inline]
    pub fn update(&mut self, interval_ns: u32, base_rtt_ns: u32, old_acknowledged: bool) {
        if self.left_ns > 0 {
            self.left_ns = self.left_ns.saturating_sub(interval_ns);
            self.quiet = 0;
            return;
        }
        self.quiet = if old_acknowledged { self.quiet + 1 } else { 0 };
        if self.quiet == QUIET_UPDATES {
            self.quiet = 0;
            self.left_ns = PHASE_RTTS * base_rtt_ns;
        }
    }
}
