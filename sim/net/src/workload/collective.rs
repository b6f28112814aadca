//! Collective operations as point-to-point flows.
//!
//! Rings: member `i` sends to member `i + 1`. In every step each member passes one of `n` chunks on, the
//! one it received in the step before, so a step of a member starts when the step before of its left
//! neighbour has arrived. A reduce-scatter or an all-gather takes `n - 1` steps, an all-reduce is one
//! after the other. Reduction itself takes no time. The direct all-to-all sends everything at once.
//!
//! A chunk that would be empty (fewer bytes than members) is one byte long: its arrival still matters.

use super::{FlowSpec, Next, Start, Trigger, Workload, WorkloadError};

/// Who takes part in a collective, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collective<'a> {
    /// Hosts of the members, in ring order.
    pub hosts: &'a [u32],
    /// Size of the whole vector in bytes: what each member holds before a reduce-scatter, all-reduce
    /// or all-to-all, or after an all-gather.
    pub bytes: u64,
    /// When all members begin. A trigger must belong to the workload the collective is added to.
    pub start: Start,
    /// Label of the flows.
    pub group: u32,
}

/// Adds a ring all-reduce: `2 (n - 1)` steps of `bytes / n`. Returns a trigger that fires when every
/// member has the result.
pub fn ring_all_reduce(
    workload: &mut Workload,
    collective: &Collective<'_>,
) -> Result<u32, WorkloadError> {
    let steps = 2 * collective.hosts.len().saturating_sub(1);
    add_ring(workload, "ring all-reduce", collective, steps)
}

/// Adds a ring reduce-scatter: `n - 1` steps of `bytes / n`. Returns a trigger that fires when every
/// member has its part of the result.
pub fn ring_reduce_scatter(
    workload: &mut Workload,
    collective: &Collective<'_>,
) -> Result<u32, WorkloadError> {
    let steps = collective.hosts.len().saturating_sub(1);
    add_ring(workload, "ring reduce-scatter", collective, steps)
}

/// Adds a ring all-gather: `n - 1` steps of `bytes / n`. Returns a trigger that fires when every member
/// has the whole vector.
pub fn ring_all_gather(
    workload: &mut Workload,
    collective: &Collective<'_>,
) -> Result<u32, WorkloadError> {
    let steps = collective.hosts.len().saturating_sub(1);
    add_ring(workload, "ring all-gather", collective, steps)
}

/// Adds a direct all-to-all: every member sends `bytes / n` to each other one, all at once. Returns a
/// trigger that fires when every member has everything.
pub fn direct_all_to_all(
    workload: &mut Workload,
    collective: &Collective<'_>,
) -> Result<u32, WorkloadError> {
    let (members, done) = members(workload, "direct all-to-all", collective)?;
    let n = members.len() as u32;
    workload.triggers[done as usize].count = n * (n - 1);
    let chunks = split(collective.bytes, members.len());
    all_to_all_flows(workload, &members, &chunks, collective.group);
    Ok(done)
}

fn add_ring(
    workload: &mut Workload,
    what: &'static str,
    collective: &Collective<'_>,
    steps: usize,
) -> Result<u32, WorkloadError> {
    let (members, done) = members(workload, what, collective)?;
    workload.triggers[done as usize].count = members.len() as u32;
    let chunks = split(collective.bytes, members.len());
    let ring = Ring {
        chunks: &chunks,
        steps,
        waits_for_self: false,
        group: collective.group,
    };
    ring.add(workload, &members)?;
    Ok(done)
}

/// Checks the members and gives them a common trigger for the end.
fn members(
    workload: &mut Workload,
    what: &'static str,
    collective: &Collective<'_>,
) -> Result<(Vec<Member>, u32), WorkloadError> {
    let hosts = collective.hosts;
    // The bound keeps n (n - 1) within a trigger's count.
    if hosts.len() < 2 || hosts.len() > 1 << 16 {
        let message = format!("needs 2 to 65536 members, got {}", hosts.len());
        return Err(WorkloadError::argument(what, message));
    }
    if collective.bytes == 0 {
        return Err(WorkloadError::argument(
            what,
            "0 bytes; give at least 1 byte",
        ));
    }
    let mut sorted = hosts.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("host {} is listed twice; list each host once", pair[0]);
        return Err(WorkloadError::argument(what, message));
    }
    let done = workload.add_trigger(Trigger::default())?;
    let members = hosts.iter().map(|&host| Member {
        host,
        start: collective.start,
        done,
    });
    Ok((members.collect(), done))
}

/// Cuts a vector into `parts` chunks that differ by at most one byte, none of them empty.
pub(super) fn split(bytes: u64, parts: usize) -> Vec<u64> {
    let parts = parts as u64;
    let chunk = |i| bytes / parts + u64::from(i < bytes % parts);
    (0..parts).map(|i| chunk(i).max(1)).collect()
}

/// One member of a collective.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Its host.
    pub host: u32,
    /// When it begins.
    pub start: Start,
    /// Trigger that gets a completion for each last arrival at this member; the caller sets the count.
    pub done: u32,
}

/// Shape of a ring operation.
pub(super) struct Ring<'a> {
    /// Bytes of each chunk, one chunk a member.
    pub chunks: &'a [u64],
    /// Number of steps, at least 1.
    pub steps: usize,
    /// Members begin at different times, each at its own trigger: what a member does must then wait for
    /// its own beginning as well as for its neighbour. `done` gets one more completion for it.
    pub waits_for_self: bool,
    /// Label of the flows.
    pub group: u32,
}

impl Ring<'_> {
    /// Adds the flows and the triggers between the steps. Each member's `done` gets one completion, or
    /// two with `waits_for_self`.
    pub fn add(&self, workload: &mut Workload, members: &[Member]) -> Result<(), WorkloadError> {
        let n = members.len();
        let gates = members
            .iter()
            .map(|member| self.add_gates(workload, member))
            .collect::<Result<Vec<_>, _>>()?;
        for (i, member) in members.iter().enumerate() {
            let right = (i + 1) % n;
            for step in 0..self.steps {
                // Whatever arrives in step s is what the right neighbour needs for step s + 1.
                let done = gates[right].get(step).copied();
                let start = match step.checked_sub(1) {
                    None => member.start,
                    Some(before) => Start::On(gates[i][before], 0),
                };
                workload.flows.push(FlowSpec {
                    src: member.host,
                    dst: members[right].host,
                    bytes: self.chunks[(i + self.steps * n - step) % n],
                    start,
                    done: Some(done.unwrap_or(members[right].done)),
                    group: self.group,
                });
            }
        }
        Ok(())
    }

    /// Triggers before steps 1, 2, ... of a member.
    fn add_gates(
        &self,
        workload: &mut Workload,
        member: &Member,
    ) -> Result<Vec<u32>, WorkloadError> {
        let count = 1 + u32::from(self.waits_for_self);
        let gates = (1..self.steps)
            .map(|_| workload.add_trigger(Trigger::after(count)))
            .collect::<Result<Vec<_>, _>>()?;
        if let (true, Start::On(begin, _)) = (self.waits_for_self, member.start) {
            let mut last = begin;
            for &gate in gates.iter().chain([&member.done]) {
                pass_on(workload, last, gate, 0);
                last = gate;
            }
        }
        Ok(gates)
    }
}

/// Makes `from` hand a completion to `to`, `delay` picoseconds after it fires.
pub(super) fn pass_on(workload: &mut Workload, from: u32, to: u32, delay: u64) {
    let next = Next { trigger: to, delay };
    workload.triggers[from as usize].then.push(next);
}

/// Adds the flows of a direct all-to-all: `chunks[j]` to member `j`. Each member's `done` gets `n - 1`
/// completions.
pub(super) fn all_to_all_flows(
    workload: &mut Workload,
    members: &[Member],
    chunks: &[u64],
    group: u32,
) {
    let n = members.len();
    for (i, member) in members.iter().enumerate() {
        // Beginning with the right neighbour keeps the order of the flows from making an incast.
        for j in (1..n).map(|distance| (i + distance) % n) {
            workload.flows.push(FlowSpec {
                src: member.host,
                dst: members[j].host,
                bytes: chunks[j],
                start: member.start,
                done: Some(members[j].done),
                group,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collective(hosts: &[u32], bytes: u64) -> Collective<'_> {
        Collective {
            hosts,
            bytes,
            start: Start::At(0),
            group: 4,
        }
    }

    /// Runs with one time unit a flow and returns when the trigger fires.
    fn fires_at(workload: &Workload, trigger: u32) -> u64 {
        let mut fired = vec![None; workload.triggers.len()];
        // One round per time unit; long enough for every case here.
        for now in 0..100u64 {
            let mut got = vec![0; fired.len()];
            for flow in &workload.flows {
                let begin = match flow.start {
                    Start::At(at) => Some(at),
                    Start::On(on, delay) => fired[on as usize].map(|at: u64| at + delay),
                };
                if let (Some(begin), Some(done)) = (begin, flow.done) {
                    got[done as usize] += u32::from(begin < now);
                }
            }
            for (i, trigger) in workload.triggers.iter().enumerate() {
                if fired[i].is_none() && got[i] >= trigger.count {
                    fired[i] = Some(now);
                }
            }
        }
        fired[trigger as usize].unwrap()
    }

    #[test]
    fn rings_have_the_steps_and_the_bytes() {
        let hosts = [3, 1, 4, 5];
        let mut workload = Workload::default();
        let done = ring_all_reduce(&mut workload, &collective(&hosts, 400)).unwrap();
        assert_eq!(workload.flows.len(), 4 * 6);
        assert!(workload
            .flows
            .iter()
            .all(|f| f.bytes == 100 && f.group == 4));
        assert_eq!(workload.validate(6), Ok(()));
        assert_eq!(fires_at(&workload, done), 6);
        for add in [ring_all_gather, ring_reduce_scatter] {
            let mut workload = Workload::default();
            let done = add(&mut workload, &collective(&hosts, 400)).unwrap();
            assert_eq!(workload.total_bytes(), 4 * 300);
            assert_eq!(fires_at(&workload, done), 3);
            assert_eq!(workload.validate(6), Ok(()));
        }
    }

    #[test]
    fn every_chunk_goes_around_the_ring() {
        // Chunks of 5, 4 and 4 bytes: each is sent n - 1 times in an all-gather.
        let mut workload = Workload::default();
        ring_all_gather(&mut workload, &collective(&[0, 1, 2], 13)).unwrap();
        assert_eq!(workload.total_bytes(), 26);
        // Member 0 starts with its own chunk and passes on what its left neighbour owned.
        let sent: Vec<u64> = workload.flows[..2].iter().map(|f| f.bytes).collect();
        assert_eq!(sent, [5, 4]);
    }

    #[test]
    fn a_ring_step_waits_for_the_left_neighbour() {
        let mut workload = Workload::default();
        ring_all_reduce(&mut workload, &collective(&[0, 1, 2], 9)).unwrap();
        for flow in &workload.flows {
            if let Start::On(gate, 0) = flow.start {
                let before = workload.flows.iter().find(|f| f.done == Some(gate));
                assert_eq!(before.map(|f| f.dst), Some(flow.src));
            }
        }
    }

    #[test]
    fn all_to_all_is_one_step() {
        let mut workload = Workload::default();
        let done = direct_all_to_all(&mut workload, &collective(&[0, 1, 2, 3], 8)).unwrap();
        assert_eq!((workload.flows.len(), workload.total_bytes()), (12, 24));
        assert_eq!(workload.validate(4), Ok(()));
        assert_eq!(fires_at(&workload, done), 1);
    }

    #[test]
    fn collectives_follow_each_other() {
        let mut workload = Workload::default();
        let hosts = [0, 1];
        let first = ring_all_gather(&mut workload, &collective(&hosts, 1)).unwrap();
        let second = Collective {
            start: Start::On(first, 20),
            ..collective(&hosts, 1)
        };
        let done = ring_all_gather(&mut workload, &second).unwrap();
        assert_eq!(workload.validate(2), Ok(()));
        assert_eq!(fires_at(&workload, done), 22);
        assert!(workload.flows.iter().all(|f| f.bytes == 1));
    }

    #[test]
    fn bad_arguments_are_refused() {
        let mut workload = Workload::default();
        for (hosts, bytes) in [(&[0][..], 5), (&[0, 1], 0), (&[0, 1, 0], 5), (&[], 1)] {
            assert!(ring_all_reduce(&mut workload, &collective(hosts, bytes)).is_err());
            assert!(direct_all_to_all(&mut workload, &collective(hosts, bytes)).is_err());
        }
        assert_eq!(workload, Workload::default());
    }
}
