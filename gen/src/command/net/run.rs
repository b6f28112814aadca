//! `rondo net run`: a scenario, once.

use crate::command::long_run::{interrupted, progress_bar, seed_or_random, watch_for_interrupt};
use crate::command::{print_json, print_text, writable, write_whole, CommandError};
use clap::Args;
use cpu_time::ThreadTime;
use rondo::chart::draw;
use rondo_net::chart::Figure;
use rondo_net::report::{peak_rss_mb, run, Cost, NetReport};
use rondo_net::scenario::Scenario;
use rondo_net::simulation::Simulation;
use rondo_net::time::to_us;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Run a scenario in the network simulator.
#[derive(Args)]
#[command(
    after_help = "Example:\n  rondo net run tests/scenarios/net/incast.toml --seed 1 -o out/incast"
)]
pub struct NetRun {
    /// Scenario file (TOML).
    scenario: PathBuf,
    /// Seed of flows, hashes and chance; random by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Capture what a port sends (`rondo net ports` lists them) as DIR/PORT.pcap; needs -o. Repeatable.
    #[arg(long, value_name = "PORT", requires = "output")]
    pcap: Vec<String>,
    /// Leave out what depends on the machine (time, memory): equal seeds give equal bytes.
    #[arg(long)]
    reproducible: bool,
    /// Folder for report, samples (CSV) and plots.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl NetRun {
    /// Runs and prints.
    pub fn run(self) -> Result<(), CommandError> {
        let scenario = Scenario::load(&self.scenario)?;
        if let Some(folder) = &self.output {
            writable(folder)?;
        }
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let mut simulation = Simulation::new(scenario.setup(seed)?);
        self.open_captures(&mut simulation)?;
        let bar = progress_bar(to_us(scenario.duration) as u64, &scenario.name);
        let started = ThreadTime::now();
        let whole = run(&mut simulation, scenario.duration, &mut |now, packets| {
            bar.set_position(to_us(now) as u64);
            let rate = packets as f64 / started.elapsed().as_secs_f64().max(1e-9);
            bar.set_message(format!("{} {:.0} packets/s", scenario.name, rate));
            !interrupted()
        });
        bar.finish_and_clear();
        if !whole {
            return Err(CommandError::Interrupted);
        }
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        simulation
            .finish_captures()
            .map_err(|e| CommandError::Failed(e.to_string()))?;
        let cost = Cost {
            cpu_seconds: seconds,
            packets_per_cpu_second: simulation.metrics().packets as f64 / seconds,
            events_per_cpu_second: simulation.events() as f64 / seconds,
            peak_rss_mb: peak_rss_mb(),
        };
        let cost = (!self.reproducible).then_some(cost);
        let report = NetReport::of(&simulation, &scenario.name, cost);
        if let Some(folder) = &self.output {
            let figure = simulation
                .recorder()
                .figure(&scenario.name, simulation.fabric());
            write(folder, &report, figure.as_ref())?;
        }
        if self.json {
            return print_json(&report);
        }
        print_text(&table(&report))
    }
}

impl NetRun {
    fn open_captures(&self, simulation: &mut Simulation) -> Result<(), CommandError> {
        let (Some(folder), false) = (&self.output, self.pcap.is_empty()) else {
            return Ok(());
        };
        for name in &self.pcap {
            let Some(port) = simulation.fabric().port_by_name(name) else {
                return Err(CommandError::Failed(format!(
                    "--pcap: there is no port `{name}`; `rondo net ports {}` lists them",
                    self.scenario.display()
                )));
            };
            let path = folder.join(format!("{}.pcap", name.replace(['>', '#'], "-")));
            simulation
                .capture_port(port, &path)
                .map_err(|e| CommandError::Failed(e.to_string()))?;
        }
        Ok(())
    }
}

/// Writes the report, without what depends on the machine, and the samples.
fn write(folder: &Path, report: &NetReport, figure: Option<&Figure>) -> Result<(), CommandError> {
    let (svg, csv) = (folder.join("samples.svg"), folder.join("samples.csv"));
    match figure {
        Some(figure) => {
            draw(figure, &svg).map_err(|e| CommandError::Failed(e.to_string()))?;
            write_whole(&csv, &figure.to_csv())?;
        }
        // Those of an earlier run would be taken for this one's.
        None => {
            for old in [svg, csv].into_iter().filter(|f| f.exists()) {
                std::fs::remove_file(&old)
                    .map_err(|source| CommandError::File { path: old, source })?;
            }
        }
    }
    let report = NetReport {
        cost: None,
        ..report.clone()
    };
    report_file(&folder.join("report.json"), &report)
}

/// Writes a report.
pub fn report_file(path: &Path, report: &NetReport) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|e| CommandError::Failed(format!("{}: {e}", path.display())))?;
    write_whole(path, &(text + "\n"))
}

/// A value, or a dash where there is none.
fn shown(v: f64) -> String {
    if v.is_nan() {
        "-".into()
    } else {
        format!("{v:.1}")
    }
}

fn table(r: &NetReport) -> String {
    let mut t = String::new();
    let _ = writeln!(
        t,
        "{}: {} of {} flows{}, {} packets in {:.1} us, {:.2} Gbps",
        r.scenario,
        r.flows_completed,
        r.flows,
        match r.flows_stopped {
            0 => String::new(),
            n => format!(", {n} stopped"),
        },
        r.packets_delivered,
        r.duration_us,
        r.goodput_gbps
    );
    let _ = writeln!(
        t,
        "FCT us       p50 {}  p99 {}  p99.9 {}  max {}  (slowdown p99 {})",
        shown(r.fct_us.p50),
        shown(r.fct_us.p99),
        shown(r.fct_us.p999),
        shown(r.fct_us.max),
        shown(r.slowdown.p99)
    );
    let _ = writeln!(
        t,
        "OOD packets  avg {:.3}  p99 {}  max {}  NIC p99 {}  max {}",
        r.ood.avg, r.ood.p99, r.ood.max, r.nic_ood.p99, r.nic_ood.max
    );
    let _ = writeln!(
        t,
        "queue kB     max {:.1}  between paths {}",
        r.queue_kb.max,
        r.queue_kb
            .interpath_max
            .map_or("-".into(), |v| format!("{v:.1}"))
    );
    let _ = writeln!(
        t,
        "jain {:.5}  utilisation {:.4}  retransmissions {} needed, {} spurious, {:.1} us",
        r.jain, r.utilisation, r.retransmits.needed, r.retransmits.spurious, r.retransmits.delay_us
    );
    if let Some(c) = r.cost {
        let _ = writeln!(
            t,
            "{:.2} CPU s, {:.0} packets/s, {:.2} M events/s, {:.0} MB",
            c.cpu_seconds,
            c.packets_per_cpu_second,
            c.events_per_cpu_second / 1e6,
            c.peak_rss_mb
        );
    }
    t
}
