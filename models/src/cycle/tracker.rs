//! The tracker's pipeline.

use super::{Gate, OutputQueue, Pipe, Sweep, Timing};
use crate::psn::Psn;
use crate::tracker::{ArrivalWindow, Outcome};

/// Clocks from issue to the verdict.
const VERDICT: usize = 9;
/// A flow's arrivals are this far apart.
const OWN_FLOW: usize = 8;

/// Latency and rate.
pub const TIMING: Timing = Timing {
    latency_clocks: VERDICT as u32 + 3,
    initiation_interval: 1,
    own_flow_interval: OWN_FLOW as u32,
};

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Flow.
    pub flow: u16,
    /// PSN.
    pub psn: u32,
    /// An out-of-order arrival may be taken too.
    pub room: bool,
    /// Handed on, as many bits as the instance has.
    pub tag: u128,
}

/// A verdict on an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The arrival.
    pub arrival: Arrival,
    /// What became of it.
    pub outcome: Outcome,
}

/// Inputs of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Open a flow at a first PSN.
    pub open: Option<(u16, u32)>,
    /// Arrival.
    pub req: Option<Arrival>,
    /// The verdict is taken.
    pub res_ready: bool,
}

/// Outputs of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// No sweep runs: the open port is ready.
    pub idle: bool,
    /// The arrival port is ready.
    pub req_ready: bool,
    /// Verdict.
    pub res: Option<Judged>,
}

/// Cycle-accurate tracker.
///
/// A flow's arrivals are spaced so that each sees the state that the one before left; the verdict
/// is therefore computed at issue and travels the pipeline.
#[derive(Clone, Debug)]
pub struct Tracker {
    groups: usize,
    flows: Vec<ArrivalWindow>,
    held: Option<Arrival>,
    gate: Gate<{ OWN_FLOW - 1 }>,
    sweep: Sweep,
    on_their_way: Pipe<Judged, VERDICT>,
    results: OutputQueue<Judged>,
}

impl Tracker {
    /// As after reset, for windows of `window` PSNs.
    pub fn new(window: usize, flows: usize) -> Self {
        let groups = window / 64;
        Self {
            groups,
            flows: vec![ArrivalWindow::new(groups, Psn::new(0)); flows],
            held: None,
            gate: Gate::default(),
            sweep: Sweep::new(flows, groups),
            on_their_way: Pipe::default(),
            results: OutputQueue::default(),
        }
    }

    fn issues(&self) -> bool {
        match self.held {
            Some(a) => !self.sweep.busy() && self.gate.admits(a.flow),
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
        let judged = issued.map(|arrival| Judged {
            arrival,
            outcome: self.flows[usize::from(arrival.flow)]
                .arrive(Psn::new(arrival.psn), arrival.room),
        });
        let answered = self.on_their_way.clock(judged);
        if let Some((flow, psn)) = self.sweep.clock(i.open) {
            self.flows[usize::from(flow)] = ArrivalWindow::new(self.groups, Psn::new(psn));
        }
        if out.req_ready && i.req.is_some() {
            self.held = i.req;
        }
        let popped = self.results.clock(i.res_ready, answered);
        self.gate.clock(issued.map(|a| a.flow), popped);
        out
    }
}
