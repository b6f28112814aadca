//! What the host gets: payloads with their place in front, completions of messages.

use crate::prim::{ModuleId, Reg};
use crate::reorder::PLACE_BITS;
use crate::stream::{Skid, FLOW_BITS};
use rust_hdl::prelude::*;

/// What goes out next.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
pub enum DeliveryState {
    /// The header beat of the packet that comes.
    Header,
    /// Its payload.
    Payload,
    /// The completion of the message that it ended.
    Completion,
}

/// Puts a header beat before each packet in order, and a completion after a message's last.
///
/// Every clock in which the output takes a beat and there is something to say gives a beat: a
/// packet of `n` beats takes `n + 1` clocks, a completion one more. Formats: `docs/nic.md`, host
/// stream out; the header's bytes 4 to 15 are the place's low 96 bits as they are.
#[derive(Clone, Debug, LogicBlock)]
pub struct Delivery {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A payload beat.
    pub host_valid: Signal<In, Bit>,
    /// It is taken.
    pub host_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub host_data: Signal<In, Bits<512>>,
    /// Valid bytes.
    pub host_keep: Signal<In, Bits<64>>,
    /// The packet's last beat.
    pub host_last: Signal<In, Bit>,
    /// Flow of the packet; like PSN and place the same in all its beats.
    pub host_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub host_psn: Signal<In, Bits<24>>,
    /// Its place in its message.
    pub host_place: Signal<In, Bits<PLACE_BITS>>,
    /// A beat to the host.
    pub c2h_valid: Signal<Out, Bit>,
    /// It is taken.
    pub c2h_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub c2h_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub c2h_keep: Signal<Out, Bits<64>>,
    /// Last beat of a payload or completion.
    pub c2h_last: Signal<Out, Bit>,
    /// Bytes of payload or completion, first beat included; the same in all beats.
    pub c2h_size: Signal<Out, Bits<16>>,
    /// A payload was delivered to its last beat.
    pub delivered_valid: Signal<Out, Bit>,
    /// Flow of the payload.
    pub delivered_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Bytes of the payload.
    pub delivered_bytes: Signal<Out, Bits<14>>,
    /// A completion was delivered.
    pub completed_valid: Signal<Out, Bit>,
    stage: Skid<Bits<593>>,
    state: Reg<DeliveryState>,
    flow: Reg<Bits<FLOW_BITS>>,
    psn: Reg<Bits<24>>,
    message: Reg<Bits<32>>,
    message_bytes: Reg<Bits<32>>,
    delivered: Reg<Bit>,
    delivered_flow_q: Reg<Bits<FLOW_BITS>>,
    delivered_bytes_q: Reg<Bits<14>>,
    completed: Reg<Bit>,
    bytes: Signal<Local, Bits<14>>,
    ends_message: Signal<Local, Bit>,
    header: Signal<Local, Bits<512>>,
    completion: Signal<Local, Bits<512>>,
    data: Signal<Local, Bits<512>>,
    keep: Signal<Local, Bits<64>>,
    last: Signal<Local, Bit>,
    size: Signal<Local, Bits<16>>,
    payload_taken: Signal<Local, Bit>,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_delivery",
                "Host stream out: header beat and payload a packet, completion a message.\n\
                 States: 0 header, 1 payload, 2 completion.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            host_valid: Signal::default(),
            host_ready: Signal::default(),
            host_data: Signal::default(),
            host_keep: Signal::default(),
            host_last: Signal::default(),
            host_flow: Signal::default(),
            host_psn: Signal::default(),
            host_place: Signal::default(),
            c2h_valid: Signal::default(),
            c2h_ready: Signal::default(),
            c2h_data: Signal::default(),
            c2h_keep: Signal::default(),
            c2h_last: Signal::default(),
            c2h_size: Signal::default(),
            delivered_valid: Signal::default(),
            delivered_flow: Signal::default(),
            delivered_bytes: Signal::default(),
            completed_valid: Signal::default(),
            stage: Skid::new("delivery"),
            state: Reg::default(),
            flow: Reg::default(),
            psn: Reg::default(),
            message: Reg::default(),
            message_bytes: Reg::default(),
            delivered: Reg::default(),
            delivered_flow_q: Reg::default(),
            delivered_bytes_q: Reg::default(),
            completed: Reg::default(),
            bytes: Signal::default(),
            ends_message: Signal::default(),
            header: Signal::default(),
            completion: Signal::default(),
            data: Signal::default(),
            keep: Signal::default(),
            last: Signal::default(),
            size: Signal::default(),
            payload_taken: Signal::default(),
        }
    }
}

impl Logic for Delivery {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, flow, psn, message, message_bytes);
        dff_setup!(
            self,
            clk,
            delivered,
            delivered_flow_q,
            delivered_bytes_q,
            completed
        );
        self.stage.clk.next = self.clk.val();
        self.stage.rst.next = self.rst.val();

        // Bytes from the lowest: kind, flags, flow (2), message (4), offset (4), its length (4),
        // length of the payload (4), PSN (4).
        self.bytes.next = self.host_place.val().get_bits::<14>(96);
        self.ends_message.next = self.host_place.val().get_bit(110);
        self.header.next = bits::<512>(1)
            | (bit_cast::<512, 1>(self.ends_message.val().into()) << 8)
            | (bit_cast::<512, FLOW_BITS>(self.host_flow.val()) << 16)
            | (bit_cast::<512, 96>(self.host_place.val().get_bits::<96>(0)) << 32)
            | (bit_cast::<512, 14>(self.bytes.val()) << 128)
            | (bit_cast::<512, 24>(self.host_psn.val()) << 160);
        self.completion.next = bits::<512>(258)
            | (bit_cast::<512, FLOW_BITS>(self.flow.q.val()) << 16)
            | (bit_cast::<512, 32>(self.message.q.val()) << 32)
            | (bit_cast::<512, 32>(self.message_bytes.q.val()) << 96)
            | (bit_cast::<512, 24>(self.psn.q.val()) << 160);

        // What a completion says is kept from the packet before it.
        self.payload_taken.next = self.host_valid.val()
            && (self.state.q.val() == DeliveryState::Payload)
            && self.stage.in_ready.val();
        if self.payload_taken.val() {
            self.flow.d.next = self.host_flow.val();
            self.psn.d.next = self.host_psn.val();
            self.message.d.next = self.host_place.val().get_bits::<32>(0);
            self.message_bytes.d.next = self.host_place.val().get_bits::<32>(64);
        }

        self.stage.in_valid.next = self.host_valid.val();
        self.data.next = self.header.val();
        self.keep.next = !bits::<64>(0);
        self.last.next = false;
        self.size.next = bit_cast::<16, 14>(self.bytes.val()) + 64;
        if self.state.q.val() == DeliveryState::Header {
            if self.host_valid.val() && self.stage.in_ready.val() {
                self.state.d.next = DeliveryState::Payload;
            }
        } else if self.state.q.val() == DeliveryState::Payload {
            self.data.next = self.host_data.val();
            self.keep.next = self.host_keep.val();
            self.last.next = self.host_last.val();
            if self.payload_taken.val() && self.host_last.val() {
                self.state.d.next = DeliveryState::Header;
                if self.ends_message.val() {
                    self.state.d.next = DeliveryState::Completion;
                }
            }
        } else {
            self.stage.in_valid.next = true;
            self.data.next = self.completion.val();
            self.last.next = true;
            self.size.next = 64.into();
            if self.stage.in_ready.val() {
                self.state.d.next = DeliveryState::Header;
            }
        }
        self.host_ready.next =
            (self.state.q.val() == DeliveryState::Payload) && self.stage.in_ready.val();
        self.stage.in_data.next = bit_cast::<593, 512>(self.data.val())
            | (bit_cast::<593, 64>(self.keep.val()) << 512)
            | (bit_cast::<593, 16>(self.size.val()) << 576)
            | (bit_cast::<593, 1>(self.last.val().into()) << 592);
        self.stage.ready.next = self.c2h_ready.val();
        self.c2h_valid.next = self.stage.valid.val();
        self.c2h_data.next = self.stage.data.val().get_bits::<512>(0);
        self.c2h_keep.next = self.stage.data.val().get_bits::<64>(512);
        self.c2h_size.next = self.stage.data.val().get_bits::<16>(576);
        self.c2h_last.next = self.stage.data.val().get_bit(592);

        // For the counters.
        self.delivered.d.next = self.payload_taken.val() && self.host_last.val();
        self.delivered_flow_q.d.next = self.host_flow.val();
        self.delivered_bytes_q.d.next = self.bytes.val();
        self.completed.d.next =
            (self.state.q.val() == DeliveryState::Completion) && self.stage.in_ready.val();
        self.delivered_valid.next = self.delivered.q.val();
        self.delivered_flow.next = self.delivered_flow_q.q.val();
        self.delivered_bytes.next = self.delivered_bytes_q.q.val();
        self.completed_valid.next = self.completed.q.val();

        if self.rst.val() {
            self.state.d.next = DeliveryState::Header;
            self.delivered.d.next = false;
            self.completed.d.next = false;
        }
    }
}
