//! Pieces of stimulus: row positions by port name, paced valid/ready drivers.

use crate::lockstep::RESET_CLOCKS;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::HashMap;

/// Where each port's words are in the input and output rows.
pub struct Rows {
    inputs: HashMap<String, usize>,
    outputs: HashMap<String, usize>,
}

impl Rows {
    /// Of `v`.
    pub fn new(v: &Verilog) -> Self {
        let place = |ports: &mut dyn Iterator<Item = &crate::Port>| {
            let mut at = 0;
            ports
                .map(|p| {
                    let here = at;
                    at += p.words();
                    (p.name.clone(), here)
                })
                .collect()
        };
        Self {
            inputs: place(&mut v.inputs()),
            outputs: place(&mut v.outputs()),
        }
    }

    /// First word of an input.
    ///
    /// # Errors
    /// [`SimError::NoPort`].
    pub fn input(&self, port: &str) -> Result<usize, SimError> {
        find(&self.inputs, port)
    }

    /// First words of several inputs.
    ///
    /// # Errors
    /// [`SimError::NoPort`].
    pub fn inputs<const N: usize>(&self, ports: [&str; N]) -> Result<[usize; N], SimError> {
        all(ports, |p| self.input(p))
    }

    /// First words of several outputs.
    ///
    /// # Errors
    /// [`SimError::NoPort`].
    pub fn outputs<const N: usize>(&self, ports: [&str; N]) -> Result<[usize; N], SimError> {
        all(ports, |p| self.output(p))
    }

    /// First word of an output.
    ///
    /// # Errors
    /// [`SimError::NoPort`].
    pub fn output(&self, port: &str) -> Result<usize, SimError> {
        find(&self.outputs, port)
    }
}

fn all<const N: usize>(
    ports: [&str; N],
    find: impl Fn(&str) -> Result<usize, SimError>,
) -> Result<[usize; N], SimError> {
    let mut at = [0; N];
    for (a, p) in at.iter_mut().zip(ports) {
        *a = find(p)?;
    }
    Ok(at)
}

/// A first PSN, as often just below a wrap (of the PSN, or of its low 16 bits) as anywhere.
pub(super) fn first_psn(rng: &mut SmallRng) -> u32 {
    match rng.random_range(0..4) {
        0 => (1 << 24) - rng.random_range(1..200),
        1 => (rng.random_range(0..256u32) << 16).wrapping_sub(rng.random_range(0..100)) & 0xff_ffff,
        _ => rng.random_range(0..1 << 24),
    }
}

/// Puts a value of two words on a port.
pub(crate) fn set_wide(row: &mut [u64], at: usize, value: u128) {
    row[at] = value as u64;
    row[at + 1] = (value >> 64) as u64;
}

/// A value of two words of a port.
pub(crate) fn get_wide(row: &[u64], at: usize) -> u128 {
    u128::from(row[at]) | u128::from(row[at + 1]) << 64
}

/// What a long run has to meet: it would prove too little without.
#[derive(Debug, Clone)]
pub struct Reached<const N: usize> {
    names: [&'static str; N],
    counts: [u64; N],
    clocks: u64,
}

impl<const N: usize> Reached<N> {
    /// Clocks after which each must have been met.
    const LONG: u64 = 250_000;

    /// With the violation that is reported for each if it is not met.
    pub fn new(names: [&'static str; N]) -> Self {
        Self {
            names,
            counts: [0; N],
            clocks: 0,
        }
    }

    /// A clock, in which those that are true were met.
    #[inline]
    pub fn clock(&mut self, met: [bool; N]) {
        self.clocks += 1;
        for (count, met) in self.counts.iter_mut().zip(met) {
            *count += u64::from(met);
        }
    }

    /// The first that a long run has not met.
    pub fn missing(&self) -> Option<&'static str> {
        if self.clocks < Self::LONG {
            return None;
        }
        let at = self.counts.iter().position(|&c| c == 0)?;
        Some(self.names[at])
    }
}

fn find(map: &HashMap<String, usize>, port: &str) -> Result<usize, SimError> {
    map.get(port).copied().ok_or_else(|| SimError::NoPort {
        port: port.to_owned(),
    })
}

/// When a block is reset: at the start, then every ten thousands of clocks, and now and then again
/// while it still recovers from the reset before.
#[derive(Debug, Clone)]
pub struct Resets {
    left: u32,
    until_next: u32,
    settle: u32,
}

impl Resets {
    /// For a block whose init sweep takes `sweep` clocks: it must have time to work after it.
    pub fn new(sweep: usize) -> Self {
        let settle = 4 * sweep as u32;
        Self {
            left: RESET_CLOCKS as u32,
            until_next: 20_000 + settle,
            settle,
        }
    }

    /// Whether reset is active in this clock.
    #[inline]
    pub fn active(&mut self, rng: &mut SmallRng) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        self.until_next -= 1;
        if self.until_next == 0 {
            self.left = rng.random_range(1..4);
            self.until_next = match rng.random_range(0..3) {
                0 => rng.random_range(5..400),
                _ => rng.random_range(10_000..50_000) + self.settle,
            };
        }
        false
    }
}

/// Activity of a port, redrawn now and then: from never to always.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Of 256 clocks, how many are active.
    rate: u32,
    left: u32,
    rates: &'static [u32],
    longest: u32,
}

impl Pace {
    /// Idle, sparse, half and full phases.
    pub const MIXED: &'static [u32] = &[256, 256, 128, 32, 256, 200];
    /// Mostly slow: for ports that are rarely used.
    pub const RARE: &'static [u32] = &[1, 4, 0, 16];

    /// With the given rates to draw from.
    pub fn new(rates: &'static [u32]) -> Self {
        Self {
            rate: 0,
            left: 0,
            rates,
            longest: 1500,
        }
    }

    /// The same in phases so long that buffers fill.
    pub fn long(rates: &'static [u32]) -> Self {
        Self {
            longest: 6000,
            ..Self::new(rates)
        }
    }

    /// Whether the port is active in this clock.
    #[inline]
    pub fn active(&mut self, rng: &mut SmallRng) -> bool {
        if self.left == 0 {
            self.left = rng.random_range(50..self.longest);
            self.rate = self.rates[rng.random_range(0..self.rates.len())];
        }
        self.left -= 1;
        self.rate == 256 || (rng.random::<u32>() & 255) < self.rate
    }
}

/// A source port: holds its item until the design takes it, as AXI-Stream demands.
#[derive(Debug, Clone)]
pub struct Source<T> {
    pending: Option<T>,
    pace: Pace,
}

impl<T: Copy> Source<T> {
    /// With a pace.
    pub fn new(rates: &'static [u32]) -> Self {
        Self {
            pending: None,
            pace: Pace::new(rates),
        }
    }

    /// The item on the port in this clock; `make` makes the next when the port is free and active.
    #[inline]
    pub fn offer(
        &mut self,
        rng: &mut SmallRng,
        make: impl FnOnce(&mut SmallRng) -> Option<T>,
    ) -> Option<T> {
        if self.pending.is_none() && self.pace.active(rng) {
            self.pending = make(rng);
        }
        self.pending
    }

    /// The design was ready: the item, if there was one, is gone.
    #[inline]
    pub fn taken(&mut self, ready: bool) -> Option<T> {
        if ready {
            self.pending.take()
        } else {
            None
        }
    }

    /// The item on the port.
    #[inline]
    pub fn peek(&self) -> Option<T> {
        self.pending
    }

    /// Drops the item: the block was reset.
    pub fn reset(&mut self) {
        self.pending = None;
    }
}
