//! Which PSNs of an arrival's group have arrived: an ACK's selective map.

use crate::prim::{Delay, ModuleId, Reg};
use rust_hdl::prelude::*;

/// Chooses what is known of the arrival's group of 64 PSNs: with the arrival when it is accepted,
/// as it stood otherwise; nothing beyond the window, all of a group before it, which is complete.
/// Comments count clocks from the arrival's `t`.
#[derive(Clone, Debug, LogicBlock)]
pub struct ArrivedWord {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Arrived PSNs of the group before this arrival, at `t + 2`.
    pub stored: Signal<In, Bits<64>>,
    /// The same with this arrival, at `t + 2`.
    pub marked: Signal<In, Bits<64>>,
    /// The arrival is accepted, at `t + 3`.
    pub accepted: Signal<In, Bit>,
    /// It lies beyond the window, at `t + 4`.
    pub beyond: Signal<In, Bit>,
    /// It lies before the window, at `t + 4`.
    pub passed: Signal<In, Bit>,
    /// Arrived PSNs of the group, at `t + 9`.
    pub word: Signal<Out, Bits<64>>,
    stored_3: Reg<Bits<64>>,
    marked_3: Reg<Bits<64>>,
    chosen_4: Reg<Bits<64>>,
    word_5: Reg<Bits<64>>,
    word_9: Delay<Bits<64>, 4>,
}

impl Default for ArrivedWord {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_arrived_word",
                "Which PSNs of the arrival's group of 64 have arrived.\n\
                 A suffix _n is the clock after the arrival in which the value is present.",
            ),
            clk: Signal::default(),
            stored: Signal::default(),
            marked: Signal::default(),
            accepted: Signal::default(),
            beyond: Signal::default(),
            passed: Signal::default(),
            word: Signal::default(),
            stored_3: Reg::default(),
            marked_3: Reg::default(),
            chosen_4: Reg::default(),
            word_5: Reg::default(),
            word_9: Delay::default(),
        }
    }
}

impl Logic for ArrivedWord {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, stored_3, marked_3, chosen_4, word_5);
        self.word_9.clk.next = self.clk.val();

        self.stored_3.d.next = self.stored.val();
        self.marked_3.d.next = self.marked.val();
        self.chosen_4.d.next = self.stored_3.q.val();
        if self.accepted.val() {
            self.chosen_4.d.next = self.marked_3.q.val();
        }
        self.word_5.d.next = self.chosen_4.q.val();
        if self.beyond.val() {
            self.word_5.d.next = 0.into();
        }
        if self.passed.val() {
            self.word_5.d.next = !bits::<64>(0);
        }
        self.word_9.d.next = self.word_5.q.val();
        self.word.next = self.word_9.q.val();
    }
}
