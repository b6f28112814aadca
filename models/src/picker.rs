//! The (skip + 1)-th smallest unsent PSN (paper §4.3), bit-exact.
//!
//! The window is circular: groups of 64 PSNs, the base group first. The base is the first group
//! that is not completely sent, so it holds the smallest unsent PSN, and the window reaches from
//! the base group's first PSN on. With fewer unsent PSNs than `skip + 1` the largest is picked:
//! the tail of a message must not stall.

use crate::psn::Psn;

/// PSNs of a group.
pub const GROUP_PSNS: u32 = 64;
/// Largest window, in groups: 2,048 PSNs. The RTL's menu ends at 8 groups; the rest is for
/// simulations whose packets are small for the bandwidth-delay product.
pub const MAX_GROUPS: usize = 32;

/// Which PSNs of a flow were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentWindow {
    groups: u32,
    /// Number of the base group: a PSN without its low 6 bits, 18 bits.
    base: u32,
    /// Sent bits of each slot; slot `s` holds the group congruent to `s`.
    sent: [u64; MAX_GROUPS],
}

/// Index of the `k`-th (from 0) set bit of `word`, which has more than `k`.
#[inline]
pub(crate) fn nth_set_bit(mut word: u64, k: u32) -> u32 {
    for _ in 0..k {
        word &= word - 1;
    }
    word.trailing_zeros()
}

/// The lowest `n` bits set, `n` up to 64.
#[inline]
pub(crate) fn low_bits(n: u32) -> u64 {
    if n >= 64 {
        u64::MAX
    } else {
        (1 << n) - 1
    }
}

impl SentWindow {
    /// A flow whose first PSN is `first`, with a window of `groups` groups, a power of two up to
    /// [`MAX_GROUPS`].
    pub fn new(groups: usize, first: Psn) -> Self {
        let base = first.value() / GROUP_PSNS;
        let mut sent = [0; MAX_GROUPS];
        sent[base as usize % groups] = low_bits(first.value() % GROUP_PSNS);
        Self {
            groups: groups as u32,
            base,
            sent,
        }
    }

    fn slot(&self, group: u32) -> usize {
        (group & (self.groups - 1)) as usize
    }

    /// First PSN of the window: PSNs before it are all sent.
    pub fn base(&self) -> Psn {
        Psn::new(self.base * GROUP_PSNS)
    }

    /// PSNs of the window that are below `bound`.
    #[inline]
    fn room(&self, bound: Psn) -> u32 {
        let over = bound.distance_from(self.base());
        over.clamp(0, (self.groups * GROUP_PSNS) as i32) as u32
    }

    /// Picks the (`skip` + 1)-th smallest unsent PSN below `bound` and marks it sent; the largest
    /// when there are fewer; `None` when there is none.
    #[inline]
    pub fn pick(&mut self, skip: u32, bound: Psn) -> Option<Psn> {
        let room = self.room(bound);
        let unsent = |w: &Self, i: u32| {
            let below = room.saturating_sub(i * GROUP_PSNS).min(GROUP_PSNS);
            !w.sent[w.slot(self_group(w, i))] & low_bits(below)
        };
        let mut left = skip;
        let mut last = None;
        for i in 0..self.groups {
            let bits = unsent(self, i);
            let n = bits.count_ones();
            if left < n {
                return Some(self.take(i, nth_set_bit(bits, left)));
            }
            left -= n;
            if n > 0 {
                last = Some((i, 63 - bits.leading_zeros()));
            }
        }
        last.map(|(i, bit)| self.take(i, bit))
    }

    fn take(&mut self, i: u32, bit: u32) -> Psn {
        let group = self_group(self, i);
        let slot = self.slot(group);
        self.sent[slot] |= 1 << bit;
        let psn = Psn::new(group * GROUP_PSNS + bit);
        while self.sent[self.slot(self.base)] == u64::MAX {
            let slot = self.slot(self.base);
            self.sent[slot] = 0;
            self.base = (self.base + 1) % (Psn::COUNT / GROUP_PSNS);
        }
        psn
    }
}

/// Number of the `i`-th group of the window.
#[inline]
fn self_group(w: &SentWindow, i: u32) -> u32 {
    (w.base + i) % (Psn::COUNT / GROUP_PSNS)
}
