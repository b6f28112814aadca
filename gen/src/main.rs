//! The `rondo` command.

mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    command::Cli::parse().run()
}
