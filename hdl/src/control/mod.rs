//! The control side: register map, its AXI4-Lite slave, and the way to it from another clock.

mod axil_crossing;
mod counter_bank;
mod crossing_sink;
mod crossing_source;
mod decode;
mod flow_door;
mod handshake;
mod register_slave;
mod register_values;
mod register_word;

pub use axil_crossing::AxilCrossing;
pub use counter_bank::CounterBank;
pub use crossing_sink::CrossingSink;
pub use crossing_source::CrossingSource;
pub use flow_door::{DoorState, FlowDoor, PARTS};
pub use handshake::{HandshakeSink, HandshakeSource};
pub use register_slave::{RegisterSlave, SlaveState};
pub use register_values::RegisterValues;
pub use register_word::RegisterWord;
