//! Tracking which PSNs of a flow arrived, and how far it is complete.
//!
//! The same block stands in the receiver (arrivals) and in the sender (acknowledgements).

mod arrival_bits;
mod arrived_word;
mod first_missing;
mod group_runs;
mod judge;
mod tracker_block;
mod verdict_queue;

pub use arrival_bits::ArrivalBits;
pub use arrived_word::ArrivedWord;
pub use first_missing::FirstMissing;
pub use group_runs::GroupRuns;
pub use judge::Judge;
pub use tracker_block::BitmapTracker;
pub use verdict_queue::VerdictQueue;

/// Clocks between two arrivals of one flow.
pub const OWN_FLOW_INTERVAL: usize = 8;
