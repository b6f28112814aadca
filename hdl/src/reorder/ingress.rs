//! Writes arriving packets into free slots and announces the complete ones.

use super::{BEAT_ADDRESS_BITS, SLOT_BITS, TAG_BITS};
use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Takes packets beat by beat, each into a slot of its own, and announces a packet once its last
/// beat is stored. `SB` is the logarithm of a slot's beats.
///
/// A packet that is bad or longer than a slot is dropped and its slot used for the next. A packet
/// that finds no slot at its first beat is dropped at line rate: the network never waits for a
/// slot, only for the queue of announcements.
#[derive(Clone, Debug, LogicBlock)]
pub struct Ingress<const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A beat.
    pub rx_valid: Signal<In, Bit>,
    /// The beat is taken.
    pub rx_ready: Signal<Out, Bit>,
    /// It is the packet's last.
    pub rx_last: Signal<In, Bit>,
    /// Drop the packet; counts with its last beat, as all that follows.
    pub rx_bad: Signal<In, Bit>,
    /// Flow of the packet.
    pub rx_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub rx_psn: Signal<In, Bits<24>>,
    /// Path that the packet took, handed on.
    pub rx_path: Signal<In, Bits<4>>,
    /// Send timestamp of the packet, handed on.
    pub rx_sent_ns: Signal<In, Bits<32>>,
    /// When it was received, handed on.
    pub rx_received_ns: Signal<In, Bits<32>>,
    /// A free slot is on offer.
    pub free_valid: Signal<In, Bit>,
    /// It is taken.
    pub free_ready: Signal<Out, Bit>,
    /// Its number.
    pub free_slot: Signal<In, Bits<SLOT_BITS>>,
    /// No slot may be used yet.
    pub hold: Signal<In, Bit>,
    /// An out-of-order packet may be kept.
    pub room: Signal<In, Bit>,
    /// Write the beat of the clock before.
    pub write: Signal<Out, Bit>,
    /// Slot and beat written.
    pub write_address: Signal<Out, Bits<BEAT_ADDRESS_BITS>>,
    /// It ends a packet that is kept: write what is known of it.
    pub write_end: Signal<Out, Bit>,
    /// Slot alone.
    pub write_slot: Signal<Out, Bits<SLOT_BITS>>,
    /// Beat alone.
    pub write_beat: Signal<Out, Bits<SB>>,
    /// A complete packet.
    pub arrival_valid: Signal<Out, Bit>,
    /// It is taken.
    pub arrival_ready: Signal<In, Bit>,
    /// Its flow.
    pub arrival_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its PSN.
    pub arrival_psn: Signal<Out, Bits<24>>,
    /// It may be kept if it is out of order.
    pub arrival_room: Signal<Out, Bit>,
    /// Its slot, and above it path, send and receive timestamp.
    pub arrival_tag: Signal<Out, Bits<TAG_BITS>>,
    /// A packet of too many beats was dropped.
    pub oversize_dropped: Signal<Out, Bit>,
    /// A packet was dropped in the clock before because it had found no slot.
    pub no_buffer: Signal<Out, Bit>,
    arrivals: StreamFifo<Bits<112>, QUEUE_ADDRESS_BITS>,
    credits: Reg<Bits<6>>,
    has_slot: Reg<Bit>,
    slot: Reg<Bits<SLOT_BITS>>,
    beat: Reg<Bits<SB>>,
    in_packet: Reg<Bit>,
    refused: Reg<Bit>,
    oversize: Reg<Bit>,
    no_buffer_q: Reg<Bit>,
    write_q: Reg<Bit>,
    write_end_q: Reg<Bit>,
    write_slot_q: Reg<Bits<SLOT_BITS>>,
    write_beat_q: Reg<Bits<SB>>,
    ready: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    slotless: Signal<Local, Bit>,
    finishing: Signal<Local, Bit>,
    announced: Signal<Local, Bit>,
    tag: Signal<Local, Bits<TAG_BITS>>,
    take: Signal<Local, Bit>,
    popped: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
    beat_bits: Constant<Bits<5>>,
}

impl<const SB: usize> Default for Ingress<SB> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_reorder_ingress",
                "Writes arriving packets into free slots and announces the complete ones.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            rx_valid: Signal::default(),
            rx_ready: Signal::default(),
            rx_last: Signal::default(),
            rx_bad: Signal::default(),
            rx_flow: Signal::default(),
            rx_psn: Signal::default(),
            rx_path: Signal::default(),
            rx_sent_ns: Signal::default(),
            rx_received_ns: Signal::default(),
            free_valid: Signal::default(),
            free_ready: Signal::default(),
            free_slot: Signal::default(),
            hold: Signal::default(),
            room: Signal::default(),
            write: Signal::default(),
            write_address: Signal::default(),
            write_end: Signal::default(),
            write_slot: Signal::default(),
            write_beat: Signal::default(),
            arrival_valid: Signal::default(),
            arrival_ready: Signal::default(),
            arrival_flow: Signal::default(),
            arrival_psn: Signal::default(),
            arrival_room: Signal::default(),
            arrival_tag: Signal::default(),
            oversize_dropped: Signal::default(),
            no_buffer: Signal::default(),
            arrivals: StreamFifo::new("reorder_arrivals"),
            credits: Reg::default(),
            has_slot: Reg::default(),
            slot: Reg::default(),
            beat: Reg::default(),
            in_packet: Reg::default(),
            refused: Reg::default(),
            oversize: Reg::default(),
            no_buffer_q: Reg::default(),
            write_q: Reg::default(),
            write_end_q: Reg::default(),
            write_slot_q: Reg::default(),
            write_beat_q: Reg::default(),
            ready: Signal::default(),
            accepted: Signal::default(),
            slotless: Signal::default(),
            finishing: Signal::default(),
            announced: Signal::default(),
            tag: Signal::default(),
            take: Signal::default(),
            popped: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
            beat_bits: Constant::new((SB as u64).into()),
        }
    }
}

impl<const SB: usize> Logic for Ingress<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credits, has_slot, slot, beat, in_packet, refused);
        dff_setup!(self, clk, oversize, no_buffer_q);
        dff_setup!(self, clk, write_q, write_end_q, write_slot_q, write_beat_q);
        self.arrivals.clk.next = self.clk.val();
        self.arrivals.rst.next = self.rst.val();

        // The first beat decides whether the packet has a slot.
        self.ready.next = self.credits.q.val() != 0;
        self.rx_ready.next = self.ready.val();
        self.accepted.next = self.ready.val() && self.rx_valid.val();
        self.slotless.next = !self.has_slot.q.val() || self.hold.val();
        if self.in_packet.q.val() {
            self.slotless.next = self.refused.q.val();
        }
        self.finishing.next = self.accepted.val() && self.rx_last.val() && !self.rx_bad.val();
        self.announced.next =
            self.finishing.val() && !self.slotless.val() && !self.oversize.q.val();
        self.oversize_dropped.next =
            self.finishing.val() && !self.slotless.val() && self.oversize.q.val();
        self.no_buffer_q.d.next = self.finishing.val() && self.slotless.val();
        self.no_buffer.next = self.no_buffer_q.q.val();

        // The next slot is taken with a packet's last beat, so that packets follow each other
        // without a gap.
        self.take.next = self.free_valid.val() && (!self.has_slot.q.val() || self.announced.val());
        self.free_ready.next = !self.has_slot.q.val() || self.announced.val();
        if self.announced.val() {
            self.has_slot.d.next = false;
        }
        if self.take.val() {
            self.has_slot.d.next = true;
            self.slot.d.next = self.free_slot.val();
        }

        // The memories see registers; a packet is read long after its announcement.
        self.write_q.d.next = self.accepted.val() && !self.slotless.val() && !self.oversize.q.val();
        self.write_end_q.d.next = self.announced.val();
        self.write_slot_q.d.next = self.slot.q.val();
        self.write_beat_q.d.next = self.beat.q.val();
        self.write.next = self.write_q.q.val();
        self.write_end.next = self.write_end_q.q.val();
        self.write_slot.next = self.write_slot_q.q.val();
        self.write_beat.next = self.write_beat_q.q.val();
        self.write_address.next =
            (bit_cast::<BEAT_ADDRESS_BITS, SLOT_BITS>(self.write_slot_q.q.val())
                << self.beat_bits.val())
                | bit_cast::<BEAT_ADDRESS_BITS, SB>(self.write_beat_q.q.val());
        if self.accepted.val() {
            self.in_packet.d.next = true;
            self.refused.d.next = self.slotless.val();
            self.beat.d.next = self.beat.q.val() + 1;
            if self.beat.q.val().all() {
                self.oversize.d.next = true;
            }
            if self.rx_last.val() {
                self.in_packet.d.next = false;
                self.beat.d.next = 0.into();
                self.oversize.d.next = false;
            }
        }

        // Announce: never more than the queue holds.
        self.tag.next = bit_cast::<TAG_BITS, SLOT_BITS>(self.slot.q.val())
            | (bit_cast::<TAG_BITS, 4>(self.rx_path.val()) << 9)
            | (bit_cast::<TAG_BITS, 32>(self.rx_sent_ns.val()) << 13)
            | (bit_cast::<TAG_BITS, 32>(self.rx_received_ns.val()) << 45);
        self.arrivals.push.next = self.announced.val();
        self.arrivals.push_data.next = bit_cast::<112, 24>(self.rx_psn.val())
            | (bit_cast::<112, FLOW_BITS>(self.rx_flow.val()) << 24)
            | (bit_cast::<112, 1>(self.room.val().into()) << 34)
            | (bit_cast::<112, TAG_BITS>(self.tag.val()) << 35);
        self.arrivals.ready.next = self.arrival_ready.val();
        self.popped.next = self.arrivals.valid.val() && self.arrival_ready.val();
        if self.announced.val() && !self.popped.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.announced.val() && self.popped.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }
        self.arrival_valid.next = self.arrivals.valid.val();
        self.arrival_psn.next = self.arrivals.data.val().get_bits::<24>(0);
        self.arrival_flow.next = self.arrivals.data.val().get_bits::<FLOW_BITS>(24);
        self.arrival_room.next = self.arrivals.data.val().get_bit(34);
        self.arrival_tag.next = self.arrivals.data.val().get_bits::<TAG_BITS>(35);

        if self.rst.val() {
            self.credits.d.next = self.depth.val();
            self.has_slot.d.next = false;
            self.beat.d.next = 0.into();
            self.in_packet.d.next = false;
            self.oversize.d.next = false;
            self.no_buffer_q.d.next = false;
            self.write_q.d.next = false;
            self.write_end_q.d.next = false;
        }
    }
}
