//! The ledger: one pipeline for all that happens to packets in the transmit pool.

use super::{
    EventArbiter, FlowWitness, HealCheck, LossJudge, SlotLookup, SlotPool, EVENT_BITS, SLOT_BITS,
};
use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::{InitSweep, LevelFifo, FLOW_BITS};
use rust_hdl::prelude::*;

/// Ledger of the transmit pool.
///
/// A record a slot: live 0, sent 1, in flight 2, flow 12:3, PSN 36:13, path 40:37, send time 72:41.
/// Events in order of precedence: *sent*; what [`SlotLookup`] found (*ACK*, *NAK*, *ACK of a probe*, *heal*,
/// *again*); *commit*; and with every clock that is left a *scan* of the next slot for loss.
///
/// Invariants: an event reads a record after the event before it of the same slot has written it, and an
/// ACK or scan the flow's state after the ACK before it. A PSN that was sent and is not acknowledged is
/// in flight on exactly one path, or in the queue of lost PSNs, or on its way from there to its
/// next transmission. Comments count clocks from the event's `t`.
#[derive(Clone, Debug, LogicBlock)]
pub struct Ledger {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: every slot is free.
    pub rst: Signal<In, Bit>,
    /// Open a flow at a first PSN; its slots must be free.
    pub open_valid: Signal<In, Bit>,
    /// The open is accepted.
    pub open_ready: Signal<Out, Bit>,
    /// Flow to open.
    pub open_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Its first PSN.
    pub open_psn: Signal<In, Bits<24>>,
    /// Write a flow's recovery parameters.
    pub recovery_write: Signal<In, Bit>,
    /// Flow.
    pub recovery_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Timeout ns 31:0, slack ns 63:32 (below 2^31), threshold 79:64, flow is open 80. The slots of a
    /// flow that is not open are freed, one after the other.
    pub recovery_data: Signal<In, Bits<81>>,
    /// Time, ns.
    pub now_ns: Signal<In, Bits<32>>,
    /// A free slot is on offer.
    pub free_valid: Signal<Out, Bit>,
    /// It is taken.
    pub free_ready: Signal<In, Bit>,
    /// Its number.
    pub free_slot: Signal<Out, Bits<SLOT_BITS>>,
    /// Free slots.
    pub free_count: Signal<Out, Bits<11>>,
    /// A slot holds a packet that is to be sent.
    pub commit_valid: Signal<In, Bit>,
    /// It is noted.
    pub commit_ready: Signal<Out, Bit>,
    /// Flow.
    pub commit_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub commit_psn: Signal<In, Bits<24>>,
    /// Slot.
    pub commit_slot: Signal<In, Bits<SLOT_BITS>>,
    /// A packet was sent; at most every second clock.
    pub sent_valid: Signal<In, Bit>,
    /// Flow.
    pub sent_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub sent_psn: Signal<In, Bits<24>>,
    /// Slot.
    pub sent_slot: Signal<In, Bits<SLOT_BITS>>,
    /// Path.
    pub sent_path: Signal<In, Bits<4>>,
    /// Send time, ns.
    pub sent_ns: Signal<In, Bits<32>>,
    /// An ACK or NAK arrived.
    pub ack_valid: Signal<In, Bit>,
    /// It is taken.
    pub ack_ready: Signal<Out, Bit>,
    /// Flow.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path that the acknowledged packet took.
    pub ack_path: Signal<In, Bits<4>>,
    /// PSN.
    pub ack_psn: Signal<In, Bits<24>>,
    /// The receiver's next expected PSN.
    pub ack_expected: Signal<In, Bits<24>>,
    /// A probe is acknowledged.
    pub ack_probe: Signal<In, Bit>,
    /// The packet was dropped.
    pub ack_nak: Signal<In, Bit>,
    /// Echoed send time, ns.
    pub ack_sent_ns: Signal<In, Bits<32>>,
    /// Receive time, ns of the receiver's clock.
    pub ack_received_ns: Signal<In, Bits<32>>,
    /// When the ACK arrived, ns.
    pub ack_now_ns: Signal<In, Bits<32>>,
    /// A PSN is acknowledged: to the sender datapath's ACK port.
    pub settled_valid: Signal<Out, Bit>,
    /// It is taken.
    pub settled_ready: Signal<In, Bit>,
    /// Flow.
    pub settled_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN.
    pub settled_psn: Signal<Out, Bits<24>>,
    /// Path of its latest transmission.
    pub settled_path: Signal<Out, Bits<4>>,
    /// It was in flight there.
    pub settled_count: Signal<Out, Bit>,
    /// A packet is in flight no more, though not acknowledged.
    pub resolve_valid: Signal<Out, Bit>,
    /// It is taken.
    pub resolve_ready: Signal<In, Bit>,
    /// Flow.
    pub resolve_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path.
    pub resolve_path: Signal<Out, Bits<4>>,
    /// A lost PSN is to be sent again.
    pub again_valid: Signal<Out, Bit>,
    /// It is taken.
    pub again_ready: Signal<In, Bit>,
    /// Flow.
    pub again_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN.
    pub again_psn: Signal<Out, Bits<24>>,
    /// There was no path for it: it waits again.
    pub unsent_valid: Signal<In, Bit>,
    /// It is taken back.
    pub unsent_ready: Signal<Out, Bit>,
    /// Flow.
    pub unsent_flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN.
    pub unsent_psn: Signal<In, Bits<24>>,
    /// Lost PSNs that wait.
    pub lost_count: Signal<Out, Bits<11>>,
    /// The sender datapath has counted a PSN.
    pub acked_valid: Signal<In, Bit>,
    /// Flow.
    pub acked_flow: Signal<In, Bits<FLOW_BITS>>,
    /// The flow's lowest unacknowledged PSN.
    pub acked_una: Signal<In, Bits<24>>,
    /// An event for the control side, one a clock at most, without back-pressure.
    pub account_valid: Signal<Out, Bit>,
    /// `rondo_models::ledger::Kind`: sent, ACK, ACK of a probe, heal; a loss is a scan or a NAK.
    pub account_kind: Signal<Out, Bits<3>>,
    /// Flow.
    pub account_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Path: sent on, lost on, healed on; of an ACK the path of the packet that arrived.
    pub account_path: Signal<Out, Bits<4>>,
    /// Path of the PSN's latest transmission.
    pub account_freed_path: Signal<Out, Bits<4>>,
    /// It was in flight there.
    pub account_in_flight: Signal<Out, Bit>,
    /// The loss was found by its age alone.
    pub account_timeout: Signal<Out, Bit>,
    /// Send time, ns; of an ACK the echoed one.
    pub account_sent_ns: Signal<Out, Bits<32>>,
    /// Receive time, ns of the receiver's clock (ACKs).
    pub account_received_ns: Signal<Out, Bits<32>>,
    /// Arrival of the ACK, time of the search, ns.
    pub account_now_ns: Signal<Out, Bits<32>>,
    /// Monitor: an event enters the pipeline.
    pub event_valid: Signal<Out, Bit>,
    /// Monitor: its kind.
    pub event_kind: Signal<Out, Bits<3>>,
    /// Monitor: its slot.
    pub event_slot: Signal<Out, Bits<SLOT_BITS>>,
    /// Monitor: its flow; of a scan not valid.
    pub event_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// Monitor: its PSN; of a scan not valid.
    pub event_psn: Signal<Out, Bits<24>>,
    /// Monitor: its time, ns.
    pub event_ns: Signal<Out, Bits<32>>,
    sweep: InitSweep,
    pool: SlotPool,
    lookup: SlotLookup,
    arbiter: EventArbiter,
    witness: FlowWitness,
    judge: LossJudge,
    heal: HealCheck,
    sents: LevelFifo<Bits<EVENT_BITS>, 9>,
    waiting: LevelFifo<Bits<34>, 10>,
    agains: LevelFifo<Bits<34>, 5>,
    settlements: LevelFifo<Bits<39>, 5>,
    resolved: LevelFifo<Bits<14>, 5>,
    records: Ram<Bits<73>, SLOT_BITS>,
    valid: Reg<Bits<5>>,
    event_1: Reg<Bits<EVENT_BITS>>,
    event_2: Reg<Bits<EVENT_BITS>>,
    record_2: Reg<Bits<73>>,
    same_flow_2: Reg<Bit>,
    same_psn_2: Reg<Bit>,
    match_3: Reg<Bit>,
    same_sending_3: Reg<Bit>,
    open_3: Reg<Bit>,
    event_5: Delay<Bits<EVENT_BITS>, 3>,
    record_5: Delay<Bits<73>, 3>,
    match_5: Delay<Bit, 2>,
    same_sending_5: Delay<Bit, 2>,
    open_5: Delay<Bit, 2>,
    quiet: Signal<Local, Bit>,
    stop: Signal<Local, Bit>,
    take_commit: Signal<Local, Bit>,
    entering: Signal<Local, Bits<EVENT_BITS>>,
    commit_event: Signal<Local, Bits<EVENT_BITS>>,
    kind_1: Signal<Local, Bits<3>>,
    kind: Signal<Local, Bits<3>>,
    here: Signal<Local, Bit>,
    is_sent: Signal<Local, Bit>,
    sent_right: Signal<Local, Bit>,
    sent_wrong: Signal<Local, Bit>,
    acknowledged: Signal<Local, Bit>,
    acks: Signal<Local, Bit>,
    was_sent: Signal<Local, Bit>,
    in_flight: Signal<Local, Bit>,
    live: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    found_lost: Signal<Local, Bit>,
    abandoned: Signal<Local, Bit>,
    losing: Signal<Local, Bit>,
    commits: Signal<Local, Bit>,
    resend: Signal<Local, Bit>,
    write_record: Signal<Local, Bit>,
}

impl Ledger {
    /// For `flows` flows of `paths` paths and a pool of `slots` slots (at most 1,024).
    pub fn new(flows: usize, paths: usize, slots: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_ledger",
                &format!(
                    "What became of every packet in the transmit pool: {slots} slots, {flows} flows.\n\
                     A suffix _n is the clock after the event in which the value is present."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            open_valid: Signal::default(),
            open_ready: Signal::default(),
            open_flow: Signal::default(),
            open_psn: Signal::default(),
            recovery_write: Signal::default(),
            recovery_flow: Signal::default(),
            recovery_data: Signal::default(),
            now_ns: Signal::default(),
            free_valid: Signal::default(),
            free_ready: Signal::default(),
            free_slot: Signal::default(),
            free_count: Signal::default(),
            commit_valid: Signal::default(),
            commit_ready: Signal::default(),
            commit_flow: Signal::default(),
            commit_psn: Signal::default(),
            commit_slot: Signal::default(),
            sent_valid: Signal::default(),
            sent_flow: Signal::default(),
            sent_psn: Signal::default(),
            sent_slot: Signal::default(),
            sent_path: Signal::default(),
            sent_ns: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_probe: Signal::default(),
            ack_nak: Signal::default(),
            ack_sent_ns: Signal::default(),
            ack_received_ns: Signal::default(),
            ack_now_ns: Signal::default(),
            settled_valid: Signal::default(),
            settled_ready: Signal::default(),
            settled_flow: Signal::default(),
            settled_psn: Signal::default(),
            settled_path: Signal::default(),
            settled_count: Signal::default(),
            resolve_valid: Signal::default(),
            resolve_ready: Signal::default(),
            resolve_flow: Signal::default(),
            resolve_path: Signal::default(),
            again_valid: Signal::default(),
            again_ready: Signal::default(),
            again_flow: Signal::default(),
            again_psn: Signal::default(),
            unsent_valid: Signal::default(),
            unsent_ready: Signal::default(),
            unsent_flow: Signal::default(),
            unsent_psn: Signal::default(),
            lost_count: Signal::default(),
            acked_valid: Signal::default(),
            acked_flow: Signal::default(),
            acked_una: Signal::default(),
            account_valid: Signal::default(),
            account_kind: Signal::default(),
            account_flow: Signal::default(),
            account_path: Signal::default(),
            account_freed_path: Signal::default(),
            account_in_flight: Signal::default(),
            account_timeout: Signal::default(),
            account_sent_ns: Signal::default(),
            account_received_ns: Signal::default(),
            account_now_ns: Signal::default(),
            event_valid: Signal::default(),
            event_kind: Signal::default(),
            event_slot: Signal::default(),
            event_flow: Signal::default(),
            event_psn: Signal::default(),
            event_ns: Signal::default(),
            sweep: InitSweep::new(flows, paths),
            pool: SlotPool::new(slots),
            lookup: SlotLookup::new(flows),
            arbiter: EventArbiter::new(slots),
            witness: FlowWitness::new(flows, paths),
            judge: LossJudge::default(),
            heal: HealCheck::new(flows),
            sents: LevelFifo::new("sents", 511),
            waiting: LevelFifo::new("lost", 768),
            agains: LevelFifo::new("agains", 20),
            settlements: LevelFifo::new("settled", 20),
            resolved: LevelFifo::new("resolved", 20),
            records: Ram::new(slots.next_power_of_two()),
            valid: Reg::default(),
            event_1: Reg::default(),
            event_2: Reg::default(),
            record_2: Reg::default(),
            same_flow_2: Reg::default(),
            same_psn_2: Reg::default(),
            match_3: Reg::default(),
            same_sending_3: Reg::default(),
            open_3: Reg::default(),
            event_5: Delay::default(),
            record_5: Delay::default(),
            match_5: Delay::default(),
            same_sending_5: Delay::default(),
            open_5: Delay::default(),
            quiet: Signal::default(),
            stop: Signal::default(),
            take_commit: Signal::default(),
            entering: Signal::default(),
            commit_event: Signal::default(),
            kind_1: Signal::default(),
            kind: Signal::default(),
            here: Signal::default(),
            is_sent: Signal::default(),
            sent_right: Signal::default(),
            sent_wrong: Signal::default(),
            acknowledged: Signal::default(),
            acks: Signal::default(),
            was_sent: Signal::default(),
            in_flight: Signal::default(),
            live: Signal::default(),
            refused: Signal::default(),
            found_lost: Signal::default(),
            abandoned: Signal::default(),
            losing: Signal::default(),
            commits: Signal::default(),
            resend: Signal::default(),
            write_record: Signal::default(),
        }
    }
}

impl Logic for Ledger {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            valid,
            event_1,
            event_2,
            record_2,
            same_flow_2,
            same_psn_2
        );
        dff_setup!(self, clk, match_3, same_sending_3, open_3);
        clock!(self, clk, records);
        self.sweep.clk.next = self.clk.val();
        self.pool.clk.next = self.clk.val();
        self.lookup.clk.next = self.clk.val();
        self.arbiter.clk.next = self.clk.val();
        self.witness.clk.next = self.clk.val();
        self.judge.clk.next = self.clk.val();
        self.heal.clk.next = self.clk.val();
        self.sents.clk.next = self.clk.val();
        self.waiting.clk.next = self.clk.val();
        self.agains.clk.next = self.clk.val();
        self.settlements.clk.next = self.clk.val();
        self.resolved.clk.next = self.clk.val();
        self.event_5.clk.next = self.clk.val();
        self.record_5.clk.next = self.clk.val();
        self.match_5.clk.next = self.clk.val();
        self.same_sending_5.clk.next = self.clk.val();
        self.open_5.clk.next = self.clk.val();
        self.sweep.rst.next = self.rst.val();
        self.pool.rst.next = self.rst.val();
        self.lookup.rst.next = self.rst.val();
        self.arbiter.rst.next = self.rst.val();
        self.heal.rst.next = self.rst.val();
        self.sents.rst.next = self.rst.val();
        self.waiting.rst.next = self.rst.val();
        self.agains.rst.next = self.rst.val();
        self.settlements.rst.next = self.rst.val();
        self.resolved.rst.next = self.rst.val();

        // Doors.
        // An open stops the pipeline for up to 47 clocks, a reader that does not take what it is
        // offered for longer. What was sent meanwhile waits, and an open lets the queue empty first.
        self.quiet.next = self.sents.level.val() < 4;
        self.sweep.open_valid.next = self.open_valid.val() && self.quiet.val();
        self.open_ready.next = self.sweep.open_ready.val() && self.quiet.val();
        self.sweep.open_flow.next = self.open_flow.val();
        self.sweep.open_psn.next = self.open_psn.val();
        self.sents.push.next = self.sent_valid.val();
        self.sents.push_data.next = bits::<EVENT_BITS>(1)
            | (bit_cast::<EVENT_BITS, 4>(self.sent_path.val()) << 3)
            | (bit_cast::<EVENT_BITS, FLOW_BITS>(self.sent_flow.val()) << 7)
            | (bit_cast::<EVENT_BITS, 24>(self.sent_psn.val()) << 17)
            | (bit_cast::<EVENT_BITS, 32>(self.sent_ns.val()) << 65)
            | (bit_cast::<EVENT_BITS, 32>(self.sent_ns.val()) << 129)
            | (bit_cast::<EVENT_BITS, SLOT_BITS>(self.sent_slot.val()) << 161);
        self.lookup.ack_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.lookup.ack_ready.val();
        self.lookup.ack_event.next = bits::<EVENT_BITS>(2)
            | (bit_cast::<EVENT_BITS, 1>((self.ack_nak.val() && !self.ack_probe.val()).into()))
            | (bit_cast::<EVENT_BITS, 4>(self.ack_path.val()) << 3)
            | (bit_cast::<EVENT_BITS, FLOW_BITS>(self.ack_flow.val()) << 7)
            | (bit_cast::<EVENT_BITS, 24>(self.ack_psn.val()) << 17)
            | (bit_cast::<EVENT_BITS, 24>(self.ack_expected.val()) << 41)
            | (bit_cast::<EVENT_BITS, 32>(self.ack_sent_ns.val()) << 65)
            | (bit_cast::<EVENT_BITS, 32>(self.ack_received_ns.val()) << 97)
            | (bit_cast::<EVENT_BITS, 32>(self.ack_now_ns.val()) << 129);
        if self.ack_probe.val() {
            self.lookup.ack_event.next = bits::<EVENT_BITS>(4)
                | (bit_cast::<EVENT_BITS, 4>(self.ack_path.val()) << 3)
                | (bit_cast::<EVENT_BITS, FLOW_BITS>(self.ack_flow.val()) << 7)
                | (bit_cast::<EVENT_BITS, 32>(self.ack_sent_ns.val()) << 65)
                | (bit_cast::<EVENT_BITS, 32>(self.ack_received_ns.val()) << 97)
                | (bit_cast::<EVENT_BITS, 32>(self.ack_now_ns.val()) << 129);
        }
        self.lookup.heal_valid.next = self.heal.heal_valid.val();
        self.heal.heal_ready.next = self.lookup.heal_ready.val();
        self.lookup.heal_event.next = bits::<EVENT_BITS>(5)
            | (bit_cast::<EVENT_BITS, FLOW_BITS>(self.heal.heal_flow.val()) << 7)
            | (bit_cast::<EVENT_BITS, 24>(self.heal.heal_psn.val()) << 17)
            | (bit_cast::<EVENT_BITS, 32>(self.now_ns.val()) << 129);
        self.lookup.lost_valid.next = self.waiting.valid.val();
        self.waiting.ready.next = self.lookup.lost_ready.val();
        self.lookup.lost_event.next = bits::<EVENT_BITS>(6)
            | (bit_cast::<EVENT_BITS, 24>(self.waiting.data.val().get_bits::<24>(0)) << 17)
            | (bit_cast::<EVENT_BITS, FLOW_BITS>(
                self.waiting.data.val().get_bits::<FLOW_BITS>(24),
            ) << 7)
            | (bit_cast::<EVENT_BITS, 32>(self.now_ns.val()) << 129);
        self.lookup.commit.next = self.take_commit.val();
        self.lookup.commit_flow.next = self.commit_flow.val();
        self.lookup.commit_psn.next = self.commit_psn.val();
        self.lookup.commit_slot.next = self.commit_slot.val();
        self.commit_event.next = (bit_cast::<EVENT_BITS, FLOW_BITS>(self.commit_flow.val()) << 7)
            | (bit_cast::<EVENT_BITS, 24>(self.commit_psn.val()) << 17)
            | (bit_cast::<EVENT_BITS, 32>(self.now_ns.val()) << 129)
            | (bit_cast::<EVENT_BITS, SLOT_BITS>(self.commit_slot.val()) << 161);

        // Which event enters.
        self.stop.next = self.sweep.busy.val()
            || self.pool.filling.val()
            || !self.settlements.room.val()
            || !self.resolved.room.val()
            || !self.agains.room.val();
        self.arbiter.stop.next = self.stop.val();
        self.arbiter.sent_valid.next = self.sents.valid.val();
        self.arbiter.sent_event.next = self.sents.data.val();
        self.sents.ready.next = self.arbiter.sent_ready.val();
        self.arbiter.found_valid.next = self.lookup.found_valid.val();
        self.arbiter.found_event.next = self.lookup.found_event.val();
        self.lookup.found_ready.next = self.arbiter.found_ready.val();
        self.arbiter.commit_valid.next = self.commit_valid.val();
        self.arbiter.commit_event.next = self.commit_event.val();
        self.commit_ready.next = self.arbiter.commit_ready.val();
        self.take_commit.next = self.commit_valid.val() && self.arbiter.commit_ready.val();
        self.arbiter.scan_room.next = self.waiting.room.val();
        self.arbiter.now_ns.next = self.now_ns.val();
        self.here.next = self.arbiter.valid.val();
        self.entering.next = self.arbiter.chosen.val();
        self.event_valid.next = self.here.val();
        self.event_kind.next = self.entering.val().get_bits::<3>(0);
        self.event_slot.next = self.entering.val().get_bits::<SLOT_BITS>(161);
        self.event_flow.next = self.entering.val().get_bits::<FLOW_BITS>(7);
        self.event_psn.next = self.entering.val().get_bits::<24>(17);
        self.event_ns.next = self.entering.val().get_bits::<32>(129);

        // t + 1: the record; a scan takes flow and path from it.
        self.valid.d.next = (self.valid.q.val() << 1) | bit_cast::<5, 1>(self.here.val().into());
        self.event_1.d.next = self.entering.val();
        self.records.read_address.next = self.entering.val().get_bits::<SLOT_BITS>(161);
        self.event_2.d.next = self.event_1.q.val();
        self.record_2.d.next = self.records.read_data.val();
        self.kind_1.next = self.event_1.q.val().get_bits::<3>(0);
        self.same_flow_2.d.next = self.records.read_data.val().get_bit(0)
            && (self.records.read_data.val().get_bits::<FLOW_BITS>(3)
                == self.event_1.q.val().get_bits::<FLOW_BITS>(7));
        self.same_psn_2.d.next = self.records.read_data.val().get_bits::<24>(13)
            == self.event_1.q.val().get_bits::<24>(17);
        self.witness.flow.next = self.event_1.q.val().get_bits::<FLOW_BITS>(7);
        self.witness.path.next = self.event_1.q.val().get_bits::<4>(3);
        if self.kind_1.val() == 7 {
            self.witness.flow.next = self.records.read_data.val().get_bits::<FLOW_BITS>(3);
            self.witness.path.next = self.records.read_data.val().get_bits::<4>(37);
        }

        // t + 2: against what the ACKs told.
        self.match_3.d.next = self.same_flow_2.q.val() && self.same_psn_2.q.val();
        self.same_sending_3.d.next =
            self.event_2.q.val().get_bits::<32>(65) == self.record_2.q.val().get_bits::<32>(41);
        self.open_3.d.next = self.witness.recovery.val().get_bit(80);
        self.event_5.d.next = self.event_2.q.val();
        self.record_5.d.next = self.record_2.q.val();
        self.match_5.d.next = self.match_3.q.val();
        self.same_sending_5.d.next = self.same_sending_3.q.val();
        self.open_5.d.next = self.open_3.q.val();
        self.witness.psn.next = self.event_2.q.val().get_bits::<24>(17);
        self.witness.expected.next = self.event_2.q.val().get_bits::<24>(41);
        self.witness.sent_ns.next = self.event_2.q.val().get_bits::<32>(65);
        self.witness.received_ns.next = self.event_2.q.val().get_bits::<32>(97);
        self.judge.psn.next = self.record_2.q.val().get_bits::<24>(13);
        self.judge.sent_ns.next = self.record_2.q.val().get_bits::<32>(41);
        self.judge.now_ns.next = self.event_2.q.val().get_bits::<32>(129);
        self.judge.known.next = self.witness.known.val();
        self.judge.highest.next = self.witness.highest.val();
        self.judge.arrived_ns.next = self.witness.arrived_ns.val();
        self.judge.latest_ns.next = self.witness.latest_ns.val();
        self.judge.forward_ns.next = self.witness.forward_ns.val();
        self.judge.timeout_ns.next = self.witness.recovery.val().get_bits::<32>(0);
        self.judge.slack_ns.next = self.witness.recovery.val().get_bits::<32>(32);
        self.judge.threshold.next = self.witness.recovery.val().get_bits::<16>(64);

        // t + 5: what the event does.
        self.kind.next = self.event_5.q.val().get_bits::<3>(0);
        self.live.next = self.valid.q.val().get_bit(4) && self.record_5.q.val().get_bit(0);
        self.was_sent.next = self.record_5.q.val().get_bit(1);
        self.in_flight.next = self.record_5.q.val().get_bit(2);
        self.commits.next = self.valid.q.val().get_bit(4) && (self.kind.val() == 0);
        self.is_sent.next = self.valid.q.val().get_bit(4) && (self.kind.val() == 1);
        self.sent_right.next = self.is_sent.val() && self.match_5.q.val() && !self.in_flight.val();
        self.sent_wrong.next =
            self.is_sent.val() && (!self.match_5.q.val() || self.in_flight.val());
        self.acks.next =
            self.valid.q.val().get_bit(4) && ((self.kind.val() == 2) || (self.kind.val() == 3));
        self.acknowledged.next = self.valid.q.val().get_bit(4)
            && ((self.kind.val() == 2) || (self.kind.val() == 5))
            && self.match_5.q.val()
            && self.was_sent.val();
        self.refused.next = (self.kind.val() == 3)
            && self.live.val()
            && self.match_5.q.val()
            && self.in_flight.val()
            && self.same_sending_5.q.val();
        self.found_lost.next = (self.kind.val() == 7)
            && self.live.val()
            && self.open_5.q.val()
            && self.in_flight.val()
            && (self.judge.early.val() || self.judge.overdue.val());
        self.abandoned.next = (self.kind.val() == 7) && self.live.val() && !self.open_5.q.val();
        self.losing.next = self.refused.val() || self.found_lost.val();
        self.resend.next = (self.kind.val() == 6)
            && self.live.val()
            && self.match_5.q.val()
            && self.was_sent.val()
            && !self.in_flight.val();

        self.write_record.next = self.commits.val()
            || self.sent_right.val()
            || self.acknowledged.val()
            || self.losing.val()
            || self.abandoned.val();
        self.records.write_enable.next = self.write_record.val() || self.pool.filling.val();
        self.records.write_address.next = self.event_5.q.val().get_bits::<SLOT_BITS>(161);
        // Acknowledged or abandoned: the slot is free.
        self.records.write_data.next = 0.into();
        if self.commits.val() {
            self.records.write_data.next = bits::<73>(1)
                | (bit_cast::<73, FLOW_BITS>(self.event_5.q.val().get_bits::<FLOW_BITS>(7)) << 3)
                | (bit_cast::<73, 24>(self.event_5.q.val().get_bits::<24>(17)) << 13);
        }
        if self.sent_right.val() {
            self.records.write_data.next = bits::<73>(7)
                | (bit_cast::<73, FLOW_BITS>(self.event_5.q.val().get_bits::<FLOW_BITS>(7)) << 3)
                | (bit_cast::<73, 24>(self.event_5.q.val().get_bits::<24>(17)) << 13)
                | (bit_cast::<73, 4>(self.event_5.q.val().get_bits::<4>(3)) << 37)
                | (bit_cast::<73, 32>(self.event_5.q.val().get_bits::<32>(65)) << 41);
        }
        if self.losing.val() {
            self.records.write_data.next = self.record_5.q.val() & !bits::<73>(4);
        }
        self.pool.free.next = self.acknowledged.val() || self.abandoned.val();
        self.pool.free_slot.next = self.event_5.q.val().get_bits::<SLOT_BITS>(161);
        if self.pool.filling.val() {
            self.records.write_address.next = self.pool.fill_slot.val();
            self.records.write_data.next = 0.into();
        }
        self.free_valid.next = self.pool.valid.val();
        self.pool.ready.next = self.free_ready.val();
        self.free_slot.next = self.pool.slot.val();
        self.free_count.next = self.pool.level.val();

        self.settlements.push.next = self.acknowledged.val();
        self.settlements.push_data.next =
            bit_cast::<39, 24>(self.record_5.q.val().get_bits::<24>(13))
                | (bit_cast::<39, FLOW_BITS>(self.record_5.q.val().get_bits::<FLOW_BITS>(3)) << 24)
                | (bit_cast::<39, 4>(self.record_5.q.val().get_bits::<4>(37)) << 34)
                | (bit_cast::<39, 1>(self.in_flight.val().into()) << 38);
        self.settled_valid.next = self.settlements.valid.val();
        self.settlements.ready.next = self.settled_ready.val();
        self.settled_psn.next = self.settlements.data.val().get_bits::<24>(0);
        self.settled_flow.next = self.settlements.data.val().get_bits::<FLOW_BITS>(24);
        self.settled_path.next = self.settlements.data.val().get_bits::<4>(34);
        self.settled_count.next = self.settlements.data.val().get_bit(38);

        self.resolved.push.next = self.sent_wrong.val() || self.losing.val();
        self.resolved.push_data.next =
            bit_cast::<14, FLOW_BITS>(self.event_5.q.val().get_bits::<FLOW_BITS>(7))
                | (bit_cast::<14, 4>(self.event_5.q.val().get_bits::<4>(3)) << 10);
        if self.losing.val() {
            self.resolved.push_data.next =
                bit_cast::<14, FLOW_BITS>(self.record_5.q.val().get_bits::<FLOW_BITS>(3))
                    | (bit_cast::<14, 4>(self.record_5.q.val().get_bits::<4>(37)) << 10);
        }
        self.resolve_valid.next = self.resolved.valid.val();
        self.resolved.ready.next = self.resolve_ready.val();
        self.resolve_flow.next = self.resolved.data.val().get_bits::<FLOW_BITS>(0);
        self.resolve_path.next = self.resolved.data.val().get_bits::<4>(10);

        // Lost PSNs wait; one that found no path comes back when none is pushed.
        self.unsent_ready.next = !self.losing.val();
        self.waiting.push.next = self.losing.val() || self.unsent_valid.val();
        self.waiting.push_data.next = bit_cast::<34, 24>(self.unsent_psn.val())
            | (bit_cast::<34, FLOW_BITS>(self.unsent_flow.val()) << 24);
        if self.losing.val() {
            self.waiting.push_data.next =
                bit_cast::<34, 24>(self.record_5.q.val().get_bits::<24>(13))
                    | (bit_cast::<34, FLOW_BITS>(self.record_5.q.val().get_bits::<FLOW_BITS>(3))
                        << 24);
        }
        self.lost_count.next = self.waiting.level.val();
        self.agains.push.next = self.resend.val();
        self.agains.push_data.next = bit_cast::<34, 24>(self.record_5.q.val().get_bits::<24>(13))
            | (bit_cast::<34, FLOW_BITS>(self.record_5.q.val().get_bits::<FLOW_BITS>(3)) << 24);
        self.again_valid.next = self.agains.valid.val();
        self.agains.ready.next = self.again_ready.val();
        self.again_psn.next = self.agains.data.val().get_bits::<24>(0);
        self.again_flow.next = self.agains.data.val().get_bits::<FLOW_BITS>(24);

        self.witness.acknowledges.next = self.acknowledged.val() && (self.kind.val() == 2);
        self.witness.tells.next = self.acks.val();
        self.witness.recovery_write.next = self.recovery_write.val();
        self.witness.recovery_flow.next = self.recovery_flow.val();
        self.witness.recovery_data.next = self.recovery_data.val();
        self.witness.init_write.next = self.sweep.write.val();
        self.witness.init_flow.next = self.sweep.flow.val();
        self.witness.init_path.next = self.sweep.sub.val().get_bits::<4>(0);
        self.witness.init_psn.next = self.sweep.psn.val();
        self.heal.init_write.next = self.sweep.write.val();
        self.heal.init_flow.next = self.sweep.flow.val();
        self.heal.init_psn.next = self.sweep.psn.val();
        self.heal.expected_write.next = self.witness.expected_write.val();
        self.heal.expected_flow.next = self.witness.expected_flow.val();
        self.heal.expected_psn.next = self.witness.expected_psn.val();
        self.heal.acked_valid.next = self.acked_valid.val();
        self.heal.acked_flow.next = self.acked_flow.val();
        self.heal.acked_una.next = self.acked_una.val();
        self.heal.stale_valid.next = self.acks.val() && !self.acknowledged.val();
        self.heal.stale_flow.next = self.event_5.q.val().get_bits::<FLOW_BITS>(7);

        self.account_valid.next = self.sent_right.val()
            || self.acknowledged.val()
            || self.losing.val()
            || (self.valid.q.val().get_bit(4) && (self.kind.val() == 4));
        self.account_kind.next = self.kind.val();
        self.account_flow.next = self.event_5.q.val().get_bits::<FLOW_BITS>(7);
        self.account_path.next = self.event_5.q.val().get_bits::<4>(3);
        if self.losing.val() || (self.kind.val() == 5) {
            self.account_flow.next = self.record_5.q.val().get_bits::<FLOW_BITS>(3);
            self.account_path.next = self.record_5.q.val().get_bits::<4>(37);
        }
        self.account_freed_path.next = self.record_5.q.val().get_bits::<4>(37);
        self.account_in_flight.next = self.in_flight.val();
        self.account_timeout.next = self.found_lost.val() && !self.judge.early.val();
        self.account_sent_ns.next = self.event_5.q.val().get_bits::<32>(65);
        self.account_received_ns.next = self.event_5.q.val().get_bits::<32>(97);
        self.account_now_ns.next = self.event_5.q.val().get_bits::<32>(129);

        if self.rst.val() {
            self.valid.d.next = 0.into();
        }
    }
}
