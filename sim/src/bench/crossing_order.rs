//! Accesses through the crossing, in order: what was asked is served once, and its answer comes back.
//!
//! A reset leaves a doubt, which is settled by what comes. After a reset of the side that asks, the
//! access at the door may be served or not; its answer goes nowhere. After a reset of the side that
//! serves, what was not answered is served again; what was answered may be.

use std::collections::VecDeque;
use std::fmt::Debug;

/// Accesses of one kind.
#[derive(Debug)]
pub(super) struct Order<Q, R> {
    kind: &'static str,
    /// Asked and not served, next first.
    asked: VecDeque<Q>,
    /// Of before a reset: may still be served.
    orphans: VecDeque<Q>,
    /// At the server; whether its answer goes back.
    serving: Option<(Q, bool)>,
    /// Served, and not answered to the side that asks.
    served: VecDeque<(Q, R)>,
    /// Served before a reset, and may be served again.
    repeat: Option<Q>,
    /// The answer is offered and not taken.
    offered: Option<R>,
    met: [u64; 4],
    violation: Option<String>,
}

/// What resets lead to; a long run has to meet each.
const MET: [&str; 4] = [
    "served though the asker was reset",
    "answer dropped, the asker was reset",
    "begun again, the server was reset",
    "served twice, the server was reset",
];

impl<Q: Copy + PartialEq + Debug, R: Copy + PartialEq + Debug> Order<Q, R> {
    pub(super) fn new(kind: &'static str) -> Self {
        Self {
            kind,
            asked: VecDeque::new(),
            orphans: VecDeque::new(),
            serving: None,
            served: VecDeque::new(),
            repeat: None,
            offered: None,
            met: [0; 4],
            violation: None,
        }
    }

    /// What has not happened yet.
    pub(super) fn never_met(&self) -> Option<String> {
        let i = self.met.iter().position(|n| *n == 0)?;
        Some(format!("{} never met: {}", self.kind, MET[i]))
    }

    fn fail(&mut self, what: String) {
        let kind = self.kind;
        self.violation.get_or_insert(format!("{kind} {what}"));
    }

    pub(super) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Something is asked and not answered.
    pub(super) fn is_busy(&self) -> bool {
        !self.asked.is_empty() || self.serving.is_some() || !self.served.is_empty()
    }

    /// An access was taken.
    pub(super) fn asked(&mut self, q: Q) {
        self.asked.push_back(q);
    }

    /// The side that asks was reset.
    pub(super) fn asker_reset(&mut self) {
        // One is at the door at most; those behind it go with the reset.
        self.orphans.extend(self.asked.front());
        self.orphans.extend(self.repeat.take());
        self.asked.clear();
        self.served.clear();
        self.offered = None;
        if let Some((_, wanted)) = &mut self.serving {
            self.met[1] += u64::from(std::mem::take(wanted));
        }
    }

    /// The side that serves was reset.
    pub(super) fn server_reset(&mut self) {
        match self.serving.take() {
            Some((q, true)) => {
                self.met[2] += 1;
                self.asked.push_front(q);
            }
            Some((q, false)) => self.orphans.push_back(q),
            None => {}
        }
        if self.offered.is_none() {
            self.repeat = self.served.front().map(|s| s.0);
        }
    }

    /// An access reaches the server.
    pub(super) fn arrived(&mut self, q: Q) {
        if self.serving.is_some() {
            return self.fail(format!("{q:x?} while another is served"));
        }
        if self.repeat.take() == Some(q) {
            self.met[3] += 1;
            self.served.pop_front();
            self.serving = Some((q, true));
        } else if let Some(i) = self.orphans.iter().position(|o| *o == q) {
            self.met[0] += 1;
            self.orphans.drain(..=i);
            self.serving = Some((q, false));
        } else if self.asked.front() == Some(&q) {
            self.asked.pop_front();
            self.serving = Some((q, true));
        } else {
            let due = self.asked.front().copied();
            self.fail(format!("arrives as {q:x?}, due is {due:x?}"));
        }
    }

    /// The server has answered.
    pub(super) fn served(&mut self, r: R) {
        match self.serving.take() {
            Some((q, true)) => self.served.push_back((q, r)),
            Some((_, false)) => {}
            None => self.fail(format!("answered {r:x?} without having arrived")),
        }
    }

    /// What the side that asks sees of the answer, in one clock.
    pub(super) fn answer_seen(&mut self, answer: Option<R>, ready: bool) {
        if let Some(held) = self.offered.take().filter(|h| Some(*h) != answer) {
            self.fail(format!("answer {held:x?} was withdrawn for {answer:x?}"));
        }
        let Some(r) = answer else { return };
        // It cannot be served again: the request is gone.
        self.repeat = None;
        let due = self.served.front().map(|s| s.1);
        if due != Some(r) {
            self.fail(format!("is answered {r:x?}, due is {due:x?}"));
        }
        if ready {
            self.served.pop_front();
        } else {
            self.offered = Some(r);
        }
    }
}
