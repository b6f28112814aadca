//! One register that software writes.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// 32 bits, written byte by byte. `reset_value` and `mask` are constants of the instance.
#[derive(Clone, Debug, LogicBlock)]
pub struct RegisterWord {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: takes `reset_value`.
    pub rst: Signal<In, Bit>,
    /// Value after reset.
    pub reset_value: Signal<In, Bits<32>>,
    /// Bits that exist; the others read 0.
    pub mask: Signal<In, Bits<32>>,
    /// Write the bytes of `strobe`.
    pub write: Signal<In, Bit>,
    /// Data.
    pub data: Signal<In, Bits<32>>,
    /// Bytes.
    pub strobe: Signal<In, Bits<4>>,
    /// Value.
    pub value: Signal<Out, Bits<32>>,
    byte_0: Reg<Bits<8>>,
    byte_1: Reg<Bits<8>>,
    byte_2: Reg<Bits<8>>,
    byte_3: Reg<Bits<8>>,
}

impl Default for RegisterWord {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_register_word",
                "A register that software writes, byte by byte.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            reset_value: Signal::default(),
            mask: Signal::default(),
            write: Signal::default(),
            data: Signal::default(),
            strobe: Signal::default(),
            value: Signal::default(),
            byte_0: Reg::default(),
            byte_1: Reg::default(),
            byte_2: Reg::default(),
            byte_3: Reg::default(),
        }
    }
}

impl Logic for RegisterWord {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, byte_0, byte_1, byte_2, byte_3);
        if self.write.val() && self.strobe.val().get_bit(0) {
            self.byte_0.d.next = self.data.val().get_bits::<8>(0);
        }
        if self.write.val() && self.strobe.val().get_bit(1) {
            self.byte_1.d.next = self.data.val().get_bits::<8>(8);
        }
        if self.write.val() && self.strobe.val().get_bit(2) {
            self.byte_2.d.next = self.data.val().get_bits::<8>(16);
        }
        if self.write.val() && self.strobe.val().get_bit(3) {
            self.byte_3.d.next = self.data.val().get_bits::<8>(24);
        }
        if self.rst.val() {
            self.byte_0.d.next = self.reset_value.val().get_bits::<8>(0);
            self.byte_1.d.next = self.reset_value.val().get_bits::<8>(8);
            self.byte_2.d.next = self.reset_value.val().get_bits::<8>(16);
            self.byte_3.d.next = self.reset_value.val().get_bits::<8>(24);
        }
        // Bits outside the mask are written with 0 only: synthesis spends no register on them.
        self.value.next = (bit_cast::<32, 8>(self.byte_0.q.val())
            | (bit_cast::<32, 8>(self.byte_1.q.val()) << 8)
            | (bit_cast::<32, 8>(self.byte_2.q.val()) << 16)
            | (bit_cast::<32, 8>(self.byte_3.q.val()) << 24))
            & self.mask.val();
    }
}
