//! `rondo net bench`: how many packets a second.

use crate::command::long_run::{interrupted, seed_or_random, watch_for_interrupt};
use crate::command::{print_json, print_text, CommandError};
use clap::Args;
use cpu_time::ThreadTime;
use rondo_net::config::PacketConfig;
use rondo_net::report::{peak_rss_mb, run};
use rondo_net::scenario::{Pattern, Scenario, Traffic};
use rondo_net::simulation::Simulation;
use rondo_net::time::from_us;
use rondo_net::topology::Topology;
use rondo_net::transport::TransportConfig;
use serde::Serialize;
use std::fmt::Write;

/// Measure the simulator: permutations of 2 MB flows, MTU 4,096, Rondo endpoints, one thread.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo net bench --seed 1 --json")]
pub struct NetBench {
    /// Runs of each case; the median is reported.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Seed; random by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Case {
    name: String,
    hosts: u32,
    packets: u64,
    packets_per_cpu_second: f64,
    events_per_cpu_second: f64,
    us_per_packet: f64,
    /// Largest memory of the process when the case had run; cases run from the smallest on.
    peak_rss_mb: f64,
}

#[derive(Serialize)]
struct Report {
    seed: u64,
    runs: u32,
    cases: Vec<Case>,
    /// Cost of a packet at the most hosts of a fat tree over that at the fewest.
    cost_ratio_1024_to_16: f64,
}

fn scenario(name: &str, topology: Topology) -> Scenario {
    let mut s = Scenario::new(name, topology, TransportConfig::default());
    s.duration = from_us(100_000.0);
    s.packet = PacketConfig {
        payload_bytes: 4032,
        header_bytes: 64,
        ack_bytes: 64,
    };
    s.traffic.push(Traffic::of(Pattern::Permutation {
        bytes: Some(2_000_000),
        start_us: 0.0,
    }));
    s.measure.sample_us = 0.0;
    s.measure.interpath = Some(false);
    s
}

fn fat_tree(k: u32) -> Topology {
    Topology::FatTree {
        k,
        gbps: 100.0,
        link_ns: 1_000.0,
    }
}

fn clos() -> Topology {
    Topology::Clos {
        pods: 5,
        tors: 4,
        aggs: 4,
        hosts_per_tor: 16,
        cores: 16,
        host_gbps: 100.0,
        fabric_gbps: 400.0,
        link_ns: 1_000.0,
    }
}

impl NetBench {
    /// Runs and prints.
    pub fn run(self) -> Result<(), CommandError> {
        let seed = seed_or_random(self.seed);
        watch_for_interrupt();
        let plan = [
            ("fat tree, 16 hosts", fat_tree(4)),
            ("fat tree, 128 hosts", fat_tree(8)),
            ("Clos, 320 hosts", clos()),
            ("fat tree, 1024 hosts", fat_tree(16)),
        ];
        let mut cases = Vec::new();
        for (name, topology) in plan {
            cases.push(self.measure(&scenario(name, topology), seed)?);
        }
        let ratio = cases[3].us_per_packet / cases[0].us_per_packet;
        let report = Report {
            seed,
            runs: self.runs,
            cases,
            cost_ratio_1024_to_16: ratio,
        };
        if self.json {
            return print_json(&report);
        }
        print_text(&table(&report))
    }

    fn measure(&self, scenario: &Scenario, seed: u64) -> Result<Case, CommandError> {
        let mut results = Vec::new();
        // A small case is over in milliseconds: as many runs of it as make a steady figure.
        let hosts = scenario.fabric(seed)?.hosts;
        let repeats = (1024 / hosts).max(1);
        let mut packets = 0;
        for _ in 0..self.runs {
            let (mut seconds, mut events) = (0.0, 0);
            packets = 0;
            for i in 0..repeats {
                let setup = scenario.setup(seed.wrapping_add(u64::from(i)))?;
                let mut s = Simulation::new(setup);
                let started = ThreadTime::now();
                if !run(&mut s, scenario.duration, &mut |_, _| !interrupted()) {
                    return Err(CommandError::Interrupted);
                }
                seconds += started.elapsed().as_secs_f64();
                packets += s.metrics().packets;
                events += s.events();
            }
            results.push((packets as f64 / seconds, events as f64 / seconds));
        }
        results.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (packet_rate, event_rate) = results[results.len() / 2];
        Ok(Case {
            name: scenario.name.clone(),
            hosts,
            packets,
            packets_per_cpu_second: packet_rate,
            events_per_cpu_second: event_rate,
            us_per_packet: 1e6 / packet_rate,
            peak_rss_mb: peak_rss_mb(),
        })
    }
}

fn table(r: &Report) -> String {
    let mut t = String::new();
    let _ = writeln!(
        t,
        "{:22} {:>12} {:>12} {:>12} {:>10}",
        "", "packets/s", "M events/s", "us a packet", "peak MB"
    );
    for c in &r.cases {
        let _ = writeln!(
            t,
            "{:22} {:>12.0} {:>12.2} {:>12.2} {:>10.1}",
            c.name,
            c.packets_per_cpu_second,
            c.events_per_cpu_second / 1e6,
            c.us_per_packet,
            c.peak_rss_mb
        );
    }
    let _ = writeln!(
        t,
        "a packet costs {:.2} times as much at 1,024 hosts as at 16",
        r.cost_ratio_1024_to_16
    );
    t
}
