//! Third level of a pick: which PSN of a byte.

use super::RankSelect;
use crate::prim::{Delay, ModuleId, Ram, Reg};
use rust_hdl::prelude::*;

/// Chooses one of a byte's eight PSNs and marks it sent.
///
/// State a byte: one lap-coded bit a PSN, sent in this lap when it differs from the lap. Comments
/// count clocks from `w`, in which the byte is given.
#[derive(Clone, Debug, LogicBlock)]
pub struct PickLeaf {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Init sweep writes this byte's state.
    pub init_write: Signal<In, Bit>,
    /// Byte of the init sweep.
    pub init_address: Signal<In, Bits<16>>,
    /// Bits of the byte.
    pub init_word: Signal<In, Bits<8>>,
    /// Flow, slot and byte, at `w`.
    pub address: Signal<In, Bits<16>>,
    /// Lap of the group, at `w`.
    pub lap: Signal<In, Bit>,
    /// Unsent PSNs to pass over, at `w`.
    pub k: Signal<In, Bits<4>>,
    /// PSNs of the byte below the bound, at `w`.
    pub room: Signal<In, Bits<4>>,
    /// A pick that finds a PSN is at `w + 6`.
    pub write: Signal<In, Bit>,
    /// The PSN's low bits, at `w + 6`.
    pub index: Signal<Out, Bits<3>>,
    words: Ram<Bits<8>, 16>,
    select: RankSelect<8, 4>,
    lap_1: Reg<Bit>,
    k_1: Reg<Bits<4>>,
    room_2: Delay<Bits<4>, 2>,
    address_6: Delay<Bits<16>, 6>,
    word_6: Delay<Bits<8>, 5>,
}

impl PickLeaf {
    /// For `bytes` bytes of all flows together.
    pub fn new(bytes: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_pick_leaf",
                "Chooses one of the eight PSNs of a byte and marks it sent.\n\
                 A suffix _n is the clock after the byte is given.",
            ),
            clk: Signal::default(),
            init_write: Signal::default(),
            init_address: Signal::default(),
            init_word: Signal::default(),
            address: Signal::default(),
            lap: Signal::default(),
            k: Signal::default(),
            room: Signal::default(),
            write: Signal::default(),
            index: Signal::default(),
            words: Ram::new(bytes),
            select: RankSelect::new(1),
            lap_1: Reg::default(),
            k_1: Reg::default(),
            room_2: Delay::default(),
            address_6: Delay::default(),
            word_6: Delay::default(),
        }
    }
}

impl Logic for PickLeaf {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, lap_1, k_1);
        clock!(self, clk, words);
        self.select.clk.next = self.clk.val();
        self.room_2.clk.next = self.clk.val();
        self.address_6.clk.next = self.clk.val();
        self.word_6.clk.next = self.clk.val();

        self.words.read_address.next = self.address.val();
        self.lap_1.d.next = self.lap.val();
        self.k_1.d.next = self.k.val();
        self.room_2.d.next = self.room.val();
        self.select.k.next = self.k_1.q.val();
        self.select.room.next = self.room_2.q.val();
        for i in 0..8 {
            self.select.sent[i].next = self.words.read_data.val().get_bits::<1>(i).get_bits::<4>(0);
            if self.lap_1.q.val() {
                self.select.sent[i].next =
                    self.words.read_data.val().get_bits::<1>(i).get_bits::<4>(0) ^ 1;
            }
        }

        // w + 6: the bit, which was the lap's, flips.
        self.word_6.d.next = self.words.read_data.val();
        self.address_6.d.next = self.address.val();
        self.words.write_enable.next = self.write.val() || self.init_write.val();
        self.words.write_address.next = self.address_6.q.val();
        self.words.write_data.next =
            self.word_6.q.val() ^ (bits::<8>(1) << self.select.index.val());
        if self.init_write.val() {
            self.words.write_address.next = self.init_address.val();
            self.words.write_data.next = self.init_word.val();
        }
        self.index.next = self.select.index.val();
    }
}
