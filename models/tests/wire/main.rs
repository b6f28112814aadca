//! The wire format against literal frames, properties, random mutations and another parser.

mod bytes;
mod document;
mod drops;
mod literal;
mod mutations;
mod oracle;
mod properties;

use rondo_models::psn::Psn;
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{ack_frame, data_frame, probe_frame, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{FlowContext, FrameRepr, Identity, IpAddress, MacAddress, Place, Segment};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The NIC that sends.
const NEAR: Identity = Identity {
    mac: MacAddress([0x02, 0, 0, 0, 0, 0xa1]),
    ipv4: Ipv4Addr::new(192, 0, 2, 1),
    ipv6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    udp_port: 4793,
};

/// The NIC that receives.
const FAR: Identity = Identity {
    mac: MacAddress([0x02, 0, 0, 0, 0, 0xb2]),
    ipv4: Ipv4Addr::new(192, 0, 2, 2),
    ipv6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
    udp_port: 4793,
};

/// What `NEAR` knows of a flow to `FAR`.
fn context(ipv6: bool) -> FlowContext {
    FlowContext {
        mtu: 4,
        valid: true,
        source_port: 0xc350,
        peer_flow: 3,
        epoch: 0x0102,
        peer_mac: FAR.mac,
        peer_ip: if ipv6 {
            IpAddress::V6(FAR.ipv6)
        } else {
            IpAddress::V4(FAR.ipv4)
        },
    }
}

const PAYLOAD: &[u8] = b"Rondo";
const SENT_NS: u32 = 0x1112_1314;
const RECEIVED_NS: u32 = 0x2122_2324;

/// A frame of every kind with its payload.
fn frames(ipv6: bool) -> [(FrameRepr, &'static [u8]); 5] {
    let context = context(ipv6);
    let segment = Segment {
        place: Place {
            message: 5,
            offset: 4096,
            message_len: 4101,
            payload_len: 5,
            last: true,
        },
        payload_crc: crc32c_padded(PAYLOAD),
    };
    let ack = |path, of, nak, duplicate| {
        let ack = Acknowledgement {
            path,
            of,
            nak,
            duplicate,
            sent_ns: SENT_NS,
            received_ns: RECEIVED_NS,
        };
        ack_frame(&NEAR, &context, &ack)
    };
    let wrapped = Acked::Data {
        psn: Psn::new(0xff_ff40),
        expected: Psn::new(0xff_fffe),
        selective: 0x8000_0000_0000_0001,
    };
    let gap = Acked::Data {
        psn: Psn::new(17),
        expected: Psn::new(16),
        selective: 0x2_ffff,
    };
    [
        (
            data_frame(&NEAR, &context, &segment, Psn::new(17), 2, SENT_NS, true),
            PAYLOAD,
        ),
        (probe_frame(&NEAR, &context, 1, SENT_NS), &[]),
        (ack(2, wrapped, false, true), &[]),
        (ack(1, Acked::Probe, false, false), &[]),
        (ack(15, gap, true, false), &[]),
    ]
}

fn emit(repr: &FrameRepr, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0xa5; repr.frame_bytes() + 1];
    let length = repr.emit(payload, &mut out);
    assert_eq!((length, out.pop()), (repr.frame_bytes(), Some(0xa5)));
    out
}
