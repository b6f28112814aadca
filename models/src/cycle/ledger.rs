//! The ledger's memories, event by event: it has no clock of its own.
//!
//! The order of events is what arbitration makes of it; whoever checks the RTL applies them in the
//! order in which they enter its pipeline.

use crate::ledger::{apply, flow_of, path_of, Effect, Event, FlowView, Kind, Record, TABLE_PSNS};
use crate::psn::Psn;
use crate::recovery::PathWitness;

/// Records of a pool, and what is known of its flows.
#[derive(Clone, Debug)]
pub struct Ledger {
    paths: usize,
    records: Vec<Record>,
    slots: Vec<u16>,
    flows: Vec<FlowView>,
    witnesses: Vec<PathWitness>,
}

impl Ledger {
    /// As after reset.
    pub fn new(flows: usize, paths: usize, slots: usize) -> Self {
        Self {
            paths,
            records: vec![Record::default(); slots],
            slots: vec![0; flows * TABLE_PSNS as usize],
            flows: vec![FlowView::default(); flows],
            witnesses: vec![PathWitness::default(); flows * paths],
        }
    }

    /// Opens `flow` at its first PSN.
    pub fn open(&mut self, flow: u16, first: u32) {
        let f = &mut self.flows[usize::from(flow)];
        f.witness = None;
        f.expected = Psn::new(first);
        let at = usize::from(flow) * self.paths;
        self.witnesses[at..at + self.paths].fill(PathWitness::default());
    }

    /// State of `flow`.
    pub fn flow(&self, flow: u16) -> &FlowView {
        &self.flows[usize::from(flow)]
    }

    /// State of `flow`, to set its parameters.
    pub fn flow_mut(&mut self, flow: u16) -> &mut FlowView {
        &mut self.flows[usize::from(flow)]
    }

    /// Record of `slot`.
    pub fn record(&self, slot: u16) -> &Record {
        &self.records[usize::from(slot)]
    }

    /// Records of all slots.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    fn table(&self, flow: u16, psn: u32) -> usize {
        usize::from(flow) * TABLE_PSNS as usize + (psn % TABLE_PSNS) as usize
    }

    /// Slot that was given to `psn` of `flow` last.
    pub fn slot_of(&self, flow: u16, psn: u32) -> u16 {
        self.slots[self.table(flow, psn)]
    }

    /// Applies an event to `slot`; returns the record before it, too.
    pub fn apply(&mut self, slot: u16, e: &Event) -> (Record, Effect) {
        if e.kind == Kind::Commit {
            let at = self.table(e.flow, e.psn);
            self.slots[at] = slot;
        }
        let r = &mut self.records[usize::from(slot)];
        let before = *r;
        let flow = usize::from(flow_of(e, r));
        let path = usize::from(path_of(e, r)) % self.paths;
        let witness = &mut self.witnesses[flow * self.paths + path];
        (before, apply(e, r, &mut self.flows[flow], witness))
    }
}
