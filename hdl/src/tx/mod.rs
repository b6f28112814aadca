//! The transmit side: the host's chunks to packets in slots, jobs to frames.

mod chunk_check;
mod chunk_cutter;
mod committer;
mod segmenter;

pub use chunk_check::ChunkCheck;
pub use chunk_cutter::{ChunkCutter, CutState};
pub use committer::Committer;
pub use segmenter::Segmenter;
