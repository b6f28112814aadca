//! What `rondo gen` writes: the same bytes always, silent linters, no latch, block RAMs.

use rondo::package::generate;
use rondo::shape::{Block, Shape, ShapeError, PATHS, SLOTS, SLOT_BYTES, WINDOWS};
use std::path::Path;
use std::process::{Command, Output};

fn write(shape: Shape, folder: &Path) -> Vec<String> {
    let package = generate(shape).expect("generates");
    for (name, text) in &package.files {
        std::fs::write(folder.join(name), text).expect("write");
    }
    package
        .files
        .iter()
        .map(|(n, _)| n.clone())
        .filter(|n| n.ends_with(".v"))
        .collect()
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

/// Latches, and memories in LUTs.
const SLOW_CELLS: [&str; 7] = [
    "LDCE", "LDPE", "$dlatch", "RAM32", "RAM64", "RAM128", "RAM256",
];

#[test]
fn two_runs_write_the_same_bytes() {
    let shape = Shape::new(8, 256, 1024).expect("on the menu");
    let (a, b) = (
        generate(shape).expect("once"),
        generate(shape).expect("twice"),
    );
    assert_eq!(a.files, b.files);
    assert_eq!(a.report, b.report);
}

#[test]
fn impossible_shapes_are_refused() {
    assert_eq!(Shape::new(3, 128, 1024), Err(ShapeError::Paths(3)));
    assert_eq!(Shape::new(4, 100, 1024), Err(ShapeError::Window(100)));
    assert_eq!(Shape::new(4, 128, 1000), Err(ShapeError::Flows(1000)));
    assert_eq!(Shape::new(4, 128, 2048), Err(ShapeError::Flows(2048)));
    let shape = Shape::new(4, 128, 16).expect("on the menu");
    assert_eq!(shape.with_buffer(300, 4096), Err(ShapeError::Slots(300)));
    assert_eq!(
        shape.with_buffer(512, 9216),
        Err(ShapeError::SlotBytes(9216))
    );
}

fn lints(shape: Shape) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(shape, dir.path());
    let out = Command::new("verilator")
        .current_dir(dir.path())
        .args(["--lint-only", "-Wall", "-f", "rondo.f"])
        .args(["--top-module", "rondo_datapath"])
        .output()
        .expect("verilator is installed (scripts/setup.sh)");
    let notes = said(&out);
    assert!(
        out.status.success() && notes.is_empty(),
        "{shape:?}: {notes}"
    );
}

#[test]
fn verilator_lint_is_silent_for_every_shape() {
    for paths in PATHS {
        for window in WINDOWS {
            lints(Shape::new(paths, window, 1024).expect("on the menu"));
        }
    }
    for slots in SLOTS {
        for slot_bytes in SLOT_BYTES {
            for window in WINDOWS {
                let shape = Shape::new(4, window, 64).expect("on the menu");
                lints(shape.with_buffer(slots, slot_bytes).expect("on the menu"));
            }
        }
    }
}

/// Blocks that stand outside the datapath's top, by themselves: silent lint, no latch, and no
/// memory in LUTs.
#[test]
fn blocks_outside_the_datapath_are_clean() {
    for block in [Block::Delivery] {
        let shape = Shape::new(4, 128, 1024).expect("on the menu");
        let design = block.print(shape).expect("prints");
        let dir = tempfile::tempdir().expect("a temporary folder");
        let files: Vec<String> = design
            .modules
            .iter()
            .map(|m| format!("{}.v", m.name))
            .collect();
        for (name, m) in files.iter().zip(&design.modules) {
            std::fs::write(dir.path().join(name), &m.text).expect("write");
        }
        let out = Command::new("verilator")
            .current_dir(dir.path())
            .args(["--lint-only", "-Wall", "--top-module", &design.top])
            .args(&files)
            .output()
            .expect("verilator is installed (scripts/setup.sh)");
        let notes = said(&out);
        assert!(out.status.success() && notes.is_empty(), "{notes}");
        let script = format!(
            "read_verilog {}; synth_xilinx -family xcup -noiopad -noclkbuf -top {}; check -assert; tee -o stat.txt stat",
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
        for cell in SLOW_CELLS {
            assert!(!stat.contains(cell), "{}: {cell} in\n{stat}", block.name());
        }
    }
}

/// Yosys for UltraScale+: no latch cell, and no memory in LUTs (all are above 1 Kbit or small
/// enough to be registers by design).
#[test]
fn yosys_finds_no_latch_and_only_block_ram() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let shape = Shape::new(4, 128, 1024).expect("on the menu");
    let files = write(shape, dir.path()).join(" ");
    let script = format!(
        "read_verilog {files}; synth_xilinx -family xcup -top rondo_datapath; tee -o stat.txt stat"
    );
    let out = Command::new("yosys")
        .current_dir(dir.path())
        .args(["-q", "-p", &script])
        .output()
        .expect("yosys is installed (scripts/setup.sh)");
    assert!(out.status.success(), "{}", said(&out));
    let stat = std::fs::read_to_string(dir.path().join("stat.txt")).expect("statistics");
    let total = stat.split("design hierarchy").last().unwrap_or(&stat);
    for cell in SLOW_CELLS {
        assert!(!total.contains(cell), "{cell} in\n{total}");
    }
    assert!(total.contains("RAMB36E2"), "{total}");
    // The 1 MiB of packet slots alone are 8 Mbit of block RAM.
    let count: usize = total
        .lines()
        .filter_map(|l| l.trim().strip_prefix("RAMB36E2"))
        .filter_map(|n| n.trim().parse::<usize>().ok())
        .sum();
    assert!(count >= 233, "{count} RAMB36E2");
}

/// The flow scheduler, which is not in the datapath's wrapper.
#[test]
fn the_scheduler_is_clean() {
    for paths in PATHS {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let shape = Shape::new(paths, 128, 1024).expect("on the menu");
        let design = Block::Scheduler.print(shape).expect("prints");
        let mut files = Vec::new();
        for m in &design.modules {
            let name = format!("{}.v", m.name);
            std::fs::write(dir.path().join(&name), &m.text).expect("write");
            files.push(name);
        }
        let out = Command::new("verilator")
            .current_dir(dir.path())
            .args(["--lint-only", "-Wall", "--top-module", &design.top])
            .args(&files)
            .output()
            .expect("verilator is installed (scripts/setup.sh)");
        let notes = said(&out);
        assert!(
            out.status.success() && notes.is_empty(),
            "P={paths}: {notes}"
        );
        if paths != 4 {
            continue;
        }
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
        let total = stat.split("design hierarchy").last().unwrap_or(&stat);
        println!("{total}");
        for cell in ["LDCE", "LDPE", "$dlatch", "RAM32", "RAM64", "RAM128"] {
            assert!(!total.contains(cell), "{cell} in\n{total}");
        }
    }
}
