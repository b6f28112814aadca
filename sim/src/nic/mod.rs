//! Two NICs, co-simulated end to end: bytes in, packets through a network of several paths, bytes
//! out; the golden endpoints in lock-step on the same inputs.

mod axis;
mod bits;
pub mod control;
pub mod endpoint;
pub mod file;
pub mod golden_rx;
pub mod golden_tx;
pub mod host;
pub mod mesh;
pub mod run;
pub mod scenario;
