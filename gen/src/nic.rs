//! The NIC of a shape.

use crate::shape::{Shape, TRANSMIT_SLOTS};
use crate::verilog::{print_design, Design, VerilogError};
use rondo_hdl::top::NicCore;
use rust_hdl::core::prelude::Block;

/// Prints the NIC without registers, `rondo_nic_core`; its slots have 4,096 bytes.
///
/// # Errors
/// [`VerilogError`] is a fault of the RustHDL.
pub fn nic_core(shape: Shape) -> Result<Design, VerilogError> {
    print_design(build(shape).as_ref())
}

/// Parameters: paths, paths / 4, log2 paths, groups, log2 groups, log2 of the receiver's PSNs a
/// flow, log2 of a slot's beats.
fn build(shape: Shape) -> Box<dyn Block> {
    match shape.window {
        128 => by_paths::<2, 1, 9>(shape),
        256 => by_paths::<4, 2, 9>(shape),
        _ => by_paths::<8, 3, 10>(shape),
    }
}

fn by_paths<const G: usize, const LG: usize, const TB: usize>(shape: Shape) -> Box<dyn Block> {
    let (flows, slots) = (shape.flows, shape.slots);
    match shape.paths {
        2 => Box::new(NicCore::<2, 1, 1, G, LG, TB, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
        4 => Box::new(NicCore::<4, 1, 2, G, LG, TB, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
        8 => Box::new(NicCore::<8, 2, 3, G, LG, TB, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
        _ => Box::new(NicCore::<16, 4, 4, G, LG, TB, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
    }
}
