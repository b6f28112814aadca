//! The tables, all but the counters'.

use super::counters::{DELIVERY, DROPS, RECEIVED, REFUSALS, TRANSMITTED, UTILISATION};
use super::{Block, Field, Kind, Maximum, Named, Register, CLOCK_KHZ, MAGIC, VERSION};
use crate::recovery::DEFAULT_THRESHOLD;

/// The register map.
pub const MAP: &[Block] = &[
    IDENTITY,
    CONTROL,
    LOCAL,
    FLOW_COMMAND,
    PATH_CONTROL,
    RECEIVE,
    TRANSMIT,
    TRANSMITTED,
    RECEIVED,
    DROPS,
    REFUSALS,
    DELIVERY,
    UTILISATION,
];

const fn register(
    offset: u32,
    name: &'static str,
    kind: Kind,
    fields: &'static [Field],
    doc: &'static str,
) -> Register {
    Register {
        offset,
        name,
        kind,
        fields,
        doc,
    }
}

const fn named(value: u32, name: &'static str, doc: &'static str) -> Named {
    Named { value, name, doc }
}

use Kind::{Built, Command, Constant, Control, Status, Wide};

const IDENTITY: Block = Block {
    name: "identity",
    offset: 0x000,
    doc: "What this device is. Software reads MAGIC and VERSION first and refuses another major version.",
    registers: &[
        register(0x000, "MAGIC", Constant, &[Field::new(0, 32, "magic", "`RNDO` in ASCII, first letter highest").reset(MAGIC)],
            "Says that this is a Rondo NIC."),
        register(0x004, "VERSION", Constant, &[
            Field::new(0, 16, "patch", "changes that software cannot see").reset(VERSION[2]),
            Field::new(16, 8, "minor", "additions").reset(VERSION[1]),
            Field::new(24, 8, "major", "changes that break software").reset(VERSION[0]),
        ], "Version of this register map."),
        register(0x008, "GIT_HASH", Built, &[Field::new(0, 32, "hash", "first eight hexadecimal digits of the commit")],
            "Source that the design was generated from."),
        register(0x00c, "GIT_DIRTY", Built, &[Field::new(0, 1, "dirty", "there were changes that are not in the commit")],
            "Whether GIT_HASH tells the whole source."),
        register(0x010, "SHAPE", Built, &[
            Field::new(0, 5, "paths", "paths a flow"),
            Field::new(8, 4, "window_log2", "window in PSNs, log2"),
            Field::new(12, 4, "flows_log2", "flows, log2"),
            Field::new(16, 4, "transmit_slots_log2", "transmit slots, log2"),
            Field::new(20, 4, "receive_slots_log2", "receive slots, log2"),
            Field::new(24, 4, "slot_beats_log2", "64-byte beats of a slot, log2"),
        ], "Sizes of the design."),
        register(0x014, "CLOCK_KHZ", Constant, &[Field::new(0, 32, "khz", "kHz").reset(CLOCK_KHZ)],
            "Clock of the core: unit of all stall and clock counters."),
        register(0x018, "SCRATCH", Control, &[Field::new(0, 32, "value", "any value")],
            "Does nothing; for tests of the bus."),
    ],
};

const CONTROL: Block = Block {
    name: "control",
    offset: 0x040,
    doc: "The NIC as a whole.",
    registers: &[
        register(0x040, "STATUS", Status, &[
            Field::new(0, 1, "init_done", "memories are initialised: flows may be opened"),
            Field::new(1, 1, "flow_busy", "a flow command is under way"),
            Field::new(2, 1, "path_busy", "a path command is under way"),
        ], "State of the NIC."),
        register(0x044, "ENABLE", Control, &[
            Field::new(0, 1, "transmit", "frames are sent"),
            Field::new(1, 1, "receive", "frames are taken; otherwise they are dropped unseen"),
        ], "Switches."),
        register(0x048, "TIME", Wide, &[],
            "The NIC's clock, ns since reset; its low 32 bits are the time stamps on the wire."),
        register(0x050, "WATCHDOG_LIMIT_US", Control, &[Field::new(0, 24, "limit", "us; 0 switches the watchdog off")],
            "Longest time without a write to HEARTBEAT. After it the NIC stops sending until the next one."),
        register(0x054, "WATCHDOG_COUNT", Status, &[Field::new(0, 32, "count", "times since reset, wrapping")],
            "How often the watchdog has found no heartbeat."),
        register(0x058, "HEARTBEAT", Command, &[Field::new(0, 32, "value", "any value")],
            "The control processor is alive."),
    ],
};

const LOCAL: Block = Block {
    name: "local",
    offset: 0x080,
    doc: "The NIC's own addresses. Written before ENABLE.",
    registers: &[
        register(
            0x080,
            "MAC_LO",
            Control,
            &[Field::new(
                0,
                32,
                "low",
                "last four bytes; the last byte on the wire is lowest",
            )],
            "MAC address, low part.",
        ),
        register(
            0x084,
            "MAC_HI",
            Control,
            &[Field::new(0, 16, "high", "first two bytes")],
            "MAC address, high part.",
        ),
        register(
            0x088,
            "IPV4",
            Control,
            &[Field::new(
                0,
                32,
                "address",
                "as a number: 10.0.0.1 is 0x0a000001",
            )],
            "IPv4 address.",
        ),
        register(
            0x090,
            "IPV6_0",
            Control,
            &[Field::new(
                0,
                32,
                "address",
                "bits 31 to 0 of the address as a number",
            )],
            "IPv6 address, lowest word.",
        ),
        register(
            0x094,
            "IPV6_1",
            Control,
            &[Field::new(0, 32, "address", "bits 63 to 32")],
            "IPv6 address, second word.",
        ),
        register(
            0x098,
            "IPV6_2",
            Control,
            &[Field::new(0, 32, "address", "bits 95 to 64")],
            "IPv6 address, third word.",
        ),
        register(
            0x09c,
            "IPV6_3",
            Control,
            &[Field::new(0, 32, "address", "bits 127 to 96")],
            "IPv6 address, highest word.",
        ),
        register(
            0x0a0,
            "UDP_PORT",
            Control,
            &[Field::new(0, 16, "port", "port number")
                .reset(4793)
                .within(1, Maximum::Value(0xffff))],
            "UDP destination port of Rondo, here and at the peers.",
        ),
    ],
};

const FLOW_COMMAND: Block = Block {
    name: "flow_command",
    offset: 0x0c0,
    doc: "Opens and closes a flow: write what the command needs, then COMMAND, then wait until RESULT says done. \
          Nothing here is written while RESULT says busy.",
    registers: &[
        register(0x0c0, "FLOW", Control, &[Field::new(0, 10, "flow", "flow number").within(0, Maximum::LastFlow)],
            "Flow that the command is for."),
        register(0x0c4, "FIRST_PSN_TX", Control, &[Field::new(0, 24, "psn", "PSN")], "First PSN that is sent."),
        register(0x0c8, "FIRST_PSN_RX", Control, &[Field::new(0, 24, "psn", "PSN")], "First PSN that is expected."),
        register(0x0cc, "MTU", Control, &[Field::new(6, 8, "beats", "units of 64 bytes, so that the register reads as bytes; 9,216 bytes at most")
            .reset(64).within(1, Maximum::SlotBeats)],
            "Payload of a full packet."),
        register(0x0d0, "PORT_BASE", Control, &[Field::new(4, 12, "base", "UDP port in units of 16, so that the register reads as a port")
            .reset(0xc00)],
            "UDP source port of path 0; path p uses the port p above it."),
        register(0x0d4, "PEER_FLOW", Control, &[Field::new(0, 16, "flow", "flow number")], "The flow's number at the peer."),
        register(0x0d8, "EPOCH", Control, &[Field::new(0, 16, "epoch", "number")],
            "Incarnation of the connection: packets of another one are dropped."),
        register(0x0dc, "PEER_MAC_LO", Control, &[Field::new(0, 32, "low", "last four bytes; the last byte on the wire is lowest")],
            "MAC address of the next hop to the peer, low part."),
        register(0x0e0, "PEER_MAC_HI", Control, &[Field::new(0, 16, "high", "first two bytes")],
            "MAC address of the next hop to the peer, high part."),
        register(0x0e4, "PEER_IP_0", Control, &[Field::new(0, 32, "address", "bits 31 to 0 of the address as a number; the IPv4 address")],
            "IP address of the peer, lowest word."),
        register(0x0e8, "PEER_IP_1", Control, &[Field::new(0, 32, "address", "bits 63 to 32; IPv4: 0")], "IP address of the peer, second word."),
        register(0x0ec, "PEER_IP_2", Control, &[Field::new(0, 32, "address", "bits 95 to 64; IPv4: 0")], "IP address of the peer, third word."),
        register(0x0f0, "PEER_IP_3", Control, &[Field::new(0, 32, "address", "bits 127 to 96; IPv4: 0")], "IP address of the peer, highest word."),
        register(0x0f4, "FAMILY", Control, &[Field::new(0, 1, "family", "IP version").named(&[
            named(0, "ipv4", "IPv4"),
            named(1, "ipv6", "IPv6"),
        ])], "IP version of the flow."),
        register(0x0f8, "TIMEOUT_NS", Control, &[Field::new(0, 32, "timeout", "ns").reset(1_000_000).within(1, Maximum::Value(0x7fff_ffff))],
            "Recovery: a packet that is not acknowledged for longer is sent again."),
        register(0x0fc, "SLACK_NS", Control, &[Field::new(0, 32, "slack", "ns").reset(20_000).within(0, Maximum::Value(0x7fff_ffff))],
            "Recovery: lateness that proves a loss without a later packet of the same path."),
        register(0x100, "THRESHOLD", Control, &[Field::new(0, 10, "threshold", "PSNs").reset(DEFAULT_THRESHOLD as u32)],
            "Recovery: PSNs by which the highest acknowledged one has to pass a lost one."),
        register(0x104, "COMMAND", Command, &[Field::new(0, 2, "operation", "what to do with FLOW").within(1, Maximum::Value(2)).named(&[
            named(1, "open", "open the flow"),
            named(2, "close", "close the flow"),
        ])], "Starts a flow command."),
        register(0x108, "RESULT", Status, &[
            Field::new(0, 1, "busy", "the command is under way"),
            Field::new(1, 1, "done", "the latest command was carried out"),
            Field::new(2, 1, "refused", "the latest command was refused; `cause` says why"),
            Field::new(8, 3, "cause", "why").named(&[
                named(0, "none", "not refused"),
                named(1, "not_ready", "memories are not initialised yet"),
                named(2, "is_open", "the flow to open is open"),
                named(3, "is_closed", "the flow to close is not open"),
                named(4, "in_use", "packets of the flow are under way"),
            ]),
        ], "How the latest flow command ended."),
    ],
};

const PATH_CONTROL: Block = Block {
    name: "path_control",
    offset: 0x140,
    doc: "Sets window, skip and pace of a flow's path: write what the command needs, then PATH_COMMAND. \
          Nothing here is written while STATUS says path_busy.",
    registers: &[
        register(0x140, "PATH_FLOW", Control, &[Field::new(0, 10, "flow", "flow number").within(0, Maximum::LastFlow)],
            "Flow that the command is for."),
        register(0x144, "PATH_INDEX", Control, &[Field::new(0, 4, "path", "path number").within(0, Maximum::LastPath)],
            "Path that the command is for."),
        register(0x148, "WINDOW", Control, &[Field::new(0, 16, "window", "packets, UQ10.6").reset(1 << 6)], "Window of the path."),
        register(0x14c, "SKIP", Control, &[Field::new(0, 10, "skip", "PSNs")], "Unsent PSNs that the path passes over."),
        register(0x150, "RATE", Control, &[Field::new(0, 32, "rate", "packets in 1,024 ns, UQ8.24")], "Pace of the flow."),
        register(0x154, "PROBING", Control, &[Field::new(0, 1, "probing", "probes are sent while every path is closed")],
            "Whether the flow probes for capacity."),
        register(0x158, "PATH_COMMAND", Command, &[Field::new(0, 3, "parts", "what to write; sums are allowed").within(1, Maximum::Value(7)).named(&[
            named(1, "window", "WINDOW, to the path"),
            named(2, "skip", "SKIP, to the path"),
            named(4, "rate", "RATE and PROBING, to the flow"),
        ])], "Starts a path command."),
    ],
};

const RECEIVE: Block = Block {
    name: "receive",
    offset: 0x180,
    doc: "The reorder buffer.",
    registers: &[
        register(
            0x180,
            "REORDER_LIMIT",
            Control,
            &[Field::new(0, 16, "slots", "slots")
                .reset(256)
                .within(1, Maximum::ReceiveSlots)],
            "With more slots than this in use, an out-of-order packet is refused.",
        ),
        register(
            0x184,
            "OCCUPIED",
            Status,
            &[Field::new(0, 16, "slots", "slots")],
            "Slots in use.",
        ),
        register(
            0x188,
            "HIGH_WATER",
            Status,
            &[Field::new(0, 16, "slots", "slots")],
            "Most slots that have been in use since reset.",
        ),
        register(
            0x18c,
            "WAITING",
            Status,
            &[Field::new(0, 16, "packets", "packets")],
            "Packets that wait for one before them.",
        ),
    ],
};

const TRANSMIT: Block = Block {
    name: "transmit",
    offset: 0x1a0,
    doc: "The transmit side.",
    registers: &[
        register(
            0x1a0,
            "FREE_SLOTS",
            Status,
            &[Field::new(0, 16, "slots", "slots")],
            "Transmit slots that are free.",
        ),
        register(
            0x1a4,
            "ACTIVE_FLOWS",
            Status,
            &[Field::new(0, 16, "flows", "flows")],
            "Flows that have something to send.",
        ),
        register(
            0x1a8,
            "RETRANSMIT_QUEUE",
            Status,
            &[Field::new(0, 16, "packets", "packets")],
            "Packets that wait to be sent again.",
        ),
    ],
};
