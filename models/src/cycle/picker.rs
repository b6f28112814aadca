//! The picker's pipeline.

use super::{Gate, OutputQueue, Pipe, Sweep, Timing};
use crate::picker::SentWindow;
use crate::psn::Psn;

/// Clocks from issue to the answer.
const ANSWER: usize = 22;
/// A flow's picks are this far apart.
const OWN_FLOW: usize = 8;

/// Latency and rate.
pub const TIMING: Timing = Timing {
    latency_clocks: ANSWER as u32 + 3,
    initiation_interval: 1,
    own_flow_interval: OWN_FLOW as u32,
};

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flow.
    pub flow: u16,
    /// Path, handed on.
    pub path: u8,
    /// Unsent PSNs to pass over.
    pub skip: u16,
    /// First PSN that must not be picked.
    pub bound: u32,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Flow.
    pub flow: u16,
    /// The request's path.
    pub path: u8,
    /// The PSN, when there was one.
    pub psn: Option<u32>,
}

/// Inputs of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Open a flow at a first PSN.
    pub open: Option<(u16, u32)>,
    /// Request.
    pub req: Option<Request>,
    /// The answer is taken.
    pub res_ready: bool,
}

/// Outputs of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// No sweep runs: the open port is ready.
    pub idle: bool,
    /// The request port is ready.
    pub req_ready: bool,
    /// Answer.
    pub res: Option<Pick>,
}

/// Cycle-accurate picker.
///
/// A flow's picks are spaced so that each sees the state that the one before left; the answer is
/// therefore computed at issue and travels the pipeline.
#[derive(Clone, Debug)]
pub struct Picker {
    groups: usize,
    flows: Vec<SentWindow>,
    held: Option<Request>,
    gate: Gate<{ OWN_FLOW - 1 }>,
    sweep: Sweep,
    on_their_way: Pipe<Pick, ANSWER>,
    results: OutputQueue<Pick>,
}

impl Picker {
    /// As after reset, for windows of `window` PSNs.
    pub fn new(window: usize, flows: usize) -> Self {
        let groups = window / 64;
        Self {
            groups,
            flows: vec![SentWindow::new(groups, Psn::new(0)); flows],
            held: None,
            gate: Gate::default(),
            sweep: Sweep::new(flows, 8 * groups),
            on_their_way: Pipe::default(),
            results: OutputQueue::default(),
        }
    }

    fn issues(&self) -> bool {
        match self.held {
            Some(r) => !self.sweep.busy() && self.gate.admits(r.flow),
            None => false,
        }
    }

    /// Outputs of the present clock.
    #[inline]
    pub fn outputs(&self) -> Outputs {
        let idle = !self.sweep.busy();
        Outputs {
            idle,
            req_ready: idle && (self.held.is_none() || self.issues()),
            res: self.results.front().copied(),
        }
    }

    /// Returns the outputs of this clock and crosses its edge.
    #[inline]
    pub fn step(&mut self, i: &Inputs) -> Outputs {
        let out = self.outputs();
        if i.rst {
            *self = Self::new(64 * self.groups, self.flows.len());
            return out;
        }
        let issued = if self.issues() {
            self.held.take()
        } else {
            None
        };
        let picked = issued.map(|r| Pick {
            flow: r.flow,
            path: r.path,
            psn: self.flows[usize::from(r.flow)]
                .pick(r.skip.into(), Psn::new(r.bound))
                .map(Psn::value),
        });
        let answered = self.on_their_way.clock(picked);
        if let Some((flow, psn)) = self.sweep.clock(i.open) {
            self.flows[usize::from(flow)] = SentWindow::new(self.groups, Psn::new(psn));
        }
        if out.req_ready && i.req.is_some() {
            self.held = i.req;
        }
        let popped = self.results.clock(i.res_ready, answered);
        self.gate.clock(issued.map(|r| r.flow), popped);
        out
    }
}
