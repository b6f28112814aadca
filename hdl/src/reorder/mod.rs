//! The reorder buffer: packets wait in shared slots until all before them have arrived.

mod ack_queue;
mod drain;
mod free_list;
mod host_queue;
mod ingress;
mod reorder_block;

pub use ack_queue::AckQueue;
pub use drain::Drain;
pub use free_list::FreeList;
pub use host_queue::HostQueue;
pub use ingress::Ingress;
pub use reorder_block::ReorderBuffer;

/// Bits of a slot number: up to 512 slots.
pub const SLOT_BITS: usize = 9;

/// Bits of a beat's address: slot, then beat, of which a slot has up to 256.
pub const BEAT_ADDRESS_BITS: usize = SLOT_BITS + 8;

/// Bits of what travels with an arrival through the tracker: slot, path, two timestamps.
pub const TAG_BITS: usize = SLOT_BITS + 4 + 32 + 32;

/// Bits of a packet's place in its message.
pub const PLACE_BITS: usize = 112;
