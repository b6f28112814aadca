//! Figs. 4 and 20: persistent delay differences between paths.

use super::{four_path, pairs, scenario, Context, FigureError, Made, Row};
use crate::chart::{Figure, Panel, Style};
use crate::scenario::{EventConfig, Scenario};
use crate::time::from_us;
use crate::transport::ideal::IdealConfig;
use crate::transport::TransportConfig;
use rayon::prelude::*;
use rondo_models::deficit::MAX_PATHS;
use rondo_models::oracle::ood_bound;

const FLOWS: u32 = 4;

/// What a run of Fig. 4 shows: after the start, and over all.
struct Point {
    average: f64,
    largest: f64,
    with_start: f64,
    gbps: f64,
}

fn point(
    c: &Context,
    name: &str,
    us: f64,
    transport: TransportConfig,
) -> Result<Point, FigureError> {
    let length = if c.quick { 2_000.0 } else { 6_000.0 };
    let name = format!("{name} +{us} us");
    let mut case = scenario(
        &name,
        four_path(FLOWS, FLOWS, us * 1000.0),
        transport,
        length,
    );
    case.measure.sample_us = 0.0;
    let flows = (0..FLOWS).map(|i| [i, FLOWS + i]).collect();
    case.traffic.push(pairs(flows, 0.0, None));
    let mut s = c.simulation(&case)?;
    let settled = from_us(1_000.0);
    c.run(&mut s, &name, settled)?;
    let start = s.metrics().nic_ood.spread().max;
    let before = s.metrics().payload_bytes;
    s.restart_histograms();
    c.run(&mut s, &name, case.duration)?;
    let nic = s.metrics().nic_ood.spread();
    let bytes = s.metrics().payload_bytes - before;
    Ok(Point {
        average: nic.avg,
        largest: nic.max,
        with_start: nic.max.max(start),
        gbps: crate::report::gbps(bytes, case.duration - settled) / f64::from(FLOWS),
    })
}

fn ideal() -> TransportConfig {
    TransportConfig::Ideal(IdealConfig {
        sharing: FLOWS,
        path_gbps: [100.0; MAX_PATHS],
        ..IdealConfig::default()
    })
}

/// OOD against a delay difference of one path: Rondo, ideal controller, Eq. 3.
pub fn delays(c: &Context) -> Result<Made, FigureError> {
    let step = if c.quick { 5 } else { 1 };
    let delays: Vec<f64> = (0..=25).step_by(step).map(f64::from).collect();
    let runs: Result<Vec<_>, FigureError> = delays
        .par_iter()
        .map(|&us| {
            let mut rondo = c.rondo;
            rondo.window = 2048;
            let rondo = point(c, "rondo", us, TransportConfig::Rondo(rondo))?;
            Ok((us, rondo, point(c, "ideal", us, ideal())?))
        })
        .collect();
    let runs = runs?;
    let most = |f: fn(&Point) -> f64| runs.iter().map(|(_, r, _)| f(r)).fold(0.0, f64::max);
    let mut rows = vec![
        Row::at_most(
            "rondo: average OOD, worst delay",
            most(|p| p.average),
            3.0,
            "packets",
        ),
        Row::at_most(
            "rondo: largest OOD, worst delay",
            most(|p| p.largest),
            20.0,
            "packets",
        ),
        Row::shown(
            "rondo: largest OOD, the start included",
            most(|p| p.with_start),
            "packets",
        ),
        Row::shown(
            "rondo: least goodput of a flow",
            runs.iter().map(|(_, r, _)| r.gbps).fold(f64::MAX, f64::min),
            "Gbps",
        ),
    ];
    let theory = |us: f64, gbps: f64| ood_bound(gbps * 1048.0 / 1000.0, 1048.0, us * 1000.0);
    for (us, rondo, ideal) in runs.iter().filter(|(us, ..)| us % 5.0 == 0.0) {
        if *us > 0.0 {
            let wanted = theory(*us, ideal.gbps);
            let name = format!("ideal +{us} us: largest OOD, Eq. 3");
            rows.push(Row::near(name, ideal.largest, wanted, 0.15, "packets"));
        }
        let name = format!("rondo +{us} us: largest OOD");
        rows.push(Row::shown(name, rondo.largest, "packets"));
    }
    let curve = |f: &dyn Fn(&(f64, Point, Point)) -> f64| -> Vec<(f64, f64)> {
        runs.iter().map(|r| (r.0, f(r))).collect()
    };
    let panel = Panel::new("NIC-level OOD against the delay of one path")
        .x("Delay difference", "us")
        .y("OOD", "packets")
        .series("rondo, largest", Style::Line, curve(&|r| r.1.largest))
        .series("rondo, average", Style::Line, curve(&|r| r.1.average))
        .series("ideal controller", Style::Line, curve(&|r| r.2.largest))
        .series("Eq. 3", Style::Dashed, curve(&|r| theory(r.0, r.2.gbps)));
    let figure = Figure::new("Persistent delay differences", 1).panel(panel);
    Ok(("OOD under persistent delay differences", rows, figure))
}

fn steps_case(c: &Context, name: &str, scheduler: bool, hold_us: f64) -> Scenario {
    let mut rondo = c.rondo;
    rondo.scheduler = scheduler;
    rondo.window = 2048;
    let transport = TransportConfig::Rondo(rondo);
    let mut s = scenario(name, four_path(1, 1, 0.0), transport, 4.0 * hold_us);
    s.traffic.push(pairs(vec![[0, 1]], 0.0, None));
    for i in 1..4 {
        s.events.push(EventConfig {
            at_us: f64::from(i) * hold_us,
            port: "tor0>spine3".into(),
            both: false,
            gbps: None,
            delay_ns: Some(2_000.0 + 5_000.0 * f64::from(i)),
            up: None,
            loss: None,
        });
    }
    s.measure.sample_us = 20.0;
    s.measure.hosts = 2;
    s.measure.flows = 1;
    s
}

/// One link's delay grows by 5 us, three times.
pub fn steps(c: &Context) -> Result<Made, FigureError> {
    let hold = if c.quick { 5_000.0 } else { 20_000.0 };
    let cases = [
        steps_case(c, "rondo", true, hold),
        steps_case(c, "without scheduler", false, hold),
    ];
    let runs = c.all(&cases)?;
    let mut rows = Vec::new();
    let ood = |s: &crate::simulation::Simulation| s.recorder().curve(&s.recorder().nic_ood, 1, 1.0);
    for i in 1..4 {
        let from = f64::from(i) * hold;
        let to = from + hold;
        let within = |from: f64| {
            ood(&runs[0])
                .iter()
                .filter(|p| p.0 > from && p.0 <= to)
                .map(|p| p.1)
                .fold(0.0, f64::max)
        };
        // The time after which OOD stays below 10.
        let last = ood(&runs[0])
            .iter()
            .rev()
            .find(|p| p.0 > from && p.0 <= to && p.1 >= 10.0)
            .map_or(0.0, |p| p.0 - from);
        let name = format!("+{} us: OOD of 10 or more until", 5 * i);
        rows.push(Row::at_most(name, last / 1000.0, 2.0, "ms"));
        let name = format!("+{} us: largest OOD after 2 ms", 5 * i);
        rows.push(Row::at_most(name, within(from + 2_000.0), 10.0, "packets"));
        let name = format!("+{} us: largest OOD without scheduler", 5 * i);
        let without = ood(&runs[1])
            .iter()
            .filter(|p| p.0 > from + 2_000.0 && p.0 <= to)
            .map(|p| p.1)
            .fold(0.0, f64::max);
        rows.push(Row::shown(name, without, "packets"));
    }
    let ms = |points: Vec<(f64, f64)>| points.into_iter().map(|p| (p.0 / 1000.0, p.1));
    let r = runs[0].recorder();
    let skip = r.curve(&r.skips, 0, 1.0);
    let mut panel = Panel::new("OOD")
        .x("Time", "ms")
        .y("OOD", "packets")
        .series("rondo", Style::Line, ms(ood(&runs[0])))
        .series("without scheduler", Style::Line, ms(ood(&runs[1])));
    for i in 0..4 {
        panel = panel.note(f64::from(i) * hold / 1000.0, format!("+{} us", 5 * i));
    }
    let skips = Panel::new("Largest skip")
        .x("Time", "ms")
        .y("Skip", "packets")
        .series("rondo", Style::Step, ms(skip));
    let figure = Figure::new("Packet scheduling under delay steps", 1)
        .panel(panel)
        .panel(skips);
    Ok(("OOD while a link's delay grows", rows, figure))
}
