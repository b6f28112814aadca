//! Valid frames with random faults: parse names a cause, or what it says is in the bytes. The bytes
//! are read here by the offsets of `docs/wire-format.md`, not by the views.

use crate::{emit, frames, FAR};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::wire::frame::{parse, IpAddresses};
use rondo_models::wire::header::{Acked, Repr};
use rondo_models::wire::{header, ipv4, DropCause, FrameRepr};
use std::collections::BTreeMap;

const MUTATIONS: usize = 200_000;

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte))
}

/// Demands that `repr` says what is in `frame`.
fn same(frame: &[u8], repr: &FrameRepr) {
    assert_eq!(repr.destination_mac.0, frame[..6]);
    assert_eq!(repr.source_mac.0, frame[6..12]);
    let udp = match repr.ip {
        IpAddresses::V4 {
            source,
            destination,
        } => {
            assert_eq!(frame[12..15], [0x08, 0x00, 0x45]);
            assert_eq!(number(&frame[16..18]), frame.len() as u64 - 14);
            assert_eq!(number(&frame[20..22]) & 0x3fff, 0, "a fragment");
            let words = frame[14..34].chunks(2).map(number).sum::<u64>();
            assert_eq!(words % 0xffff, 0, "checksum");
            assert_eq!(frame[23], 17);
            assert_eq!(source.octets(), frame[26..30]);
            assert_eq!(destination.octets(), frame[30..34]);
            34
        }
        IpAddresses::V6 {
            source,
            destination,
        } => {
            assert_eq!((&frame[12..14], frame[14] >> 4), (&[0x86, 0xdd][..], 6));
            assert_eq!(number(&frame[18..20]), frame.len() as u64 - 54);
            assert_eq!(frame[20], 17);
            assert_eq!(source.octets(), frame[22..38]);
            assert_eq!(destination.octets(), frame[38..54]);
            54
        }
    };
    assert_eq!(u64::from(repr.source_port), number(&frame[udp..udp + 2]));
    assert_eq!(
        u64::from(repr.destination_port),
        number(&frame[udp + 2..udp + 4])
    );
    let udp_len = frame.len() - udp;
    assert_eq!(number(&frame[udp + 4..udp + 6]), udp_len as u64);
    same_header(&frame[udp + 8..], &repr.header);
}

fn same_header(bytes: &[u8], repr: &Repr) {
    let at = |from: usize, to: usize| number(&bytes[from..to]);
    let flag = |bit: u32| bytes[1] >> bit & 1 == 1;
    let kind = match repr {
        Repr::Data { .. } => 0x10,
        Repr::Probe { .. } => 0x11,
        Repr::Ack { nak: false, .. } => 0x12,
        Repr::Ack { nak: true, .. } => 0x13,
    };
    assert_eq!(bytes[0], kind);
    assert_eq!(repr.path(), bytes[2] & 0xf);
    assert_eq!(u64::from(repr.flow()), at(4, 6));
    assert_eq!(u64::from(repr.epoch()), at(6, 8));
    assert_eq!(u64::from(repr.payload_len()), at(32, 34));
    assert_eq!(usize::from(repr.payload_len()), bytes.len() - 38);
    match *repr {
        Repr::Data {
            psn,
            place,
            payload_crc,
            sent_ns,
            retransmission,
            ..
        } => {
            assert_eq!(u64::from(psn.value()), at(8, 12));
            assert_eq!(u64::from(place.message), at(12, 16));
            assert_eq!(u64::from(place.offset), at(16, 20));
            assert_eq!(u64::from(place.message_len), at(20, 24));
            assert_eq!(u64::from(sent_ns), at(24, 28));
            assert_eq!(u64::from(payload_crc), at(28, 32));
            assert_eq!((place.last, retransmission), (flag(0), flag(1)));
            assert!((1..=9_216).contains(&place.payload_len));
        }
        Repr::Probe { sent_ns, .. } => {
            assert_eq!(at(8, 12), 0xffff_ffff);
            assert_eq!(u64::from(sent_ns), at(24, 28));
        }
        Repr::Ack {
            of,
            duplicate,
            sent_ns,
            received_ns,
            ..
        } => {
            assert_eq!((of == Acked::Probe, duplicate), (flag(2), flag(3)));
            assert_eq!(u64::from(sent_ns), at(24, 28));
            assert_eq!(u64::from(received_ns), at(28, 32));
            match of {
                Acked::Data {
                    psn,
                    expected,
                    selective,
                } => {
                    assert_eq!(u64::from(psn.value()), at(8, 12));
                    assert_eq!(u64::from(expected.value()), at(13, 16));
                    assert_eq!(selective, at(16, 24));
                }
                Acked::Probe => assert_eq!((at(8, 12), kind), (0xffff_ffff, 0x12)),
            }
        }
    }
}

struct Mutator(SmallRng);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound)
    }

    /// One to three faults; then half of the checksums are put right again, so that what they cover
    /// is read.
    fn mutate(&mut self, frame: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(frame.len());
            match self.below(8) {
                0 => frame.truncate(at),
                1 => frame.push(self.0.random()),
                2 => frame[at] = self.0.random(),
                3 => frame[at] = [0, 1, 0xff, 0x80][self.below(4)],
                _ => frame[at] ^= 1 << self.below(8),
            }
            if frame.is_empty() {
                return;
            }
        }
        let ipv6 = frame.get(12..14) == Some(&[0x86, 0xdd]);
        let rondo = if ipv6 { 62 } else { 42 };
        if self.below(2) == 0 && !ipv6 && frame.len() >= 34 {
            ipv4::Packet::new_unchecked(&mut frame[14..]).fill_checksum();
        }
        if self.below(2) == 0 && frame.len() >= rondo + 38 {
            header::Packet::new_unchecked(&mut frame[rondo..]).fill_header_crc();
        }
    }
}

#[test]
fn a_mutated_frame_is_refused_or_read_as_it_is() {
    let mut mutator = Mutator(SmallRng::seed_from_u64(7));
    let valid: Vec<Vec<u8>> = [false, true]
        .into_iter()
        .flat_map(|ipv6| frames(ipv6).map(|(repr, payload)| emit(&repr, payload)))
        .collect();
    let mut dropped: BTreeMap<DropCause, usize> = BTreeMap::new();
    let mut accepted = [0; 4];
    for _ in 0..MUTATIONS {
        let mut frame = valid[mutator.below(valid.len())].clone();
        mutator.mutate(&mut frame);
        match parse(&frame, &FAR) {
            Ok((repr, payload)) => {
                assert_eq!(payload.end, frame.len());
                same(&frame, &repr);
                accepted[repr.header.kind() as usize] += 1;
            }
            Err(cause) => *dropped.entry(cause).or_default() += 1,
        }
    }
    assert_eq!(
        dropped.keys().map(|cause| cause.code()).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    );
    assert!(
        dropped.values().chain(&accepted).all(|&n| n > 100),
        "{dropped:?} {accepted:?}"
    );
}
