//! Writes arriving packets into free slots and announces the complete ones.

use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Takes packets beat by beat, each into a slot of its own, and announces a packet once its last
/// beat is stored. A packet of more than 64 beats is dropped and its slot used for the next.
#[derive(Clone, Debug, LogicBlock)]
pub struct Ingress {
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
    /// Flow of the packet.
    pub rx_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub rx_psn: Signal<In, Bits<24>>,
    /// Path that the packet took, handed on.
    pub rx_path: Signal<In, Bits<4>>,
    /// A free slot is on offer.
    pub free_valid: Signal<In, Bit>,
    /// It is taken.
    pub free_ready: Signal<Out, Bit>,
    /// Its number.
    pub free_slot: Signal<In, Bits<8>>,
    /// No packet may enter yet.
    pub hold: Signal<In, Bit>,
    /// An out-of-order packet may be kept.
    pub room: Signal<In, Bit>,
    /// Write the beat.
    pub write: Signal<Out, Bit>,
    /// Slot and beat written.
    pub address: Signal<Out, Bits<14>>,
    /// The beat ends a packet: write its length.
    pub write_end: Signal<Out, Bit>,
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
    /// Its slot.
    pub arrival_slot: Signal<Out, Bits<8>>,
    /// Its path.
    pub arrival_path: Signal<Out, Bits<4>>,
    /// A packet of too many beats was dropped.
    pub oversize_dropped: Signal<Out, Bit>,
    arrivals: StreamFifo<Bits<47>, QUEUE_ADDRESS_BITS>,
    credits: Reg<Bits<6>>,
    has_slot: Reg<Bit>,
    slot: Reg<Bits<8>>,
    beat: Reg<Bits<6>>,
    oversize: Reg<Bit>,
    ready: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    finishing: Signal<Local, Bit>,
    announced: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    popped: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
}

impl Default for Ingress {
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
            rx_flow: Signal::default(),
            rx_psn: Signal::default(),
            rx_path: Signal::default(),
            free_valid: Signal::default(),
            free_ready: Signal::default(),
            free_slot: Signal::default(),
            hold: Signal::default(),
            room: Signal::default(),
            write: Signal::default(),
            address: Signal::default(),
            write_end: Signal::default(),
            arrival_valid: Signal::default(),
            arrival_ready: Signal::default(),
            arrival_flow: Signal::default(),
            arrival_psn: Signal::default(),
            arrival_room: Signal::default(),
            arrival_slot: Signal::default(),
            arrival_path: Signal::default(),
            oversize_dropped: Signal::default(),
            arrivals: StreamFifo::new("arrivals"),
            credits: Reg::default(),
            has_slot: Reg::default(),
            slot: Reg::default(),
            beat: Reg::default(),
            oversize: Reg::default(),
            ready: Signal::default(),
            accepted: Signal::default(),
            finishing: Signal::default(),
            announced: Signal::default(),
            take: Signal::default(),
            popped: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
        }
    }
}

impl Logic for Ingress {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credits, has_slot, slot, beat, oversize);
        self.arrivals.clk.next = self.clk.val();
        self.arrivals.rst.next = self.rst.val();

        self.ready.next = self.has_slot.q.val() && (self.credits.q.val() != 0) && !self.hold.val();
        self.rx_ready.next = self.ready.val();
        self.accepted.next = self.ready.val() && self.rx_valid.val();
        self.finishing.next = self.accepted.val() && self.rx_last.val();
        self.announced.next = self.finishing.val() && !self.oversize.q.val();
        self.oversize_dropped.next = self.finishing.val() && self.oversize.q.val();

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

        self.write.next = self.accepted.val() && !self.oversize.q.val();
        self.write_end.next = self.announced.val();
        self.address.next =
            (bit_cast::<14, 8>(self.slot.q.val()) << 6) | bit_cast::<14, 6>(self.beat.q.val());
        if self.accepted.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            if self.beat.q.val() == 63 {
                self.oversize.d.next = true;
            }
        }
        if self.finishing.val() {
            self.beat.d.next = 0.into();
            self.oversize.d.next = false;
        }

        // Announce: never more than the queue holds.
        self.arrivals.push.next = self.announced.val();
        self.arrivals.push_data.next = bit_cast::<47, 24>(self.rx_psn.val())
            | (bit_cast::<47, FLOW_BITS>(self.rx_flow.val()) << 24)
            | (bit_cast::<47, 8>(self.slot.q.val()) << 34)
            | (bit_cast::<47, 1>(self.room.val().into()) << 42)
            | (bit_cast::<47, 4>(self.rx_path.val()) << 43);
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
        self.arrival_slot.next = self.arrivals.data.val().get_bits::<8>(34);
        self.arrival_room.next = self.arrivals.data.val().get_bit(42);
        self.arrival_path.next = self.arrivals.data.val().get_bits::<4>(43);

        if self.rst.val() {
            self.credits.d.next = self.depth.val();
            self.has_slot.d.next = false;
            self.beat.d.next = 0.into();
            self.oversize.d.next = false;
        }
    }
}
