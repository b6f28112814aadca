//! `rondo net`: the datacenter simulator.

mod fig;
mod run;

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
    /// Run a scenario, once or for many seeds.
    Run(run::NetRun),
    /// Make a figure of the paper.
    Fig(fig::NetFig),
}

impl Net {
    /// Runs the subcommand.
    pub fn run(self) -> Result<(), CommandError> {
        match self.command {
            NetCommand::Run(c) => c.run(),
            NetCommand::Fig(c) => c.run(),
        }
    }
}
