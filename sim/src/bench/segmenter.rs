//! The segmenter's stimulus and checks: a host, a free list, a ledger that frees slots in any
//! order, and the models' rules.

use super::chunks::{ChunkSource, Fate, HostBeat};
use super::driver::first_psn;
use super::{Pace, Resets, Rows, Scoreboard, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rondo_models::psn::Psn;
use rondo_models::segmenter::{may_commit, Refusal};
use rondo_models::wire::{FlowContext, Segment};
use std::collections::VecDeque;

/// Slots of the pool.
const SLOTS: usize = 1 << 10;
/// After this many clocks every path must have been taken.
const LONG_RUN: u64 = 250_000;

struct At {
    rst: usize,
    open: [usize; 3],
    open_ready: usize,
    h2c: [usize; 5],
    h2c_ready: usize,
    context_flow: usize,
    context: usize,
    free: [usize; 2],
    free_ready: usize,
    una: [usize; 3],
    pool: [usize; 3],
    segment: [usize; 3],
    commit: [usize; 4],
    commit_ready: usize,
    refused: [usize; 2],
}

impl At {
    fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            rst: r.input("rst")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            open_ready: r.output("open_ready")?,
            h2c: r.inputs(["h2c_valid", "h2c_data", "h2c_keep", "h2c_last", "h2c_size"])?,
            h2c_ready: r.output("h2c_ready")?,
            context_flow: r.output("context_flow")?,
            context: r.input("context_data")?,
            free: r.inputs(["free_valid", "free_slot"])?,
            free_ready: r.output("free_ready")?,
            una: r.inputs(["una_valid", "una_flow", "una_psn"])?,
            pool: r.outputs(["pool_write", "pool_address", "pool_data"])?,
            segment: r.outputs(["segment_write", "segment_slot", "segment_data"])?,
            commit: r.outputs(["commit_valid", "commit_flow", "commit_psn", "commit_slot"])?,
            commit_ready: r.input("commit_ready")?,
            refused: r.outputs(["refused_valid", "refused_cause"])?,
        })
    }
}

/// Who may write a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    FreeList,
    Segmenter,
    Ledger,
}

#[derive(Clone)]
struct Slot {
    owner: Owner,
    beats: Vec<[u64; 8]>,
    segment: [u64; 3],
}

/// A packet that is due.
struct Due {
    flow: u16,
    psn: Psn,
    segment: Segment,
    payload: Vec<u8>,
}

struct Flow {
    context: FlowContext,
    /// Of the next packet.
    next_psn: Psn,
    /// As the segmenter knows it.
    una: Psn,
    /// Packets that are due.
    due: usize,
    /// Committed and not acknowledged, with their slots, by PSN.
    outstanding: Vec<(Psn, u16)>,
    /// Before this clock the oldest is not acknowledged.
    hole_until: u64,
    /// Chunks whose descriptor is not taken, and until when that of the last may be judged: until
    /// then the context may not change.
    unread: usize,
    judged_by: u64,
}

#[derive(Default, Debug)]
struct Reached {
    refusals: [u32; 8],
    window_waits: u32,
    host_held: u32,
    slots_missing: u32,
    reopened: u32,
}

/// Random chunks, slow sinks, few slots, holes in the acknowledgements.
pub struct SegmenterBench {
    rng: SmallRng,
    at: At,
    clock: u64,
    slot_beats: usize,
    resets: Resets,
    flows: Vec<Flow>,
    hot: u16,
    /// Until then one flow of short packets is hot and its oldest packet not acknowledged, so that
    /// its slot table fills.
    rush_until: u64,
    chunks: ChunkSource,
    /// Flows of the chunks whose descriptor is not taken yet.
    descriptors: VecDeque<u16>,
    first_beat: bool,
    h2c: Source<HostBeat>,
    open: Source<(u16, Psn)>,
    free: Source<u16>,
    free_list: Vec<u16>,
    held_slots: VecDeque<u16>,
    slots: Vec<Slot>,
    acks: Pace,
    unas: VecDeque<(u16, Psn)>,
    una_pace: Pace,
    commit_ready: Pace,
    commits: Scoreboard<(u16, u32)>,
    due: VecDeque<Due>,
    refusals: VecDeque<Refusal>,
    context_row: [u64; 4],
    reached: Reached,
    compared: u64,
    violation: Option<String>,
}

impl SegmenterBench {
    /// For the segmenter `v` of `flows` flows and slots of `slot_beats` beats.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, slot_beats: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let flow = || Flow {
            context: FlowContext::CLOSED,
            next_psn: Psn::default(),
            una: Psn::default(),
            due: 0,
            outstanding: Vec::new(),
            hole_until: 0,
            unread: 0,
            judged_by: 0,
        };
        let slot = Slot {
            owner: Owner::FreeList,
            beats: vec![[0; 8]; slot_beats],
            segment: [0; 3],
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at: At::new(&Rows::new(v))?,
            clock: 0,
            slot_beats,
            resets: Resets::new(flows),
            flows: (0..flows).map(|_| flow()).collect(),
            hot: 0,
            rush_until: 0,
            chunks: ChunkSource::default(),
            descriptors: VecDeque::new(),
            first_beat: true,
            h2c: Source::new(&[256, 256, 256, 128, 200]),
            open: Source::new(Pace::RARE),
            free: Source::new(Pace::MIXED),
            free_list: Vec::new(),
            held_slots: VecDeque::new(),
            slots: vec![slot; SLOTS],
            acks: Pace::new(&[256, 256, 128, 32, 8]),
            unas: VecDeque::new(),
            una_pace: Pace::new(&[256, 128, 16]),
            commit_ready: Pace::new(Pace::MIXED),
            commits: Scoreboard::new("commit"),
            due: VecDeque::new(),
            refusals: VecDeque::new(),
            context_row: [0; 4],
            reached: Reached::default(),
            compared: 0,
            violation: None,
        })
    }

    fn fail(&mut self, what: impl Into<String>) {
        self.violation.get_or_insert(what.into());
    }

    /// After a reset every flow is at PSN 0; what the control side wrote stays or is written anew.
    fn restart(&mut self) {
        let slot_bytes = (self.slot_beats * 64) as u16;
        for f in &mut self.flows {
            f.context = random_context(&mut self.rng, slot_bytes);
            f.next_psn = Psn::default();
            f.una = Psn::default();
            f.due = 0;
            f.outstanding.clear();
            f.hole_until = 0;
            f.unread = 0;
            f.judged_by = 0;
        }
        self.chunks.reset();
        self.descriptors.clear();
        self.first_beat = true;
        self.h2c.reset();
        self.open.reset();
        self.free.reset();
        let slots = match self.rng.random_range(0..3) {
            0 => self.rng.random_range(1..40),
            _ => SLOTS as u16,
        };
        self.free_list = (0..slots).collect();
        self.free_list.shuffle(&mut self.rng);
        self.held_slots.clear();
        for s in &mut self.slots {
            s.owner = Owner::FreeList;
        }
        self.unas.clear();
        self.commits.reset();
        self.due.clear();
        self.refusals.clear();
    }

    /// Prepares a chunk; its packets are due from now on.
    fn start_chunk(&mut self) {
        let count = self.flows.len() as u16;
        let flow = match self.rng.random_range(0..64) {
            0 => count + self.rng.random_range(0..u16::MAX - count),
            1..40 => self.hot,
            _ => self.rng.random_range(0..count),
        };
        if self.open.peek().is_some_and(|(f, _)| f == flow) {
            return;
        }
        let context = self.flows.get(usize::from(flow)).map(|f| f.context);
        let slot_bytes = (self.slot_beats * 64) as u16;
        let fate = self.chunks.start(&mut self.rng, flow, context, slot_bytes);
        self.descriptors.push_back(flow);
        if let Some(f) = self.flows.get_mut(usize::from(flow)) {
            f.unread += 1;
        }
        self.expect(fate);
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

    fn draw_hot_flow(&mut self) {
        if self.clock < self.rush_until || self.rng.random_range(0..2_000) != 0 {
            return;
        }
        let hot = self.rng.random_range(0..self.flows.len());
        self.hot = hot as u16;
        let flow = &mut self.flows[hot];
        let short = flow.context.valid && flow.context.mtu == 64;
        if short && self.rng.random() {
            self.rush_until = self.clock + 12_000;
            flow.hole_until = self.clock + 10_000;
        }
    }

    fn expect(&mut self, fate: Fate) {
        self.refusals.extend(fate.refusal);
        for (cut, payload) in fate.packets {
            let flow = &mut self.flows[usize::from(fate.flow)];
            let psn = flow.next_psn;
            flow.next_psn = psn.plus(1);
            flow.due += 1;
            self.commits.expect((fate.flow, psn.value()));
            self.due.push_back(Due {
                flow: fate.flow,
                psn,
                segment: cut.segment(&payload),
                payload,
            });
        }
    }

    /// A flow to open: one of which nothing is under way into its slots.
    fn flow_to_open(&mut self) -> Option<(u16, Psn)> {
        let flow = self.rng.random_range(0..self.flows.len());
        let f = &self.flows[flow];
        let quiet = f.due == 0 && f.unread == 0 && f.judged_by < self.clock;
        (quiet && self.rng.random_range(0..4) == 0)
            .then(|| (flow as u16, Psn::new(first_psn(&mut self.rng))))
    }

    /// Acknowledges a packet, not always the oldest.
    fn acknowledge(&mut self) {
        let flow = if self.clock < self.rush_until || self.rng.random_range(0..3) != 0 {
            self.hot
        } else {
            self.rng.random_range(0..self.flows.len()) as u16
        };
        let f = &mut self.flows[usize::from(flow)];
        let held = usize::from(self.clock < f.hole_until);
        if f.outstanding.len() <= held {
            return;
        }
        let last = f.outstanding.len().min(held + 8);
        let index = self.rng.random_range(held..last);
        let (_, slot) = f.outstanding.remove(index);
        if index == 0 {
            let una = f
                .outstanding
                .first()
                .map_or(f.next_psn.minus(f.due as u32), |o| o.0);
            self.unas.push_back((flow, una));
            if self.rng.random_range(0..64) == 0 {
                f.hole_until = self.clock + self.rng.random_range(100..6_000);
            }
        }
        self.slots[usize::from(slot)].owner = Owner::FreeList;
        self.free_list.push(slot);
        let other = self.rng.random_range(0..self.free_list.len());
        let newest = self.free_list.len() - 1;
        self.free_list.swap(other, newest);
    }

    fn opened(&mut self, flow: u16, psn: Psn) {
        let slot_bytes = (self.slot_beats * 64) as u16;
        let f = &mut self.flows[usize::from(flow)];
        f.next_psn = psn;
        f.una = psn;
        f.context = random_context(&mut self.rng, slot_bytes);
        for (_, slot) in f.outstanding.drain(..) {
            self.slots[usize::from(slot)].owner = Owner::FreeList;
            self.free_list.push(slot);
        }
        self.unas.retain(|(f, _)| *f != flow);
        self.reached.reopened += 1;
    }

    fn observe_memories(&mut self, outputs: &[u64]) {
        let a = &self.at;
        if outputs[a.pool[0]] != 0 {
            let address = outputs[a.pool[1]] as usize;
            let slot = &mut self.slots[address / self.slot_beats % SLOTS];
            let data = &outputs[a.pool[2]..a.pool[2] + 8];
            slot.beats[address % self.slot_beats].copy_from_slice(data);
            if slot.owner != Owner::Segmenter {
                self.fail(format!(
                    "pool_address {address:x}: not the segmenter's slot"
                ));
            }
        }
        let a = &self.at;
        if outputs[a.segment[0]] != 0 {
            let slot = &mut self.slots[outputs[a.segment[1]] as usize];
            slot.segment
                .copy_from_slice(&outputs[a.segment[2]..a.segment[2] + 3]);
            if slot.owner != Owner::Segmenter {
                self.fail("segment_slot: not the segmenter's slot");
            }
        }
    }

    fn observe_commit(&mut self, inputs: &[u64], outputs: &[u64]) {
        let [valid, flow, psn, slot] = self.at.commit.map(|i| outputs[i]);
        let offered = (valid != 0).then_some((flow as u16, psn as u32));
        if let Some((flow, psn)) = offered {
            let una = self.flows.get(usize::from(flow)).map(|f| f.una);
            if una.is_some_and(|una| !may_commit(Psn::new(psn), una)) {
                self.fail("commit_psn: not in the slot table");
            }
        }
        let ready = inputs[self.at.commit_ready] != 0;
        if self.commits.clock(offered, ready).is_none() {
            return;
        }
        let (Some(due), Some(held)) = (self.due.pop_front(), self.held_slots.pop_front()) else {
            return self.fail("commit: there is no such packet or slot");
        };
        if u64::from(held) != slot {
            self.fail(format!("commit_slot: {slot:x} instead of {held:x}"));
        }
        let s = &mut self.slots[usize::from(held)];
        s.owner = Owner::Ledger;
        let wrong = s.segment != due.segment.pack();
        let mut payload = due.payload;
        payload.resize(payload.len().next_multiple_of(64), 0);
        let stored = s.beats.iter().flatten().flat_map(|w| w.to_le_bytes());
        let differs = stored.take(payload.len()).ne(payload.iter().copied());
        self.compared += 3 + payload.len() as u64 / 8;
        if wrong {
            let is = Segment::unpack(s.segment);
            let what = format!("segment_data: {is:x?} instead of {:x?}", due.segment);
            self.fail(what);
        }
        if differs {
            self.fail(format!("pool_data: PSN {:x} differs", due.psn.value()));
        }
        let f = &mut self.flows[usize::from(due.flow)];
        f.due -= 1;
        f.outstanding.push((due.psn, held));
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
        let waits = self
            .due
            .front()
            .is_some_and(|d| !may_commit(d.psn, self.flows[usize::from(d.flow)].una));
        self.reached.window_waits += u32::from(waits);
        self.reached.host_held += u32::from(inputs[a.h2c[0]] != 0 && outputs[a.h2c_ready] == 0);
        self.reached.slots_missing +=
            u32::from(self.free_list.is_empty() && outputs[a.free_ready] != 0);
        let r = &self.reached;
        let counts = [r.window_waits, r.host_held, r.slots_missing, r.reopened];
        let missing = r.refusals[1..].contains(&0) || counts.contains(&0);
        if self.clock == LONG_RUN && missing {
            let what = format!("the run was too easy: {r:?}");
            self.fail(what);
        }
    }
}

/// Mostly open with an MTU that a slot holds.
fn random_context(rng: &mut SmallRng, slot_bytes: u16) -> FlowContext {
    let mtu = match rng.random_range(0..32) {
        0 => 0,
        1 => slot_bytes + 64,
        2 => rng.random_range(0..1 << 14),
        3..8 => slot_bytes.min(9_216),
        8..12 => 256,
        12..20 => 64,
        _ => 64 * rng.random_range(1..=slot_bytes.min(9_216) / 64),
    };
    FlowContext {
        mtu,
        valid: rng.random_range(0..10) != 0,
        source_port: rng.random(),
        peer_flow: rng.random(),
        epoch: rng.random(),
        ..FlowContext::CLOSED
    }
}

impl Bench for SegmenterBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        self.draw_hot_flow();
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();

        let candidate = self.flow_to_open();
        let opening = self.open.offer(&mut self.rng, |_| candidate);
        inputs[self.at.open[0]] = opening.is_some().into();
        if let Some((flow, psn)) = opening {
            inputs[self.at.open[1]] = flow.into();
            inputs[self.at.open[2]] = psn.value().into();
        }

        if !self.chunks.is_busy() {
            self.start_chunk();
        }
        let chunks = &mut self.chunks;
        let beat = self.h2c.offer(&mut self.rng, |_| chunks.next_beat());
        let h = self.at.h2c;
        inputs[h[0]] = beat.is_some().into();
        if let Some(b) = beat {
            inputs[h[1]..h[1] + 8].copy_from_slice(&b.data);
            inputs[h[2]] = b.keep;
            inputs[h[3]] = b.last.into();
            inputs[h[4]] = b.size.into();
        }
        inputs[self.at.context..self.at.context + 4].copy_from_slice(&self.context_row);

        let free_list = &mut self.free_list;
        let slot = self.free.offer(&mut self.rng, |_| free_list.pop());
        inputs[self.at.free[0]] = slot.is_some().into();
        inputs[self.at.free[1]] = slot.unwrap_or_default().into();

        if self.acks.active(&mut self.rng) || self.clock < self.rush_until {
            self.acknowledge();
        }
        let pulse = self.una_pace.active(&mut self.rng);
        let opening = opening.map(|(f, _)| f);
        let una = match self.unas.front() {
            Some((f, _)) if pulse && opening != Some(*f) => self.unas.pop_front(),
            _ => None,
        };
        inputs[self.at.una[0]] = una.is_some().into();
        if let Some((flow, psn)) = una {
            inputs[self.at.una[1]] = flow.into();
            inputs[self.at.una[2]] = psn.value().into();
            self.flows[usize::from(flow)].una = psn;
        }
        inputs[self.at.commit_ready] = self.commit_ready.active(&mut self.rng).into();
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        let flow = outputs[self.at.context_flow] as usize;
        self.context_row = match self.flows.get(flow) {
            Some(f) => f.context.pack(),
            None => [self.rng.random(); 4],
        };
        if let Some(beat) = self.h2c.taken(outputs[self.at.h2c_ready] != 0) {
            self.observe_host_beat(beat);
        }
        if let Some(slot) = self.free.taken(outputs[self.at.free_ready] != 0) {
            self.held_slots.push_back(slot);
            self.slots[usize::from(slot)].owner = Owner::Segmenter;
        }
        self.observe_memories(outputs);
        self.observe_commit(inputs, outputs);
        self.observe_refusal(outputs);
        if let Some((flow, psn)) = self.open.taken(outputs[self.at.open_ready] != 0) {
            self.opened(flow, psn);
        }
        self.note_what_is_reached(inputs, outputs);
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.commits.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.compared + self.commits.compared()
    }
}
