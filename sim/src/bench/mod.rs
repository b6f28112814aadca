//! Stimulus and model of each block.

mod driver;
mod packets;
mod picker;
mod receiver;
mod reorder;
mod selector;
mod sender;
mod tracker;

pub use driver::{Pace, Rows, Source};
pub use packets::{contents, PacketSource};
pub use picker::PickerBench;
pub use receiver::ReceiverBench;
pub use reorder::ReorderBench;
pub use selector::SelectorBench;
pub use sender::SenderBench;
pub use tracker::TrackerBench;
