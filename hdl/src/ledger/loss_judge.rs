//! Whether a transmission is lost.

use crate::prim::{Delay, ModuleId, Reg};
use rust_hdl::prelude::*;

/// The rule of `rondo_models::recovery` in three clocks: early recovery, and the timeout.
///
/// Comments count clocks from the event's `t`; all inputs are of `t + 2`.
#[derive(Clone, Debug, LogicBlock)]
pub struct LossJudge {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// PSN of the transmission.
    pub psn: Signal<In, Bits<24>>,
    /// When it was sent, ns.
    pub sent_ns: Signal<In, Bits<32>>,
    /// Now, ns.
    pub now_ns: Signal<In, Bits<32>>,
    /// The flow and the path have had an ACK.
    pub known: Signal<In, Bit>,
    /// Highest acknowledged PSN.
    pub highest: Signal<In, Bits<24>>,
    /// When the newest acknowledged packet reached the receiver, ns of its clock.
    pub arrived_ns: Signal<In, Bits<32>>,
    /// Latest send time of the path's acknowledged packets, ns.
    pub latest_ns: Signal<In, Bits<32>>,
    /// Forward delay of the path, ns between the two clocks.
    pub forward_ns: Signal<In, Bits<32>>,
    /// PSNs by which the highest acknowledged one has to pass a lost one.
    pub threshold: Signal<In, Bits<16>>,
    /// Lateness that proves a loss, ns, below 2^31.
    pub slack_ns: Signal<In, Bits<32>>,
    /// Age at which a transmission is given up, ns.
    pub timeout_ns: Signal<In, Bits<32>>,
    /// Found lost by what was acknowledged, at `t + 5`.
    pub early: Signal<Out, Bit>,
    /// Given up for its age, at `t + 5`.
    pub overdue: Signal<Out, Bit>,
    known_5: Delay<Bit, 3>,
    threshold_3: Reg<Bits<24>>,
    slack_4: Delay<Bits<32>, 2>,
    timeout_3: Reg<Bits<32>>,
    passed_by_3: Reg<Bits<24>>,
    overtaken_by_3: Reg<Bits<32>>,
    expected_ns_3: Reg<Bits<32>>,
    arrived_ns_3: Reg<Bits<32>>,
    age_ns_3: Reg<Bits<32>>,
    passed_4: Reg<Bit>,
    overtaken_4: Reg<Bit>,
    late_ns_4: Reg<Bits<32>>,
    overdue_4: Reg<Bit>,
    passed_5: Reg<Bit>,
    overtaken_5: Reg<Bit>,
    late_5: Reg<Bit>,
    overdue_5: Reg<Bit>,
}

impl Default for LossJudge {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_loss_judge",
                "Whether a transmission is lost: early recovery and timeout.\n\
                 A suffix _n is the clock after the event in which the value is present.",
            ),
            clk: Signal::default(),
            psn: Signal::default(),
            sent_ns: Signal::default(),
            now_ns: Signal::default(),
            known: Signal::default(),
            highest: Signal::default(),
            arrived_ns: Signal::default(),
            latest_ns: Signal::default(),
            forward_ns: Signal::default(),
            threshold: Signal::default(),
            slack_ns: Signal::default(),
            timeout_ns: Signal::default(),
            early: Signal::default(),
            overdue: Signal::default(),
            known_5: Delay::default(),
            threshold_3: Reg::default(),
            slack_4: Delay::default(),
            timeout_3: Reg::default(),
            passed_by_3: Reg::default(),
            overtaken_by_3: Reg::default(),
            expected_ns_3: Reg::default(),
            arrived_ns_3: Reg::default(),
            age_ns_3: Reg::default(),
            passed_4: Reg::default(),
            overtaken_4: Reg::default(),
            late_ns_4: Reg::default(),
            overdue_4: Reg::default(),
            passed_5: Reg::default(),
            overtaken_5: Reg::default(),
            late_5: Reg::default(),
            overdue_5: Reg::default(),
        }
    }
}

impl Logic for LossJudge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            threshold_3,
            timeout_3,
            passed_by_3,
            overtaken_by_3
        );
        dff_setup!(
            self,
            clk,
            expected_ns_3,
            arrived_ns_3,
            age_ns_3,
            passed_4,
            overtaken_4
        );
        dff_setup!(
            self,
            clk,
            late_ns_4,
            overdue_4,
            passed_5,
            overtaken_5,
            late_5,
            overdue_5
        );
        self.known_5.clk.next = self.clk.val();
        self.slack_4.clk.next = self.clk.val();

        // t + 2: distances.
        self.known_5.d.next = self.known.val();
        self.slack_4.d.next = self.slack_ns.val();
        self.threshold_3.d.next = bit_cast::<24, 16>(self.threshold.val());
        self.timeout_3.d.next = self.timeout_ns.val();
        self.passed_by_3.d.next = self.highest.val() - self.psn.val();
        self.overtaken_by_3.d.next = self.latest_ns.val() - self.sent_ns.val();
        self.expected_ns_3.d.next = self.sent_ns.val() + self.forward_ns.val();
        self.arrived_ns_3.d.next = self.arrived_ns.val();
        self.age_ns_3.d.next = self.now_ns.val() - self.sent_ns.val();

        // t + 3: comparisons; a distance with its highest bit set is negative.
        self.passed_4.d.next = !self.passed_by_3.q.val().get_bit(23)
            && (self.passed_by_3.q.val() > self.threshold_3.q.val());
        self.overtaken_4.d.next =
            !self.overtaken_by_3.q.val().get_bit(31) && (self.overtaken_by_3.q.val() != 0);
        self.late_ns_4.d.next = self.arrived_ns_3.q.val() - self.expected_ns_3.q.val();
        self.overdue_4.d.next = self.age_ns_3.q.val() > self.timeout_3.q.val();

        // t + 4
        self.passed_5.d.next = self.passed_4.q.val();
        self.overtaken_5.d.next = self.overtaken_4.q.val();
        self.late_5.d.next =
            !self.late_ns_4.q.val().get_bit(31) && (self.late_ns_4.q.val() > self.slack_4.q.val());
        self.overdue_5.d.next = self.overdue_4.q.val();

        self.early.next = self.known_5.q.val()
            && self.passed_5.q.val()
            && (self.overtaken_5.q.val() || self.late_5.q.val());
        self.overdue.next = self.overdue_5.q.val();
    }
}
