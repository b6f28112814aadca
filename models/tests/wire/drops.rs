//! Every cause of a drop that needs no flow, and which of two comes first.

use crate::{context, emit, frames, FAR, NEAR};
use rondo_models::psn::Psn;
use rondo_models::wire::frame::{self, data_frame, parse};
use rondo_models::wire::{header, ipv4, DropCause, Place, Segment};

/// A valid frame of some kind, and where UDP starts in it.
struct Frame {
    bytes: Vec<u8>,
    ipv6: bool,
    udp: usize,
}

impl Frame {
    fn new(ipv6: bool, kind: usize) -> Self {
        let (repr, payload) = frames(ipv6)[kind];
        Self {
            bytes: emit(&repr, payload),
            ipv6,
            udp: if ipv6 { 54 } else { 34 },
        }
    }

    fn set(mut self, at: usize, value: u8) -> Self {
        self.bytes[at] = value;
        self
    }

    /// Sets a byte of the Rondo header.
    fn rondo(self, at: usize, value: u8) -> Self {
        let start = self.udp + 8;
        self.set(start + at, value)
    }

    fn fix_ip(mut self) -> Self {
        if !self.ipv6 {
            ipv4::Packet::new_unchecked(&mut self.bytes[14..]).fill_checksum();
        }
        self
    }

    fn fix_crc(mut self) -> Self {
        header::Packet::new_unchecked(&mut self.bytes[self.udp + 8..]).fill_header_crc();
        self
    }

    fn cause(&self) -> Option<DropCause> {
        parse(&self.bytes, &FAR).err()
    }
}

const DATA: usize = 0;
const PROBE: usize = 1;
const ACK: usize = 2;
const ACK_OF_PROBE: usize = 3;
const NAK: usize = 4;

/// Faults with code 10 first, so that every further one comes before all that are there.
#[test]
fn the_first_check_names_the_cause() {
    for ipv6 in [false, true] {
        let (destination, protocol) = if ipv6 { (53, 20) } else { (33, 23) };
        let faults: [(DropCause, &dyn Fn(Frame) -> Frame); 10] = [
            (DropCause::HeaderCrc, &|f| f.rondo(37, 0).rondo(36, 0)),
            (DropCause::BadFormat, &|f| f.rondo(0, 0x20)),
            (DropCause::BadLength, &|f| {
                let at = f.udp + 5;
                f.set(at, 0)
            }),
            (DropCause::ForeignPort, &|f| {
                let at = f.udp + 3;
                f.set(at, 0)
            }),
            (DropCause::NotUdp, &|f| f.set(protocol, 6).fix_ip()),
            (DropCause::ForeignIp, &|f| f.set(destination, 9).fix_ip()),
            (DropCause::BadIp, &|f| f.set(14, 0x55)),
            (DropCause::ForeignEtherType, &|f| f.set(13, 6).set(12, 8)),
            (DropCause::ForeignMac, &|f| f.set(5, 9)),
            (DropCause::Truncated, &|mut f| {
                f.bytes.truncate(79);
                f
            }),
        ];
        let mut frame = Frame::new(ipv6, DATA);
        assert_eq!(frame.cause(), None);
        for (cause, fault) in faults {
            assert_eq!(fault(Frame::new(ipv6, DATA)).cause(), Some(cause), "alone");
            frame = fault(frame);
            assert_eq!(frame.cause(), Some(cause), "before later ones");
        }
    }
}

#[test]
fn bad_ip() {
    let bad = |frame: Frame| assert_eq!(frame.cause(), Some(DropCause::BadIp));
    let v4 = || Frame::new(false, ACK);
    for version_ihl in [0x44, 0x46, 0x35, 0x65, 0x00] {
        bad(v4().set(14, version_ihl).fix_ip());
    }
    bad(v4().set(20, 0x60).fix_ip()); // more fragments
    bad(v4().set(20, 0x50).fix_ip()); // offset, high bit
    bad(v4().set(21, 0x01).fix_ip()); // offset, low bit
    for at in 14..34 {
        let frame = v4();
        let byte = frame.bytes[at];
        bad(frame.set(at, byte ^ 0x10)); // checksum
    }
    for version in [0x40, 0x70, 0x20] {
        bad(Frame::new(true, ACK).set(14, version));
    }
}

/// What is not part of a frame's meaning may be anything.
#[test]
fn ignored_fields() {
    let v4 = Frame::new(false, DATA)
        .set(15, 0xff) // DSCP, ECN
        .set(18, 1) // identification
        .set(20, 0) // may be fragmented
        .set(22, 1) // TTL
        .fix_ip();
    let v6 = Frame::new(true, DATA)
        .set(14, 0x6f) // class and flow label
        .set(15, 0xff)
        .set(16, 0xff)
        .set(21, 1); // hop limit
    for frame in [v4, v6] {
        let checksum = frame.udp + 6;
        let frame = frame
            .set(checksum, 0x12)
            .rondo(1, 0xff)
            .rondo(2, 0xf2) // upper bits of the path
            .rondo(3, 0xff) // reserved
            .fix_crc();
        let (repr, _) = parse(&frame.bytes, &FAR).expect("valid");
        assert_eq!(repr, frames(frame.ipv6)[DATA].0);
    }
    for ipv6 in [false, true] {
        let mut probe = Frame::new(ipv6, PROBE).rondo(1, 0xff);
        for at in (12..24).chain(28..32) {
            probe = probe.rondo(at, 0xff);
        }
        let (repr, _) = parse(&probe.fix_crc().bytes, &FAR).expect("valid");
        assert_eq!(repr, frames(ipv6)[PROBE].0);

        let mut ack = Frame::new(ipv6, ACK_OF_PROBE);
        for at in 12..24 {
            ack = ack.rondo(at, 0xff);
        }
        let (repr, _) = parse(&ack.fix_crc().bytes, &FAR).expect("valid");
        assert_eq!(repr, frames(ipv6)[ACK_OF_PROBE].0);

        let ack = Frame::new(ipv6, ACK).rondo(12, 0xff).fix_crc();
        let (repr, _) = parse(&ack.bytes, &FAR).expect("valid");
        assert_eq!(repr, frames(ipv6)[ACK].0);
    }
}

#[test]
fn bad_length() {
    for ipv6 in [false, true] {
        for kind in [DATA, PROBE, ACK, ACK_OF_PROBE, NAK] {
            let ip_length = if ipv6 { 19 } else { 17 };
            let fields = [ip_length, if ipv6 { 59 } else { 39 }];
            for at in fields.into_iter().chain(fields.map(|at| at - 1)) {
                for delta in [1, 0x80, 0xff] {
                    let frame = Frame::new(ipv6, kind);
                    let value = frame.bytes[at].wrapping_add(delta);
                    let cause = frame.set(at, value).fix_ip().cause();
                    assert_eq!(cause, Some(DropCause::BadLength));
                }
            }
            let longer = Frame::new(ipv6, kind).rondo(33, 77).fix_crc();
            assert_eq!(longer.cause(), Some(DropCause::BadLength));
            // As Ethernet pads short frames.
            let mut padded = Frame::new(ipv6, kind);
            padded.bytes.push(0);
            assert_eq!(padded.cause(), Some(DropCause::BadLength));
        }
        let mut short = Frame::new(ipv6, DATA);
        short.bytes.pop();
        assert_eq!(short.cause(), Some(DropCause::BadLength));
    }
}

#[test]
fn bad_format() {
    for ipv6 in [false, true] {
        let bad = |frame: Frame| assert_eq!(frame.cause(), Some(DropCause::BadFormat));
        let at = |kind| Frame::new(ipv6, kind);
        for version_kind in [0x00, 0x20, 0xf0, 0x14, 0x1f] {
            bad(at(DATA).rondo(0, version_kind).fix_crc());
        }
        for kind in [DATA, ACK, NAK] {
            bad(at(kind).rondo(8, 1).fix_crc()); // PSN of 25 bits
            bad(at(kind).rondo(8, 0xff).fix_crc());
        }
        for kind in [PROBE, ACK_OF_PROBE] {
            for byte in 8..12 {
                bad(at(kind).rondo(byte, 0xfe).fix_crc()); // not the reserved PSN
            }
        }
        bad(at(ACK_OF_PROBE).rondo(0, 0x13).fix_crc()); // NAK of a probe
        bad(at(DATA).rondo(0, 0x12).fix_crc()); // ACK with payload
        bad(at(DATA).rondo(0, 0x13).fix_crc());
        bad(at(ACK).rondo(0, 0x10).fix_crc()); // data without
        let longest = longest(ipv6, 9_216);
        assert_eq!(
            parse(&longest, &FAR).map(|(_, payload)| payload.len()),
            Ok(9_216)
        );
        assert_eq!(
            parse(&self::longest(ipv6, 9_217), &FAR),
            Err(DropCause::BadFormat)
        );
    }
}

fn longest(ipv6: bool, payload_len: u16) -> Vec<u8> {
    let place = Place {
        payload_len,
        ..Place::default()
    };
    let segment = Segment {
        place,
        payload_crc: 0,
    };
    let repr = data_frame(&NEAR, &context(ipv6), &segment, Psn::new(0), 0, 0, false);
    emit(&repr, &vec![0; payload_len.into()])
}

#[test]
fn header_crc_covers_the_header() {
    for ipv6 in [false, true] {
        for kind in [DATA, PROBE, ACK, ACK_OF_PROBE, NAK] {
            for bit in (16..32 * 8).chain(34 * 8..38 * 8) {
                let frame = Frame::new(ipv6, kind);
                let at = frame.udp + 8 + bit / 8;
                let value = frame.bytes[at] ^ 1 << (bit % 8);
                let cause = frame.set(at, value).cause();
                let psn = (64..96).contains(&bit);
                let format = psn && cause == Some(DropCause::BadFormat);
                assert!(cause == Some(DropCause::HeaderCrc) || format, "bit {bit}");
            }
        }
    }
}

#[test]
fn truncated_at_every_length() {
    for ipv6 in [false, true] {
        for kind in [DATA, PROBE, ACK, ACK_OF_PROBE, NAK] {
            let frame = Frame::new(ipv6, kind);
            let shortest = frame::frame_bytes(ipv6, 0);
            for length in 0..frame.bytes.len() {
                let cause = match length < shortest {
                    true => DropCause::Truncated,
                    false => DropCause::BadLength,
                };
                assert_eq!(parse(&frame.bytes[..length], &FAR).err(), Some(cause));
            }
        }
    }
}

#[test]
fn codes_and_names() {
    let names = [
        "truncated",
        "foreign_mac",
        "foreign_ether_type",
        "bad_ip",
        "foreign_ip",
        "not_udp",
        "foreign_port",
        "bad_length",
        "bad_format",
        "header_crc",
        "unknown_flow",
        "wrong_peer",
        "wrong_size",
        "payload_crc",
        "no_buffer",
    ];
    assert_eq!(DropCause::ALL.len(), names.len());
    for (code, (&cause, name)) in (1..).zip(DropCause::ALL.iter().zip(names)) {
        assert_eq!((cause.code(), cause.name()), (code, name));
        assert_eq!(DropCause::from_code(code), Some(cause));
    }
    assert_eq!(DropCause::from_code(0), None);
    assert_eq!(DropCause::from_code(16), None);
}
