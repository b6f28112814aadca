//! The reorder buffer: packets wait in shared slots until all before them have arrived.

mod drain;
mod ingress;
mod reorder_block;

pub use drain::Drain;
pub use ingress::Ingress;
pub use reorder_block::ReorderBuffer;
