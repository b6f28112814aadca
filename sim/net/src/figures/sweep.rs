//! Figs. 21 and 23: ablation and parameters, under permutation traffic.

use super::{clos, scenario, Context, FigureError, Made, Row};
use crate::chart::{Figure, Heat, Panel};
use crate::flows::Flow;
use crate::scenario::{Pattern, Scenario, Traffic};
use crate::simulation::Simulation;
use crate::transport::multipath::Selection;
use crate::transport::rondo::RondoConfig;
use crate::transport::swift::SwiftConfig;
use crate::transport::TransportConfig;

fn case(name: &str, transport: TransportConfig, bytes: u64) -> Scenario {
    let mut s = scenario(name, clos(16), transport, 20_000.0);
    s.traffic.push(Traffic::of(Pattern::Permutation {
        bytes: Some(bytes),
        start_us: 0.0,
    }));
    s.measure.sample_us = 0.0;
    s
}

fn bytes(c: &Context) -> u64 {
    if c.quick {
        2_000_000
    } else {
        8_000_000
    }
}

/// Mean of the flows' own rates, Gbps: the last flow's end would say little.
fn mean_rate(s: &Simulation) -> f64 {
    let rate = |f: &Flow| crate::report::gbps(f.arrived_bytes, f.finished - f.started);
    s.flows().iter().map(rate).sum::<f64>() / s.flows().len() as f64
}

/// `T_u` and the target delay: throughput and largest OOD.
pub fn parameters(c: &Context) -> Result<Made, FigureError> {
    let intervals = [0.25, 0.5, 0.75, 1.0];
    let targets = [0.5, 0.2, 0.1, 0.04, 0.01];
    let mut cases = Vec::new();
    for &target_rtts in &targets {
        for &interval_rtts in &intervals {
            let rondo = RondoConfig {
                target_rtts,
                interval_rtts,
                ..c.rondo
            };
            let name = format!("target {target_rtts}, interval {interval_rtts}");
            cases.push(case(&name, TransportConfig::Rondo(rondo), bytes(c)));
        }
    }
    let runs = c.all(&cases)?;
    let rates: Vec<f64> = runs.iter().map(mean_rate).collect();
    let best = rates.iter().copied().fold(0.0, f64::max);
    let mut rows = Vec::new();
    let mut heat = Heat::new("Largest NIC-level OOD and normalised throughput", "packets")
        .x_names(intervals.iter().map(|i| format!("T_u {i} RTT")));
    let mut texts = Vec::new();
    for (row, target) in targets.iter().enumerate() {
        let (mut values, mut row_texts) = (Vec::new(), Vec::new());
        for column in 0..intervals.len() {
            let i = row * intervals.len() + column;
            let ood = runs[i].metrics().nic_ood.spread().max;
            let share = rates[i] / best;
            rows.push(Row::at_least(
                format!("{}: throughput", cases[i].name),
                share,
                0.92,
                "of the best",
            ));
            rows.push(Row::at_most(
                format!("{}: largest OOD", cases[i].name),
                ood,
                36.0,
                "packets",
            ));
            values.push(ood);
            row_texts.push(format!("{share:.2} / {ood}"));
        }
        heat = heat.row(format!("target {target} RTT"), values);
        texts.push(row_texts);
    }
    rows.push(Row::shown(
        "mean rate of a flow, best setting",
        best,
        "Gbps",
    ));
    let figure = Figure::new("Parameters under permutation traffic", 1).panel(heat.texts(texts));
    Ok(("Sweep of update interval and target delay", rows, figure))
}

/// What each part contributes.
pub fn ablation(c: &Context) -> Result<Made, FigureError> {
    let with = |selection, probing, scheduler| {
        TransportConfig::Rondo(RondoConfig {
            selection,
            probing,
            scheduler,
            ..c.rondo
        })
    };
    let cases = [
        case(
            "per-path Swift + RPS",
            TransportConfig::Swift(SwiftConfig::default()),
            bytes(c),
        ),
        case(
            "ARCC + RPS, no probing",
            with(Selection::Random, false, false),
            bytes(c),
        ),
        case(
            "ARCC + deficit, no probing",
            with(Selection::Deficit, false, false),
            bytes(c),
        ),
        case(
            "Rondo without scheduler",
            with(Selection::Deficit, true, false),
            bytes(c),
        ),
        case("Rondo", c.rondo(), bytes(c)),
    ];
    let runs = c.all(&cases)?;
    let mut rows = Vec::new();
    let mut bars = [Vec::new(), Vec::new(), Vec::new()];
    for (case, s) in cases.iter().zip(&runs) {
        let spread = s.metrics().nic_ood.spread();
        for (to, v) in bars.iter_mut().zip([spread.avg, spread.p99, spread.max]) {
            to.push(v);
        }
        let name = format!("{}: mean rate of a flow", case.name);
        rows.push(Row::shown(name, mean_rate(s), "Gbps"));
        for (what, v) in [
            ("average", spread.avg),
            ("p99", spread.p99),
            ("largest", spread.max),
        ] {
            let name = format!("{}: {what} NIC-level OOD", case.name);
            rows.push(Row::shown(name, v, "packets"));
        }
    }
    let [average, p99, largest] = bars;
    for (what, values, paper) in [("average", &average, 87.3), ("p99", &p99, 53.3)] {
        // The second case is ARCC with the same random spraying.
        let cut = 100.0 * (1.0 - values[1] / values[0].max(1e-9));
        let name = format!("ARCC for Swift: {what} OOD lower by");
        rows.push(Row::shown(name, cut, "%").paper(paper));
    }
    let names: Vec<String> = cases.iter().map(|c| c.name.clone()).collect();
    let panel = Panel::new("NIC-level OOD under permutation traffic")
        .y("OOD", "packets")
        .categories(names)
        .bars("average", average)
        .bars("p99", p99)
        .bars("largest", largest);
    let figure = Figure::new("Ablation", 1).panel(panel);
    Ok(("Contribution of each part", rows, figure))
}
