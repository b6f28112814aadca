//! Compiles the part of Verilator's runtime that the `verilated` crate leaves out.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Verilator's installation folder, by its own account.
fn verilator_root() -> Option<PathBuf> {
    println!("cargo:rerun-if-env-changed=VERILATOR_ROOT");
    if let Some(root) = std::env::var_os("VERILATOR_ROOT") {
        return Some(root.into());
    }
    let out = Command::new("verilator")
        .args(["--getenv", "VERILATOR_ROOT"])
        .output()
        .ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let root = text.trim();
    (!root.is_empty()).then(|| Path::new(root).to_owned())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(root) = verilator_root() else {
        println!("cargo:warning=Verilator was not found: install it, or build without `rondo-sim`");
        std::process::exit(1);
    };
    let include = root.join("include");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-faligned-new")
        .warnings(false)
        .include(&include)
        .include(include.join("vltstd"))
        .file(include.join("verilated_threads.cpp"))
        .file("src/runtime_anchor.cpp")
        .link_lib_modifier("+whole-archive")
        .compile("rondo_verilated_rest");
}
