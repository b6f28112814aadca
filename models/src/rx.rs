//! What becomes of a received frame.

use crate::psn::Psn;
use crate::wire::context::{FlowContext, Identity, Place};
use crate::wire::crc::crc32c_padded;
use crate::wire::frame::{self, Acknowledgement, FrameRepr};
use crate::wire::header::Repr;
use crate::wire::DropCause;
use core::ops::Range;

/// A frame of an open flow that is as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A data packet.
    Data {
        /// Number of the flow here.
        flow: u16,
        /// Sequence number.
        psn: Psn,
        /// Path that it took, 4 bits.
        path: u8,
        /// Which bytes of which message.
        place: Place,
        /// Time of sending on the sender's clock, in ns.
        sent_ns: u32,
        /// CRC-32C that the payload must have.
        payload_crc: u32,
        /// Where in the frame the payload is.
        payload: Range<usize>,
    },
    /// A probe.
    Probe {
        /// Number of the flow here.
        flow: u16,
        /// Path that it took, 4 bits.
        path: u8,
        /// Time of sending on the sender's clock, in ns.
        sent_ns: u32,
    },
    /// An ACK or NAK.
    Ack {
        /// Number of the flow here.
        flow: u16,
        /// What it says.
        acknowledgement: Acknowledgement,
    },
}

/// Judges a frame; `contexts` gives the context of a flow, open or not, if its number is in range.
///
/// # Errors
/// The cause of the first check that fails, in the order of the causes' codes, 1 to 14.
pub fn classify(
    frame: &[u8],
    identity: &Identity,
    contexts: impl Fn(u16) -> Option<FlowContext>,
) -> Result<Received, DropCause> {
    let received = classify_headers(frame, identity, contexts)?;
    match &received {
        Received::Data {
            payload_crc,
            payload,
            ..
        } if crc32c_padded(&frame[payload.clone()]) != *payload_crc => Err(DropCause::PayloadCrc),
        _ => Ok(received),
    }
}

/// Judges a frame by all but its payload CRC.
///
/// # Errors
/// The cause of the first check that fails, 1 to 13.
pub fn classify_headers(
    frame: &[u8],
    identity: &Identity,
    contexts: impl Fn(u16) -> Option<FlowContext>,
) -> Result<Received, DropCause> {
    let (repr, payload) = frame::parse(frame, identity)?;
    let flow = repr.header.flow();
    let context = contexts(flow).filter(|c| c.valid);
    let context = context.ok_or(DropCause::UnknownFlow)?;
    // Addresses of two versions are never equal.
    if repr.ip.source() != context.peer_ip || repr.header.epoch() != context.epoch {
        return Err(DropCause::WrongPeer);
    }
    if !has_right_size(&repr, &context) {
        return Err(DropCause::WrongSize);
    }
    Ok(match repr.header {
        Repr::Data {
            psn,
            path,
            place,
            sent_ns,
            payload_crc,
            ..
        } => Received::Data {
            flow,
            psn,
            path,
            place,
            sent_ns,
            payload_crc,
            payload,
        },
        Repr::Probe { path, sent_ns, .. } => Received::Probe {
            flow,
            path,
            sent_ns,
        },
        Repr::Ack {
            path,
            of,
            nak,
            duplicate,
            sent_ns,
            received_ns,
            ..
        } => Received::Ack {
            flow,
            acknowledgement: Acknowledgement {
                path,
                of,
                nak,
                duplicate,
                sent_ns,
                received_ns,
            },
        },
    })
}

/// Data: the MTU, or in a message's last packet at most the MTU, within the message. A probe: the
/// MTU.
fn has_right_size(repr: &FrameRepr, context: &FlowContext) -> bool {
    match &repr.header {
        Repr::Data { place, .. } => {
            let end = place.offset.checked_add(place.payload_len.into());
            let full = place.payload_len == context.mtu;
            (full || (place.last && place.payload_len < context.mtu))
                && end.is_some_and(|end| end <= place.message_len)
        }
        Repr::Probe { payload_len, .. } => *payload_len == context.mtu,
        Repr::Ack { .. } => true,
    }
}
