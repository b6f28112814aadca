//! The longest wait from which a flow comes back in time.

use super::WAITS;
use crate::prim::{ModuleId, Reg};
use rondo_models::pacing::LATENESS;
use rondo_models::schedule::WAITS_LOG2_NS;
use rust_hdl::prelude::*;

/// Compares what a flow earns in each wait with what it may earn before its packet would be late,
/// in 1/256 packet.
///
/// Buckets come uncapped. That of the credit is far from its cap where it matters; where that of the
/// spacing is beyond its cap and no packet is due, credit is missing and leaves more room.
#[derive(Clone, Debug, LogicBlock)]
pub struct LongestWait {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Credit, 34 fraction bits, at `t + 6`.
    pub credit_6: Signal<In, Bits<51>>,
    /// Spacing, 34 fraction bits, at `t + 6`.
    pub spacing_6: Signal<In, Bits<52>>,
    /// Pace, packets a 1,024 ns in UQ8.24, at `t + 7`.
    pub rate_7: Signal<In, Bits<32>>,
    /// One packet of credit and the spacing were spent, at `t + 8`.
    pub spent_8: Signal<In, Bit>,
    /// Its wait queue, one bit, or none; at `t + 8`.
    pub queue: Signal<Out, Bits<WAITS>>,
    credit_room_7: Reg<Bits<10>>,
    has_credit_room_7: Reg<Bit>,
    spent_room_7: Reg<Bits<10>>,
    has_spent_room_7: Reg<Bit>,
    spacing_room_7: Reg<Bits<10>>,
    has_spacing_room_7: Reg<Bit>,
    unspent_waits_8: [Reg<Bit>; WAITS],
    spent_waits_8: [Reg<Bit>; WAITS],
    credit: Signal<Local, Bits<25>>,
    spacing: Signal<Local, Bits<26>>,
    spacing_room: Signal<Local, Bits<26>>,
    earned: [Signal<Local, Bits<32>>; WAITS],
    can_wait: [Signal<Local, Bit>; WAITS],
    longer: [Signal<Local, Bit>; WAITS],
    chosen: [Signal<Local, Bits<WAITS>>; WAITS],
    shift: [Constant<Bits<5>>; WAITS],
    late_credit: Constant<Bits<25>>,
    late_spent: Constant<Bits<25>>,
    late_spacing: Constant<Bits<26>>,
    late_start: Constant<Bits<10>>,
}

impl Default for LongestWait {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_longest_wait",
                "The longest wait from which a flow comes back in time.\n\
                 A suffix _n is the clock after issue in which the value is present.",
            ),
            clk: Signal::default(),
            credit_6: Signal::default(),
            spacing_6: Signal::default(),
            rate_7: Signal::default(),
            spent_8: Signal::default(),
            queue: Signal::default(),
            credit_room_7: Reg::default(),
            has_credit_room_7: Reg::default(),
            spent_room_7: Reg::default(),
            has_spent_room_7: Reg::default(),
            spacing_room_7: Reg::default(),
            has_spacing_room_7: Reg::default(),
            unspent_waits_8: Default::default(),
            spent_waits_8: Default::default(),
            credit: Signal::default(),
            spacing: Signal::default(),
            spacing_room: Signal::default(),
            earned: Default::default(),
            can_wait: Default::default(),
            longer: Default::default(),
            chosen: Default::default(),
            shift: WAITS_LOG2_NS.map(|log2_ns| Constant::new(u64::from(26 - log2_ns).into())),
            late_credit: Constant::new((256 + LATENESS).into()),
            late_spent: Constant::new((512 + LATENESS).into()),
            late_spacing: Constant::new((256 + 2 * LATENESS).into()),
            late_start: Constant::new((128 + LATENESS).into()),
        }
    }
}

impl Logic for LongestWait {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credit_room_7, spent_room_7, spacing_room_7);
        dff_setup!(
            self,
            clk,
            has_credit_room_7,
            has_spent_room_7,
            has_spacing_room_7
        );

        // t + 6: how much may be earned.
        self.credit.next = self.credit_6.val().get_bits::<25>(26);
        self.has_credit_room_7.d.next = self.credit.val() <= self.late_credit.val();
        self.credit_room_7.d.next = bit_cast::<10, 25>(self.late_credit.val() - self.credit.val());
        self.has_spent_room_7.d.next = self.credit.val() <= self.late_spent.val();
        self.spent_room_7.d.next = bit_cast::<10, 25>(self.late_spent.val() - self.credit.val());
        self.spacing.next = self.spacing_6.val().get_bits::<26>(26);
        self.has_spacing_room_7.d.next = self.spacing.val() <= self.late_spacing.val();
        self.spacing_room.next = self.late_spacing.val() - self.spacing.val();
        self.spacing_room_7.d.next = self.spacing_room.val().get_bits::<10>(1);

        // t + 7: compare, whether the visit spends or not. Spending takes a packet off the credit and
        // all of the spacing.
        for i in 0..WAITS {
            self.unspent_waits_8[i].clock.next = self.clk.val();
            self.spent_waits_8[i].clock.next = self.clk.val();
            self.earned[i].next = self.rate_7.val() >> self.shift[i].val();
            self.unspent_waits_8[i].d.next = (self.has_credit_room_7.q.val()
                && (self.earned[i].val() <= bit_cast::<32, 10>(self.credit_room_7.q.val())))
                || (self.has_spacing_room_7.q.val()
                    && (self.earned[i].val() <= bit_cast::<32, 10>(self.spacing_room_7.q.val())));
            self.spent_waits_8[i].d.next = (self.has_spent_room_7.q.val()
                && (self.earned[i].val() <= bit_cast::<32, 10>(self.spent_room_7.q.val())))
                || (self.earned[i].val() <= bit_cast::<32, 10>(self.late_start.val()));
        }

        // t + 8: choose.
        for i in 0..WAITS {
            self.can_wait[i].next = self.unspent_waits_8[i].q.val();
            if self.spent_8.val() {
                self.can_wait[i].next = self.spent_waits_8[i].q.val();
            }
        }
        for i in 0..(WAITS - 1) {
            self.longer[i].next = self.longer[i + 1].val() || self.can_wait[i + 1].val();
        }
        for i in (WAITS - 1)..WAITS {
            self.longer[i].next = false;
            self.queue.next = self.chosen[i].val();
        }
        self.chosen[0].next =
            bit_cast::<WAITS, 1>((self.can_wait[0].val() && !self.longer[0].val()).into());
        for i in 1..WAITS {
            self.chosen[i].next = self.chosen[i - 1]
                .val()
                .replace_bit(i, self.can_wait[i].val() && !self.longer[i].val());
        }
    }
}
