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

/// The latest forward-delay samples of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelaySamples {
    samples: [u32; STABLE_SAMPLES],
    count: u8,
}

impl DelaySamples {
    /// Takes a sample in ns.
    #[inline]
    pub fn push(&mut self, forward_ns: u32) {
        self.samples.rotate_right(1);
        self.samples[0] = forward_ns;
        self.count = (self.count + 1).min(STABLE_SAMPLES as u8);
    }

    /// Mean of the samples; meaningful once there are [`STABLE_SAMPLES`].
    #[inline]
    pub fn mean_ns(&self) -> u32 {
        let base = self.samples[0];
        let sum: i64 = self
            .samples
            .iter()
            .map(|s| i64::from(s.wrapping_sub(base) as i32))
            .sum();
        base.wrapping_add((sum >> STABLE_SAMPLES.trailing_zeros()) as u32)
    }

    /// All samples lie within `tolerance_ns` of their mean.
    #[inline]
    pub fn is_stable(&self, tolerance_ns: u32) -> bool {
        let mean = self.mean_ns();
        usize::from(self.count) == STABLE_SAMPLES
            && self
                .samples
                .iter()
                .all(|s| (s.wrapping_sub(mean) as i32).unsigned_abs() <= tolerance_ns)
    }
}
