//! Opens and closes flows, one at a time, in the order that keeps their parts consistent.

use crate::prim::{ModuleId, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// What a flow's command waits for.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum DoorState {
    /// Contexts are cleared after reset.
    Clear,
    /// All parts finish their own initialisation.
    Settle,
    /// A command may come.
    Idle,
    /// The parts take the open.
    Open,
    /// They carry it out.
    Opening,
    /// The scheduler forgets the flow, and the receiver frees what waits.
    Close,
    /// Requests of the flow that are under way become jobs.
    Drain,
    /// Jobs that were there then are taken.
    Jobs,
    /// The ledger frees the flow's slots.
    Slots,
}

/// Parts that keep state of a flow.
pub const PARTS: usize = 5;

/// Opens and closes flows.
///
/// *Open*: recovery parameters, then every part's state, then the context: from then on packets of the
/// flow are accepted and made. *Close*: the context first, so that nothing of the flow enters any more and
/// jobs are dropped; it is done when no request, job or slot of the flow is left. So a flow that is
/// opened again starts clean. The host closes a flow only between two of its chunks.
#[derive(Clone, Debug, LogicBlock)]
pub struct FlowDoor {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: every flow is closed.
    pub rst: Signal<In, Bit>,
    /// Open or close a flow.
    pub cmd_valid: Signal<In, Bit>,
    /// The command is taken.
    pub cmd_ready: Signal<Out, Bit>,
    /// Open; else close.
    pub cmd_open: Signal<In, Bit>,
    /// Flow.
    pub cmd_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its context, with its valid bit.
    pub cmd_context: Signal<In, Bits<256>>,
    /// First PSN that it sends.
    pub cmd_tx_psn: Signal<In, Bits<24>>,
    /// First PSN that it receives.
    pub cmd_rx_psn: Signal<In, Bits<24>>,
    /// Timeout ns 31:0, slack ns 63:32, threshold 79:64.
    pub cmd_recovery: Signal<In, Bits<80>>,
    /// The command is carried out.
    pub done: Signal<Out, Bit>,
    /// Nothing is being initialised, opened or closed.
    pub ready: Signal<Out, Bit>,
    /// Open the flow: segmenter, scheduler, sender datapath, ledger, receiver datapath.
    pub open_valid: [Signal<Out, Bit>; PARTS],
    /// It is taken there; also: nothing is being initialised there.
    pub open_ready: [Signal<In, Bit>; PARTS],
    /// Flow to open.
    pub open_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// First PSN that it sends.
    pub open_tx_psn: Signal<Out, Bits<24>>,
    /// First PSN that it receives.
    pub open_rx_psn: Signal<Out, Bits<24>>,
    /// The scheduler forgets a flow.
    pub close_valid: Signal<Out, Bit>,
    /// It does.
    pub close_ready: Signal<In, Bit>,
    /// The receiver frees what waits of a flow.
    pub flush_valid: Signal<Out, Bit>,
    /// It has.
    pub flush_ready: Signal<In, Bit>,
    /// Flow to close.
    pub close_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Write a context into all its copies.
    pub context_write: Signal<Out, Bit>,
    /// Flow.
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Context.
    pub context_data: Signal<Out, Bits<256>>,
    /// Write the ledger's parameters of a flow.
    pub recovery_write: Signal<Out, Bit>,
    /// Flow.
    pub recovery_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// As `cmd_recovery`; open 80.
    pub recovery_data: Signal<Out, Bits<81>>,
    /// Packets that wait for the frame builder.
    pub jobs: Signal<In, Bits<11>>,
    /// One of them was taken.
    pub job_taken: Signal<In, Bit>,
    /// The ledger has scanned a slot.
    pub scanned: Signal<In, Bit>,
    state: Reg<DoorState>,
    flow: Reg<Bits<FLOW_BITS>>,
    held_context: Reg<Bits<256>>,
    tx_psn: Reg<Bits<24>>,
    rx_psn: Reg<Bits<24>>,
    at: Reg<Bits<FLOW_BITS>>,
    closing: Reg<Bit>,
    flushing: Reg<Bit>,
    left: Reg<Bits<12>>,
    quiet: Reg<Bits<13>>,
    announce: Reg<Bit>,
    pending: [Reg<Bit>; PARTS],
    none_pending: [Signal<Local, Bit>; PARTS],
    all_idle: [Signal<Local, Bit>; PARTS],
    settled: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    last_flow: Constant<Bits<FLOW_BITS>>,
    scans: Constant<Bits<12>>,
}

impl FlowDoor {
    /// For `flows` flows and `slots` transmit slots (at most 1,024).
    pub fn new(flows: usize, slots: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_flow_door",
                "Opens and closes flows, one at a time.\n\
                 States: 0 clear contexts, 1 settle, 2 idle, 3 open, 4 opening, 5 close, 6 drain, 7 jobs, 8 slots.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            cmd_valid: Signal::default(),
            cmd_ready: Signal::default(),
            cmd_open: Signal::default(),
            cmd_flow: Signal::default(),
            cmd_context: Signal::default(),
            cmd_tx_psn: Signal::default(),
            cmd_rx_psn: Signal::default(),
            cmd_recovery: Signal::default(),
            done: Signal::default(),
            ready: Signal::default(),
            open_valid: Default::default(),
            open_ready: Default::default(),
            open_flow: Signal::default(),
            open_tx_psn: Signal::default(),
            open_rx_psn: Signal::default(),
            close_valid: Signal::default(),
            close_ready: Signal::default(),
            flush_valid: Signal::default(),
            flush_ready: Signal::default(),
            close_flow: Signal::default(),
            context_write: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            recovery_write: Signal::default(),
            recovery_flow: Signal::default(),
            recovery_data: Signal::default(),
            jobs: Signal::default(),
            job_taken: Signal::default(),
            scanned: Signal::default(),
            state: Reg::default(),
            flow: Reg::default(),
            held_context: Reg::default(),
            tx_psn: Reg::default(),
            rx_psn: Reg::default(),
            at: Reg::default(),
            closing: Reg::default(),
            flushing: Reg::default(),
            left: Reg::default(),
            quiet: Reg::default(),
            announce: Reg::default(),
            pending: Default::default(),
            none_pending: Default::default(),
            all_idle: Default::default(),
            settled: Signal::default(),
            taken: Signal::default(),
            last_flow: Constant::new((flows as u64 - 1).into()),
            // Two rounds: the second begins after the flow was closed.
            scans: Constant::new((2 * slots as u64).into()),
        }
    }
}

impl Logic for FlowDoor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, flow, held_context, tx_psn, rx_psn, at);
        dff_setup!(self, clk, closing, flushing, left, quiet, announce);
        for i in 0..PARTS {
            self.pending[i].clock.next = self.clk.val();
            self.pending[i].d.next = self.pending[i].q.val() && !self.open_ready[i].val();
            self.open_valid[i].next = self.pending[i].q.val();
        }
        self.none_pending[0].next = !self.pending[0].q.val();
        self.all_idle[0].next = self.open_ready[0].val();
        for i in 1..PARTS {
            self.none_pending[i].next = self.none_pending[i - 1].val() && !self.pending[i].q.val();
            self.all_idle[i].next = self.all_idle[i - 1].val() && self.open_ready[i].val();
        }
        for i in (PARTS - 1)..PARTS {
            self.settled.next = self.none_pending[i].val() && self.all_idle[i].val();
        }

        self.cmd_ready.next = self.state.q.val() == DoorState::Idle;
        self.taken.next = (self.state.q.val() == DoorState::Idle) && self.cmd_valid.val();
        self.ready.next = self.state.q.val() == DoorState::Idle;
        self.announce.d.next = false;
        self.done.next = self.announce.q.val();
        self.open_flow.next = self.flow.q.val();
        self.open_tx_psn.next = self.tx_psn.q.val();
        self.open_rx_psn.next = self.rx_psn.q.val();
        self.close_flow.next = self.flow.q.val();
        self.close_valid.next = self.closing.q.val();
        self.flush_valid.next = self.flushing.q.val();
        if self.close_ready.val() {
            self.closing.d.next = false;
        }
        if self.flush_ready.val() {
            self.flushing.d.next = false;
        }
        self.context_write.next = false;
        self.context_flow.next = self.flow.q.val();
        self.context_data.next = self.held_context.q.val();
        self.recovery_write.next = self.taken.val();
        self.recovery_flow.next = self.cmd_flow.val();
        self.recovery_data.next = bit_cast::<81, 80>(self.cmd_recovery.val());
        if self.cmd_open.val() {
            self.recovery_data.next =
                bit_cast::<81, 80>(self.cmd_recovery.val()) | (bits::<81>(1) << 80);
        }

        if self.state.q.val() == DoorState::Clear {
            self.context_write.next = true;
            self.context_flow.next = self.at.q.val();
            self.context_data.next = 0.into();
            // The ledger's flows are closed, too.
            self.recovery_write.next = true;
            self.recovery_flow.next = self.at.q.val();
            self.recovery_data.next = 0.into();
            self.at.d.next = self.at.q.val() + 1;
            if self.at.q.val() == self.last_flow.val() {
                self.state.d.next = DoorState::Settle;
            }
        } else if self.state.q.val() == DoorState::Settle {
            if self.settled.val() {
                self.state.d.next = DoorState::Idle;
            }
        } else if self.state.q.val() == DoorState::Idle {
            self.flow.d.next = self.cmd_flow.val();
            self.held_context.d.next = self.cmd_context.val();
            self.tx_psn.d.next = self.cmd_tx_psn.val();
            self.rx_psn.d.next = self.cmd_rx_psn.val();
            if self.cmd_valid.val() {
                self.state.d.next = DoorState::Close;
                if self.cmd_open.val() {
                    self.state.d.next = DoorState::Open;
                    for i in 0..PARTS {
                        self.pending[i].d.next = true;
                    }
                } else {
                    self.closing.d.next = true;
                    self.flushing.d.next = true;
                    // The context must not be seen as valid from the next clock on.
                    self.context_write.next = true;
                    self.context_flow.next = self.cmd_flow.val();
                    self.context_data.next = 0.into();
                }
            }
        } else if self.state.q.val() == DoorState::Open {
            for i in (PARTS - 1)..PARTS {
                if self.none_pending[i].val() {
                    self.state.d.next = DoorState::Opening;
                }
            }
        } else if self.state.q.val() == DoorState::Opening {
            if self.settled.val() {
                self.context_write.next = true;
                self.announce.d.next = true;
                self.state.d.next = DoorState::Idle;
            }
        } else if self.state.q.val() == DoorState::Close {
            self.quiet.d.next = 0.into();
            if !self.closing.q.val() && !self.flushing.q.val() {
                self.state.d.next = DoorState::Drain;
            }
        } else if self.state.q.val() == DoorState::Drain {
            self.quiet.d.next = self.quiet.q.val() + 1;
            // Those in the queue, and those that the frame builder has prepared.
            self.left.d.next = bit_cast::<12, 11>(self.jobs.val()) + 8;
            if self.quiet.q.val().get_bit(12) {
                self.quiet.d.next = 0.into();
                self.state.d.next = DoorState::Jobs;
            }
        } else if self.state.q.val() == DoorState::Jobs {
            self.quiet.d.next = self.quiet.q.val() + 1;
            if self.jobs.val() != 0 {
                self.quiet.d.next = 0.into();
            }
            if self.job_taken.val() {
                self.left.d.next = self.left.q.val() - 1;
            }
            if (self.left.q.val() == 0) || self.quiet.q.val().get_bit(12) {
                self.left.d.next = self.scans.val();
                self.state.d.next = DoorState::Slots;
            }
        } else {
            if self.scanned.val() {
                self.left.d.next = self.left.q.val() - 1;
            }
            if self.left.q.val() == 0 {
                self.announce.d.next = true;
                self.state.d.next = DoorState::Idle;
            }
        }

        if self.rst.val() {
            self.state.d.next = DoorState::Clear;
            self.at.d.next = 0.into();
            self.closing.d.next = false;
            self.flushing.d.next = false;
            self.announce.d.next = false;
            for i in 0..PARTS {
                self.pending[i].d.next = false;
            }
        }
    }
}
