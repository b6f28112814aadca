//! The receiver datapath: tracker and reorder buffer, clock by clock.

use super::reorder::{self, Reorder, RxBeat};
use super::tracker::{self, Judged, Tracker};
use crate::reorder::Buffer;

/// Inputs of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// Slots that may be in use before only the next expected packet gets in.
    pub limit: u32,
    /// Open a flow at a first PSN.
    pub open: Option<(u16, u32)>,
    /// Beat from the network.
    pub rx: Option<&'a RxBeat>,
    /// The host takes the beat.
    pub host_ready: bool,
    /// The acknowledgement is taken.
    pub ack_ready: bool,
}

/// Outputs of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The open port is ready.
    pub open_ready: bool,
    /// The reorder buffer's.
    pub reorder: reorder::Outputs,
    /// Verdict that the reorder buffer takes in this clock.
    pub sample: Option<Judged>,
}

/// Cycle-accurate receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    tracker: Tracker,
    reorder: Reorder,
}

impl Receiver {
    /// As after reset, for windows of `window` PSNs.
    pub fn new(buffer: Buffer, window: usize, flows: usize) -> Self {
        Self {
            tracker: Tracker::new(window, flows),
            reorder: Reorder::new(buffer, window, flows),
        }
    }

    /// Returns the outputs of this clock and crosses its edge.
    #[inline]
    pub fn step(&mut self, i: &Inputs) -> Outputs {
        let judge = self.tracker.outputs();
        let out = self.reorder.step(&reorder::Inputs {
            rst: i.rst,
            limit: i.limit,
            rx: i.rx,
            arrival_ready: judge.req_ready,
            verdict: judge.res,
            host_ready: i.host_ready,
            ack_ready: i.ack_ready,
        });
        self.tracker.step(&tracker::Inputs {
            rst: i.rst,
            open: i.open,
            req: out.arrival,
            res_ready: out.verdict_ready,
        });
        Outputs {
            open_ready: judge.idle,
            reorder: out,
            sample: judge.res.filter(|_| out.verdict_ready),
        }
    }
}
