//! `rondo bench`: co-simulation speed of a block, checked and unchecked, in one run.

use super::long_run::seed_or_random;
use super::{print_json, print_text, CommandError, ShapeArgs};
use clap::Args;
use rondo::cosim::{bench, verilog};
use rondo::shape::Block;
use rondo_sim::lockstep::{run, Run};
use serde::Serialize;

/// Measure co-simulation speed: checked and unchecked runs in turn, medians, their ratio.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo bench --block sender --cycles 3000000 --json")]
pub struct Bench {
    /// Block.
    #[arg(long, value_enum, default_value = "sender")]
    block: Block,
    /// Clocks a run.
    #[arg(long, default_value_t = 3_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    cycles: u64,
    /// Runs of each kind.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Seed; random by default.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Flows.
    #[arg(long, default_value_t = 16)]
    flows: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    block: Block,
    seed: u64,
    cycles: u64,
    runs: u32,
    unchecked_cycles_per_second: f64,
    checked_cycles_per_second: f64,
    /// Share of the unchecked speed that checking costs.
    checking_costs: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

impl Bench {
    /// Runs and prints.
    pub fn run(self) -> Result<(), CommandError> {
        let shape = self.shape.shape(self.flows)?;
        rondo_sim::verilator::version()?;
        let seed = seed_or_random(self.seed);
        let v = verilog(self.block, shape)?;
        let (mut unchecked, mut checked) = (Vec::new(), Vec::new());
        for _ in 0..self.runs {
            for (is_checked, list) in [(false, &mut unchecked), (true, &mut checked)] {
                let how = Run {
                    cycles: self.cycles,
                    seed,
                    checked: is_checked,
                    waves: None,
                };
                let mut b = bench(self.block, &v, shape, seed)?;
                let outcome = run(&v, &mut *b, how, &mut |_| true)?;
                if outcome.mismatch.is_some() {
                    return Err(CommandError::Failed(format!(
                        "the {} differs from its model; `rondo cosim` shows where",
                        self.block.name()
                    )));
                }
                list.push(outcome.cycles_per_second());
            }
        }
        let (raw, with) = (median(unchecked), median(checked));
        let report = Report {
            block: self.block,
            seed,
            cycles: self.cycles,
            runs: self.runs,
            unchecked_cycles_per_second: raw.round(),
            checked_cycles_per_second: with.round(),
            checking_costs: ((1.0 - with / raw) * 1000.0).round() / 1000.0,
        };
        if self.json {
            return print_json(&report);
        }
        print_text(&format!(
            "{} P={} W={}, median of {} runs of {} cycles:\n  Verilator and stimulus  {:>10.0} cycles/s\n  checked on every clock  {:>10.0} cycles/s\n  checking costs          {:>9.1} %\n",
            self.block.name(),
            shape.paths,
            shape.window,
            self.runs,
            self.cycles,
            raw,
            with,
            report.checking_costs * 100.0
        ))
    }
}
