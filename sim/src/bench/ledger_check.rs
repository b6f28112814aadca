//! The ledger's model beside the RTL: events in the order in which they enter, and what follows.

use super::Scoreboard;
use rondo_models::cycle::ledger::Ledger;
use rondo_models::ledger::{Effect, Event, Kind, Record};
use rondo_models::psn::Psn;
use std::collections::VecDeque;

/// Clocks from an event to its effects.
const PIPELINE: u64 = 5;

/// Kinds of events, and of what follows, that a run has reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// Events by kind.
    pub events: [u64; 8],
    /// Slots freed because their flow was closed.
    pub abandoned: u64,
    /// Packets found lost by what was acknowledged, NAKs among it.
    pub early: u64,
    /// Packets found lost by their age.
    pub timeouts: u64,
}

/// Checks every event and every effect of a ledger.
#[derive(Debug)]
pub struct LedgerCheck {
    /// The model.
    pub model: Ledger,
    flows: usize,
    paths: usize,
    slots: usize,
    clock: u64,
    sents: VecDeque<(u16, Event)>,
    acks: VecDeque<Event>,
    lost: VecDeque<(u16, u32)>,
    losing: VecDeque<(u64, (u16, u32))>,
    scan: u16,
    /// Free slots.
    pub free: Scoreboard<u16>,
    /// Acknowledged PSNs: flow, PSN, path, whether it was in flight there.
    pub settled: Scoreboard<[u64; 4]>,
    /// Packets in flight no more: flow, path.
    pub resolve: Scoreboard<[u64; 2]>,
    /// Lost PSNs to be sent again: flow, PSN.
    pub again: Scoreboard<[u64; 2]>,
    /// What the control side is told, in the order of the ports.
    pub account: Scoreboard<[u64; 9]>,
    broken: Option<String>,
    reach: Reach,
}

impl LedgerCheck {
    /// As after reset.
    pub fn new(flows: usize, paths: usize, slots: usize) -> Self {
        let mut check = Self {
            model: Ledger::new(flows, paths, slots),
            flows,
            paths,
            slots,
            clock: 0,
            sents: VecDeque::new(),
            acks: VecDeque::new(),
            lost: VecDeque::new(),
            losing: VecDeque::new(),
            scan: 0,
            free: Scoreboard::new("free"),
            settled: Scoreboard::new("settled"),
            resolve: Scoreboard::new("resolve"),
            again: Scoreboard::new("again"),
            account: Scoreboard::new("account"),
            broken: None,
            reach: Reach::default(),
        };
        check.restart();
        check
    }

    /// The ledger was reset.
    pub fn restart(&mut self) {
        self.model = Ledger::new(self.flows, self.paths, self.slots);
        self.sents.clear();
        self.acks.clear();
        self.lost.clear();
        self.losing.clear();
        self.scan = 0;
        self.free.reset();
        self.settled.reset();
        self.resolve.reset();
        self.again.reset();
        self.account.reset();
        for slot in 0..self.slots {
            self.free.expect(slot as u16);
        }
    }

    /// A packet in `slot` was sent.
    pub fn sent(&mut self, slot: u16, e: Event) {
        self.sents.push_back((slot, e));
    }

    /// An ACK or NAK was taken.
    pub fn ack(&mut self, e: Event) {
        self.acks.push_back(e);
    }

    /// A lost PSN came back: there was no path for it.
    pub fn unsent(&mut self, flow: u16, psn: u32) {
        self.lost.push_back((flow, psn));
    }

    /// Nothing of `flow` waits or is under way.
    pub fn is_quiet(&self, flow: u16) -> bool {
        let f = u64::from(flow);
        let records = self.model.records();
        records.iter().all(|r| !r.live || r.flow != flow)
            && self.sents.iter().all(|s| s.1.flow != flow)
            && self.acks.iter().all(|e| e.flow != flow)
            && self.lost.iter().all(|l| l.0 != flow)
            && self.losing.iter().all(|l| l.1 .0 != flow)
            && self.again.expected().all(|a| a[0] != f)
            && self.settled.expected().all(|s| s[0] != f)
    }

    /// Begins a clock: what was found lost joins the queue.
    pub fn begin_clock(&mut self) {
        self.clock += 1;
        while self.losing.front().is_some_and(|l| l.0 < self.clock) {
            if let Some((_, l)) = self.losing.pop_front() {
                self.lost.push_back(l);
            }
        }
    }

    fn break_off(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    /// An event that enters the design's pipeline: kind, slot, flow, PSN, time.
    pub fn enter(&mut self, row: [u64; 5]) {
        let [kind, slot, flow, psn, ns] = row;
        let (slot, flow, psn, ns) = (slot as u16, flow as u16, psn as u32, ns as u32);
        let plain = |kind| Event {
            kind,
            flow,
            psn,
            path: 0,
            expected: 0,
            sent_ns: 0,
            received_ns: 0,
            now_ns: ns,
        };
        let (at, e) = match kind {
            0 => (Some(slot), Some(plain(Kind::Commit))),
            1 => self.sents.pop_front().unzip(),
            2..=4 => (None, self.acks.pop_front()),
            5 => {
                let r = self.model.record(self.model.slot_of(flow, psn));
                let live = r.live && (r.flow, r.psn) == (flow, psn);
                if live && !Psn::new(psn).is_before(self.model.flow(flow).expected) {
                    self.break_off(format!("heals PSN {psn:#x} of flow {flow}, not arrived"));
                }
                (None, Some(plain(Kind::Heal)))
            }
            6 => {
                if self.lost.pop_front() != Some((flow, psn)) {
                    self.break_off(format!(
                        "checks PSN {psn:#x} of flow {flow}, not the first lost"
                    ));
                }
                (None, Some(plain(Kind::Again)))
            }
            _ => {
                let turn = self.scan;
                self.scan = (self.scan + 1) % self.slots as u16;
                (Some(turn), Some(plain(Kind::Scan)))
            }
        };
        let Some(e) = e else {
            return self.break_off(format!("event {kind} that nobody made"));
        };
        let at = at.unwrap_or_else(|| self.model.slot_of(e.flow, e.psn));
        let known = self.model.record(at).live && kind != 4;
        let same = (e.flow, e.psn) == (flow, psn) || kind == 7;
        if e.kind as u64 != kind || (known && at != slot) || !same {
            return self.break_off(format!(
                "takes event {kind} of slot {slot} for {e:x?} of {at}"
            ));
        }
        self.reach.events[kind as usize & 7] += 1;
        let (before, effect) = self.model.apply(at, &e);
        self.follow(at, &e, &before, &effect);
    }

    fn follow(&mut self, slot: u16, e: &Event, r: &Record, effect: &Effect) {
        if effect.freed {
            self.free.expect(slot);
            self.reach.abandoned += u64::from(e.kind == Kind::Scan);
        }
        if let Some((path, count)) = effect.settled {
            self.settled
                .expect([r.flow.into(), r.psn.into(), path.into(), count.into()]);
        }
        let flow = if effect.lost { r.flow } else { e.flow };
        if let Some(path) = effect.resolved {
            self.resolve.expect([flow.into(), path.into()]);
        }
        if effect.lost {
            self.losing
                .push_back((self.clock + PIPELINE, (r.flow, r.psn)));
            self.reach.timeouts += u64::from(effect.timeout);
            self.reach.early += u64::from(!effect.timeout);
        }
        if effect.again {
            self.again.expect([r.flow.into(), r.psn.into()]);
        }
        if effect.told {
            let own = effect.lost || e.kind == Kind::Heal;
            self.account.expect([
                e.kind as u64,
                if own { r.flow } else { e.flow }.into(),
                if own { r.path } else { e.path }.into(),
                // A probe's ACK looks up a slot that means nothing.
                if e.kind == Kind::ProbeAck {
                    0
                } else {
                    r.path.into()
                },
                (e.kind != Kind::ProbeAck && r.in_flight).into(),
                effect.timeout.into(),
                e.sent_ns.into(),
                e.received_ns.into(),
                e.now_ns.into(),
            ]);
        }
    }

    /// What the control side was told in this clock.
    pub fn told(&mut self, account: Option<[u64; 9]>) {
        let known = account.map(|mut r| {
            if r[0] == Kind::ProbeAck as u64 {
                (r[3], r[4]) = (0, 0);
            }
            r
        });
        self.account.clock(known, true);
    }

    /// What the run has reached.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.broken
            .as_deref()
            .or(self.free.violation())
            .or(self.settled.violation())
            .or(self.resolve.violation())
            .or(self.again.violation())
            .or(self.account.violation())
    }

    /// Values compared.
    pub fn compared(&self) -> u64 {
        self.free.compared()
            + self.settled.compared()
            + self.resolve.compared()
            + self.again.compared()
            + self.account.compared()
            + self.reach.events.iter().sum::<u64>()
    }
}
