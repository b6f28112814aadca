//! Stimulus and model of each block.

mod builder;
mod chunks;
mod committer;
mod driver;
mod frame_order;
mod frames;
mod host_side;
mod jobs;
mod packets;
mod picker;
mod receiver;
mod reorder;
mod scoreboard;
mod segmenter;
mod selector;
mod sender;
mod sender_ports;
mod tracker;
mod transmit;

pub use builder::BuilderBench;
pub use committer::CommitterBench;
pub use driver::{Pace, Resets, Rows, Source};
pub use packets::{contents, PacketSource};
pub use picker::PickerBench;
pub use receiver::{ReceiverBench, ReceiverPorts};
pub use reorder::ReorderBench;
pub use scoreboard::Scoreboard;
pub use segmenter::SegmenterBench;
pub use selector::SelectorBench;
pub use sender::SenderBench;
pub use sender_ports::SenderPorts;
pub use tracker::TrackerBench;
pub use transmit::TransmitBench;
