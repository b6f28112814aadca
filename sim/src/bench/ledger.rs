//! The ledger's stimulus and model.

use super::driver::first_psn;
use super::{LedgerCheck, Pace, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::ledger::{Event, Kind};
use rondo_models::psn::Psn;
use rondo_models::recovery::Recovery;
use std::collections::{BTreeSet, VecDeque};

/// Clocks of work, and of the rest in which every slot must come back.
const WORK: u64 = 12_000;
const REST: u64 = 30_000;

struct At {
    rst: usize,
    open: [usize; 3],
    open_ready: usize,
    recovery: [usize; 3],
    now_ns: usize,
    free: [usize; 2],
    free_ready: usize,
    free_count: usize,
    commit: [usize; 4],
    commit_ready: usize,
    sent: [usize; 6],
    ack: [usize; 10],
    ack_ready: usize,
    settled: [usize; 5],
    settled_ready: usize,
    resolve: [usize; 3],
    resolve_ready: usize,
    again: [usize; 3],
    again_ready: usize,
    unsent: [usize; 3],
    unsent_ready: usize,
    acked: [usize; 3],
    account: [usize; 10],
    event: [usize; 6],
}

impl At {
    fn new(v: &Verilog) -> Result<Self, SimError> {
        let r = Rows::new(v);
        Ok(Self {
            rst: r.input("rst")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            open_ready: r.output("open_ready")?,
            recovery: r.inputs(["recovery_write", "recovery_flow", "recovery_data"])?,
            now_ns: r.input("now_ns")?,
            free: r.outputs(["free_valid", "free_slot"])?,
            free_ready: r.input("free_ready")?,
            free_count: r.output("free_count")?,
            commit: r.inputs(["commit_valid", "commit_flow", "commit_psn", "commit_slot"])?,
            commit_ready: r.output("commit_ready")?,
            sent: r.inputs([
                "sent_valid",
                "sent_flow",
                "sent_psn",
                "sent_slot",
                "sent_path",
                "sent_ns",
            ])?,
            ack: r.inputs([
                "ack_valid",
                "ack_flow",
                "ack_path",
                "ack_psn",
                "ack_expected",
                "ack_probe",
                "ack_nak",
                "ack_sent_ns",
                "ack_received_ns",
                "ack_now_ns",
            ])?,
            ack_ready: r.output("ack_ready")?,
            settled: r.outputs([
                "settled_valid",
                "settled_flow",
                "settled_psn",
                "settled_path",
                "settled_count",
            ])?,
            settled_ready: r.input("settled_ready")?,
            resolve: r.outputs(["resolve_valid", "resolve_flow", "resolve_path"])?,
            resolve_ready: r.input("resolve_ready")?,
            again: r.outputs(["again_valid", "again_flow", "again_psn"])?,
            again_ready: r.input("again_ready")?,
            unsent: r.inputs(["unsent_valid", "unsent_flow", "unsent_psn"])?,
            unsent_ready: r.output("unsent_ready")?,
            acked: r.inputs(["acked_valid", "acked_flow", "acked_una"])?,
            account: r.outputs([
                "account_valid",
                "account_kind",
                "account_flow",
                "account_path",
                "account_freed_path",
                "account_in_flight",
                "account_timeout",
                "account_sent_ns",
                "account_received_ns",
                "account_now_ns",
            ])?,
            event: r.outputs([
                "event_valid",
                "event_kind",
                "event_slot",
                "event_flow",
                "event_psn",
                "event_ns",
            ])?,
        })
    }
}

/// A packet that the transmitter is about to send.
#[derive(Clone, Copy)]
struct Job {
    due: u64,
    flow: u16,
    psn: u32,
    slot: u16,
}

/// A flow as the stimulus sees it.
#[derive(Clone, Default)]
struct Flow {
    open: bool,
    next: u32,
    una: Psn,
    acked: BTreeSet<u32>,
    expected: Psn,
    arrived: BTreeSet<u32>,
    recovery: Recovery,
    timeout_ns: u32,
}

/// Adds `psn` to `set`, and moves `next` over what is complete.
fn advance(next: &mut Psn, set: &mut BTreeSet<u32>, psn: u32) {
    if Psn::new(psn).is_before(*next) {
        return;
    }
    set.insert(psn);
    while set.remove(&next.value()) {
        *next = next.plus(1);
    }
}

/// Segmenter, transmitter, network, receiver and sender datapath around the ledger: losses,
/// duplicates, reordering, lost ACKs, NAKs, closed and reopened flows.
pub struct LedgerBench {
    rng: SmallRng,
    at: At,
    check: LedgerCheck,
    paths: u8,
    slots: usize,
    clock: u64,
    epoch_ns: u32,
    phase: u64,
    flows: Vec<Flow>,
    resets: Resets,
    free_slots: VecDeque<u16>,
    jobs: Vec<Job>,
    last_sent: u64,
    network: Vec<(u64, Event, bool)>,
    una_pulses: VecDeque<(u64, u16, u32)>,
    returning: VecDeque<(u16, u32)>,
    open: Source<(u16, u32)>,
    opening: Option<u16>,
    commit: Source<(u16, u32, u16)>,
    ack: Source<Event>,
    unsent: Source<(u16, u32)>,
    sinks: [Pace; 4],
    recoveries: VecDeque<(u16, Flow)>,
    broken: Option<String>,
}

impl LedgerBench {
    /// For the ledger `v`.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(
        v: &Verilog,
        paths: usize,
        flows: usize,
        slots: usize,
        seed: u64,
    ) -> Result<Self, SimError> {
        let mut rng = SmallRng::seed_from_u64(seed);
        Ok(Self {
            at: At::new(v)?,
            check: LedgerCheck::new(flows, paths, slots),
            paths: paths as u8,
            slots,
            clock: 0,
            epoch_ns: rng.random(),
            phase: 0,
            flows: vec![Flow::default(); flows],
            resets: Resets::new(slots + flows * paths),
            free_slots: VecDeque::new(),
            jobs: Vec::new(),
            last_sent: 0,
            network: Vec::new(),
            una_pulses: VecDeque::new(),
            returning: VecDeque::new(),
            open: Source::new(&[256]),
            opening: None,
            commit: Source::new(Pace::MIXED),
            ack: Source::new(Pace::MIXED),
            unsent: Source::new(Pace::MIXED),
            sinks: std::array::from_fn(|_| Pace::new(&[256, 256, 128, 32])),
            recoveries: VecDeque::new(),
            broken: None,
            rng,
        })
    }

    fn now_ns(&self) -> u32 {
        self.epoch_ns.wrapping_add(4 * self.clock as u32)
    }

    fn restart(&mut self) {
        self.check.restart();
        self.flows.fill(Flow::default());
        self.free_slots.clear();
        self.jobs.clear();
        self.network.clear();
        self.una_pulses.clear();
        self.returning.clear();
        self.open.reset();
        self.opening = None;
        self.commit.reset();
        self.ack.reset();
        self.unsent.reset();
        // The parameters' RAM is not cleared by a reset: whoever opens a flow writes them.
        self.recoveries = (0..self.flows.len() as u16)
            .map(|f| (f, Flow::default()))
            .collect();
        self.phase = self.clock;
        self.epoch_ns = match self.rng.random_range(0..3) {
            0 => 0u32.wrapping_sub(4 * self.clock as u32 + 60_000),
            _ => self.rng.random(),
        };
    }

    fn break_off(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    /// Whether the design rests, so that every slot comes back.
    fn rests(&self) -> bool {
        self.clock - self.phase > WORK
    }

    fn drive_control(&mut self, inputs: &mut [u64]) {
        let busy = self.opening.is_some();
        let recovery = self.recoveries.pop_front();
        inputs[self.at.recovery[0]] = recovery.is_some().into();
        if let Some((flow, f)) = &recovery {
            let flow = *flow;
            let m = self.check.model.flow_mut(flow);
            m.open = f.open;
            m.recovery = f.recovery;
            m.timeout_ns = f.timeout_ns;
            inputs[self.at.recovery[1]] = flow.into();
            inputs[self.at.recovery[2]] =
                u64::from(f.timeout_ns) | u64::from(f.recovery.slack_ns) << 32;
            inputs[self.at.recovery[2] + 1] =
                u64::from(f.recovery.threshold) | u64::from(f.open) << 16;
        }
        if !busy && recovery.is_none() && self.clock % 64 == 0 {
            self.turn_over();
        }
        let opening = self.opening;
        let flows = &self.flows;
        let open = self.open.offer(&mut self.rng, |_| {
            opening.map(|f| (f, flows[usize::from(f)].next))
        });
        inputs[self.at.open[0]] = open.is_some().into();
        if let Some((flow, psn)) = open {
            inputs[self.at.open[1]] = flow.into();
            inputs[self.at.open[2]] = psn.into();
        }
    }

    /// Opens a closed flow whose slots are all free, or now and then closes one.
    fn turn_over(&mut self) {
        let flow = self.rng.random_range(0..self.flows.len()) as u16;
        let rests = self.rests();
        let f = &mut self.flows[usize::from(flow)];
        if f.open {
            if self.rng.random_range(0..24) == 0 {
                f.open = false;
                self.recoveries.push_back((flow, f.clone()));
                self.network.retain(|(_, e, _)| e.flow != flow);
                self.una_pulses.retain(|&(_, f, _)| f != flow);
                self.returning.retain(|&(f, _)| f != flow);
                self.jobs.retain(|j| j.flow != flow);
            }
            return;
        }
        let quiet = self.check.is_quiet(flow)
            && self.commit.peek().is_none_or(|c| c.0 != flow)
            && self.ack.peek().is_none_or(|e| e.flow != flow)
            && self.unsent.peek().is_none_or(|u| u.0 != flow);
        if quiet && !rests {
            let first = first_psn(&mut self.rng);
            *f = Flow {
                open: true,
                next: first,
                una: Psn::new(first),
                expected: Psn::new(first),
                recovery: Recovery {
                    threshold: self.rng.random_range(0..8),
                    slack_ns: self.rng.random_range(0..4_000),
                },
                timeout_ns: self.rng.random_range(4_000..30_000),
                ..Flow::default()
            };
            self.opening = Some(flow);
            self.recoveries.push_back((flow, f.clone()));
        }
    }

    fn drive_transmit(&mut self, inputs: &mut [u64]) {
        let a = &self.at;
        let rests = self.clock - self.phase > WORK;
        let (flows, free) = (&mut self.flows, &mut self.free_slots);
        let busy = self.opening;
        let commit = self.commit.offer(&mut self.rng, |rng| {
            let flow = rng.random_range(0..flows.len());
            let f = &mut flows[flow];
            let span = Psn::new(f.next).distance_from(f.una);
            if rests || !f.open || busy == Some(flow as u16) || span >= 900 {
                return None;
            }
            let slot = free.pop_front()?;
            let psn = f.next;
            f.next = (f.next + 1) & 0xff_ffff;
            Some((flow as u16, psn, slot))
        });
        inputs[a.commit[0]] = commit.is_some().into();
        if let Some((flow, psn, slot)) = commit {
            inputs[a.commit[1]] = flow.into();
            inputs[a.commit[2]] = psn.into();
            inputs[a.commit[3]] = slot.into();
        }
        let now_ns = self.now_ns();
        let clock = self.clock;
        let due = self.jobs.iter().position(|j| j.due <= clock);
        inputs[self.at.sent[0]] = 0;
        if let (Some(i), true) = (due, self.last_sent + 2 <= clock) {
            let j = self.jobs.swap_remove(i);
            self.last_sent = clock;
            let path = self.rng.random_range(0..self.paths);
            let row = [
                1,
                j.flow.into(),
                j.psn.into(),
                j.slot.into(),
                path.into(),
                now_ns.into(),
            ];
            for (at, v) in self.at.sent.iter().zip(row) {
                inputs[*at] = v;
            }
            let e = Event {
                kind: Kind::Sent,
                flow: j.flow,
                psn: j.psn,
                path,
                expected: 0,
                sent_ns: now_ns,
                received_ns: 0,
                now_ns,
            };
            self.check.sent(j.slot, e);
            self.travel(e);
        }
    }

    /// What the network makes of a packet: nothing, one arrival, two, late ones.
    fn travel(&mut self, e: Event) {
        let mut delay = 100 + 150 * u64::from(e.path);
        for _ in 0..2 {
            let fate = self.rng.random_range(0..100);
            if fate < 8 {
                return;
            }
            if fate < 12 {
                delay += self.rng.random_range(0..4_000);
            }
            delay += self.rng.random_range(0..20);
            let kind = match self.rng.random_range(0..60) {
                0 => Kind::Nak,
                _ => Kind::Ack,
            };
            self.network
                .push((self.clock + delay, Event { kind, ..e }, true));
            if self.rng.random_range(0..40) != 0 {
                return;
            }
        }
    }

    /// Packets arrive at the receiver, and its ACKs at the ledger, but for those that are lost.
    fn drive_acks(&mut self, inputs: &mut [u64]) {
        let clock = self.clock;
        let now_ns = self.now_ns();
        while let Some(i) = self
            .network
            .iter()
            .position(|(due, _, data)| *data && *due <= clock)
        {
            let (_, mut e, _) = self.network.swap_remove(i);
            let f = &mut self.flows[usize::from(e.flow)];
            if e.kind == Kind::Ack {
                advance(&mut f.expected, &mut f.arrived, e.psn);
            }
            e.expected = f.expected.value();
            e.received_ns = now_ns.wrapping_add(0x1234_5678);
            if self.rng.random_range(0..16) != 0 {
                let back = 120 + self.rng.random_range(0..40);
                self.network.push((clock + back, e, false));
            }
        }
        let (network, paths) = (&mut self.network, self.paths);
        let flows = self.flows.len() as u16;
        let ack = self.ack.offer(&mut self.rng, |rng| {
            if rng.random_range(0..64) == 0 {
                return Some(Event {
                    kind: Kind::ProbeAck,
                    flow: rng.random_range(0..flows),
                    psn: 0,
                    path: rng.random_range(0..paths),
                    expected: 0,
                    sent_ns: rng.random(),
                    received_ns: rng.random(),
                    now_ns,
                });
            }
            let i = network
                .iter()
                .position(|(due, _, data)| !*data && *due <= clock)?;
            let (_, e, _) = network.swap_remove(i);
            Some(Event { now_ns, ..e })
        });
        let a = &self.at;
        inputs[a.ack[0]] = ack.is_some().into();
        if let Some(e) = ack {
            let row = [
                1,
                e.flow.into(),
                e.path.into(),
                e.psn.into(),
                e.expected.into(),
                (e.kind == Kind::ProbeAck).into(),
                (e.kind == Kind::Nak).into(),
                e.sent_ns.into(),
                e.received_ns.into(),
                e.now_ns.into(),
            ];
            for (at, v) in a.ack.iter().zip(row) {
                inputs[*at] = v;
            }
        }
    }

    fn drive_datapath(&mut self, inputs: &mut [u64]) {
        let a = &self.at;
        inputs[a.acked[0]] = 0;
        if self.una_pulses.front().is_some_and(|p| p.0 <= self.clock) {
            if let Some((_, flow, una)) = self.una_pulses.pop_front() {
                inputs[a.acked[0]] = 1;
                inputs[a.acked[1]] = flow.into();
                inputs[a.acked[2]] = una.into();
            }
        }
        let returning = &mut self.returning;
        let unsent = self.unsent.offer(&mut self.rng, |_| returning.pop_front());
        inputs[a.unsent[0]] = unsent.is_some().into();
        if let Some((flow, psn)) = unsent {
            inputs[a.unsent[1]] = flow.into();
            inputs[a.unsent[2]] = psn.into();
        }
        let sinks = [
            a.free_ready,
            a.settled_ready,
            a.resolve_ready,
            a.again_ready,
        ];
        for (at, pace) in sinks.iter().zip(&mut self.sinks) {
            inputs[*at] = pace.active(&mut self.rng).into();
        }
    }

    fn observe_outputs(&mut self, inputs: &[u64], o: &[u64]) {
        let a = &self.at;
        let row = |at: &[usize]| at.iter().map(|&i| o[i]).collect::<Vec<_>>();
        let on = |at: usize| o[at] != 0;
        let ready = |at: usize| inputs[at] != 0;
        let account = on(a.account[0]).then(|| {
            let mut r = [0; 9];
            r.copy_from_slice(&row(&a.account[1..]));
            r
        });
        let settled = on(a.settled[0]).then(|| {
            let mut r = [0; 4];
            r.copy_from_slice(&row(&a.settled[1..]));
            r
        });
        let pair = |at: &[usize; 3]| on(at[0]).then(|| [o[at[1]], o[at[2]]]);
        self.check.told(account);
        let freed = on(a.free[0]).then(|| o[a.free[1]] as u16);
        let freed = self.check.free.clock(freed, ready(a.free_ready));
        self.free_slots.extend(freed);
        self.check
            .resolve
            .clock(pair(&a.resolve), ready(a.resolve_ready));
        let again = self.check.again.clock(pair(&a.again), ready(a.again_ready));
        if let Some([flow, _, ..]) = self.check.settled.clock(settled, ready(a.settled_ready)) {
            let [_, psn, ..] = settled.unwrap_or_default();
            let f = &mut self.flows[flow as usize];
            advance(&mut f.una, &mut f.acked, psn as u32);
            // One PSN a clock at most comes back from the datapath, 11 clocks later.
            let due = self
                .una_pulses
                .back()
                .map_or(0, |p| p.0 + 1)
                .max(self.clock + 11);
            self.una_pulses.push_back((due, flow as u16, f.una.value()));
        }
        if let Some([flow, psn]) = again {
            let (flow, psn) = (flow as u16, psn as u32);
            if self.rng.random_range(0..4) == 0 {
                self.returning.push_back((flow, psn));
            } else {
                let slot = self.check.model.slot_of(flow, psn);
                let due = self.clock + self.rng.random_range(20..200);
                self.jobs.push(Job {
                    due,
                    flow,
                    psn,
                    slot,
                });
            }
        }
    }

    /// After work comes rest: every slot must have come back by its end.
    fn turn_phase(&mut self, outputs: &[u64]) {
        if !self.rests() {
            return;
        }
        let all_free =
            self.free_slots.len() as u64 + outputs[self.at.free_count] == self.slots as u64;
        if all_free && self.commit.peek().is_none() {
            self.phase = self.clock;
        } else if self.clock - self.phase > WORK + REST {
            let live = self.check.model.records().iter().filter(|r| r.live).count();
            self.break_off(format!(
                "does not free all slots: {live} are live in the model"
            ));
        }
    }
}

impl Bench for LedgerBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        inputs[self.at.now_ns] = self.now_ns().into();
        self.drive_control(inputs);
        self.drive_transmit(inputs);
        self.drive_acks(inputs);
        self.drive_datapath(inputs);
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        let on = |at: usize| outputs[at] != 0;
        self.check.begin_clock();
        if let Some(u) = self.unsent.taken(on(self.at.unsent_ready)) {
            self.check.unsent(u.0, u.1);
        }
        if let Some(e) = self.ack.taken(on(self.at.ack_ready)) {
            self.check.ack(e);
        }
        if let Some((flow, psn)) = self.open.taken(on(self.at.open_ready)) {
            self.opening = None;
            self.check.model.open(flow, psn);
        }
        if on(self.at.event[0]) {
            let [_, row @ ..] = self.at.event.map(|i| outputs[i]);
            self.check.enter(row);
        }
        if let Some((flow, psn, slot)) = self.commit.taken(on(self.at.commit_ready)) {
            let due = self.clock + self.rng.random_range(30..600);
            if self.flows[usize::from(flow)].open {
                self.jobs.push(Job {
                    due,
                    flow,
                    psn,
                    slot,
                });
            }
        }
        self.observe_outputs(inputs, outputs);
        self.turn_phase(outputs);
    }

    fn violation(&self) -> Option<&str> {
        self.broken.as_deref().or(self.check.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.check.compared()
    }
}
