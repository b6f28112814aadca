//! Generator library of Rondo: RustHDL to Verilog, with its reports.

pub mod chart;
#[cfg(feature = "cosim")]
pub mod cosim;
pub mod nic;
pub mod package;
#[cfg(feature = "cosim")]
pub mod plot;
pub mod shape;
pub mod verilog;
pub mod wrapper;
