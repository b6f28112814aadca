//! Generator library of Rondo: RustHDL to Verilog, with its reports.

pub mod verilog;
