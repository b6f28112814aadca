//! The transmit side: from the host's chunks to frames.

use crate::ledger::{Ledger, SLOT_BITS};
use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::{LevelFifo, FLOW_BITS};
use crate::top::SenderDatapath;
use crate::tx::{FlowScheduler, FrameBuilder, Segmenter};
use rust_hdl::prelude::*;

/// Parts of the transmit side that keep state of a flow: segmenter, scheduler, sender datapath, ledger.
pub const TRANSMIT_PARTS: usize = 4;
/// Packets that may be between the scheduler's request and the frame builder.
const OUTSTANDING: u64 = 16;

/// Segmenter, pool, scheduler, sender datapath, ledger and frame builder, joined.
///
/// Invariant: a packet is decided on only when at most 15 others wait for the wire, so that windows
/// and timestamps speak of the network, not of queues in here.
#[derive(Clone, Debug, LogicBlock)]
pub struct TransmitSide<
    const P: usize,
    const Q: usize,
    const LP: usize,
    const G: usize,
    const LG: usize,
    const SB: usize,
> {
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
    /// A beat from the host.
    pub h2c_valid: Signal<In, Bit>,
    /// It is taken.
    pub h2c_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub h2c_data: Signal<In, Bits<512>>,
    /// Valid bytes.
    pub h2c_keep: Signal<In, Bits<64>>,
    /// The chunk's last beat.
    pub h2c_last: Signal<In, Bit>,
    /// Bytes of the chunk, its descriptor too.
    pub h2c_size: Signal<In, Bits<16>>,
    /// A beat to the network.
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
    /// Write a flow's context.
    pub context_write: Signal<In, Bit>,
    /// Flow.
    pub context_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Context.
    pub context_data: Signal<In, Bits<256>>,
    /// Open a flow in one of the parts.
    pub open_valid: [Signal<In, Bit>; TRANSMIT_PARTS],
    /// It is taken there.
    pub open_ready: [Signal<Out, Bit>; TRANSMIT_PARTS],
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// The scheduler forgets a flow.
    pub close_valid: Signal<In, Bit>,
    /// It is taken.
    pub close_ready: Signal<Out, Bit>,
    /// Flow.
    pub close_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Write the ledger's parameters of a flow.
    pub recovery_write: Signal<In, Bit>,
    /// Flow.
    pub recovery_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Parameters, as the ledger's.
    pub recovery_data: Signal<In, Bits<81>>,
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
    /// An ACK or NAK to send.
    pub reply_valid: Signal<In, Bit>,
    /// It is taken.
    pub reply_ready: Signal<Out, Bit>,
    /// Flow.
    pub reply_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub reply_path: Signal<In, Bits<4>>,
    /// PSN.
    pub reply_psn: Signal<In, Bits<24>>,
    /// Next expected PSN.
    pub reply_expected: Signal<In, Bits<24>>,
    /// Selective map.
    pub reply_selective: Signal<In, Bits<64>>,
    /// A probe is acknowledged.
    pub reply_probe: Signal<In, Bit>,
    /// The packet was dropped.
    pub reply_nak: Signal<In, Bit>,
    /// It had arrived before.
    pub reply_duplicate: Signal<In, Bit>,
    /// Its send time, ns.
    pub reply_sent_ns: Signal<In, Bits<32>>,
    /// Its receive time, ns.
    pub reply_received_ns: Signal<In, Bits<32>>,
    /// An ACK or NAK arrived.
    pub ack_valid: Signal<In, Bit>,
    /// It is taken.
    pub ack_ready: Signal<Out, Bit>,
    /// Flow.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub ack_path: Signal<In, Bits<4>>,
    /// PSN.
    pub ack_psn: Signal<In, Bits<24>>,
    /// Next expected PSN.
    pub ack_expected: Signal<In, Bits<24>>,
    /// A probe is acknowledged.
    pub ack_probe: Signal<In, Bit>,
    /// The packet was dropped.
    pub ack_nak: Signal<In, Bit>,
    /// Echoed send time, ns.
    pub ack_sent_ns: Signal<In, Bits<32>>,
    /// Receive time of the packet, ns of the peer.
    pub ack_received_ns: Signal<In, Bits<32>>,
    /// Arrival of the ACK, ns.
    pub ack_now_ns: Signal<In, Bits<32>>,
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
    /// Packets that wait for the frame builder.
    pub jobs: Signal<Out, Bits<11>>,
    /// One of them was taken.
    pub job_taken: Signal<Out, Bit>,
    /// The ledger has scanned a slot.
    pub scanned: Signal<Out, Bit>,
    /// Free transmit slots.
    pub free_count: Signal<Out, Bits<11>>,
    /// Lost PSNs that wait.
    pub lost_count: Signal<Out, Bits<11>>,
    /// Flows with packets to send.
    pub active_flows: Signal<Out, Bits<11>>,
    /// A chunk was refused.
    pub refused_valid: Signal<Out, Bit>,
    /// Why.
    pub refused_cause: Signal<Out, Bits<3>>,
    /// A frame was made.
    pub frame_valid: Signal<Out, Bit>,
    /// 0 data, 1 probe, 2 ACK, 3 NAK.
    pub frame_kind: Signal<Out, Bits<2>>,
    /// A packet of a closed flow was dropped.
    pub stale_valid: Signal<Out, Bit>,
    /// Monitor: inputs of the sender datapath.
    pub trace_sender_in: Signal<Out, Bits<231>>,
    /// Monitor: its outputs.
    pub trace_sender_out: Signal<Out, Bits<187>>,
    /// Monitor: event that enters the ledger.
    pub trace_ledger: Signal<Out, Bits<80>>,
    /// Monitor: a packet is ready to be sent.
    pub trace_commit: Signal<Out, Bits<45>>,
    /// Monitor: a data frame's header is composed.
    pub trace_sent: Signal<Out, Bits<81>>,
    /// Monitor: a packet that is handed to the frame builder.
    pub trace_job: Signal<Out, Bits<50>>,
    segmenter: Segmenter<SB>,
    scheduler: FlowScheduler,
    sender: SenderDatapath<P, Q, LP, G, LG>,
    ledger: Ledger,
    builder: FrameBuilder<SB>,
    pool: Ram<Bits<512>, 18>,
    segments: Ram<Bits<144>, SLOT_BITS>,
    chunk_contexts: Ram<Bits<256>, FLOW_BITS>,
    frame_contexts: Ram<Bits<256>, FLOW_BITS>,
    slots: Ram<Bits<SLOT_BITS>, 20>,
    queue: LevelFifo<Bits<49>, 5>,
    job_1: Reg<Bit>,
    job_word_1: Reg<Bits<39>>,
    outstanding: Reg<Bits<6>>,
    committed: Signal<Local, Bit>,
    post_room: Signal<Local, Bit>,
    ledger_room: Signal<Local, Bit>,
    scheduler_room: Signal<Local, Bit>,
    job: Signal<Local, Bits<39>>,
    takes_job: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    may_ask: Signal<Local, Bit>,
    built: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    again_asked: Signal<Local, Bit>,
    req_asked: Signal<Local, Bit>,
    res_room: Signal<Local, Bit>,
    idle_room: Signal<Local, Bit>,
    most: Constant<Bits<6>>,
}

impl<
        const P: usize,
        const Q: usize,
        const LP: usize,
        const G: usize,
        const LG: usize,
        const SB: usize,
    > TransmitSide<P, Q, LP, G, LG, SB>
{
    /// For `flows` flows (a power of two, at most 1,024) and a pool of `slots` slots (at most 1,024).
    pub fn new(flows: usize, slots: usize) -> Self {
        Self {
            id: ModuleId::new("rondo_transmit_side", &format!("Transmit side: {P} paths, windows of {} PSNs, {flows} flows, {slots} slots of {} bytes.", 64 * G, 64usize << SB)),
            clk: Signal::default(),
            rst: Signal::default(),
            now_ns: Signal::default(),
            local_mac: Signal::default(),
            local_ipv4: Signal::default(),
            local_ipv6: Signal::default(),
            udp_port: Signal::default(),
            h2c_valid: Signal::default(),
            h2c_ready: Signal::default(),
            h2c_data: Signal::default(),
            h2c_keep: Signal::default(),
            h2c_last: Signal::default(),
            h2c_size: Signal::default(),
            tx_valid: Signal::default(),
            tx_ready: Signal::default(),
            tx_data: Signal::default(),
            tx_keep: Signal::default(),
            tx_last: Signal::default(),
            tx_size: Signal::default(),
            context_write: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            open_valid: Default::default(),
            open_ready: Default::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            close_valid: Signal::default(),
            close_ready: Signal::default(),
            close_flow: Signal::default(),
            recovery_write: Signal::default(),
            recovery_flow: Signal::default(),
            recovery_data: Signal::default(),
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
            jobs: Signal::default(),
            job_taken: Signal::default(),
            scanned: Signal::default(),
            free_count: Signal::default(),
            lost_count: Signal::default(),
            active_flows: Signal::default(),
            refused_valid: Signal::default(),
            refused_cause: Signal::default(),
            frame_valid: Signal::default(),
            frame_kind: Signal::default(),
            stale_valid: Signal::default(),
            trace_sender_in: Signal::default(),
            trace_sender_out: Signal::default(),
            trace_ledger: Signal::default(),
            trace_commit: Signal::default(),
            trace_sent: Signal::default(),
            trace_job: Signal::default(),
            segmenter: Segmenter::new(flows),
            scheduler: FlowScheduler::new(flows, P),
            sender: SenderDatapath::new(flows),
            ledger: Ledger::new(flows, P, slots),
            builder: FrameBuilder::default(),
            pool: Ram::new(slots.next_power_of_two() << SB),
            segments: Ram::new(slots.next_power_of_two()),
            chunk_contexts: Ram::new(flows),
            frame_contexts: Ram::new(flows),
            slots: Ram::new(flows << 10),
            queue: LevelFifo::new("jobs", 28),
            job_1: Reg::default(),
            job_word_1: Reg::default(),
            outstanding: Reg::default(),
            committed: Signal::default(),
            post_room: Signal::default(),
            ledger_room: Signal::default(),
            scheduler_room: Signal::default(),
            job: Signal::default(),
            takes_job: Signal::default(),
            asks: Signal::default(),
            answered: Signal::default(),
            may_ask: Signal::default(),
            built: Signal::default(),
            refused: Signal::default(),
            again_asked: Signal::default(),
            req_asked: Signal::default(),
            res_room: Signal::default(),
            idle_room: Signal::default(),
            most: Constant::new(OUTSTANDING.into()),
        }
    }
}

impl<
        const P: usize,
        const Q: usize,
        const LP: usize,
        const G: usize,
        const LG: usize,
        const SB: usize,
    > Logic for TransmitSide<P, Q, LP, G, LG, SB>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, job_1, job_word_1, outstanding);
        clock!(
            self,
            clk,
            pool,
            segments,
            chunk_contexts,
            frame_contexts,
            slots
        );
        self.segmenter.clk.next = self.clk.val();
        self.segmenter.rst.next = self.rst.val();
        self.scheduler.clk.next = self.clk.val();
        self.scheduler.rst.next = self.rst.val();
        self.sender.clk.next = self.clk.val();
        self.sender.rst.next = self.rst.val();
        self.ledger.clk.next = self.clk.val();
        self.ledger.rst.next = self.rst.val();
        self.builder.clk.next = self.clk.val();
        self.builder.rst.next = self.rst.val();
        self.queue.clk.next = self.clk.val();
        self.queue.rst.next = self.rst.val();
        self.scheduler.now_ns.next = self.now_ns.val();
        self.ledger.now_ns.next = self.now_ns.val();
        self.builder.now_ns.next = self.now_ns.val();
        self.builder.local_mac.next = self.local_mac.val();
        self.builder.local_ipv4.next = self.local_ipv4.val();
        self.builder.local_ipv6.next = self.local_ipv6.val();
        self.builder.udp_port.next = self.udp_port.val();

        // Contexts, and the opening of flows.
        self.chunk_contexts.write_enable.next = self.context_write.val();
        self.chunk_contexts.write_address.next = self.context_flow.val();
        self.chunk_contexts.write_data.next = self.context_data.val();
        self.frame_contexts.write_enable.next = self.context_write.val();
        self.frame_contexts.write_address.next = self.context_flow.val();
        self.frame_contexts.write_data.next = self.context_data.val();
        self.chunk_contexts.read_address.next = self.segmenter.context_flow.val();
        self.segmenter.context_data.next = self.chunk_contexts.read_data.val();
        self.frame_contexts.read_address.next = self.builder.context_flow.val();
        self.builder.context_data.next = self.frame_contexts.read_data.val();
        self.segmenter.open_valid.next = self.open_valid[0].val();
        self.open_ready[0].next = self.segmenter.open_ready.val();
        self.segmenter.open_flow.next = self.open_flow.val();
        self.segmenter.open_psn.next = self.open_psn.val();
        self.scheduler.open_valid.next = self.open_valid[1].val();
        self.open_ready[1].next = self.scheduler.open_ready.val();
        self.scheduler.open_flow.next = self.open_flow.val();
        self.sender.open_valid.next = self.open_valid[2].val();
        self.open_ready[2].next = self.sender.open_ready.val();
        self.sender.open_flow.next = self.open_flow.val();
        self.sender.open_psn.next = self.open_psn.val();
        self.ledger.open_valid.next = self.open_valid[3].val();
        self.open_ready[3].next = self.ledger.open_ready.val();
        self.ledger.open_flow.next = self.open_flow.val();
        self.ledger.open_psn.next = self.open_psn.val();
        self.scheduler.close_valid.next = self.close_valid.val();
        self.close_ready.next = self.scheduler.close_ready.val();
        self.scheduler.close_flow.next = self.close_flow.val();
        self.ledger.recovery_write.next = self.recovery_write.val();
        self.ledger.recovery_flow.next = self.recovery_flow.val();
        self.ledger.recovery_data.next = self.recovery_data.val();

        // Control.
        self.sender.window_valid.next = self.window_valid.val();
        self.window_ready.next = self.sender.window_ready.val();
        self.sender.window_flow.next = self.window_flow.val();
        self.sender.window_path.next = self.window_path.val();
        self.sender.window_value.next = self.window_value.val();
        self.sender.skip_valid.next = self.skip_valid.val();
        self.skip_ready.next = self.sender.skip_ready.val();
        self.sender.skip_flow.next = self.skip_flow.val();
        self.sender.skip_path.next = self.skip_path.val();
        self.sender.skip_value.next = self.skip_value.val();
        self.scheduler.rate_valid.next = self.rate_valid.val();
        self.rate_ready.next = self.scheduler.rate_ready.val();
        self.scheduler.rate_flow.next = self.rate_flow.val();
        self.scheduler.rate_value.next = self.rate_value.val();
        self.scheduler.rate_probing.next = self.rate_probing.val();
        self.scheduler.grant_valid.next = self.grant_valid.val();
        self.grant_ready.next = self.scheduler.grant_ready.val();
        self.scheduler.grant_flow.next = self.grant_flow.val();

        // The host's chunks into the pool.
        self.segmenter.h2c_valid.next = self.h2c_valid.val();
        self.segmenter.h2c_data.next = self.h2c_data.val();
        self.segmenter.h2c_keep.next = self.h2c_keep.val();
        self.segmenter.h2c_last.next = self.h2c_last.val();
        self.segmenter.h2c_size.next = self.h2c_size.val();
        self.h2c_ready.next = self.segmenter.h2c_ready.val();
        self.segmenter.free_valid.next = self.ledger.free_valid.val();
        self.ledger.free_ready.next = self.segmenter.free_ready.val();
        self.segmenter.free_slot.next = self.ledger.free_slot.val();
        self.pool.write_enable.next = self.segmenter.pool_write.val();
        self.pool.write_address.next = self.segmenter.pool_address.val();
        self.pool.write_data.next = self.segmenter.pool_data.val();
        self.segments.write_enable.next = self.segmenter.segment_write.val();
        self.segments.write_address.next = self.segmenter.segment_slot.val();
        self.segments.write_data.next = self.segmenter.segment_data.val();
        self.refused_valid.next = self.segmenter.refused_valid.val();
        self.refused_cause.next = self.segmenter.refused_cause.val();

        // A packet is committed to all at once: sender datapath, ledger, scheduler, slot table.
        self.post_room.next = self.sender.post_ready.val();
        self.ledger_room.next = self.ledger.commit_ready.val();
        self.scheduler_room.next = self.scheduler.post_ready.val();
        self.segmenter.commit_ready.next =
            self.post_room.val() && self.ledger_room.val() && self.scheduler_room.val();
        self.committed.next = self.segmenter.commit_valid.val()
            && self.post_room.val()
            && self.ledger_room.val()
            && self.scheduler_room.val();
        self.sender.post_valid.next = self.committed.val();
        self.sender.post_flow.next = self.segmenter.commit_flow.val();
        self.sender.post_limit.next = self.segmenter.commit_psn.val() + 1;
        self.ledger.commit_valid.next =
            self.segmenter.commit_valid.val() && self.post_room.val() && self.scheduler_room.val();
        self.ledger.commit_flow.next = self.segmenter.commit_flow.val();
        self.ledger.commit_psn.next = self.segmenter.commit_psn.val();
        self.ledger.commit_slot.next = self.segmenter.commit_slot.val();
        self.scheduler.post_valid.next =
            self.segmenter.commit_valid.val() && self.post_room.val() && self.ledger_room.val();
        self.scheduler.post_flow.next = self.segmenter.commit_flow.val();
        self.slots.write_enable.next = self.committed.val();
        self.slots.write_address.next =
            (bit_cast::<20, FLOW_BITS>(self.segmenter.commit_flow.val()) << 10)
                | bit_cast::<20, SLOT_BITS>(
                    self.segmenter.commit_psn.val().get_bits::<SLOT_BITS>(0),
                );
        self.slots.write_data.next = self.segmenter.commit_slot.val();

        // Requests: lost PSNs and flows whose turn it is, while few packets wait for the wire.
        self.may_ask.next = self.outstanding.q.val() < self.most.val();
        self.again_asked.next = self.ledger.again_valid.val() && self.may_ask.val();
        self.sender.again_valid.next = self.again_asked.val();
        self.ledger.again_ready.next = self.sender.again_ready.val() && self.may_ask.val();
        self.sender.again_flow.next = self.ledger.again_flow.val();
        self.sender.again_psn.next = self.ledger.again_psn.val();
        self.req_asked.next = self.scheduler.req_valid.val() && self.may_ask.val();
        self.sender.req_valid.next = self.req_asked.val();
        self.scheduler.req_ready.next = self.sender.req_ready.val() && self.may_ask.val();
        self.sender.req_flow.next = self.scheduler.req_flow.val();
        self.asks.next = self.may_ask.val()
            && ((self.ledger.again_valid.val() && self.sender.again_ready.val())
                || (self.scheduler.req_valid.val() && self.sender.req_ready.val()));

        // What found no path goes back to where it came from.
        self.scheduler.idle_valid.next =
            self.sender.idle_valid.val() && !self.sender.idle_again.val();
        self.scheduler.idle_flow.next = self.sender.idle_flow.val();
        self.ledger.unsent_valid.next =
            self.sender.idle_valid.val() && self.sender.idle_again.val();
        self.ledger.unsent_flow.next = self.sender.idle_flow.val();
        self.ledger.unsent_psn.next = self.sender.idle_psn.val();
        self.idle_room.next = self.scheduler.idle_ready.val();
        if self.sender.idle_again.val() {
            self.idle_room.next = self.ledger.unsent_ready.val();
        }
        self.sender.idle_ready.next = self.idle_room.val();
        self.refused.next = self.sender.idle_valid.val() && self.idle_room.val();

        // Jobs: retransmissions first; the slot is looked up on the way.
        self.sender.retry_ready.next = self.queue.room.val();
        self.res_room.next = self.queue.room.val() && !self.sender.retry_valid.val();
        self.sender.res_ready.next = self.res_room.val();
        self.job.next = bit_cast::<39, FLOW_BITS>(self.sender.res_flow.val())
            | (bit_cast::<39, 4>(self.sender.res_path.val()) << 10)
            | (bit_cast::<39, 24>(self.sender.res_psn.val()) << 14);
        if self.sender.retry_valid.val() {
            self.job.next = bit_cast::<39, FLOW_BITS>(self.sender.retry_flow.val())
                | (bit_cast::<39, 4>(self.sender.retry_path.val()) << 10)
                | (bit_cast::<39, 24>(self.sender.retry_psn.val()) << 14)
                | (bits::<39>(1) << 38);
        }
        self.takes_job.next =
            self.queue.room.val() && (self.sender.retry_valid.val() || self.sender.res_valid.val());
        self.job_1.d.next = self.takes_job.val();
        self.job_word_1.d.next = self.job.val();
        self.slots.read_address.next =
            (bit_cast::<20, FLOW_BITS>(self.job.val().get_bits::<FLOW_BITS>(0)) << 10)
                | bit_cast::<20, SLOT_BITS>(self.job.val().get_bits::<SLOT_BITS>(14));
        self.queue.push.next = self.job_1.q.val();
        self.queue.push_data.next = bit_cast::<49, 39>(self.job_word_1.q.val())
            | (bit_cast::<49, SLOT_BITS>(self.slots.read_data.val()) << 39);
        self.builder.data_valid.next = self.queue.valid.val();
        self.queue.ready.next = self.builder.data_ready.val();
        self.builder.data_flow.next = self.queue.data.val().get_bits::<FLOW_BITS>(0);
        self.builder.data_path.next = self.queue.data.val().get_bits::<4>(10);
        self.builder.data_psn.next = self.queue.data.val().get_bits::<24>(14);
        self.builder.data_retransmission.next = self.queue.data.val().get_bit(38);
        self.builder.data_slot.next = self.queue.data.val().get_bits::<SLOT_BITS>(39);
        self.built.next = self.queue.valid.val() && self.builder.data_ready.val();
        self.jobs.next = self.queue.level.val();
        self.job_taken.next = self.built.val();

        // One more asked for; one less by a job that leaves, one less by a request that found no path.
        self.answered.next = self.built.val() || self.refused.val();
        if self.asks.val() && !self.answered.val() {
            self.outstanding.d.next = self.outstanding.q.val() + 1;
        }
        if !self.asks.val() && self.answered.val() {
            self.outstanding.d.next = self.outstanding.q.val() - 1;
        }
        if self.built.val() && self.refused.val() {
            self.outstanding.d.next = self.outstanding.q.val() - 2;
            if self.asks.val() {
                self.outstanding.d.next = self.outstanding.q.val() - 1;
            }
        }

        // Frames.
        self.builder.probe_valid.next = self.scheduler.probe_valid.val();
        self.scheduler.probe_ready.next = self.builder.probe_ready.val();
        self.builder.probe_flow.next = self.scheduler.probe_flow.val();
        self.builder.probe_path.next = self.scheduler.probe_path.val();
        self.builder.ack_valid.next = self.reply_valid.val();
        self.reply_ready.next = self.builder.ack_ready.val();
        self.builder.ack_flow.next = self.reply_flow.val();
        self.builder.ack_path.next = self.reply_path.val();
        self.builder.ack_psn.next = self.reply_psn.val();
        self.builder.ack_expected.next = self.reply_expected.val();
        self.builder.ack_selective.next = self.reply_selective.val();
        self.builder.ack_probe.next = self.reply_probe.val();
        self.builder.ack_nak.next = self.reply_nak.val();
        self.builder.ack_duplicate.next = self.reply_duplicate.val();
        self.builder.ack_sent_ns.next = self.reply_sent_ns.val();
        self.builder.ack_received_ns.next = self.reply_received_ns.val();
        self.segments.read_address.next = self.builder.segment_slot.val();
        self.builder.segment_data.next = self.segments.read_data.val();
        self.pool.read_address.next = self.builder.pool_address.val();
        self.builder.pool_data.next = self.pool.read_data.val();
        self.tx_valid.next = self.builder.tx_valid.val();
        self.builder.tx_ready.next = self.tx_ready.val();
        self.tx_data.next = self.builder.tx_data.val();
        self.tx_keep.next = self.builder.tx_keep.val();
        self.tx_last.next = self.builder.tx_last.val();
        self.tx_size.next = self.builder.tx_size.val();
        self.frame_valid.next = self.builder.frame_valid.val();
        self.frame_kind.next = self.builder.frame_kind.val();
        self.stale_valid.next = self.builder.stale_valid.val();

        // The ledger.
        self.ledger.sent_valid.next = self.builder.sent_valid.val();
        self.ledger.sent_slot.next = self.builder.sent_slot.val();
        self.ledger.sent_flow.next = self.builder.sent_flow.val();
        self.ledger.sent_psn.next = self.builder.sent_psn.val();
        self.ledger.sent_path.next = self.builder.sent_path.val();
        self.ledger.sent_ns.next = self.builder.sent_ns.val();
        self.ledger.ack_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.ledger.ack_ready.val();
        self.ledger.ack_flow.next = self.ack_flow.val();
        self.ledger.ack_path.next = self.ack_path.val();
        self.ledger.ack_psn.next = self.ack_psn.val();
        self.ledger.ack_expected.next = self.ack_expected.val();
        self.ledger.ack_probe.next = self.ack_probe.val();
        self.ledger.ack_nak.next = self.ack_nak.val();
        self.ledger.ack_sent_ns.next = self.ack_sent_ns.val();
        self.ledger.ack_received_ns.next = self.ack_received_ns.val();
        self.ledger.ack_now_ns.next = self.ack_now_ns.val();
        self.sender.ack_valid.next = self.ledger.settled_valid.val();
        self.ledger.settled_ready.next = self.sender.ack_ready.val();
        self.sender.ack_flow.next = self.ledger.settled_flow.val();
        self.sender.ack_psn.next = self.ledger.settled_psn.val();
        self.sender.ack_path.next = self.ledger.settled_path.val();
        self.sender.ack_count.next = self.ledger.settled_count.val();
        self.sender.resolve_valid.next = self.ledger.resolve_valid.val();
        self.ledger.resolve_ready.next = self.sender.resolve_ready.val();
        self.sender.resolve_flow.next = self.ledger.resolve_flow.val();
        self.sender.resolve_path.next = self.ledger.resolve_path.val();
        self.sender.acked_ready.next = true;
        self.ledger.acked_valid.next = self.sender.acked_valid.val();
        self.ledger.acked_flow.next = self.sender.acked_flow.val();
        self.ledger.acked_una.next = self.sender.acked_una.val();
        self.segmenter.una_valid.next = self.sender.acked_valid.val();
        self.segmenter.una_flow.next = self.sender.acked_flow.val();
        self.segmenter.una_psn.next = self.sender.acked_una.val();
        self.account_valid.next = self.ledger.account_valid.val();
        self.account_kind.next = self.ledger.account_kind.val();
        self.account_flow.next = self.ledger.account_flow.val();
        self.account_path.next = self.ledger.account_path.val();
        self.account_freed_path.next = self.ledger.account_freed_path.val();
        self.account_in_flight.next = self.ledger.account_in_flight.val();
        self.account_timeout.next = self.ledger.account_timeout.val();
        self.account_sent_ns.next = self.ledger.account_sent_ns.val();
        self.account_received_ns.next = self.ledger.account_received_ns.val();
        self.account_now_ns.next = self.ledger.account_now_ns.val();
        self.scanned.next = self.ledger.event_valid.val() && (self.ledger.event_kind.val() == 7);
        self.free_count.next = self.ledger.free_count.val();
        self.lost_count.next = self.ledger.lost_count.val();
        self.active_flows.next = self.scheduler.active_flows.val();

        // Monitors.
        self.trace_sender_in.next = bit_cast::<231, 1>(self.open_valid[2].val().into())
            | (bit_cast::<231, FLOW_BITS>(self.open_flow.val()) << 1)
            | (bit_cast::<231, 24>(self.open_psn.val()) << 11)
            | (bit_cast::<231, 1>(self.committed.val().into()) << 35)
            | (bit_cast::<231, FLOW_BITS>(self.segmenter.commit_flow.val()) << 36)
            | (bit_cast::<231, 24>(self.segmenter.commit_psn.val()) << 46)
            | (bit_cast::<231, 1>(self.window_valid.val().into()) << 70)
            | (bit_cast::<231, FLOW_BITS>(self.window_flow.val()) << 71)
            | (bit_cast::<231, 4>(self.window_path.val()) << 81)
            | (bit_cast::<231, 16>(self.window_value.val()) << 85)
            | (bit_cast::<231, 1>(self.skip_valid.val().into()) << 101)
            | (bit_cast::<231, FLOW_BITS>(self.skip_flow.val()) << 102)
            | (bit_cast::<231, 4>(self.skip_path.val()) << 112)
            | (bit_cast::<231, 10>(self.skip_value.val()) << 116)
            | (bit_cast::<231, 1>(self.ledger.settled_valid.val().into()) << 126)
            | (bit_cast::<231, FLOW_BITS>(self.ledger.settled_flow.val()) << 127)
            | (bit_cast::<231, 4>(self.ledger.settled_path.val()) << 137)
            | (bit_cast::<231, 24>(self.ledger.settled_psn.val()) << 141)
            | (bit_cast::<231, 1>(self.ledger.settled_count.val().into()) << 165)
            | (bit_cast::<231, 1>(self.ledger.resolve_valid.val().into()) << 166)
            | (bit_cast::<231, FLOW_BITS>(self.ledger.resolve_flow.val()) << 167)
            | (bit_cast::<231, 4>(self.ledger.resolve_path.val()) << 177)
            | (bit_cast::<231, 1>(self.again_asked.val().into()) << 181)
            | (bit_cast::<231, FLOW_BITS>(self.ledger.again_flow.val()) << 182)
            | (bit_cast::<231, 24>(self.ledger.again_psn.val()) << 192)
            | (bit_cast::<231, 1>(self.req_asked.val().into()) << 216)
            | (bit_cast::<231, FLOW_BITS>(self.scheduler.req_flow.val()) << 217)
            | (bit_cast::<231, 1>(self.res_room.val().into()) << 227)
            | (bit_cast::<231, 1>(self.queue.room.val().into()) << 228)
            | (bit_cast::<231, 1>(self.idle_room.val().into()) << 229)
            | (bit_cast::<231, 1>(self.sender.acked_valid.val().into()) << 230);
        self.trace_sender_out.next = bit_cast::<187, 1>(self.sender.open_ready.val().into())
            | (bit_cast::<187, 1>(self.sender.post_ready.val().into()) << 1)
            | (bit_cast::<187, 1>(self.sender.window_ready.val().into()) << 2)
            | (bit_cast::<187, 1>(self.sender.skip_ready.val().into()) << 3)
            | (bit_cast::<187, 1>(self.sender.ack_ready.val().into()) << 4)
            | (bit_cast::<187, 1>(self.sender.resolve_ready.val().into()) << 5)
            | (bit_cast::<187, 1>(self.sender.again_ready.val().into()) << 6)
            | (bit_cast::<187, 1>(self.sender.req_ready.val().into()) << 7)
            | (bit_cast::<187, 1>(self.sender.res_valid.val().into()) << 8)
            | (bit_cast::<187, FLOW_BITS>(self.sender.res_flow.val()) << 9)
            | (bit_cast::<187, 4>(self.sender.res_path.val()) << 19)
            | (bit_cast::<187, 24>(self.sender.res_psn.val()) << 23)
            | (bit_cast::<187, 1>(self.sender.res_found.val().into()) << 47)
            | (bit_cast::<187, 1>(self.sender.retry_valid.val().into()) << 48)
            | (bit_cast::<187, FLOW_BITS>(self.sender.retry_flow.val()) << 49)
            | (bit_cast::<187, 4>(self.sender.retry_path.val()) << 59)
            | (bit_cast::<187, 24>(self.sender.retry_psn.val()) << 63)
            | (bit_cast::<187, 1>(self.sender.idle_valid.val().into()) << 87)
            | (bit_cast::<187, FLOW_BITS>(self.sender.idle_flow.val()) << 88)
            | (bit_cast::<187, 1>(self.sender.idle_again.val().into()) << 98)
            | (bit_cast::<187, 24>(self.sender.idle_psn.val()) << 99)
            | (bit_cast::<187, 1>(self.sender.acked_valid.val().into()) << 123)
            | (bit_cast::<187, FLOW_BITS>(self.sender.acked_flow.val()) << 124)
            | (bit_cast::<187, 24>(self.sender.acked_psn.val()) << 134)
            | (bit_cast::<187, 4>(self.sender.acked_path.val()) << 158)
            | (bit_cast::<187, 1>(self.sender.acked_new.val().into()) << 162)
            | (bit_cast::<187, 24>(self.sender.acked_una.val()) << 163);
        self.trace_ledger.next = bit_cast::<80, 1>(self.ledger.event_valid.val().into())
            | (bit_cast::<80, 3>(self.ledger.event_kind.val()) << 1)
            | (bit_cast::<80, 10>(self.ledger.event_slot.val()) << 4)
            | (bit_cast::<80, FLOW_BITS>(self.ledger.event_flow.val()) << 14)
            | (bit_cast::<80, 24>(self.ledger.event_psn.val()) << 24)
            | (bit_cast::<80, 32>(self.ledger.event_ns.val()) << 48);
        self.trace_commit.next = bit_cast::<45, 1>(self.committed.val().into())
            | (bit_cast::<45, FLOW_BITS>(self.segmenter.commit_flow.val()) << 1)
            | (bit_cast::<45, 24>(self.segmenter.commit_psn.val()) << 11)
            | (bit_cast::<45, 10>(self.segmenter.commit_slot.val()) << 35);
        self.trace_sent.next = bit_cast::<81, 1>(self.builder.sent_valid.val().into())
            | (bit_cast::<81, 10>(self.builder.sent_slot.val()) << 1)
            | (bit_cast::<81, FLOW_BITS>(self.builder.sent_flow.val()) << 11)
            | (bit_cast::<81, 24>(self.builder.sent_psn.val()) << 21)
            | (bit_cast::<81, 4>(self.builder.sent_path.val()) << 45)
            | (bit_cast::<81, 32>(self.builder.sent_ns.val()) << 49);
        self.trace_job.next = bit_cast::<50, 1>(self.built.val().into())
            | (bit_cast::<50, 49>(self.queue.data.val()) << 1);

        if self.rst.val() {
            self.job_1.d.next = false;
            self.outstanding.d.next = 0.into();
        }
    }
}
