//! Each register's place in the register slave's port arrays, found at compile time.

use super::{Kind, Register, Step, MAP};

/// The kinds that have a port array.
const fn array_of(kind: Kind) -> usize {
    match kind {
        Kind::Control => 0,
        Kind::Command => 1,
        Kind::Status => 2,
        Kind::Wide => 3,
        Kind::Counter(Step::Pulse) => 4,
        Kind::Counter(Step::Amount) => 5,
        Kind::Constant => 6,
        Kind::Built => 7,
    }
}

const fn count(kind: Kind) -> usize {
    let mut n = 0;
    let mut b = 0;
    while b < MAP.len() {
        let mut r = 0;
        while r < MAP[b].registers.len() {
            if array_of(MAP[b].registers[r].kind) == array_of(kind) {
                n += 1;
            }
            r += 1;
        }
        b += 1;
    }
    n
}

/// Controls: registers that software reads and writes.
pub const CONTROLS: usize = count(Kind::Control);
/// Commands.
pub const COMMANDS: usize = count(Kind::Command);
/// Statuses of 32 bits.
pub const STATUSES: usize = count(Kind::Status);
/// Statuses of 64 bits.
pub const WIDES: usize = count(Kind::Wide);
/// Counters that count by one.
pub const PULSES: usize = count(Kind::Counter(Step::Pulse));
/// Counters that count by up to 65,535.
pub const AMOUNTS: usize = count(Kind::Counter(Step::Amount));

/// Counters that the counter bank has room for.
pub const COUNTER_SLOTS: usize = 64;
/// First slot of the counters that count by one; those before count by more.
pub const PULSE_SLOT: usize = 8;

/// Slot of a counter in the counter bank.
pub const fn counter_slot(step: Step, index: usize) -> usize {
    match step {
        Step::Amount => index,
        Step::Pulse => PULSE_SLOT + index,
    }
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Index of the register `name` in the port array of its kind.
///
/// # Panics
/// When there is no such register: at compile time, where it is used in a constant.
pub const fn index_of(name: &str) -> usize {
    let mut seen = [0; 8];
    let mut b = 0;
    while b < MAP.len() {
        let mut r = 0;
        while r < MAP[b].registers.len() {
            let array = array_of(MAP[b].registers[r].kind);
            if equal(MAP[b].registers[r].name, name) {
                return seen[array];
            }
            seen[array] += 1;
            r += 1;
        }
        b += 1;
    }
    panic!("no register has this name")
}

/// Which word of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The only one, or the low one.
    Low,
    /// The high one of a pair.
    High,
}

/// What lies at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The register.
    pub register: &'static Register,
    /// The word of it.
    pub half: Half,
    /// The register's index in the port array of its kind.
    pub index: usize,
}

/// What lies at `address`, whose low two bits do not count.
pub fn target(address: u16) -> Option<Target> {
    let word = u32::from(address) & !3;
    let mut seen = [0; 8];
    for register in MAP.iter().flat_map(|b| b.registers) {
        let array = array_of(register.kind);
        let into = word.wrapping_sub(register.offset);
        if into < 4 * register.words() {
            let half = if into == 0 { Half::Low } else { Half::High };
            return Some(Target {
                register,
                half,
                index: seen[array],
            });
        }
        seen[array] += 1;
    }
    None
}

macro_rules! indices {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("Index of ", stringify!($name), ".")]
            pub const $name: usize = super::index_of(stringify!($name));
        )*
        /// All of them by name.
        pub const ALL: &[(&str, usize)] = &[$((stringify!($name), $name)),*];
    };
}

/// Index of each register in the port array of its kind, as constants.
pub mod at {
    indices! {
        SCRATCH STATUS ENABLE TIME WATCHDOG_LIMIT_US WATCHDOG_COUNT HEARTBEAT
        MAC_LO MAC_HI IPV4 IPV6_0 IPV6_1 IPV6_2 IPV6_3 UDP_PORT
        FLOW FIRST_PSN_TX FIRST_PSN_RX MTU PORT_BASE PEER_FLOW EPOCH PEER_MAC_LO PEER_MAC_HI
        PEER_IP_0 PEER_IP_1 PEER_IP_2 PEER_IP_3 FAMILY TIMEOUT_NS SLACK_NS THRESHOLD COMMAND RESULT
        PATH_FLOW PATH_INDEX WINDOW SKIP RATE PROBING PATH_COMMAND
        REORDER_LIMIT OCCUPIED HIGH_WATER WAITING FREE_SLOTS ACTIVE_FLOWS RETRANSMIT_QUEUE
        TX_FRAMES TX_BYTES TX_DATA TX_PROBES TX_ACKS TX_NAKS RETRANSMISSIONS TIMEOUTS
        RX_FRAMES RX_BYTES RX_DATA RX_PROBES RX_ACKS RX_NAKS
        DROP_TRUNCATED DROP_FOREIGN_MAC DROP_FOREIGN_ETHER_TYPE DROP_BAD_IP DROP_FOREIGN_IP
        DROP_NOT_UDP DROP_FOREIGN_PORT DROP_BAD_LENGTH DROP_BAD_FORMAT DROP_HEADER_CRC
        DROP_UNKNOWN_FLOW DROP_WRONG_PEER DROP_WRONG_SIZE DROP_PAYLOAD_CRC DROP_NO_BUFFER
        REFUSED_OPERATION REFUSED_FLOW REFUSED_LENGTH REFUSED_SIZE REFUSED_BEYOND
        REFUSED_ALIGNMENT REFUSED_EARLY_END REFUSED_LATE_END
        DELIVERED_PACKETS DELIVERED_BYTES DELIVERED_MESSAGES NAKS DUPLICATES STALE_JOBS
        H2C_STALLS TX_STALLS RX_STALLS C2H_STALLS CLOCKS
    }
}
