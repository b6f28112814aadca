//! First level of a pick: which group of 64 PSNs.

use super::RankSelect;
use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Chooses the group of 64 PSNs and keeps the window's base; `G` groups, `LG` its logarithm.
///
/// State a flow: the number of the first group that is not completely sent (`base`), and for each
/// slot how many of its PSNs were sent, lap-coded. Slot `s` holds the group congruent to `s`
/// among the `G` groups from the base on.
///
/// Invariant: the base group is never completely sent, so it holds the smallest unsent PSN.
#[derive(Clone, Debug, LogicBlock)]
pub struct PickGroup<const G: usize, const LG: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Init sweep writes this flow's state.
    pub init_write: Signal<In, Bit>,
    /// Flow of the init sweep.
    pub init_flow: Signal<In, Bits<FLOW_BITS>>,
    /// First PSN of the flow.
    pub init_psn: Signal<In, Bits<24>>,
    /// Flow, at `t`.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// Unsent PSNs to pass over, at `t`.
    pub skip: Signal<In, Bits<10>>,
    /// First PSN that must not be picked, at `t`.
    pub bound: Signal<In, Bits<24>>,
    /// A pick is at `t + 7`.
    pub valid_7: Signal<In, Bit>,
    /// Its flow.
    pub flow_7: Signal<In, Bits<FLOW_BITS>>,
    /// There is a PSN to pick, at `t + 9`.
    pub found: Signal<Out, Bit>,
    /// Number of the group: the PSN without its low 6 bits.
    pub group: Signal<Out, Bits<18>>,
    /// Unsent PSNs to pass over within the group.
    pub rank: Signal<Out, Bits<7>>,
    /// PSNs of the group below the bound.
    pub room: Signal<Out, Bits<7>>,
    bases: Ram<Bits<18>, FLOW_BITS>,
    counts: [Ram<Bits<7>, FLOW_BITS>; G],
    select: RankSelect<G, 10>,
    bound_1: Reg<Bits<24>>,
    skip_2: Delay<Bits<10>, 2>,
    base_2: Reg<Bits<18>>,
    base_3: Reg<Bits<18>>,
    base_6: Delay<Bits<18>, 3>,
    base_7: Reg<Bits<18>>,
    over_2: Reg<Bits<24>>,
    room_3: Reg<Bits<10>>,
    sent_2: [Reg<Bits<10>>; G],
    next_7: [Delay<Bits<7>, 6>; G],
    second_3: Reg<Bits<4>>,
    jump_4: Reg<Bits<18>>,
    jump_7: Delay<Bits<18>, 3>,
    almost_3: Reg<Bit>,
    almost_7: Delay<Bit, 4>,
    slot_of_7: [Reg<Bits<3>>; G],
    found_8: Reg<Bit>,
    index_8: Reg<Bits<3>>,
    rank_8: Reg<Bits<7>>,
    room_8: Reg<Bits<7>>,
    base_8: Reg<Bits<18>>,
    found_9: Reg<Bit>,
    rank_9: Reg<Bits<7>>,
    room_9: Reg<Bits<7>>,
    group_9: Reg<Bits<18>>,
    low: Signal<Local, Bits<3>>,
    lap: Signal<Local, Bit>,
    unlapped: [Signal<Local, Bits<10>>; G],
    rotated: [Signal<Local, Bits<10>>; G],
    second: Signal<Local, Bits<4>>,
    my_slot: [Signal<Local, Bits<3>>; G],
    any_slot: [Signal<Local, Bits<3>>; G],
    slot: Signal<Local, Bits<3>>,
    write: Signal<Local, Bit>,
    init_low: Signal<Local, Bits<3>>,
    init_lap: Signal<Local, Bit>,
    init_count: [Signal<Local, Bits<7>>; G],
    slot_mask: Constant<Bits<3>>,
    slot_bits: Constant<Bits<5>>,
    groups: Constant<Bits<4>>,
    window: Constant<Bits<24>>,
}

fn signals<T: Default, const N: usize>() -> [T; N] {
    std::array::from_fn(|_| T::default())
}

impl<const G: usize, const LG: usize> PickGroup<G, LG> {
    /// For `flows` flows.
    pub fn new(flows: usize) -> Self {
        assert_eq!(1 << LG, G);
        Self {
            id: ModuleId::new(
                format!("rondo_pick_group_{G}"),
                &format!(
                    "Chooses one of {G} groups of 64 PSNs and keeps the base of the window.\n\
                     A suffix _n is the clock after issue in which the value is present."
                ),
            ),
            clk: Signal::default(),
            init_write: Signal::default(),
            init_flow: Signal::default(),
            init_psn: Signal::default(),
            flow: Signal::default(),
            skip: Signal::default(),
            bound: Signal::default(),
            valid_7: Signal::default(),
            flow_7: Signal::default(),
            found: Signal::default(),
            group: Signal::default(),
            rank: Signal::default(),
            room: Signal::default(),
            bases: Ram::new(flows),
            counts: std::array::from_fn(|_| Ram::new(flows)),
            select: RankSelect::new(64),
            bound_1: Reg::default(),
            skip_2: Delay::default(),
            base_2: Reg::default(),
            base_3: Reg::default(),
            base_6: Delay::default(),
            base_7: Reg::default(),
            over_2: Reg::default(),
            room_3: Reg::default(),
            sent_2: signals(),
            next_7: signals(),
            second_3: Reg::default(),
            jump_4: Reg::default(),
            jump_7: Delay::default(),
            almost_3: Reg::default(),
            almost_7: Delay::default(),
            slot_of_7: signals(),
            found_8: Reg::default(),
            index_8: Reg::default(),
            rank_8: Reg::default(),
            room_8: Reg::default(),
            base_8: Reg::default(),
            found_9: Reg::default(),
            rank_9: Reg::default(),
            room_9: Reg::default(),
            group_9: Reg::default(),
            low: Signal::default(),
            lap: Signal::default(),
            unlapped: signals(),
            rotated: signals(),
            second: Signal::default(),
            my_slot: signals(),
            any_slot: signals(),
            slot: Signal::default(),
            write: Signal::default(),
            init_low: Signal::default(),
            init_lap: Signal::default(),
            init_count: signals(),
            slot_mask: Constant::new((G as u64 - 1).into()),
            slot_bits: Constant::new((LG as u64).into()),
            groups: Constant::new((G as u64).into()),
            window: Constant::new((64 * G as u64).into()),
        }
    }
}

impl<const G: usize, const LG: usize> Logic for PickGroup<G, LG> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, bound_1, base_2, base_3, base_7, over_2, room_3, second_3);
        dff_setup!(self, clk, jump_4, almost_3, found_8, index_8, rank_8, room_8, base_8);
        dff_setup!(self, clk, found_9, rank_9, room_9, group_9);
        clock!(self, clk, bases);
        self.select.clk.next = self.clk.val();
        self.skip_2.clk.next = self.clk.val();
        self.base_6.clk.next = self.clk.val();
        self.jump_7.clk.next = self.clk.val();
        self.almost_7.clk.next = self.clk.val();
        for i in 0..G {
            self.counts[i].clock.next = self.clk.val();
            self.sent_2[i].clock.next = self.clk.val();
            self.next_7[i].clk.next = self.clk.val();
            self.slot_of_7[i].clock.next = self.clk.val();
        }

        // t + 1: remove the lap from the counts and turn the slots so that the base comes first.
        // A slot below the base's holds a group of the next lap.
        self.bases.read_address.next = self.flow.val();
        self.bound_1.d.next = self.bound.val();
        self.low.next = bit_cast::<3, 18>(self.bases.read_data.val()) & self.slot_mask.val();
        self.lap.next = (self.bases.read_data.val() >> self.slot_bits.val()).get_bit(0);
        for i in 0..G {
            self.counts[i].read_address.next = self.flow.val();
            self.unlapped[i].next = self.counts[i].read_data.val().get_bits::<10>(0);
            if self.lap.val() ^ (self.low.val() > i.to_bits()) {
                self.unlapped[i].next = self.counts[i].read_data.val().get_bits::<10>(0) ^ 64;
            }
            self.next_7[i].d.next = self.counts[i].read_data.val() + 1;
        }
        for i in 0..G {
            self.rotated[i].next = self.unlapped[i].val();
            for g in G..(G + 1) {
                for s in 1..G {
                    if self.low.val() == s.to_bits() {
                        self.rotated[i].next = self.unlapped[(i + s) % g].val();
                    }
                }
            }
            self.sent_2[i].d.next = self.rotated[i].val();
        }
        self.base_2.d.next = self.bases.read_data.val();
        self.over_2.d.next =
            self.bound_1.q.val() - (bit_cast::<24, 18>(self.bases.read_data.val()) << 6);

        // t + 2: PSNs from the base on that are below the bound, none before it and no more than
        // the window holds.
        self.room_3.d.next = bit_cast::<10, 24>(self.over_2.q.val());
        if self.over_2.q.val().get_bit(23) {
            self.room_3.d.next = 0.into();
        } else if self.over_2.q.val() > self.window.val() {
            self.room_3.d.next = bit_cast::<10, 24>(self.window.val());
        }
        // The base moves when its last PSN is sent, to the next group that is not complete.
        self.second.next = self.groups.val();
        for g in G..(G + 1) {
            for i in 1..G {
                if !self.sent_2[g - i].q.val().get_bit(6) {
                    self.second.next = (g - i).to_bits();
                }
            }
        }
        self.second_3.d.next = self.second.val();
        self.almost_3.d.next = self.sent_2[0].q.val() == 63;
        self.base_3.d.next = self.base_2.q.val();
        self.jump_4.d.next = self.base_3.q.val() + bit_cast::<18, 4>(self.second_3.q.val());
        self.jump_7.d.next = self.jump_4.q.val();
        self.almost_7.d.next = self.almost_3.q.val();
        self.base_6.d.next = self.base_3.q.val();
        self.base_7.d.next = self.base_6.q.val();
        for i in 0..G {
            self.slot_of_7[i].d.next =
                (self.base_6.q.val().get_bits::<3>(0) + i.to_bits()) & self.slot_mask.val();
        }

        // t + 2 .. t + 7: rank-select.
        self.skip_2.d.next = self.skip.val();
        self.select.k.next = self.skip_2.q.val();
        self.select.room.next = self.room_3.q.val();
        for i in 0..G {
            self.select.sent[i].next = self.sent_2[i].q.val();
        }

        // t + 7: write back.
        for i in 0..G {
            self.my_slot[i].next = 0.into();
            if self.select.one_hot[i].val() {
                self.my_slot[i].next = self.slot_of_7[i].q.val();
            }
        }
        self.any_slot[0].next = self.my_slot[0].val();
        for i in 1..G {
            self.any_slot[i].next = self.any_slot[i - 1].val() | self.my_slot[i].val();
        }
        for i in (G - 1)..G {
            self.slot.next = self.any_slot[i].val();
        }
        self.write.next = self.valid_7.val() && self.select.found.val();
        self.bases.write_enable.next = self.write.val() || self.init_write.val();
        self.bases.write_address.next = self.flow_7.val();
        self.bases.write_data.next = self.base_7.q.val();
        if self.select.one_hot[0].val() && self.almost_7.q.val() {
            self.bases.write_data.next = self.jump_7.q.val();
        }
        self.init_low.next = bit_cast::<3, 24>(self.init_psn.val() >> 6) & self.slot_mask.val();
        self.init_lap.next = ((self.init_psn.val() >> 6) >> self.slot_bits.val()).get_bit(0);
        for i in 0..G {
            self.init_count[i].next = 0.into();
            if self.init_low.val() == i.to_bits() {
                self.init_count[i].next = self.init_psn.val().get_bits::<6>(0).get_bits::<7>(0);
            }
            self.counts[i].write_enable.next =
                (self.write.val() && (self.slot.val() == i.to_bits())) || self.init_write.val();
            self.counts[i].write_address.next = self.flow_7.val();
            self.counts[i].write_data.next = self.next_7[i].q.val();
            if self.init_write.val() {
                self.counts[i].write_address.next = self.init_flow.val();
                self.counts[i].write_data.next = self.init_count[i].val();
                if self.init_lap.val() ^ (self.init_low.val() > i.to_bits()) {
                    self.counts[i].write_data.next = self.init_count[i].val() ^ 64;
                }
            }
        }
        if self.init_write.val() {
            self.bases.write_address.next = self.init_flow.val();
            self.bases.write_data.next = bit_cast::<18, 24>(self.init_psn.val() >> 6);
        }

        // t + 8: number of the group.
        self.found_8.d.next = self.select.found.val();
        self.index_8.d.next = self.select.index.val();
        self.rank_8.d.next = bit_cast::<7, 10>(self.select.rank.val());
        self.room_8.d.next = bit_cast::<7, 10>(self.select.child_room.val());
        self.base_8.d.next = self.base_7.q.val();
        self.found_9.d.next = self.found_8.q.val();
        self.rank_9.d.next = self.rank_8.q.val();
        self.room_9.d.next = self.room_8.q.val();
        self.group_9.d.next = self.base_8.q.val() + bit_cast::<18, 3>(self.index_8.q.val());
        self.found.next = self.found_9.q.val();
        self.group.next = self.group_9.q.val();
        self.rank.next = self.rank_9.q.val();
        self.room.next = self.room_9.q.val();
    }
}
