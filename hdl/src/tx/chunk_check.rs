//! Judges the descriptors of the host's chunks.

use crate::prim::{Delay, ModuleId, Reg, Rom};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Reciprocals are this number over the MTU in beats, rounded up.
const RECIPROCAL_OF_ONE: u32 = 1 << 15;

/// Judges a descriptor a clock, eight clocks later.
///
/// A chunk is whole packets when `length == quotient * mtu`, in beats, where the quotient is
/// `length * reciprocal >> 15`. Rounding up makes the quotient of a multiple exact, since the
/// length is below 2^10 beats; that of others may be anything.
#[derive(Clone, Debug, LogicBlock)]
pub struct ChunkCheck<const SB: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A descriptor.
    pub valid: Signal<In, Bit>,
    /// Its first 20 bytes.
    pub descriptor: Signal<In, Bits<160>>,
    /// Bytes of the stream that it begins.
    pub size: Signal<In, Bits<16>>,
    /// Flow whose context is read.
    pub context_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Its context, one clock later.
    pub context_data: Signal<In, Bits<256>>,
    /// A verdict.
    pub verdict_valid: Signal<Out, Bit>,
    /// From bit 0 on: cause of refusal (3 bits, 0 if none), ends its message (1), MTU in beats (8),
    /// length in bytes (16), flow (10), message (32), offset (32), message length (32).
    pub verdict: Signal<Out, Bits<134>>,
    valid_1: Reg<Bit>,
    operation_1: Reg<Bits<8>>,
    flow_1: Reg<Bits<16>>,
    message_1: Reg<Bits<32>>,
    offset_1: Reg<Bits<32>>,
    message_length_1: Reg<Bits<32>>,
    length_1: Reg<Bits<32>>,
    size_1: Reg<Bits<16>>,
    valid_2: Reg<Bit>,
    operation_bad_2: Reg<Bit>,
    flow_bad_2: Reg<Bit>,
    length_bad_2: Reg<Bit>,
    length_2: Reg<Bits<16>>,
    payload_2: Reg<Bits<16>>,
    end_2: Reg<Bits<33>>,
    message_length_2: Reg<Bits<33>>,
    valid_3: Reg<Bit>,
    operation_bad_3: Reg<Bit>,
    flow_bad_3: Reg<Bit>,
    length_bad_3: Reg<Bit>,
    beyond_3: Reg<Bit>,
    ends_3: Reg<Bit>,
    mtu_3: Reg<Bits<14>>,
    open_3: Reg<Bit>,
    mtu_bad: Signal<Local, Bit>,
    valid_4: Reg<Bit>,
    cause_4: Reg<Bits<3>>,
    ends_4: Reg<Bit>,
    mtu_beats_4: Reg<Bits<8>>,
    reciprocals: Rom<16, 8>,
    valid_5: Reg<Bit>,
    reciprocal_5: Reg<Bits<16>>,
    length_5: Delay<Bits<16>, 4>,
    valid_6: Reg<Bit>,
    product_6: Reg<Bits<32>>,
    mtu_beats_6: Delay<Bits<8>, 2>,
    valid_7: Reg<Bit>,
    back_7: Reg<Bits<32>>,
    length_7: Delay<Bits<16>, 2>,
    valid_8: Reg<Bit>,
    multiple_8: Reg<Bit>,
    early_8: Delay<Bits<4>, 4>,
    mtu_beats_8: Delay<Bits<8>, 2>,
    fields_8: Delay<Bits<122>, 7>,
    cause: Signal<Local, Bits<3>>,
    beat_bytes: Constant<Bits<16>>,
    flows: Constant<Bits<16>>,
    slot_beats: Constant<Bits<9>>,
}

impl<const SB: usize> ChunkCheck<SB> {
    /// For `flows` flows.
    pub fn new(flows: usize) -> Self {
        let reciprocals = (0..256)
            .map(|beats| match beats {
                0 => 0,
                _ => RECIPROCAL_OF_ONE.div_ceil(beats),
            })
            .collect();
        Self {
            id: ModuleId::new(
                format!("rondo_chunk_check_{}", 64 << SB),
                "Judges a chunk's descriptor a clock.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            valid: Signal::default(),
            descriptor: Signal::default(),
            size: Signal::default(),
            context_flow: Signal::default(),
            context_data: Signal::default(),
            verdict_valid: Signal::default(),
            verdict: Signal::default(),
            valid_1: Reg::default(),
            operation_1: Reg::default(),
            flow_1: Reg::default(),
            message_1: Reg::default(),
            offset_1: Reg::default(),
            message_length_1: Reg::default(),
            length_1: Reg::default(),
            size_1: Reg::default(),
            valid_2: Reg::default(),
            operation_bad_2: Reg::default(),
            flow_bad_2: Reg::default(),
            length_bad_2: Reg::default(),
            length_2: Reg::default(),
            payload_2: Reg::default(),
            end_2: Reg::default(),
            message_length_2: Reg::default(),
            valid_3: Reg::default(),
            operation_bad_3: Reg::default(),
            flow_bad_3: Reg::default(),
            length_bad_3: Reg::default(),
            beyond_3: Reg::default(),
            ends_3: Reg::default(),
            mtu_3: Reg::default(),
            open_3: Reg::default(),
            mtu_bad: Signal::default(),
            valid_4: Reg::default(),
            cause_4: Reg::default(),
            ends_4: Reg::default(),
            mtu_beats_4: Reg::default(),
            reciprocals: Rom::new("rondo_mtu_reciprocals", reciprocals),
            valid_5: Reg::default(),
            reciprocal_5: Reg::default(),
            length_5: Delay::default(),
            valid_6: Reg::default(),
            product_6: Reg::default(),
            mtu_beats_6: Delay::default(),
            valid_7: Reg::default(),
            back_7: Reg::default(),
            length_7: Delay::default(),
            valid_8: Reg::default(),
            multiple_8: Reg::default(),
            early_8: Delay::default(),
            mtu_beats_8: Delay::default(),
            fields_8: Delay::default(),
            cause: Signal::default(),
            beat_bytes: Constant::new(64.into()),
            flows: Constant::new((flows as u64).into()),
            slot_beats: Constant::new((1u64 << SB).into()),
        }
    }
}

impl<const SB: usize> Logic for ChunkCheck<SB> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk, valid_1, valid_2, valid_3, valid_4, valid_5, valid_6, valid_7, valid_8
        );
        dff_setup!(
            self,
            clk,
            operation_1,
            flow_1,
            message_1,
            offset_1,
            message_length_1,
            length_1,
            size_1
        );
        dff_setup!(
            self,
            clk,
            operation_bad_2,
            flow_bad_2,
            length_bad_2,
            length_2,
            payload_2,
            end_2,
            message_length_2
        );
        dff_setup!(
            self,
            clk,
            operation_bad_3,
            flow_bad_3,
            length_bad_3,
            beyond_3,
            ends_3,
            mtu_3,
            open_3
        );
        dff_setup!(self, clk, cause_4, ends_4, mtu_beats_4, reciprocal_5);
        dff_setup!(self, clk, product_6, back_7, multiple_8);
        self.length_5.clk.next = self.clk.val();
        self.mtu_beats_6.clk.next = self.clk.val();
        self.length_7.clk.next = self.clk.val();
        self.early_8.clk.next = self.clk.val();
        self.mtu_beats_8.clk.next = self.clk.val();
        self.fields_8.clk.next = self.clk.val();
        self.reciprocals.clock.next = self.clk.val();

        self.valid_1.d.next = self.valid.val();
        self.operation_1.d.next = self.descriptor.val().get_bits::<8>(0);
        self.flow_1.d.next = self.descriptor.val().get_bits::<16>(16);
        self.message_1.d.next = self.descriptor.val().get_bits::<32>(32);
        self.offset_1.d.next = self.descriptor.val().get_bits::<32>(64);
        self.message_length_1.d.next = self.descriptor.val().get_bits::<32>(96);
        self.length_1.d.next = self.descriptor.val().get_bits::<32>(128);
        self.size_1.d.next = self.size.val();

        // 1: the context is read.
        self.context_flow.next = self.flow_1.q.val().get_bits::<FLOW_BITS>(0);
        self.valid_2.d.next = self.valid_1.q.val();
        self.operation_bad_2.d.next = self.operation_1.q.val() != 1;
        self.flow_bad_2.d.next = self.flow_1.q.val() >= self.flows.val();
        self.length_bad_2.d.next = self.length_1.q.val().get_bits::<16>(16).any()
            || !self.length_1.q.val().get_bits::<16>(0).any()
            || !self.size_1.q.val().get_bits::<10>(6).any();
        self.length_2.d.next = self.length_1.q.val().get_bits::<16>(0);
        self.payload_2.d.next = self.size_1.q.val() - self.beat_bytes.val();
        self.end_2.d.next = bit_cast::<33, 32>(self.offset_1.q.val())
            + bit_cast::<33, 16>(self.length_1.q.val().get_bits::<16>(0));
        self.message_length_2.d.next = bit_cast::<33, 32>(self.message_length_1.q.val());

        // 2
        self.valid_3.d.next = self.valid_2.q.val();
        self.operation_bad_3.d.next = self.operation_bad_2.q.val();
        self.flow_bad_3.d.next = self.flow_bad_2.q.val();
        self.length_bad_3.d.next =
            self.length_bad_2.q.val() || (self.payload_2.q.val() != self.length_2.q.val());
        self.beyond_3.d.next = self.end_2.q.val() > self.message_length_2.q.val();
        self.ends_3.d.next = self.end_2.q.val() == self.message_length_2.q.val();
        self.mtu_3.d.next = self.context_data.val().get_bits::<14>(0);
        self.open_3.d.next = self.context_data.val().get_bit(15);

        // 3
        self.valid_4.d.next = self.valid_3.q.val();
        self.mtu_bad.next = self.mtu_3.q.val().get_bits::<6>(0).any()
            || !self.mtu_3.q.val().get_bits::<8>(6).any()
            || (bit_cast::<9, 8>(self.mtu_3.q.val().get_bits::<8>(6)) > self.slot_beats.val());
        self.cause_4.d.next = 0.into();
        if self.operation_bad_3.q.val() {
            self.cause_4.d.next = 1.into();
        } else if self.flow_bad_3.q.val() || !self.open_3.q.val() || self.mtu_bad.val() {
            self.cause_4.d.next = 2.into();
        } else if self.length_bad_3.q.val() {
            self.cause_4.d.next = 3.into();
        } else if self.beyond_3.q.val() {
            self.cause_4.d.next = 4.into();
        }
        self.ends_4.d.next = self.ends_3.q.val();
        self.mtu_beats_4.d.next = self.mtu_3.q.val().get_bits::<8>(6);
        self.reciprocals.address.next = self.mtu_3.q.val().get_bits::<8>(6);

        // 4 to 7: is it a multiple of the MTU?
        self.valid_5.d.next = self.valid_4.q.val();
        self.reciprocal_5.d.next = self.reciprocals.data.val();
        self.length_5.d.next = self.length_1.q.val().get_bits::<16>(0);
        self.valid_6.d.next = self.valid_5.q.val();
        self.product_6.d.next = (self.length_5.q.val() >> 6) * self.reciprocal_5.q.val();
        self.mtu_beats_6.d.next = self.mtu_beats_4.q.val();
        self.valid_7.d.next = self.valid_6.q.val();
        self.back_7.d.next =
            self.product_6.q.val().get_bits::<16>(15) * bit_cast::<16, 8>(self.mtu_beats_6.q.val());
        self.length_7.d.next = self.length_5.q.val();
        self.valid_8.d.next = self.valid_7.q.val();
        self.multiple_8.d.next = (self.back_7.q.val()
            == bit_cast::<32, 10>(self.length_7.q.val().get_bits::<10>(6)))
            && !self.length_7.q.val().get_bits::<6>(0).any();

        // 8
        self.early_8.d.next = bit_cast::<4, 3>(self.cause_4.q.val())
            | (bit_cast::<4, 1>(self.ends_4.q.val().into()) << 3);
        self.mtu_beats_8.d.next = self.mtu_beats_6.q.val();
        self.fields_8.d.next = bit_cast::<122, 16>(self.length_1.q.val().get_bits::<16>(0))
            | (bit_cast::<122, FLOW_BITS>(self.flow_1.q.val().get_bits::<FLOW_BITS>(0)) << 16)
            | (bit_cast::<122, 32>(self.message_1.q.val()) << 26)
            | (bit_cast::<122, 32>(self.offset_1.q.val()) << 58)
            | (bit_cast::<122, 32>(self.message_length_1.q.val()) << 90);
        self.cause.next = self.early_8.q.val().get_bits::<3>(0);
        if !self.early_8.q.val().any() && !self.multiple_8.q.val() {
            self.cause.next = 5.into();
        }
        self.verdict_valid.next = self.valid_8.q.val();
        self.verdict.next = bit_cast::<134, 3>(self.cause.val())
            | (bit_cast::<134, 1>(self.early_8.q.val().get_bits::<1>(3)) << 3)
            | (bit_cast::<134, 8>(self.mtu_beats_8.q.val()) << 4)
            | (bit_cast::<134, 122>(self.fields_8.q.val()) << 12);

        if self.rst.val() {
            self.valid_1.d.next = false;
            self.valid_2.d.next = false;
            self.valid_3.d.next = false;
            self.valid_4.d.next = false;
            self.valid_5.d.next = false;
            self.valid_6.d.next = false;
            self.valid_7.d.next = false;
            self.valid_8.d.next = false;
        }
    }
}
