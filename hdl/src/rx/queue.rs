//! An output queue that says in time when it fills up.

use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Words that a queue can still hold when it is said to have room.
///
/// A beat that is taken in clock `t` is in the queue's room in `t + 9`, and `has_room` knows it in
/// `t + 10`. So the words of 10 clocks may come after it has fallen.
const RESERVE: u64 = 12;

/// A queue of 32 words whose `has_room` falls while it can still hold what may be on its way.
#[derive(Clone, Debug, LogicBlock)]
pub struct ReservedQueue<T: Synth> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the queue.
    pub rst: Signal<In, Bit>,
    /// Stores `push_data` at the end.
    pub push: Signal<In, Bit>,
    /// Word stored.
    pub push_data: Signal<In, T>,
    /// More words may be sent on their way.
    pub has_room: Signal<Out, Bit>,
    /// A word is at the output.
    pub valid: Signal<Out, Bit>,
    /// The reader takes it.
    pub ready: Signal<In, Bit>,
    /// The word.
    pub data: Signal<Out, T>,
    words: StreamFifo<T, QUEUE_ADDRESS_BITS>,
    room: Reg<Bits<6>>,
    enough: Reg<Bit>,
    popped: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
    reserve: Constant<Bits<6>>,
}

impl<T: Synth> ReservedQueue<T> {
    /// `name` tells one payload from another in the Verilog.
    pub fn new(name: &str) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_queue_{name}"),
                &format!(
                    "Queue of {} words of {} bits; has_room falls {RESERVE} words before it is full.",
                    1 << QUEUE_ADDRESS_BITS,
                    T::BITS
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            push: Signal::default(),
            push_data: Signal::default(),
            has_room: Signal::default(),
            valid: Signal::default(),
            ready: Signal::default(),
            data: Signal::default(),
            words: StreamFifo::new(name),
            room: Reg::default(),
            enough: Reg::default(),
            popped: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
            reserve: Constant::new(RESERVE.into()),
        }
    }
}

impl<T: Synth> Logic for ReservedQueue<T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, room, enough);
        self.words.clk.next = self.clk.val();
        self.words.rst.next = self.rst.val();
        self.words.push.next = self.push.val();
        self.words.push_data.next = self.push_data.val();
        self.words.ready.next = self.ready.val();
        self.valid.next = self.words.valid.val();
        self.data.next = self.words.data.val();

        self.popped.next = self.words.valid.val() && self.ready.val();
        if self.push.val() && !self.popped.val() {
            self.room.d.next = self.room.q.val() - 1;
        }
        if !self.push.val() && self.popped.val() {
            self.room.d.next = self.room.q.val() + 1;
        }
        self.enough.d.next = self.room.q.val() >= self.reserve.val();
        self.has_room.next = self.enough.q.val();

        if self.rst.val() {
            self.room.d.next = self.depth.val();
            self.enough.d.next = false;
        }
    }
}
