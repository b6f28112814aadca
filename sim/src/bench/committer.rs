//! The committer's bench: flows that are always close to the end of their slot table.

use super::{Pace, Resets, Rows, Scoreboard, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::psn::Psn;
use rondo_models::segmenter::{may_commit, OUTSTANDING_PSNS};
use std::collections::VecDeque;

/// Packets that the queue holds.
const QUEUE: usize = 32;
/// Clocks within which a packet is committed when nothing holds it: an open takes 33.
const PROMPT: u32 = 200;
/// Clocks that an open takes, or the sweep after a reset beside one a flow.
const OPEN_CLOCKS: u64 = 100;
/// After this many clocks every path must have been taken.
const LONG_RUN: u64 = 80_000;

struct At {
    rst: usize,
    push: [usize; 3],
    popped: usize,
    open: [usize; 3],
    open_ready: usize,
    una: [usize; 3],
    commit: [usize; 4],
    commit_ready: usize,
}

#[derive(Clone, Copy, Default)]
struct Flow {
    next_psn: Psn,
    una: Psn,
    due: usize,
    /// Until then it is being opened: a pulse may be lost.
    opened_by: u64,
}

/// Random packets of few flows, and lowest unacknowledged PSNs that move when they must.
pub struct CommitterBench {
    rng: SmallRng,
    at: At,
    clock: u64,
    resets: Resets,
    flows: Vec<Flow>,
    /// Flows that get packets at present.
    hot: [usize; 3],
    queued: usize,
    push: Pace,
    pushed: Option<(usize, u16)>,
    open: Source<(usize, Psn)>,
    una: Pace,
    moved: Option<(usize, Psn)>,
    commit_ready: Pace,
    commits: Scoreboard<(u64, u64, u64)>,
    due: VecDeque<(usize, Psn)>,
    held: u32,
    /// Until then the sweep after reset holds all packets.
    swept_by: u64,
    window_waits: u32,
    opened: u32,
    violation: Option<String>,
}

impl CommitterBench {
    /// For the committer `v` of `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, flows: usize, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at: At {
                rst: r.input("rst")?,
                push: r.inputs(["push", "push_flow", "push_slot"])?,
                popped: r.output("popped")?,
                open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
                open_ready: r.output("open_ready")?,
                una: r.inputs(["una_valid", "una_flow", "una_psn"])?,
                commit: r.outputs(["commit_valid", "commit_flow", "commit_psn", "commit_slot"])?,
                commit_ready: r.input("commit_ready")?,
            },
            clock: 0,
            resets: Resets::new(flows),
            flows: vec![Flow::default(); flows],
            hot: [0; 3],
            queued: 0,
            push: Pace::new(Pace::MIXED),
            pushed: None,
            open: Source::new(&[256, 16, 4, 0, 0]),
            una: Pace::new(&[128, 32, 200]),
            moved: None,
            commit_ready: Pace::new(&[256, 256, 128, 32, 8]),
            commits: Scoreboard::new("commit"),
            due: VecDeque::new(),
            held: 0,
            swept_by: 0,
            window_waits: 0,
            opened: 0,
            violation: None,
        })
    }

    fn restart(&mut self) {
        self.swept_by = self.clock + self.flows.len() as u64 + OPEN_CLOCKS;
        self.flows.fill(Flow {
            opened_by: self.swept_by,
            ..Flow::default()
        });
        self.queued = 0;
        self.open.reset();
        self.commits.reset();
        self.due.clear();
        self.held = 0;
    }

    fn opening(&self) -> Option<usize> {
        self.open.peek().map(|(f, _)| f)
    }

    /// A packet, if the queue has room.
    fn packet(&mut self) -> Option<(usize, u16)> {
        let flow = self.hot[self.rng.random_range(0..self.hot.len())];
        let full = self.queued >= QUEUE || self.opening() == Some(flow);
        (self.push.active(&mut self.rng) && !full).then(|| (flow, self.rng.random_range(0..1024)))
    }

    /// A quiet flow, at PSNs close to those of another.
    fn flow_to_open(&mut self) -> Option<(usize, Psn)> {
        let flow = self.hot[self.rng.random_range(0..self.hot.len())];
        let near = self.flows[self.hot[0]].next_psn;
        let psn = near.plus(self.rng.random_range(0..3_000)).minus(1_500);
        (self.flows[flow].due == 0).then_some((flow, psn))
    }

    /// Moves the lowest unacknowledged PSN of a flow: a few PSNs on when it holds up the next packet;
    /// nearly a slot table back, as if much had been sent, when the flow is quiet.
    fn una_to_move(&mut self) -> Option<(usize, Psn)> {
        let flow = match self.due.front() {
            Some((flow, _)) if self.rng.random() => *flow,
            _ => self.hot[self.rng.random_range(0..self.hot.len())],
        };
        if self.opening() == Some(flow) {
            return None;
        }
        let f = &self.flows[flow];
        let next = self.due.iter().find(|d| d.0 == flow);
        match next {
            None if f.next_psn == f.una && f.opened_by < self.clock => {
                let back = OUTSTANDING_PSNS - self.rng.random_range(0..8);
                Some((flow, f.next_psn.minus(back)))
            }
            Some((_, psn)) if !may_commit(*psn, f.una) => {
                Some((flow, f.una.plus(self.rng.random_range(1..6))))
            }
            _ => None,
        }
    }

    fn observe_commit(&mut self, inputs: &[u64], outputs: &[u64]) {
        let [valid, flow, psn, slot] = self.at.commit.map(|i| outputs[i]);
        let offered = (valid != 0).then_some((flow, psn, slot));
        let ready = inputs[self.at.commit_ready] != 0;
        if let Some(front) = self.due.front().copied() {
            let free = may_commit(front.1, self.flows[front.0].una);
            self.window_waits += u32::from(!free);
            if offered.is_some() && !free {
                self.violation = Some(format!("commit_psn {psn:x}: not in the slot table"));
            }
            let prompt = free && ready && self.swept_by < self.clock;
            self.held += u32::from(prompt && offered.is_none());
            if self.held > PROMPT {
                self.violation = Some(format!("commit: {front:x?} could go, and does not"));
            }
        }
        if self.commits.clock(offered, ready).is_some() {
            self.held = 0;
            if let Some((flow, _)) = self.due.pop_front() {
                self.flows[flow].due -= 1;
            }
        }
    }
}

impl Bench for CommitterBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let (a, flows) = (&self.at, self.flows.len());
        inputs[a.rst] = self.resets.active(&mut self.rng).into();
        if self.rng.random_range(0..1_000) == 0 {
            self.hot = std::array::from_fn(|_| self.rng.random_range(0..flows));
        }
        let candidate = self.flow_to_open();
        let opening = self.open.offer(&mut self.rng, |_| candidate);
        inputs[self.at.open[0]] = opening.is_some().into();
        if let Some((flow, psn)) = opening {
            inputs[self.at.open[1]] = flow as u64;
            inputs[self.at.open[2]] = psn.value().into();
        }
        self.pushed = self.packet();
        let [push, push_flow, push_slot] = self.at.push;
        inputs[push] = self.pushed.is_some().into();
        if let Some((flow, slot)) = self.pushed {
            inputs[push_flow] = flow as u64;
            inputs[push_slot] = slot.into();
        }
        self.moved = match self.una.active(&mut self.rng) {
            true => self.una_to_move(),
            false => None,
        };
        let [valid, flow, psn] = self.at.una;
        inputs[valid] = self.moved.is_some().into();
        if let Some((f, una)) = self.moved {
            inputs[flow] = f as u64;
            inputs[psn] = una.value().into();
        }
        inputs[self.at.commit_ready] = self.commit_ready.active(&mut self.rng).into();
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        self.observe_commit(inputs, outputs);
        self.queued -= usize::from(outputs[self.at.popped] != 0).min(self.queued);
        if let Some((flow, slot)) = self.pushed {
            let f = &mut self.flows[flow];
            self.commits
                .expect((flow as u64, f.next_psn.value().into(), slot.into()));
            self.due.push_back((flow, f.next_psn));
            f.next_psn = f.next_psn.plus(1);
            f.due += 1;
            self.queued += 1;
        }
        if let Some((flow, una)) = self.moved {
            self.flows[flow].una = una;
        }
        if let Some((flow, psn)) = self.open.taken(outputs[self.at.open_ready] != 0) {
            self.flows[flow].next_psn = psn;
            self.flows[flow].una = psn;
            self.flows[flow].opened_by = self.clock + OPEN_CLOCKS;
            self.opened += 1;
        }
        if self.clock == LONG_RUN && (self.window_waits == 0 || self.opened == 0) {
            let what = format!("too easy: {} waits", self.window_waits);
            self.violation = Some(what);
        }
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.commits.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.commits.compared()
    }
}
