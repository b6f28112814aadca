//! `rondo run`: a scenario in closed loop, the RTL making every decision.

use super::long_run::{interrupted, progress_bar, seed_or_random, watch_for_interrupt};
use super::run_mesh::run_mesh;
use super::{print_json, print_text, writable, write_whole, CommandError};
use clap::{Args, ValueEnum};
use rondo::cosim::verilog;
use rondo::plot;
use rondo::shape::{Block, Shape};
use rondo_sim::testbed::metrics::RunReport;
use rondo_sim::testbed::run::{run, Decisions, Select, Setup};
use rondo_sim::testbed::scenario::Scenario;
use rondo_sim::testbed::transmit::FLOWS;
use rondo_sim::Verilog;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Selection {
    Deficit,
    RoundRobin,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ControlChoice {
    /// ARCC as the golden model, on the host.
    Model,
}

/// Run a scenario in closed loop: sender RTL, links and queues, receiver RTL, ACKs back.
#[derive(Args)]
#[command(
    after_help = "A scenario with [messages] runs two whole NICs; only --seed and --json apply to it.\n\nExamples:\n  rondo run tests/scenarios/testbed-heterogeneous.toml --seed 1 -o out/heterogeneous\n  rondo run tests/scenarios/lossy-mesh.toml --seed 1"
)]
pub struct Run {
    /// Scenario file (TOML).
    scenario: PathBuf,
    /// Who runs ARCC.
    #[arg(long, value_enum, default_value = "model")]
    control: ControlChoice,
    /// Packet scheduler: skips by Eq. 7, or PSN order.
    #[arg(long, value_enum, default_value = "on")]
    scheduler: Switch,
    /// Path selection.
    #[arg(long, value_enum, default_value = "deficit")]
    select: Selection,
    /// Only this run; by default PSN order and round robin are run beside it.
    #[arg(long)]
    alone: bool,
    /// Seed of the designs' random state before reset; random by default. It must change nothing.
    #[arg(long)]
    seed: Option<u64>,
    /// Folder for report and plots; `out/NAME` by default.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    scenario: String,
    capacity_gbps: f64,
    #[serde(flatten)]
    main: RunReport,
    comparison: Vec<RunReport>,
    plots: Vec<String>,
}

impl Run {
    /// Runs the scenario, writes report and plots, prints the table.
    pub fn run(self) -> Result<(), CommandError> {
        let ControlChoice::Model = self.control;
        if rondo_sim::nic::file::is_mesh(&self.scenario) {
            rondo_sim::verilator::version()?;
            let seed = seed_or_random(self.seed);
            watch_for_interrupt();
            return run_mesh(&self.scenario, seed, self.json);
        }
        let scenario = Scenario::load(&self.scenario)?;
        rondo_sim::verilator::version()?;
        let shape = Shape::new(scenario.paths.len(), scenario.window, FLOWS)?;
        let folder = self
            .output
            .clone()
            .unwrap_or_else(|| PathBuf::from("out").join(&scenario.name));
        writable(&folder)?;
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let (sender, receiver) = (
            verilog(Block::Sender, shape)?,
            verilog(Block::Receiver, shape)?,
        );
        let mut kinds = vec![(
            match self.select {
                Selection::Deficit => Select::Deficit,
                Selection::RoundRobin => Select::RoundRobin,
            },
            self.scheduler == Switch::On,
        )];
        if !self.alone {
            // Round robin has no scheduler to switch.
            let main = kinds[0];
            for other in [
                (Select::Deficit, true),
                (Select::Deficit, false),
                (Select::RoundRobin, false),
            ] {
                if other != main && (other.0, main.0) != (Select::RoundRobin, Select::RoundRobin) {
                    kinds.push(other);
                }
            }
        }
        let mut runs = run_all(&kinds, &scenario, &sender, &receiver, seed)?;
        if interrupted() {
            return Err(CommandError::Interrupted);
        }
        let plots = plot::draw_all(&folder, &scenario.name, &runs.iter().collect::<Vec<_>>())
            .map_err(|e| CommandError::Failed(e.to_string()))?;
        let main = runs.remove(0);
        let report = Report {
            scenario: scenario.name.clone(),
            capacity_gbps: scenario.capacity_gbps(),
            main,
            comparison: runs,
            plots: plots
                .iter()
                .map(|f| folder.join(f).display().to_string())
                .collect(),
        };
        self.finish(&report, &folder)
    }

    fn finish(&self, report: &Report, folder: &std::path::Path) -> Result<(), CommandError> {
        let path = folder.join("report.json");
        let text = serde_json::to_string_pretty(report)
            .map_err(|e| CommandError::Failed(format!("{}: {e}", path.display())))?;
        write_whole(
            &path,
            &(text
                + "
"),
        )?;
        if self.json {
            print_json(report)?;
        } else {
            print_text(&table(report))?;
        }
        let all = || std::iter::once(&report.main).chain(&report.comparison);
        if all().any(|r| r.mismatches > 0) {
            return Err(CommandError::Failed(
                "the RTL differs from its model; `rondo cosim --all` shows where".into(),
            ));
        }
        if all().any(|r| !r.in_order) {
            return Err(CommandError::Failed(
                "the host did not get every packet once, in order and unchanged".into(),
            ));
        }
        Ok(())
    }
}

/// The runs are independent: two at a time.
fn run_all(
    kinds: &[(Select, bool)],
    scenario: &Scenario,
    sender: &Verilog,
    receiver: &Verilog,
    seed: u64,
) -> Result<Vec<RunReport>, CommandError> {
    // Compiled once before the threads need it.
    rondo_sim::verilator::compile(sender, false)?;
    rondo_sim::verilator::compile(receiver, false)?;
    let bar = progress_bar(1000 * kinds.len() as u64, &scenario.name);
    let done: Vec<AtomicU64> = kinds.iter().map(|_| AtomicU64::new(0)).collect();
    let one = |i: usize| {
        let setup = Setup {
            scenario,
            select: kinds[i].0,
            scheduler: kinds[i].1,
            sender,
            receiver,
            seed,
            decisions: Decisions::Rtl,
            trace: false,
        };
        run(&setup, &mut |share| {
            done[i].store((share * 1000.0) as u64, Ordering::Relaxed);
            bar.set_position(done.iter().map(|d| d.load(Ordering::Relaxed)).sum());
            !interrupted()
        })
    };
    let mut reports = Vec::new();
    for pair in (0..kinds.len()).collect::<Vec<_>>().chunks(2) {
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = pair.iter().map(|&i| scope.spawn(move || one(i))).collect();
            threads.into_iter().map(|t| t.join()).collect()
        });
        for r in results {
            match r {
                Ok(report) => reports.push(report?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    }
    bar.finish_and_clear();
    Ok(reports)
}

fn table(r: &Report) -> String {
    let mut t = String::new();
    let _ = writeln!(t, "{} ({} Gbps of paths)", r.scenario, r.capacity_gbps);
    let _ = writeln!(
        t,
        "{:12} {:>8} {:>8} {:>9} {:>8} {:>8} {:>9} {:>8}  {:9} {:>10}",
        "", "Gbps", "goodput", "OOD avg", "p99", "max", "RBO avg", "max", "decisions", "mismatches"
    );
    for run in std::iter::once(&r.main).chain(&r.comparison) {
        let _ = writeln!(
            t,
            "{:12} {:>8.2} {:>8.2} {:>9.2} {:>8} {:>8} {:>9.2} {:>8}  {:9} {:>10}",
            run.name,
            run.throughput_gbps,
            run.goodput_gbps,
            run.ood.avg,
            run.ood.p99,
            run.ood.max,
            run.rbo.avg,
            run.rbo.max,
            run.decisions,
            run.mismatches
        );
    }
    let _ = writeln!(
        t,
        "\n{:12} {:>8} {:>14} {:>8}",
        r.main.name, "Gbps", "queue us avg", "max"
    );
    for (i, p) in r.main.paths.iter().enumerate() {
        let _ = writeln!(
            t,
            "path {i:<7} {:>8.2} {:>14.2} {:>8.2}",
            p.gbps, p.queue_us.avg, p.queue_us.max
        );
    }
    let _ = writeln!(
        t,
        "\ndelivered {} packets, {} bytes, in order: {}, lost {} bytes, duplicated {} bytes",
        r.main.delivered.messages,
        r.main.delivered.bytes,
        r.main.in_order,
        r.main.lost_bytes,
        r.main.duplicated_bytes
    );
    for p in &r.plots {
        let _ = writeln!(t, "plot {p}");
    }
    t
}
