//! Stimulus and model of each block.

mod axil;
mod crossing;
mod crossing_order;
mod driver;
mod packets;
mod picker;
mod receiver;
mod register_stimulus;
mod registers;
mod reorder;
mod scoreboard;
mod selector;
mod sender;
mod sender_ports;
mod tracker;

pub use crossing::CrossingBench;
pub use driver::{Pace, Resets, Rows, Source};
pub use packets::{contents, PacketSource};
pub use picker::PickerBench;
pub use receiver::{ReceiverBench, ReceiverPorts};
pub use registers::RegistersBench;
pub use reorder::ReorderBench;
pub use scoreboard::Scoreboard;
pub use selector::SelectorBench;
pub use sender::SenderBench;
pub use sender_ports::SenderPorts;
pub use tracker::TrackerBench;
