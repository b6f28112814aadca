//! Hosts whose NICs are outside: co-simulated RTL, or a clocked model. Their packets enter and leave
//! the network by these calls; nothing else of the simulation changes.

use crate::fabric::ADAPTIVE;
use crate::flows::FlowPlan;
use crate::packet::{Kind, Packet};
use crate::simulation::Simulation;
use crate::time::Ps;
use crate::workload::Start;

impl Simulation {
    /// Keeps what arrives at `host` for [`Simulation::take_arrival`].
    pub fn open_outbox(&mut self, host: u32) {
        self.hosts[host as usize].outbox = Some(Default::default());
    }

    /// Adds a flow of `paths` logical paths whose two ends are outside; returns its number.
    pub fn external_flow(&mut self, src: u32, dst: u32, paths: u8) -> u32 {
        let index = self.flows.len() as u32;
        let plan = FlowPlan {
            src,
            dst,
            bytes: 1,
            start: Start::At(Ps::MAX),
            done: None,
            group: 0,
            transport: 0,
        };
        self.plan(plan);
        self.unfinished += 1;
        let first = self.lay_routes(index, &plan, paths);
        self.flows[index as usize].set_first_path(first);
        index
    }

    /// The earliest packet that has arrived at `host` by now, and when.
    pub fn take_arrival(&mut self, host: u32) -> Option<(Ps, Packet)> {
        self.hosts[host as usize].outbox.as_mut()?.pop_front()
    }

    /// Puts a packet of an external flow into the port of its sender, or of its receiver if it is an
    /// acknowledgement.
    pub fn inject(&mut self, mut packet: Packet) {
        let flow = &self.flows[packet.flow as usize];
        let class = packet.kind.class();
        let host = if class == 0 {
            flow.plan.dst
        } else {
            flow.plan.src
        };
        let leaf = self.fabric.leaf[host as usize];
        packet.route = if class == 0 {
            flow.way_back(&self.paths, packet.path, leaf)
        } else {
            flow.first_hop(&self.paths, packet.path, leaf)
        };
        debug_assert!(packet.route & ADAPTIVE == 0);
        let id = self.arena.add(packet);
        let at = self.fabric.host_port[host as usize];
        self.ports[at as usize].push(&mut self.arena, id, class);
        self.kick(host);
    }

    /// Time at which the port of `host` will have sent what it has: `bytes` of data wait in it.
    pub fn port_free_at(&self, host: u32) -> (Ps, u32) {
        let at = self.fabric.host_port[host as usize];
        let port = &self.ports[at as usize];
        (port.busy_until, port.queued(Kind::Data.class()))
    }
}
