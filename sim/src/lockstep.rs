//! Clocks a design and its model side by side and compares every output on every clock.

use crate::dut::{Dut, WaveFile};
use crate::{SimError, Verilog};
use std::path::Path;
use std::time::{Duration, Instant};

/// Stimulus and model of one block.
pub trait Bench {
    /// Fills the inputs of the next clock. All randomness comes from the bench's seed.
    fn drive(&mut self, inputs: &mut [u64]);
    /// The model's outputs for `inputs`; crosses the model's clock edge.
    fn model(&mut self, inputs: &[u64], expected: &mut [u64]);
    /// Tells the stimulus what the design answered in this clock.
    fn observe(&mut self, inputs: &[u64], outputs: &[u64]);
    /// What the design did that no design may do, whatever the model says: delivered out of order,
    /// twice, or with wrong contents.
    fn violation(&self) -> Option<&str> {
        None
    }
    /// The model predicts every output on every clock. A bench whose model has no clock compares
    /// transfers itself ([`crate::bench::Scoreboard`]), says false here, and reports differences as
    /// violations.
    fn is_clocked(&self) -> bool {
        true
    }
    /// Values that the bench itself has compared.
    fn compared(&self) -> u64 {
        0
    }
    /// What the bench has counted, by name: what the run was made of.
    fn counts(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
}

/// The first difference found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Clock, counted from 0.
    pub clock: u64,
    /// Output port.
    pub port: String,
    /// What the model says, most significant word first.
    pub expected: Vec<u64>,
    /// What the Verilog says.
    pub actual: Vec<u64>,
}

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Clocks run.
    pub cycles: u64,
    /// Output values compared.
    pub compared: u64,
    /// First difference.
    pub mismatch: Option<Mismatch>,
    /// Transfers (valid and ready) on each port: that the run was not an idle one.
    pub transfers: Vec<(String, u64)>,
    /// What the bench has counted.
    pub counts: Vec<(String, u64)>,
    /// Wall-clock time of the loop.
    pub elapsed: Duration,
}

impl Outcome {
    /// Clocks a second of wall-clock time.
    pub fn cycles_per_second(&self) -> f64 {
        self.cycles as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// How an output is compared.
struct Compared {
    port: usize,
    first_word: usize,
    words: usize,
    /// Word of the `valid` that qualifies it.
    valid: Option<usize>,
}

/// A valid/ready port: where both are.
struct Stream {
    name: String,
    valid: (bool, usize),
    ready: (bool, usize),
    transfers: u64,
}

impl Stream {
    #[inline]
    fn count(&mut self, inputs: &[u64], outputs: &[u64]) {
        let on = |(output, at): (bool, usize)| if output { outputs[at] } else { inputs[at] };
        self.transfers += on(self.valid) & on(self.ready);
    }
}

/// Every `<stream>_valid` that has a `<stream>_ready`.
fn streams(v: &Verilog) -> Vec<Stream> {
    let mut at = std::collections::HashMap::new();
    let (mut words_in, mut words_out) = (0, 0);
    for p in v.inputs() {
        at.insert(p.name.as_str(), (false, words_in));
        words_in += p.words();
    }
    for p in v.outputs() {
        at.insert(p.name.as_str(), (true, words_out));
        words_out += p.words();
    }
    v.ports
        .iter()
        .filter_map(|p| {
            let name = p.name.strip_suffix("_valid")?;
            Some(Stream {
                name: name.to_owned(),
                valid: at[p.name.as_str()],
                ready: *at.get(format!("{name}_ready").as_str())?,
                transfers: 0,
            })
        })
        .collect()
}

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Clocks.
    pub cycles: u64,
    /// Seed of the design's initial state.
    pub seed: u64,
    /// Compare with the model; off for measuring Verilator alone.
    pub checked: bool,
    /// Waves.
    pub waves: Option<WaveFile<'a>>,
}

/// An output called `<stream>_<field>` is compared while `<stream>_valid` is high; all others
/// always.
fn comparison(v: &Verilog) -> Vec<Compared> {
    let outputs: Vec<_> = v.outputs().collect();
    let mut first = Vec::new();
    let mut at = 0;
    for p in &outputs {
        first.push(at);
        at += p.words();
    }
    outputs
        .iter()
        .enumerate()
        .map(|(port, p)| {
            let valid = outputs.iter().position(|o| {
                o.name.strip_suffix("_valid").is_some_and(|stream| {
                    o.name != p.name
                        && p.name
                            .strip_prefix(stream)
                            .is_some_and(|rest| rest.starts_with('_'))
                })
            });
            Compared {
                port,
                first_word: first[port],
                words: p.words(),
                valid: valid.map(|i| first[i]),
            }
        })
        .collect()
}

/// Runs `bench` on `v`. `progress` gets the clocks done now and then; it returns false to stop.
///
/// # Errors
/// [`SimError`] when the design cannot be compiled or loaded. A mismatch is no error: it is in
/// the outcome.
pub fn run(
    v: &Verilog,
    bench: &mut dyn Bench,
    how: Run,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Outcome, SimError> {
    let mut dut = Dut::new(v, how.seed, how.waves)?;
    let words_in: usize = v.inputs().map(crate::Port::words).sum();
    let words_out: usize = v.outputs().map(crate::Port::words).sum();
    let mut inputs = vec![0u64; words_in];
    let mut outputs = vec![0u64; words_out];
    let mut expected = vec![0u64; words_out];
    let compared = comparison(v);
    let mut streams = streams(v);
    let mut outcome = Outcome::default();
    let start = Instant::now();
    for clock in 0..how.cycles {
        bench.drive(&mut inputs);
        dut.step(&inputs, &mut outputs);
        if how.checked && bench.is_clocked() {
            bench.model(&inputs, &mut expected);
            // Before the first reset the design's state is random by intent.
            if clock >= RESET_CLOCKS {
                if let Some(c) = difference(&compared, &expected, &outputs, &mut outcome.compared) {
                    let port = v.outputs().nth(c.port).map(|p| p.name.clone());
                    let row = |r: &[u64]| {
                        let mut w = r[c.first_word..c.first_word + c.words].to_vec();
                        w.reverse();
                        w
                    };
                    outcome.mismatch = Some(Mismatch {
                        clock,
                        port: port.unwrap_or_default(),
                        expected: row(&expected),
                        actual: row(&outputs),
                    });
                    outcome.cycles = clock + 1;
                    break;
                }
            }
        }
        bench.observe(&inputs, &outputs);
        if let (true, Some(what)) = (how.checked, bench.violation()) {
            outcome.mismatch = Some(Mismatch {
                clock,
                port: what.to_owned(),
                expected: vec![0],
                actual: vec![1],
            });
            outcome.cycles = clock + 1;
            break;
        }
        for s in &mut streams {
            s.count(&inputs, &outputs);
        }
        outcome.cycles = clock + 1;
        if clock % 16_384 == 0 && !progress(clock) {
            break;
        }
    }
    outcome.compared += bench.compared();
    outcome.counts = bench.counts();
    outcome.elapsed = start.elapsed();
    outcome.transfers = streams.into_iter().map(|s| (s.name, s.transfers)).collect();
    Ok(outcome)
}

/// Clocks of reset at the start of every run; outputs are compared from then on.
pub const RESET_CLOCKS: u64 = 4;

#[inline]
fn difference<'a>(
    compared: &'a [Compared],
    expected: &[u64],
    actual: &[u64],
    count: &mut u64,
) -> Option<&'a Compared> {
    compared.iter().find(|c| {
        if c.valid.is_some_and(|v| actual[v] == 0) {
            return false;
        }
        *count += 1;
        let range = c.first_word..c.first_word + c.words;
        expected[range.clone()] != actual[range]
    })
}

/// Runs again up to shortly after `mismatch` and writes waves from shortly before it.
///
/// # Errors
/// [`SimError`] when the wave file cannot be written.
pub fn write_waves(
    v: &Verilog,
    bench: &mut dyn Bench,
    seed: u64,
    mismatch: &Mismatch,
    path: &Path,
) -> Result<(), SimError> {
    let how = Run {
        cycles: mismatch.clock + 20,
        seed,
        checked: false,
        waves: Some(WaveFile {
            path,
            from_clock: mismatch.clock.saturating_sub(200),
        }),
    };
    run(v, bench, how, &mut |_| true).map(|_| ())
}
