//! The frame builder's stimulus and checks: jobs of all kinds, every byte of every frame.

use super::driver::first_psn;
use super::frame_check::{FrameCheck, Started, WireBeat};
use super::{contents, Pace, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::psn::Psn;
use rondo_models::wire::frame::{self, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{FlowContext, FrameRepr, Identity, MacAddress, Place, Segment};
use std::collections::VecDeque;

/// Slots of the pool.
const SLOTS: usize = 1 << 10;
/// After this many clocks every path must have been taken.
const LONG_RUN: u64 = 250_000;
/// Time a clock.
const CLOCK_NS: u32 = 4;
/// Data and probe frames that may be prepared while an ACK comes.
const MOST_PREPARED: usize = 2;
/// Clocks within which a job of a closed flow is reported.
const STALE_CLOCKS: u64 = 8;

struct At {
    rst: usize,
    ack: [usize; 11],
    ack_ready: usize,
    data: [usize; 6],
    data_ready: usize,
    probe: [usize; 3],
    probe_ready: usize,
    context: [usize; 2],
    segment: [usize; 2],
    pool: [usize; 2],
    local: [usize; 4],
    now: usize,
    tx: [usize; 5],
    tx_ready: usize,
    sent: [usize; 6],
    frame: [usize; 2],
    stale: usize,
}

impl At {
    fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            rst: r.input("rst")?,
            ack: r.inputs([
                "ack_valid",
                "ack_flow",
                "ack_path",
                "ack_psn",
                "ack_expected",
                "ack_selective",
                "ack_probe",
                "ack_nak",
                "ack_duplicate",
                "ack_sent_ns",
                "ack_received_ns",
            ])?,
            ack_ready: r.output("ack_ready")?,
            data: r.inputs([
                "data_valid",
                "data_flow",
                "data_path",
                "data_psn",
                "data_slot",
                "data_retransmission",
            ])?,
            data_ready: r.output("data_ready")?,
            probe: r.inputs(["probe_valid", "probe_flow", "probe_path"])?,
            probe_ready: r.output("probe_ready")?,
            context: [r.output("context_flow")?, r.input("context_data")?],
            segment: [r.output("segment_slot")?, r.input("segment_data")?],
            pool: [r.output("pool_address")?, r.input("pool_data")?],
            local: r.inputs(["local_mac", "local_ipv4", "local_ipv6", "udp_port"])?,
            now: r.input("now_ns")?,
            tx: r.outputs(["tx_valid", "tx_data", "tx_keep", "tx_last", "tx_size"])?,
            tx_ready: r.input("tx_ready")?,
            sent: r.outputs([
                "sent_valid",
                "sent_slot",
                "sent_flow",
                "sent_psn",
                "sent_path",
                "sent_ns",
            ])?,
            frame: r.outputs(["frame_valid", "frame_kind"])?,
            stale: r.output("stale_valid")?,
        })
    }
}

/// An ACK to send.
#[derive(Clone, Copy)]
struct AckJob {
    flow: u16,
    /// What the port says though a probe is acknowledged.
    psn: u32,
    expected: u32,
    selective: u64,
    of_probe: bool,
    nak: bool,
    duplicate: bool,
    path: u8,
    sent_ns: u32,
    received_ns: u32,
}

/// A packet to send.
#[derive(Clone, Copy)]
struct DataJob {
    flow: u16,
    path: u8,
    psn: u32,
    slot: u16,
    retransmission: bool,
}

/// A probe to send.
#[derive(Clone, Copy)]
struct ProbeJob {
    flow: u16,
    path: u8,
}

#[derive(Clone, Copy)]
enum Job {
    Ack(AckJob),
    Data(DataJob),
    Probe(ProbeJob),
}

impl Job {
    fn flow(&self) -> u16 {
        match self {
            Job::Ack(j) => j.flow,
            Job::Data(j) => j.flow,
            Job::Probe(j) => j.flow,
        }
    }
}

/// A job that was taken, with the context it finds.
struct Taken {
    job: Job,
    context: FlowContext,
    taken_ns: u32,
}

#[derive(Default, Debug)]
struct Reached {
    /// By kind and IP version.
    frames: [[u32; 2]; 4],
    /// ACK, data, probe.
    stale: [u32; 3],
    acks_of_probes: u32,
    retransmissions: u32,
    wire_held: u32,
    jobs_held: [u32; 3],
    ack_behind_prepared: u32,
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
    acks: Source<AckJob>,
    data: Source<DataJob>,
    probes: Source<ProbeJob>,
    tx_ready: Pace,
    taken: VecDeque<Taken>,
    stale: VecDeque<u64>,
    frames: FrameCheck,
    context_row: [u64; 4],
    segment_row: [u64; 3],
    pool_row: [u64; 8],
    reached: Reached,
    compared: u64,
    violation: Option<String>,
}

impl BuilderBench {
    /// For the frame builder `v` of slots of `slot_beats` beats, with `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, slot_beats: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let mut rng = SmallRng::seed_from_u64(seed);
        Ok(Self {
            at: At::new(&Rows::new(v))?,
            clock: 0,
            slot_beats,
            resets: Resets::new(8),
            identity: random_identity(&mut rng),
            now_ns: 0,
            contexts: vec![FlowContext::CLOSED; flows],
            last_job: vec![0; flows],
            segments: vec![Segment::default(); SLOTS],
            acks: Source::new(&[256, 0, 32, 128, 8]),
            data: Source::new(&[256, 256, 128, 32, 0]),
            probes: Source::new(&[4, 0, 256, 32]),
            tx_ready: Pace::new(Pace::MIXED),
            taken: VecDeque::new(),
            stale: VecDeque::new(),
            frames: FrameCheck::default(),
            context_row: [0; 4],
            segment_row: [0; 3],
            pool_row: [0; 8],
            reached: Reached::default(),
            compared: 0,
            violation: None,
            rng,
        })
    }

    fn fail(&mut self, what: impl Into<String>) {
        self.violation.get_or_insert(what.into());
    }

    fn restart(&mut self) {
        self.identity = random_identity(&mut self.rng);
        self.now_ns = match self.rng.random_range(0..3) {
            0 => self.rng.random(),
            _ => 0u32.wrapping_sub(self.rng.random_range(0..40_000)),
        };
        let largest = (64 * self.slot_beats).min(9_216) as u16;
        for c in &mut self.contexts {
            *c = random_context(&mut self.rng, largest);
        }
        self.last_job.fill(self.clock);
        for s in &mut self.segments {
            *s = random_segment(&mut self.rng, largest);
        }
        self.acks.reset();
        self.data.reset();
        self.probes.reset();
        self.taken.clear();
        self.stale.clear();
        self.frames.reset();
    }

    /// Now and then a flow is closed, opened, or becomes another, when no job looks at it.
    fn change_a_context(&mut self) {
        if self.rng.random_range(0..64) != 0 {
            return;
        }
        let flow = self.rng.random_range(0..self.contexts.len());
        if self.last_job[flow] + 4 < self.clock {
            let largest = (64 * self.slot_beats).min(9_216) as u16;
            self.contexts[flow] = random_context(&mut self.rng, largest);
        }
    }

    fn drive_jobs(&mut self, inputs: &mut [u64]) {
        let (a, rng, flows) = (&self.at, &mut self.rng, self.contexts.len() as u16);
        let ack = self.acks.offer(rng, |rng| Some(random_ack(rng, flows)));
        inputs[a.ack[0]] = ack.is_some().into();
        if let Some(j) = ack {
            let row = [
                1,
                j.flow.into(),
                j.path.into(),
                j.psn.into(),
                j.expected.into(),
                j.selective,
                j.of_probe.into(),
                j.nak.into(),
                j.duplicate.into(),
                j.sent_ns.into(),
                j.received_ns.into(),
            ];
            for (at, v) in a.ack.iter().zip(row) {
                inputs[*at] = v;
            }
        }
        let data = self.data.offer(rng, |rng| {
            Some(DataJob {
                flow: rng.random_range(0..flows),
                path: rng.random_range(0..16),
                psn: first_psn(rng),
                slot: rng.random_range(0..SLOTS) as u16,
                retransmission: rng.random_range(0..4) == 0,
            })
        });
        inputs[a.data[0]] = data.is_some().into();
        if let Some(j) = data {
            let row = [
                1,
                j.flow.into(),
                j.path.into(),
                j.psn.into(),
                j.slot.into(),
                j.retransmission.into(),
            ];
            for (at, v) in a.data.iter().zip(row) {
                inputs[*at] = v;
            }
        }
        let probe = self.probes.offer(rng, |rng| {
            Some(ProbeJob {
                flow: rng.random_range(0..flows),
                path: rng.random_range(0..16),
            })
        });
        inputs[a.probe[0]] = probe.is_some().into();
        if let Some(j) = probe {
            inputs[a.probe[1]] = j.flow.into();
            inputs[a.probe[2]] = j.path.into();
        }
    }

    /// Jobs that are taken in this clock: at most one, and the most urgent that waits.
    fn observe_jobs(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        let readies = [a.ack_ready, a.data_ready, a.probe_ready].map(|i| outputs[i] != 0);
        let valids = [a.ack[0], a.data[0], a.probe[0]].map(|i| inputs[i] != 0);
        let jobs = [
            self.acks.taken(readies[0]).map(Job::Ack),
            self.data.taken(readies[1]).map(Job::Data),
            self.probes.taken(readies[2]).map(Job::Probe),
        ];
        for (i, job) in jobs.into_iter().enumerate() {
            self.reached.jobs_held[i] += u32::from(valids[i] && !readies[i]);
            let Some(job) = job else { continue };
            if valids[..i].contains(&true) {
                self.fail("a job was taken before a more urgent one");
            }
            let flow = usize::from(job.flow());
            self.last_job[flow] = self.clock;
            let context = self.contexts[flow];
            if !context.valid {
                self.reached.stale[i] += 1;
                self.stale.push_back(self.clock);
                continue;
            }
            if i == 0 {
                let large = |t: &&Taken| !matches!(t.job, Job::Ack(_));
                let before = self.taken.iter().filter(large).count();
                self.reached.ack_behind_prepared += u32::from(before > 0);
                if before > MOST_PREPARED {
                    self.fail(format!("an ACK comes after {before} prepared frames"));
                }
            }
            self.taken.push_back(Taken {
                job,
                context,
                taken_ns: self.now_ns,
            });
        }
    }

    fn observe_stale(&mut self, outputs: &[u64]) {
        if outputs[self.at.stale] != 0 {
            self.compared += 1;
            if self.stale.pop_front().is_none() {
                self.fail("stale_valid: no such job was dropped");
            }
        }
        let oldest = self.stale.front().copied().unwrap_or(self.clock);
        if oldest + STALE_CLOCKS < self.clock {
            self.fail("stale_valid: a dropped job was not reported");
        }
    }

    fn observe_start(&mut self, outputs: &[u64]) {
        let sent = self.at.sent.map(|i| outputs[i]);
        let [valid, kind] = self.at.frame.map(|i| outputs[i]);
        if (sent[0] != 0) != (valid != 0 && kind == 0) {
            self.fail("sent_valid: it goes with data frames");
        }
        if valid == 0 {
            return;
        }
        let Some(taken) = self.taken.pop_front() else {
            return self.fail("frame_valid: there is no such job");
        };
        let (frame, payload) = match taken.job {
            Job::Ack(j) => (ack_frame(&self.identity, &taken.context, &j), Vec::new()),
            Job::Probe(j) => {
                let f = frame::probe_frame(&self.identity, &taken.context, j.path, 0);
                (f, Vec::new())
            }
            Job::Data(j) => self.start_data(&taken, &j, sent),
        };
        self.compared += 1;
        if frame.header.kind() as u64 != kind {
            self.fail(format!("frame_kind: {kind} for {:x?}", frame.header));
        }
        let ipv6 = usize::from(frame.ip.is_ipv6());
        self.reached.frames[frame.header.kind() as usize][ipv6] += 1;
        self.frames.start(Started {
            frame,
            payload,
            taken_ns: taken.taken_ns,
            started_ns: self.now_ns,
        });
    }

    /// The frame of a data job, whose timestamp the pulse tells.
    fn start_data(&mut self, taken: &Taken, job: &DataJob, sent: [u64; 6]) -> (FrameRepr, Vec<u8>) {
        let (j, ns) = (job, sent[5] as u32);
        let row = [
            1,
            u64::from(j.slot),
            j.flow.into(),
            j.psn.into(),
            j.path.into(),
        ];
        self.compared += 5;
        if sent[..5] != row {
            self.fail(format!("sent: {sent:x?} instead of {row:x?}"));
        }
        if ns.wrapping_sub(taken.taken_ns) > self.now_ns.wrapping_sub(taken.taken_ns) {
            self.fail(format!("sent_ns: {ns:x} is not in {:x}..", taken.taken_ns));
        }
        self.reached.retransmissions += u32::from(j.retransmission);
        let segment = self.segments[usize::from(j.slot)];
        let length = usize::from(segment.place.payload_len);
        let beats = (0..self.slot_beats).flat_map(|b| contents(j.slot, 0, b as u16));
        let payload = beats.flat_map(u64::to_le_bytes).take(length).collect();
        let psn = Psn::new(j.psn);
        let (identity, context) = (&self.identity, &taken.context);
        let again = j.retransmission;
        let frame = frame::data_frame(identity, context, &segment, psn, j.path, ns, again);
        (frame, payload)
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

    fn note_what_is_reached(&mut self, inputs: &[u64], outputs: &[u64]) {
        let held = outputs[self.at.tx[0]] != 0 && inputs[self.at.tx_ready] == 0;
        self.reached.wire_held += u32::from(held);
        let of_probe = inputs[self.at.ack[0]] != 0 && inputs[self.at.ack[6]] != 0;
        self.reached.acks_of_probes += u32::from(of_probe);
        let r = &self.reached;
        let mut counts = r
            .frames
            .iter()
            .flatten()
            .chain(&r.stale)
            .chain(&r.jobs_held);
        let missing = counts.any(|c| *c == 0)
            || [
                r.acks_of_probes,
                r.retransmissions,
                r.wire_held,
                r.ack_behind_prepared,
            ]
            .contains(&0);
        if self.clock == LONG_RUN && missing {
            let what = format!("the run was too easy: {r:?}");
            self.fail(what);
        }
    }
}

fn random_identity(rng: &mut SmallRng) -> Identity {
    Identity {
        mac: MacAddress(rng.random()),
        ipv4: rng.random::<u32>().into(),
        ipv6: rng.random::<u128>().into(),
        udp_port: rng.random(),
    }
}

fn random_context(rng: &mut SmallRng, largest: u16) -> FlowContext {
    let mtu = 64
        * match rng.random_range(0..8) {
            0 => largest / 64,
            1..4 => rng.random_range(1..=largest / 64),
            _ => rng.random_range(1..=4),
        };
    // All ones in an address make the checksum's carries.
    let ipv4 = match rng.random_range(0..4) {
        0 => u32::MAX,
        _ => rng.random(),
    };
    FlowContext {
        mtu,
        valid: rng.random_range(0..8) != 0,
        source_port: rng.random(),
        peer_flow: rng.random(),
        epoch: rng.random(),
        peer_mac: MacAddress(rng.random()),
        peer_ip: match rng.random() {
            true => rondo_models::wire::IpAddress::V6(rng.random::<u128>().into()),
            false => rondo_models::wire::IpAddress::V4(ipv4.into()),
        },
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

fn random_ack(rng: &mut SmallRng, flows: u16) -> AckJob {
    let of_probe = rng.random_range(0..8) == 0;
    AckJob {
        flow: rng.random_range(0..flows),
        path: rng.random_range(0..16),
        psn: first_psn(rng),
        expected: first_psn(rng),
        selective: rng.random(),
        of_probe,
        nak: !of_probe && rng.random_range(0..4) == 0,
        duplicate: rng.random_range(0..4) == 0,
        sent_ns: rng.random(),
        received_ns: rng.random(),
    }
}

fn ack_frame(identity: &Identity, context: &FlowContext, j: &AckJob) -> FrameRepr {
    let of = match j.of_probe {
        true => Acked::Probe,
        false => Acked::Data {
            psn: Psn::new(j.psn),
            expected: Psn::new(j.expected),
            selective: j.selective,
        },
    };
    let ack = Acknowledgement {
        path: j.path,
        of,
        nak: j.nak,
        duplicate: j.duplicate,
        sent_ns: j.sent_ns,
        received_ns: j.received_ns,
    };
    frame::ack_frame(identity, context, &ack)
}

impl Bench for BuilderBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        self.change_a_context();
        self.drive_jobs(inputs);
        let a = &self.at;
        let ipv6 = u128::from(self.identity.ipv6);
        inputs[a.local[0]] = self.identity.mac.to_number();
        inputs[a.local[1]] = u32::from(self.identity.ipv4).into();
        inputs[a.local[2]] = ipv6 as u64;
        inputs[a.local[2] + 1] = (ipv6 >> 64) as u64;
        inputs[a.local[3]] = self.identity.udp_port.into();
        inputs[a.now] = self.now_ns.into();
        inputs[a.context[1]..a.context[1] + 4].copy_from_slice(&self.context_row);
        inputs[a.segment[1]..a.segment[1] + 3].copy_from_slice(&self.segment_row);
        inputs[a.pool[1]..a.pool[1] + 8].copy_from_slice(&self.pool_row);
        inputs[a.tx_ready] = self.tx_ready.active(&mut self.rng).into();
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        self.answer_memories(outputs);
        self.observe_start(outputs);
        self.observe_jobs(inputs, outputs);
        self.observe_stale(outputs);
        let [valid, data, keep, last, size] = self.at.tx;
        let offered = (outputs[valid] != 0).then(|| {
            WireBeat::new(
                &outputs[data..data + 8],
                outputs[keep],
                outputs[last] != 0,
                outputs[size] as u16,
            )
        });
        self.frames.clock(offered, inputs[self.at.tx_ready] != 0);
        self.note_what_is_reached(inputs, outputs);
        self.now_ns = self.now_ns.wrapping_add(CLOCK_NS);
    }

    fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.frames.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.compared + self.frames.compared()
    }
}
