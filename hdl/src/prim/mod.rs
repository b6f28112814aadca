//! Primitives: register, delay, block RAM, ROM, CRC, and the name of a Verilog module.
//!
//! The Verilog back end knows register, RAM and ROM by their markers and the name by its
//! namespace; everything else is ordinary RustHDL.

mod crc;
mod delay;
mod module_id;
mod ram;
mod register;
mod rom;

pub use crc::Crc32c;
pub use delay::Delay;
pub use module_id::ModuleId;
pub use ram::{Ram, RAM_MARKER};
pub use register::{Reg, REGISTER_MARKER};
pub use rom::{Rom, ROM_MARKER};
