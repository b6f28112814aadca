//! The host's side: the models' control of the testbed's one flow.

use super::scenario::Scenario;
use rondo_models::control::{FlowControl, PathSetup};

/// Control of a flow of `s`; without `scheduler` all skips stay 0. The datapath has no probes.
pub fn flow_control(s: &Scenario, scheduler: bool) -> FlowControl {
    let max_rtt_ns = s.max_rtt_ns();
    let paths: Vec<PathSetup> = (0..s.paths.len())
        .map(|p| PathSetup::paper(s.rtt_ns(p), s.interval_ns(), max_rtt_ns))
        .collect();
    FlowControl::new(
        &paths,
        s.interval_ns(),
        s.delay_tolerance_ns,
        scheduler,
        false,
    )
}
