//! The receive side: from frames to the host, and to the ACKs that answer them.

use crate::prim::{ModuleId, Ram};
use crate::reorder::SLOT_BITS;
use crate::rx::{Delivery, FrameParser};
use crate::stream::{LevelFifo, FLOW_BITS};
use crate::top::ReceiverDatapath;
use rust_hdl::prelude::*;

/// Frame parser, receiver datapath and delivery, joined.
///
/// ACKs of data go before ACKs of probes; neither waits for the host.
#[derive(Clone, Debug, LogicBlock)]
pub struct ReceiveSide<const G: usize, const LG: usize, const TB: usize, const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Time, ns.
    pub now_ns: Signal<In, Bits<32>>,
    /// The NIC's MAC.
    pub local_mac: Signal<In, Bits<48>>,
    /// Its IPv4 address.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// Its IPv6 address.
    pub local_ipv6: Signal<In, Bits<128>>,
    /// UDP destination port.
    pub udp_port: Signal<In, Bits<16>>,
    /// Slots that may be in use before only the next expected packet gets in.
    pub limit: Signal<In, Bits<SLOT_BITS>>,
    /// A beat from the network.
    pub rx_valid: Signal<In, Bit>,
    /// It is taken.
    pub rx_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub rx_data: Signal<In, Bits<512>>,
    /// Valid bytes.
    pub rx_keep: Signal<In, Bits<64>>,
    /// The frame's last beat.
    pub rx_last: Signal<In, Bit>,
    /// A beat to the host.
    pub c2h_valid: Signal<Out, Bit>,
    /// It is taken.
    pub c2h_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub c2h_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub c2h_keep: Signal<Out, Bits<64>>,
    /// The packet's last beat.
    pub c2h_last: Signal<Out, Bit>,
    /// Bytes of the packet.
    pub c2h_size: Signal<Out, Bits<16>>,
    /// Write a flow's context.
    pub context_write: Signal<In, Bit>,
    /// Flow.
    pub context_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Context.
    pub context_data: Signal<In, Bits<256>>,
    /// Open a flow.
    pub open_valid: Signal<In, Bit>,
    /// It is taken.
    pub open_ready: Signal<Out, Bit>,
    /// Flow.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// Free what waits of a flow that was closed.
    pub flush_valid: Signal<In, Bit>,
    /// It is done.
    pub flush_ready: Signal<Out, Bit>,
    /// Flow.
    pub flush_flow: Signal<In, Bits<FLOW_BITS>>,
    /// An ACK or NAK arrived.
    pub ack_valid: Signal<Out, Bit>,
    /// It is taken.
    pub ack_ready: Signal<In, Bit>,
    /// Flow.
    pub ack_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path.
    pub ack_path: Signal<Out, Bits<4>>,
    /// PSN.
    pub ack_psn: Signal<Out, Bits<24>>,
    /// Next expected PSN.
    pub ack_expected: Signal<Out, Bits<24>>,
    /// A probe is acknowledged.
    pub ack_probe: Signal<Out, Bit>,
    /// The packet was dropped.
    pub ack_nak: Signal<Out, Bit>,
    /// Echoed send time, ns.
    pub ack_sent_ns: Signal<Out, Bits<32>>,
    /// Receive time of the packet, ns of the peer.
    pub ack_received_ns: Signal<Out, Bits<32>>,
    /// Arrival of the ACK, ns.
    pub ack_now_ns: Signal<Out, Bits<32>>,
    /// An ACK or NAK to send.
    pub reply_valid: Signal<Out, Bit>,
    /// It is taken.
    pub reply_ready: Signal<In, Bit>,
    /// Flow.
    pub reply_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path.
    pub reply_path: Signal<Out, Bits<4>>,
    /// PSN.
    pub reply_psn: Signal<Out, Bits<24>>,
    /// Next expected PSN.
    pub reply_expected: Signal<Out, Bits<24>>,
    /// Selective map.
    pub reply_selective: Signal<Out, Bits<64>>,
    /// A probe is acknowledged.
    pub reply_probe: Signal<Out, Bit>,
    /// The packet was dropped.
    pub reply_nak: Signal<Out, Bit>,
    /// It had arrived before.
    pub reply_duplicate: Signal<Out, Bit>,
    /// Its send time, ns.
    pub reply_sent_ns: Signal<Out, Bits<32>>,
    /// Its receive time, ns.
    pub reply_received_ns: Signal<Out, Bits<32>>,
    /// Slots in use.
    pub occupied: Signal<Out, Bits<10>>,
    /// Most slots ever in use since reset.
    pub high_water: Signal<Out, Bits<10>>,
    /// Packets of all flows that wait out of order.
    pub waiting: Signal<Out, Bits<16>>,
    /// A frame was accepted.
    pub frame_valid: Signal<Out, Bit>,
    /// 0 data, 1 probe, 2 ACK, 3 NAK.
    pub frame_kind: Signal<Out, Bits<2>>,
    /// A frame was dropped.
    pub drop_valid: Signal<Out, Bit>,
    /// Why.
    pub drop_cause: Signal<Out, Bits<4>>,
    /// A packet found no slot.
    pub no_buffer: Signal<Out, Bit>,
    /// A packet had arrived before.
    pub duplicate: Signal<Out, Bit>,
    /// A packet was refused by a NAK.
    pub refused: Signal<Out, Bit>,
    /// A packet was delivered.
    pub delivered_valid: Signal<Out, Bit>,
    /// Its flow.
    pub delivered_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its bytes.
    pub delivered_bytes: Signal<Out, Bits<14>>,
    /// A message was completed.
    pub completed_valid: Signal<Out, Bit>,
    /// Monitor: beat into the receiver datapath.
    pub trace_rx_data: Signal<Out, Bits<512>>,
    /// Monitor: its other fields.
    pub trace_rx: Signal<Out, Bits<284>>,
    /// Monitor: outputs of the receiver datapath, and whether they are taken.
    pub trace_receiver_out: Signal<Out, Bits<250>>,
    /// Monitor: an ACK that arrived.
    pub trace_ack: Signal<Out, Bits<163>>,
    /// Monitor: a probe that arrived.
    pub trace_probe: Signal<Out, Bits<80>>,
    parser: FrameParser,
    receiver: ReceiverDatapath<G, LG, TB, SB>,
    delivery: Delivery,
    contexts: Ram<Bits<256>, FLOW_BITS>,
    replies: LevelFifo<Bits<193>, 5>,
    takes_ack: Signal<Local, Bit>,
    takes_probe: Signal<Local, Bit>,
    ack_room: Signal<Local, Bit>,
    probe_room: Signal<Local, Bit>,
}

impl<const G: usize, const LG: usize, const TB: usize, const SB: usize> ReceiveSide<G, LG, TB, SB> {
    /// For `flows` flows (a power of two, at most 1,024) and `slots` slots in the reorder buffer.
    pub fn new(flows: usize, slots: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_receive_side",
                &format!(
                    "Receive side: windows of {} PSNs, {flows} flows, {slots} slots of {} bytes.",
                    64 * G,
                    64usize << SB
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            now_ns: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            limit: Signal::default(),
            rx_valid: Signal::default(),
            rx_ready: Signal::default(),
            rx_data: Signal::default(),
            rx_keep: Signal::default(),
            rx_last: Signal::default(),
            c2h_valid: Signal::default(),
            c2h_ready: Signal::default(),
            c2h_data: Signal::default(),
            c2h_keep: Signal::default(),
            c2h_last: Signal::default(),
            c2h_size: Signal::default(),
            context_write: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            flush_valid: Signal::default(),
            flush_ready: Signal::default(),
            flush_flow: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_probe: Signal::default(),
            ack_nak: Signal::default(),
            ack_sent_ns: Signal::default(),
            ack_received_ns: Signal::default(),
            ack_now_ns: Signal::default(),
            reply_valid: Signal::default(),
            reply_ready: Signal::default(),
            reply_flow: Signal::default(),
            reply_path: Signal::default(),
            reply_psn: Signal::default(),
            reply_expected: Signal::default(),
            reply_selective: Signal::default(),
            reply_probe: Signal::default(),
            reply_nak: Signal::default(),
            reply_duplicate: Signal::default(),
            reply_sent_ns: Signal::default(),
            reply_received_ns: Signal::default(),
            occupied: Signal::default(),
            high_water: Signal::default(),
            waiting: Signal::default(),
            frame_valid: Signal::default(),
            frame_kind: Signal::default(),
            drop_valid: Signal::default(),
            drop_cause: Signal::default(),
            no_buffer: Signal::default(),
            duplicate: Signal::default(),
            refused: Signal::default(),
            delivered_valid: Signal::default(),
            delivered_flow: Signal::default(),
            delivered_bytes: Signal::default(),
            completed_valid: Signal::default(),
            trace_rx_data: Signal::default(),
            trace_rx: Signal::default(),
            trace_receiver_out: Signal::default(),
            trace_ack: Signal::default(),
            trace_probe: Signal::default(),
            parser: FrameParser::new(flows),
            receiver: ReceiverDatapath::new(flows, slots),
            delivery: Delivery::default(),
            contexts: Ram::new(flows),
            replies: LevelFifo::new("replies", 30),
            takes_ack: Signal::default(),
            takes_probe: Signal::default(),
            ack_room: Signal::default(),
            probe_room: Signal::default(),
        }
    }
}

impl<const G: usize, const LG: usize, const TB: usize, const SB: usize> Logic
    for ReceiveSide<G, LG, TB, SB>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clk, contexts);
        self.parser.clk.next = self.clk.val();
        self.parser.rst.next = self.rst.val();
        self.receiver.clk.next = self.clk.val();
        self.receiver.rst.next = self.rst.val();
        self.delivery.clk.next = self.clk.val();
        self.delivery.rst.next = self.rst.val();
        self.replies.clk.next = self.clk.val();
        self.replies.rst.next = self.rst.val();
        self.parser.now_ns.next = self.now_ns.val();
        self.parser.local_mac.next = self.local_mac.val();
        self.parser.local_ipv4.next = self.local_ipv4.val();
        self.parser.local_ipv6.next = self.local_ipv6.val();
        self.parser.udp_port.next = self.udp_port.val();
        self.receiver.limit.next = self.limit.val();
        self.contexts.write_enable.next = self.context_write.val();
        self.contexts.write_address.next = self.context_flow.val();
        self.contexts.write_data.next = self.context_data.val();
        self.contexts.read_address.next = self.parser.context_flow.val();
        self.parser.context_data.next = self.contexts.read_data.val();
        self.receiver.open_valid.next = self.open_valid.val();
        self.open_ready.next = self.receiver.open_ready.val();
        self.receiver.open_flow.next = self.open_flow.val();
        self.receiver.open_psn.next = self.open_psn.val();
        self.flush_ready.next = true;

        // Frames in.
        self.parser.rx_valid.next = self.rx_valid.val();
        self.parser.rx_data.next = self.rx_data.val();
        self.parser.rx_keep.next = self.rx_keep.val();
        self.parser.rx_last.next = self.rx_last.val();
        self.rx_ready.next = self.parser.rx_ready.val();
        self.receiver.rx_valid.next = self.parser.data_valid.val();
        self.parser.data_ready.next = self.receiver.rx_ready.val();
        self.receiver.rx_data.next = self.parser.data_data.val();
        self.receiver.rx_keep.next = self.parser.data_keep.val();
        self.receiver.rx_last.next = self.parser.data_last.val();
        self.receiver.rx_bad.next = self.parser.data_bad.val();
        self.receiver.rx_flow.next = self.parser.data_flow.val();
        self.receiver.rx_psn.next = self.parser.data_psn.val();
        self.receiver.rx_path.next = self.parser.data_path.val();
        self.receiver.rx_place.next = self.parser.data_place.val();
        self.receiver.rx_sent_ns.next = self.parser.data_sent_ns.val();
        self.receiver.rx_received_ns.next = self.parser.data_received_ns.val();
        self.ack_valid.next = self.parser.ack_valid.val();
        self.parser.ack_ready.next = self.ack_ready.val();
        self.ack_flow.next = self.parser.ack_flow.val();
        self.ack_path.next = self.parser.ack_path.val();
        self.ack_psn.next = self.parser.ack_psn.val();
        self.ack_expected.next = self.parser.ack_expected.val();
        self.ack_probe.next = self.parser.ack_probe.val();
        self.ack_nak.next = self.parser.ack_nak.val();
        self.ack_sent_ns.next = self.parser.ack_sent_ns.val();
        self.ack_received_ns.next = self.parser.ack_received_ns.val();
        self.ack_now_ns.next = self.parser.ack_now_ns.val();
        self.frame_valid.next = self.parser.frame_valid.val();
        self.frame_kind.next = self.parser.frame_kind.val();
        self.drop_valid.next = self.parser.drop_valid.val();
        self.drop_cause.next = self.parser.drop_cause.val();
        self.no_buffer.next = self.receiver.no_buffer.val();

        // To the host.
        self.delivery.host_valid.next = self.receiver.host_valid.val();
        self.receiver.host_ready.next = self.delivery.host_ready.val();
        self.delivery.host_data.next = self.receiver.host_data.val();
        self.delivery.host_keep.next = self.receiver.host_keep.val();
        self.delivery.host_last.next = self.receiver.host_last.val();
        self.delivery.host_flow.next = self.receiver.host_flow.val();
        self.delivery.host_psn.next = self.receiver.host_psn.val();
        self.delivery.host_place.next = self.receiver.host_place.val();
        self.c2h_valid.next = self.delivery.c2h_valid.val();
        self.delivery.c2h_ready.next = self.c2h_ready.val();
        self.c2h_data.next = self.delivery.c2h_data.val();
        self.c2h_keep.next = self.delivery.c2h_keep.val();
        self.c2h_last.next = self.delivery.c2h_last.val();
        self.c2h_size.next = self.delivery.c2h_size.val();
        self.delivered_valid.next = self.delivery.delivered_valid.val();
        self.delivered_flow.next = self.delivery.delivered_flow.val();
        self.delivered_bytes.next = self.delivery.delivered_bytes.val();
        self.completed_valid.next = self.delivery.completed_valid.val();
        self.occupied.next = self.receiver.occupied.val();
        self.high_water.next = self.receiver.high_water.val();
        self.waiting.next = self.receiver.waiting.val();

        // Answers, through a queue that holds what it offers.
        self.ack_room.next = self.replies.room.val();
        self.probe_room.next = self.replies.room.val() && !self.receiver.ack_valid.val();
        self.receiver.ack_ready.next = self.ack_room.val();
        self.parser.probe_ready.next = self.probe_room.val();
        self.takes_ack.next = self.receiver.ack_valid.val() && self.ack_room.val();
        self.takes_probe.next = self.parser.probe_valid.val() && self.probe_room.val();
        self.replies.push.next = self.takes_ack.val() || self.takes_probe.val();
        self.replies.push_data.next = bit_cast::<193, FLOW_BITS>(self.parser.probe_flow.val())
            | (bit_cast::<193, 4>(self.parser.probe_path.val()) << 10)
            | (bit_cast::<193, 32>(self.parser.probe_sent_ns.val()) << 14)
            | (bit_cast::<193, 32>(self.parser.probe_received_ns.val()) << 46)
            | (bits::<193>(1) << 78);
        if self.receiver.ack_valid.val() {
            self.replies.push_data.next = bit_cast::<193, FLOW_BITS>(self.receiver.ack_flow.val())
                | (bit_cast::<193, 4>(self.receiver.ack_path.val()) << 10)
                | (bit_cast::<193, 32>(self.receiver.ack_sent_ns.val()) << 14)
                | (bit_cast::<193, 32>(self.receiver.ack_received_ns.val()) << 46)
                | (bit_cast::<193, 1>(self.receiver.ack_nak.val().into()) << 79)
                | (bit_cast::<193, 1>(self.receiver.ack_duplicate.val().into()) << 80)
                | (bit_cast::<193, 24>(self.receiver.ack_psn.val()) << 81)
                | (bit_cast::<193, 24>(self.receiver.ack_expected.val()) << 105)
                | (bit_cast::<193, 64>(self.receiver.ack_selective.val()) << 129);
        }
        self.reply_valid.next = self.replies.valid.val();
        self.replies.ready.next = self.reply_ready.val();
        self.reply_flow.next = self.replies.data.val().get_bits::<FLOW_BITS>(0);
        self.reply_path.next = self.replies.data.val().get_bits::<4>(10);
        self.reply_sent_ns.next = self.replies.data.val().get_bits::<32>(14);
        self.reply_received_ns.next = self.replies.data.val().get_bits::<32>(46);
        self.reply_probe.next = self.replies.data.val().get_bit(78);
        self.reply_nak.next = self.replies.data.val().get_bit(79);
        self.reply_duplicate.next = self.replies.data.val().get_bit(80);
        self.reply_psn.next = self.replies.data.val().get_bits::<24>(81);
        self.reply_expected.next = self.replies.data.val().get_bits::<24>(105);
        self.reply_selective.next = self.replies.data.val().get_bits::<64>(129);
        self.duplicate.next = self.takes_ack.val() && self.receiver.ack_duplicate.val();
        self.refused.next = self.takes_ack.val() && self.receiver.ack_nak.val();

        // Monitors.
        self.trace_rx_data.next = self.parser.data_data.val();
        self.trace_rx.next = bit_cast::<284, 1>(self.parser.data_valid.val().into())
            | (bit_cast::<284, 1>(self.receiver.rx_ready.val().into()) << 1)
            | (bit_cast::<284, 64>(self.parser.data_keep.val()) << 2)
            | (bit_cast::<284, 1>(self.parser.data_last.val().into()) << 66)
            | (bit_cast::<284, 1>(self.parser.data_bad.val().into()) << 67)
            | (bit_cast::<284, FLOW_BITS>(self.parser.data_flow.val()) << 68)
            | (bit_cast::<284, 24>(self.parser.data_psn.val()) << 78)
            | (bit_cast::<284, 4>(self.parser.data_path.val()) << 102)
            | (bit_cast::<284, 112>(self.parser.data_place.val()) << 106)
            | (bit_cast::<284, 32>(self.parser.data_sent_ns.val()) << 218)
            | (bit_cast::<284, 32>(self.parser.data_received_ns.val()) << 250)
            | (bit_cast::<284, 1>(self.open_valid.val().into()) << 282)
            | (bit_cast::<284, 1>(self.flush_valid.val().into()) << 283);
        self.trace_receiver_out.next = bit_cast::<250, 1>(self.receiver.open_ready.val().into())
            | (bit_cast::<250, 1>(self.receiver.host_valid.val().into()) << 1)
            | (bit_cast::<250, 1>(self.delivery.host_ready.val().into()) << 2)
            | (bit_cast::<250, 1>(self.receiver.host_last.val().into()) << 3)
            | (bit_cast::<250, FLOW_BITS>(self.receiver.host_flow.val()) << 4)
            | (bit_cast::<250, 24>(self.receiver.host_psn.val()) << 14)
            | (bit_cast::<250, 1>(self.receiver.ack_valid.val().into()) << 38)
            | (bit_cast::<250, 1>(self.ack_room.val().into()) << 39)
            | (bit_cast::<250, FLOW_BITS>(self.receiver.ack_flow.val()) << 40)
            | (bit_cast::<250, 24>(self.receiver.ack_psn.val()) << 50)
            | (bit_cast::<250, 24>(self.receiver.ack_expected.val()) << 74)
            | (bit_cast::<250, 64>(self.receiver.ack_selective.val()) << 98)
            | (bit_cast::<250, 4>(self.receiver.ack_path.val()) << 162)
            | (bit_cast::<250, 1>(self.receiver.ack_nak.val().into()) << 166)
            | (bit_cast::<250, 1>(self.receiver.ack_accepted.val().into()) << 167)
            | (bit_cast::<250, 1>(self.receiver.ack_duplicate.val().into()) << 168)
            | (bit_cast::<250, 32>(self.receiver.ack_sent_ns.val()) << 169)
            | (bit_cast::<250, 32>(self.receiver.ack_received_ns.val()) << 201)
            | (bit_cast::<250, 1>(self.receiver.no_buffer.val().into()) << 233)
            | (bit_cast::<250, 16>(self.receiver.waiting.val()) << 234);
        self.trace_ack.next = bit_cast::<163, 1>(self.parser.ack_valid.val().into())
            | (bit_cast::<163, 1>(self.ack_ready.val().into()) << 1)
            | (bit_cast::<163, FLOW_BITS>(self.parser.ack_flow.val()) << 2)
            | (bit_cast::<163, 4>(self.parser.ack_path.val()) << 12)
            | (bit_cast::<163, 24>(self.parser.ack_psn.val()) << 16)
            | (bit_cast::<163, 24>(self.parser.ack_expected.val()) << 40)
            | (bit_cast::<163, 1>(self.parser.ack_probe.val().into()) << 64)
            | (bit_cast::<163, 1>(self.parser.ack_nak.val().into()) << 65)
            | (bit_cast::<163, 1>(self.parser.ack_duplicate.val().into()) << 66)
            | (bit_cast::<163, 32>(self.parser.ack_sent_ns.val()) << 67)
            | (bit_cast::<163, 32>(self.parser.ack_received_ns.val()) << 99)
            | (bit_cast::<163, 32>(self.parser.ack_now_ns.val()) << 131);
        self.trace_probe.next = bit_cast::<80, 1>(self.parser.probe_valid.val().into())
            | (bit_cast::<80, 1>(self.probe_room.val().into()) << 1)
            | (bit_cast::<80, FLOW_BITS>(self.parser.probe_flow.val()) << 2)
            | (bit_cast::<80, 4>(self.parser.probe_path.val()) << 12)
            | (bit_cast::<80, 32>(self.parser.probe_sent_ns.val()) << 16)
            | (bit_cast::<80, 32>(self.parser.probe_received_ns.val()) << 48);
    }
}
