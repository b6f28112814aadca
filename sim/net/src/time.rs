//! Simulated time: integer picoseconds.

/// Picoseconds since the start of the run.
pub type Ps = u64;

/// A nanosecond.
pub const NS: Ps = 1_000;
/// A microsecond.
pub const US: Ps = 1_000_000;
/// A millisecond.
pub const MS: Ps = 1_000_000_000;

/// A time that never comes.
pub const NEVER: Ps = Ps::MAX;

/// Microseconds, for reports.
pub fn to_us(t: Ps) -> f64 {
    t as f64 / US as f64
}

/// Time of `us` microseconds, rounded to a picosecond; negative values are 0.
pub fn from_us(us: f64) -> Ps {
    (us * US as f64).round() as Ps
}
