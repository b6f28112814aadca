//! The control side's Verilog: silent lint, no latch, block RAM only, exact counters.

use rondo::shape::{Block, Shape};
use rondo::verilog::Design;
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
    println!("{stat}");
}

#[test]
fn registers_are_clean() {
    is_clean(
        Block::Registers,
        Shape::new(4, 128, 1024).expect("on the menu"),
    );
}
