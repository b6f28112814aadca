//! The control side: register map, its AXI4-Lite slave.

mod counter_bank;
mod decode;
mod register_slave;
mod register_values;
mod register_word;

pub use counter_bank::CounterBank;
pub use register_slave::{RegisterSlave, SlaveState};
pub use register_values::RegisterValues;
pub use register_word::RegisterWord;
