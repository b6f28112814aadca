//! CRC-32C of a sequence of 512-bit beats, one beat a clock.
//!
//! Over whole beats the CRC is linear: `state' = F(data) ^ F(state)`, where the state stands at the
//! beat's first four bytes. The part of the data has no feedback and takes two clocks; the loop is
//! the small map of 32 bits.

use super::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// The Castagnoli polynomial, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// Bytes of a beat.
const BEAT_BYTES: usize = 64;

/// CRC-32C: reflected, initial value and final XOR all ones. Messages are whole beats, byte 0 in
/// `data[7:0]`: pad with zeros.
///
/// It has no reset and never stalls: `first` starts a message.
#[derive(Clone, Debug, LogicBlock)]
pub struct Crc32c {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// A beat, at `s`.
    pub valid: Signal<In, Bit>,
    /// It starts a message, at `s`.
    pub first: Signal<In, Bit>,
    /// The beat, at `s`.
    pub data: Signal<In, Bits<512>>,
    /// CRC of the message up to the beat, at `s + 3`; it stands until the next beat's.
    pub crc: Signal<Out, Bits<32>>,
    valid_1: Reg<Bit>,
    first_1: Reg<Bit>,
    /// Bit `b` of `F` of the data's 64-bit word `w`, at `32 * w + b`.
    partial_1: [Reg<Bit>; 256],
    valid_2: Reg<Bit>,
    first_2: Reg<Bit>,
    sum_2: [Reg<Bit>; 32],
    state: Reg<Bits<32>>,
    from: Signal<Local, Bits<32>>,
    /// Bits 0 to `b` of the next state.
    next: [Signal<Local, Bits<32>>; 32],
    data_mask: [Constant<Bits<64>>; 256],
    state_mask: [Constant<Bits<32>>; 32],
    start: Constant<Bits<32>>,
}

/// The state after one byte.
const fn after_byte(state: u32, byte: u8) -> u32 {
    let mut state = state ^ byte as u32;
    let mut bit = 0;
    while bit < 8 {
        state = (state >> 1) ^ (POLYNOMIAL & (state & 1).wrapping_neg());
        bit += 1;
    }
    state
}

/// `F` of a beat of which only bit `bit` is one.
fn map_of_bit(bit: usize) -> u32 {
    (0..BEAT_BYTES).fold(0, |state, byte| {
        let here = byte == bit / 8;
        after_byte(state, if here { 1 << (bit % 8) } else { 0 })
    })
}

/// Which bits of each 64-bit word of a beat bit `b` of `F` is the XOR of, at `32 * word + b`.
fn masks() -> Vec<u64> {
    let mut masks = vec![0; 256];
    for bit in 0..8 * BEAT_BYTES {
        let image = map_of_bit(bit);
        for b in 0..32 {
            masks[32 * (bit / 64) + b] |= u64::from(image >> b & 1) << (bit % 64);
        }
    }
    masks
}

impl Crc32c {
    /// What bit `bit` of a one-beat message, alone, adds to the message's CRC.
    pub fn of_bit(bit: usize) -> u32 {
        map_of_bit(bit)
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        let masks = masks();
        Self {
            id: ModuleId::new(
                "rondo_crc32c",
                "CRC-32C of a sequence of 512-bit beats, three clocks after each.",
            ),
            clk: Signal::default(),
            valid: Signal::default(),
            first: Signal::default(),
            data: Signal::default(),
            crc: Signal::default(),
            valid_1: Reg::default(),
            first_1: Reg::default(),
            partial_1: std::array::from_fn(|_| Reg::default()),
            valid_2: Reg::default(),
            first_2: Reg::default(),
            sum_2: std::array::from_fn(|_| Reg::default()),
            state: Reg::default(),
            from: Signal::default(),
            next: std::array::from_fn(|_| Signal::default()),
            data_mask: std::array::from_fn(|i| Constant::new(masks[i].into())),
            // The state's four bytes lie on the beat's first four.
            state_mask: std::array::from_fn(|b| Constant::new((masks[b] & 0xffff_ffff).into())),
            start: Constant::new(0xffff_ffff.into()),
        }
    }
}

impl Logic for Crc32c {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, valid_1, first_1, valid_2, first_2, state);
        self.valid_1.d.next = self.valid.val();
        self.first_1.d.next = self.first.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.first_2.d.next = self.first_1.q.val();

        for w in 0..8 {
            for b in 0..32 {
                self.partial_1[32 * w + b].clock.next = self.clk.val();
                self.partial_1[32 * w + b].d.next = (self.data.val().get_bits::<64>(64 * w)
                    & self.data_mask[32 * w + b].val())
                .xor();
            }
        }
        for b in 0..32 {
            self.sum_2[b].clock.next = self.clk.val();
            self.sum_2[b].d.next = self.partial_1[b].q.val()
                ^ self.partial_1[32 + b].q.val()
                ^ self.partial_1[64 + b].q.val()
                ^ self.partial_1[96 + b].q.val()
                ^ self.partial_1[128 + b].q.val()
                ^ self.partial_1[160 + b].q.val()
                ^ self.partial_1[192 + b].q.val()
                ^ self.partial_1[224 + b].q.val();
        }

        self.from.next = self.state.q.val();
        if self.first_2.q.val() {
            self.from.next = self.start.val();
        }
        // Every bit of `start` is replaced.
        self.next[0].next = self.start.val().replace_bit(
            0,
            self.sum_2[0].q.val() ^ (self.from.val() & self.state_mask[0].val()).xor(),
        );
        for b in 1..32 {
            self.next[b].next = self.next[b - 1].val().replace_bit(
                b,
                self.sum_2[b].q.val() ^ (self.from.val() & self.state_mask[b].val()).xor(),
            );
        }
        if self.valid_2.q.val() {
            self.state.d.next = self.next[31].val();
        }
        self.crc.next = !self.state.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytewise(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |s, b| after_byte(s, *b))
    }

    #[test]
    fn the_polynomial_is_castagnolis() {
        assert_eq!(bytewise(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn masks_make_the_same_crc_as_bytes() {
        let masks = masks();
        let map = |beat: &[u8]| {
            (0..32).fold(0u32, |out, b| {
                let bits = (0..8).fold(0, |ones, w| {
                    let word = beat[8 * w..8 * w + 8].try_into().expect("eight bytes");
                    ones ^ (u64::from_le_bytes(word) & masks[32 * w + b]).count_ones()
                });
                out | (bits & 1) << b
            })
        };
        let message: Vec<u8> = (0..192u32).map(|i| (i * i * 7 + i / 3) as u8).collect();
        let state = message.chunks(BEAT_BYTES).fold(u32::MAX, |state, beat| {
            let mut first = [0; BEAT_BYTES];
            first[..4].copy_from_slice(&state.to_le_bytes());
            map(beat) ^ map(&first)
        });
        assert_eq!(!state, bytewise(&message));
    }
}
