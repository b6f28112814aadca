//! The register slave against the functional register file.
//!
//! Writes take effect in the clock of their answer, so controls and commands are compared on every
//! clock. What a read may answer is what its register held between the clocks in which the address
//! was taken and the answer came; a high word has to be that of the low word read before.

use super::axil::{Master, Seen, Write, REFUSED};
use super::register_stimulus::{Accesses, Surroundings};
use super::{Resets, Rows, Scoreboard};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::SeedableRng;
use rondo_models::registers::{
    target, Build, Half, Kind, Live, Refusal, RegisterFile, Written, AMOUNTS, COMMANDS, CONTROLS,
    PULSES, STATUSES, WIDES,
};
use std::collections::{BTreeMap, VecDeque};

/// Clocks that an access may take while its answer has room: one of the other kind before it, and
/// a round of the counters each.
const PATIENCE: u32 = 250;
/// Clocks after which everything must have been met.
const LONG: u64 = 295_000;

struct At {
    rst: usize,
    value: Vec<usize>,
    command: Vec<usize>,
    command_value: usize,
    status: Vec<usize>,
    wide: Vec<usize>,
    count: Vec<usize>,
    amount: Vec<usize>,
}

/// A read whose answer has not come.
#[derive(Debug)]
struct Pending {
    address: u16,
    /// What it may answer: values of the register since the address was taken, or the first and
    /// the last of a counter.
    values: Vec<u64>,
}

/// Random accesses, increments, statuses and resets.
pub struct RegistersBench {
    rng: SmallRng,
    at: At,
    build: Build,
    file: RegisterFile,
    master: Master,
    accesses: Accesses,
    around: Surroundings,
    resets: Resets,
    writes: VecDeque<Write>,
    reads: VecDeque<Pending>,
    /// High words that may belong to the low word read, by the pair's offset: one, unless the clock
    /// had the same low word twice.
    kept: BTreeMap<u32, Vec<u32>>,
    answered_b: Scoreboard<u8>,
    answered_r: Scoreboard<(u32, u8)>,
    offered_b: bool,
    offered_r: bool,
    wait_b: u32,
    wait_r: u32,
    clock: u64,
    compared: u64,
    met: BTreeMap<String, u64>,
    violation: Option<String>,
}

impl RegistersBench {
    /// For the register slave `v` of the design `build`.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, build: Build, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let inputs = |name: &str, n: usize| -> Result<Vec<usize>, SimError> {
            (0..n).map(|i| r.input(&format!("{name}_{i}"))).collect()
        };
        let outputs = |name: &str, n: usize| -> Result<Vec<usize>, SimError> {
            (0..n).map(|i| r.output(&format!("{name}_{i}"))).collect()
        };
        let at = At {
            rst: r.input("rst")?,
            value: outputs("value", CONTROLS)?,
            command: outputs("command", COMMANDS)?,
            command_value: r.output("command_value")?,
            status: inputs("status", STATUSES)?,
            wide: inputs("wide", WIDES)?,
            count: inputs("count", PULSES)?,
            amount: inputs("amount", AMOUNTS)?,
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            build,
            file: RegisterFile::new(build),
            master: Master::new(&r, "s_axil")?,
            accesses: Accesses::new(build),
            around: Surroundings::new(),
            // Lives long enough for an amount to carry into its high word.
            resets: Resets::new(17_000),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            kept: BTreeMap::new(),
            answered_b: Scoreboard::new("s_axil_b"),
            answered_r: Scoreboard::new("s_axil_r"),
            offered_b: false,
            offered_r: false,
            wait_b: 0,
            wait_r: 0,
            clock: 0,
            compared: 0,
            met: things_to_meet(),
            violation: None,
        })
    }

    fn restart(&mut self) {
        self.file = RegisterFile::new(self.build);
        self.master.reset();
        self.accesses.restart();
        self.around.restart(&mut self.rng);
        self.writes.clear();
        self.reads.clear();
        self.kept.clear();
        self.answered_b.reset();
        self.answered_r.reset();
        (self.offered_b, self.offered_r) = (false, false);
        (self.wait_b, self.wait_r) = (0, 0);
    }

    fn fail(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    fn meet(&mut self, what: &str) {
        if let Some(n) = self.met.get_mut(what) {
            *n += 1;
        }
    }

    fn live(&self) -> Live {
        Live {
            status: self.around.status,
            wide: self.around.wide,
        }
    }

    /// What the register at `address` holds now: of a pair all 64 bits.
    fn present(&self, address: u16) -> Option<u64> {
        let t = target(address)?;
        Some(match t.register.kind {
            Kind::Wide => self.around.wide[t.index],
            Kind::Counter(step) => self.file.counter(step, t.index),
            _ => self.file.clone().read(address, &self.live()).ok()?.into(),
        })
    }

    /// Adds the present values to what the reads under way may answer.
    fn widen(&mut self) {
        for i in 0..self.reads.len() {
            if let Some(now) = self.present(self.reads[i].address) {
                let values = &mut self.reads[i].values;
                if values.last() != Some(&now) {
                    values.push(now);
                }
            }
        }
    }

    /// An answer to a write appears: the write has taken effect.
    fn write_takes_effect(&mut self) -> Option<Written> {
        let Some(w) = self.writes.pop_front() else {
            self.fail("a write was answered that was not complete".into());
            return None;
        };
        match self.file.write(w.address, w.data, w.strobe) {
            Ok(done) => {
                if let (Written::Control { .. }, 1..15) = (done, w.strobe) {
                    self.meet("bytes of a register written");
                }
                Some(done)
            }
            Err(why) => {
                self.meet(&format!("write refused: {why:?}"));
                None
            }
        }
    }

    /// An answer to a read appears: is it one that the register could give?
    fn judge_read(&mut self, data: u32, response: u8) {
        let Some(p) = self.reads.pop_front() else {
            return self.fail("a read was answered that nobody asked for".into());
        };
        self.compared += 1;
        let refusal = self.file.clone().read(p.address, &self.live()).err();
        if let Some(why) = refusal {
            self.meet(&format!("read refused: {why:?}"));
            if (data, response) != (0, REFUSED) {
                self.fail(format!(
                    "{:#06x} reads {data:#x}, response {response}, instead of a refusal",
                    p.address
                ));
            }
            return;
        }
        let Some(t) = target(p.address) else { return };
        let (name, offset) = (t.register.name, t.register.offset);
        let good = match (t.register.kind, t.half) {
            (Kind::Wide | Kind::Counter(_), Half::High) => {
                let now = (self.present(p.address).unwrap_or(0) >> 32) as u32;
                let kept = self.kept.remove(&offset).unwrap_or(vec![0]);
                if !kept.contains(&now) {
                    let kind = if t.register.kind == Kind::Wide {
                        "clock"
                    } else {
                        "counter"
                    };
                    self.meet(&format!("high word kept while the {kind} went on"));
                }
                self.kept.insert(offset, vec![data]);
                kept.contains(&data)
            }
            (Kind::Counter(_), Half::Low) => {
                let (first, last) = (p.values[0], p.values[p.values.len() - 1]);
                let value = first + u64::from(data.wrapping_sub(first as u32));
                self.kept.insert(offset, vec![(value >> 32) as u32]);
                if value >> 32 != 0 {
                    self.meet("counter beyond 32 bits");
                }
                value <= last
            }
            (Kind::Wide, Half::Low) => {
                let found = p.values.iter().filter(|v| **v as u32 == data);
                let kept: Vec<u32> = found.map(|v| (v >> 32) as u32).collect();
                let good = !kept.is_empty();
                self.kept.insert(offset, kept);
                good
            }
            _ => p.values.contains(&data.into()),
        };
        if !good || response != 0 {
            self.fail(format!(
                "{name} ({:#06x}) reads {data:#x}, response {response}; it held {:x?}, kept {:x?}",
                p.address,
                p.values,
                self.kept.get(&offset)
            ));
        }
    }

    /// Controls, commands and their value in this clock.
    fn compare_outputs(&mut self, outputs: &[u64], done: Option<Written>) {
        for i in 0..CONTROLS {
            let (want, got) = (self.file.controls()[i], outputs[self.at.value[i]]);
            if got != u64::from(want) {
                self.fail(format!("value_{i} is {got:#x} instead of {want:#x}"));
            }
        }
        for i in 0..COMMANDS {
            let given = match done {
                Some(Written::Command { index, value }) if index == i => Some(value),
                _ => None,
            };
            let pulse = outputs[self.at.command[i]] != 0;
            if pulse != given.is_some() {
                self.fail(format!("command_{i} is {pulse} instead of {given:x?}"));
            }
            if let Some(value) = given {
                self.meet(&format!("command {i}"));
                let got = outputs[self.at.command_value];
                if got != u64::from(value) {
                    self.fail(format!("command_value is {got:#x} instead of {value:#x}"));
                }
            }
        }
        self.compared += (CONTROLS + COMMANDS) as u64;
    }

    fn answers(&mut self, seen: &Seen) -> Option<Written> {
        let mut done = None;
        if seen.b.is_some() && !self.offered_b {
            done = self.write_takes_effect();
        }
        self.widen();
        if let (Some((data, response)), false) = (seen.r, self.offered_r) {
            self.judge_read(data, response);
            self.answered_r.expect((data, response));
        }
        self.answered_b.clock(seen.b, seen.b_ready);
        self.answered_r.clock(seen.r, seen.r_ready);
        self.offered_b = seen.b.is_some() && !seen.b_ready;
        self.offered_r = seen.r.is_some() && !seen.r_ready;

        let due = |waits: bool, n: &mut u32| {
            *n = if waits { *n + 1 } else { 0 };
            *n > PATIENCE
        };
        if due(
            seen.b.is_none() && !self.writes.is_empty(),
            &mut self.wait_b,
        ) {
            self.fail("a write is not answered".into());
        }
        if due(seen.r.is_none() && !self.reads.is_empty(), &mut self.wait_r) {
            self.fail("a read is not answered".into());
        }
        done
    }
}

/// What a long run has to meet.
fn things_to_meet() -> BTreeMap<String, u64> {
    let mut things = vec![
        "bytes of a register written".to_owned(),
        "high word kept while the clock went on".into(),
        "high word kept while the counter went on".into(),
        "counter beyond 32 bits".into(),
    ];
    for why in [Refusal::Unmapped, Refusal::WriteOnly] {
        things.push(format!("read refused: {why:?}"));
    }
    for why in [
        Refusal::Unmapped,
        Refusal::ReadOnly,
        Refusal::Partial,
        Refusal::Reserved,
        Refusal::OutOfBounds,
    ] {
        things.push(format!("write refused: {why:?}"));
    }
    things.extend((0..COMMANDS).map(|i| format!("command {i}")));
    things.into_iter().map(|t| (t, 0)).collect()
}

impl Bench for RegistersBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let rng = &mut self.rng;
        let rst = self.resets.active(rng);
        self.around.step(rng, self.accesses.is_sweeping());
        inputs[self.at.rst] = rst.into();
        let row = |inputs: &mut [u64], at: &[usize], values: &mut dyn Iterator<Item = u64>| {
            for (at, v) in at.iter().zip(values) {
                inputs[*at] = v;
            }
        };
        let a = &self.around;
        row(
            inputs,
            &self.at.status,
            &mut a.status.iter().map(|v| (*v).into()),
        );
        row(inputs, &self.at.wide, &mut a.wide.iter().copied());
        row(
            inputs,
            &self.at.count,
            &mut a.count.iter().map(|v| (*v).into()),
        );
        row(
            inputs,
            &self.at.amount,
            &mut a.amount.iter().map(|v| (*v).into()),
        );
        let (accesses, file) = (std::cell::RefCell::new(&mut self.accesses), &self.file);
        self.master.drive(
            rng,
            inputs,
            rst,
            &mut |rng| accesses.borrow_mut().write(rng),
            &mut |rng| accesses.borrow_mut().read(rng, file),
        );
    }

    fn model(&mut self, _: &[u64], _: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        self.clock += 1;
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        let seen = self.master.observe(inputs, outputs);
        let done = self.answers(&seen);
        self.compare_outputs(outputs, done);
        for (i, c) in self.around.count.iter().enumerate() {
            self.file
                .count(rondo_models::registers::Step::Pulse, i, u16::from(*c));
        }
        for (i, a) in self.around.amount.iter().enumerate() {
            self.file
                .count(rondo_models::registers::Step::Amount, i, *a);
        }
        self.writes.extend(seen.write);
        if let Some(address) = seen.read {
            let values = self.present(address).into_iter().collect();
            self.reads.push_back(Pending { address, values });
        }
        if let Some(w) = self.writes.back().filter(|_| seen.write.is_some()) {
            let refused = self
                .file
                .clone()
                .write(w.address, w.data, w.strobe)
                .is_err();
            self.answered_b.expect(if refused { REFUSED } else { 0 });
        }
        if self.clock == LONG {
            let missed: Vec<_> = self.met.iter().filter(|m| *m.1 == 0).collect();
            if !missed.is_empty() {
                self.fail(format!("never met: {missed:?}"));
            }
        }
    }

    fn violation(&self) -> Option<&str> {
        self.violation
            .as_deref()
            .or(self.answered_b.violation())
            .or(self.answered_r.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.compared + self.answered_b.compared() + self.answered_r.compared()
    }
}
