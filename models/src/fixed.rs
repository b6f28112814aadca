//! Fixed-point helpers: packets in UQ16.16, reciprocals without division.

/// Packets with 16 fraction bits.
pub type Packets = u32;

/// One packet.
pub const ONE_PACKET: Packets = 1 << 16;

/// A reciprocal: `1 / x` is about `mantissa * 2^-shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reciprocal {
    /// Between 2^15 and 2^31.
    pub mantissa: u32,
    /// Right shift that goes with it.
    pub shift: u32,
}

/// Reciprocal of `x` (not 0), relative error below 2^-14: table of 256 and one Newton step, as a
/// core without a divider computes it.
#[inline]
pub fn reciprocal(x: u32) -> Reciprocal {
    let lead = x.leading_zeros();
    // d is x in [1, 2) with 31 fraction bits.
    let d = u64::from(x << lead);
    // Table: 2^15 / d, so y has 30 fraction bits and lies in (1/2, 1].
    let guess = u64::from(crate::deficit::RECIPROCALS[(d >> 23 & 0xff) as usize]) << 15;
    // Newton: y (2 - d y).
    let product = (d * guess) >> 31;
    let mantissa = (guess * ((2 << 30) - product)) >> 30;
    Reciprocal {
        mantissa: mantissa as u32,
        // x = d 2^-lead with 31 fraction bits: 1/x = mantissa 2^-30 2^(lead - 31).
        shift: 61 - lead,
    }
}

impl Reciprocal {
    /// `a / x`, for `a <= x`, with 16 fraction bits: at most 2^16.
    #[inline]
    pub fn times_wide(self, a: u32) -> u32 {
        let product = u64::from(a) * u64::from(self.mantissa);
        // 16 fraction bits more than the integer quotient: shift less.
        let quotient = if self.shift >= 16 {
            product >> (self.shift - 16)
        } else {
            product << (16 - self.shift)
        };
        quotient.min(1 << 16) as u32
    }
}
