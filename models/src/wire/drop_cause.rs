//! Why a frame is dropped.

macro_rules! drop_causes {
    ($($(#[$doc:meta])+ $variant:ident = $code:literal, $name:literal;)+) => {
        /// Why a received frame is dropped. The first check that fails names the cause; the checks
        /// are made in the order of the codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DropCause { $($(#[$doc])+ $variant = $code,)+ }

        impl DropCause {
            /// All causes, by code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Name of the cause's counter.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

drop_causes! {
    /// Shorter than 80 bytes, or than 100 with IPv6's EtherType.
    Truncated = 1, "truncated";
    /// The destination MAC is not ours.
    ForeignMac = 2, "foreign_mac";
    /// Neither IPv4 nor IPv6.
    ForeignEtherType = 3, "foreign_ether_type";
    /// IPv4: version, header length other than 20 bytes, a fragment, or the header's checksum.
    /// IPv6: version.
    BadIp = 4, "bad_ip";
    /// The destination IP address is not ours.
    ForeignIp = 5, "foreign_ip";
    /// Not UDP.
    NotUdp = 6, "not_udp";
    /// The UDP destination port is not ours.
    ForeignPort = 7, "foreign_port";
    /// Frame, IP, UDP and payload lengths do not agree.
    BadLength = 8, "bad_length";
    /// A field of the Rondo header has a value that it may not have.
    BadFormat = 9, "bad_format";
    /// The header CRC is wrong.
    HeaderCrc = 10, "header_crc";
    /// The flow is not open.
    UnknownFlow = 11, "unknown_flow";
    /// The source address is not the flow's peer's, or the epoch is another.
    WrongPeer = 12, "wrong_peer";
    /// The payload is not of the size that the flow's MTU demands.
    WrongSize = 13, "wrong_size";
    /// The payload CRC is wrong.
    PayloadCrc = 14, "payload_crc";
    /// No buffer was free.
    NoBuffer = 15, "no_buffer";
}

impl DropCause {
    /// The code, 1 to 15: 4 bits in hardware, where 0 is "accepted".
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The cause of a code.
    pub fn from_code(code: u8) -> Option<Self> {
        let index = usize::from(code).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}
