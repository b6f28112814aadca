//! Primitives: register, synchroniser, delay, block RAM, ROM, the name of a Verilog module, names of
//! indices.
//!
//! The Verilog back end knows registers, RAM and ROM by their markers and names by their
//! namespaces; everything else is ordinary RustHDL.

mod crc;
mod delay;
mod index_names;
mod module_id;
mod ram;
mod register;
mod rom;
mod sync_reg;

pub use crc::Crc32c;
pub use delay::Delay;
pub use index_names::IndexNames;
pub use module_id::ModuleId;
pub use ram::{Ram, RAM_MARKER};
pub use register::{Reg, REGISTER_MARKER};
pub use rom::{Rom, ROM_MARKER};
pub use sync_reg::{SyncReg, SYNCHRONISER_MARKER};
