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
        let name = header.trim_matches(['[', ']']);
        let lines = || text.lines().map(code).enumerate();
        let mut headers = lines().filter(|(_, l)| header_name(l) == Some(name));
        let own = headers.nth(nth);
        // A table without a header of its own may be written as `name = { ... }` or `name.key = ...`;
        // of several in one array the first has the array's line too.
        let (start, _) = own
            .or_else(|| lines().find(|(_, l)| sets(l, name)))
            .unwrap_or_default();
        let known = own.is_some() || nth == 0;
        let found = table(text, start).find(|(_, l)| known && sets(l, key));
        Self {
            path: path.to_owned(),
            line: 1 + found.map_or(start, |(i, _)| i),
        }
    }

    /// Where the key or value that `message` refuses is, in the table that starts here: of tables
    /// whose keys depend on their `kind` the parser knows no more than where they start.
    fn narrowed(self, text: &str, message: &str) -> Self {
        let is_key = message.starts_with("unknown field");
        if !is_key
            && !["unknown variant", "invalid"]
                .iter()
                .any(|m| message.starts_with(m))
        {
            return self;
        }
        let name = first_quoted(message);
        let mut lines = table(text, self.line.saturating_sub(1));
        let found = lines.find(|(_, l)| {
            if is_key {
                sets(l, name)
            } else {
                holds(l, name)
            }
        });
        Self {
            line: found.map_or(self.line, |(i, _)| i + 1),
            ..self
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

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// The table's name, if `line` is its header.
fn header_name(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let array = inner.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
    let name = array.unwrap_or(inner).trim();
    // Arrays of arrays have such lines too, but with numbers and commas.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_name && name.chars().all(|c| is_word(c) || c == '.')).then_some(name)
}

/// The lines from number `start`, from 0, up to the next table that is no part of this one.
fn table(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut lines = text.lines().map(code).enumerate().skip(start);
    let first = lines.next();
    let own = first.and_then(|(_, l)| header_name(l));
    let is_part = move |line: &str| {
        let rest = header_name(line).map(|h| own.and_then(|own| h.strip_prefix(own)));
        rest.is_none_or(|r| r.is_some_and(|r| r.starts_with('.')))
    };
    first
        .into_iter()
        .chain(lines.take_while(move |(_, l)| is_part(l)))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Whether `line` gives `key` a value, in an inline table or at the end of a dotted key too.
fn sets(line: &str, key: &str) -> bool {
    let is_set = |(at, _): (usize, &str)| {
        let (before, after) = (&line[..at], &line[at + key.len()..]);
        let after = after.trim_start_matches(['"', '\'']).trim_start();
        // A dot after the key is no file name's only if no value has begun.
        let is_dotted = after.starts_with('.') && !before.contains('=');
        !before.ends_with(is_word) && (after.starts_with('=') || is_dotted)
    };
    !key.is_empty() && line.match_indices(key).any(is_set)
}

/// Whether `value` is among the values on `line`.
fn holds(line: &str, value: &str) -> bool {
    let values = line.split_once('=').map_or(line, |(_, v)| v);
    let inside = |c: char| is_word(c) || c == '.';
    let mut found = values.match_indices(value);
    !value.is_empty()
        && header_name(line).is_none()
        && found.any(|(at, _)| {
            !values[..at].ends_with(inside) && !values[at + value.len()..].starts_with(inside)
        })
}

/// What `message` quotes first; nothing if it quotes nothing.
fn first_quoted(message: &str) -> &str {
    let start = message.find(['`', '"']).unwrap_or(message.len());
    let (quote, rest) = message[start..].split_at(message.len().min(start + 1) - start);
    rest.split(quote).next().unwrap_or_default()
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
    #[error("{place}`traffic.{key}`: {source}")]
    Traffic {
        /// Where the traffic is asked for.
        place: Place,
        /// Key that asks for it.
        key: &'static str,
        /// Cause, with file and line of its own if it is a file's.
        source: WorkloadError,
    },
}

impl ScenarioError {
    pub(crate) fn syntax(path: &Path, text: &str, e: &toml::de::Error) -> Self {
        let start = e.span().map_or(0, |s| s.start);
        Self::syntax_in(Place::of_byte(path, text, start), text, e)
    }

    /// The same of a table that starts at `place` and was read by itself.
    pub(crate) fn syntax_in(place: Place, text: &str, e: &toml::de::Error) -> Self {
        let lines: Vec<&str> = e.message().lines().map(str::trim).collect();
        let message = lines.join(" ").trim_end().to_owned();
        Self::Syntax {
            place: place.narrowed(text, &message),
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"a\" # k = 0\n[t]\nfile = \"k.cm\"\n[[u]]\nrows = [\n  [0, 1],\n  [2]\n]\n\
                        k = 1\n[u.v]\nw = { k = 2, n = 3 }\n[[u]]\n\"k\" = 4\n[x]\ny.z = 5\nk = 6\n";

    fn line(header: &str, nth: usize, key: &str) -> usize {
        Place::of_key(Path::new("x"), TEXT, header, nth, key).line
    }

    #[test]
    fn a_key_is_found_in_its_own_table_only() {
        assert_eq!((line("", 0, "name"), line("", 0, "k")), (1, 1));
        assert_eq!((line("[t]", 0, "file"), line("[t]", 0, "k")), (3, 2));
        assert_eq!((line("[[u]]", 0, "k"), line("[[u]]", 0, "n")), (9, 11));
        assert_eq!((line("[[u]]", 1, "k"), line("[[u]]", 1, "n")), (13, 12));
        assert_eq!((line("[y]", 0, "z"), line("[y]", 0, "a")), (15, 15));
    }

    #[test]
    fn what_a_message_quotes_first_is_found() {
        assert_eq!(first_quoted("unknown field `a`, expected `b`"), "a");
        assert_eq!(
            first_quoted("invalid type: string \"a\", expected u32"),
            "a"
        );
        assert_eq!((first_quoted("none"), first_quoted("open `")), ("", ""));
        assert!(holds("k = -4", "-4") && !holds("k = -4", "4") && !holds("[t]", "t"));
    }
}
