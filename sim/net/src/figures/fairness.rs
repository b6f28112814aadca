//! Figs. 17 and 25: fairness under incast and between base RTTs.

use super::{clos, pairs, scenario, Context, FigureError, Made, Row};
use crate::chart::{Figure, Panel, Style};
use crate::metrics::jain;
use crate::time::from_us;

const SENDERS: u32 = 32;

/// 32 flows into one host.
pub fn incast(c: &Context) -> Result<Made, FigureError> {
    let us = if c.quick { 2_000.0 } else { 8_000.0 };
    let mut case = scenario("incast 32:1", clos(16), c.rondo(), us);
    // One sender in every tenth host: all pods, some behind the receiver's own ToR.
    let flows = (0..SENDERS).map(|i| [1 + i * 319 / SENDERS, 0]).collect();
    case.traffic.push(pairs(flows, 0.0, None));
    case.measure.sample_us = 5.0;
    case.measure.flows = SENDERS;
    case.measure.ports = vec!["tor0.0>h0".into()];
    let mut s = c.simulation(&case)?;
    let settled = from_us(us / 4.0);
    c.run(&mut s, &case.name, settled)?;
    let before: Vec<u64> = s.flows().iter().map(|f| f.arrived_bytes).collect();
    c.run(&mut s, &case.name, case.duration)?;
    let time = case.duration - settled;
    let rates: Vec<f64> = s
        .flows()
        .iter()
        .zip(&before)
        .map(|(f, b)| crate::report::gbps(f.arrived_bytes - b, time))
        .collect();
    let total: f64 = rates.iter().sum();
    let mean = total / rates.len() as f64;
    let index = jain(&rates);
    let r = s.recorder();
    let queue = r.peak.iter().flatten().copied().max().unwrap_or(0);
    let steady = &r.queue[r.queue.len() / 4..];
    let sum: f64 = steady.iter().flatten().map(|&q| f64::from(q)).sum();
    let rows = vec![
        Row::at_least("Jain's index", index, 0.998, "").paper(0.999),
        Row::at_most(
            "out-of-order arrivals, the start included",
            s.metrics().ood.above_zero() as f64,
            0.0,
            "packets",
        )
        .paper(0.0),
        Row::at_least("utilisation by payload", total * 1.048 / 100.0, 0.95, ""),
        Row::shown("largest queue", f64::from(queue) / 1000.0, "kB"),
        Row::shown("mean queue", sum / steady.len() as f64 / 1000.0, "kB"),
        Row::shown(
            "packets dropped",
            s.metrics().data_drops() as f64,
            "packets",
        ),
    ];
    let mut sorted: Vec<f64> = rates.iter().map(|r| r / mean).collect();
    sorted.sort_by(f64::total_cmp);
    let cdf: Vec<(f64, f64)> = sorted
        .iter()
        .enumerate()
        .map(|(i, &v)| (v, (i + 1) as f64 / sorted.len() as f64))
        .collect();
    let figure = Figure::new("Incast of 32 flows", 2)
        .panel(
            Panel::new("Throughput of the flows")
                .x("Throughput over the mean", "")
                .y("Share of flows", "")
                .series("rondo", Style::Step, cdf),
        )
        .panel(
            Panel::new("Queue at the receiver")
                .x("Time", "us")
                .y("Queue", "kB")
                .series("rondo", Style::Line, r.curve(&r.queue, 0, 1e-3)),
        );
    Ok(("Per-flow throughput under incast", rows, figure))
}

/// Three flows from the same ToR, the same pod and another pod step in and out.
pub fn base_rtts(c: &Context) -> Result<Made, FigureError> {
    let step = if c.quick { 10_000.0 } else { 100_000.0 };
    let mut case = scenario("three base RTTs", clos(16), c.rondo(), 5.0 * step);
    for (i, src) in [1, 17, 100].into_iter().enumerate() {
        let start = i as f64 * step;
        // The first in is the first out.
        let stop = Some(case_end(step, i));
        case.traffic.push(pairs(vec![[src, 0]], start, stop));
    }
    case.measure.sample_us = step / 100.0;
    case.measure.flows = 3;
    let s = c.whole(&case)?;
    let r = s.recorder();
    let rate = |flow: usize, from: f64, to: f64| {
        let points = r.curve(&r.flow_bytes, flow, 8e-3 / (step / 100.0));
        let inside: Vec<f64> = points
            .iter()
            .filter(|p| p.0 > from && p.0 <= to)
            .map(|p| p.1)
            .collect();
        inside.iter().sum::<f64>() / inside.len().max(1) as f64
    };
    let mut rows = Vec::new();
    for (phase, flows) in [(1, vec![0, 1]), (2, vec![0, 1, 2]), (3, vec![1, 2])] {
        let (from, to) = (step * (f64::from(phase) + 0.2), step * f64::from(phase + 1));
        let rates: Vec<f64> = flows.iter().map(|&f| rate(f, from, to)).collect();
        let name = format!("Jain's index, {} flows, phase {phase}", flows.len());
        rows.push(Row::at_least(name, jain(&rates), 0.99, ""));
        let share = rates.iter().sum::<f64>() * 1.048 / 100.0;
        rows.push(Row::at_least(
            format!("utilisation, phase {phase}"),
            share,
            0.95,
            "",
        ));
        for (&f, rate) in flows.iter().zip(&rates) {
            let name = format!("flow {}, phase {phase}", f + 1);
            rows.push(Row::shown(name, *rate, "Gbps"));
        }
    }
    let mut panel = Panel::new("Throughput")
        .x("Time", "ms")
        .y("Goodput", "Gbps");
    for (i, name) in ["same ToR", "via the pod", "via the core"]
        .iter()
        .enumerate()
    {
        let points = r.curve(&r.flow_bytes, i, 8e-3 / (step / 100.0));
        let points = points.into_iter().map(|p| (p.0 / 1000.0, p.1));
        panel = panel.series(*name, Style::Line, points);
    }
    let figure = Figure::new("Flows of three base RTTs", 1).panel(panel);
    Ok(("Fairness between base RTTs", rows, figure))
}

fn case_end(step: f64, i: usize) -> f64 {
    step * (3.0 + i as f64)
}
