//! The clock crossing between two clocks in any relation: nothing lost, doubled or torn.
//!
//! A step of the run is a step of time, not a clock: the bench moves both clocks itself, changes the
//! inputs of a side when its clock falls, and looks at them when it rises.

use super::axil::{Master, Ready, Write};
use super::crossing_order::Order;
use super::{Pace, Rows};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::cell::Cell;

/// Steps that an access may take.
const PATIENCE: u64 = 100_000;
/// Steps after which everything must have been met.
const LONG: u64 = 295_000;

/// One of the two clocks.
#[derive(Debug, Clone, Copy)]
struct Ticker {
    high: u32,
    low: u32,
    left: u32,
    level: bool,
}

impl Ticker {
    fn new(period: u32, phase: u32) -> Self {
        let high = period / 2;
        Self {
            high,
            low: period - high,
            left: 1 + phase,
            level: false,
        }
    }

    /// A step of time; says whether the clock rises or falls in it.
    fn step(&mut self) -> (bool, bool) {
        self.left -= 1;
        if self.left > 0 {
            return (false, false);
        }
        self.level = !self.level;
        self.left = if self.level { self.high } else { self.low };
        (self.level, !self.level)
    }
}

struct At {
    clocks: [usize; 2],
    resets: [usize; 2],
    late: usize,
    late_words: usize,
    aw: [usize; 3],
    w: [usize; 4],
    ar: [usize; 3],
    b: [usize; 3],
    r: [usize; 4],
}

impl At {
    fn new(v: &Verilog) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let late = v.ports.iter().find(|p| p.name == "late");
        let port = |name: &str| format!("m_axil_{name}");
        Ok(Self {
            clocks: r.inputs(["s_clk", "m_clk"])?,
            resets: r.inputs(["s_rst", "m_rst"])?,
            late: r.input("late")?,
            late_words: late.map_or(0, crate::Port::words),
            aw: [
                r.output(&port("awvalid"))?,
                r.output(&port("awaddr"))?,
                r.input(&port("awready"))?,
            ],
            w: [
                r.output(&port("wvalid"))?,
                r.output(&port("wdata"))?,
                r.output(&port("wstrb"))?,
                r.input(&port("wready"))?,
            ],
            ar: [
                r.output(&port("arvalid"))?,
                r.output(&port("araddr"))?,
                r.input(&port("arready"))?,
            ],
            b: [
                r.input(&port("bvalid"))?,
                r.input(&port("bresp"))?,
                r.output(&port("bready"))?,
            ],
            r: [
                r.input(&port("rvalid"))?,
                r.input(&port("rdata"))?,
                r.input(&port("rresp"))?,
                r.output(&port("rready"))?,
            ],
        })
    }
}

/// The slave behind the crossing: what it has taken and not answered.
#[derive(Debug, Default)]
struct Slave {
    address: Option<u16>,
    data: Option<(u32, u8)>,
    read: Option<u16>,
    b: Option<u8>,
    r: Option<(u32, u8)>,
    /// Offered and not taken: must stay.
    held: [Option<u64>; 3],
}

/// Random accesses over random clocks.
pub struct CrossingBench {
    rng: SmallRng,
    at: At,
    clocks: [Ticker; 2],
    master: Master,
    slave: Slave,
    readies: [Ready; 3],
    answers: Pace,
    writes: Order<Write, u8>,
    reads: Order<u16, (u32, u8)>,
    serial: u32,
    /// Clocks of reset left, a side.
    resetting: [u32; 2],
    /// Clocks of the reset that begins when the side's clock falls.
    planned: [u32; 2],
    /// The clocks are so far apart that only a reset of both is safe.
    apart: bool,
    next_reset: u64,
    rising: [bool; 2],
    before: Vec<u64>,
    step: u64,
    answered: u64,
    latest_answer: u64,
    violation: Option<String>,
}

impl CrossingBench {
    /// For the crossing's bench module `v`.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, seed: u64) -> Result<Self, SimError> {
        let rates = Pace::MIXED;
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at: At::new(v)?,
            clocks: [Ticker::new(8, 0), Ticker::new(4, 0)],
            master: Master::new(&Rows::new(v), "s_axil")?,
            slave: Slave::default(),
            readies: std::array::from_fn(|_| Ready::new(rates)),
            answers: Pace::new(rates),
            writes: Order::new("write"),
            reads: Order::new("read"),
            serial: 0,
            resetting: [0, 0],
            planned: [40, 40],
            apart: false,
            next_reset: 5_000,
            rising: [false; 2],
            before: vec![0; v.outputs().map(crate::Port::words).sum()],
            step: 0,
            answered: 0,
            latest_answer: 0,
            violation: None,
        })
    }

    /// Now and then a side is reset, or both, and then the clocks change.
    fn plan_resets(&mut self) {
        self.next_reset -= 1;
        if self.next_reset > 0 {
            return;
        }
        let rng = &mut self.rng;
        self.next_reset = rng.random_range(100..1_200);
        let clocks = |rng: &mut SmallRng| rng.random_range(1..6);
        match rng.random_range(0..16) {
            0..=6 if !self.apart => self.planned[0] = clocks(rng),
            7..=13 if !self.apart => self.planned[1] = clocks(rng),
            _ => {
                // Long enough for the slower one to see it, and for both to be in reset at once.
                self.planned = [100, 100];
                let (s, m) = match rng.random_range(0..4) {
                    // 125 and 250 MHz, edge on edge.
                    0 => (8, 4),
                    1 => (rng.random_range(4..60), rng.random_range(4..60)),
                    _ => (rng.random_range(4..17), rng.random_range(4..17)),
                };
                self.apart = s > 4 * m || m > 4 * s;
                let phase = rng.random_range(0..4);
                self.clocks = [Ticker::new(s, 0), Ticker::new(m, phase % 2 * phase)];
            }
        }
    }

    fn fail(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// The master's side, at its falling edge.
    fn drive_master(&mut self, inputs: &mut [u64]) {
        let resetting = self.resetting[0] > 0;
        inputs[self.at.resets[0]] = resetting.into();
        if resetting {
            self.master.reset();
        }
        let serial = Cell::new(self.serial);
        let next = || {
            serial.set(serial.get().wrapping_add(1));
            // Every bit changes from one access to the next as often as not; none is repeated.
            serial.get().wrapping_mul(0x9e37_79b1)
        };
        self.master.drive(
            &mut self.rng,
            inputs,
            resetting,
            &mut |rng| {
                Some(Write {
                    address: rng.random(),
                    data: next(),
                    strobe: rng.random_range(0..16),
                })
            },
            &mut |_| Some((next() >> 16) as u16),
        );
        self.serial = serial.get();
    }

    /// The slave's side, at its falling edge.
    fn drive_slave(&mut self, inputs: &mut [u64]) {
        let a = &self.at;
        inputs[a.resets[1]] = (self.resetting[1] > 0).into();
        let s = &mut self.slave;
        let rng = &mut self.rng;
        inputs[a.aw[2]] = (s.address.is_none() && self.readies[0].next(rng)).into();
        inputs[a.w[3]] = (s.data.is_none() && self.readies[1].next(rng)).into();
        inputs[a.ar[2]] = (s.read.is_none() && self.readies[2].next(rng)).into();
        if s.address.is_some() && s.data.is_some() && s.b.is_none() && self.answers.active(rng) {
            s.b = Some(rng.random_range(0..4));
        }
        if s.read.is_some() && s.r.is_none() && self.answers.active(rng) {
            s.r = Some((rng.random(), rng.random_range(0..4)));
        }
        inputs[a.b[0]] = s.b.is_some().into();
        inputs[a.b[1]] = s.b.unwrap_or(rng.random_range(0..4)).into();
        let (data, response) = s.r.unwrap_or((rng.random(), rng.random_range(0..4)));
        inputs[a.r[0]] = s.r.is_some().into();
        inputs[a.r[1]] = data.into();
        inputs[a.r[2]] = response.into();
    }

    /// The master's side, at its rising edge; `self.before` are the outputs until then.
    fn observe_master(&mut self, inputs: &[u64]) {
        if self.resetting[0] > 0 {
            self.resetting[0] -= 1;
            self.writes.asker_reset();
            self.reads.asker_reset();
            return;
        }
        let seen = self.master.observe(inputs, &self.before);
        if let Some(w) = seen.write {
            self.writes.asked(w);
        }
        if let Some(address) = seen.read {
            self.reads.asked(address);
        }
        self.writes.answer_seen(seen.b, seen.b_ready);
        self.reads.answer_seen(seen.r, seen.r_ready);
        let taken = u64::from(seen.b.is_some() && seen.b_ready)
            + u64::from(seen.r.is_some() && seen.r_ready);
        if taken > 0 || !(self.writes.is_busy() || self.reads.is_busy()) {
            self.latest_answer = self.step;
        }
        self.answered += taken;
    }

    /// The slave's side, at its rising edge.
    fn observe_slave(&mut self, inputs: &[u64]) {
        if self.resetting[1] > 0 {
            self.resetting[1] -= 1;
            self.slave = Slave::default();
            self.writes.server_reset();
            self.reads.server_reset();
            return;
        }
        let (a, out) = (&self.at, &self.before);
        let aw = (out[a.aw[0]] != 0).then_some(out[a.aw[1]]);
        let w = (out[a.w[0]] != 0).then_some(out[a.w[1]] << 4 | out[a.w[2]]);
        let ar = (out[a.ar[0]] != 0).then_some(out[a.ar[1]]);
        let ready = [a.aw[2], a.w[3], a.ar[2]].map(|at| inputs[at] != 0);
        let answered = [
            inputs[a.b[0]] & out[a.b[2]] != 0,
            inputs[a.r[0]] & out[a.r[3]] != 0,
        ];
        let offered = [aw, w, ar];
        for (i, offered) in offered.iter().enumerate() {
            self.readies[i].waits(offered.is_some() && !ready[i]);
            if let Some(held) = self.slave.held[i].filter(|held| Some(*held) != *offered) {
                self.fail(format!("m_axil withdrew {held:x} for {offered:x?}"));
            }
            self.slave.held[i] = offered.filter(|_| !ready[i]);
        }
        // A reset right after an answer, which may not have crossed, or before it.
        if !self.apart && self.rng.random_range(0..30) == 0 {
            if answered != [false; 2] {
                self.planned[1] = self.rng.random_range(1..6);
            } else if offered != [None; 3] {
                self.planned[0] = self.rng.random_range(1..6);
            }
        }
        let s = &mut self.slave;
        if answered[0] {
            self.writes.served(s.b.take().unwrap_or(0));
            (s.address, s.data) = (None, None);
        }
        if answered[1] {
            self.reads.served(s.r.take().unwrap_or((0, 0)));
            s.read = None;
        }
        if let Some(address) = aw.filter(|_| ready[0]) {
            s.address = Some(address as u16);
        }
        if let Some(word) = w.filter(|_| ready[1]) {
            s.data = Some(((word >> 4) as u32, word as u8 & 15));
        }
        if let (Some(address), Some((data, strobe)), true) = (
            s.address,
            s.data,
            (aw.is_some() && ready[0]) || (w.is_some() && ready[1]),
        ) {
            self.writes.arrived(Write {
                address,
                data,
                strobe,
            });
        }
        if let Some(address) = ar.filter(|_| ready[2]) {
            s.read = Some(address as u16);
            self.reads.arrived(address as u16);
        }
    }
}

impl Bench for CrossingBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        self.plan_resets();
        for i in 0..self.at.late_words {
            // Whole words early or late now and then, each bit for itself mostly.
            inputs[self.at.late + i] = match self.rng.random_range(0..8) {
                0 => 0,
                1 => u64::MAX,
                _ => self.rng.random(),
            };
        }
        let mut falling = [false; 2];
        for i in 0..2 {
            (self.rising[i], falling[i]) = self.clocks[i].step();
            inputs[self.at.clocks[i]] = self.clocks[i].level.into();
            if falling[i] && self.planned[i] > 0 {
                self.resetting[i] = std::mem::take(&mut self.planned[i]);
            }
        }
        if falling[0] {
            self.drive_master(inputs);
        }
        if falling[1] {
            self.drive_slave(inputs);
        }
    }

    fn model(&mut self, _: &[u64], _: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.step += 1;
        if self.rising[0] {
            self.observe_master(inputs);
        }
        if self.rising[1] {
            self.observe_slave(inputs);
        }
        self.before.copy_from_slice(outputs);
        if self.step - self.latest_answer > PATIENCE {
            self.fail("an access is not answered".into());
        }
        if self.step == LONG {
            let missed = self.writes.never_met().or(self.reads.never_met());
            if let Some(missed) = missed {
                self.fail(missed);
            }
        }
    }

    fn violation(&self) -> Option<&str> {
        self.violation
            .as_deref()
            .or(self.writes.violation())
            .or(self.reads.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.answered
    }
}
