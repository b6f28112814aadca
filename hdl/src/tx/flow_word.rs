//! The state of a flow, and what each event makes of it.

use super::{LongestWait, WAITS};
use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rondo_models::pacing::BURST;
use rust_hdl::prelude::*;

/// Bits of a flow's word, lowest first: unsent packets (16), grants (16), credit (37, of which 34
/// fraction), spacing (35, of which 34 fraction), path of the next probe (4), open, queued, refused.
const WORD: usize = 111;

/// Reads a flow's word, changes it and writes it back, one event a clock, a flow's own at least 4
/// clocks apart.
///
/// Comments give the clock `t + n`, counted from the event's issue. The word is read at `t + 4` and
/// written at `t + 7`; what the event does comes out at `t + 8`.
#[derive(Clone, Debug, LogicBlock)]
pub struct FlowWord {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Writes a closed flow's word; no event is under way.
    pub init_write: Signal<In, Bit>,
    /// Flow written.
    pub init_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Flow of the event, at `t + 4`.
    pub flow_4: Signal<In, Bits<FLOW_BITS>>,
    /// Packets that it earns, 34 fraction bits, at `t + 5`.
    pub earned_5: Signal<In, Bits<50>>,
    /// The event, at `t + 7`: a visit.
    pub visit_7: Signal<In, Bit>,
    /// One packet more.
    pub post_7: Signal<In, Bit>,
    /// A refused request.
    pub refusal_7: Signal<In, Bit>,
    /// One packet beside the pace.
    pub grant_7: Signal<In, Bit>,
    /// The flow is opened.
    pub open_7: Signal<In, Bit>,
    /// The flow is closed.
    pub close_7: Signal<In, Bit>,
    /// Flow, at `t + 7`.
    pub flow_7: Signal<In, Bits<FLOW_BITS>>,
    /// Its pace, packets a 1,024 ns in UQ8.24, at `t + 7`.
    pub rate_7: Signal<In, Bits<32>>,
    /// It probes, at `t + 7`.
    pub probing_7: Signal<In, Bit>,
    /// A probe may be sent, at `t + 7`.
    pub room_7: Signal<In, Bit>,
    /// A packet is asked for, at `t + 8`.
    pub request: Signal<Out, Bit>,
    /// A probe is sent.
    pub probe: Signal<Out, Bit>,
    /// On this path.
    pub probe_path: Signal<Out, Bits<4>>,
    /// The flow goes to the ring's end.
    pub to_ring: Signal<Out, Bit>,
    /// The flow goes to this wait queue's end.
    pub to_wait: Signal<Out, Bits<WAITS>>,
    /// The flow is queued now and was not before.
    pub enters: Signal<Out, Bit>,
    /// The flow is not queued any more.
    pub leaves: Signal<Out, Bit>,
    words: Ram<Bits<WORD>, FLOW_BITS>,
    longest: LongestWait,
    credit_6: Reg<Bits<51>>,
    spacing_6: Reg<Bits<52>>,
    counts_6: Reg<Bits<32>>,
    flags_6: Reg<Bits<7>>,
    credit_7: Reg<Bits<37>>,
    spacing_7: Reg<Bits<35>>,
    is_due_7: Reg<Bit>,
    unsent_7: Reg<Bits<16>>,
    more_unsent_7: Reg<Bits<16>>,
    less_unsent_7: Reg<Bits<16>>,
    has_unsent_7: Reg<Bit>,
    last_unsent_7: Reg<Bit>,
    grants_7: Reg<Bits<16>>,
    more_grants_7: Reg<Bits<16>>,
    less_grants_7: Reg<Bits<16>>,
    has_grant_7: Reg<Bit>,
    last_grant_7: Reg<Bit>,
    flags_7: Reg<Bits<7>>,
    request_8: Reg<Bit>,
    probe_8: Reg<Bit>,
    path_8: Reg<Bits<4>>,
    spent_8: Reg<Bit>,
    stays_8: Reg<Bit>,
    refused_8: Reg<Bit>,
    eager_8: Reg<Bit>,
    enters_8: Reg<Bit>,
    leaves_8: Reg<Bit>,
    turn: Signal<Local, Bits<4>>,
    was_open: Signal<Local, Bit>,
    was_queued: Signal<Local, Bit>,
    was_refused: Signal<Local, Bit>,
    requests: Signal<Local, Bit>,
    spends: Signal<Local, Bit>,
    stays: Signal<Local, Bit>,
    still_due: Signal<Local, Bit>,
    waits: Signal<Local, Bits<WAITS>>,
    posts: Signal<Local, Bit>,
    refuses: Signal<Local, Bit>,
    grants: Signal<Local, Bit>,
    probes: Signal<Local, Bit>,
    next_unsent: Signal<Local, Bits<16>>,
    next_grants: Signal<Local, Bits<16>>,
    next_credit: Signal<Local, Bits<37>>,
    next_spacing: Signal<Local, Bits<35>>,
    next_turn: Signal<Local, Bits<4>>,
    next_open: Signal<Local, Bit>,
    next_queued: Signal<Local, Bit>,
    next_refused: Signal<Local, Bit>,
    full_credit: Constant<Bits<37>>,
    one_packet: Constant<Bits<35>>,
    path_mask: Constant<Bits<4>>,
}

impl FlowWord {
    /// For `flows` flows (a power of two, at most 1,024) of `paths` paths (2, 4, 8 or 16).
    pub fn new(flows: usize, paths: usize) -> Self {
        assert!(paths.is_power_of_two() && (2..=16).contains(&paths));
        Self {
            id: ModuleId::new(
                "rondo_flow_word",
                &format!(
                    "State of {flows} flows, and what each event makes of it.\n\
                     A suffix _n is the clock after issue in which the value is present."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            init_write: Signal::default(),
            init_flow: Signal::default(),
            flow_4: Signal::default(),
            earned_5: Signal::default(),
            visit_7: Signal::default(),
            post_7: Signal::default(),
            refusal_7: Signal::default(),
            grant_7: Signal::default(),
            open_7: Signal::default(),
            close_7: Signal::default(),
            flow_7: Signal::default(),
            rate_7: Signal::default(),
            probing_7: Signal::default(),
            room_7: Signal::default(),
            request: Signal::default(),
            probe: Signal::default(),
            probe_path: Signal::default(),
            to_ring: Signal::default(),
            to_wait: Signal::default(),
            enters: Signal::default(),
            leaves: Signal::default(),
            words: Ram::new(flows),
            longest: LongestWait::default(),
            credit_6: Reg::default(),
            spacing_6: Reg::default(),
            counts_6: Reg::default(),
            flags_6: Reg::default(),
            credit_7: Reg::default(),
            spacing_7: Reg::default(),
            is_due_7: Reg::default(),
            unsent_7: Reg::default(),
            more_unsent_7: Reg::default(),
            less_unsent_7: Reg::default(),
            has_unsent_7: Reg::default(),
            last_unsent_7: Reg::default(),
            grants_7: Reg::default(),
            more_grants_7: Reg::default(),
            less_grants_7: Reg::default(),
            has_grant_7: Reg::default(),
            last_grant_7: Reg::default(),
            flags_7: Reg::default(),
            request_8: Reg::default(),
            probe_8: Reg::default(),
            path_8: Reg::default(),
            spent_8: Reg::default(),
            stays_8: Reg::default(),
            refused_8: Reg::default(),
            eager_8: Reg::default(),
            enters_8: Reg::default(),
            leaves_8: Reg::default(),
            turn: Signal::default(),
            was_open: Signal::default(),
            was_queued: Signal::default(),
            was_refused: Signal::default(),
            requests: Signal::default(),
            spends: Signal::default(),
            stays: Signal::default(),
            still_due: Signal::default(),
            waits: Signal::default(),
            posts: Signal::default(),
            refuses: Signal::default(),
            grants: Signal::default(),
            probes: Signal::default(),
            next_unsent: Signal::default(),
            next_grants: Signal::default(),
            next_credit: Signal::default(),
            next_spacing: Signal::default(),
            next_turn: Signal::default(),
            next_open: Signal::default(),
            next_queued: Signal::default(),
            next_refused: Signal::default(),
            full_credit: Constant::new((u64::from(BURST) << 34).into()),
            one_packet: Constant::new((1u64 << 34).into()),
            path_mask: Constant::new((paths as u64 - 1).into()),
        }
    }
}

impl Logic for FlowWord {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, credit_6, spacing_6, counts_6, flags_6);
        dff_setup!(self, clk, credit_7, spacing_7, is_due_7, flags_7);
        dff_setup!(self, clk, unsent_7, more_unsent_7, less_unsent_7);
        dff_setup!(self, clk, has_unsent_7, last_unsent_7);
        dff_setup!(self, clk, grants_7, more_grants_7, less_grants_7);
        dff_setup!(self, clk, has_grant_7, last_grant_7);
        dff_setup!(self, clk, request_8, probe_8, path_8, enters_8, leaves_8);
        dff_setup!(self, clk, spent_8, stays_8, refused_8, eager_8);
        clock!(self, clk, words);
        self.longest.clk.next = self.clk.val();

        // t + 5: the pacer earns; both buckets are capped one clock later.
        self.words.read_address.next = self.flow_4.val();
        self.credit_6.d.next = bit_cast::<51, 37>(self.words.read_data.val().get_bits::<37>(32))
            + bit_cast::<51, 50>(self.earned_5.val());
        self.spacing_6.d.next = bit_cast::<52, 35>(self.words.read_data.val().get_bits::<35>(69))
            + (bit_cast::<52, 50>(self.earned_5.val()) << 1);
        self.counts_6.d.next = self.words.read_data.val().get_bits::<32>(0);
        self.flags_6.d.next = self.words.read_data.val().get_bits::<7>(104);

        // t + 6: cap; prepare what the event may make of each count.
        self.credit_7.d.next = self.credit_6.q.val().get_bits::<37>(0);
        if self.credit_6.q.val().get_bits::<15>(36).any() {
            self.credit_7.d.next = self.full_credit.val();
        }
        self.spacing_7.d.next = self.spacing_6.q.val().get_bits::<35>(0);
        if self.spacing_6.q.val().get_bits::<18>(34).any() {
            self.spacing_7.d.next = self.one_packet.val();
        }
        self.is_due_7.d.next = self.credit_6.q.val().get_bits::<17>(34).any()
            && self.spacing_6.q.val().get_bits::<18>(34).any();
        self.longest.credit_6.next = self.credit_6.q.val();
        self.longest.spacing_6.next = self.spacing_6.q.val();
        self.unsent_7.d.next = self.counts_6.q.val().get_bits::<16>(0);
        self.more_unsent_7.d.next = self.counts_6.q.val().get_bits::<16>(0) + 1;
        if self.counts_6.q.val().get_bits::<16>(0).all() {
            self.more_unsent_7.d.next = self.counts_6.q.val().get_bits::<16>(0);
        }
        self.less_unsent_7.d.next = self.counts_6.q.val().get_bits::<16>(0) - 1;
        self.has_unsent_7.d.next = self.counts_6.q.val().get_bits::<16>(0) != 0;
        self.last_unsent_7.d.next = self.counts_6.q.val().get_bits::<16>(0) == 1;
        self.grants_7.d.next = self.counts_6.q.val().get_bits::<16>(16);
        self.more_grants_7.d.next = self.counts_6.q.val().get_bits::<16>(16) + 1;
        if self.counts_6.q.val().get_bits::<16>(16).all() {
            self.more_grants_7.d.next = self.counts_6.q.val().get_bits::<16>(16);
        }
        self.less_grants_7.d.next = self.counts_6.q.val().get_bits::<16>(16) - 1;
        self.has_grant_7.d.next = self.counts_6.q.val().get_bits::<16>(16) != 0;
        self.last_grant_7.d.next = self.counts_6.q.val().get_bits::<16>(16) == 1;
        self.flags_7.d.next = self.flags_6.q.val();

        // t + 7: what the event does. Of a closed flow only open and visit do anything.
        self.turn.next = self.flags_7.q.val().get_bits::<4>(0);
        self.was_open.next = self.flags_7.q.val().get_bit(4);
        self.was_queued.next = self.flags_7.q.val().get_bit(5);
        self.was_refused.next = self.flags_7.q.val().get_bit(6);
        self.requests.next = self.visit_7.val()
            && self.has_unsent_7.q.val()
            && !self.was_refused.val()
            && (self.has_grant_7.q.val() || self.is_due_7.q.val());
        self.spends.next = self.requests.val() && !self.has_grant_7.q.val();
        self.stays.next =
            self.has_unsent_7.q.val() && !(self.requests.val() && self.last_unsent_7.q.val());
        // A packet that went by the pace leaves no spacing; one that went by a grant changes none.
        self.still_due.next = self.requests.val()
            && self.has_grant_7.q.val()
            && (!self.last_grant_7.q.val() || self.is_due_7.q.val());
        self.posts.next = self.post_7.val() && self.was_open.val();
        self.refuses.next = self.refusal_7.val() && self.was_open.val();
        self.grants.next = self.grant_7.val() && self.was_open.val();
        self.probes.next = self.refuses.val() && self.probing_7.val() && self.room_7.val();

        self.request_8.d.next = self.requests.val();
        self.probe_8.d.next = self.probes.val();
        self.path_8.d.next = self.turn.val();
        self.enters_8.d.next = (self.posts.val() || self.refuses.val()) && !self.was_queued.val();
        self.leaves_8.d.next = self.visit_7.val() && !self.stays.val();
        self.spent_8.d.next = self.spends.val();
        self.stays_8.d.next = self.visit_7.val() && self.stays.val();
        self.refused_8.d.next = self.was_refused.val();
        self.eager_8.d.next = self.probing_7.val() || self.still_due.val();

        // t + 8: a flow that enters goes to the ring, as one that is due or probes.
        self.longest.rate_7.next = self.rate_7.val();
        self.longest.spent_8.next = self.spent_8.q.val();
        self.waits.next = 0.into();
        if self.stays_8.q.val() {
            if self.refused_8.q.val() {
                self.waits.next = 1.into();
            } else if !self.eager_8.q.val() {
                self.waits.next = self.longest.queue.val();
            }
        }
        self.to_ring.next =
            self.enters_8.q.val() || (self.stays_8.q.val() && !self.waits.val().any());
        self.to_wait.next = self.waits.val();
        self.request.next = self.request_8.q.val();
        self.probe.next = self.probe_8.q.val();
        self.probe_path.next = self.path_8.q.val();
        self.enters.next = self.enters_8.q.val();
        self.leaves.next = self.leaves_8.q.val();

        // t + 7: the new word.
        self.next_unsent.next = self.unsent_7.q.val();
        if self.posts.val() || self.refuses.val() {
            self.next_unsent.next = self.more_unsent_7.q.val();
        }
        if self.requests.val() {
            self.next_unsent.next = self.less_unsent_7.q.val();
        }
        self.next_grants.next = self.grants_7.q.val();
        if self.grants.val() {
            self.next_grants.next = self.more_grants_7.q.val();
        }
        if self.requests.val() && self.has_grant_7.q.val() {
            self.next_grants.next = self.less_grants_7.q.val();
        }
        self.next_credit.next = self.credit_7.q.val();
        self.next_spacing.next = self.spacing_7.q.val();
        if self.spends.val() {
            self.next_credit.next =
                self.credit_7.q.val() - bit_cast::<37, 35>(self.one_packet.val());
            self.next_spacing.next = 0.into();
        }
        self.next_turn.next = self.turn.val();
        if self.probes.val() {
            self.next_turn.next = (self.turn.val() + 1) & self.path_mask.val();
        }
        self.next_open.next = self.open_7.val() || (self.was_open.val() && !self.close_7.val());
        self.next_queued.next = self.was_queued.val() || self.posts.val() || self.refuses.val();
        if self.visit_7.val() {
            self.next_queued.next = self.stays.val();
        }
        self.next_refused.next =
            self.was_refused.val() && !self.visit_7.val() && !self.grants.val();
        if self.refuses.val() {
            self.next_refused.next = !self.probing_7.val();
        }
        if self.open_7.val() || self.close_7.val() {
            self.next_unsent.next = 0.into();
        }
        if self.open_7.val() || self.init_write.val() {
            self.next_unsent.next = 0.into();
            self.next_grants.next = 0.into();
            self.next_credit.next = self.full_credit.val();
            self.next_spacing.next = self.one_packet.val();
            self.next_turn.next = 0.into();
            self.next_refused.next = false;
        }
        if self.init_write.val() {
            self.next_open.next = false;
            self.next_queued.next = false;
        }
        self.words.write_enable.next = self.visit_7.val()
            || self.post_7.val()
            || self.refusal_7.val()
            || self.grant_7.val()
            || self.open_7.val()
            || self.close_7.val()
            || self.init_write.val();
        self.words.write_address.next = self.flow_7.val();
        if self.init_write.val() {
            self.words.write_address.next = self.init_flow.val();
        }
        self.words.write_data.next = bit_cast::<WORD, 16>(self.next_unsent.val())
            | (bit_cast::<WORD, 16>(self.next_grants.val()) << 16)
            | (bit_cast::<WORD, 37>(self.next_credit.val()) << 32)
            | (bit_cast::<WORD, 35>(self.next_spacing.val()) << 69)
            | (bit_cast::<WORD, 4>(self.next_turn.val()) << 104)
            | (bit_cast::<WORD, 1>(self.next_open.val().into()) << 108)
            | (bit_cast::<WORD, 1>(self.next_queued.val().into()) << 109)
            | (bit_cast::<WORD, 1>(self.next_refused.val().into()) << 110);

        if self.rst.val() {
            self.request_8.d.next = false;
            self.probe_8.d.next = false;
            self.stays_8.d.next = false;
            self.enters_8.d.next = false;
            self.leaves_8.d.next = false;
        }
    }
}
