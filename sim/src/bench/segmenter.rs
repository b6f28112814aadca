//! The segmenter's bench: the host's side, and what is written to the memories.

use super::host_side::{HostPacket, HostSide, SLOTS};
use super::{Resets, Rows};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::wire::{FlowContext, Segment};

/// After this many clocks every path must have been taken.
const LONG_RUN: u64 = 250_000;

struct At {
    rst: usize,
    context: [usize; 2],
    pool: [usize; 3],
    segment: [usize; 3],
}

#[derive(Clone)]
struct Slot {
    /// The segmenter may write it.
    is_held: bool,
    beats: Vec<[u64; 8]>,
    segment: [u64; 3],
}

/// Random chunks, slow sinks, few slots, holes in the acknowledgements.
pub struct SegmenterBench {
    rng: SmallRng,
    at: At,
    clock: u64,
    slot_beats: usize,
    resets: Resets,
    host: HostSide,
    slots: Vec<Slot>,
    context_row: [u64; 4],
    compared: u64,
    violation: Option<String>,
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
        // The context's field has 14 bits.
        mtu: mtu & 0x3fff,
        valid: rng.random_range(0..10) != 0,
        source_port: rng.random(),
        peer_flow: rng.random(),
        epoch: rng.random(),
        ..FlowContext::CLOSED
    }
}

impl SegmenterBench {
    /// For the segmenter `v` of `flows` flows and slots of `slot_beats` beats.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, slot_beats: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let slot = Slot {
            is_held: false,
            beats: vec![[0; 8]; slot_beats],
            segment: [0; 3],
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at: At {
                rst: r.input("rst")?,
                context: [r.output("context_flow")?, r.input("context_data")?],
                pool: r.outputs(["pool_write", "pool_address", "pool_data"])?,
                segment: r.outputs(["segment_write", "segment_slot", "segment_data"])?,
            },
            clock: 0,
            slot_beats,
            resets: Resets::new(flows),
            host: HostSide::new(&r, slot_beats, flows, random_context)?,
            slots: vec![slot; SLOTS],
            context_row: [0; 4],
            compared: 0,
            violation: None,
        })
    }

    fn fail(&mut self, what: impl Into<String>) {
        self.violation.get_or_insert(what.into());
    }

    fn observe_memories(&mut self, outputs: &[u64]) {
        let [write, address, data] = self.at.pool;
        if outputs[write] != 0 {
            let address = outputs[address] as usize;
            let slot = &mut self.slots[address / self.slot_beats % SLOTS];
            slot.beats[address % self.slot_beats].copy_from_slice(&outputs[data..data + 8]);
            if !slot.is_held {
                self.fail(format!(
                    "pool_address {address:x}: not the segmenter's slot"
                ));
            }
        }
        let [write, slot, data] = self.at.segment;
        if outputs[write] != 0 {
            let slot = &mut self.slots[outputs[slot] as usize];
            slot.segment.copy_from_slice(&outputs[data..data + 3]);
            if !slot.is_held {
                self.fail("segment_slot: not the segmenter's slot");
            }
        }
    }

    /// Slot and segment hold the packet when it is committed.
    fn check(&mut self, packet: &HostPacket) {
        let slot = &mut self.slots[usize::from(packet.slot)];
        slot.is_held = false;
        let segment = slot.segment;
        let mut payload = packet.payload.clone();
        payload.resize(payload.len().next_multiple_of(64), 0);
        let stored = slot.beats.iter().flatten().flat_map(|w| w.to_le_bytes());
        let differs = stored.take(payload.len()).ne(payload.iter().copied());
        self.compared += 2 + payload.len() as u64 / 8;
        if segment != packet.segment.pack() {
            let is = Segment::unpack(segment);
            let what = format!("segment_data: {is:x?} instead of {:x?}", packet.segment);
            self.fail(what);
        }
        if differs {
            self.fail(format!("pool_data: PSN {:x} differs", packet.psn.value()));
        }
    }
}

impl Bench for SegmenterBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        self.host.drive(&mut self.rng, inputs);
        let at = self.at.context[1];
        inputs[at..at + 4].copy_from_slice(&self.context_row);
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            self.slots.iter_mut().for_each(|s| s.is_held = false);
            return self.host.restart(&mut self.rng);
        }
        let flow = outputs[self.at.context[0]] as usize;
        self.context_row = match self.host.flows.get(flow) {
            Some(f) => f.context.pack(),
            None => [self.rng.random(); 4],
        };
        self.observe_memories(outputs);
        if let Some(packet) = self.host.committed(inputs, outputs) {
            self.check(&packet);
            self.host.flows[usize::from(packet.flow)]
                .outstanding
                .push(packet);
        }
        if let Some(slot) = self.host.observe(&mut self.rng, inputs, outputs) {
            self.slots[usize::from(slot)].is_held = true;
        }
        let reached = &self.host.reached;
        if self.clock == LONG_RUN && reached.misses() {
            let what = format!("the run was too easy: {reached:?}");
            self.fail(what);
        }
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.host.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.compared + self.host.compared()
    }
}
