//! The bitmap tracker: duplicates, out-of-window PSNs, cumulative advance, OOD and RBO.

use super::{
    ArrivalBits, ArrivedWord, FirstMissing, GroupRuns, Judge, VerdictQueue, OWN_FLOW_INTERVAL,
};
use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::{InitSweep, IssueGate, FLOW_BITS};
use rust_hdl::prelude::*;

const RECENT: usize = OWN_FLOW_INTERVAL - 1;

/// Bitmap tracker over windows of `64 G` PSNs; `LG` is the logarithm of `G`, `T` the bits of the tag.
///
/// State a flow: the base group (the first that is not complete), for each slot the run of arrived
/// PSNs at the group's bottom, the largest PSN, the number of arrivals; and a bit a PSN. Runs and
/// bits are lap-coded as in the picker.
///
/// An arrival is accepted when it lies in the window and is new, and either `room` is given or it
/// is the next expected PSN (the rule of a full reorder buffer). Comments give the clock `t + n`,
/// counted from the clock `t` in which the arrival is issued.
#[derive(Clone, Debug, LogicBlock)]
pub struct BitmapTracker<const G: usize, const LG: usize, const T: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Open a flow at a first PSN.
    pub open_valid: Signal<In, Bit>,
    /// The open is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// A PSN arrived.
    pub req_valid: Signal<In, Bit>,
    /// The arrival is accepted.
    pub req_ready: Signal<Out, Bit>,
    /// Flow of the arrival.
    pub req_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub req_psn: Signal<In, Bits<24>>,
    /// An out-of-order arrival may be taken too.
    pub req_room: Signal<In, Bit>,
    /// Handed on.
    pub req_tag: Signal<In, Bits<T>>,
    /// A verdict.
    pub res_valid: Signal<Out, Bit>,
    /// The verdict is taken.
    pub res_ready: Signal<In, Bit>,
    /// Flow of the verdict.
    pub res_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN of the arrival.
    pub res_psn: Signal<Out, Bits<24>>,
    /// The request's tag.
    pub res_tag: Signal<Out, Bits<T>>,
    /// The arrival is new and was taken.
    pub res_accepted: Signal<Out, Bit>,
    /// It had arrived before.
    pub res_duplicate: Signal<Out, Bit>,
    /// It lies beyond the window.
    pub res_beyond: Signal<Out, Bit>,
    /// It is new, but there was no room for it.
    pub res_full: Signal<Out, Bit>,
    /// Next expected PSN, after this arrival.
    pub res_expected: Signal<Out, Bits<24>>,
    /// How far this arrival moved it.
    pub res_advance: Signal<Out, Bits<10>>,
    /// Out-of-order degree: largest PSN less next expected, 0 in order.
    pub res_ood: Signal<Out, Bits<10>>,
    /// Packets that arrived out of order and wait.
    pub res_waiting: Signal<Out, Bits<10>>,
    /// Which PSNs of the arrival's group of 64 have arrived, this one with them if it was taken.
    pub res_arrived: Signal<Out, Bits<64>>,
    gate: IssueGate<RECENT>,
    sweep: InitSweep,
    results: VerdictQueue<T>,
    first_missing: FirstMissing,
    bases: Ram<Bits<18>, FLOW_BITS>,
    largest: Ram<Bits<24>, FLOW_BITS>,
    arrivals: Ram<Bits<24>, FLOW_BITS>,
    runs: GroupRuns<G, LG>,
    arrival_bits: ArrivalBits,
    judge: Judge,
    arrived_word: ArrivedWord,
    held: Reg<Bit>,
    held_flow: Reg<Bits<FLOW_BITS>>,
    held_psn: Reg<Bits<24>>,
    held_room: Reg<Bit>,
    held_tag: Reg<Bits<T>>,
    valid: Reg<Bits<9>>,
    flow_7: Delay<Bits<FLOW_BITS>, 7>,
    flow_9: Delay<Bits<FLOW_BITS>, 2>,
    tag_9: Delay<Bits<T>, 9>,
    psn_1: Reg<Bits<24>>,
    psn_2: Reg<Bits<24>>,
    psn_3: Reg<Bits<24>>,
    psn_9: Delay<Bits<24>, 6>,
    lap_4: Delay<Bit, 4>,
    slot_4: Delay<Bits<3>, 4>,
    room_3: Delay<Bit, 3>,
    distance_2: Reg<Bits<18>>,
    base_2: Reg<Bits<18>>,
    base_5: Delay<Bits<18>, 3>,
    base_6: Reg<Bits<18>>,
    base_7: Reg<Bits<18>>,
    expected_2: Reg<Bits<24>>,
    expected_8: Delay<Bits<24>, 6>,
    beyond_largest_2: Reg<Bits<24>>,
    largest_2: Reg<Bits<24>>,
    largest_3: Reg<Bits<24>>,
    newest_3: Reg<Bits<24>>,
    largest_4: Reg<Bits<24>>,
    largest_7: Delay<Bits<24>, 3>,
    largest_8: Reg<Bits<24>>,
    arrivals_6: Delay<Bits<24>, 5>,
    arrivals_7: Reg<Bits<24>>,
    arrivals_8: Reg<Bits<24>>,
    accepted_4: Reg<Bit>,
    accepted_6: Delay<Bit, 2>,
    accepted_9: Delay<Bit, 3>,
    duplicate_9: Delay<Bit, 5>,
    beyond_9: Delay<Bit, 5>,
    full_9: Delay<Bit, 5>,
    new_expected_8: Reg<Bits<24>>,
    new_expected_9: Reg<Bits<24>>,
    advance_9: Reg<Bits<10>>,
    ood_9: Reg<Bits<10>>,
    waiting_9: Reg<Bits<10>>,
    take: Signal<Local, Bit>,
    new_run: Signal<Local, Bits<7>>,
    new_base: Signal<Local, Bits<18>>,
    ahead: Signal<Local, Bits<24>>,
    write: Signal<Local, Bit>,
    init_low: Signal<Local, Bits<3>>,
    init_slot: Signal<Local, Bits<3>>,
    psn_slot: Signal<Local, Bits<3>>,
    psn_lap: Signal<Local, Bit>,
    init_group_lap: Signal<Local, Bit>,
    slot_mask: Constant<Bits<3>>,
    slot_bits: Constant<Bits<5>>,
}

impl<const G: usize, const LG: usize, const T: usize> BitmapTracker<G, LG, T> {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_tracker_{}x{T}", 64 * G),
                &format!(
                    "Tracks arrivals in windows of {} PSNs, {flows} flows.\n\
                     One arrival a clock across flows, a flow's own {OWN_FLOW_INTERVAL} clocks apart.\n\
                     A suffix _n is the clock after issue in which the value is present.",
                    64 * G
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            req_valid: Signal::default(),
            req_ready: Signal::default(),
            req_flow: Signal::default(),
            req_psn: Signal::default(),
            req_room: Signal::default(),
            req_tag: Signal::default(),
            res_valid: Signal::default(),
            res_ready: Signal::default(),
            res_flow: Signal::default(),
            res_psn: Signal::default(),
            res_tag: Signal::default(),
            res_accepted: Signal::default(),
            res_duplicate: Signal::default(),
            res_beyond: Signal::default(),
            res_full: Signal::default(),
            res_expected: Signal::default(),
            res_advance: Signal::default(),
            res_ood: Signal::default(),
            res_waiting: Signal::default(),
            res_arrived: Signal::default(),
            gate: IssueGate::default(),
            sweep: InitSweep::new(flows, G),
            results: VerdictQueue::default(),
            first_missing: FirstMissing::default(),
            bases: Ram::new(flows),
            largest: Ram::new(flows),
            arrivals: Ram::new(flows),
            runs: GroupRuns::new(flows),
            arrival_bits: ArrivalBits::new(flows * G),
            judge: Judge::new(G),
            arrived_word: ArrivedWord::default(),
            held: Reg::default(),
            held_flow: Reg::default(),
            held_psn: Reg::default(),
            held_room: Reg::default(),
            held_tag: Reg::default(),
            valid: Reg::default(),
            flow_7: Delay::default(),
            flow_9: Delay::default(),
            tag_9: Delay::default(),
            psn_1: Reg::default(),
            psn_2: Reg::default(),
            psn_3: Reg::default(),
            psn_9: Delay::default(),
            lap_4: Delay::default(),
            slot_4: Delay::default(),
            room_3: Delay::default(),
            distance_2: Reg::default(),
            base_2: Reg::default(),
            base_5: Delay::default(),
            base_6: Reg::default(),
            base_7: Reg::default(),
            expected_2: Reg::default(),
            expected_8: Delay::default(),
            beyond_largest_2: Reg::default(),
            largest_2: Reg::default(),
            largest_3: Reg::default(),
            newest_3: Reg::default(),
            largest_4: Reg::default(),
            largest_7: Delay::default(),
            largest_8: Reg::default(),
            arrivals_6: Delay::default(),
            arrivals_7: Reg::default(),
            arrivals_8: Reg::default(),
            accepted_4: Reg::default(),
            accepted_6: Delay::default(),
            accepted_9: Delay::default(),
            duplicate_9: Delay::default(),
            beyond_9: Delay::default(),
            full_9: Delay::default(),
            new_expected_8: Reg::default(),
            new_expected_9: Reg::default(),
            advance_9: Reg::default(),
            ood_9: Reg::default(),
            waiting_9: Reg::default(),
            take: Signal::default(),
            new_run: Signal::default(),
            new_base: Signal::default(),
            ahead: Signal::default(),
            write: Signal::default(),
            init_low: Signal::default(),
            init_slot: Signal::default(),
            psn_slot: Signal::default(),
            psn_lap: Signal::default(),
            init_group_lap: Signal::default(),
            slot_mask: Constant::new((G as u64 - 1).into()),
            slot_bits: Constant::new((LG as u64).into()),
        }
    }
}

impl<const G: usize, const LG: usize, const T: usize> Logic for BitmapTracker<G, LG, T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, held, held_flow, held_psn, held_room, held_tag, valid);
        dff_setup!(self, clk, psn_1, psn_2, psn_3, distance_2, base_2, base_6);
        dff_setup!(self, clk, base_7, expected_2, beyond_largest_2, largest_2);
        dff_setup!(self, clk, largest_3, newest_3, largest_4, largest_8, arrivals_7);
        dff_setup!(self, clk, arrivals_8, accepted_4, new_expected_8);
        dff_setup!(self, clk, new_expected_9, advance_9, ood_9, waiting_9);
        clock!(self, clk, bases, largest, arrivals);
        self.gate.clk.next = self.clk.val();
        self.sweep.clk.next = self.clk.val();
        self.results.clk.next = self.clk.val();
        self.first_missing.clk.next = self.clk.val();
        self.flow_7.clk.next = self.clk.val();
        self.flow_9.clk.next = self.clk.val();
        self.tag_9.clk.next = self.clk.val();
        self.psn_9.clk.next = self.clk.val();
        self.lap_4.clk.next = self.clk.val();
        self.slot_4.clk.next = self.clk.val();
        self.room_3.clk.next = self.clk.val();
        self.arrival_bits.clk.next = self.clk.val();
        self.judge.clk.next = self.clk.val();
        self.arrived_word.clk.next = self.clk.val();
        self.base_5.clk.next = self.clk.val();
        self.expected_8.clk.next = self.clk.val();
        self.largest_7.clk.next = self.clk.val();
        self.arrivals_6.clk.next = self.clk.val();
        self.accepted_6.clk.next = self.clk.val();
        self.accepted_9.clk.next = self.clk.val();
        self.duplicate_9.clk.next = self.clk.val();
        self.beyond_9.clk.next = self.clk.val();
        self.full_9.clk.next = self.clk.val();
        self.runs.clk.next = self.clk.val();
        self.gate.rst.next = self.rst.val();
        self.sweep.rst.next = self.rst.val();
        self.results.rst.next = self.rst.val();

        // Door: one arrival waits until the gate lets it in.
        self.gate.waiting.next = self.held.q.val();
        self.gate.flow.next = self.held_flow.q.val();
        self.gate.busy.next = self.sweep.busy.val();
        self.gate.popped.next = self.results.popped.val();
        self.take.next = !self.sweep.busy.val() && (!self.held.q.val() || self.gate.issue.val());
        self.req_ready.next = self.take.val();
        if self.gate.issue.val() {
            self.held.d.next = false;
        }
        if self.take.val() && self.req_valid.val() {
            self.held.d.next = true;
            self.held_flow.d.next = self.req_flow.val();
            self.held_psn.d.next = self.req_psn.val();
            self.held_room.d.next = self.req_room.val();
            self.held_tag.d.next = self.req_tag.val();
        }
        // valid[n - 1]: an arrival is at t + n.
        self.valid.d.next =
            (self.valid.q.val() << 1) | bit_cast::<9, 1>(self.gate.issue.val().into());
        self.sweep.open_valid.next = self.open_valid.val();
        self.sweep.open_flow.next = self.open_flow.val();
        self.sweep.open_psn.next = self.open_psn.val();
        self.open_ready.next = self.sweep.open_ready.val();

        // t: read; the PSN says which bit of which word, and in which lap.
        self.bases.read_address.next = self.held_flow.q.val();
        self.largest.read_address.next = self.held_flow.q.val();
        self.arrivals.read_address.next = self.held_flow.q.val();
        self.psn_slot.next = bit_cast::<3, 24>(self.held_psn.q.val() >> 6) & self.slot_mask.val();
        self.psn_lap.next = ((self.held_psn.q.val() >> 6) >> self.slot_bits.val()).get_bit(0);
        self.slot_4.d.next = self.psn_slot.val();
        self.lap_4.d.next = self.psn_lap.val();
        self.arrival_bits.address.next = (bit_cast::<13, FLOW_BITS>(self.held_flow.q.val())
            << self.slot_bits.val())
            | bit_cast::<13, 3>(self.psn_slot.val());
        self.arrival_bits.place.next = self.held_psn.q.val().get_bits::<6>(0);
        self.arrival_bits.lap.next = self.psn_lap.val();
        self.psn_1.d.next = self.held_psn.q.val();
        self.flow_7.d.next = self.held_flow.q.val();
        self.flow_9.d.next = self.flow_7.q.val();
        self.tag_9.d.next = self.held_tag.q.val();
        self.room_3.d.next = self.held_room.q.val();

        // t + 1: group of the PSN, next expected PSN.
        self.psn_2.d.next = self.psn_1.q.val();
        self.psn_3.d.next = self.psn_2.q.val();
        self.psn_9.d.next = self.psn_3.q.val();
        self.distance_2.d.next =
            bit_cast::<18, 24>(self.psn_1.q.val() >> 6) - self.bases.read_data.val();
        self.runs.flow.next = self.held_flow.q.val();
        self.runs.base.next = self.bases.read_data.val();
        self.expected_2.d.next = (bit_cast::<24, 18>(self.bases.read_data.val()) << 6)
            | bit_cast::<24, 6>(self.runs.base_run.val());
        self.base_2.d.next = self.bases.read_data.val();
        self.beyond_largest_2.d.next = self.psn_1.q.val() - self.largest.read_data.val();
        self.largest_2.d.next = self.largest.read_data.val();
        self.arrivals_6.d.next = self.arrivals.read_data.val();

        // t + 2: classify.
        self.judge.distance.next = self.distance_2.q.val();
        self.judge.seen.next = self.arrival_bits.seen.val();
        self.judge.is_next.next = self.psn_2.q.val() == self.expected_2.q.val();
        self.judge.room.next = self.room_3.q.val();
        self.first_missing.word.next = self.arrival_bits.arrived.val();
        self.arrived_word.stored.next = self.arrival_bits.stored.val();
        self.arrived_word.marked.next = self.arrival_bits.arrived.val();
        self.largest_3.d.next = self.largest_2.q.val();
        self.newest_3.d.next = self.psn_2.q.val();
        if self.beyond_largest_2.q.val().get_bit(23) {
            self.newest_3.d.next = self.largest_2.q.val();
        }

        // t + 3: the verdict, and the bit.
        self.accepted_4.d.next = self.judge.accepted.val();
        self.arrived_word.accepted.next = self.judge.accepted.val();
        self.arrived_word.beyond.next = self.judge.beyond.val();
        self.arrived_word.passed.next = self.judge.passed.val();
        self.arrival_bits.mark.next = self.judge.accepted.val() && self.valid.q.val().get_bit(2);
        self.largest_4.d.next = self.largest_3.q.val();
        if self.judge.accepted.val() {
            self.largest_4.d.next = self.newest_3.q.val();
        }
        self.accepted_6.d.next = self.accepted_4.q.val();
        self.accepted_9.d.next = self.accepted_6.q.val();
        self.duplicate_9.d.next = self.judge.duplicate.val();
        self.beyond_9.d.next = self.judge.beyond.val();
        self.full_9.d.next = self.judge.full.val();
        self.largest_7.d.next = self.largest_4.q.val();

        // t + 4: the arrival's group has a new run; a full one reads as 0 of the next lap.
        self.new_run.next = self.first_missing.run.val();
        if self.lap_4.q.val() {
            self.new_run.next = self.first_missing.run.val() ^ 64;
        }
        self.runs.accepted.next = self.accepted_4.q.val();
        self.runs.slot.next = self.slot_4.q.val();
        self.runs.run.next = self.new_run.val();

        // t + 5, t + 6: complete groups from the base on.
        self.base_5.d.next = self.base_2.q.val();
        self.base_6.d.next = self.base_5.q.val();
        self.base_7.d.next = self.base_6.q.val();
        self.runs.base_5.next = self.base_5.q.val();
        self.arrivals_7.d.next = self.arrivals_6.q.val();
        if self.accepted_6.q.val() {
            self.arrivals_7.d.next = self.arrivals_6.q.val() + 1;
        }

        // t + 7: new base; write back.
        self.new_base.next = self.base_7.q.val() + bit_cast::<18, 4>(self.runs.lead.val());
        self.write.next = self.valid.q.val().get_bit(6);
        self.bases.write_enable.next = self.write.val() || self.sweep.write.val();
        self.bases.write_address.next = self.flow_7.q.val();
        self.bases.write_data.next = self.new_base.val();
        self.largest.write_enable.next = self.write.val() || self.sweep.write.val();
        self.largest.write_address.next = self.flow_7.q.val();
        self.largest.write_data.next = self.largest_7.q.val();
        self.arrivals.write_enable.next = self.write.val() || self.sweep.write.val();
        self.arrivals.write_address.next = self.flow_7.q.val();
        self.arrivals.write_data.next = self.arrivals_7.q.val();
        self.runs.write.next = self.write.val();
        self.runs.flow_7.next = self.flow_7.q.val();
        self.new_expected_8.d.next = (bit_cast::<24, 18>(self.new_base.val()) << 6)
            | bit_cast::<24, 6>(self.runs.lead_run.val());
        self.expected_8.d.next = self.expected_2.q.val();
        self.largest_8.d.next = self.largest_7.q.val();
        self.arrivals_8.d.next = self.arrivals_7.q.val();

        // t + 8: distances.
        self.new_expected_9.d.next = self.new_expected_8.q.val();
        self.advance_9.d.next = bit_cast::<10, 24>(self.new_expected_8.q.val())
            - bit_cast::<10, 24>(self.expected_8.q.val());
        self.waiting_9.d.next = bit_cast::<10, 24>(self.arrivals_8.q.val())
            - bit_cast::<10, 24>(self.new_expected_8.q.val());
        self.ahead.next = self.largest_8.q.val() - self.new_expected_8.q.val();
        self.ood_9.d.next = bit_cast::<10, 24>(self.ahead.val());
        if self.ahead.val().get_bit(23) {
            self.ood_9.d.next = 0.into();
        }

        // t + 9: answer.
        self.results.push.next = self.valid.q.val().get_bit(8);
        self.results.flow.next = self.flow_9.q.val();
        self.results.psn.next = self.psn_9.q.val();
        self.results.tag.next = self.tag_9.q.val();
        self.results.accepted.next = self.accepted_9.q.val();
        self.results.duplicate.next = self.duplicate_9.q.val();
        self.results.beyond.next = self.beyond_9.q.val();
        self.results.full.next = self.full_9.q.val();
        self.results.expected.next = self.new_expected_9.q.val();
        self.results.advance.next = self.advance_9.q.val();
        self.results.ood.next = self.ood_9.q.val();
        self.results.waiting.next = self.waiting_9.q.val();
        self.results.arrived.next = self.arrived_word.word.val();
        self.results.res_ready.next = self.res_ready.val();
        self.res_valid.next = self.results.res_valid.val();
        self.res_flow.next = self.results.res_flow.val();
        self.res_psn.next = self.results.res_psn.val();
        self.res_tag.next = self.results.res_tag.val();
        self.res_accepted.next = self.results.res_accepted.val();
        self.res_duplicate.next = self.results.res_duplicate.val();
        self.res_beyond.next = self.results.res_beyond.val();
        self.res_full.next = self.results.res_full.val();
        self.res_expected.next = self.results.res_expected.val();
        self.res_advance.next = self.results.res_advance.val();
        self.res_ood.next = self.results.res_ood.val();
        self.res_waiting.next = self.results.res_waiting.val();
        self.res_arrived.next = self.results.res_arrived.val();

        // Init sweep: PSNs before the first count as arrived, all later ones as missing.
        self.init_low.next = bit_cast::<3, 24>(self.sweep.psn.val() >> 6) & self.slot_mask.val();
        self.init_slot.next = self.sweep.sub.val().get_bits::<3>(0);
        self.init_group_lap.next = ((self.sweep.psn.val() >> 6) >> self.slot_bits.val()).get_bit(0);
        self.arrival_bits.init_write.next = self.sweep.write.val();
        self.arrival_bits.init_address.next = (bit_cast::<13, FLOW_BITS>(self.sweep.flow.val())
            << self.slot_bits.val())
            | bit_cast::<13, 3>(self.init_slot.val());
        self.arrival_bits.init_lap.next =
            self.init_group_lap.val() ^ (self.init_slot.val() < self.init_low.val());
        self.arrival_bits.init_is_first.next = self.init_slot.val() == self.init_low.val();
        self.arrival_bits.init_place.next = self.sweep.psn.val().get_bits::<6>(0);
        if self.sweep.write.val() {
            self.bases.write_address.next = self.sweep.flow.val();
            self.bases.write_data.next = bit_cast::<18, 24>(self.sweep.psn.val() >> 6);
            self.largest.write_address.next = self.sweep.flow.val();
            self.largest.write_data.next = self.sweep.psn.val() - 1;
            self.arrivals.write_address.next = self.sweep.flow.val();
            self.arrivals.write_data.next = self.sweep.psn.val();
        }
        self.runs.init_write.next = self.sweep.write.val();
        self.runs.init_flow.next = self.sweep.flow.val();
        self.runs.init_psn.next = self.sweep.psn.val();

        if self.rst.val() {
            self.held.d.next = false;
            self.valid.d.next = 0.into();
        }
    }
}
