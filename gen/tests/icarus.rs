//! A second opinion: Icarus Verilog runs the generated blocks on vectors exported from the model.
#![cfg(feature = "cosim")]

use rondo::cosim::{bench, verilog};
use rondo::shape::{Block, Shape};
use rondo_sim::vectors::export;
use std::process::Command;

fn agrees(block: Block, paths: usize, window: usize, cycles: u64, seed: u64) {
    let shape = Shape::new(paths, window, 4).expect("on the menu");
    let v = verilog(block, shape).expect("prints");
    let mut b = bench(block, &v, shape, seed).expect("the bench fits");
    let vectors = export(&v, &mut *b, cycles);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect(name);
    for (name, text) in &v.files {
        write(name, text);
    }
    write("inputs.hex", &vectors.inputs);
    write("expected.hex", &vectors.expected);
    write("care.hex", &vectors.care);
    write("testbench.v", &vectors.testbench);
    let build = Command::new("iverilog")
        .current_dir(dir.path())
        .args([
            "-g2001",
            "-Wall",
            "-o",
            "sim",
            "-s",
            "testbench",
            "testbench.v",
        ])
        .args(v.files.iter().map(|(n, _)| n))
        .output()
        .expect("iverilog is installed (scripts/setup.sh)");
    let notes = String::from_utf8_lossy(&build.stderr).into_owned();
    assert!(build.status.success(), "{notes}");
    let run = Command::new("vvp")
        .current_dir(dir.path())
        .args(["-n", "sim"])
        .output()
        .expect("vvp runs");
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        said.contains("PASS"),
        "{} seed {seed}: {said}",
        block.name()
    );
}

#[test]
fn selector_in_icarus() {
    agrees(Block::Selector, 4, 128, 6_000, 1);
}

#[test]
fn picker_in_icarus() {
    agrees(Block::Picker, 4, 512, 6_000, 2);
}

#[test]
fn tracker_in_icarus() {
    agrees(Block::Tracker, 4, 256, 6_000, 3);
}

#[test]
fn reorder_in_icarus() {
    agrees(Block::Reorder, 4, 128, 4_000, 4);
}

#[test]
fn sender_in_icarus() {
    agrees(Block::Sender, 2, 128, 4_000, 5);
}

#[test]
fn receiver_in_icarus() {
    agrees(Block::Receiver, 4, 256, 4_000, 6);
}
