//! `rondo net`: the datacenter simulator.

mod all;
mod bench;
#[cfg(feature = "cosim")]
mod fidelity;
mod fig;
mod run;
mod sweep;

use super::CommandError;
use clap::{Args, Subcommand};

/// Simulate a datacenter network with the bit-exact endpoint.
#[derive(Args)]
pub struct Net {
    #[command(subcommand)]
    command: NetCommand,
}

#[derive(Subcommand)]
enum NetCommand {
    /// Run a scenario.
    Run(run::NetRun),
    /// Run a scenario for many seeds.
    Sweep(sweep::NetSweep),
    /// Make a figure of the paper.
    Fig(fig::NetFig),
    /// Make every figure, and a report.
    All(all::NetAll),
    /// Measure the simulator's speed and memory.
    Bench(bench::NetBench),
    /// Compare the simulator's order of packets with the RTL's.
    #[cfg(feature = "cosim")]
    Fidelity(fidelity::NetFidelity),
    /// List a scenario's ports.
    Ports(all::NetPorts),
}

impl Net {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), CommandError> {
        match self.command {
            NetCommand::Run(c) => c.run(),
            NetCommand::Sweep(c) => c.run(),
            NetCommand::Fig(c) => c.run(),
            NetCommand::All(c) => c.run(),
            NetCommand::Bench(c) => c.run(),
            #[cfg(feature = "cosim")]
            NetCommand::Fidelity(c) => c.run(),
            NetCommand::Ports(c) => c.run(),
        }
    }
}
