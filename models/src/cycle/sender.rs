//! The sender datapath: selector, picker, acknowledgement tracker, clock by clock.

use super::picker::{self, Pick, Picker};
use super::selector::{self, Selector};
use super::tracker::{self, Arrival, Judged, Tracker};
use super::{Gate, OutputQueue, Pipe, Sweep, Timing};
use crate::deficit::MAX_PATHS;
use crate::psn::Psn;
use crate::tracker::{sending_bound, Verdict};

/// Bit of the tracker's tag: the ACK's path has room for one more.
const COUNT: u128 = 1 << 4;

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
    /// ACK of a data packet.
    pub ack: Option<Ack>,
    /// In flight no more, though not acknowledged: flow, path.
    pub resolve: Option<(u16, u8)>,
    /// Lost PSN to be sent again: flow, PSN.
    pub again: Option<(u16, u32)>,
    /// Request: flow.
    pub req: Option<u16>,
    /// The packet is taken.
    pub res_ready: bool,
    /// The retransmission is taken.
    pub retry_ready: bool,
    /// The idle answer is taken.
    pub idle_ready: bool,
    /// The ACK report is taken.
    pub acked_ready: bool,
}

/// ACK of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Flow.
    pub flow: u16,
    /// Path that has room for one more.
    pub path: u8,
    /// PSN.
    pub psn: u32,
    /// The PSN was in flight; not so when it had been found lost.
    pub count: bool,
}

/// A retransmission, or the want of a path for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Flow.
    pub flow: u16,
    /// Path, when one is open.
    pub path: Option<u8>,
    /// PSN.
    pub psn: u32,
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
    /// The port of what is resolved otherwise is ready.
    pub resolve_ready: bool,
    /// The port of lost PSNs is ready.
    pub again_ready: bool,
    /// The request port is ready.
    pub req_ready: bool,
    /// Packet to send.
    pub res: Option<Pick>,
    /// Retransmission to send.
    pub retry: Option<Retry>,
    /// Flow that sends nothing, and a retransmission's PSN.
    pub idle: Option<(u16, Option<u32>)>,
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
    held: Option<(u16, Option<u32>)>,
    on_their_way: Pipe<selector::Request, BOUND>,
    bounds: OutputQueue<selector::Request>,
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
        let issues = self.held.filter(|&(f, _)| idle && self.gate.admits(f));
        let take = idle && (self.held.is_none() || issues.is_some());
        let count_ready = choose.idle && idle;
        let out = Outputs {
            open_ready: idle && choose.idle && pick.idle && count.idle && count.res.is_none(),
            control_ready: idle,
            window_ready: choose.idle,
            ack_ready: count.req_ready,
            resolve_ready: count_ready && count.res.is_none(),
            again_ready: take,
            req_ready: take && i.again.is_none(),
            res: pick.res,
            retry: choose
                .res
                .filter(|d| d.again && d.path.is_some())
                .map(|d| Retry {
                    flow: d.flow,
                    path: d.path,
                    psn: d.limit,
                }),
            idle: choose
                .res
                .filter(|d| d.path.is_none())
                .map(|d| (d.flow, d.again.then_some(d.limit))),
            acked: count.res.filter(|_| count_ready),
        };
        if i.rst {
            *self = Self::new(self.paths, self.window as usize, self.limits.len());
            return out;
        }
        let open = i.open.filter(|_| out.open_ready);
        let advance = self.chosen.is_none() || pick.req_ready;
        let granted = choose
            .res
            .filter(|d| !d.again)
            .and_then(|d| d.path.map(|p| (d, p)));
        let counted = count.res.filter(|_| count_ready && i.acked_ready);

        // Reads of this clock come before its writes.
        let entering = issues.map(|(flow, again)| selector::Request {
            flow,
            limit: again.unwrap_or_else(|| self.bound(flow)),
            again: again.is_some(),
        });
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
                .filter(|j| j.outcome.verdict == Verdict::Accepted && j.arrival.tag & COUNT != 0)
                .map(|j| (j.arrival.flow, (j.arrival.tag & 15) as u8))
                .or(i.resolve.filter(|_| out.resolve_ready)),
            req: self.bounds.front().copied(),
            res_ready: if granted.is_some() {
                advance
            } else if out.retry.is_some() {
                i.retry_ready
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
            req: i.ack.map(|a| Arrival {
                flow: a.flow,
                psn: a.psn,
                room: true,
                tag: u128::from(a.path) | if a.count { COUNT } else { 0 },
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
        self.gate.clock(issues.map(|(f, _)| f), popped);
        if issues.is_some() {
            self.held = None;
        }
        if take {
            let again = i.again.map(|(flow, psn)| (flow, Some(psn)));
            self.held = again.or(i.req.map(|f| (f, None))).or(self.held);
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
