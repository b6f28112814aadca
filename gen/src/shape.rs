//! The shapes that the generator offers, and the blocks it can make of each.

use crate::verilog::{print_design, Design, VerilogError};
use rondo_hdl::control::{AxilCrossing, RegisterSlave};
use rondo_hdl::picker::PsnPicker;
use rondo_hdl::reorder::ReorderBuffer;
use rondo_hdl::selector::DeficitSelector;
use rondo_hdl::top::{ReceiverDatapath, SenderDatapath};
use rondo_hdl::tracker::BitmapTracker;
use rondo_models::registers::Build;
use rondo_models::reorder::{SLOTS, SLOT_BEATS};
use rust_hdl::core::prelude::Block as RustHdlBlock;
use serde::Serialize;

/// Paths a flow: the menu.
pub const PATHS: [usize; 4] = [2, 4, 8, 16];
/// Window in PSNs: the menu.
pub const WINDOWS: [usize; 3] = [128, 256, 512];
/// Flows: any power of two in this range.
pub const FLOWS: std::ops::RangeInclusive<usize> = 2..=1024;

/// A shape of the datapath.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Paths a flow.
    pub paths: usize,
    /// Window in PSNs.
    pub window: usize,
    /// Flows.
    pub flows: usize,
}

/// A shape that is not on the menu.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Paths not on the menu.
    #[error("--paths {0} is not on the menu: choose 2, 4, 8 or 16")]
    Paths(usize),
    /// Window not on the menu.
    #[error("--window {0} is not on the menu: choose 128, 256 or 512 PSNs")]
    Window(usize),
    /// Flows out of range.
    #[error("--flows {0} is impossible: choose a power of two from 2 to 1024")]
    Flows(usize),
}

impl Shape {
    /// A shape from the menu.
    ///
    /// # Errors
    /// [`ShapeError`] names what is not on the menu.
    pub fn new(paths: usize, window: usize, flows: usize) -> Result<Self, ShapeError> {
        if !PATHS.contains(&paths) {
            return Err(ShapeError::Paths(paths));
        }
        if !WINDOWS.contains(&window) {
            return Err(ShapeError::Window(window));
        }
        if !FLOWS.contains(&flows) || !flows.is_power_of_two() {
            return Err(ShapeError::Flows(flows));
        }
        Ok(Self {
            paths,
            window,
            flows,
        })
    }

    /// What the register block says of itself when it is generated alone: its source is not known.
    pub fn build(self) -> Build {
        Build {
            git_hash: 0xffff_ffff,
            git_dirty: true,
            paths: self.paths as u32,
            window_log2: self.window.ilog2(),
            flows_log2: self.flows.ilog2(),
            transmit_slots_log2: 9,
            receive_slots_log2: SLOTS.ilog2(),
            slot_beats_log2: SLOT_BEATS.ilog2(),
        }
    }
}

/// A block that can be generated and co-simulated by itself, or a top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// Deficit selector.
    Selector,
    /// Skip-indexed unsent-PSN picker.
    Picker,
    /// Bitmap tracker.
    Tracker,
    /// Reorder buffer.
    Reorder,
    /// Sender datapath.
    Sender,
    /// Receiver datapath.
    Receiver,
    /// Register slave.
    Registers,
    /// AXI4-Lite between two clocks.
    Crossing,
}

impl Block {
    /// All blocks, in dependency order.
    pub const ALL: [Block; 8] = [
        Block::Selector,
        Block::Picker,
        Block::Tracker,
        Block::Reorder,
        Block::Sender,
        Block::Receiver,
        Block::Registers,
        Block::Crossing,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Block::Selector => "selector",
            Block::Picker => "picker",
            Block::Tracker => "tracker",
            Block::Reorder => "reorder",
            Block::Sender => "sender",
            Block::Receiver => "receiver",
            Block::Registers => "registers",
            Block::Crossing => "crossing",
        }
    }

    /// Prints the block in `shape`.
    ///
    /// # Errors
    /// [`VerilogError`] is a fault of the block's RustHDL.
    pub fn print(self, shape: Shape) -> Result<Design, VerilogError> {
        print_design(self.build(shape).as_ref())
    }

    fn build(self, shape: Shape) -> Box<dyn RustHdlBlock> {
        let flows = shape.flows;
        match self {
            Block::Selector => match shape.paths {
                2 => Box::new(DeficitSelector::<2, 1>::new(flows)),
                4 => Box::new(DeficitSelector::<4, 1>::new(flows)),
                8 => Box::new(DeficitSelector::<8, 2>::new(flows)),
                _ => Box::new(DeficitSelector::<16, 4>::new(flows)),
            },
            Block::Picker => match shape.window {
                128 => Box::new(PsnPicker::<2, 1>::new(flows)),
                256 => Box::new(PsnPicker::<4, 2>::new(flows)),
                _ => Box::new(PsnPicker::<8, 3>::new(flows)),
            },
            Block::Tracker => match shape.window {
                128 => Box::new(BitmapTracker::<2, 1>::new(flows)),
                256 => Box::new(BitmapTracker::<4, 2>::new(flows)),
                _ => Box::new(BitmapTracker::<8, 3>::new(flows)),
            },
            // The last parameter is `rondo_models::reorder::table_psns`, log2.
            Block::Reorder => match shape.window {
                128 | 256 => Box::new(ReorderBuffer::<9>::new(flows)),
                _ => Box::new(ReorderBuffer::<10>::new(flows)),
            },
            Block::Sender => sender(shape),
            Block::Receiver => match shape.window {
                128 => Box::new(ReceiverDatapath::<2, 1, 9>::new(flows)),
                256 => Box::new(ReceiverDatapath::<4, 2, 9>::new(flows)),
                _ => Box::new(ReceiverDatapath::<8, 3, 10>::new(flows)),
            },
            Block::Registers => Box::new(RegisterSlave::new(&shape.build())),
            Block::Crossing => Box::new(AxilCrossing::default()),
        }
    }
}

/// The sender datapath: the one block that depends on both paths and window.
fn sender(shape: Shape) -> Box<dyn RustHdlBlock> {
    let flows = shape.flows;
    match (shape.paths, shape.window) {
        (2, 128) => Box::new(SenderDatapath::<2, 1, 1, 2, 1>::new(flows)),
        (2, 256) => Box::new(SenderDatapath::<2, 1, 1, 4, 2>::new(flows)),
        (2, _) => Box::new(SenderDatapath::<2, 1, 1, 8, 3>::new(flows)),
        (4, 128) => Box::new(SenderDatapath::<4, 1, 2, 2, 1>::new(flows)),
        (4, 256) => Box::new(SenderDatapath::<4, 1, 2, 4, 2>::new(flows)),
        (4, _) => Box::new(SenderDatapath::<4, 1, 2, 8, 3>::new(flows)),
        (8, 128) => Box::new(SenderDatapath::<8, 2, 3, 2, 1>::new(flows)),
        (8, 256) => Box::new(SenderDatapath::<8, 2, 3, 4, 2>::new(flows)),
        (8, _) => Box::new(SenderDatapath::<8, 2, 3, 8, 3>::new(flows)),
        (_, 128) => Box::new(SenderDatapath::<16, 4, 4, 2, 1>::new(flows)),
        (_, 256) => Box::new(SenderDatapath::<16, 4, 4, 4, 2>::new(flows)),
        (_, _) => Box::new(SenderDatapath::<16, 4, 4, 8, 3>::new(flows)),
    }
}
