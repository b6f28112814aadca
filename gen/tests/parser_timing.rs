//! How long the frame parser takes, and that it takes a beat every clock.
#![cfg(feature = "cosim")]

use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_models::psn::Psn;
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{ack_frame, data_frame, probe_frame, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{FlowContext, FrameRepr, Identity, IpAddress, MacAddress, Place, Segment};
use rondo_sim::bench::Rows;
use rondo_sim::dut::Dut;
use rondo_sim::Port;
use std::net::{Ipv4Addr, Ipv6Addr};

const NEAR: Identity = Identity {
    mac: MacAddress([2, 0, 0, 0, 0, 1]),
    ipv4: Ipv4Addr::new(192, 0, 2, 1),
    ipv6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    udp_port: 4793,
};

/// All flows are the same one, to itself.
fn context(ipv6: bool) -> FlowContext {
    FlowContext {
        mtu: 9_216,
        valid: true,
        source_port: 0xc350,
        peer_flow: 0,
        epoch: 7,
        peer_mac: NEAR.mac,
        peer_ip: if ipv6 {
            IpAddress::V6(NEAR.ipv6)
        } else {
            IpAddress::V4(NEAR.ipv4)
        },
    }
}

fn emit(repr: &FrameRepr, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; repr.frame_bytes()];
    repr.emit(payload, &mut frame);
    frame
}

fn data(ipv6: bool, payload_len: u16) -> Vec<u8> {
    let payload = vec![0x5a; payload_len.into()];
    let place = Place {
        message: 1,
        offset: 0,
        message_len: payload_len.into(),
        payload_len,
        last: true,
    };
    let segment = Segment {
        place,
        payload_crc: crc32c_padded(&payload),
    };
    let context = context(ipv6);
    let repr = data_frame(&NEAR, &context, &segment, Psn::new(1), 2, 3, false);
    emit(&repr, &payload)
}

fn ack(ipv6: bool) -> Vec<u8> {
    let ack = Acknowledgement {
        path: 1,
        of: Acked::Probe,
        nak: false,
        duplicate: false,
        sent_ns: 1,
        received_ns: 2,
    };
    emit(&ack_frame(&NEAR, &context(ipv6), &ack), &[])
}

/// Streams and pulses of the parser, by the name before `_valid`.
const EVENTS: [&str; 5] = ["data", "probe", "ack", "frame", "drop"];

/// What happened, counted from the clock in which the first beat was taken.
struct Seen {
    /// Clock in which each beat was taken.
    taken: Vec<usize>,
    /// Clocks in which something happened, in the order of `EVENTS`.
    clocks: [Vec<usize>; 5],
}

/// Offers the frames without a pause to an idle parser whose readers are always ready.
fn run(frames: &[Vec<u8>], ipv6: bool) -> Seen {
    let shape = Shape::new(4, 128, 16).expect("on the menu");
    let v = verilog(Block::Parser, shape).expect("prints");
    let rows = Rows::new(&v);
    let input = |port: &str| rows.input(port).expect("a port");
    let output = |port: &str| rows.output(port).expect("a port");
    let mut dut = Dut::new(&v, 1, None).expect("Verilator runs");
    let mut inputs = vec![0u64; v.inputs().map(Port::words).sum()];
    let mut outputs = vec![0u64; v.outputs().map(Port::words).sum()];
    let ip = u128::from(NEAR.ipv6);
    inputs[input("local_mac")] = NEAR.mac.to_number();
    inputs[input("local_ipv4")] = u32::from(NEAR.ipv4).into();
    inputs[input("local_ipv6")] = ip as u64;
    inputs[input("local_ipv6") + 1] = (ip >> 64) as u64;
    inputs[input("udp_port")] = NEAR.udp_port.into();
    let at = input("context_data");
    inputs[at..at + 4].copy_from_slice(&context(ipv6).pack());
    for reader in ["data_ready", "probe_ready", "ack_ready"] {
        inputs[input(reader)] = 1;
    }
    let beats: Vec<(&[u8], bool)> = frames
        .iter()
        .flat_map(|f| {
            f.chunks(64)
                .enumerate()
                .map(|(i, b)| (b, 64 * (i + 1) >= f.len()))
        })
        .collect();
    let mut seen = Seen {
        taken: Vec::new(),
        clocks: Default::default(),
    };
    for clock in 0..beats.len() + 100 {
        // A few clocks of reset, a few of rest.
        inputs[input("rst")] = u64::from(clock < 4);
        let beat = beats.get(seen.taken.len()).filter(|_| clock >= 20);
        inputs[input("rx_valid")] = beat.is_some().into();
        if let Some((bytes, last)) = beat {
            let mut whole = [0; 64];
            whole[..bytes.len()].copy_from_slice(bytes);
            for (i, word) in whole.chunks_exact(8).enumerate() {
                let word = word.try_into().expect("eight bytes");
                inputs[input("rx_data") + i] = u64::from_le_bytes(word);
            }
            inputs[input("rx_keep")] = u64::MAX >> (64 - bytes.len());
            inputs[input("rx_last")] = (*last).into();
        }
        dut.step(&inputs, &mut outputs);
        if beat.is_some() && outputs[output("rx_ready")] != 0 {
            seen.taken.push(clock - 20);
        }
        for (clocks, event) in seen.clocks.iter_mut().zip(EVENTS) {
            if clock >= 20 && outputs[output(&format!("{event}_valid"))] != 0 {
                clocks.push(clock - 20);
            }
        }
    }
    assert_eq!(seen.taken.len(), beats.len(), "all beats are taken");
    seen
}

/// One clock after another.
fn is_gapless(clocks: &[usize]) -> bool {
    clocks.windows(2).all(|w| w[1] == w[0] + 1)
}

/// Clocks after the frame's last beat; `docs/blocks/parser.md` has these numbers.
#[test]
fn latencies() {
    for ipv6 in [false, true] {
        let ack = run(&[ack(ipv6)], ipv6);
        let end = ack.taken[1];
        assert_eq!(ack.clocks[2], [end + 10], "ACK");
        assert_eq!(ack.clocks[3], [end + 9], "its pulse");
        let probe = emit(&probe_frame(&NEAR, &context(ipv6), 1, 2), &[]);
        let probe = run(&[probe], ipv6);
        assert_eq!(probe.clocks[1], [probe.taken.len() - 1 + 10], "probe");
        let runt = run(&[vec![1; 60]], ipv6);
        assert_eq!(runt.clocks[4], [9], "drop");

        // A payload beat, after the frame's beat that completes it.
        let whole = run(&[data(ipv6, 9_216)], ipv6);
        assert!(is_gapless(&whole.taken) && is_gapless(&whole.clocks[0]));
        assert_eq!(whole.clocks[0].len(), 144);
        assert_eq!(
            whole.clocks[0][0],
            2 + 9,
            "first beat, after the third of the frame"
        );
        let rest = run(&[data(ipv6, 20)], ipv6);
        assert_eq!(rest.clocks[0], [1 + 10], "the rest of a last beat");
    }
}

#[test]
fn a_beat_is_taken_every_clock() {
    for ipv6 in [false, true] {
        let acks = run(&vec![ack(ipv6); 500], ipv6);
        assert!(is_gapless(&acks.taken));
        let gaps = acks.clocks[2].windows(2).map(|w| w[1] - w[0]);
        assert!(gaps.eq(vec![2; 499]), "an ACK every other clock");

        let runts = run(&vec![vec![1; 60]; 1_000], ipv6);
        assert!(is_gapless(&runts.taken) && is_gapless(&runts.clocks[4]));
        assert_eq!(runts.clocks[4].len(), 1_000);

        for payload in [1, 48, 49, 64, 1_024, 4_096, 9_216] {
            let frames = vec![data(ipv6, payload); 40];
            let packets = run(&frames, ipv6);
            assert!(is_gapless(&packets.taken), "{payload} bytes");
            let beats = 40 * usize::from(payload).div_ceil(64);
            assert_eq!(packets.clocks[0].len(), beats, "{payload} bytes");
            assert_eq!(packets.clocks[3].len(), 40);
        }
    }
}
