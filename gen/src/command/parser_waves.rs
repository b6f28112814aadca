//! The frame parser's timing diagram: its frames come from the models, with their checksums.

use super::CommandError;
use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_models::psn::Psn;
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{ack_frame, data_frame, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{FlowContext, FrameRepr, Identity, IpAddress, MacAddress, Place, Segment};
use rondo_sim::trace::{record, Diagram};
use std::net::{Ipv4Addr, Ipv6Addr};

/// All zeros: what the parser takes for itself when nothing drives it.
const NIC: Identity = Identity {
    mac: MacAddress([0; 6]),
    ipv4: Ipv4Addr::UNSPECIFIED,
    ipv6: Ipv6Addr::UNSPECIFIED,
    udp_port: 0,
};
const FLOW: FlowContext = FlowContext {
    mtu: 128,
    valid: true,
    peer_flow: 1,
    peer_ip: IpAddress::V4(Ipv4Addr::UNSPECIFIED),
    ..FlowContext::CLOSED
};
const PAYLOAD: [u8; 100] = [0x5a; 100];
/// Words of 128 bits in a beat.
const DATA: [&str; 4] = ["rx_data", "rx_data:2", "rx_data:4", "rx_data:6"];
const CONTEXT: [&str; 2] = ["context_data", "context_data:2"];

const SIGNALS: [&str; 13] = [
    "rx_valid",
    "rx_ready",
    "rx_last",
    "ack_valid",
    "ack_psn",
    "data_valid",
    "data_psn",
    "data_last",
    "data_bad",
    "frame_valid",
    "frame_kind",
    "drop_valid",
    "drop_cause",
];

fn emit(repr: &FrameRepr, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; repr.frame_bytes()];
    repr.emit(payload, &mut frame);
    frame
}

fn ack() -> Vec<u8> {
    let ack = Acknowledgement {
        path: 0,
        of: Acked::Data {
            psn: Psn::new(3),
            expected: Psn::new(4),
            selective: 0xf,
        },
        nak: false,
        duplicate: false,
        sent_ns: 0,
        received_ns: 0,
    };
    emit(&ack_frame(&NIC, &FLOW, &ack), &[])
}

fn data() -> Vec<u8> {
    let place = Place {
        message: 5,
        offset: 0,
        message_len: PAYLOAD.len() as u32,
        payload_len: PAYLOAD.len() as u16,
        last: true,
    };
    let segment = Segment {
        place,
        payload_crc: crc32c_padded(&PAYLOAD),
    };
    let repr = data_frame(&NIC, &FLOW, &segment, Psn::new(7), 0, 0, false);
    emit(&repr, &PAYLOAD)
}

/// What drives the ports while the frame comes in, a row a beat.
fn beats(frame: &[u8]) -> Vec<Vec<(&'static str, u128)>> {
    let count = frame.len().div_ceil(64);
    let beat = |(i, bytes): (usize, &[u8])| {
        let mut whole = [0; 64];
        whole[..bytes.len()].copy_from_slice(bytes);
        let words = whole.chunks_exact(16);
        let number = |w: &[u8]| w.iter().rev().fold(0, |n, b| n << 8 | u128::from(*b));
        let mut row: Vec<_> = DATA.into_iter().zip(words.map(number)).collect();
        row.push(("rx_valid", 1));
        row.push(("rx_last", u128::from(i + 1 == count)));
        row.push(("rx_keep", (u64::MAX >> (64 - bytes.len())).into()));
        row
    };
    frame.chunks(64).enumerate().map(beat).collect()
}

/// Records it.
///
/// # Errors
/// [`CommandError`] when the block cannot be run.
pub fn diagram(shape: Shape) -> Result<Diagram, CommandError> {
    let mut rows = beats(&ack());
    rows.extend(beats(&[0; 60]));
    rows.extend(beats(&data()));
    rows.push(vec![("rx_valid", 0)]);
    let [a, b, c, d] = FLOW.pack().map(u128::from);
    rows[0].extend([(CONTEXT[0], a | b << 64), (CONTEXT[1], c | d << 64)]);
    let drives: Vec<_> = rows.iter().map(Vec::as_slice).collect();
    let v = verilog(Block::Parser, shape)?;
    Ok(record(
        &v,
        "rx_ready",
        &drives,
        &SIGNALS,
        20,
        "frame parser: an ACK, 60 bytes of something else, a data packet of 100 bytes",
    )?)
}
