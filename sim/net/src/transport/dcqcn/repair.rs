//! Loss recovery of a RoCE sender: the model's selective repeat, and early recovery.

use super::WORDS;
use crate::packet::Kind;
use crate::transport::Ack;
use rondo_models::baseline::selective_repeat::{Parameters, Sender};
use rondo_models::psn::Psn;

/// Which packet is next, and which is sent again.
pub trait Repair: Send {
    /// Takes the packet to send now, of those before `limit`, and whether it was sent before.
    fn next(&mut self, limit: Psn, now_ns: u64) -> Option<(Psn, bool)>;
    /// An ACK or NAK.
    fn heard(&mut self, ack: &Ack, now_ns: u64);
    /// Time passes: the timeout may have expired.
    fn expire(&mut self, now_ns: u64);
    /// When the timeout expires, ns.
    fn deadline_ns(&self) -> Option<u64>;
    /// Oldest PSN not acknowledged.
    fn una(&self) -> Psn;
    /// Something may have to be sent again.
    fn is_repairing(&self) -> bool;
}

/// Whether a NAK says that its packet was not kept.
#[inline]
fn is_refusal(ack: &Ack) -> bool {
    ack.kind == Kind::Nak && ack.cumulative == ack.psn
}

impl Repair for Sender<WORDS> {
    #[inline]
    fn next(&mut self, limit: Psn, now_ns: u64) -> Option<(Psn, bool)> {
        self.next_psn(limit, now_ns)
    }

    #[inline]
    fn heard(&mut self, ack: &Ack, now_ns: u64) {
        let (cumulative, psn) = if is_refusal(ack) {
            (self.una(), self.una().minus(1))
        } else {
            (Psn::new(ack.cumulative), Psn::new(ack.psn))
        };
        self.on_ack(cumulative, psn, ack.kind == Kind::Nak, now_ns);
    }

    fn expire(&mut self, now_ns: u64) {
        self.on_timeout(now_ns);
    }

    fn deadline_ns(&self) -> Option<u64> {
        self.next_timeout_ns()
    }

    fn una(&self) -> Psn {
        Sender::una(self)
    }

    fn is_repairing(&self) -> bool {
        self.is_recovering()
    }
}

/// What a sender knows of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Not sent, or not outstanding any more.
    #[default]
    Idle,
    /// Sent.
    InFlight,
    /// To be sent again.
    Lost,
    /// Acknowledged, but not all before it.
    Acknowledged,
}

/// Early recovery: a packet is lost when the highest acknowledged one has passed it by more than a
/// threshold. It says so once; whoever loses the repair too waits for the timeout.
pub struct Early {
    p: Parameters,
    threshold: i32,
    una: Psn,
    /// One past the highest PSN sent.
    end: Psn,
    /// One past the highest PSN acknowledged.
    heard: Psn,
    /// Everything before was compared with the threshold.
    judged: Psn,
    /// No lost packet is before this.
    lowest_lost: Psn,
    lost: u32,
    in_flight: u32,
    /// The timeout counts from here, ns.
    since: u64,
    states: Box<[State]>,
}

impl Early {
    /// Starts with `first`, never more than `ring` packets outstanding, a power of two.
    pub fn new(first: Psn, ring: usize, p: &Parameters, threshold: u32) -> Self {
        Self {
            p: *p,
            threshold: threshold.min(i32::MAX as u32) as i32,
            una: first,
            end: first,
            heard: first,
            judged: first,
            lowest_lost: first,
            lost: 0,
            in_flight: 0,
            since: 0,
            states: vec![State::Idle; ring].into(),
        }
    }

    #[inline]
    fn state(&mut self, psn: Psn) -> &mut State {
        let slot = psn.value() as usize & (self.states.len() - 1);
        &mut self.states[slot]
    }

    /// `psn` is acknowledged.
    #[inline]
    fn settle(&mut self, psn: Psn) {
        match std::mem::replace(self.state(psn), State::Acknowledged) {
            State::InFlight => self.in_flight -= 1,
            State::Lost => self.lost -= 1,
            State::Idle | State::Acknowledged => {}
        }
    }

    #[inline]
    fn lose(&mut self, psn: Psn) {
        if *self.state(psn) == State::InFlight {
            *self.state(psn) = State::Lost;
            self.in_flight -= 1;
            self.lost += 1;
            if psn.is_before(self.lowest_lost) {
                self.lowest_lost = psn;
            }
        }
    }

    fn first_lost(&mut self) -> Psn {
        if self.lowest_lost.is_before(self.una) {
            self.lowest_lost = self.una;
        }
        while *self.state(self.lowest_lost) != State::Lost && self.lowest_lost.is_before(self.end) {
            self.lowest_lost = self.lowest_lost.plus(1);
        }
        self.lowest_lost
    }

    /// Everything before `cumulative` is delivered, and `psn`.
    fn acknowledge(&mut self, cumulative: Psn, psn: Psn, now_ns: u64) {
        let before = self.una;
        while self.una.is_before(cumulative) {
            self.settle(self.una);
            *self.state(self.una) = State::Idle;
            self.una = self.una.plus(1);
        }
        if !psn.is_before(self.una) {
            self.settle(psn);
        }
        while self.una.is_before(self.end) && *self.state(self.una) == State::Acknowledged {
            *self.state(self.una) = State::Idle;
            self.una = self.una.plus(1);
        }
        if self.una != before {
            self.since = now_ns;
        }
        for top in [psn.plus(1), self.una] {
            if self.heard.is_before(top) {
                self.heard = top;
            }
        }
    }

    /// Compares what the highest acknowledged packet has passed with the threshold.
    #[inline]
    fn judge(&mut self) {
        if self.judged.is_before(self.una) {
            self.judged = self.una;
        }
        while self.heard.distance_from(self.judged) - 1 > self.threshold {
            self.lose(self.judged);
            self.judged = self.judged.plus(1);
        }
    }
}

impl Repair for Early {
    #[inline]
    fn next(&mut self, limit: Psn, now_ns: u64) -> Option<(Psn, bool)> {
        if self.p.in_flight_cap.is_some_and(|c| self.in_flight >= c) {
            return None;
        }
        let again = self.lost > 0;
        let psn = if again { self.first_lost() } else { self.end };
        if again {
            self.lost -= 1;
        } else if psn.is_before(limit) {
            self.end = psn.plus(1);
        } else {
            return None;
        }
        *self.state(psn) = State::InFlight;
        self.in_flight += 1;
        if psn == self.una {
            self.since = now_ns;
        }
        Some((psn, again))
    }

    #[inline]
    fn heard(&mut self, ack: &Ack, now_ns: u64) {
        let psn = Psn::new(ack.psn);
        let refused = is_refusal(ack);
        let known = psn.is_before(self.end);
        if refused && known && !psn.is_before(self.una) {
            self.lose(psn);
        }
        let cumulative = Psn::new(ack.cumulative);
        if !refused && known && !self.end.is_before(cumulative) {
            self.acknowledge(cumulative, psn, now_ns);
            self.judge();
        }
    }

    fn expire(&mut self, now_ns: u64) {
        if self.deadline_ns().is_none_or(|at| at > now_ns) {
            return;
        }
        let mut psn = self.una;
        while psn.is_before(self.end) {
            self.lose(psn);
            psn = psn.plus(1);
        }
        self.judged = self.end;
        self.since = now_ns;
    }

    fn deadline_ns(&self) -> Option<u64> {
        if self.una == self.end {
            return None;
        }
        let few = self.in_flight + self.lost <= self.p.rto_low_packets;
        let timeout = if few {
            self.p.rto_low_ns
        } else {
            self.p.rto_high_ns
        };
        Some(self.since.saturating_add(timeout))
    }

    fn una(&self) -> Psn {
        self.una
    }

    fn is_repairing(&self) -> bool {
        self.lost > 0
    }
}
