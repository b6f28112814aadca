//! What stands around a segmenter: the host, the control side, the free list, and a ledger that
//! frees slots in any order.

use super::chunks::{ChunkSource, Fate, HostBeat};
use super::driver::first_psn;
use super::{Pace, Rows, Scoreboard, Source};
use crate::SimError;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::Rng;
use rondo_models::psn::Psn;
use rondo_models::segmenter::{may_commit, Refusal};
use rondo_models::wire::{FlowContext, Segment};
use std::collections::VecDeque;

/// Slots of the pool.
pub const SLOTS: usize = 1 << 10;

struct At {
    open: [usize; 3],
    open_ready: usize,
    h2c: [usize; 5],
    h2c_ready: usize,
    free: [usize; 2],
    free_ready: usize,
    una: [usize; 3],
    commit: [usize; 4],
    commit_ready: usize,
    refused: [usize; 2],
}

impl At {
    fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            open_ready: r.output("open_ready")?,
            h2c: r.inputs(["h2c_valid", "h2c_data", "h2c_keep", "h2c_last", "h2c_size"])?,
            h2c_ready: r.output("h2c_ready")?,
            free: r.inputs(["free_valid", "free_slot"])?,
            free_ready: r.output("free_ready")?,
            una: r.inputs(["una_valid", "una_flow", "una_psn"])?,
            commit: r.outputs(["commit_valid", "commit_flow", "commit_psn", "commit_slot"])?,
            commit_ready: r.input("commit_ready")?,
            refused: r.outputs(["refused_valid", "refused_cause"])?,
        })
    }
}

/// A packet, from when it is due until it is acknowledged.
pub struct HostPacket {
    /// Flow.
    pub flow: u16,
    /// PSN.
    pub psn: Psn,
    /// Slot, once it is committed.
    pub slot: u16,
    /// Segment.
    pub segment: Segment,
    /// Payload.
    pub payload: Vec<u8>,
    /// It may be acknowledged.
    pub is_sent: bool,
    /// It is with the frame builder.
    pub is_job: bool,
}

/// A flow.
pub struct HostFlow {
    /// Its context.
    pub context: FlowContext,
    /// Committed and not acknowledged, by PSN.
    pub outstanding: Vec<HostPacket>,
    /// Of the next packet.
    next_psn: Psn,
    /// As the segmenter knows it.
    una: Psn,
    /// Packets that are due.
    due: usize,
    /// Before this clock the oldest is not acknowledged.
    hole_until: u64,
    /// Chunks whose descriptor is not taken, and until when that of the last may be judged: until
    /// then the context may not change.
    unread: usize,
    judged_by: u64,
}

/// How often each path was taken.
#[derive(Default, Debug)]
pub struct Reached {
    refusals: [u32; 8],
    host_held: u32,
    slots_missing: u32,
    reopened: u32,
}

impl Reached {
    /// Some path was never taken.
    pub fn misses(&self) -> bool {
        let others = [self.host_held, self.slots_missing, self.reopened];
        self.refusals[1..].contains(&0) || others.contains(&0)
    }
}

/// Drives and checks all ports of a segmenter but its memories.
pub struct HostSide {
    at: At,
    clock: u64,
    slot_bytes: u16,
    /// How a flow's context is drawn: whenever it is opened, and after a reset.
    context: fn(&mut SmallRng, u16) -> FlowContext,
    /// Opening a flow changes its context.
    pub changes_contexts: bool,
    /// Flows.
    pub flows: Vec<HostFlow>,
    /// The flow that gets most chunks.
    pub hot: u16,
    chunks: ChunkSource,
    /// Flows of the chunks whose descriptor is not taken yet.
    descriptors: VecDeque<u16>,
    first_beat: bool,
    h2c: Source<HostBeat>,
    open: Source<(u16, Psn)>,
    free: Source<u16>,
    free_list: Vec<u16>,
    /// Slots that the segmenter has.
    pub held_slots: VecDeque<u16>,
    acks: Pace,
    unas: VecDeque<(u16, Psn)>,
    una_pace: Pace,
    commit_ready: Pace,
    /// The scheduler is ready only once a commit is offered.
    is_coy: bool,
    is_offered: bool,
    commits: Scoreboard<(u16, u32)>,
    due: VecDeque<HostPacket>,
    refusals: VecDeque<Refusal>,
    /// Paths taken so far.
    pub reached: Reached,
    compared: u64,
    violation: Option<String>,
}

impl HostSide {
    /// For `flows` flows and slots of `slot_beats` beats.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when the block has no such ports.
    pub fn new(
        r: &Rows,
        slot_beats: usize,
        flows: usize,
        context: fn(&mut SmallRng, u16) -> FlowContext,
    ) -> Result<Self, SimError> {
        let flow = || HostFlow {
            context: FlowContext::CLOSED,
            outstanding: Vec::new(),
            next_psn: Psn::default(),
            una: Psn::default(),
            due: 0,
            hole_until: 0,
            unread: 0,
            judged_by: 0,
        };
        Ok(Self {
            at: At::new(r)?,
            clock: 0,
            slot_bytes: (slot_beats * 64) as u16,
            context,
            changes_contexts: true,
            flows: (0..flows).map(|_| flow()).collect(),
            hot: 0,
            chunks: ChunkSource::default(),
            descriptors: VecDeque::new(),
            first_beat: true,
            h2c: Source::new(&[256, 256, 256, 128, 200]),
            open: Source::new(&[1, 4, 0, 16, 0, 0, 256]),
            free: Source::new(Pace::MIXED),
            free_list: Vec::new(),
            held_slots: VecDeque::new(),
            acks: Pace::new(&[256, 256, 128, 32, 8]),
            unas: VecDeque::new(),
            una_pace: Pace::new(&[256, 128, 16]),
            commit_ready: Pace::new(&[256, 256, 128, 32, 8, 200]),
            is_coy: false,
            is_offered: false,
            commits: Scoreboard::new("commit"),
            due: VecDeque::new(),
            refusals: VecDeque::new(),
            reached: Reached::default(),
            compared: 0,
            violation: None,
        })
    }

    fn fail(&mut self, what: impl Into<String>) {
        self.violation.get_or_insert(what.into());
    }

    /// After a reset every flow is at PSN 0; the control side writes its contexts anew.
    pub fn restart(&mut self, rng: &mut SmallRng) {
        for f in &mut self.flows {
            *f = HostFlow {
                context: (self.context)(rng, self.slot_bytes),
                outstanding: Vec::new(),
                next_psn: Psn::default(),
                una: Psn::default(),
                due: 0,
                hole_until: 0,
                unread: 0,
                judged_by: 0,
            };
        }
        self.chunks.reset();
        self.descriptors.clear();
        self.first_beat = true;
        self.h2c.reset();
        self.open.reset();
        self.free.reset();
        let slots = match rng.random_range(0..3) {
            0 => rng.random_range(1..40),
            _ => SLOTS as u16,
        };
        self.free_list = (0..slots).collect();
        self.free_list.shuffle(rng);
        self.held_slots.clear();
        self.unas.clear();
        self.commits.reset();
        self.is_coy = rng.random();
        self.is_offered = false;
        self.due.clear();
        self.refusals.clear();
    }

    /// Prepares a chunk; its packets are due from now on.
    fn start_chunk(&mut self, rng: &mut SmallRng) {
        let count = self.flows.len() as u16;
        let flow = match rng.random_range(0..64) {
            0 => count + rng.random_range(0..u16::MAX - count),
            1..40 => self.hot,
            _ => rng.random_range(0..count),
        };
        if self.open.peek().is_some_and(|(f, _)| f == flow) {
            return;
        }
        let context = self.flows.get(usize::from(flow)).map(|f| f.context);
        let fate = self.chunks.start(rng, flow, context, self.slot_bytes);
        self.descriptors.push_back(flow);
        if let Some(f) = self.flows.get_mut(usize::from(flow)) {
            f.unread += 1;
        }
        self.expect(fate);
    }

    fn expect(&mut self, fate: Fate) {
        self.refusals.extend(fate.refusal);
        for (cut, payload) in fate.packets {
            let flow = &mut self.flows[usize::from(fate.flow)];
            let psn = flow.next_psn;
            flow.next_psn = psn.plus(1);
            flow.due += 1;
            self.commits.expect((fate.flow, psn.value()));
            self.due.push_back(HostPacket {
                flow: fate.flow,
                psn,
                slot: 0,
                segment: cut.segment(&payload),
                payload,
                is_sent: true,
                is_job: false,
            });
        }
    }

    /// A flow to open: one of which nothing is under way into or out of its slots.
    fn flow_to_open(&mut self, rng: &mut SmallRng) -> Option<(u16, Psn)> {
        let flow = rng.random_range(0..self.flows.len());
        let f = &self.flows[flow];
        let quiet = f.due == 0
            && f.unread == 0
            && f.judged_by < self.clock
            && f.outstanding.iter().all(|p| p.is_sent && !p.is_job);
        // Often close to another flow's PSNs, so that taking one flow for another is not harmless.
        let near = self.flows[rng.random_range(0..self.flows.len())].next_psn;
        let psn = match rng.random() {
            true => near.plus(rng.random_range(0..2_048)).minus(1_024),
            false => Psn::new(first_psn(rng)),
        };
        (quiet && rng.random_range(0..4) == 0).then_some((flow as u16, psn))
    }

    /// The flow is about to be opened.
    pub fn is_opening(&self, flow: u16) -> bool {
        self.open.peek().is_some_and(|(f, _)| f == flow)
    }

    /// Acknowledges a packet, not always the oldest.
    fn acknowledge(&mut self, rng: &mut SmallRng) {
        let flow = if rng.random_range(0..3) != 0 {
            self.hot
        } else {
            rng.random_range(0..self.flows.len()) as u16
        };
        let f = &mut self.flows[usize::from(flow)];
        let held = usize::from(self.clock < f.hole_until);
        if f.outstanding.len() <= held {
            return;
        }
        let last = f.outstanding.len().min(held + 8);
        let index = rng.random_range(held..last);
        if !f.outstanding[index].is_sent || f.outstanding[index].is_job {
            return;
        }
        let slot = f.outstanding.remove(index).slot;
        if index == 0 {
            let next = f.next_psn.minus(f.due as u32);
            let una = f.outstanding.first().map_or(next, |p| p.psn);
            self.unas.push_back((flow, una));
            if rng.random_range(0..64) == 0 {
                f.hole_until = self.clock + rng.random_range(100..6_000);
            }
        }
        self.free_list.push(slot);
        let other = rng.random_range(0..self.free_list.len());
        let newest = self.free_list.len() - 1;
        self.free_list.swap(other, newest);
    }

    fn opened(&mut self, rng: &mut SmallRng, flow: u16, psn: Psn) {
        let f = &mut self.flows[usize::from(flow)];
        f.next_psn = psn;
        f.una = psn;
        if self.changes_contexts {
            f.context = (self.context)(rng, self.slot_bytes);
        }
        self.free_list
            .extend(f.outstanding.drain(..).map(|p| p.slot));
        self.unas.retain(|(f, _)| *f != flow);
        self.reached.reopened += 1;
    }

    /// Drives all inputs.
    pub fn drive(&mut self, rng: &mut SmallRng, inputs: &mut [u64]) {
        if rng.random_range(0..2_000) == 0 {
            self.hot = rng.random_range(0..self.flows.len()) as u16;
        }
        let candidate = self.flow_to_open(rng);
        let opening = self.open.offer(rng, |_| candidate);
        inputs[self.at.open[0]] = opening.is_some().into();
        if let Some((flow, psn)) = opening {
            inputs[self.at.open[1]] = flow.into();
            inputs[self.at.open[2]] = psn.value().into();
        }
        self.drive_host(rng, inputs);
        let free_list = &mut self.free_list;
        let slot = self.free.offer(rng, |_| free_list.pop());
        inputs[self.at.free[0]] = slot.is_some().into();
        inputs[self.at.free[1]] = slot.unwrap_or_default().into();
        if self.acks.active(rng) {
            self.acknowledge(rng);
        }
        let pulse = self.una_pace.active(rng);
        let una = match self.unas.front() {
            Some((f, _)) if pulse && !self.is_opening(*f) => self.unas.pop_front(),
            _ => None,
        };
        inputs[self.at.una[0]] = una.is_some().into();
        if let Some((flow, psn)) = una {
            inputs[self.at.una[1]] = flow.into();
            inputs[self.at.una[2]] = psn.value().into();
            self.flows[usize::from(flow)].una = psn;
        }
        let may = self.is_offered || !self.is_coy;
        inputs[self.at.commit_ready] = (self.commit_ready.active(rng) && may).into();
    }

    fn drive_host(&mut self, rng: &mut SmallRng, inputs: &mut [u64]) {
        if !self.chunks.is_busy() {
            self.start_chunk(rng);
        }
        let chunks = &mut self.chunks;
        let beat = self.h2c.offer(rng, |_| chunks.next_beat());
        let h = self.at.h2c;
        inputs[h[0]] = beat.is_some().into();
        if let Some(b) = beat {
            inputs[h[1]..h[1] + 8].copy_from_slice(&b.data);
            inputs[h[2]] = b.keep;
            inputs[h[3]] = b.last.into();
            inputs[h[4]] = b.size.into();
        }
    }

    /// All outputs but a commit. Returns the slot that the segmenter has taken.
    pub fn observe(&mut self, rng: &mut SmallRng, inputs: &[u64], outputs: &[u64]) -> Option<u16> {
        self.clock += 1;
        if let Some(beat) = self.h2c.taken(outputs[self.at.h2c_ready] != 0) {
            self.observe_host_beat(beat);
        }
        let slot = self.free.taken(outputs[self.at.free_ready] != 0);
        self.held_slots.extend(slot);
        self.observe_refusal(outputs);
        self.note_what_is_reached(inputs, outputs);
        if let Some((flow, psn)) = self.open.taken(outputs[self.at.open_ready] != 0) {
            self.opened(rng, flow, psn);
        }
        slot
    }

    fn observe_host_beat(&mut self, taken: HostBeat) {
        if std::mem::replace(&mut self.first_beat, taken.last) {
            let flow = self.descriptors.pop_front().map_or(usize::MAX, usize::from);
            if let Some(f) = self.flows.get_mut(flow) {
                f.unread -= 1;
                f.judged_by = self.clock + 4;
            }
        }
    }

    /// The packet that is committed in this clock.
    pub fn committed(&mut self, inputs: &[u64], outputs: &[u64]) -> Option<HostPacket> {
        let [valid, flow, psn, slot] = self.at.commit.map(|i| outputs[i]);
        let offered = (valid != 0).then_some((flow as u16, psn as u32));
        if let Some((flow, psn)) = offered {
            let una = self.flows.get(usize::from(flow)).map(|f| f.una);
            if una.is_some_and(|una| !may_commit(Psn::new(psn), una)) {
                self.fail("commit_psn: not in the slot table");
            }
        }
        let ready = inputs[self.at.commit_ready] != 0;
        self.is_offered = offered.is_some();
        self.commits.clock(offered, ready)?;
        let (Some(mut packet), Some(held)) = (self.due.pop_front(), self.held_slots.pop_front())
        else {
            self.fail("commit: there is no such packet or slot");
            return None;
        };
        if u64::from(held) != slot {
            self.fail(format!("commit_slot: {slot:x} instead of {held:x}"));
        }
        self.compared += 1;
        packet.slot = held;
        self.flows[usize::from(packet.flow)].due -= 1;
        Some(packet)
    }

    fn observe_refusal(&mut self, outputs: &[u64]) {
        if outputs[self.at.refused[0]] == 0 {
            return;
        }
        let cause = outputs[self.at.refused[1]];
        self.compared += 1;
        self.reached.refusals[cause as usize & 7] += 1;
        match self.refusals.pop_front() {
            Some(r) if r as u64 == cause => {}
            r => self.fail(format!("refused_cause: {cause} instead of {r:?}")),
        }
    }

    fn note_what_is_reached(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        self.reached.host_held += u32::from(inputs[a.h2c[0]] != 0 && outputs[a.h2c_ready] == 0);
        self.reached.slots_missing +=
            u32::from(self.free_list.is_empty() && outputs[a.free_ready] != 0);
    }

    /// Values compared.
    pub fn compared(&self) -> u64 {
        self.compared + self.commits.compared()
    }

    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.commits.violation())
    }
}
