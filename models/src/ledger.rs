//! What becomes of the packets in the transmit pool: sent, acknowledged, lost.
//!
//! Every slot of the pool has a [`Record`]. All that happens to it comes as an [`Event`], and
//! [`apply`] says what follows. A PSN that was sent and is not acknowledged is in flight on one path, or
//! it was found lost and waits for its next transmission; so each path's count of packets in flight
//! comes back to zero, whatever the network loses, doubles or delays.

use crate::psn::Psn;
use crate::recovery::{PathWitness, Recovery, Transmission, Witness};

/// PSNs of a flow that the slot table tells apart.
pub const TABLE_PSNS: u32 = 1024;
/// Most slots of a pool.
pub const MAX_SLOTS: usize = 1024;

/// What happens; the number is the RTL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The slot got a packet.
    Commit = 0,
    /// It was sent.
    Sent = 1,
    /// It was acknowledged.
    Ack = 2,
    /// The receiver dropped it.
    Nak = 3,
    /// A probe was acknowledged: nothing to do with a slot.
    ProbeAck = 4,
    /// It had arrived by what the receiver expects next; its own ACK was lost.
    Heal = 5,
    /// It waits to be sent again: is that still needed?
    Again = 6,
    /// Its turn in the search for lost packets.
    Scan = 7,
}

/// State of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Holds a packet that is not acknowledged.
    pub live: bool,
    /// It was sent at least once.
    pub sent: bool,
    /// It is in flight: not found lost since its latest transmission.
    pub in_flight: bool,
    /// Flow.
    pub flow: u16,
    /// PSN.
    pub psn: u32,
    /// Path of the latest transmission.
    pub path: u8,
    /// Time of the latest transmission, ns.
    pub sent_ns: u32,
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowView {
    /// The flow is open; the slots of others are freed.
    pub open: bool,
    /// What its ACKs told, from the first on.
    pub witness: Option<Witness>,
    /// The receiver's next expected PSN.
    pub expected: Psn,
    /// Early recovery.
    pub recovery: Recovery,
    /// Age at which a transmission is given up, ns.
    pub timeout_ns: u32,
}

/// Something that happens to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: Kind,
    /// Flow.
    pub flow: u16,
    /// PSN.
    pub psn: u32,
    /// Path: of the transmission, or echoed by the ACK.
    pub path: u8,
    /// Next expected PSN (ACK, NAK).
    pub expected: u32,
    /// Send time, ns; echoed by ACK and NAK.
    pub sent_ns: u32,
    /// Receive time on the receiver's clock, ns.
    pub received_ns: u32,
    /// Now, ns.
    pub now_ns: u32,
}

/// What follows from an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The slot is free.
    pub freed: bool,
    /// The PSN is acknowledged: path of its latest transmission, and whether it was in flight there.
    pub settled: Option<(u8, bool)>,
    /// A packet on this path is in flight no more, though not acknowledged.
    pub resolved: Option<u8>,
    /// The PSN is lost and waits to be sent again.
    pub lost: bool,
    /// It was found lost by its age alone.
    pub timeout: bool,
    /// The PSN is to be sent again now.
    pub again: bool,
    /// The ACK acknowledged nothing.
    pub stale: bool,
    /// The control side is told.
    pub told: bool,
}

/// Applies `e` to its slot's record and to the flow's state; of a scan, flow and path are the record's.
/// `path` is the state of [`path_of`].
pub fn apply(e: &Event, r: &mut Record, f: &mut FlowView, path: &mut PathWitness) -> Effect {
    let mut effect = Effect::default();
    let matches = r.live && r.flow == e.flow && r.psn == e.psn;
    if matches!(e.kind, Kind::Ack | Kind::Nak) {
        let expected = Psn::new(e.expected);
        if f.expected.is_before(expected) {
            f.expected = expected;
        }
    }
    match e.kind {
        Kind::Commit => {
            *r = Record {
                live: true,
                flow: e.flow,
                psn: e.psn,
                ..Record::default()
            }
        }
        Kind::Sent if matches && !r.in_flight => {
            r.sent = true;
            r.in_flight = true;
            r.path = e.path;
            r.sent_ns = e.sent_ns;
            effect.told = true;
        }
        // It was acknowledged between the choice of a path and the transmission.
        Kind::Sent => effect.resolved = Some(e.path),
        Kind::Ack | Kind::Heal if matches && r.sent => {
            effect.settled = Some((r.path, r.in_flight));
            effect.freed = true;
            effect.told = true;
            if e.kind == Kind::Ack {
                witness(e, f, path);
            }
            *r = Record::default();
        }
        Kind::Ack => effect.stale = true,
        Kind::Nak => {
            effect.stale = true;
            if matches && r.in_flight && r.sent_ns == e.sent_ns {
                lose(r, &mut effect);
            }
        }
        Kind::ProbeAck => effect.told = true,
        Kind::Heal => {}
        Kind::Again => effect.again = matches && r.sent && !r.in_flight,
        Kind::Scan => scan(e, r, f, path, &mut effect),
    }
    effect
}

/// The path whose state [`apply`] needs.
pub fn path_of(e: &Event, r: &Record) -> u8 {
    match e.kind {
        Kind::Scan => r.path,
        _ => e.path,
    }
}

/// The flow whose state [`apply`] needs.
pub fn flow_of(e: &Event, r: &Record) -> u16 {
    match e.kind {
        Kind::Scan => r.flow,
        _ => e.flow,
    }
}

fn witness(e: &Event, f: &mut FlowView, path: &mut PathWitness) {
    let psn = Psn::new(e.psn);
    let w = f.witness.get_or_insert(Witness {
        highest: psn,
        arrived_ns: e.received_ns,
    });
    if w.highest.is_before(psn) {
        w.highest = psn;
    }
    w.arrived_ns = e.received_ns;
    if !path.known || (e.sent_ns.wrapping_sub(path.latest_ns) as i32) > 0 {
        path.latest_ns = e.sent_ns;
    }
    path.forward_ns = e.received_ns.wrapping_sub(e.sent_ns);
    path.known = true;
}

fn lose(r: &mut Record, effect: &mut Effect) {
    r.in_flight = false;
    effect.resolved = Some(r.path);
    effect.lost = true;
    effect.told = true;
}

fn scan(e: &Event, r: &mut Record, f: &FlowView, path: &PathWitness, effect: &mut Effect) {
    if !r.live {
        return;
    }
    if !f.open {
        *r = Record::default();
        effect.freed = true;
        return;
    }
    let t = Transmission {
        sent_ns: r.sent_ns,
        path: r.path,
        count: 1,
        in_flight: r.in_flight,
    };
    let early = f
        .witness
        .is_some_and(|w| f.recovery.is_lost(Psn::new(r.psn), &t, &w, path));
    let overdue = Recovery::is_overdue(&t, e.now_ns, f.timeout_ns);
    if early || overdue {
        lose(r, effect);
        effect.timeout = !early;
    }
}
