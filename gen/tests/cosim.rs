//! Lock-step co-simulation of every block, and that a wrong design is reported.
#![cfg(feature = "cosim")]

use rondo::cosim::{bench, verilog};
use rondo::shape::{Block, Shape};
use rondo_sim::lockstep::{run, Run};

fn agree(paths: usize, window: usize, flows: usize, cycles: u64, seed: u64) {
    let shape = Shape::new(paths, window, flows).expect("on the menu");
    all_agree(&Block::ALL, shape, cycles, seed);
}

fn all_agree(blocks: &[Block], shape: Shape, cycles: u64, seed: u64) {
    for &block in blocks {
        let v = verilog(block, shape).expect("prints");
        let mut b = bench(block, &v, shape, seed).expect("the bench fits");
        let how = Run {
            cycles,
            seed,
            checked: true,
            waves: None,
        };
        let outcome = run(&v, &mut *b, how, &mut |_| true).expect("runs");
        assert_eq!(
            outcome.mismatch,
            None,
            "{} {shape:?} seed {seed}",
            block.name()
        );
        // No port may have stood still: the run would have proved nothing.
        for (port, transfers) in &outcome.transfers {
            assert!(*transfers > 0, "{}: `{port}` was never used", block.name());
        }
    }
}

#[test]
fn four_paths_and_128_psns() {
    agree(4, 128, 16, 200_000, 11);
}

#[test]
fn sixteen_paths_and_512_psns() {
    agree(16, 512, 16, 200_000, 12);
}

#[test]
fn two_flows_meet_all_the_time() {
    agree(2, 256, 2, 100_000, 13);
}

/// The buffers that are not the smallest, by the two blocks that have one. Long enough for the
/// benches to demand that every kind of drop was seen.
#[test]
fn larger_buffers() {
    for (window, slots, slot_bytes) in [(128, 512, 4096), (512, 256, 16384), (256, 512, 16384)] {
        let shape = Shape::new(4, window, 16).expect("on the menu");
        let shape = shape.with_buffer(slots, slot_bytes).expect("on the menu");
        all_agree(&[Block::Reorder, Block::Receiver], shape, 300_000, 14);
    }
}

/// The check itself: an operator flipped in the Verilog is found.
#[test]
fn a_flipped_operator_is_reported() {
    let shape = Shape::new(4, 128, 16).expect("on the menu");
    let mut v = verilog(Block::Tracker, shape).expect("prints");
    let text = &mut v
        .files
        .iter_mut()
        .find(|(n, _)| n == "rondo_tracker_128x77.v")
        .expect("the tracker's file")
        .1;
    let right = "base_7 + ";
    assert!(text.contains(right));
    *text = text.replace(right, "base_7 - ");
    let mut b = bench(Block::Tracker, &v, shape, 1).expect("the bench fits");
    let how = Run {
        cycles: 100_000,
        seed: 1,
        checked: true,
        waves: None,
    };
    let outcome = run(&v, &mut *b, how, &mut |_| true).expect("runs");
    assert!(outcome.mismatch.is_some());
}
