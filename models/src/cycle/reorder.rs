//! The reorder buffer, clock by clock.

use super::drain::{Drain, Run};
use super::tracker::{Arrival, Judged};
use super::{OutputQueue, Timing, QUEUE_DEPTH};
use crate::reorder::{waiting_change, Buffer};
use crate::tracker::Verdict;

/// From a packet's last beat to its announcement; beats then flow one a clock.
pub const ANNOUNCE: Timing = Timing {
    latency_clocks: 2,
    initiation_interval: 1,
    own_flow_interval: 1,
};
/// From an in-order verdict to the first beat at the host, nothing being under way: queue of runs 2,
/// run 1, look up 3, queue of packets 2, read 3, queue to the host 2. A packet of `n` beats then
/// takes `n` clocks. One flow's packets come as the tracker judges them.
pub const DELIVER: Timing = Timing {
    latency_clocks: 13,
    initiation_interval: 1,
    own_flow_interval: super::tracker::TIMING.own_flow_interval,
};

/// 64 bytes, little-endian words.
pub type Beat = [u64; 8];

/// A beat from the network. What tells of the packet counts with its last beat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxBeat {
    /// Payload.
    pub data: Beat,
    /// Valid bytes.
    pub keep: u64,
    /// Last of the packet.
    pub last: bool,
    /// The packet is to be dropped.
    pub bad: bool,
    /// Flow.
    pub flow: u16,
    /// PSN.
    pub psn: u32,
    /// Path that the packet took.
    pub path: u8,
    /// Place in its message, 112 bits.
    pub place: u128,
    /// Its send timestamp, in ns.
    pub sent_ns: u32,
    /// When it was received, in ns.
    pub received_ns: u32,
}

/// A beat to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBeat {
    /// Payload.
    pub data: Beat,
    /// Valid bytes.
    pub keep: u64,
    /// Last of the packet.
    pub last: bool,
    /// Flow.
    pub flow: u16,
    /// PSN.
    pub psn: u32,
    /// The packet's place in its message.
    pub place: u128,
}

/// Bits of a [`Tag`].
pub const TAG_BITS: u32 = 77;

/// What travels with an arrival through the tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Slot of the packet, 9 bits.
    pub slot: u16,
    /// Path that the packet took, 4 bits.
    pub path: u8,
    /// Its send timestamp, in ns.
    pub sent_ns: u32,
    /// When it was received, in ns.
    pub received_ns: u32,
}

impl Tag {
    /// As a number, slot lowest.
    #[inline]
    pub fn pack(self) -> u128 {
        u128::from(self.slot)
            | u128::from(self.path) << 9
            | u128::from(self.sent_ns) << 13
            | u128::from(self.received_ns) << 45
    }

    /// Of a number.
    #[inline]
    pub fn unpack(tag: u128) -> Self {
        Self {
            slot: tag as u16 & 0x1ff,
            path: (tag >> 9) as u8 & 15,
            sent_ns: (tag >> 13) as u32,
            received_ns: (tag >> 45) as u32,
        }
    }
}

/// An acknowledgement that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Flow.
    pub flow: u16,
    /// PSN acknowledged.
    pub psn: u32,
    /// Next expected PSN.
    pub expected: u32,
    /// Which PSNs of the PSN's group of 64 have arrived.
    pub selective: u64,
    /// Path that the packet took.
    pub path: u8,
    /// The packet's send timestamp, in ns.
    pub sent_ns: u32,
    /// When it was received, in ns.
    pub received_ns: u32,
    /// Negative: the packet was dropped.
    pub nak: bool,
    /// The packet was new and is kept.
    pub accepted: bool,
    /// It had arrived before.
    pub duplicate: bool,
}

/// Inputs of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// Slots that may be in use before only the next expected packet gets in.
    pub limit: u32,
    /// Beat from the network.
    pub rx: Option<&'a RxBeat>,
    /// The tracker takes the arrival.
    pub arrival_ready: bool,
    /// The tracker's verdict; its arrival's tag is a [`Tag`].
    pub verdict: Option<Judged>,
    /// The host takes the beat.
    pub host_ready: bool,
    /// The acknowledgement is taken.
    pub ack_ready: bool,
}

/// Outputs of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The beat from the network is taken.
    pub rx_ready: bool,
    /// A packet was dropped because no slot was free; it ended in the clock before.
    pub no_buffer: bool,
    /// A complete packet.
    pub arrival: Option<Arrival>,
    /// The verdict is taken.
    pub verdict_ready: bool,
    /// Beat to the host.
    pub host: Option<HostBeat>,
    /// Acknowledgement.
    pub ack: Option<Ack>,
    /// Slots in use.
    pub occupied: u32,
    /// Most slots ever in use.
    pub high_water: u32,
    /// Packets that wait.
    pub waiting: u16,
    /// Packets dropped for their length.
    pub oversize: u16,
}

/// The memories.
#[derive(Clone, Debug)]
pub(super) struct Store {
    table_psns: usize,
    slot_beats: usize,
    table: Vec<u16>,
    beats: Vec<Beat>,
    last_beats: Vec<u16>,
    keeps: Vec<u64>,
    places: Vec<u128>,
}

impl Store {
    fn new(buffer: Buffer, window: usize, flows: usize) -> Self {
        Self {
            table_psns: buffer.table_psns(window),
            slot_beats: buffer.slot_beats(),
            table: vec![0; flows * buffer.table_psns(window)],
            beats: vec![[0; 8]; buffer.slots * buffer.slot_beats()],
            last_beats: vec![0; buffer.slots],
            keeps: vec![0; buffer.slots],
            places: vec![0; buffer.slots],
        }
    }

    fn table_index(&self, flow: u16, psn: u32) -> usize {
        usize::from(flow) * self.table_psns + (psn as usize & (self.table_psns - 1))
    }

    /// Slot of a packet.
    #[inline]
    pub fn slot_of(&self, flow: u16, psn: u32) -> u16 {
        self.table[self.table_index(flow, psn)]
    }

    /// A beat of the packet in `slot`.
    #[inline]
    pub fn beat(&self, slot: u16, beat: u16, flow: u16, psn: u32) -> HostBeat {
        let s = usize::from(slot);
        let last = beat == self.last_beats[s];
        HostBeat {
            data: self.beats[s * self.slot_beats + usize::from(beat)],
            keep: if last { self.keeps[s] } else { u64::MAX },
            last,
            flow,
            psn,
            place: self.places[s],
        }
    }
}

/// Cycle-accurate reorder buffer.
#[derive(Clone, Debug)]
pub struct Reorder {
    buffer: Buffer,
    store: Store,
    free: OutputQueue<u16>,
    filling: Option<u16>,
    in_use: u32,
    room: bool,
    slot: Option<u16>,
    beat: u16,
    inside: bool,
    discarding: bool,
    oversize: bool,
    no_buffer: bool,
    arrivals: OutputQueue<Arrival>,
    arrival_credits: u32,
    drain: Drain,
    acks: OutputQueue<Ack>,
    ack_credits: u32,
    high_water: u32,
    waiting_change: i32,
    waiting: u16,
    oversize_count: u16,
}

impl Reorder {
    /// As after reset, for windows of `window` PSNs.
    pub fn new(buffer: Buffer, window: usize, flows: usize) -> Self {
        let mut r = Self {
            buffer,
            store: Store::new(buffer, window, flows),
            free: OutputQueue::default(),
            filling: None,
            in_use: 0,
            room: false,
            slot: None,
            beat: 0,
            inside: false,
            discarding: false,
            oversize: false,
            no_buffer: false,
            arrivals: OutputQueue::default(),
            arrival_credits: 0,
            drain: Drain::default(),
            acks: OutputQueue::default(),
            ack_credits: 0,
            high_water: 0,
            waiting_change: 0,
            waiting: 0,
            oversize_count: 0,
        };
        r.reset();
        r
    }

    fn reset(&mut self) {
        self.free = OutputQueue::default();
        self.filling = Some(0);
        self.in_use = self.buffer.slots as u32;
        self.room = false;
        self.slot = None;
        self.beat = 0;
        self.inside = false;
        self.oversize = false;
        self.no_buffer = false;
        self.arrivals = OutputQueue::default();
        self.arrival_credits = QUEUE_DEPTH;
        self.drain = Drain::default();
        self.acks = OutputQueue::default();
        self.ack_credits = QUEUE_DEPTH;
        self.high_water = 0;
        self.waiting_change = 0;
        self.waiting = 0;
        self.oversize_count = 0;
    }

    /// Outputs of the present clock.
    #[inline]
    pub fn outputs(&self, i: &Inputs) -> Outputs {
        let accepted = i
            .verdict
            .is_some_and(|v| v.outcome.verdict == Verdict::Accepted);
        Outputs {
            rx_ready: self.arrival_credits > 0,
            no_buffer: self.no_buffer,
            arrival: self.arrivals.front().copied(),
            verdict_ready: self.ack_credits > 0 && (accepted || self.drain.freed().is_none()),
            host: self.drain.host().copied(),
            ack: self.acks.front().copied(),
            occupied: self.in_use,
            high_water: self.high_water,
            waiting: self.waiting,
            oversize: self.oversize_count,
        }
    }

    /// Returns the outputs of this clock and crosses its edge.
    #[inline]
    pub fn step(&mut self, i: &Inputs) -> Outputs {
        let out = self.outputs(i);
        if i.rst {
            self.reset();
            return out;
        }
        let freed = self.drain.freed();
        let room = self.room;
        self.room = self.buffer.has_room(self.in_use, i.limit);
        if self.filling.is_none() {
            self.high_water = self.high_water.max(self.in_use);
        }
        self.waiting = self.waiting.wrapping_add(self.waiting_change as u16);

        let judged = if out.verdict_ready { i.verdict } else { None };
        let (run, dropped, ack) = self.enter(judged);
        self.drain.clock(&self.store, run, i.host_ready);
        let (announced, free_ready) = self.ingest(i, &out, room);
        self.refill(freed.or(dropped), free_ready);

        let popped = self.arrivals.clock(i.arrival_ready, announced);
        self.arrival_credits =
            self.arrival_credits + u32::from(popped) - u32::from(announced.is_some());
        let popped = self.acks.clock(i.ack_ready, ack);
        self.ack_credits = self.ack_credits + u32::from(popped) - u32::from(ack.is_some());
        out
    }

    /// Acts on a verdict: the run that became complete, the slot that is free, the ACK.
    fn enter(&mut self, judged: Option<Judged>) -> (Option<Run>, Option<u16>, Option<Ack>) {
        self.waiting_change = 0;
        let Some(j) = judged else {
            return (None, None, None);
        };
        let (a, o, tag) = (j.arrival, j.outcome, Tag::unpack(j.arrival.tag));
        let accepted = o.verdict == Verdict::Accepted;
        let ack = Ack {
            flow: a.flow,
            psn: a.psn,
            expected: o.expected.value(),
            selective: o.arrived,
            path: tag.path,
            sent_ns: tag.sent_ns,
            received_ns: tag.received_ns,
            nak: matches!(o.verdict, Verdict::Full | Verdict::Beyond),
            accepted,
            duplicate: o.verdict == Verdict::Duplicate,
        };
        if !accepted {
            return (None, Some(tag.slot), Some(ack));
        }
        let at = self.store.table_index(a.flow, a.psn);
        self.store.table[at] = tag.slot;
        self.waiting_change = waiting_change(o.advance);
        let run = (o.advance > 0).then_some(Run {
            flow: a.flow,
            psn: a.psn,
            count: o.advance,
        });
        (run, None, Some(ack))
    }

    /// Takes a beat; returns the packet it completes and whether a slot is wanted.
    fn ingest(&mut self, i: &Inputs, out: &Outputs, room: bool) -> (Option<Arrival>, bool) {
        self.no_buffer = false;
        let mut announced = None;
        if let (true, Some(beat)) = (out.rx_ready, i.rx) {
            if !self.inside {
                self.discarding = self.slot.is_none() || self.filling.is_some();
            }
            match self.slot {
                Some(slot) if !self.discarding => announced = self.store_beat(beat, slot, room),
                _ => self.no_buffer = beat.last && !beat.bad,
            }
            let at_end = usize::from(self.beat) == self.buffer.slot_beats() - 1;
            self.oversize = !beat.last && (self.oversize || at_end);
            self.beat = if beat.last || at_end {
                0
            } else {
                self.beat + 1
            };
            self.inside = !beat.last;
        }
        (announced, self.slot.is_none() || announced.is_some())
    }

    /// Stores a beat in the packet's slot; returns the packet if it is complete and to be kept.
    fn store_beat(&mut self, beat: &RxBeat, slot: u16, room: bool) -> Option<Arrival> {
        let s = usize::from(slot);
        if !self.oversize {
            self.store.beats[s * self.store.slot_beats + usize::from(self.beat)] = beat.data;
        }
        if !beat.last || beat.bad {
            return None;
        }
        if self.oversize {
            self.oversize_count = self.oversize_count.wrapping_add(1);
            return None;
        }
        self.store.last_beats[s] = self.beat;
        self.store.keeps[s] = beat.keep;
        self.store.places[s] = beat.place;
        let tag = Tag {
            slot,
            path: beat.path,
            sent_ns: beat.sent_ns,
            received_ns: beat.received_ns,
        };
        Some(Arrival {
            flow: beat.flow,
            psn: beat.psn,
            room,
            tag: tag.pack(),
        })
    }

    /// Free list and the slot for the next packet.
    fn refill(&mut self, freed: Option<u16>, wanted: bool) {
        let pushed = self.filling.or(freed);
        self.filling = self
            .filling
            .map(|n| n + 1)
            .filter(|&n| usize::from(n) < self.buffer.slots);
        let offered = self.free.front().copied();
        let taken = self.free.clock(wanted, pushed);
        if wanted {
            self.slot = if taken { offered } else { None };
        }
        self.in_use = self.in_use + u32::from(taken) - u32::from(pushed.is_some());
    }
}
