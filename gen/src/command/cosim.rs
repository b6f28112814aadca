//! `rondo cosim`: the generated Verilog against its model, every output on every clock.

use super::long_run::{interrupted, progress_bar, seed_or_random, watch_for_interrupt};
use super::{print_json, print_text, CommandError, ShapeArgs};
use clap::Args;
use rondo::cosim::{bench, verilog};
use rondo::shape::{Block, Shape};
use rondo_sim::dut::WaveFile;
use rondo_sim::lockstep::{self, Mismatch, Outcome};
use rondo_sim::Verilog;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Compare the generated Verilog with its model on every clock.
#[derive(Args)]
#[command(
    after_help = "Example:\n  rondo cosim --all --cycles 1000000 --seed 7 --paths 16 --window 512"
)]
pub struct Cosim {
    /// Block to run.
    #[arg(long, value_enum, conflicts_with = "all")]
    block: Option<Block>,
    /// Run all blocks (the default).
    #[arg(long)]
    all: bool,
    /// Clocks a block.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..))]
    cycles: u64,
    /// Seed of stimulus and initial state; random by default.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Flows: few, so that a flow's requests meet in the pipeline; up to 1024.
    #[arg(long, default_value_t = 16)]
    flows: usize,
    /// Write waves of the whole run (one block), or of the mismatch, to this VCD file.
    #[arg(long)]
    wave: Option<PathBuf>,
    /// Take modules from this folder where it has them: to check edited Verilog.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// Run Verilator without the model: for measuring.
    #[arg(long)]
    unchecked: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BlockReport {
    name: Block,
    cycles: u64,
    compared: u64,
    mismatches: u64,
    cycles_per_second: f64,
    transfers: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counts: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_mismatch: Option<MismatchReport>,
}

#[derive(Serialize)]
struct MismatchReport {
    cycle: u64,
    port: String,
    expected: String,
    actual: String,
    wave: PathBuf,
    reproduce: String,
}

#[derive(Serialize)]
struct Report {
    seed: u64,
    shape: Shape,
    blocks: Vec<BlockReport>,
    mismatches: u64,
}

impl Cosim {
    /// Runs the blocks; fails on the first mismatch of any.
    pub fn run(self) -> Result<(), CommandError> {
        let shape = self.shape.shape(self.flows)?;
        rondo_sim::verilator::version()?;
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let blocks = match self.block {
            Some(b) => vec![b],
            None => Block::ALL.to_vec(),
        };
        let mut report = Report {
            seed,
            shape,
            blocks: Vec::new(),
            mismatches: 0,
        };
        for block in blocks {
            let done = self.run_block(block, shape, seed)?;
            report.mismatches += done.mismatches;
            if !self.json {
                print_text(&line(&done))?;
            }
            report.blocks.push(done);
            if interrupted() {
                return Err(CommandError::Interrupted);
            }
        }
        if self.json {
            print_json(&report)?;
        }
        if report.mismatches > 0 {
            return Err(CommandError::Failed(format!(
                "{} of {} blocks differ from their model",
                report.mismatches,
                report.blocks.len()
            )));
        }
        Ok(())
    }

    fn run_block(
        &self,
        block: Block,
        shape: Shape,
        seed: u64,
    ) -> Result<BlockReport, CommandError> {
        let v = self.verilog(block, shape)?;
        let bar = progress_bar(self.cycles, block.name());
        let how = lockstep::Run {
            cycles: self.cycles,
            seed,
            checked: !self.unchecked,
            waves: match (&self.wave, self.block) {
                (Some(path), Some(_)) => Some(WaveFile {
                    path,
                    from_clock: 0,
                }),
                _ => None,
            },
        };
        let outcome = lockstep::run(&v, &mut *bench(block, &v, shape, seed)?, how, &mut |at| {
            bar.set_position(at);
            !interrupted()
        })?;
        bar.finish_and_clear();
        let first_mismatch = match &outcome.mismatch {
            None => None,
            Some(m) => Some(self.explain(block, shape, seed, m)?),
        };
        Ok(block_report(block, &outcome, first_mismatch))
    }

    /// The generated block, with the modules of `--rtl` in place of its own.
    fn verilog(&self, block: Block, shape: Shape) -> Result<Verilog, CommandError> {
        let mut v = verilog(block, shape)?;
        let Some(folder) = &self.rtl else {
            return Ok(v);
        };
        check_shape(folder, shape)?;
        let mut taken = Vec::new();
        for (name, text) in &mut v.files {
            let path = folder.join(name.as_str());
            if path.exists() {
                let edited = std::fs::read_to_string(&path)
                    .map_err(|source| CommandError::File { path, source })?;
                if edited != *text {
                    *text = edited;
                    taken.push(name.as_str());
                }
            }
        }
        eprintln!(
            "{}: {}",
            block.name(),
            if taken.is_empty() {
                format!(
                    "nothing in {} differs from what is generated",
                    folder.display()
                )
            } else {
                format!("from {}: {}", folder.display(), taken.join(", "))
            }
        );
        Ok(v)
    }

    fn explain(
        &self,
        block: Block,
        shape: Shape,
        seed: u64,
        m: &Mismatch,
    ) -> Result<MismatchReport, CommandError> {
        let wave = self
            .wave
            .clone()
            .unwrap_or_else(|| PathBuf::from(format!("mismatch-{}-{seed}.vcd", block.name())));
        let v = self.verilog(block, shape)?;
        lockstep::write_waves(&v, &mut *bench(block, &v, shape, seed)?, seed, m, &wave)?;
        let report = MismatchReport {
            cycle: m.clock,
            port: m.port.clone(),
            expected: hex(&m.expected),
            actual: hex(&m.actual),
            wave,
            reproduce: format!(
                "rondo cosim --block {} --cycles {} --seed {seed} --paths {} --window {} --flows {} --slots {} --slot-bytes {}{}",
                block.name(),
                (m.clock + 1).max(100),
                shape.paths,
                shape.window,
                shape.flows,
                shape.slots,
                shape.slot_bytes,
                self.rtl
                    .as_ref()
                    .map_or(String::new(), |d| format!(" --rtl {}", d.display()))
            ),
        };
        eprintln!(
            "MISMATCH {} seed {seed} cycle {}: {} is {}, the model says {}\n  waves: {}\n  again: {}",
            block.name(),
            report.cycle,
            report.port,
            report.actual,
            report.expected,
            report.wave.display(),
            report.reproduce
        );
        Ok(report)
    }
}

/// The folder's `report.json` says for which shape its Verilog was generated.
fn check_shape(folder: &std::path::Path, shape: Shape) -> Result<(), CommandError> {
    let path = folder.join("report.json");
    let text = std::fs::read_to_string(&path).map_err(|source| CommandError::File {
        path: path.clone(),
        source,
    })?;
    let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let made = &report["shape"];
    if *made == serde_json::json!(shape) {
        return Ok(());
    }
    Err(CommandError::Failed(format!(
        "{} was generated for {made}, and this run is for {}: give the same --paths, --window and --flows",
        folder.display(),
        serde_json::json!(shape)
    )))
}

fn hex(words: &[u64]) -> String {
    let text: String = words.iter().map(|w| format!("{w:016x}")).collect();
    let digits = text.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}

fn block_report(block: Block, o: &Outcome, first: Option<MismatchReport>) -> BlockReport {
    BlockReport {
        name: block,
        cycles: o.cycles,
        compared: o.compared,
        mismatches: u64::from(first.is_some()),
        cycles_per_second: o.cycles_per_second().round(),
        transfers: o.transfers.iter().cloned().collect(),
        counts: o.counts.iter().cloned().collect(),
        first_mismatch: first,
    }
}

fn line(b: &BlockReport) -> String {
    let mut text = format!(
        "{:10} {:>10} cycles {:>12} values compared {:>2} mismatches {:>10.0} cycles/s\n",
        b.name.name(),
        b.cycles,
        b.compared,
        b.mismatches,
        b.cycles_per_second
    );
    for (name, count) in &b.counts {
        text += &format!("{:12} {count:>10} {name}\n", "");
    }
    text
}
