//! Runs a printed design in Verilator on vectors and returns its outputs.

use rondo::verilog::{Design, Direction};
use std::fmt::Write;
use std::process::Command;

/// Runs the combinational `design` once per row of `inputs` (in input port order, each at most
/// 64 bits) and returns the outputs (in output port order). Verilator's lint must be silent, save
/// for the `waived` rules.
pub fn run_in_verilator(design: &Design, inputs: &[Vec<u64>], waived: &[&str]) -> Vec<Vec<u64>> {
    let top = design.module(&design.top).expect("the top is printed");
    let dir = tempfile::tempdir().expect("a temporary folder");
    for m in &design.modules {
        std::fs::write(dir.path().join(format!("{}.v", m.name)), &m.text).expect("write");
    }
    let (mut set, mut get) = (String::new(), String::new());
    for p in &top.ports {
        match p.direction {
            Direction::Input => {
                let _ = writeln!(
                    set,
                    "    if(scanf(\"%llu\",&v)!=1) return 0; d.{}=v;",
                    p.name
                );
            }
            Direction::Output => {
                let _ = writeln!(
                    get,
                    "    printf(\"%llu \",(unsigned long long)d.{});",
                    p.name
                );
            }
        }
    }
    let main = format!(
        "#include \"V{t}.h\"\n#include <cstdio>\nint main(){{ V{t} d; unsigned long long v; for(;;){{\n{set}    d.eval();\n{get}    printf(\"\\n\");\n}} }}\n",
        t = design.top
    );
    std::fs::write(dir.path().join("main.cpp"), main).expect("write");
    let build = Command::new("verilator")
        .current_dir(dir.path())
        .args(["--cc", "--exe", "--build", "-Wall", "-O0", "-CFLAGS", "-O0"])
        .args(waived)
        .args([
            format!("{}.v", design.top).as_str(),
            "main.cpp",
            "--Mdir",
            "obj",
        ])
        .output()
        .expect("Verilator runs");
    let notes = String::from_utf8_lossy(&build.stderr);
    assert!(
        build.status.success() && !notes.contains("%Warning"),
        "{notes}\n{}",
        design.text()
    );
    let text: String = inputs
        .iter()
        .map(|row| row.iter().map(|v| format!("{v} ")).collect::<String>() + "\n")
        .collect();
    std::fs::write(dir.path().join("vectors.txt"), text).expect("write");
    let run = Command::new(dir.path().join("obj").join(format!("V{}", design.top)))
        .stdin(std::fs::File::open(dir.path().join("vectors.txt")).expect("open"))
        .output()
        .expect("the model runs");
    let rows: Vec<Vec<u64>> = String::from_utf8_lossy(&run.stdout)
        .lines()
        .map(|l| {
            l.split_whitespace()
                .map(|v| v.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), inputs.len());
    rows
}
