//! Captures of the network simulator are in the wire format.

use crate::{check, number, read, stdout};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two flows into one host, across the wrap of the PSN, with every kind of packet: probes, losses,
/// and a reorder buffer so small that it refuses packets.
const SCENARIO: &str = r#"
name = "captured"
duration_us = 5000.0
first_psn = 16_777_200

[topology]
kind = "four-path"
senders = 2
receivers = 1

[nic]
reorder_bytes = 30_000

[transport]
kind = "rondo"

[[traffic]]
kind = "incast"
senders = 2
receiver = 2
bytes = 300_500

[[event]]
at_us = 0.0
port = "tor0>spine1"
loss = 0.01
"#;

const FLOW_BYTES: u64 = 300_500;
const PAYLOAD_BYTES: u64 = 1_000;

/// Captures of both directions of the receiver's link.
fn captures(folder: &Path) -> [PathBuf; 2] {
    let scenario = folder.join("captured.toml");
    std::fs::write(&scenario, SCENARIO).expect("a scenario");
    let run = Command::new(env!("CARGO_BIN_EXE_rondo"))
        .args([
            "net", "run", "--seed", "1", "--pcap", "tor1>h2", "--pcap", "h2>tor1",
        ])
        .arg("-o")
        .arg(folder)
        .arg(scenario)
        .output();
    stdout(&run.expect("rondo runs"));
    ["tor1-h2.pcap", "h2-tor1.pcap"].map(|name| folder.join(name))
}

#[test]
fn captures_of_the_simulator_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, acks] = captures(folder.path());
    let report = stdout(&check(&data));
    for kind in [" data, IPv4, cut off", " probe, IPv4, cut off", " 0 bad"] {
        assert!(report.contains(kind), "{report}");
    }
    let report = stdout(&check(&acks));
    for kind in [" ack, IPv4", " nak, IPv4", " 0 bad"] {
        assert!(report.contains(kind), "{report}");
    }
}

/// A flow is a message; every byte of it goes by.
#[test]
fn a_flow_is_a_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, acks] = captures(folder.path());
    let mut messages: BTreeMap<u64, BTreeSet<(u64, u64)>> = BTreeMap::new();
    for packet in read(&data) {
        let field = |name: &str| number(&packet[name]);
        if field("rondo.kind") != 0 {
            continue;
        }
        let (offset, length) = (field("rondo.offset"), field("rondo.payload_length"));
        assert_eq!(field("rondo.message"), field("rondo.flow"));
        assert_eq!(field("rondo.message_length"), FLOW_BYTES);
        let index = (field("rondo.psn") + (1 << 24) - 16_777_200) % (1 << 24);
        assert_eq!(offset, index * PAYLOAD_BYTES);
        let last = offset + length == FLOW_BYTES;
        assert_eq!(field("rondo.flags.last") == 1, last);
        assert_eq!(field("frame.len"), 80 + length);
        messages
            .entry(field("rondo.message"))
            .or_default()
            .insert((offset, length));
    }
    assert_eq!(messages.len(), 2);
    for pieces in messages.values() {
        assert_eq!(
            pieces.iter().map(|(_, length)| length).sum::<u64>(),
            FLOW_BYTES
        );
    }
    let acks = read(&acks);
    assert!(acks
        .iter()
        .any(|packet| number(&packet["rondo.flags.of_probe"]) == 1));
}
