//! The NIC's register map: the one source of its offsets, fields, bounds and documentation.
//!
//! A window of 64 KB of 32-bit words. What is generated from the tables here: the RTL's decoding
//! (`rondo-hdl`, `RegisterSlave`), the C header, the SystemRDL, the Rust accessors and
//! `docs/registers.md` (`rondo registers`). [`RegisterFile`] is the functional model.
//!
//! Rules, which `models/tests/registers.rs` checks:
//!
//! * offsets are multiples of 4, a pair's of 8; nothing overlaps; all lie below [`MAPPED_BYTES`];
//! * names are unique, everything is documented;
//! * a register with a bounded field has no other field, so that the bound is one of the register.

mod counters;
mod file;
mod index;
mod map;

pub use file::{Live, Refusal, RegisterFile, Written};
pub use index::{
    at, counter_slot, index_of, target, Half, Target, AMOUNTS, COMMANDS, CONTROLS, COUNTER_SLOTS,
    PULSES, PULSE_SLOT, STATUSES, WIDES,
};
pub use map::MAP;

/// Bytes of the window.
pub const WINDOW_BYTES: u32 = 1 << 16;
/// Bytes of the window in which registers lie.
pub const MAPPED_BYTES: u32 = 0x400;
/// `RNDO`: what the register MAGIC reads.
pub const MAGIC: u32 = 0x524e_444f;
/// Version of the contract that this map is: major, minor, patch.
pub const VERSION: [u32; 3] = [1, 0, 0];
/// Clock of the core, kHz.
pub const CLOCK_KHZ: u32 = 250_000;

/// What software may do with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub enum Access {
    /// Read only.
    #[cfg_attr(feature = "std", serde(rename = "ro"))]
    ReadOnly,
    /// Read and write.
    #[cfg_attr(feature = "std", serde(rename = "rw"))]
    ReadWrite,
    /// Write only: a write is an order.
    #[cfg_attr(feature = "std", serde(rename = "wo"))]
    WriteOnly,
}

/// What a counter counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "snake_case"))]
pub enum Step {
    /// At most one a clock.
    Pulse,
    /// Up to 65,535 a clock.
    Amount,
}

/// Where a register's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "snake_case"))]
pub enum Kind {
    /// A number of the contract: the fields' resets.
    Constant,
    /// A number of the design that was generated: [`Build::value`].
    Built,
    /// What the NIC says at the moment.
    Status,
    /// Two words, what the NIC says at the moment; reading the low word keeps the high word that
    /// belongs to it.
    Wide,
    /// Kept by the register slave.
    Control,
    /// An order: a pulse, and the value written.
    Command,
    /// Two words: a 64-bit counter since reset; reading the low word keeps the high word that
    /// belongs to it.
    Counter(Step),
}

/// Largest value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "snake_case"))]
pub enum Maximum {
    /// The same in every design.
    Value(u32),
    /// The design's last flow.
    LastFlow,
    /// The design's last path.
    LastPath,
    /// The design's receive slots.
    ReceiveSlots,
    /// Beats of a slot, and at most 144, the beats of 9,216 bytes.
    SlotBeats,
}

/// A value that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Named {
    /// The value.
    pub value: u32,
    /// Its name, lower case.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A field of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Field {
    /// Name, lower case.
    pub name: &'static str,
    /// Lowest bit.
    pub low: u32,
    /// Width in bits.
    pub bits: u32,
    /// Value after reset, of a control; value, of a constant.
    pub reset: u32,
    /// Smallest value that may be written.
    pub minimum: u32,
    /// Largest value that may be written.
    pub maximum: Maximum,
    /// Values that have names.
    pub values: &'static [Named],
    /// What it means, with its unit.
    pub doc: &'static str,
}

/// A register of one word, or of two if it has 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Register {
    /// Offset in the window, in bytes.
    pub offset: u32,
    /// Name, upper case. Words of a pair are called `<name>_LO` and `<name>_HI`.
    pub name: &'static str,
    /// Where its value comes from.
    pub kind: Kind,
    /// Fields, lowest first; a pair has none.
    pub fields: &'static [Field],
    /// What it is for.
    pub doc: &'static str,
}

/// Registers that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Block {
    /// Name, lower case.
    pub name: &'static str,
    /// Offset of its first register in the window, in bytes.
    pub offset: u32,
    /// What it is for.
    pub doc: &'static str,
    /// Its registers, by offset.
    pub registers: &'static [Register],
}

/// What a generated design says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Build {
    /// First 32 bits of the commit it was generated from.
    pub git_hash: u32,
    /// There were changes that are not in the commit.
    pub git_dirty: bool,
    /// Paths a flow, 1 to 16.
    pub paths: u32,
    /// Window in PSNs, log2.
    pub window_log2: u32,
    /// Flows, log2.
    pub flows_log2: u32,
    /// Transmit slots, log2.
    pub transmit_slots_log2: u32,
    /// Receive slots, log2.
    pub receive_slots_log2: u32,
    /// 64-byte beats of a slot, log2.
    pub slot_beats_log2: u32,
}

impl Build {
    /// What the register SHAPE reads.
    pub const fn shape(&self) -> u32 {
        self.paths
            | self.window_log2 << 8
            | self.flows_log2 << 12
            | self.transmit_slots_log2 << 16
            | self.receive_slots_log2 << 20
            | self.slot_beats_log2 << 24
    }

    /// What the register `name`, of kind [`Kind::Built`], reads.
    pub fn value(&self, name: &str) -> u32 {
        match name {
            "GIT_HASH" => self.git_hash,
            "GIT_DIRTY" => self.git_dirty.into(),
            _ => self.shape(),
        }
    }
}

impl Maximum {
    /// The largest value in the design `build`.
    pub const fn of(self, build: &Build) -> u32 {
        match self {
            Maximum::Value(v) => v,
            Maximum::LastFlow => (1 << build.flows_log2) - 1,
            Maximum::LastPath => build.paths - 1,
            Maximum::ReceiveSlots => 1 << build.receive_slots_log2,
            Maximum::SlotBeats if build.slot_beats_log2 > 7 => 144,
            Maximum::SlotBeats => 1 << build.slot_beats_log2,
        }
    }
}

/// All ones in `bits` bits.
const fn ones(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

impl Field {
    /// A field without bounds, reset to 0.
    const fn new(low: u32, bits: u32, name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            low,
            bits,
            reset: 0,
            minimum: 0,
            maximum: Maximum::Value(ones(bits)),
            values: &[],
            doc,
        }
    }

    const fn reset(mut self, value: u32) -> Self {
        self.reset = value;
        self
    }

    const fn within(mut self, minimum: u32, maximum: Maximum) -> Self {
        self.minimum = minimum;
        self.maximum = maximum;
        self
    }

    const fn named(mut self, values: &'static [Named]) -> Self {
        self.values = values;
        self
    }

    /// Its bits in the register.
    pub const fn mask(&self) -> u32 {
        ones(self.bits) << self.low
    }

    /// Not every value that fits may be written, at least in some design.
    pub const fn is_bounded(&self) -> bool {
        match self.maximum {
            Maximum::Value(v) => self.minimum > 0 || v < ones(self.bits),
            _ => true,
        }
    }
}

impl Register {
    /// 32-bit words it takes.
    pub const fn words(&self) -> u32 {
        match self.kind {
            Kind::Wide | Kind::Counter(_) => 2,
            _ => 1,
        }
    }

    /// What software may do with it.
    pub const fn access(&self) -> Access {
        match self.kind {
            Kind::Control => Access::ReadWrite,
            Kind::Command => Access::WriteOnly,
            _ => Access::ReadOnly,
        }
    }

    /// Bits that belong to a field.
    pub const fn mask(&self) -> u32 {
        let mut mask = 0;
        let mut i = 0;
        while i < self.fields.len() {
            mask |= self.fields[i].mask();
            i += 1;
        }
        mask
    }

    /// Its value after reset, or its value if it is constant.
    pub const fn reset(&self) -> u32 {
        let mut value = 0;
        let mut i = 0;
        while i < self.fields.len() {
            value |= self.fields[i].reset << self.fields[i].low;
            i += 1;
        }
        value
    }

    /// Smallest and largest value that may be written in the design `build`, if it has a bound.
    pub fn bounds(&self, build: &Build) -> Option<(u32, u32)> {
        let f = self.fields.iter().find(|f| f.is_bounded())?;
        Some((f.minimum << f.low, f.maximum.of(build) << f.low))
    }
}
