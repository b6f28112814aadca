//! The event queue: a calendar of narrow buckets.
//!
//! A packet-level simulation has one pending event a packet on a wire, almost all of them within
//! two link delays from now, so a calendar whose year spans a few microseconds takes nearly every
//! event in constant time. Events of a bucket are a linked list through one arena; they are sorted
//! when the bucket's turn comes. What lies beyond the year waits in a heap.
//!
//! Order: by time, and of one time in order of insertion. (An event that waited in the heap comes
//! after those of its time that did not; that, too, does not depend on the machine.)

use crate::time::Ps;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Buckets are `2^BUCKET_BITS` ps wide.
const BUCKET_BITS: u32 = 8;
/// Buckets of the year.
const BUCKETS: usize = 1 << 15;
const NIL: u32 = u32::MAX;

/// What happens; a kind in the upper four bits and an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(u32);

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet has reached the next node of its route.
    Arrive,
    /// An output port is free.
    Port,
    /// A flow's timer.
    Timer,
    /// A flow's pacer.
    Pace,
    /// A flow starts.
    Start,
    /// A change that the scenario asks for.
    Change,
    /// Samples are due.
    Sample,
    /// A pause or resume reaches a port.
    Pause,
    /// A trigger counts one more completion.
    Trigger,
}

const KINDS: [Kind; 9] = [
    Kind::Arrive,
    Kind::Port,
    Kind::Timer,
    Kind::Pace,
    Kind::Start,
    Kind::Change,
    Kind::Sample,
    Kind::Pause,
    Kind::Trigger,
];

impl Event {
    /// An event of `kind` about number `index`, below 2^28.
    #[inline]
    pub fn new(kind: Kind, index: u32) -> Self {
        Self((kind as u32) << 28 | index)
    }

    /// Its kind.
    #[inline]
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> 28) as usize]
    }

    /// Its index.
    #[inline]
    pub fn index(self) -> u32 {
        self.0 & ((1 << 28) - 1)
    }
}

#[derive(Clone, Copy)]
struct Node {
    at: Ps,
    event: Event,
    next: u32,
}

/// An event of the bucket whose turn it is.
#[derive(Clone, Copy)]
struct Due {
    at: Ps,
    event: Event,
    order: u32,
}

/// The calendar.
pub struct Calendar {
    heads: Vec<u32>,
    /// A bit a bucket: it has events.
    occupied: Vec<u64>,
    nodes: Vec<Node>,
    free: u32,
    /// Events of the present bucket, the next one last.
    due: Vec<Due>,
    bucket: u64,
    far: BinaryHeap<Reverse<(Ps, u64, Event)>>,
    inserted: u64,
    pending: usize,
}

impl Default for Calendar {
    fn default() -> Self {
        Self {
            heads: vec![NIL; BUCKETS],
            occupied: vec![0; BUCKETS / 64],
            nodes: Vec::new(),
            free: NIL,
            due: Vec::new(),
            bucket: 0,
            far: BinaryHeap::new(),
            inserted: 0,
            pending: 0,
        }
    }
}

impl Calendar {
    /// Events that have not happened yet.
    pub fn len(&self) -> usize {
        self.pending
    }

    /// Nothing will happen.
    pub fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// Puts `event` at `at`, which is not before the time of the last event taken.
    #[inline]
    pub fn push(&mut self, at: Ps, event: Event) {
        self.pending += 1;
        let bucket = at >> BUCKET_BITS;
        if bucket <= self.bucket {
            // Behind those of its time: further from the end.
            let place = self.due.partition_point(|d| d.at > at);
            let due = Due {
                at,
                event,
                order: 0,
            };
            self.due.insert(place, due);
        } else if bucket - self.bucket < BUCKETS as u64 {
            self.link(bucket, at, event);
        } else {
            self.inserted += 1;
            self.far.push(Reverse((at, self.inserted, event)));
        }
    }

    #[inline]
    fn link(&mut self, bucket: u64, at: Ps, event: Event) {
        let slot = bucket as usize % BUCKETS;
        let node = Node {
            at,
            event,
            next: self.heads[slot],
        };
        let index = if self.free == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let index = self.free;
            self.free = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            index
        };
        self.heads[slot] = index;
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes the next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Ps, Event)> {
        if self.due.is_empty() {
            self.advance(u64::MAX);
        }
        let due = self.due.pop()?;
        self.pending -= 1;
        Some((due.at, due.event))
    }

    /// Takes the next event if it is not after `end`.
    #[inline]
    pub fn pop_until(&mut self, end: Ps) -> Option<(Ps, Event)> {
        if self.due.is_empty() {
            // Not past the end: what is inserted meanwhile may come before the next event.
            self.advance(end >> BUCKET_BITS);
        }
        if self.due.last()?.at > end {
            return None;
        }
        self.pop()
    }

    /// The first bucket of the year after the present one that has events.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        let start = self.bucket + 1;
        let slot = start as usize % BUCKETS;
        let words = self.occupied.len();
        let first = self.occupied[slot / 64] >> (slot % 64);
        if first != 0 {
            return Some(start + u64::from(first.trailing_zeros()));
        }
        let mut skipped = 64 - (slot % 64) as u64;
        for i in 1..=words {
            let word = self.occupied[(slot / 64 + i) % words];
            if word != 0 {
                return Some(start + skipped + u64::from(word.trailing_zeros()));
            }
            skipped += 64;
        }
        None
    }

    /// Goes to the next bucket with events, if it is not after bucket `last`, and sorts them.
    fn advance(&mut self, last: u64) {
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse((at, ..))| at >> BUCKET_BITS);
        let Some(bucket) = near.into_iter().chain(far).min() else {
            return;
        };
        if bucket > last {
            return;
        }
        self.bucket = bucket;
        if far == Some(bucket) {
            self.take_far();
        }
        if near == Some(bucket) {
            self.take_near();
        }
        self.sort();
    }

    fn take_far(&mut self) {
        while let Some(&Reverse((at, _, event))) = self.far.peek() {
            if at >> BUCKET_BITS != self.bucket {
                break;
            }
            self.far.pop();
            self.due.push(Due {
                at,
                event,
                order: 0,
            });
        }
        // The latest first, as in the lists.
        self.due.reverse();
    }

    #[inline]
    fn take_near(&mut self) {
        let slot = self.bucket as usize % BUCKETS;
        let mut index = std::mem::replace(&mut self.heads[slot], NIL);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        while index != NIL {
            let node = self.nodes[index as usize];
            self.nodes[index as usize].next = self.free;
            self.free = index;
            self.due.push(Due {
                at: node.at,
                event: node.event,
                order: 0,
            });
            index = node.next;
        }
    }

    /// By time, the latest first; of one time the order is kept, which is the latest insertion
    /// first.
    #[inline]
    fn sort(&mut self) {
        let due = &mut self.due;
        if due.len() <= 24 {
            for i in 1..due.len() {
                let d = due[i];
                let mut j = i;
                while j > 0 && due[j - 1].at < d.at {
                    due[j] = due[j - 1];
                    j -= 1;
                }
                due[j] = d;
            }
        } else {
            for (i, d) in due.iter_mut().enumerate() {
                d.order = i as u32;
            }
            due.sort_unstable_by(|a, b| b.at.cmp(&a.at).then(a.order.cmp(&b.order)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Against a stable sort: times from within a bucket to far beyond the year.
    #[test]
    fn events_come_by_time_and_insertion() {
        for seed in 0..20 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let mut calendar = Calendar::default();
            let mut reference = std::collections::BTreeMap::new();
            let mut now = 0;
            let mut next = 0u32;
            for _ in 0..20_000 {
                if rng.random_bool(0.55) {
                    let spread = [1, 300, 40_000, 9_000_000][rng.random_range(0..4)];
                    let at = now + rng.random_range(0..spread);
                    calendar.push(at, Event::new(Kind::Port, next));
                    reference.insert((at, next), ());
                    next += 1;
                } else if let Some((at, event)) = calendar.pop() {
                    now = at;
                    // Insertion order is not kept between the heap and the year: only times count
                    // there.
                    let first = reference.keys().next().copied();
                    assert_eq!(first.map(|f| f.0), Some(at));
                    assert!(reference.remove(&(at, event.index())).is_some());
                }
            }
            assert_eq!(calendar.len(), reference.len());
            while let Some((at, event)) = calendar.pop() {
                assert!(at >= now);
                now = at;
                assert!(reference.remove(&(at, event.index())).is_some());
            }
            assert!(reference.is_empty() && calendar.is_empty());
        }
    }

    #[test]
    fn one_time_keeps_its_order() {
        let mut calendar = Calendar::default();
        for i in 0..100 {
            calendar.push(5_000, Event::new(Kind::Start, i));
        }
        for i in 0..50 {
            assert_eq!(calendar.pop(), Some((5_000, Event::new(Kind::Start, i))));
        }
        calendar.push(5_000, Event::new(Kind::Start, 100));
        for i in 50..=100 {
            assert_eq!(calendar.pop(), Some((5_000, Event::new(Kind::Start, i))));
        }
    }
}
