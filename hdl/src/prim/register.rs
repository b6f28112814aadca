//! The register every block is made of.

use rust_hdl::core::prelude::*;

/// Marker by which the back end recognises a [`Reg`] and prints it as `always @(posedge clk)`.
pub const REGISTER_MARKER: &str = "// rondo: register";

/// A rising-edge register without reset and without an initial value.
///
/// Reset is written out by the block that owns the register, so that what is reset, and what is
/// not, can be read there.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct Reg<T: Synth> {
    /// Next value.
    pub d: Signal<In, T>,
    /// Present value.
    pub q: Signal<Out, T>,
    /// Clock.
    pub clock: Signal<In, Clock>,
}

impl<T: Synth> Logic for Reg<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = self.d.val();
        }
    }
    fn connect(&mut self) {
        self.q.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(REGISTER_MARKER.into())
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "register".into(),
            clock: "clock".into(),
            inputs: vec!["d".into()],
            outputs: vec!["q".into()],
        }]
    }
}
