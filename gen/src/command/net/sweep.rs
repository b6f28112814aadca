//! `rondo net sweep`: a scenario for many seeds.

use super::run::report_file;
use crate::command::long_run::{interrupted, progress_bar, seed_or_random, watch_for_interrupt};
use crate::command::{print_json, print_text, writable, CommandError};
use clap::Args;
use rayon::prelude::*;
use rondo_net::report::{run, NetReport};
use rondo_net::scenario::Scenario;
use rondo_net::simulation::Simulation;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Run a scenario for many seeds, as many at a time as there are cores. Each run's report is a file of
/// its own; seeds whose report is there are not run again, so that an interrupted sweep goes on.
#[derive(Args)]
#[command(
    after_help = "Example:\n  rondo net sweep tests/scenarios/net/incast.toml --seeds 20 --seed 1 -o out/sweep"
)]
pub struct NetSweep {
    /// Scenario file (TOML).
    scenario: PathBuf,
    /// Number of seeds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// First seed; random by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Folder for the reports, `seed-N.json` each.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A figure over the runs that have it.
#[derive(Serialize)]
struct Range {
    name: &'static str,
    runs: usize,
    min: f64,
    mean: f64,
    max: f64,
}

#[derive(Serialize)]
struct Summary {
    scenario: String,
    seed: u64,
    seeds: u64,
    made_before: usize,
    values: Vec<Range>,
    folder: String,
}

/// Values of a report that are compared: name and JSON pointer.
const VALUES: [(&str, &str); 11] = [
    ("flows_completed", "/flows_completed"),
    ("jct_us", "/jct_us"),
    ("fct_us.p50", "/fct_us/p50"),
    ("fct_us.p99", "/fct_us/p99"),
    ("goodput_gbps", "/goodput_gbps"),
    ("ood.avg", "/ood/avg"),
    ("ood.max", "/ood/max"),
    ("nic_ood.p99", "/nic_ood/p99"),
    ("queue_kb.max", "/queue_kb/max"),
    ("jain", "/jain"),
    ("retransmits.spurious", "/retransmits/spurious"),
];

impl NetSweep {
    /// Runs and prints.
    pub fn run(self) -> Result<(), CommandError> {
        let scenario = Scenario::load(&self.scenario)?;
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        writable(&self.output)?;
        let bar = progress_bar(self.seeds, &scenario.name);
        if seed.checked_add(self.seeds - 1).is_none() {
            return Err(CommandError::Failed(format!(
                "--seeds {} from --seed {seed} go beyond 2^64 - 1",
                self.seeds
            )));
        }
        let seeds: Vec<u64> = (0..self.seeds).map(|i| seed + i).collect();
        let one = |&seed: &u64| {
            let result = self.one(&scenario, seed);
            bar.inc(1);
            result
        };
        let runs: Result<Vec<(Value, bool)>, CommandError> = seeds.par_iter().map(one).collect();
        bar.finish_and_clear();
        let runs = runs?;
        let values = VALUES.iter().map(|&(name, at)| range(name, at, &runs));
        let summary = Summary {
            scenario: scenario.name.clone(),
            seed,
            seeds: self.seeds,
            made_before: runs.iter().filter(|r| r.1).count(),
            values: values.collect(),
            folder: self.output.display().to_string(),
        };
        if self.json {
            return print_json(&summary);
        }
        print_text(&table(&summary))
    }

    /// The report of `seed`, and whether it was there.
    fn one(&self, scenario: &Scenario, seed: u64) -> Result<(Value, bool), CommandError> {
        let path = self.output.join(format!("seed-{seed}.json"));
        let setup = scenario.setup(seed)?;
        let fingerprint = scenario.fingerprint(&setup);
        if let Some(value) = made_before(&path, &fingerprint) {
            return Ok((value, true));
        }
        let mut simulation = Simulation::new(setup);
        if !run(&mut simulation, scenario.duration, &mut |_, _| {
            !interrupted()
        }) {
            return Err(CommandError::Interrupted);
        }
        let report = NetReport {
            fingerprint: Some(fingerprint),
            ..NetReport::of(&simulation, &scenario.name, None)
        };
        report_file(&path, &report)?;
        let value = serde_json::to_value(&report)
            .map_err(|e| CommandError::Failed(format!("{}: {e}", path.display())))?;
        Ok((value, false))
    }
}

/// A whole report of the same scenario, flows and seed.
fn made_before(path: &Path, fingerprint: &str) -> Option<Value> {
    let text = std::fs::read_to_string(path).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    (value["fingerprint"] == fingerprint).then_some(value)
}

fn range(name: &'static str, at: &str, runs: &[(Value, bool)]) -> Range {
    let values: Vec<f64> = runs
        .iter()
        .filter_map(|(v, _)| v.pointer(at)?.as_f64())
        .collect();
    Range {
        name,
        runs: values.len(),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        mean: values.iter().sum::<f64>() / values.len() as f64,
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

fn table(s: &Summary) -> String {
    let mut t = format!(
        "{}: {} seeds from {}, {} made before\n{:22} {:>6} {:>12} {:>12} {:>12}\n",
        s.scenario, s.seeds, s.seed, s.made_before, "", "runs", "min", "mean", "max"
    );
    for v in &s.values {
        let _ = writeln!(
            t,
            "{:22} {:>6} {:>12.3} {:>12.3} {:>12.3}",
            v.name, v.runs, v.min, v.mean, v.max
        );
    }
    let _ = writeln!(t, "reports: {}", s.folder);
    t
}
