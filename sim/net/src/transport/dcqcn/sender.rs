//! The sending side of RoCE: a rate, a repair, and paths in turn.

use super::repair::Repair;
use super::WINDOW;
use crate::packet::Kind;
use crate::time::{Ps, NS, US};
use crate::transport::multipath::FlowSetup;
use crate::transport::{Ack, Outgoing, Poll, Sender, SenderCounters};
use rondo_models::baseline::dcqcn::Dcqcn;
use rondo_models::psn::Psn;

/// Sends a flow.
pub struct RoceSender<R> {
    /// `None` for line rate.
    rate: Option<Dcqcn>,
    line_gbps: f64,
    repair: R,
    /// Packets acknowledged in order.
    complete: u64,
    /// Packets sent at least once.
    posted: u64,
    packets: u64,
    wire_bytes: u16,
    last_bytes: u16,
    paths: u8,
    turn: u8,
    /// The latest packet sent: when, and its bytes.
    latest: (Ps, u16),
    /// The NIC was told that there is nothing before an ACK.
    blocked: bool,
    /// When outstanding packets were sent first, ns; wraps.
    first_sent: Box<[u32]>,
    look: Ps,
    counters: SenderCounters,
}

impl<R: Repair> RoceSender<R> {
    /// A flow as `setup` says; `ring` entries hold its outstanding packets, a power of two, and the
    /// shortest timeout is `rto_ns`.
    pub fn new(
        setup: &FlowSetup,
        rate: Option<Dcqcn>,
        repair: R,
        ring: usize,
        rto_ns: u64,
    ) -> Self {
        Self {
            rate,
            line_gbps: setup.line_gbps,
            repair,
            complete: 0,
            posted: 0,
            packets: setup.packets,
            wire_bytes: setup.wire_bytes,
            last_bytes: setup.last_bytes,
            paths: setup.rtt_ns.len().clamp(1, 255) as u8,
            turn: 0,
            latest: (0, 0),
            blocked: false,
            first_sent: vec![0; ring].into(),
            // Timeouts get shorter as less is outstanding: a quarter is how late that may be seen.
            look: (rto_ns * NS / 4).max(US),
            counters: SenderCounters::default(),
        }
    }

    /// Something is unsent, or may have to be sent again.
    #[inline]
    fn has_more(&self) -> bool {
        self.posted < self.packets || self.repair.is_repairing()
    }

    /// When the rate allows the next packet.
    #[inline]
    fn due(&mut self, now: Ps) -> Ps {
        let Some(rate) = &mut self.rate else {
            return 0;
        };
        rate.advance(now / NS);
        let gbps = rate.rate_gbps();
        if gbps >= self.line_gbps {
            // The port itself is the pace.
            return 0;
        }
        let (at, bytes) = self.latest;
        at + (f64::from(bytes) * 8_000.0 / gbps) as Ps
    }

    #[inline]
    fn transmit(&mut self, now: Ps, psn: Psn, again: bool) -> Outgoing {
        let slot = psn.value() as usize & (self.first_sent.len() - 1);
        let sent_ns = (now / NS) as u32;
        self.counters.sent += 1;
        if again {
            let delay = sent_ns.wrapping_sub(self.first_sent[slot]);
            self.counters.retransmissions += 1;
            self.counters.retransmission_delay += u64::from(delay) * NS;
        } else {
            self.first_sent[slot] = sent_ns;
            self.posted += 1;
        }
        let ahead = psn.distance_from(self.repair.una()).max(0) as u64;
        let bytes = if self.complete + ahead + 1 == self.packets {
            self.last_bytes
        } else {
            self.wire_bytes
        };
        let path = self.turn;
        self.turn = (path + 1) % self.paths;
        self.latest = (now, bytes);
        Outgoing {
            kind: Kind::Data,
            psn: psn.value(),
            path,
            retransmission: again,
            bytes,
        }
    }
}

impl<R: Repair> Sender for RoceSender<R> {
    fn start(&mut self, now: Ps) -> Ps {
        now + self.look
    }

    #[inline]
    fn poll(&mut self, now: Ps) -> Poll {
        self.blocked = true;
        if !self.has_more() {
            return Poll::Blocked;
        }
        let due = self.due(now);
        if now < due {
            self.blocked = false;
            return Poll::WaitUntil(due);
        }
        let left = (self.packets - self.complete).min(u64::from(WINDOW));
        let limit = self.repair.una().plus(left as u32);
        let Some((psn, again)) = self.repair.next(limit, now / NS) else {
            return Poll::Blocked;
        };
        self.blocked = false;
        Poll::Send(self.transmit(now, psn, again))
    }

    #[inline]
    fn on_ack(&mut self, now: Ps, ack: &Ack) -> bool {
        if ack.kind == Kind::ProbeAck {
            return false;
        }
        if let Some(rate) = &mut self.rate {
            rate.on_ack(now / NS, ack.ce);
        }
        let before = self.repair.una();
        self.repair.heard(ack, now / NS);
        self.complete += self.repair.una().distance_from(before).max(0) as u64;
        // A flow that is not blocked is in the NIC's turn, or its pacer will wake it.
        self.is_done() || self.blocked && self.has_more()
    }

    fn on_timer(&mut self, now: Ps) -> Ps {
        self.repair.expire(now / NS);
        let look = now + self.look;
        let deadline = self.repair.deadline_ns();
        deadline.map_or(look, |ns| ns.saturating_mul(NS).clamp(now + NS, look))
    }

    fn is_done(&self) -> bool {
        self.complete == self.packets
    }

    fn counters(&self) -> SenderCounters {
        self.counters
    }

    fn stop(&mut self) -> u64 {
        let end = self.posted.max(1);
        if end < self.packets {
            self.packets = end;
            self.last_bytes = self.wire_bytes;
        }
        self.packets
    }
}
