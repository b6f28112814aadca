//! The register map as the slave's ROMs hold it: one entry a word of the window's mapped part.

use rondo_models::registers::{counter_slot, target, Build, Half, Kind, Target, MAPPED_BYTES};

/// Address bits of the ROMs.
pub(super) const WORD_BITS: usize = 8;

const _: () = assert!(MAPPED_BYTES == 4 << WORD_BITS);

/// Words of the four ROMs.
pub(super) struct Decode {
    /// What is there, one bit a kind, then `whole`, then the index: see [`info`].
    pub(super) info: Vec<u32>,
    /// Bits that may be written.
    pub(super) masks: Vec<u32>,
    /// Smallest value that may be written; of a constant, its value.
    pub(super) lows: Vec<u32>,
    /// Largest value that may be written.
    pub(super) highs: Vec<u32>,
}

impl Decode {
    /// Of the design `build`.
    pub(super) fn new(build: &Build) -> Self {
        let mut d = Self {
            info: Vec::new(),
            masks: Vec::new(),
            lows: Vec::new(),
            highs: Vec::new(),
        };
        for word in 0..1u16 << WORD_BITS {
            let at = target(4 * word);
            let written = at.filter(|t| matches!(t.register.kind, Kind::Control | Kind::Command));
            let bounds = written.and_then(|t| t.register.bounds(build));
            let (low, high) = bounds.unwrap_or((0, u32::MAX));
            d.info.push(at.map_or(0, |t| info(&t, bounds.is_some())));
            d.masks.push(written.map_or(0, |t| t.register.mask()));
            d.lows
                .push(at.and_then(|t| fixed(&t, build)).unwrap_or(low));
            d.highs.push(high);
        }
        d
    }
}

/// The value of a register that has always the same.
fn fixed(t: &Target, build: &Build) -> Option<u32> {
    match t.register.kind {
        Kind::Constant => Some(t.register.reset()),
        Kind::Built => Some(build.value(t.register.name)),
        _ => None,
    }
}

/// Bits 0 to 7: constant, control, status, command, low and high word of a counter, of a wide
/// status; bit 8: only whole words may be written; bits 14 to 9: index, of a counter its slot.
fn info(t: &Target, bounded: bool) -> u32 {
    let (bit, index) = match (t.register.kind, t.half) {
        (Kind::Constant | Kind::Built, _) => (0, 0),
        (Kind::Control, _) => (1, t.index),
        (Kind::Status, _) => (2, t.index),
        (Kind::Command, _) => (3, t.index),
        (Kind::Counter(step), Half::Low) => (4, counter_slot(step, t.index)),
        (Kind::Counter(step), Half::High) => (5, counter_slot(step, t.index)),
        (Kind::Wide, Half::Low) => (6, t.index),
        (Kind::Wide, Half::High) => (7, t.index),
    };
    let whole = bounded || t.register.kind == Kind::Command;
    1 << bit | u32::from(whole) << 8 | (index as u32) << 9
}
