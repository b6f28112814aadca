//! Stimulus and model of each block.

mod delivery;
mod driver;
mod frames;
mod ledger;
mod ledger_check;
mod packets;
mod parser;
mod picker;
mod receiver;
mod reorder;
mod schedule_replay;
mod scheduler;
mod scoreboard;
mod selector;
mod sender;
mod sender_ports;
mod tracker;

pub use delivery::DeliveryBench;
pub use driver::{Pace, Reached, Resets, Rows, Source};
pub use frames::FrameSource;
pub use ledger::LedgerBench;
pub use ledger_check::{LedgerCheck, Reach};
pub use packets::{contents, PacketSource};
pub use parser::ParserBench;
pub use picker::PickerBench;
pub use receiver::{ReceiverBench, ReceiverPorts};
pub use reorder::ReorderBench;
pub use scheduler::SchedulerBench;
pub use scoreboard::Scoreboard;
pub use selector::SelectorBench;
pub use sender::SenderBench;
pub use sender_ports::SenderPorts;
pub use tracker::TrackerBench;
