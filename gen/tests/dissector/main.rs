//! Wireshark's dissector against the models: what tshark reads in a capture is what was emitted.

mod frames;
mod simulation;

use frames::{Sent, Source};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use rand::rngs::SmallRng;
use rand::SeedableRng;
use rondo_models::psn::Psn;
use rondo_models::wire::frame::{ack_frame, data_frame, probe_frame, Acknowledgement, IpAddresses};
use rondo_models::wire::header::{Acked, Repr};
use rondo_models::wire::udp::RONDO_PORT;
use rondo_models::wire::{FlowContext, Place, Segment};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Names of the flags, by bit.
const FLAGS: [&str; 4] = [
    "rondo.flags.last",
    "rondo.flags.retransmission",
    "rondo.flags.of_probe",
    "rondo.flags.duplicate",
];

fn script(name: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wireshark");
    Command::new(root.join(name))
}

/// What a program printed; its complaint if it failed.
fn stdout(out: &Output) -> String {
    let notes = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{notes}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn tshark(file: &Path, options: &[&str]) -> String {
    let run = script("tshark.sh").arg(file).args(options).output();
    stdout(&run.expect("tests/wireshark/tshark.sh runs"))
}

/// When frame `index` was seen.
fn seen(index: usize) -> Duration {
    Duration::new(index as u64, 999_999_999 - index as u32)
}

fn write<'a>(path: &Path, frames: impl Iterator<Item = &'a [u8]>) {
    let header = PcapHeader {
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        ..PcapHeader::default()
    };
    let file = File::create(path).expect("a file");
    let mut writer = PcapWriter::with_header(file, header).expect("header");
    for (index, bytes) in frames.enumerate() {
        let packet = PcapPacket::new(seen(index), bytes.len() as u32, bytes);
        writer.write_packet(&packet).expect("record");
    }
}

/// All leaves of a packet's layers, by name.
fn flatten(tree: &Map<String, Value>, fields: &mut BTreeMap<String, String>) {
    for (name, value) in tree {
        match value {
            Value::Object(inner) => flatten(inner, fields),
            Value::String(text) => {
                fields.insert(name.clone(), text.clone());
            }
            other => panic!("{name}: {other}"),
        }
    }
}

fn read(file: &Path) -> Vec<BTreeMap<String, String>> {
    let packets: Vec<Value> =
        serde_json::from_str(&tshark(file, &["-T", "json"])).expect("an array");
    let fields = |packet: &Value| {
        let mut fields = BTreeMap::new();
        flatten(
            packet["_source"]["layers"].as_object().expect("layers"),
            &mut fields,
        );
        fields
    };
    packets.iter().map(fields).collect()
}

/// A number or truth value as tshark prints it.
fn number(text: &str) -> u64 {
    match (text, text.strip_prefix("0x")) {
        ("True", _) => 1,
        ("False", _) => 0,
        (_, Some(digits)) => u64::from_str_radix(digits, 16).expect(text),
        _ => text.parse().expect(text),
    }
}

/// Every number among Rondo's fields.
fn expected(sent: &Sent) -> BTreeMap<&'static str, u64> {
    let header = &sent.repr.header;
    let crc_at = sent.bytes.len() - sent.payload.len() - 4;
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| sent.bytes[crc_at + i]);
    let mut flags = [0; 4];
    let mut all = BTreeMap::from([
        ("rondo.version", 1),
        ("rondo.kind", header.kind() as u64),
        ("rondo.path", header.path().into()),
        ("rondo.reserved", 0),
        ("rondo.flow", header.flow().into()),
        ("rondo.epoch", header.epoch().into()),
        ("rondo.payload_length", header.payload_len().into()),
        ("rondo.header_crc", u32::from_be_bytes([a, b, c, d]).into()),
        ("rondo.header_crc.status", 1),
    ]);
    match *header {
        Repr::Data {
            psn,
            place,
            payload_crc,
            sent_ns,
            retransmission,
            ..
        } => {
            (flags[0], flags[1]) = (place.last.into(), retransmission.into());
            all.extend([
                ("rondo.psn", psn.value().into()),
                ("rondo.message", place.message.into()),
                ("rondo.offset", place.offset.into()),
                ("rondo.message_length", place.message_len.into()),
                ("rondo.sent_ns", sent_ns.into()),
                ("rondo.payload_crc", payload_crc.into()),
                ("rondo.payload_crc.status", 1),
            ]);
        }
        Repr::Probe { sent_ns, .. } => all.extend([
            ("rondo.psn", 0xffff_ffff),
            ("rondo.message", 0),
            ("rondo.offset", 0),
            ("rondo.message_length", 0),
            ("rondo.sent_ns", sent_ns.into()),
            ("rondo.payload_crc", 0),
            ("rondo.payload_crc.status", 2),
        ]),
        Repr::Ack {
            of,
            duplicate,
            sent_ns,
            received_ns,
            ..
        } => {
            let (psn, expected, selective) = match of {
                Acked::Data {
                    psn,
                    expected,
                    selective,
                } => (psn.value(), expected.value(), selective),
                Acked::Probe => (0xffff_ffff, 0, 0),
            };
            (flags[2], flags[3]) = ((of == Acked::Probe).into(), duplicate.into());
            all.extend([
                ("rondo.psn", psn.into()),
                ("rondo.expected", expected.into()),
                ("rondo.selective", selective),
                ("rondo.sent_ns", sent_ns.into()),
                ("rondo.received_ns", received_ns.into()),
            ]);
        }
    }
    all.extend(FLAGS.into_iter().zip(flags));
    let bits = flags.iter().zip(0..).map(|(flag, bit)| flag << bit);
    all.insert("rondo.flags", bits.sum());
    all
}

/// The fields of the layers below, as tshark prints them.
fn below(sent: &Sent) -> Vec<(&'static str, String)> {
    let repr = &sent.repr;
    let udp_len = sent.bytes.len() - if repr.ip.is_ipv6() { 54 } else { 34 };
    let dscp = match repr.header {
        Repr::Data { .. } => "26",
        Repr::Probe { .. } => "8",
        Repr::Ack { .. } => "46",
    };
    let mut all = vec![
        ("eth.src", repr.source_mac.to_string()),
        ("eth.dst", repr.destination_mac.to_string()),
        ("udp.srcport", repr.source_port.to_string()),
        ("udp.dstport", RONDO_PORT.to_string()),
        ("udp.length", udp_len.to_string()),
    ];
    match repr.ip {
        IpAddresses::V4 {
            source,
            destination,
        } => all.extend([
            ("ip.src", source.to_string()),
            ("ip.dst", destination.to_string()),
            ("ip.dsfield.dscp", dscp.to_owned()),
            ("ip.checksum.status", "1".to_owned()),
        ]),
        IpAddresses::V6 {
            source,
            destination,
        } => all.extend([
            ("ipv6.src", source.to_string()),
            ("ipv6.dst", destination.to_string()),
            ("ipv6.tclass.dscp", dscp.to_owned()),
            ("ipv6.flow", format!("0x{:06x}", repr.source_port)),
        ]),
    }
    all
}

/// A folder and the path of a capture in it.
fn capture(frames: &[Sent]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("frames.pcap");
    write(&file, frames.iter().map(|sent| &sent.bytes[..]));
    (folder, file)
}

#[test]
fn every_field_is_what_was_emitted() {
    let frames = Source(SmallRng::seed_from_u64(1)).all();
    let (_folder, file) = capture(&frames);
    let packets = read(&file);
    assert_eq!(packets.len(), frames.len());
    for (index, (fields, sent)) in packets.iter().zip(&frames).enumerate() {
        let seconds = seen(index).as_secs();
        let time = format!("{seconds}.{:09}", seen(index).subsec_nanos());
        assert_eq!(fields["frame.time_epoch"], time);
        for (name, value) in below(sent) {
            assert_eq!(fields[name], value, "{name}");
        }
        let mut numbers: BTreeMap<&str, &str> = fields
            .iter()
            .filter(|(name, _)| name.starts_with("rondo."))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let payload = numbers.remove("rondo.payload").map(|text| {
            let bytes = text.split(':').map(|b| u8::from_str_radix(b, 16));
            bytes.collect::<Result<Vec<_>, _>>().expect("bytes")
        });
        assert_eq!(payload.unwrap_or_default(), sent.payload);
        let numbers: BTreeMap<&str, u64> = numbers
            .into_iter()
            .map(|(name, text)| (name, number(text)))
            .collect();
        assert_eq!(numbers, expected(sent), "{:?}", sent.repr);
        let complaint =
            |name: &&String| name.starts_with("_ws.expert") || name.starts_with("_ws.malformed");
        assert_eq!(fields.keys().find(complaint), None);
    }
}

fn check(file: &Path) -> Output {
    let run = script("check.sh").arg(file).output();
    run.expect("tests/wireshark/check.sh runs")
}

#[test]
fn valid_frames_pass_the_check() {
    let (_folder, file) = capture(&Source(SmallRng::seed_from_u64(2)).all());
    let report = stdout(&check(&file));
    for (kind, count) in [("data", 12), ("probe", 12), ("ack", 24), ("nak", 12)] {
        for version in ["IPv4", "IPv6"] {
            let line = format!("{count:8} {kind}, {version}\n");
            assert!(report.contains(&line), "{report}");
        }
    }
    assert!(report.ends_with(" 120 packets, 0 bad\n"), "{report}");
}

/// Faults of a data frame on IPv4, and what is said of it.
#[test]
fn faults_are_errors() {
    let frame = Source(SmallRng::seed_from_u64(3)).data(false);
    let rondo = 42;
    let faults: [(usize, u8, &str); 8] = [
        (rondo, 0x30, "rondo.bad_format"),     // version
        (rondo, 0x09, "rondo.bad_format"),     // kind
        (rondo, 0x03, "rondo.bad_format"),     // NAK with payload
        (rondo + 8, 0x01, "rondo.bad_format"), // PSN of more than 24 bits
        (rondo + 33, 0x01, "rondo.bad_length"),
        (rondo + 5, 0x01, "rondo.header_crc.bad"),
        (rondo + 37, 0x80, "rondo.header_crc.bad"),
        (rondo + 38, 0x01, "rondo.payload_crc.bad"),
    ];
    for (at, flip, name) in faults {
        let mut bytes = frame.bytes.clone();
        bytes[at] ^= flip;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("fault.pcap");
        write(&file, [&bytes[..]].into_iter());
        let packets = read(&file);
        assert!(packets[0].contains_key(name), "{name}");
        assert_eq!(packets[0]["_ws.expert.severity"], "8388608");
        let out = check(&file);
        assert_eq!(out.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&out.stdout).ends_with(" 1 packets, 1 bad\n"));
    }
}

#[test]
fn the_info_column_tells_the_packet() {
    let mut source = Source(SmallRng::seed_from_u64(4));
    let near = source.identity();
    let context = FlowContext {
        mtu: 4096,
        peer_flow: 3,
        ..source.context(true)
    };
    let data = |offset: u32, payload_len: u16, last, again| {
        let segment = Segment {
            place: Place {
                message: 5,
                offset,
                message_len: 9_000,
                payload_len,
                last,
            },
            payload_crc: 0,
        };
        let payload = vec![7; payload_len.into()];
        let repr = data_frame(&near, &context, &segment, Psn::new(17), 2, 0, again);
        Sent::new(repr, payload)
    };
    let ack = |of, nak, duplicate| {
        let ack = Acknowledgement {
            path: 2,
            of,
            nak,
            duplicate,
            sent_ns: 0,
            received_ns: 0,
        };
        Sent::new(ack_frame(&near, &context, &ack), Vec::new())
    };
    let of = Acked::Data {
        psn: Psn::new(17),
        expected: Psn::new(16),
        selective: 0,
    };
    let probe = probe_frame(&near, &context, 2, 0);
    let (_folder, file) = capture(&[
        data(0, 4096, false, false),
        data(8_192, 808, true, true),
        Sent::new(probe, Vec::new()),
        ack(of, false, true),
        ack(of, true, false),
        ack(Acked::Probe, false, false),
    ]);
    let column = "gui.column.format:\"Protocol\",\"%p\",\"Info\",\"%i\"";
    let text = tshark(&file, &["-o", column]);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let expected = [
        "Rondo Data flow 3 PSN 17 path 2 msg 5 [0..4096) of 9000",
        "Rondo Data flow 3 PSN 17 path 2 msg 5 [8192..9000) of 9000 LAST RETX",
        "Rondo Probe flow 3 path 2 4096 bytes",
        "Rondo ACK flow 3 PSN 17 path 2 expected 16 DUP",
        "Rondo NAK flow 3 PSN 17 path 2 expected 16",
        "Rondo ACK flow 3 of probe path 2",
    ];
    assert_eq!(lines, expected);
    // The port is a preference; on another one it is plain UDP.
    let text = tshark(&file, &["-o", column, "-o", "rondo.port:4794"]);
    assert!(
        text.lines().all(|line| line.trim().starts_with("UDP ")),
        "{text}"
    );
}
