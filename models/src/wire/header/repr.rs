//! What a Rondo header means.

use super::{flag, Kind, Packet, RESERVED_PSN, VERSION};
use crate::psn::Psn;
use crate::wire::context::{Place, MAX_PAYLOAD};
use crate::wire::Error;

/// What an ACK acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acked {
    /// A data packet.
    Data {
        /// Its PSN.
        psn: Psn,
        /// Every PSN before it has arrived.
        expected: Psn,
        /// Bit `i`: PSN `64 * floor(psn / 64) + i` has arrived.
        selective: u64,
    },
    /// A probe.
    Probe,
}

/// A Rondo header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repr {
    /// Carries a message's bytes.
    Data {
        /// Number of the flow at the receiver of this packet.
        flow: u16,
        /// Incarnation of the connection.
        epoch: u16,
        /// Path, 4 bits.
        path: u8,
        /// Sequence number.
        psn: Psn,
        /// Which bytes.
        place: Place,
        /// CRC-32C of the payload, padded to whole beats.
        payload_crc: u32,
        /// Time of sending on the sender's clock, in ns.
        sent_ns: u32,
        /// Sent before.
        retransmission: bool,
    },
    /// Measures a path; its payload is zeros.
    Probe {
        /// Number of the flow at the receiver of this packet.
        flow: u16,
        /// Incarnation of the connection.
        epoch: u16,
        /// Path, 4 bits.
        path: u8,
        /// Time of sending on the sender's clock, in ns.
        sent_ns: u32,
        /// Bytes of the payload: the flow's MTU.
        payload_len: u16,
    },
    /// Acknowledges a packet.
    Ack {
        /// Number of the flow at the receiver of this ACK.
        flow: u16,
        /// Incarnation of the connection.
        epoch: u16,
        /// Path of the acknowledged packet, 4 bits.
        path: u8,
        /// What is acknowledged.
        of: Acked,
        /// Others are missing: a NAK. Never of a probe.
        nak: bool,
        /// The packet was a duplicate.
        duplicate: bool,
        /// Send timestamp of the acknowledged packet, echoed, in ns.
        sent_ns: u32,
        /// Time of its arrival on the receiver's clock, in ns.
        received_ns: u32,
    },
}

impl Repr {
    /// The kind of the packet.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Data { .. } => Kind::Data,
            Self::Probe { .. } => Kind::Probe,
            Self::Ack { nak: false, .. } => Kind::Ack,
            Self::Ack { nak: true, .. } => Kind::Nak,
        }
    }

    /// Number of the flow at the receiver of this packet.
    pub const fn flow(&self) -> u16 {
        match self {
            Self::Data { flow, .. } | Self::Probe { flow, .. } | Self::Ack { flow, .. } => *flow,
        }
    }

    /// Incarnation of the connection.
    pub const fn epoch(&self) -> u16 {
        match self {
            Self::Data { epoch, .. } | Self::Probe { epoch, .. } | Self::Ack { epoch, .. } => {
                *epoch
            }
        }
    }

    /// Path, 4 bits.
    pub const fn path(&self) -> u8 {
        match self {
            Self::Data { path, .. } | Self::Probe { path, .. } | Self::Ack { path, .. } => *path,
        }
    }

    /// Bytes after the header.
    pub const fn payload_len(&self) -> u16 {
        match self {
            Self::Data { place, .. } => place.payload_len,
            Self::Probe { payload_len, .. } => *payload_len,
            Self::Ack { .. } => 0,
        }
    }

    /// The header of a packet; what its length field says is not compared with the buffer.
    /// Reserved bits, and fields that the kind does not use, are ignored.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a field has a value that it may not have, else
    /// [`Error::Checksum`] if the header CRC is wrong.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, Error> {
        if packet.version() != VERSION {
            return Err(Error::Malformed);
        }
        let repr = match Kind::from_bits(packet.kind_bits()).ok_or(Error::Malformed)? {
            Kind::Data => parse_data(packet)?,
            Kind::Probe => parse_probe(packet)?,
            Kind::Ack => parse_ack(packet, false)?,
            Kind::Nak => parse_ack(packet, true)?,
        };
        match packet.verify_header_crc() {
            true => Ok(repr),
            false => Err(Error::Checksum),
        }
    }

    /// The flags.
    const fn flags(&self) -> u8 {
        let (bit_0, bit_1) = match self {
            Self::Data {
                place,
                retransmission,
                ..
            } => (
                if place.last { flag::LAST } else { 0 },
                if *retransmission {
                    flag::RETRANSMISSION
                } else {
                    0
                },
            ),
            Self::Probe { .. } => (0, 0),
            Self::Ack { of, duplicate, .. } => (
                if matches!(of, Acked::Probe) {
                    flag::OF_PROBE
                } else {
                    0
                },
                if *duplicate { flag::DUPLICATE } else { 0 },
            ),
        };
        bit_0 | bit_1
    }

    /// Writes the header, with its CRC.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        packet.set_kind(self.kind());
        packet.set_flags(self.flags());
        packet.set_path(self.path());
        packet.set_flow(self.flow());
        packet.set_epoch(self.epoch());
        packet.set_payload_len(self.payload_len());
        match *self {
            Self::Data {
                psn,
                place,
                payload_crc,
                sent_ns,
                ..
            } => {
                packet.set_psn_bits(psn.value());
                packet.set_message(place.message);
                packet.set_offset(place.offset);
                packet.set_message_len(place.message_len);
                packet.set_sent_ns(sent_ns);
                packet.set_payload_crc(payload_crc);
            }
            Self::Probe { sent_ns, .. } => {
                packet.set_psn_bits(RESERVED_PSN);
                packet.set_message(0);
                packet.set_offset(0);
                packet.set_message_len(0);
                packet.set_sent_ns(sent_ns);
                packet.set_payload_crc(0);
            }
            Self::Ack {
                of,
                sent_ns,
                received_ns,
                ..
            } => {
                emit_acked(of, packet);
                packet.set_sent_ns(sent_ns);
                packet.set_received_ns(received_ns);
            }
        }
        packet.fill_header_crc();
    }
}

fn emit_acked<T: AsRef<[u8]> + AsMut<[u8]>>(of: Acked, packet: &mut Packet<T>) {
    let (psn, expected, selective) = match of {
        Acked::Data {
            psn,
            expected,
            selective,
        } => (psn.value(), expected, selective),
        Acked::Probe => (RESERVED_PSN, Psn::default(), 0),
    };
    packet.set_psn_bits(psn);
    packet.set_expected(expected);
    packet.set_selective(selective);
}

/// The PSN of a data packet.
fn data_psn<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Psn, Error> {
    match packet.psn_bits() {
        bits @ 0..Psn::COUNT => Ok(Psn::new(bits)),
        _ => Err(Error::Malformed),
    }
}

fn reserved_psn<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<(), Error> {
    match packet.psn_bits() {
        RESERVED_PSN => Ok(()),
        _ => Err(Error::Malformed),
    }
}

fn parse_data<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
    let payload_len = packet.payload_len();
    if !(1..=MAX_PAYLOAD).contains(&payload_len) {
        return Err(Error::Malformed);
    }
    Ok(Repr::Data {
        flow: packet.flow(),
        epoch: packet.epoch(),
        path: packet.path(),
        psn: data_psn(packet)?,
        place: Place {
            message: packet.message(),
            offset: packet.offset(),
            message_len: packet.message_len(),
            payload_len,
            last: packet.flags() & flag::LAST != 0,
        },
        payload_crc: packet.payload_crc(),
        sent_ns: packet.sent_ns(),
        retransmission: packet.flags() & flag::RETRANSMISSION != 0,
    })
}

fn parse_probe<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
    reserved_psn(packet)?;
    Ok(Repr::Probe {
        flow: packet.flow(),
        epoch: packet.epoch(),
        path: packet.path(),
        sent_ns: packet.sent_ns(),
        payload_len: packet.payload_len(),
    })
}

fn parse_ack<T: AsRef<[u8]>>(packet: &Packet<T>, nak: bool) -> Result<Repr, Error> {
    let of_probe = packet.flags() & flag::OF_PROBE != 0;
    if packet.payload_len() != 0 || nak && of_probe {
        return Err(Error::Malformed);
    }
    let of = if of_probe {
        reserved_psn(packet)?;
        Acked::Probe
    } else {
        Acked::Data {
            psn: data_psn(packet)?,
            expected: packet.expected(),
            selective: packet.selective(),
        }
    };
    Ok(Repr::Ack {
        flow: packet.flow(),
        epoch: packet.epoch(),
        path: packet.path(),
        of,
        nak,
        duplicate: packet.flags() & flag::DUPLICATE != 0,
        sent_ns: packet.sent_ns(),
        received_ns: packet.received_ns(),
    })
}
