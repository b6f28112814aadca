//! Rank-select over up to eight children, by a population-count tree.

use super::lesser;
use crate::prim::{Delay, ModuleId, Reg};
use rust_hdl::prelude::*;

/// Finds the child that holds the (k + 1)-th smallest unsent PSN, of `N` children of `capacity`
/// PSNs each, counts of `B` bits.
///
/// `sent` and `k` are given at clock `s`, `room` (PSNs of all children together that are below
/// the limit) at `s + 1`; the answer stands at `s + 5`. A `k` beyond the last unsent PSN finds the
/// last one.
#[derive(Clone, Debug, LogicBlock)]
pub struct RankSelect<const N: usize, const B: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// PSNs sent of each child, at `s`.
    pub sent: [Signal<In, Bits<B>>; N],
    /// Unsent PSNs to pass over, at `s`.
    pub k: Signal<In, Bits<B>>,
    /// PSNs below the limit, at `s + 1`.
    pub room: Signal<In, Bits<B>>,
    /// There is an unsent PSN below the limit, at `s + 5`.
    pub found: Signal<Out, Bit>,
    /// Which child was chosen, at `s + 5`.
    pub one_hot: [Signal<Out, Bit>; N],
    /// Its number.
    pub index: Signal<Out, Bits<3>>,
    /// Unsent PSNs to pass over within the child.
    pub rank: Signal<Out, Bits<B>>,
    /// PSNs of the child below the limit.
    pub child_room: Signal<Out, Bits<B>>,
    sent_1: [Reg<Bits<B>>; N],
    sent_2: [Reg<Bits<B>>; N],
    sent_3: [Reg<Bits<B>>; N],
    room_2: [Reg<Bits<B>>; N],
    room_3: [Reg<Bits<B>>; N],
    unsent_4: [Reg<Bits<B>>; N],
    child_room_2: [Reg<Bits<B>>; N],
    child_room_5: [Delay<Bits<B>, 3>; N],
    k_4: Delay<Bits<B>, 4>,
    above_5: [Reg<Bit>; N],
    at_end_5: [Reg<Bit>; N],
    rank_5: [Reg<Bits<B>>; N],
    last_rank_5: [Reg<Bits<B>>; N],
    beyond_5: Reg<Bit>,
    found_5: Reg<Bit>,
    total: Signal<Local, Bits<B>>,
    hit: [Signal<Local, Bit>; N],
    first: [Signal<Local, Bit>; N],
    my_rank: [Signal<Local, Bits<B>>; N],
    my_room: [Signal<Local, Bits<B>>; N],
    my_index: [Signal<Local, Bits<3>>; N],
    any_rank: [Signal<Local, Bits<B>>; N],
    any_room: [Signal<Local, Bits<B>>; N],
    any_index: [Signal<Local, Bits<3>>; N],
    start: [Constant<Bits<B>>; N],
    end: [Constant<Bits<B>>; N],
    capacity: Constant<Bits<B>>,
}

fn signals<T: Default, const N: usize>() -> [T; N] {
    std::array::from_fn(|_| T::default())
}

impl<const N: usize, const B: usize> RankSelect<N, B> {
    /// For children of `capacity` PSNs.
    pub fn new(capacity: usize) -> Self {
        let multiple = |i: usize| Constant::new(((i * capacity) as u64).into());
        Self {
            id: ModuleId::new(
                format!("rondo_rank_select_{N}x{capacity}"),
                &format!(
                    "Finds the child with the (k+1)-th smallest unsent PSN: {N} children of {capacity}.\n\
                     A suffix _n is the clock after the counts in which the value is present."
                ),
            ),
            clk: Signal::default(),
            sent: signals(),
            k: Signal::default(),
            room: Signal::default(),
            found: Signal::default(),
            one_hot: signals(),
            index: Signal::default(),
            rank: Signal::default(),
            child_room: Signal::default(),
            sent_1: signals(),
            sent_2: signals(),
            sent_3: signals(),
            room_2: signals(),
            room_3: signals(),
            unsent_4: signals(),
            child_room_2: signals(),
            child_room_5: signals(),
            k_4: Delay::default(),
            above_5: signals(),
            at_end_5: signals(),
            rank_5: signals(),
            last_rank_5: signals(),
            beyond_5: Reg::default(),
            found_5: Reg::default(),
            total: Signal::default(),
            hit: signals(),
            first: signals(),
            my_rank: signals(),
            my_room: signals(),
            my_index: signals(),
            any_rank: signals(),
            any_room: signals(),
            any_index: signals(),
            start: std::array::from_fn(multiple),
            end: std::array::from_fn(|i| multiple(i + 1)),
            capacity: Constant::new((capacity as u64).into()),
        }
    }
}

impl<const N: usize, const B: usize> Logic for RankSelect<N, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, beyond_5, found_5);
        self.k_4.clk.next = self.clk.val();
        for i in 0..N {
            self.sent_1[i].clock.next = self.clk.val();
            self.sent_2[i].clock.next = self.clk.val();
            self.sent_3[i].clock.next = self.clk.val();
            self.room_2[i].clock.next = self.clk.val();
            self.room_3[i].clock.next = self.clk.val();
            self.unsent_4[i].clock.next = self.clk.val();
            self.child_room_2[i].clock.next = self.clk.val();
            self.child_room_5[i].clk.next = self.clk.val();
            self.above_5[i].clock.next = self.clk.val();
            self.at_end_5[i].clock.next = self.clk.val();
            self.rank_5[i].clock.next = self.clk.val();
            self.last_rank_5[i].clock.next = self.clk.val();
        }

        // s .. s + 3: sent_3[i] counts what was sent of children 0 to i.
        self.sent_1[0].d.next = self.sent[0].val();
        for i in 1..N {
            self.sent_1[i].d.next = self.sent[i].val() + self.sent[i - 1].val();
        }
        for i in 0..lesser(2, N) {
            self.sent_2[i].d.next = self.sent_1[i].q.val();
        }
        for i in 2..N {
            self.sent_2[i].d.next = self.sent_1[i].q.val() + self.sent_1[i - 2].q.val();
        }
        for i in 0..lesser(4, N) {
            self.sent_3[i].d.next = self.sent_2[i].q.val();
        }
        for i in 4..N {
            self.sent_3[i].d.next = self.sent_2[i].q.val() + self.sent_2[i - 4].q.val();
        }

        // s + 1: how many PSNs of children 0 to i, and of child i, are below the limit.
        for i in 0..N {
            self.room_2[i].d.next = self.room.val();
            if self.room.val() > self.end[i].val() {
                self.room_2[i].d.next = self.end[i].val();
            }
            self.room_3[i].d.next = self.room_2[i].q.val();
            self.child_room_2[i].d.next = self.room.val() - self.start[i].val();
            if self.room.val() >= self.end[i].val() {
                self.child_room_2[i].d.next = self.capacity.val();
            } else if self.room.val() <= self.start[i].val() {
                self.child_room_2[i].d.next = 0.into();
            }
            self.child_room_5[i].d.next = self.child_room_2[i].q.val();
        }

        // s + 3: unsent PSNs of children 0 to i. Every sent PSN is below the limit, which never
        // moves back.
        for i in 0..N {
            self.unsent_4[i].d.next = self.room_3[i].q.val() - self.sent_3[i].q.val();
        }

        // s + 4: compare. The last unsent PSN has the rank total - 1 - (those before), which is
        // total + !before.
        self.k_4.d.next = self.k.val();
        for i in (N - 1)..N {
            self.total.next = self.unsent_4[i].q.val();
        }
        self.rank_5[0].d.next = self.k_4.q.val();
        self.last_rank_5[0].d.next = self.total.val() - 1;
        for i in 1..N {
            self.rank_5[i].d.next = self.k_4.q.val() - self.unsent_4[i - 1].q.val();
            self.last_rank_5[i].d.next = self.total.val() + !self.unsent_4[i - 1].q.val();
        }
        for i in 0..N {
            self.above_5[i].d.next = self.unsent_4[i].q.val() > self.k_4.q.val();
            self.at_end_5[i].d.next = self.unsent_4[i].q.val() == self.total.val();
        }
        self.beyond_5.d.next = self.k_4.q.val() >= self.total.val();
        self.found_5.d.next = self.total.val() != 0;

        // s + 5: the first child that reaches the rank, and what is its.
        for i in 0..N {
            self.hit[i].next = self.above_5[i].q.val();
            self.my_rank[i].next = 0.into();
            self.my_room[i].next = 0.into();
            self.my_index[i].next = 0.into();
            if self.beyond_5.q.val() {
                self.hit[i].next = self.at_end_5[i].q.val();
            }
        }
        self.first[0].next = self.hit[0].val();
        for i in 1..N {
            self.first[i].next = self.hit[i].val() && !self.hit[i - 1].val();
        }
        for i in 0..N {
            if self.first[i].val() {
                self.my_rank[i].next = self.rank_5[i].q.val();
                if self.beyond_5.q.val() {
                    self.my_rank[i].next = self.last_rank_5[i].q.val();
                }
                self.my_room[i].next = self.child_room_5[i].q.val();
                self.my_index[i].next = i.to_bits();
            }
        }
        self.any_rank[0].next = self.my_rank[0].val();
        self.any_room[0].next = self.my_room[0].val();
        self.any_index[0].next = self.my_index[0].val();
        for i in 1..N {
            self.any_rank[i].next = self.any_rank[i - 1].val() | self.my_rank[i].val();
            self.any_room[i].next = self.any_room[i - 1].val() | self.my_room[i].val();
            self.any_index[i].next = self.any_index[i - 1].val() | self.my_index[i].val();
        }
        for i in 0..N {
            self.one_hot[i].next = self.first[i].val();
        }
        for i in (N - 1)..N {
            self.rank.next = self.any_rank[i].val();
            self.child_room.next = self.any_room[i].val();
            self.index.next = self.any_index[i].val();
        }
        self.found.next = self.found_5.q.val();
    }
}
