//! Frames from the network: valid ones of every kind, and what may come instead.

use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::psn::Psn;
use rondo_models::wire::context::MAX_PAYLOAD;
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{frame_bytes, FrameRepr, IpAddresses};
use rondo_models::wire::header::{self, Acked, Repr};
use rondo_models::wire::{
    ethernet, ipv4, ipv6, udp, FlowContext, Identity, IpAddress, MacAddress, Place,
};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// Makes frames for a NIC with some flows, open and closed, on IPv4 and IPv6.
#[derive(Clone)]
pub struct FrameSource {
    /// What makes the NIC itself.
    pub identity: Identity,
    /// Its flows.
    pub contexts: Vec<FlowContext>,
    /// Of ten frames, how many are probes, and how many ACKs.
    mix: [u32; 2],
}

/// Where things are in a frame that is long enough.
struct Layout {
    ipv6: bool,
    udp: usize,
    rondo: usize,
}

impl Layout {
    fn of(frame: &[u8]) -> Self {
        let ipv6 = frame[12..14] == ethernet::IPV6.to_be_bytes();
        let rondo = frame_bytes(ipv6, 0) - header::HEADER_BYTES;
        Self {
            ipv6,
            udp: rondo - udp::HEADER_BYTES,
            rondo,
        }
    }

    /// Makes checksum and header CRC right.
    fn seal(&self, frame: &mut [u8]) {
        if !self.ipv6 {
            ipv4::Packet::new_unchecked(&mut frame[ethernet::HEADER_BYTES..]).fill_checksum();
        }
        header::Packet::new_unchecked(&mut frame[self.rondo..]).fill_header_crc();
    }
}

/// A number, as often at the ends of its range as anywhere.
fn edge(rng: &mut SmallRng, range: Range<u32>) -> u32 {
    let near = rng.random_range(0..3u32).min(range.end - range.start - 1);
    match rng.random_range(0..4) {
        0 => range.start + near,
        1 => range.end - 1 - near,
        _ => rng.random_range(range),
    }
}

fn address(rng: &mut SmallRng, ipv6: bool) -> IpAddress {
    if ipv6 {
        IpAddress::V6(Ipv6Addr::from(rng.random::<u128>()))
    } else {
        IpAddress::V4(Ipv4Addr::from(rng.random::<u32>()))
    }
}

fn context(rng: &mut SmallRng) -> FlowContext {
    let ipv6 = rng.random();
    let beats = match rng.random_range(0..8) {
        0 => edge(rng, 1..145) as u16,
        1 | 2 => rng.random_range(1..=12),
        _ => rng.random_range(1..=3),
    };
    FlowContext {
        mtu: 64 * beats,
        valid: rng.random_range(0..8) != 0,
        source_port: rng.random(),
        peer_flow: rng.random(),
        epoch: rng.random(),
        peer_mac: MacAddress(rng.random()),
        peer_ip: address(rng, ipv6),
    }
}

impl FrameSource {
    /// For `flows` flows.
    pub fn new(rng: &mut SmallRng, flows: usize) -> Self {
        Self {
            identity: Identity {
                mac: MacAddress(rng.random()),
                ipv4: Ipv4Addr::from(rng.random::<u32>()),
                ipv6: Ipv6Addr::from(rng.random::<u128>()),
                udp_port: rng.random(),
            },
            contexts: (0..flows).map(|_| context(rng)).collect(),
            mix: [[1, 4], [1, 4], [1, 4], [9, 0], [0, 10]][rng.random_range(0..5)],
        }
    }

    /// Closes a flow and opens it as another.
    pub fn change_flow(&mut self, rng: &mut SmallRng) {
        let flow = rng.random_range(0..self.contexts.len());
        self.contexts[flow] = context(rng);
    }

    /// The next frame.
    pub fn frame(&self, rng: &mut SmallRng) -> Vec<u8> {
        let choice = rng.random_range(0..1000);
        if choice < 40 {
            let length = edge(rng, 1..330) as usize;
            return (0..length).map(|_| rng.random()).collect();
        }
        let mut frame = self.valid(rng, choice < 200);
        match choice {
            200..360 => flip(rng, &mut frame),
            360..420 => cut(rng, &mut frame),
            420..480 => extend(rng, &mut frame),
            480..560 => lie(rng, &mut frame),
            560..620 => self.make_foreign(rng, &mut frame),
            _ => {}
        }
        frame
    }

    /// A frame whose checksums are right; when `strange`, it does not fit its flow.
    fn valid(&self, rng: &mut SmallRng, strange: bool) -> Vec<u8> {
        let flow = rng.random_range(0..self.contexts.len() as u32) as u16;
        let mut context = self.contexts[usize::from(flow)];
        let mut flow_number = flow;
        let fault = if strange { rng.random_range(0..6) } else { 6 };
        match fault {
            // Out of range, as often as not with the low bits of one that is open.
            0 => flow_number = self.wrong_flow(rng, flow),
            1 => context.epoch ^= 1 << rng.random_range(0..16),
            2 => context.peer_ip = other_address(rng, context.peer_ip),
            3 => context.mtu = edge(rng, 1..u32::from(MAX_PAYLOAD) + 2) as u16,
            _ => {}
        }
        let mix = if fault == 4 { [0, 0] } else { self.mix };
        let (header, payload) = header_of(rng, flow_number, &context, mix, fault == 4);
        let ip = match context.peer_ip {
            IpAddress::V4(source) => IpAddresses::V4 {
                source,
                destination: self.identity.ipv4,
            },
            IpAddress::V6(source) => IpAddresses::V6 {
                source,
                destination: self.identity.ipv6,
            },
        };
        let repr = FrameRepr {
            source_mac: context.peer_mac,
            destination_mac: self.identity.mac,
            ip,
            source_port: context.port_of(header.path()),
            destination_port: self.identity.udp_port,
            header,
        };
        let mut frame = vec![0; repr.frame_bytes()];
        repr.emit(&payload, &mut frame);
        if rng.random() {
            make_noise(rng, &mut frame);
        }
        frame
    }

    fn wrong_flow(&self, rng: &mut SmallRng, flow: u16) -> u16 {
        let flows = self.contexts.len() as u16;
        match rng.random_range(0..4) {
            0 => rng.random(),
            1 => flows,
            _ => flow | 1 << rng.random_range(flows.ilog2()..16),
        }
    }

    /// Turns the frame into one that is not for us, or no Rondo frame.
    fn make_foreign(&self, rng: &mut SmallRng, frame: &mut Vec<u8>) {
        let layout = Layout::of(frame);
        let ip = ethernet::HEADER_BYTES;
        match rng.random_range(0..8) {
            // ARP.
            0 => {
                frame[12..14].copy_from_slice(&[0x08, 0x06]);
                frame.truncate(rng.random_range(42..=80.min(frame.len())));
            }
            // VLAN tag.
            1 => drop(frame.splice(12..12, [0x81, 0, rng.random(), rng.random()])),
            // IPv4's options take the place of UDP.
            2 if !layout.ipv6 => frame[ip] = 0x40 | rng.random_range(6..=15),
            // A fragment.
            3 if !layout.ipv6 => {
                let bit = 1u16 << rng.random_range(0..14);
                let word = 0x4000 | bit;
                frame[ip + 6..ip + 8].copy_from_slice(&word.to_be_bytes());
            }
            // The version in an IPv6 header.
            2 | 3 => frame[ip] = frame[ip] & 0xf | rng.random_range(0..16) << 4,
            // ICMP, TCP.
            4 => frame[ip + if layout.ipv6 { 6 } else { 9 }] = [1, 58, 6][rng.random_range(0..3)],
            // A neighbour's address, or broadcast.
            5 => {
                let at = ip + if layout.ipv6 { 39 } else { 19 };
                frame[at] ^= 1 << rng.random_range(0..8);
            }
            6 => frame[..6].fill(0xff),
            // DNS, or a port nearby.
            _ => frame[layout.udp + 3] ^= 1 << rng.random_range(0..8),
        }
        // VLAN and ARP: what is sealed is not looked at.
        if frame.len() >= layout.rondo + header::HEADER_BYTES {
            layout.seal(frame);
        }
    }
}

fn other_address(rng: &mut SmallRng, ip: IpAddress) -> IpAddress {
    match (ip, rng.random_range(0..3)) {
        (ip, 0) => address(rng, !ip.is_ipv6()),
        (IpAddress::V4(ip), _) => {
            IpAddress::V4(Ipv4Addr::from(u32::from(ip) ^ 1 << rng.random_range(0..32)))
        }
        (IpAddress::V6(ip), _) => IpAddress::V6(Ipv6Addr::from(
            u128::from(ip) ^ 1 << rng.random_range(0..128),
        )),
    }
}

/// A header for the flow, and its payload; `misfit` places data wrongly in its message.
fn header_of(
    rng: &mut SmallRng,
    flow: u16,
    context: &FlowContext,
    [probes, acks]: [u32; 2],
    misfit: bool,
) -> (Repr, Vec<u8>) {
    let epoch = context.epoch;
    let path = rng.random_range(0..16);
    let sent_ns = rng.random();
    match rng.random_range(0..10) {
        n if n < probes => (
            Repr::Probe {
                flow,
                epoch,
                path,
                sent_ns,
                payload_len: context.mtu,
            },
            Vec::new(),
        ),
        n if n < probes + acks => {
            let nak = rng.random_range(0..4) == 0;
            let of = if !nak && rng.random_range(0..4) == 0 {
                Acked::Probe
            } else {
                Acked::Data {
                    psn: Psn::new(edge(rng, 0..Psn::COUNT)),
                    expected: Psn::new(edge(rng, 0..Psn::COUNT)),
                    selective: rng.random(),
                }
            };
            let ack = Repr::Ack {
                flow,
                epoch,
                path,
                of,
                nak,
                duplicate: rng.random(),
                sent_ns,
                received_ns: rng.random(),
            };
            (ack, Vec::new())
        }
        _ => {
            let place = place(rng, context.mtu, misfit);
            let payload: Vec<u8> = (0..place.payload_len).map(|_| rng.random()).collect();
            let data = Repr::Data {
                flow,
                epoch,
                path,
                psn: Psn::new(edge(rng, 0..Psn::COUNT)),
                place,
                payload_crc: crc32c_padded(&payload),
                sent_ns,
                retransmission: rng.random(),
            };
            (data, payload)
        }
    }
}

fn place(rng: &mut SmallRng, mtu: u16, misfit: bool) -> Place {
    let last = rng.random_range(0..3) != 0;
    // Around the ends of beats, with and without the headers before it.
    let short = match rng.random_range(0..4) {
        0 => edge(rng, 1..u32::from(mtu) + 1),
        _ => {
            let beat = 64 * rng.random_range(0..=mtu / 64);
            let around = [0, 16, 36, 48, 28][rng.random_range(0..5)] + rng.random_range(0..5);
            u32::from((beat + around).saturating_sub(2).clamp(1, mtu))
        }
    };
    let payload = if last { short } else { mtu.into() };
    let room = u32::MAX - payload;
    let offset = edge(rng, 0..room);
    let rest = if last { 0 } else { edge(rng, 0..room - offset) };
    let message_len = offset + payload + rest;
    let (payload, message_len, offset) = match (misfit, rng.random_range(0..3)) {
        (true, 0) => (payload, message_len - edge(rng, 1..payload + 1), offset),
        (true, 1) => (payload, message_len, u32::MAX - edge(rng, 0..payload)),
        (true, _) => (short, message_len, offset),
        _ => (payload, message_len, offset),
    };
    Place {
        message: rng.random(),
        offset,
        message_len,
        payload_len: payload as u16,
        last: last && !(misfit && rng.random()),
    }
}

/// Fills what a receiver must ignore with anything.
fn make_noise(rng: &mut SmallRng, frame: &mut [u8]) {
    let layout = Layout::of(frame);
    let ip = ethernet::HEADER_BYTES;
    if layout.ipv6 {
        ipv6::Packet::new_unchecked(&mut frame[ip..]).set_first_word(
            rng.random(),
            rng.random(),
            rng.random(),
        );
        frame[ip + 7] = rng.random();
    } else {
        frame[ip + 1] = rng.random();
        frame[ip + 4..ip + 6].fill(rng.random());
        frame[ip + 8] = rng.random();
    }
    frame[layout.udp + 6..layout.udp + 8].fill(rng.random());
    // Flags without a meaning, the path's upper half, the reserved byte.
    frame[layout.rondo + 1] ^= rng.random::<u8>() & 0xf0;
    frame[layout.rondo + 2] ^= rng.random::<u8>() & 0xf0;
    frame[layout.rondo + 3] = rng.random();
    // An ACK's next expected PSN has an upper byte.
    if frame[layout.rondo] & 2 != 0 {
        frame[layout.rondo + 12] = rng.random();
    }
    layout.seal(frame);
}

/// Flips a few bits: anywhere, in the headers, or in the payload.
fn flip(rng: &mut SmallRng, frame: &mut [u8]) {
    let headers = Layout::of(frame).rondo + header::HEADER_BYTES;
    let range = match rng.random_range(0..3) {
        0 => 0..headers,
        1 if frame.len() > headers => headers..frame.len(),
        _ => 0..frame.len(),
    };
    for _ in 0..rng.random_range(1..4) {
        frame[rng.random_range(range.clone())] ^= 1 << rng.random_range(0..8);
    }
}

fn cut(rng: &mut SmallRng, frame: &mut Vec<u8>) {
    let length = frame.len() as u32;
    let left = if rng.random() {
        length - rng.random_range(1..=70.min(length - 1))
    } else {
        edge(rng, 1..length)
    };
    frame.truncate(left as usize);
}

fn extend(rng: &mut SmallRng, frame: &mut Vec<u8>) {
    let more = match rng.random_range(0..2000) {
        // A multiple of whatever a counter of beats could wrap at.
        0 => 1 << 17,
        1..20 => rng.random_range(1..20_000),
        20..1000 => rng.random_range(1..70),
        _ => rng.random_range(1..300),
    };
    let byte: u8 = rng.random();
    frame.resize(frame.len() + more, byte);
}

/// Gives a field another value, under right checksums.
fn lie(rng: &mut SmallRng, frame: &mut [u8]) {
    let layout = Layout::of(frame);
    let near = |value: &mut [u8], rng: &mut SmallRng| {
        let old = u16::from_be_bytes([value[0], value[1]]);
        let new = match rng.random_range(0..4) {
            0 => rng.random(),
            1 => old ^ 1 << rng.random_range(0..16),
            _ => old.wrapping_add(rng.random_range(0..200)).wrapping_sub(100),
        };
        value.copy_from_slice(&new.to_be_bytes());
    };
    let ip_length = if layout.ipv6 { 18 } else { 16 };
    let mut rondo = header::Packet::new_unchecked(&mut frame[layout.rondo..]);
    match rng.random_range(0..8) {
        0 => near(&mut frame[ip_length..ip_length + 2], rng),
        1 => near(&mut frame[layout.udp + 4..layout.udp + 6], rng),
        2 => near(&mut frame[layout.rondo + 32..layout.rondo + 34], rng),
        3 => frame[layout.rondo] = rng.random(),
        4 => frame[layout.rondo] = 0x10 | rng.random_range(0..6),
        5 => rondo.set_psn_bits(match rng.random_range(0..3) {
            0 => u32::MAX ^ 1 << rng.random_range(0..32),
            1 => 1 << rng.random_range(0..32),
            _ => u32::MAX,
        }),
        6 => rondo.set_flags(rng.random()),
        // All lengths agree, on something else.
        _ => {
            let by: u16 = rng.random_range(0..200);
            for at in [ip_length, layout.udp + 4, layout.rondo + 32] {
                let old = u16::from_be_bytes([frame[at], frame[at + 1]]);
                let new = old.wrapping_add(by).wrapping_sub(100);
                frame[at..at + 2].copy_from_slice(&new.to_be_bytes());
            }
        }
    }
    layout.seal(frame);
}
