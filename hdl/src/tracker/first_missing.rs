//! Length of the run of ones at the bottom of a 64-bit word.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Counts the ones of `word` below its lowest zero, 0 to 64, in two clocks.
#[derive(Clone, Debug, LogicBlock)]
pub struct FirstMissing {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Word, at `s`.
    pub word: Signal<In, Bits<64>>,
    /// Length of the run, at `s + 2`.
    pub run: Signal<Out, Bits<7>>,
    byte_full: [Reg<Bit>; 8],
    byte_run: [Reg<Bits<3>>; 8],
    run_2: Reg<Bits<7>>,
    chosen: Signal<Local, Bits<7>>,
}

impl Default for FirstMissing {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_first_missing",
                "Length of the run of ones at the bottom of a 64-bit word, in two clocks.",
            ),
            clk: Signal::default(),
            word: Signal::default(),
            run: Signal::default(),
            byte_full: Default::default(),
            byte_run: Default::default(),
            run_2: Reg::default(),
            chosen: Signal::default(),
        }
    }
}

impl Logic for FirstMissing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, run_2);
        for i in 0..8 {
            self.byte_full[i].clock.next = self.clk.val();
            self.byte_run[i].clock.next = self.clk.val();
            self.byte_full[i].d.next = self.word.val().get_bits::<8>(8 * i).all();
            // The lowest zero wins: written last.
            self.byte_run[i].d.next = 7.into();
            for b in 1..8 {
                if !self.word.val().get_bit(8 * i + 7 - b) {
                    self.byte_run[i].d.next = (7 - b).to_bits();
                }
            }
        }
        self.chosen.next = 64.into();
        for i in 0..8 {
            if !self.byte_full[7 - i].q.val() {
                self.chosen.next =
                    self.byte_run[7 - i].q.val().get_bits::<7>(0) | ((7 - i) * 8).to_bits();
            }
        }
        self.run_2.d.next = self.chosen.val();
        self.run.next = self.run_2.q.val();
    }
}
