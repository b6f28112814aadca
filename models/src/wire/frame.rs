//! A whole frame: what a NIC emits, and what it demands of one before it looks at a flow.

use super::context::{FlowContext, Identity, IpAddress, Segment, PATH_MASK};
use super::ethernet::{self, MacAddress};
use super::header::{self, Acked};
use super::{ipv4, ipv6, udp, DropCause, Error};
use crate::psn::Psn;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::Range;

/// TTL and hop limit.
pub const HOPS: u8 = 64;

const BELOW_IPV4: usize = ethernet::HEADER_BYTES + ipv4::HEADER_BYTES;
const BELOW_IPV6: usize = ethernet::HEADER_BYTES + ipv6::HEADER_BYTES;

/// Bytes of a frame, without FCS.
pub const fn frame_bytes(ipv6: bool, payload_len: u16) -> usize {
    let below_udp = if ipv6 { BELOW_IPV6 } else { BELOW_IPV4 };
    below_udp + udp::HEADER_BYTES + header::HEADER_BYTES + payload_len as usize
}

/// Source and destination, of one version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpAddresses {
    /// IPv4.
    V4 {
        /// Source.
        source: Ipv4Addr,
        /// Destination.
        destination: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// Source.
        source: Ipv6Addr,
        /// Destination.
        destination: Ipv6Addr,
    },
}

impl IpAddresses {
    /// Source.
    pub const fn source(&self) -> IpAddress {
        match *self {
            Self::V4 { source, .. } => IpAddress::V4(source),
            Self::V6 { source, .. } => IpAddress::V6(source),
        }
    }

    /// Destination.
    pub const fn destination(&self) -> IpAddress {
        match *self {
            Self::V4 { destination, .. } => IpAddress::V4(destination),
            Self::V6 { destination, .. } => IpAddress::V6(destination),
        }
    }

    /// Whether they are IPv6.
    pub const fn is_ipv6(&self) -> bool {
        matches!(self, Self::V6 { .. })
    }
}

/// All that a frame says, but for its payload. DSCP follows from the kind, lengths from the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameRepr {
    /// Source MAC address.
    pub source_mac: MacAddress,
    /// Destination MAC address.
    pub destination_mac: MacAddress,
    /// IP addresses.
    pub ip: IpAddresses,
    /// UDP source port: the flow's base and the path.
    pub source_port: u16,
    /// UDP destination port.
    pub destination_port: u16,
    /// Rondo header.
    pub header: header::Repr,
}

impl FrameRepr {
    /// Bytes of the frame, without FCS.
    pub const fn frame_bytes(&self) -> usize {
        frame_bytes(self.ip.is_ipv6(), self.header.payload_len())
    }

    /// Writes the frame to the start of `out` and returns its length. `payload` is that of a data
    /// packet, and not read for other kinds: a probe's is zeros. The payload CRC is the header's,
    /// it is not computed here.
    ///
    /// # Panics
    /// If `out` is shorter than the frame, or `payload` of another length than the header says.
    pub fn emit(&self, payload: &[u8], out: &mut [u8]) -> usize {
        let out = &mut out[..self.frame_bytes()];
        let mut ethernet = ethernet::Packet::new_unchecked(&mut *out);
        ethernet::Repr {
            destination: self.destination_mac,
            source: self.source_mac,
            ether_type: if self.ip.is_ipv6() {
                ethernet::IPV6
            } else {
                ethernet::IPV4
            },
        }
        .emit(&mut ethernet);
        let udp_len = (udp::HEADER_BYTES + header::HEADER_BYTES) as u16 + self.header.payload_len();
        self.emit_ip(udp_len, ethernet.payload_mut());
        let start = if self.ip.is_ipv6() {
            BELOW_IPV6
        } else {
            BELOW_IPV4
        };
        let mut udp = udp::Packet::new_unchecked(&mut out[start..]);
        udp::Repr {
            source_port: self.source_port,
            destination_port: self.destination_port,
            payload_len: udp_len - udp::HEADER_BYTES as u16,
        }
        .emit(&mut udp);
        let mut rondo = header::Packet::new_unchecked(udp.payload_mut());
        self.header.emit(&mut rondo);
        match self.header {
            header::Repr::Data { .. } => rondo.payload_mut().copy_from_slice(payload),
            _ => rondo.payload_mut().fill(0),
        }
        out.len()
    }

    fn emit_ip(&self, payload_len: u16, out: &mut [u8]) {
        let dscp = self.header.kind().dscp();
        match self.ip {
            IpAddresses::V4 {
                source,
                destination,
            } => ipv4::Repr {
                source,
                destination,
                protocol: ipv4::UDP,
                payload_len,
                ttl: HOPS,
                dscp,
                ecn: 0,
            }
            .emit(&mut ipv4::Packet::new_unchecked(out)),
            IpAddresses::V6 {
                source,
                destination,
            } => ipv6::Repr {
                source,
                destination,
                next_header: ipv6::UDP,
                payload_len,
                hop_limit: HOPS,
                dscp,
                ecn: 0,
                flow_label: self.source_port.into(),
            }
            .emit(&mut ipv6::Packet::new_unchecked(out)),
        }
    }
}

/// Makes all checks that need no flow, and returns what the frame says and where its payload is.
///
/// # Errors
/// The cause of the first check that fails, in the order of the causes' codes, 1 to 10.
pub fn parse(frame: &[u8], identity: &Identity) -> Result<(FrameRepr, Range<usize>), DropCause> {
    if frame.len() < frame_bytes(false, 0) {
        return Err(DropCause::Truncated);
    }
    let ethernet = ethernet::Repr::parse(&ethernet::Packet::new_unchecked(frame));
    let is_ipv6 = ethernet.ether_type == ethernet::IPV6;
    if is_ipv6 && frame.len() < frame_bytes(true, 0) {
        return Err(DropCause::Truncated);
    }
    if ethernet.destination != identity.mac {
        return Err(DropCause::ForeignMac);
    }
    let ip = match ethernet.ether_type {
        ethernet::IPV4 => check_ipv4(frame, identity)?,
        ethernet::IPV6 => check_ipv6(frame, identity)?,
        _ => return Err(DropCause::ForeignEtherType),
    };
    let udp_start = if is_ipv6 { BELOW_IPV6 } else { BELOW_IPV4 };
    let udp = udp::Packet::new_unchecked(&frame[udp_start..]);
    if udp.destination_port() != identity.udp_port {
        return Err(DropCause::ForeignPort);
    }
    let rondo = header::Packet::new_unchecked(udp.payload());
    let lengths_agree = ip.payload_len == frame.len() - udp_start
        && usize::from(udp.len()) == frame.len() - udp_start
        && usize::from(rondo.payload_len()) == rondo.payload().len();
    if !lengths_agree {
        return Err(DropCause::BadLength);
    }
    let header = header::Repr::parse(&rondo).map_err(|error| match error {
        Error::Checksum => DropCause::HeaderCrc,
        Error::Malformed | Error::Truncated => DropCause::BadFormat,
    })?;
    let repr = FrameRepr {
        source_mac: ethernet.source,
        destination_mac: ethernet.destination,
        ip: ip.addresses,
        source_port: udp.source_port(),
        destination_port: udp.destination_port(),
        header,
    };
    Ok((repr, frame_bytes(is_ipv6, 0)..frame.len()))
}

struct CheckedIp {
    addresses: IpAddresses,
    /// What its length field leaves for UDP.
    payload_len: usize,
}

/// Checks 4 to 6. Lengths are not judged here; less than the header wraps, so that it agrees with
/// none.
fn check_ipv4(frame: &[u8], identity: &Identity) -> Result<CheckedIp, DropCause> {
    let ip = ipv4::Packet::new_unchecked(&frame[ethernet::HEADER_BYTES..]);
    if !ip.is_well_formed() {
        return Err(DropCause::BadIp);
    }
    if ip.destination() != identity.ipv4 {
        return Err(DropCause::ForeignIp);
    }
    if ip.protocol() != ipv4::UDP {
        return Err(DropCause::NotUdp);
    }
    Ok(CheckedIp {
        addresses: IpAddresses::V4 {
            source: ip.source(),
            destination: ip.destination(),
        },
        payload_len: usize::from(ip.total_len()).wrapping_sub(ipv4::HEADER_BYTES),
    })
}

fn check_ipv6(frame: &[u8], identity: &Identity) -> Result<CheckedIp, DropCause> {
    let ip = ipv6::Packet::new_unchecked(&frame[ethernet::HEADER_BYTES..]);
    if ip.version() != 6 {
        return Err(DropCause::BadIp);
    }
    if ip.destination() != identity.ipv6 {
        return Err(DropCause::ForeignIp);
    }
    if ip.next_header() != ipv6::UDP {
        return Err(DropCause::NotUdp);
    }
    Ok(CheckedIp {
        addresses: IpAddresses::V6 {
            source: ip.source(),
            destination: ip.destination(),
        },
        payload_len: ip.payload_len().into(),
    })
}

/// What an ACK says beside flow and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Acknowledgement {
    /// Path of the acknowledged packet, 4 bits.
    pub path: u8,
    /// What is acknowledged.
    pub of: Acked,
    /// Others are missing: a NAK. Never of a probe.
    pub nak: bool,
    /// The packet was a duplicate.
    pub duplicate: bool,
    /// Send timestamp of the acknowledged packet, in ns.
    pub sent_ns: u32,
    /// Time of its arrival, in ns.
    pub received_ns: u32,
}

fn envelope(identity: &Identity, context: &FlowContext, header: header::Repr) -> FrameRepr {
    FrameRepr {
        source_mac: identity.mac,
        destination_mac: context.peer_mac,
        ip: match context.peer_ip {
            IpAddress::V4(destination) => IpAddresses::V4 {
                source: identity.ipv4,
                destination,
            },
            IpAddress::V6(destination) => IpAddresses::V6 {
                source: identity.ipv6,
                destination,
            },
        },
        source_port: context.port_of(header.path()),
        destination_port: identity.udp_port,
        header,
    }
}

/// The frame of a data packet.
pub fn data_frame(
    identity: &Identity,
    context: &FlowContext,
    segment: &Segment,
    psn: Psn,
    path: u8,
    sent_ns: u32,
    retransmission: bool,
) -> FrameRepr {
    let header = header::Repr::Data {
        flow: context.peer_flow,
        epoch: context.epoch,
        path: path & PATH_MASK as u8,
        psn,
        place: segment.place,
        payload_crc: segment.payload_crc,
        sent_ns,
        retransmission,
    };
    envelope(identity, context, header)
}

/// The frame of a probe: as long as a full data packet.
pub fn probe_frame(
    identity: &Identity,
    context: &FlowContext,
    path: u8,
    sent_ns: u32,
) -> FrameRepr {
    let header = header::Repr::Probe {
        flow: context.peer_flow,
        epoch: context.epoch,
        path: path & PATH_MASK as u8,
        sent_ns,
        payload_len: context.mtu,
    };
    envelope(identity, context, header)
}

/// The frame of an ACK or NAK.
pub fn ack_frame(identity: &Identity, context: &FlowContext, ack: &Acknowledgement) -> FrameRepr {
    let header = header::Repr::Ack {
        flow: context.peer_flow,
        epoch: context.epoch,
        path: ack.path & PATH_MASK as u8,
        of: ack.of,
        nak: ack.nak,
        duplicate: ack.duplicate,
        sent_ns: ack.sent_ns,
        received_ns: ack.received_ns,
    };
    envelope(identity, context, header)
}
