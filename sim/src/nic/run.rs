//! The loop around two NICs and their network.

use super::endpoint::{Command, Endpoint};
use super::mesh::{Fates, Mesh as Network};
use super::scenario::{Mesh, Traffic};
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::wire::{FlowContext, Identity, IpAddress, MacAddress};
use rondo_net::metrics::{Histogram, Spread};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;

/// A clock of 250 MHz, ps.
const CLOCK_PS: u64 = 4_000;
/// Clocks between two looks at the control's timers.
const CONTROL_CLOCKS: u64 = 25;
/// A run in which nothing is delivered for so long, and which is not at rest, has failed, ps.
const STALL_PS: u64 = 5_000_000_000;

/// Frames of a link for a capture: which way, when they left the NIC (ns), bytes.
pub type Capture<'a> = &'a mut dyn FnMut(usize, u64, &[u8]);

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Payload rate of side 1's deliveries in the measured part, Gbps.
    pub goodput_gbps: f64,
    /// The same with all headers, as on the wire, Gbps.
    pub throughput_gbps: f64,
    /// Length of the measured part, us.
    pub measured_us: f64,
    /// Network time of the whole run, us.
    pub total_us: f64,
    /// Out-of-order degree at side 1.
    pub ood: Spread,
    /// Packets of a flow that wait at side 1.
    pub rbo: Spread,
    /// Differences from the golden endpoints, and deliveries that were wrong.
    pub mismatches: u64,
    /// The first of them.
    pub first: Option<String>,
    /// Values compared.
    pub compared: u64,
    /// Everything posted was delivered, and every pool is as after reset.
    pub complete: bool,
    /// What is not, if it is not.
    pub unrest: Option<String>,
    /// Payload bytes delivered, both sides.
    pub bytes: u64,
    /// Messages delivered, both sides.
    pub messages: u64,
    /// Bytes posted and not delivered.
    pub lost_bytes: u64,
    /// What the network did.
    pub fates: Fates,
    /// Data frames sent again.
    pub retransmissions: u64,
    /// Of these found lost by age.
    pub timeouts: u64,
    /// Drops in the NICs by cause's code.
    pub drops: [u64; 16],
    /// Duplicates at the receivers.
    pub duplicates: u64,
    /// NAKs.
    pub naks: u64,
    /// Probes sent.
    pub probes: u64,
    /// Control updates.
    pub updates: u64,
    /// Most slots of side 1's reorder buffer ever in use.
    pub high_water: u64,
    /// Share of clocks with a beat, side 0: from the host, to the network; side 1: to the host.
    pub utilisation: [f64; 3],
    /// Wire rate, mean and longest queueing time of each path's data, measured part.
    pub paths: Vec<(f64, f64, f64)>,
    /// Bytes that each flow of side 1 was delivered.
    pub flow_bytes: Vec<u64>,
    /// Clocks a second of wall-clock time.
    pub cycles_per_second: f64,
}

/// Who the NIC of `side` is.
pub fn identity(side: usize) -> Identity {
    let n = side as u8 + 1;
    Identity {
        mac: MacAddress([2, 0, 0, 0, 0, n]),
        ipv4: Ipv4Addr::new(10, 0, 0, n),
        ipv6: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(n)),
        udp_port: 4793,
    }
}

/// The other side's number of flow `flow`.
fn peer(mesh: &Mesh, flow: u16) -> u16 {
    mesh.open_flows as u16 - 1 - flow
}

/// The context of `flow` at `side`.
fn context(mesh: &Mesh, side: usize, flow: u16, epoch: u16) -> FlowContext {
    let other = identity(1 - side);
    // Both ends have to agree: the lower number of the two decides.
    let v6 = mesh.both_ip_versions && flow.min(peer(mesh, flow)) % 2 == 1;
    FlowContext {
        mtu: mesh.mtu,
        valid: true,
        source_port: 0xc000 | flow << 4,
        peer_flow: peer(mesh, flow),
        epoch,
        peer_mac: other.mac,
        peer_ip: if v6 {
            IpAddress::V6(other.ipv6)
        } else {
            IpAddress::V4(other.ipv4)
        },
    }
}

struct Loop<'a> {
    mesh: &'a Mesh,
    nics: [Endpoint; 2],
    network: Network,
    pending: [Option<Vec<u8>>; 2],
    clock: u64,
    posted: u64,
    ood: Histogram,
    rbo: Histogram,
    measured: Outcome,
    capture: Option<Capture<'a>>,
}

/// Runs two NICs `v` as `mesh` says; `progress` gets the share done and returns false to stop.
///
/// # Errors
/// [`SimError`] when the design cannot be run.
pub fn run<'a>(
    v: &Verilog,
    mesh: &'a Mesh,
    seed: u64,
    capture: Option<Capture<'a>>,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Outcome, SimError> {
    let network = Network::new(
        &mesh.paths,
        mesh.impairments,
        mesh.queue_limit_bytes,
        mesh.host_gbps,
        seed,
    );
    let mut l = Loop {
        mesh,
        nics: [
            Endpoint::new(v, mesh, 0, identity(0), seed, None)?,
            Endpoint::new(v, mesh, 1, identity(1), seed, None)?,
        ],
        network,
        pending: [None, None],
        clock: 0,
        posted: 0,
        ood: Histogram::default(),
        rbo: Histogram::default(),
        measured: Outcome::default(),
        capture,
    };
    let started = Instant::now();
    l.open_all()?;
    l.post(seed);
    let stopped = l.work(progress);
    let mut outcome = l.finish(stopped);
    outcome.cycles_per_second = 2.0 * l.clock as f64 / started.elapsed().as_secs_f64();
    Ok(outcome)
}

impl Loop<'_> {
    fn now_ps(&self) -> u64 {
        self.clock * CLOCK_PS
    }

    fn step(&mut self) {
        let now = self.now_ps();
        self.network.advance(now);
        for side in 0..2 {
            if self.pending[side].is_none() {
                self.pending[side] = self.network.arrival(1 - side, now);
            }
            let takes = self.network.takes(side, now);
            let nic = &mut self.nics[side];
            let step = nic.clock(&mut self.pending[side], takes);
            if let Some(frame) = step.sent {
                if let Some(capture) = &mut self.capture {
                    capture(side, now / 1000, &frame);
                }
                self.network.send(side, frame, now);
            }
            if let (1, Some((ood, waiting))) = (side, step.sample) {
                self.ood.add(ood.into());
                self.rbo.add(waiting.into());
            }
            if self.clock % CONTROL_CLOCKS == 0 {
                let ns = self.nics[side].now_ns();
                self.nics[side].control.update(now / 1000, ns);
            }
        }
        self.clock += 1;
    }

    fn open_all(&mut self) -> Result<(), SimError> {
        for side in 0..2 {
            for flow in 0..self.mesh.open_flows as u16 {
                self.nics[side].command(Command {
                    open: true,
                    flow,
                    context: context(
                        self.mesh,
                        side,
                        flow,
                        0x1000 | flow.min(peer(self.mesh, flow)),
                    ),
                    tx_psn: self.mesh.first_psn,
                    rx_psn: self.mesh.first_psn,
                });
            }
        }
        let limit = 2_000 * self.mesh.open_flows as u64 + 10_000;
        let want = Some(self.mesh.open_flows as u64);
        while self.nics.iter().any(|n| n.commands_done() != want) {
            self.step();
            if self.clock > limit {
                return Err(SimError::NoAnswer {
                    port: "done".into(),
                });
            }
        }
        let now_ns = self.now_ps() / 1000;
        for side in 0..2 {
            for flow in 0..self.mesh.open_flows as u16 {
                let nic = &mut self.nics[side];
                nic.control.open(flow, self.mesh, now_ns);
                nic.sender.open(flow, self.mesh.mtu);
                nic.receiver.open(flow, peer(self.mesh, flow), 0);
            }
        }
        Ok(())
    }

    fn post(&mut self, seed: u64) {
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x6d65_7373);
        let sides = if self.mesh.both_ways { 2 } else { 1 };
        for side in 0..sides {
            for flow in 0..self.mesh.open_flows as u16 {
                let sender = &mut self.nics[side].sender;
                match self.mesh.traffic {
                    Traffic::Endless { bytes } => sender.set_endless(flow, Some(bytes)),
                    Traffic::Messages {
                        per_flow,
                        min_bytes,
                        max_bytes,
                    } => {
                        let (low, high) = (f64::from(min_bytes).ln(), f64::from(max_bytes).ln());
                        for k in 0..per_flow {
                            let drawn = (low + (high - low) * rng.random::<f64>()).exp();
                            // The shortest and the longest are there, whatever the dice say.
                            let length = match (flow, k) {
                                (0, 0) => min_bytes,
                                (1, 0) => max_bytes,
                                _ => (drawn.round() as u32).clamp(min_bytes, max_bytes),
                            };
                            sender.post(flow, length);
                            self.posted += u64::from(length);
                        }
                    }
                }
            }
        }
    }

    /// Runs until all is delivered and quiet; returns whether it was stopped.
    fn work(&mut self, progress: &mut dyn FnMut(f64) -> bool) -> bool {
        let endless = matches!(self.mesh.traffic, Traffic::Endless { .. });
        let start = self.now_ps();
        let end = start + self.mesh.end_ps;
        let from = start + self.mesh.measure_from_ps;
        let mut marks = (0, 0);
        let mut beats = [[0; 3]; 2];
        let mut ended = !endless;
        let mut progressed = (0, start);
        loop {
            let now = self.now_ps();
            if from <= now && now < from + CLOCK_PS {
                marks = (self.nics[1].receiver.delivered().bytes, now);
                beats = [self.nics[0].beats(), self.nics[1].beats()];
                self.ood = Histogram::default();
                self.rbo = Histogram::default();
                for p in 0..self.mesh.paths.len() {
                    self.network.take_carried(p);
                }
            }
            if endless && !ended && now >= end {
                ended = true;
                self.measure(marks, beats);
                for nic in &mut self.nics {
                    for flow in 0..self.mesh.open_flows as u16 {
                        nic.sender.set_endless(flow, None);
                    }
                }
            }
            self.step();
            if self.clock % 16_384 == 0 {
                let done = self.delivered();
                if done > progressed.0 {
                    progressed = (done, now);
                }
                let share = if endless {
                    (now - start) as f64 / self.mesh.end_ps as f64
                } else {
                    done as f64 / self.posted.max(1) as f64
                };
                if !progress(share.min(1.0)) {
                    return true;
                }
            }
            if self.nics.iter().any(|n| n.mismatches().0 > 0) {
                break;
            }
            let quiet = ended && self.clock % 64 == 0 && self.is_done(endless);
            if quiet || now > progressed.1.max(end) + STALL_PS {
                break;
            }
        }
        if !endless {
            self.measure(marks, beats);
        }
        false
    }

    /// Bytes delivered on both sides.
    fn delivered(&self) -> u64 {
        self.nics.iter().map(|n| n.receiver.delivered().bytes).sum()
    }

    fn is_done(&self, endless: bool) -> bool {
        (endless || self.delivered() >= self.posted)
            && self.network.is_empty()
            && self.pending.iter().all(Option::is_none)
            && self.nics.iter().all(Endpoint::is_at_rest)
    }

    fn measure(&mut self, (bytes, at): (u64, u64), beats: [[u64; 3]; 2]) {
        let now = self.now_ps();
        let span = (now - at).max(1) as f64;
        let delivered = (self.nics[1].receiver.delivered().bytes - bytes) as f64;
        let packets = delivered / f64::from(self.mesh.mtu);
        self.measured.goodput_gbps = delivered * 8_000.0 / span;
        self.measured.throughput_gbps = (delivered + packets * 80.0) * 8_000.0 / span;
        self.measured.measured_us = span / 1e6;
        let clocks = span / CLOCK_PS as f64;
        let now_beats = [self.nics[0].beats(), self.nics[1].beats()];
        let share = |side: usize, k: usize| (now_beats[side][k] - beats[side][k]) as f64 / clocks;
        self.measured.utilisation = [share(0, 0), share(0, 1), share(1, 2)];
        self.measured.ood = self.ood.spread();
        self.measured.rbo = self.rbo.spread();
        for p in 0..self.mesh.paths.len() {
            let c = self.network.take_carried(p);
            self.measured.paths.push((
                c.data_bytes as f64 * 8_000.0 / span,
                c.queued_ps_sum as f64 / c.data_frames.max(1) as f64 / 1e6,
                c.queued_ps_max as f64 / 1e6,
            ));
        }
    }

    fn finish(&mut self, stopped: bool) -> Outcome {
        let mut o = std::mem::take(&mut self.measured);
        o.total_us = self.now_ps() as f64 / 1e6;
        o.fates = self.network.fates();
        let mut unrest = Vec::new();
        let handed: u64 = self.nics.iter().map(|n| n.sender.bytes).sum();
        for (side, n) in self.nics.iter().enumerate() {
            let (wrong, first) = n.mismatches();
            o.mismatches += wrong;
            o.first = o.first.or(first.map(|f| format!("NIC {side}: {f}")));
        }
        for (side, n) in self.nics.iter().enumerate() {
            // A run that broke off is in the middle of frames.
            let counted = if o.mismatches == 0 {
                n.counters_agree()
            } else {
                Ok(())
            };
            if let Err(what) = counted {
                o.mismatches += 1;
                o.first.get_or_insert(format!("NIC {side}: {what}"));
            }
            if !n.is_at_rest() {
                unrest.push(format!("NIC {side}: {}", n.unrest()));
            }
            let d = n.receiver.delivered();
            o.bytes += d.bytes;
            o.messages += d.messages;
            o.retransmissions += n.tx.frames().retransmissions;
            o.probes += n.tx.frames().probes;
            o.naks += n.tx.frames().naks;
            o.timeouts += n.tx.ledger.reach().timeouts;
            o.compared += n.tx.compared + n.rx.compared + n.tx.ledger.compared();
            o.updates += n.control.updates();
            o.duplicates += n.pulses().duplicates;
            for (sum, n) in o.drops.iter_mut().zip(n.pulses().drops) {
                *sum += n;
            }
        }
        o.lost_bytes = handed.max(self.posted).saturating_sub(o.bytes);
        o.high_water = self.nics[1].high_water();
        o.flow_bytes = (0..self.mesh.open_flows as u16)
            .map(|f| self.nics[1].receiver.bytes_of(f))
            .collect();
        o.complete = !stopped && unrest.is_empty() && o.lost_bytes == 0;
        o.unrest = (!unrest.is_empty()).then(|| unrest.join("; "));
        o
    }
}
