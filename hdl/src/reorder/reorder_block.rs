//! The reorder buffer: memories, ingress, drain, free list, queues, counters.

use super::{
    AckQueue, Drain, FreeList, HostQueue, Ingress, BEAT_ADDRESS_BITS, PLACE_BITS, SLOT_BITS,
    TAG_BITS,
};
use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Reorder buffer of slots of `2^SB` beats of 64 bytes, with a slot table of `2^TB` PSNs a flow.
///
/// The table must hold a window and beside it all packets that are in order but not looked up by
/// the drain yet, of which there are at most as many as slots: otherwise a new packet would take
/// the entry of one that a slow host has not got yet.
///
/// Every packet is stored first. When it is complete it is announced to the tracker; the verdict
/// enters it in the flow's slot table or frees its slot. When the next expected packet is
/// accepted, it and all that follow it without a gap are delivered.
///
/// Full rule: a packet that comes when more than `limit` slots are in use, or to one of the last
/// slots, is announced without room, so that the tracker accepts it only if it is the next expected
/// one. The last free slot therefore always goes to a packet that leaves again, and the buffer
/// cannot lock. (`room` looks at the count of two clocks before, hence two slots are reserved.) A
/// packet that finds no slot at all is dropped.
#[derive(Clone, Debug, LogicBlock)]
pub struct ReorderBuffer<const TB: usize, const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Slots that may be in use before only the next expected packet gets in, up to 3 less than
    /// there are.
    pub limit: Signal<In, Bits<SLOT_BITS>>,
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
    /// Drop the packet; counts with its last beat, as all that follows.
    pub rx_bad: Signal<In, Bit>,
    /// Flow of the packet.
    pub rx_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub rx_psn: Signal<In, Bits<24>>,
    /// Path that the packet took, for its acknowledgement.
    pub rx_path: Signal<In, Bits<4>>,
    /// The packet's place in its message, for the host.
    pub rx_place: Signal<In, Bits<PLACE_BITS>>,
    /// Its send timestamp in ns, for its acknowledgement.
    pub rx_sent_ns: Signal<In, Bits<32>>,
    /// When it was received in ns, for its acknowledgement.
    pub rx_received_ns: Signal<In, Bits<32>>,
    /// A packet was dropped in the clock before because it had found no slot.
    pub no_buffer: Signal<Out, Bit>,
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
    /// Its slot, and above it path, send and receive timestamp.
    pub arrival_tag: Signal<Out, Bits<TAG_BITS>>,
    /// The tracker's verdict.
    pub verdict_valid: Signal<In, Bit>,
    /// The verdict is taken.
    pub verdict_ready: Signal<Out, Bit>,
    /// Flow.
    pub verdict_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub verdict_psn: Signal<In, Bits<24>>,
    /// Slot, path, timestamps.
    pub verdict_tag: Signal<In, Bits<TAG_BITS>>,
    /// The packet is new.
    pub verdict_accepted: Signal<In, Bit>,
    /// It had arrived before.
    pub verdict_duplicate: Signal<In, Bit>,
    /// There was no room for it.
    pub verdict_full: Signal<In, Bit>,
    /// It lies beyond the window.
    pub verdict_beyond: Signal<In, Bit>,
    /// Next expected PSN.
    pub verdict_expected: Signal<In, Bits<24>>,
    /// Packets that are in order now.
    pub verdict_advance: Signal<In, Bits<10>>,
    /// Which PSNs of its group have arrived.
    pub verdict_arrived: Signal<In, Bits<64>>,
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
    /// Its place in its message.
    pub host_place: Signal<Out, Bits<PLACE_BITS>>,
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
    /// Which PSNs of the PSN's group of 64 have arrived.
    pub ack_selective: Signal<Out, Bits<64>>,
    /// Path that the packet took.
    pub ack_path: Signal<Out, Bits<4>>,
    /// The packet's send timestamp, in ns.
    pub ack_sent_ns: Signal<Out, Bits<32>>,
    /// When it was received, in ns.
    pub ack_received_ns: Signal<Out, Bits<32>>,
    /// Negative: the packet was dropped, for want of room or as beyond the window.
    pub ack_nak: Signal<Out, Bit>,
    /// The packet was new and is kept.
    pub ack_accepted: Signal<Out, Bit>,
    /// It had arrived before.
    pub ack_duplicate: Signal<Out, Bit>,
    /// Slots in use.
    pub occupied: Signal<Out, Bits<10>>,
    /// Most slots ever in use since reset.
    pub high_water: Signal<Out, Bits<10>>,
    /// Packets of all flows that wait out of order (RBO).
    pub waiting: Signal<Out, Bits<16>>,
    /// Packets dropped because they were longer than a slot, wrapping.
    pub oversize: Signal<Out, Bits<16>>,
    ingress: Ingress<SB>,
    drain: Drain<SB>,
    out_queue: HostQueue,
    free: FreeList,
    acks: AckQueue,
    beats: Ram<Bits<512>, BEAT_ADDRESS_BITS>,
    lengths: Ram<Bits<SB>, SLOT_BITS>,
    keeps: Ram<Bits<64>, SLOT_BITS>,
    places: Ram<Bits<PLACE_BITS>, SLOT_BITS>,
    slot_table: Ram<Bits<SLOT_BITS>, 20>,
    data: Reg<Bits<512>>,
    keep: Reg<Bits<64>>,
    place: Reg<Bits<PLACE_BITS>>,
    waiting_change: Reg<Bits<16>>,
    waiting_q: Reg<Bits<16>>,
    oversize_q: Reg<Bits<16>>,
    verdict_go: Signal<Local, Bit>,
    verdict_taken: Signal<Local, Bit>,
    psn_bits: Constant<Bits<5>>,
    psn_mask: Constant<Bits<20>>,
}

impl<const TB: usize, const SB: usize> ReorderBuffer<TB, SB> {
    /// For `flows` flows (a power of two, at most 1,024) and `slots` slots (256 or 512).
    pub fn new(flows: usize, slots: usize) -> Self {
        assert!(
            slots.is_power_of_two() && slots < 1 << TB,
            "a table of 2^{TB} PSNs is too small for {slots} slots and a window"
        );
        Self {
            id: ModuleId::new(
                format!("rondo_reorder_{}", 1 << TB),
                &format!(
                    "Reorder buffer: {slots} slots of {} bytes, {flows} flows, slot table of {} PSNs a flow.",
                    64 << SB,
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
            rx_bad: Signal::default(),
            rx_flow: Signal::default(),
            rx_psn: Signal::default(),
            rx_path: Signal::default(),
            rx_place: Signal::default(),
            rx_sent_ns: Signal::default(),
            rx_received_ns: Signal::default(),
            no_buffer: Signal::default(),
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
            verdict_duplicate: Signal::default(),
            verdict_full: Signal::default(),
            verdict_beyond: Signal::default(),
            verdict_expected: Signal::default(),
            verdict_advance: Signal::default(),
            verdict_arrived: Signal::default(),
            host_valid: Signal::default(),
            host_ready: Signal::default(),
            host_data: Signal::default(),
            host_keep: Signal::default(),
            host_last: Signal::default(),
            host_flow: Signal::default(),
            host_psn: Signal::default(),
            host_place: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_selective: Signal::default(),
            ack_path: Signal::default(),
            ack_sent_ns: Signal::default(),
            ack_received_ns: Signal::default(),
            ack_nak: Signal::default(),
            ack_accepted: Signal::default(),
            ack_duplicate: Signal::default(),
            occupied: Signal::default(),
            high_water: Signal::default(),
            waiting: Signal::default(),
            oversize: Signal::default(),
            ingress: Ingress::default(),
            drain: Drain::default(),
            out_queue: HostQueue::default(),
            free: FreeList::new(slots),
            acks: AckQueue::default(),
            beats: Ram::new(slots << SB),
            lengths: Ram::new(slots),
            keeps: Ram::new(slots),
            places: Ram::new(slots),
            slot_table: Ram::new(flows << TB),
            data: Reg::default(),
            keep: Reg::default(),
            place: Reg::default(),
            waiting_change: Reg::default(),
            waiting_q: Reg::default(),
            oversize_q: Reg::default(),
            verdict_go: Signal::default(),
            verdict_taken: Signal::default(),
            psn_bits: Constant::new((TB as u64).into()),
            psn_mask: Constant::new(((1u64 << TB) - 1).into()),
        }
    }
}

impl<const TB: usize, const SB: usize> Logic for ReorderBuffer<TB, SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            data,
            keep,
            place,
            waiting_change,
            waiting_q,
            oversize_q
        );
        clock!(self, clk, beats, lengths, keeps, places, slot_table);
        self.ingress.clk.next = self.clk.val();
        self.drain.clk.next = self.clk.val();
        self.out_queue.clk.next = self.clk.val();
        self.free.clk.next = self.clk.val();
        self.acks.clk.next = self.clk.val();
        self.ingress.rst.next = self.rst.val();
        self.drain.rst.next = self.rst.val();
        self.out_queue.rst.next = self.rst.val();
        self.free.rst.next = self.rst.val();
        self.acks.rst.next = self.rst.val();

        // In: beats to their slot; the end of a packet notes what is known of it.
        self.ingress.rx_valid.next = self.rx_valid.val();
        self.rx_ready.next = self.ingress.rx_ready.val();
        self.ingress.rx_last.next = self.rx_last.val();
        self.ingress.rx_bad.next = self.rx_bad.val();
        self.ingress.rx_flow.next = self.rx_flow.val();
        self.ingress.rx_psn.next = self.rx_psn.val();
        self.ingress.rx_path.next = self.rx_path.val();
        self.ingress.rx_sent_ns.next = self.rx_sent_ns.val();
        self.ingress.rx_received_ns.next = self.rx_received_ns.val();
        self.no_buffer.next = self.ingress.no_buffer.val();
        self.ingress.free_valid.next = self.free.slot_valid.val();
        self.ingress.free_slot.next = self.free.slot.val();
        self.ingress.hold.next = self.free.filling.val();
        self.ingress.room.next = self.free.room.val();
        self.ingress.arrival_ready.next = self.arrival_ready.val();
        self.data.d.next = self.rx_data.val();
        self.keep.d.next = self.rx_keep.val();
        self.place.d.next = self.rx_place.val();
        self.beats.write_enable.next = self.ingress.write.val();
        self.beats.write_address.next = self.ingress.write_address.val();
        self.beats.write_data.next = self.data.q.val();
        self.lengths.write_enable.next = self.ingress.write_end.val();
        self.lengths.write_address.next = self.ingress.write_slot.val();
        self.lengths.write_data.next = self.ingress.write_beat.val();
        self.keeps.write_enable.next = self.ingress.write_end.val();
        self.keeps.write_address.next = self.ingress.write_slot.val();
        self.keeps.write_data.next = self.keep.q.val();
        self.places.write_enable.next = self.ingress.write_end.val();
        self.places.write_address.next = self.ingress.write_slot.val();
        self.places.write_data.next = self.place.q.val();
        self.arrival_valid.next = self.ingress.arrival_valid.val();
        self.arrival_flow.next = self.ingress.arrival_flow.val();
        self.arrival_psn.next = self.ingress.arrival_psn.val();
        self.arrival_room.next = self.ingress.arrival_room.val();
        self.arrival_tag.next = self.ingress.arrival_tag.val();

        // Verdict: enter the packet, or free its slot when the drain frees none in this clock.
        self.verdict_go.next =
            self.acks.room.val() && (self.verdict_accepted.val() || !self.drain.freed.val());
        self.verdict_ready.next = self.verdict_go.val();
        self.verdict_taken.next = self.verdict_valid.val() && self.verdict_go.val();
        self.slot_table.write_enable.next = self.verdict_taken.val() && self.verdict_accepted.val();
        self.slot_table.write_address.next = (bit_cast::<20, FLOW_BITS>(self.verdict_flow.val())
            << self.psn_bits.val())
            | (bit_cast::<20, 24>(self.verdict_psn.val()) & self.psn_mask.val());
        self.slot_table.write_data.next = self.verdict_tag.val().get_bits::<SLOT_BITS>(0);
        self.drain.run_push.next = self.verdict_taken.val()
            && self.verdict_accepted.val()
            && (self.verdict_advance.val() != 0);
        self.drain.run_flow.next = self.verdict_flow.val();
        self.drain.run_psn.next = self.verdict_psn.val();
        self.drain.run_count.next = self.verdict_advance.val();

        // Acknowledge.
        self.acks.push.next = self.verdict_taken.val();
        self.acks.flow.next = self.verdict_flow.val();
        self.acks.psn.next = self.verdict_psn.val();
        self.acks.tag.next = self.verdict_tag.val();
        self.acks.accepted.next = self.verdict_accepted.val();
        self.acks.duplicate.next = self.verdict_duplicate.val();
        self.acks.refused.next = self.verdict_full.val() || self.verdict_beyond.val();
        self.acks.expected.next = self.verdict_expected.val();
        self.acks.arrived.next = self.verdict_arrived.val();
        self.acks.ack_ready.next = self.ack_ready.val();
        self.ack_valid.next = self.acks.ack_valid.val();
        self.ack_flow.next = self.acks.ack_flow.val();
        self.ack_psn.next = self.acks.ack_psn.val();
        self.ack_expected.next = self.acks.ack_expected.val();
        self.ack_selective.next = self.acks.ack_selective.val();
        self.ack_path.next = self.acks.ack_path.val();
        self.ack_sent_ns.next = self.acks.ack_sent_ns.val();
        self.ack_received_ns.next = self.acks.ack_received_ns.val();
        self.ack_nak.next = self.acks.ack_nak.val();
        self.ack_accepted.next = self.acks.ack_accepted.val();
        self.ack_duplicate.next = self.acks.ack_duplicate.val();

        // Out.
        self.slot_table.read_address.next =
            (bit_cast::<20, FLOW_BITS>(self.drain.table_flow.val()) << self.psn_bits.val())
                | (bit_cast::<20, 24>(self.drain.table_psn.val()) & self.psn_mask.val());
        self.drain.table_slot.next = self.slot_table.read_data.val();
        self.lengths.read_address.next = self.drain.length_slot.val();
        self.drain.length.next = self.lengths.read_data.val();
        self.beats.read_address.next = self.drain.read_address.val();
        self.keeps.read_address.next = self.drain.read_slot.val();
        self.places.read_address.next = self.drain.read_slot.val();
        self.out_queue.read.next = self.drain.read.val();
        self.out_queue.last.next = self.drain.read_last.val();
        self.out_queue.flow.next = self.drain.read_flow.val();
        self.out_queue.psn.next = self.drain.read_psn.val();
        self.out_queue.data.next = self.beats.read_data.val();
        self.out_queue.keep.next = self.keeps.read_data.val();
        self.out_queue.place.next = self.places.read_data.val();
        self.drain.popped.next = self.out_queue.popped.val();
        self.out_queue.host_ready.next = self.host_ready.val();
        self.host_valid.next = self.out_queue.host_valid.val();
        self.host_data.next = self.out_queue.host_data.val();
        self.host_keep.next = self.out_queue.host_keep.val();
        self.host_last.next = self.out_queue.host_last.val();
        self.host_flow.next = self.out_queue.host_flow.val();
        self.host_psn.next = self.out_queue.host_psn.val();
        self.host_place.next = self.out_queue.host_place.val();

        // Slots.
        self.free.limit.next = self.limit.val();
        self.free.freed.next = self.drain.freed.val();
        self.free.freed_slot.next = self.drain.freed_slot.val();
        self.free.dropped.next = self.verdict_taken.val() && !self.verdict_accepted.val();
        self.free.dropped_slot.next = self.verdict_tag.val().get_bits::<SLOT_BITS>(0);
        self.free.slot_ready.next = self.ingress.free_ready.val();
        self.occupied.next = self.free.occupied.val();
        self.high_water.next = self.free.high_water.val();

        // Counters.
        self.waiting_change.d.next = 0.into();
        if self.verdict_taken.val() && self.verdict_accepted.val() {
            self.waiting_change.d.next =
                bits::<16>(1) - bit_cast::<16, 10>(self.verdict_advance.val());
        }
        self.waiting_q.d.next = self.waiting_q.q.val() + self.waiting_change.q.val();
        if self.ingress.oversize_dropped.val() {
            self.oversize_q.d.next = self.oversize_q.q.val() + 1;
        }
        self.waiting.next = self.waiting_q.q.val();
        self.oversize.next = self.oversize_q.q.val();

        if self.rst.val() {
            self.waiting_change.d.next = 0.into();
            self.waiting_q.d.next = 0.into();
            self.oversize_q.d.next = 0.into();
        }
    }
}
