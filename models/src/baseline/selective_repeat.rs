//! Selective repeat of a RoCE NIC: the receiver keeps out-of-order packets and answers each arrival,
//! the sender resends what is missing once in each recovery.
//!
//! Sender and receiver hold windows of `64 * WORDS` PSNs. With the receiver's at least as large as
//! the sender's, no packet is beyond it.

use super::Ring;
use crate::psn::Psn;

/// When a receiver answers with a NAK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NakPolicy {
    /// To every out-of-order packet.
    Every,
    /// Once for each expected PSN, and again only after so many ns.
    Suppressed(u64),
}

/// What the answer says of the packet that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// New and kept.
    Ack,
    /// New and kept out of order, and a retransmission is asked for.
    Nak,
    /// Here already; dropped.
    Duplicate,
    /// No place for it; dropped, and a retransmission is asked for. The answer must not
    /// acknowledge the packet itself.
    Beyond,
}

/// Answer to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Next expected PSN after the arrival: everything before is delivered.
    pub expected: Psn,
    /// Packets between the last one delivered in order and the highest one received, that one
    /// included; 0 in order.
    pub ood: u32,
    /// Packets held out of order.
    pub waiting: u32,
    /// About the packet.
    pub kind: Kind,
}

impl Reply {
    /// Whether it is a NAK for the sender.
    pub const fn is_nak(&self) -> bool {
        matches!(self.kind, Kind::Nak | Kind::Beyond)
    }

    /// The PSN to echo in the answer to `psn`: that one, or for a packet without a place one that
    /// is delivered already and so says nothing new.
    pub const fn echo(&self, psn: Psn) -> Psn {
        match self.kind {
            Kind::Beyond => self.expected.minus(1),
            _ => psn,
        }
    }
}

/// Receiving side of a flow.
#[derive(Clone, Debug)]
pub struct Receiver<const WORDS: usize> {
    expected: Psn,
    /// One past the highest PSN received.
    end: Psn,
    held: Ring<WORDS>,
    policy: NakPolicy,
    /// Expected PSN of the last NAK and its time, ns.
    last_nak: Option<(Psn, u64)>,
}

impl<const WORDS: usize> Receiver<WORDS> {
    /// Waits for `first`.
    pub const fn new(first: Psn, policy: NakPolicy) -> Self {
        Self {
            expected: first,
            end: first,
            held: Ring::new(),
            policy,
            last_nak: None,
        }
    }

    /// A packet arrives at `now_ns`.
    pub fn arrive(&mut self, psn: Psn, now_ns: u64) -> Reply {
        self.take(psn, true, now_ns)
    }

    /// A packet arrives while the NIC has no room for out-of-order packets: only the expected one
    /// is kept.
    pub fn arrive_without_room(&mut self, psn: Psn, now_ns: u64) -> Reply {
        self.take(psn, false, now_ns)
    }

    /// Next expected PSN.
    pub const fn expected(&self) -> Psn {
        self.expected
    }

    /// Packets held out of order.
    pub const fn waiting(&self) -> u32 {
        self.held.len
    }

    /// See [`Reply::ood`].
    pub const fn ood(&self) -> u32 {
        self.end.distance_from(self.expected) as u32
    }

    fn take(&mut self, psn: Psn, room: bool, now_ns: u64) -> Reply {
        let kind = match u32::try_from(psn.distance_from(self.expected)) {
            Err(_) => Kind::Duplicate,
            Ok(0) => {
                self.reach(psn);
                self.expected = self.expected.plus(1);
                self.held.shift();
                while self.held.contains(0) {
                    self.held.shift();
                    self.expected = self.expected.plus(1);
                }
                Kind::Ack
            }
            Ok(offset) if self.held.contains(offset) => Kind::Duplicate,
            Ok(offset) if room && self.held.insert(offset) => {
                self.reach(psn);
                self.answer(now_ns)
            }
            // Suppression is for gaps reported already; here the packet itself needs its NAK.
            Ok(_) => Kind::Beyond,
        };
        Reply {
            expected: self.expected,
            ood: self.ood(),
            waiting: self.waiting(),
            kind,
        }
    }

    fn reach(&mut self, psn: Psn) {
        if !psn.is_before(self.end) {
            self.end = psn.plus(1);
        }
    }

    /// How a packet kept out of order is answered now.
    fn answer(&mut self, now_ns: u64) -> Kind {
        if let NakPolicy::Suppressed(interval) = self.policy {
            let recent = self.last_nak.is_some_and(|(expected, at)| {
                expected == self.expected && now_ns.saturating_sub(at) < interval
            });
            if recent {
                return Kind::Ack;
            }
            self.last_nak = Some((self.expected, now_ns));
        }
        Kind::Nak
    }
}

/// Parameters of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Timeout with few packets outstanding, ns.
    pub rto_low_ns: u64,
    /// Timeout otherwise, ns.
    pub rto_high_ns: u64,
    /// "Few": at most so many packets.
    pub rto_low_packets: u32,
    /// Packets that may be in flight, usually one bandwidth-delay product.
    pub in_flight_cap: Option<u32>,
}

impl Default for Parameters {
    /// 100 us up to three packets, 320 us otherwise, no cap.
    fn default() -> Self {
        Self {
            rto_low_ns: 100_000,
            rto_high_ns: 320_000,
            rto_low_packets: 3,
            in_flight_cap: None,
        }
    }
}

/// Sending side of a flow.
#[derive(Clone, Debug)]
pub struct Sender<const WORDS: usize> {
    p: Parameters,
    /// Oldest PSN not acknowledged.
    una: Psn,
    /// Where sending goes on; behind `end` while packets are sent again.
    cursor: Psn,
    /// One past the highest PSN sent.
    end: Psn,
    /// From `una` on: acknowledged out of order.
    sacked: Ring<WORDS>,
    in_flight: u32,
    /// What was sent before this is being recovered.
    recovery: Option<Psn>,
    /// The timeout counts from here, ns.
    since: u64,
}

impl<const WORDS: usize> Sender<WORDS> {
    /// Starts with `first`.
    pub const fn new(first: Psn, p: &Parameters) -> Self {
        Self {
            p: *p,
            una: first,
            cursor: first,
            end: first,
            sacked: Ring::new(),
            in_flight: 0,
            recovery: None,
            since: 0,
        }
    }

    /// Takes the packet to send now, of those before `limit`, and whether it was sent before.
    /// `None` if all are sent, or the window or the cap is full.
    pub fn next_psn(&mut self, limit: Psn, now_ns: u64) -> Option<(Psn, bool)> {
        while self.cursor.is_before(self.end) && self.sacked.contains(self.offset(self.cursor)) {
            self.cursor = self.cursor.plus(1);
        }
        let psn = self.cursor;
        let again = psn.is_before(self.end);
        if !again && (!psn.is_before(limit) || self.offset(psn) >= Ring::<WORDS>::CAPACITY) {
            return None;
        }
        if self.p.in_flight_cap.is_some_and(|c| self.in_flight >= c) {
            return None;
        }
        // The oldest packet is what the timeout watches; sent again, it gets its full time again.
        if psn == self.una {
            self.since = now_ns;
        }
        self.in_flight += 1;
        self.cursor = psn.plus(1);
        if !again {
            self.end = self.cursor;
        }
        Some((psn, again))
    }

    /// An answer at `now_ns`: all before `cum` are delivered and so is `psn`, which says nothing
    /// more if it is before `cum`. The first `nak` outside a recovery begins one; a NAK overtaken by
    /// a newer answer does not, as the gap it reports is closed.
    pub fn on_ack(&mut self, cum: Psn, psn: Psn, nak: bool, now_ns: u64) {
        if self.end.is_before(cum) {
            return;
        }
        let stale = cum.is_before(self.una);
        let before = self.una;
        while self.una.is_before(cum) {
            self.leave();
        }
        if !psn.is_before(self.una) && psn.is_before(self.end) {
            let newly = self.sacked.insert(self.offset(psn));
            if newly && psn.is_before(self.cursor) {
                self.in_flight -= 1;
            }
        }
        // Answers out of order can acknowledge the oldest packet by itself. It would never be sent
        // again, so that nothing else need ever move the window past it.
        while self.sacked.contains(0) {
            self.leave();
        }
        if self.una != before {
            self.since = now_ns;
        }
        if self.recovery.is_some_and(|r| !self.una.is_before(r)) {
            self.recovery = None;
        }
        if nak && !stale && self.recovery.is_none() && self.una != self.end {
            self.rewind();
        }
    }

    /// At `now_ns`, sends everything missing again if the timeout has expired; whether it had. A
    /// recovery that goes on begins anew.
    pub fn on_timeout(&mut self, now_ns: u64) -> bool {
        let expired = self.next_timeout_ns().is_some_and(|t| t <= now_ns);
        if expired {
            self.rewind();
            self.since = now_ns;
        }
        expired
    }

    /// When the timeout expires, ns, unless an answer comes first.
    pub fn next_timeout_ns(&self) -> Option<u64> {
        if self.una == self.end {
            return None;
        }
        let outstanding = self.offset(self.end) - self.sacked.len;
        let rto = if outstanding <= self.p.rto_low_packets {
            self.p.rto_low_ns
        } else {
            self.p.rto_high_ns
        };
        Some(self.since.saturating_add(rto))
    }

    /// Packets sent since the last rewind and not acknowledged.
    pub const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether everything before `limit` is acknowledged.
    pub const fn is_done(&self, limit: Psn) -> bool {
        !self.una.is_before(limit)
    }

    /// Whether a recovery is going on.
    pub const fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    /// Oldest PSN not acknowledged.
    pub const fn una(&self) -> Psn {
        self.una
    }

    fn offset(&self, psn: Psn) -> u32 {
        psn.distance_from(self.una) as u32
    }

    /// Moves the window past its oldest packet.
    fn leave(&mut self) {
        let sacked = self.sacked.shift();
        if self.una == self.cursor {
            // Acknowledged before its turn to be sent again.
            self.cursor = self.cursor.plus(1);
        } else if !sacked {
            self.in_flight -= 1;
        }
        self.una = self.una.plus(1);
    }

    fn rewind(&mut self) {
        self.recovery = Some(self.end);
        self.cursor = self.una;
        self.in_flight = 0;
    }
}
