//! RoCE as it is compared with: DCQCN's rate over one path that a hash chose, with selective repeat,
//! or over whatever way adaptive switches choose, with early recovery. The same sender takes several
//! paths in turn for [`super::round_robin`].
//!
//! A NAK for a packet that was kept names the next expected PSN, which is before the packet's. One for
//! a packet that found no room names the packet's own: it acknowledges nothing.

mod repair;
mod sender;

use super::multipath::FlowSetup;
use super::{Arrival, BadParameter, Receiver, Sender, Transport};
use crate::packet::{Kind, Packet};
use crate::time::NS;
use repair::Early;
use rondo_models::baseline::dcqcn::{Dcqcn, Parameters, Profile};
use rondo_models::baseline::selective_repeat as repeat;
use rondo_models::psn::Psn;
use sender::RoceSender;
use serde::{Deserialize, Serialize};

/// Words of the bitmaps of both sides.
const WORDS: usize = 64;
/// PSNs that may be outstanding.
const WINDOW: u32 = 64 * WORDS as u32;

/// DCQCN's timers, by the names that experiments give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RateProfile {
    /// Decreases every 4 us, increases every 300 us, one stage of fast recovery.
    #[serde(rename = "dcqcn")]
    Eager,
    /// Decreases every 50 us, increases every 55 us, five stages.
    #[serde(rename = "dcqcn_paper")]
    Paper,
}

/// Parameters of RoCE with DCQCN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnConfig {
    /// The rate's timers.
    pub profile: RateProfile,
    /// Lower bound of the rate, Gbps.
    pub min_gbps: f64,
    /// At most one bandwidth-delay product in flight: the line's rate times the longest base RTT.
    pub in_flight_cap: bool,
    /// Switches choose the way of every packet; no NAKs for what arrives out of order, but early
    /// recovery at the sender.
    pub adaptive: bool,
    /// Early recovery: packets by which the highest acknowledged one has to pass a lost one.
    pub recovery_threshold: u32,
    /// Selective repeat: time until a second NAK for the same expected packet, us; 0 for a NAK to
    /// every packet out of order.
    pub nak_interval_us: f64,
    /// Timeout with few packets outstanding, us.
    pub rto_low_us: f64,
    /// Timeout otherwise, us.
    pub rto_high_us: f64,
    /// "Few": at most so many packets.
    pub rto_low_packets: u32,
}

impl Default for DcqcnConfig {
    fn default() -> Self {
        Self {
            profile: RateProfile::Eager,
            min_gbps: 1.0,
            in_flight_cap: false,
            adaptive: false,
            recovery_threshold: 8,
            nak_interval_us: 0.0,
            rto_low_us: 100.0,
            rto_high_us: 320.0,
            rto_low_packets: 3,
        }
    }
}

/// What bounds a sender beside its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// DCQCN's rate, and the cap if the configuration has it.
    Rate,
    /// One bandwidth-delay product in flight, at line rate.
    Pipe,
}

impl DcqcnConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`BadParameter`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        let bad = |key, value: f64, wanted| {
            let value = value.to_string();
            Err(BadParameter { key, value, wanted })
        };
        let time = |us: f64| (1.0..=1e6).contains(&us);
        if !(0.001..=10_000.0).contains(&self.min_gbps) {
            return bad("min_gbps", self.min_gbps, "a rate of 0.001 to 10000 Gbps");
        }
        if self.recovery_threshold >= WINDOW {
            let threshold = self.recovery_threshold.into();
            return bad("recovery_threshold", threshold, "less than 4096 packets");
        }
        if !(0.0..=1e6).contains(&self.nak_interval_us) {
            return bad("nak_interval_us", self.nak_interval_us, "0 to 1e6 us");
        }
        if !time(self.rto_low_us) {
            return bad("rto_low_us", self.rto_low_us, "1 to 1e6 us");
        }
        if !time(self.rto_high_us) {
            return bad("rto_high_us", self.rto_high_us, "1 to 1e6 us");
        }
        Ok(())
    }

    /// A flow over the paths of `setup`, taken in turn; with `naks` the receiver asks for what is
    /// missing, without the sender finds out.
    pub fn flow(
        &self,
        setup: &FlowSetup,
        bound: Bound,
        naks: bool,
    ) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        let first = Psn::new(setup.first_psn);
        let cap = bound == Bound::Pipe || self.in_flight_cap;
        let timeouts = repeat::Parameters {
            rto_low_ns: nanoseconds(self.rto_low_us).max(1),
            rto_high_ns: nanoseconds(self.rto_high_us).max(1),
            rto_low_packets: self.rto_low_packets,
            in_flight_cap: cap.then(|| pipe_packets(setup)),
        };
        let rate = (bound == Bound::Rate).then(|| self.rate(setup.line_gbps));
        let ring = ring(setup);
        let shortest = timeouts.rto_low_ns.min(timeouts.rto_high_ns);
        let sender: Box<dyn Sender> = if naks {
            let repair = repeat::Sender::<WORDS>::new(first, &timeouts);
            Box::new(RoceSender::new(setup, rate, repair, ring, shortest))
        } else {
            let repair = Early::new(first, ring, &timeouts, self.recovery_threshold);
            Box::new(RoceSender::new(setup, rate, repair, ring, shortest))
        };
        (
            sender,
            Box::new(RoceReceiver::new(first, naks, self.policy())),
        )
    }

    fn rate(&self, line_gbps: f64) -> Dcqcn {
        let profile = match self.profile {
            RateProfile::Eager => Profile::Eager,
            RateProfile::Paper => Profile::Paper,
        };
        Dcqcn::new(&Parameters {
            min_gbps: self.min_gbps.min(line_gbps),
            ..Parameters::profile(line_gbps, profile)
        })
    }

    fn policy(&self) -> repeat::NakPolicy {
        match nanoseconds(self.nak_interval_us) {
            0 => repeat::NakPolicy::Every,
            ns => repeat::NakPolicy::Suppressed(ns),
        }
    }
}

fn nanoseconds(us: f64) -> u64 {
    (us * 1_000.0).round() as u64
}

/// Packets of a bandwidth-delay product at the line's rate, at least one.
fn pipe_packets(setup: &FlowSetup) -> u32 {
    let rtt = setup.rtt_ns.iter().copied().max().unwrap_or(0);
    let bytes = setup.line_gbps * f64::from(rtt) / 8.0;
    (bytes / f64::from(setup.wire_bytes.max(1))).ceil().max(1.0) as u32
}

/// Entries of a flow's rings: a power of two that its outstanding packets fit in.
fn ring(setup: &FlowSetup) -> usize {
    setup.packets.clamp(1, WINDOW.into()).next_power_of_two() as usize
}

impl Transport for DcqcnConfig {
    fn paths(&self) -> u8 {
        1
    }

    fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    fn open(&self, setup: &FlowSetup, _flows: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        self.flow(setup, Bound::Rate, !self.adaptive)
    }
}

/// The receiving side: keeps what arrives out of order, and says so or asks for what is missing.
pub struct RoceReceiver {
    model: repeat::Receiver<WORDS>,
    naks: bool,
}

impl RoceReceiver {
    /// Waits for `first`; with `naks` it answers what is out of order as `policy` says, without
    /// only what it has no place for.
    pub fn new(first: Psn, naks: bool, policy: repeat::NakPolicy) -> Self {
        Self {
            model: repeat::Receiver::new(first, policy),
            naks,
        }
    }
}

impl Receiver for RoceReceiver {
    #[inline]
    fn on_data(&mut self, packet: &Packet, room: bool) -> Arrival {
        let psn = Psn::new(packet.psn);
        let before = self.model.expected();
        // Time between NAKs is taken where it passes as well: between the sends that cause them.
        let ns = packet.sent / NS;
        let reply = if room {
            self.model.arrive(psn, ns)
        } else {
            self.model.arrive_without_room(psn, ns)
        };
        let refused = reply.kind == repeat::Kind::Beyond;
        let nak = refused || self.naks && reply.kind == repeat::Kind::Nak;
        Arrival {
            reply: if nak { Kind::Nak } else { Kind::Ack },
            accepted: matches!(reply.kind, repeat::Kind::Ack | repeat::Kind::Nak),
            duplicate: reply.kind == repeat::Kind::Duplicate,
            expected: if refused { psn } else { reply.expected }.value(),
            advance: reply.expected.distance_from(before).max(0) as u32,
            ood: reply.ood,
            waiting: reply.waiting,
        }
    }
}
