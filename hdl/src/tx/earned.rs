//! What a flow's pacer earns between two visits.

use crate::prim::{ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Pace times the time since the flow's visit before, in four 16 by 16 bit products.
///
/// What fills the credit from nothing, 4 packets or `2^36`, is as good as anything beyond: a larger
/// product is replaced by that. A refusal, which returns one packet and clears the spacing, is the
/// same as earning one packet. Comments give the clock `t + n`, counted from the event's issue.
#[derive(Clone, Debug, LogicBlock)]
pub struct Earned {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Flow of the event, at `t`.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// The event is a visit, at `t + 1`.
    pub visit_1: Signal<In, Bit>,
    /// Its flow, at `t + 1`.
    pub flow_1: Signal<In, Bits<FLOW_BITS>>,
    /// Its time, ns, at `t + 1`.
    pub now_1: Signal<In, Bits<32>>,
    /// The flow's pace, packets a 1,024 ns in UQ8.24, at `t + 1`.
    pub rate_1: Signal<In, Bits<32>>,
    /// The event is a visit, at `t + 4`.
    pub visit_4: Signal<In, Bit>,
    /// The event is a refusal, at `t + 4`.
    pub refusal_4: Signal<In, Bit>,
    /// Packets earned, 34 fraction bits, at `t + 5`; 0 for other events.
    pub earned_5: Signal<Out, Bits<50>>,
    visited: Ram<Bits<32>, FLOW_BITS>,
    elapsed_2: Reg<Bits<32>>,
    rate_2: Reg<Bits<32>>,
    low_3: Reg<Bits<32>>,
    cross_3: [Reg<Bits<32>>; 2],
    high_3: Reg<Bits<32>>,
    middle_4: Reg<Bits<33>>,
    outer_4: Reg<Bits<21>>,
    full_4: Reg<Bit>,
    fraction_4: Reg<Bits<16>>,
    fraction_5: Reg<Bits<16>>,
    sum_5: Reg<Bits<34>>,
    four_packets: Constant<Bits<34>>,
    one_packet: Constant<Bits<34>>,
}

impl Earned {
    /// For `flows` flows (a power of two, at most 1,024).
    pub fn new(flows: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_pace_earned",
                "What a flow earns between two visits: pace times time, saturated.\n\
                 A suffix _n is the clock after issue in which the value is present.",
            ),
            clk: Signal::default(),
            flow: Signal::default(),
            visit_1: Signal::default(),
            flow_1: Signal::default(),
            now_1: Signal::default(),
            rate_1: Signal::default(),
            visit_4: Signal::default(),
            refusal_4: Signal::default(),
            earned_5: Signal::default(),
            visited: Ram::new(flows),
            elapsed_2: Reg::default(),
            rate_2: Reg::default(),
            low_3: Reg::default(),
            cross_3: Default::default(),
            high_3: Reg::default(),
            middle_4: Reg::default(),
            outer_4: Reg::default(),
            full_4: Reg::default(),
            fraction_4: Reg::default(),
            fraction_5: Reg::default(),
            sum_5: Reg::default(),
            // The sum counts in units of 2^16.
            four_packets: Constant::new((1u64 << (36 - 16)).into()),
            one_packet: Constant::new((1u64 << (34 - 16)).into()),
        }
    }
}

impl Logic for Earned {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, elapsed_2, rate_2, low_3, high_3);
        dff_setup!(self, clk, middle_4, outer_4, full_4, fraction_4);
        dff_setup!(self, clk, fraction_5, sum_5);
        clock!(self, clk, visited);
        for i in 0..2 {
            self.cross_3[i].clock.next = self.clk.val();
        }

        // t + 1: only visits write the time, and no two of a flow are closer than 4 clocks. Before a
        // flow's first visit it is anything: an opened flow's credit is full.
        self.visited.read_address.next = self.flow.val();
        self.visited.write_enable.next = self.visit_1.val();
        self.visited.write_address.next = self.flow_1.val();
        self.visited.write_data.next = self.now_1.val();
        self.elapsed_2.d.next = self.now_1.val() - self.visited.read_data.val();
        self.rate_2.d.next = self.rate_1.val();

        // t + 2: products.
        self.low_3.d.next =
            self.rate_2.q.val().get_bits::<16>(0) * self.elapsed_2.q.val().get_bits::<16>(0);
        self.cross_3[0].d.next =
            self.rate_2.q.val().get_bits::<16>(16) * self.elapsed_2.q.val().get_bits::<16>(0);
        self.cross_3[1].d.next =
            self.rate_2.q.val().get_bits::<16>(0) * self.elapsed_2.q.val().get_bits::<16>(16);
        self.high_3.d.next =
            self.rate_2.q.val().get_bits::<16>(16) * self.elapsed_2.q.val().get_bits::<16>(16);

        // t + 3, t + 4: their sum above the low 16 bits. The outer products do not overlap; with a
        // high one of 32 or more the whole is at least 2^37.
        self.middle_4.d.next = bit_cast::<33, 32>(self.cross_3[0].q.val())
            + bit_cast::<33, 32>(self.cross_3[1].q.val());
        self.outer_4.d.next = bit_cast::<21, 16>(self.low_3.q.val().get_bits::<16>(16))
            | (bit_cast::<21, 5>(self.high_3.q.val().get_bits::<5>(0)) << 16);
        self.full_4.d.next = self.high_3.q.val().get_bits::<27>(5) != 0;
        self.fraction_4.d.next = self.low_3.q.val().get_bits::<16>(0);
        self.sum_5.d.next = 0.into();
        self.fraction_5.d.next = 0.into();
        if self.visit_4.val() {
            if self.full_4.q.val() {
                self.sum_5.d.next = self.four_packets.val();
            } else {
                self.sum_5.d.next = bit_cast::<34, 33>(self.middle_4.q.val())
                    + bit_cast::<34, 21>(self.outer_4.q.val());
                self.fraction_5.d.next = self.fraction_4.q.val();
            }
        }
        if self.refusal_4.val() {
            self.sum_5.d.next = self.one_packet.val();
        }
        self.earned_5.next = (bit_cast::<50, 34>(self.sum_5.q.val()) << 16)
            | bit_cast::<50, 16>(self.fraction_5.q.val());
    }
}
