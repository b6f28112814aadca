//! What the ACKs of a flow and of its paths have told, and the flow's recovery parameters.

use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Highest acknowledged PSN, newest arrival, and a path's latest send time and forward delay.
///
/// Comments count clocks from the event's `t`. Two ACKs of one flow are at least
/// [`super::EVENT_INTERVAL`] + 1 clocks apart, so that each reads what the one before wrote.
#[derive(Clone, Debug, LogicBlock)]
pub struct FlowWitness {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// The init sweep writes this flow and path.
    pub init_write: Signal<In, Bit>,
    /// Flow of the init sweep.
    pub init_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub init_path: Signal<In, Bits<4>>,
    /// First PSN.
    pub init_psn: Signal<In, Bits<24>>,
    /// The control side writes the flow's parameters.
    pub recovery_write: Signal<In, Bit>,
    /// Flow.
    pub recovery_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Timeout ns 31:0, slack ns 63:32, threshold 79:64, flow is open 80.
    pub recovery_data: Signal<In, Bits<81>>,
    /// Flow looked up, at `t + 1`.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path, at `t + 1`.
    pub path: Signal<In, Bits<4>>,
    /// PSN of the ACK, at `t + 2`.
    pub psn: Signal<In, Bits<24>>,
    /// Next expected PSN of the ACK, at `t + 2`.
    pub expected: Signal<In, Bits<24>>,
    /// Its echoed send time, at `t + 2`.
    pub sent_ns: Signal<In, Bits<32>>,
    /// Its receive time, at `t + 2`.
    pub received_ns: Signal<In, Bits<32>>,
    /// The event acknowledges a packet, at `t + 5`.
    pub acknowledges: Signal<In, Bit>,
    /// The event tells the next expected PSN, at `t + 5`.
    pub tells: Signal<In, Bit>,
    /// Flow and path have had an ACK, at `t + 2`.
    pub known: Signal<Out, Bit>,
    /// Highest acknowledged PSN, at `t + 2`.
    pub highest: Signal<Out, Bits<24>>,
    /// Receive time of the newest acknowledged packet, at `t + 2`.
    pub arrived_ns: Signal<Out, Bits<32>>,
    /// Latest send time of the path's acknowledged packets, at `t + 2`.
    pub latest_ns: Signal<Out, Bits<32>>,
    /// Forward delay of the path, at `t + 2`.
    pub forward_ns: Signal<Out, Bits<32>>,
    /// The flow's parameters, at `t + 2`.
    pub recovery: Signal<Out, Bits<81>>,
    /// The next expected PSN moves, at `t + 5`.
    pub expected_write: Signal<Out, Bit>,
    /// Its flow.
    pub expected_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// The PSN.
    pub expected_psn: Signal<Out, Bits<24>>,
    flows: Ram<Bits<57>, FLOW_BITS>,
    paths: Ram<Bits<65>, 14>,
    cumulative: Ram<Bits<24>, FLOW_BITS>,
    parameters: Ram<Bits<81>, FLOW_BITS>,
    flow_5: Delay<Bits<FLOW_BITS>, 4>,
    path_at_5: Delay<Bits<14>, 4>,
    psn_3: Reg<Bits<24>>,
    psn_4: Reg<Bits<24>>,
    ahead_3: Reg<Bits<24>>,
    highest_3: Reg<Bits<24>>,
    highest_4: Reg<Bits<24>>,
    any_3: Reg<Bit>,
    newer_4: Reg<Bit>,
    highest_5: Reg<Bits<24>>,
    received_5: Delay<Bits<32>, 3>,
    sent_3: Reg<Bits<32>>,
    sent_4: Reg<Bits<32>>,
    later_3: Reg<Bits<32>>,
    latest_3: Reg<Bits<32>>,
    latest_4: Reg<Bits<32>>,
    known_3: Reg<Bit>,
    later_4: Reg<Bit>,
    latest_5: Reg<Bits<32>>,
    forward_3: Reg<Bits<32>>,
    forward_5: Delay<Bits<32>, 2>,
    moved_3: Reg<Bits<24>>,
    expected_5: Delay<Bits<24>, 3>,
    moves_4: Reg<Bit>,
    moves_5: Reg<Bit>,
    read_path: Signal<Local, Bits<14>>,
    init_at: Signal<Local, Bits<14>>,
    moves: Signal<Local, Bit>,
    path_bits: Constant<Bits<5>>,
    path_mask: Constant<Bits<4>>,
}

impl FlowWitness {
    /// For `flows` flows of `paths` paths.
    pub fn new(flows: usize, paths: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_flow_witness",
                "What the ACKs of a flow and of its paths have told, and its recovery parameters.\n\
                 A suffix _n is the clock after the event in which the value is present.",
            ),
            clk: Signal::default(),
            init_write: Signal::default(),
            init_flow: Signal::default(),
            init_path: Signal::default(),
            init_psn: Signal::default(),
            recovery_write: Signal::default(),
            recovery_flow: Signal::default(),
            recovery_data: Signal::default(),
            flow: Signal::default(),
            path: Signal::default(),
            psn: Signal::default(),
            expected: Signal::default(),
            sent_ns: Signal::default(),
            received_ns: Signal::default(),
            acknowledges: Signal::default(),
            tells: Signal::default(),
            known: Signal::default(),
            highest: Signal::default(),
            arrived_ns: Signal::default(),
            latest_ns: Signal::default(),
            forward_ns: Signal::default(),
            recovery: Signal::default(),
            expected_write: Signal::default(),
            expected_flow: Signal::default(),
            expected_psn: Signal::default(),
            flows: Ram::new(flows),
            paths: Ram::new(flows * paths),
            cumulative: Ram::new(flows),
            parameters: Ram::new(flows),
            flow_5: Delay::default(),
            path_at_5: Delay::default(),
            psn_3: Reg::default(),
            psn_4: Reg::default(),
            ahead_3: Reg::default(),
            highest_3: Reg::default(),
            highest_4: Reg::default(),
            any_3: Reg::default(),
            newer_4: Reg::default(),
            highest_5: Reg::default(),
            received_5: Delay::default(),
            sent_3: Reg::default(),
            sent_4: Reg::default(),
            later_3: Reg::default(),
            latest_3: Reg::default(),
            latest_4: Reg::default(),
            known_3: Reg::default(),
            later_4: Reg::default(),
            latest_5: Reg::default(),
            forward_3: Reg::default(),
            forward_5: Delay::default(),
            moved_3: Reg::default(),
            expected_5: Delay::default(),
            moves_4: Reg::default(),
            moves_5: Reg::default(),
            read_path: Signal::default(),
            init_at: Signal::default(),
            moves: Signal::default(),
            path_bits: Constant::new(u64::from(paths.trailing_zeros()).into()),
            path_mask: Constant::new((paths as u64 - 1).into()),
        }
    }
}

impl Logic for FlowWitness {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, psn_3, psn_4, ahead_3, highest_3, highest_4, any_3, newer_4);
        dff_setup!(self, clk, highest_5, sent_3, sent_4, later_3, latest_3, latest_4, known_3);
        dff_setup!(self, clk, later_4, latest_5, forward_3, moved_3, moves_4, moves_5);
        clock!(self, clk, flows, paths, cumulative, parameters);
        self.flow_5.clk.next = self.clk.val();
        self.path_at_5.clk.next = self.clk.val();
        self.received_5.clk.next = self.clk.val();
        self.forward_5.clk.next = self.clk.val();
        self.expected_5.clk.next = self.clk.val();

        // t + 1: read.
        self.read_path.next = (bit_cast::<14, FLOW_BITS>(self.flow.val()) << self.path_bits.val())
            | bit_cast::<14, 4>(self.path.val() & self.path_mask.val());
        self.flows.read_address.next = self.flow.val();
        self.cumulative.read_address.next = self.flow.val();
        self.parameters.read_address.next = self.flow.val();
        self.paths.read_address.next = self.read_path.val();
        self.flow_5.d.next = self.flow.val();
        self.path_at_5.d.next = self.read_path.val();

        // t + 2
        self.known.next =
            self.flows.read_data.val().get_bit(56) && self.paths.read_data.val().get_bit(64);
        self.highest.next = self.flows.read_data.val().get_bits::<24>(0);
        self.arrived_ns.next = self.flows.read_data.val().get_bits::<32>(24);
        self.latest_ns.next = self.paths.read_data.val().get_bits::<32>(0);
        self.forward_ns.next = self.paths.read_data.val().get_bits::<32>(32);
        self.recovery.next = self.parameters.read_data.val();
        self.any_3.d.next = self.flows.read_data.val().get_bit(56);
        self.highest_3.d.next = self.flows.read_data.val().get_bits::<24>(0);
        self.ahead_3.d.next = self.psn.val() - self.flows.read_data.val().get_bits::<24>(0);
        self.psn_3.d.next = self.psn.val();
        self.received_5.d.next = self.received_ns.val();
        self.known_3.d.next = self.paths.read_data.val().get_bit(64);
        self.latest_3.d.next = self.paths.read_data.val().get_bits::<32>(0);
        self.later_3.d.next = self.sent_ns.val() - self.paths.read_data.val().get_bits::<32>(0);
        self.sent_3.d.next = self.sent_ns.val();
        self.forward_3.d.next = self.received_ns.val() - self.sent_ns.val();
        self.moved_3.d.next = self.expected.val() - self.cumulative.read_data.val();
        self.expected_5.d.next = self.expected.val();

        // t + 3: the first ACK counts as newer, whatever it is compared with.
        self.newer_4.d.next = !self.any_3.q.val()
            || (!self.ahead_3.q.val().get_bit(23) && (self.ahead_3.q.val() != 0));
        self.highest_4.d.next = self.highest_3.q.val();
        self.psn_4.d.next = self.psn_3.q.val();
        self.later_4.d.next = !self.known_3.q.val()
            || (!self.later_3.q.val().get_bit(31) && (self.later_3.q.val() != 0));
        self.latest_4.d.next = self.latest_3.q.val();
        self.sent_4.d.next = self.sent_3.q.val();
        self.forward_5.d.next = self.forward_3.q.val();
        self.moves_4.d.next = !self.moved_3.q.val().get_bit(23) && (self.moved_3.q.val() != 0);

        // t + 4
        self.highest_5.d.next = self.highest_4.q.val();
        if self.newer_4.q.val() {
            self.highest_5.d.next = self.psn_4.q.val();
        }
        self.latest_5.d.next = self.latest_4.q.val();
        if self.later_4.q.val() {
            self.latest_5.d.next = self.sent_4.q.val();
        }
        self.moves_5.d.next = self.moves_4.q.val();

        // t + 5: write.
        self.moves.next = self.tells.val() && self.moves_5.q.val();
        self.expected_write.next = self.moves.val();
        self.expected_flow.next = self.flow_5.q.val();
        self.expected_psn.next = self.expected_5.q.val();
        self.flows.write_enable.next = self.acknowledges.val() || self.init_write.val();
        self.flows.write_address.next = self.flow_5.q.val();
        self.flows.write_data.next = bit_cast::<57, 24>(self.highest_5.q.val())
            | (bit_cast::<57, 32>(self.received_5.q.val()) << 24)
            | (bits::<57>(1) << 56);
        self.paths.write_enable.next = self.acknowledges.val() || self.init_write.val();
        self.paths.write_address.next = self.path_at_5.q.val();
        self.paths.write_data.next = bit_cast::<65, 32>(self.latest_5.q.val())
            | (bit_cast::<65, 32>(self.forward_5.q.val()) << 32)
            | (bits::<65>(1) << 64);
        self.cumulative.write_enable.next = self.moves.val() || self.init_write.val();
        self.cumulative.write_address.next = self.flow_5.q.val();
        self.cumulative.write_data.next = self.expected_5.q.val();
        self.parameters.write_enable.next = self.recovery_write.val();
        self.parameters.write_address.next = self.recovery_flow.val();
        self.parameters.write_data.next = self.recovery_data.val();
        self.init_at.next = (bit_cast::<14, FLOW_BITS>(self.init_flow.val())
            << self.path_bits.val())
            | bit_cast::<14, 4>(self.init_path.val());
        if self.init_write.val() {
            self.flows.write_address.next = self.init_flow.val();
            self.flows.write_data.next = 0.into();
            self.paths.write_address.next = self.init_at.val();
            self.paths.write_data.next = 0.into();
            self.cumulative.write_address.next = self.init_flow.val();
            self.cumulative.write_data.next = self.init_psn.val();
        }
    }
}
