//! What is wrong with a scenario, and where.

use crate::workload::WorkloadError;
use std::fmt;
use std::path::{Path, PathBuf};

/// File and line; empty for scenarios that no file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    line: usize,
}

impl Place {
    /// Where `key` is set in the `nth` table under `header` (empty for the file's top); the header's
    /// line if it is not set there.
    pub(crate) fn of_key(path: &Path, text: &str, header: &str, nth: usize, key: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        let start = if header.is_empty() {
            0
        } else {
            let headers = lines.iter().enumerate();
            let mut found = headers.filter(|(_, l)| l.starts_with(header));
            found.nth(nth).map_or(0, |(i, _)| i)
        };
        let is_set = |l: &&str| {
            let rest = l.strip_prefix(key).map(str::trim_start);
            !key.is_empty() && rest.is_some_and(|r| r.starts_with('='))
        };
        let offset = lines[start.min(lines.len())..].iter().position(is_set);
        Self {
            path: path.to_owned(),
            line: 1 + start + offset.unwrap_or(0),
        }
    }

    /// The line of byte `start` of `text`.
    pub(crate) fn of_byte(path: &Path, text: &str, start: usize) -> Self {
        let before = text.as_bytes().iter().take(start);
        Self {
            path: path.to_owned(),
            line: 1 + before.filter(|&&b| b == b'\n').count(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.line == 0 {
            return Ok(());
        }
        write!(f, "{}:{}: ", self.path.display(), self.line)
    }
}

/// What is wrong with a scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// It is no valid TOML, or has a key that is unknown, missing or of a wrong type.
    #[error("{place}{message}")]
    Syntax {
        /// Where.
        place: Place,
        /// The parser's message.
        message: String,
    },
    /// A value that makes no sense.
    #[error("{place}`{key}` is {value}, but must be {wanted}")]
    Value {
        /// Where.
        place: Place,
        /// Key.
        key: String,
        /// Value given.
        value: String,
        /// What is possible.
        wanted: String,
    },
    /// Traffic that cannot be made.
    #[error("{place}{source}")]
    Traffic {
        /// Where the traffic is asked for.
        place: Place,
        /// Cause, with file and line of its own if it is a file's.
        source: WorkloadError,
    },
}

impl ScenarioError {
    pub(crate) fn syntax(path: &Path, text: &str, e: &toml::de::Error) -> Self {
        let start = e.span().map_or(0, |s| s.start);
        Self::Syntax {
            place: Place::of_byte(path, text, start),
            message: e.message().trim_end().to_owned(),
        }
    }
}
