//! The ideal controller of §3.2: it knows every flow and path, divides each bottleneck evenly among
//! the logical paths through it, and keeps what is in flight on a path at the bandwidth-delay
//! product plus a little.

use super::multipath::{Controller, FlowSetup, Multipath, Selection};
use super::receiver::Tracked;
use super::{BadParameter, Receiver, Sender, Transport};
use crate::time::{Ps, NS};
use rondo_models::control::Decision;
use rondo_models::deficit::{MAX_PATHS, WINDOW_ONE};
use serde::{Deserialize, Serialize};

/// Parameters of the ideal controller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdealConfig {
    /// Logical paths a flow.
    pub paths: u8,
    /// Window in PSNs.
    pub window: u32,
    /// What is kept in flight on a bottleneck beyond its bandwidth-delay product, bytes.
    pub extra_bytes: u32,
    /// Rate of each path's bottleneck, Gbps; one value for all, or one a path.
    pub path_gbps: [f64; MAX_PATHS],
    /// Logical paths that share a bottleneck.
    pub sharing: u32,
}

impl Default for IdealConfig {
    fn default() -> Self {
        Self {
            paths: 4,
            window: 2048,
            extra_bytes: 5_000,
            path_gbps: [100.0; MAX_PATHS],
            sharing: 1,
        }
    }
}

impl IdealConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`BadParameter`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        super::check_window(self.window)?;
        let bad = |key, value: String, wanted| Err(BadParameter { key, value, wanted });
        if !(1..=MAX_PATHS).contains(&usize::from(self.paths)) {
            return bad("paths", self.paths.to_string(), "1 to 16 paths");
        }
        if self.sharing == 0 {
            return bad("sharing", self.sharing.to_string(), "1 or more paths");
        }
        let is_rate = |&g: &f64| g > 0.0 && g <= 10_000.0;
        if let Some(g) = self.path_gbps.iter().find(|g| !is_rate(g)) {
            let wanted = "rates above 0, at most 10000 Gbps";
            return bad("path_gbps", g.to_string(), wanted);
        }
        Ok(())
    }
}

impl Transport for IdealConfig {
    fn paths(&self) -> u8 {
        self.paths
    }

    fn open(&self, setup: &FlowSetup, _flows: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        let mut windows = [0; MAX_PATHS];
        let mut pace = 0.0;
        for (p, w) in windows.iter_mut().take(setup.rtt_ns.len()).enumerate() {
            let rtt = f64::from(setup.rtt_ns[p]);
            let pipe_bytes = self.path_gbps[p] * rtt / 8.0;
            let share = (pipe_bytes + f64::from(self.extra_bytes)) / f64::from(self.sharing.max(1));
            let packets = share / f64::from(setup.wire_bytes);
            *w = (packets * f64::from(WINDOW_ONE)).round().min(65_535.0) as u16;
            // Packets a 1,024 ns, 24 fraction bits.
            pace += packets / rtt * 1_024.0 * f64::from(1 << 24);
        }
        let control = Fixed {
            decision: Decision {
                windows,
                pace: pace.min(f64::from(u32::MAX)) as u32,
                ..Decision::default()
            },
            interval: Ps::from(setup.max_rtt_ns.max(1)) * NS,
        };
        let sender = Multipath::new(setup, control, Selection::Deficit, self.window as usize)
            // Reordering is not loss here.
            .with_recovery(rondo_models::recovery::Recovery {
                threshold: u16::MAX,
                slack_ns: u32::MAX / 4,
            });
        (
            Box::new(sender),
            Box::new(Tracked::new(setup.first_psn, self.window as usize)),
        )
    }
}

/// Windows that never change.
pub struct Fixed {
    decision: Decision,
    interval: Ps,
}

impl Controller for Fixed {
    fn initial(&mut self) -> Decision {
        self.decision
    }

    fn sent(&mut self, _now: Ps, _path: usize) {}

    fn acked(&mut self, _now: Ps, _path: usize, _forward: u32, _rtt: u32) -> Option<u16> {
        None
    }

    fn lost(&mut self, _now: Ps, _path: usize) {}

    fn probe_acked(&mut self, _path: usize) -> bool {
        false
    }

    fn update(&mut self, _now: Ps) -> Decision {
        self.decision
    }

    fn forward_ns(&self, _path: usize) -> u32 {
        0
    }

    fn timeout_ns(&self, _path: usize) -> u32 {
        8 * (self.interval / NS) as u32
    }

    fn interval(&self) -> Ps {
        self.interval
    }

    fn latency(&self) -> Ps {
        0
    }

    fn is_paced(&self) -> bool {
        true
    }
}
