//! A register stage of a stream, `ready` registered too.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Passes a word a clock, one clock late. `in_ready` comes from a register: the word that arrives
/// while the reader begins to wait has a place of its own.
#[derive(Clone, Debug, LogicBlock)]
pub struct Skid<T: Synth> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the stage.
    pub rst: Signal<In, Bit>,
    /// A word is offered.
    pub in_valid: Signal<In, Bit>,
    /// It is taken.
    pub in_ready: Signal<Out, Bit>,
    /// The word.
    pub in_data: Signal<In, T>,
    /// A word is at the output.
    pub valid: Signal<Out, Bit>,
    /// The reader takes it.
    pub ready: Signal<In, Bit>,
    /// The word.
    pub data: Signal<Out, T>,
    front_valid: Reg<Bit>,
    front: Reg<T>,
    spare_valid: Reg<Bit>,
    spare: Reg<T>,
}

impl<T: Synth> Skid<T> {
    /// `name` tells one payload from another in the Verilog.
    pub fn new(name: &str) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_skid_{name}"),
                &format!("Register stage of {} bits, ready registered too.", T::BITS),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            in_valid: Signal::default(),
            in_ready: Signal::default(),
            in_data: Signal::default(),
            valid: Signal::default(),
            ready: Signal::default(),
            data: Signal::default(),
            front_valid: Reg::default(),
            front: Reg::default(),
            spare_valid: Reg::default(),
            spare: Reg::default(),
        }
    }
}

impl<T: Synth> Logic for Skid<T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, front_valid, front, spare_valid, spare);

        // The spare word is the newer one: nothing comes in until it has moved on.
        if !self.spare_valid.q.val() {
            self.spare.d.next = self.in_data.val();
        }
        if !self.front_valid.q.val() || self.ready.val() {
            self.front_valid.d.next = self.in_valid.val() || self.spare_valid.q.val();
            self.front.d.next = self.in_data.val();
            if self.spare_valid.q.val() {
                self.front.d.next = self.spare.q.val();
            }
            self.spare_valid.d.next = false;
        } else if self.in_valid.val() {
            self.spare_valid.d.next = true;
        }
        self.in_ready.next = !self.spare_valid.q.val();
        self.valid.next = self.front_valid.q.val();
        self.data.next = self.front.q.val();

        if self.rst.val() {
            self.front_valid.d.next = false;
            self.spare_valid.d.next = false;
        }
    }
}
