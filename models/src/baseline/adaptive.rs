//! Adaptive routing in a switch (RoCE AR): of equal output ports the least loaded.
//!
//! Vendors grade ports by queue occupancy; their boundaries are not public. Here a port's load is its
//! grade in four steps of the queue's limit, then its queue in steps of 1 KiB; ports of equal load are
//! chosen among by chance.

/// Bytes of a step within a grade.
const STEP_BYTES: u32 = 1024;

/// Load of a port with `queued` bytes of data in a queue of `limit` bytes; less is better, equal loads
/// are as good as each other.
#[inline]
pub fn load(queued: u32, limit: u32) -> (u8, u32) {
    let percent = u64::from(queued) * 100 / u64::from(limit.max(1));
    let grade = match percent {
        0..5 => 0,
        5..10 => 1,
        10..20 => 2,
        _ => 3,
    };
    (grade, queued / STEP_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_queue_is_never_better() {
        let mut last = (0, 0);
        for queued in (0..200_000).step_by(100) {
            let now = load(queued, 100_000);
            assert!(now >= last);
            last = now;
        }
        assert_eq!(load(4_999, 100_000).0, 0);
        assert_eq!(load(5_000, 100_000).0, 1);
        assert_eq!(load(10_000, 100_000).0, 2);
        assert_eq!(load(20_000, 100_000).0, 3);
        assert_eq!(load(1, 0), (3, 0));
    }
}
