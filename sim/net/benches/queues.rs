//! The event queue's choice: the calendar against a radix heap and a binary heap, on the pattern that
//! a network makes: as many pending events as packets on wires, each taken event leading to one a
//! serialisation and a link delay later.
//!
//! `cargo bench -p rondo-net`

use radix_heap::RadixHeapMap;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_net::calendar::{Calendar, Event, Kind};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant;

const STEPS: usize = 5_000_000;

/// Time from an event to the one it leads to, ps: a 4,096-byte packet or an ACK at 100 Gbps, and 1 us.
fn delays() -> Vec<u64> {
    let mut rng = SmallRng::seed_from_u64(1);
    let mut one = || {
        let serial = if rng.random_bool(0.5) { 327_680 } else { 5_120 };
        // One in fifty is a control timer.
        if rng.random_bool(0.02) {
            6_000_000 + rng.random_range(0..10_000)
        } else {
            1_000_000 + serial + rng.random_range(0..1_000)
        }
    };
    (0..1 << 16).map(|_| one()).collect()
}

/// Nanoseconds a step of `push` and `pop` on a queue with `pending` events.
fn measure<Q>(
    mut queue: Q,
    pending: usize,
    push: impl Fn(&mut Q, u64, u32),
    pop: impl Fn(&mut Q) -> u64,
) -> f64 {
    let delays = delays();
    for i in 0..pending {
        push(&mut queue, delays[i % delays.len()], i as u32);
    }
    let started = Instant::now();
    for i in 0..STEPS {
        let now = pop(&mut queue);
        push(&mut queue, now + delays[i % delays.len()], i as u32);
    }
    black_box(pop(&mut queue));
    started.elapsed().as_secs_f64() * 1e9 / STEPS as f64
}

fn main() {
    println!(
        "{:>10} {:>10} {:>12} {:>12}",
        "pending", "calendar", "radix heap", "binary heap"
    );
    for pending in [1_000, 10_000, 50_000, 200_000] {
        let calendar = measure(
            Calendar::default(),
            pending,
            |q, at, i| q.push(at, Event::new(Kind::Arrive, i & 0xff_ffff)),
            |q| q.pop().map_or(0, |(at, _)| at),
        );
        let radix = measure(
            RadixHeapMap::new(),
            pending,
            |q: &mut RadixHeapMap<Reverse<u64>, u32>, at, i| q.push(Reverse(at), i),
            |q| q.pop().map_or(0, |(Reverse(at), _)| at),
        );
        let binary = measure(
            BinaryHeap::new(),
            pending,
            |q: &mut BinaryHeap<Reverse<(u64, u32)>>, at, i| q.push(Reverse((at, i))),
            |q| q.pop().map_or(0, |Reverse((at, _))| at),
        );
        println!("{pending:>10} {calendar:>7.1} ns {radix:>9.1} ns {binary:>9.1} ns");
    }
}
