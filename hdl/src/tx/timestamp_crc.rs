//! What the send timestamp adds to the CRC of a Rondo header.

use crate::prim::{Crc32c, ModuleId};
use rust_hdl::prelude::*;

/// Byte of the Rondo header where the timestamp starts.
const TIMESTAMP_BYTE: usize = 24;

/// The CRC is linear: that of a header is that of the header with timestamp 0, XOR this map of the
/// timestamp. So the timestamp can be the time at which the frame starts, although the CRC over all
/// else is computed before.
#[derive(Clone, Debug, LogicBlock)]
pub struct TimestampCrc {
    id: ModuleId,
    /// Timestamp.
    pub timestamp: Signal<In, Bits<32>>,
    /// To be added to the CRC.
    pub crc: Signal<Out, Bits<32>>,
    /// Bits 0 to `b` of it.
    sum: [Signal<Local, Bits<32>>; 32],
    mask: [Constant<Bits<32>>; 32],
    zero: Constant<Bits<32>>,
}

/// Which bits of the timestamp each bit of the CRC is the XOR of.
fn masks() -> [u32; 32] {
    let image = |bit: usize| {
        let byte = TIMESTAMP_BYTE + 3 - bit / 8;
        Crc32c::of_bit(8 * byte + bit % 8)
    };
    std::array::from_fn(|b| (0..32).fold(0, |mask, bit| mask | (image(bit) >> b & 1) << bit))
}

impl Default for TimestampCrc {
    fn default() -> Self {
        let masks = masks();
        Self {
            id: ModuleId::new(
                "rondo_timestamp_crc",
                "What a timestamp adds to the CRC-32C of a Rondo header.",
            ),
            timestamp: Signal::default(),
            crc: Signal::default(),
            sum: std::array::from_fn(|_| Signal::default()),
            mask: std::array::from_fn(|b| Constant::new(u64::from(masks[b]).into())),
            zero: Constant::new(0.into()),
        }
    }
}

impl Logic for TimestampCrc {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum[0].next = self
            .zero
            .val()
            .replace_bit(0, (self.timestamp.val() & self.mask[0].val()).xor());
        for b in 1..32 {
            self.sum[b].next = self.sum[b - 1]
                .val()
                .replace_bit(b, (self.timestamp.val() & self.mask[b].val()).xor());
        }
        self.crc.next = self.sum[31].val();
    }
}
