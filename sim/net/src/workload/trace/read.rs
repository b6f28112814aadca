//! Reading of per-rank trace files and process groups.

use super::super::{read_text, WorkloadError};
use super::Stage;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The first line of a trace that is no comment.
const HEADER: &str = "id,kind,comm_elements,comm_group_or_peer,num_ops,tensor_elems,deps,name";

/// A collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// Every rank gets every rank's part.
    AllGather,
    /// The sum, each rank getting one part of it.
    ReduceScatter,
    /// The sum, on every rank.
    AllReduce,
    /// Every rank sends a different part to every other.
    AllToAll,
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Computation.
    Compute {
        /// Floating-point operations.
        operations: u64,
    },
    /// A collective among the ranks of a process group.
    Collective {
        /// Which one.
        operation: Collective,
        /// Tensor elements this rank puts in.
        elements: u64,
        /// Number of the process group.
        group: u32,
    },
    /// A message to another rank.
    Send {
        /// Tensor elements.
        elements: u64,
        /// Receiving rank.
        peer: u32,
    },
    /// A message from another rank.
    Receive {
        /// Tensor elements.
        elements: u64,
        /// Sending rank.
        peer: u32,
    },
}

/// One row of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Number of the node, unique in its file.
    pub id: u32,
    /// Line in the file.
    pub line: usize,
    /// What it does.
    pub kind: NodeKind,
    /// Positions in [`RankTrace::nodes`] of the nodes that must end first.
    pub deps: Vec<usize>,
    /// Name in the trace.
    pub name: String,
}

impl Node {
    /// The part of the name that a send and its receive have in common.
    pub fn message_name(&self) -> &str {
        let name = self.name.strip_prefix("shadow_").unwrap_or(&self.name);
        let end = |suffix| name.strip_suffix(suffix);
        end("_SEND").or_else(|| end("_RECV")).unwrap_or(name)
    }

    /// The micro-batch in the name, from `mb2.` or `shadow_mb2.` at its beginning.
    fn micro_batch(&self) -> Option<u32> {
        let name = self.name.strip_prefix("shadow_").unwrap_or(&self.name);
        name.strip_prefix("mb")?.split('.').next()?.parse().ok()
    }
}

/// The graph of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankTrace {
    path: String,
    rank: u32,
    nodes: Vec<Node>,
}

impl RankTrace {
    /// Reads the trace of `rank` from a file.
    pub fn load(path: &Path, rank: u32) -> Result<Self, WorkloadError> {
        Self::parse(&path.display().to_string(), &read_text(path)?, rank)
    }

    /// Reads the trace of `rank` from text. `path` is used in error messages only.
    pub fn parse(path: &str, text: &str, rank: u32) -> Result<Self, WorkloadError> {
        let mut trace = Self {
            path: path.to_owned(),
            rank,
            nodes: Vec::new(),
        };
        let mut positions = BTreeMap::new();
        let mut deps: Vec<Vec<u32>> = Vec::new();
        let mut header = false;
        for (line, content) in (1..).zip(text.lines()) {
            if content.starts_with('#') || content.trim().is_empty() {
                continue;
            }
            if !header {
                header = true;
                if content.trim() != HEADER {
                    return Err(trace.error(line, format!("the first row must be {HEADER}")));
                }
                continue;
            }
            let (node, ids) = parse_row(line, content).map_err(|m| trace.error(line, m))?;
            if positions.insert(node.id, trace.nodes.len()).is_some() {
                let message = format!("node {} comes twice; give each its own id", node.id);
                return Err(trace.error(line, message));
            }
            trace.nodes.push(node);
            deps.push(ids);
        }
        if trace.nodes.is_empty() {
            let message = "has no nodes; give a row for each node after the header";
            return Err(trace.error(text.lines().count().max(1), message));
        }
        trace.resolve(&positions, &deps)?;
        trace.check_order()?;
        Ok(trace)
    }

    /// The rank whose trace this is.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The nodes in file order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Keeps the first `count` micro-batches only, for runs shorter than a whole iteration.
    /// Dependencies on what is left out are left out too; nodes of no micro-batch stay.
    pub fn keep_micro_batches(&mut self, count: u32) {
        let keep = |node: &Node| node.micro_batch().is_none_or(|batch| batch < count);
        let mut kept = 0;
        let moved: Vec<Option<usize>> = self
            .nodes
            .iter()
            .map(|node| {
                keep(node).then(|| {
                    kept += 1;
                    kept - 1
                })
            })
            .collect();
        self.nodes.retain(keep);
        for node in &mut self.nodes {
            node.deps = node.deps.iter().filter_map(|&dep| moved[dep]).collect();
        }
    }

    /// Number and kind of the node at a position.
    pub(super) fn at(&self, position: usize) -> Option<(u32, NodeKind)> {
        self.nodes.get(position).map(|node| (node.id, node.kind))
    }

    pub(super) fn error(&self, line: usize, message: impl Into<String>) -> WorkloadError {
        WorkloadError::Trace {
            path: self.path.clone(),
            line,
            message: message.into(),
        }
    }

    /// Replaces node numbers in the dependencies by positions.
    fn resolve(
        &mut self,
        positions: &BTreeMap<u32, usize>,
        deps: &[Vec<u32>],
    ) -> Result<(), WorkloadError> {
        for (index, ids) in deps.iter().enumerate() {
            let found: Result<BTreeSet<usize>, u32> = ids
                .iter()
                .map(|id| positions.get(id).copied().ok_or(*id))
                .collect();
            match found {
                Ok(list) => self.nodes[index].deps = list.into_iter().collect(),
                Err(id) => {
                    let message = format!("depends on node {id}, which the file lacks; add it");
                    return Err(self.error(self.nodes[index].line, message));
                }
            }
        }
        Ok(())
    }

    /// Refuses a graph with a cycle, naming a node that could never begin.
    fn check_order(&self) -> Result<(), WorkloadError> {
        let mut dependents = vec![Vec::new(); self.nodes.len()];
        let mut missing: Vec<usize> = self.nodes.iter().map(|node| node.deps.len()).collect();
        for (index, node) in self.nodes.iter().enumerate() {
            for &dep in &node.deps {
                dependents[dep].push(index);
            }
        }
        let mut ready: Vec<usize> = (0..missing.len()).filter(|&i| missing[i] == 0).collect();
        while let Some(index) = ready.pop() {
            for &next in &dependents[index] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push(next);
                }
            }
        }
        match missing.iter().position(|&left| left > 0) {
            None => Ok(()),
            Some(index) => {
                let node = &self.nodes[index];
                let message = format!("node {} waits for itself; break the cycle", node.id);
                Err(self.error(node.line, message))
            }
        }
    }
}

fn number(text: &str, what: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no {what}; give a whole number"))
}

fn small(text: &str, what: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no {what}; give a whole number below 2^32"))
}

/// One row: the node without its dependencies, and their numbers.
fn parse_row(line: usize, content: &str) -> Result<(Node, Vec<u32>), String> {
    // The name is the last column, so commas in it do no harm.
    let fields: Vec<&str> = content.splitn(8, ',').map(str::trim).collect();
    let [id, kind, elements, target, operations, _, deps, name] = fields[..] else {
        return Err(format!("has {} columns, not 8: {HEADER}", fields.len()));
    };
    let node = Node {
        id: small(id, "node id")?,
        line,
        kind: parse_kind(kind, elements, target, operations)?,
        deps: Vec::new(),
        name: name.to_owned(),
    };
    let deps = deps.split_whitespace().map(|id| small(id, "node id"));
    Ok((node, deps.collect::<Result<_, _>>()?))
}

fn parse_kind(
    kind: &str,
    elements: &str,
    target: &str,
    operations: &str,
) -> Result<NodeKind, String> {
    let sized = || match number(elements, "number of elements")? {
        0 => Err("communicates 0 elements; give at least 1".to_owned()),
        elements => Ok(elements),
    };
    let collective = |operation| {
        Ok(NodeKind::Collective {
            operation,
            elements: sized()?,
            group: small(target, "process group")?,
        })
    };
    match kind {
        "COMP_NODE" => Ok(NodeKind::Compute {
            operations: number(operations, "number of operations")?,
        }),
        "ALL_GATHER" => collective(Collective::AllGather),
        "REDUCE_SCATTER" => collective(Collective::ReduceScatter),
        "ALL_REDUCE" => collective(Collective::AllReduce),
        "ALL_TO_ALL" => collective(Collective::AllToAll),
        "COMM_SEND_NODE" => Ok(NodeKind::Send {
            elements: sized()?,
            peer: small(target, "peer rank")?,
        }),
        "COMM_RECV_NODE" => Ok(NodeKind::Receive {
            elements: sized()?,
            peer: small(target, "peer rank")?,
        }),
        other => Err(format!(
            "unknown kind {other:?}; use COMP_NODE, ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, \
             ALL_TO_ALL, COMM_SEND_NODE or COMM_RECV_NODE"
        )),
    }
}

/// The process groups of all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessGroups {
    groups: BTreeMap<u32, Vec<u32>>,
}

impl ProcessGroups {
    /// Reads the groups from a file.
    pub fn load(path: &Path) -> Result<Self, WorkloadError> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Reads the groups from JSON text, an object of group number to list of ranks. `path` is used in
    /// error messages only.
    pub fn parse(path: &str, text: &str) -> Result<Self, WorkloadError> {
        let fail = |line: usize, message: String| WorkloadError::Trace {
            path: path.to_owned(),
            line,
            message,
        };
        let groups: BTreeMap<u32, Vec<u32>> = serde_json::from_str(text).map_err(|error| {
            let message = format!("process groups: {error}; give {{\"group\": [rank, ...], ...}}");
            fail(error.line().max(1), message)
        })?;
        for (group, ranks) in &groups {
            let distinct: BTreeSet<u32> = ranks.iter().copied().collect();
            if ranks.is_empty() || distinct.len() != ranks.len() {
                let message = format!("group {group} is empty or names a rank twice; correct it");
                return Err(fail(text.lines().count().max(1), message));
            }
        }
        Ok(Self { groups })
    }

    /// The groups that the stage's ranks use where the trace's own rank uses `group`: those of the same
    /// shape (differences between the members) that have members in the stage. They must lie within the
    /// stage and cover each of its ranks once.
    pub(super) fn alike(
        &self,
        stage: &Stage<'_>,
        node: &Node,
        group: u32,
    ) -> Result<Vec<&[u32]>, WorkloadError> {
        let fail = |message: String| Err(stage.trace.error(node.line, message));
        let own = match self.groups.get(&group) {
            Some(own) if own.contains(&stage.trace.rank()) => own,
            _ => {
                return fail(format!(
                    "rank {} is in no process group {group}; check the group file",
                    stage.trace.rank()
                ))
            }
        };
        let shape = |ranks: &[u32]| -> Vec<i64> {
            let first = ranks.first().map_or(0, |&rank| i64::from(rank));
            ranks.iter().map(|&rank| i64::from(rank) - first).collect()
        };
        let own_shape = shape(own);
        let mut open: BTreeSet<u32> = stage.ranks.iter().copied().collect();
        let mut found = Vec::new();
        for ranks in self.groups.values().filter(|r| shape(r) == own_shape) {
            let inside = ranks.iter().filter(|rank| open.remove(rank)).count();
            if inside == ranks.len() {
                found.push(&ranks[..]);
            } else if inside > 0 {
                return fail(format!(
                    "a group shaped like {group} has ranks outside the stage or in another such \
                     group; list all ranks of the stage"
                ));
            }
        }
        match open.first() {
            Some(rank) => fail(format!(
                "rank {rank} has no process group shaped like {group}; check the group file"
            )),
            None => Ok(found),
        }
    }
}
