//! The transmit side: from posted packets to frames.

mod earned;
mod event_door;
mod flow_scheduler;
mod flow_word;
mod longest_wait;
mod round_robin;
mod wait_queue;

pub use earned::Earned;
pub use event_door::EventDoor;
pub use flow_scheduler::FlowScheduler;
pub use flow_word::FlowWord;
pub use longest_wait::LongestWait;
pub use round_robin::RoundRobin;
pub use wait_queue::WaitQueue;

/// Wait queues of the flow scheduler.
const WAITS: usize = rondo_models::schedule::WAITS_LOG2_NS.len();
/// Bits of a clock in a wait queue: a flow waits at most 2^26 ns too long, and only when nobody took
/// it out for so long.
const WAIT_CLOCK_BITS: usize = 26;
