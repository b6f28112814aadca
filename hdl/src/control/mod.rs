//! What stands between the datapath and who controls it.

mod flow_door;

pub use flow_door::{DoorState, FlowDoor, PARTS};
