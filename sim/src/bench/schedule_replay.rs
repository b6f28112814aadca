//! Replays the flow scheduler's events on its model, and says what they must lead to.

use super::Scoreboard;
use rondo_models::schedule::{FlowState, Next, WAITS_LOG2_NS};
use std::collections::VecDeque;

/// Sources of events that are visits: the ring and the wait queues.
pub const QUEUES: usize = 1 + WAITS_LOG2_NS.len();
/// Kinds of events from outside, in the order of their sources: post, idle, grant, open, close.
pub const INPUTS: usize = 5;
/// Clocks that an event from outside may take from its transfer to its issue: all others have their
/// turn before it, each a visit beside it, and each of these waits for its flow.
const INPUT_CLOCKS: u64 = 64;
/// Clocks from an event's pulse to its effect on the number of queued flows.
const COUNT_CLOCKS: usize = 8;

/// What a long run must have seen.
#[derive(Clone, Copy, Debug)]
enum Case {
    Requested,
    RequestedAgain,
    Left,
    StaysInRing,
    WaitsShortest,
    WaitsShort,
    WaitsLong,
    WaitsLongest,
    PostEnters,
    PostJoins,
    RefusalEnters,
    RefusalJoins,
    ProbeOnFirstPath,
    ProbeOnLastPath,
    NoRoomForProbe,
    GrantWhileQueued,
    ClosedPost,
    ClosedRefusal,
    ClosedGrant,
    ClosedWhileQueued,
    OpenedWhileQueued,
    LongerThanTheClock,
    HalfQueued,
}

/// A flow in a queue.
#[derive(Clone, Copy, Debug)]
struct Entry {
    flow: u16,
    /// Since when, ns, not wrapping.
    since_ns: u64,
    /// Since when, in clocks in which requests were taken.
    since_served: u64,
}

/// An event that the scheduler issued.
#[derive(Clone, Copy, Debug)]
pub struct Issued {
    /// Number of its source.
    pub source: usize,
    /// Flow.
    pub flow: u16,
    /// Time that the scheduler gives it, ns.
    pub ns: u32,
    /// A probe has a place.
    pub room: bool,
    /// When it was issued, ns, not wrapping.
    pub at_ns: u64,
}

/// The model of all flows and queues.
pub struct Replay {
    paths: usize,
    flows: Vec<FlowState>,
    unsent: usize,
    open: Vec<bool>,
    visited_ns: Vec<u64>,
    rates: Vec<(u32, bool)>,
    written: Option<(u16, u32, bool)>,
    queues: [VecDeque<Entry>; QUEUES],
    accepted: [VecDeque<(u16, u64)>; INPUTS],
    counts: VecDeque<usize>,
    clock: u64,
    served: u64,
    /// Requests.
    pub requests: Scoreboard<u16>,
    /// Probes: flow and path.
    pub probes: Scoreboard<(u16, u8)>,
    reached: [u64; Case::HalfQueued as usize + 1],
    events: u64,
    violation: Option<String>,
}

impl Replay {
    /// For `flows` flows of `paths` paths.
    pub fn new(flows: usize, paths: usize) -> Self {
        Self {
            paths,
            flows: vec![FlowState::default(); flows],
            unsent: 0,
            open: vec![false; flows],
            visited_ns: vec![0; flows],
            rates: vec![(0, false); flows],
            written: None,
            queues: Default::default(),
            accepted: Default::default(),
            counts: VecDeque::new(),
            clock: 0,
            served: 0,
            requests: Scoreboard::new("req"),
            probes: Scoreboard::new("probe"),
            reached: [0; Case::HalfQueued as usize + 1],
            events: 0,
            violation: None,
        }
    }

    /// The scheduler was reset.
    pub fn reset(&mut self) {
        self.flows.fill(FlowState::default());
        self.unsent = 0;
        self.open.fill(false);
        self.written = None;
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.accepted.iter_mut().for_each(VecDeque::clear);
        self.counts.clear();
        self.requests.reset();
        self.probes.reset();
    }

    /// Packets that all flows together have to send.
    pub fn unsent(&self) -> usize {
        self.unsent
    }

    /// The flow is open, by the events so far.
    pub fn is_open(&self, flow: usize) -> bool {
        self.open[flow]
    }

    /// An event from outside was taken: it must be issued once, in the order of its kind.
    pub fn accept(&mut self, kind: usize, flow: u16) {
        self.accepted[kind].push_back((flow, self.clock));
    }

    /// One clock: an event that was issued one clock ago, a pace that is written in this clock,
    /// whether the reader of requests is ready, and the number of flows that the scheduler says it
    /// holds.
    pub fn clock(
        &mut self,
        issued: Option<Issued>,
        written: Option<(u16, u32, bool)>,
        served: bool,
        active: usize,
    ) {
        self.clock += 1;
        self.served += u64::from(served);
        // An event reads the pace before one that is written in the clock of its issue; but an open
        // clears that.
        if let Some(e) = issued {
            self.event(e);
        }
        if let Some((flow, rate, probing)) = self.written.take() {
            self.rates[usize::from(flow)] = (rate, probing);
        }
        if let Some(e) = issued.filter(|e| e.source == QUEUES + 3) {
            self.rates[usize::from(e.flow)] = (0, false);
        }
        self.written = written;
        self.counts
            .push_back(self.queues.iter().map(VecDeque::len).sum());
        if self.counts.len() > COUNT_CLOCKS {
            let want = self.counts.pop_front();
            if want != Some(active) {
                self.fail(format!("active_flows is {active} instead of {want:?}"));
            }
        }
        self.check_patience();
    }

    fn event(&mut self, e: Issued) {
        self.events += 1;
        if e.ns != e.at_ns as u32 {
            self.fail(format!("event_ns is {:#x} at {:#x} ns", e.ns, e.at_ns));
        }
        let i = usize::from(e.flow);
        if i >= self.flows.len() {
            return self.fail(format!("{e:x?}: no such flow"));
        }
        let before = usize::from(self.flows[i].unsent());
        match e.source.checked_sub(QUEUES) {
            None => self.visit(e),
            Some(kind) => self.input(kind, e),
        }
        self.unsent = self.unsent - before + usize::from(self.flows[i].unsent());
    }

    fn input(&mut self, kind: usize, e: Issued) {
        let i = usize::from(e.flow);
        match self.accepted.get_mut(kind).and_then(VecDeque::pop_front) {
            Some((flow, _)) if flow == e.flow => {}
            other => self.fail(format!("{e:x?} instead of {other:x?}")),
        }
        let was_queued = self.flows[i].is_queued();
        match kind {
            0 => self.post(e),
            1 => self.refuse(e),
            2 => {
                self.flows[i].grant();
                self.note_if(Case::GrantWhileQueued, self.open[i] && was_queued);
                self.note_if(Case::ClosedGrant, !self.open[i]);
            }
            3 => {
                self.flows[i].open();
                self.open[i] = true;
                self.note_if(Case::OpenedWhileQueued, was_queued);
            }
            _ => {
                self.flows[i].close();
                self.open[i] = false;
                self.note_if(Case::ClosedWhileQueued, was_queued);
            }
        }
    }

    fn post(&mut self, e: Issued) {
        let i = usize::from(e.flow);
        let enters = self.flows[i].post();
        self.note_if(Case::ClosedPost, !self.open[i]);
        self.note_if(Case::PostEnters, enters);
        self.note_if(Case::PostJoins, self.open[i] && !enters);
        if enters {
            self.push(0, e);
        }
    }

    fn refuse(&mut self, e: Issued) {
        let i = usize::from(e.flow);
        let probing = self.rates[i].1;
        let done = self.flows[i].refuse(probing, e.room, self.paths);
        self.note_if(Case::ClosedRefusal, !self.open[i]);
        self.note_if(Case::RefusalEnters, done.enters);
        self.note_if(Case::RefusalJoins, self.open[i] && !done.enters);
        self.note_if(Case::NoRoomForProbe, self.open[i] && probing && !e.room);
        if let Some(path) = done.probe {
            self.probes.expect((e.flow, path));
            self.note_if(Case::ProbeOnFirstPath, path == 0);
            self.note_if(Case::ProbeOnLastPath, usize::from(path) + 1 == self.paths);
        }
        if done.enters {
            self.push(0, e);
        }
    }

    fn visit(&mut self, e: Issued) {
        let i = usize::from(e.flow);
        match self.queues[e.source].pop_front() {
            Some(first) if first.flow == e.flow => {
                let wait = WAITS_LOG2_NS
                    .get(e.source.wrapping_sub(1))
                    .map_or(0, |w| 1 << w);
                if e.at_ns - first.since_ns < wait {
                    self.fail(format!("{e:x?} is visited too early: {first:x?}"));
                }
            }
            other => self.fail(format!("{e:x?} is visited instead of {other:x?}")),
        }
        let (rate, probing) = self.rates[i];
        let done = self.flows[i].visit(e.ns, rate, probing);
        self.note_if(
            Case::LongerThanTheClock,
            self.open[i] && e.at_ns - self.visited_ns[i] > u64::from(u32::MAX),
        );
        self.visited_ns[i] = e.at_ns;
        if done.request {
            self.requests.expect(e.flow);
            self.note_if(Case::Requested, true);
            self.note_if(Case::RequestedAgain, done.next == Next::Ring);
        }
        match done.next {
            Next::Leave => self.note_if(Case::Left, true),
            Next::Ring => {
                self.push(0, e);
                self.note_if(Case::StaysInRing, true);
            }
            Next::Wait(q) => {
                self.push(1 + q, e);
                let case = [
                    Case::WaitsShortest,
                    Case::WaitsShort,
                    Case::WaitsLong,
                    Case::WaitsLongest,
                ][q];
                self.note_if(case, true);
            }
        }
    }

    fn push(&mut self, queue: usize, e: Issued) {
        self.queues[queue].push_back(Entry {
            flow: e.flow,
            since_ns: e.at_ns,
            since_served: self.served,
        });
        let queued: usize = self.queues.iter().map(VecDeque::len).sum();
        self.note_if(Case::HalfQueued, 2 * queued >= self.flows.len());
    }

    /// Nothing is forgotten, nobody starves.
    fn check_patience(&mut self) {
        for kind in 0..INPUTS {
            if let Some(&(flow, since)) = self.accepted[kind].front() {
                if self.clock - since > INPUT_CLOCKS {
                    self.fail(format!(
                        "input {kind} of flow {flow:#x} was taken and not issued"
                    ));
                }
            }
        }
        // A visit may lead to a request: it needs the reader. A wait is over after its time, or, when
        // the clock jumped by 2^26 ns and looks young again, once more after it.
        let limit = 16 * self.flows.len() as u64 + (1 << WAITS_LOG2_NS[3]);
        for queue in 0..QUEUES {
            if let Some(&first) = self.queues[queue].front() {
                if self.served - first.since_served > limit {
                    self.fail(format!("queue {queue} starves: {first:x?}"));
                }
            }
        }
    }

    fn note_if(&mut self, case: Case, happened: bool) {
        self.reached[case as usize] += u64::from(happened);
    }

    /// The first case that was never reached.
    pub fn check_reached(&mut self) {
        const ALL: [Case; Case::HalfQueued as usize + 1] = [
            Case::Requested,
            Case::RequestedAgain,
            Case::Left,
            Case::StaysInRing,
            Case::WaitsShortest,
            Case::WaitsShort,
            Case::WaitsLong,
            Case::WaitsLongest,
            Case::PostEnters,
            Case::PostJoins,
            Case::RefusalEnters,
            Case::RefusalJoins,
            Case::ProbeOnFirstPath,
            Case::ProbeOnLastPath,
            Case::NoRoomForProbe,
            Case::GrantWhileQueued,
            Case::ClosedPost,
            Case::ClosedRefusal,
            Case::ClosedGrant,
            Case::ClosedWhileQueued,
            Case::OpenedWhileQueued,
            Case::LongerThanTheClock,
            Case::HalfQueued,
        ];
        if let Some(case) = ALL.into_iter().find(|&c| self.reached[c as usize] == 0) {
            self.fail(format!("the run never reached {case:?}"));
        }
    }

    fn fail(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// Events replayed and transfers compared.
    pub fn compared(&self) -> u64 {
        self.events + self.requests.compared() + self.probes.compared()
    }

    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation
            .as_deref()
            .or(self.requests.violation())
            .or(self.probes.violation())
    }
}
