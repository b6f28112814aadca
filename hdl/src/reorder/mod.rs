//! The reorder buffer: packets wait in shared slots until all before them have arrived.

mod drain;
mod ingress;
mod reorder_block;

pub use drain::Drain;
pub use ingress::Ingress;
pub use reorder_block::ReorderBuffer;

/// Slots of 4,096 bytes, log2: 256 slots are 1 MiB of payload.
pub const SLOT_ADDRESS_BITS: usize = 8;
/// Beats of 64 bytes a slot, log2.
pub const BEAT_BITS: usize = 6;
