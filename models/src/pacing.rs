//! Flow-level pacing (paper §4.2.1): `sum over p of W_p / T_p`, as a token bucket.
//!
//! A few packets of credit keep a slot that was missed for closed windows from being lost.

use crate::fixed::Packets;

/// Most packets of credit.
pub const BURST: u32 = 4;

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
}

impl Default for Pacer {
    fn default() -> Self {
        Self {
            credit: u64::from(BURST) << 34,
            rate: 0,
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
        self.credit =
            (self.credit + u64::from(self.rate) * u64::from(ns)).min(u64::from(BURST) << 34);
    }

    /// A packet may be sent.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.credit >= 1 << 34
    }

    /// A packet is asked for.
    #[inline]
    pub fn spend(&mut self) {
        self.credit = self.credit.saturating_sub(1 << 34);
    }

    /// A packet that was asked for was not sent: no path was open.
    #[inline]
    pub fn refund(&mut self) {
        self.credit = (self.credit + (1 << 34)).min(u64::from(BURST) << 34);
    }

    /// Time until a packet may be sent, ns; `None` at rate 0 without credit.
    #[inline]
    pub fn wait_ns(&self) -> Option<u32> {
        let missing = (1u64 << 34).saturating_sub(self.credit);
        if missing == 0 {
            return Some(0);
        }
        let rate = core::num::NonZeroU64::new(self.rate.into())?;
        let wait = missing / rate + u64::from(missing % rate != 0);
        Some(u32::try_from(wait).unwrap_or(u32::MAX))
    }
}
