//! The largest of four, in one clock.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Registered argmax over four candidates; ties go to the lowest index.
///
/// All six comparisons run side by side, so the longest path is one 20-bit comparison and a 4:1
/// choice.
#[derive(Clone, Debug, LogicBlock)]
pub struct Argmax4 {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Which candidates take part.
    pub available: [Signal<In, Bit>; 4],
    /// Their values.
    pub value: [Signal<In, Bits<20>>; 4],
    /// Some candidate took part, one clock ago.
    pub any: Signal<Out, Bit>,
    /// Index of the largest.
    pub index: Signal<Out, Bits<2>>,
    /// Its value.
    pub largest: Signal<Out, Bits<20>>,
    any_q: Reg<Bit>,
    index_q: Reg<Bits<2>>,
    largest_q: Reg<Bits<20>>,
    // over_ij: candidate i wins against the earlier candidate j.
    over_10: Signal<Local, Bit>,
    over_20: Signal<Local, Bit>,
    over_21: Signal<Local, Bit>,
    over_30: Signal<Local, Bit>,
    over_31: Signal<Local, Bit>,
    over_32: Signal<Local, Bit>,
}

impl Default for Argmax4 {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_argmax4",
                "Index of the largest of four available values, ties to the lowest index.",
            ),
            clk: Signal::default(),
            available: Default::default(),
            value: Default::default(),
            any: Signal::default(),
            index: Signal::default(),
            largest: Signal::default(),
            any_q: Reg::default(),
            index_q: Reg::default(),
            largest_q: Reg::default(),
            over_10: Signal::default(),
            over_20: Signal::default(),
            over_21: Signal::default(),
            over_30: Signal::default(),
            over_31: Signal::default(),
            over_32: Signal::default(),
        }
    }
}

impl Logic for Argmax4 {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, any_q, index_q, largest_q);
        self.over_10.next = self.available[1].val()
            && (!self.available[0].val() || (self.value[1].val() > self.value[0].val()));
        self.over_20.next = self.available[2].val()
            && (!self.available[0].val() || (self.value[2].val() > self.value[0].val()));
        self.over_21.next = self.available[2].val()
            && (!self.available[1].val() || (self.value[2].val() > self.value[1].val()));
        self.over_30.next = self.available[3].val()
            && (!self.available[0].val() || (self.value[3].val() > self.value[0].val()));
        self.over_31.next = self.available[3].val()
            && (!self.available[1].val() || (self.value[3].val() > self.value[1].val()));
        self.over_32.next = self.available[3].val()
            && (!self.available[2].val() || (self.value[3].val() > self.value[2].val()));

        self.index_q.d.next = 0.into();
        self.largest_q.d.next = self.value[0].val();
        if self.over_30.val() && self.over_31.val() && self.over_32.val() {
            self.index_q.d.next = 3.into();
            self.largest_q.d.next = self.value[3].val();
        } else if self.over_20.val() && self.over_21.val() {
            self.index_q.d.next = 2.into();
            self.largest_q.d.next = self.value[2].val();
        } else if self.over_10.val() {
            self.index_q.d.next = 1.into();
            self.largest_q.d.next = self.value[1].val();
        }
        self.any_q.d.next = self.available[0].val()
            || self.available[1].val()
            || self.available[2].val()
            || self.available[3].val();

        self.any.next = self.any_q.q.val();
        self.index.next = self.index_q.q.val();
        self.largest.next = self.largest_q.q.val();
    }
}
