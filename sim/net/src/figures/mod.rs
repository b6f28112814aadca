//! The paper's figures: each runs what it needs, puts our values beside the paper's, and draws the
//! same plot.

mod fairness;
mod heterogeneity;
mod queues;
mod reaction;
mod sweep;
mod testbed;

use crate::chart::Figure;
use crate::scenario::{Pattern, Scenario, ScenarioError, Traffic};
use crate::simulation::Simulation;
use crate::time::{from_us, Ps};
use crate::topology::Topology;
use crate::transport::rondo::RondoConfig;
use crate::transport::TransportConfig;
use rayon::prelude::*;
use serde::Serialize;

/// Figures that can be made.
pub const FIGURES: [u32; 11] = [3, 4, 9, 17, 18, 19, 20, 21, 23, 25, 27];

/// Whether a value is what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the target.
    Met,
    /// Not.
    Missed,
    /// No target: for comparison.
    Shown,
}

/// One value of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// Ours.
    pub ours: f64,
    /// The paper's, where it gives one.
    pub paper: Option<f64>,
    /// Unit.
    pub unit: &'static str,
    /// What ours has to be.
    pub target: String,
    /// Whether it is.
    pub verdict: Verdict,
}

impl Row {
    /// A value that has to be at most `most`.
    pub fn at_most(name: impl Into<String>, ours: f64, most: f64, unit: &'static str) -> Self {
        Self::judged(name, ours, unit, format!("<= {most}"), ours <= most)
    }

    /// A value that has to be at least `least`.
    pub fn at_least(name: impl Into<String>, ours: f64, least: f64, unit: &'static str) -> Self {
        Self::judged(name, ours, unit, format!(">= {least}"), ours >= least)
    }

    /// A value that has to lie within `share` of `wanted`.
    pub fn near(
        name: impl Into<String>,
        ours: f64,
        wanted: f64,
        share: f64,
        unit: &'static str,
    ) -> Self {
        let target = format!("{wanted:.2} within {} %", share * 100.0);
        let near = (ours - wanted).abs() <= share * wanted.abs();
        Self::judged(name, ours, unit, target, near)
    }

    /// A value to look at.
    pub fn shown(name: impl Into<String>, ours: f64, unit: &'static str) -> Self {
        Self {
            verdict: Verdict::Shown,
            ..Self::judged(name, ours, unit, String::new(), true)
        }
    }

    fn judged(
        name: impl Into<String>,
        ours: f64,
        unit: &'static str,
        target: String,
        met: bool,
    ) -> Self {
        Self {
            name: name.into(),
            ours,
            paper: None,
            unit,
            target,
            verdict: if met { Verdict::Met } else { Verdict::Missed },
        }
    }

    /// With the paper's value.
    pub fn paper(mut self, value: f64) -> Self {
        self.paper = Some(value);
        self
    }
}

/// What a figure came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureReport {
    /// Its number in the paper.
    pub figure: u32,
    /// What it shows.
    pub title: String,
    /// Values.
    pub rows: Vec<Row>,
    /// No target is missed.
    pub ok: bool,
    /// The plot.
    #[serde(skip)]
    pub plot: Figure,
    /// Seed.
    pub seed: u64,
    /// Shorter or smaller runs than the paper's.
    pub quick: bool,
    /// Version of the simulator.
    pub version: &'static str,
    /// Rondo's parameters.
    pub rondo: RondoConfig,
}

/// How figures are made.
pub struct Context<'a> {
    /// Seed.
    pub seed: u64,
    /// Shorter runs, fewer points.
    pub quick: bool,
    /// Rondo's parameters.
    pub rondo: RondoConfig,
    /// Called with what has been done, between runs and now and then within them; false stops.
    pub progress: &'a (dyn Fn(&str, f64) -> bool + Sync),
}

/// Why a figure cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// No such figure here.
    #[error("figure {0} is not one of those made here: 3, 4, 9, 17, 18, 19, 20, 21, 23, 25, 27")]
    Unknown(u32),
    /// Its scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Stopped by the caller.
    #[error("interrupted")]
    Interrupted,
}

/// Makes figure `number`.
///
/// # Errors
/// [`FigureError`] for a number that is not in [`FIGURES`], or when stopped.
pub fn make(number: u32, context: &Context) -> Result<FigureReport, FigureError> {
    let (title, rows, plot) = match number {
        3 | 19 => queues::figure(context)?,
        4 => heterogeneity::delays(context)?,
        9 => testbed::figure(context)?,
        17 => fairness::incast(context)?,
        18 => reaction::join_and_leave(context)?,
        20 => heterogeneity::steps(context)?,
        21 => sweep::ablation(context)?,
        23 => sweep::parameters(context)?,
        25 => fairness::base_rtts(context)?,
        27 => reaction::link_rate(context)?,
        other => return Err(FigureError::Unknown(other)),
    };
    Ok(FigureReport {
        figure: number,
        title: title.into(),
        ok: rows.iter().all(|r| r.verdict != Verdict::Missed),
        rows,
        plot,
        seed: context.seed,
        quick: context.quick,
        version: env!("CARGO_PKG_VERSION"),
        rondo: context.rondo,
    })
}

/// Title, values, plot.
type Made = (&'static str, Vec<Row>, Figure);

impl Context<'_> {
    /// Rondo with this context's parameters.
    fn rondo(&self) -> TransportConfig {
        TransportConfig::Rondo(self.rondo)
    }

    /// A simulation of `scenario` at time 0.
    fn simulation(&self, scenario: &Scenario) -> Result<Simulation, FigureError> {
        Ok(Simulation::new(scenario.setup(self.seed)?))
    }

    /// Lets `s` run until `end`.
    fn run(&self, s: &mut Simulation, name: &str, end: Ps) -> Result<(), FigureError> {
        let mut last = s.now();
        while s.run_until(end, 1 << 18) {
            if !(self.progress)(name, (s.now() - last) as f64) {
                return Err(FigureError::Interrupted);
            }
            last = s.now();
        }
        Ok(())
    }

    /// Runs `scenario` to its end.
    fn whole(&self, scenario: &Scenario) -> Result<Simulation, FigureError> {
        let mut s = self.simulation(scenario)?;
        self.run(&mut s, &scenario.name, scenario.duration)?;
        Ok(s)
    }

    /// Runs all scenarios to their ends, several at a time.
    fn all(&self, scenarios: &[Scenario]) -> Result<Vec<Simulation>, FigureError> {
        scenarios.par_iter().map(|s| self.whole(s)).collect()
    }
}

/// The paper's Clos (§6.2.1).
fn clos(cores: u32) -> Topology {
    Topology::Clos {
        pods: 5,
        tors: 4,
        aggs: 4,
        hosts_per_tor: 16,
        cores,
        host_gbps: 100.0,
        fabric_gbps: 400.0,
        link_ns: 1_000.0,
    }
}

/// Fig. 2's topology, the last path longer by `extra_ns`.
fn four_path(senders: u32, receivers: u32, extra_ns: f64) -> Topology {
    Topology::FourPath {
        senders,
        receivers,
        paths: 4,
        host_gbps: 100.0,
        path_gbps: 100.0,
        receiver_gbps: 100.0,
        link_ns: 2_000.0,
        extra_delay_ns: vec![0.0, 0.0, 0.0, extra_ns],
    }
}

fn scenario(name: &str, topology: Topology, transport: TransportConfig, us: f64) -> Scenario {
    let mut s = Scenario::new(name, topology, transport);
    s.duration = from_us(us);
    s
}

/// Flows that do not end by themselves.
fn pairs(pairs: Vec<[u32; 2]>, start_us: f64, stop_us: Option<f64>) -> Traffic {
    Traffic {
        pattern: Pattern::Pairs {
            pairs,
            bytes: None,
            start_us,
            stagger_us: 0.0,
        },
        transport: None,
        stop_us,
    }
}
