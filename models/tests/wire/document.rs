//! The example frames of `docs/wire-format.md` are what is emitted.

use crate::{context, emit, frames, FAR, NEAR, RECEIVED_NS, SENT_NS};
use rondo_models::psn::Psn;
use rondo_models::wire::frame::{ack_frame, parse, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{DropCause, FlowContext, IpAddress};

const DOCUMENT: &str = include_str!("../../../docs/wire-format.md");

/// The bytes of the hex blocks: an offset, bytes, and an explanation behind four spaces or more.
fn examples() -> Vec<Vec<u8>> {
    let (_, section) = DOCUMENT.split_once("## An example").expect("a section");
    let (section, _) = section.split_once("\n## ").expect("another section");
    let blocks = section.split("```").skip(1).step_by(2);
    blocks
        .map(|block| block.trim_matches('\n'))
        .map(bytes)
        .collect()
}

fn bytes(block: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in block.lines() {
        let (offset, rest) = line.trim_start().split_once("  ").expect("an offset");
        assert_eq!(offset.parse(), Ok(bytes.len()), "{line}");
        let (hex, explanation) = rest.split_once("    ").expect("an explanation");
        assert!(!explanation.trim().is_empty(), "{line}");
        bytes.extend(
            hex.split(' ')
                .map(|b| u8::from_str_radix(b, 16).expect(line)),
        );
    }
    bytes
}

#[test]
fn example_frames_are_what_is_emitted() {
    let (data, payload) = frames(false)[0];
    // The receiver's own context of the flow, whose number at the data's sender is 9.
    let back = FlowContext {
        peer_flow: 9,
        source_port: 57_344,
        peer_mac: NEAR.mac,
        peer_ip: IpAddress::V4(NEAR.ipv4),
        ..context(false)
    };
    let ack = Acknowledgement {
        path: 2,
        of: Acked::Data {
            psn: Psn::new(17),
            expected: Psn::new(18),
            selective: 0x3_ffff,
        },
        nak: false,
        duplicate: false,
        sent_ns: SENT_NS,
        received_ns: RECEIVED_NS,
    };
    let ack = ack_frame(&FAR, &back, &ack);
    assert_eq!(examples(), [emit(&data, payload), emit(&ack, &[])]);
    assert!(parse(&examples()[1], &NEAR).is_ok());
}

/// The table of causes has every code with its name, in order.
#[test]
fn causes_are_those_of_the_document() {
    let rows = DOCUMENT.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((cells.next()?.parse::<u8>().ok()?, cells.next()?.to_owned()))
    });
    let expected = DropCause::ALL
        .iter()
        .map(|cause| (cause.code(), format!("`{}`", cause.name())));
    assert!(rows.eq(expected));
}
