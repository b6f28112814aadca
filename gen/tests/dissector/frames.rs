//! Random frames of every kind on both versions of IP.

use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::psn::Psn;
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{ack_frame, data_frame, probe_frame, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::udp::RONDO_PORT;
use rondo_models::wire::{FlowContext, FrameRepr, Identity, IpAddress, MacAddress, Place, Segment};

/// Frames of every kind on each version of IP.
const FRAMES: usize = 12;

/// A frame, its payload and its bytes.
pub struct Sent {
    pub repr: FrameRepr,
    pub payload: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Sent {
    pub fn new(repr: FrameRepr, payload: Vec<u8>) -> Self {
        let mut bytes = vec![0; repr.frame_bytes()];
        repr.emit(&payload, &mut bytes);
        Self {
            repr,
            payload,
            bytes,
        }
    }
}

/// Random frames of all kinds on both versions.
pub struct Source(pub SmallRng);

impl Source {
    pub fn identity(&mut self) -> Identity {
        // Unicast addresses: of others Wireshark complains.
        let mut mac: [u8; 6] = self.0.random();
        mac[0] = mac[0] & 0xfc | 2;
        Identity {
            mac: MacAddress(mac),
            ipv4: (10 << 24 | self.0.random::<u32>() >> 8).into(),
            ipv6: (0x2001_0db8 << 96 | self.0.random::<u128>() >> 32).into(),
            udp_port: RONDO_PORT,
        }
    }

    pub fn context(&mut self, ipv6: bool) -> FlowContext {
        let peer = self.identity();
        FlowContext {
            mtu: 64 * self.0.random_range(1..=144),
            valid: true,
            source_port: self.0.random_range(0xc00..0xfff) << 4,
            peer_flow: self.0.random(),
            epoch: self.0.random(),
            peer_mac: peer.mac,
            peer_ip: if ipv6 {
                IpAddress::V6(peer.ipv6)
            } else {
                IpAddress::V4(peer.ipv4)
            },
        }
    }

    fn psn(&mut self) -> Psn {
        Psn::new(self.0.random())
    }

    pub fn data(&mut self, ipv6: bool) -> Sent {
        let payload_len = self.0.random_range(1..=9_216);
        let mut payload = vec![0; payload_len];
        self.0.fill(&mut payload[..]);
        let place = Place {
            message: self.0.random(),
            offset: self.0.random(),
            message_len: self.0.random(),
            payload_len: payload_len as u16,
            last: self.0.random(),
        };
        let segment = Segment {
            place,
            payload_crc: crc32c_padded(&payload),
        };
        let (near, context) = (self.identity(), self.context(ipv6));
        let (psn, path) = (self.psn(), self.0.random_range(0..16));
        let (sent_ns, again) = (self.0.random(), self.0.random());
        let repr = data_frame(&near, &context, &segment, psn, path, sent_ns, again);
        Sent::new(repr, payload)
    }

    fn probe(&mut self, ipv6: bool) -> Sent {
        let (near, context) = (self.identity(), self.context(ipv6));
        let repr = probe_frame(&near, &context, self.0.random_range(0..16), self.0.random());
        Sent::new(repr, vec![0; context.mtu.into()])
    }

    fn ack(&mut self, ipv6: bool, of_probe: bool, nak: bool) -> Sent {
        let of = if of_probe {
            Acked::Probe
        } else {
            Acked::Data {
                psn: self.psn(),
                expected: self.psn(),
                selective: self.0.random(),
            }
        };
        let ack = Acknowledgement {
            path: self.0.random_range(0..16),
            of,
            nak,
            duplicate: self.0.random(),
            sent_ns: self.0.random(),
            received_ns: self.0.random(),
        };
        Sent::new(
            ack_frame(&self.identity(), &self.context(ipv6), &ack),
            Vec::new(),
        )
    }

    pub fn all(&mut self) -> Vec<Sent> {
        let mut frames = Vec::new();
        for _ in 0..FRAMES {
            for ipv6 in [false, true] {
                frames.push(self.data(ipv6));
                frames.push(self.probe(ipv6));
                frames.push(self.ack(ipv6, false, false));
                frames.push(self.ack(ipv6, true, false));
                frames.push(self.ack(ipv6, false, true));
            }
        }
        frames
    }
}
