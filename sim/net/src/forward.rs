//! Packets through ports: enqueue, transmit, drop, mark, pause.

use crate::calendar::{Event, Kind};
use crate::fabric::{Node, ADAPTIVE, HOST};
use crate::metrics::Drop;
use crate::packet::Kind as PacketKind;
use crate::simulation::Simulation;
use rand::Rng;
use rondo_models::baseline::adaptive::load;
use rondo_models::baseline::dcqcn::mark_probability;

impl Simulation {
    /// Packet `id` has reached the next node of its route.
    #[inline]
    pub(crate) fn arrive(&mut self, id: u32) {
        let packet = &mut self.arena[id];
        let hop = if packet.route & ADAPTIVE == 0 {
            let hop = self.routes[packet.route as usize];
            packet.route += 1;
            hop
        } else {
            self.adaptive_hop(id)
        };
        if hop & HOST == 0 {
            self.enqueue(hop, id);
        } else {
            self.deliver(hop & !HOST, id);
        }
    }

    /// The least loaded of the equal next hops, of several the one that chance says (RoCE adaptive
    /// routing). ACKs keep to the first.
    fn adaptive_hop(&mut self, id: u32) -> u32 {
        let packet = self.arena[id];
        let switch = packet.route & !ADAPTIVE;
        let flow = &self.flows[packet.flow as usize].plan;
        let dst = if packet.kind.class() == 0 {
            flow.src
        } else {
            flow.dst
        };
        let hops = self.fabric.next_hops(switch, dst);
        let [first, ..] = hops else {
            return HOST | dst;
        };
        if let Node::Host(h) = self.ports[*first as usize].to {
            // The last hop: the route table begins with a delivery to each host.
            self.arena[id].route = h;
            return *first;
        }
        if packet.kind.class() == 0 || hops.len() == 1 {
            return *first;
        }
        let limit = self.switch.data_queue_bytes;
        let load = |p: u32| load(self.ports[p as usize].queued(1), limit);
        let best = hops.iter().map(|&p| load(p)).min().unwrap_or_default();
        let equal = hops.iter().filter(|&&p| load(p) == best).count();
        let pick = self.rng.random_range(0..equal.max(1));
        let chosen = hops.iter().filter(|&&p| load(p) == best).nth(pick);
        chosen.copied().unwrap_or(*first)
    }

    /// Offers packet `id` to output port `at` of a switch.
    #[inline]
    pub(crate) fn enqueue(&mut self, at: u32, id: u32) {
        let packet = &self.arena[id];
        let (class, bytes) = (packet.kind.class(), u32::from(packet.bytes));
        let port = &mut self.ports[at as usize];
        if !port.up {
            return self.discard(id, Drop::LinkDown);
        }
        if port.busy_until <= self.now && port.is_empty() && !(port.paused && class > 0) {
            return self.transmit(at, id);
        }
        let owner = port.owner as usize;
        if class > 0 {
            let queued = port.queued(class) + bytes;
            let used = self.switches[owner].used;
            let free = self.switch.buffer_bytes.saturating_sub(used);
            let dynamic = (free as f64 * self.switch.dynamic_alpha) as u64;
            let cause = if class == 2 {
                let limit = self.switch.probe_queue_packets * u32::from(self.packet.wire_bytes());
                (queued > limit).then_some(Drop::ProbeQueue)
            } else if queued > self.switch.data_queue_bytes {
                Some(Drop::QueueFull)
            } else {
                let full = u64::from(bytes) > free || u64::from(queued) > dynamic;
                full.then_some(Drop::SharedBuffer)
            };
            if let Some(cause) = cause {
                return self.discard(id, cause);
            }
            if class == 1 && queued > port.ecn_min {
                self.mark(at, id, queued);
            }
        }
        let port = &mut self.ports[at as usize];
        port.push(&mut self.arena, id, class);
        self.switches[owner].used += u64::from(bytes);
        let held = port.paused && class > 0;
        if !port.pending && !held {
            port.pending = true;
            let when = port.busy_until.max(self.now);
            self.calendar.push(when, Event::new(Kind::Port, at));
        }
        if self.switch.pfc {
            self.pfc_arrived(id, bytes);
        }
        if self.ports[at as usize].watched {
            self.watch(at);
        }
    }

    fn mark(&mut self, at: u32, id: u32, queued: u32) {
        let port = &self.ports[at as usize];
        let p = mark_probability(
            u64::from(queued),
            port.ecn_min.into(),
            port.ecn_max.into(),
            self.switch.ecn_probability,
        );
        if self.rng.random_bool(p.clamp(0.0, 1.0)) {
            self.arena[id].ce = true;
            self.metrics.marks += 1;
        }
    }

    /// Puts packet `id` on the wire of port `at`, which is free.
    #[inline]
    pub(crate) fn transmit(&mut self, at: u32, id: u32) {
        let port = &mut self.ports[at as usize];
        let packet = &mut self.arena[id];
        let done = self.now + port.serialisation(packet.bytes);
        port.busy_until = done;
        let mut arrives = done + port.delay;
        match packet.kind {
            PacketKind::Data => {
                port.sent_bytes += u64::from(packet.bytes);
                port.data_bytes += u64::from(packet.bytes);
            }
            PacketKind::Probe => port.sent_bytes += u64::from(packet.bytes),
            _ if port.is_host => arrives += u64::from(self.nic.turnaround_ns) * 1000,
            _ => {}
        }
        if packet.route & ADAPTIVE != 0 {
            if let Node::Switch(s) = port.to {
                packet.route = ADAPTIVE | s;
            }
        }
        packet.via = at;
        let lossy = port.loss > 0 && self.rng.random::<u32>() < port.loss;
        if port.watched {
            self.capture(at, id);
        }
        if lossy {
            return self.discard(id, Drop::RandomLoss);
        }
        self.calendar.push(arrives, Event::new(Kind::Arrive, id));
    }

    /// Port `at` is free again.
    #[inline]
    pub(crate) fn port_free(&mut self, at: u32) {
        let port = &mut self.ports[at as usize];
        port.pending = false;
        if port.is_host {
            let owner = port.owner;
            return self.serve(owner);
        }
        if port.busy_until > self.now {
            // A resume or a repaired link came in between.
            if !port.is_empty() {
                port.pending = true;
                let when = port.busy_until;
                self.calendar.push(when, Event::new(Kind::Port, at));
            }
            return;
        }
        let Some(id) = port.pop(&self.arena) else {
            return;
        };
        let owner = port.owner as usize;
        let bytes = u32::from(self.arena[id].bytes);
        self.switches[owner].used -= u64::from(bytes);
        if self.switch.pfc {
            self.pfc_left(id, bytes);
        }
        self.transmit(at, id);
        let port = &mut self.ports[at as usize];
        if !port.is_empty() {
            port.pending = true;
            let when = port.busy_until;
            self.calendar.push(when, Event::new(Kind::Port, at));
        }
        if port.watched {
            self.watch(at);
        }
    }

    /// Removes packet `id`.
    pub(crate) fn discard(&mut self, id: u32, cause: Drop) {
        let kind = self.arena[id].kind;
        self.metrics.dropped(cause, kind);
        self.arena.remove(id);
    }

    /// A port went down or came up: what waits in it is lost, or goes on.
    pub(crate) fn port_changed(&mut self, at: u32) {
        let port = &mut self.ports[at as usize];
        if port.up {
            if port.is_host {
                let host = port.owner;
                self.kick(host);
            }
            return;
        }
        while let Some(id) = self.ports[at as usize].pop(&self.arena) {
            let port = &self.ports[at as usize];
            if !port.is_host {
                let owner = port.owner as usize;
                let bytes = u32::from(self.arena[id].bytes);
                self.switches[owner].used -= u64::from(bytes);
                if self.switch.pfc {
                    self.pfc_left(id, bytes);
                }
            }
            self.discard(id, Drop::LinkDown);
        }
    }

    fn pfc_arrived(&mut self, id: u32, bytes: u32) {
        let via = self.arena[id].via as usize;
        let before = self.ingress[via];
        self.ingress[via] = before + bytes;
        let limit = self.switch.pfc_xoff_bytes;
        if before <= limit && before + bytes > limit {
            self.signal_pause(via as u32, true);
        }
    }

    fn pfc_left(&mut self, id: u32, bytes: u32) {
        let via = self.arena[id].via as usize;
        let before = self.ingress[via];
        self.ingress[via] = before - bytes;
        let limit = self.switch.pfc_xon_bytes;
        if before > limit && before - bytes <= limit {
            self.signal_pause(via as u32, false);
        }
    }

    fn signal_pause(&mut self, port: u32, on: bool) {
        self.metrics.pauses += u64::from(on);
        let at = self.now + self.ports[port as usize].delay;
        let event = Event::new(Kind::Pause, port << 1 | u32::from(on));
        self.calendar.push(at, event);
    }

    /// A pause (low bit set) or resume reaches a port.
    pub(crate) fn pause(&mut self, index: u32) {
        let at = index >> 1;
        let port = &mut self.ports[at as usize];
        port.paused = index & 1 != 0;
        if port.paused || port.pending {
            return;
        }
        port.pending = true;
        let when = port.busy_until.max(self.now);
        self.calendar.push(when, Event::new(Kind::Port, at));
    }

    /// A watched port's queue changed: compares it with its group.
    fn watch(&mut self, at: u32) {
        let group = self.port_group[at as usize];
        if group == u32::MAX {
            return;
        }
        let (mut least, mut most) = (u32::MAX, 0);
        for &p in &self.fabric.groups[group as usize] {
            let port = &self.ports[p as usize];
            if !port.up {
                continue;
            }
            let queued = port.queued(1);
            least = least.min(queued);
            most = most.max(queued);
        }
        self.recorder.compare(most.saturating_sub(least));
    }
}
