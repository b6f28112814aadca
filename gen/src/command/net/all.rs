//! `rondo net all`: every figure, and a report; `rondo net ports`: names for scenarios.

use super::fig::write;
use crate::command::long_run::{interrupted, seed_or_random, watch_for_interrupt};
use crate::command::{print_json, print_text, writable, write_whole, CommandError};
use clap::Args;
use rondo_net::figures::{make, Context, FigureError, FigureReport, FIGURES};
use rondo_net::scenario::Scenario;
use rondo_net::transport::rondo::RondoConfig;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Make every figure. What the folder already holds of the same seed is not made again, so that an
/// interrupted call goes on where it was.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo net all --quick --seed 1 -o out/figures")]
pub struct NetAll {
    /// Shorter runs and fewer points.
    #[arg(long)]
    quick: bool,
    /// Seed of flows, hashes and chance; random by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Folder.
    #[arg(short, long, value_name = "DIR", default_value = "out/figures")]
    output: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Made {
    figure: u32,
    ok: bool,
}

#[derive(Serialize)]
struct Report {
    seed: u64,
    quick: bool,
    figures: Vec<Made>,
    report: String,
}

impl NetAll {
    /// Makes and prints.
    pub fn run(self) -> Result<(), CommandError> {
        writable(&self.output)?;
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let bar = indicatif::ProgressBar::new(FIGURES.len() as u64);
        let progress = |name: &str, _ps: f64| {
            bar.set_message(name.to_owned());
            bar.tick();
            !interrupted()
        };
        let context = Context {
            seed,
            quick: self.quick,
            rondo: RondoConfig::default(),
            progress: &progress,
        };
        let mut figures = Vec::new();
        let mut text = format!("# Figures, seed {seed}\n");
        for number in FIGURES {
            let folder = self.output.join(format!("fig{number}"));
            let marker = folder.join("report.json");
            let report = match self.already(&marker, number, seed) {
                Some(ok) => {
                    figures.push(Made { figure: number, ok });
                    let table = folder.join("table.txt");
                    let table = std::fs::read_to_string(&table).unwrap_or_default();
                    let _ = write!(text, "\nFigure {number}, {}\n{table}", verdict(ok));
                    bar.inc(1);
                    continue;
                }
                None => make(number, &context).map_err(|e| match e {
                    FigureError::Interrupted => CommandError::Interrupted,
                    FigureError::Scenario(e) => e.into(),
                    other => CommandError::Failed(other.to_string()),
                })?,
            };
            write(&report, &folder)?;
            let _ = write!(text, "\n{}", lines(&report));
            figures.push(Made {
                figure: number,
                ok: report.ok,
            });
            bar.inc(1);
        }
        bar.finish_and_clear();
        let path = self.output.join("report.txt");
        write_whole(&path, &text)?;
        let report = Report {
            seed,
            quick: self.quick,
            figures,
            report: path.display().to_string(),
        };
        if self.json {
            print_json(&report)?;
        } else {
            print_text(&text)?;
        }
        let missed = report.figures.iter().filter(|f| !f.ok).count();
        if missed > 0 {
            let message = format!("{missed} figures miss a target: see {}", report.report);
            return Err(CommandError::Failed(message));
        }
        Ok(())
    }

    /// Whether the figure of this seed and length is there, and whether it was met.
    fn already(&self, path: &std::path::Path, number: u32, seed: u64) -> Option<bool> {
        let text = std::fs::read_to_string(path).ok()?;
        let value: serde_json::Value = serde_json::from_str(&text).ok()?;
        let same = value["figure"] == number
            && value["seed"] == seed
            && value["quick"] == self.quick
            && value["version"] == env!("CARGO_PKG_VERSION")
            && serde_json::to_value(RondoConfig::default()).is_ok_and(|c| value["rondo"] == c);
        same.then(|| value["ok"].as_bool()).flatten()
    }
}

fn verdict(ok: bool) -> &'static str {
    if ok {
        "all targets met"
    } else {
        "a target missed"
    }
}

fn lines(r: &FigureReport) -> String {
    let mut t = format!("Figure {}: {}, {}\n", r.figure, r.title, verdict(r.ok));
    t += &super::fig::rows(r);
    t
}

/// List a scenario's ports, as `event.port` and `measure.ports` call them.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo net ports tests/scenarios/net/incast.toml")]
pub struct NetPorts {
    /// Scenario file (TOML).
    scenario: PathBuf,
}

impl NetPorts {
    /// Prints one port a line: name, Gbps, delay in ns.
    pub fn run(self) -> Result<(), CommandError> {
        let fabric = Scenario::load(&self.scenario)?.fabric(0)?;
        let mut t = String::new();
        for p in &fabric.ports {
            let _ = writeln!(t, "{} {} Gbps {} ns", p.name, p.gbps, p.delay / 1000);
        }
        print_text(&t)
    }
}
