//! Stimulus and model of each block.

mod driver;
mod selector;

pub use driver::{Pace, Rows, Source};
pub use selector::SelectorBench;
