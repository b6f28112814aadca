//! The frame parser by itself: silent lint, no latch, only block RAM; and that its bench finds
//! faults.
#![cfg(feature = "cosim")]

use rondo::cosim::{bench, verilog};
use rondo::shape::{Block, Shape};
use rondo_sim::lockstep::{run, Run};
use std::process::{Command, Output};

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

#[test]
fn lint_is_silent_and_synthesis_finds_no_latch() {
    let shape = Shape::new(4, 128, 1024).expect("on the menu");
    let v = verilog(Block::Parser, shape).expect("prints");
    let dir = tempfile::tempdir().expect("a temporary folder");
    if let Ok(d) = std::env::var("PARSER_DUMP") {
        for (n, t) in &v.files {
            std::fs::write(format!("{d}/{n}"), t).unwrap();
        }
    }
    let mut files = Vec::new();
    for (name, text) in &v.files {
        std::fs::write(dir.path().join(name), text).expect("write");
        files.push(name.as_str());
    }
    let lint = Command::new("verilator")
        .current_dir(dir.path())
        .args(["--lint-only", "-Wall", "--top-module", &v.top])
        .args(&files)
        .output()
        .expect("verilator is installed (scripts/setup.sh)");
    let notes = said(&lint);
    assert!(lint.status.success() && notes.is_empty(), "{notes}");

    let script = format!(
        "read_verilog {}; synth_xilinx -family xcup -noiopad -noclkbuf -top {}; check -assert; \
         tee -o stat.txt stat",
        files.join(" "),
        v.top
    );
    let out = Command::new("yosys")
        .current_dir(dir.path())
        .args(["-q", "-p", &script])
        .output()
        .expect("yosys is installed (scripts/setup.sh)");
    assert!(out.status.success(), "{}", said(&out));
    let stat = std::fs::read_to_string(dir.path().join("stat.txt")).expect("statistics");
    let total = stat.split("design hierarchy").last().unwrap_or(&stat);
    for cell in [
        "LDCE", "LDPE", "$dlatch", "RAM32", "RAM64", "RAM128", "RAM256",
    ] {
        assert!(!total.contains(cell), "{cell} in\n{total}");
    }
    assert!(total.contains("RAMB36E2"), "{total}");
}

/// Right and wrong text of a module of the parser.
const FAULTS: [(&str, &str, &str); 3] = [
    ("rondo_rx_align", "latest_2 >> 288", "latest_2 >> 280"),
    (
        "rondo_rx_payload",
        "size_4_q == whole_size",
        "size_4_q >= whole_size",
    ),
    ("rondo_ipv4_sum", "sum_4[19:16]", "4'd0"),
];

#[test]
fn faults_in_the_verilog_are_reported() {
    let shape = Shape::new(4, 128, 16).expect("on the menu");
    for (module, right, wrong) in FAULTS {
        let mut v = verilog(Block::Parser, shape).expect("prints");
        let name = format!("{module}.v");
        let file = v.files.iter_mut().find(|(n, _)| *n == name);
        let text = &mut file.expect("the module's file").1;
        assert!(text.contains(right), "{module} has no {right}");
        *text = text.replace(right, wrong);
        let mut b = bench(Block::Parser, &v, shape, 1).expect("the bench fits");
        let how = Run {
            cycles: 100_000,
            seed: 1,
            checked: true,
            waves: None,
        };
        let outcome = run(&v, &mut *b, how, &mut |_| true).expect("runs");
        assert!(outcome.mismatch.is_some(), "{module}: {wrong}");
    }
}
