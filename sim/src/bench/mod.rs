//! Stimulus and model of each block.

mod driver;
mod picker;
mod selector;
mod tracker;

pub use driver::{Pace, Rows, Source};
pub use picker::PickerBench;
pub use selector::SelectorBench;
pub use tracker::TrackerBench;
