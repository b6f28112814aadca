//! What became of every packet in the transmit pool: sent, acknowledged, lost.
//!
//! The one place where the three directions meet, transmit, ACKs and the search for lost packets:
//! all their events pass through one pipeline, so each record has one writer.

mod event_arbiter;
mod heal_check;
mod ledger_block;
mod loss_judge;
mod slot_lookup;
mod slot_pool;
mod witness;

pub use event_arbiter::EventArbiter;
pub use heal_check::HealCheck;
pub use ledger_block::Ledger;
pub use loss_judge::LossJudge;
pub use slot_lookup::SlotLookup;
pub use slot_pool::SlotPool;
pub use witness::FlowWitness;

/// Bits of a transmit slot's number.
pub const SLOT_BITS: usize = 10;
/// Bits of the word that an event is: kind 2:0, path 6:3, flow 16:7, PSN 40:17, next expected PSN
/// 64:41, send time 96:65, receive time 128:97, time now 160:129, slot 170:161.
pub const EVENT_BITS: usize = 171;
/// Clocks for which an event keeps others of the same slot out, and an ACK those of the same flow.
pub const EVENT_INTERVAL: usize = 5;
