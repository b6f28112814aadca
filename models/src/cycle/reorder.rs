//! The reorder buffer, clock by clock.

use super::tracker::{Arrival, Judged};
use super::{OutputQueue, Timing, QUEUE_DEPTH};
use crate::reorder::{has_room, table_psns, waiting_change, SLOTS, SLOT_BEATS};
use crate::tracker::Verdict;

/// From a packet's last beat to its announcement; beats then flow one a clock.
pub const ANNOUNCE: Timing = Timing {
    latency_clocks: 2,
    initiation_interval: 1,
    own_flow_interval: 1,
};
/// From an in-order verdict to the first beat at the host, the drain being idle. A packet of `n`
/// beats occupies the drain for `n + 2` clocks, the last of a run for one more: 4 clocks for one
/// beat. One flow's packets come as the tracker judges them.
pub const DELIVER: Timing = Timing {
    latency_clocks: 5,
    initiation_interval: 4,
    own_flow_interval: super::tracker::TIMING.own_flow_interval,
};

/// 64 bytes, little-endian words.
pub type Beat = [u64; 8];

/// A beat from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxBeat {
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
    /// Path that the packet took; 0 in a beat to the host.
    pub path: u8,
}

/// A beat to the host.
pub type HostBeat = RxBeat;

/// An acknowledgement that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Flow.
    pub flow: u16,
    /// PSN acknowledged.
    pub psn: u32,
    /// Next expected PSN.
    pub expected: u32,
    /// Path that the packet took.
    pub path: u8,
    /// Negative: the packet was dropped.
    pub nak: bool,
    /// The packet was new and is kept.
    pub accepted: bool,
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
    /// The tracker's verdict; its arrival's tag is the slot, and from bit 8 on the path.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drain {
    Idle,
    Lookup,
    Fetch,
    Deliver,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    flow: u16,
    psn: u32,
    count: u16,
}

/// Cycle-accurate reorder buffer.
#[derive(Clone, Debug)]
pub struct Reorder {
    table_psns: usize,
    beats: Vec<Beat>,
    lengths: Vec<u8>,
    keeps: Vec<u64>,
    table: Vec<u8>,
    free: OutputQueue<u8>,
    filling: Option<u8>,
    in_use: u32,
    room: bool,
    slot: Option<u8>,
    beat: u8,
    oversize: bool,
    arrivals: OutputQueue<Arrival>,
    arrival_credits: u32,
    runs: OutputQueue<Run>,
    state: Drain,
    run: Run,
    drain_slot: u8,
    drain_beat: u8,
    acks: OutputQueue<Ack>,
    ack_credits: u32,
    high_water: u32,
    waiting_change: i32,
    waiting: u16,
    oversize_count: u16,
}

impl Reorder {
    /// As after reset, for windows of `window` PSNs.
    pub fn new(window: usize, flows: usize) -> Self {
        let mut r = Self {
            table_psns: table_psns(window),
            beats: vec![[0; 8]; SLOTS * SLOT_BEATS],
            lengths: vec![0; SLOTS],
            keeps: vec![0; SLOTS],
            table: vec![0; flows * table_psns(window)],
            free: OutputQueue::default(),
            filling: None,
            in_use: 0,
            room: false,
            slot: None,
            beat: 0,
            oversize: false,
            arrivals: OutputQueue::default(),
            arrival_credits: 0,
            runs: OutputQueue::default(),
            state: Drain::Idle,
            run: Run {
                flow: 0,
                psn: 0,
                count: 0,
            },
            drain_slot: 0,
            drain_beat: 0,
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
        self.in_use = SLOTS as u32;
        self.room = false;
        self.slot = None;
        self.beat = 0;
        self.oversize = false;
        self.arrivals = OutputQueue::default();
        self.arrival_credits = QUEUE_DEPTH;
        self.runs = OutputQueue::default();
        self.state = Drain::Idle;
        self.acks = OutputQueue::default();
        self.ack_credits = QUEUE_DEPTH;
        self.high_water = 0;
        self.waiting_change = 0;
        self.waiting = 0;
        self.oversize_count = 0;
    }

    fn table_index(&self, flow: u16, psn: u32) -> usize {
        usize::from(flow) * self.table_psns + (psn as usize & (self.table_psns - 1))
    }

    /// The drain's last beat goes out in this clock and frees its slot.
    #[inline]
    fn frees(&self, host_ready: bool) -> bool {
        self.state == Drain::Deliver
            && host_ready
            && self.drain_beat == self.lengths[usize::from(self.drain_slot)]
    }

    /// Outputs of the present clock.
    #[inline]
    pub fn outputs(&self, i: &Inputs) -> Outputs {
        let accepted = i
            .verdict
            .is_some_and(|v| v.outcome.verdict == Verdict::Accepted);
        Outputs {
            rx_ready: self.slot.is_some() && self.arrival_credits > 0 && self.filling.is_none(),
            arrival: self.arrivals.front().copied(),
            verdict_ready: self.ack_credits > 0 && (accepted || !self.frees(i.host_ready)),
            host: self.delivering(),
            ack: self.acks.front().copied(),
            occupied: self.in_use,
            high_water: self.high_water,
            waiting: self.waiting,
            oversize: self.oversize_count,
        }
    }

    fn delivering(&self) -> Option<HostBeat> {
        if self.state != Drain::Deliver {
            return None;
        }
        let slot = usize::from(self.drain_slot);
        let last = self.drain_beat == self.lengths[slot];
        Some(HostBeat {
            data: self.beats[slot * SLOT_BEATS + usize::from(self.drain_beat)],
            keep: if last { self.keeps[slot] } else { u64::MAX },
            last,
            flow: self.run.flow,
            psn: self.run.psn,
            path: 0,
        })
    }

    /// Returns the outputs of this clock and crosses its edge.
    #[inline]
    pub fn step(&mut self, i: &Inputs) -> Outputs {
        let out = self.outputs(i);
        if i.rst {
            self.reset();
            return out;
        }
        let freed = self.frees(i.host_ready).then_some(self.drain_slot);
        let room = self.room;
        self.room = has_room(self.in_use, i.limit);
        if self.filling.is_none() {
            self.high_water = self.high_water.max(self.in_use);
        }
        self.waiting = self.waiting.wrapping_add(self.waiting_change as u16);

        let judged = if out.verdict_ready { i.verdict } else { None };
        let (run, dropped, ack) = self.enter(judged);
        self.drain(i.host_ready, run);
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
    fn enter(&mut self, judged: Option<Judged>) -> (Option<Run>, Option<u8>, Option<Ack>) {
        self.waiting_change = 0;
        let Some(j) = judged else {
            return (None, None, None);
        };
        let (a, o) = (j.arrival, j.outcome);
        let accepted = o.verdict == Verdict::Accepted;
        let ack = Ack {
            flow: a.flow,
            psn: a.psn,
            expected: o.expected.value(),
            path: (a.tag >> 8) as u8,
            nak: matches!(o.verdict, Verdict::Full | Verdict::Beyond),
            accepted,
        };
        if !accepted {
            return (None, Some(a.tag as u8), Some(ack));
        }
        let at = self.table_index(a.flow, a.psn);
        self.table[at] = a.tag as u8;
        self.waiting_change = waiting_change(o.advance);
        let run = (o.advance > 0).then_some(Run {
            flow: a.flow,
            psn: a.psn,
            count: o.advance,
        });
        (run, None, Some(ack))
    }

    fn drain(&mut self, host_ready: bool, new_run: Option<Run>) {
        let idle = self.state == Drain::Idle;
        let next = self.runs.front().copied();
        self.runs.clock(idle, new_run);
        match self.state {
            Drain::Idle => {
                if let Some(run) = next {
                    self.run = run;
                    self.state = Drain::Lookup;
                }
            }
            Drain::Lookup => self.state = Drain::Fetch,
            Drain::Fetch => {
                self.drain_slot = self.table[self.table_index(self.run.flow, self.run.psn)];
                self.drain_beat = 0;
                self.state = Drain::Deliver;
            }
            Drain::Deliver if host_ready => {
                if self.drain_beat == self.lengths[usize::from(self.drain_slot)] {
                    self.run.psn = (self.run.psn + 1) & 0xff_ffff;
                    self.run.count -= 1;
                    self.state = if self.run.count == 0 {
                        Drain::Idle
                    } else {
                        Drain::Lookup
                    };
                }
                self.drain_beat = (self.drain_beat + 1) % SLOT_BEATS as u8;
            }
            Drain::Deliver => {}
        }
    }

    /// Stores a beat; returns the packet it completes and whether a slot is wanted.
    fn ingest(&mut self, i: &Inputs, out: &Outputs, room: bool) -> (Option<Arrival>, bool) {
        let mut announced = None;
        if let (true, Some(beat), Some(slot)) = (out.rx_ready, i.rx, self.slot) {
            let s = usize::from(slot);
            if !self.oversize {
                self.beats[s * SLOT_BEATS + usize::from(self.beat)] = beat.data;
            }
            if beat.last {
                if self.oversize {
                    self.oversize_count = self.oversize_count.wrapping_add(1);
                } else {
                    self.lengths[s] = self.beat;
                    self.keeps[s] = beat.keep;
                    announced = Some(Arrival {
                        flow: beat.flow,
                        psn: beat.psn,
                        room,
                        tag: u16::from(beat.path) << 8 | u16::from(slot),
                    });
                }
                self.beat = 0;
                self.oversize = false;
            } else {
                self.oversize |= usize::from(self.beat) == SLOT_BEATS - 1;
                self.beat = (self.beat + 1) % SLOT_BEATS as u8;
            }
        }
        (announced, self.slot.is_none() || announced.is_some())
    }

    /// Free list and the slot for the next packet.
    fn refill(&mut self, freed: Option<u8>, wanted: bool) {
        let pushed = self.filling.or(freed);
        self.filling = self.filling.and_then(|n| n.checked_add(1));
        let offered = self.free.front().copied();
        let taken = self.free.clock(wanted, pushed);
        if wanted {
            self.slot = if taken { offered } else { None };
        }
        self.in_use = self.in_use + u32::from(taken) - u32::from(pushed.is_some());
    }
}
