//! Replay of training traces: one CSV file a rank with computation and communication nodes and their
//! dependencies, as made from STAGE graphs.
//!
//! # What is modelled
//!
//! * The full dependency graph of every replayed rank: a node begins when all nodes it depends on have
//!   ended on that rank. Operations that do not depend on each other overlap, computation too: a rank is
//!   not limited to one computation at a time.
//! * Computation takes `operations / flops_per_second`, or no time.
//! * All-gather, reduce-scatter and all-reduce are rings, all-to-all is direct (see
//!   [`super::collective`]). A collective ends on a rank when that rank has received everything.
//! * A send ends at once and never holds up its rank; the receive of the peer ends when it has arrived.
//! * `comm_elements` is what a rank puts in: of an all-gather its own part (each ring step passes one
//!   such part on), of all others the whole vector (each step or message is one n-th of it).
//!
//! All ranks of a pipeline stage have the same graph, so one file stands for the stage: other ranks use
//! their own process groups of the same shape, and their peers are shifted by the difference of the rank
//! numbers. Of a subset of the stages, sends to ranks outside are left out, and receives from them end
//! as soon as they begin.

mod read;

use super::collective::{all_to_all_flows, pass_on, split, Member, Ring};
use super::{FlowSpec, Start, Trigger, Workload, WorkloadError};
use crate::time::Ps;
pub use read::{Collective, Node, NodeKind, ProcessGroups, RankTrace};
use std::collections::BTreeMap;

const WHAT: &str = "trace replay";

/// A rank's trace and the ranks that run it.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// The trace of one of the stage's ranks.
    pub trace: &'a RankTrace,
    /// All ranks of the stage, for instance 0 to 63.
    pub ranks: &'a [u32],
}

/// How to replay a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayOptions {
    /// Bytes of a tensor element: 2 for bf16, 4 for fp32.
    pub bytes_per_element: u64,
    /// All message sizes are divided by this (at least 1 byte remains), for runs shorter than the
    /// trace. 1 keeps the trace's sizes.
    pub shrink: u64,
    /// Speed of a rank in operations a second; `None` lets computation take no time.
    pub flops_per_second: Option<f64>,
    /// Label of the flows.
    pub group: u32,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            bytes_per_element: 2,
            shrink: 1,
            flops_per_second: None,
            group: 0,
        }
    }
}

/// Builds the workload of all stages given. `hosts` gives each rank its host, in the order in which the
/// stages list the ranks; no two ranks share a host.
pub fn replay(
    stages: &[Stage<'_>],
    groups: &ProcessGroups,
    hosts: &[u32],
    options: &ReplayOptions,
) -> Result<Workload, WorkloadError> {
    check(stages, hosts, options)?;
    let ranks = stages.iter().flat_map(|stage| stage.ranks).copied();
    let mut replay = Replay {
        groups,
        options,
        hosts: ranks.zip(hosts.iter().copied()).collect(),
        workload: Workload::default(),
        ends: BTreeMap::new(),
        receives: BTreeMap::new(),
    };
    for stage in stages {
        replay.add_triggers(stage)?;
    }
    for stage in stages {
        replay.add_dependencies(stage);
    }
    for stage in stages {
        replay.add_flows(stage)?;
    }
    replay.check_receives()?;
    Ok(replay.workload)
}

fn check(
    stages: &[Stage<'_>],
    hosts: &[u32],
    options: &ReplayOptions,
) -> Result<(), WorkloadError> {
    let fail = |message: String| Err(WorkloadError::argument(WHAT, message));
    let mut ranks: Vec<u32> = stages.iter().flat_map(|s| s.ranks).copied().collect();
    if ranks.len() != hosts.len() {
        let (ranks, hosts) = (ranks.len(), hosts.len());
        return fail(format!(
            "{ranks} ranks but {hosts} hosts; give one host a rank"
        ));
    }
    for (list, name) in [(&mut ranks, "rank"), (&mut hosts.to_vec(), "host")] {
        list.sort_unstable();
        if let Some(pair) = list.windows(2).find(|pair| pair[0] == pair[1]) {
            return fail(format!("{name} {} comes twice; use each once", pair[0]));
        }
    }
    if options.bytes_per_element == 0 || options.shrink == 0 {
        return fail("bytes per element and shrink must be at least 1".into());
    }
    match options.flops_per_second {
        Some(speed) if !(speed > 0.0 && speed.is_finite()) => fail(format!(
            "a speed of {speed} operations a second; give a number above 0, or none"
        )),
        _ => Ok(()),
    }
}

/// What a message between two ranks is called on both sides.
type MessageKey<'a> = (u32, u32, &'a str);

struct Replay<'a> {
    groups: &'a ProcessGroups,
    options: &'a ReplayOptions,
    /// Host of each replayed rank.
    hosts: BTreeMap<u32, u32>,
    workload: Workload,
    /// For (rank, node number): trigger at its begin and trigger at its end; the same one for all but
    /// collectives.
    ends: BTreeMap<(u32, u32), (u32, u32)>,
    /// Receives that no send has been found for: their trigger and the place in the file.
    receives: BTreeMap<MessageKey<'a>, (u32, &'a RankTrace, usize)>,
}

impl<'a> Replay<'a> {
    /// Gives every node of every rank its triggers.
    fn add_triggers(&mut self, stage: &Stage<'a>) -> Result<(), WorkloadError> {
        for &rank in stage.ranks {
            for node in stage.trace.nodes() {
                let begin = self
                    .workload
                    .add_trigger(Trigger::after(node.deps.len() as u32))?;
                let mut end = begin;
                if let NodeKind::Collective { .. } = node.kind {
                    end = self.workload.add_trigger(Trigger::default())?;
                }
                self.ends.insert((rank, node.id), (begin, end));
                if let NodeKind::Receive { peer, .. } = node.kind {
                    let peer = shifted(stage.trace, node, peer, rank)?;
                    if self.hosts.contains_key(&peer) {
                        // It ends when the message is there too.
                        self.workload.triggers[begin as usize].count += 1;
                        let key = (peer, rank, node.message_name());
                        let place = (begin, stage.trace, node.line);
                        if self.receives.insert(key, place).is_some() {
                            let message = "a second receive of the same name from the same peer";
                            return Err(stage.trace.error(node.line, message));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets the end of each node count for the nodes that depend on it.
    fn add_dependencies(&mut self, stage: &Stage<'a>) {
        for &rank in stage.ranks {
            for node in stage.trace.nodes() {
                let Some(&(begin, _)) = self.ends.get(&(rank, node.id)) else {
                    continue;
                };
                for (id, kind) in node.deps.iter().filter_map(|&i| stage.trace.at(i)) {
                    if let Some(&(_, end)) = self.ends.get(&(rank, id)) {
                        let delay = self.duration(kind);
                        pass_on(&mut self.workload, end, begin, delay);
                    }
                }
            }
        }
    }

    fn duration(&self, kind: NodeKind) -> Ps {
        match (kind, self.options.flops_per_second) {
            (NodeKind::Compute { operations }, Some(speed)) => {
                (operations as f64 / speed * 1e12) as Ps
            }
            _ => 0,
        }
    }

    fn add_flows(&mut self, stage: &Stage<'a>) -> Result<(), WorkloadError> {
        for node in stage.trace.nodes() {
            match node.kind {
                NodeKind::Compute { .. } | NodeKind::Receive { .. } => {}
                NodeKind::Send { elements, peer } => {
                    for &rank in stage.ranks {
                        let peer = shifted(stage.trace, node, peer, rank)?;
                        self.add_send(stage.trace, node, (rank, peer), elements)?;
                    }
                }
                NodeKind::Collective {
                    operation,
                    elements,
                    group,
                } => {
                    for members in self.groups.alike(stage, node, group)? {
                        self.add_collective(node, operation, elements, members)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_send(
        &mut self,
        trace: &'a RankTrace,
        node: &'a Node,
        (rank, peer): (u32, u32),
        elements: u64,
    ) -> Result<(), WorkloadError> {
        let (Some(&src), Some(&dst)) = (self.hosts.get(&rank), self.hosts.get(&peer)) else {
            return Ok(());
        };
        let key = (rank, peer, node.message_name());
        let Some((arrival, ..)) = self.receives.remove(&key) else {
            let message = format!("rank {peer} has no receive for this send of rank {rank}");
            return Err(trace.error(node.line, message));
        };
        if let Some(&(begin, _)) = self.ends.get(&(rank, node.id)) {
            self.workload.flows.push(FlowSpec {
                src,
                dst,
                bytes: self.bytes(elements),
                start: Start::On(begin, 0),
                done: Some(arrival),
                group: self.options.group,
            });
        }
        Ok(())
    }

    fn bytes(&self, elements: u64) -> u64 {
        let bytes = elements.saturating_mul(self.options.bytes_per_element);
        (bytes / self.options.shrink).max(1)
    }

    fn add_collective(
        &mut self,
        node: &Node,
        operation: Collective,
        elements: u64,
        ranks: &[u32],
    ) -> Result<(), WorkloadError> {
        let members: Vec<(u32, Member)> = ranks
            .iter()
            .filter_map(|rank| {
                let &(begin, done) = self.ends.get(&(*rank, node.id))?;
                let start = Start::On(begin, 0);
                let host = *self.hosts.get(rank)?;
                Some((begin, Member { host, start, done }))
            })
            .collect();
        let n = members.len();
        let arrivals = match operation {
            _ if n < 2 => 0,
            Collective::AllToAll => n as u32 - 1,
            _ => 1,
        };
        for (begin, member) in &members {
            // The rank itself must have begun, whatever has arrived before that.
            self.workload.triggers[member.done as usize].count = arrivals + 1;
            if n < 2 || operation == Collective::AllToAll {
                pass_on(&mut self.workload, *begin, member.done, 0);
            }
        }
        if n < 2 {
            return Ok(());
        }
        let members: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
        self.add_messages(operation, self.bytes(elements), &members)
    }

    /// The flows of one collective of at least two members.
    fn add_messages(
        &mut self,
        operation: Collective,
        bytes: u64,
        members: &[Member],
    ) -> Result<(), WorkloadError> {
        let n = members.len();
        let group = self.options.group;
        let (chunks, steps) = match operation {
            Collective::AllToAll => {
                all_to_all_flows(&mut self.workload, members, &split(bytes, n), group);
                return Ok(());
            }
            Collective::AllGather => (vec![bytes; n], n - 1),
            Collective::ReduceScatter => (split(bytes, n), n - 1),
            Collective::AllReduce => (split(bytes, n), 2 * (n - 1)),
        };
        let ring = Ring {
            chunks: &chunks,
            steps,
            waits_for_self: true,
            group,
        };
        ring.add(&mut self.workload, members)
    }

    fn check_receives(&self) -> Result<(), WorkloadError> {
        match self.receives.iter().next() {
            None => Ok(()),
            Some((&(peer, rank, _), &(_, trace, line))) => {
                let message = format!("rank {peer} has no send for this receive of rank {rank}");
                Err(trace.error(line, message))
            }
        }
    }
}

/// The peer of `rank` where the trace's own rank talks to `peer`.
fn shifted(trace: &RankTrace, node: &Node, peer: u32, rank: u32) -> Result<u32, WorkloadError> {
    let shifted = i64::from(peer) + i64::from(rank) - i64::from(trace.rank());
    u32::try_from(shifted).map_err(|_| {
        let message = format!("rank {rank} would have the peer {shifted}; check the stage's ranks");
        trace.error(node.line, message)
    })
}

#[cfg(test)]
mod tests;
