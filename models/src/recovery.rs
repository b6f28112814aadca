//! Loss recovery (paper §6.2.5): early recovery by out-of-order degree, and a timeout.
//!
//! Rondo sends PSNs out of order on purpose, so a gap in the acknowledged PSNs proves nothing by
//! itself: a PSN may be unsent, or on its way on a slower path. A PSN is *found lost* when the highest
//! acknowledged PSN passed it by more than `threshold`, and it should have been acknowledged by now:
//!
//! * a packet that was sent later on the same path has been acknowledged: a path keeps its order; or
//! * no packet was, but the newest acknowledged one arrived `slack` after this one was expected to,
//!   by the forward delay of its path.
//!
//! Or when its transmission is older than the timeout, whatever was acknowledged.

use crate::psn::Psn;

/// Early recovery's threshold by default: ER-4.
pub const DEFAULT_THRESHOLD: u16 = 4;
/// The timeout by default, in RTTs of the path: the measured RTT, and never below the base RTT.
pub const TIMEOUT_RTTS: u32 = 4;

/// A flow's recovery parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// PSNs by which the highest acknowledged one has to pass a lost one.
    pub threshold: u16,
    /// Lateness that proves a loss without a later packet of the same path, ns. Forward delays are
    /// estimates, and queues move.
    pub slack_ns: u32,
}

/// The latest transmission of a PSN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transmission {
    /// When, ns on the sender's clock; wraps.
    pub sent_ns: u32,
    /// On which path.
    pub path: u8,
    /// Transmissions so far, saturating; 0 when it was never sent.
    pub count: u8,
    /// It is in flight: neither acknowledged nor found lost.
    pub in_flight: bool,
}

/// What has been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Highest acknowledged PSN.
    pub highest: Psn,
    /// When the newest acknowledged packet reached the receiver, as send time plus measured forward
    /// delay, ns; wraps.
    pub arrived_ns: u32,
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathWitness {
    /// Latest send time of its acknowledged packets, ns; wraps.
    pub latest_ns: u32,
    /// Forward delay, ns.
    pub forward_ns: u32,
    /// One of its packets has been acknowledged: the other two are known.
    pub known: bool,
}

impl Recovery {
    /// ER-4; a base RTT of lateness.
    pub fn early(base_rtt_ns: u32) -> Self {
        Self {
            threshold: DEFAULT_THRESHOLD,
            slack_ns: base_rtt_ns,
        }
    }

    /// Whether `psn`, last sent as `t`, is found lost; `path` is what is known of its path.
    #[inline]
    pub fn is_lost(&self, psn: Psn, t: &Transmission, w: &Witness, path: &PathWitness) -> bool {
        let passed = w.highest.distance_from(psn) > i32::from(self.threshold);
        if !t.in_flight || !passed || !path.known {
            return false;
        }
        let overtaken = (path.latest_ns.wrapping_sub(t.sent_ns) as i32) > 0;
        let expected_ns = t.sent_ns.wrapping_add(path.forward_ns);
        let late_ns = w.arrived_ns.wrapping_sub(expected_ns) as i32;
        overtaken || late_ns > self.slack_ns as i32
    }

    /// Whether the transmission `t` is given up at `now_ns`, `timeout_ns` after it was sent.
    #[inline]
    pub fn is_overdue(t: &Transmission, now_ns: u32, timeout_ns: u32) -> bool {
        t.in_flight && now_ns.wrapping_sub(t.sent_ns) > timeout_ns
    }
}
