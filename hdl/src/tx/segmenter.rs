//! The segmenter: chunks of the host in, packets in slots and their commits out.

use super::{ChunkCheck, ChunkCutter, Committer};
use crate::prim::{Crc32c, Delay, ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Clocks from a beat to the CRC over it.
const CRC_CLOCKS: usize = 3;

/// Cuts the host's chunks into packets of the flow's MTU, each into a slot of `2^SB` beats.
///
/// Every beat waits in a queue until the descriptor of its chunk is judged, so that a bad chunk is
/// refused whole. A packet is committed after its beats and its segment are written.
#[derive(Clone, Debug, LogicBlock)]
pub struct Segmenter<const SB: usize> {
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
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its context, one clock later.
    pub context_data: Signal<In, Bits<256>>,
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
    /// Write a beat to the pool.
    pub pool_write: Signal<Out, Bit>,
    /// Slot and, in the low `SB` bits, beat.
    pub pool_address: Signal<Out, Bits<18>>,
    /// 64 bytes, zero beyond the packet's end.
    pub pool_data: Signal<Out, Bits<512>>,
    /// Write a packet's segment.
    pub segment_write: Signal<Out, Bit>,
    /// Its slot.
    pub segment_slot: Signal<Out, Bits<10>>,
    /// The segment.
    pub segment_data: Signal<Out, Bits<144>>,
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
    beats: StreamFifo<Bits<513>, QUEUE_ADDRESS_BITS>,
    verdicts: StreamFifo<Bits<134>, QUEUE_ADDRESS_BITS>,
    check: ChunkCheck<SB>,
    cutter: ChunkCutter<SB>,
    committer: Committer,
    payload_crc: Crc32c,
    completed: Delay<Bits<131>, CRC_CLOCKS>,
    credits: Reg<Bits<6>>,
    first: Reg<Bit>,
    packet_1: Reg<Bit>,
    packet_2: Reg<Bit>,
    packet_3: Reg<Bit>,
    accepted: Signal<Local, Bit>,
    left: Signal<Local, Bit>,
    depth: Constant<Bits<6>>,
}

impl<const SB: usize> Segmenter<SB> {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        assert!((6..=8).contains(&SB), "a slot has 64, 128 or 256 beats");
        Self {
            id: ModuleId::new(
                "rondo_segmenter",
                &format!(
                    "Segmenter: chunks of {flows} flows into packets, slots of {} bytes.",
                    64 << SB
                ),
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
            context_flow: Signal::default(),
            context_data: Signal::default(),
            free_valid: Signal::default(),
            free_ready: Signal::default(),
            free_slot: Signal::default(),
            una_valid: Signal::default(),
            una_flow: Signal::default(),
            una_psn: Signal::default(),
            pool_write: Signal::default(),
            pool_address: Signal::default(),
            pool_data: Signal::default(),
            segment_write: Signal::default(),
            segment_slot: Signal::default(),
            segment_data: Signal::default(),
            commit_valid: Signal::default(),
            commit_ready: Signal::default(),
            commit_flow: Signal::default(),
            commit_psn: Signal::default(),
            commit_slot: Signal::default(),
            refused_valid: Signal::default(),
            refused_cause: Signal::default(),
            beats: StreamFifo::new("chunk_beats"),
            verdicts: StreamFifo::new("chunk_verdicts"),
            check: ChunkCheck::new(flows),
            cutter: ChunkCutter::default(),
            committer: Committer::new(flows),
            payload_crc: Crc32c::default(),
            completed: Delay::default(),
            credits: Reg::default(),
            first: Reg::default(),
            packet_1: Reg::default(),
            packet_2: Reg::default(),
            packet_3: Reg::default(),
            accepted: Signal::default(),
            left: Signal::default(),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
        }
    }
}

impl<const SB: usize> Logic for Segmenter<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credits, first, packet_1, packet_2, packet_3);
        self.beats.clk.next = self.clk.val();
        self.beats.rst.next = self.rst.val();
        self.verdicts.clk.next = self.clk.val();
        self.verdicts.rst.next = self.rst.val();
        self.check.clk.next = self.clk.val();
        self.check.rst.next = self.rst.val();
        self.cutter.clk.next = self.clk.val();
        self.cutter.rst.next = self.rst.val();
        self.committer.clk.next = self.clk.val();
        self.committer.rst.next = self.rst.val();
        self.payload_crc.clk.next = self.clk.val();
        self.completed.clk.next = self.clk.val();

        // In: every beat is queued, descriptors are judged beside. There are never more verdicts
        // than beats, so that they need no credits of their own.
        self.h2c_ready.next = self.credits.q.val() != 0;
        self.accepted.next = self.h2c_valid.val() && (self.credits.q.val() != 0);
        if self.accepted.val() {
            self.first.d.next = self.h2c_last.val();
        }
        self.beats.push.next = self.accepted.val();
        self.beats.push_data.next = bit_cast::<513, 512>(self.h2c_data.val())
            | (bit_cast::<513, 1>(self.h2c_last.val().into()) << 512);
        self.check.valid.next = self.accepted.val() && self.first.q.val();
        self.check.descriptor.next = self.h2c_data.val().get_bits::<160>(0);
        self.check.size.next = self.h2c_size.val();
        self.context_flow.next = self.check.context_flow.val();
        self.check.context_data.next = self.context_data.val();
        self.verdicts.push.next = self.check.verdict_valid.val();
        self.verdicts.push_data.next = self.check.verdict.val();
        self.left.next = self.beats.valid.val() && self.cutter.beat_ready.val();
        if self.accepted.val() && !self.left.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.accepted.val() && self.left.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }

        self.cutter.beat_valid.next = self.beats.valid.val();
        self.beats.ready.next = self.cutter.beat_ready.val();
        self.cutter.beat_data.next = self.beats.data.val().get_bits::<512>(0);
        self.cutter.beat_last.next = self.beats.data.val().get_bit(512);
        self.cutter.verdict_valid.next = self.verdicts.valid.val();
        self.verdicts.ready.next = self.cutter.verdict_ready.val();
        self.cutter.verdict.next = self.verdicts.data.val();
        self.cutter.free_valid.next = self.free_valid.val();
        self.free_ready.next = self.cutter.free_ready.val();
        self.cutter.free_slot.next = self.free_slot.val();
        self.cutter.popped.next = self.committer.popped.val();
        self.pool_write.next = self.cutter.write.val();
        self.pool_address.next = self.cutter.address.val();
        self.pool_data.next = self.cutter.data.val();
        self.refused_valid.next = self.cutter.refused_valid.val();
        self.refused_cause.next = self.cutter.refused_cause.val();

        // A complete packet waits for its CRC.
        self.payload_crc.valid.next = self.cutter.write.val();
        self.payload_crc.first.next = self.cutter.write_first.val();
        self.payload_crc.data.next = self.cutter.data.val();
        self.packet_1.d.next = self.cutter.packet.val();
        self.packet_2.d.next = self.packet_1.q.val();
        self.packet_3.d.next = self.packet_2.q.val();
        self.completed.d.next = bit_cast::<131, 111>(self.cutter.packet_place.val())
            | (bit_cast::<131, 10>(self.cutter.packet_slot.val()) << 111)
            | (bit_cast::<131, FLOW_BITS>(self.cutter.packet_flow.val()) << 121);
        self.segment_write.next = self.packet_3.q.val();
        self.segment_slot.next = self.completed.q.val().get_bits::<10>(111);
        self.segment_data.next = bit_cast::<144, 111>(self.completed.q.val().get_bits::<111>(0))
            | (bit_cast::<144, 32>(self.payload_crc.crc.val()) << 111);

        self.committer.push.next = self.packet_3.q.val();
        self.committer.push_flow.next = self.completed.q.val().get_bits::<FLOW_BITS>(121);
        self.committer.push_slot.next = self.completed.q.val().get_bits::<10>(111);
        self.committer.open_valid.next = self.open_valid.val();
        self.open_ready.next = self.committer.open_ready.val();
        self.committer.open_flow.next = self.open_flow.val();
        self.committer.open_psn.next = self.open_psn.val();
        self.committer.una_valid.next = self.una_valid.val();
        self.committer.una_flow.next = self.una_flow.val();
        self.committer.una_psn.next = self.una_psn.val();
        self.commit_valid.next = self.committer.commit_valid.val();
        self.committer.commit_ready.next = self.commit_ready.val();
        self.commit_flow.next = self.committer.commit_flow.val();
        self.commit_psn.next = self.committer.commit_psn.val();
        self.commit_slot.next = self.committer.commit_slot.val();

        if self.rst.val() {
            self.credits.d.next = self.depth.val();
            self.first.d.next = true;
            self.packet_1.d.next = false;
            self.packet_2.d.next = false;
            self.packet_3.d.next = false;
        }
    }
}
