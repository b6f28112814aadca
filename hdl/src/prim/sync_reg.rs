//! The register of a synchroniser.

use rust_hdl::core::prelude::*;

/// Marker by which the back end recognises a [`SyncReg`] and prints it as a register with
/// `ASYNC_REG`.
pub const SYNCHRONISER_MARKER: &str = "// rondo: synchroniser";

/// A register that takes a signal from another clock domain, or one behind it in the same chain.
///
/// The attribute `ASYNC_REG` keeps the registers of a chain side by side and out of shift-register
/// LUTs. Two in a row make a synchroniser; what is crossed is one bit straight from a register.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct SyncReg<T: Synth> {
    /// Next value.
    pub d: Signal<In, T>,
    /// Present value.
    pub q: Signal<Out, T>,
    /// Clock of the domain that reads.
    pub clock: Signal<In, Clock>,
}

impl<T: Synth> Logic for SyncReg<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = self.d.val();
        }
    }
    fn connect(&mut self) {
        self.q.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(SYNCHRONISER_MARKER.into())
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "synchroniser".into(),
            clock: "clock".into(),
            inputs: vec!["d".into()],
            outputs: vec!["q".into()],
        }]
    }
}
