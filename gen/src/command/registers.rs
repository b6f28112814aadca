//! `rondo registers`: what is generated from the register map.

use super::{print_json, print_text, writable, write_whole, CommandError};
use clap::Args;
use rondo::registers::{files, map, version};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write what is generated from the register map: C header, SystemRDL, Rust accessors, documentation.
#[derive(Args)]
#[command(after_help = "Examples:\n  rondo registers -o .\n  rondo registers --check")]
pub struct Registers {
    /// Root of the repository: files go to fpga/registers and docs below it.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// Write nothing; fail when a file differs from what would be written.
    #[arg(long)]
    check: bool,
    /// Print one JSON object: the files, and the map itself.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct FileReport {
    path: &'static str,
    /// It is not, or was not, what the map gives.
    differs: bool,
}

#[derive(Serialize)]
struct Report {
    version: String,
    files: Vec<FileReport>,
    blocks: &'static [rondo_models::registers::Block],
}

impl Registers {
    /// Generates everything in memory, compares, then writes what differs.
    pub fn run(self) -> Result<(), CommandError> {
        let mut report = Report {
            version: version(),
            files: Vec::new(),
            blocks: map(),
        };
        for (path, text) in files() {
            let to = self.output.join(path);
            let differs = std::fs::read_to_string(&to).ok().as_deref() != Some(&text);
            if differs && !self.check {
                writable(to.parent().unwrap_or(Path::new(".")))?;
                write_whole(&to, &text)?;
            }
            report.files.push(FileReport { path, differs });
        }
        if self.json {
            print_json(&report)?;
        } else {
            print_text(&self.lines(&report))?;
        }
        let stale: Vec<&str> = report
            .files
            .iter()
            .filter(|f| f.differs)
            .map(|f| f.path)
            .collect();
        if self.check && !stale.is_empty() {
            return Err(CommandError::Failed(format!(
                "not what the register map gives: {}; write them again with `rondo registers -o {}`",
                stale.join(", "),
                self.output.display()
            )));
        }
        Ok(())
    }

    fn lines(&self, report: &Report) -> String {
        let state = |f: &FileReport| match (f.differs, self.check) {
            (false, _) => "up to date",
            (true, true) => "differs",
            (true, false) => "written",
        };
        report
            .files
            .iter()
            .map(|f| format!("{:36} {}\n", f.path, state(f)))
            .collect()
    }
}
