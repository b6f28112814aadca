//! Subcommands, one file each, and what they share: errors, seeds, progress, JSON.

#[cfg(feature = "cosim")]
mod bench;
#[cfg(feature = "cosim")]
mod budget;
#[cfg(feature = "cosim")]
mod cosim;
mod gen;
mod long_run;
mod net;
#[cfg(feature = "cosim")]
mod parser_waves;
mod registers;
#[cfg(feature = "cosim")]
mod run;
#[cfg(feature = "cosim")]
mod run_mesh;
#[cfg(feature = "cosim")]
mod wavedrom;

use clap::{Args, Parser, Subcommand};
use rondo::shape::{Shape, ShapeError};
use rondo::verilog::VerilogError;
use std::process::ExitCode;

/// Hardware-design generator for the Rondo packet-spraying NIC transport.
#[derive(Parser)]
#[command(version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate the datapath's Verilog.
    Gen(gen::Gen),
    /// Write what is generated from the register map, or check it.
    Registers(registers::Registers),
    /// Compare the generated Verilog with its model on every clock.
    #[cfg(feature = "cosim")]
    Cosim(cosim::Cosim),
    /// Run a scenario in closed loop, the RTL making every decision.
    #[cfg(feature = "cosim")]
    Run(run::Run),
    /// Cycle budgets at line rate, from what is measured on the Verilog.
    #[cfg(feature = "cosim")]
    Budget(budget::Budget),
    /// Simulate a datacenter network with the bit-exact endpoint.
    Net(net::Net),
    /// Measure co-simulation speed, checked and unchecked.
    #[cfg(feature = "cosim")]
    Bench(bench::Bench),
    /// Print a block's timing diagram from a real run, as WaveJSON.
    #[cfg(feature = "cosim")]
    Wavedrom(wavedrom::Wavedrom),
}

/// What a command may fail with; each prints as one message.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A shape off the menu.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A fault of the RustHDL source.
    #[error(transparent)]
    Verilog(#[from] VerilogError),
    /// Co-simulation cannot run.
    #[cfg(feature = "cosim")]
    #[error(transparent)]
    Sim(#[from] rondo_sim::SimError),
    /// A scenario file.
    #[cfg(feature = "cosim")]
    #[error(transparent)]
    Scenario(#[from] rondo_sim::testbed::scenario::ScenarioError),
    /// A network scenario.
    #[error(transparent)]
    NetScenario(#[from] rondo_net::scenario::ScenarioError),
    /// The checks ran and did not hold.
    #[error("{0}")]
    Failed(String),
    /// A file.
    #[error("{path}: {source}")]
    File {
        /// Path.
        path: std::path::PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Cli {
    /// Runs the subcommand; errors go to standard error as one message.
    pub fn run(self) -> ExitCode {
        let result = match self.command {
            Command::Gen(c) => c.run(),
            Command::Registers(c) => c.run(),
            #[cfg(feature = "cosim")]
            Command::Cosim(c) => c.run(),
            #[cfg(feature = "cosim")]
            Command::Run(c) => c.run(),
            #[cfg(feature = "cosim")]
            Command::Budget(c) => c.run(),
            Command::Net(c) => c.run(),
            #[cfg(feature = "cosim")]
            Command::Bench(c) => c.run(),
            #[cfg(feature = "cosim")]
            Command::Wavedrom(c) => c.run(),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("rondo: {e}");
                ExitCode::FAILURE
            }
        }
    }
}

/// The shape options that several commands share.
#[derive(Args, Clone, Copy)]
pub struct ShapeArgs {
    /// Paths a flow: 2, 4, 8 or 16.
    #[arg(long, default_value_t = 4)]
    paths: usize,
    /// Window in PSNs: 128, 256 or 512.
    #[arg(long, default_value_t = 128)]
    window: usize,
    /// Slots of the reorder buffer: 256 or 512.
    #[arg(long, default_value_t = 256)]
    slots: usize,
    /// Bytes of a slot: 4096 or 16384.
    #[arg(long, default_value_t = 4096)]
    slot_bytes: usize,
}

impl ShapeArgs {
    fn shape(self, flows: usize) -> Result<Shape, ShapeError> {
        Shape::new(self.paths, self.window, flows)?.with_buffer(self.slots, self.slot_bytes)
    }
}

/// Prints `value` as the one JSON object on standard output.
///
/// # Errors
/// [`CommandError::File`] when standard output is closed.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let file = |source| CommandError::File {
        path: "standard output".into(),
        source,
    };
    let text = serde_json::to_string_pretty(value).map_err(|e| file(e.into()))?;
    print_text(&(text + "\n"))
}

/// Prints `text` on standard output.
///
/// # Errors
/// [`CommandError::File`] when standard output is closed or full.
pub fn print_text(text: &str) -> Result<(), CommandError> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|source| CommandError::File {
            path: "standard output".into(),
            source,
        })
}

/// Writes `text` aside and renames it to `path`: nothing half-written, permissions as the user's umask
/// says.
///
/// # Errors
/// [`CommandError::File`] names `path`.
pub fn write_whole(path: &std::path::Path, text: &str) -> Result<(), CommandError> {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    let write = || {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let mut file = tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(std::path::Path::new(".")))?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|e| e.error)
    };
    write().map(|_| ()).map_err(|source| CommandError::File {
        path: path.to_owned(),
        source,
    })
}

/// Makes `folder` and sees that files can be written there: better now than after a long run.
///
/// # Errors
/// [`CommandError::File`] names `folder`.
pub fn writable(folder: &std::path::Path) -> Result<(), CommandError> {
    std::fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder).map(|_| ()))
        .map_err(|source| CommandError::File {
            path: folder.to_owned(),
            source,
        })
}
