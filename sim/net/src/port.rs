//! Output ports: three strict-priority queues, and the wire behind them.

use crate::fabric::{ps_per_byte, Node, PortSpec};
use crate::packet::{Arena, CLASSES, NIL};
use crate::time::Ps;

/// A queue of packets, linked through the arena.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
    bytes: u32,
}

/// An output port.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// The wire is busy until then.
    pub busy_until: Ps,
    /// Propagation delay of the wire.
    pub delay: Ps,
    ps_per_byte: u64,
    queues: [Queue; CLASSES],
    /// A port event is pending.
    pub pending: bool,
    /// A pause holds data and probes.
    pub paused: bool,
    /// It carries packets.
    pub up: bool,
    /// Somebody wants to see what it does: monitor, capture, group.
    pub watched: bool,
    /// Of a host.
    pub is_host: bool,
    /// Switch, or host.
    pub owner: u32,
    /// What it leads to.
    pub to: Node,
    /// Lost at random on the wire, out of 2^32.
    pub loss: u32,
    /// ECN thresholds of the data queue, bytes; `u32::MAX` for none.
    pub ecn_min: u32,
    /// Marked with certainty from here on, bytes.
    pub ecn_max: u32,
    /// Data and probe bytes sent.
    pub sent_bytes: u64,
    /// Payload-carrying bytes sent.
    pub data_bytes: u64,
    /// Most bytes of data that waited since the last sample.
    pub peak_bytes: u32,
    /// Most bytes of data that waited.
    pub longest_bytes: u32,
}

impl Port {
    /// As `spec` says, idle.
    pub fn new(spec: &PortSpec) -> Self {
        let (is_host, owner) = match spec.from {
            Node::Host(h) => (true, h),
            Node::Switch(s) => (false, s),
        };
        let empty = Queue {
            head: NIL,
            tail: NIL,
            bytes: 0,
        };
        Self {
            busy_until: 0,
            delay: spec.delay,
            ps_per_byte: ps_per_byte(spec.gbps),
            queues: [empty; CLASSES],
            pending: false,
            paused: false,
            up: spec.up,
            watched: false,
            is_host,
            owner,
            to: spec.to,
            loss: 0,
            ecn_min: u32::MAX,
            ecn_max: u32::MAX,
            sent_bytes: 0,
            data_bytes: 0,
            peak_bytes: 0,
            longest_bytes: 0,
        }
    }

    /// Changes the rate; a packet on the wire keeps the old one.
    pub fn set_rate(&mut self, gbps: f64) {
        self.ps_per_byte = ps_per_byte(gbps);
    }

    /// Time of `bytes` on the wire.
    #[inline]
    pub fn serialisation(&self, bytes: u16) -> Ps {
        (u64::from(bytes) * self.ps_per_byte) >> 16
    }

    /// Bytes that wait in `class`.
    #[inline]
    pub fn queued(&self, class: usize) -> u32 {
        self.queues[class].bytes
    }

    /// Nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(|q| q.head == NIL)
    }

    /// Puts packet `id` at the end of `class`.
    #[inline]
    pub fn push(&mut self, arena: &mut Arena, id: u32, class: usize) {
        let bytes = u32::from(arena[id].bytes);
        arena[id].next = NIL;
        let queue = &mut self.queues[class];
        if queue.head == NIL {
            queue.head = id;
        } else {
            arena[queue.tail].next = id;
        }
        queue.tail = id;
        queue.bytes += bytes;
        if class == 1 {
            self.peak_bytes = self.peak_bytes.max(queue.bytes);
            self.longest_bytes = self.longest_bytes.max(queue.bytes);
        }
    }

    /// Takes the first packet of the highest class that may go.
    #[inline]
    pub fn pop(&mut self, arena: &Arena) -> Option<u32> {
        // A pause holds what a receiver can be flooded with: data and probes.
        let classes = if self.paused { 1 } else { CLASSES };
        for queue in &mut self.queues[..classes] {
            let id = queue.head;
            if id != NIL {
                queue.head = arena[id].next;
                queue.bytes -= u32::from(arena[id].bytes);
                return Some(id);
            }
        }
        None
    }
}
