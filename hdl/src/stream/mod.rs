//! What every block's ports are made of: output queue, register stage, issue gate, init sweep.

mod init_sweep;
mod issue_gate;
mod level_fifo;
mod skid;
mod stream_fifo;

pub use init_sweep::InitSweep;
pub use issue_gate::IssueGate;
pub use level_fifo::LevelFifo;
pub use skid::Skid;
pub use stream_fifo::StreamFifo;

/// Depth of a block's output queue, log2.
///
/// A pipeline never stalls: it accepts work only while the queue has room for all that is on its
/// way, so 2^5 must exceed the longest pipeline's latency for full rate.
pub const QUEUE_ADDRESS_BITS: usize = 5;

/// Bits of a flow number: up to 1,024 flows.
pub const FLOW_BITS: usize = 10;
