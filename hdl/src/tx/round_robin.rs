//! Whose turn it is among several that wait.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Chooses the next of `N` that wait, after the one that was taken last.
#[derive(Clone, Debug, LogicBlock)]
pub struct RoundRobin<const N: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Who waits.
    pub waiting: Signal<In, Bits<N>>,
    /// Who is next, one bit; none when nobody waits.
    pub chosen: Signal<Out, Bits<N>>,
    /// The chosen one is taken.
    pub take: Signal<In, Bit>,
    later: Reg<Bits<N>>,
    candidates: Signal<Local, Bits<N>>,
    winner: Signal<Local, Bits<N>>,
}

impl<const N: usize> Default for RoundRobin<N> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_round_robin_{N}"),
                &format!("Chooses among {N} that wait, in turn."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            waiting: Signal::default(),
            chosen: Signal::default(),
            take: Signal::default(),
            later: Reg::default(),
            candidates: Signal::default(),
            winner: Signal::default(),
        }
    }
}

impl<const N: usize> Logic for RoundRobin<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, later);

        // The lowest of those after the last one taken, or else the lowest of all.
        self.candidates.next = self.waiting.val();
        if (self.waiting.val() & self.later.q.val()).any() {
            self.candidates.next = self.waiting.val() & self.later.q.val();
        }
        self.winner.next = self.candidates.val() & (!self.candidates.val() + 1);
        self.chosen.next = self.winner.val();
        if self.take.val() {
            self.later.d.next = !(self.winner.val() | (self.winner.val() - 1));
        }

        if self.rst.val() {
            self.later.d.next = 0.into();
        }
    }
}
