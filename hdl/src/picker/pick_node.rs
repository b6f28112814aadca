//! Second level of a pick: which byte of a group.

use super::RankSelect;
use crate::prim::{Delay, ModuleId, Ram, Reg};
use rust_hdl::prelude::*;

/// Chooses one of a group's eight bytes of PSNs.
///
/// State a group: how many PSNs of each byte were sent, eight lap-coded counters of 4 bits.
/// Comments count clocks from `u`, in which the group is given.
#[derive(Clone, Debug, LogicBlock)]
pub struct PickNode {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Init sweep writes this group's state.
    pub init_write: Signal<In, Bit>,
    /// Group of the init sweep.
    pub init_address: Signal<In, Bits<13>>,
    /// Counters of the group.
    pub init_word: Signal<In, Bits<32>>,
    /// Flow and slot, at `u`.
    pub address: Signal<In, Bits<13>>,
    /// Lap of the group, at `u`.
    pub lap: Signal<In, Bit>,
    /// Unsent PSNs to pass over, at `u`.
    pub k: Signal<In, Bits<7>>,
    /// PSNs of the group below the bound, at `u`.
    pub room: Signal<In, Bits<7>>,
    /// A pick that finds a PSN is at `u + 6`.
    pub write: Signal<In, Bit>,
    /// Its byte, at `u + 6`.
    pub index: Signal<Out, Bits<3>>,
    /// Unsent PSNs to pass over within the byte.
    pub rank: Signal<Out, Bits<7>>,
    /// PSNs of the byte below the bound.
    pub child_room: Signal<Out, Bits<7>>,
    words: Ram<Bits<32>, 13>,
    select: RankSelect<8, 7>,
    lap_1: Reg<Bit>,
    k_1: Reg<Bits<7>>,
    room_2: Delay<Bits<7>, 2>,
    address_6: Delay<Bits<13>, 6>,
    word_6: Delay<Bits<32>, 5>,
    count: [Signal<Local, Bits<4>>; 8],
}

impl PickNode {
    /// For `groups` groups of all flows together.
    pub fn new(groups: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_pick_node",
                "Chooses one of the eight bytes of a group of 64 PSNs.\n\
                 A suffix _n is the clock after the group is given.",
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
            rank: Signal::default(),
            child_room: Signal::default(),
            words: Ram::new(groups),
            select: RankSelect::new(8),
            lap_1: Reg::default(),
            k_1: Reg::default(),
            room_2: Delay::default(),
            address_6: Delay::default(),
            word_6: Delay::default(),
            count: Default::default(),
        }
    }
}

impl Logic for PickNode {
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
            self.select.sent[i].next = self
                .words
                .read_data
                .val()
                .get_bits::<4>(4 * i)
                .get_bits::<7>(0);
            if self.lap_1.q.val() {
                self.select.sent[i].next = self
                    .words
                    .read_data
                    .val()
                    .get_bits::<4>(4 * i)
                    .get_bits::<7>(0)
                    ^ 8;
            }
        }

        // u + 6: write back, one counter one further.
        self.word_6.d.next = self.words.read_data.val();
        self.address_6.d.next = self.address.val();
        for i in 0..8 {
            self.count[i].next = self.word_6.q.val().get_bits::<4>(4 * i);
            if self.select.one_hot[i].val() {
                self.count[i].next = self.word_6.q.val().get_bits::<4>(4 * i) + 1;
            }
        }
        self.words.write_enable.next = self.write.val() || self.init_write.val();
        self.words.write_address.next = self.address_6.q.val();
        self.words.write_data.next = bit_cast::<32, 4>(self.count[0].val())
            | (bit_cast::<32, 4>(self.count[1].val()) << 4)
            | (bit_cast::<32, 4>(self.count[2].val()) << 8)
            | (bit_cast::<32, 4>(self.count[3].val()) << 12)
            | (bit_cast::<32, 4>(self.count[4].val()) << 16)
            | (bit_cast::<32, 4>(self.count[5].val()) << 20)
            | (bit_cast::<32, 4>(self.count[6].val()) << 24)
            | (bit_cast::<32, 4>(self.count[7].val()) << 28);
        if self.init_write.val() {
            self.words.write_address.next = self.init_address.val();
            self.words.write_data.next = self.init_word.val();
        }

        self.index.next = self.select.index.val();
        self.rank.next = self.select.rank.val();
        self.child_room.next = self.select.child_room.val();
    }
}
