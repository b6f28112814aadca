//! Which PSNs of a flow arrived, and how far it is complete (paper §4.1, §6.2.1), bit-exact.
//!
//! The same decision serves the receiver (arrivals) and the sender (acknowledgements). The window
//! begins with the group of 64 PSNs that holds the next expected PSN.

use crate::picker::{low_bits, GROUP_PSNS, MAX_GROUPS};
use crate::psn::Psn;

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// New, within the window, taken.
    Accepted,
    /// It had arrived before.
    Duplicate,
    /// It lies beyond the window.
    Beyond,
    /// New, but out of order while there is no room: dropped, a NAK is due.
    Full,
}

/// An arrival's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What became of it.
    pub verdict: Verdict,
    /// Next expected PSN afterwards.
    pub expected: Psn,
    /// How far the arrival moved it.
    pub advance: u16,
    /// Out-of-order degree: largest PSN received less next expected, 0 in order.
    pub ood: u16,
    /// Packets that arrived out of order and wait for an earlier one.
    pub waiting: u16,
    /// Which PSNs of the PSN's group of 64 have arrived: an ACK's selective map. All of a group
    /// that is complete, none of one beyond the window.
    pub arrived: u64,
}

/// Which PSNs of a flow arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalWindow {
    groups: u32,
    expected: Psn,
    largest: Psn,
    /// First PSN plus the number of arrivals.
    arrivals: Psn,
    arrived: [u64; MAX_GROUPS],
}

impl ArrivalWindow {
    /// A flow whose first PSN is `first`, with a window of `groups` groups, a power of two up to
    /// [`MAX_GROUPS`].
    pub fn new(groups: usize, first: Psn) -> Self {
        let mut arrived = [0; MAX_GROUPS];
        arrived[(first.value() / GROUP_PSNS) as usize % groups] =
            low_bits(first.value() % GROUP_PSNS);
        Self {
            groups: groups as u32,
            expected: first,
            largest: first.minus(1),
            arrivals: first,
            arrived,
        }
    }

    /// Next expected PSN.
    pub fn expected(&self) -> Psn {
        self.expected
    }

    /// First PSN of the window whose next expected PSN is `expected`: that PSN's group begins it.
    #[inline]
    pub fn window_start(expected: Psn) -> Psn {
        Psn::new(expected.value() & !(GROUP_PSNS - 1))
    }

    fn slot(&self, psn: Psn) -> usize {
        ((psn.value() / GROUP_PSNS) & (self.groups - 1)) as usize
    }

    /// Takes an arrival. With `room` false only the next expected PSN is accepted.
    #[inline]
    pub fn arrive(&mut self, psn: Psn, room: bool) -> Outcome {
        let old = self.expected;
        let base = Self::window_start(old);
        let place = psn.distance_from(base);
        let (slot, bit) = (self.slot(psn), 1u64 << (psn.value() % GROUP_PSNS));
        let (verdict, arrived) = if place < 0 {
            (Verdict::Duplicate, u64::MAX)
        } else if place >= (self.groups * GROUP_PSNS) as i32 {
            (Verdict::Beyond, 0)
        } else if self.arrived[slot] & bit != 0 {
            (Verdict::Duplicate, self.arrived[slot])
        } else if !room && psn != old {
            (Verdict::Full, self.arrived[slot])
        } else {
            self.arrived[slot] |= bit;
            let arrived = self.arrived[slot];
            self.arrivals = self.arrivals.plus(1);
            if self.largest.is_before(psn) {
                self.largest = psn;
            }
            self.advance(base);
            (Verdict::Accepted, arrived)
        };
        Outcome {
            verdict,
            expected: self.expected,
            advance: self.expected.distance_from(old) as u16,
            ood: self.largest.distance_from(self.expected).max(0) as u16,
            waiting: self.arrivals.distance_from(self.expected) as u16,
            arrived,
        }
    }

    /// Moves the next expected PSN to the first that is missing, from the group at `base` on.
    fn advance(&mut self, mut base: Psn) {
        loop {
            let slot = self.slot(base);
            if self.arrived[slot] != u64::MAX {
                self.expected = base.plus((!self.arrived[slot]).trailing_zeros());
                return;
            }
            // The slot's next group is a window further on: nothing of it can have arrived.
            self.arrived[slot] = 0;
            base = base.plus(GROUP_PSNS);
        }
    }
}

/// First PSN that a flow may not send: what is not posted (`limit`), or the end of the window that
/// begins with the group of the lowest unacknowledged PSN `una`.
///
/// The receiver's next expected PSN is never behind `una`, so its window never ends before this
/// one and it has to refuse nothing that is sent.
#[inline]
pub fn sending_bound(limit: Psn, una: Psn, window: u32) -> Psn {
    let start = ArrivalWindow::window_start(una);
    let span = Psn::new(limit.value().wrapping_sub(start.value())).value();
    start.plus(span.min(window))
}
