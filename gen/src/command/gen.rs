//! `rondo gen`: writes the datapath's Verilog.

use super::{print_json, print_text, CommandError, ShapeArgs};
use clap::Args;
use rondo::package::{self, Package};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Generate the datapath: one Verilog file a module, AXI wrapper, file list, FuseSoC core, report.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo gen --paths 4 --window 128 --flows 1024 -o out/p4w128")]
pub struct Gen {
    #[command(flatten)]
    shape: ShapeArgs,
    /// Flows: a power of two from 2 to 1024.
    #[arg(long, default_value_t = 1024)]
    flows: usize,
    /// Folder to write to; made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print the report as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Gen {
    /// Generates everything in memory, then writes it.
    pub fn run(self) -> Result<(), CommandError> {
        let shape = self.shape.shape(self.flows)?;
        let package = package::generate(shape)?;
        write(&package, &self.output)?;
        if self.json {
            return print_json(&package.report);
        }
        let mut t = String::new();
        let bits: usize = package.report.memories.iter().map(|m| m.bits).sum();
        let _ = writeln!(
            t,
            "{}: {} modules, {} memories of {:.1} Mbit, hash {}",
            self.output.display(),
            package.report.modules.len(),
            package.report.memories.len(),
            bits as f64 / 1e6,
            &package.report.hash[..16]
        );
        for s in &package.report.pipeline {
            let _ =
                writeln!(t,
                "  {:18} latency {:>3} clocks, a request every {} clocks, a flow's own every {}",
                s.stage, s.latency_clocks, s.initiation_interval, s.own_flow_interval
            );
        }
        print_text(&t)
    }
}

/// Removes what an earlier run wrote here and this one does not, by that run's own report.
fn remove_stale(package: &Package, folder: &Path) {
    let old: serde_json::Value = std::fs::read_to_string(folder.join("report.json"))
        .ok()
        .and_then(|t| serde_json::from_str(&t).ok())
        .unwrap_or_default();
    let written = &package.report.files;
    for name in old["files"].as_array().into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        // Only plain names: the report is a file that anybody may have edited.
        let plain = Path::new(name).file_name().is_some_and(|f| f == name);
        if plain && !written.iter().any(|w| w == name) {
            // A file that is gone already is no matter.
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
}

/// Writes all files beside their place first, so that a full disk leaves no half design behind.
fn write(package: &Package, folder: &Path) -> Result<(), CommandError> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |source| CommandError::File { path, source }
    };
    std::fs::create_dir_all(folder).map_err(file(folder))?;
    let stage = tempfile::Builder::new()
        .prefix(".rondo-")
        .tempdir_in(folder)
        .map_err(file(folder))?;
    let report = serde_json::to_string_pretty(&package.report)
        .map_err(|e| file(folder)(std::io::Error::other(e)))?
        + "\n";
    let files = package
        .files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .chain([("report.json", report.as_str())]);
    for (name, text) in files.clone() {
        let path = stage.path().join(name);
        std::fs::write(&path, text).map_err(file(&path))?;
    }
    remove_stale(package, folder);
    for (name, _) in files {
        let to = folder.join(name);
        std::fs::rename(stage.path().join(name), &to).map_err(file(&to))?;
    }
    Ok(())
}
