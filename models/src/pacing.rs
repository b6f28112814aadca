//! Flow-level pacing (paper §4.2.1): `sum over p of W_p / T_p`, as a token bucket.
//!
//! A few packets of credit keep a slot that was missed for closed windows from being lost. So that
//! they do not leave in one burst, which the paths would reorder, a second bucket of one packet fills
//! at twice the pace: two packets are never closer than half of what the pace says.

use crate::fixed::Packets;

/// Most packets of credit.
pub const BURST: u32 = 4;
/// How late a packet may be found due, 1/256 of the time between two packets at the pace.
pub const LATENESS: u64 = 16;

/// A path's share of the pace: packets a 1,024 ns in UQ8.24, from a window and a precomputed
/// `2^32 / T_ns`.
#[inline]
pub fn pace(window: Packets, inverse_rtt: u32) -> u32 {
    // 16 + 32 fraction bits a ns; times 1,024 and down to 24.
    u32::try_from((u64::from(window) * u64::from(inverse_rtt)) >> 14).unwrap_or(u32::MAX)
}

/// The pacer of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacer {
    /// Credit in packets, 34 fraction bits.
    credit: u64,
    /// Packets a 1,024 ns, UQ8.24.
    rate: u32,
    /// Share of the spacing that has passed, 34 fraction bits; at most 1.
    spacing: u64,
    /// Packets that may go beside the pace.
    granted: u16,
}

impl Default for Pacer {
    fn default() -> Self {
        Self {
            credit: u64::from(BURST) << 34,
            rate: 0,
            spacing: 1 << 34,
            granted: 0,
        }
    }
}

impl Pacer {
    /// Sets the sum of the paths' paces.
    #[inline]
    pub fn set_rate(&mut self, rate: u32) {
        self.rate = rate;
    }

    /// Lets `ns` pass.
    #[inline]
    pub fn advance(&mut self, ns: u32) {
        // More than what fills both buckets is worth no more.
        let full = u64::from(BURST) << 34;
        let earned = (u64::from(self.rate) * u64::from(ns)).min(full);
        self.credit = (self.credit + earned).min(full);
        self.spacing = (self.spacing + 2 * earned).min(1 << 34);
    }

    /// A packet may be sent.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.granted > 0 || self.credit.min(self.spacing) >= 1 << 34
    }

    /// A packet is asked for.
    #[inline]
    pub fn spend(&mut self) {
        match self.granted.checked_sub(1) {
            Some(left) => self.granted = left,
            None => {
                self.credit = self.credit.saturating_sub(1 << 34);
                self.spacing = 0;
            }
        }
    }

    /// One packet may be sent beside the pace: a probe ACK (§4.2.2).
    #[inline]
    pub fn grant(&mut self) {
        self.granted = self.granted.saturating_add(1);
    }

    /// A packet that was asked for was not sent: no path was open.
    #[inline]
    pub fn refund(&mut self) {
        self.credit = (self.credit + (1 << 34)).min(u64::from(BURST) << 34);
        self.spacing = 1 << 34;
    }

    /// Nobody needs to look for `2^log2_ns` ns (at most 26): a packet that becomes due meanwhile is
    /// late by [`LATENESS`] at most. In steps of 1/256 packet, so that hardware compares few bits.
    #[inline]
    pub fn can_wait(&self, log2_ns: u32) -> bool {
        let earned = u64::from(self.rate >> (26 - log2_ns));
        (self.credit >> 26) + earned <= 256 + LATENESS
            || (self.spacing >> 26) + 2 * earned <= 256 + 2 * LATENESS
    }

    /// Time until a packet may be sent, ns; `None` at rate 0 without credit.
    #[inline]
    pub fn wait_ns(&self) -> Option<u32> {
        let missing = (1u64 << 34).saturating_sub(self.credit);
        let missing = missing.max(((1u64 << 34) - self.spacing).div_ceil(2));
        if missing == 0 || self.granted > 0 {
            return Some(0);
        }
        let rate = core::num::NonZeroU64::new(self.rate.into())?;
        let wait = missing / rate + u64::from(missing % rate != 0);
        Some(u32::try_from(wait).unwrap_or(u32::MAX))
    }
}
