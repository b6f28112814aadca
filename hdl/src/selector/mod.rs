//! Deficit-based path selection: one decision a clock across flows.

mod argmax;
mod path_lane;
mod selector_block;

pub use argmax::Argmax4;
pub use path_lane::PathLane;
pub use selector_block::DeficitSelector;

/// Clocks between two decisions of one flow.
pub const OWN_FLOW_INTERVAL: usize = 6;
