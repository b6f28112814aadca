//! The host's side: counts what the NIC reports and runs ARCC, skips and pacing every `T_u`. All
//! decisions are the models'; this only keeps the counters.

use super::scenario::Scenario;
use rondo_models::arcc::{Interval, Parameters, Path};
use rondo_models::deficit::MAX_PATHS;
use rondo_models::pacing::{pace, Pacer};
use rondo_models::skips::{stable_skips, DelayEstimate, PathDelay};

#[derive(Debug, Clone, Copy)]
struct PathState {
    parameters: Parameters,
    arcc: Path,
    /// `2^32 / T`, T in ns.
    inverse_rtt: u32,
    sent: u16,
    acked: u16,
    in_flight: u16,
    forward_sum_ns: u64,
    rtt_sum_ns: u64,
    rtt_ns: u32,
    delays: DelayEstimate,
}

/// What an update decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Windows, UQ10.6 packets.
    pub windows: [u16; MAX_PATHS],
    /// Skips, PSNs.
    pub skips: [u16; MAX_PATHS],
}

/// ARCC host of one flow.
#[derive(Debug)]
pub struct Control {
    paths: Vec<PathState>,
    pacer: Pacer,
    scheduler: bool,
    tolerance_ns: u32,
    updates: u64,
}

impl Control {
    /// For a flow of `s`; without `scheduler` all skips stay 0.
    pub fn new(s: &Scenario, scheduler: bool) -> Self {
        let paths = (0..s.paths.len())
            .map(|p| {
                let rtt_ns = s.rtt_ns(p);
                let parameters = Parameters::paper(rtt_ns, s.interval_ns(), s.max_rtt_ns());
                PathState {
                    parameters,
                    arcc: Path::new(&parameters),
                    inverse_rtt: ((1u64 << 32) / u64::from(rtt_ns)) as u32,
                    sent: 0,
                    acked: 0,
                    in_flight: 0,
                    forward_sum_ns: 0,
                    rtt_sum_ns: 0,
                    rtt_ns,
                    delays: DelayEstimate::default(),
                }
            })
            .collect();
        let mut c = Self {
            paths,
            pacer: Pacer::default(),
            scheduler,
            tolerance_ns: s.delay_tolerance_ns,
            updates: 0,
        };
        c.set_pace();
        c
    }

    fn set_pace(&mut self) {
        let rate = self
            .paths
            .iter()
            .map(|p| pace(p.arcc.window, p.inverse_rtt))
            .fold(0, u32::saturating_add);
        self.pacer.set_rate(rate);
    }

    /// The flow's pacer.
    pub fn pacer(&mut self) -> &mut Pacer {
        &mut self.pacer
    }

    /// Updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// A packet was sent on `path`.
    #[inline]
    pub fn sent(&mut self, path: u8) {
        let p = &mut self.paths[usize::from(path)];
        p.sent += 1;
        p.in_flight += 1;
    }

    /// A packet on `path` was acknowledged for the first time, with its measured delays.
    #[inline]
    pub fn acked(&mut self, path: u8, forward_ns: u64, rtt_ns: u64) {
        let p = &mut self.paths[usize::from(path)];
        p.acked += 1;
        p.in_flight -= 1;
        p.forward_sum_ns += forward_ns;
        p.rtt_sum_ns += rtt_ns;
    }

    /// The update of an interval.
    pub fn update(&mut self) -> Decision {
        self.updates += 1;
        let mut decision = Decision {
            windows: [0; MAX_PATHS],
            skips: [0; MAX_PATHS],
        };
        let mut delays = [PathDelay::default(); MAX_PATHS];
        let mut estimates = [DelayEstimate::default(); MAX_PATHS];
        for (i, p) in self.paths.iter_mut().enumerate() {
            p.arcc.update(
                &p.parameters,
                &Interval {
                    data_acks: p.acked,
                    probe_acks: 0,
                    in_flight: p.in_flight,
                    sent: p.sent,
                },
            );
            if p.acked > 0 {
                // One sample an interval: the mean over its ACKs.
                p.delays
                    .push((p.forward_sum_ns / u64::from(p.acked)) as u32);
                p.rtt_ns = (p.rtt_sum_ns / u64::from(p.acked)) as u32;
            }
            estimates[i] = p.delays;
            (p.sent, p.acked, p.forward_sum_ns, p.rtt_sum_ns) = (0, 0, 0, 0);
            decision.windows[i] = p.arcc.selector_window();
            delays[i] = PathDelay {
                window: p.arcc.window,
                rtt_ns: p.rtt_ns,
                forward_ns: p.delays.forward_ns(),
            };
        }
        if self.scheduler {
            let n = self.paths.len();
            stable_skips(
                &delays[..n],
                &estimates[..n],
                self.tolerance_ns,
                &mut decision.skips,
            );
        }
        self.set_pace();
        decision
    }
}
