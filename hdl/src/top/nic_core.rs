//! The NIC: transmit side, receive side, and the door through which flows are opened.

use crate::control::{FlowDoor, PARTS};
use crate::prim::ModuleId;
use crate::reorder::SLOT_BITS;
use crate::stream::FLOW_BITS;
use crate::top::{ReceiveSide, TransmitSide, TRANSMIT_PARTS};
use rust_hdl::prelude::*;

/// The NIC without its registers: four 512-bit streams, flow commands, a control port, monitors.
///
/// The control port is `window`, `skip`, `rate` and `grant` inwards, `account` outwards. When nothing comes
/// in, the last windows, skips and rates hold; `account` needs no reader. Ports called `trace_` are for
/// checkers and left open in a design.
#[derive(Clone, Debug, LogicBlock)]
pub struct NicCore<
    const P: usize,
    const Q: usize,
    const LP: usize,
    const G: usize,
    const LG: usize,
    const TB: usize,
    const SB: usize,
> {
    id: ModuleId,
    /// Clock, 250 MHz.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all flows are closed.
    pub rst: Signal<In, Bit>,
    /// Time, ns; wraps.
    pub now_ns: Signal<In, Bits<32>>,
    /// The NIC's MAC.
    pub local_mac: Signal<In, Bits<48>>,
    /// Its IPv4 address.
    pub local_ipv4: Signal<In, Bits<32>>,
    /// Its IPv6 address.
    pub local_ipv6: Signal<In, Bits<128>>,
    /// UDP destination port.
    pub udp_port: Signal<In, Bits<16>>,
    /// Slots of the reorder buffer that may be in use before only the next expected packet gets in.
    pub limit: Signal<In, Bits<SLOT_BITS>>,
    /// A beat from the host.
    pub h2c_valid: Signal<In, Bit>,
    /// It is taken.
    pub h2c_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub h2c_data: Signal<In, Bits<512>>,
    /// Valid bytes.
    pub h2c_keep: Signal<In, Bits<64>>,
    /// The packet's last beat.
    pub h2c_last: Signal<In, Bit>,
    /// Bytes of the packet.
    pub h2c_size: Signal<In, Bits<16>>,
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
    /// A beat to the network.
    pub tx_valid: Signal<Out, Bit>,
    /// It is taken.
    pub tx_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub tx_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub tx_keep: Signal<Out, Bits<64>>,
    /// The packet's last beat.
    pub tx_last: Signal<Out, Bit>,
    /// Bytes of the packet.
    pub tx_size: Signal<Out, Bits<16>>,
    /// A beat from the network.
    pub rx_valid: Signal<In, Bit>,
    /// It is taken.
    pub rx_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub rx_data: Signal<In, Bits<512>>,
    /// Valid bytes.
    pub rx_keep: Signal<In, Bits<64>>,
    /// The packet's last beat.
    pub rx_last: Signal<In, Bit>,
    /// Open or close a flow.
    pub cmd_valid: Signal<In, Bit>,
    /// It is taken.
    pub cmd_ready: Signal<Out, Bit>,
    /// Open; else close.
    pub cmd_open: Signal<In, Bit>,
    /// Flow.
    pub cmd_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its context.
    pub cmd_context: Signal<In, Bits<256>>,
    /// First PSN that it sends.
    pub cmd_tx_psn: Signal<In, Bits<24>>,
    /// First PSN that it receives.
    pub cmd_rx_psn: Signal<In, Bits<24>>,
    /// Timeout ns 31:0, slack ns 63:32, threshold 79:64.
    pub cmd_recovery: Signal<In, Bits<80>>,
    /// The command is carried out.
    pub done: Signal<Out, Bit>,
    /// Initialised, and no command is under way.
    pub ready: Signal<Out, Bit>,
    /// Set the window of a path.
    pub window_valid: Signal<In, Bit>,
    /// It is taken.
    pub window_ready: Signal<Out, Bit>,
    /// Flow.
    pub window_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub window_path: Signal<In, Bits<4>>,
    /// Window in packets, UQ10.6.
    pub window_value: Signal<In, Bits<16>>,
    /// Set the skip of a path.
    pub skip_valid: Signal<In, Bit>,
    /// It is taken.
    pub skip_ready: Signal<Out, Bit>,
    /// Flow.
    pub skip_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub skip_path: Signal<In, Bits<4>>,
    /// Unsent PSNs to pass over.
    pub skip_value: Signal<In, Bits<10>>,
    /// Set the pace of a flow.
    pub rate_valid: Signal<In, Bit>,
    /// It is taken.
    pub rate_ready: Signal<Out, Bit>,
    /// Flow.
    pub rate_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Packets a 1,024 ns, UQ8.24.
    pub rate_value: Signal<In, Bits<32>>,
    /// Opportunities without an open path send probes.
    pub rate_probing: Signal<In, Bit>,
    /// One packet may go beside the pace.
    pub grant_valid: Signal<In, Bit>,
    /// It is taken.
    pub grant_ready: Signal<Out, Bit>,
    /// Flow.
    pub grant_flow: Signal<In, Bits<FLOW_BITS>>,
    /// An event for the control side, without back-pressure.
    pub account_valid: Signal<Out, Bit>,
    /// `rondo_models::ledger::Kind`.
    pub account_kind: Signal<Out, Bits<3>>,
    /// Flow.
    pub account_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path.
    pub account_path: Signal<Out, Bits<4>>,
    /// Path of the PSN's latest transmission.
    pub account_freed_path: Signal<Out, Bits<4>>,
    /// It was in flight there.
    pub account_in_flight: Signal<Out, Bit>,
    /// Found lost by its age.
    pub account_timeout: Signal<Out, Bit>,
    /// Send time, ns.
    pub account_sent_ns: Signal<Out, Bits<32>>,
    /// Receive time, ns of the peer.
    pub account_received_ns: Signal<Out, Bits<32>>,
    /// Now, ns.
    pub account_now_ns: Signal<Out, Bits<32>>,
    /// Free transmit slots.
    pub free_count: Signal<Out, Bits<11>>,
    /// Lost PSNs that wait.
    pub lost_count: Signal<Out, Bits<11>>,
    /// Flows with packets to send.
    pub active_flows: Signal<Out, Bits<11>>,
    /// Slots of the reorder buffer in use.
    pub occupied: Signal<Out, Bits<10>>,
    /// Most slots ever in use since reset.
    pub high_water: Signal<Out, Bits<10>>,
    /// Packets of all flows that wait out of order.
    pub waiting: Signal<Out, Bits<16>>,
    /// A frame was made.
    pub tx_frame_valid: Signal<Out, Bit>,
    /// 0 data, 1 probe, 2 ACK, 3 NAK.
    pub tx_frame_kind: Signal<Out, Bits<2>>,
    /// A frame was accepted.
    pub rx_frame_valid: Signal<Out, Bit>,
    /// 0 data, 1 probe, 2 ACK, 3 NAK.
    pub rx_frame_kind: Signal<Out, Bits<2>>,
    /// A chunk was refused.
    pub refused_valid: Signal<Out, Bit>,
    /// Why.
    pub refused_cause: Signal<Out, Bits<3>>,
    /// A packet of a closed flow was not sent.
    pub stale_valid: Signal<Out, Bit>,
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
    /// Monitor, as the transmit side's.
    pub trace_sender_in: Signal<Out, Bits<231>>,
    /// Monitor, as the transmit side's.
    pub trace_sender_out: Signal<Out, Bits<187>>,
    /// Monitor, as the transmit side's.
    pub trace_ledger: Signal<Out, Bits<80>>,
    /// Monitor, as the transmit side's.
    pub trace_commit: Signal<Out, Bits<45>>,
    /// Monitor, as the transmit side's.
    pub trace_sent: Signal<Out, Bits<81>>,
    /// Monitor, as the transmit side's.
    pub trace_job: Signal<Out, Bits<50>>,
    /// Monitor, as the receive side's.
    pub trace_rx_data: Signal<Out, Bits<512>>,
    /// Monitor, as the receive side's.
    pub trace_rx: Signal<Out, Bits<284>>,
    /// Monitor, as the receive side's.
    pub trace_receiver_out: Signal<Out, Bits<250>>,
    /// Monitor, as the receive side's.
    pub trace_ack: Signal<Out, Bits<163>>,
    /// Monitor, as the receive side's.
    pub trace_probe: Signal<Out, Bits<80>>,
    door: FlowDoor,
    transmit: TransmitSide<P, Q, LP, G, LG, SB>,
    receive: ReceiveSide<G, LG, TB, SB>,
}

impl<
        const P: usize,
        const Q: usize,
        const LP: usize,
        const G: usize,
        const LG: usize,
        const TB: usize,
        const SB: usize,
    > NicCore<P, Q, LP, G, LG, TB, SB>
{
    /// For `flows` flows, `transmit_slots` slots in the transmit pool and `receive_slots` in the reorder buffer.
    pub fn new(flows: usize, transmit_slots: usize, receive_slots: usize) -> Self {
        Self {
            id: ModuleId::new("rondo_nic_core", &format!("NIC: {P} paths, windows of {} PSNs, {flows} flows, slots of {} bytes: {transmit_slots} to transmit, {receive_slots} to receive.", 64 * G, 64usize << SB)),
            clk: Signal::default(),
            rst: Signal::default(),
            now_ns: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            limit: Signal::default(),
            h2c_valid: Signal::default(),
            h2c_ready: Signal::default(),
            h2c_data: Signal::default(),
            h2c_keep: Signal::default(),
            h2c_last: Signal::default(),
            h2c_size: Signal::default(),
            c2h_valid: Signal::default(),
            c2h_ready: Signal::default(),
            c2h_data: Signal::default(),
            c2h_keep: Signal::default(),
            c2h_last: Signal::default(),
            c2h_size: Signal::default(),
            tx_valid: Signal::default(),
            tx_ready: Signal::default(),
            tx_data: Signal::default(),
            tx_keep: Signal::default(),
            tx_last: Signal::default(),
            tx_size: Signal::default(),
            rx_valid: Signal::default(),
            rx_ready: Signal::default(),
            rx_data: Signal::default(),
            rx_keep: Signal::default(),
            rx_last: Signal::default(),
            cmd_valid: Signal::default(),
            cmd_ready: Signal::default(),
            cmd_open: Signal::default(),
            cmd_flow: Signal::default(),
            cmd_context: Signal::default(),
            cmd_tx_psn: Signal::default(),
            cmd_rx_psn: Signal::default(),
            cmd_recovery: Signal::default(),
            done: Signal::default(),
            ready: Signal::default(),
            window_valid: Signal::default(),
            window_ready: Signal::default(),
            window_flow: Signal::default(),
            window_path: Signal::default(),
            window_value: Signal::default(),
            skip_valid: Signal::default(),
            skip_ready: Signal::default(),
            skip_flow: Signal::default(),
            skip_path: Signal::default(),
            skip_value: Signal::default(),
            rate_valid: Signal::default(),
            rate_ready: Signal::default(),
            rate_flow: Signal::default(),
            rate_value: Signal::default(),
            rate_probing: Signal::default(),
            grant_valid: Signal::default(),
            grant_ready: Signal::default(),
            grant_flow: Signal::default(),
            account_valid: Signal::default(),
            account_kind: Signal::default(),
            account_flow: Signal::default(),
            account_path: Signal::default(),
            account_freed_path: Signal::default(),
            account_in_flight: Signal::default(),
            account_timeout: Signal::default(),
            account_sent_ns: Signal::default(),
            account_received_ns: Signal::default(),
            account_now_ns: Signal::default(),
            free_count: Signal::default(),
            lost_count: Signal::default(),
            active_flows: Signal::default(),
            occupied: Signal::default(),
            high_water: Signal::default(),
            waiting: Signal::default(),
            tx_frame_valid: Signal::default(),
            tx_frame_kind: Signal::default(),
            rx_frame_valid: Signal::default(),
            rx_frame_kind: Signal::default(),
            refused_valid: Signal::default(),
            refused_cause: Signal::default(),
            stale_valid: Signal::default(),
            drop_valid: Signal::default(),
            drop_cause: Signal::default(),
            no_buffer: Signal::default(),
            duplicate: Signal::default(),
            refused: Signal::default(),
            delivered_valid: Signal::default(),
            delivered_flow: Signal::default(),
            delivered_bytes: Signal::default(),
            completed_valid: Signal::default(),
            trace_sender_in: Signal::default(),
            trace_sender_out: Signal::default(),
            trace_ledger: Signal::default(),
            trace_commit: Signal::default(),
            trace_sent: Signal::default(),
            trace_job: Signal::default(),
            trace_rx_data: Signal::default(),
            trace_rx: Signal::default(),
            trace_receiver_out: Signal::default(),
            trace_ack: Signal::default(),
            trace_probe: Signal::default(),
            door: FlowDoor::new(flows, transmit_slots),
            transmit: TransmitSide::new(flows, transmit_slots),
            receive: ReceiveSide::new(flows, receive_slots),
        }
    }
}

impl<
        const P: usize,
        const Q: usize,
        const LP: usize,
        const G: usize,
        const LG: usize,
        const TB: usize,
        const SB: usize,
    > Logic for NicCore<P, Q, LP, G, LG, TB, SB>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.door.clk.next = self.clk.val();
        self.door.rst.next = self.rst.val();
        self.transmit.clk.next = self.clk.val();
        self.transmit.rst.next = self.rst.val();
        self.receive.clk.next = self.clk.val();
        self.receive.rst.next = self.rst.val();
        self.transmit.now_ns.next = self.now_ns.val();
        self.transmit.local_mac.next = self.local_mac.val();
        self.transmit.local_ipv4.next = self.local_ipv4.val();
        self.transmit.local_ipv6.next = self.local_ipv6.val();
        self.transmit.udp_port.next = self.udp_port.val();
        self.receive.now_ns.next = self.now_ns.val();
        self.receive.local_mac.next = self.local_mac.val();
        self.receive.local_ipv4.next = self.local_ipv4.val();
        self.receive.local_ipv6.next = self.local_ipv6.val();
        self.receive.udp_port.next = self.udp_port.val();
        self.receive.limit.next = self.limit.val();

        // Flows.
        self.door.cmd_valid.next = self.cmd_valid.val();
        self.cmd_ready.next = self.door.cmd_ready.val();
        self.door.cmd_open.next = self.cmd_open.val();
        self.door.cmd_flow.next = self.cmd_flow.val();
        self.door.cmd_context.next = self.cmd_context.val();
        self.door.cmd_tx_psn.next = self.cmd_tx_psn.val();
        self.door.cmd_rx_psn.next = self.cmd_rx_psn.val();
        self.door.cmd_recovery.next = self.cmd_recovery.val();
        self.done.next = self.door.done.val();
        self.ready.next = self.door.ready.val();
        for i in 0..TRANSMIT_PARTS {
            self.transmit.open_valid[i].next = self.door.open_valid[i].val();
            self.door.open_ready[i].next = self.transmit.open_ready[i].val();
        }
        for i in TRANSMIT_PARTS..PARTS {
            self.receive.open_valid.next = self.door.open_valid[i].val();
            self.door.open_ready[i].next = self.receive.open_ready.val();
        }
        self.transmit.open_flow.next = self.door.open_flow.val();
        self.transmit.open_psn.next = self.door.open_tx_psn.val();
        self.receive.open_flow.next = self.door.open_flow.val();
        self.receive.open_psn.next = self.door.open_rx_psn.val();
        self.transmit.close_valid.next = self.door.close_valid.val();
        self.door.close_ready.next = self.transmit.close_ready.val();
        self.transmit.close_flow.next = self.door.close_flow.val();
        self.receive.flush_valid.next = self.door.flush_valid.val();
        self.door.flush_ready.next = self.receive.flush_ready.val();
        self.receive.flush_flow.next = self.door.close_flow.val();
        self.door.jobs.next = self.transmit.jobs.val();
        self.door.job_taken.next = self.transmit.job_taken.val();
        self.door.scanned.next = self.transmit.scanned.val();
        self.transmit.recovery_write.next = self.door.recovery_write.val();
        self.transmit.recovery_flow.next = self.door.recovery_flow.val();
        self.transmit.recovery_data.next = self.door.recovery_data.val();
        self.transmit.context_write.next = self.door.context_write.val();
        self.transmit.context_flow.next = self.door.context_flow.val();
        self.transmit.context_data.next = self.door.context_data.val();
        self.receive.context_write.next = self.door.context_write.val();
        self.receive.context_flow.next = self.door.context_flow.val();
        self.receive.context_data.next = self.door.context_data.val();

        // Control.
        self.transmit.window_valid.next = self.window_valid.val();
        self.window_ready.next = self.transmit.window_ready.val();
        self.transmit.window_flow.next = self.window_flow.val();
        self.transmit.window_path.next = self.window_path.val();
        self.transmit.window_value.next = self.window_value.val();
        self.transmit.skip_valid.next = self.skip_valid.val();
        self.skip_ready.next = self.transmit.skip_ready.val();
        self.transmit.skip_flow.next = self.skip_flow.val();
        self.transmit.skip_path.next = self.skip_path.val();
        self.transmit.skip_value.next = self.skip_value.val();
        self.transmit.rate_valid.next = self.rate_valid.val();
        self.rate_ready.next = self.transmit.rate_ready.val();
        self.transmit.rate_flow.next = self.rate_flow.val();
        self.transmit.rate_value.next = self.rate_value.val();
        self.transmit.rate_probing.next = self.rate_probing.val();
        self.transmit.grant_valid.next = self.grant_valid.val();
        self.grant_ready.next = self.transmit.grant_ready.val();
        self.transmit.grant_flow.next = self.grant_flow.val();
        self.account_valid.next = self.transmit.account_valid.val();
        self.account_kind.next = self.transmit.account_kind.val();
        self.account_flow.next = self.transmit.account_flow.val();
        self.account_path.next = self.transmit.account_path.val();
        self.account_freed_path.next = self.transmit.account_freed_path.val();
        self.account_in_flight.next = self.transmit.account_in_flight.val();
        self.account_timeout.next = self.transmit.account_timeout.val();
        self.account_sent_ns.next = self.transmit.account_sent_ns.val();
        self.account_received_ns.next = self.transmit.account_received_ns.val();
        self.account_now_ns.next = self.transmit.account_now_ns.val();

        // Streams.
        self.transmit.h2c_valid.next = self.h2c_valid.val();
        self.h2c_ready.next = self.transmit.h2c_ready.val();
        self.transmit.h2c_data.next = self.h2c_data.val();
        self.transmit.h2c_keep.next = self.h2c_keep.val();
        self.transmit.h2c_last.next = self.h2c_last.val();
        self.transmit.h2c_size.next = self.h2c_size.val();
        self.tx_valid.next = self.transmit.tx_valid.val();
        self.transmit.tx_ready.next = self.tx_ready.val();
        self.tx_data.next = self.transmit.tx_data.val();
        self.tx_keep.next = self.transmit.tx_keep.val();
        self.tx_last.next = self.transmit.tx_last.val();
        self.tx_size.next = self.transmit.tx_size.val();
        self.receive.rx_valid.next = self.rx_valid.val();
        self.rx_ready.next = self.receive.rx_ready.val();
        self.receive.rx_data.next = self.rx_data.val();
        self.receive.rx_keep.next = self.rx_keep.val();
        self.receive.rx_last.next = self.rx_last.val();
        self.c2h_valid.next = self.receive.c2h_valid.val();
        self.receive.c2h_ready.next = self.c2h_ready.val();
        self.c2h_data.next = self.receive.c2h_data.val();
        self.c2h_keep.next = self.receive.c2h_keep.val();
        self.c2h_last.next = self.receive.c2h_last.val();
        self.c2h_size.next = self.receive.c2h_size.val();
        self.transmit.ack_valid.next = self.receive.ack_valid.val();
        self.receive.ack_ready.next = self.transmit.ack_ready.val();
        self.transmit.ack_flow.next = self.receive.ack_flow.val();
        self.transmit.ack_path.next = self.receive.ack_path.val();
        self.transmit.ack_psn.next = self.receive.ack_psn.val();
        self.transmit.ack_expected.next = self.receive.ack_expected.val();
        self.transmit.ack_probe.next = self.receive.ack_probe.val();
        self.transmit.ack_nak.next = self.receive.ack_nak.val();
        self.transmit.ack_sent_ns.next = self.receive.ack_sent_ns.val();
        self.transmit.ack_received_ns.next = self.receive.ack_received_ns.val();
        self.transmit.ack_now_ns.next = self.receive.ack_now_ns.val();
        self.transmit.reply_valid.next = self.receive.reply_valid.val();
        self.receive.reply_ready.next = self.transmit.reply_ready.val();
        self.transmit.reply_flow.next = self.receive.reply_flow.val();
        self.transmit.reply_path.next = self.receive.reply_path.val();
        self.transmit.reply_psn.next = self.receive.reply_psn.val();
        self.transmit.reply_expected.next = self.receive.reply_expected.val();
        self.transmit.reply_selective.next = self.receive.reply_selective.val();
        self.transmit.reply_probe.next = self.receive.reply_probe.val();
        self.transmit.reply_nak.next = self.receive.reply_nak.val();
        self.transmit.reply_duplicate.next = self.receive.reply_duplicate.val();
        self.transmit.reply_sent_ns.next = self.receive.reply_sent_ns.val();
        self.transmit.reply_received_ns.next = self.receive.reply_received_ns.val();

        // State, counters, monitors.
        self.free_count.next = self.transmit.free_count.val();
        self.lost_count.next = self.transmit.lost_count.val();
        self.active_flows.next = self.transmit.active_flows.val();
        self.refused_valid.next = self.transmit.refused_valid.val();
        self.refused_cause.next = self.transmit.refused_cause.val();
        self.stale_valid.next = self.transmit.stale_valid.val();
        self.occupied.next = self.receive.occupied.val();
        self.high_water.next = self.receive.high_water.val();
        self.waiting.next = self.receive.waiting.val();
        self.drop_valid.next = self.receive.drop_valid.val();
        self.drop_cause.next = self.receive.drop_cause.val();
        self.no_buffer.next = self.receive.no_buffer.val();
        self.duplicate.next = self.receive.duplicate.val();
        self.refused.next = self.receive.refused.val();
        self.delivered_valid.next = self.receive.delivered_valid.val();
        self.delivered_flow.next = self.receive.delivered_flow.val();
        self.delivered_bytes.next = self.receive.delivered_bytes.val();
        self.completed_valid.next = self.receive.completed_valid.val();
        self.tx_frame_valid.next = self.transmit.frame_valid.val();
        self.tx_frame_kind.next = self.transmit.frame_kind.val();
        self.rx_frame_valid.next = self.receive.frame_valid.val();
        self.rx_frame_kind.next = self.receive.frame_kind.val();
        self.trace_sender_in.next = self.transmit.trace_sender_in.val();
        self.trace_sender_out.next = self.transmit.trace_sender_out.val();
        self.trace_ledger.next = self.transmit.trace_ledger.val();
        self.trace_commit.next = self.transmit.trace_commit.val();
        self.trace_sent.next = self.transmit.trace_sent.val();
        self.trace_job.next = self.transmit.trace_job.val();
        self.trace_rx_data.next = self.receive.trace_rx_data.val();
        self.trace_rx.next = self.receive.trace_rx.val();
        self.trace_receiver_out.next = self.receive.trace_receiver_out.val();
        self.trace_ack.next = self.receive.trace_ack.val();
        self.trace_probe.next = self.receive.trace_probe.val();
    }
}
