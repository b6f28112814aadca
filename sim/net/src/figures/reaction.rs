//! Figs. 18 and 27: how fast the controller follows a change.

use super::{clos, pairs, scenario, Context, FigureError, Made, Row};
use crate::chart::{Figure, Panel, Style};
use crate::scenario::EventConfig;
use crate::simulation::Simulation;
use crate::topology::Topology;

/// Utilisation of recorded port 0 over time, us and share of `gbps`.
fn utilisation(s: &Simulation, gbps: f64) -> Vec<(f64, f64)> {
    let r = s.recorder();
    let us = r.interval as f64 / 1e6;
    r.curve(&r.port_bytes, 0, 8e-3 / us / gbps)
}

/// Mean of the points in (`from`, `to`].
fn mean(points: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let inside: Vec<f64> = points
        .iter()
        .filter(|p| p.0 > from + 1e-6 && p.0 <= to + 1e-6)
        .map(|p| p.1)
        .collect();
    inside.iter().sum::<f64>() / inside.len().max(1) as f64
}

/// The first time from `from` on at which the mean over the `window` that begins there is `least` or
/// more, as us after `from`.
fn reached(points: &[(f64, f64)], from: f64, to: f64, window: f64, least: f64) -> f64 {
    let starts = points.iter().map(|p| p.0);
    let mut starts = starts.filter(|&t| t >= from && t + window <= to);
    let full = starts.find(|&t| mean(points, t, t + window) >= least);
    full.map_or(f64::INFINITY, |t| t - from)
}

/// 8 flows, 32 join, 32 leave.
pub fn join_and_leave(c: &Context) -> Result<Made, FigureError> {
    let (join, leave, end) = (1_000.0, 2_500.0, 4_000.0);
    let mut case = scenario("8 + 32 flows", clos(16), c.rondo(), end);
    let src = |i: u32| [1 + i * 319 / 40, 0];
    let few = (0..40).step_by(5).map(src).collect();
    let many = (0..40).filter(|i| i % 5 != 0).map(src).collect();
    case.traffic.push(pairs(few, 0.0, None));
    case.traffic.push(pairs(many, join, Some(leave)));
    case.measure.sample_us = 1.0;
    case.measure.ports = vec!["tor0.0>h0".into()];
    let s = c.whole(&case)?;
    let rtt = f64::from(s.max_rtt_ns()) / 1000.0;
    let points = utilisation(&s, 100.0);
    let r = s.recorder();
    let peak = r.curve(&r.peak, 0, 1e-3);
    let largest = |from: f64, to: f64| {
        let inside = peak.iter().filter(|p| p.0 > from && p.0 <= to);
        inside.map(|p| p.1).fold(0.0, f64::max)
    };
    // What the leaving flows had sent is gone when the bottleneck first runs dry.
    let gap = points
        .iter()
        .find(|p| p.0 > leave && p.1 < 0.9)
        .map_or(leave, |p| p.0 - 1.0);
    let full = reached(&points, gap, end, rtt / 2.0, 0.95) / rtt;
    let three = mean(&points, gap + 3.0 * rtt, gap + 4.0 * rtt);
    let rows = vec![
        Row::at_most(
            "largest queue at the join",
            largest(join, join + 300.0),
            250.0,
            "kB",
        ),
        Row::at_least(
            "utilisation in the join",
            mean(&points, join, join + 300.0),
            0.95,
            "",
        ),
        Row::at_most("95 % again after the leave", full, 3.0, "base RTTs"),
        Row::at_least(
            "utilisation in the fourth RTT after the leave",
            three,
            0.95,
            "",
        ),
        Row::at_least("utilisation, 8 flows", mean(&points, 300.0, join), 0.95, ""),
        Row::at_least(
            "utilisation, 40 flows",
            mean(&points, join + 300.0, leave),
            0.95,
            "",
        ),
        Row::shown(
            "largest queue, 40 flows settled",
            largest(join + 500.0, leave),
            "kB",
        ),
        Row::shown("largest queue after the leave", largest(gap, end), "kB"),
        Row::shown(
            "least utilisation after the leave",
            least(&points, gap, end),
            "",
        ),
    ];
    Ok((
        "Flows join and leave",
        rows,
        plot("8 flows, 32 join, 32 leave", &s, 100.0),
    ))
}

fn least(points: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let inside = points.iter().filter(|p| p.0 > from && p.0 <= to);
    inside.map(|p| p.1).fold(f64::INFINITY, f64::min)
}

fn plot(title: &str, s: &Simulation, gbps: f64) -> Figure {
    let r = s.recorder();
    let ms = |points: Vec<(f64, f64)>, scale: f64| {
        points.into_iter().map(move |p| (p.0 / 1000.0, p.1 * scale))
    };
    Figure::new(title, 1)
        .panel(
            Panel::new("Utilisation by data packets")
                .x("Time", "ms")
                .y("Utilisation", "%")
                .series("rondo", Style::Line, ms(utilisation(s, gbps), 100.0)),
        )
        .panel(Panel::new("Queue").x("Time", "ms").y("Queue", "kB").series(
            "rondo",
            Style::Line,
            ms(r.curve(&r.peak, 0, 1e-3), 1.0),
        ))
}

/// A link's rate falls to a quarter and recovers, four long flows.
pub fn link_rate(c: &Context) -> Result<Made, FigureError> {
    let (drop, recover, end) = (1_000.0, 2_000.0, 3_000.0);
    let topology = Topology::Dumbbell {
        left: 4,
        right: 4,
        host_gbps: 100.0,
        bottleneck_gbps: 100.0,
        link_ns: 2_000.0,
    };
    let mut case = scenario("link to a quarter", topology, c.rondo(), end);
    case.traffic
        .push(pairs((0..4).map(|i| [i, 4 + i]).collect(), 0.0, None));
    for (at_us, gbps) in [(drop, 25.0), (recover, 100.0)] {
        case.events.push(EventConfig {
            at_us,
            port: "left>right".into(),
            both: false,
            gbps: Some(gbps),
            delay_ns: None,
            up: None,
            loss: None,
        });
    }
    case.measure.sample_us = 1.0;
    case.measure.ports = vec!["left>right".into()];
    let s = c.whole(&case)?;
    let rtt = f64::from(s.max_rtt_ns()) / 1000.0;
    let points = utilisation(&s, 100.0);
    let quarter: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1 * 4.0)).collect();
    let r = s.recorder();
    let queue = r.curve(&r.queue, 0, 1e-3);
    let steady = mean(&queue, drop - 300.0, drop);
    // Two microseconds of the small rate above what stands there in steady state.
    let drained = queue
        .iter()
        .filter(|p| p.0 > drop && p.0 <= recover)
        .rev()
        .find(|p| p.1 > steady + 25.0)
        .map_or(0.0, |p| p.0 - drop);
    let full = reached(&points, recover, end, rtt / 2.0, 0.95) / rtt;
    let rows = vec![
        Row::at_most("full use after recovery", full, 3.0, "base RTTs"),
        Row::at_least(
            "utilisation in the fourth RTT after recovery",
            mean(&points, recover + 3.0 * rtt, recover + 4.0 * rtt),
            0.95,
            "",
        ),
        Row::at_least(
            "utilisation before the drop",
            mean(&points, 300.0, drop),
            0.95,
            "",
        ),
        Row::at_least(
            "utilisation of the small rate",
            mean(&quarter, drop, recover),
            0.95,
            "",
        ),
        Row::shown("queue drained after the drop", drained / rtt, "base RTTs"),
        Row::shown(
            "largest queue",
            r.curve(&r.peak, 0, 1e-3)
                .iter()
                .map(|p| p.1)
                .fold(0.0, f64::max),
            "kB",
        ),
        Row::shown("queue before the drop", steady, "kB"),
        Row::shown("base RTT", rtt, "us"),
    ];
    Ok((
        "Link rate to a quarter and back",
        rows,
        plot("Link rate to a quarter and back, four flows", &s, 100.0),
    ))
}
