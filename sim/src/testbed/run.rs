//! The closed loop.

use super::control::flow_control;
use super::metrics::{Delivered, Histogram, PathReport, Peak, Point, RunReport, Updates};
use super::network::{Ack, Network, Packet};
use super::receive::RtlReceiver;
use super::scenario::Scenario;
use super::transmit::{RoundRobinTransmitter, RtlTransmitter, Transmitter};
use super::CLOCK_NS;
use crate::{SimError, Verilog};
use rondo_models::control::FlowControl;
use rondo_models::pacing::Pacer;
use std::collections::BTreeMap;
use std::time::Instant;

/// Who chooses the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    /// Deficit selection: the sender RTL.
    Deficit,
    /// Round robin over the paths, in PSN order.
    RoundRobin,
}

/// One run of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// Scenario.
    pub scenario: &'a Scenario,
    /// Path selection.
    pub select: Select,
    /// The packet scheduler: skips by Eq. 7, or PSN order.
    pub scheduler: bool,
    /// Sender datapath.
    pub sender: &'a Verilog,
    /// Receiver datapath.
    pub receiver: &'a Verilog,
    /// Seed of the designs' initial state.
    pub seed: u64,
    /// Who decides: the RTL, its clocked model on the same clocks being compared, or that model alone.
    pub decisions: Decisions,
    /// Keep the order of the packets sent.
    pub trace: bool,
}

/// Who decides in the two NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decisions {
    /// The RTL, compared with the model on every clock.
    Rtl,
    /// The cycle-accurate model alone.
    Model,
}

impl Setup<'_> {
    /// Seed for the RTL; none when there is no RTL.
    fn rtl_seed(&self) -> Option<u64> {
        (self.decisions == Decisions::Rtl).then_some(self.seed)
    }
}

/// Clocks between a refused request and the next.
const RETRY_CLOCKS: u64 = 8;
/// Distance of the curves' points.
const POINT_NS: u64 = 50_000;
/// PSNs are told apart by their low bits while under way.
const TRACK: usize = 4096;

struct Loop<'a> {
    s: &'a Scenario,
    network: Network,
    control: FlowControl,
    pacer: Pacer,
    tx: Box<dyn Transmitter>,
    rx: RtlReceiver,
    under_way: Vec<(Packet, u64)>,
    retry_at: u64,
    next_update_ns: u64,
    ood: Histogram,
    waiting: Histogram,
    point: (u64, u64, u64),
    points: Vec<Point>,
    sent: u64,
    naks: u64,
    tail_drops: u64,
    /// Packets in the order in which they were sent, if wanted.
    trace: Option<Vec<(u32, u8)>>,
}

/// Runs `setup`; `progress` gets the share done and returns false to stop.
///
/// # Errors
/// [`SimError`] when a design cannot be compiled or loaded.
pub fn run(setup: &Setup, progress: &mut dyn FnMut(f64) -> bool) -> Result<RunReport, SimError> {
    let s = setup.scenario;
    // More than the paths can carry: the flow never runs dry.
    let posted = (s.capacity_gbps() * s.duration_ms * 1e6 / 8.0 / s.packet_bytes as f64) as u32;
    let posted = (posted + posted / 4 + 1024).min(1 << 22);
    let tx: Box<dyn Transmitter> = match setup.select {
        Select::Deficit => Box::new(RtlTransmitter::new(
            setup.sender,
            s.paths.len(),
            s.window,
            s.first_psn,
            posted,
            setup.rtl_seed(),
        )?),
        Select::RoundRobin => Box::new(RoundRobinTransmitter::new(
            s.paths.len(),
            s.window,
            s.first_psn,
        )),
    };
    let rx = RtlReceiver::new(
        setup.receiver,
        s.window,
        s.first_psn,
        s.payload_bytes(),
        s.reorder_slots,
        setup.rtl_seed(),
    )?;
    let nobody = Packet {
        psn: 0,
        path: 0,
        sent_ns: 0,
    };
    let mut l = Loop {
        s,
        network: Network::new(s)?,
        control: flow_control(s, setup.scheduler),
        pacer: Pacer::default(),
        tx,
        rx,
        under_way: vec![(nobody, 0); TRACK],
        retry_at: 0,
        next_update_ns: s.interval_ns().into(),
        ood: Histogram::default(),
        waiting: Histogram::default(),
        point: (0, 0, 0),
        points: Vec::new(),
        sent: 0,
        naks: 0,
        tail_drops: 0,
        trace: setup.trace.then(Vec::new),
    };
    l.pacer.set_rate(l.control.initial().pace);
    let end_ns = (s.duration_ms * 1e6) as u64;
    let from_ns = (s.measure_from_ms * 1e6) as u64;
    let mut before = 0;
    let started = Instant::now();
    for clock in 0..end_ns / CLOCK_NS {
        let now = clock * CLOCK_NS;
        if now <= from_ns && from_ns < now + CLOCK_NS {
            before = l.rx.delivery().packets;
            l.ood = Histogram::default();
            l.waiting = Histogram::default();
            for p in 0..s.paths.len() {
                l.tail_drops += l.network.take_counters(p).drops;
            }
        }
        l.clock(clock, now);
        if clock % 65_536 == 0 && !progress(now as f64 / end_ns as f64) {
            break;
        }
    }
    let cycles = (end_ns / CLOCK_NS) as f64;
    let mut report = l.report(before, end_ns - from_ns);
    report.seed = setup.seed;
    report.cycles_per_second = (cycles / started.elapsed().as_secs_f64()).round();
    report.decisions = match (setup.select, setup.decisions) {
        (Select::Deficit, Decisions::Rtl) => "rtl",
        _ => "model",
    };
    report.name = match (setup.select, setup.scheduler) {
        (Select::Deficit, true) => "rondo",
        (Select::Deficit, false) => "psn-order",
        (Select::RoundRobin, _) => "round-robin",
    }
    .into();
    Ok(report)
}

impl Loop<'_> {
    fn clock(&mut self, clock: u64, now: u64) {
        self.network.advance(now);
        while let Some((packet, arrived)) = self.network.receive() {
            self.under_way[packet.psn as usize % TRACK].1 = arrived;
            self.rx.arrive(packet.psn, packet.path);
        }
        while let Some(ack) = self.network.acknowledged() {
            if ack.nak {
                // Loss recovery is not part of this harness: a refused packet stays lost.
                self.naks += 1;
            } else {
                self.tx.acknowledge(ack.packet.path, ack.packet.psn);
            }
        }

        self.pacer.advance(CLOCK_NS as u32);
        let asked = self.tx.under_way();
        if clock >= self.retry_at && self.pacer.is_due() && self.network.sender_is_free(now, asked)
        {
            self.pacer.spend();
            self.tx.request();
        }
        let step = self.tx.clock();
        if let Some((path, psn)) = step.sent {
            self.sent_packet(path, psn, now);
        }
        if step.idle {
            self.pacer.refund();
            self.retry_at = clock + RETRY_CLOCKS;
        }
        if let Some((path, psn)) = step.acked {
            let (packet, arrived) = self.under_way[psn as usize % TRACK];
            let forward_ns = arrived.wrapping_sub(packet.sent_ns) as u32;
            let rtt_ns = now.wrapping_sub(packet.sent_ns) as u32;
            self.control
                .acked(path.into(), now as u32, forward_ns, rtt_ns);
        }

        let step = self.rx.clock();
        if let Some((psn, path, nak)) = step.ack {
            let (mut packet, arrived_ns) = self.under_way[psn as usize % TRACK];
            packet.path = path;
            let ack = Ack {
                packet,
                arrived_ns,
                nak,
            };
            self.network.acknowledge(ack);
        }
        if let Some((ood, waiting)) = step.sample {
            self.ood.add(ood.into());
            self.waiting.add(waiting.into());
            self.point.1 += u64::from(ood);
            self.point.2 += 1;
        }
        if now >= self.next_update_ns {
            self.next_update_ns += u64::from(self.s.interval_ns());
            self.update(now);
        }
        if now % POINT_NS == 0 {
            self.take_point(now);
        }
    }

    fn sent_packet(&mut self, path: u8, psn: u32, now: u64) {
        let packet = Packet {
            psn,
            path,
            sent_ns: now,
        };
        self.control.sent(path.into(), now as u32);
        self.sent += 1;
        self.under_way[psn as usize % TRACK] = (packet, now);
        self.network.send(packet, now);
        if let Some(trace) = &mut self.trace {
            trace.push((packet.psn, packet.path));
        }
    }

    fn update(&mut self, now: u64) {
        let d = self.control.update(now as u32);
        self.pacer.set_rate(d.pace);
        for p in 0..self.s.paths.len() {
            self.tx.set_window(p as u8, d.windows[p]);
            self.tx.set_skip(p as u8, d.skips[p]);
        }
    }

    fn take_point(&mut self, now: u64) {
        let delivered = self.rx.delivery().packets;
        let bits = (delivered - self.point.0) as f64 * self.s.packet_bytes as f64 * 8.0;
        self.points.push(Point {
            ms: now as f64 / 1e6,
            gbps: bits / POINT_NS as f64,
            ood: self.point.1 as f64 / self.point.2.max(1) as f64,
            queue_us: (0..self.s.paths.len())
                .map(|p| self.network.take_peak_ns(p) as f64 / 1000.0)
                .collect(),
        });
        self.point = (delivered, 0, 0);
    }

    fn report(mut self, before: u64, measured_ns: u64) -> RunReport {
        let d = self.rx.delivery();
        let packets = (d.packets - before) as f64;
        let gbps = |bytes: usize, packets: f64| packets * bytes as f64 * 8.0 / measured_ns as f64;
        let mut paths = Vec::new();
        for p in 0..self.s.paths.len() {
            let c = self.network.take_counters(p);
            self.tail_drops += c.drops;
            paths.push(PathReport {
                gbps: gbps(self.s.packet_bytes, c.packets as f64),
                queue_us: Peak {
                    avg: c.queued_ns_sum as f64 / 1000.0 / c.packets.max(1) as f64,
                    max: c.queued_ns_max as f64 / 1000.0,
                },
            });
        }
        let waiting = self.waiting.spread();
        let lost = self.tail_drops + self.naks;
        RunReport {
            throughput_gbps: gbps(self.s.packet_bytes, packets),
            goodput_gbps: gbps(self.s.payload_bytes(), packets),
            duration_us: measured_ns as f64 / 1000.0,
            ood: self.ood.spread(),
            rbo: Peak {
                avg: waiting.avg,
                max: waiting.max,
            },
            paths,
            mismatches: self.tx.mismatches() + self.rx.mismatches(),
            delivered: Delivered {
                bytes: d.bytes,
                messages: d.packets,
            },
            in_order: d.out_of_order == 0 && d.duplicated == 0 && d.corrupt == 0,
            lost_bytes: lost * self.s.payload_bytes() as u64,
            duplicated_bytes: d.duplicated * self.s.payload_bytes() as u64,
            drops: BTreeMap::from([
                ("queue_full", self.tail_drops),
                ("reorder_buffer_full", self.naks),
            ]),
            updates: Updates {
                count: self.control.updates().into(),
            },
            points: self.points,
            trace: self.trace.unwrap_or_default(),
            ..RunReport::default()
        }
    }
}
