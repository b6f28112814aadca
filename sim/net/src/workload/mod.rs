//! What the simulated hosts send: flows, the triggers that start them, and where they come from.
//!
//! A [`Workload`] is a list of flows and a list of triggers. A flow starts at a fixed time or when a
//! trigger fires; the flow's end counts as one completion of the trigger it names. That is enough for
//! rings, barriers and whole dependency graphs, so synthetic patterns ([`generate`]), size tables
//! ([`cdf`]), connection-matrix files ([`matrix`]), collectives ([`collective`]) and training traces
//! ([`trace`]) all end in the same form.

pub mod cdf;
pub mod collective;
pub mod generate;
pub mod matrix;
pub mod trace;

use crate::time::Ps;
use std::path::Path;

/// When a flow starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Start {
    /// At this time, in picoseconds from the start of the run.
    At(Ps),
    /// The given delay (picoseconds) after the trigger with this index fires.
    On(u32, Ps),
}

/// One flow (one message) between two hosts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FlowSpec {
    /// Sending host.
    pub src: u32,
    /// Receiving host, never equal to `src`.
    pub dst: u32,
    /// Payload in bytes, at least 1.
    pub bytes: u64,
    /// When the sender gets the message.
    pub start: Start,
    /// Index of the trigger that gets one completion when the receiver has everything.
    pub done: Option<u32>,
    /// Job or group label, used to compute job completion times.
    pub group: u32,
}

/// A completion that a fired trigger passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Next {
    /// Index of the trigger that gets the completion.
    pub trigger: u32,
    /// How long after the firing, in picoseconds (a compute time, for instance).
    pub delay: Ps,
}

/// Fires once, when it has received `count` completions.
///
/// Completions come from flows that name the trigger as [`FlowSpec::done`] and from other triggers
/// through [`Trigger::then`]. A count of 0 means "fires at time 0". Firing starts every flow that waits
/// on the trigger and passes the completions of `then` on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Trigger {
    /// Completions needed.
    pub count: u32,
    /// Completions handed to other triggers by the firing. Empty for everything but connection
    /// matrices with shared triggers and trace replays, where a flow must wait for local events too.
    pub then: Vec<Next>,
}

impl Trigger {
    /// A trigger that fires after `count` completions and passes none on.
    pub fn after(count: u32) -> Self {
        Self {
            count,
            then: Vec::new(),
        }
    }
}

/// Flows and the triggers they use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workload {
    /// The flows. Their order has no meaning for time.
    pub flows: Vec<FlowSpec>,
    /// The triggers; flows and other triggers refer to them by index.
    pub triggers: Vec<Trigger>,
}

/// Why a workload cannot be built or run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A file cannot be read.
    #[error("{path}: cannot be read: {message}; check the path and the permissions")]
    Read {
        /// File.
        path: String,
        /// What the operating system said.
        message: String,
    },
    /// A flow-size table is wrong.
    #[error("{path}:{line}: flow-size table: {message}")]
    Cdf {
        /// File, or the name of a built-in table.
        path: String,
        /// Line, from 1; for a fault of the whole file, its last line.
        line: usize,
        /// What is wrong and how to mend it.
        message: String,
    },
    /// A connection-matrix file is wrong.
    #[error("{path}:{line}: connection matrix: {message}")]
    Matrix {
        /// File.
        path: String,
        /// Line, from 1; for a fault of the whole file, its last line.
        line: usize,
        /// What is wrong and how to mend it.
        message: String,
    },
    /// A collective trace or its process-group file is wrong.
    #[error("{path}:{line}: trace: {message}")]
    Trace {
        /// File.
        path: String,
        /// Line, from 1; for a fault of the whole file, its last line.
        line: usize,
        /// What is wrong and how to mend it.
        message: String,
    },
    /// A generator or a replay got arguments it cannot use.
    #[error("{what}: {message}")]
    Argument {
        /// The generator.
        what: &'static str,
        /// What is wrong and how to mend it.
        message: String,
    },
    /// A flow of a finished workload is impossible.
    #[error("flow {flow}: {message}")]
    Flow {
        /// Index of the flow.
        flow: usize,
        /// What is wrong and how to mend it.
        message: String,
    },
    /// A trigger of a finished workload is impossible.
    #[error("trigger {trigger}: {message}")]
    Trigger {
        /// Index of the trigger.
        trigger: usize,
        /// What is wrong and how to mend it.
        message: String,
    },
}

impl WorkloadError {
    /// An error about a generator's arguments.
    pub(crate) fn argument(what: &'static str, message: impl Into<String>) -> Self {
        Self::Argument {
            what,
            message: message.into(),
        }
    }
}

/// Reads a workload file as text.
pub fn read_text(path: &Path) -> Result<String, WorkloadError> {
    std::fs::read_to_string(path).map_err(|error| WorkloadError::Read {
        path: path.display().to_string(),
        message: error.to_string(),
    })
}

impl Workload {
    /// A workload of flows that use no triggers.
    pub fn of_flows(flows: Vec<FlowSpec>) -> Self {
        Self {
            flows,
            triggers: Vec::new(),
        }
    }

    /// Sum of all flow sizes in bytes.
    pub fn total_bytes(&self) -> u128 {
        self.flows.iter().map(|f| u128::from(f.bytes)).sum()
    }

    /// Adds a trigger and returns its index.
    pub fn add_trigger(&mut self, trigger: Trigger) -> Result<u32, WorkloadError> {
        let index = u32::try_from(self.triggers.len())
            .map_err(|_| WorkloadError::argument("workload", "more than 2^32 triggers"))?;
        self.triggers.push(trigger);
        Ok(index)
    }

    /// Appends another workload, moving its trigger indices behind the ones already here.
    pub fn merge(&mut self, other: Workload) -> Result<(), WorkloadError> {
        let too_many = || WorkloadError::argument("merge", "more than 2^32 triggers");
        let base = u32::try_from(self.triggers.len()).map_err(|_| too_many())?;
        u32::try_from(self.triggers.len() + other.triggers.len()).map_err(|_| too_many())?;
        let moved = |trigger: u32| trigger.saturating_add(base);
        self.flows.extend(other.flows.into_iter().map(|mut flow| {
            if let Start::On(trigger, delay) = flow.start {
                flow.start = Start::On(moved(trigger), delay);
            }
            flow.done = flow.done.map(moved);
            flow
        }));
        self.triggers
            .extend(other.triggers.into_iter().map(|mut trigger| {
                for next in &mut trigger.then {
                    next.trigger = moved(next.trigger);
                }
                trigger
            }));
        Ok(())
    }

    /// Checks that every flow can run on `hosts` hosts (numbered from 0) and every trigger can fire.
    pub fn validate(&self, hosts: u32) -> Result<(), WorkloadError> {
        for (index, flow) in self.flows.iter().enumerate() {
            self.check_flow(flow, hosts)
                .map_err(|message| WorkloadError::Flow {
                    flow: index,
                    message,
                })?;
        }
        for (index, trigger) in self.triggers.iter().enumerate() {
            if let Some(next) = trigger.then.iter().find(|n| !self.has(n.trigger)) {
                return Err(WorkloadError::Trigger {
                    trigger: index,
                    message: format!("passes on to trigger {}, {}", next.trigger, self.range()),
                });
            }
        }
        self.check_all_fire()
    }

    fn has(&self, trigger: u32) -> bool {
        (trigger as usize) < self.triggers.len()
    }

    fn range(&self) -> String {
        format!("but the workload has {} triggers", self.triggers.len())
    }

    fn check_flow(&self, flow: &FlowSpec, hosts: u32) -> Result<(), String> {
        for host in [flow.src, flow.dst] {
            if host >= hosts {
                return Err(format!(
                    "host {host} does not exist: the topology has hosts 0 to {}; use a larger \
                     topology or other host numbers",
                    i64::from(hosts) - 1
                ));
            }
        }
        if flow.src == flow.dst {
            return Err(format!(
                "host {} sends to itself; give different hosts",
                flow.src
            ));
        }
        if flow.bytes == 0 {
            return Err("has 0 bytes; give at least 1".into());
        }
        let waits = match flow.start {
            Start::At(_) => None,
            Start::On(trigger, _) => Some(trigger),
        };
        match [waits, flow.done]
            .into_iter()
            .flatten()
            .find(|&t| !self.has(t))
        {
            Some(trigger) => Err(format!("names trigger {trigger}, {}", self.range())),
            None => Ok(()),
        }
    }

    /// Plays the triggers without time: every flow that starts ends. What has not fired then never will.
    fn check_all_fire(&self) -> Result<(), WorkloadError> {
        let count = self.triggers.len();
        let mut named = vec![0u32; count];
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut got = vec![0u32; count];
        // A completion is due for each trigger on this list.
        let mut due: Vec<u32> = Vec::new();
        for flow in &self.flows {
            let Some(done) = flow.done else { continue };
            named[done as usize] += 1;
            match flow.start {
                Start::At(_) => due.push(done),
                Start::On(trigger, _) => waiting[trigger as usize].push(done),
            }
        }
        for (trigger, next) in self.triggers.iter().zip(&mut waiting) {
            for target in &trigger.then {
                named[target.trigger as usize] += 1;
                next.push(target.trigger);
            }
        }
        for (trigger, next) in self.triggers.iter().zip(&waiting) {
            if trigger.count == 0 {
                due.extend(next);
            }
        }
        while let Some(trigger) = due.pop() {
            let index = trigger as usize;
            got[index] += 1;
            if got[index] == self.triggers[index].count {
                due.extend(&waiting[index]);
            }
        }
        self.first_dead(&got, &named)
    }

    fn first_dead(&self, got: &[u32], named: &[u32]) -> Result<(), WorkloadError> {
        let dead = |index: usize| got[index] < self.triggers[index].count;
        let short = |index: usize| named[index] < self.triggers[index].count;
        let all = 0..self.triggers.len();
        // A trigger that is short is the cause; those that only wait for it are consequences.
        if let Some(index) = all.clone().find(|&i| short(i)) {
            let message = format!(
                "can never fire: it needs {} completions but only {} flows or triggers name it; \
                 lower the count or name it in more flows",
                self.triggers[index].count, named[index]
            );
            return Err(WorkloadError::Trigger {
                trigger: index,
                message,
            });
        }
        match all.into_iter().find(|&i| dead(i)) {
            None => Ok(()),
            Some(index) => Err(WorkloadError::Trigger {
                trigger: index,
                message:
                    "can never fire: the flows it needs wait for it, directly or through other \
                          triggers; break the cycle by starting one of them at a time"
                        .into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(src: u32, dst: u32, start: Start, done: Option<u32>) -> FlowSpec {
        FlowSpec {
            src,
            dst,
            bytes: 10,
            start,
            done,
            group: 0,
        }
    }

    fn message(workload: &Workload, hosts: u32) -> String {
        workload.validate(hosts).unwrap_err().to_string()
    }

    #[test]
    fn a_chain_is_valid() {
        let workload = Workload {
            flows: vec![
                flow(0, 1, Start::At(0), Some(0)),
                flow(1, 2, Start::On(0, 5), Some(2)),
            ],
            triggers: vec![
                Trigger {
                    count: 1,
                    then: vec![Next {
                        trigger: 2,
                        delay: 7,
                    }],
                },
                Trigger::after(0),
                Trigger::after(2),
            ],
        };
        assert_eq!(workload.validate(3), Ok(()));
        assert_eq!(workload.total_bytes(), 20);
    }

    #[test]
    fn bad_flows_are_named() {
        let mut workload = Workload::of_flows(vec![flow(0, 4, Start::At(0), None)]);
        assert!(message(&workload, 4).starts_with("flow 0: host 4 does not exist"));
        assert!(message(&workload, 0).contains("host 0"));
        workload.flows[0].dst = 0;
        assert!(message(&workload, 4).contains("to itself"));
        workload.flows[0].dst = 1;
        workload.flows[0].bytes = 0;
        assert!(message(&workload, 4).contains("0 bytes"));
        workload.flows[0].bytes = 1;
        workload.flows[0].done = Some(0);
        assert!(message(&workload, 4).contains("names trigger 0"));
    }

    #[test]
    fn triggers_that_cannot_fire_are_named() {
        let mut workload = Workload {
            flows: vec![
                flow(0, 1, Start::On(1, 0), Some(0)),
                flow(1, 0, Start::On(0, 0), Some(1)),
            ],
            triggers: vec![Trigger::after(1), Trigger::after(1)],
        };
        assert!(message(&workload, 2).contains("break the cycle"));
        workload.flows[0].start = Start::At(0);
        assert_eq!(workload.validate(2), Ok(()));
        workload.triggers[1].count = 2;
        assert!(message(&workload, 2).starts_with("trigger 1: can never fire: it needs 2"));
        workload.triggers[1] = Trigger {
            count: 1,
            then: vec![Next {
                trigger: 9,
                delay: 0,
            }],
        };
        assert!(message(&workload, 2).contains("passes on to trigger 9"));
    }

    #[test]
    fn merge_moves_trigger_indices() {
        let part = Workload {
            flows: vec![
                flow(0, 1, Start::At(0), Some(0)),
                flow(1, 2, Start::On(0, 5), None),
            ],
            triggers: vec![Trigger::after(1)],
        };
        let mut both = part.clone();
        both.merge(part).unwrap();
        assert_eq!(both.flows[2].done, Some(1));
        assert_eq!(both.flows[3].start, Start::On(1, 5));
        assert_eq!(both.validate(3), Ok(()));
    }
}
