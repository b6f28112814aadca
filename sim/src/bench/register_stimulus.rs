//! Accesses to the register map, legal and not; statuses, clock and increments beside them.

use super::axil::Write;
use super::Pace;
use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::registers::{
    index_of, Build, Kind, Register, RegisterFile, Step, AMOUNTS, MAP, MAPPED_BYTES, PULSES,
    STATUSES, WIDES,
};

/// Everything is read once, in order, and nothing else happens.
#[derive(Debug, Clone, Copy)]
struct Sweep {
    next: u32,
}

/// Makes accesses.
pub(super) struct Accesses {
    build: Build,
    controls: Vec<&'static Register>,
    writable: Vec<&'static Register>,
    pairs: Vec<&'static Register>,
    sweep: Option<Sweep>,
    /// High word to read some time after its low word.
    high: Option<u16>,
}

impl Accesses {
    pub(super) fn new(build: Build) -> Self {
        let all = || MAP.iter().flat_map(|b| b.registers);
        let writable = |r: &&Register| matches!(r.kind, Kind::Control | Kind::Command);
        Self {
            build,
            controls: all().filter(|r| r.kind == Kind::Control).collect(),
            writable: all().filter(writable).collect(),
            pairs: all().filter(|r| r.words() == 2).collect(),
            sweep: Some(Sweep { next: 0 }),
            high: None,
        }
    }

    /// After reset everything is read once.
    pub(super) fn restart(&mut self) {
        self.sweep = Some(Sweep { next: 0 });
        self.high = None;
    }

    /// Every register is read, with nothing else going on.
    pub(super) fn is_sweeping(&self) -> bool {
        self.sweep.is_some()
    }

    fn any_address(&self, rng: &mut SmallRng) -> u16 {
        let within = rng.random_range(0..MAPPED_BYTES as u16);
        match rng.random_range(0..8) {
            0 => rng.random(),
            // One bit beyond what is mapped.
            1 => within | 1 << rng.random_range(10..16),
            _ => within,
        }
    }

    /// The next write.
    pub(super) fn write(&mut self, rng: &mut SmallRng) -> Option<Write> {
        if self.sweep.is_some() {
            return None;
        }
        let r = self.writable[rng.random_range(0..self.writable.len())];
        let (low, high) = r.bounds(&self.build).unwrap_or((0, r.mask()));
        let unit = 1 << r.mask().trailing_zeros();
        let data = match rng.random_range(0..16) {
            0 => low.wrapping_sub(unit),
            1 => high.wrapping_add(unit),
            2 => rng.random(),
            3 => (low | 1 << rng.random_range(0..32)) & !r.mask() | low,
            4 => low,
            5 => high,
            _ => rng.random_range(low..=high) & r.mask(),
        };
        let strobe = match rng.random_range(0..8) {
            0 | 1 => rng.random_range(0..16),
            _ => 15,
        };
        let address = match rng.random_range(0..12) {
            0 => self.any_address(rng),
            _ => r.offset as u16 + rng.random_range(0..4),
        };
        Some(Write {
            address,
            data,
            strobe,
        })
    }

    /// The next read; `file` says which counter is about to carry into its high word.
    pub(super) fn read(&mut self, rng: &mut SmallRng, file: &RegisterFile) -> Option<u16> {
        if let Some(sweep) = &mut self.sweep {
            let address = sweep.next as u16;
            sweep.next += 4;
            if sweep.next > MAPPED_BYTES {
                self.sweep = None;
            }
            return Some(address);
        }
        if rng.random_range(0..3000) == 0 {
            self.restart();
        }
        // A counter about to carry is read before it does, and its high word after that.
        let near = |r: &&&Register| match r.kind {
            Kind::Counter(Step::Amount) => {
                let now = file.counter(Step::Amount, index_of(r.name));
                now as u32 > u32::MAX - (2000 << 16)
            }
            _ => false,
        };
        let carrying = self.pairs.iter().find(near);
        let high_of = |r: &Register| r.offset as u16 + 4;
        let awaited = carrying.is_some_and(|r| self.high == Some(high_of(r)));
        if !awaited && rng.random_range(0..3) == 0 {
            if let Some(high) = self.high.take() {
                return Some(high);
            }
        }
        Some(match rng.random_range(0..8) {
            0 => self.any_address(rng),
            1..=3 => self.controls[rng.random_range(0..self.controls.len())].offset as u16,
            _ if awaited => rng.random_range(0..32),
            _ if carrying.is_none() && self.high.is_some() => self.high.take()?,
            _ => {
                let any = self.pairs[rng.random_range(0..self.pairs.len())];
                let r = carrying.unwrap_or(&any);
                self.high = Some(high_of(r));
                r.offset as u16
            }
        })
    }
}

/// What the NIC around the register slave says.
pub(super) struct Surroundings {
    pub(super) status: [u32; STATUSES],
    pub(super) wide: [u64; WIDES],
    pub(super) count: [bool; PULSES],
    pub(super) amount: [u16; AMOUNTS],
    statuses: Pace,
    /// Counters that count in this phase, and how often.
    mask: u64,
    density: u32,
    /// Amounts so large that they carry into their high words, in this life.
    heavy: [bool; AMOUNTS],
}

impl Surroundings {
    pub(super) fn new() -> Self {
        Self {
            status: [0; STATUSES],
            wide: [0; WIDES],
            count: [false; PULSES],
            amount: [0; AMOUNTS],
            statuses: Pace::new(&[64, 4, 1, 0]),
            mask: 0,
            density: 0,
            heavy: [false; AMOUNTS],
        }
    }

    /// After reset.
    pub(super) fn restart(&mut self, rng: &mut SmallRng) {
        self.heavy = std::array::from_fn(|_| rng.random_range(0..8) != 0);
        self.heavy[rng.random_range(0..AMOUNTS)] = true;
    }

    /// The next clock; while `quiet`, only the large amounts count.
    pub(super) fn step(&mut self, rng: &mut SmallRng, quiet: bool) {
        if self.statuses.active(rng) {
            let i = rng.random_range(0..STATUSES);
            self.status[i] = rng.random();
        }
        for w in &mut self.wide {
            *w = w.wrapping_add(4);
            if rng.random_range(0..400) == 0 {
                // Shortly before a carry into the high word, or anywhere.
                *w = rng.random();
                if rng.random() {
                    *w |= 0xffff_ffff - rng.random_range(0..200u64);
                }
            }
        }
        if rng.random_range(0..300) == 0 {
            self.mask = match rng.random_range(0..4) {
                0 => u64::MAX,
                1 => rng.random::<u64>() & rng.random::<u64>() & rng.random::<u64>(),
                _ => rng.random(),
            };
            self.density = [256, 256, 200, 16, 1][rng.random_range(0..5)];
        }
        let now = rng.random_range(0..256) < self.density;
        let which = if now {
            self.mask & rng.random::<u64>()
        } else {
            0
        };
        let which = if self.density == 256 {
            self.mask
        } else {
            which
        };
        for (i, c) in self.count.iter_mut().enumerate() {
            *c = !quiet && which >> i & 1 == 1;
        }
        for (i, a) in self.amount.iter_mut().enumerate() {
            *a = if self.heavy[i] {
                u16::MAX - rng.random_range(0..4096)
            } else if quiet || which >> (63 - i) & 1 == 0 {
                0
            } else {
                rng.random()
            };
        }
    }
}
