//! The paper's testbed (§6.1), closed loop: sender RTL → links and queues → receiver RTL → ACKs
//! back, with ARCC on the host's side.
//!
//! [`scenario`] is what the user writes; [`network`] the links between the two NICs; [`control`]
//! the ARCC host; [`transmit`] and [`receive`] the two tops in co-simulation, checked on every
//! clock; [`run`] the loop; [`metrics`] what it reports;
//! [`fidelity`] compares the order of packets with the network simulator's.

pub mod control;
pub mod fidelity;
pub mod metrics;
pub mod network;
pub mod receive;
pub mod run;
pub mod scenario;
pub mod transmit;

/// Nanoseconds a clock at 250 MHz.
pub const CLOCK_NS: u64 = 4;
