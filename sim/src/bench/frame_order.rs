//! Frames in the order of their jobs, each as the models compose it.

use super::frame_check::{FrameCheck, Started};
use super::jobs::{DataJob, FramePorts, Job};
use rondo_models::psn::Psn;
use rondo_models::wire::{frame, FlowContext, FrameRepr, Identity, Segment};
use std::collections::VecDeque;

/// Data and probe frames that may be prepared while an ACK comes.
const MOST_PREPARED: usize = 2;
/// Clocks within which a job of a closed flow is reported.
const STALE_CLOCKS: u64 = 8;

/// A job that was taken, with the context it finds.
struct Taken {
    job: Job,
    context: FlowContext,
    taken_ns: u32,
}

/// Which kinds of frames there were.
#[derive(Default, Debug)]
pub struct Reached {
    /// By kind and IP version.
    frames: [[u32; 2]; 4],
    /// ACK, data, probe.
    stale: [u32; 3],
    retransmissions: u32,
    ack_behind_prepared: u32,
}

impl Reached {
    /// Something was never there.
    pub fn misses(&self) -> bool {
        let mut counts = self.frames.iter().flatten().chain(&self.stale);
        counts.any(|c| *c == 0) || self.retransmissions == 0 || self.ack_behind_prepared == 0
    }
}

/// Where the bench stands: clock, time, the NIC's addresses.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// Clock.
    pub clock: u64,
    /// Time, as the design is told in this clock.
    pub ns: u32,
    /// The NIC's addresses.
    pub identity: &'a Identity,
}

/// Expects a frame for every job of an open flow.
#[derive(Default)]
pub struct FrameOrder {
    taken: VecDeque<Taken>,
    stale: VecDeque<u64>,
    frames: FrameCheck,
    on_wire: VecDeque<Job>,
    /// Jobs whose frame has left, for the bench to drain.
    pub finished: Vec<Job>,
    /// Kinds of frames so far.
    pub reached: Reached,
    compared: u64,
    violation: Option<String>,
}

impl FrameOrder {
    fn fail(&mut self, what: impl Into<String>) {
        self.violation.get_or_insert(what.into());
    }

    /// The design was reset.
    pub fn reset(&mut self) {
        self.taken.clear();
        self.stale.clear();
        self.on_wire.clear();
        self.finished.clear();
        self.frames.reset();
    }

    /// `job` was taken, and its flow has `context`.
    pub fn take(&mut self, job: Job, context: FlowContext, now: Now) {
        if !context.valid {
            self.reached.stale[job.class()] += 1;
            self.stale.push_back(now.clock);
            return;
        }
        if job.class() == 0 {
            let large = |t: &&Taken| t.job.class() != 0;
            let before = self.taken.iter().filter(large).count();
            self.reached.ack_behind_prepared += u32::from(before > 0);
            if before > MOST_PREPARED {
                self.fail(format!("an ACK comes after {before} prepared frames"));
            }
        }
        self.taken.push_back(Taken {
            job,
            context,
            taken_ns: now.ns,
        });
    }

    /// The outputs of one clock; `packet` is segment and payload of a data job. Returns the packet
    /// whose frame has started.
    pub fn observe(
        &mut self,
        ports: &mut FramePorts,
        inputs: &[u64],
        outputs: &[u64],
        now: Now,
        packet: impl FnOnce(&DataJob) -> (Segment, Vec<u8>),
    ) -> Option<DataJob> {
        let sent = self.observe_start(ports, outputs, now, packet);
        if ports.stale(outputs) {
            self.compared += 1;
            if self.stale.pop_front().is_none() {
                self.fail("stale_valid: no such job was dropped");
            }
        }
        let oldest = self.stale.front().copied().unwrap_or(now.clock);
        if oldest + STALE_CLOCKS < now.clock {
            self.fail("stale_valid: a dropped job was not reported");
        }
        let (offered, ready) = ports.beat(inputs, outputs);
        self.frames.clock(offered, ready);
        if ready && offered.is_some_and(|b| b.last) {
            self.finished.extend(self.on_wire.pop_front());
        }
        sent
    }

    fn observe_start(
        &mut self,
        ports: &FramePorts,
        outputs: &[u64],
        now: Now,
        packet: impl FnOnce(&DataJob) -> (Segment, Vec<u8>),
    ) -> Option<DataJob> {
        let sent = ports.sent(outputs);
        let Some(kind) = ports.started(outputs) else {
            if sent.is_some() {
                self.fail("sent_valid: no frame has started");
            }
            return None;
        };
        let Some(taken) = self.taken.pop_front() else {
            self.fail("frame_valid: there is no such job");
            return None;
        };
        if sent.is_some() != (taken.job.class() == 1) {
            self.fail("sent_valid: it goes with data frames");
        }
        let (identity, context) = (now.identity, &taken.context);
        let mut payload = Vec::new();
        let frame = match &taken.job {
            Job::Ack(j) => j.frame(identity, context),
            Job::Probe(j) => frame::probe_frame(identity, context, j.path, 0),
            Job::Data(j) => {
                let segment;
                (segment, payload) = packet(j);
                let ns = self.check_sent(j, sent.unwrap_or_default(), &taken, now);
                let (psn, again) = (Psn::new(j.psn), j.retransmission);
                frame::data_frame(identity, context, &segment, psn, j.path, ns, again)
            }
        };
        self.start(frame, payload, kind, &taken, now);
        self.on_wire.push_back(taken.job);
        match taken.job {
            Job::Data(j) => Some(j),
            _ => None,
        }
    }

    /// Checks the pulse of a data frame; returns its timestamp.
    fn check_sent(&mut self, j: &DataJob, sent: [u64; 5], taken: &Taken, now: Now) -> u32 {
        let row = [
            u64::from(j.slot),
            j.flow.into(),
            j.psn.into(),
            j.path.into(),
        ];
        let ns = sent[4] as u32;
        self.compared += 5;
        if sent[..4] != row {
            self.fail(format!("sent: {sent:x?} instead of {row:x?}"));
        }
        if ns.wrapping_sub(taken.taken_ns) > now.ns.wrapping_sub(taken.taken_ns) {
            self.fail(format!("sent_ns: {ns:x} is not in {:x}..", taken.taken_ns));
        }
        self.reached.retransmissions += u32::from(j.retransmission);
        ns
    }

    fn start(&mut self, frame: FrameRepr, payload: Vec<u8>, kind: u64, taken: &Taken, now: Now) {
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
            started_ns: now.ns,
        });
    }

    /// Values compared.
    pub fn compared(&self) -> u64 {
        self.compared + self.frames.compared()
    }

    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.frames.violation())
    }
}
