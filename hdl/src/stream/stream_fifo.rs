//! Output queue with valid/ready, in block RAM.

use crate::prim::{ModuleId, Ram, Reg};
use rust_hdl::prelude::*;

/// First-in first-out queue of up to `2^A` words.
///
/// The writer must not push into a full queue: blocks guarantee it by credits. A word pushed in
/// clock `t` is valid at the output in clock `t + 2`.
///
/// Invariant: the RAM reads the word that will be at the output in the next clock, so its output
/// register is the queue's output and no bypass is needed.
#[derive(Clone, Debug, LogicBlock)]
pub struct StreamFifo<T: Synth, const A: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the queue.
    pub rst: Signal<In, Bit>,
    /// Stores `push_data` at the end.
    pub push: Signal<In, Bit>,
    /// Word stored.
    pub push_data: Signal<In, T>,
    /// A word is at the output.
    pub valid: Signal<Out, Bit>,
    /// The reader takes it.
    pub ready: Signal<In, Bit>,
    /// The word.
    pub data: Signal<Out, T>,
    words: Ram<T, A>,
    head: Reg<Bits<A>>,
    tail: Reg<Bits<A>>,
    full_turn: Reg<Bit>,
    output_valid: Reg<Bit>,
    next_head: Signal<Local, Bits<A>>,
    popped: Signal<Local, Bit>,
}

impl<T: Synth, const A: usize> StreamFifo<T, A> {
    /// `name` tells one payload from another in the Verilog.
    pub fn new(name: &str) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_fifo_{name}"),
                &format!("Queue of {} words of {} bits.", 1 << A, T::BITS),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            push: Signal::default(),
            push_data: Signal::default(),
            valid: Signal::default(),
            ready: Signal::default(),
            data: Signal::default(),
            words: Ram::new(1 << A),
            head: Reg::default(),
            tail: Reg::default(),
            full_turn: Reg::default(),
            output_valid: Reg::default(),
            next_head: Signal::default(),
            popped: Signal::default(),
        }
    }
}

impl<T: Synth, const A: usize> Logic for StreamFifo<T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, head, tail, full_turn, output_valid);
        self.words.clock.next = self.clk.val();

        self.popped.next = self.output_valid.q.val() && self.ready.val();
        self.next_head.next = self.head.q.val();
        if self.popped.val() {
            self.next_head.next = self.head.q.val() + 1;
        }
        self.words.read_address.next = self.next_head.val();
        self.words.write_address.next = self.tail.q.val();
        self.words.write_data.next = self.push_data.val();
        self.words.write_enable.next = self.push.val();

        // A word pushed in this clock is not readable yet: only the tail before it counts. Equal
        // pointers mean empty, or full when the last push made them equal.
        self.head.d.next = self.next_head.val();
        self.output_valid.d.next = (self.next_head.val() != self.tail.q.val())
            || (self.full_turn.q.val() && !self.popped.val());
        if self.popped.val() {
            self.full_turn.d.next = false;
        }
        if self.push.val() {
            self.tail.d.next = self.tail.q.val() + 1;
            self.full_turn.d.next = (self.tail.q.val() + 1) == self.next_head.val();
        }

        self.valid.next = self.output_valid.q.val();
        self.data.next = self.words.read_data.val();

        if self.rst.val() {
            self.head.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.full_turn.d.next = false;
            self.output_valid.d.next = false;
        }
    }
}
