//! Tracking which PSNs of a flow arrived, and how far it is complete.
//!
//! The same block stands in the receiver (arrivals) and in the sender (acknowledgements).

mod arrival_bits;
mod first_missing;
mod judge;
mod tracker_block;

pub use arrival_bits::ArrivalBits;
pub use first_missing::FirstMissing;
pub use judge::Judge;
pub use tracker_block::BitmapTracker;

/// Clocks between two arrivals of one flow.
pub const OWN_FLOW_INTERVAL: usize = 8;
