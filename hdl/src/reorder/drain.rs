//! Reads runs of complete packets in PSN order and frees their slots.

use super::{BEAT_ADDRESS_BITS, SLOT_BITS};
use crate::prim::{Delay, ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Reads a run of packets at a time: `count` packets of one flow from `psn` on.
///
/// Slots and lengths are looked up ahead, a packet a clock, and wait in a queue; the reader takes a
/// beat a clock from the packet in front, so that neither packets nor runs are followed by a gap.
/// Both work only while what they make has room. A packet's slot is free when its last beat is
/// read: the memories' next write of it comes later. `SB` is the logarithm of a slot's beats.
#[derive(Clone, Debug, LogicBlock)]
pub struct Drain<const SB: usize> {
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
    pub table_slot: Signal<In, Bits<SLOT_BITS>>,
    /// Slot whose length is read.
    pub length_slot: Signal<Out, Bits<SLOT_BITS>>,
    /// Its last beat's number, one clock later.
    pub length: Signal<In, Bits<SB>>,
    /// A beat is read.
    pub read: Signal<Out, Bit>,
    /// Slot and beat.
    pub read_address: Signal<Out, Bits<BEAT_ADDRESS_BITS>>,
    /// Slot alone.
    pub read_slot: Signal<Out, Bits<SLOT_BITS>>,
    /// It is the packet's last.
    pub read_last: Signal<Out, Bit>,
    /// Flow of the packet.
    pub read_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub read_psn: Signal<Out, Bits<24>>,
    /// A beat left the host queue.
    pub popped: Signal<In, Bit>,
    /// The slot is free again.
    pub freed: Signal<Out, Bit>,
    /// Its number.
    pub freed_slot: Signal<Out, Bits<SLOT_BITS>>,
    runs: StreamFifo<Bits<44>, SLOT_BITS>,
    packets: StreamFifo<Bits<51>, QUEUE_ADDRESS_BITS>,
    running: Reg<Bit>,
    flow: Reg<Bits<FLOW_BITS>>,
    psn: Reg<Bits<24>>,
    left: Reg<Bits<10>>,
    lookup_credits: Reg<Bits<6>>,
    looked_up: Reg<Bits<3>>,
    flow_3: Delay<Bits<FLOW_BITS>, 3>,
    psn_3: Delay<Bits<24>, 3>,
    slot_2: Reg<Bits<SLOT_BITS>>,
    slot_3: Reg<Bits<SLOT_BITS>>,
    beat: Reg<Bits<SB>>,
    credits: Reg<Bits<6>>,
    read_q: Reg<Bit>,
    slot_q: Reg<Bits<SLOT_BITS>>,
    beat_q: Reg<Bits<SB>>,
    last_q: Reg<Bit>,
    flow_q: Reg<Bits<FLOW_BITS>>,
    psn_q: Reg<Bits<24>>,
    lookup: Signal<Local, Bit>,
    run_ends: Signal<Local, Bit>,
    run_wanted: Signal<Local, Bit>,
    reading: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    packet_ends: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
    beat_bits: Constant<Bits<5>>,
}

impl<const SB: usize> Default for Drain<SB> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_reorder_drain",
                "Reads runs of complete packets in PSN order and frees their slots.\n\
                 Of a lookup, a suffix _n is the clock after it in which the value is present.",
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
            read: Signal::default(),
            read_address: Signal::default(),
            read_slot: Signal::default(),
            read_last: Signal::default(),
            read_flow: Signal::default(),
            read_psn: Signal::default(),
            popped: Signal::default(),
            freed: Signal::default(),
            freed_slot: Signal::default(),
            runs: StreamFifo::new("reorder_runs"),
            packets: StreamFifo::new("reorder_packets"),
            running: Reg::default(),
            flow: Reg::default(),
            psn: Reg::default(),
            left: Reg::default(),
            lookup_credits: Reg::default(),
            looked_up: Reg::default(),
            flow_3: Delay::default(),
            psn_3: Delay::default(),
            slot_2: Reg::default(),
            slot_3: Reg::default(),
            beat: Reg::default(),
            credits: Reg::default(),
            read_q: Reg::default(),
            slot_q: Reg::default(),
            beat_q: Reg::default(),
            last_q: Reg::default(),
            flow_q: Reg::default(),
            psn_q: Reg::default(),
            lookup: Signal::default(),
            run_ends: Signal::default(),
            run_wanted: Signal::default(),
            reading: Signal::default(),
            last: Signal::default(),
            packet_ends: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
            beat_bits: Constant::new((SB as u64).into()),
        }
    }
}

impl<const SB: usize> Logic for Drain<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            running,
            flow,
            psn,
            left,
            lookup_credits,
            looked_up
        );
        dff_setup!(self, clk, slot_2, slot_3, beat, credits);
        dff_setup!(self, clk, read_q, slot_q, beat_q, last_q, flow_q, psn_q);
        self.runs.clk.next = self.clk.val();
        self.packets.clk.next = self.clk.val();
        self.flow_3.clk.next = self.clk.val();
        self.psn_3.clk.next = self.clk.val();
        self.runs.rst.next = self.rst.val();
        self.packets.rst.next = self.rst.val();

        // Runs: the next one comes with the present one's last lookup.
        self.runs.push.next = self.run_push.val();
        self.runs.push_data.next = bit_cast::<44, 24>(self.run_psn.val())
            | (bit_cast::<44, 10>(self.run_count.val()) << 24)
            | (bit_cast::<44, FLOW_BITS>(self.run_flow.val()) << 34);
        self.lookup.next = self.running.q.val() && (self.lookup_credits.q.val() != 0);
        self.run_ends.next = self.lookup.val() && (self.left.q.val() == 1);
        self.run_wanted.next = !self.running.q.val() || self.run_ends.val();
        self.runs.ready.next = self.run_wanted.val();
        if self.lookup.val() {
            self.psn.d.next = self.psn.q.val() + 1;
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.run_wanted.val() {
            self.running.d.next = self.runs.valid.val();
            self.psn.d.next = self.runs.data.val().get_bits::<24>(0);
            self.left.d.next = self.runs.data.val().get_bits::<10>(24);
            self.flow.d.next = self.runs.data.val().get_bits::<FLOW_BITS>(34);
        }

        // Look up: slot after one clock, its length after three.
        self.table_flow.next = self.flow.q.val();
        self.table_psn.next = self.psn.q.val();
        self.looked_up.d.next =
            (self.looked_up.q.val() << 1) | bit_cast::<3, 1>(self.lookup.val().into());
        self.flow_3.d.next = self.flow.q.val();
        self.psn_3.d.next = self.psn.q.val();
        self.slot_2.d.next = self.table_slot.val();
        self.length_slot.next = self.slot_2.q.val();
        self.slot_3.d.next = self.slot_2.q.val();
        self.packets.push.next = self.looked_up.q.val().get_bit(2);
        self.packets.push_data.next = bit_cast::<51, 24>(self.psn_3.q.val())
            | (bit_cast::<51, FLOW_BITS>(self.flow_3.q.val()) << 24)
            | (bit_cast::<51, SLOT_BITS>(self.slot_3.q.val()) << 34)
            | (bit_cast::<51, SB>(self.length.val()) << 43);
        if self.lookup.val() && !self.packet_ends.val() {
            self.lookup_credits.d.next = self.lookup_credits.q.val() - 1;
        }
        if !self.lookup.val() && self.packet_ends.val() {
            self.lookup_credits.d.next = self.lookup_credits.q.val() + 1;
        }

        // Read the packet in front, beat by beat.
        self.reading.next = self.packets.valid.val() && (self.credits.q.val() != 0);
        self.last.next = self.beat.q.val() == self.packets.data.val().get_bits::<SB>(43);
        self.packet_ends.next = self.reading.val() && self.last.val();
        self.packets.ready.next = self.packet_ends.val();
        if self.reading.val() {
            self.beat.d.next = self.beat.q.val() + 1;
        }
        if self.packet_ends.val() {
            self.beat.d.next = 0.into();
        }
        if self.reading.val() && !self.popped.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.reading.val() && self.popped.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }
        self.read_q.d.next = self.reading.val();
        self.slot_q.d.next = self.packets.data.val().get_bits::<SLOT_BITS>(34);
        self.beat_q.d.next = self.beat.q.val();
        self.last_q.d.next = self.last.val();
        self.flow_q.d.next = self.packets.data.val().get_bits::<FLOW_BITS>(24);
        self.psn_q.d.next = self.packets.data.val().get_bits::<24>(0);

        // The memories see registers.
        self.read.next = self.read_q.q.val();
        self.read_address.next = (bit_cast::<BEAT_ADDRESS_BITS, SLOT_BITS>(self.slot_q.q.val())
            << self.beat_bits.val())
            | bit_cast::<BEAT_ADDRESS_BITS, SB>(self.beat_q.q.val());
        self.read_slot.next = self.slot_q.q.val();
        self.read_last.next = self.last_q.q.val();
        self.read_flow.next = self.flow_q.q.val();
        self.read_psn.next = self.psn_q.q.val();
        self.freed.next = self.read_q.q.val() && self.last_q.q.val();
        self.freed_slot.next = self.slot_q.q.val();

        if self.rst.val() {
            self.running.d.next = false;
            self.lookup_credits.d.next = self.depth.val();
            self.looked_up.d.next = 0.into();
            self.beat.d.next = 0.into();
            self.credits.d.next = self.depth.val();
            self.read_q.d.next = false;
        }
    }
}
