//! Rondo's per-packet datapath in RustHDL.
//!
//! One block a file. Every block is checked, every output on every clock, against the
//! cycle-accurate model of the same name in `rondo-models`.
//!
//! Conventions shared by all blocks: `clk` and a synchronous, active-high `rst`; valid/ready on
//! every port; memories are simple dual-port with one writer and are cleared by an init sweep.

pub mod control;
pub mod ledger;
pub mod picker;
pub mod prim;
pub mod reorder;
pub mod rx;
pub mod selector;
pub mod stream;
pub mod top;
pub mod tracker;
pub mod tx;
