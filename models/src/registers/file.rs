//! The registers as software sees them.

use super::{
    counter_slot, target, Build, Half, Kind, Step, Target, CONTROLS, COUNTER_SLOTS, MAP, STATUSES,
    WIDES,
};

/// Why an access is refused: the bus answers SLVERR, and nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No register is there.
    Unmapped,
    /// A write to what is only read.
    ReadOnly,
    /// A read of what is only written.
    WriteOnly,
    /// A write of part of a register whose value has a bound, or of a command.
    Partial,
    /// A reserved bit would be set.
    Reserved,
    /// The value is outside its bounds.
    OutOfBounds,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The control `index` has the value `value` now.
    Control {
        /// Index.
        index: usize,
        /// Value.
        value: u32,
    },
    /// The command `index` was given, with `value`.
    Command {
        /// Index.
        index: usize,
        /// Value.
        value: u32,
    },
}

/// What the NIC says at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Statuses.
    pub status: [u32; STATUSES],
    /// Statuses of 64 bits.
    pub wide: [u64; WIDES],
}

/// State of the registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterFile {
    build: Build,
    controls: [u32; CONTROLS],
    counters: [u64; COUNTER_SLOTS],
    /// High words that belong to the latest low words read.
    counter_high: [u32; COUNTER_SLOTS],
    wide_high: [u32; WIDES],
}

impl RegisterFile {
    /// After reset.
    pub fn new(build: Build) -> Self {
        let mut controls = [0; CONTROLS];
        let resets = MAP
            .iter()
            .flat_map(|b| b.registers)
            .filter(|r| r.kind == Kind::Control)
            .map(|r| r.reset());
        for (control, reset) in controls.iter_mut().zip(resets) {
            *control = reset;
        }
        Self {
            build,
            controls,
            counters: [0; COUNTER_SLOTS],
            counter_high: [0; COUNTER_SLOTS],
            wide_high: [0; WIDES],
        }
    }

    /// Values of the controls.
    pub fn controls(&self) -> &[u32; CONTROLS] {
        &self.controls
    }

    /// Value of a counter.
    pub fn counter(&self, step: Step, index: usize) -> u64 {
        self.counters[counter_slot(step, index)]
    }

    /// Adds to a counter.
    #[inline]
    pub fn count(&mut self, step: Step, index: usize, by: u16) {
        let counter = &mut self.counters[counter_slot(step, index)];
        *counter = counter.wrapping_add(by.into());
    }

    /// Writes `data` to `address`; bit `b` of `strobe` says that byte `b` counts.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed.
    pub fn write(&mut self, address: u16, data: u32, strobe: u8) -> Result<Written, Refusal> {
        let Target {
            register, index, ..
        } = target(address).ok_or(Refusal::Unmapped)?;
        if !matches!(register.kind, Kind::Control | Kind::Command) {
            return Err(Refusal::ReadOnly);
        }
        let taken = (0..4)
            .filter(|b| strobe >> b & 1 == 1)
            .fold(0, |mask, b| mask | 0xff << (8 * b));
        if data & taken & !register.mask() != 0 {
            return Err(Refusal::Reserved);
        }
        let bounds = register.bounds(&self.build);
        let whole = bounds.is_some() || register.kind == Kind::Command;
        if whole && taken != u32::MAX {
            return Err(Refusal::Partial);
        }
        if bounds.is_some_and(|(minimum, maximum)| data < minimum || data > maximum) {
            return Err(Refusal::OutOfBounds);
        }
        if register.kind == Kind::Command {
            return Ok(Written::Command { index, value: data });
        }
        let value = self.controls[index] & !taken | data & taken;
        self.controls[index] = value;
        Ok(Written::Control { index, value })
    }

    /// Reads `address`.
    ///
    /// # Errors
    /// [`Refusal`]; the bus reads 0.
    pub fn read(&mut self, address: u16, live: &Live) -> Result<u32, Refusal> {
        let Target {
            register,
            half,
            index,
        } = target(address).ok_or(Refusal::Unmapped)?;
        Ok(match (register.kind, half) {
            (Kind::Constant, _) => register.reset(),
            (Kind::Built, _) => self.build.value(register.name),
            (Kind::Status, _) => live.status[index],
            (Kind::Control, _) => self.controls[index],
            (Kind::Command, _) => return Err(Refusal::WriteOnly),
            (Kind::Wide, Half::Low) => {
                self.wide_high[index] = (live.wide[index] >> 32) as u32;
                live.wide[index] as u32
            }
            (Kind::Wide, Half::High) => self.wide_high[index],
            (Kind::Counter(step), Half::Low) => {
                let slot = counter_slot(step, index);
                self.counter_high[slot] = (self.counters[slot] >> 32) as u32;
                self.counters[slot] as u32
            }
            (Kind::Counter(step), Half::High) => self.counter_high[counter_slot(step, index)],
        })
    }
}
