//! Writes the initial state of one flow, or after reset of all flows, into a block's memories.

use super::FLOW_BITS;
use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Clocks between accepting an `open` and the first write: longer than any block's pipeline, so
/// that the sweep and the pipeline never write in the same clock.
pub const DRAIN_CLOCKS: u64 = 31;

/// Walks the state memories: every flow after reset (first PSN 0), then one flow an `open`.
///
/// While `busy` the block takes no request. Each flow has `subs` words in the block's largest
/// memory; `sub` counts through them.
#[derive(Clone, Debug, LogicBlock)]
pub struct InitSweep {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: starts the sweep over all flows.
    pub rst: Signal<In, Bit>,
    /// A flow is to be opened.
    pub open_valid: Signal<In, Bit>,
    /// It is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// The sweep owns the memories' write ports.
    pub busy: Signal<Out, Bit>,
    /// Write the initial word of `flow` and `sub` in this clock.
    pub write: Signal<Out, Bit>,
    /// Flow written.
    pub flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Word of the flow written.
    pub sub: Signal<Out, Bits<6>>,
    /// First PSN of the flow.
    pub psn: Signal<Out, Bits<24>>,
    running: Reg<Bit>,
    single: Reg<Bit>,
    drain: Reg<Bits<5>>,
    at_flow: Reg<Bits<FLOW_BITS>>,
    at_sub: Reg<Bits<6>>,
    first_psn: Reg<Bits<24>>,
    writing: Signal<Local, Bit>,
    last_flow: Constant<Bits<FLOW_BITS>>,
    last_sub: Constant<Bits<6>>,
    drain_clocks: Constant<Bits<5>>,
}

impl InitSweep {
    /// For `flows` flows of `subs` words each (at most 1,024 and 64).
    pub fn new(flows: usize, subs: usize) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_init_sweep_{flows}x{subs}"),
                &format!(
                    "Initialises {flows} flows after reset, {subs} words each, and one flow an open."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            busy: Signal::default(),
            write: Signal::default(),
            flow: Signal::default(),
            sub: Signal::default(),
            psn: Signal::default(),
            running: Reg::default(),
            single: Reg::default(),
            drain: Reg::default(),
            at_flow: Reg::default(),
            at_sub: Reg::default(),
            first_psn: Reg::default(),
            writing: Signal::default(),
            last_flow: Constant::new((flows as u64 - 1).into()),
            last_sub: Constant::new((subs as u64 - 1).into()),
            drain_clocks: Constant::new(DRAIN_CLOCKS.into()),
        }
    }
}

impl Logic for InitSweep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, running, single, drain, at_flow, at_sub, first_psn);

        self.writing.next = self.running.q.val() && (self.drain.q.val() == 0);
        if self.running.q.val() && (self.drain.q.val() != 0) {
            self.drain.d.next = self.drain.q.val() - 1;
        }
        if self.writing.val() {
            self.at_sub.d.next = self.at_sub.q.val() + 1;
            if self.at_sub.q.val() == self.last_sub.val() {
                self.at_sub.d.next = 0.into();
                self.at_flow.d.next = self.at_flow.q.val() + 1;
                if self.single.q.val() || (self.at_flow.q.val() == self.last_flow.val()) {
                    self.running.d.next = false;
                }
            }
        }
        if !self.running.q.val() && self.open_valid.val() {
            self.running.d.next = true;
            self.single.d.next = true;
            self.drain.d.next = self.drain_clocks.val();
            self.at_flow.d.next = self.open_flow.val();
            self.at_sub.d.next = 0.into();
            self.first_psn.d.next = self.open_psn.val();
        }

        self.open_ready.next = !self.running.q.val();
        self.busy.next = self.running.q.val();
        self.write.next = self.writing.val();
        self.flow.next = self.at_flow.q.val();
        self.sub.next = self.at_sub.q.val();
        self.psn.next = self.first_psn.q.val();

        if self.rst.val() {
            self.running.d.next = true;
            self.single.d.next = false;
            self.drain.d.next = self.drain_clocks.val();
            self.at_flow.d.next = 0.into();
            self.at_sub.d.next = 0.into();
            self.first_psn.d.next = 0.into();
        }
    }
}
