//! Deficit-based path selection (paper §4.2.3), bit-exact.
//!
//! ```text
//! O_p = max(0, W_p - infl_p);  Z_p += O_p / sum(O);  p* = argmax Z_p;  Z_p* -= sum of the shares
//! ```
//!
//! The paper takes 1 from the winner. The shares here come from a rounded reciprocal and add up
//! to almost 1, so the winner pays exactly what was handed out: the deficits' sum stays constant
//! and no rounding error can accumulate.
//!
//! Formats: windows and rooms UQ10.6 packets; shares UQ4.16; deficits biased, UQ4.16 with zero at
//! [`DEFICIT_ZERO`].

use crate::psn::Psn;

/// Most paths a flow may have.
pub const MAX_PATHS: usize = 16;
/// Fraction bits of windows and rooms.
pub const WINDOW_FRACTION_BITS: u32 = 6;
/// One packet of window.
pub const WINDOW_ONE: u16 = 1 << WINDOW_FRACTION_BITS;
/// Window of every path of a fresh flow: `W0`, one packet.
pub const INITIAL_WINDOW: u16 = WINDOW_ONE;
/// Deficit of zero.
pub const DEFICIT_ZERO: u32 = 1 << 19;
/// Largest deficit; deficits saturate.
pub const DEFICIT_MAX: u32 = (1 << 20) - 1;

/// `RECIPROCALS[i]` is `2^15 / (1 + (i + 1/2) / 256)`, rounded: the reciprocal of a sum whose
/// leading one is followed by the eight bits `i`.
pub const RECIPROCALS: [u16; 256] = {
    let mut table = [0u16; 256];
    let mut i = 0;
    while i < 256 {
        let divisor = 2 * (256 + i as u32) + 1;
        table[i] = (((1u32 << 24) + divisor / 2) / divisor) as u16;
        i += 1;
    }
    table
};

/// Room of a path in UQ10.6 packets: its window less what is in flight, never below zero.
/// `sent` and `acked` count packets and wrap.
#[inline]
pub fn room(window: u16, sent: u16, acked: u16) -> u16 {
    let in_flight = sent.wrapping_sub(acked);
    if in_flight >= 1 << 10 {
        return 0;
    }
    window.saturating_sub(in_flight << WINDOW_FRACTION_BITS)
}

/// Every path's share of the rooms' sum, UQ4.16. All zero when no path has room.
#[inline]
pub fn shares(rooms: &[u16], shares: &mut [u32; MAX_PATHS]) {
    let sum: u32 = rooms.iter().map(|&r| u32::from(r)).sum();
    *shares = [0; MAX_PATHS];
    if sum == 0 {
        return;
    }
    // Leading one to bit 19; sixteen paths of 16 bits sum to 20 bits.
    let shift = sum.leading_zeros() - 12;
    let reciprocal = u32::from(RECIPROCALS[((sum << shift) >> 11 & 0xff) as usize]);
    for (share, &room) in shares.iter_mut().zip(rooms) {
        let normalised = (u32::from(room) << shift) >> 4;
        *share = (normalised * reciprocal) >> 14;
    }
}

/// What transmit owns of a flow: sent counters, deficits, and how far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deficits {
    /// Packets sent a path, wrapping.
    pub sent: [u16; MAX_PATHS],
    /// Deficits, biased by [`DEFICIT_ZERO`].
    pub deficit: [u32; MAX_PATHS],
    /// First PSN plus the number of packets sent.
    pub posted: Psn,
}

impl Deficits {
    /// A fresh flow whose first packet has the PSN `first`. The packet counters start at the PSN's
    /// low bits: only their differences from the ACK counters, which start there too, matter.
    pub fn new(first: Psn) -> Self {
        Self {
            sent: [first.value() as u16; MAX_PATHS],
            deficit: [DEFICIT_ZERO; MAX_PATHS],
            posted: first,
        }
    }

    /// Chooses the path of the flow's next packet and counts the packet; `None` when the flow has
    /// no unsent PSN below `limit` or every path is closed.
    ///
    /// `rooms` and `shares` may stem from counters a few clocks old; `open` gets the sent counter of
    /// now and must not count more acknowledged than there are.
    #[inline]
    pub fn decide(
        &mut self,
        rooms: &[u16],
        shares: &[u32; MAX_PATHS],
        open: impl Fn(usize, u16) -> bool,
        limit: Psn,
    ) -> Option<usize> {
        if !self.posted.is_before(limit) {
            return None;
        }
        let winner = self.choose(rooms, shares, open)?;
        self.posted = self.posted.plus(1);
        Some(winner)
    }

    /// [`Deficits::decide`] for a packet that is no new PSN of the flow: a retransmission.
    #[inline]
    pub fn choose(
        &mut self,
        rooms: &[u16],
        shares: &[u32; MAX_PATHS],
        open: impl Fn(usize, u16) -> bool,
    ) -> Option<usize> {
        let mut raised = [0u32; MAX_PATHS];
        let mut best: Option<usize> = None;
        for (p, &room) in rooms.iter().enumerate() {
            raised[p] = (self.deficit[p] + shares[p]).min(DEFICIT_MAX);
            if room != 0
                && open(p, self.sent[p])
                && best.is_none_or(|b: usize| raised[p] > raised[b])
            {
                best = Some(p);
            }
        }
        let winner = best?;
        let handed_out: u32 = shares[..rooms.len()].iter().sum();
        for (p, &room) in rooms.iter().enumerate() {
            if room != 0 {
                self.deficit[p] = raised[p];
            }
        }
        self.deficit[winner] = raised[winner].saturating_sub(handed_out);
        self.sent[winner] = self.sent[winner].wrapping_add(1);
        Some(winner)
    }

    /// [`Deficits::decide`] on present counters: the selection without any pipeline.
    #[inline]
    pub fn select(&mut self, windows: &[u16], acked: &[u16], limit: Psn) -> Option<usize> {
        if !self.posted.is_before(limit) {
            return None;
        }
        let winner = self.reselect(windows, acked)?;
        self.posted = self.posted.plus(1);
        Some(winner)
    }

    /// [`Deficits::choose`] on present counters.
    #[inline]
    pub fn reselect(&mut self, windows: &[u16], acked: &[u16]) -> Option<usize> {
        let mut rooms = [0u16; MAX_PATHS];
        for (p, r) in rooms[..windows.len()].iter_mut().enumerate() {
            *r = room(windows[p], self.sent[p], acked[p]);
        }
        let mut share = [0; MAX_PATHS];
        shares(&rooms[..windows.len()], &mut share);
        self.choose(&rooms[..windows.len()], &share, |p, sent| {
            room(windows[p], sent, acked[p]) != 0
        })
    }
}
