//! Words that blocks share: flow context, transmit segment, place in a message.

use super::ethernet::MacAddress;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IPv4 or IPv6 address.
pub type IpAddress = IpAddr;

/// Low bits of a UDP source port that are the path.
pub const PATH_MASK: u16 = 0xf;

/// Largest payload of a packet, in bytes.
pub const MAX_PAYLOAD: u16 = 9_216;

/// What makes a NIC itself: only frames to these are for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// MAC address.
    pub mac: MacAddress,
    /// IPv4 address.
    pub ipv4: Ipv4Addr,
    /// IPv6 address.
    pub ipv6: Ipv6Addr,
    /// UDP destination port of all Rondo packets, of the NIC and of its peers.
    pub udp_port: u16,
}

const MTU_BITS: u64 = (1 << 14) - 1;
const IPV6_BIT: u64 = 1 << 14;
const VALID_BIT: u64 = 1 << 15;
const MAC_BITS: u64 = (1 << 48) - 1;

/// What the NIC knows of a flow: 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowContext {
    /// Payload bytes of a full packet, a multiple of 64; 14 bits.
    pub mtu: u16,
    /// The flow is open.
    pub valid: bool,
    /// UDP source port of path 0; low 4 bits zero.
    pub source_port: u16,
    /// The flow's number at the peer.
    pub peer_flow: u16,
    /// Incarnation of the connection.
    pub epoch: u16,
    /// Peer's MAC address.
    pub peer_mac: MacAddress,
    /// Peer's IP address; says whether the flow is on IPv4 or IPv6.
    pub peer_ip: IpAddress,
}

impl FlowContext {
    /// A flow that is not open: all zeros.
    pub const CLOSED: Self = Self {
        mtu: 0,
        valid: false,
        source_port: 0,
        peer_flow: 0,
        epoch: 0,
        peer_mac: MacAddress([0; 6]),
        peer_ip: IpAddress::V4(Ipv4Addr::UNSPECIFIED),
    };

    /// UDP source port of a path: the base's upper 12 bits, then the path.
    pub const fn port_of(&self, path: u8) -> u16 {
        self.source_port & !PATH_MASK | path as u16 & PATH_MASK
    }

    /// The 256 bits, bits 63:0 first. Of the MTU the low 14 bits are taken.
    pub fn pack(&self) -> [u64; 4] {
        let (ipv6, address) = match self.peer_ip {
            IpAddress::V4(ip) => (0, u128::from(u32::from(ip))),
            IpAddress::V6(ip) => (IPV6_BIT, u128::from(ip)),
        };
        let low = u64::from(self.mtu) & MTU_BITS
            | ipv6
            | if self.valid { VALID_BIT } else { 0 }
            | u64::from(self.source_port) << 16
            | u64::from(self.peer_flow) << 32
            | u64::from(self.epoch) << 48;
        [
            low,
            self.peer_mac.to_number(),
            address as u64,
            (address >> 64) as u64,
        ]
    }

    /// The context of 256 bits; bits that [`pack`](Self::pack) leaves zero are ignored.
    pub fn unpack(words: [u64; 4]) -> Self {
        let [low, mac, address_low, address_high] = words;
        let peer_ip = if low & IPV6_BIT == 0 {
            IpAddress::V4(Ipv4Addr::from(address_low as u32))
        } else {
            let address = u128::from(address_high) << 64 | u128::from(address_low);
            IpAddress::V6(Ipv6Addr::from(address))
        };
        Self {
            mtu: (low & MTU_BITS) as u16,
            valid: low & VALID_BIT != 0,
            source_port: (low >> 16) as u16,
            peer_flow: (low >> 32) as u16,
            epoch: (low >> 48) as u16,
            peer_mac: MacAddress::from_number(mac & MAC_BITS),
            peer_ip,
        }
    }
}

const PAYLOAD_LEN_BITS: u64 = (1 << 14) - 1;
const PAYLOAD_LEN_AT: u32 = 96 - 64;
const LAST_AT: u32 = 110 - 64;
const CRC_AT: u32 = 111 - 64;
/// Bits of the CRC in a segment's second word.
const CRC_LOW: u32 = 64 - CRC_AT;

/// Which bytes of which message a packet carries: 112 bits, of which 111 are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The message's number.
    pub message: u32,
    /// Where in the message the payload starts, in bytes.
    pub offset: u32,
    /// Bytes of the message.
    pub message_len: u32,
    /// Bytes of the payload; 14 bits.
    pub payload_len: u16,
    /// Last packet of its message.
    pub last: bool,
}

impl Place {
    /// The 112 bits, bits 63:0 first. Of the payload's length the low 14 bits are taken.
    pub fn pack(&self) -> [u64; 2] {
        [
            u64::from(self.message) | u64::from(self.offset) << 32,
            u64::from(self.message_len)
                | (u64::from(self.payload_len) & PAYLOAD_LEN_BITS) << PAYLOAD_LEN_AT
                | u64::from(self.last) << LAST_AT,
        ]
    }

    /// The place of 112 bits; the upper bits are ignored.
    pub fn unpack(words: [u64; 2]) -> Self {
        let [low, high] = words;
        Self {
            message: low as u32,
            offset: (low >> 32) as u32,
            message_len: high as u32,
            payload_len: (high >> PAYLOAD_LEN_AT & PAYLOAD_LEN_BITS) as u16,
            last: high >> LAST_AT & 1 == 1,
        }
    }
}

/// What the frame builder knows of a packet in a transmit slot: 144 bits, of which 143 are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Which bytes.
    pub place: Place,
    /// CRC-32C of the payload, padded to whole beats.
    pub payload_crc: u32,
}

impl Segment {
    /// The 144 bits, bits 63:0 first.
    pub fn pack(&self) -> [u64; 3] {
        let [low, middle] = self.place.pack();
        let crc = u64::from(self.payload_crc);
        [low, middle | crc << CRC_AT, crc >> CRC_LOW]
    }

    /// The segment of 144 bits; the upper bits are ignored.
    pub fn unpack(words: [u64; 3]) -> Self {
        let [low, middle, high] = words;
        Self {
            place: Place::unpack([low, middle]),
            payload_crc: (middle >> CRC_AT | high << CRC_LOW) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: FlowContext = FlowContext {
        mtu: 0x1040,
        valid: true,
        source_port: 0xabc0,
        peer_flow: 0x0123,
        epoch: 0x4567,
        peer_mac: MacAddress([0x02, 0x11, 0x22, 0x33, 0x44, 0x55]),
        peer_ip: IpAddress::V4(Ipv4Addr::new(10, 1, 2, 3)),
    };

    #[test]
    fn context_layout() {
        let v4 = [0x4567_0123_abc0_9040, 0x0000_0211_2233_4455, 0x0a01_0203, 0];
        assert_eq!(CONTEXT.pack(), v4);
        let peer_ip = "2001:db8:1:2:3:4:5:6".parse().expect("an address");
        let v6 = FlowContext { peer_ip, ..CONTEXT };
        let words = [
            v4[0] | 1 << 14,
            v4[1],
            0x0003_0004_0005_0006,
            0x2001_0db8_0001_0002,
        ];
        assert_eq!(v6.pack(), words);
        assert_eq!(FlowContext::unpack(words), v6);
        assert_eq!(FlowContext::CLOSED.pack(), [0; 4]);
    }

    /// Every field alone, all ones: the bits of the table in `docs/nic.md`, nothing else.
    #[test]
    fn context_fields() {
        let ones = |low: u32, bits: u32| (u64::MAX >> (64 - bits)) << low;
        let closed = FlowContext::CLOSED;
        let fields = [
            (
                FlowContext {
                    mtu: 0x3fff,
                    ..closed
                },
                [ones(0, 14), 0, 0, 0],
            ),
            (
                FlowContext {
                    mtu: u16::MAX,
                    ..closed
                },
                [ones(0, 14), 0, 0, 0],
            ),
            (
                FlowContext {
                    peer_ip: IpAddress::V6(Ipv6Addr::UNSPECIFIED),
                    ..closed
                },
                [ones(14, 1), 0, 0, 0],
            ),
            (
                FlowContext {
                    valid: true,
                    ..closed
                },
                [ones(15, 1), 0, 0, 0],
            ),
            (
                FlowContext {
                    source_port: u16::MAX,
                    ..closed
                },
                [ones(16, 16), 0, 0, 0],
            ),
            (
                FlowContext {
                    peer_flow: u16::MAX,
                    ..closed
                },
                [ones(32, 16), 0, 0, 0],
            ),
            (
                FlowContext {
                    epoch: u16::MAX,
                    ..closed
                },
                [ones(48, 16), 0, 0, 0],
            ),
            (
                FlowContext {
                    peer_mac: MacAddress([0xff; 6]),
                    ..closed
                },
                [0, ones(0, 48), 0, 0],
            ),
            (
                FlowContext {
                    peer_ip: IpAddress::V4(Ipv4Addr::BROADCAST),
                    ..closed
                },
                [0, 0, ones(0, 32), 0],
            ),
        ];
        for (context, words) in fields {
            assert_eq!(context.pack(), words, "{context:?}");
        }
    }

    #[test]
    fn unused_context_bits_are_ignored() {
        let [low, mac, address, _] = CONTEXT.pack();
        let noisy = [low, mac | 0xdead << 48, address | 0xbeef << 32, u64::MAX];
        assert_eq!(FlowContext::unpack(noisy), CONTEXT);
    }

    #[test]
    fn segment_and_place_layout() {
        let place = Place {
            message: 0x0102_0304,
            offset: 0x1112_1314,
            message_len: 0x2122_2324,
            payload_len: 0x2400,
            last: true,
        };
        assert_eq!(place.pack(), [0x1112_1314_0102_0304, 0x6400_2122_2324]);
        assert_eq!(
            Place::unpack([place.pack()[0], place.pack()[1] | 1 << 47]),
            place
        );
        let segment = Segment {
            place,
            payload_crc: 0x8000_0001,
        };
        // The CRC's bit 0 is bit 111, its bit 31 is bit 142.
        let words = [0x1112_1314_0102_0304, 0x0000_e400_2122_2324, 1 << 14];
        assert_eq!(segment.pack(), words);
        assert_eq!(Segment::unpack(words), segment);
        let crc = Segment {
            place: Place::default(),
            payload_crc: u32::MAX,
        };
        assert_eq!(crc.pack(), [0, 0xffff_8000_0000_0000, 0x7fff]);
        assert_eq!(Segment::unpack([0, 0xffff_8000_0000_0000, u64::MAX]), crc);
    }

    #[test]
    fn path_is_in_the_port() {
        assert_eq!(CONTEXT.port_of(0), 0xabc0);
        assert_eq!(CONTEXT.port_of(15), 0xabcf);
    }
}
