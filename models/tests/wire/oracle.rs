//! Another parser reads what is emitted here.

use crate::emit;
use crate::properties::{frames, payload_of};
use etherparse::{LinkSlice, NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use rondo_models::wire::frame::IpAddresses;
use rondo_models::wire::header::Repr;

proptest! {
    #[test]
    fn etherparse_agrees(frame in frames()) {
        let bytes = emit(&frame, &payload_of(&frame));
        let packet = SlicedPacket::from_ethernet(&bytes).expect("parses");
        let Some(LinkSlice::Ethernet2(link)) = packet.link else { panic!("no Ethernet") };
        prop_assert_eq!(link.source(), frame.source_mac.0);
        prop_assert_eq!(link.destination(), frame.destination_mac.0);
        prop_assert!(packet.link_exts.is_empty());
        let dscp = match frame.header {
            Repr::Data { .. } => 26,
            Repr::Probe { .. } => 8,
            Repr::Ack { .. } => 46,
        };
        match (packet.net, frame.ip) {
            (Some(NetSlice::Ipv4(ip)), IpAddresses::V4 { source, destination }) => {
                let header = ip.header();
                prop_assert_eq!(header.source_addr(), source);
                prop_assert_eq!(header.destination_addr(), destination);
                prop_assert_eq!(usize::from(header.total_len()), bytes.len() - 14);
                prop_assert_eq!((header.dcp().value(), header.ecn().value()), (dscp, 0));
                prop_assert_eq!((header.ttl(), header.identification()), (64, 0));
                prop_assert!(header.dont_fragment() && !ip.is_payload_fragmented());
                prop_assert!(header.options().is_empty());
                let checksum = header.to_header().calc_header_checksum();
                prop_assert_eq!(header.header_checksum(), checksum);
            }
            (Some(NetSlice::Ipv6(ip)), IpAddresses::V6 { source, destination }) => {
                let header = ip.header();
                prop_assert_eq!(header.source_addr(), source);
                prop_assert_eq!(header.destination_addr(), destination);
                prop_assert_eq!(usize::from(header.payload_length()), bytes.len() - 54);
                prop_assert_eq!(header.traffic_class(), dscp << 2);
                prop_assert_eq!(header.flow_label().value(), u32::from(frame.source_port));
                prop_assert_eq!(header.hop_limit(), 64);
                prop_assert!(ip.extensions().is_empty());
            }
            other => panic!("wrong version: {other:?}"),
        }
        let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no UDP") };
        prop_assert_eq!(udp.source_port(), frame.source_port);
        prop_assert_eq!(udp.destination_port(), frame.destination_port);
        prop_assert_eq!(udp.checksum(), 0);
        prop_assert_eq!(udp.payload().len(), usize::from(udp.length()) - 8);
        let payload_len = usize::from(frame.header.payload_len());
        prop_assert_eq!(udp.payload().len(), 38 + payload_len);
    }
}
