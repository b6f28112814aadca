//! The shapes that the generator offers, and the blocks it can make of each.

use crate::verilog::{print_design, Design, VerilogError};
use rondo_hdl::control::AxilCrossing;
use rondo_hdl::control::RegisterSlave;
use rondo_hdl::ledger::Ledger;
use rondo_hdl::picker::PsnPicker;
use rondo_hdl::reorder::{ReorderBuffer, TAG_BITS};
use rondo_hdl::rx::Delivery;
use rondo_hdl::rx::FrameParser;
use rondo_hdl::selector::DeficitSelector;
use rondo_hdl::top::{ReceiverDatapath, SenderDatapath};
use rondo_hdl::tracker::BitmapTracker;
use rondo_hdl::tx::Committer;
use rondo_hdl::tx::FlowScheduler;
use rondo_hdl::tx::FrameBuilder;
use rondo_hdl::tx::Segmenter;
use rondo_hdl::tx::TransmitPath;
use rondo_models::registers::Build;
use rondo_models::reorder::Buffer;
use rust_hdl::core::prelude::Block as RustHdlBlock;
use serde::Serialize;

/// Paths a flow: the menu.
pub const PATHS: [usize; 4] = [2, 4, 8, 16];
/// Window in PSNs: the menu.
pub const WINDOWS: [usize; 3] = [128, 256, 512];
/// Flows: any power of two in this range.
pub const FLOWS: std::ops::RangeInclusive<usize> = 2..=1024;

/// Slots of the transmit pool, shared by all flows.
pub const TRANSMIT_SLOTS: usize = 1024;
/// Slots of the reorder buffer: the menu.
pub const SLOTS: [usize; 2] = [256, 512];
/// Bytes of a slot: the menu.
pub const SLOT_BYTES: [usize; 2] = [4096, 16384];

/// A shape of the datapath.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Paths a flow.
    pub paths: usize,
    /// Window in PSNs.
    pub window: usize,
    /// Flows.
    pub flows: usize,
    /// Slots of the reorder buffer.
    pub slots: usize,
    /// Bytes of a slot.
    pub slot_bytes: usize,
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
    /// Slots not on the menu.
    #[error("--slots {0} is not on the menu: choose 256 or 512")]
    Slots(usize),
    /// Bytes of a slot not on the menu.
    #[error("--slot-bytes {0} is not on the menu: choose 4096 or 16384")]
    SlotBytes(usize),
}

impl Shape {
    /// A shape from the menu, with the smallest reorder buffer.
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
            slots: Buffer::DEFAULT.slots,
            slot_bytes: Buffer::DEFAULT.slot_bytes,
        })
    }

    /// The same with another reorder buffer from the menu.
    ///
    /// # Errors
    /// [`ShapeError`] names what is not on the menu.
    pub fn with_buffer(self, slots: usize, slot_bytes: usize) -> Result<Self, ShapeError> {
        if !SLOTS.contains(&slots) {
            return Err(ShapeError::Slots(slots));
        }
        if !SLOT_BYTES.contains(&slot_bytes) {
            return Err(ShapeError::SlotBytes(slot_bytes));
        }
        Ok(Self {
            slots,
            slot_bytes,
            ..self
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
            transmit_slots_log2: TRANSMIT_SLOTS.ilog2(),
            receive_slots_log2: self.slots.ilog2(),
            slot_beats_log2: (self.slot_bytes / 64).ilog2(),
        }
    }

    /// Size of the reorder buffer.
    pub fn buffer(self) -> Buffer {
        Buffer {
            slots: self.slots,
            slot_bytes: self.slot_bytes,
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
    /// Ledger of the transmit pool.
    Ledger,
    /// Sender datapath.
    Sender,
    /// Receiver datapath.
    Receiver,
    /// Flow scheduler.
    Scheduler,
    /// Frame parser.
    Parser,
    /// Segmenter, with slots of 4,096 bytes.
    Segmenter,
    /// Frame builder, with slots of 4,096 bytes.
    Builder,
    /// Committer of the segmenter.
    Committer,
    /// Segmenter, pool and frame builder.
    Transmit,
    /// Register slave.
    Registers,
    /// Crossing of the register bus from another clock.
    Crossing,
    /// Host stream out.
    Delivery,
}

impl Block {
    /// All blocks, in dependency order.
    pub const ALL: [Block; 16] = [
        Block::Selector,
        Block::Picker,
        Block::Tracker,
        Block::Reorder,
        Block::Ledger,
        Block::Sender,
        Block::Receiver,
        Block::Scheduler,
        Block::Parser,
        Block::Segmenter,
        Block::Builder,
        Block::Committer,
        Block::Transmit,
        Block::Registers,
        Block::Crossing,
        Block::Delivery,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Block::Selector => "selector",
            Block::Picker => "picker",
            Block::Tracker => "tracker",
            Block::Reorder => "reorder",
            Block::Ledger => "ledger",
            Block::Sender => "sender",
            Block::Receiver => "receiver",
            Block::Scheduler => "scheduler",
            Block::Parser => "parser",
            Block::Segmenter => "segmenter",
            Block::Builder => "builder",
            Block::Committer => "committer",
            Block::Transmit => "transmit",
            Block::Registers => "registers",
            Block::Crossing => "crossing",
            Block::Delivery => "delivery",
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
                128 => Box::new(BitmapTracker::<2, 1, TAG_BITS>::new(flows)),
                256 => Box::new(BitmapTracker::<4, 2, TAG_BITS>::new(flows)),
                _ => Box::new(BitmapTracker::<8, 3, TAG_BITS>::new(flows)),
            },
            Block::Ledger => Box::new(Ledger::new(flows, shape.paths, TRANSMIT_SLOTS)),
            Block::Reorder => reorder(shape),
            Block::Sender => sender(shape),
            Block::Receiver => receiver(shape),
            Block::Scheduler => Box::new(FlowScheduler::new(flows, shape.paths)),
            Block::Parser => Box::new(FrameParser::new(flows)),
            Block::Segmenter => Box::new(Segmenter::<6>::new(flows)),
            Block::Builder => Box::new(FrameBuilder::<6>::default()),
            Block::Committer => Box::new(Committer::new(flows)),
            Block::Transmit => Box::new(TransmitPath::<6>::new(flows)),
            Block::Registers => Box::new(RegisterSlave::new(&shape.build())),
            Block::Crossing => Box::new(AxilCrossing::default()),
            Block::Delivery => Box::new(Delivery::default()),
        }
    }
}

/// The reorder buffer. The first parameter is `Buffer::table_psns`, log2.
fn reorder(shape: Shape) -> Box<dyn RustHdlBlock> {
    let (flows, slots) = (shape.flows, shape.slots);
    match (shape.buffer().table_psns(shape.window), shape.slot_bytes) {
        (512, 4096) => Box::new(ReorderBuffer::<9, 6>::new(flows, slots)),
        (512, _) => Box::new(ReorderBuffer::<9, 8>::new(flows, slots)),
        (_, 4096) => Box::new(ReorderBuffer::<10, 6>::new(flows, slots)),
        (_, _) => Box::new(ReorderBuffer::<10, 8>::new(flows, slots)),
    }
}

/// The receiver datapath. Its parameters are the tracker's, then the reorder buffer's.
fn receiver(shape: Shape) -> Box<dyn RustHdlBlock> {
    let (flows, slots) = (shape.flows, shape.slots);
    let table_psns = shape.buffer().table_psns(shape.window);
    match (shape.window, table_psns, shape.slot_bytes) {
        (128, 512, 4096) => Box::new(ReceiverDatapath::<2, 1, 9, 6>::new(flows, slots)),
        (128, 512, _) => Box::new(ReceiverDatapath::<2, 1, 9, 8>::new(flows, slots)),
        (128, _, 4096) => Box::new(ReceiverDatapath::<2, 1, 10, 6>::new(flows, slots)),
        (128, _, _) => Box::new(ReceiverDatapath::<2, 1, 10, 8>::new(flows, slots)),
        (256, 512, 4096) => Box::new(ReceiverDatapath::<4, 2, 9, 6>::new(flows, slots)),
        (256, 512, _) => Box::new(ReceiverDatapath::<4, 2, 9, 8>::new(flows, slots)),
        (256, _, 4096) => Box::new(ReceiverDatapath::<4, 2, 10, 6>::new(flows, slots)),
        (256, _, _) => Box::new(ReceiverDatapath::<4, 2, 10, 8>::new(flows, slots)),
        (_, _, 4096) => Box::new(ReceiverDatapath::<8, 3, 10, 6>::new(flows, slots)),
        (_, _, _) => Box::new(ReceiverDatapath::<8, 3, 10, 8>::new(flows, slots)),
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
