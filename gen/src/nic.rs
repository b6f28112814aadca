//! The NIC of a shape.

use crate::shape::{Shape, TRANSMIT_SLOTS};
use crate::verilog::{print_design, Design, VerilogError};
use rondo_hdl::top::NicCore;
use rust_hdl::core::prelude::Block;

/// Why a NIC cannot be generated.
#[derive(Debug, thiserror::Error)]
pub enum NicError {
    /// The NIC is offered in fewer shapes than its blocks.
    #[error(
        "a NIC of {paths} paths and windows of {window} PSNs is not offered: choose 4 paths and 128 \
         or 256 PSNs, or 16 paths and 512 PSNs"
    )]
    Shape {
        /// Paths.
        paths: usize,
        /// Window, PSNs.
        window: usize,
    },
    /// A fault of the RustHDL.
    #[error(transparent)]
    Verilog(#[from] VerilogError),
    /// The system gives no thread to build it in.
    #[error("no thread to build the NIC in: {0}")]
    Thread(#[from] std::io::Error),
}

/// Stack of the thread in which a NIC is built: its blocks are made by value, one inside the other.
const STACK_BYTES: usize = 256 << 20;

/// Prints the NIC without registers, `rondo_nic_core`; its slots have 4,096 bytes.
///
/// # Errors
/// [`NicError`] for a shape that is not offered.
pub fn nic_core(shape: Shape) -> Result<Design, NicError> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let print = || -> Result<Design, NicError> { Ok(print_design(build(shape)?.as_ref())?) };
        match builder.spawn_scoped(scope, print)?.join() {
            Ok(design) => design,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Parameters: paths, paths / 4, log2 paths, groups, log2 groups, log2 of the receiver's PSNs a
/// flow, log2 of a slot's beats.
fn build(shape: Shape) -> Result<Box<dyn Block>, NicError> {
    let (flows, slots) = (shape.flows, shape.slots);
    Ok(match (shape.paths, shape.window) {
        (4, 128) => Box::new(NicCore::<4, 1, 2, 2, 1, 9, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
        (4, 256) => Box::new(NicCore::<4, 1, 2, 4, 2, 9, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
        (16, 512) => Box::new(NicCore::<16, 4, 4, 8, 3, 10, 6>::new(
            flows,
            TRANSMIT_SLOTS,
            slots,
        )),
        (paths, window) => return Err(NicError::Shape { paths, window }),
    })
}
