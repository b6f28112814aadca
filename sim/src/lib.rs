//! Lock-step co-simulation: Verilog in Verilator against the cycle-accurate golden model.
//!
//! A design comes as text ([`Verilog`]), is compiled once by Verilator into a shared object and
//! kept in a cache, and is loaded beside its model ([`dut`]). [`lockstep`] clocks both with one
//! stimulus and compares every output on every clock; [`bench`] holds the stimulus and the model
//! of each block.
//!
//! The Verilator runtime itself (contexts, random reset, waves) is linked into the executable
//! through the `verilated` crate; models take it from there.

pub mod bench;
pub mod dut;
pub mod lockstep;
pub mod measure;
pub mod nic;
pub mod testbed;
pub mod trace;
pub mod vectors;
pub mod verilator;

/// A port of the top module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Verilog name.
    pub name: String,
    /// Width in bits, at most 512.
    pub bits: usize,
    /// Driven by the design.
    pub output: bool,
}

/// A design as text: what the generator hands over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verilog {
    /// Name of the top module.
    pub top: String,
    /// File name and text of every module.
    pub files: Vec<(String, String)>,
    /// Ports of the top in declaration order; the clock is called `clk`.
    pub ports: Vec<Port>,
}

impl Port {
    /// 64-bit words that the port takes in an input or output row.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64)
    }
}

impl Verilog {
    /// Input ports but the clock, in row order.
    pub fn inputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|p| !p.output && p.name != "clk")
    }

    /// Output ports, in row order.
    pub fn outputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|p| p.output)
    }
}

/// Why a co-simulation cannot run.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// A tool is not there.
    #[error("`{tool}` was not found: run scripts/setup.sh, or install it and put it on PATH")]
    MissingTool {
        /// Its command.
        tool: String,
    },
    /// Verilator before 5.
    #[error("Verilator 5 or later is needed, found `{found}`: install Debian 12's or later")]
    OldVerilator {
        /// What it says of itself.
        found: String,
    },
    /// A tool failed on the generated design: a fault of Rondo.
    #[error("{tool} failed on the generated Verilog:\n{output}")]
    Tool {
        /// Which.
        tool: String,
        /// What it said.
        output: String,
    },
    /// A tool was ended by a signal, as by Ctrl-C.
    #[error("{tool} was stopped")]
    Stopped {
        /// Which.
        tool: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path.
        path: std::path::PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The compiled model could not be loaded.
    #[error("the compiled model {path} cannot be loaded: {reason}; remove it and try again")]
    Load {
        /// Path.
        path: std::path::PathBuf,
        /// Cause.
        reason: String,
    },
    /// The stimulus does not fit the design: a fault of Rondo.
    #[error("the block has no port `{port}`")]
    NoPort {
        /// Port asked for.
        port: String,
    },
    /// A block did not answer.
    #[error("the block does not answer on `{port}`: run `rondo cosim --all`")]
    NoAnswer {
        /// Port waited for.
        port: String,
    },
    /// The network of a scenario cannot be built.
    #[error("the scenario's network cannot be built: {what}")]
    Network {
        /// What is wrong.
        what: String,
    },
}
