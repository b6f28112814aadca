//! Numbers complete packets and commits them as the slot table has room.

use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::{InitSweep, StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Gives every packet its flow's next PSN and commits it while that is less than 1,024 beyond the
/// flow's lowest unacknowledged one. Packets are committed in the order in which they come: one
/// that waits holds up all behind it.
///
/// The pipeline moves as one. While it stands, the una memory is read for the packet that waits;
/// the read of the packet in stage 1 is lost, so that it counts as not in the window and is
/// repeated in its turn. A lowest unacknowledged PSN that is read too early can only be too low.
#[derive(Clone, Debug, LogicBlock)]
pub struct Committer {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A packet is complete; the queue has room by design.
    pub push: Signal<In, Bit>,
    /// Its flow.
    pub push_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its slot.
    pub push_slot: Signal<In, Bits<10>>,
    /// A packet has left the queue.
    pub popped: Signal<Out, Bit>,
    /// A flow is to be opened.
    pub open_valid: Signal<In, Bit>,
    /// It is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// A flow's lowest unacknowledged PSN has moved.
    pub una_valid: Signal<In, Bit>,
    /// Flow.
    pub una_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Lowest unacknowledged PSN.
    pub una_psn: Signal<In, Bits<24>>,
    /// A packet is committed.
    pub commit_valid: Signal<Out, Bit>,
    /// It is taken.
    pub commit_ready: Signal<In, Bit>,
    /// Its flow.
    pub commit_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its PSN.
    pub commit_psn: Signal<Out, Bits<24>>,
    /// Its slot.
    pub commit_slot: Signal<Out, Bits<10>>,
    sweep: InitSweep,
    packets: StreamFifo<Bits<20>, QUEUE_ADDRESS_BITS>,
    commits: StreamFifo<Bits<44>, QUEUE_ADDRESS_BITS>,
    psns: Ram<Bits<24>, FLOW_BITS>,
    unas: Ram<Bits<24>, FLOW_BITS>,
    initialising: Reg<Bit>,
    pending: Reg<Bit>,
    pending_flow: Reg<Bits<FLOW_BITS>>,
    pending_psn: Reg<Bits<24>>,
    valid_1: Reg<Bit>,
    flow_1: Reg<Bits<FLOW_BITS>>,
    slot_1: Reg<Bits<10>>,
    forward_1: Reg<Bit>,
    forward_older_1: Reg<Bit>,
    stale_1: Reg<Bit>,
    psn_1: Signal<Local, Bits<24>>,
    written: Reg<Bit>,
    known: Reg<Bit>,
    last_flow: Reg<Bits<FLOW_BITS>>,
    next_psn: Reg<Bits<24>>,
    older_psn: Reg<Bits<24>>,
    valid_2: Reg<Bit>,
    flow_2: Reg<Bits<FLOW_BITS>>,
    slot_2: Reg<Bits<10>>,
    psn_2: Reg<Bits<24>>,
    una_2: Reg<Bits<24>>,
    stale_2: Reg<Bit>,
    valid_3: Reg<Bit>,
    flow_3: Reg<Bits<FLOW_BITS>>,
    slot_3: Reg<Bits<10>>,
    psn_3: Reg<Bits<24>>,
    ahead_3: Reg<Bits<24>>,
    stale_3: Reg<Bit>,
    valid_4: Reg<Bit>,
    flow_4: Reg<Bits<FLOW_BITS>>,
    slot_4: Reg<Bits<10>>,
    psn_4: Reg<Bits<24>>,
    in_window_4: Reg<Bit>,
    repeated: Reg<Bit>,
    repeated_ahead: Reg<Bits<24>>,
    judged: Reg<Bit>,
    credits: Reg<Bits<6>>,
    head_flow: Signal<Local, Bits<FLOW_BITS>>,
    go: Signal<Local, Bit>,
    hold: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    same: Signal<Local, Bit>,
    unwritten: Signal<Local, Bit>,
    commit: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    sweeping: Signal<Local, Bit>,
    opening: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
}

impl Committer {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_segmenter_committer",
                &format!("Numbers the packets of {flows} flows and commits them in order."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            push: Signal::default(),
            push_flow: Signal::default(),
            push_slot: Signal::default(),
            popped: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            una_valid: Signal::default(),
            una_flow: Signal::default(),
            una_psn: Signal::default(),
            commit_valid: Signal::default(),
            commit_ready: Signal::default(),
            commit_flow: Signal::default(),
            commit_psn: Signal::default(),
            commit_slot: Signal::default(),
            sweep: InitSweep::new(flows, 1),
            packets: StreamFifo::new("packets"),
            commits: StreamFifo::new("commits"),
            psns: Ram::new(flows),
            unas: Ram::new(flows),
            initialising: Reg::default(),
            pending: Reg::default(),
            pending_flow: Reg::default(),
            pending_psn: Reg::default(),
            valid_1: Reg::default(),
            flow_1: Reg::default(),
            slot_1: Reg::default(),
            forward_1: Reg::default(),
            forward_older_1: Reg::default(),
            stale_1: Reg::default(),
            psn_1: Signal::default(),
            written: Reg::default(),
            known: Reg::default(),
            last_flow: Reg::default(),
            next_psn: Reg::default(),
            older_psn: Reg::default(),
            valid_2: Reg::default(),
            flow_2: Reg::default(),
            slot_2: Reg::default(),
            psn_2: Reg::default(),
            una_2: Reg::default(),
            stale_2: Reg::default(),
            valid_3: Reg::default(),
            flow_3: Reg::default(),
            slot_3: Reg::default(),
            psn_3: Reg::default(),
            ahead_3: Reg::default(),
            stale_3: Reg::default(),
            valid_4: Reg::default(),
            flow_4: Reg::default(),
            slot_4: Reg::default(),
            psn_4: Reg::default(),
            in_window_4: Reg::default(),
            repeated: Reg::default(),
            repeated_ahead: Reg::default(),
            judged: Reg::default(),
            credits: Reg::default(),
            head_flow: Signal::default(),
            go: Signal::default(),
            hold: Signal::default(),
            take: Signal::default(),
            same: Signal::default(),
            unwritten: Signal::default(),
            commit: Signal::default(),
            taken: Signal::default(),
            sweeping: Signal::default(),
            opening: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
        }
    }
}

impl Logic for Committer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, initialising, pending, pending_flow, pending_psn);
        dff_setup!(
            self,
            clk,
            valid_1,
            flow_1,
            slot_1,
            forward_1,
            forward_older_1,
            stale_1
        );
        dff_setup!(self, clk, written, known, last_flow, next_psn, older_psn);
        dff_setup!(self, clk, valid_2, flow_2, slot_2, psn_2, una_2, stale_2);
        dff_setup!(self, clk, valid_3, flow_3, slot_3, psn_3, ahead_3, stale_3);
        dff_setup!(self, clk, valid_4, flow_4, slot_4, psn_4, in_window_4);
        dff_setup!(self, clk, repeated, repeated_ahead, judged, credits);
        clock!(self, clk, psns, unas);
        self.sweep.clk.next = self.clk.val();
        self.sweep.rst.next = self.rst.val();
        self.packets.clk.next = self.clk.val();
        self.packets.rst.next = self.rst.val();
        self.commits.clk.next = self.clk.val();
        self.commits.rst.next = self.rst.val();

        self.packets.push.next = self.push.val();
        self.packets.push_data.next = bit_cast::<20, FLOW_BITS>(self.push_flow.val())
            | (bit_cast::<20, 10>(self.push_slot.val()) << 10);
        self.head_flow.next = self.packets.data.val().get_bits::<FLOW_BITS>(0);

        // Take a packet: its memories are read. When the last packet or the one before is of the same
        // flow, its PSN is not written yet and is forwarded.
        self.go.next =
            !self.valid_4.q.val() || (self.in_window_4.q.val() && (self.credits.q.val() != 0));
        self.hold.next = self.sweep.busy.val() || self.pending.q.val();
        self.same.next = (self.valid_1.q.val() && (self.flow_1.q.val() == self.head_flow.val()))
            || (!self.valid_1.q.val()
                && self.known.q.val()
                && (self.last_flow.q.val() == self.head_flow.val()));
        self.unwritten.next = self.written.q.val()
            && self.valid_1.q.val()
            && (self.last_flow.q.val() == self.head_flow.val())
            && !self.same.val();
        self.packets.ready.next = self.go.val() && !self.hold.val();
        self.take.next = self.packets.valid.val() && self.go.val() && !self.hold.val();
        self.popped.next = self.take.val();
        self.psns.read_address.next = self.head_flow.val();
        self.unas.read_address.next = self.head_flow.val();
        if !self.go.val() {
            self.psns.read_address.next = self.flow_1.q.val();
            self.unas.read_address.next = self.flow_4.q.val();
        }

        // An opening waits for a clock in which nothing else is written.
        self.opening.next = self.pending.q.val() && !self.una_valid.val() && !self.written.q.val();
        self.psn_1.next = self.psns.read_data.val();
        if self.forward_1.q.val() {
            self.psn_1.next = self.next_psn.q.val();
        } else if self.forward_older_1.q.val() {
            self.psn_1.next = self.older_psn.q.val();
        }
        self.written.d.next = false;
        if self.opening.val() {
            self.known.d.next = false;
        }
        // After that: a packet that moves on in the clock of an opening is known.
        if self.go.val() {
            self.valid_1.d.next = self.take.val();
            self.flow_1.d.next = self.head_flow.val();
            self.slot_1.d.next = self.packets.data.val().get_bits::<10>(10);
            self.forward_1.d.next = self.same.val();
            self.forward_older_1.d.next = self.unwritten.val();
            self.stale_1.d.next = false;
            if self.valid_1.q.val() {
                self.written.d.next = true;
                self.known.d.next = true;
                self.last_flow.d.next = self.flow_1.q.val();
                self.next_psn.d.next = self.psn_1.val() + 1;
                self.older_psn.d.next = self.next_psn.q.val();
            }
            self.valid_2.d.next = self.valid_1.q.val();
            self.flow_2.d.next = self.flow_1.q.val();
            self.slot_2.d.next = self.slot_1.q.val();
            self.psn_2.d.next = self.psn_1.val();
            self.una_2.d.next = self.unas.read_data.val();
            self.stale_2.d.next = self.stale_1.q.val();
            self.valid_3.d.next = self.valid_2.q.val();
            self.flow_3.d.next = self.flow_2.q.val();
            self.slot_3.d.next = self.slot_2.q.val();
            self.psn_3.d.next = self.psn_2.q.val();
            self.ahead_3.d.next = self.psn_2.q.val() - self.una_2.q.val();
            self.stale_3.d.next = self.stale_2.q.val();
            self.valid_4.d.next = self.valid_3.q.val();
            self.flow_4.d.next = self.flow_3.q.val();
            self.slot_4.d.next = self.slot_3.q.val();
            self.psn_4.d.next = self.psn_3.q.val();
            self.in_window_4.d.next =
                !self.ahead_3.q.val().get_bits::<14>(10).any() && !self.stale_3.q.val();
        } else {
            self.stale_1.d.next = true;
        }

        // A packet that waits is judged again and again.
        self.repeated.d.next = !self.go.val();
        self.repeated_ahead.d.next = self.psn_4.q.val() - self.unas.read_data.val();
        self.judged.d.next = self.repeated.q.val() && !self.go.val();
        if self.judged.q.val() && !self.go.val() {
            self.in_window_4.d.next =
                self.in_window_4.q.val() || !self.repeated_ahead.q.val().get_bits::<14>(10).any();
        }

        self.commit.next =
            self.valid_4.q.val() && self.in_window_4.q.val() && (self.credits.q.val() != 0);
        self.commits.push.next = self.commit.val();
        self.commits.push_data.next = bit_cast::<44, FLOW_BITS>(self.flow_4.q.val())
            | (bit_cast::<44, 24>(self.psn_4.q.val()) << 10)
            | (bit_cast::<44, 10>(self.slot_4.q.val()) << 34);
        self.commits.ready.next = self.commit_ready.val();
        self.taken.next = self.commits.valid.val() && self.commit_ready.val();
        if self.commit.val() && !self.taken.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.commit.val() && self.taken.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }
        self.commit_valid.next = self.commits.valid.val();
        self.commit_flow.next = self.commits.data.val().get_bits::<FLOW_BITS>(0);
        self.commit_psn.next = self.commits.data.val().get_bits::<24>(10);
        self.commit_slot.next = self.commits.data.val().get_bits::<10>(34);

        // The sweep after reset writes at once.
        self.sweep.open_valid.next = self.open_valid.val() && !self.pending.q.val();
        self.open_ready.next = self.sweep.open_ready.val() && !self.pending.q.val();
        self.sweep.open_flow.next = self.open_flow.val();
        self.sweep.open_psn.next = self.open_psn.val();
        if !self.sweep.busy.val() {
            self.initialising.d.next = false;
        }
        self.sweeping.next = self.initialising.q.val() && self.sweep.write.val();
        if self.opening.val() {
            self.pending.d.next = false;
        }
        if self.sweep.write.val() && !self.initialising.q.val() {
            self.pending.d.next = true;
            self.pending_flow.d.next = self.sweep.flow.val();
            self.pending_psn.d.next = self.sweep.psn.val();
        }
        self.psns.write_enable.next =
            self.sweeping.val() || self.opening.val() || self.written.q.val();
        self.psns.write_address.next = self.last_flow.q.val();
        self.psns.write_data.next = self.next_psn.q.val();
        self.unas.write_enable.next = self.sweeping.val()
            || self.opening.val()
            || (self.una_valid.val() && !self.initialising.q.val());
        self.unas.write_address.next = self.una_flow.val();
        self.unas.write_data.next = self.una_psn.val();
        if self.opening.val() {
            self.psns.write_address.next = self.pending_flow.q.val();
            self.psns.write_data.next = self.pending_psn.q.val();
            self.unas.write_address.next = self.pending_flow.q.val();
            self.unas.write_data.next = self.pending_psn.q.val();
        }
        if self.initialising.q.val() {
            self.psns.write_address.next = self.sweep.flow.val();
            self.psns.write_data.next = self.sweep.psn.val();
            self.unas.write_address.next = self.sweep.flow.val();
            self.unas.write_data.next = self.sweep.psn.val();
        }

        if self.rst.val() {
            self.initialising.d.next = true;
            self.pending.d.next = false;
            self.valid_1.d.next = false;
            self.valid_2.d.next = false;
            self.valid_3.d.next = false;
            self.valid_4.d.next = false;
            self.written.d.next = false;
            self.known.d.next = false;
            self.repeated.d.next = false;
            self.judged.d.next = false;
            self.credits.d.next = self.depth.val();
        }
    }
}
