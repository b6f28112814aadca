//! Every kind on both versions of IP, byte by byte.

use crate::{bytes, emit, frames, FAR};
use rondo_models::wire::crc::{crc32c, crc32c_padded};
use rondo_models::wire::{frame, host, Place};

const IPV4: [&[&[u8]]; 5] = [
    bytes::DATA_IPV4,
    bytes::PROBE_IPV4,
    bytes::ACK_IPV4,
    bytes::ACK_OF_PROBE_IPV4,
    bytes::NAK_IPV4,
];
const IPV6: [&[&[u8]]; 5] = [
    bytes::DATA_IPV6,
    bytes::PROBE_IPV6,
    bytes::ACK_IPV6,
    bytes::ACK_OF_PROBE_IPV6,
    bytes::NAK_IPV6,
];

#[test]
fn every_kind_on_both_versions() {
    for (ipv6, literals) in [(false, IPV4), (true, IPV6)] {
        for ((repr, payload), literal) in frames(ipv6).iter().zip(literals) {
            let literal = literal.concat();
            assert_eq!(emit(repr, payload), literal, "{repr:?}");
            let (parsed, range) = frame::parse(&literal, &FAR).expect("valid");
            assert_eq!(parsed, *repr);
            assert_eq!(range.end, literal.len());
            let zeros = vec![0; range.len()];
            let expected = if payload.is_empty() {
                &zeros[..]
            } else {
                payload
            };
            assert_eq!(&literal[range], expected);
        }
    }
}

#[test]
fn an_ack_frame_is_80_or_100_bytes() {
    assert_eq!(bytes::ACK_IPV4.concat().len(), 80);
    assert_eq!(bytes::ACK_IPV6.concat().len(), 100);
}

#[test]
fn crc_of_known_strings() {
    assert_eq!(crc32c(b""), 0);
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    // RFC 3720, B.4, its bytes read as little-endian.
    assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    let ascending: Vec<u8> = (0..32).collect();
    assert_eq!(crc32c(&ascending), 0x46dd_794e);

    assert_eq!(crc32c_padded(b""), 0);
    assert_eq!(crc32c_padded(&[7; 64]), crc32c(&[7; 64]));
    assert_eq!(
        crc32c_padded(&[7; 65]),
        crc32c(&[&[7; 65][..], &[0; 63]].concat())
    );
}

#[test]
fn host_stream_beats() {
    use rondo_models::psn::Psn;
    let beat = |start: &[u8]| {
        let mut beat = [0; 64];
        beat[..start.len()].copy_from_slice(start);
        beat
    };
    let mut out = host::Packet::new_unchecked([0xa5; 64]);

    let send = host::SendRepr {
        flow: 0x0102,
        message: 0x1112_1314,
        offset: 0x2122_2324,
        message_len: 0x3132_3334,
        chunk_len: 0x4142_4344,
    };
    let expected = beat(&[
        1, 0, 0x02, 0x01, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31,
        0x44, 0x43, 0x42, 0x41,
    ]);
    send.emit(&mut out);
    assert_eq!(out, host::Packet::new_unchecked(expected));
    assert_eq!(host::SendRepr::parse(&out), Ok(send));

    let payload = host::ReceiveRepr::Payload {
        flow: 0x0102,
        place: Place {
            message: 0x1112_1314,
            offset: 0x2122_2324,
            message_len: 0x3132_3334,
            payload_len: 0x2400,
            last: true,
        },
        psn: Psn::new(0x51_5253),
    };
    let expected = beat(&[
        1, 1, 0x02, 0x01, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31,
        0x00, 0x24, 0, 0, 0x53, 0x52, 0x51, 0,
    ]);
    payload.emit(&mut out);
    assert_eq!(out, host::Packet::new_unchecked(expected));
    assert_eq!(host::ReceiveRepr::parse(&out), Ok(payload));

    let completion = host::ReceiveRepr::Completion {
        flow: 0x0102,
        message: 0x1112_1314,
        message_len: 0x3132_3334,
        psn: Psn::new(0x51_5253),
    };
    let expected = beat(&[
        2, 1, 0x02, 0x01, 0x14, 0x13, 0x12, 0x11, 0, 0, 0, 0, 0x34, 0x33, 0x32, 0x31, 0, 0, 0, 0,
        0x53, 0x52, 0x51, 0,
    ]);
    completion.emit(&mut out);
    assert_eq!(out, host::Packet::new_unchecked(expected));
    assert_eq!(host::ReceiveRepr::parse(&out), Ok(completion));
}

#[test]
fn host_stream_errors() {
    use rondo_models::wire::Error;
    assert_eq!(
        host::Packet::new_checked([0; 63]).err(),
        Some(Error::Truncated)
    );
    let beat = |start: &[u8]| {
        let mut beat = [0; 64];
        beat[..start.len()].copy_from_slice(start);
        host::Packet::new_checked(beat).expect("a beat")
    };
    for operation in [0, 2, 0xff] {
        assert_eq!(
            host::SendRepr::parse(&beat(&[operation])),
            Err(Error::Malformed)
        );
    }
    let mut long = [0; 24];
    (long[0], long[17]) = (1, 0x40);
    let mut wide = [0; 24];
    (wide[0], wide[23]) = (2, 1);
    for bytes in [&[0][..], &[3], &long, &wide] {
        assert_eq!(
            host::ReceiveRepr::parse(&beat(bytes)),
            Err(Error::Malformed)
        );
    }
}
