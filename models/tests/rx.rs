//! What becomes of a received frame: the checks that need its flow, and their order.

use rondo_models::psn::Psn;
use rondo_models::rx::{classify, classify_headers, Received};
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{ack_frame, data_frame, probe_frame, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{
    DropCause, FlowContext, FrameRepr, Identity, IpAddress, MacAddress, Place, Segment,
};
use std::net::{Ipv4Addr, Ipv6Addr};

const NEAR: Identity = Identity {
    mac: MacAddress([2, 0, 0, 0, 0, 1]),
    ipv4: Ipv4Addr::new(192, 0, 2, 1),
    ipv6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    udp_port: 4793,
};
const FAR: Identity = Identity {
    mac: MacAddress([2, 0, 0, 0, 0, 2]),
    ipv4: Ipv4Addr::new(192, 0, 2, 2),
    ipv6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
    udp_port: 4793,
};
const FLOW: u16 = 3;
const MTU: u16 = 128;

fn ip_of(identity: &Identity, ipv6: bool) -> IpAddress {
    if ipv6 {
        IpAddress::V6(identity.ipv6)
    } else {
        IpAddress::V4(identity.ipv4)
    }
}

/// A flow to `peer`, whose number is `FLOW` on both sides.
fn context(peer: &Identity, ipv6: bool) -> FlowContext {
    FlowContext {
        mtu: MTU,
        valid: true,
        source_port: 0xc350,
        peer_flow: FLOW,
        epoch: 7,
        peer_mac: peer.mac,
        peer_ip: ip_of(peer, ipv6),
    }
}

fn emit(repr: &FrameRepr, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; repr.frame_bytes()];
    repr.emit(payload, &mut frame);
    frame
}

fn data(context: &FlowContext, place: Place) -> Vec<u8> {
    let payload = vec![0x5a; place.payload_len.into()];
    let segment = Segment {
        place,
        payload_crc: crc32c_padded(&payload),
    };
    let repr = data_frame(&NEAR, context, &segment, Psn::new(9), 2, 11, false);
    emit(&repr, &payload)
}

/// What `FAR` says, who knows `FLOW` as `context`.
fn judged(frame: &[u8], context: FlowContext) -> Result<Received, DropCause> {
    classify(frame, &FAR, |flow| (flow == FLOW).then_some(context))
}

fn place(payload_len: u16, last: bool, offset: u32, message_len: u32) -> Place {
    Place {
        message: 5,
        offset,
        message_len,
        payload_len,
        last,
    }
}

#[test]
fn a_packet_is_as_long_as_its_flow_wants() {
    let end = u32::MAX;
    let cases = [
        (place(MTU, false, 0, 1_000), true),
        (place(MTU, true, 872, 1_000), true),
        (place(1, true, 999, 1_000), true),
        (place(MTU - 1, true, 0, 1_000), true),
        (place(MTU - 1, false, 0, 1_000), false),
        (place(MTU + 1, true, 0, 1_000), false),
        (place(MTU + 1, false, 0, 1_000), false),
        (place(MTU, true, 873, 1_000), false),
        (place(MTU, true, end - 128, end), true),
        (place(MTU, true, end - 127, end), false),
        (place(MTU, true, end, end), false),
    ];
    for ipv6 in [false, true] {
        for (place, right) in cases {
            let frame = data(&context(&FAR, ipv6), place);
            let expected = if right {
                Ok(Received::Data {
                    flow: FLOW,
                    psn: Psn::new(9),
                    path: 2,
                    place,
                    sent_ns: 11,
                    payload_crc: crc32c_padded(&vec![0x5a; place.payload_len.into()]),
                    payload: if ipv6 { 100 } else { 80 }..frame.len(),
                })
            } else {
                Err(DropCause::WrongSize)
            };
            assert_eq!(judged(&frame, context(&NEAR, ipv6)), expected, "{place:?}");
        }
    }
}

#[test]
fn a_probe_is_a_full_packet() {
    for (mtu, right) in [(MTU, true), (MTU - 64, false), (MTU + 64, false)] {
        let far = FlowContext {
            mtu,
            ..context(&FAR, false)
        };
        let frame = emit(&probe_frame(&NEAR, &far, 4, 12), &[]);
        let probe = Received::Probe {
            flow: FLOW,
            path: 4,
            sent_ns: 12,
        };
        let expected = if right {
            Ok(probe)
        } else {
            Err(DropCause::WrongSize)
        };
        assert_eq!(judged(&frame, context(&NEAR, false)), expected);
    }
}

#[test]
fn an_ack_says_what_was_said() {
    for of in [
        Acked::Probe,
        Acked::Data {
            psn: Psn::new(9),
            expected: Psn::new(8),
            selective: 0x2ff,
        },
    ] {
        let acknowledgement = Acknowledgement {
            path: 15,
            of,
            nak: of != Acked::Probe,
            duplicate: true,
            sent_ns: 13,
            received_ns: 14,
        };
        let frame = emit(
            &ack_frame(&NEAR, &context(&FAR, true), &acknowledgement),
            &[],
        );
        let expected = Received::Ack {
            flow: FLOW,
            acknowledgement,
        };
        assert_eq!(judged(&frame, context(&NEAR, true)), Ok(expected));
    }
}

/// Faults with the last check first, so that every further one comes before all that are there.
#[test]
fn the_first_check_names_the_cause() {
    let mut near = context(&NEAR, false);
    let mut frame = data(&context(&FAR, false), place(MTU, false, 0, 1_000));
    assert!(judged(&frame, near).is_ok());
    frame[100] ^= 1;
    assert_eq!(judged(&frame, near), Err(DropCause::PayloadCrc));
    assert!(classify_headers(&frame, &FAR, |_| Some(near)).is_ok());
    near.mtu = 64;
    assert_eq!(judged(&frame, near), Err(DropCause::WrongSize));
    for other in [
        FlowContext { epoch: 8, ..near },
        FlowContext {
            peer_ip: ip_of(&FAR, false),
            ..near
        },
        FlowContext {
            peer_ip: ip_of(&NEAR, true),
            ..near
        },
    ] {
        assert_eq!(judged(&frame, other), Err(DropCause::WrongPeer));
        let closed = FlowContext {
            valid: false,
            ..other
        };
        assert_eq!(judged(&frame, closed), Err(DropCause::UnknownFlow));
    }
    assert_eq!(
        classify(&frame, &FAR, |_| None),
        Err(DropCause::UnknownFlow)
    );
    frame[79] ^= 1;
    assert_eq!(classify(&frame, &FAR, |_| None), Err(DropCause::HeaderCrc));
}
