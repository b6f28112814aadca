//! The checksum of an IPv4 header of 20 bytes.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Adds the header's ten 16-bit words, one adder a clock, and tells whether their ones' complement
/// sum is all ones.
///
/// The sum does not care which byte of a word comes first, as long as all words agree, so the words
/// are taken as they lie in a beat.
#[derive(Clone, Debug, LogicBlock)]
pub struct Ipv4Sum {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Header, at `s`.
    pub header: Signal<In, Bits<160>>,
    /// Its checksum is right, at `s + 5`.
    pub right: Signal<Out, Bit>,
    sum_1: [Reg<Bits<20>>; 5],
    sum_2: [Reg<Bits<20>>; 3],
    sum_3: [Reg<Bits<20>>; 2],
    sum_4: Reg<Bits<20>>,
    right_5: Reg<Bit>,
}

impl Default for Ipv4Sum {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_ipv4_sum",
                "Checks the checksum of an IPv4 header of 20 bytes, in five clocks.",
            ),
            clk: Signal::default(),
            header: Signal::default(),
            right: Signal::default(),
            sum_1: Default::default(),
            sum_2: Default::default(),
            sum_3: Default::default(),
            sum_4: Reg::default(),
            right_5: Reg::default(),
        }
    }
}

impl Logic for Ipv4Sum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, sum_4, right_5);
        for i in 0..5 {
            self.sum_1[i].clock.next = self.clk.val();
            self.sum_1[i].d.next = self.header.val().get_bits::<16>(32 * i).get_bits::<20>(0)
                + self
                    .header
                    .val()
                    .get_bits::<16>(32 * i + 16)
                    .get_bits::<20>(0);
        }
        for i in 0..3 {
            self.sum_2[i].clock.next = self.clk.val();
        }
        for i in 0..2 {
            self.sum_2[i].d.next = self.sum_1[2 * i].q.val() + self.sum_1[2 * i + 1].q.val();
            self.sum_3[i].clock.next = self.clk.val();
        }
        self.sum_2[2].d.next = self.sum_1[4].q.val();
        self.sum_3[0].d.next = self.sum_2[0].q.val() + self.sum_2[1].q.val();
        self.sum_3[1].d.next = self.sum_2[2].q.val();
        self.sum_4.d.next = self.sum_3[0].q.val() + self.sum_3[1].q.val();

        // Ten words sum up to less than 10 * 2^16: carries and low half add up to 0xffff exactly
        // when the low half is the complement of the carries.
        self.right_5.d.next = self.sum_4.q.val().get_bits::<12>(4).all()
            && (self.sum_4.q.val().get_bits::<4>(0) == !self.sum_4.q.val().get_bits::<4>(16));
        self.right.next = self.right_5.q.val();
    }
}
