//! When a flow is asked for its next packet: what one event does to one flow of the scheduler.
//!
//! A flow with unsent packets is queued, once: in the ring, whose head is visited next, or in a wait
//! queue, in which every flow spends the same time. A visit asks for a packet if the flow's pacer has
//! one due. Otherwise the flow goes to the longest wait queue from which it comes back in time, so
//! that the ring holds only what is due soon and its turn is short, however many flows are slow.

use crate::pacing::Pacer;
use crate::round_robin::Turn;

/// Time that a flow spends in each wait queue, ns, log2.
pub const WAITS_LOG2_NS: [u32; 4] = [7, 9, 11, 13];
/// Wait queue of a flow whose latest request found no open path.
pub const RETRY: usize = 0;

/// Where a visited flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nowhere: it has nothing to send.
    Leave,
    /// To the ring's end.
    Ring,
    /// To the end of this wait queue.
    Wait(usize),
}

/// What a visit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// A packet of the flow is asked for.
    pub request: bool,
    /// Where the flow goes.
    pub next: Next,
}

/// What a refused request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The flow enters the ring.
    pub enters: bool,
    /// A probe is sent on this path.
    pub probe: Option<u8>,
}

/// State of a flow. After reset it is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowState {
    unsent: u16,
    pacer: Pacer,
    visited_ns: u32,
    turn: Turn,
    open: bool,
    queued: bool,
    refused: bool,
}

impl FlowState {
    /// The flow is opened: nothing to send, rate 0, all the credit. If it still is in a queue from
    /// before, it stays there.
    pub fn open(&mut self) {
        *self = Self {
            open: true,
            queued: self.queued,
            // The pacer is full: what it earns until the first visit does not count.
            visited_ns: self.visited_ns,
            ..Self::default()
        };
    }

    /// The flow is closed: what it has not sent is forgotten, and it leaves its queue at the next
    /// visit. Until it is opened again nothing else counts.
    pub fn close(&mut self) {
        self.open = false;
        self.unsent = 0;
    }

    /// One packet more is to be sent; whether the flow enters the ring.
    pub fn post(&mut self) -> bool {
        if !self.open {
            return false;
        }
        self.unsent = self.unsent.saturating_add(1);
        !core::mem::replace(&mut self.queued, true)
    }

    /// A request was refused: no path is open, or nothing may be sent. `room` says that a probe
    /// can be queued; a flow has `paths` paths.
    pub fn refuse(&mut self, probing: bool, room: bool, paths: usize) -> Refusal {
        if !self.open {
            return Refusal {
                enters: false,
                probe: None,
            };
        }
        self.pacer.refund();
        self.unsent = self.unsent.saturating_add(1);
        // A probing flow asks again at once: every refusal is worth a probe.
        self.refused = !probing;
        let probe = if probing && room {
            self.turn.take(paths, |_| true)
        } else {
            None
        };
        Refusal {
            enters: !core::mem::replace(&mut self.queued, true),
            probe: probe.map(|p| p as u8),
        }
    }

    /// One packet may be sent beside the pace: a probe came back, so a path is open.
    pub fn grant(&mut self) {
        if self.open {
            self.pacer.grant();
            self.refused = false;
        }
    }

    /// The flow is first in its queue at `now_ns`, its pace is `rate`.
    ///
    /// Time since the visit before is taken modulo 2^32 ns. A flow that was away for longer may get
    /// too little credit for it, 4 packets and one spacing at most, and never too much.
    pub fn visit(&mut self, now_ns: u32, rate: u32, probing: bool) -> Visit {
        self.pacer.set_rate(rate);
        self.pacer.advance(now_ns.wrapping_sub(self.visited_ns));
        self.visited_ns = now_ns;
        let refused = core::mem::take(&mut self.refused);
        let request = self.unsent > 0 && !refused && self.pacer.is_due();
        if request {
            self.pacer.spend();
            self.unsent -= 1;
        }
        self.queued = self.unsent > 0;
        let next = if !self.queued {
            Next::Leave
        } else if refused {
            Next::Wait(RETRY)
        } else if probing || self.pacer.is_due() {
            Next::Ring
        } else {
            (0..WAITS_LOG2_NS.len())
                .rev()
                .find(|&q| self.pacer.can_wait(WAITS_LOG2_NS[q]))
                .map_or(Next::Ring, Next::Wait)
        };
        Visit { request, next }
    }

    /// The flow is in the ring or in a wait queue.
    pub fn is_queued(&self) -> bool {
        self.queued
    }

    /// Packets to send.
    pub fn unsent(&self) -> u16 {
        self.unsent
    }
}
