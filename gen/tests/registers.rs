//! What is generated from the register map: the checked-in files are those of the map, and the tools
//! that read them take them.

use rondo_models::registers::{Kind, MAP};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    let gen = Path::new(env!("CARGO_MANIFEST_DIR"));
    gen.parent().expect("gen/ lies in the repository").into()
}

fn rondo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rondo"))
        .args(args)
        .output()
        .expect("rondo runs")
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

/// Runs a compiler, which must have nothing to say.
fn compiles(mut compiler: Command) {
    let out = compiler.output().expect("the compiler is installed");
    assert!(
        out.status.success() && said(&out).is_empty(),
        "{}",
        said(&out)
    );
}

#[test]
fn checked_in_files_are_those_of_the_map() {
    let root = root();
    let out = rondo(&["registers", "--check", "-o", root.to_str().expect("a path")]);
    assert!(out.status.success(), "{}", said(&out));
}

#[test]
fn a_file_that_differs_is_named() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let at = dir.path().to_str().expect("a path");
    assert!(rondo(&["registers", "-o", at]).status.success());
    let again = rondo(&["registers", "--json", "-o", at]);
    let report: Value = serde_json::from_slice(&again.stdout).expect("one JSON object");
    let files = report["files"].as_array().expect("files");
    assert!(
        files.len() == 4 && files.iter().all(|f| f["differs"] == false),
        "{report}"
    );
    assert_eq!(report["blocks"][0]["registers"][0]["name"], "MAGIC");

    let header = dir.path().join("fpga/registers/rondo_registers.h");
    let text = std::fs::read_to_string(&header).expect("the header");
    let edited = text.replace("RONDO_MTU 0x0cc", "RONDO_MTU 0x0d0");
    assert_ne!(text, edited);
    std::fs::write(&header, edited).expect("write");
    let out = rondo(&["registers", "--check", "-o", at]);
    assert!(!out.status.success());
    assert!(
        said(&out).contains("fpga/registers/rondo_registers.h"),
        "{}",
        said(&out)
    );
}

/// C and C++ agree with the map on every offset, and the struct with the offsets.
#[test]
fn the_header_compiles_and_has_every_offset() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut source = String::from("#include \"rondo_registers.h\"\n");
    for r in MAP.iter().flat_map(|b| b.registers) {
        let word = if r.words() == 2 { "_LO" } else { "" };
        source += &format!(
            "CHECK(RONDO_{}{word} == {}u, \"{}\");\n",
            r.name, r.offset, r.name
        );
        for f in r.fields {
            let name = format!("RONDO_{}_{}", r.name, f.name.to_uppercase());
            source += &format!("CHECK({name}_MASK == {}u, \"\");\n", f.mask());
            if r.kind == Kind::Control {
                source += &format!("CHECK({name}_RESET == {}u, \"\");\n", f.reset);
            }
        }
    }
    let path = dir.path().join("offsets.c");
    std::fs::write(&path, source).expect("write");
    for (compiler, language, standard, check) in [
        ("gcc", "c", "-std=c11", "-DCHECK=_Static_assert"),
        ("g++", "c++", "-std=c++17", "-DCHECK=static_assert"),
    ] {
        let mut c = Command::new(compiler);
        c.args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-x",
            language,
        ])
        .args([standard, check, "-I"])
        .arg(root().join("fpga/registers"))
        .arg(&path);
        compiles(c);
    }
}

/// What firmware and driver do with the Rust accessors.
const PROGRAM: &str = r#"

#[path = "REGISTERS"]
pub mod registers;

use registers::{Bus, Field};

struct Log(Vec<(u16, Option<u32>)>);

impl Bus for Log {
    type Error = u16;
    fn read(&mut self, offset: u16) -> Result<u32, u16> {
        self.0.push((offset, None));
        Ok(u32::from(offset))
    }
    fn write(&mut self, offset: u16, value: u32) -> Result<(), u16> {
        self.0.push((offset, Some(value)));
        if offset == registers::SCRATCH.offset { Err(offset) } else { Ok(()) }
    }
}

fn main() {
    let mut bus = Log(Vec::new());
    assert_eq!(registers::TX_BYTES.read(&mut bus), Ok(0x20c_0000_0208));
    assert_eq!(bus.0, [(0x208, None), (0x20c, None)]);
    assert_eq!(registers::SCRATCH.write(&mut bus, 1), Err(0x18));
    let open = registers::command::OPERATION_OPEN;
    assert_eq!(registers::COMMAND.write(&mut bus, open), Ok(()));
    assert_eq!(bus.0.last(), Some(&(0x104, Some(1))));
    let beats: Field = registers::mtu::BEATS;
    assert_eq!(beats.set(0xffff_0000, 144), 0xffff_0000 | 9216);
    assert_eq!(beats.get(registers::MTU.reset), 64);
    assert_eq!(registers::magic::MAGIC.mask(), u32::MAX);
    assert_eq!(registers::magic::MAGIC_VALUE, 0x524e_444f);
}
"#;

#[test]
fn the_rust_accessors_compile_and_work() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let module = root().join("fpga/registers/rondo_registers.rs");
    let path = dir.path().join("use_registers.rs");
    let text = PROGRAM.replace("REGISTERS", module.to_str().expect("a path"));
    std::fs::write(&path, text).expect("write");
    let program = dir.path().join("use_registers");
    let mut rustc = Command::new("rustc");
    // As a library first: in a program, what it does not use would be called dead.
    let mut library = Command::new("rustc");
    library
        .args([
            "--edition",
            "2021",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
        ])
        .args(["-D", "warnings", "-D", "missing-docs", "-o"])
        .arg(dir.path().join("registers.rmeta"))
        .arg(&module);
    compiles(library);
    rustc
        .args(["--edition", "2021", "-A", "dead_code", "-o"])
        .arg(&program)
        .arg(&path);
    compiles(rustc);
    let out = Command::new(&program).output().expect("the program runs");
    assert!(out.status.success(), "{}", said(&out));
}

#[test]
fn systemrdl_names_every_register_once() {
    let text = std::fs::read_to_string(root().join("fpga/registers/rondo.rdl")).expect("the file");
    for b in MAP {
        assert_eq!(
            text.matches(&format!("}} {} @ {:#x};", b.name, b.offset))
                .count(),
            1
        );
        for r in b.registers {
            let word = if r.words() == 2 { "_LO" } else { "" };
            let line = format!("}} {}{word} @ {:#x};", r.name, r.offset - b.offset);
            assert_eq!(text.matches(&line).count(), 1, "{line}");
        }
    }
}
