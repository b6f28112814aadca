//! `rondo budget`: what the datapath's measured latencies and rates leave at line rate.

use super::{print_json, print_text, CommandError, ShapeArgs};
use clap::Args;
use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_models::budget;
use rondo_sim::measure::{self, Measured};
use serde::Serialize;
use std::fmt::Write;

/// Bytes on the wire beside a packet: preamble, start, check sequence, gap.
const WIRE_OVERHEAD_BYTES: f64 = 24.0;
/// Payload bytes a beat.
const BEAT_BYTES: u64 = 64;
/// Packet sizes of the table.
const SIZES: [u64; 7] = [64, 128, 256, 512, 1024, 4096, 9000];

/// Cycle budgets at line rate, from latencies and rates measured on the Verilog.
#[derive(Args)]
#[command(
    after_help = "Example:\n  rondo budget --paths 4 --link-gbps 100 --mtu 4096 --clock-mhz 250 --flows 1024"
)]
pub struct Budget {
    #[command(flatten)]
    shape: ShapeArgs,
    /// Link rate in Gbps.
    #[arg(long, default_value_t = 100.0, allow_negative_numbers = true)]
    link_gbps: f64,
    /// Packet size in bytes, 64 to 9216.
    #[arg(long, default_value_t = 4096)]
    mtu: u64,
    /// Clock in MHz.
    #[arg(long, default_value_t = 250.0, allow_negative_numbers = true)]
    clock_mhz: f64,
    /// Flows that are active at once.
    #[arg(long, default_value_t = 1024)]
    flows: u64,
    /// Control interval in microseconds.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true)]
    interval_us: f64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Stage {
    name: &'static str,
    latency_clocks: u32,
    latency_ns: f64,
    initiation_interval: f64,
    own_flow_interval: f64,
    /// Clocks left of a packet's interval at line rate.
    slack_clocks: f64,
}

#[derive(Serialize)]
struct Row {
    packet_bytes: u64,
    packet_interval_clocks: f64,
    /// Clocks of the slowest stage a packet of this size; none when it is longer than a slot.
    needed_clocks: Option<f64>,
    line_rate: bool,
}

#[derive(Serialize)]
struct Paper {
    per_packet_cycles: u32,
    per_update_cycles: [u32; 2],
    hpcc_cycles_per_ack: u32,
}

#[derive(Serialize)]
struct Control {
    cycles_per_update: u32,
    flows_per_core: u64,
    engine_needed: bool,
    source: &'static str,
}

#[derive(Serialize)]
struct Report {
    packet_interval_clocks: f64,
    stages: Vec<Stage>,
    max_mpps: f64,
    sizes: Vec<Row>,
    paper: Paper,
    control: Control,
}

impl Budget {
    /// Measures, computes, prints.
    pub fn run(self) -> Result<(), CommandError> {
        self.check()?;
        // Flows beyond a pipeline's length change nothing in the measurement but its time.
        let shape = self.shape.shape(64)?;
        rondo_sim::verilator::version()?;
        let report = self.report(shape)?;
        if self.json {
            return print_json(&report);
        }
        print_text(&self.table(&report))
    }

    fn check(&self) -> Result<(), CommandError> {
        let bad = |what: String| Err(CommandError::Failed(what));
        if !(self.link_gbps > 0.0 && self.link_gbps <= 1600.0) {
            return bad(format!(
                "--link-gbps {} is impossible: choose above 0 and up to 1600",
                self.link_gbps
            ));
        }
        if !(64..=9216).contains(&self.mtu) {
            return bad(format!(
                "--mtu {} is impossible: choose 64 to 9216 bytes",
                self.mtu
            ));
        }
        if !(self.clock_mhz > 0.0 && self.clock_mhz <= 2000.0) {
            return bad(format!(
                "--clock-mhz {} is impossible: choose above 0 and up to 2000",
                self.clock_mhz
            ));
        }
        if self.flows == 0 || self.flows > 1 << 20 {
            return bad(format!(
                "--flows {} is impossible: choose 1 to 1048576",
                self.flows
            ));
        }
        if !(self.interval_us > 0.0 && self.interval_us <= 1e6) {
            return bad(format!(
                "--interval-us {} is impossible: choose above 0 and up to 1000000",
                self.interval_us
            ));
        }
        Ok(())
    }

    fn interval_clocks(&self, bytes: u64) -> f64 {
        let bits = (bytes as f64 + WIRE_OVERHEAD_BYTES) * 8.0;
        bits / self.link_gbps * self.clock_mhz / 1000.0
    }

    fn report(&self, shape: Shape) -> Result<Report, CommandError> {
        let interval = self.interval_clocks(self.mtu);
        let mut measured: Vec<(&'static str, Measured)> = Vec::new();
        for block in [
            Block::Selector,
            Block::Picker,
            Block::Sender,
            Block::Tracker,
        ] {
            let v = verilog(block, shape)?;
            measured.push((
                block.name(),
                measure::request_block(&v, block.name(), shape.flows)?,
            ));
        }
        let v = verilog(Block::Receiver, shape)?;
        let short = measure::receiver(&v, shape.flows, 1)?;
        measured.push(("receiver_1_beat", short));
        let beats = self.mtu.min(shape.slot_bytes as u64).div_ceil(BEAT_BYTES);
        measured.push(("receiver_mtu", measure::receiver(&v, shape.flows, beats)?));

        // The receiver moves a packet's beats one a clock; everything beside them is fixed.
        let beside = short.initiation_interval - 1.0;
        let decisions = measured[..4]
            .iter()
            .map(|m| m.1.initiation_interval)
            .fold(0.0, f64::max);
        let needed = |bytes: u64| decisions.max(bytes.div_ceil(BEAT_BYTES) as f64 + beside);
        let paths = shape.paths as u32;
        let (least, most) = budget::per_update_cycles(paths);
        let flows_per_core = (self.interval_us * self.clock_mhz / f64::from(most)) as u64;
        Ok(Report {
            packet_interval_clocks: round(interval),
            stages: measured
                .iter()
                .map(|(name, m)| Stage {
                    name,
                    latency_clocks: m.latency_clocks,
                    latency_ns: round(f64::from(m.latency_clocks) * 1000.0 / self.clock_mhz),
                    initiation_interval: round(m.initiation_interval),
                    own_flow_interval: round(m.own_flow_interval),
                    slack_clocks: round(interval - m.initiation_interval),
                })
                .collect(),
            max_mpps: round(self.clock_mhz / needed(64)),
            sizes: SIZES
                .iter()
                .map(|&bytes| {
                    let fits = bytes <= shape.slot_bytes as u64;
                    Row {
                        packet_bytes: bytes,
                        packet_interval_clocks: round(self.interval_clocks(bytes)),
                        needed_clocks: fits.then(|| round(needed(bytes))),
                        line_rate: fits && needed(bytes) <= self.interval_clocks(bytes),
                    }
                })
                .collect(),
            paper: Paper {
                per_packet_cycles: budget::per_packet_cycles(paths),
                per_update_cycles: [least, most],
                hpcc_cycles_per_ack: budget::HPCC_CYCLES,
            },
            control: Control {
                cycles_per_update: most,
                flows_per_core,
                engine_needed: self.flows > flows_per_core,
                source: "the paper's arithmetic, upper end; no firmware is measured yet",
            },
        })
    }

    fn table(&self, r: &Report) -> String {
        let mut t = String::new();
        let _ = writeln!(
            t,
            "{} Gbps, {} MHz, {}-byte packets: a packet every {} clocks",
            self.link_gbps, self.clock_mhz, self.mtu, r.packet_interval_clocks
        );
        let _ = writeln!(t, "\nmeasured on the Verilog in Verilator:");
        let _ = writeln!(
            t,
            "{:16} {:>8} {:>9} {:>18} {:>16} {:>8}",
            "stage", "latency", "ns", "clocks a request", "of one flow", "slack"
        );
        for s in &r.stages {
            let _ = writeln!(
                t,
                "{:16} {:>8} {:>9} {:>18} {:>16} {:>8}",
                s.name,
                s.latency_clocks,
                s.latency_ns,
                s.initiation_interval,
                s.own_flow_interval,
                s.slack_clocks
            );
        }
        let _ = writeln!(
            t,
            "\nhighest packet rate: {} Mpps (64-byte packets)",
            r.max_mpps
        );
        let _ = writeln!(
            t,
            "{:>8} {:>18} {:>14} {:>10}",
            "bytes", "interval, clocks", "needed", "line rate"
        );
        for s in &r.sizes {
            let _ = writeln!(
                t,
                "{:>8} {:>18} {:>14} {:>10}",
                s.packet_bytes,
                s.packet_interval_clocks,
                s.needed_clocks.map_or("too long".into(), |n| n.to_string()),
                if s.line_rate { "yes" } else { "no" }
            );
        }
        let _ = writeln!(t,
            "\npaper's arithmetic: {} cycles a packet, {} to {} a flow and update (HPCC: {} an ACK)",
            r.paper.per_packet_cycles,
            r.paper.per_update_cycles[0],
            r.paper.per_update_cycles[1],
            r.paper.hpcc_cycles_per_ack
        );
        let _ = writeln!(
            t,
            "control: {} flows a core every {} us ({}); an engine is {}needed for {} flows",
            r.control.flows_per_core,
            self.interval_us,
            r.control.source,
            if r.control.engine_needed { "" } else { "not " },
            self.flows
        );
        t
    }
}

/// Two decimals.
fn round(v: f64) -> f64 {
    (v * 100.0).round() / 100.0
}
