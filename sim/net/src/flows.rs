//! Flows: planned, opened when they start, closed when everything is acknowledged.

use crate::calendar::{Event, Kind};
use crate::fabric::{ADAPTIVE, HOST};
use crate::simulation::Simulation;
use crate::time::{Ps, NEVER};
use crate::transport::multipath::FlowSetup;
use crate::transport::{Receiver, Sender, SenderCounters};
use crate::workload::Start;
use rondo_models::psn::Psn;

/// A flow to be simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowPlan {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// When it starts.
    pub start: Start,
    /// Trigger that its delivery counts for.
    pub done: Option<u32>,
    /// Label in reports.
    pub group: u32,
    /// Number of its transport.
    pub transport: u16,
}

/// A flow's state in the network.
pub struct Flow {
    /// What was planned.
    pub plan: FlowPlan,
    /// When it started; [`NEVER`] before.
    pub started: Ps,
    /// When everything was delivered; [`NEVER`] before.
    pub finished: Ps,
    /// The least time it could have taken, alone at line rate.
    pub ideal: Ps,
    /// Payload bytes that arrived, each once.
    pub arrived_bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Packets delivered in order.
    pub in_order: u64,
    /// It was told to stop: its end says nothing about a completion time.
    pub stopped: bool,
    /// Retransmissions of packets that had arrived.
    pub spurious: u64,
    /// What its sender counted.
    pub counters: SenderCounters,
    pub(crate) sender: Option<Box<dyn Sender>>,
    pub(crate) receiver: Option<Box<dyn Receiver>>,
    pub(crate) ready: bool,
    pub(crate) pace_at: Ps,
    pub(crate) ood: u32,
    pub(crate) waiting: u32,
    pub(crate) end_psn: u32,
    /// First of the flow's entries in the path table; [`ADAPTIVE`] when switches choose.
    first_path: u32,
}

impl Flow {
    /// Route entry at which a packet on `path` starts behind the host's switch port.
    #[inline]
    pub(crate) fn first_hop(&self, paths: &[(u32, u32)], path: u8, leaf: u32) -> u32 {
        if self.first_path == ADAPTIVE {
            return ADAPTIVE | leaf;
        }
        paths[self.first_path as usize + usize::from(path)].0
    }

    /// The same for ACKs.
    #[inline]
    pub(crate) fn way_back(&self, paths: &[(u32, u32)], path: u8, leaf: u32) -> u32 {
        if self.first_path == ADAPTIVE {
            return ADAPTIVE | leaf;
        }
        paths[self.first_path as usize + usize::from(path)].1
    }

    pub(crate) fn set_first_path(&mut self, first: u32) {
        self.first_path = first;
    }

    /// Skips of its paths, if its sender has them.
    pub fn skips(&self) -> &[u16] {
        self.sender.as_ref().map_or(&[], |s| s.skips())
    }
}

impl Simulation {
    /// Adds a flow and schedules its start.
    pub(crate) fn plan(&mut self, plan: FlowPlan) {
        let index = self.flows.len() as u32;
        let payload = u64::from(self.packet.payload_bytes);
        self.flows.push(Flow {
            plan,
            started: NEVER,
            finished: NEVER,
            ideal: 0,
            arrived_bytes: 0,
            packets: plan.bytes.div_ceil(payload),
            in_order: 0,
            stopped: false,
            spurious: 0,
            counters: SenderCounters::default(),
            sender: None,
            receiver: None,
            ready: false,
            pace_at: NEVER,
            ood: 0,
            waiting: 0,
            end_psn: 0,
            first_path: 0,
        });
        match plan.start {
            // A flow whose ends are outside never starts here.
            Start::At(Ps::MAX) => {}
            Start::At(at) => self.calendar.push(at, Event::new(Kind::Start, index)),
            Start::On(trigger, _) => self.waiting[trigger as usize].push(index),
        }
    }

    /// Flow `index` starts.
    pub(crate) fn start(&mut self, index: u32) {
        if self.flows[index as usize].stopped {
            return;
        }
        let plan = self.flows[index as usize].plan;
        let transport = self.transports[usize::from(plan.transport)].clone();
        let paths = transport.paths();
        let rtt_ns: Vec<u32> = (0..paths)
            .map(|p| {
                let port = self.fabric.source_port(index, p);
                self.base_rtt_ns(plan.src, plan.dst, port)
                    .unwrap_or(self.max_rtt_ns)
            })
            .collect();
        let last = (plan.bytes - 1) % u64::from(self.packet.payload_bytes) + 1;
        let port = self.fabric.host_port[plan.src as usize];
        let line_gbps = self.fabric.ports[port as usize].gbps;
        let setup = FlowSetup {
            first_psn: self.first_psn,
            packets: self.flows[index as usize].packets,
            wire_bytes: self.packet.wire_bytes(),
            last_bytes: last as u16 + self.packet.header_bytes,
            max_rtt_ns: self
                .max_rtt_ns
                .max(rtt_ns.iter().copied().max().unwrap_or(0)),
            line_gbps,
            seed: self.seed ^ u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            rtt_ns,
        };
        let first_path = if transport.is_adaptive() {
            ADAPTIVE
        } else {
            self.lay_routes(index, &plan, paths)
        };
        self.hosts[plan.src as usize].sending += 1;
        let sending = self.hosts[plan.src as usize].sending;
        let (mut sender, receiver) = transport.open(&setup, sending);
        let timer = sender.start(self.now);
        let ideal = self.ideal_time(&plan, &setup);
        let end = (setup.packets & 0xff_ffff) as u32;
        let flow = &mut self.flows[index as usize];
        flow.end_psn = Psn::new(self.first_psn).plus(end).value();
        flow.started = self.now;
        flow.ideal = ideal;
        flow.first_path = first_path;
        flow.sender = Some(sender);
        flow.receiver = Some(receiver);
        self.set_timer(index, timer);
        self.make_ready(index);
    }

    /// One-way base delay and the whole flow at the host's line rate.
    fn ideal_time(&self, plan: &FlowPlan, setup: &FlowSetup) -> Ps {
        let packet = f64::from(setup.wire_bytes) / f64::from(self.packet.payload_bytes);
        let serial = plan.bytes as f64 * packet * 8_000.0 / setup.line_gbps;
        let shortest = setup.rtt_ns.iter().copied().min().unwrap_or(0);
        u64::from(shortest) * 500 + serial as Ps
    }

    /// Writes the flow's routes into the table and returns the number of the first path.
    pub(crate) fn lay_routes(&mut self, index: u32, plan: &FlowPlan, paths: u8) -> u32 {
        let first = self.paths.len() as u32;
        for path in 0..paths {
            let port = self.fabric.source_port(index, path);
            let entry = (
                self.lay_route(plan.src, plan.dst, port),
                self.lay_route(plan.dst, plan.src, port),
            );
            self.paths.push(entry);
        }
        first
    }

    /// A route that cannot be found ends in the host's own first port, which drops what is down.
    fn lay_route(&mut self, src: u32, dst: u32, source_port: u16) -> u32 {
        let begin = self.routes.len() as u32;
        match self.fabric.route(src, dst, source_port) {
            Some(route) => self.routes.extend(route),
            None => {
                let dead = self.fabric.ports.iter().position(|p| !p.up);
                self.routes.push(dead.map_or(HOST | dst, |p| p as u32));
            }
        }
        begin
    }

    /// Lays the routes of every open flow again, after links changed.
    pub(crate) fn reroute_all(&mut self) {
        for index in 0..self.flows.len() {
            let flow = &self.flows[index];
            if flow.receiver.is_none() && flow.sender.is_none() || flow.first_path == ADAPTIVE {
                continue;
            }
            let (plan, first) = (flow.plan, flow.first_path as usize);
            let paths = self.transports[usize::from(plan.transport)].paths();
            for path in 0..paths {
                let port = self.fabric.source_port(index as u32, path);
                let entry = (
                    self.lay_route(plan.src, plan.dst, port),
                    self.lay_route(plan.dst, plan.src, port),
                );
                self.paths[first + usize::from(path)] = entry;
            }
        }
    }

    fn set_timer(&mut self, index: u32, at: Ps) {
        if at != NEVER {
            self.calendar.push(at, Event::new(Kind::Timer, index));
        }
    }

    /// The timer of flow `index` went off.
    #[inline]
    pub(crate) fn timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let Some(sender) = &mut flow.sender else {
            return;
        };
        let next = sender.on_timer(self.now);
        self.set_timer(index, next);
        self.make_ready(index);
    }

    /// Everything of flow `index` was delivered.
    pub(crate) fn delivered(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        flow.finished = self.now;
        flow.receiver = None;
        self.unfinished -= 1;
        if let Some(trigger) = flow.plan.done {
            self.complete(trigger);
        }
    }

    /// Everything of flow `index` is acknowledged.
    pub(crate) fn close(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if let Some(sender) = flow.sender.take() {
            flow.counters = sender.counters();
            self.metrics.sender_closed(&flow.counters);
        }
        self.hosts[flow.plan.src as usize].sending -= 1;
    }

    /// Flow `index` has nothing new to send from now on; it is delivered when what was sent is.
    pub(crate) fn stop_flow(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if flow.started == NEVER && !flow.stopped {
            // It never starts, and nothing waits for it.
            flow.stopped = true;
            self.unfinished -= 1;
            return;
        }
        let Some(sender) = &mut flow.sender else {
            return;
        };
        flow.stopped = true;
        flow.packets = sender.stop();
        let end = (flow.packets & 0xff_ffff) as u32;
        flow.end_psn = Psn::new(self.first_psn).plus(end).value();
        let acknowledged = sender.is_done();
        if flow.in_order >= flow.packets && flow.receiver.is_some() {
            self.delivered(index);
        }
        if acknowledged {
            self.close(index);
        }
    }

    /// Counts one more completion for `trigger`.
    pub(crate) fn complete(&mut self, trigger: u32) {
        let done = &mut self.completions[trigger as usize];
        *done += 1;
        if *done == self.triggers[trigger as usize].count {
            self.fire(trigger);
        }
    }

    /// Starts what waits for `trigger`.
    pub(crate) fn fire(&mut self, trigger: u32) {
        for index in std::mem::take(&mut self.waiting[trigger as usize]) {
            if let Start::On(_, delay) = self.flows[index as usize].plan.start {
                let at = self.now + delay;
                self.calendar.push(at, Event::new(Kind::Start, index));
            }
        }
        for next in std::mem::take(&mut self.triggers[trigger as usize].then) {
            let at = self.now + next.delay;
            self.calendar
                .push(at, Event::new(Kind::Trigger, next.trigger));
        }
    }

    /// Adds up what senders that are still open have counted.
    pub(crate) fn open_counters(&self) -> SenderCounters {
        let mut sum = SenderCounters::default();
        for sender in self.flows.iter().filter_map(|f| f.sender.as_ref()) {
            sum.add(&sender.counters());
        }
        sum
    }
}
