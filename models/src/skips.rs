//! How many unsent PSNs a path passes over (paper §4.3, Eq. 7), bit-exact.
//!
//! `skip_p = floor( sum over p' of (W_p' / RTT_p') * max(D_p - D_p', 0) )`: what the faster paths
//! will deliver while a packet on path `p` is still on its way.

use crate::deficit::MAX_PATHS;
use crate::fixed::{reciprocal, Packets};

/// Largest skip.
pub const MAX_SKIP: u16 = 1023;
/// Samples that must agree before a delay is trusted.
pub const STABLE_SAMPLES: usize = 4;
/// A new sample counts 1/8 in the estimate.
pub const SMOOTHING: u32 = 3;

/// The skips to use: those of Eq. 7 once every path's delay estimate is stable, none before.
#[inline]
pub fn stable_skips(
    paths: &[PathDelay],
    estimates: &[DelayEstimate],
    tolerance_ns: u32,
    out: &mut [u16; MAX_PATHS],
) {
    if estimates.iter().all(|e| e.is_stable(tolerance_ns)) {
        skips(paths, out);
    } else {
        *out = [0; MAX_PATHS];
    }
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathDelay {
    /// Window, UQ16.16 packets.
    pub window: Packets,
    /// Round-trip time, ns; not 0.
    pub rtt_ns: u32,
    /// Forward delay, ns. Only differences count, so the clocks need not agree.
    pub forward_ns: u32,
}

/// Skips of all paths.
#[inline]
pub fn skips(paths: &[PathDelay], out: &mut [u16; MAX_PATHS]) {
    *out = [0; MAX_PATHS];
    let mut rates = [0u64; MAX_PATHS];
    for (r, p) in rates.iter_mut().zip(paths) {
        *r = packets_per_ns(p);
    }
    for (i, p) in paths.iter().enumerate() {
        let mut sum = 0u64;
        for (r, q) in rates.iter().zip(paths) {
            // Wrapping: the two clocks may have any offset.
            let later = p.forward_ns.wrapping_sub(q.forward_ns) as i32;
            if later > 0 {
                sum = sum.saturating_add(r.saturating_mul(later as u64));
            }
        }
        out[i] = u16::try_from(sum >> 40).unwrap_or(u16::MAX).min(MAX_SKIP);
    }
}

/// `W / RTT` in packets a nanosecond, 40 fraction bits.
#[inline]
fn packets_per_ns(p: &PathDelay) -> u64 {
    let inverse = reciprocal(p.rtt_ns.max(1));
    // window has 16 fraction bits; 24 more are wanted after division.
    let product = u64::from(p.window) * u64::from(inverse.mantissa);
    if inverse.shift >= 24 {
        product >> (inverse.shift - 24)
    } else {
        product << (24 - inverse.shift)
    }
}

/// The forward-delay estimate of a path, and the latest values it had.
///
/// Single samples jitter by whole packets of the bottleneck (3.3 us at 10 Gbps), so the estimate
/// is smoothed, and it is the estimate whose stability is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayEstimate {
    estimates: [u32; STABLE_SAMPLES],
    count: u8,
}

impl DelayEstimate {
    /// Takes a sample in ns.
    #[inline]
    pub fn push(&mut self, forward_ns: u32) {
        let last = self.estimates[0];
        let next = if self.count == 0 {
            forward_ns
        } else {
            let change = forward_ns.wrapping_sub(last) as i32;
            last.wrapping_add((change >> SMOOTHING) as u32)
        };
        self.estimates.rotate_right(1);
        self.estimates[0] = next;
        self.count = (self.count + 1).min(STABLE_SAMPLES as u8);
    }

    /// The estimate, ns.
    #[inline]
    pub fn forward_ns(&self) -> u32 {
        self.estimates[0]
    }

    /// The latest [`STABLE_SAMPLES`] estimates lie within `tolerance_ns` of their mean.
    #[inline]
    pub fn is_stable(&self, tolerance_ns: u32) -> bool {
        let base = self.estimates[0];
        let sum: i64 = self
            .estimates
            .iter()
            .map(|s| i64::from(s.wrapping_sub(base) as i32))
            .sum();
        let mean = base.wrapping_add((sum >> STABLE_SAMPLES.trailing_zeros()) as u32);
        usize::from(self.count) == STABLE_SAMPLES
            && self
                .estimates
                .iter()
                .all(|s| (s.wrapping_sub(mean) as i32).unsigned_abs() <= tolerance_ns)
    }
}
