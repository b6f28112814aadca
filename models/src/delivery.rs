//! What the host gets of packets in order: a header beat and the payload each, and a completion
//! after a message's last.

use crate::psn::Psn;
use crate::wire::context::Place;
use crate::wire::host::{Packet, ReceiveRepr, BEAT_BYTES};

/// A first beat, and the bytes of the packet on the host stream that it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// The beat.
    pub beat: [u8; BEAT_BYTES],
    /// Bytes of the packet, this beat included.
    pub size: u16,
}

fn first(what: ReceiveRepr, payload_bytes: u16) -> First {
    let mut beat = [0; BEAT_BYTES];
    what.emit(&mut Packet::new_unchecked(&mut beat));
    First {
        beat,
        size: BEAT_BYTES as u16 + payload_bytes,
    }
}

/// What comes before the payload of packet `psn` of `flow`.
pub fn header(flow: u16, psn: Psn, place: Place) -> First {
    first(ReceiveRepr::Payload { flow, place, psn }, place.payload_len)
}

/// What comes after the payload, if it is the last of its message.
pub fn completion(flow: u16, psn: Psn, place: Place) -> Option<First> {
    place.last.then(|| {
        let what = ReceiveRepr::Completion {
            flow,
            message: place.message,
            message_len: place.message_len,
            psn,
        };
        first(what, 0)
    })
}
