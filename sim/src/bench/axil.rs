//! An AXI4-Lite master: its channels independent of each other, all of them paced.

use super::{Pace, Rows, Source};
use crate::SimError;
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::VecDeque;

/// SLVERR.
pub(super) const REFUSED: u8 = 2;
/// Writes whose address and data may be apart.
const AHEAD: usize = 3;

/// A write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) address: u16,
    pub(super) data: u32,
    pub(super) strobe: u8,
}

/// Words of the slave port `prefix` of the design.
struct At {
    aw: [usize; 2],
    w: [usize; 3],
    ar: [usize; 2],
    b_ready: usize,
    r_ready: usize,
    aw_ready: usize,
    w_ready: usize,
    ar_ready: usize,
    b: [usize; 2],
    r: [usize; 3],
}

impl At {
    fn new(r: &Rows, prefix: &str) -> Result<Self, SimError> {
        let input = |port: &str| r.input(&format!("{prefix}_{port}"));
        let output = |port: &str| r.output(&format!("{prefix}_{port}"));
        Ok(Self {
            aw: [input("awvalid")?, input("awaddr")?],
            w: [input("wvalid")?, input("wdata")?, input("wstrb")?],
            ar: [input("arvalid")?, input("araddr")?],
            b_ready: input("bready")?,
            r_ready: input("rready")?,
            aw_ready: output("awready")?,
            w_ready: output("wready")?,
            ar_ready: output("arready")?,
            b: [output("bvalid")?, output("bresp")?],
            r: [output("rvalid")?, output("rdata")?, output("rresp")?],
        })
    }
}

/// A `ready`: paced, and in some phases only after `valid`.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pace: Pace,
    patient: bool,
    seen: bool,
}

impl Ready {
    pub(super) fn new(rates: &'static [u32]) -> Self {
        Self {
            pace: Pace::new(rates),
            patient: false,
            seen: false,
        }
    }

    pub(super) fn next(&mut self, rng: &mut SmallRng) -> bool {
        if rng.random_range(0..500) == 0 {
            self.patient = rng.random();
        }
        self.pace.active(rng) && (self.seen || !self.patient)
    }

    /// The stream was valid in this clock, and was not taken.
    pub(super) fn waits(&mut self, waits: bool) {
        self.seen = waits;
    }
}

/// What the design answered in a clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// A write is complete: address and data are both taken.
    pub(super) write: Option<Write>,
    /// A read's address is taken.
    pub(super) read: Option<u16>,
    /// Answer to a write, while it is offered.
    pub(super) b: Option<u8>,
    /// The answer is taken.
    pub(super) b_ready: bool,
    /// Answer to a read: data and response, while it is offered.
    pub(super) r: Option<(u32, u8)>,
    /// The answer is taken.
    pub(super) r_ready: bool,
}

/// The master.
pub(super) struct Master {
    at: At,
    aw: Source<Write>,
    w: Source<Write>,
    ar: Source<u16>,
    b: Ready,
    r: Ready,
    /// Made, and not yet on the address or the data channel.
    to_address: VecDeque<Write>,
    to_data: VecDeque<Write>,
    /// Taken on one channel, not on the other.
    addressed: VecDeque<Write>,
    filled: VecDeque<Write>,
}

impl Master {
    /// At the slave port `prefix`.
    ///
    /// # Errors
    /// [`SimError::NoPort`].
    pub(super) fn new(r: &Rows, prefix: &str) -> Result<Self, SimError> {
        // An answer that is not taken for long holds up its own kind only.
        const ANSWERS: &[u32] = &[256, 256, 128, 8, 0, 200];
        Ok(Self {
            at: At::new(r, prefix)?,
            aw: Source::new(Pace::MIXED),
            w: Source::new(Pace::MIXED),
            ar: Source::new(Pace::MIXED),
            b: Ready::new(ANSWERS),
            r: Ready::new(ANSWERS),
            to_address: VecDeque::new(),
            to_data: VecDeque::new(),
            addressed: VecDeque::new(),
            filled: VecDeque::new(),
        })
    }

    /// Forgets everything that is not answered.
    pub(super) fn reset(&mut self) {
        self.aw.reset();
        self.w.reset();
        self.ar.reset();
        self.to_address.clear();
        self.to_data.clear();
        self.addressed.clear();
        self.filled.clear();
    }

    /// Fills the inputs of the next clock; nothing is offered while `silent`.
    pub(super) fn drive(
        &mut self,
        rng: &mut SmallRng,
        inputs: &mut [u64],
        silent: bool,
        write: &mut dyn FnMut(&mut SmallRng) -> Option<Write>,
        read: &mut dyn FnMut(&mut SmallRng) -> Option<u16>,
    ) {
        let (mut aw, mut w, mut ar) = (None, None, None);
        if !silent {
            if self.to_address.len().max(self.to_data.len()) < AHEAD {
                let made = write(rng);
                self.to_address.extend(made);
                self.to_data.extend(made);
            }
            let (addresses, data) = (&mut self.to_address, &mut self.to_data);
            aw = self.aw.offer(rng, |_| addresses.pop_front());
            w = self.w.offer(rng, |_| data.pop_front());
            ar = self.ar.offer(rng, read);
        }
        inputs[self.at.aw[0]] = aw.is_some().into();
        inputs[self.at.w[0]] = w.is_some().into();
        inputs[self.at.ar[0]] = ar.is_some().into();
        // What is not valid is random: nothing may look at it.
        inputs[self.at.aw[1]] = aw.map_or(rng.random(), |a| a.address).into();
        let noise = Write {
            address: 0,
            data: rng.random(),
            strobe: rng.random_range(0..16),
        };
        inputs[self.at.w[1]] = w.unwrap_or(noise).data.into();
        inputs[self.at.w[2]] = w.unwrap_or(noise).strobe.into();
        inputs[self.at.ar[1]] = ar.unwrap_or(rng.random()).into();
        inputs[self.at.b_ready] = self.b.next(rng).into();
        inputs[self.at.r_ready] = self.r.next(rng).into();
    }

    /// What took place.
    pub(super) fn observe(&mut self, inputs: &[u64], outputs: &[u64]) -> Seen {
        let a = &self.at;
        self.addressed
            .extend(self.aw.taken(outputs[a.aw_ready] != 0));
        self.filled.extend(self.w.taken(outputs[a.w_ready] != 0));
        let mut seen = Seen {
            read: self.ar.taken(outputs[a.ar_ready] != 0),
            b: (outputs[a.b[0]] != 0).then(|| outputs[a.b[1]] as u8),
            b_ready: inputs[a.b_ready] != 0,
            r: (outputs[a.r[0]] != 0).then(|| (outputs[a.r[1]] as u32, outputs[a.r[2]] as u8)),
            r_ready: inputs[a.r_ready] != 0,
            write: None,
        };
        if !self.addressed.is_empty() && !self.filled.is_empty() {
            // Both queues hold the same writes in the same order.
            self.filled.pop_front();
            seen.write = self.addressed.pop_front();
        }
        self.b.waits(seen.b.is_some() && !seen.b_ready);
        self.r.waits(seen.r.is_some() && !seen.r_ready);
        seen
    }
}
