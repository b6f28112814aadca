//! Generator library of Rondo: RustHDL to Verilog, with its reports.

pub mod chart;
#[cfg(feature = "cosim")]
pub mod cosim;
#[cfg(feature = "cosim")]
pub mod crossing;
pub mod nic;
pub mod package;
#[cfg(feature = "cosim")]
pub mod plot;
pub mod registers;
pub mod shape;
pub mod verilog;
pub mod wrapper;
