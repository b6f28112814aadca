//! Cuts the host's chunks into packets, each in a slot of its own.

use crate::prim::{ModuleId, Reg};
use crate::stream::{FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Which beat comes next.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
pub enum CutState {
    /// A descriptor.
    Descriptor,
    /// A beat of a chunk.
    Payload,
    /// A beat of a refused chunk, or surplus.
    Skip,
}

/// Takes a beat a clock while slots are there, and writes it to the slot of its packet.
///
/// A packet that is lost because the stream ends early leaves its slot to the next one. Two slots
/// are held in advance, so that the free list need not answer in the clock of a packet's end.
#[derive(Clone, Debug, LogicBlock)]
pub struct ChunkCutter<const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A beat.
    pub beat_valid: Signal<In, Bit>,
    /// It is taken.
    pub beat_ready: Signal<Out, Bit>,
    /// 64 bytes.
    pub beat_data: Signal<In, Bits<512>>,
    /// The stream's last beat.
    pub beat_last: Signal<In, Bit>,
    /// The verdict on the next descriptor.
    pub verdict_valid: Signal<In, Bit>,
    /// It is taken, with the descriptor.
    pub verdict_ready: Signal<Out, Bit>,
    /// As [`ChunkCheck`](super::ChunkCheck) makes it.
    pub verdict: Signal<In, Bits<134>>,
    /// A free slot is on offer.
    pub free_valid: Signal<In, Bit>,
    /// It is taken.
    pub free_ready: Signal<Out, Bit>,
    /// Its number.
    pub free_slot: Signal<In, Bits<10>>,
    /// An announced packet has left its queue.
    pub popped: Signal<In, Bit>,
    /// Write the beat.
    pub write: Signal<Out, Bit>,
    /// It is a packet's first.
    pub write_first: Signal<Out, Bit>,
    /// Slot and beat.
    pub address: Signal<Out, Bits<18>>,
    /// 64 bytes, zero beyond the chunk's end.
    pub data: Signal<Out, Bits<512>>,
    /// The beat that is written completes a packet.
    pub packet: Signal<Out, Bit>,
    /// Its flow.
    pub packet_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its slot.
    pub packet_slot: Signal<Out, Bits<10>>,
    /// Its place in the message.
    pub packet_place: Signal<Out, Bits<111>>,
    /// A chunk is refused, or a stream had another length than its chunk.
    pub refused_valid: Signal<Out, Bit>,
    /// Why.
    pub refused_cause: Signal<Out, Bits<3>>,
    state: Reg<CutState>,
    credits: Reg<Bits<6>>,
    has_slot: Reg<Bit>,
    slot: Reg<Bits<10>>,
    has_next: Reg<Bit>,
    next_slot: Reg<Bits<10>>,
    flow: Reg<Bits<FLOW_BITS>>,
    message: Reg<Bits<32>>,
    offset: Reg<Bits<32>>,
    message_length: Reg<Bits<32>>,
    mtu_beats: Reg<Bits<8>>,
    ends: Reg<Bit>,
    tail: Reg<Bits<6>>,
    /// Bytes of the word that the chunk's end is in.
    part: Reg<Bits<64>>,
    /// The word is full in the chunk's last beat.
    full: [Reg<Bit>; 8],
    /// The chunk ends in the word.
    cut: [Reg<Bit>; 8],
    beat: Reg<Bits<8>>,
    packet_left: Reg<Bits<8>>,
    chunk_left: Reg<Bits<10>>,
    write_q: Reg<Bit>,
    first_q: Reg<Bit>,
    address_q: Reg<Bits<18>>,
    data_q: Reg<Bits<512>>,
    packet_q: Reg<Bit>,
    flow_q: Reg<Bits<FLOW_BITS>>,
    slot_q: Reg<Bits<10>>,
    place_q: Reg<Bits<111>>,
    refused_q: Reg<Bit>,
    cause_q: Reg<Bits<3>>,
    room: Signal<Local, Bit>,
    may_step: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    cause: Signal<Local, Bits<3>>,
    length: Signal<Local, Bits<16>>,
    chunk_end: Signal<Local, Bit>,
    packet_end: Signal<Local, Bit>,
    early: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    payload_length: Signal<Local, Bits<14>>,
    word: [Signal<Local, Bits<64>>; 8],
    depth: Constant<Bits<6>>,
    slot_bits: Constant<Bits<4>>,
    round_up: Constant<Bits<16>>,
    part_mask: [Constant<Bits<64>>; 8],
}

impl<const SB: usize> Default for ChunkCutter<SB> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_chunk_cutter_{}", 64 << SB),
                "Cuts chunks into packets, each in a slot of its own.\n\
                 States: 0 descriptor, 1 payload, 2 skip.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            beat_valid: Signal::default(),
            beat_ready: Signal::default(),
            beat_data: Signal::default(),
            beat_last: Signal::default(),
            verdict_valid: Signal::default(),
            verdict_ready: Signal::default(),
            verdict: Signal::default(),
            free_valid: Signal::default(),
            free_ready: Signal::default(),
            free_slot: Signal::default(),
            popped: Signal::default(),
            write: Signal::default(),
            write_first: Signal::default(),
            address: Signal::default(),
            data: Signal::default(),
            packet: Signal::default(),
            packet_flow: Signal::default(),
            packet_slot: Signal::default(),
            packet_place: Signal::default(),
            refused_valid: Signal::default(),
            refused_cause: Signal::default(),
            state: Reg::default(),
            credits: Reg::default(),
            has_slot: Reg::default(),
            slot: Reg::default(),
            has_next: Reg::default(),
            next_slot: Reg::default(),
            flow: Reg::default(),
            message: Reg::default(),
            offset: Reg::default(),
            message_length: Reg::default(),
            mtu_beats: Reg::default(),
            ends: Reg::default(),
            tail: Reg::default(),
            part: Reg::default(),
            full: std::array::from_fn(|_| Reg::default()),
            cut: std::array::from_fn(|_| Reg::default()),
            beat: Reg::default(),
            packet_left: Reg::default(),
            chunk_left: Reg::default(),
            write_q: Reg::default(),
            first_q: Reg::default(),
            address_q: Reg::default(),
            data_q: Reg::default(),
            packet_q: Reg::default(),
            flow_q: Reg::default(),
            slot_q: Reg::default(),
            place_q: Reg::default(),
            refused_q: Reg::default(),
            cause_q: Reg::default(),
            room: Signal::default(),
            may_step: Signal::default(),
            starts: Signal::default(),
            step: Signal::default(),
            cause: Signal::default(),
            length: Signal::default(),
            chunk_end: Signal::default(),
            packet_end: Signal::default(),
            early: Signal::default(),
            done: Signal::default(),
            take: Signal::default(),
            payload_length: Signal::default(),
            word: std::array::from_fn(|_| Signal::default()),
            depth: Constant::new((1u64 << QUEUE_ADDRESS_BITS).into()),
            slot_bits: Constant::new((SB as u64).into()),
            round_up: Constant::new(63.into()),
            part_mask: std::array::from_fn(|b| Constant::new(((1u64 << (8 * b)) - 1).into())),
        }
    }
}

impl<const SB: usize> Logic for ChunkCutter<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, credits, has_slot, slot, has_next, next_slot);
        dff_setup!(
            self,
            clk,
            flow,
            message,
            offset,
            message_length,
            mtu_beats,
            ends,
            tail,
            part
        );
        dff_setup!(self, clk, beat, packet_left, chunk_left);
        dff_setup!(self, clk, write_q, first_q, address_q, data_q);
        dff_setup!(self, clk, packet_q, flow_q, slot_q, place_q, refused_q, cause_q);

        // A beat is taken when all it can need is there: a slot, and room to announce its packet.
        self.room.next = self.has_slot.q.val() && (self.credits.q.val() != 0);
        self.may_step.next = (self.state.q.val() == CutState::Skip)
            || ((self.state.q.val() == CutState::Descriptor) && self.verdict_valid.val())
            || ((self.state.q.val() == CutState::Payload) && self.room.val());
        self.beat_ready.next = self.may_step.val();
        self.verdict_ready.next =
            self.beat_valid.val() && (self.state.q.val() == CutState::Descriptor);
        self.starts.next = self.beat_valid.val()
            && self.verdict_valid.val()
            && (self.state.q.val() == CutState::Descriptor);
        self.step.next =
            self.beat_valid.val() && self.room.val() && (self.state.q.val() == CutState::Payload);
        self.chunk_end.next = self.chunk_left.q.val() == 1;
        self.packet_end.next = (self.packet_left.q.val() == 1) || self.chunk_end.val();
        self.early.next = self.beat_last.val() && !self.chunk_end.val();
        self.done.next = self.step.val() && self.packet_end.val() && !self.early.val();

        self.refused_q.d.next = false;
        self.cause.next = self.verdict.val().get_bits::<3>(0);
        self.length.next = self.verdict.val().get_bits::<16>(12);
        self.cause_q.d.next = self.cause.val();
        for w in 0..8 {
            self.full[w].clock.next = self.clk.val();
            self.full[w].d.next = self.full[w].q.val();
            self.cut[w].clock.next = self.clk.val();
            self.cut[w].d.next = self.cut[w].q.val();
        }
        if self.starts.val() {
            self.state.d.next = CutState::Payload;
            if self.cause.val().any() {
                self.state.d.next = CutState::Skip;
                self.refused_q.d.next = true;
            }
            if self.beat_last.val() {
                self.state.d.next = CutState::Descriptor;
                self.refused_q.d.next = true;
                if !self.cause.val().any() {
                    self.cause_q.d.next = 6.into();
                }
            }
            self.ends.d.next = self.verdict.val().get_bit(3);
            self.mtu_beats.d.next = self.verdict.val().get_bits::<8>(4);
            self.packet_left.d.next = self.verdict.val().get_bits::<8>(4);
            self.chunk_left.d.next =
                ((self.length.val() + self.round_up.val()) >> 6).get_bits::<10>(0);
            self.tail.d.next = self.length.val().get_bits::<6>(0);
            self.part.d.next = self.part_mask[0].val();
            for b in 1..8 {
                if self.length.val().get_bits::<3>(0) == b.to_bits() {
                    self.part.d.next = self.part_mask[b].val();
                }
            }
            for w in 0..8 {
                self.full[w].d.next = !self.length.val().get_bits::<6>(0).any()
                    || (self.length.val().get_bits::<3>(3) > w.to_bits());
                self.cut[w].d.next = self.length.val().get_bits::<3>(3) == w.to_bits();
            }
            self.flow.d.next = self.verdict.val().get_bits::<FLOW_BITS>(28);
            self.message.d.next = self.verdict.val().get_bits::<32>(38);
            self.offset.d.next = self.verdict.val().get_bits::<32>(70);
            self.message_length.d.next = self.verdict.val().get_bits::<32>(102);
            self.beat.d.next = 0.into();
        }
        if self.step.val() {
            if self.chunk_end.val() {
                self.state.d.next = CutState::Skip;
                self.refused_q.d.next = !self.beat_last.val();
                self.cause_q.d.next = 7.into();
            }
            if self.beat_last.val() {
                self.state.d.next = CutState::Descriptor;
            }
            if self.early.val() {
                self.refused_q.d.next = true;
                self.cause_q.d.next = 6.into();
            }
            self.chunk_left.d.next = self.chunk_left.q.val() - 1;
            self.packet_left.d.next = self.packet_left.q.val() - 1;
            self.beat.d.next = self.beat.q.val() + 1;
            if self.packet_end.val() {
                self.packet_left.d.next = self.mtu_beats.q.val();
                self.beat.d.next = 0.into();
                self.offset.d.next =
                    self.offset.q.val() + (bit_cast::<32, 8>(self.mtu_beats.q.val()) << 6);
            }
        }
        if (self.state.q.val() == CutState::Skip) && self.beat_valid.val() && self.beat_last.val() {
            self.state.d.next = CutState::Descriptor;
        }

        // Slots: `slot` is in use, `next_slot` follows.
        self.free_ready.next = !self.has_next.q.val();
        self.take.next = self.free_valid.val() && !self.has_next.q.val();
        if self.take.val() {
            self.next_slot.d.next = self.free_slot.val();
            self.has_next.d.next = true;
        }
        if self.done.val() || !self.has_slot.q.val() {
            self.has_slot.d.next = self.has_next.q.val() || self.take.val();
            self.slot.d.next = self.free_slot.val();
            if self.has_next.q.val() {
                self.slot.d.next = self.next_slot.q.val();
            }
            self.has_next.d.next = false;
        }
        if self.done.val() && !self.popped.val() {
            self.credits.d.next = self.credits.q.val() - 1;
        }
        if !self.done.val() && self.popped.val() {
            self.credits.d.next = self.credits.q.val() + 1;
        }

        // Out, one clock later.
        for w in 0..8 {
            self.word[w].next = self.beat_data.val().get_bits::<64>(64 * w);
            if self.chunk_end.val() && !self.full[w].q.val() {
                self.word[w].next = 0.into();
                if self.cut[w].q.val() {
                    self.word[w].next =
                        self.beat_data.val().get_bits::<64>(64 * w) & self.part.q.val();
                }
            }
        }
        self.data_q.d.next = bit_cast::<512, 64>(self.word[0].val())
            | (bit_cast::<512, 64>(self.word[1].val()) << 64)
            | (bit_cast::<512, 64>(self.word[2].val()) << 128)
            | (bit_cast::<512, 64>(self.word[3].val()) << 192)
            | (bit_cast::<512, 64>(self.word[4].val()) << 256)
            | (bit_cast::<512, 64>(self.word[5].val()) << 320)
            | (bit_cast::<512, 64>(self.word[6].val()) << 384)
            | (bit_cast::<512, 64>(self.word[7].val()) << 448);
        self.write_q.d.next = self.step.val();
        self.first_q.d.next = self.beat.q.val() == 0;
        self.address_q.d.next = (bit_cast::<18, 10>(self.slot.q.val()) << self.slot_bits.val())
            | bit_cast::<18, 8>(self.beat.q.val());
        self.packet_q.d.next = self.done.val();
        self.flow_q.d.next = self.flow.q.val();
        self.slot_q.d.next = self.slot.q.val();
        self.payload_length.next = (bit_cast::<14, 8>(self.beat.q.val()) + 1) << 6;
        if self.chunk_end.val() && self.tail.q.val().any() {
            self.payload_length.next =
                (bit_cast::<14, 8>(self.beat.q.val()) << 6) | bit_cast::<14, 6>(self.tail.q.val());
        }
        self.place_q.d.next = bit_cast::<111, 32>(self.message.q.val())
            | (bit_cast::<111, 32>(self.offset.q.val()) << 32)
            | (bit_cast::<111, 32>(self.message_length.q.val()) << 64)
            | (bit_cast::<111, 14>(self.payload_length.val()) << 96)
            | (bit_cast::<111, 1>((self.ends.q.val() && self.chunk_end.val()).into()) << 110);
        self.write.next = self.write_q.q.val();
        self.write_first.next = self.first_q.q.val();
        self.address.next = self.address_q.q.val();
        self.data.next = self.data_q.q.val();
        self.packet.next = self.packet_q.q.val();
        self.packet_flow.next = self.flow_q.q.val();
        self.packet_slot.next = self.slot_q.q.val();
        self.packet_place.next = self.place_q.q.val();
        self.refused_valid.next = self.refused_q.q.val();
        self.refused_cause.next = self.cause_q.q.val();

        if self.rst.val() {
            self.state.d.next = CutState::Descriptor;
            self.credits.d.next = self.depth.val();
            self.has_slot.d.next = false;
            self.has_next.d.next = false;
            self.write_q.d.next = false;
            self.packet_q.d.next = false;
            self.refused_q.d.next = false;
        }
    }
}
