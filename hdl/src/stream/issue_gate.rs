//! Decides in which clock a block's pipeline takes the request that waits at its door.

use super::{FLOW_BITS, QUEUE_ADDRESS_BITS};
use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Issues the waiting request when its result has room in the output queue and no request of the
/// same flow was issued in the `K` clocks before.
///
/// Invariant: requests on their way plus words in the queue never exceed the queue's depth, so the
/// pipeline behind the gate needs no stall. A flow's state is read at least `K + 1` clocks after
/// its previous read, which is after the previous write.
#[derive(Clone, Debug, LogicBlock)]
pub struct IssueGate<const K: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A request waits.
    pub waiting: Signal<In, Bit>,
    /// Its flow.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// Nothing may be issued: the state is being initialised.
    pub busy: Signal<In, Bit>,
    /// A result left the output queue.
    pub popped: Signal<In, Bit>,
    /// The request is taken in this clock.
    pub issue: Signal<Out, Bit>,
    credits: Reg<Bits<6>>,
    recent: [Reg<Bit>; K],
    recent_flow: [Reg<Bits<FLOW_BITS>>; K],
    conflict: [Signal<Local, Bit>; K],
    depth: Constant<Bits<6>>,
}

impl<const K: usize> Default for IssueGate<K> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_issue_gate_{K}"),
                &format!(
                    "Issues one request a clock, a flow's own at least {} clocks apart,\n\
                     and only while the output queue has room for its result.",
                    K + 1
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            waiting: Signal::default(),
            flow: Signal::default(),
            busy: Signal::default(),
            popped: Signal::default(),
            issue: Signal::default(),
            credits: Reg::default(),
            recent: std::array::from_fn(|_| Reg::default()),
            recent_flow: std::array::from_fn(|_| Reg::default()),
            conflict: std::array::from_fn(|_| Signal::default()),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
        }
    }
}

impl<const K: usize> Logic for IssueGate<K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credits);
        for i in 0..K {
            self.recent[i].clock.next = self.clk.val();
            self.recent_flow[i].clock.next = self.clk.val();
        }

        // conflict[i]: one of the i + 1 latest requests is of the waiting flow.
        self.conflict[0].next =
            self.recent[0].q.val() && (self.recent_flow[0].q.val() == self.flow.val());
        for i in 1..K {
            self.conflict[i].next = self.conflict[i - 1].val()
                || (self.recent[i].q.val() && (self.recent_flow[i].q.val() == self.flow.val()));
        }
        for i in (K - 1)..K {
            self.issue.next = self.waiting.val()
                && !self.busy.val()
                && (self.credits.q.val() != 0)
                && !self.conflict[i].val();
        }

        self.recent[0].d.next = self.issue.val();
        self.recent_flow[0].d.next = self.flow.val();
        for i in 1..K {
            self.recent[i].d.next = self.recent[i - 1].q.val();
            self.recent_flow[i].d.next = self.recent_flow[i - 1].q.val();
        }
        if self.issue.val() && !self.popped.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.issue.val() && self.popped.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }

        if self.rst.val() {
            self.credits.d.next = self.depth.val();
            for i in 0..K {
                self.recent[i].d.next = false;
            }
        }
    }
}
