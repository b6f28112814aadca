//! One scenario, three ways: RTL in co-simulation, the clocked model, the event-driven endpoint. All
//! three run in the same network.

use super::metrics::RunReport;
use super::network::{packets, switches, topology};
use super::run::{run, Decisions, Select, Setup};
use super::scenario::Scenario;
use crate::{SimError, Verilog};
use rondo_net::config::NicConfig;
use rondo_net::report::gbps;
use rondo_net::scenario::{Pattern, Scenario as NetScenario, Traffic};
use rondo_net::simulation::Simulation;
use rondo_net::time::from_us;
use rondo_net::transport::rondo::{ControlTiming, RondoConfig};
use rondo_net::transport::TransportConfig;
use serde::Serialize;

/// How two orders of packets compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Packets of the reference.
    pub packets: usize,
    /// Packets until the first difference in PSN or path.
    pub equal: usize,
    /// The other one sent as many, and all are equal.
    pub identical: bool,
}

impl Agreement {
    fn of(reference: &[(u32, u8)], other: &[(u32, u8)]) -> Self {
        let pairs = reference.iter().zip(other);
        Self {
            packets: reference.len(),
            equal: pairs.take_while(|(a, b)| a == b).count(),
            identical: reference == other,
        }
    }
}

/// What the event-driven endpoint came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct EventDriven {
    /// Against the RTL's order.
    pub order: Agreement,
    /// Wire rate of delivered packets.
    pub throughput_gbps: f64,
    /// Average out-of-order degree over arrivals, packets.
    pub ood_avg: f64,
}

/// The comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Fidelity {
    /// Scenario.
    pub scenario: String,
    /// Network time, ms.
    pub duration_ms: f64,
    /// The RTL's run.
    pub rtl: RunReport,
    /// The clocked model in the network simulator, against the RTL.
    pub model: Agreement,
    /// The event-driven endpoint, against the RTL.
    pub event_driven: EventDriven,
}

/// Runs `scenario` three ways.
///
/// # Errors
/// [`SimError`] when a design cannot be compiled or loaded, or the network not be built.
pub fn compare(
    scenario: &Scenario,
    sender: &Verilog,
    receiver: &Verilog,
    seed: u64,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Fidelity, SimError> {
    let one = |decisions, progress: &mut dyn FnMut(f64) -> bool| {
        let setup = Setup {
            scenario,
            select: Select::Deficit,
            scheduler: true,
            sender,
            receiver,
            seed,
            decisions,
            trace: true,
        };
        run(&setup, progress)
    };
    let rtl = one(Decisions::Rtl, progress)?;
    let model = one(Decisions::Model, progress)?;
    Ok(Fidelity {
        scenario: scenario.name.clone(),
        duration_ms: scenario.duration_ms,
        model: Agreement::of(&rtl.trace, &model.trace),
        event_driven: event_driven(scenario, &rtl.trace, seed)?,
        rtl,
    })
}

/// The scenario as the network simulator's, with the endpoint that has no clock.
fn net_scenario(s: &Scenario) -> NetScenario {
    let (topology, nic_ns) = topology(s);
    let rondo = RondoConfig {
        paths: s.paths.len() as u8,
        window: s.window as u32,
        delay_tolerance_ns: s.delay_tolerance_ns,
        // As in the testbed: no probes, and decisions hold at once.
        probing: false,
        control: ControlTiming::Ideal,
        ..RondoConfig::default()
    };
    let mut net = NetScenario::new(&s.name, topology, TransportConfig::Rondo(rondo));
    net.duration = from_us(s.duration_ms * 1000.0);
    net.first_psn = s.first_psn;
    net.packet = packets(s);
    net.switch = switches(s);
    net.nic = NicConfig {
        turnaround_ns: nic_ns,
        ..NicConfig::default()
    };
    net.traffic.push(Traffic::of(Pattern::Pairs {
        pairs: vec![[0, 1]],
        bytes: None,
        start_us: 0.0,
        stagger_us: 0.0,
    }));
    net.measure.sample_us = 0.0;
    net
}

fn event_driven(s: &Scenario, reference: &[(u32, u8)], seed: u64) -> Result<EventDriven, SimError> {
    let net = net_scenario(s);
    let setup = net.setup(seed).map_err(|e| SimError::Network {
        what: e.to_string(),
    })?;
    let mut simulation = Simulation::new(setup);
    simulation.keep_trace();
    while simulation.run_until(net.duration, u64::MAX) {}
    let m = simulation.metrics();
    let bytes = m.packets * s.packet_bytes as u64;
    Ok(EventDriven {
        order: Agreement::of(reference, simulation.trace()),
        throughput_gbps: gbps(bytes, net.duration),
        ood_avg: m.ood.spread().avg,
    })
}
