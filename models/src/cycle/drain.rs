//! The reorder buffer's way out, clock by clock: runs, lookups, reads, the queue to the host.

use super::reorder::{HostBeat, Store};
use super::{OutputQueue, Pipe, QUEUE_DEPTH};

/// Clocks from a lookup to the packet's push into the queue of looked-up packets.
pub(super) const LOOKUP: usize = 3;
/// Clocks from reading a beat to its push into the host queue.
pub(super) const READ: usize = 3;

/// Packets of one flow that are in order now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub flow: u16,
    pub psn: u32,
    pub count: u16,
}

/// A packet whose slot is known.
#[derive(Clone, Copy, Debug)]
struct Found {
    flow: u16,
    psn: u32,
    slot: u16,
}

/// What delivers runs. A slot keeps its packet until its last beat is read, so that everything may
/// be read here when the RTL begins to.
#[derive(Clone, Debug)]
pub(super) struct Drain {
    runs: OutputQueue<Run>,
    run: Option<Run>,
    lookup_credits: u32,
    lookups: Pipe<Found, LOOKUP>,
    found: OutputQueue<Found>,
    beat: u16,
    credits: u32,
    reads: Pipe<HostBeat, READ>,
    freeing: Option<u16>,
    host: OutputQueue<HostBeat>,
}

impl Default for Drain {
    fn default() -> Self {
        Self {
            runs: OutputQueue::default(),
            run: None,
            lookup_credits: QUEUE_DEPTH,
            lookups: Pipe::default(),
            found: OutputQueue::default(),
            beat: 0,
            credits: QUEUE_DEPTH,
            reads: Pipe::default(),
            freeing: None,
            host: OutputQueue::default(),
        }
    }
}

impl Drain {
    /// The slot that is freed in this clock.
    #[inline]
    pub fn freed(&self) -> Option<u16> {
        self.freeing
    }

    /// The beat to the host.
    #[inline]
    pub fn host(&self) -> Option<&HostBeat> {
        self.host.front()
    }

    /// Crosses the clock edge; `run` became complete in this clock.
    #[inline]
    pub fn clock(&mut self, store: &Store, run: Option<Run>, host_ready: bool) {
        let looked_up = self.look_up(store, run);
        let (beat, ends) = self.read(store);

        let found = self.lookups.clock(looked_up);
        let left = self.found.clock(ends, found);
        self.lookup_credits =
            self.lookup_credits + u32::from(left) - u32::from(looked_up.is_some());
        let arrived = self.reads.clock(beat);
        let taken = self.host.clock(host_ready, arrived);
        self.credits = self.credits + u32::from(taken) - u32::from(beat.is_some());
    }

    /// Looks up the next packet of the run, or takes the next run.
    fn look_up(&mut self, store: &Store, new_run: Option<Run>) -> Option<Found> {
        let current = self.run.filter(|_| self.lookup_credits > 0);
        let ends = current.is_some_and(|r| r.count == 1);
        let wants_run = self.run.is_none() || ends;
        let next = self.runs.front().copied();
        self.runs.clock(wants_run, new_run);
        if wants_run {
            self.run = next;
        } else if let (Some(r), Some(_)) = (&mut self.run, current) {
            r.psn = (r.psn + 1) & 0xff_ffff;
            r.count -= 1;
        }
        current.map(|r| Found {
            flow: r.flow,
            psn: r.psn,
            slot: store.slot_of(r.flow, r.psn),
        })
    }

    /// Reads the next beat of the packet in front; says whether it is the packet's last.
    fn read(&mut self, store: &Store) -> (Option<HostBeat>, bool) {
        self.freeing = None;
        let Some(&p) = self.found.front().filter(|_| self.credits > 0) else {
            return (None, false);
        };
        let beat = store.beat(p.slot, self.beat, p.flow, p.psn);
        self.beat = if beat.last { 0 } else { self.beat + 1 };
        self.freeing = beat.last.then_some(p.slot);
        (Some(beat), beat.last)
    }
}
