//! The deficit selector's pipeline.

use super::{Gate, OutputQueue, Pipe, Sweep, Timing};
use crate::deficit::{room, shares, Deficits, INITIAL_WINDOW, MAX_PATHS};
use crate::psn::Psn;

/// Clocks from issue to the decision.
const DECISION: usize = 18;
/// A flow's decisions are this far apart.
const OWN_FLOW: usize = 6;

/// Latency and rate.
pub const TIMING: Timing = Timing {
    latency_clocks: DECISION as u32 + 3,
    initiation_interval: 1,
    own_flow_interval: OWN_FLOW as u32,
};

/// Inputs of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Open a flow at a first PSN.
    pub open: Option<(u16, u32)>,
    /// Set a window: flow, path, UQ10.6 packets.
    pub window: Option<(u16, u8, u16)>,
    /// ACK: flow, path.
    pub ack: Option<(u16, u8)>,
    /// Request.
    pub req: Option<Request>,
    /// The result is taken.
    pub res_ready: bool,
}

/// A flow asks for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flow.
    pub flow: u16,
    /// First PSN that it may not send; of a retransmission the PSN, which is handed on.
    pub limit: u32,
    /// The packet is a retransmission: no new PSN, and not bound by the limit.
    pub again: bool,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Flow.
    pub flow: u16,
    /// Path, when the flow may send one packet.
    pub path: Option<u8>,
    /// The request's limit.
    pub limit: u32,
    /// The request was for a retransmission.
    pub again: bool,
}

/// Outputs of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// No sweep runs: open, window and ACK ports are ready.
    pub idle: bool,
    /// The request port is ready.
    pub req_ready: bool,
    /// Result.
    pub res: Option<Decision>,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    request: Request,
    windows: [u16; MAX_PATHS],
    acked: [u16; MAX_PATHS],
    rooms: [u16; MAX_PATHS],
}

#[derive(Clone, Copy, Debug)]
struct FlowState {
    transmit: Deficits,
    windows: [u16; MAX_PATHS],
    acked: [u16; MAX_PATHS],
}

impl FlowState {
    fn new(first: u32) -> Self {
        Self {
            transmit: Deficits::new(Psn::new(first)),
            windows: [INITIAL_WINDOW; MAX_PATHS],
            acked: [first as u16; MAX_PATHS],
        }
    }
}

/// Cycle-accurate deficit selector.
#[derive(Clone, Debug)]
pub struct Selector {
    paths: usize,
    flows: Vec<FlowState>,
    held: Option<Request>,
    gate: Gate<{ OWN_FLOW - 1 }>,
    sweep: Sweep,
    on_their_way: Pipe<InFlight, DECISION>,
    ack_1: Option<(u16, u8)>,
    results: OutputQueue<Decision>,
}

impl Selector {
    /// As after reset.
    pub fn new(paths: usize, flows: usize) -> Self {
        Self {
            paths,
            flows: vec![FlowState::new(0); flows],
            held: None,
            gate: Gate::default(),
            sweep: Sweep::new(flows, 1),
            on_their_way: Pipe::default(),
            ack_1: None,
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

    fn read(&self, request: Request) -> InFlight {
        let s = &self.flows[usize::from(request.flow)];
        let mut rooms = [0; MAX_PATHS];
        for (p, r) in rooms[..self.paths].iter_mut().enumerate() {
            *r = room(s.windows[p], s.transmit.sent[p], s.acked[p]);
        }
        InFlight {
            request,
            windows: s.windows,
            acked: s.acked,
            rooms,
        }
    }

    fn decide(&mut self, r: &InFlight) -> Decision {
        let rooms = &r.rooms[..self.paths];
        let mut share = [0; MAX_PATHS];
        shares(rooms, &mut share);
        let open = |p: usize, sent| room(r.windows[p], sent, r.acked[p]) != 0;
        let Request { flow, limit, again } = r.request;
        let transmit = &mut self.flows[usize::from(flow)].transmit;
        let path = if again {
            transmit.choose(rooms, &share, open)
        } else {
            transmit.decide(rooms, &share, open, Psn::new(limit))
        };
        Decision {
            flow,
            path: path.map(|p| p as u8),
            limit,
            again,
        }
    }

    /// Returns the outputs of this clock and crosses its edge.
    #[inline]
    pub fn step(&mut self, i: &Inputs) -> Outputs {
        let out = self.outputs();
        if i.rst {
            *self = Self::new(self.paths, self.flows.len());
            return out;
        }
        // Memories are read-first: everything issued in this clock sees the state before the
        // writes of this clock.
        let issued = if self.issues() {
            self.held.take()
        } else {
            None
        };
        let entering = issued.map(|r| self.read(r));
        let deciding = self.on_their_way.clock(entering);
        let decided = deciding.map(|r| self.decide(&r));

        if let Some((flow, path)) = self.ack_1.take() {
            let acked = &mut self.flows[usize::from(flow)].acked[usize::from(path)];
            *acked = acked.wrapping_add(1);
        }
        if out.idle {
            self.ack_1 = i.ack;
            if let Some((flow, path, window)) = i.window {
                self.flows[usize::from(flow)].windows[usize::from(path)] = window;
            }
        }
        if let Some((flow, psn)) = self.sweep.clock(i.open) {
            self.flows[usize::from(flow)] = FlowState::new(psn);
        }
        if out.req_ready && i.req.is_some() {
            self.held = i.req;
        }
        let popped = self.results.clock(i.res_ready, decided);
        self.gate.clock(issued.map(|r| r.flow), popped);
        out
    }
}
