//! The sender that Rondo and the controllers it is compared with share: windows a path, path
//! selection, PSN picking, pacing and loss recovery, all by the golden model. What differs is who
//! sets the windows: a [`Controller`].

use super::{Ack, Outgoing, Poll, Sender, SenderCounters};
use crate::packet::Kind;
use crate::time::{Ps, NEVER, NS};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::control::Decision;
use rondo_models::deficit::{room, Deficits, MAX_PATHS, WINDOW_ONE};
use rondo_models::pacing::Pacer;
use rondo_models::picker::SentWindow;
use rondo_models::psn::Psn;
use rondo_models::recovery::{PathWitness, Recovery, Transmission, Witness};
use rondo_models::round_robin::Turn;
use rondo_models::tracker::{sending_bound, ArrivalWindow, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Sets a flow's windows.
pub trait Controller: Send {
    /// What holds at the start.
    fn initial(&mut self) -> Decision;
    /// A data packet was sent on `path`.
    fn sent(&mut self, now: Ps, path: usize);
    /// A data packet was acknowledged; a new window for its path at once, if there is one.
    fn acked(&mut self, now: Ps, path: usize, forward_ns: u32, rtt_ns: u32) -> Option<u16>;
    /// A data packet on `path` was found lost.
    fn lost(&mut self, now: Ps, path: usize);
    /// A probe on `path` was acknowledged; whether it lets one more data packet out.
    fn probe_acked(&mut self, path: usize) -> bool;
    /// The update of an interval.
    fn update(&mut self, now: Ps) -> Decision;
    /// Forward delay of `path`, ns.
    fn forward_ns(&self, path: usize) -> u32;
    /// Age at which a transmission on `path` is given up, ns.
    fn timeout_ns(&self, path: usize) -> u32;
    /// Time between updates; also of the look at overdue packets.
    fn interval(&self) -> Ps;
    /// From the update's tick until its decision holds: the firmware's latency.
    fn latency(&self) -> Ps;
    /// Decisions carry a pace.
    fn is_paced(&self) -> bool;
}

/// How a path is chosen among the open ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// By deficits (§4.2.3).
    Deficit,
    /// Uniformly at random.
    Random,
    /// In turn; the flow waits for the path whose turn it is.
    RoundRobin,
}

/// What a flow's sender is made with.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// First PSN.
    pub first_psn: u32,
    /// Packets to send.
    pub packets: u64,
    /// A full packet on the wire, bytes.
    pub wire_bytes: u16,
    /// The last packet on the wire, bytes.
    pub last_bytes: u16,
    /// Base RTT of each path, ns.
    pub rtt_ns: Vec<u32>,
    /// Largest base RTT of the network, ns.
    pub max_rtt_ns: u32,
    /// Rate of the host's link, Gbps.
    pub line_gbps: f64,
    /// Seed of what is random in the flow.
    pub seed: u64,
}

/// The sender.
pub struct Multipath<C> {
    controller: C,
    selection: Selection,
    paths: usize,
    deficits: Deficits,
    picker: SentWindow,
    psns: u32,
    acknowledged: ArrivalWindow,
    /// Packets acknowledged in order.
    complete: u64,
    packets: u64,
    wire_bytes: u16,
    last_bytes: u16,
    last_psn: Psn,
    windows: [u16; MAX_PATHS],
    skips: [u16; MAX_PATHS],
    resolved: [u16; MAX_PATHS],
    pacer: Pacer,
    paced: bool,
    paced_ns: u64,
    probing: bool,
    probe_path: u8,
    turn: Turn,
    transmissions: Box<[Transmission]>,
    recovery: Recovery,
    witness: Option<Witness>,
    latest_ns: [u32; MAX_PATHS],
    lost: VecDeque<u32>,
    next_tick: Ps,
    pending: Option<(Ps, Decision)>,
    counters: SenderCounters,
    rng: SmallRng,
}

/// Nanoseconds on the NIC's 32-bit clock.
#[inline]
fn clock_ns(t: Ps) -> u32 {
    (t / NS) as u32
}

impl<C: Controller> Multipath<C> {
    /// A flow as `setup` says, with a window of `psns` PSNs (a power of two of 128 to 2,048).
    pub fn new(setup: &FlowSetup, mut controller: C, selection: Selection, psns: usize) -> Self {
        let first = Psn::new(setup.first_psn);
        let start = controller.initial();
        let base_rtt = setup.rtt_ns.iter().copied().max().unwrap_or(0);
        let mut s = Self {
            selection,
            paths: setup.rtt_ns.len().min(MAX_PATHS),
            deficits: Deficits::new(first),
            picker: SentWindow::new(psns / 64, first),
            psns: psns as u32,
            acknowledged: ArrivalWindow::new(psns / 64, first),
            complete: 0,
            packets: setup.packets,
            wire_bytes: setup.wire_bytes,
            last_bytes: setup.last_bytes,
            last_psn: first.plus((setup.packets.wrapping_sub(1) & 0xff_ffff) as u32),
            windows: [0; MAX_PATHS],
            skips: [0; MAX_PATHS],
            resolved: [first.value() as u16; MAX_PATHS],
            pacer: Pacer::default(),
            paced: controller.is_paced(),
            paced_ns: 0,
            probing: false,
            probe_path: 0,
            turn: Turn::default(),
            transmissions: vec![Transmission::default(); psns].into(),
            recovery: Recovery::early(base_rtt),
            witness: None,
            latest_ns: [0; MAX_PATHS],
            lost: VecDeque::new(),
            next_tick: NEVER,
            pending: None,
            counters: SenderCounters::default(),
            rng: SmallRng::seed_from_u64(setup.seed),
            controller,
        };
        s.apply(&start);
        s
    }

    /// Sets the recovery's parameters.
    pub fn with_recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    fn apply(&mut self, d: &Decision) {
        self.windows = d.windows;
        self.skips = d.skips;
        self.pacer.set_rate(d.pace);
        self.probing = d.probing;
    }

    /// First PSN that may not be sent.
    #[inline]
    fn bound(&self) -> Psn {
        let una = self.acknowledged.expected();
        let left = (self.packets - self.complete).min(u64::from(2 * self.psns));
        sending_bound(una.plus(left as u32), una, self.psns)
    }

    #[inline]
    fn slot(&self, psn: u32) -> usize {
        psn as usize & (self.psns as usize - 1)
    }

    #[inline]
    fn is_open(&self, path: usize) -> bool {
        room(
            self.windows[path],
            self.deficits.sent[path],
            self.resolved[path],
        ) > 0
    }

    /// Chooses the path of the next packet and counts it as sent there.
    #[inline]
    fn select(&mut self, bound: Option<Psn>) -> Option<usize> {
        let n = self.paths;
        let path = match (self.selection, bound) {
            (Selection::Deficit, Some(bound)) => {
                return self
                    .deficits
                    .select(&self.windows[..n], &self.resolved[..n], bound);
            }
            (Selection::Deficit, None) => {
                return self
                    .deficits
                    .reselect(&self.windows[..n], &self.resolved[..n]);
            }
            (Selection::Random, _) => {
                let open = (0..n).filter(|&p| self.is_open(p)).count();
                if open == 0 {
                    return None;
                }
                let pick = self.rng.random_range(0..open);
                (0..n).filter(|&p| self.is_open(p)).nth(pick)?
            }
            (Selection::RoundRobin, _) => {
                let mut turn = self.turn;
                let path = turn.take(n, |p| self.is_open(p))?;
                self.turn = turn;
                path
            }
        };
        self.deficits.sent[path] = self.deficits.sent[path].wrapping_add(1);
        if bound.is_some() {
            self.deficits.posted = self.deficits.posted.plus(1);
        }
        Some(path)
    }

    /// Counts a transmission and describes it.
    #[inline]
    fn transmit(&mut self, now: Ps, psn: Psn, path: usize) -> Poll {
        let slot = self.slot(psn.value());
        let sent_ns = clock_ns(now);
        let before = self.transmissions[slot];
        let again = before.count > 0;
        self.transmissions[slot] = Transmission {
            sent_ns,
            path: path as u8,
            count: before.count.saturating_add(1),
            in_flight: true,
        };
        self.controller.sent(now, path);
        self.counters.sent += 1;
        if again {
            self.counters.retransmissions += 1;
            let delay = sent_ns.wrapping_sub(before.sent_ns);
            self.counters.retransmission_delay += u64::from(delay) * NS;
        }
        if self.paced {
            self.pacer.spend();
        }
        Poll::Send(Outgoing {
            kind: Kind::Data,
            psn: psn.value(),
            path: path as u8,
            retransmission: again,
            bytes: if psn == self.last_psn && self.packets - self.complete <= u64::from(self.psns) {
                self.last_bytes
            } else {
                self.wire_bytes
            },
        })
    }

    /// The next PSN that was found lost and has not been acknowledged since.
    fn next_lost(&mut self) -> Option<Psn> {
        while let Some(&psn) = self.lost.front() {
            let una = self.acknowledged.expected();
            let psn = Psn::new(psn);
            let t = self.transmissions[self.slot(psn.value())];
            if !psn.is_before(una) && !t.in_flight && t.count > 0 {
                return Some(psn);
            }
            self.lost.pop_front();
        }
        None
    }

    fn declare_lost(&mut self, now: Ps, psn: Psn) {
        let slot = self.slot(psn.value());
        let path = usize::from(self.transmissions[slot].path);
        self.transmissions[slot].in_flight = false;
        self.resolved[path] = self.resolved[path].wrapping_add(1);
        self.controller.lost(now, path);
        self.lost.push_back(psn.value());
    }

    /// Looks for lost PSNs from the lowest unacknowledged one on. While that one is neither found
    /// lost nor repaired nothing above it is looked at: it is the usual case, and what is lost above
    /// is found when the lowest one moves there.
    fn find_lost(&mut self, now: Ps, overdue: bool) {
        let una = self.acknowledged.expected();
        let first = self.transmissions[self.slot(una.value())];
        let waits = first.in_flight || first.count == 0;
        if waits && first.count <= 1 && !self.is_lost(una, &first, now, overdue) {
            return;
        }
        let end = self.deficits.posted.distance_from(una).max(0) as u32;
        for i in 0..end.min(self.psns) {
            let psn = una.plus(i);
            let t = self.transmissions[self.slot(psn.value())];
            if self.is_lost(psn, &t, now, overdue) {
                self.declare_lost(now, psn);
            }
        }
    }

    fn is_lost(&self, psn: Psn, t: &Transmission, now: Ps, overdue: bool) -> bool {
        let timeout_ns = self.controller.timeout_ns(t.path.into());
        if overdue && Recovery::is_overdue(t, clock_ns(now), timeout_ns) {
            return true;
        }
        let path = PathWitness {
            latest_ns: self.latest_ns[usize::from(t.path)],
            forward_ns: self.controller.forward_ns(t.path.into()),
            known: true,
        };
        self.witness
            .is_some_and(|w| self.recovery.is_lost(psn, t, &w, &path))
    }

    /// The receiver has everything below `cumulative`: what is not acknowledged there lost its ACK.
    #[inline]
    fn release_below(&mut self, now: Ps, cumulative: Psn) {
        loop {
            let una = self.acknowledged.expected();
            if !una.is_before(cumulative) {
                return;
            }
            let outcome = self.acknowledged.arrive(una, true);
            self.complete += u64::from(outcome.advance);
            let slot = self.slot(una.value());
            let t = std::mem::take(&mut self.transmissions[slot]);
            if t.in_flight {
                let path = usize::from(t.path);
                self.resolved[path] = self.resolved[path].wrapping_add(1);
                self.controller.lost(now, path);
            }
        }
    }

    fn on_data_ack(&mut self, now: Ps, ack: &Ack) -> bool {
        let psn = Psn::new(ack.psn);
        let outcome = self.acknowledged.arrive(psn, true);
        if outcome.verdict != Verdict::Accepted {
            return false;
        }
        self.complete += u64::from(outcome.advance);
        let slot = self.slot(ack.psn);
        let t = self.transmissions[slot];
        if t.in_flight {
            let path = usize::from(t.path);
            self.resolved[path] = self.resolved[path].wrapping_add(1);
        }
        self.transmissions[slot] = Transmission::default();
        let forward = ((ack.arrived - ack.sent) / NS) as u32;
        let rtt = ((now - ack.sent) / NS) as u32;
        let path = usize::from(ack.path);
        if t.in_flight && usize::from(t.path) != path {
            // The lost one arrived after all: the other copy's place is free.
            self.controller.lost(now, t.path.into());
        }
        if let Some(window) = self.controller.acked(now, path, forward, rtt) {
            self.windows[path] = window;
        }
        self.release_below(now, Psn::new(ack.cumulative));
        let sent_ns = clock_ns(ack.sent);
        if (sent_ns.wrapping_sub(self.latest_ns[path]) as i32) > 0 {
            self.latest_ns[path] = sent_ns;
        }
        let arrived_ns = clock_ns(ack.arrived);
        let w = self.witness.get_or_insert(Witness {
            highest: psn,
            arrived_ns,
        });
        if w.highest.is_before(psn) {
            w.highest = psn;
        }
        w.arrived_ns = arrived_ns;
        if w.highest.distance_from(self.acknowledged.expected())
            > i32::from(self.recovery.threshold)
        {
            self.find_lost(now, false);
        }
        true
    }
}

impl<C: Controller> Sender for Multipath<C> {
    fn start(&mut self, now: Ps) -> Ps {
        self.paced_ns = now / NS;
        self.latest_ns = [clock_ns(now); MAX_PATHS];
        self.next_tick = now + self.controller.interval();
        self.next_tick
    }

    #[inline]
    fn poll(&mut self, now: Ps) -> Poll {
        if self.paced {
            let ns = now / NS;
            self.pacer.advance((ns - self.paced_ns) as u32);
            self.paced_ns = ns;
        }
        let bound = self.bound();
        let lost = self.next_lost();
        if lost.is_none() && !self.deficits.posted.is_before(bound) {
            return Poll::Blocked;
        }
        if self.paced && !self.pacer.is_due() {
            // An opportunity without an open path sends a probe, however slow the pace.
            if !(self.probing && (0..self.paths).all(|p| !self.is_open(p))) {
                let wait = self.pacer.wait_ns();
                return wait.map_or(Poll::Blocked, |ns| {
                    Poll::WaitUntil(now + Ps::from(ns.max(1)) * NS)
                });
            }
        } else if let Some(psn) = lost {
            if let Some(path) = self.select(None) {
                self.lost.pop_front();
                return self.transmit(now, psn, path);
            }
        } else if let Some(path) = self.select(Some(bound)) {
            if let Some(psn) = self.picker.pick(self.skips[path].into(), bound) {
                return self.transmit(now, psn, path);
            }
        }
        if !self.probing {
            return Poll::Blocked;
        }
        self.probe_path = (self.probe_path + 1) % self.paths as u8;
        self.counters.probes += 1;
        Poll::Send(Outgoing {
            kind: Kind::Probe,
            psn: 0,
            path: self.probe_path,
            retransmission: false,
            bytes: self.wire_bytes,
        })
    }

    #[inline]
    fn on_ack(&mut self, now: Ps, ack: &Ack) -> bool {
        match ack.kind {
            Kind::ProbeAck => {
                let path = usize::from(ack.path);
                let grant = self.controller.probe_acked(path);
                if grant {
                    self.windows[path] = self.windows[path].saturating_add(WINDOW_ONE);
                    self.pacer.grant();
                }
                grant
            }
            Kind::Nak => {
                let psn = Psn::new(ack.psn);
                let t = self.transmissions[self.slot(ack.psn)];
                let known = !psn.is_before(self.acknowledged.expected());
                if known && t.in_flight && t.path == ack.path {
                    self.declare_lost(now, psn);
                }
                true
            }
            _ => self.on_data_ack(now, ack),
        }
    }

    fn on_timer(&mut self, now: Ps) -> Ps {
        if let Some((at, decision)) = self.pending {
            if now >= at {
                self.pending = None;
                self.apply(&decision);
            }
        }
        if now >= self.next_tick {
            self.next_tick += self.controller.interval();
            let decision = self.controller.update(now);
            let latency = self.controller.latency();
            if latency == 0 {
                self.apply(&decision);
            } else {
                self.pending = Some((now + latency, decision));
            }
            self.find_lost(now, true);
        }
        let apply = self.pending.map_or(NEVER, |(at, _)| at);
        self.next_tick.min(apply)
    }

    fn is_done(&self) -> bool {
        self.complete == self.packets
    }

    fn counters(&self) -> SenderCounters {
        self.counters
    }

    fn skips(&self) -> &[u16] {
        &self.skips[..self.paths]
    }

    fn stop(&mut self) -> u64 {
        // What was sent, and the PSNs that were passed over below it.
        let una = self.acknowledged.expected();
        let highest = (0..self.psns)
            .rev()
            .find(|&i| self.transmissions[self.slot(una.plus(i).value())].count > 0);
        let beyond = highest.map_or(0, |i| u64::from(i) + 1);
        let acknowledged = self
            .witness
            .map_or(0, |w| w.highest.plus(1).distance_from(una).max(0) as u64);
        let end = self.complete + beyond.max(acknowledged);
        self.packets = self.packets.min(end.max(1));
        self.last_bytes = self.wire_bytes;
        self.packets
    }
}
