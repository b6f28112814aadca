//! Figs. 3 and 19: queues of parallel paths at start and in steady state.

use super::{four_path, pairs, scenario, Context, FigureError, Made, Row};
use crate::chart::{Figure, Panel, Style};
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::transport::ideal::IdealConfig;
use crate::transport::round_robin::RoundRobinConfig;
use crate::transport::TransportConfig;

const SENDERS: u32 = 16;
const RECEIVERS: u32 = 4;

fn case(name: &str, transport: TransportConfig, us: f64) -> Scenario {
    let mut s = scenario(name, four_path(SENDERS, RECEIVERS, 0.0), transport, us);
    let flows = (0..SENDERS).map(|i| [i, SENDERS + i % RECEIVERS]).collect();
    s.traffic.push(pairs(flows, 0.0, None));
    s.measure.sample_us = 0.5;
    s.measure.ports = (0..4).map(|i| format!("tor0>spine{i}")).collect();
    s.measure.hosts = SENDERS + RECEIVERS;
    s
}

/// 16 senders, 4 receivers, 4 paths; everyone starts at once.
pub fn figure(c: &Context) -> Result<Made, FigureError> {
    let us = if c.quick { 1_000.0 } else { 3_000.0 };
    let ideal = IdealConfig {
        sharing: SENDERS,
        ..IdealConfig::default()
    };
    let cases = [
        case("rondo", c.rondo(), us),
        case("ideal", TransportConfig::Ideal(ideal), us),
        case(
            "RRPS",
            TransportConfig::RoundRobin(RoundRobinConfig::default()),
            us,
        ),
    ];
    let runs = c.all(&cases)?;
    let mut rows = Vec::new();
    let mut figure = Figure::new("Queues across four paths, 16 senders and 4 receivers", 2);
    for (case, s) in cases.iter().zip(&runs) {
        let r = s.recorder();
        let kb = f64::from(r.interpath_max) / 1000.0;
        let name = format!("{}: largest queue difference", case.name);
        rows.push(if case.name == "rondo" {
            Row::at_most(name, kb, 30.0, "kB").paper(30.0)
        } else {
            Row::shown(name, kb, "kB")
        });
        let steady = r.times.len() / 2;
        let difference = r.differences[steady..].iter().max();
        rows.push(Row::shown(
            format!("{}: difference, second half", case.name),
            f64::from(difference.copied().unwrap_or(0)) / 1000.0,
            "kB",
        ));
        let ood = |rows: &[Vec<u32>]| rows.iter().flatten().copied().max().unwrap_or(0);
        let name = format!("{}: largest NIC-level OOD", case.name);
        rows.push(Row::shown(name, f64::from(ood(&r.nic_ood)), "packets"));
        let name = format!("{}: paths' load", case.name);
        rows.push(Row::shown(name, load(s), "of capacity"));
        figure = figure
            .panel(queue_panel(&case.name, s))
            .panel(ood_panel(&case.name, s));
    }
    Ok(("Queue differences across paths and OOD", rows, figure))
}

/// Data carried by the paths in the second half of the run.
fn load(s: &Simulation) -> f64 {
    let r = s.recorder();
    let half = r.times.len() / 2;
    let bytes: u64 = r.port_bytes[half..]
        .iter()
        .flatten()
        .map(|&b| u64::from(b))
        .sum();
    let time = r.times.last().copied().unwrap_or(0) - r.times[half - 1];
    crate::report::gbps(bytes, time) / 400.0
}

fn queue_panel(name: &str, s: &Simulation) -> Panel {
    let r = s.recorder();
    let ms = |t: u64| t as f64 / 1e9;
    let pick = |f: fn(std::slice::Iter<u32>) -> Option<&u32>| -> Vec<(f64, f64)> {
        let rows = r.times.iter().zip(&r.queue);
        rows.map(|(&t, row)| {
            (
                ms(t),
                f64::from(f(row.iter()).copied().unwrap_or(0)) / 1000.0,
            )
        })
        .collect()
    };
    Panel::new(format!("{name}: queues"))
        .x("Time", "ms")
        .y("Queue", "kB")
        .series("largest", Style::Line, pick(|i| i.max()))
        .series("smallest", Style::Line, pick(|i| i.min()))
}

fn ood_panel(name: &str, s: &Simulation) -> Panel {
    let r = s.recorder();
    let largest = r.times.iter().zip(&r.nic_ood);
    let points: Vec<(f64, f64)> = largest
        .map(|(&t, row)| {
            (
                t as f64 / 1e9,
                f64::from(row.iter().copied().max().unwrap_or(0)),
            )
        })
        .collect();
    Panel::new(format!("{name}: largest NIC-level OOD"))
        .x("Time", "ms")
        .y("OOD", "packets")
        .series(name, Style::Line, points)
}
