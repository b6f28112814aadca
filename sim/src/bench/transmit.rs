//! The transmit side as a whole: the host's chunks in, frames out. The bench is scheduler and ledger.

use super::builder::{random_peer, random_time, CLOCK_NS};
use super::frame_order::{FrameOrder, Now};
use super::host_side::{HostPacket, HostSide};
use super::jobs::{random_identity, DataJob, FramePorts, Job, Jobs};
use super::{Resets, Rows};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::psn::Psn;
use rondo_models::wire::{FlowContext, Identity, Segment};

struct At {
    rst: usize,
    cut_context: [usize; 2],
    frame_context: [usize; 2],
}

/// Random chunks; packets are sent in any order, some again, with ACKs and probes between.
pub struct TransmitBench {
    rng: SmallRng,
    at: At,
    clock: u64,
    resets: Resets,
    identity: Identity,
    now_ns: u32,
    host: HostSide,
    jobs: Jobs,
    ports: FramePorts,
    frames: FrameOrder,
    cut_row: [u64; 4],
    frame_row: [u64; 4],
}

/// Mostly open, with an MTU that a slot holds.
fn random_context(rng: &mut SmallRng, slot_bytes: u16) -> FlowContext {
    let mtu = match rng.random_range(0..8) {
        0 => slot_bytes.min(9_216),
        1 => 256,
        2..5 => 64,
        _ => 64 * rng.random_range(1..=slot_bytes.min(9_216) / 64),
    };
    FlowContext {
        mtu,
        valid: rng.random_range(0..8) != 0,
        ..FlowContext::CLOSED
    }
}

impl TransmitBench {
    /// For the transmit side `v` of `flows` flows and slots of `slot_beats` beats.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, slot_beats: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let r = Rows::new(v);
        let mut host = HostSide::new(&r, slot_beats, flows, random_context)?;
        host.changes_contexts = false;
        Ok(Self {
            at: At {
                rst: r.input("rst")?,
                cut_context: [r.output("cut_context_flow")?, r.input("cut_context_data")?],
                frame_context: [
                    r.output("frame_context_flow")?,
                    r.input("frame_context_data")?,
                ],
            },
            clock: 0,
            resets: Resets::new(flows),
            identity: random_identity(&mut rng),
            now_ns: 0,
            host,
            jobs: Jobs::new(&r, &[0, 4, 16, 64], &[0, 1, 8])?,
            ports: FramePorts::new(&r)?,
            frames: FrameOrder::default(),
            cut_row: [0; 4],
            frame_row: [0; 4],
            rng,
        })
    }

    fn restart(&mut self) {
        self.identity = random_identity(&mut self.rng);
        self.now_ns = random_time(&mut self.rng);
        self.host.restart(&mut self.rng);
        for f in &mut self.host.flows {
            f.context = FlowContext {
                mtu: f.context.mtu,
                valid: f.context.valid,
                ..random_peer(&mut self.rng, &self.identity)
            };
        }
        self.jobs.reset();
        self.frames.reset();
    }

    /// Any packet of any flow that is not with the builder; one that was sent less often.
    fn packet_to_send(&mut self) -> Option<DataJob> {
        let rng = &mut self.rng;
        let flow = match rng.random() {
            true => self.host.hot,
            false => rng.random_range(0..self.host.flows.len()) as u16,
        };
        if self.host.is_opening(flow) {
            return None;
        }
        let packets = &mut self.host.flows[usize::from(flow)].outstanding;
        let index = rng.random_range(0..packets.len().clamp(1, 8));
        let again = rng.random_range(0..8) == 0;
        let packet = packets.get_mut(index)?;
        if packet.is_job || packet.is_sent && !again {
            return None;
        }
        Some(DataJob {
            flow,
            path: rng.random_range(0..16),
            psn: packet.psn.value(),
            slot: packet.slot,
            retransmission: packet.is_sent,
        })
    }

    fn context_row(&mut self, flow: u64) -> [u64; 4] {
        match self.host.flows.get(flow as usize) {
            Some(f) => f.context.pack(),
            None => [self.rng.random(); 4],
        }
    }
}

fn find<'a>(host: &'a mut HostSide, j: &DataJob) -> Option<&'a mut HostPacket> {
    let packets = &mut host.flows.get_mut(usize::from(j.flow))?.outstanding;
    packets.iter_mut().find(|p| p.psn == Psn::new(j.psn))
}

impl Bench for TransmitBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        self.host.drive(&mut self.rng, inputs);
        let candidate = self.packet_to_send();
        let flows = self.host.flows.len() as u16;
        let mut offered = None;
        self.jobs.drive(&mut self.rng, inputs, flows, |_| {
            offered = candidate;
            candidate
        });
        if let Some(packet) = offered.and_then(|j| find(&mut self.host, &j)) {
            packet.is_job = true;
        }
        self.ports
            .drive(&mut self.rng, inputs, &self.identity, self.now_ns);
        let at = [self.at.cut_context[1], self.at.frame_context[1]];
        inputs[at[0]..at[0] + 4].copy_from_slice(&self.cut_row);
        inputs[at[1]..at[1] + 4].copy_from_slice(&self.frame_row);
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        self.cut_row = self.context_row(outputs[self.at.cut_context[0]]);
        self.frame_row = self.context_row(outputs[self.at.frame_context[0]]);
        let identity = self.identity;
        let now = Now {
            clock: self.clock,
            ns: self.now_ns,
            identity: &identity,
        };
        let host = &mut self.host;
        let packet = |j: &DataJob| match find(host, j) {
            Some(p) => (p.segment, p.payload.clone()),
            None => (Segment::default(), Vec::new()),
        };
        let sent = self
            .frames
            .observe(&mut self.ports, inputs, outputs, now, packet);
        if let Some(packet) = sent.and_then(|j| find(&mut self.host, &j)) {
            packet.is_sent = true;
        }
        // The pool is read until the frame's end: the slot may not be freed before.
        for job in self.frames.finished.drain(..) {
            if let Job::Data(j) = job {
                if let Some(packet) = find(&mut self.host, &j) {
                    packet.is_job = false;
                }
            }
        }
        if let Some(job) = self.jobs.taken(inputs, outputs) {
            let context = self.host.flows[usize::from(job.flow())].context;
            self.frames.take(job, context, now);
        }
        if let Some(mut packet) = self.host.committed(inputs, outputs) {
            packet.is_sent = false;
            self.host.flows[usize::from(packet.flow)]
                .outstanding
                .push(packet);
        }
        self.host.observe(&mut self.rng, inputs, outputs);
        self.now_ns = self.now_ns.wrapping_add(CLOCK_NS);
    }

    fn violation(&self) -> Option<&str> {
        let host = self.host.violation();
        host.or(self.jobs.violation()).or(self.frames.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.host.compared() + self.frames.compared()
    }
}
