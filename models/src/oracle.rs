//! The paper's equations in plain `f64`: an oracle for tests, never a decision.

/// One ARCC update of a path (§4.2.1), in packets and nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct ArccOracle {
    /// Base RTT over update interval.
    pub rtt_per_interval: f64,
    /// Target queueing delay over update interval.
    pub target_per_interval: f64,
    /// Weight of the history.
    pub alpha: f64,
    /// Weight of the new window.
    pub gamma: f64,
    /// Cap of the margin.
    pub margin_cap: f64,
    /// Floor of the margin.
    pub margin_floor: f64,
    /// Dead band of the queue estimate.
    pub dead_band: f64,
}

/// State of a path.
#[derive(Clone, Copy, Debug)]
pub struct ArccPath {
    /// ACK rate, packets an interval.
    pub rate: f64,
    /// Margin.
    pub margin: f64,
    /// Window.
    pub window: f64,
    /// No update yet.
    pub fresh: bool,
}

/// What an interval brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation {
    /// Data packets acknowledged.
    pub data_acks: f64,
    /// Probes acknowledged.
    pub probe_acks: f64,
    /// ACKs an interval over half an RTT.
    pub sustained: f64,
    /// In flight at the end.
    pub in_flight: f64,
    /// In flight, mean.
    pub mean_in_flight: f64,
    /// No queue stands.
    pub unqueued: bool,
}

impl ArccOracle {
    /// The update of an interval.
    pub fn update(&self, path: ArccPath, o: &Observation) -> ArccPath {
        let sample = o.data_acks + o.probe_acks;
        let smoothed = self.alpha * path.rate + (1.0 - self.alpha) * sample;
        let aloft = if o.mean_in_flight < 8.0 {
            o.mean_in_flight.max(o.in_flight)
        } else {
            o.mean_in_flight
        };
        let unqueued = o.unqueued && !path.fresh;
        let probed = o.probe_acks > 0.0 && (o.unqueued || o.data_acks == 0.0);
        let rate = if path.fresh || (probed && o.sustained > smoothed) {
            o.sustained
        } else if unqueued {
            smoothed.max(aloft / self.rtt_per_interval)
        } else {
            smoothed
        };
        let pipe = rate * self.rtt_per_interval;
        let queue = (o.mean_in_flight - pipe).max(0.0);
        let excess = (queue - self.dead_band.min(pipe)).max(0.0);
        let target = rate * self.target_per_interval;
        let steps = match (o.probe_acks > 0.0, unqueued) {
            (true, _) => 0.0,
            (false, true) => 2.0,
            (false, false) => 1.0,
        };
        let margin = if excess <= target {
            self.margin_cap
                .min(path.margin + steps * self.margin_cap / 4.0)
        } else {
            (path.margin * target / excess).max(self.margin_floor)
        };
        let aim = pipe + margin;
        let window = if path.fresh || unqueued || queue > self.margin_cap + target {
            aim
        } else {
            (1.0 - self.gamma) * path.window + self.gamma * aim
        };
        ArccPath {
            rate,
            margin,
            window,
            fresh: false,
        }
    }
}

/// Skips by Eq. 7: `(window packets, rtt ns, forward delay ns)` a path.
pub fn skips(paths: &[(f64, f64, f64)]) -> Vec<f64> {
    paths
        .iter()
        .map(|p| paths.iter().map(|q| q.0 / q.1 * (p.2 - q.2).max(0.0)).sum())
        .collect()
}

/// Deficit selection with exact shares (§4.2.3): returns the path and updates the deficits.
pub fn select(rooms: &[f64], deficits: &mut [f64]) -> Option<usize> {
    let sum: f64 = rooms.iter().sum();
    if sum <= 0.0 {
        return None;
    }
    for (z, room) in deficits.iter_mut().zip(rooms) {
        *z += room / sum;
    }
    let mut best: Option<usize> = None;
    for (p, room) in rooms.iter().enumerate() {
        if *room > 0.0 && best.is_none_or(|b| deficits[p] > deficits[b]) {
            best = Some(p);
        }
    }
    if let Some(p) = best {
        deficits[p] -= 1.0;
    }
    best
}

/// Eq. 3: out-of-order degree of a flow of `gbps` in packets of `packet_bytes`, whose slowest path
/// is `delay_ns` longer than its fastest.
pub fn ood_bound(gbps: f64, packet_bytes: f64, delay_ns: f64) -> f64 {
    gbps * delay_ns / (8.0 * packet_bytes)
}
