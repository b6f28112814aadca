//! Queue that says early that it fills up.

use super::StreamFifo;
use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// A [`StreamFifo`] that counts its words.
///
/// `room` falls when `limit` words are stored. Invariant, the user's: what may still be pushed after
/// `room` has fallen fits into `2^A - limit` words, one word more for the clock that the count takes.
#[derive(Clone, Debug, LogicBlock)]
pub struct LevelFifo<T: Synth, const A: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the queue.
    pub rst: Signal<In, Bit>,
    /// Stores `push_data` at the end.
    pub push: Signal<In, Bit>,
    /// Word stored.
    pub push_data: Signal<In, T>,
    /// Fewer words than the limit are stored.
    pub room: Signal<Out, Bit>,
    /// Words stored.
    pub level: Signal<Out, Bits<11>>,
    /// A word is at the output.
    pub valid: Signal<Out, Bit>,
    /// The reader takes it.
    pub ready: Signal<In, Bit>,
    /// The word.
    pub data: Signal<Out, T>,
    words: StreamFifo<T, A>,
    count: Reg<Bits<11>>,
    popped: Signal<Local, Bit>,
    limit: Constant<Bits<11>>,
}

impl<T: Synth, const A: usize> LevelFifo<T, A> {
    /// `name` tells one payload from another in the Verilog; `limit` words make `room` fall.
    pub fn new(name: &str, limit: usize) -> Self {
        assert!(
            limit < 1 << A && A <= 10,
            "queue {name}: limit {limit} of 2^{A}"
        );
        Self {
            id: ModuleId::new(
                format!("rondo_level_fifo_{name}"),
                &format!(
                    "Queue of {} words of {} bits; room up to {limit}.",
                    1 << A,
                    T::BITS
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            push: Signal::default(),
            push_data: Signal::default(),
            room: Signal::default(),
            level: Signal::default(),
            valid: Signal::default(),
            ready: Signal::default(),
            data: Signal::default(),
            words: StreamFifo::new(name),
            count: Reg::default(),
            popped: Signal::default(),
            limit: Constant::new((limit as u64).into()),
        }
    }
}

impl<T: Synth, const A: usize> Logic for LevelFifo<T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, count);
        self.words.clk.next = self.clk.val();
        self.words.rst.next = self.rst.val();
        self.words.push.next = self.push.val();
        self.words.push_data.next = self.push_data.val();
        self.words.ready.next = self.ready.val();
        self.valid.next = self.words.valid.val();
        self.data.next = self.words.data.val();
        self.popped.next = self.words.valid.val() && self.ready.val();
        if self.push.val() && !self.popped.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if !self.push.val() && self.popped.val() {
            self.count.d.next = self.count.q.val() - 1;
        }
        self.level.next = self.count.q.val();
        self.room.next = self.count.q.val() < self.limit.val();
        if self.rst.val() {
            self.count.d.next = 0.into();
        }
    }
}
