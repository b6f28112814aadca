//! The control of a NIC's flows by the models, from the events that the NIC tells.

use super::scenario::Mesh;
use rondo_models::control::{Decision, FlowControl};
use rondo_models::ledger::Kind;
use std::collections::VecDeque;

/// An event of the NIC's account port.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    /// Kind, as in the ledger.
    pub kind: u64,
    /// Flow.
    pub flow: u16,
    /// Path.
    pub path: u8,
    /// Path of the PSN's latest transmission.
    pub freed_path: u8,
    /// It was in flight there.
    pub in_flight: bool,
    /// Send time, ns.
    pub sent_ns: u32,
    /// Receive time, ns.
    pub received_ns: u32,
    /// Now, ns.
    pub now_ns: u32,
}

/// What goes to the NIC's control ports.
#[derive(Debug, Default)]
pub struct Orders {
    /// Windows: flow, path, value.
    pub windows: VecDeque<(u16, u8, u16)>,
    /// Skips: flow, path, value.
    pub skips: VecDeque<(u16, u8, u16)>,
    /// Rates: flow, rate, probing.
    pub rates: VecDeque<(u16, u32, bool)>,
    /// Packets beside the pace: flow.
    pub grants: VecDeque<u16>,
}

struct Controlled {
    control: FlowControl,
    windows: [u16; 16],
    next_ns: u64,
}

/// Control of all flows of one NIC.
pub struct Control {
    flows: Vec<Option<Controlled>>,
    paths: usize,
    interval_ns: u64,
    /// What the NIC is to be told.
    pub orders: Orders,
    updates: u64,
}

impl Control {
    /// For the flows of `mesh`.
    pub fn new(mesh: &Mesh) -> Self {
        Self {
            flows: (0..mesh.flows).map(|_| None).collect(),
            paths: mesh.paths.len(),
            interval_ns: mesh.interval_ns.into(),
            orders: Orders::default(),
            updates: 0,
        }
    }

    /// `flow` was opened at `now_ns`; its updates come an interval later, flows spread over it.
    pub fn open(&mut self, flow: u16, mesh: &Mesh, now_ns: u64) {
        let control = FlowControl::new(
            &mesh.path_setups(),
            mesh.interval_ns,
            mesh.delay_tolerance_ns,
            mesh.scheduler,
            mesh.probing,
        );
        let start = control.initial();
        let spread = self.interval_ns * u64::from(flow) / self.flows.len() as u64;
        self.flows[usize::from(flow)] = Some(Controlled {
            control,
            windows: start.windows,
            next_ns: now_ns + self.interval_ns + spread,
        });
        self.order(flow, &start);
    }

    /// `flow` was closed.
    pub fn close(&mut self, flow: u16) {
        self.flows[usize::from(flow)] = None;
        self.orders.windows.retain(|o| o.0 != flow);
        self.orders.skips.retain(|o| o.0 != flow);
        self.orders.rates.retain(|o| o.0 != flow);
        self.orders.grants.retain(|&f| f != flow);
    }

    fn order(&mut self, flow: u16, d: &Decision) {
        for p in 0..self.paths {
            self.orders.windows.push_back((flow, p as u8, d.windows[p]));
            self.orders.skips.push_back((flow, p as u8, d.skips[p]));
        }
        self.orders.rates.push_back((flow, d.pace, d.probing));
    }

    /// The NIC told of an event.
    pub fn told(&mut self, a: &Account) {
        let Some(Some(c)) = self.flows.get_mut(usize::from(a.flow)) else {
            return;
        };
        let (path, now) = (usize::from(a.path), a.now_ns);
        if a.kind == Kind::Sent as u64 {
            c.control.sent(path, now);
        } else if a.kind == Kind::Ack as u64 {
            if a.in_flight && a.freed_path != a.path {
                // The lost one arrived after all: the other copy's place is free.
                c.control.lost(a.freed_path.into(), now);
            }
            let forward = a.received_ns.wrapping_sub(a.sent_ns);
            c.control
                .acked(path, now, forward, now.wrapping_sub(a.sent_ns));
        } else if a.kind == Kind::ProbeAck as u64 {
            if c.control.probe_acked(path) {
                let w = &mut c.windows[path];
                *w = w.saturating_add(rondo_models::deficit::WINDOW_ONE);
                self.orders.windows.push_back((a.flow, a.path, *w));
                self.orders.grants.push_back(a.flow);
            }
        } else if a.in_flight {
            // A NAK, a scan that found it lost, or a heal.
            c.control.lost(path, now);
        }
    }

    /// Updates that are due at `now_ns`; `clock_ns` is the NIC's time.
    pub fn update(&mut self, now_ns: u64, clock_ns: u32) {
        for flow in 0..self.flows.len() {
            let Some(c) = &mut self.flows[flow] else {
                continue;
            };
            if now_ns < c.next_ns {
                continue;
            }
            c.next_ns += self.interval_ns;
            let d = c.control.update(clock_ns);
            c.windows = d.windows;
            self.updates += 1;
            self.order(flow as u16, &d);
        }
    }

    /// Updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }
}
