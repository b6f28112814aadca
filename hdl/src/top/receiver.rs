//! The receiver datapath: tracker and reorder buffer.

use crate::prim::ModuleId;
use crate::reorder::{ReorderBuffer, PLACE_BITS, SLOT_BITS, TAG_BITS};
use crate::stream::FLOW_BITS;
use crate::tracker::BitmapTracker;
use rust_hdl::prelude::*;

/// Receiver datapath for windows of `64 G` PSNs; `LG` is the logarithm of `G`, `TB` that of
/// the PSNs a flow has in the slot table, `SB` that of a slot's beats.
#[derive(Clone, Debug, LogicBlock)]
pub struct ReceiverDatapath<const G: usize, const LG: usize, const TB: usize, const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Slots that may be in use before only the next expected packet gets in, up to 3 less than
    /// there are.
    pub limit: Signal<In, Bits<SLOT_BITS>>,
    /// Open a flow at a first PSN. Nothing of the flow may be under way or waiting.
    pub open_valid: Signal<In, Bit>,
    /// The open is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
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
    /// Negative: the packet was dropped.
    pub ack_nak: Signal<Out, Bit>,
    /// The packet was new and is kept.
    pub ack_accepted: Signal<Out, Bit>,
    /// It had arrived before.
    pub ack_duplicate: Signal<Out, Bit>,
    /// A verdict leaves the tracker in this clock: its OOD and waiting count are valid.
    pub sample_valid: Signal<Out, Bit>,
    /// Flow of the sample.
    pub sample_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Out-of-order degree of the flow.
    pub sample_ood: Signal<Out, Bits<10>>,
    /// Packets of the flow that wait.
    pub sample_waiting: Signal<Out, Bits<10>>,
    /// Slots in use.
    pub occupied: Signal<Out, Bits<10>>,
    /// Most slots ever in use since reset.
    pub high_water: Signal<Out, Bits<10>>,
    /// Packets of all flows that wait out of order (RBO).
    pub waiting: Signal<Out, Bits<16>>,
    /// Packets dropped because they were longer than a slot, wrapping.
    pub oversize: Signal<Out, Bits<16>>,
    tracker: BitmapTracker<G, LG, TAG_BITS>,
    reorder: ReorderBuffer<TB, SB>,
}

impl<const G: usize, const LG: usize, const TB: usize, const SB: usize>
    ReceiverDatapath<G, LG, TB, SB>
{
    /// For `flows` flows (a power of two, at most 1,024) and `slots` slots (256 or 512).
    pub fn new(flows: usize, slots: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_receiver",
                &format!(
                    "Receiver datapath: tracker and reorder buffer, windows of {} PSNs, {flows} flows.",
                    64 * G
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            limit: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
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
            sample_valid: Signal::default(),
            sample_flow: Signal::default(),
            sample_ood: Signal::default(),
            sample_waiting: Signal::default(),
            occupied: Signal::default(),
            high_water: Signal::default(),
            waiting: Signal::default(),
            oversize: Signal::default(),
            tracker: BitmapTracker::new(flows),
            reorder: ReorderBuffer::new(flows, slots),
        }
    }
}

impl<const G: usize, const LG: usize, const TB: usize, const SB: usize> Logic
    for ReceiverDatapath<G, LG, TB, SB>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.tracker.clk.next = self.clk.val();
        self.tracker.rst.next = self.rst.val();
        self.reorder.clk.next = self.clk.val();
        self.reorder.rst.next = self.rst.val();
        self.reorder.limit.next = self.limit.val();
        self.tracker.open_valid.next = self.open_valid.val();
        self.open_ready.next = self.tracker.open_ready.val();
        self.tracker.open_flow.next = self.open_flow.val();
        self.tracker.open_psn.next = self.open_psn.val();
        self.reorder.rx_valid.next = self.rx_valid.val();
        self.rx_ready.next = self.reorder.rx_ready.val();
        self.reorder.rx_data.next = self.rx_data.val();
        self.reorder.rx_keep.next = self.rx_keep.val();
        self.reorder.rx_last.next = self.rx_last.val();
        self.reorder.rx_bad.next = self.rx_bad.val();
        self.reorder.rx_flow.next = self.rx_flow.val();
        self.reorder.rx_psn.next = self.rx_psn.val();
        self.reorder.rx_path.next = self.rx_path.val();
        self.reorder.rx_place.next = self.rx_place.val();
        self.reorder.rx_sent_ns.next = self.rx_sent_ns.val();
        self.reorder.rx_received_ns.next = self.rx_received_ns.val();
        self.no_buffer.next = self.reorder.no_buffer.val();

        self.tracker.req_valid.next = self.reorder.arrival_valid.val();
        self.reorder.arrival_ready.next = self.tracker.req_ready.val();
        self.tracker.req_flow.next = self.reorder.arrival_flow.val();
        self.tracker.req_psn.next = self.reorder.arrival_psn.val();
        self.tracker.req_room.next = self.reorder.arrival_room.val();
        self.tracker.req_tag.next = self.reorder.arrival_tag.val();
        self.reorder.verdict_valid.next = self.tracker.res_valid.val();
        self.tracker.res_ready.next = self.reorder.verdict_ready.val();
        self.reorder.verdict_flow.next = self.tracker.res_flow.val();
        self.reorder.verdict_psn.next = self.tracker.res_psn.val();
        self.reorder.verdict_tag.next = self.tracker.res_tag.val();
        self.reorder.verdict_accepted.next = self.tracker.res_accepted.val();
        self.reorder.verdict_duplicate.next = self.tracker.res_duplicate.val();
        self.reorder.verdict_full.next = self.tracker.res_full.val();
        self.reorder.verdict_beyond.next = self.tracker.res_beyond.val();
        self.reorder.verdict_expected.next = self.tracker.res_expected.val();
        self.reorder.verdict_advance.next = self.tracker.res_advance.val();
        self.reorder.verdict_arrived.next = self.tracker.res_arrived.val();
        self.sample_valid.next = self.tracker.res_valid.val() && self.reorder.verdict_ready.val();
        self.sample_flow.next = self.tracker.res_flow.val();
        self.sample_ood.next = self.tracker.res_ood.val();
        self.sample_waiting.next = self.tracker.res_waiting.val();

        self.host_valid.next = self.reorder.host_valid.val();
        self.reorder.host_ready.next = self.host_ready.val();
        self.host_data.next = self.reorder.host_data.val();
        self.host_keep.next = self.reorder.host_keep.val();
        self.host_last.next = self.reorder.host_last.val();
        self.host_flow.next = self.reorder.host_flow.val();
        self.host_psn.next = self.reorder.host_psn.val();
        self.host_place.next = self.reorder.host_place.val();
        self.ack_valid.next = self.reorder.ack_valid.val();
        self.reorder.ack_ready.next = self.ack_ready.val();
        self.ack_flow.next = self.reorder.ack_flow.val();
        self.ack_psn.next = self.reorder.ack_psn.val();
        self.ack_expected.next = self.reorder.ack_expected.val();
        self.ack_selective.next = self.reorder.ack_selective.val();
        self.ack_path.next = self.reorder.ack_path.val();
        self.ack_sent_ns.next = self.reorder.ack_sent_ns.val();
        self.ack_received_ns.next = self.reorder.ack_received_ns.val();
        self.ack_nak.next = self.reorder.ack_nak.val();
        self.ack_accepted.next = self.reorder.ack_accepted.val();
        self.ack_duplicate.next = self.reorder.ack_duplicate.val();
        self.occupied.next = self.reorder.occupied.val();
        self.high_water.next = self.reorder.high_water.val();
        self.waiting.next = self.reorder.waiting.val();
        self.oversize.next = self.reorder.oversize.val();
    }
}
