//! Acknowledgements that are due.

use super::TAG_BITS;
use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Queues an acknowledgement a verdict. A verdict may be pushed while there is room.
#[derive(Clone, Debug, LogicBlock)]
pub struct AckQueue {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A verdict can be stored.
    pub room: Signal<Out, Bit>,
    /// Store the verdict given by the fields below.
    pub push: Signal<In, Bit>,
    /// Flow.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub psn: Signal<In, Bits<24>>,
    /// Slot, path, send and receive timestamp.
    pub tag: Signal<In, Bits<TAG_BITS>>,
    /// The packet is new and kept.
    pub accepted: Signal<In, Bit>,
    /// It had arrived before.
    pub duplicate: Signal<In, Bit>,
    /// There was no room for it, or it lies beyond the window.
    pub refused: Signal<In, Bit>,
    /// Next expected PSN.
    pub expected: Signal<In, Bits<24>>,
    /// Which PSNs of its group have arrived.
    pub arrived: Signal<In, Bits<64>>,
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
    /// Negative.
    pub ack_nak: Signal<Out, Bit>,
    /// The packet was new and is kept.
    pub ack_accepted: Signal<Out, Bit>,
    /// It had arrived before.
    pub ack_duplicate: Signal<Out, Bit>,
    words: StreamFifo<Bits<193>, QUEUE_ADDRESS_BITS>,
    credits: Reg<Bits<6>>,
    popped: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
}

impl Default for AckQueue {
    fn default() -> Self {
        Self {
            id: ModuleId::new("rondo_reorder_ack_queue", "Acknowledgements that are due."),
            clk: Signal::default(),
            rst: Signal::default(),
            room: Signal::default(),
            push: Signal::default(),
            flow: Signal::default(),
            psn: Signal::default(),
            tag: Signal::default(),
            accepted: Signal::default(),
            duplicate: Signal::default(),
            refused: Signal::default(),
            expected: Signal::default(),
            arrived: Signal::default(),
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
            words: StreamFifo::new("reorder_acks"),
            credits: Reg::default(),
            popped: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
        }
    }
}

impl Logic for AckQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credits);
        self.words.clk.next = self.clk.val();
        self.words.rst.next = self.rst.val();

        self.words.push.next = self.push.val();
        self.words.push_data.next = bit_cast::<193, 24>(self.psn.val())
            | (bit_cast::<193, 24>(self.expected.val()) << 24)
            | (bit_cast::<193, FLOW_BITS>(self.flow.val()) << 48)
            | (bit_cast::<193, 1>(self.refused.val().into()) << 58)
            | (bit_cast::<193, 1>(self.accepted.val().into()) << 59)
            | (bit_cast::<193, 1>(self.duplicate.val().into()) << 60)
            | (bit_cast::<193, 4>(self.tag.val().get_bits::<4>(9)) << 61)
            | (bit_cast::<193, 32>(self.tag.val().get_bits::<32>(13)) << 65)
            | (bit_cast::<193, 32>(self.tag.val().get_bits::<32>(45)) << 97)
            | (bit_cast::<193, 64>(self.arrived.val()) << 129);

        self.words.ready.next = self.ack_ready.val();
        self.popped.next = self.words.valid.val() && self.ack_ready.val();
        if self.push.val() && !self.popped.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.push.val() && self.popped.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }
        self.room.next = self.credits.q.val() != 0;

        self.ack_valid.next = self.words.valid.val();
        self.ack_psn.next = self.words.data.val().get_bits::<24>(0);
        self.ack_expected.next = self.words.data.val().get_bits::<24>(24);
        self.ack_flow.next = self.words.data.val().get_bits::<FLOW_BITS>(48);
        self.ack_nak.next = self.words.data.val().get_bit(58);
        self.ack_accepted.next = self.words.data.val().get_bit(59);
        self.ack_duplicate.next = self.words.data.val().get_bit(60);
        self.ack_path.next = self.words.data.val().get_bits::<4>(61);
        self.ack_sent_ns.next = self.words.data.val().get_bits::<32>(65);
        self.ack_received_ns.next = self.words.data.val().get_bits::<32>(97);
        self.ack_selective.next = self.words.data.val().get_bits::<64>(129);

        if self.rst.val() {
            self.credits.d.next = self.depth.val();
        }
    }
}
