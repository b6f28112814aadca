//! A four-phase handshake between two clock domains, one request at a time.
//!
//! ```text
//! request ____/‾‾‾‾‾‾‾‾‾‾‾‾\____________      the source's; its data is stable from before the edge on
//! ack     ___________/‾‾‾‾‾‾‾‾‾‾‾‾\_____      the sink's; its answer is stable from the edge on
//! ```
//!
//! Only `request` and `ack` are synchronised, both straight from a register. Data is read two clocks
//! of the reader after its edge at the earliest: it may arrive up to one clock of the reader later
//! than the edge.

use crate::prim::{ModuleId, Reg, SyncReg};
use rust_hdl::prelude::*;

/// Clocks after reset in which nothing starts: the other side sees in them that nothing is asked, or
/// granted, any more, if its clock is at least a quarter as fast.
const SETTLE_CLOCKS: u64 = 15;

/// The side that asks: a request of `Q` bits, answered by `R` bits.
#[derive(Clone, Debug, LogicBlock)]
pub struct HandshakeSource<const Q: usize, const R: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: what is under way is forgotten.
    pub rst: Signal<In, Bit>,
    /// A request.
    pub ask_valid: Signal<In, Bit>,
    /// It is taken.
    pub ask_ready: Signal<Out, Bit>,
    /// What is asked.
    pub ask: Signal<In, Bits<Q>>,
    /// The answer.
    pub answer_valid: Signal<Out, Bit>,
    /// It is taken.
    pub answer_ready: Signal<In, Bit>,
    /// What is answered.
    pub answer: Signal<Out, Bits<R>>,
    /// To the other side: a request is there.
    pub request: Signal<Out, Bit>,
    /// To the other side: what is asked.
    pub request_data: Signal<Out, Bits<Q>>,
    /// From the other side: it is answered.
    pub ack: Signal<In, Bit>,
    /// From the other side: what is answered.
    pub ack_data: Signal<In, Bits<R>>,
    sync_0: SyncReg<Bit>,
    sync_1: SyncReg<Bit>,
    settle: Reg<Bits<4>>,
    asking: Reg<Bit>,
    asked: Reg<Bits<Q>>,
    answered: Reg<Bit>,
    result: Reg<Bits<R>>,
    free: Signal<Local, Bit>,
    settle_clocks: Constant<Bits<4>>,
}

impl<const Q: usize, const R: usize> Default for HandshakeSource<Q, R> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_handshake_source_{Q}x{R}"),
                &format!("Asks another clock domain {Q} bits, and takes its answer of {R} bits."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            ask_valid: Signal::default(),
            ask_ready: Signal::default(),
            ask: Signal::default(),
            answer_valid: Signal::default(),
            answer_ready: Signal::default(),
            answer: Signal::default(),
            request: Signal::default(),
            request_data: Signal::default(),
            ack: Signal::default(),
            ack_data: Signal::default(),
            sync_0: SyncReg::default(),
            sync_1: SyncReg::default(),
            settle: Reg::default(),
            asking: Reg::default(),
            asked: Reg::default(),
            answered: Reg::default(),
            result: Reg::default(),
            free: Signal::default(),
            settle_clocks: Constant::new(SETTLE_CLOCKS.into()),
        }
    }
}

impl<const Q: usize, const R: usize> Logic for HandshakeSource<Q, R> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, sync_0, sync_1, settle, asking, asked, answered, result);
        self.sync_0.d.next = self.ack.val();
        self.sync_1.d.next = self.sync_0.q.val();

        // Low again on both sides, and the answer before was taken.
        self.free.next = !self.asking.q.val()
            && !self.sync_1.q.val()
            && !self.answered.q.val()
            && (self.settle.q.val() == 0);
        self.ask_ready.next = self.free.val();
        if self.settle.q.val() != 0 {
            self.settle.d.next = self.settle.q.val() - 1;
        }
        if self.free.val() && self.ask_valid.val() {
            self.asking.d.next = true;
            self.asked.d.next = self.ask.val();
        }
        if self.asking.q.val() && self.sync_1.q.val() {
            self.asking.d.next = false;
            self.answered.d.next = true;
            self.result.d.next = self.ack_data.val();
        }
        if self.answered.q.val() && self.answer_ready.val() {
            self.answered.d.next = false;
        }

        self.request.next = self.asking.q.val();
        self.request_data.next = self.asked.q.val();
        self.answer_valid.next = self.answered.q.val();
        self.answer.next = self.result.q.val();

        if self.rst.val() {
            self.asking.d.next = false;
            self.answered.d.next = false;
            self.settle.d.next = self.settle_clocks.val();
        }
    }
}

/// The side that answers.
#[derive(Clone, Debug, LogicBlock)]
pub struct HandshakeSink<const Q: usize, const R: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: a request that is not answered starts again.
    pub rst: Signal<In, Bit>,
    /// From the other side: a request is there.
    pub request: Signal<In, Bit>,
    /// From the other side: what is asked.
    pub request_data: Signal<In, Bits<Q>>,
    /// To the other side: it is answered.
    pub ack: Signal<Out, Bit>,
    /// To the other side: what is answered.
    pub ack_data: Signal<Out, Bits<R>>,
    /// A request is under way; stays until `done`.
    pub active: Signal<Out, Bit>,
    /// What is asked, while `active`.
    pub asked: Signal<Out, Bits<Q>>,
    /// It is done; only while `active`.
    pub done: Signal<In, Bit>,
    /// The answer.
    pub answer: Signal<In, Bits<R>>,
    sync_0: SyncReg<Bit>,
    sync_1: SyncReg<Bit>,
    settle: Reg<Bits<4>>,
    running: Reg<Bit>,
    abandoned: Reg<Bit>,
    taken: Reg<Bits<Q>>,
    acked: Reg<Bit>,
    result: Reg<Bits<R>>,
    settle_clocks: Constant<Bits<4>>,
}

impl<const Q: usize, const R: usize> Default for HandshakeSink<Q, R> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_handshake_sink_{Q}x{R}"),
                &format!("Takes {Q} bits from another clock domain and answers {R} bits."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            request: Signal::default(),
            request_data: Signal::default(),
            ack: Signal::default(),
            ack_data: Signal::default(),
            active: Signal::default(),
            asked: Signal::default(),
            done: Signal::default(),
            answer: Signal::default(),
            sync_0: SyncReg::default(),
            sync_1: SyncReg::default(),
            settle: Reg::default(),
            running: Reg::default(),
            abandoned: Reg::default(),
            taken: Reg::default(),
            acked: Reg::default(),
            result: Reg::default(),
            settle_clocks: Constant::new(SETTLE_CLOCKS.into()),
        }
    }
}

impl<const Q: usize, const R: usize> Logic for HandshakeSink<Q, R> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, sync_0, sync_1, settle, running, abandoned, taken, acked, result);
        self.sync_0.d.next = self.request.val();
        self.sync_1.d.next = self.sync_0.q.val();

        if self.settle.q.val() != 0 {
            self.settle.d.next = self.settle.q.val() - 1;
        }
        if self.sync_1.q.val()
            && !self.running.q.val()
            && !self.acked.q.val()
            && (self.settle.q.val() == 0)
        {
            self.running.d.next = true;
            self.abandoned.d.next = false;
            self.taken.d.next = self.request_data.val();
        }
        // The source was reset: it must not take this answer for that of its next request.
        if self.running.q.val() && !self.sync_1.q.val() {
            self.abandoned.d.next = true;
        }
        if self.running.q.val() && self.done.val() {
            self.running.d.next = false;
            self.acked.d.next = self.sync_1.q.val() && !self.abandoned.q.val();
            self.result.d.next = self.answer.val();
        }
        if self.acked.q.val() && !self.sync_1.q.val() {
            self.acked.d.next = false;
        }

        self.ack.next = self.acked.q.val();
        self.ack_data.next = self.result.q.val();
        self.active.next = self.running.q.val();
        self.asked.next = self.taken.q.val();

        if self.rst.val() {
            self.running.d.next = false;
            self.acked.d.next = false;
            self.settle.d.next = self.settle_clocks.val();
        }
    }
}
