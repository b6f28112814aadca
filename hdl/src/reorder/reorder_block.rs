//! The reorder buffer: slots, slot table, free list, counters.

use super::{Drain, Ingress};
use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Reorder buffer of 256 slots of 4,096 bytes, with a slot table of `2^TB` PSNs a flow.
///
/// The table must hold a window and beside it all packets that are in order but not delivered yet,
/// of which there are at most as many as slots: otherwise a new packet would take the entry of one
/// that a slow host has not got yet.
///
/// Every packet is stored first. When it is complete it is announced to the tracker; the verdict
/// enters it in the flow's slot table or frees its slot. When the next expected packet is
/// accepted, it and all that follow it without a gap are delivered.
///
/// Full rule: a packet that comes when more than `limit` slots are in use, or to one of the last
/// slots, is announced without room, so that the tracker accepts it only if it is the next expected
/// one. The last free slot therefore always goes to a packet that leaves again, and the buffer
/// cannot lock. (`room` looks at the count of two clocks before, hence 254 and not 256.)
#[derive(Clone, Debug, LogicBlock)]
pub struct ReorderBuffer<const TB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Slots that may be in use before only the next expected packet gets in, up to 253.
    pub limit: Signal<In, Bits<9>>,
    /// A beat from the network.
    pub rx_valid: Signal<In, Bit>,
    /// The beat is taken.
    pub rx_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub rx_data: Signal<In, Bits<512>>,
    /// Valid bytes of a packet's last beat; all others are full.
    pub rx_keep: Signal<In, Bits<64>>,
    /// The packet's last beat.
    pub rx_last: Signal<In, Bit>,
    /// Flow of the packet.
    pub rx_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub rx_psn: Signal<In, Bits<24>>,
    /// Path that the packet took, for its acknowledgement.
    pub rx_path: Signal<In, Bits<4>>,
    /// A packet is complete: to the tracker.
    pub arrival_valid: Signal<Out, Bit>,
    /// The tracker takes it.
    pub arrival_ready: Signal<In, Bit>,
    /// Its flow.
    pub arrival_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its PSN.
    pub arrival_psn: Signal<Out, Bits<24>>,
    /// It may be kept if it is out of order.
    pub arrival_room: Signal<Out, Bit>,
    /// Its slot, and from bit 8 on its path.
    pub arrival_tag: Signal<Out, Bits<12>>,
    /// The tracker's verdict.
    pub verdict_valid: Signal<In, Bit>,
    /// The verdict is taken.
    pub verdict_ready: Signal<Out, Bit>,
    /// Flow.
    pub verdict_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub verdict_psn: Signal<In, Bits<24>>,
    /// Slot and path.
    pub verdict_tag: Signal<In, Bits<12>>,
    /// The packet is new.
    pub verdict_accepted: Signal<In, Bit>,
    /// There was no room for it.
    pub verdict_full: Signal<In, Bit>,
    /// It lies beyond the window.
    pub verdict_beyond: Signal<In, Bit>,
    /// Next expected PSN.
    pub verdict_expected: Signal<In, Bits<24>>,
    /// Packets that are in order now.
    pub verdict_advance: Signal<In, Bits<10>>,
    /// A beat to the host.
    pub host_valid: Signal<Out, Bit>,
    /// The beat is taken.
    pub host_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub host_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub host_keep: Signal<Out, Bits<64>>,
    /// The packet's last beat.
    pub host_last: Signal<Out, Bit>,
    /// Flow of the packet.
    pub host_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub host_psn: Signal<Out, Bits<24>>,
    /// An acknowledgement is due.
    pub ack_valid: Signal<Out, Bit>,
    /// It is taken.
    pub ack_ready: Signal<In, Bit>,
    /// Flow.
    pub ack_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN acknowledged.
    pub ack_psn: Signal<Out, Bits<24>>,
    /// Next expected PSN.
    pub ack_expected: Signal<Out, Bits<24>>,
    /// Path that the packet took.
    pub ack_path: Signal<Out, Bits<4>>,
    /// Negative: the packet was dropped, for want of room or as beyond the window.
    pub ack_nak: Signal<Out, Bit>,
    /// The packet was new and is kept.
    pub ack_accepted: Signal<Out, Bit>,
    /// Slots in use.
    pub occupied: Signal<Out, Bits<9>>,
    /// Most slots ever in use since reset.
    pub high_water: Signal<Out, Bits<9>>,
    /// Packets of all flows that wait out of order (RBO).
    pub waiting: Signal<Out, Bits<16>>,
    /// Packets dropped because they were longer than a slot, wrapping.
    pub oversize: Signal<Out, Bits<16>>,
    ingress: Ingress,
    drain: Drain,
    beats: Ram<Bits<512>, 14>,
    lengths: Ram<Bits<6>, 8>,
    keeps: Ram<Bits<64>, 8>,
    slot_table: Ram<Bits<8>, 20>,
    free_slots: StreamFifo<Bits<8>, 8>,
    acks: StreamFifo<Bits<64>, QUEUE_ADDRESS_BITS>,
    ack_credits: Reg<Bits<6>>,
    filling: Reg<Bit>,
    fill: Reg<Bits<8>>,
    in_use: Reg<Bits<9>>,
    high_water_q: Reg<Bits<9>>,
    room: Reg<Bit>,
    waiting_change: Reg<Bits<16>>,
    waiting_q: Reg<Bits<16>>,
    oversize_q: Reg<Bits<16>>,
    verdict_taken: Signal<Local, Bit>,
    dropped: Signal<Local, Bit>,
    ack_popped: Signal<Local, Bit>,
    free_push: Signal<Local, Bit>,
    free_taken: Signal<Local, Bit>,
    ack_depth: Constant<Bits<6>>,
    psn_bits: Constant<Bits<5>>,
    psn_mask: Constant<Bits<20>>,
}

impl<const TB: usize> ReorderBuffer<TB> {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_reorder_{}", 1 << TB),
                &format!(
                    "Reorder buffer: 256 slots of 4096 bytes, {flows} flows, slot table of {} PSNs a flow.",
                    1 << TB
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            limit: Signal::default(),
            rx_valid: Signal::default(),
            rx_ready: Signal::default(),
            rx_data: Signal::default(),
            rx_keep: Signal::default(),
            rx_last: Signal::default(),
            rx_flow: Signal::default(),
            rx_psn: Signal::default(),
            rx_path: Signal::default(),
            arrival_valid: Signal::default(),
            arrival_ready: Signal::default(),
            arrival_flow: Signal::default(),
            arrival_psn: Signal::default(),
            arrival_room: Signal::default(),
            arrival_tag: Signal::default(),
            verdict_valid: Signal::default(),
            verdict_ready: Signal::default(),
            verdict_flow: Signal::default(),
            verdict_psn: Signal::default(),
            verdict_tag: Signal::default(),
            verdict_accepted: Signal::default(),
            verdict_full: Signal::default(),
            verdict_beyond: Signal::default(),
            verdict_expected: Signal::default(),
            verdict_advance: Signal::default(),
            host_valid: Signal::default(),
            host_ready: Signal::default(),
            host_data: Signal::default(),
            host_keep: Signal::default(),
            host_last: Signal::default(),
            host_flow: Signal::default(),
            host_psn: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_path: Signal::default(),
            ack_nak: Signal::default(),
            ack_accepted: Signal::default(),
            occupied: Signal::default(),
            high_water: Signal::default(),
            waiting: Signal::default(),
            oversize: Signal::default(),
            ingress: Ingress::default(),
            drain: Drain::default(),
            beats: Ram::new(256 * 64),
            lengths: Ram::new(256),
            keeps: Ram::new(256),
            slot_table: Ram::new(flows << TB),
            free_slots: StreamFifo::new("free_slots"),
            acks: StreamFifo::new("acks"),
            ack_credits: Reg::default(),
            filling: Reg::default(),
            fill: Reg::default(),
            in_use: Reg::default(),
            high_water_q: Reg::default(),
            room: Reg::default(),
            waiting_change: Reg::default(),
            waiting_q: Reg::default(),
            oversize_q: Reg::default(),
            verdict_taken: Signal::default(),
            dropped: Signal::default(),
            ack_popped: Signal::default(),
            free_push: Signal::default(),
            free_taken: Signal::default(),
            ack_depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
            psn_bits: Constant::new((TB as u64).into()),
            psn_mask: Constant::new(((1u64 << TB) - 1).into()),
        }
    }
}

impl<const TB: usize> Logic for ReorderBuffer<TB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            ack_credits,
            filling,
            fill,
            in_use,
            high_water_q,
            room
        );
        dff_setup!(self, clk, waiting_change, waiting_q, oversize_q);
        clock!(self, clk, beats, lengths, keeps, slot_table);
        self.ingress.clk.next = self.clk.val();
        self.drain.clk.next = self.clk.val();
        self.free_slots.clk.next = self.clk.val();
        self.acks.clk.next = self.clk.val();
        self.ingress.rst.next = self.rst.val();
        self.drain.rst.next = self.rst.val();
        self.free_slots.rst.next = self.rst.val();
        self.acks.rst.next = self.rst.val();

        // In: beats to their slot; the end of a packet notes its length.
        self.ingress.rx_valid.next = self.rx_valid.val();
        self.rx_ready.next = self.ingress.rx_ready.val();
        self.ingress.rx_last.next = self.rx_last.val();
        self.ingress.rx_flow.next = self.rx_flow.val();
        self.ingress.rx_psn.next = self.rx_psn.val();
        self.ingress.rx_path.next = self.rx_path.val();
        self.ingress.free_valid.next = self.free_slots.valid.val();
        self.ingress.free_slot.next = self.free_slots.data.val();
        self.ingress.hold.next = self.filling.q.val();
        self.ingress.room.next = self.room.q.val();
        self.ingress.arrival_ready.next = self.arrival_ready.val();
        self.beats.write_enable.next = self.ingress.write.val();
        self.beats.write_address.next = self.ingress.address.val();
        self.beats.write_data.next = self.rx_data.val();
        self.lengths.write_enable.next = self.ingress.write_end.val();
        self.lengths.write_address.next = self.ingress.address.val().get_bits::<8>(6);
        self.lengths.write_data.next = self.ingress.address.val().get_bits::<6>(0);
        self.keeps.write_enable.next = self.ingress.write_end.val();
        self.keeps.write_address.next = self.ingress.address.val().get_bits::<8>(6);
        self.keeps.write_data.next = self.rx_keep.val();
        self.arrival_valid.next = self.ingress.arrival_valid.val();
        self.arrival_flow.next = self.ingress.arrival_flow.val();
        self.arrival_psn.next = self.ingress.arrival_psn.val();
        self.arrival_room.next = self.ingress.arrival_room.val();
        self.arrival_tag.next = bit_cast::<12, 8>(self.ingress.arrival_slot.val())
            | (bit_cast::<12, 4>(self.ingress.arrival_path.val()) << 8);

        // Verdict: enter the packet, or free its slot when the drain frees none in this clock.
        self.verdict_ready.next = (self.ack_credits.q.val() != 0)
            && (self.verdict_accepted.val() || !self.drain.freed.val());
        self.verdict_taken.next = self.verdict_valid.val()
            && (self.ack_credits.q.val() != 0)
            && (self.verdict_accepted.val() || !self.drain.freed.val());
        self.dropped.next = self.verdict_taken.val() && !self.verdict_accepted.val();
        self.slot_table.write_enable.next = self.verdict_taken.val() && self.verdict_accepted.val();
        self.slot_table.write_address.next = (bit_cast::<20, FLOW_BITS>(self.verdict_flow.val())
            << self.psn_bits.val())
            | (bit_cast::<20, 24>(self.verdict_psn.val()) & self.psn_mask.val());
        self.slot_table.write_data.next = self.verdict_tag.val().get_bits::<8>(0);
        self.drain.run_push.next = self.verdict_taken.val()
            && self.verdict_accepted.val()
            && (self.verdict_advance.val() != 0);
        self.drain.run_flow.next = self.verdict_flow.val();
        self.drain.run_psn.next = self.verdict_psn.val();
        self.drain.run_count.next = self.verdict_advance.val();

        // Acknowledge.
        self.acks.push.next = self.verdict_taken.val();
        self.acks.push_data.next = bit_cast::<64, 24>(self.verdict_psn.val())
            | (bit_cast::<64, 24>(self.verdict_expected.val()) << 24)
            | (bit_cast::<64, FLOW_BITS>(self.verdict_flow.val()) << 48)
            | (bit_cast::<64, 1>((self.verdict_full.val() || self.verdict_beyond.val()).into())
                << 58)
            | (bit_cast::<64, 1>(self.verdict_accepted.val().into()) << 59)
            | (bit_cast::<64, 4>(self.verdict_tag.val().get_bits::<4>(8)) << 60);
        self.acks.ready.next = self.ack_ready.val();
        self.ack_popped.next = self.acks.valid.val() && self.ack_ready.val();
        if self.verdict_taken.val() && !self.ack_popped.val() {
            self.ack_credits.d.next = self.ack_credits.q.val() - 1;
        }
        if !self.verdict_taken.val() && self.ack_popped.val() {
            self.ack_credits.d.next = self.ack_credits.q.val() + 1;
        }
        self.ack_valid.next = self.acks.valid.val();
        self.ack_psn.next = self.acks.data.val().get_bits::<24>(0);
        self.ack_expected.next = self.acks.data.val().get_bits::<24>(24);
        self.ack_flow.next = self.acks.data.val().get_bits::<FLOW_BITS>(48);
        self.ack_nak.next = self.acks.data.val().get_bit(58);
        self.ack_accepted.next = self.acks.data.val().get_bit(59);
        self.ack_path.next = self.acks.data.val().get_bits::<4>(60);

        // Out.
        self.slot_table.read_address.next =
            (bit_cast::<20, FLOW_BITS>(self.drain.table_flow.val()) << self.psn_bits.val())
                | (bit_cast::<20, 24>(self.drain.table_psn.val()) & self.psn_mask.val());
        self.drain.table_slot.next = self.slot_table.read_data.val();
        self.lengths.read_address.next = self.drain.length_slot.val();
        self.keeps.read_address.next = self.drain.length_slot.val();
        self.drain.length.next = self.lengths.read_data.val();
        self.beats.read_address.next = self.drain.beat_address.val();
        self.drain.host_ready.next = self.host_ready.val();
        self.host_valid.next = self.drain.host_valid.val();
        self.host_last.next = self.drain.host_last.val();
        self.host_flow.next = self.drain.host_flow.val();
        self.host_psn.next = self.drain.host_psn.val();
        self.host_data.next = self.beats.read_data.val();
        self.host_keep.next = !bits::<64>(0);
        if self.drain.host_last.val() {
            self.host_keep.next = self.keeps.read_data.val();
        }

        // Free list: filled after reset, then fed by the drain and by drops.
        self.free_push.next = self.filling.q.val() || self.drain.freed.val() || self.dropped.val();
        self.free_slots.push.next = self.free_push.val();
        self.free_slots.push_data.next = self.verdict_tag.val().get_bits::<8>(0);
        if self.drain.freed.val() {
            self.free_slots.push_data.next = self.drain.freed_slot.val();
        }
        if self.filling.q.val() {
            self.free_slots.push_data.next = self.fill.q.val();
            self.fill.d.next = self.fill.q.val() + 1;
            if self.fill.q.val().all() {
                self.filling.d.next = false;
            }
        }
        self.free_slots.ready.next = self.ingress.free_ready.val();
        self.free_taken.next = self.free_slots.valid.val() && self.ingress.free_ready.val();

        // Counters. The slot that the next packet will use counts as in use.
        if self.free_taken.val() && !self.free_push.val() {
            self.in_use.d.next = self.in_use.q.val() + 1;
        }
        if !self.free_taken.val() && self.free_push.val() {
            self.in_use.d.next = self.in_use.q.val() - 1;
        }
        if (self.in_use.q.val() > self.high_water_q.q.val()) && !self.filling.q.val() {
            self.high_water_q.d.next = self.in_use.q.val();
        }
        self.room.d.next = (self.in_use.q.val() <= self.limit.val()) && (self.in_use.q.val() < 254);
        self.waiting_change.d.next = 0.into();
        if self.verdict_taken.val() && self.verdict_accepted.val() {
            self.waiting_change.d.next =
                bits::<16>(1) - bit_cast::<16, 10>(self.verdict_advance.val());
        }
        self.waiting_q.d.next = self.waiting_q.q.val() + self.waiting_change.q.val();
        if self.ingress.oversize_dropped.val() {
            self.oversize_q.d.next = self.oversize_q.q.val() + 1;
        }
        self.occupied.next = self.in_use.q.val();
        self.high_water.next = self.high_water_q.q.val();
        self.waiting.next = self.waiting_q.q.val();
        self.oversize.next = self.oversize_q.q.val();

        if self.rst.val() {
            self.ack_credits.d.next = self.ack_depth.val();
            self.filling.d.next = true;
            self.fill.d.next = 0.into();
            // Every slot counts as in use until the fill frees it.
            self.in_use.d.next = 256.into();
            self.high_water_q.d.next = 0.into();
            self.room.d.next = false;
            self.waiting_change.d.next = 0.into();
            self.waiting_q.d.next = 0.into();
            self.oversize_q.d.next = 0.into();
        }
    }
}
