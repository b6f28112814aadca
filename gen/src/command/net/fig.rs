//! `rondo net fig`: a figure of the paper.

use crate::command::long_run::{interrupted, seed_or_random, watch_for_interrupt};
use crate::command::{print_json, print_text, writable, write_whole, CommandError};
use clap::Args;
use rondo::chart::draw;
use rondo_net::figures::{make, Context, FigureError, FigureReport, Verdict};
use rondo_net::transport::rondo::RondoConfig;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Make a figure of the paper: runs what it needs, prints our values beside the paper's, draws it.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo net fig 19 --seed 1 -o out/fig19")]
pub struct NetFig {
    /// Number in the paper: 3, 4, 9, 17, 18, 19, 20, 21, 23, 25 or 27.
    figure: u32,
    /// Shorter runs and fewer points.
    #[arg(long)]
    quick: bool,
    /// One of Rondo's parameters, as in a scenario's [transport]: `--set alpha=0.5`. Repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of flows, hashes and chance; random by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Folder for plot, table and values; `out/figN` by default.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Rondo's parameters with the changes of `--set`.
fn parameters(set: &[String]) -> Result<RondoConfig, CommandError> {
    let text = set.join("\n");
    let config: RondoConfig = toml::from_str(&text)
        .map_err(|e| CommandError::Failed(format!("--set: {}", e.message().trim_end())))?;
    config.check().map_err(|e| {
        let message = format!(
            "--set: `{}` is {}, but must be {}",
            e.key, e.value, e.wanted
        );
        CommandError::Failed(message)
    })?;
    Ok(config)
}

impl NetFig {
    /// Makes the figure and prints its values.
    pub fn run(self) -> Result<(), CommandError> {
        let rondo = parameters(&self.set)?;
        let folder = self
            .output
            .clone()
            .unwrap_or_else(|| PathBuf::from(format!("out/fig{}", self.figure)));
        writable(&folder)?;
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let spinner = indicatif::ProgressBar::new_spinner();
        let progress = |name: &str, _ps: f64| {
            spinner.set_message(name.to_owned());
            spinner.tick();
            !interrupted()
        };
        let context = Context {
            seed,
            quick: self.quick,
            rondo,
            progress: &progress,
        };
        let report = make(self.figure, &context).map_err(|e| match e {
            FigureError::Interrupted => CommandError::Interrupted,
            FigureError::Scenario(e) => e.into(),
            other => CommandError::Failed(other.to_string()),
        })?;
        spinner.finish_and_clear();
        write(&report, &folder)?;
        if self.json {
            print_json(&report)?;
        } else {
            print_text(&table(&report, &folder))?;
        }
        if report.ok {
            return Ok(());
        }
        let missed = report.rows.iter().filter(|r| r.verdict == Verdict::Missed);
        Err(CommandError::Failed(format!(
            "figure {}: {} of its targets missed",
            report.figure,
            missed.count()
        )))
    }
}

/// Writes plot, values and report into `folder`.
pub fn write(report: &FigureReport, folder: &Path) -> Result<(), CommandError> {
    writable(folder)?;
    let svg = folder.join(format!("fig{}.svg", report.figure));
    draw(&report.plot, &svg).map_err(|e| CommandError::Failed(e.to_string()))?;
    let csv = folder.join(format!("fig{}.csv", report.figure));
    write_whole(&csv, &report.plot.to_csv())?;
    write_whole(&folder.join("table.txt"), &rows(report))?;
    let json = folder.join("report.json");
    let text = serde_json::to_string_pretty(report)
        .map_err(|e| CommandError::Failed(format!("{}: {e}", json.display())))?;
    write_whole(&json, &(text + "\n"))
}

/// A value with as many digits as help.
fn number(v: f64) -> String {
    if v == 0.0 || v.abs() >= 1000.0 {
        format!("{v:.0}")
    } else if v.abs() >= 10.0 {
        format!("{v:.2}")
    } else {
        format!("{v:.4}")
    }
}

fn table(r: &FigureReport, folder: &Path) -> String {
    let mut t = format!("Figure {}: {}\n", r.figure, r.title);
    t += &rows(r);
    let _ = writeln!(t, "plot, values: {}", folder.display());
    t
}

/// The values as a table.
pub fn rows(r: &FigureReport) -> String {
    let mut t = String::new();
    let width = r.rows.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let _ = writeln!(
        t,
        "{:width$} {:>10} {:>8} {:12} {:24} verdict",
        "", "ours", "paper", "unit", "target"
    );
    for row in &r.rows {
        let verdict = match row.verdict {
            Verdict::Met => "met",
            Verdict::Missed => "MISSED",
            Verdict::Shown => "",
        };
        let _ = writeln!(
            t,
            "{:width$} {:>10} {:>8} {:12} {:24} {}",
            row.name,
            number(row.ours),
            row.paper.map_or(String::new(), number),
            row.unit,
            row.target,
            verdict
        );
    }
    t
}
