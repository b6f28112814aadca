//! Packets as compact records in one arena.

use crate::time::Ps;

/// No packet.
pub const NIL: u32 = u32::MAX;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Kind {
    /// Payload.
    #[default]
    Data,
    /// Capacity probe: no payload, no PSN.
    Probe,
    /// Acknowledgement of a data packet.
    Ack,
    /// Acknowledgement of a probe.
    ProbeAck,
    /// Refusal of a data packet.
    Nak,
}

/// Priority classes of a port, the highest first.
pub const CLASSES: usize = 3;

impl Kind {
    /// Priority class: ACKs, data, probes.
    #[inline]
    pub fn class(self) -> usize {
        match self {
            Kind::Ack | Kind::ProbeAck | Kind::Nak => 0,
            Kind::Data => 1,
            Kind::Probe => 2,
        }
    }
}

/// A packet: less than a cache line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When the sender's NIC let it go; ACKs echo it.
    pub sent: Ps,
    /// ACKs: when the packet they acknowledge was complete at the receiver.
    pub arrived: Ps,
    /// Next in a queue or in the free list.
    pub next: u32,
    /// Flow.
    pub flow: u32,
    /// Next entry of the route table.
    pub route: u32,
    /// PSN, 24 bits.
    pub psn: u32,
    /// ACKs: the receiver's next expected PSN.
    pub cumulative: u32,
    /// The port it went through last.
    pub via: u32,
    /// Bytes on the wire.
    pub bytes: u16,
    /// Logical path.
    pub path: u8,
    /// Kind.
    pub kind: Kind,
    /// Congestion experienced; ACKs echo it.
    pub ce: bool,
    /// Sent before.
    pub retransmission: bool,
}

/// All packets under way.
#[derive(Default)]
pub struct Arena {
    packets: Vec<Packet>,
    free: u32,
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self {
            packets: Vec::new(),
            free: NIL,
        }
    }

    /// Adds a packet. Freed records are used again, the last freed first: they are in the cache.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> u32 {
        if self.free == NIL {
            self.packets.push(packet);
            return self.packets.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.packets[id as usize].next;
        self.packets[id as usize] = packet;
        id
    }

    /// Removes a packet.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.packets[id as usize].next = self.free;
        self.free = id;
    }
}

impl std::ops::Index<u32> for Arena {
    type Output = Packet;
    #[inline]
    fn index(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Arena {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}
