//! From a number to the bytes on the wire.

use crate::prim::ModuleId;
use rust_hdl::prelude::*;

/// Reverses the order of 64 bytes: a number's highest byte comes first on the wire, where the first
/// byte is in the lowest bits. Wires only.
#[derive(Clone, Debug, LogicBlock)]
pub struct WireOrder {
    id: ModuleId,
    /// Highest byte first.
    pub number: Signal<In, Bits<512>>,
    /// First byte in bits 7:0.
    pub bytes: Signal<Out, Bits<512>>,
    word: [Signal<Local, Bits<64>>; 8],
    bytes_swapped: [Signal<Local, Bits<64>>; 8],
    pairs_swapped: [Signal<Local, Bits<64>>; 8],
    reversed: [Signal<Local, Bits<64>>; 8],
    even_bytes: Constant<Bits<64>>,
    even_pairs: Constant<Bits<64>>,
}

impl Default for WireOrder {
    fn default() -> Self {
        Self {
            id: ModuleId::new("rondo_wire_order", "Reverses the order of 64 bytes."),
            number: Signal::default(),
            bytes: Signal::default(),
            word: std::array::from_fn(|_| Signal::default()),
            bytes_swapped: std::array::from_fn(|_| Signal::default()),
            pairs_swapped: std::array::from_fn(|_| Signal::default()),
            reversed: std::array::from_fn(|_| Signal::default()),
            even_bytes: Constant::new(0x00ff_00ff_00ff_00ff.into()),
            even_pairs: Constant::new(0x0000_ffff_0000_ffff.into()),
        }
    }
}

impl Logic for WireOrder {
    #[hdl_gen]
    fn update(&mut self) {
        for w in 0..8 {
            self.word[w].next = self.number.val().get_bits::<64>(448 - 64 * w);
            self.bytes_swapped[w].next = ((self.word[w].val() >> 8) & self.even_bytes.val())
                | ((self.word[w].val() & self.even_bytes.val()) << 8);
            self.pairs_swapped[w].next = ((self.bytes_swapped[w].val() >> 16)
                & self.even_pairs.val())
                | ((self.bytes_swapped[w].val() & self.even_pairs.val()) << 16);
            self.reversed[w].next =
                (self.pairs_swapped[w].val() >> 32) | (self.pairs_swapped[w].val() << 32);
        }
        self.bytes.next = bit_cast::<512, 64>(self.reversed[0].val())
            | (bit_cast::<512, 64>(self.reversed[1].val()) << 64)
            | (bit_cast::<512, 64>(self.reversed[2].val()) << 128)
            | (bit_cast::<512, 64>(self.reversed[3].val()) << 192)
            | (bit_cast::<512, 64>(self.reversed[4].val()) << 256)
            | (bit_cast::<512, 64>(self.reversed[5].val()) << 320)
            | (bit_cast::<512, 64>(self.reversed[6].val()) << 384)
            | (bit_cast::<512, 64>(self.reversed[7].val()) << 448);
    }
}
