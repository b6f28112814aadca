//! Joins the generator with the co-simulation: a block's Verilog and its bench.

use crate::shape::{Block, Shape, TRANSMIT_SLOTS};
use crate::verilog::{Design, Direction, VerilogError};
use rondo_sim::bench::{
    BuilderBench, CommitterBench, CrossingBench, DeliveryBench, LedgerBench, ParserBench,
    PickerBench, ReceiverBench, RegistersBench, ReorderBench, SchedulerBench, SegmenterBench,
    SelectorBench, SenderBench, TrackerBench, TransmitBench,
};
use rondo_sim::lockstep::Bench;
use rondo_sim::{Port, SimError, Verilog};

/// `design` as the co-simulation takes it.
pub fn as_text(design: &Design) -> Verilog {
    let ports = design.module(&design.top).map_or(&[][..], |m| &m.ports[..]);
    Verilog {
        top: design.top.clone(),
        files: design
            .modules
            .iter()
            .map(|m| (format!("{}.v", m.name), m.text.clone()))
            .collect(),
        ports: ports
            .iter()
            .map(|p| Port {
                name: p.name.clone(),
                bits: p.bits,
                output: p.direction == Direction::Output,
            })
            .collect(),
    }
}

/// Prints `block` in `shape`; the crossing as its bench wants it.
///
/// # Errors
/// [`VerilogError`] is a fault of the block's RustHDL.
pub fn verilog(block: Block, shape: Shape) -> Result<Verilog, VerilogError> {
    match block {
        Block::Crossing => crate::crossing::late(),
        _ => Ok(as_text(&block.print(shape)?)),
    }
}

/// Stimulus and model of `block`.
///
/// # Errors
/// [`SimError::NoPort`] when `v` is not that block.
pub fn bench(
    block: Block,
    v: &Verilog,
    shape: Shape,
    seed: u64,
) -> Result<Box<dyn Bench>, SimError> {
    Ok(match block {
        Block::Selector => Box::new(SelectorBench::new(v, shape.paths, shape.flows, seed)?),
        Block::Picker => Box::new(PickerBench::new(v, shape.window, shape.flows, seed)?),
        Block::Tracker => Box::new(TrackerBench::new(v, shape.window, shape.flows, seed)?),
        Block::Reorder => Box::new(ReorderBench::new(
            v,
            shape.buffer(),
            shape.window,
            shape.flows,
            seed,
        )?),
        Block::Ledger => Box::new(LedgerBench::new(
            v,
            shape.paths,
            shape.flows,
            TRANSMIT_SLOTS,
            seed,
        )?),
        Block::Scheduler => Box::new(SchedulerBench::new(v, shape.paths, shape.flows, seed)?),
        Block::Parser => Box::new(ParserBench::new(v, shape.flows, seed)?),
        Block::Segmenter => Box::new(SegmenterBench::new(v, 64, shape.flows, seed)?),
        Block::Builder => Box::new(BuilderBench::new(v, 64, shape.flows, seed)?),
        Block::Committer => Box::new(CommitterBench::new(v, shape.flows, seed)?),
        Block::Transmit => Box::new(TransmitBench::new(v, 64, shape.flows, seed)?),
        Block::Registers => Box::new(RegistersBench::new(v, shape.build(), seed)?),
        Block::Crossing => Box::new(CrossingBench::new(v, seed)?),
        Block::Delivery => Box::new(DeliveryBench::new(v, seed)?),
        Block::Sender => Box::new(SenderBench::new(
            v,
            shape.paths,
            shape.window,
            shape.flows,
            seed,
        )?),
        Block::Receiver => Box::new(ReceiverBench::new(
            v,
            shape.buffer(),
            shape.window,
            shape.flows,
            seed,
        )?),
    })
}
