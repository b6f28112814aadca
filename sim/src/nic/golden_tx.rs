//! The golden transmit side: segments, decisions, ledger and frames, from the models alone.

use super::bits::Fields;
use crate::bench::LedgerCheck;
use rondo_models::cycle::sender::{Ack, Inputs, Outputs, Sender};
use rondo_models::ledger::{Event, Kind, TABLE_PSNS};
use rondo_models::psn::Psn;
use rondo_models::segmenter::cut;
use rondo_models::tracker::Verdict;
use rondo_models::wire::frame::{ack_frame, data_frame, probe_frame, Acknowledgement};
use rondo_models::wire::host::{Packet, BEAT_BYTES};
use rondo_models::wire::{FlowContext, FrameRepr, Identity, Segment};
use std::collections::VecDeque;

/// A packet that the transmit pool holds.
#[derive(Debug, Clone)]
struct Held {
    psn: u32,
    segment: Segment,
    payload: Vec<u8>,
}

/// A packet that was handed to the frame builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Job {
    flow: u16,
    path: u8,
    psn: u32,
    retransmission: bool,
    slot: u16,
}

/// A data frame whose header was composed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sent {
    job: Job,
    ns: u32,
}

/// Frames by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frames {
    /// Data packets.
    pub data: u64,
    /// Of these sent again.
    pub retransmissions: u64,
    /// Probes.
    pub probes: u64,
    /// ACKs.
    pub acks: u64,
    /// NAKs.
    pub naks: u64,
}

/// The transmit side of one NIC.
pub struct GoldenTx {
    identity: Identity,
    slot_bytes: u16,
    sender: Sender,
    /// The ledger, event by event.
    pub ledger: LedgerCheck,
    contexts: Vec<FlowContext>,
    /// A context before its flow was closed: what was prepared then still goes out.
    former: Vec<FlowContext>,
    next_psn: Vec<u32>,
    held: Vec<Vec<Option<Held>>>,
    commits: VecDeque<(u16, u32)>,
    answers: VecDeque<(u16, u8, u32, bool)>,
    jobs: VecDeque<Job>,
    sents: VecDeque<Sent>,
    acks: VecDeque<(u16, Acknowledgement)>,
    frames: Frames,
    stale: u64,
    refused: u64,
    frame: Vec<u8>,
    mismatches: u64,
    first: Option<String>,
    /// Values compared.
    pub compared: u64,
}

/// The transmit side's monitors, and what leaves it, in one clock.
#[derive(Debug, Clone, Copy)]
pub struct TxTaps<'a> {
    /// Reset.
    pub rst: bool,
    /// `trace_sender_in`.
    pub sender_in: &'a [u64],
    /// `trace_sender_out`.
    pub sender_out: &'a [u64],
    /// `trace_ledger`.
    pub ledger: &'a [u64],
    /// `trace_commit`.
    pub commit: &'a [u64],
    /// `trace_sent`.
    pub sent: &'a [u64],
    /// `trace_job`.
    pub job: &'a [u64],
    /// `account_*`, valid first.
    pub account: [u64; 10],
    /// `stale_valid`.
    pub stale: bool,
    /// `refused_valid` and its cause.
    pub refused: Option<u64>,
}

/// What a clock of the transmit side did.
#[derive(Debug, Clone, Copy, Default)]
pub struct TxStep {
    /// A PSN was acknowledged: flow, lowest unacknowledged PSN.
    pub acked: Option<(u16, u32)>,
}

impl GoldenTx {
    /// As after reset.
    pub fn new(
        identity: Identity,
        shape: (usize, usize, usize),
        slots: usize,
        slot_bytes: u16,
    ) -> Self {
        let (paths, window, flows) = shape;
        Self {
            identity,
            slot_bytes,
            sender: Sender::new(paths, window, flows),
            ledger: LedgerCheck::new(flows, paths, slots),
            contexts: vec![FlowContext::CLOSED; flows],
            former: vec![FlowContext::CLOSED; flows],
            next_psn: vec![0; flows],
            held: vec![vec![None; TABLE_PSNS as usize]; flows],
            commits: VecDeque::new(),
            answers: VecDeque::new(),
            jobs: VecDeque::new(),
            sents: VecDeque::new(),
            acks: VecDeque::new(),
            frames: Frames::default(),
            stale: 0,
            refused: 0,
            frame: Vec::new(),
            mismatches: 0,
            first: None,
            compared: 0,
        }
    }

    fn differ(&mut self, what: impl FnOnce() -> String) {
        self.mismatches += 1;
        if self.first.is_none() {
            self.first = Some(what());
        }
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, expected: &T, actual: &T) {
        self.compared += 1;
        if expected != actual {
            self.differ(|| format!("{what}: expected {expected:x?}, got {actual:x?}"));
        }
    }

    /// A flow is opened.
    pub fn open(&mut self, flow: u16, context: FlowContext, first_psn: u32) {
        let f = usize::from(flow);
        self.contexts[f] = context;
        self.next_psn[f] = first_psn;
        self.held[f].fill(None);
    }

    /// A flow is closed.
    pub fn close(&mut self, flow: u16) {
        let f = usize::from(flow);
        self.former[f] = self.contexts[f];
        self.contexts[f] = FlowContext::CLOSED;
    }

    /// The host has handed over a whole chunk.
    pub fn chunk(&mut self, chunk: &[u8]) {
        let Ok(first) = Packet::new_checked(chunk) else {
            return;
        };
        let contexts = &self.contexts;
        let cuts = cut(&first, chunk.len() as u16, self.slot_bytes, |flow| {
            contexts.get(usize::from(flow)).copied()
        });
        let Ok(packets) = cuts else {
            self.refused += 1;
            return;
        };
        let f = usize::from(packets.flow());
        for c in packets {
            let payload = &chunk[BEAT_BYTES..][c.bytes.clone()];
            let psn = self.next_psn[f];
            self.next_psn[f] = (psn + 1) & 0xff_ffff;
            self.held[f][(psn % TABLE_PSNS) as usize] = Some(Held {
                psn,
                segment: c.segment(payload),
                payload: payload.to_vec(),
            });
            self.commits.push_back((f as u16, psn));
        }
    }

    /// The receive side has an ACK to send.
    pub fn reply(&mut self, flow: u16, ack: Acknowledgement) {
        self.acks.push_back((flow, ack));
    }

    /// An ACK or NAK arrived and was taken.
    pub fn heard(&mut self, e: Event) {
        self.ledger.ack(e);
    }

    /// One clock.
    pub fn clock(&mut self, t: &TxTaps) -> TxStep {
        let inputs = sender_inputs(t.rst, t.sender_in);
        let out = self.sender.step(&inputs);
        if t.rst {
            return TxStep::default();
        }
        self.compare_sender(&out, t.sender_out);
        self.follow_ledger(&inputs, &out, t);
        let mut f = Fields::new(t.commit);
        if f.bit() {
            let actual = (f.take(10) as u16, f.take(24) as u32);
            let expected = self.commits.pop_front();
            self.equal("commit", &expected, &Some(actual));
        }
        self.follow_jobs(&inputs, &out, t);
        TxStep {
            acked: out
                .acked
                .map(|j| (j.arrival.flow, j.outcome.expected.value())),
        }
    }

    fn compare_sender(&mut self, out: &Outputs, trace: &[u64]) {
        let mut f = Fields::new(trace);
        let ready: [bool; 8] = std::array::from_fn(|_| f.bit());
        let expected = [
            out.open_ready,
            out.control_ready,
            out.window_ready,
            out.control_ready,
            out.ack_ready,
            out.resolve_ready,
            out.again_ready,
            out.req_ready,
        ];
        self.equal("ready of the sender datapath", &expected, &ready);
        let row = |f: &mut Fields, lengths: &[usize]| -> Option<Vec<u64>> {
            let valid = f.bit();
            let row: Vec<u64> = lengths.iter().map(|&n| f.take(n)).collect();
            valid.then_some(row)
        };
        let res = row(&mut f, &[10, 4, 24, 1]);
        let wanted = out.res.map(|p| {
            vec![
                p.flow.into(),
                p.path.into(),
                p.psn.unwrap_or(0).into(),
                p.psn.is_some().into(),
            ]
        });
        self.equal("packet to send", &wanted, &res);
        let retry = row(&mut f, &[10, 4, 24]);
        let wanted = out
            .retry
            .map(|r| vec![r.flow.into(), r.path.unwrap_or(0).into(), r.psn.into()]);
        self.equal("retransmission", &wanted, &retry);
        let idle = row(&mut f, &[10, 1, 24]);
        let wanted = out
            .idle
            .map(|(flow, psn)| vec![flow.into(), psn.is_some().into(), psn.unwrap_or(0).into()]);
        self.equal("idle flow", &wanted, &idle);
        let acked = row(&mut f, &[10, 24, 4, 1, 24]);
        let wanted = out.acked.map(|j| {
            vec![
                j.arrival.flow.into(),
                j.arrival.psn.into(),
                (j.arrival.tag & 15) as u64,
                (j.outcome.verdict == Verdict::Accepted).into(),
                j.outcome.expected.value().into(),
            ]
        });
        self.equal("acknowledged PSN", &wanted, &acked);
    }

    fn follow_ledger(&mut self, i: &Inputs, out: &Outputs, t: &TxTaps) {
        self.ledger.begin_clock();
        if let Some((flow, Some(psn))) = out.idle.filter(|_| i.idle_ready) {
            self.ledger.unsent(flow, psn);
        }
        let mut f = Fields::new(t.ledger);
        if f.bit() {
            let row = [f.take(3), f.take(10), f.take(10), f.take(24), f.take(32)];
            self.ledger.enter(row);
        }
        let settled = i
            .ack
            .map(|a| [a.flow.into(), a.psn.into(), a.path.into(), a.count.into()]);
        self.ledger.settled.clock(settled, out.ack_ready);
        let resolve = i.resolve.map(|(flow, path)| [flow.into(), path.into()]);
        self.ledger.resolve.clock(resolve, out.resolve_ready);
        // A request for a retransmission is withdrawn while too many packets wait for the wire: only
        // what is taken counts.
        if let Some((flow, psn)) = i.again.filter(|_| out.again_ready) {
            self.ledger
                .again
                .clock(Some([flow.into(), psn.into()]), true);
        }
        let [valid, row @ ..] = t.account;
        self.ledger.told((valid != 0).then_some(row));
        let mut f = Fields::new(t.sent);
        if f.bit() {
            let (slot, flow) = (f.take(10) as u16, f.take(10) as u16);
            let (psn, path, ns) = (f.take(24) as u32, f.take(4) as u8, f.take(32) as u32);
            self.composed(slot, flow, psn, path, ns);
        }
        if t.stale {
            // Jobs are answered in order: the first is the one that was dropped.
            self.jobs.pop_front();
            self.stale += 1;
        }
        if t.refused.is_some() {
            self.refused = self.refused.wrapping_sub(1);
        }
    }

    fn composed(&mut self, slot: u16, flow: u16, psn: u32, path: u8, ns: u32) {
        let job = self.jobs.pop_front();
        let seen = (flow, path, psn, slot);
        let due = job.map(|j| (j.flow, j.path, j.psn, j.slot));
        self.equal("data frame", &due, &Some(seen));
        if let Some(job) = job {
            self.sents.push_back(Sent { job, ns });
        }
        self.ledger.sent(
            slot,
            Event {
                kind: Kind::Sent,
                flow,
                psn,
                path,
                expected: 0,
                sent_ns: ns,
                received_ns: 0,
                now_ns: ns,
            },
        );
    }

    fn follow_jobs(&mut self, i: &Inputs, out: &Outputs, t: &TxTaps) {
        if let Some(r) = out.retry.filter(|_| i.retry_ready) {
            self.answers
                .push_back((r.flow, r.path.unwrap_or(0), r.psn, true));
        } else if let Some(p) = out.res.filter(|_| i.res_ready) {
            self.answers
                .push_back((p.flow, p.path, p.psn.unwrap_or(0), false));
        }
        let mut f = Fields::new(t.job);
        if f.bit() {
            let job = Job {
                flow: f.take(10) as u16,
                path: f.take(4) as u8,
                psn: f.take(24) as u32,
                retransmission: f.bit(),
                slot: f.take(10) as u16,
            };
            let due = self.answers.pop_front();
            let seen = (job.flow, job.path, job.psn, job.retransmission);
            self.equal("job", &due, &Some(seen));
            self.jobs.push_back(job);
        }
    }

    /// A frame that left the NIC: every byte of it.
    pub fn sent_frame(&mut self, bytes: &[u8], now_ns: u32) {
        match bytes.get(frame_header(bytes)).map(|b| b & 15) {
            Some(0) => self.data_frame(bytes),
            Some(1) => self.probe_frame(bytes, now_ns),
            Some(2 | 3) => self.ack_frame(bytes),
            _ => self.differ(|| format!("a frame of {} bytes of no kind", bytes.len())),
        }
    }

    fn check_bytes(&mut self, what: &str, repr: &FrameRepr, payload: &[u8], bytes: &[u8]) {
        let mut frame = std::mem::take(&mut self.frame);
        frame.resize(repr.frame_bytes(), 0);
        let n = repr.emit(payload, &mut frame);
        self.compared += n as u64;
        if frame != bytes {
            let at = frame.iter().zip(bytes).position(|(a, b)| a != b);
            let n = bytes.len();
            let head: Vec<String> = bytes.iter().take(100).map(|b| format!("{b:02x}")).collect();
            let head = head.join("");
            self.differ(|| {
                format!("{what}: {n} bytes, byte {at:?} is wrong: {head}, expected {repr:x?}")
            });
        }
        self.frame = frame;
    }

    fn data_frame(&mut self, bytes: &[u8]) {
        let Some(Sent { job, ns }) = self.sents.pop_front() else {
            return self.differ(|| "a data frame that nobody asked for".into());
        };
        self.frames.data += 1;
        self.frames.retransmissions += u64::from(job.retransmission);
        let f = usize::from(job.flow);
        let context = if self.contexts[f].valid {
            self.contexts[f]
        } else {
            self.former[f]
        };
        let held = self.held[f][(job.psn % TABLE_PSNS) as usize].take();
        match &held {
            Some(h) if h.psn == job.psn => {
                let repr = data_frame(
                    &self.identity,
                    &context,
                    &h.segment,
                    Psn::new(job.psn),
                    job.path,
                    ns,
                    job.retransmission,
                );
                self.check_bytes("data frame", &repr, &h.payload, bytes);
            }
            _ => self.differ(|| format!("sends PSN {:#x}, which nobody posted", job.psn)),
        }
        self.held[f][(job.psn % TABLE_PSNS) as usize] = held;
    }

    fn ack_frame(&mut self, bytes: &[u8]) {
        let Some((flow, ack)) = self.acks.pop_front() else {
            return self.differ(|| "an ACK that nobody asked for".into());
        };
        self.frames.naks += u64::from(ack.nak);
        self.frames.acks += u64::from(!ack.nak);
        let f = usize::from(flow);
        let context = if self.contexts[f].valid {
            self.contexts[f]
        } else {
            self.former[f]
        };
        let repr = ack_frame(&self.identity, &context, &ack);
        self.check_bytes("ACK", &repr, &[], bytes);
    }

    fn probe_frame(&mut self, bytes: &[u8], now_ns: u32) {
        self.frames.probes += 1;
        // Flow, path and time are the frame's own; that they make sense is checked here, that the
        // scheduler chose them in its bench.
        let header = &bytes[bytes.len().min(frame_header(bytes))..];
        let Ok(p) = rondo_models::wire::header::Packet::new_checked(header) else {
            return self.differ(|| "a probe that is too short".into());
        };
        let flow = self
            .contexts
            .iter()
            .position(|c| c.valid && c.peer_flow == p.flow() && c.epoch == p.epoch());
        let age = now_ns.wrapping_sub(p.sent_ns());
        match flow {
            Some(f) if age < 20_000 => {
                let repr = probe_frame(&self.identity, &self.contexts[f], p.path(), p.sent_ns());
                let n = usize::from(self.contexts[f].mtu);
                self.check_bytes("probe", &repr, &vec![0; n], bytes);
            }
            _ => self.differ(|| format!("a probe of flow {} {age} ns old", p.flow())),
        }
    }

    /// Frames that left, by kind.
    pub fn frames(&self) -> Frames {
        self.frames
    }

    /// Packets of closed flows that were not sent.
    pub fn stale(&self) -> u64 {
        self.stale
    }

    /// Nothing is expected any more.
    pub fn is_quiet(&self) -> bool {
        self.commits.is_empty()
            && self.answers.is_empty()
            && self.jobs.is_empty()
            && self.sents.is_empty()
            && self.acks.is_empty()
    }

    /// Differences found, and the first of them.
    pub fn mismatches(&self) -> (u64, Option<&str>) {
        let ledger = self.ledger.violation();
        let n = self.mismatches + u64::from(ledger.is_some());
        (n, self.first.as_deref().or(ledger))
    }
}

/// Bytes before the Rondo header.
fn frame_header(bytes: &[u8]) -> usize {
    if bytes.get(12) == Some(&0x86) {
        62
    } else {
        42
    }
}

/// The sender datapath's inputs from their monitor.
fn sender_inputs(rst: bool, trace: &[u64]) -> Inputs {
    let mut f = Fields::new(trace);
    let pair = |f: &mut Fields, n: usize| {
        let valid = f.bit();
        let pair = (f.take(10) as u16, f.take(n) as u32);
        valid.then_some(pair)
    };
    let triple = |f: &mut Fields, n: usize| {
        let valid = f.bit();
        let triple = (f.take(10) as u16, f.take(4) as u8, f.take(n) as u16);
        valid.then_some(triple)
    };
    let open = pair(&mut f, 24);
    let post = pair(&mut f, 24).map(|(flow, psn)| (flow, (psn + 1) & 0xff_ffff));
    let window = triple(&mut f, 16);
    let skip = triple(&mut f, 10);
    let has_ack = f.bit();
    let ack = Ack {
        flow: f.take(10) as u16,
        path: f.take(4) as u8,
        psn: f.take(24) as u32,
        count: f.bit(),
    };
    let has_resolve = f.bit();
    let resolve = (f.take(10) as u16, f.take(4) as u8);
    let again = pair(&mut f, 24);
    let has_req = f.bit();
    let req = f.take(10) as u16;
    Inputs {
        rst,
        open,
        post,
        window,
        skip,
        ack: has_ack.then_some(ack),
        resolve: has_resolve.then_some(resolve),
        again,
        req: has_req.then_some(req),
        res_ready: f.bit(),
        retry_ready: f.bit(),
        idle_ready: f.bit(),
        acked_ready: true,
    }
}
