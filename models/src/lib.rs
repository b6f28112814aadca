//! Golden models of the Rondo transport: the one place where its decisions are computed.
//!
//! Two forms of every block:
//!
//! * **functional** (`no_std`, no allocation): one call, one decision; what firmware, simulator and
//!   oracle tests use;
//! * **cycle-accurate** ([`cycle`], needs `std`): the same functions behind the block's pipeline,
//!   clock by clock; what the RTL is compared with.
//!
//! All arithmetic is integer; formats are written `UQm.f` (unsigned, `m` integer bits, `f`
//! fraction bits).
#![cfg_attr(not(feature = "std"), no_std)]

pub mod arcc;
pub mod baseline;
pub mod budget;
pub mod control;
#[cfg(feature = "std")]
pub mod cycle;
pub mod deficit;
pub mod delivery;
pub mod fixed;
pub mod ledger;
#[cfg(feature = "std")]
pub mod oracle;
pub mod pacing;
pub mod picker;
pub mod probing;
pub mod psn;
pub mod recovery;
pub mod registers;
pub mod reorder;
pub mod round_robin;
pub mod rx;
pub mod schedule;
pub mod segmenter;
pub mod skips;
pub mod tracker;
pub mod wire;
