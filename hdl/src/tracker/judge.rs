//! The verdict on an arrival.

use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Classifies an arrival: accepted, duplicate, beyond the window, or refused for want of room.
///
/// An arrival is accepted when it lies in the window and is new, and either there is room or it is
/// the next expected PSN. Comments count clocks from the arrival's `t`.
#[derive(Clone, Debug, LogicBlock)]
pub struct Judge {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Groups from the base to the PSN's, modulo 2^18, at `t + 2`.
    pub distance: Signal<In, Bits<18>>,
    /// The PSN had arrived before, at `t + 2`.
    pub seen: Signal<In, Bit>,
    /// It is the next expected one, at `t + 2`.
    pub is_next: Signal<In, Bit>,
    /// An out-of-order arrival may be taken, at `t + 3`.
    pub room: Signal<In, Bit>,
    /// New and taken, at `t + 3`.
    pub accepted: Signal<Out, Bit>,
    /// It had arrived before, at `t + 4`.
    pub duplicate: Signal<Out, Bit>,
    /// It lies beyond the window, at `t + 4`.
    pub beyond: Signal<Out, Bit>,
    /// New, but refused, at `t + 4`.
    pub full: Signal<Out, Bit>,
    /// It lies before the window, at `t + 4`: a duplicate, too.
    pub passed: Signal<Out, Bit>,
    in_window_3: Reg<Bit>,
    before_3: Reg<Bit>,
    seen_3: Reg<Bit>,
    next_3: Reg<Bit>,
    before_4: Reg<Bit>,
    duplicate_4: Reg<Bit>,
    beyond_4: Reg<Bit>,
    full_4: Reg<Bit>,
    unseen: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    groups: Constant<Bits<18>>,
}

impl Judge {
    /// For windows of `groups` groups.
    pub fn new(groups: usize) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_judge_{groups}"),
                "Classifies an arrival: accepted, duplicate, beyond the window, refused.\n\
                 A suffix _n is the clock after the arrival in which the value is present.",
            ),
            clk: Signal::default(),
            distance: Signal::default(),
            seen: Signal::default(),
            is_next: Signal::default(),
            room: Signal::default(),
            accepted: Signal::default(),
            duplicate: Signal::default(),
            beyond: Signal::default(),
            full: Signal::default(),
            passed: Signal::default(),
            in_window_3: Reg::default(),
            before_3: Reg::default(),
            seen_3: Reg::default(),
            next_3: Reg::default(),
            before_4: Reg::default(),
            duplicate_4: Reg::default(),
            beyond_4: Reg::default(),
            full_4: Reg::default(),
            unseen: Signal::default(),
            taken: Signal::default(),
            groups: Constant::new((groups as u64).into()),
        }
    }
}

impl Logic for Judge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, in_window_3, before_3, seen_3, next_3);
        dff_setup!(self, clk, before_4, duplicate_4, beyond_4, full_4);
        self.in_window_3.d.next = self.distance.val() < self.groups.val();
        self.before_3.d.next = self.distance.val().get_bit(17);
        self.seen_3.d.next = self.seen.val();
        self.next_3.d.next = self.is_next.val();

        self.unseen.next = self.in_window_3.q.val() && !self.seen_3.q.val();
        self.taken.next = self.unseen.val() && (self.room.val() || self.next_3.q.val());
        self.accepted.next = self.taken.val();
        self.before_4.d.next = self.before_3.q.val();
        self.duplicate_4.d.next =
            self.before_3.q.val() || (self.in_window_3.q.val() && self.seen_3.q.val());
        self.beyond_4.d.next = !self.before_3.q.val() && !self.in_window_3.q.val();
        self.full_4.d.next = self.unseen.val() && !self.taken.val();
        self.duplicate.next = self.duplicate_4.q.val();
        self.beyond.next = self.beyond_4.q.val();
        self.full.next = self.full_4.q.val();
        self.passed.next = self.before_4.q.val();
    }
}
