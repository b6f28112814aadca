//! Flows that wait, all for the same time.

use super::WAIT_CLOCK_BITS;
use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS};
use rust_hdl::prelude::*;

/// Queue in which every flow waits for `2^log2_ns` ns: the first one in is the first one due, so
/// only the head's clock is looked at. A flow is on offer every second clock at most.
///
/// Contract: a flow is in the queue at most once.
#[derive(Clone, Debug, LogicBlock)]
pub struct WaitQueue {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the queue.
    pub rst: Signal<In, Bit>,
    /// Time, ns, wrapping.
    pub now_ns: Signal<In, Bits<WAIT_CLOCK_BITS>>,
    /// Adds a flow at the end.
    pub push: Signal<In, Bit>,
    /// Flow added.
    pub push_flow: Signal<In, Bits<FLOW_BITS>>,
    /// When its wait begins, ns.
    pub push_ns: Signal<In, Bits<WAIT_CLOCK_BITS>>,
    /// The first flow has waited long enough.
    pub valid: Signal<Out, Bit>,
    /// It is taken; only while `valid`.
    pub take: Signal<In, Bit>,
    /// The first flow.
    pub flow: Signal<Out, Bits<FLOW_BITS>>,
    flows: StreamFifo<Bits<36>, FLOW_BITS>,
    over: Reg<Bit>,
    waited_ns: Signal<Local, Bits<WAIT_CLOCK_BITS>>,
    log2_ns: Constant<Bits<5>>,
}

impl WaitQueue {
    /// With a wait of `2^log2_ns` ns.
    pub fn new(log2_ns: u32) -> Self {
        assert_eq!(WAIT_CLOCK_BITS + FLOW_BITS, 36);
        assert!((log2_ns as usize) < WAIT_CLOCK_BITS);
        Self {
            id: ModuleId::new(
                format!("rondo_wait_queue_{}", 1 << log2_ns),
                &format!(
                    "Queue of flows in which each waits for {} ns.",
                    1 << log2_ns
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            now_ns: Signal::default(),
            push: Signal::default(),
            push_flow: Signal::default(),
            push_ns: Signal::default(),
            valid: Signal::default(),
            take: Signal::default(),
            flow: Signal::default(),
            flows: StreamFifo::new("waits"),
            over: Reg::default(),
            waited_ns: Signal::default(),
            log2_ns: Constant::new(u64::from(log2_ns).into()),
        }
    }
}

impl Logic for WaitQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, over);
        self.flows.clk.next = self.clk.val();
        self.flows.rst.next = self.rst.val();
        self.flows.push.next = self.push.val();
        self.flows.push_data.next = bit_cast::<36, FLOW_BITS>(self.push_flow.val())
            | (bit_cast::<36, WAIT_CLOCK_BITS>(self.push_ns.val()) << 10);
        self.flows.ready.next = self.take.val();

        // The flow behind the one that is taken is judged in the clock after.
        self.waited_ns.next =
            self.now_ns.val() - self.flows.data.val().get_bits::<WAIT_CLOCK_BITS>(10);
        self.over.d.next = self.flows.valid.val()
            && !self.take.val()
            && ((self.waited_ns.val() >> self.log2_ns.val()) != 0);

        self.valid.next = self.over.q.val();
        self.flow.next = self.flows.data.val().get_bits::<FLOW_BITS>(0);

        if self.rst.val() {
            self.over.d.next = false;
        }
    }
}
