//! `rondo net fidelity`: the network simulator against the RTL, packet by packet.

use crate::command::long_run::{interrupted, progress_bar, seed_or_random, watch_for_interrupt};
use crate::command::{print_json, print_text, CommandError};
use clap::Args;
use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_sim::testbed::fidelity::{compare, Fidelity};
use rondo_sim::testbed::scenario::Scenario;
use rondo_sim::testbed::transmit::FLOWS;
use std::path::PathBuf;

/// Run a testbed scenario as RTL in co-simulation, with the clocked model, and with the event-driven
/// endpoint, all in the network simulator, and compare the order of packets: PSNs and paths.
#[derive(Args)]
#[command(
    after_help = "Example:\n  rondo net fidelity tests/scenarios/testbed-heterogeneous.toml --seed 1"
)]
pub struct NetFidelity {
    /// Scenario of `rondo run` (TOML).
    scenario: PathBuf,
    /// Network time, ms; the scenario's by default.
    #[arg(long)]
    duration_ms: Option<f64>,
    /// Seed of the designs' random state before reset; random by default. It must change nothing.
    #[arg(long)]
    seed: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl NetFidelity {
    /// Runs and prints.
    pub fn run(self) -> Result<(), CommandError> {
        let mut scenario = Scenario::load(&self.scenario)?;
        if let Some(ms) = self.duration_ms {
            if !(ms > 0.0 && ms <= scenario.duration_ms) {
                return Err(CommandError::Failed(format!(
                    "--duration-ms is {ms}, but must be above 0 and at most the scenario's {}",
                    scenario.duration_ms
                )));
            }
            scenario.duration_ms = ms;
        }
        rondo_sim::verilator::version()?;
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let shape = Shape::new(scenario.paths.len(), scenario.window, FLOWS)?;
        let (sender, receiver) = (
            verilog(Block::Sender, shape)?,
            verilog(Block::Receiver, shape)?,
        );
        let bar = progress_bar(1000, &scenario.name);
        let fidelity = compare(&scenario, &sender, &receiver, seed, &mut |share| {
            bar.set_position((share * 1000.0) as u64);
            !interrupted()
        })?;
        bar.finish_and_clear();
        if interrupted() {
            return Err(CommandError::Interrupted);
        }
        if self.json {
            print_json(&fidelity)?;
        } else {
            print_text(&table(&fidelity))?;
        }
        if fidelity.rtl.mismatches > 0 || !fidelity.model.identical {
            return Err(CommandError::Failed(format!(
                "the network simulator's clocked endpoint parts from the RTL at packet {}",
                fidelity.model.equal
            )));
        }
        Ok(())
    }
}

fn table(f: &Fidelity) -> String {
    let e = &f.event_driven;
    format!(
        "{}, {} ms: {} packets sent by the RTL, {} mismatches in lock-step\n\
         clocked model: {} equal in order, PSN and path; identical: {}\n\
         event-driven endpoint: the first {} equal; {:.2} Gbps (RTL {:.2}), OOD {:.2} (RTL {:.2})\n",
        f.scenario,
        f.duration_ms,
        f.model.packets,
        f.rtl.mismatches,
        f.model.equal,
        f.model.identical,
        e.order.equal,
        e.throughput_gbps,
        f.rtl.throughput_gbps,
        e.ood_avg,
        f.rtl.ood.avg
    )
}
