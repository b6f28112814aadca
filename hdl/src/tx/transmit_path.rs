//! The transmit side: segmenter, pool and frame builder.

use super::{FrameBuilder, Segmenter};
use crate::prim::{ModuleId, Ram};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Address bits of the largest pool.
const POOL_ADDRESS_BITS: usize = 18;
/// Bits of a slot's number.
const SLOT_BITS: usize = 10;

/// Chunks of the host in, frames out: the segmenter and the frame builder around the memories of the
/// pool. Who sends which packet when, and which slots are free, is decided outside.
#[derive(Clone, Debug, LogicBlock)]
pub struct TransmitPath<const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A flow is to be opened.
    pub open_valid: Signal<In, Bit>,
    /// It is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// A beat of the host.
    pub h2c_valid: Signal<In, Bit>,
    /// It is taken.
    pub h2c_ready: Signal<Out, Bit>,
    /// 64 bytes; a chunk's first beat is its descriptor.
    pub h2c_data: Signal<In, Bits<512>>,
    /// Valid bytes: not read, the descriptor says the length.
    pub h2c_keep: Signal<In, Bits<64>>,
    /// The chunk's last beat.
    pub h2c_last: Signal<In, Bit>,
    /// Bytes of the chunk with its descriptor.
    pub h2c_size: Signal<In, Bits<16>>,
    /// Flow whose context is read.
    pub cut_context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its context, one clock later.
    pub cut_context_data: Signal<In, Bits<256>>,
    /// A free slot is on offer.
    pub free_valid: Signal<In, Bit>,
    /// It is taken.
    pub free_ready: Signal<Out, Bit>,
    /// Its number.
    pub free_slot: Signal<In, Bits<10>>,
    /// A flow's lowest unacknowledged PSN has moved.
    pub una_valid: Signal<In, Bit>,
    /// Flow.
    pub una_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Lowest unacknowledged PSN.
    pub una_psn: Signal<In, Bits<24>>,
    /// A packet is in its slot.
    pub commit_valid: Signal<Out, Bit>,
    /// It is taken.
    pub commit_ready: Signal<In, Bit>,
    /// Its flow.
    pub commit_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its PSN.
    pub commit_psn: Signal<Out, Bits<24>>,
    /// Its slot.
    pub commit_slot: Signal<Out, Bits<10>>,
    /// A chunk is refused, or a stream had another length than its chunk.
    pub refused_valid: Signal<Out, Bit>,
    /// Why: 1 operation, 2 flow, 3 length, 4 beyond the message, 5 partial packet, 6 ends early,
    /// 7 ends late.
    pub refused_cause: Signal<Out, Bits<3>>,
    /// An ACK is to be sent.
    pub ack_valid: Signal<In, Bit>,
    /// It is taken.
    pub ack_ready: Signal<Out, Bit>,
    /// Flow.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path of the packet that is acknowledged.
    pub ack_path: Signal<In, Bits<4>>,
    /// Its PSN.
    pub ack_psn: Signal<In, Bits<24>>,
    /// Next expected PSN.
    pub ack_expected: Signal<In, Bits<24>>,
    /// Which PSNs of its group of 64 have arrived.
    pub ack_selective: Signal<In, Bits<64>>,
    /// A probe is acknowledged.
    pub ack_probe: Signal<In, Bit>,
    /// A NAK.
    pub ack_nak: Signal<In, Bit>,
    /// The packet was a duplicate.
    pub ack_duplicate: Signal<In, Bit>,
    /// Its send timestamp.
    pub ack_sent_ns: Signal<In, Bits<32>>,
    /// Time of its arrival.
    pub ack_received_ns: Signal<In, Bits<32>>,
    /// A packet is to be sent.
    pub data_valid: Signal<In, Bit>,
    /// It is taken.
    pub data_ready: Signal<Out, Bit>,
    /// Flow.
    pub data_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub data_path: Signal<In, Bits<4>>,
    /// PSN.
    pub data_psn: Signal<In, Bits<24>>,
    /// Slot.
    pub data_slot: Signal<In, Bits<10>>,
    /// It was sent before.
    pub data_retransmission: Signal<In, Bit>,
    /// A probe is to be sent.
    pub probe_valid: Signal<In, Bit>,
    /// It is taken.
    pub probe_ready: Signal<Out, Bit>,
    /// Flow.
    pub probe_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub probe_path: Signal<In, Bits<4>>,
    /// Flow whose context is read.
    pub frame_context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its context, one clock later.
    pub frame_context_data: Signal<In, Bits<256>>,
    /// The NIC's MAC address.
    pub local_mac: Signal<In, Bits<48>>,
    /// Its IPv4 address.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// Its IPv6 address.
    pub local_ipv6: Signal<In, Bits<128>>,
    /// UDP destination port.
    pub udp_port: Signal<In, Bits<16>>,
    /// Time.
    pub now_ns: Signal<In, Bits<32>>,
    /// A beat of a frame.
    pub tx_valid: Signal<Out, Bit>,
    /// It is taken.
    pub tx_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub tx_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub tx_keep: Signal<Out, Bits<64>>,
    /// The frame's last beat.
    pub tx_last: Signal<Out, Bit>,
    /// Bytes of the frame.
    pub tx_size: Signal<Out, Bits<16>>,
    /// A frame has started.
    pub frame_valid: Signal<Out, Bit>,
    /// Its kind.
    pub frame_kind: Signal<Out, Bits<2>>,
    /// A data frame has started.
    pub sent_valid: Signal<Out, Bit>,
    /// Its slot.
    pub sent_slot: Signal<Out, Bits<10>>,
    /// Its flow.
    pub sent_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its PSN.
    pub sent_psn: Signal<Out, Bits<24>>,
    /// Its path.
    pub sent_path: Signal<Out, Bits<4>>,
    /// Its timestamp.
    pub sent_ns: Signal<Out, Bits<32>>,
    /// A job of a flow that is not open was dropped.
    pub stale_valid: Signal<Out, Bit>,
    segmenter: Segmenter<SB>,
    builder: FrameBuilder<SB>,
    beats: Ram<Bits<512>, POOL_ADDRESS_BITS>,
    segments: Ram<Bits<144>, SLOT_BITS>,
}

impl<const SB: usize> TransmitPath<SB> {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_transmit",
                &format!("Transmit side of {flows} flows: segmenter, pool, frame builder."),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            h2c_valid: Signal::default(),
            h2c_ready: Signal::default(),
            h2c_data: Signal::default(),
            h2c_keep: Signal::default(),
            h2c_last: Signal::default(),
            h2c_size: Signal::default(),
            cut_context_flow: Signal::default(),
            cut_context_data: Signal::default(),
            free_valid: Signal::default(),
            free_ready: Signal::default(),
            free_slot: Signal::default(),
            una_valid: Signal::default(),
            una_flow: Signal::default(),
            una_psn: Signal::default(),
            commit_valid: Signal::default(),
            commit_ready: Signal::default(),
            commit_flow: Signal::default(),
            commit_psn: Signal::default(),
            commit_slot: Signal::default(),
            refused_valid: Signal::default(),
            refused_cause: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_selective: Signal::default(),
            ack_probe: Signal::default(),
            ack_nak: Signal::default(),
            ack_duplicate: Signal::default(),
            ack_sent_ns: Signal::default(),
            ack_received_ns: Signal::default(),
            data_valid: Signal::default(),
            data_ready: Signal::default(),
            data_flow: Signal::default(),
            data_path: Signal::default(),
            data_psn: Signal::default(),
            data_slot: Signal::default(),
            data_retransmission: Signal::default(),
            probe_valid: Signal::default(),
            probe_ready: Signal::default(),
            probe_flow: Signal::default(),
            probe_path: Signal::default(),
            frame_context_flow: Signal::default(),
            frame_context_data: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            now_ns: Signal::default(),
            tx_valid: Signal::default(),
            tx_ready: Signal::default(),
            tx_data: Signal::default(),
            tx_keep: Signal::default(),
            tx_last: Signal::default(),
            tx_size: Signal::default(),
            frame_valid: Signal::default(),
            frame_kind: Signal::default(),
            sent_valid: Signal::default(),
            sent_slot: Signal::default(),
            sent_flow: Signal::default(),
            sent_psn: Signal::default(),
            sent_path: Signal::default(),
            sent_ns: Signal::default(),
            stale_valid: Signal::default(),
            segmenter: Segmenter::new(flows),
            builder: FrameBuilder::default(),
            beats: Ram::new(1 << (SLOT_BITS + SB)),
            segments: Ram::new(1 << SLOT_BITS),
        }
    }
}

impl<const SB: usize> Logic for TransmitPath<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clk, beats, segments);
        self.segmenter.clk.next = self.clk.val();
        self.segmenter.rst.next = self.rst.val();
        self.builder.clk.next = self.clk.val();
        self.builder.rst.next = self.rst.val();

        self.beats.write_enable.next = self.segmenter.pool_write.val();
        self.beats.write_address.next = self.segmenter.pool_address.val();
        self.beats.write_data.next = self.segmenter.pool_data.val();
        self.beats.read_address.next = self.builder.pool_address.val();
        self.builder.pool_data.next = self.beats.read_data.val();
        self.segments.write_enable.next = self.segmenter.segment_write.val();
        self.segments.write_address.next = self.segmenter.segment_slot.val();
        self.segments.write_data.next = self.segmenter.segment_data.val();
        self.segments.read_address.next = self.builder.segment_slot.val();
        self.builder.segment_data.next = self.segments.read_data.val();

        self.segmenter.open_valid.next = self.open_valid.val();
        self.open_ready.next = self.segmenter.open_ready.val();
        self.segmenter.open_flow.next = self.open_flow.val();
        self.segmenter.open_psn.next = self.open_psn.val();
        self.segmenter.h2c_valid.next = self.h2c_valid.val();
        self.h2c_ready.next = self.segmenter.h2c_ready.val();
        self.segmenter.h2c_data.next = self.h2c_data.val();
        self.segmenter.h2c_keep.next = self.h2c_keep.val();
        self.segmenter.h2c_last.next = self.h2c_last.val();
        self.segmenter.h2c_size.next = self.h2c_size.val();
        self.cut_context_flow.next = self.segmenter.context_flow.val();
        self.segmenter.context_data.next = self.cut_context_data.val();
        self.segmenter.free_valid.next = self.free_valid.val();
        self.free_ready.next = self.segmenter.free_ready.val();
        self.segmenter.free_slot.next = self.free_slot.val();
        self.segmenter.una_valid.next = self.una_valid.val();
        self.segmenter.una_flow.next = self.una_flow.val();
        self.segmenter.una_psn.next = self.una_psn.val();
        self.commit_valid.next = self.segmenter.commit_valid.val();
        self.segmenter.commit_ready.next = self.commit_ready.val();
        self.commit_flow.next = self.segmenter.commit_flow.val();
        self.commit_psn.next = self.segmenter.commit_psn.val();
        self.commit_slot.next = self.segmenter.commit_slot.val();
        self.refused_valid.next = self.segmenter.refused_valid.val();
        self.refused_cause.next = self.segmenter.refused_cause.val();

        self.builder.ack_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.builder.ack_ready.val();
        self.builder.ack_flow.next = self.ack_flow.val();
        self.builder.ack_path.next = self.ack_path.val();
        self.builder.ack_psn.next = self.ack_psn.val();
        self.builder.ack_expected.next = self.ack_expected.val();
        self.builder.ack_selective.next = self.ack_selective.val();
        self.builder.ack_probe.next = self.ack_probe.val();
        self.builder.ack_nak.next = self.ack_nak.val();
        self.builder.ack_duplicate.next = self.ack_duplicate.val();
        self.builder.ack_sent_ns.next = self.ack_sent_ns.val();
        self.builder.ack_received_ns.next = self.ack_received_ns.val();
        self.builder.data_valid.next = self.data_valid.val();
        self.data_ready.next = self.builder.data_ready.val();
        self.builder.data_flow.next = self.data_flow.val();
        self.builder.data_path.next = self.data_path.val();
        self.builder.data_psn.next = self.data_psn.val();
        self.builder.data_slot.next = self.data_slot.val();
        self.builder.data_retransmission.next = self.data_retransmission.val();
        self.builder.probe_valid.next = self.probe_valid.val();
        self.probe_ready.next = self.builder.probe_ready.val();
        self.builder.probe_flow.next = self.probe_flow.val();
        self.builder.probe_path.next = self.probe_path.val();
        self.frame_context_flow.next = self.builder.context_flow.val();
        self.builder.context_data.next = self.frame_context_data.val();
        self.builder.local_mac.next = self.local_mac.val();
        self.builder.local_ipv4.next = self.local_ipv4.val();
        self.builder.local_ipv6.next = self.local_ipv6.val();
        self.builder.udp_port.next = self.udp_port.val();
        self.builder.now_ns.next = self.now_ns.val();
        self.tx_valid.next = self.builder.tx_valid.val();
        self.builder.tx_ready.next = self.tx_ready.val();
        self.tx_data.next = self.builder.tx_data.val();
        self.tx_keep.next = self.builder.tx_keep.val();
        self.tx_last.next = self.builder.tx_last.val();
        self.tx_size.next = self.builder.tx_size.val();
        self.frame_valid.next = self.builder.frame_valid.val();
        self.frame_kind.next = self.builder.frame_kind.val();
        self.sent_valid.next = self.builder.sent_valid.val();
        self.sent_slot.next = self.builder.sent_slot.val();
        self.sent_flow.next = self.builder.sent_flow.val();
        self.sent_psn.next = self.builder.sent_psn.val();
        self.sent_path.next = self.builder.sent_path.val();
        self.sent_ns.next = self.builder.sent_ns.val();
        self.stale_valid.next = self.builder.stale_valid.val();
    }
}
