//! Simple dual-port block RAM: one writer, one reader, synchronous read-first read.

use rust_hdl::core::prelude::*;

/// Marker by which the back end recognises a [`Ram`]; the depth in words follows it.
pub const RAM_MARKER: &str = "// rondo: ram depth=";

/// Block RAM of `depth` words of type `D`, addressed by up to `A` bits.
///
/// A read and a write of one address in the same clock return the old word. The contents are
/// undefined until written: the owning block's init sweep clears them.
#[derive(Clone, Debug, LogicBlock)]
pub struct Ram<D: Synth, const A: usize> {
    /// Clock of both ports.
    pub clock: Signal<In, Clock>,
    /// Address whose word appears on `read_data` after the next edge.
    pub read_address: Signal<In, Bits<A>>,
    /// Registered read data.
    pub read_data: Signal<Out, D>,
    /// Writes `write_data` at the next edge.
    pub write_enable: Signal<In, Bit>,
    /// Address written.
    pub write_address: Signal<In, Bits<A>>,
    /// Word written.
    pub write_data: Signal<In, D>,
    _depth: usize,
    _words: Vec<D>,
}

impl<D: Synth, const A: usize> Ram<D, A> {
    /// A memory of `depth` words; `depth` must be a power of two of at most `2^A`.
    pub fn new(depth: usize) -> Self {
        assert!(
            depth.is_power_of_two() && depth >= 2 && depth <= 1 << A,
            "RAM depth {depth} is not a power of two within {A} address bits"
        );
        Self {
            clock: Signal::default(),
            read_address: Signal::default(),
            read_data: Signal::default(),
            write_enable: Signal::default(),
            write_address: Signal::default(),
            write_data: Signal::default(),
            _depth: depth,
            _words: vec![D::default(); depth],
        }
    }
}

impl<D: Synth, const A: usize> Logic for Ram<D, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let mask = self._depth - 1;
            self.read_data.next = self._words[self.read_address.val().index() & mask];
            if self.write_enable.val() {
                self._words[self.write_address.val().index() & mask] = self.write_data.val();
            }
        }
    }
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!("{RAM_MARKER}{}", self._depth))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "ram".into(),
            clock: "clock".into(),
            inputs: vec![
                "read_address".into(),
                "write_address".into(),
                "write_data".into(),
                "write_enable".into(),
            ],
            outputs: vec!["read_data".into()],
        }]
    }
}
