//! The sender datapath: selector, picker, acknowledgement tracker, clock by clock.

use super::picker::{self, Pick, Picker};
use super::selector::{self, Selector};
use super::tracker::{self, Arrival, Judged, Tracker};
use super::{Gate, OutputQueue, Pipe, Sweep, Timing};
use crate::deficit::MAX_PATHS;
use crate::psn::Psn;
use crate::tracker::{sending_bound, Verdict};

/// Clocks from issue to the bound.
const BOUND: usize = 3;

/// Latency and rate of the whole sender, request to PSN.
pub const TIMING: Timing = Timing {
    latency_clocks: BOUND as u32
        + 3
        + selector::TIMING.latency_clocks
        + 1
        + picker::TIMING.latency_clocks,
    initiation_interval: 1,
    own_flow_interval: 8,
};

/// Inputs of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Open a flow at a first PSN.
    pub open: Option<(u16, u32)>,
    /// The host posts: flow, first PSN that is not posted.
    pub post: Option<(u16, u32)>,
    /// Window: flow, path, UQ10.6 packets.
    pub window: Option<(u16, u8, u16)>,
    /// Skip: flow, path, PSNs.
    pub skip: Option<(u16, u8, u16)>,
    /// ACK: flow, path, PSN.
    pub ack: Option<(u16, u8, u32)>,
    /// Request: flow.
    pub req: Option<u16>,
    /// The packet is taken.
    pub res_ready: bool,
    /// The idle answer is taken.
    pub idle_ready: bool,
    /// The ACK report is taken.
    pub acked_ready: bool,
}

/// Outputs of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The open port is ready.
    pub open_ready: bool,
    /// Post and skip ports are ready.
    pub control_ready: bool,
    /// The window port is ready.
    pub window_ready: bool,
    /// The ACK port is ready.
    pub ack_ready: bool,
    /// The request port is ready.
    pub req_ready: bool,
    /// Packet to send.
    pub res: Option<Pick>,
    /// Flow that sends nothing.
    pub idle: Option<u16>,
    /// ACK that is being counted.
    pub acked: Option<Judged>,
}

/// Cycle-accurate sender.
#[derive(Clone, Debug)]
pub struct Sender {
    paths: usize,
    window: u32,
    selector: Selector,
    picker: Picker,
    acks: Tracker,
    sweep: Sweep,
    gate: Gate<1>,
    held: Option<u16>,
    on_their_way: Pipe<(u16, u32), BOUND>,
    bounds: OutputQueue<(u16, u32)>,
    chosen: Option<picker::Request>,
    limits: Vec<u32>,
    unacknowledged: Vec<u32>,
    skips: Vec<[u16; MAX_PATHS]>,
}

impl Sender {
    /// As after reset.
    pub fn new(paths: usize, window: usize, flows: usize) -> Self {
        Self {
            paths,
            window: window as u32,
            selector: Selector::new(paths, flows),
            picker: Picker::new(window, flows),
            acks: Tracker::new(window, flows),
            sweep: Sweep::new(flows, paths),
            gate: Gate::default(),
            held: None,
            on_their_way: Pipe::default(),
            bounds: OutputQueue::default(),
            chosen: None,
            limits: vec![0; flows],
            unacknowledged: vec![0; flows],
            skips: vec![[0; MAX_PATHS]; flows],
        }
    }

    fn bound(&self, flow: u16) -> u32 {
        let f = usize::from(flow);
        let una = Psn::new(self.unacknowledged[f]);
        sending_bound(Psn::new(self.limits[f]), una, self.window).value()
    }

    /// Returns the outputs of this clock and crosses its edge.
    #[inline]
    pub fn step(&mut self, i: &Inputs) -> Outputs {
        let choose = self.selector.outputs();
        let pick = self.picker.outputs();
        let count = self.acks.outputs();
        let idle = !self.sweep.busy();
        let issues = self.held.filter(|&f| idle && self.gate.admits(f));
        let count_ready = choose.idle && idle;
        let out = Outputs {
            open_ready: idle && choose.idle && pick.idle && count.idle && count.res.is_none(),
            control_ready: idle,
            window_ready: choose.idle,
            ack_ready: count.req_ready,
            req_ready: idle && (self.held.is_none() || issues.is_some()),
            res: pick.res,
            idle: choose.res.filter(|d| d.path.is_none()).map(|d| d.flow),
            acked: count.res.filter(|_| count_ready),
        };
        if i.rst {
            *self = Self::new(self.paths, self.window as usize, self.limits.len());
            return out;
        }
        let open = i.open.filter(|_| out.open_ready);
        let advance = self.chosen.is_none() || pick.req_ready;
        let granted = choose.res.and_then(|d| d.path.map(|p| (d, p)));
        let counted = count.res.filter(|_| count_ready && i.acked_ready);

        // Reads of this clock come before its writes.
        let entering = issues.map(|f| (f, self.bound(f)));
        let next_chosen = granted.map(|(d, path)| picker::Request {
            flow: d.flow,
            path,
            skip: 0,
            bound: d.limit,
        });
        let request = self.chosen;
        self.selector.step(&selector::Inputs {
            rst: false,
            open,
            window: i.window,
            ack: counted
                .filter(|j| j.outcome.verdict == Verdict::Accepted)
                .map(|j| (j.arrival.flow, j.arrival.tag as u8)),
            req: self.bounds.front().copied(),
            res_ready: if granted.is_some() {
                advance
            } else {
                i.idle_ready
            },
        });
        self.picker.step(&picker::Inputs {
            rst: false,
            open,
            req: request,
            res_ready: i.res_ready,
        });
        self.acks.step(&tracker::Inputs {
            rst: false,
            open,
            req: i.ack.map(|(flow, path, psn)| Arrival {
                flow,
                psn,
                room: true,
                tag: path.into(),
            }),
            res_ready: count_ready && i.acked_ready,
        });

        // The skip is read in the clock before it is used; a waiting pick reads it again.
        if advance {
            self.chosen = next_chosen;
        }
        if let Some(c) = &mut self.chosen {
            c.skip = self.skips[usize::from(c.flow)][usize::from(c.path)];
        }
        let bounded = self.on_their_way.clock(entering);
        let popped = self.bounds.clock(choose.req_ready, bounded);
        self.gate.clock(issues, popped);
        if issues.is_some() {
            self.held = None;
        }
        if out.req_ready && i.req.is_some() {
            self.held = i.req;
        }
        self.write(i, idle, counted);
        if let Some((flow, psn)) = self.sweep.clock(open) {
            let f = usize::from(flow);
            self.limits[f] = psn;
            self.unacknowledged[f] = psn;
            self.skips[f] = [0; MAX_PATHS];
        }
        out
    }

    fn write(&mut self, i: &Inputs, idle: bool, counted: Option<Judged>) {
        if let Some(j) = counted {
            self.unacknowledged[usize::from(j.arrival.flow)] = j.outcome.expected.value();
        }
        if !idle {
            return;
        }
        if let Some((flow, limit)) = i.post {
            self.limits[usize::from(flow)] = limit;
        }
        if let Some((flow, path, skip)) = i.skip {
            self.skips[usize::from(flow)][usize::from(path) % self.paths] = skip;
        }
    }
}
