//! What hosts do: arbitrate flows at line rate, receive, acknowledge.

use crate::calendar::{Event, Kind};
use crate::metrics::Drop;
use crate::packet::{Kind as PacketKind, Packet};
use crate::simulation::Simulation;
use crate::time::NEVER;
use crate::transport::{Ack, Poll};
use std::collections::VecDeque;

/// A host's NIC.
#[derive(Debug, Default)]
pub struct Host {
    /// Flows that may have something to send, in turn.
    pub(crate) ready: VecDeque<u32>,
    /// Flows that send.
    pub(crate) sending: u32,
    /// Bytes in the reorder buffer.
    pub(crate) buffered: u64,
    /// Sum of the out-of-order degrees of the flows that end here.
    pub(crate) ood: u32,
    /// Largest of it since the last sample.
    pub(crate) peak_ood: u32,
    /// Arrivals are kept for somebody outside, who also sends.
    pub(crate) outbox: Option<VecDeque<(crate::time::Ps, Packet)>>,
}

impl Simulation {
    /// Something may be sendable at `host`: serves its port now, or when it is free.
    #[inline]
    pub(crate) fn kick(&mut self, host: u32) {
        let at = self.fabric.host_port[host as usize];
        let port = &mut self.ports[at as usize];
        if port.pending {
            return;
        }
        if port.busy_until <= self.now {
            self.serve(host);
        } else {
            port.pending = true;
            let when = port.busy_until;
            self.calendar.push(when, Event::new(Kind::Port, at));
        }
    }

    /// Sends one packet from `host`, whose port is free: ACKs first, then flows in turn.
    #[inline]
    pub(crate) fn serve(&mut self, host: u32) {
        let at = self.fabric.host_port[host as usize];
        let port = &mut self.ports[at as usize];
        if port.busy_until > self.now || !port.up {
            return;
        }
        let id = match port.pop(&self.arena) {
            Some(id) => Some(id),
            None if port.paused => None,
            None => self.next_from_flows(host),
        };
        let Some(id) = id else { return };
        self.transmit(at, id);
        let more = !self.hosts[host as usize].ready.is_empty();
        let port = &mut self.ports[at as usize];
        if (more || !port.is_empty()) && !port.pending {
            port.pending = true;
            let when = port.busy_until;
            self.calendar.push(when, Event::new(Kind::Port, at));
        }
    }

    /// Asks the ready flows in turn; one that has nothing leaves the ring.
    #[inline]
    fn next_from_flows(&mut self, host: u32) -> Option<u32> {
        while let Some(&index) = self.hosts[host as usize].ready.front() {
            let flow = &mut self.flows[index as usize];
            let answer = match &mut flow.sender {
                Some(sender) => sender.poll(self.now),
                None => Poll::Blocked,
            };
            let ready = &mut self.hosts[host as usize].ready;
            match answer {
                Poll::Send(out) => {
                    if let (Some(trace), PacketKind::Data) = (&mut self.trace, out.kind) {
                        trace.push((out.psn, out.path));
                    }
                    ready.rotate_left(1);
                    let route =
                        flow.first_hop(&self.paths, out.path, self.fabric.leaf[host as usize]);
                    return Some(self.arena.add(Packet {
                        sent: self.now,
                        flow: index,
                        route,
                        psn: out.psn,
                        bytes: out.bytes,
                        path: out.path,
                        kind: out.kind,
                        retransmission: out.retransmission,
                        ..Packet::default()
                    }));
                }
                Poll::WaitUntil(at) => {
                    ready.pop_front();
                    flow.ready = false;
                    if at < flow.pace_at || flow.pace_at <= self.now {
                        flow.pace_at = at;
                        self.calendar.push(at, Event::new(Kind::Pace, index));
                    }
                }
                Poll::Blocked => {
                    ready.pop_front();
                    flow.ready = false;
                }
            }
        }
        None
    }

    /// Flow `index` may have something to send.
    #[inline]
    pub(crate) fn make_ready(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let host = flow.plan.src;
        if !flow.ready {
            flow.ready = true;
            self.hosts[host as usize].ready.push_back(index);
        }
        self.kick(host);
    }

    /// A flow's pacer is due.
    pub(crate) fn pace(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        if flow.pace_at == self.now {
            flow.pace_at = NEVER;
            self.make_ready(index);
        }
    }

    /// Packet `id` is complete at `host`.
    #[inline]
    pub(crate) fn deliver(&mut self, host: u32, id: u32) {
        if let Some(outbox) = &mut self.hosts[host as usize].outbox {
            outbox.push_back((self.now, self.arena[id]));
            self.arena.remove(id);
            return;
        }
        match self.arena[id].kind {
            PacketKind::Data => self.receive_data(host, id),
            PacketKind::Probe => self.reply(host, id, PacketKind::ProbeAck, 0),
            _ => self.receive_ack(id),
        }
    }

    #[inline]
    fn receive_data(&mut self, host: u32, id: u32) {
        let packet = self.arena[id];
        let payload = u64::from(packet.bytes.saturating_sub(self.packet.header_bytes));
        let h = &mut self.hosts[host as usize];
        let room = h.buffered + payload <= self.nic.reorder_bytes;
        let flow = &mut self.flows[packet.flow as usize];
        let Some(receiver) = &mut flow.receiver else {
            // The flow is delivered: a late copy.
            self.metrics.duplicate(packet.retransmission);
            flow.spurious += u64::from(packet.retransmission);
            let expected = flow.end_psn;
            return self.reply(host, id, PacketKind::Ack, expected);
        };
        let a = receiver.on_data(&packet, room);
        if a.duplicate {
            self.metrics.duplicate(packet.retransmission);
            flow.spurious += u64::from(packet.retransmission);
        }
        h.ood = h.ood + a.ood - flow.ood;
        h.peak_ood = h.peak_ood.max(h.ood);
        let full = u64::from(self.packet.payload_bytes);
        h.buffered = h.buffered + u64::from(a.waiting) * full - u64::from(flow.waiting) * full;
        (flow.ood, flow.waiting) = (a.ood, a.waiting);
        if a.reply == PacketKind::Nak && !a.accepted && !a.duplicate {
            self.metrics.dropped(Drop::ReorderBuffer, packet.kind);
        }
        self.metrics.arrival(a.ood, h.ood, a.waiting, h.buffered);
        if a.accepted {
            self.metrics.accepted(self.now, payload);
            flow.arrived_bytes += payload;
            flow.in_order += u64::from(a.advance);
        }
        self.reply(host, id, a.reply, a.expected);
        let flow = &self.flows[packet.flow as usize];
        if a.accepted && flow.in_order == flow.packets {
            self.delivered(packet.flow);
        }
    }

    /// Turns packet `id` into its own acknowledgement and sends it back.
    #[inline]
    fn reply(&mut self, host: u32, id: u32, kind: PacketKind, expected: u32) {
        let packet = &mut self.arena[id];
        packet.kind = kind;
        packet.arrived = self.now;
        packet.cumulative = expected;
        packet.bytes = self.packet.ack_bytes;
        let flow = &self.flows[packet.flow as usize];
        packet.route = flow.way_back(&self.paths, packet.path, self.fabric.leaf[host as usize]);
        let at = self.fabric.host_port[host as usize];
        self.ports[at as usize].push(&mut self.arena, id, kind.class());
        self.kick(host);
    }

    #[inline]
    fn receive_ack(&mut self, id: u32) {
        let p = self.arena[id];
        self.arena.remove(id);
        let flow = &mut self.flows[p.flow as usize];
        let Some(sender) = &mut flow.sender else {
            return;
        };
        let ack = Ack {
            kind: p.kind,
            psn: p.psn,
            cumulative: p.cumulative,
            path: p.path,
            sent: p.sent,
            arrived: p.arrived,
            ce: p.ce,
            retransmission: p.retransmission,
        };
        if sender.on_ack(self.now, &ack) {
            if sender.is_done() {
                self.close(p.flow);
            } else {
                self.make_ready(p.flow);
            }
        }
    }
}
