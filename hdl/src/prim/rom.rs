//! Read-only table in block RAM with a registered read.

use rust_hdl::core::prelude::*;

/// Marker by which the back end recognises a [`Rom`]; name and hexadecimal words follow it.
pub const ROM_MARKER: &str = "// rondo: rom ";

/// Table of `2^A` words of `N` bits.
#[derive(Clone, Debug, LogicBlock)]
pub struct Rom<const N: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Address whose word appears on `data` after the next edge.
    pub address: Signal<In, Bits<A>>,
    /// Registered read data.
    pub data: Signal<Out, Bits<N>>,
    _name: &'static str,
    _words: Vec<u32>,
}

impl<const N: usize, const A: usize> Rom<N, A> {
    /// `name` is the Verilog module's name; `words` has exactly `2^A` entries of at most `N` bits.
    pub fn new(name: &'static str, words: Vec<u32>) -> Self {
        assert_eq!(words.len(), 1 << A, "ROM {name} is not full");
        Self {
            clock: Signal::default(),
            address: Signal::default(),
            data: Signal::default(),
            _name: name,
            _words: words,
        }
    }
}

impl<const N: usize, const A: usize> Logic for Rom<N, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let word = self._words[self.address.val().index()];
            self.data.next = (word as LiteralType).into();
        }
    }
    fn connect(&mut self) {
        self.data.connect();
    }
    fn hdl(&self) -> Verilog {
        let words: Vec<String> = self._words.iter().map(|w| format!("{w:x}")).collect();
        Verilog::Custom(format!("{ROM_MARKER}{} {}", self._name, words.join(",")))
    }
    fn timing(&self) -> Vec<TimingInfo> {
        vec![TimingInfo {
            name: "rom".into(),
            clock: "clock".into(),
            inputs: vec!["address".into()],
            outputs: vec!["data".into()],
        }]
    }
}
