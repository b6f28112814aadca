//! What is generated from the register map: C header, SystemRDL, Rust accessors, documentation.
//!
//! The files are checked in, so that software can use them without building the generator;
//! `rondo registers --check` says whether they are those of the map.

mod c_header;
mod markdown;
mod rust;
mod systemrdl;

use rondo_models::registers::{Access, Block, Field, Kind, Maximum, Register, MAP, VERSION};

/// Path below the repository's root, and contents.
pub type File = (&'static str, String);

/// All files of the map: the same bytes on every run.
pub fn files() -> Vec<File> {
    vec![
        ("fpga/registers/rondo_registers.h", c_header::print()),
        ("fpga/registers/rondo.rdl", systemrdl::print()),
        ("fpga/registers/rondo_registers.rs", rust::print()),
        ("docs/registers.md", markdown::print()),
    ]
}

/// The map, as `rondo registers --json` prints it.
pub fn map() -> &'static [Block] {
    MAP
}

/// `1.0.0`.
pub fn version() -> String {
    let [major, minor, patch] = VERSION;
    format!("{major}.{minor}.{patch}")
}

/// `ro`, `rw`, `wo`.
fn access(r: &Register) -> &'static str {
    match r.access() {
        Access::ReadOnly => "ro",
        Access::ReadWrite => "rw",
        Access::WriteOnly => "wo",
    }
}

/// Names and offsets of a register's words.
fn words(r: &Register) -> Vec<(String, u32)> {
    match r.words() {
        1 => vec![(r.name.to_owned(), r.offset)],
        _ => vec![
            (format!("{}_LO", r.name), r.offset),
            (format!("{}_HI", r.name), r.offset + 4),
        ],
    }
}

/// `31:0`, or `0` for one bit.
fn bits(f: &Field) -> String {
    match f.bits {
        1 => f.low.to_string(),
        n => format!("{}:{}", f.low + n - 1, f.low),
    }
}

/// The largest value, for people.
fn maximum(f: &Field) -> String {
    match f.maximum {
        Maximum::Value(v) => number(v),
        Maximum::LastFlow => "flows - 1".into(),
        Maximum::LastPath => "paths - 1".into(),
        Maximum::ReceiveSlots => "receive slots".into(),
        Maximum::SlotBeats => "beats of a slot, at most 144".into(),
    }
}

/// Small numbers decimal, large ones hexadecimal.
fn number(v: u32) -> String {
    if v < 10_000 {
        v.to_string()
    } else {
        format!("{v:#x}")
    }
}

/// The register has a value after reset that the map knows.
fn has_reset(r: &Register) -> bool {
    matches!(r.kind, Kind::Constant | Kind::Control)
}

/// Low and high word of a 64-bit register, for people.
fn word_doc(r: &Register, word: usize) -> String {
    match (r.words(), word) {
        (1, _) => r.doc.to_owned(),
        (_, 0) => format!("{} Low word; reading it keeps the high word.", r.doc),
        _ => format!("{} High word, of the low word read last.", r.doc),
    }
}
