//! The picker: the (skip + 1)-th smallest unsent PSN of a flow.

use super::{PickGroup, PickLeaf, PickNode, OWN_FLOW_INTERVAL};
use crate::prim::{Delay, ModuleId, Reg};
use crate::stream::{InitSweep, IssueGate, StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

const RECENT: usize = OWN_FLOW_INTERVAL - 1;

/// Skip-indexed unsent-PSN picker over windows of `64 G` PSNs; `LG` is the logarithm of `G`.
///
/// A request names a flow, a skip and a bound; the answer is the (skip + 1)-th smallest unsent PSN
/// below the bound and within the window, or the largest one when there are not that many, and
/// the PSN counts as sent. Contract: a flow's bound never moves back.
///
/// Comments give the clock `t + n`, counted from the clock `t` in which the request is issued.
#[derive(Clone, Debug, LogicBlock)]
pub struct PsnPicker<const G: usize, const LG: usize> {
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
    /// A packet is to be picked.
    pub req_valid: Signal<In, Bit>,
    /// The request is accepted.
    pub req_ready: Signal<Out, Bit>,
    /// Flow of the request.
    pub req_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path, handed on.
    pub req_path: Signal<In, Bits<4>>,
    /// Unsent PSNs to pass over.
    pub req_skip: Signal<In, Bits<10>>,
    /// First PSN that must not be picked.
    pub req_bound: Signal<In, Bits<24>>,
    /// An answer.
    pub res_valid: Signal<Out, Bit>,
    /// The answer is taken.
    pub res_ready: Signal<In, Bit>,
    /// Flow of the answer.
    pub res_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// The request's path.
    pub res_path: Signal<Out, Bits<4>>,
    /// There was an unsent PSN.
    pub res_found: Signal<Out, Bit>,
    /// The PSN; 0 when there was none.
    pub res_psn: Signal<Out, Bits<24>>,
    gate: IssueGate<RECENT>,
    sweep: InitSweep,
    results: StreamFifo<Bits<39>, QUEUE_ADDRESS_BITS>,
    group_level: PickGroup<G, LG>,
    node_level: PickNode,
    leaf_level: PickLeaf,
    held: Reg<Bit>,
    held_flow: Reg<Bits<FLOW_BITS>>,
    held_path: Reg<Bits<4>>,
    held_skip: Reg<Bits<10>>,
    held_bound: Reg<Bits<24>>,
    valid: Reg<Bits<22>>,
    flow_7: Delay<Bits<FLOW_BITS>, 7>,
    flow_9: Delay<Bits<FLOW_BITS>, 2>,
    flow_16: Delay<Bits<FLOW_BITS>, 7>,
    flow_22: Delay<Bits<FLOW_BITS>, 6>,
    path_22: Delay<Bits<4>, 22>,
    group_16: Delay<Bits<18>, 7>,
    group_22: Delay<Bits<18>, 6>,
    found_15: Delay<Bit, 6>,
    found_16: Reg<Bit>,
    found_22: Delay<Bit, 6>,
    byte_16: Reg<Bits<3>>,
    byte_22: Delay<Bits<3>, 6>,
    rank_16: Reg<Bits<4>>,
    room_16: Reg<Bits<4>>,
    take: Signal<Local, Bit>,
    slot_9: Signal<Local, Bits<3>>,
    slot_16: Signal<Local, Bits<3>>,
    group_at: Signal<Local, Bits<13>>,
    byte_at: Signal<Local, Bits<16>>,
    psn: Signal<Local, Bits<24>>,
    init_slot: Signal<Local, Bits<3>>,
    init_byte: Signal<Local, Bits<3>>,
    init_low: Signal<Local, Bits<3>>,
    init_lap: Signal<Local, Bit>,
    init_group_starts: Signal<Local, Bit>,
    init_part: [Signal<Local, Bits<4>>; 8],
    init_counts: Signal<Local, Bits<32>>,
    init_bits: Signal<Local, Bits<8>>,
    slot_mask: Constant<Bits<3>>,
    slot_bits: Constant<Bits<5>>,
    lap_of_bytes: Constant<Bits<32>>,
}

impl<const G: usize, const LG: usize> PsnPicker<G, LG> {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_picker_{}", 64 * G),
                &format!(
                    "Picks the (skip+1)-th smallest unsent PSN: windows of {} PSNs, {flows} flows.\n\
                     One pick a clock across flows, a flow's own {OWN_FLOW_INTERVAL} clocks apart.\n\
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
            req_path: Signal::default(),
            req_skip: Signal::default(),
            req_bound: Signal::default(),
            res_valid: Signal::default(),
            res_ready: Signal::default(),
            res_flow: Signal::default(),
            res_path: Signal::default(),
            res_found: Signal::default(),
            res_psn: Signal::default(),
            gate: IssueGate::default(),
            sweep: InitSweep::new(flows, 8 * G),
            results: StreamFifo::new("picker"),
            group_level: PickGroup::new(flows),
            node_level: PickNode::new(flows * G),
            leaf_level: PickLeaf::new(flows * G * 8),
            held: Reg::default(),
            held_flow: Reg::default(),
            held_path: Reg::default(),
            held_skip: Reg::default(),
            held_bound: Reg::default(),
            valid: Reg::default(),
            flow_7: Delay::default(),
            flow_9: Delay::default(),
            flow_16: Delay::default(),
            flow_22: Delay::default(),
            path_22: Delay::default(),
            group_16: Delay::default(),
            group_22: Delay::default(),
            found_15: Delay::default(),
            found_16: Reg::default(),
            found_22: Delay::default(),
            byte_16: Reg::default(),
            byte_22: Delay::default(),
            rank_16: Reg::default(),
            room_16: Reg::default(),
            take: Signal::default(),
            slot_9: Signal::default(),
            slot_16: Signal::default(),
            group_at: Signal::default(),
            byte_at: Signal::default(),
            psn: Signal::default(),
            init_slot: Signal::default(),
            init_byte: Signal::default(),
            init_low: Signal::default(),
            init_lap: Signal::default(),
            init_group_starts: Signal::default(),
            init_part: Default::default(),
            init_counts: Signal::default(),
            init_bits: Signal::default(),
            slot_mask: Constant::new((G as u64 - 1).into()),
            slot_bits: Constant::new((LG as u64).into()),
            lap_of_bytes: Constant::new(0x8888_8888u64.into()),
        }
    }
}

impl<const G: usize, const LG: usize> Logic for PsnPicker<G, LG> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, held, held_flow, held_path, held_skip, held_bound, valid);
        dff_setup!(self, clk, found_16, byte_16, rank_16, room_16);
        self.gate.clk.next = self.clk.val();
        self.sweep.clk.next = self.clk.val();
        self.results.clk.next = self.clk.val();
        self.group_level.clk.next = self.clk.val();
        self.node_level.clk.next = self.clk.val();
        self.leaf_level.clk.next = self.clk.val();
        self.flow_7.clk.next = self.clk.val();
        self.flow_9.clk.next = self.clk.val();
        self.flow_16.clk.next = self.clk.val();
        self.flow_22.clk.next = self.clk.val();
        self.path_22.clk.next = self.clk.val();
        self.group_16.clk.next = self.clk.val();
        self.group_22.clk.next = self.clk.val();
        self.found_15.clk.next = self.clk.val();
        self.found_22.clk.next = self.clk.val();
        self.byte_22.clk.next = self.clk.val();
        self.gate.rst.next = self.rst.val();
        self.sweep.rst.next = self.rst.val();
        self.results.rst.next = self.rst.val();

        // Door: one request waits until the gate lets it in.
        self.gate.waiting.next = self.held.q.val();
        self.gate.flow.next = self.held_flow.q.val();
        self.gate.busy.next = self.sweep.busy.val();
        self.gate.popped.next = self.results.valid.val() && self.res_ready.val();
        self.take.next = !self.sweep.busy.val() && (!self.held.q.val() || self.gate.issue.val());
        self.req_ready.next = self.take.val();
        if self.gate.issue.val() {
            self.held.d.next = false;
        }
        if self.take.val() && self.req_valid.val() {
            self.held.d.next = true;
            self.held_flow.d.next = self.req_flow.val();
            self.held_path.d.next = self.req_path.val();
            self.held_skip.d.next = self.req_skip.val();
            self.held_bound.d.next = self.req_bound.val();
        }
        // valid[n - 1]: a request is at t + n.
        self.valid.d.next =
            (self.valid.q.val() << 1) | bit_cast::<22, 1>(self.gate.issue.val().into());
        self.sweep.open_valid.next = self.open_valid.val();
        self.sweep.open_flow.next = self.open_flow.val();
        self.sweep.open_psn.next = self.open_psn.val();
        self.open_ready.next = self.sweep.open_ready.val();

        // t .. t + 9: the group.
        self.flow_7.d.next = self.held_flow.q.val();
        self.flow_9.d.next = self.flow_7.q.val();
        self.flow_16.d.next = self.flow_9.q.val();
        self.flow_22.d.next = self.flow_16.q.val();
        self.path_22.d.next = self.held_path.q.val();
        self.group_level.flow.next = self.held_flow.q.val();
        self.group_level.skip.next = self.held_skip.q.val();
        self.group_level.bound.next = self.held_bound.q.val();
        self.group_level.valid_7.next = self.valid.q.val().get_bit(6);
        self.group_level.flow_7.next = self.flow_7.q.val();

        // t + 9 .. t + 15: the byte.
        self.slot_9.next = self.group_level.group.val().get_bits::<3>(0) & self.slot_mask.val();
        self.group_at.next = (bit_cast::<13, FLOW_BITS>(self.flow_9.q.val())
            << self.slot_bits.val())
            | bit_cast::<13, 3>(self.slot_9.val());
        self.node_level.address.next = self.group_at.val();
        self.node_level.lap.next =
            (self.group_level.group.val() >> self.slot_bits.val()).get_bit(0);
        self.node_level.k.next = self.group_level.rank.val();
        self.node_level.room.next = self.group_level.room.val();
        self.found_15.d.next = self.group_level.found.val();
        self.node_level.write.next = self.valid.q.val().get_bit(14) && self.found_15.q.val();

        // t + 16 .. t + 22: the PSN.
        self.group_16.d.next = self.group_level.group.val();
        self.group_22.d.next = self.group_16.q.val();
        self.found_16.d.next = self.found_15.q.val();
        self.found_22.d.next = self.found_16.q.val();
        self.byte_16.d.next = self.node_level.index.val();
        self.byte_22.d.next = self.byte_16.q.val();
        self.rank_16.d.next = bit_cast::<4, 7>(self.node_level.rank.val());
        self.room_16.d.next = bit_cast::<4, 7>(self.node_level.child_room.val());
        self.slot_16.next = self.group_16.q.val().get_bits::<3>(0) & self.slot_mask.val();
        self.byte_at.next = (((bit_cast::<16, FLOW_BITS>(self.flow_16.q.val())
            << self.slot_bits.val())
            | bit_cast::<16, 3>(self.slot_16.val()))
            << 3)
            | bit_cast::<16, 3>(self.byte_16.q.val());
        self.leaf_level.address.next = self.byte_at.val();
        self.leaf_level.lap.next = (self.group_16.q.val() >> self.slot_bits.val()).get_bit(0);
        self.leaf_level.k.next = self.rank_16.q.val();
        self.leaf_level.room.next = self.room_16.q.val();
        self.leaf_level.write.next = self.valid.q.val().get_bit(21) && self.found_22.q.val();

        // t + 22: answer.
        self.psn.next = 0.into();
        if self.found_22.q.val() {
            self.psn.next = (bit_cast::<24, 18>(self.group_22.q.val()) << 6)
                | (bit_cast::<24, 3>(self.byte_22.q.val()) << 3)
                | bit_cast::<24, 3>(self.leaf_level.index.val());
        }
        self.results.push.next = self.valid.q.val().get_bit(21);
        self.results.push_data.next = bit_cast::<39, 24>(self.psn.val())
            | (bit_cast::<39, 1>(self.found_22.q.val().into()) << 24)
            | (bit_cast::<39, 4>(self.path_22.q.val()) << 25)
            | (bit_cast::<39, FLOW_BITS>(self.flow_22.q.val()) << 29);
        self.results.ready.next = self.res_ready.val();
        self.res_valid.next = self.results.valid.val();
        self.res_psn.next = self.results.data.val().get_bits::<24>(0);
        self.res_found.next = self.results.data.val().get_bit(24);
        self.res_path.next = self.results.data.val().get_bits::<4>(25);
        self.res_flow.next = self.results.data.val().get_bits::<FLOW_BITS>(29);

        // Init sweep: PSNs before the first count as sent, all later ones as unsent.
        self.group_level.init_write.next = self.sweep.write.val();
        self.group_level.init_flow.next = self.sweep.flow.val();
        self.group_level.init_psn.next = self.sweep.psn.val();
        self.init_slot.next = bit_cast::<3, 6>(self.sweep.sub.val() >> 3);
        self.init_byte.next = self.sweep.sub.val().get_bits::<3>(0);
        self.init_low.next = bit_cast::<3, 24>(self.sweep.psn.val() >> 6) & self.slot_mask.val();
        self.init_lap.next = ((self.sweep.psn.val() >> 6) >> self.slot_bits.val()).get_bit(0)
            ^ (self.init_slot.val() < self.init_low.val());
        self.init_group_starts.next = self.init_slot.val() == self.init_low.val();
        for i in 0..8 {
            self.init_part[i].next = 0.into();
            if self.init_group_starts.val() {
                if self.sweep.psn.val().get_bits::<3>(3) > i.to_bits() {
                    self.init_part[i].next = 8.into();
                } else if self.sweep.psn.val().get_bits::<3>(3) == i.to_bits() {
                    self.init_part[i].next = self.sweep.psn.val().get_bits::<3>(0).get_bits::<4>(0);
                }
            }
        }
        self.node_level.init_write.next = self.sweep.write.val();
        self.node_level.init_address.next = (bit_cast::<13, FLOW_BITS>(self.sweep.flow.val())
            << self.slot_bits.val())
            | bit_cast::<13, 3>(self.init_slot.val());
        self.init_counts.next = bit_cast::<32, 4>(self.init_part[0].val())
            | (bit_cast::<32, 4>(self.init_part[1].val()) << 4)
            | (bit_cast::<32, 4>(self.init_part[2].val()) << 8)
            | (bit_cast::<32, 4>(self.init_part[3].val()) << 12)
            | (bit_cast::<32, 4>(self.init_part[4].val()) << 16)
            | (bit_cast::<32, 4>(self.init_part[5].val()) << 20)
            | (bit_cast::<32, 4>(self.init_part[6].val()) << 24)
            | (bit_cast::<32, 4>(self.init_part[7].val()) << 28);
        self.node_level.init_word.next = self.init_counts.val();
        if self.init_lap.val() {
            self.node_level.init_word.next = self.init_counts.val() ^ self.lap_of_bytes.val();
        }
        self.init_bits.next = 0.into();
        if self.init_group_starts.val() {
            if self.sweep.psn.val().get_bits::<3>(3) > self.init_byte.val() {
                self.init_bits.next = 0xff.into();
            } else if self.sweep.psn.val().get_bits::<3>(3) == self.init_byte.val() {
                self.init_bits.next = (bits::<8>(1) << self.sweep.psn.val().get_bits::<3>(0)) - 1;
            }
        }
        self.leaf_level.init_write.next = self.sweep.write.val();
        self.leaf_level.init_address.next = (((bit_cast::<16, FLOW_BITS>(self.sweep.flow.val())
            << self.slot_bits.val())
            | bit_cast::<16, 3>(self.init_slot.val()))
            << 3)
            | bit_cast::<16, 3>(self.init_byte.val());
        // A sent PSN's bit differs from its lap.
        self.leaf_level.init_word.next = self.init_bits.val();
        if self.init_lap.val() {
            self.leaf_level.init_word.next = !self.init_bits.val();
        }

        if self.rst.val() {
            self.held.d.next = false;
            self.valid.d.next = 0.into();
        }
    }
}
