//! The frame builder: jobs in, frames out.

use super::{FramePreparer, FrameWriter, JobChoice};
use crate::prim::ModuleId;
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Composes every frame that the NIC sends, from jobs. Payload comes from the pool, in slots of
/// `2^SB` beats.
#[derive(Clone, Debug, LogicBlock)]
pub struct FrameBuilder<const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
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
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its context, one clock later.
    pub context_data: Signal<In, Bits<256>>,
    /// Slot whose segment is read.
    pub segment_slot: Signal<Out, Bits<10>>,
    /// Its segment, one clock later.
    pub segment_data: Signal<In, Bits<144>>,
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
    /// Slot and beat that are read.
    pub pool_address: Signal<Out, Bits<18>>,
    /// The beat, one clock later.
    pub pool_data: Signal<In, Bits<512>>,
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
    choice: JobChoice,
    preparer: FramePreparer,
    writer: FrameWriter<SB>,
}

impl<const SB: usize> Default for FrameBuilder<SB> {
    fn default() -> Self {
        assert!((6..=8).contains(&SB), "a slot has 64, 128 or 256 beats");
        Self {
            id: ModuleId::new(
                "rondo_frame_builder",
                &format!(
                    "Frame builder: jobs to frames, slots of {} bytes.",
                    64 << SB
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
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
            context_flow: Signal::default(),
            context_data: Signal::default(),
            segment_slot: Signal::default(),
            segment_data: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            now_ns: Signal::default(),
            pool_address: Signal::default(),
            pool_data: Signal::default(),
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
            choice: JobChoice::default(),
            preparer: FramePreparer::default(),
            writer: FrameWriter::default(),
        }
    }
}

impl<const SB: usize> Logic for FrameBuilder<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        self.choice.clk.next = self.clk.val();
        self.choice.rst.next = self.rst.val();
        self.preparer.clk.next = self.clk.val();
        self.preparer.rst.next = self.rst.val();
        self.writer.clk.next = self.clk.val();
        self.writer.rst.next = self.rst.val();

        self.choice.ack_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.choice.ack_ready.val();
        self.choice.ack_flow.next = self.ack_flow.val();
        self.choice.ack_path.next = self.ack_path.val();
        self.choice.ack_psn.next = self.ack_psn.val();
        self.choice.ack_expected.next = self.ack_expected.val();
        self.choice.ack_selective.next = self.ack_selective.val();
        self.choice.ack_probe.next = self.ack_probe.val();
        self.choice.ack_nak.next = self.ack_nak.val();
        self.choice.ack_duplicate.next = self.ack_duplicate.val();
        self.choice.ack_sent_ns.next = self.ack_sent_ns.val();
        self.choice.ack_received_ns.next = self.ack_received_ns.val();
        self.choice.data_valid.next = self.data_valid.val();
        self.data_ready.next = self.choice.data_ready.val();
        self.choice.data_flow.next = self.data_flow.val();
        self.choice.data_path.next = self.data_path.val();
        self.choice.data_psn.next = self.data_psn.val();
        self.choice.data_slot.next = self.data_slot.val();
        self.choice.data_retransmission.next = self.data_retransmission.val();
        self.choice.probe_valid.next = self.probe_valid.val();
        self.probe_ready.next = self.choice.probe_ready.val();
        self.choice.probe_flow.next = self.probe_flow.val();
        self.choice.probe_path.next = self.probe_path.val();

        self.preparer.job_valid.next = self.choice.job_valid.val();
        self.preparer.job.next = self.choice.job.val();
        self.context_flow.next = self.preparer.context_flow.val();
        self.preparer.context_data.next = self.context_data.val();
        self.segment_slot.next = self.preparer.segment_slot.val();
        self.preparer.segment_data.next = self.segment_data.val();
        self.preparer.local_ipv4.next = self.local_ipv4.val();
        self.choice.dropped.next = self.preparer.dropped.val();
        self.choice.dropped_large.next = self.preparer.dropped_large.val();
        self.stale_valid.next = self.preparer.dropped.val();
        self.choice.started.next = self.writer.started.val();
        self.choice.started_large.next = self.writer.started_large.val();

        self.writer.prepared_valid.next = self.preparer.prepared_valid.val();
        self.writer.prepared.next = self.preparer.prepared.val();
        self.writer.local_mac.next = self.local_mac.val();
        self.writer.local_ipv4.next = self.local_ipv4.val();
        self.writer.local_ipv6.next = self.local_ipv6.val();
        self.writer.udp_port.next = self.udp_port.val();
        self.writer.now_ns.next = self.now_ns.val();
        self.pool_address.next = self.writer.pool_address.val();
        self.writer.pool_data.next = self.pool_data.val();
        self.tx_valid.next = self.writer.tx_valid.val();
        self.writer.tx_ready.next = self.tx_ready.val();
        self.tx_data.next = self.writer.tx_data.val();
        self.tx_keep.next = self.writer.tx_keep.val();
        self.tx_last.next = self.writer.tx_last.val();
        self.tx_size.next = self.writer.tx_size.val();
        self.frame_valid.next = self.writer.frame_valid.val();
        self.frame_kind.next = self.writer.frame_kind.val();
        self.sent_valid.next = self.writer.sent_valid.val();
        self.sent_slot.next = self.writer.sent_slot.val();
        self.sent_flow.next = self.writer.sent_flow.val();
        self.sent_psn.next = self.writer.sent_psn.val();
        self.sent_path.next = self.writer.sent_path.val();
        self.sent_ns.next = self.writer.sent_ns.val();
    }
}
