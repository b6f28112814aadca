//! Emit, then parse; pack, then unpack; CRC bit by bit; no bytes make a parser panic.

use crate::{emit, FAR};
use proptest::prelude::*;
use rondo_models::psn::Psn;
use rondo_models::wire::crc::{crc32c, crc32c_padded};
use rondo_models::wire::frame::{self, frame_bytes, parse, IpAddresses};
use rondo_models::wire::header::{Acked, Repr};
use rondo_models::wire::{
    ethernet, header, host, ipv4, ipv6, udp, DropCause, FlowContext, FrameRepr, Identity,
    IpAddress, MacAddress, Place, Segment,
};

prop_compose! {
    fn psns()(value in prop_oneof![0..Psn::COUNT, Just(0), Just(Psn::COUNT - 1)]) -> Psn {
        Psn::new(value)
    }
}

prop_compose! {
    fn places(longest: u16)(
        message: u32, offset: u32, message_len: u32, last: bool, payload_len in 1..=longest,
    ) -> Place {
        Place { message, offset, message_len, payload_len, last }
    }
}

fn headers() -> impl Strategy<Value = Repr> {
    let of_data =
        (psns(), psns(), any::<u64>()).prop_map(|(psn, expected, selective)| Acked::Data {
            psn,
            expected,
            selective,
        });
    let of = prop_oneof![(of_data, any::<bool>()), Just((Acked::Probe, false)),];
    let common = || (any::<u16>(), any::<u16>(), 0..16u8, any::<u32>());
    let data = (common(), psns(), places(9_216), any::<u32>(), any::<bool>());
    let data = data.prop_map(
        |((flow, epoch, path, sent_ns), psn, place, payload_crc, retransmission)| Repr::Data {
            flow,
            epoch,
            path,
            psn,
            place,
            payload_crc,
            sent_ns,
            retransmission,
        },
    );
    let probe =
        (common(), 0..=16_383u16).prop_map(|((flow, epoch, path, sent_ns), payload_len)| {
            Repr::Probe {
                flow,
                epoch,
                path,
                sent_ns,
                payload_len,
            }
        });
    let ack = (common(), of, any::<bool>(), any::<u32>()).prop_map(
        |((flow, epoch, path, sent_ns), (of, nak), duplicate, received_ns)| Repr::Ack {
            flow,
            epoch,
            path,
            of,
            nak,
            duplicate,
            sent_ns,
            received_ns,
        },
    );
    prop_oneof![data, probe, ack]
}

fn macs() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

fn addresses() -> impl Strategy<Value = IpAddresses> {
    prop_oneof![
        any::<[[u8; 4]; 2]>().prop_map(|[source, destination]| IpAddresses::V4 {
            source: source.into(),
            destination: destination.into(),
        }),
        any::<[[u8; 16]; 2]>().prop_map(|[source, destination]| IpAddresses::V6 {
            source: source.into(),
            destination: destination.into(),
        }),
    ]
}

prop_compose! {
    pub fn frames()(
        source_mac in macs(), destination_mac in macs(), ip in addresses(),
        source_port: u16, destination_port: u16, header in headers(),
    ) -> FrameRepr {
        FrameRepr { source_mac, destination_mac, ip, source_port, destination_port, header }
    }
}

/// The NIC that a frame is for.
pub fn receiver(frame: &FrameRepr) -> Identity {
    let mut identity = Identity {
        mac: frame.destination_mac,
        udp_port: frame.destination_port,
        ..FAR
    };
    match frame.ip {
        IpAddresses::V4 { destination, .. } => identity.ipv4 = destination,
        IpAddresses::V6 { destination, .. } => identity.ipv6 = destination,
    }
    identity
}

/// Some payload for a frame; empty if it carries none of its own.
pub fn payload_of(frame: &FrameRepr) -> Vec<u8> {
    match frame.header {
        Repr::Data { place, .. } => (1..=place.payload_len).map(|i| (i * 7) as u8).collect(),
        _ => Vec::new(),
    }
}

prop_compose! {
    fn contexts()(
        mtu in 0..1u16 << 14, valid: bool, source_port: u16, peer_flow: u16, epoch: u16,
        peer_mac in macs(), ip in addresses(),
    ) -> FlowContext {
        let peer_ip = ip.destination();
        FlowContext { mtu, valid, source_port, peer_flow, epoch, peer_mac, peer_ip }
    }
}

/// CRC-32C bit by bit, from its definition.
fn crc_by_bits(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            let carry = crc & 1;
            (crc >> 1) ^ (carry * 0x82f6_3b78)
        })
    })
}

proptest! {
    #[test]
    fn frames_read_back(frame in frames()) {
        let payload = payload_of(&frame);
        let bytes = emit(&frame, &payload);
        let (parsed, range) = parse(&bytes, &receiver(&frame)).expect("valid");
        prop_assert_eq!(parsed, frame);
        prop_assert_eq!(range.len(), usize::from(frame.header.payload_len()));
        prop_assert_eq!(bytes.len(), frame_bytes(frame.ip.is_ipv6(), frame.header.payload_len()));
        match frame.header {
            Repr::Data { .. } => prop_assert_eq!(&bytes[range], payload),
            _ => prop_assert!(bytes[range].iter().all(|&byte| byte == 0)),
        }
    }

    #[test]
    fn contexts_unpack(context in contexts()) {
        prop_assert_eq!(FlowContext::unpack(context.pack()), context);
    }

    #[test]
    fn segments_unpack(place in places(16_383), payload_crc: u32) {
        let segment = Segment { place, payload_crc };
        prop_assert_eq!(Place::unpack(place.pack()), place);
        prop_assert_eq!(Segment::unpack(segment.pack()), segment);
    }

    #[test]
    fn host_beats_read_back(flow: u16, place in places(16_383), psn in psns(), chunk_len: u32) {
        let Place { message, offset, message_len, .. } = place;
        let mut beat = host::Packet::new_unchecked([0; 64]);
        let send = host::SendRepr { flow, message, offset, message_len, chunk_len };
        send.emit(&mut beat);
        prop_assert_eq!(host::SendRepr::parse(&beat), Ok(send));
        let payload = host::ReceiveRepr::Payload { flow, place, psn };
        payload.emit(&mut beat);
        prop_assert_eq!(host::ReceiveRepr::parse(&beat), Ok(payload));
        let completion = host::ReceiveRepr::Completion { flow, message, message_len, psn };
        completion.emit(&mut beat);
        prop_assert_eq!(host::ReceiveRepr::parse(&beat), Ok(completion));
    }

    #[test]
    fn crc_is_that_of_the_bits(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(crc32c(&bytes), crc_by_bits(&bytes));
        let mut padded = bytes.clone();
        padded.resize(bytes.len().next_multiple_of(64), 0);
        prop_assert_eq!(crc32c_padded(&bytes), crc_by_bits(&padded));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(parse(&bytes, &FAR).is_err());
        let bytes = &bytes[..];
        let _ = ethernet::Packet::new_checked(bytes).map(|p| ethernet::Repr::parse(&p));
        let _ = ipv4::Packet::new_checked(bytes).map(|p| ipv4::Repr::parse(&p));
        let _ = ipv6::Packet::new_checked(bytes).map(|p| ipv6::Repr::parse(&p));
        let _ = udp::Packet::new_checked(bytes).map(|p| udp::Repr::parse(&p));
        let _ = header::Packet::new_checked(bytes).map(|p| Repr::parse(&p));
        let _ = host::Packet::new_checked(bytes).map(|p| host::SendRepr::parse(&p));
        let _ = host::Packet::new_checked(bytes).map(|p| host::ReceiveRepr::parse(&p));
    }

    /// Bytes behind addresses that are ours, so that they come further.
    #[test]
    fn no_bytes_behind_ours_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 54..300), ipv6: bool,
    ) {
        let ether_type = if ipv6 { ethernet::IPV6 } else { ethernet::IPV4 };
        let mut link = ethernet::Packet::new_unchecked(&mut bytes[..]);
        link.set_destination(FAR.mac);
        link.set_ether_type(ether_type);
        if ipv6 {
            let mut ip = ipv6::Packet::new_unchecked(link.payload_mut());
            ip.set_first_word(0, 0, 0);
            ip.set_next_header(ipv6::UDP);
            ip.set_destination(FAR.ipv6);
        } else {
            let mut ip = ipv4::Packet::new_unchecked(link.payload_mut());
            ip.set_version();
            ip.set_unfragmented();
            ip.set_protocol(ipv4::UDP);
            ip.set_destination(FAR.ipv4);
            ip.fill_checksum();
        }
        let udp = if ipv6 { 54 } else { 34 };
        if let Some(udp) = bytes.get_mut(udp..udp + 8) {
            udp::Packet::new_unchecked(udp).set_destination_port(FAR.udp_port);
        }
        let cause = parse(&bytes, &FAR).expect_err("random");
        let truncated = bytes.len() < frame_bytes(ipv6, 0);
        prop_assert_eq!(cause == DropCause::Truncated, truncated);
        prop_assert!(truncated || cause.code() >= DropCause::BadLength.code());
    }
}

/// The headers' own parsers say what they were given.
#[test]
fn layers_read_back() {
    let bytes = |length| vec![0xa5u8; length];
    let ethernet = ethernet::Repr {
        destination: MacAddress([1, 2, 3, 4, 5, 6]),
        source: MacAddress([7, 8, 9, 10, 11, 12]),
        ether_type: 0x1234,
    };
    let mut packet = ethernet::Packet::new_checked(bytes(14)).expect("long enough");
    ethernet.emit(&mut packet);
    assert_eq!(ethernet::Repr::parse(&packet), ethernet);
    assert_eq!(ethernet.source.to_string(), "07:08:09:0a:0b:0c");

    let ip = ipv4::Repr {
        source: [1, 2, 3, 4].into(),
        destination: [5, 6, 7, 8].into(),
        protocol: 99,
        payload_len: 0x1234,
        ttl: 3,
        dscp: 0x3f,
        ecn: 3,
    };
    let mut packet = ipv4::Packet::new_checked(bytes(20)).expect("long enough");
    ip.emit(&mut packet);
    assert_eq!(ipv4::Repr::parse(&packet), Ok(ip));
    assert!(packet.dont_fragment() && packet.identification() == 0);

    let IpAddress::V6(source) = "1:2:3:4:5:6:7:8".parse().expect("an address") else {
        panic!("not IPv6")
    };
    let ip = ipv6::Repr {
        source,
        destination: std::net::Ipv6Addr::LOCALHOST,
        next_header: 99,
        payload_len: 0x1234,
        hop_limit: 3,
        dscp: 0x3e,
        ecn: 2,
        flow_label: 0xf_1234,
    };
    let mut packet = ipv6::Packet::new_checked(bytes(40)).expect("long enough");
    ip.emit(&mut packet);
    assert_eq!(ipv6::Repr::parse(&packet), Ok(ip));

    let udp = udp::Repr {
        source_port: 1,
        destination_port: 0xffff,
        payload_len: 0x1234,
    };
    let mut packet = udp::Packet::new_checked(bytes(8)).expect("long enough");
    udp.emit(&mut packet);
    assert_eq!(udp::Repr::parse(&packet), Ok(udp));
    assert!(packet.checksum() == 0 && !packet.is_empty());
    assert_eq!(frame::HOPS, 64);
}
