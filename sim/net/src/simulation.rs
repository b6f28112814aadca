//! One run: the state of the whole network, and the loop over its events.
//!
//! [`crate::forward`] moves packets through ports, [`crate::nic`] is what hosts do with them,
//! [`crate::flows`] opens and closes flows; all three are parts of [`Simulation`].

use crate::calendar::{Calendar, Event, Kind};
use crate::config::{NicConfig, PacketConfig, SwitchConfig};
use crate::fabric::{Fabric, HOST};
use crate::flows::{Flow, FlowPlan};
use crate::metrics::{Histogram, Metrics};
use crate::nic::Host;
use crate::packet::Arena;
use crate::port::Port;
use crate::recorder::Recorder;
use crate::time::Ps;
use crate::transport::Transport;
use crate::workload::Trigger;
use rand::rngs::SmallRng;
use rand::SeedableRng;
use std::sync::Arc;

/// A change of the network at a time of the scenario's choosing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// A port's rate, Gbps.
    Rate {
        /// Port.
        port: u32,
        /// New rate.
        gbps: f64,
    },
    /// A port's propagation delay.
    Delay {
        /// Port.
        port: u32,
        /// New delay.
        delay: Ps,
    },
    /// A port stops or begins to carry packets; routes follow at once. What is on the wire arrives,
    /// what waits in the port is lost.
    Up {
        /// Port.
        port: u32,
        /// It carries packets from now on.
        up: bool,
    },
    /// Share of the packets lost on a port's wire.
    Loss {
        /// Port.
        port: u32,
        /// 0 to 1.
        share: f64,
    },
    /// A flow has nothing new to send from now on.
    Stop {
        /// Flow.
        flow: u32,
    },
}

/// What a run is made of.
#[derive(Clone)]
pub struct Setup {
    /// Structure.
    pub fabric: Fabric,
    /// Packet sizes.
    pub packet: PacketConfig,
    /// Switches.
    pub switch: SwitchConfig,
    /// NICs.
    pub nic: NicConfig,
    /// Transports, named by number in [`FlowPlan::transport`].
    pub transports: Vec<Arc<dyn Transport>>,
    /// Flows.
    pub flows: Vec<FlowPlan>,
    /// What starts flows when others are done.
    pub triggers: Vec<Trigger>,
    /// Changes and when they happen.
    pub changes: Vec<(Ps, Change)>,
    /// First PSN of every flow.
    pub first_psn: u32,
    /// Seed.
    pub seed: u64,
    /// What is sampled.
    pub recorder: Recorder,
}

/// State of a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SwitchState {
    pub(crate) used: u64,
}

/// A running simulation.
pub struct Simulation {
    pub(crate) now: Ps,
    pub(crate) fabric: Fabric,
    pub(crate) packet: PacketConfig,
    pub(crate) switch: SwitchConfig,
    pub(crate) nic: NicConfig,
    pub(crate) transports: Vec<Arc<dyn Transport>>,
    pub(crate) ports: Vec<Port>,
    pub(crate) switches: Vec<SwitchState>,
    pub(crate) ingress: Vec<u32>,
    pub(crate) port_group: Vec<u32>,
    pub(crate) captures: Vec<crate::capture::Capture>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) triggers: Vec<Trigger>,
    pub(crate) completions: Vec<u32>,
    pub(crate) waiting: Vec<Vec<u32>>,
    pub(crate) routes: Vec<u32>,
    pub(crate) paths: Vec<(u32, u32)>,
    pub(crate) arena: Arena,
    pub(crate) calendar: Calendar,
    pub(crate) changes: Vec<(Ps, Change)>,
    pub(crate) first_psn: u32,
    pub(crate) seed: u64,
    pub(crate) max_rtt_ns: u32,
    pub(crate) rng: SmallRng,
    pub(crate) metrics: Metrics,
    pub(crate) recorder: Recorder,
    pub(crate) unfinished: usize,
    pub(crate) trace: Option<Vec<(u32, u8)>>,
    events: u64,
}

impl Simulation {
    /// Ready to run from time 0.
    pub fn new(setup: Setup) -> Self {
        let hosts = setup.fabric.hosts as usize;
        let mut ports: Vec<Port> = setup.fabric.ports.iter().map(Port::new).collect();
        for (port, spec) in ports.iter_mut().zip(&setup.fabric.ports) {
            if !port.is_host {
                let scale = spec.gbps / 100.0;
                port.ecn_min = (f64::from(setup.switch.ecn_min_bytes) * scale) as u32;
                port.ecn_max = (f64::from(setup.switch.ecn_max_bytes) * scale) as u32;
            }
        }
        let mut s = Self {
            now: 0,
            switches: vec![SwitchState::default(); setup.fabric.switches.len()],
            ingress: vec![0; if setup.switch.pfc { ports.len() } else { 0 }],
            port_group: vec![u32::MAX; ports.len()],
            captures: Vec::new(),
            hosts: (0..hosts).map(|_| Host::default()).collect(),
            flows: Vec::with_capacity(setup.flows.len()),
            waiting: vec![Vec::new(); setup.triggers.len()],
            completions: vec![0; setup.triggers.len()],
            triggers: setup.triggers,
            // The first entries deliver to each host.
            routes: (0..setup.fabric.hosts).map(|h| HOST | h).collect(),
            paths: Vec::new(),
            arena: Arena::new(),
            calendar: Calendar::default(),
            first_psn: setup.first_psn,
            seed: setup.seed,
            max_rtt_ns: 0,
            rng: SmallRng::seed_from_u64(setup.seed ^ 0x6e65_7477),
            metrics: Metrics::default(),
            recorder: setup.recorder,
            unfinished: setup.flows.len(),
            trace: None,
            events: 0,
            packet: setup.packet,
            switch: setup.switch,
            nic: setup.nic,
            transports: setup.transports,
            changes: setup.changes,
            ports,
            fabric: setup.fabric,
        };
        s.max_rtt_ns = s.largest_base_rtt_ns();
        if s.recorder.watch_groups {
            for (g, group) in s.fabric.groups.iter().enumerate() {
                for &p in group {
                    s.port_group[p as usize] = g as u32;
                    s.ports[p as usize].watched = true;
                }
            }
        }
        for plan in setup.flows {
            s.plan(plan);
        }
        for t in 0..s.triggers.len() as u32 {
            if s.triggers[t as usize].count == 0 {
                s.fire(t);
            }
        }
        for i in 0..s.changes.len() {
            let at = s.changes[i].0;
            s.calendar.push(at, Event::new(Kind::Change, i as u32));
        }
        if s.recorder.interval > 0 {
            s.calendar
                .push(s.recorder.interval, Event::new(Kind::Sample, 0));
        }
        s
    }

    /// Keeps PSN and path of every data packet, in the order in which senders let them go.
    pub fn keep_trace(&mut self) {
        self.trace = Some(Vec::new());
    }

    /// What [`Simulation::keep_trace`] kept.
    pub fn trace(&self) -> &[(u32, u8)] {
        self.trace.as_deref().unwrap_or(&[])
    }

    /// Simulated time.
    pub fn now(&self) -> Ps {
        self.now
    }

    /// Events handled.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Flows that have not been delivered whole.
    pub fn unfinished(&self) -> usize {
        self.unfinished
    }

    /// What was measured.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Forgets the distributions taken so far: measurement begins now.
    pub fn restart_histograms(&mut self) {
        self.metrics.ood = Histogram::default();
        self.metrics.nic_ood = Histogram::default();
        self.metrics.rbo = Histogram::default();
        self.metrics.buffered_max = 0;
    }

    /// What was sampled.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// State of port number `port`.
    pub fn port(&self, port: u32) -> &Port {
        &self.ports[port as usize]
    }

    /// The flows.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Largest base RTT of the network, ns.
    pub fn max_rtt_ns(&self) -> u32 {
        self.max_rtt_ns
    }

    /// Handles every event up to `end`, or until every flow is delivered; then the time is `end`, or
    /// that of the last event. At most `most` events; whether there is more to do.
    pub fn run_until(&mut self, end: Ps, most: u64) -> bool {
        if most == 0 {
            return true;
        }
        let mut left = most;
        while let Some((at, event)) = self.calendar.pop_until(end) {
            self.now = at;
            self.events += 1;
            self.handle(event);
            left -= 1;
            if self.unfinished == 0 {
                return false;
            }
            if left == 0 {
                return true;
            }
        }
        self.now = self.now.max(end);
        false
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        let index = event.index();
        match event.kind() {
            Kind::Arrive => self.arrive(index),
            Kind::Port => self.port_free(index),
            Kind::Timer => self.timer(index),
            Kind::Pace => self.pace(index),
            Kind::Start => self.start(index),
            Kind::Change => self.change(index),
            Kind::Sample => self.sample(),
            Kind::Pause => self.pause(index),
            Kind::Trigger => self.complete(index),
        }
    }

    fn change(&mut self, index: u32) {
        match self.changes[index as usize].1 {
            Change::Rate { port, gbps } => self.ports[port as usize].set_rate(gbps),
            Change::Delay { port, delay } => self.ports[port as usize].delay = delay,
            Change::Loss { port, share } => {
                let scaled = (share * f64::from(u32::MAX)).round();
                self.ports[port as usize].loss = scaled.clamp(0.0, f64::from(u32::MAX)) as u32;
            }
            Change::Up { port, up } => {
                self.ports[port as usize].up = up;
                self.fabric.ports[port as usize].up = up;
                self.fabric.route_all();
                self.reroute_all();
                self.port_changed(port);
            }
            Change::Stop { flow } => self.stop_flow(flow),
        }
    }

    fn sample(&mut self) {
        let next = self.now + self.recorder.interval;
        self.recorder
            .sample(self.now, &mut self.ports, &mut self.hosts, &self.flows);
        self.calendar.push(next, Event::new(Kind::Sample, 0));
    }

    /// The unloaded RTT of a full packet between the hosts of the two leaves that are furthest
    /// apart, ns.
    fn largest_base_rtt_ns(&self) -> u32 {
        let mut longest = 0;
        let mut seen = vec![false; self.fabric.switches.len()];
        for dst in 0..self.fabric.hosts {
            let leaf = self.fabric.leaf[dst as usize] as usize;
            if dst == 0 || seen[leaf] {
                continue;
            }
            seen[leaf] = true;
            for path in 0..16u16 {
                longest = longest.max(self.base_rtt_ns(0, dst, 49_152 + path).unwrap_or(0));
            }
        }
        longest
    }

    /// The unloaded RTT of a full packet and its ACK, ns; `None` without a way.
    pub(crate) fn base_rtt_ns(&self, src: u32, dst: u32, source_port: u16) -> Option<u32> {
        let f = &self.fabric;
        let there = f.route(src, dst, source_port)?;
        let back = f.route(dst, src, source_port)?;
        let bytes = u32::from(self.packet.wire_bytes());
        let ps = f.unloaded(f.host_port[src as usize], &there, bytes)
            + f.unloaded(
                f.host_port[dst as usize],
                &back,
                self.packet.ack_bytes.into(),
            );
        Some(u32::try_from(ps / 1000).unwrap_or(u32::MAX) + self.nic.turnaround_ns)
    }
}
