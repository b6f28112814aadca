//! Delivers runs of complete packets in PSN order and frees their slots.

use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS};
use rust_hdl::prelude::*;

/// What the drain is at.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
pub enum DrainState {
    /// Waits for a run.
    Idle,
    /// Looks up the packet's slot.
    Lookup,
    /// Reads the slot's length and first beat.
    Fetch,
    /// Delivers the packet.
    Deliver,
}

/// Delivers a run of packets at a time: `count` packets of one flow from `psn` on.
///
/// The memories are read one clock ahead, so that a beat goes out every clock; between two packets
/// of a run there are two clocks, between two runs three.
#[derive(Clone, Debug, LogicBlock)]
pub struct Drain {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A run is complete; the queue has room by design.
    pub run_push: Signal<In, Bit>,
    /// Its flow.
    pub run_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub run_psn: Signal<In, Bits<24>>,
    /// Its packets.
    pub run_count: Signal<In, Bits<10>>,
    /// Flow and PSN whose slot is looked up.
    pub table_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN looked up.
    pub table_psn: Signal<Out, Bits<24>>,
    /// Its slot, one clock later.
    pub table_slot: Signal<In, Bits<8>>,
    /// Slot whose length is read.
    pub length_slot: Signal<Out, Bits<8>>,
    /// Its last beat's number, one clock later.
    pub length: Signal<In, Bits<6>>,
    /// Slot and beat read.
    pub beat_address: Signal<Out, Bits<14>>,
    /// A beat is delivered.
    pub host_valid: Signal<Out, Bit>,
    /// It is taken.
    pub host_ready: Signal<In, Bit>,
    /// It is the packet's last.
    pub host_last: Signal<Out, Bit>,
    /// Flow of the packet.
    pub host_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub host_psn: Signal<Out, Bits<24>>,
    /// The slot is free again.
    pub freed: Signal<Out, Bit>,
    /// Its number.
    pub freed_slot: Signal<Out, Bits<8>>,
    runs: StreamFifo<Bits<44>, 8>,
    state: Reg<DrainState>,
    flow: Reg<Bits<FLOW_BITS>>,
    psn: Reg<Bits<24>>,
    left: Reg<Bits<10>>,
    slot: Reg<Bits<8>>,
    beat: Reg<Bits<6>>,
    next_beat: Signal<Local, Bits<6>>,
    delivering: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
}

impl Default for Drain {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_reorder_drain",
                "Delivers runs of complete packets in PSN order and frees their slots.\n\
                 States: 0 idle, 1 look up the slot, 2 fetch length and first beat, 3 deliver.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            run_push: Signal::default(),
            run_flow: Signal::default(),
            run_psn: Signal::default(),
            run_count: Signal::default(),
            table_flow: Signal::default(),
            table_psn: Signal::default(),
            table_slot: Signal::default(),
            length_slot: Signal::default(),
            length: Signal::default(),
            beat_address: Signal::default(),
            host_valid: Signal::default(),
            host_ready: Signal::default(),
            host_last: Signal::default(),
            host_flow: Signal::default(),
            host_psn: Signal::default(),
            freed: Signal::default(),
            freed_slot: Signal::default(),
            runs: StreamFifo::new("runs"),
            state: Reg::default(),
            flow: Reg::default(),
            psn: Reg::default(),
            left: Reg::default(),
            slot: Reg::default(),
            beat: Reg::default(),
            next_beat: Signal::default(),
            delivering: Signal::default(),
            taken: Signal::default(),
            last: Signal::default(),
            done: Signal::default(),
        }
    }
}

impl Logic for Drain {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, flow, psn, left, slot, beat);
        self.runs.clk.next = self.clk.val();
        self.runs.rst.next = self.rst.val();
        self.runs.push.next = self.run_push.val();
        self.runs.push_data.next = bit_cast::<44, 24>(self.run_psn.val())
            | (bit_cast::<44, 10>(self.run_count.val()) << 24)
            | (bit_cast::<44, FLOW_BITS>(self.run_flow.val()) << 34);
        self.runs.ready.next = self.state.q.val() == DrainState::Idle;

        self.delivering.next = self.state.q.val() == DrainState::Deliver;
        self.taken.next = self.delivering.val() && self.host_ready.val();
        self.last.next = self.beat.q.val() == self.length.val();
        self.done.next = self.taken.val() && self.last.val();

        // Memories are read one clock ahead of their use.
        self.table_flow.next = self.flow.q.val();
        self.table_psn.next = self.psn.q.val();
        self.next_beat.next = self.beat.q.val();
        if self.taken.val() {
            self.next_beat.next = self.beat.q.val() + 1;
        }
        self.length_slot.next = self.slot.q.val();
        self.beat_address.next =
            (bit_cast::<14, 8>(self.slot.q.val()) << 6) | bit_cast::<14, 6>(self.next_beat.val());
        if self.state.q.val() == DrainState::Fetch {
            self.length_slot.next = self.table_slot.val();
            self.beat_address.next = bit_cast::<14, 8>(self.table_slot.val()) << 6;
        }

        if self.state.q.val() == DrainState::Idle {
            if self.runs.valid.val() {
                self.state.d.next = DrainState::Lookup;
                self.psn.d.next = self.runs.data.val().get_bits::<24>(0);
                self.left.d.next = self.runs.data.val().get_bits::<10>(24);
                self.flow.d.next = self.runs.data.val().get_bits::<FLOW_BITS>(34);
            }
        } else if self.state.q.val() == DrainState::Lookup {
            self.state.d.next = DrainState::Fetch;
        } else if self.state.q.val() == DrainState::Fetch {
            self.state.d.next = DrainState::Deliver;
            self.slot.d.next = self.table_slot.val();
            self.beat.d.next = 0.into();
        } else {
            self.beat.d.next = self.next_beat.val();
            if self.done.val() {
                self.psn.d.next = self.psn.q.val() + 1;
                self.left.d.next = self.left.q.val() - 1;
                self.state.d.next = DrainState::Lookup;
                if self.left.q.val() == 1 {
                    self.state.d.next = DrainState::Idle;
                }
            }
        }

        self.host_valid.next = self.delivering.val();
        self.host_last.next = self.last.val();
        self.host_flow.next = self.flow.q.val();
        self.host_psn.next = self.psn.q.val();
        self.freed.next = self.done.val();
        self.freed_slot.next = self.slot.q.val();

        if self.rst.val() {
            self.state.d.next = DrainState::Idle;
        }
    }
}
