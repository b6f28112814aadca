//! The tables of the 64-bit counters. All count since reset, and wrap.

use super::{Block, Kind, Register, Step};

const fn pulse(offset: u32, name: &'static str, doc: &'static str) -> Register {
    Register {
        offset,
        name,
        kind: Kind::Counter(Step::Pulse),
        fields: &[],
        doc,
    }
}

const fn amount(offset: u32, name: &'static str, doc: &'static str) -> Register {
    Register {
        offset,
        name,
        kind: Kind::Counter(Step::Amount),
        fields: &[],
        doc,
    }
}

pub(super) const TRANSMITTED: Block = Block {
    name: "transmitted",
    offset: 0x200,
    doc: "Frames sent.",
    registers: &[
        pulse(0x200, "TX_FRAMES", "Frames sent."),
        amount(0x208, "TX_BYTES", "Bytes of the frames sent, without FCS."),
        pulse(
            0x210,
            "TX_DATA",
            "Data packets sent, retransmissions included.",
        ),
        pulse(0x218, "TX_PROBES", "Probes sent."),
        pulse(0x220, "TX_ACKS", "ACKs sent."),
        pulse(0x228, "TX_NAKS", "NAKs sent."),
        pulse(0x230, "RETRANSMISSIONS", "Data packets sent again."),
        pulse(0x238, "TIMEOUTS", "Packets given up by the timeout."),
    ],
};

pub(super) const RECEIVED: Block = Block {
    name: "received",
    offset: 0x240,
    doc: "Frames received. By kind only those that are accepted.",
    registers: &[
        pulse(
            0x240,
            "RX_FRAMES",
            "Frames received, dropped ones included.",
        ),
        amount(
            0x248,
            "RX_BYTES",
            "Bytes of the frames received, without FCS.",
        ),
        pulse(0x250, "RX_DATA", "Data packets accepted."),
        pulse(0x258, "RX_PROBES", "Probes accepted."),
        pulse(0x260, "RX_ACKS", "ACKs accepted."),
        pulse(0x268, "RX_NAKS", "NAKs accepted."),
    ],
};

pub(super) const DROPS: Block = Block {
    name: "receive_drops",
    offset: 0x280,
    doc: "Frames dropped, by the first cause found.",
    registers: &[
        pulse(
            0x280,
            "DROP_TRUNCATED",
            "Shorter than the shortest frame of its IP version.",
        ),
        pulse(
            0x288,
            "DROP_FOREIGN_MAC",
            "The destination MAC address is not the NIC's.",
        ),
        pulse(0x290, "DROP_FOREIGN_ETHER_TYPE", "Neither IPv4 nor IPv6."),
        pulse(
            0x298,
            "DROP_BAD_IP",
            "IP version, IPv4 options, a fragment, or the IPv4 header's checksum.",
        ),
        pulse(
            0x2a0,
            "DROP_FOREIGN_IP",
            "The destination IP address is not the NIC's.",
        ),
        pulse(0x2a8, "DROP_NOT_UDP", "Not UDP."),
        pulse(
            0x2b0,
            "DROP_FOREIGN_PORT",
            "The UDP destination port is not the NIC's.",
        ),
        pulse(
            0x2b8,
            "DROP_BAD_LENGTH",
            "Frame, IP, UDP and payload lengths do not agree.",
        ),
        pulse(
            0x2c0,
            "DROP_BAD_FORMAT",
            "A field of the Rondo header has a value that it may not have.",
        ),
        pulse(0x2c8, "DROP_HEADER_CRC", "The header CRC is wrong."),
        pulse(
            0x2d0,
            "DROP_UNKNOWN_FLOW",
            "The flow is not open, or its epoch is another.",
        ),
        pulse(
            0x2d8,
            "DROP_WRONG_PEER",
            "The source address is not the flow's peer.",
        ),
        pulse(
            0x2e0,
            "DROP_WRONG_SIZE",
            "The payload is not of the size that the flow's MTU demands.",
        ),
        pulse(0x2e8, "DROP_PAYLOAD_CRC", "The payload CRC is wrong."),
        pulse(0x2f0, "DROP_NO_BUFFER", "No buffer was free."),
    ],
};

pub(super) const REFUSALS: Block = Block {
    name: "h2c_refusals",
    offset: 0x300,
    doc: "Host packets refused whole, by cause.",
    registers: &[
        pulse(0x300, "REFUSED_OPERATION", "Unknown operation."),
        pulse(0x308, "REFUSED_FLOW", "Flow not open."),
        pulse(
            0x310,
            "REFUSED_LENGTH",
            "No bytes, or more than a chunk may have.",
        ),
        pulse(
            0x318,
            "REFUSED_SIZE",
            "Chunk length and packet size disagree.",
        ),
        pulse(0x320, "REFUSED_BEYOND", "Bytes beyond the message's end."),
        pulse(
            0x328,
            "REFUSED_ALIGNMENT",
            "A chunk in the middle of its message that is no multiple of the MTU.",
        ),
        pulse(0x330, "REFUSED_EARLY_END", "Stream ended early."),
        pulse(0x338, "REFUSED_LATE_END", "Stream ended late."),
    ],
};

pub(super) const DELIVERY: Block = Block {
    name: "delivery",
    offset: 0x340,
    doc: "What the receiver did with data packets.",
    registers: &[
        pulse(0x340, "DELIVERED_PACKETS", "Packets delivered to the host."),
        amount(
            0x348,
            "DELIVERED_BYTES",
            "Payload bytes delivered to the host.",
        ),
        pulse(0x350, "DELIVERED_MESSAGES", "Messages completed."),
        pulse(
            0x358,
            "NAKS",
            "Data packets refused, beyond the window or for want of slots.",
        ),
        pulse(0x360, "DUPLICATES", "Data packets that had arrived before."),
        pulse(
            0x368,
            "STALE_JOBS",
            "Transmit jobs dropped because the packet was acknowledged meanwhile.",
        ),
    ],
};

pub(super) const UTILISATION: Block = Block {
    name: "utilisation",
    offset: 0x380,
    doc: "Clocks in which a stream had a beat that was not taken, and all clocks.",
    registers: &[
        pulse(0x380, "H2C_STALLS", "Host stream in."),
        pulse(0x388, "TX_STALLS", "Network out."),
        pulse(0x390, "RX_STALLS", "Network in."),
        pulse(0x398, "C2H_STALLS", "Host stream out."),
        pulse(0x3a0, "CLOCKS", "All clocks."),
    ],
};
