//! The transmit side: the host's chunks to packets in slots, flows in turn, jobs to frames.

mod chunk_check;
mod chunk_cutter;
mod committer;
mod earned;
mod event_door;
mod flow_scheduler;
mod flow_word;
mod frame_builder;
mod frame_preparer;
mod frame_writer;
mod job_choice;
mod longest_wait;
mod round_robin;
mod segmenter;
mod timestamp_crc;
mod transmit_path;
mod wait_queue;
mod wire_order;

pub use chunk_check::ChunkCheck;
pub use chunk_cutter::{ChunkCutter, CutState};
pub use committer::Committer;
pub use earned::Earned;
pub use event_door::EventDoor;
pub use flow_scheduler::FlowScheduler;
pub use flow_word::FlowWord;
pub use frame_builder::FrameBuilder;
pub use frame_preparer::FramePreparer;
pub use frame_writer::FrameWriter;
pub use job_choice::JobChoice;
pub use longest_wait::LongestWait;
pub use round_robin::RoundRobin;
pub use segmenter::Segmenter;
pub use timestamp_crc::TimestampCrc;
pub use transmit_path::TransmitPath;
pub use wait_queue::WaitQueue;
pub use wire_order::WireOrder;

/// Wait queues of the flow scheduler.
const WAITS: usize = rondo_models::schedule::WAITS_LOG2_NS.len();
/// Bits of a clock in a wait queue: a flow waits at most 2^26 ns too long, and only when nobody took
/// it out for so long.
const WAIT_CLOCK_BITS: usize = 26;
