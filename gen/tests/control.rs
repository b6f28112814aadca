//! The control side's Verilog: silent lint, no latch, block RAM only; the crossing's synchronisers; the
//! crossing as it is generated, in its bench.
#![cfg(feature = "cosim")]

use rondo::crossing;
use rondo::shape::{Block, Shape};
use rondo::verilog::Design;
use rondo_sim::bench::CrossingBench;
use rondo_sim::lockstep::{run, Run};
use rondo_sim::Verilog;
use std::path::Path;
use std::process::{Command, Output};

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

/// Writes `design` to `folder`; returns its files.
fn write(design: &Design, folder: &Path) -> Vec<String> {
    let files: Vec<String> = design
        .modules
        .iter()
        .map(|m| format!("{}.v", m.name))
        .collect();
    for (name, m) in files.iter().zip(&design.modules) {
        std::fs::write(folder.join(name), &m.text).expect("write");
    }
    files
}

fn is_clean(block: Block, shape: Shape) {
    let design = block.print(shape).expect("prints");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let files = write(&design, dir.path());
    let lint = Command::new("verilator")
        .current_dir(dir.path())
        .args(["--lint-only", "-Wall", "--top-module", &design.top])
        .args(&files)
        .output()
        .expect("verilator is installed (scripts/setup.sh)");
    let notes = said(&lint);
    assert!(lint.status.success() && notes.is_empty(), "{notes}");
    let script = format!(
        "read_verilog {}; synth_xilinx -family xcup -noiopad -noclkbuf -top {}; check -assert; \
         tee -o stat.txt stat",
        files.join(" "),
        design.top
    );
    let out = Command::new("yosys")
        .current_dir(dir.path())
        .args(["-q", "-p", &script])
        .output()
        .expect("yosys is installed (scripts/setup.sh)");
    assert!(out.status.success(), "{}", said(&out));
    let stat = std::fs::read_to_string(dir.path().join("stat.txt")).expect("statistics");
    for cell in [
        "LDCE", "LDPE", "$dlatch", "RAM32", "RAM64", "RAM128", "RAM256",
    ] {
        assert!(!stat.contains(cell), "{cell} in\n{stat}");
    }
}

#[test]
fn registers_are_clean() {
    is_clean(
        Block::Registers,
        Shape::new(4, 128, 1024).expect("on the menu"),
    );
}

#[test]
fn the_crossing_is_clean() {
    is_clean(Block::Crossing, Shape::new(4, 128, 2).expect("on the menu"));
}

/// What simulation cannot see: two registers in a row, and nothing else, look at the other domain's
/// request or ack.
#[test]
fn requests_and_acks_are_synchronised() {
    let shape = Shape::new(4, 128, 2).expect("on the menu");
    let design = Block::Crossing.print(shape).expect("prints");
    let mut seen = 0;
    for (side, wire) in [("source", "ack"), ("sink", "request")] {
        for m in design
            .modules
            .iter()
            .filter(|m| m.name.contains(&format!("handshake_{side}")))
        {
            let reads = |name: &str| {
                let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
                m.text.split(word).filter(|w| *w == name).count()
            };
            let chain = format!("sync_0 <= {wire};\n        sync_1 <= sync_0;");
            assert!(m.text.contains(&chain), "{}", m.text);
            assert_eq!(m.text.matches("ASYNC_REG").count(), 2);
            // The port and the chain; declaration, chain and chain.
            assert_eq!((reads(wire), reads("sync_0")), (2, 3), "{}", m.text);
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
}

fn crosses(v: &Verilog) {
    let mut bench = CrossingBench::new(v, 5).expect("the bench fits");
    let how = Run {
        cycles: 300_000,
        seed: 5,
        checked: true,
        waves: None,
    };
    let outcome = run(v, &mut bench, how, &mut |_| true).expect("runs");
    assert_eq!(outcome.mismatch, None);
    assert!(outcome.compared > 500);
}

#[test]
fn the_crossing_as_it_is_generated() {
    crosses(&crossing::joined().expect("prints"));
}

#[test]
fn the_crossing_with_late_bits() {
    crosses(&crossing::late().expect("prints"));
}
