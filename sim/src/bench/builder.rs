//! The frame builder's stimulus and checks: jobs of all kinds, every byte of every frame.

use super::driver::first_psn;
use super::frame_order::{FrameOrder, Now};
use super::jobs::{random_identity, DataJob, FramePorts, Jobs};
use super::{contents, Resets, Rows};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::wire::{FlowContext, Identity, IpAddress, MacAddress, Place, Segment};

/// Slots of the pool.
const SLOTS: usize = 1 << 10;
/// After this many clocks every path must have been taken.
const LONG_RUN: u64 = 250_000;
/// Time a clock.
pub const CLOCK_NS: u32 = 4;

struct At {
    rst: usize,
    context: [usize; 2],
    segment: [usize; 2],
    pool: [usize; 2],
}

/// Random jobs for random flows, a wire that stops.
pub struct BuilderBench {
    rng: SmallRng,
    at: At,
    clock: u64,
    slot_beats: usize,
    resets: Resets,
    identity: Identity,
    now_ns: u32,
    contexts: Vec<FlowContext>,
    /// When the flow's last job was taken: its context may not change then.
    last_job: Vec<u64>,
    segments: Vec<Segment>,
    jobs: Jobs,
    ports: FramePorts,
    frames: FrameOrder,
    context_row: [u64; 4],
    segment_row: [u64; 3],
    pool_row: [u64; 8],
    violation: Option<String>,
}

impl BuilderBench {
    /// For the frame builder `v` of slots of `slot_beats` beats, with `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, slot_beats: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let r = Rows::new(v);
        Ok(Self {
            at: At {
                rst: r.input("rst")?,
                context: [r.output("context_flow")?, r.input("context_data")?],
                segment: [r.output("segment_slot")?, r.input("segment_data")?],
                pool: [r.output("pool_address")?, r.input("pool_data")?],
            },
            clock: 0,
            slot_beats,
            resets: Resets::new(8),
            identity: random_identity(&mut rng),
            now_ns: 0,
            contexts: vec![FlowContext::CLOSED; flows],
            last_job: vec![0; flows],
            segments: vec![Segment::default(); SLOTS],
            jobs: Jobs::new(&r, &[256, 0, 32, 128, 8], &[4, 0, 256, 32])?,
            ports: FramePorts::new(&r)?,
            frames: FrameOrder::default(),
            context_row: [0; 4],
            segment_row: [0; 3],
            pool_row: [0; 8],
            violation: None,
            rng,
        })
    }

    fn restart(&mut self) {
        self.identity = random_identity(&mut self.rng);
        self.now_ns = random_time(&mut self.rng);
        let largest = self.largest();
        for c in &mut self.contexts {
            *c = random_context(&mut self.rng, largest, &self.identity);
        }
        self.last_job.fill(self.clock);
        for s in &mut self.segments {
            *s = random_segment(&mut self.rng, largest);
        }
        self.jobs.reset();
        self.frames.reset();
    }

    fn largest(&self) -> u16 {
        (64 * self.slot_beats).min(9_216) as u16
    }

    /// Now and then a flow is closed, opened, or becomes another, when no job looks at it.
    fn change_a_context(&mut self) {
        if self.rng.random_range(0..64) != 0 {
            return;
        }
        let flow = self.rng.random_range(0..self.contexts.len());
        if self.last_job[flow] + 4 < self.clock {
            let largest = self.largest();
            self.contexts[flow] = random_context(&mut self.rng, largest, &self.identity);
        }
    }

    fn answer_memories(&mut self, outputs: &[u64]) {
        let a = &self.at;
        self.context_row = match self.contexts.get(outputs[a.context[0]] as usize) {
            Some(c) => c.pack(),
            None => [self.rng.random(); 4],
        };
        self.segment_row = self.segments[outputs[a.segment[0]] as usize % SLOTS].pack();
        let address = outputs[a.pool[0]] as usize;
        let slot = (address / self.slot_beats) as u16;
        self.pool_row = contents(slot, 0, (address % self.slot_beats) as u16);
    }

    fn check_that_all_is_reached(&mut self) {
        let rare = [self.jobs.acks_of_probes, self.ports.held];
        let held = &self.jobs.held;
        let missing = self.frames.reached.misses() || rare.contains(&0) || held.contains(&0);
        if self.clock == LONG_RUN && missing {
            let reached = &self.frames.reached;
            let what = format!("the run was too easy: {reached:?} {rare:?} {held:?}");
            self.violation.get_or_insert(what);
        }
    }
}

/// Often just before the wrap.
pub fn random_time(rng: &mut SmallRng) -> u32 {
    match rng.random_range(0..3) {
        0 => rng.random(),
        _ => 0u32.wrapping_sub(rng.random_range(0..40_000)),
    }
}

fn random_context(rng: &mut SmallRng, largest: u16, me: &Identity) -> FlowContext {
    let mtu = 64
        * match rng.random_range(0..8) {
            0 => largest / 64,
            1..4 => rng.random_range(1..=largest / 64),
            _ => rng.random_range(1..=4),
        };
    FlowContext {
        mtu,
        valid: rng.random_range(0..8) != 0,
        ..random_peer(rng, me)
    }
}

/// Sum of the other 16-bit words of an ACK's IPv4 header.
const ACK_WORDS: u32 = 0x4500 + (46 << 2) + (20 + 8 + 38) + 0x4000 + 0x4011;

/// A context with everything but MTU and validity, for the NIC `me`.
pub fn random_peer(rng: &mut SmallRng, me: &Identity) -> FlowContext {
    let local = u32::from(me.ipv4);
    let high: u32 = rng.random_range(0..1 << 16);
    let others = ACK_WORDS + (local >> 16) + (local & 0xffff) + high;
    let low = match rng.random_range(0..4) {
        // The sum of an ACK's words has all ones, so that its carry carries again.
        0 => 0xffff_u32.wrapping_sub(others) & 0xffff,
        _ => rng.random_range(0..1 << 16),
    };
    let ipv4 = high << 16 | low;
    FlowContext {
        source_port: rng.random(),
        peer_flow: rng.random(),
        epoch: rng.random(),
        peer_mac: MacAddress(rng.random()),
        peer_ip: match rng.random() {
            true => IpAddress::V6(rng.random::<u128>().into()),
            false => IpAddress::V4(ipv4.into()),
        },
        ..FlowContext::CLOSED
    }
}

/// A segment with a payload of often just one beat, or around a beat's end in the frame.
fn random_segment(rng: &mut SmallRng, largest: u16) -> Segment {
    let around = |rng: &mut SmallRng, middle: u16| rng.random_range(middle - 1..=middle + 1);
    let payload_len = match rng.random_range(0..16) {
        0 => largest,
        1 => rng.random_range(1..=largest),
        2..4 => around(rng, 28),
        4..6 => around(rng, 48),
        6..8 => around(rng, 64),
        8 => 1,
        _ => 64 * rng.random_range(0..4) + rng.random_range(1..=64),
    };
    Segment {
        place: Place {
            message: rng.random(),
            offset: rng.random(),
            message_len: rng.random(),
            payload_len,
            last: rng.random(),
        },
        payload_crc: rng.random(),
    }
}

impl Bench for BuilderBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        self.change_a_context();
        let flows = self.contexts.len() as u16;
        let rng = &mut self.rng;
        self.jobs.drive(rng, inputs, flows, |rng| {
            Some(DataJob {
                flow: rng.random_range(0..flows),
                path: rng.random_range(0..16),
                psn: first_psn(rng),
                slot: rng.random_range(0..SLOTS) as u16,
                retransmission: rng.random_range(0..4) == 0,
            })
        });
        self.ports.drive(rng, inputs, &self.identity, self.now_ns);
        let a = &self.at;
        inputs[a.context[1]..a.context[1] + 4].copy_from_slice(&self.context_row);
        inputs[a.segment[1]..a.segment[1] + 3].copy_from_slice(&self.segment_row);
        inputs[a.pool[1]..a.pool[1] + 8].copy_from_slice(&self.pool_row);
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        self.answer_memories(outputs);
        let now = Now {
            clock: self.clock,
            ns: self.now_ns,
            identity: &self.identity,
        };
        let (segments, slot_beats) = (&self.segments, self.slot_beats);
        let packet = |j: &DataJob| {
            let segment = segments[usize::from(j.slot)];
            let length = usize::from(segment.place.payload_len);
            let beats = (0..slot_beats).flat_map(|b| contents(j.slot, 0, b as u16));
            let bytes = beats.flat_map(u64::to_le_bytes);
            (segment, bytes.take(length).collect())
        };
        self.frames
            .observe(&mut self.ports, inputs, outputs, now, packet);
        self.frames.finished.clear();
        if let Some(job) = self.jobs.taken(inputs, outputs) {
            let flow = usize::from(job.flow());
            self.last_job[flow] = self.clock;
            self.frames.take(job, self.contexts[flow], now);
        }
        self.check_that_all_is_reached();
        self.now_ns = self.now_ns.wrapping_add(CLOCK_NS);
    }

    fn violation(&self) -> Option<&str> {
        let own = self.violation.as_deref();
        own.or(self.jobs.violation()).or(self.frames.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.frames.compared()
    }
}
