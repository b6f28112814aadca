//! Cycle-accurate forms of the blocks.
//!
//! Every pipeline has one `step`: it returns the outputs of the present clock, then takes the
//! clock's inputs across the edge. Each states its latency and initiation interval as constants
//! next to the pipeline; co-simulation measures the same figures on the RTL.

mod door;
mod drain;
pub mod ledger;
pub mod picker;
pub mod receiver;
pub mod reorder;
pub mod selector;
pub mod sender;
pub mod tracker;

pub use door::{Gate, OutputQueue, Pipe, Sweep, DRAIN_CLOCKS, QUEUE_DEPTH};

/// Latency and rate of a stage, in clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the clock in which a request is accepted to the clock in which its result is valid.
    pub latency_clocks: u32,
    /// Least distance of two requests of different flows.
    pub initiation_interval: u32,
    /// Least distance of two requests of one flow.
    pub own_flow_interval: u32,
}
