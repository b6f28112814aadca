//! What every pipeline has at its doors: issue gate, output queue, init sweep.

use std::collections::VecDeque;

/// Words in an output queue, and requests that may be on their way.
pub const QUEUE_DEPTH: u32 = 32;
/// Clocks from accepting an `open` to the sweep's first write.
pub const DRAIN_CLOCKS: u32 = 31;

/// Issues a waiting request when its result has room and its flow is not too recent.
#[derive(Clone, Debug)]
pub struct Gate<const K: usize> {
    credits: u32,
    recent: [Option<u16>; K],
}

impl<const K: usize> Default for Gate<K> {
    fn default() -> Self {
        Self {
            credits: QUEUE_DEPTH,
            recent: [None; K],
        }
    }
}

impl<const K: usize> Gate<K> {
    /// Whether a request of `flow` would be issued in this clock.
    #[inline]
    pub fn admits(&self, flow: u16) -> bool {
        self.credits > 0 && !self.recent.contains(&Some(flow))
    }

    /// Crosses the clock edge.
    #[inline]
    pub fn clock(&mut self, issued: Option<u16>, popped: bool) {
        self.recent.rotate_right(1);
        self.recent[0] = issued;
        self.credits = self.credits + u32::from(popped) - u32::from(issued.is_some());
    }
}

/// A value a clock, `N` clocks late.
#[derive(Clone, Debug)]
pub struct Pipe<T, const N: usize> {
    ring: [Option<T>; N],
    at: usize,
}

impl<T: Copy, const N: usize> Default for Pipe<T, N> {
    fn default() -> Self {
        Self {
            ring: [None; N],
            at: 0,
        }
    }
}

impl<T: Copy, const N: usize> Pipe<T, N> {
    /// Crosses the clock edge: takes what enters, returns what entered `N` clocks ago.
    #[inline]
    pub fn clock(&mut self, entering: Option<T>) -> Option<T> {
        let leaving = std::mem::replace(&mut self.ring[self.at], entering);
        self.at = (self.at + 1) % N;
        leaving
    }
}

/// First-in first-out queue whose words are valid two clocks after they are pushed.
#[derive(Clone, Debug)]
pub struct OutputQueue<T> {
    words: VecDeque<T>,
    valid: bool,
}

impl<T> Default for OutputQueue<T> {
    fn default() -> Self {
        Self {
            words: VecDeque::with_capacity(QUEUE_DEPTH as usize),
            valid: false,
        }
    }
}

impl<T> OutputQueue<T> {
    /// The word at the output.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.valid {
            self.words.front()
        } else {
            None
        }
    }

    /// Crosses the clock edge; returns whether a word left.
    #[inline]
    pub fn clock(&mut self, ready: bool, push: Option<T>) -> bool {
        let popped = self.valid && ready;
        if popped {
            self.words.pop_front();
        }
        self.valid = !self.words.is_empty();
        self.words.extend(push);
        popped
    }
}

/// Initialises all flows after reset, one flow after an `open`.
#[derive(Clone, Debug)]
pub struct Sweep {
    flows: u16,
    subs: u16,
    running: bool,
    single: bool,
    drain: u32,
    flow: u16,
    sub: u16,
    psn: u32,
}

impl Sweep {
    /// As after reset.
    pub fn new(flows: usize, subs: usize) -> Self {
        Self {
            flows: flows as u16,
            subs: subs as u16,
            running: true,
            single: false,
            drain: DRAIN_CLOCKS,
            flow: 0,
            sub: 0,
            psn: 0,
        }
    }

    /// The block takes no request.
    #[inline]
    pub fn busy(&self) -> bool {
        self.running
    }

    /// Crosses the clock edge; returns the flow whose state is complete now, and its first PSN.
    #[inline]
    pub fn clock(&mut self, open: Option<(u16, u32)>) -> Option<(u16, u32)> {
        if !self.running {
            if let Some((flow, psn)) = open {
                self.running = true;
                self.single = true;
                self.drain = DRAIN_CLOCKS;
                self.flow = flow;
                self.sub = 0;
                self.psn = psn;
            }
            return None;
        }
        if self.drain > 0 {
            self.drain -= 1;
            return None;
        }
        self.sub += 1;
        if self.sub < self.subs {
            return None;
        }
        self.sub = 0;
        let done = self.flow;
        self.flow += 1;
        if self.single || done + 1 == self.flows {
            self.running = false;
        }
        Some((done, self.psn))
    }
}
