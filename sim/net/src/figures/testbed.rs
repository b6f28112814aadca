//! Fig. 9: the paper's testbed, in the network simulator.

use super::{pairs, scenario, Context, FigureError, Made, Row};
use crate::chart::{Figure, Panel};
use crate::config::PacketConfig;
use crate::scenario::Scenario;
use crate::time::from_us;
use crate::topology::Topology;
use crate::transport::multipath::Selection;
use crate::transport::rondo::RondoConfig;
use crate::transport::TransportConfig;

const PATHS: [f64; 4] = [25.0, 20.0, 15.0, 10.0];

fn case(name: &str, extra_us: f64, rondo: RondoConfig, us: f64) -> Scenario {
    let topology = Topology::Testbed {
        path_gbps: PATHS.to_vec(),
        extra_delay_ns: vec![extra_us * 1000.0],
        host_gbps: 100.0,
        base_rtt_ns: 20_000.0,
    };
    let mut s = scenario(name, topology, TransportConfig::Rondo(rondo), us);
    s.packet = PacketConfig {
        // A packet of 4,096 bytes with 64 of headers takes 24 more on the wire: preamble, frame
        // check, gap.
        payload_bytes: 4032,
        header_bytes: 64 + 24,
        ack_bytes: 64 + 24,
    };
    s.first_psn = 16_777_000;
    s.traffic.push(pairs(vec![[0, 1]], 0.0, None));
    s.measure.sample_us = 10.0;
    s.measure.ports = (0..PATHS.len())
        .map(|i| match i {
            0 => "near>far".into(),
            i => format!("near>far#{i}"),
        })
        .collect();
    s
}

/// Throughput, OOD and queueing on four paths of different rates, without and with 10 us more on
/// the fastest.
pub fn figure(c: &Context) -> Result<Made, FigureError> {
    let us = if c.quick { 5_000.0 } else { 20_000.0 };
    let spray = RondoConfig {
        selection: Selection::RoundRobin,
        scheduler: false,
        probing: false,
        ..c.rondo
    };
    let unscheduled = RondoConfig {
        scheduler: false,
        ..c.rondo
    };
    let mut cases = Vec::new();
    for (test, extra) in [("homogeneous", 0.0), ("heterogeneous", 10.0)] {
        cases.push(case(&format!("{test}, rondo"), extra, c.rondo, us));
        cases.push(case(&format!("{test}, PSN order"), extra, unscheduled, us));
        cases.push(case(&format!("{test}, RRPS"), extra, spray, us));
    }
    let mut rows = Vec::new();
    let (mut gbps, mut ood) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    let mut queueing = Panel::new("Queueing, rondo")
        .x("Time", "ms")
        .y("Queue", "us");
    let mut averages = Vec::new();
    for case in &cases {
        let mut s = c.simulation(case)?;
        let settled = from_us(1_000.0);
        c.run(&mut s, &case.name, settled)?;
        let before = s.metrics().payload_bytes;
        s.restart_histograms();
        c.run(&mut s, &case.name, case.duration)?;
        let bytes = s.metrics().payload_bytes - before;
        let rate = crate::report::gbps(bytes, case.duration - settled);
        let spread = s.metrics().ood.spread();
        let name = format!("{}: goodput", case.name);
        rows.push(match case.name.as_str() {
            "homogeneous, rondo" => Row::near(name, rate, 68.18, 0.01, "Gbps").paper(68.18),
            "heterogeneous, rondo" => Row::near(name, rate, 68.14, 0.01, "Gbps").paper(68.14),
            _ => Row::shown(name, rate, "Gbps"),
        });
        let name = format!("{}: average OOD", case.name);
        rows.push(Row::shown(name, spread.avg, "packets"));
        gbps.push(rate);
        averages.push(spread.avg);
        for (to, v) in ood.iter_mut().zip([spread.avg, spread.p99, spread.max]) {
            to.push(v);
        }
        if case.name.ends_with("homogeneous, rondo") {
            for (i, rate) in PATHS.iter().enumerate() {
                let r = s.recorder();
                let us_per_byte = 8.0 / (rate * 1000.0);
                let points = r.curve(&r.queue, i, us_per_byte);
                let points = points.into_iter().map(|p| (p.0 / 1000.0, p.1));
                let name = format!("path {i}, {rate} Gbps");
                queueing = queueing.series(name, crate::chart::Style::Line, points);
            }
        }
    }
    for (i, test) in ["homogeneous", "heterogeneous"].iter().enumerate() {
        let cut = 100.0 * (1.0 - averages[3 * i] / averages[3 * i + 2].max(1e-9));
        let name = format!("{test}: average OOD below RRPS");
        rows.push(Row::shown(name, cut, "%").paper([82.0, 92.0][i]));
    }
    let names: Vec<String> = cases.iter().map(|c| c.name.clone()).collect();
    let [average, p99, largest] = ood;
    let figure = Figure::new("Testbed of four paths", 1)
        .panel(
            Panel::new("Throughput")
                .y("Throughput", "Gbps")
                .categories(names.clone())
                .bars("throughput", gbps),
        )
        .panel(
            Panel::new("Out-of-order degree")
                .y("OOD", "packets")
                .categories(names)
                .bars("average", average)
                .bars("p99", p99)
                .bars("largest", largest),
        )
        .panel(queueing);
    Ok(("Testbed", rows, figure))
}
