//! Words between the parts of the frame parser.

use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// The Rondo header as numbers, without what is reserved.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RondoHeader {
    /// Version.
    pub version: Bits<4>,
    /// Kind.
    pub kind: Bits<4>,
    /// Flags.
    pub flags: Bits<8>,
    /// Path.
    pub path: Bits<4>,
    /// The receiver's number of the flow.
    pub flow: Bits<16>,
    /// Epoch.
    pub epoch: Bits<16>,
    /// PSN.
    pub psn: Bits<32>,
    /// Message id, or next expected PSN.
    pub message: Bits<32>,
    /// Message offset, or the high half of the selective map.
    pub offset: Bits<32>,
    /// Message length, or the low half of the selective map.
    pub length: Bits<32>,
    /// Send timestamp, ns.
    pub sent_ns: Bits<32>,
    /// Payload CRC, or receive timestamp in ns.
    pub crc: Bits<32>,
    /// Payload length, bytes.
    pub payload: Bits<16>,
}

/// Checks that need no flow: what is wrong.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EarlyChecks {
    /// The frame is shorter than its headers.
    pub truncated: Bit,
    /// The destination MAC.
    pub mac: Bit,
    /// The EtherType.
    pub ether_type: Bit,
    /// Version, header length or fragment.
    pub plain: Bit,
    /// The destination IP address.
    pub address: Bit,
    /// The protocol.
    pub protocol: Bit,
    /// The UDP destination port.
    pub port: Bit,
    /// Not wrong: the checksum counts.
    pub ipv4: Bit,
}

/// A word of the queue of data packets.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct DataWord {
    pub data: Bits<512>,
    pub keep: Bits<64>,
    pub last: Bit,
    pub bad: Bit,
    pub flow: Bits<FLOW_BITS>,
    pub psn: Bits<24>,
    pub path: Bits<4>,
    pub place: Bits<112>,
    pub sent_ns: Bits<32>,
    pub received_ns: Bits<32>,
}

/// A word of the queue of probes.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ProbeWord {
    pub flow: Bits<FLOW_BITS>,
    pub path: Bits<4>,
    pub sent_ns: Bits<32>,
    pub received_ns: Bits<32>,
}

/// A word of the queue of ACKs.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AckWord {
    pub flow: Bits<FLOW_BITS>,
    pub path: Bits<4>,
    pub psn: Bits<24>,
    pub expected: Bits<24>,
    pub selective: Bits<64>,
    pub probe: Bit,
    pub nak: Bit,
    pub duplicate: Bit,
    pub sent_ns: Bits<32>,
    pub received_ns: Bits<32>,
    pub now_ns: Bits<32>,
}
