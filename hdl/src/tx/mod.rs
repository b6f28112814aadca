//! The transmit side: the host's chunks to packets in slots, jobs to frames.

mod chunk_check;
mod chunk_cutter;
mod committer;
mod frame_builder;
mod frame_preparer;
mod frame_writer;
mod job_choice;
mod segmenter;
mod timestamp_crc;
mod transmit_path;
mod wire_order;

pub use chunk_check::ChunkCheck;
pub use chunk_cutter::{ChunkCutter, CutState};
pub use committer::Committer;
pub use frame_builder::FrameBuilder;
pub use frame_preparer::FramePreparer;
pub use frame_writer::FrameWriter;
pub use job_choice::JobChoice;
pub use segmenter::Segmenter;
pub use timestamp_crc::TimestampCrc;
pub use transmit_path::TransmitPath;
pub use wire_order::WireOrder;
