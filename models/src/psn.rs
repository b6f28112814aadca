//! Packet sequence numbers: 24 bits, compared as serial numbers.

/// A 24-bit packet sequence number. Order and distance wrap: `a` is before `b` when `b` is less
/// than 2^23 ahead of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Psn(u32);

impl Psn {
    /// Number of PSNs.
    pub const COUNT: u32 = 1 << 24;

    /// The PSN congruent to `value`.
    #[inline]
    pub const fn new(value: u32) -> Self {
        Self(value & (Self::COUNT - 1))
    }

    /// The number, below 2^24.
    #[inline]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// `n` PSNs further.
    #[inline]
    pub const fn plus(self, n: u32) -> Self {
        Self::new(self.0.wrapping_add(n))
    }

    /// `n` PSNs back.
    #[inline]
    pub const fn minus(self, n: u32) -> Self {
        Self::new(self.0.wrapping_sub(n))
    }

    /// Signed distance from `origin`, in -2^23 .. 2^23.
    #[inline]
    pub const fn distance_from(self, origin: Psn) -> i32 {
        ((self.0.wrapping_sub(origin.0) << 8) as i32) >> 8
    }

    /// Whether `self` comes strictly before `other`.
    #[inline]
    pub const fn is_before(self, other: Psn) -> bool {
        other.distance_from(self) > 0
    }
}
