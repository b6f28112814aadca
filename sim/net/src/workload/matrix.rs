//! Connection-matrix files (`.cm`) as htsim reads them.
//!
//! ```text
//! Nodes 16
//! Connections 2
//! Triggers 1
//! 0->5 id 1 start 0 size 2000000 send_done_trigger 1
//! 5->0 id 2 trigger 1 size 2000000 prio 3
//! trigger id 1 oneshot
//! ```
//!
//! `start` is in picoseconds, `size` in bytes. Differences from htsim:
//!
//! * A flow without a size, or of size 0, never ends there; here it is refused.
//! * `send_done_trigger` (sender has every acknowledgement) and `recv_done_trigger` (receiver has every
//!   byte) both fire when the receiver has every byte.
//! * `prio` is read and has no effect.
//! * `msg` (several messages on one connection) and failures are refused.
//! * Comments and blank lines may stand anywhere; an unknown line is always an error.
//!
//! A oneshot trigger takes one completion, a barrier `count N` of them, and the k-th completion of a
//! multishot trigger starts the k-th flow that waits for it, in file order.

use super::{read_text, FlowSpec, Next, Start, Trigger, Workload, WorkloadError};
use crate::time::Ps;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

/// A connection matrix read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionMatrix {
    /// Number of hosts the file says it needs; they are numbered from 0.
    pub nodes: u32,
    /// The flows, in file order, and their triggers.
    pub workload: Workload,
    /// Line of each flow in the file, from 1.
    pub lines: Vec<usize>,
}

impl ConnectionMatrix {
    /// Reads a connection matrix from a file.
    pub fn load(path: &Path) -> Result<Self, WorkloadError> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Reads a connection matrix from text. `path` is used in error messages only.
    pub fn parse(path: &str, text: &str) -> Result<Self, WorkloadError> {
        let fail = |(line, message): Fault| WorkloadError::Matrix {
            path: path.to_owned(),
            line,
            message,
        };
        let mut file = File::default();
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let tokens: Vec<&str> = content.split_whitespace().collect();
            if !tokens.is_empty() {
                file.line = index + 1;
                file.read_line(&tokens)
                    .map_err(|message| fail((index + 1, message)))?;
            }
        }
        file.check_counts().map_err(fail)?;
        let matrix = Self {
            nodes: file.nodes.unwrap_or_default(),
            workload: build(&file).map_err(fail)?,
            lines: file.connections.iter().map(|c| c.line).collect(),
        };
        matrix.validate(path, matrix.nodes)?;
        Ok(matrix)
    }

    /// Checks that every flow can run on `hosts` hosts, however many the file says it needs. `path` is
    /// used in error messages only.
    ///
    /// # Errors
    /// [`WorkloadError::Matrix`] names the flow's line; for a trigger, the last flow's.
    pub fn validate(&self, path: &str, hosts: u32) -> Result<(), WorkloadError> {
        let last = self.lines.last().copied().unwrap_or(1);
        self.workload.validate(hosts).map_err(|error| {
            let (line, message) = match error {
                WorkloadError::Flow { flow, message } => {
                    (self.lines.get(flow).copied().unwrap_or(last), message)
                }
                other => (last, other.to_string()),
            };
            WorkloadError::Matrix {
                path: path.to_owned(),
                line,
                message,
            }
        })
    }
}

/// Line and message.
type Fault = (usize, String);

#[derive(Debug)]
struct Connection {
    line: usize,
    src: u32,
    dst: u32,
    bytes: u64,
    at: Ps,
    waits: Option<u32>,
    /// File's trigger numbers.
    done: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    OneShot,
    MultiShot,
    Barrier(u32),
}

#[derive(Debug, Default)]
struct File {
    /// Last line with content so far.
    line: usize,
    nodes: Option<u32>,
    connections_due: Option<u32>,
    triggers_due: u32,
    ids: BTreeSet<u32>,
    connections: Vec<Connection>,
    triggers: BTreeMap<u32, (usize, Kind)>,
}

/// The token after a keyword, as a number.
fn number<'a, T: FromStr>(
    tokens: &mut impl Iterator<Item = &'a str>,
    keyword: &str,
) -> Result<T, String> {
    let Some(token) = tokens.next() else {
        return Err(format!("{keyword:?} lacks its number; add it"));
    };
    token
        .parse()
        .map_err(|_| format!("{token:?} after {keyword:?} is no whole number in range; correct it"))
}

impl File {
    fn read_line(&mut self, tokens: &[&str]) -> Result<(), String> {
        let mut rest = tokens[1..].iter().copied();
        match tokens[0] {
            "Nodes" => self.nodes = Some(number(&mut rest, "Nodes")?),
            "Connections" => self.connections_due = Some(number(&mut rest, "Connections")?),
            "Triggers" => self.triggers_due = number(&mut rest, "Triggers")?,
            "Failures" if number::<u32>(&mut rest, "Failures")? == 0 => {}
            "Failures" | "failure" => {
                return Err(
                    "failures are not read from connection matrices; take these lines out and \
                            give the failures in the experiment's own settings"
                        .into(),
                )
            }
            "trigger" => return self.read_trigger(rest),
            pair if pair.contains("->") => return self.read_connection(pair, rest),
            other => {
                return Err(format!(
                    "unknown keyword {other:?}; a line is Nodes, Connections, Triggers, \
                     source->destination or trigger"
                ))
            }
        }
        match rest.next() {
            Some(token) => Err(format!(
                "{token:?} is left over at the end of the line; remove it"
            )),
            None => Ok(()),
        }
    }

    fn read_connection<'a>(
        &mut self,
        pair: &str,
        mut tokens: impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let (src, dst) = self.read_pair(pair)?;
        let (mut bytes, mut start, mut waits, mut done) = (None, None, None, Vec::new());
        while let Some(keyword) = tokens.next() {
            match keyword {
                "id" => self.take_id(number(&mut tokens, keyword)?)?,
                "start" => start = Some(read_time(tokens.next())?),
                "size" => bytes = Some(number(&mut tokens, keyword)?),
                "trigger" => waits = Some(number(&mut tokens, keyword)?),
                "send_done_trigger" | "recv_done_trigger" => {
                    done.push(number(&mut tokens, keyword)?);
                }
                "prio" => {
                    number::<i64>(&mut tokens, keyword)?;
                }
                "msg" => {
                    return Err("messages that share a connection (msg) are not modelled; \
                                give each its own line without msg"
                        .into())
                }
                other => {
                    return Err(format!(
                        "unknown keyword {other:?}; a connection has id, start, trigger, size, \
                         send_done_trigger, recv_done_trigger and prio"
                    ))
                }
            }
        }
        let at = fixed_start(start, waits)?;
        let Some(bytes) = bytes.filter(|&bytes| bytes > 0) else {
            return Err(
                "lacks a size above 0; a flow without end is not supported, add size with the \
                 number of bytes"
                    .into(),
            );
        };
        self.connections.push(Connection {
            line: self.line,
            src,
            dst,
            bytes,
            at,
            waits,
            done,
        });
        Ok(())
    }

    fn read_pair(&self, pair: &str) -> Result<(u32, u32), String> {
        let Some(nodes) = self.nodes else {
            return Err("a connection before the Nodes line; put Nodes first".into());
        };
        let (src, dst) = pair.split_once("->").unwrap_or((pair, ""));
        let node = |text: &str| match text.parse::<u32>() {
            Ok(node) if node < nodes => Ok(node),
            Ok(node) => Err(format!(
                "node {node} does not exist: Nodes {nodes} numbers them from 0 to {}; correct the \
                 number or raise Nodes",
                i64::from(nodes) - 1
            )),
            Err(_) => Err(format!(
                "{text:?} in {pair:?} is no node number; write source->destination without blanks"
            )),
        };
        let (src, dst) = (node(src)?, node(dst)?);
        if src == dst {
            return Err(format!("node {src} sends to itself; give another node"));
        }
        Ok((src, dst))
    }

    fn take_id(&mut self, id: u32) -> Result<(), String> {
        if id == 0 || !self.ids.insert(id) {
            return Err(format!(
                "flow id {id} is 0 or used already; give another one"
            ));
        }
        Ok(())
    }

    fn read_trigger<'a>(
        &mut self,
        mut tokens: impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let (mut id, mut count, mut word) = (None, None, None);
        while let Some(keyword) = tokens.next() {
            match keyword {
                "id" => id = Some(number::<u32>(&mut tokens, keyword)?),
                "count" => count = Some(number::<u32>(&mut tokens, keyword)?),
                "oneshot" | "multishot" | "barrier" if word.is_none() => word = Some(keyword),
                other => {
                    return Err(format!(
                        "unknown or repeated keyword {other:?}; a trigger has id, count and one of \
                         oneshot, multishot, barrier"
                    ))
                }
            }
        }
        let id = match id {
            Some(id) if id > 0 => id,
            _ => return Err("a trigger without an id above 0; add id and a number".into()),
        };
        let kind = match (word, count) {
            (Some("oneshot"), _) => Kind::OneShot,
            (Some("multishot"), _) => Kind::MultiShot,
            (Some(_), Some(count)) if count > 0 => Kind::Barrier(count),
            (Some(_), _) => return Err("a barrier without a count above 0; add count".into()),
            (None, _) => {
                return Err("a trigger without a type; add oneshot, multishot or barrier".into())
            }
        };
        if self.triggers.insert(id, (self.line, kind)).is_some() {
            return Err(format!(
                "trigger {id} is defined twice; remove one definition"
            ));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), Fault> {
        let fail = |message: String| Err((self.line.max(1), message));
        if self.nodes.is_none() {
            return fail("lacks the Nodes line; add Nodes and the number of hosts".into());
        }
        let Some(due) = self.connections_due else {
            return fail("lacks the Connections line; add Connections and their number".into());
        };
        for (name, due, found) in [
            ("Connections", due, self.connections.len()),
            ("Triggers", self.triggers_due, self.triggers.len()),
        ] {
            if found != due as usize {
                return fail(format!(
                    "{name} says {due} but the file has {found}; correct the number or the lines"
                ));
            }
        }
        Ok(())
    }
}

/// A start time in picoseconds; htsim's files may give it with a decimal point.
fn read_time(token: Option<&str>) -> Result<Ps, String> {
    let Some(token) = token else {
        return Err("\"start\" lacks its time; add picoseconds".into());
    };
    if let Ok(time) = token.parse::<Ps>() {
        return Ok(time);
    }
    match token.parse::<f64>() {
        Ok(time) if (0.0..9e18).contains(&time) => Ok(time as Ps),
        _ => Err(format!(
            "{token:?} after \"start\" is no time; give picoseconds from 0 up"
        )),
    }
}

/// The start time; a connection has either one or a trigger.
fn fixed_start(start: Option<Ps>, waits: Option<u32>) -> Result<Ps, String> {
    match (start, waits) {
        (Some(at), None) => Ok(at),
        (None, Some(_)) => Ok(0),
        (None, None) => Err("says not when it starts; add start or trigger".into()),
        (Some(_), Some(_)) => Err("has start and trigger; keep one of them".into()),
    }
}

/// Turns the file's triggers and connections into a workload.
fn build(file: &File) -> Result<Workload, Fault> {
    check_trigger_use(file)?;
    let too_many = |line: usize| move |error: WorkloadError| (line, error.to_string());
    let mut workload = Workload::default();
    // A file's trigger maps to one trigger, a multishot one to a trigger for each flow that waits.
    let mut indices: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&id, &(line, kind)) in &file.triggers {
        let counts = match kind {
            Kind::OneShot => 1..=1,
            Kind::Barrier(count) => count..=count,
            Kind::MultiShot => 1..=waiting(file, id) as u32,
        };
        let list: Result<Vec<u32>, WorkloadError> = counts
            .map(|count| workload.add_trigger(Trigger::after(count)))
            .collect();
        indices.insert(id, list.map_err(too_many(line))?);
    }
    let mut next_shot: BTreeMap<u32, usize> = BTreeMap::new();
    for connection in &file.connections {
        let targets: Vec<u32> = connection
            .done
            .iter()
            .filter_map(|id| indices.get(id))
            .flatten()
            .copied()
            .collect();
        let done = fan_in(&mut workload, &targets).map_err(too_many(connection.line))?;
        let start = match connection.waits.map(|id| (id, indices.get(&id))) {
            Some((id, Some(list))) => {
                let shot = next_shot.entry(id).or_default();
                let index = list[(*shot).min(list.len() - 1)];
                *shot += 1;
                Start::On(index, 0)
            }
            _ => Start::At(connection.at),
        };
        workload.flows.push(FlowSpec {
            src: connection.src,
            dst: connection.dst,
            bytes: connection.bytes,
            start,
            done,
            group: 0,
        });
    }
    Ok(workload)
}

/// The one trigger a flow names so that all of `targets` get its completion.
fn fan_in(workload: &mut Workload, targets: &[u32]) -> Result<Option<u32>, WorkloadError> {
    if targets.len() < 2 {
        return Ok(targets.first().copied());
    }
    let then = targets
        .iter()
        .map(|&trigger| Next { trigger, delay: 0 })
        .collect();
    workload.add_trigger(Trigger { count: 1, then }).map(Some)
}

fn waiting(file: &File, id: u32) -> usize {
    file.connections
        .iter()
        .filter(|c| c.waits == Some(id))
        .count()
}

/// Every trigger that is used must be defined and get as many completions as it takes.
fn check_trigger_use(file: &File) -> Result<(), Fault> {
    let mut named: BTreeMap<u32, usize> = BTreeMap::new();
    for connection in &file.connections {
        for id in connection.waits.iter().chain(&connection.done) {
            if !file.triggers.contains_key(id) {
                let message = format!("trigger {id} is not defined; add a line trigger id {id}");
                return Err((connection.line, message));
            }
        }
        for &id in &connection.done {
            *named.entry(id).or_default() += 1;
        }
    }
    for (id, &(line, kind)) in &file.triggers {
        let named = named.get(id).copied().unwrap_or_default();
        let (fits, due) = match kind {
            Kind::OneShot => (named == 1, "exactly 1".to_owned()),
            Kind::Barrier(count) => (named == count as usize, format!("exactly {count}")),
            Kind::MultiShot => {
                let due = waiting(file, *id);
                (named >= due, format!("at least {due}"))
            }
        };
        if !fits {
            let message = format!(
                "trigger {id} gets {named} completions and needs {due}; name it in as many \
                 send_done_trigger or recv_done_trigger entries"
            );
            return Err((line, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
