//! Primitives the Verilog back end knows by their markers: register, block RAM, ROM, module name.

mod module_id;
mod ram;
mod register;
mod rom;

pub use module_id::ModuleId;
pub use ram::{Ram, RAM_MARKER};
pub use register::{Reg, REGISTER_MARKER};
pub use rom::{Rom, ROM_MARKER};
