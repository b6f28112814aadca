//! How far each group of 64 PSNs is complete, and how many groups in a row are.

use crate::prim::{Delay, ModuleId, Ram, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// For each slot of the window the run of arrived PSNs at its group's bottom; `G` groups, `LG` its
/// logarithm.
///
/// Lap-coded: bit 6 is the lap, a full group reads as a run of 0 of the next lap. Comments count
/// clocks from `t`, in which the arrival is issued.
#[derive(Clone, Debug, LogicBlock)]
pub struct GroupRuns<const G: usize, const LG: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Init sweep writes this flow's runs.
    pub init_write: Signal<In, Bit>,
    /// Flow of the init sweep.
    pub init_flow: Signal<In, Bits<FLOW_BITS>>,
    /// First PSN of the flow.
    pub init_psn: Signal<In, Bits<24>>,
    /// Flow, at `t`.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// Base group, at `t + 1`.
    pub base: Signal<In, Bits<18>>,
    /// Run of the base group, at `t + 1`.
    pub base_run: Signal<Out, Bits<6>>,
    /// The arrival is accepted, at `t + 4`.
    pub accepted: Signal<In, Bit>,
    /// Slot of its group, at `t + 4`.
    pub slot: Signal<In, Bits<3>>,
    /// New run of its group, lap-coded, at `t + 4`.
    pub run: Signal<In, Bits<7>>,
    /// Base group, at `t + 5`.
    pub base_5: Signal<In, Bits<18>>,
    /// Complete groups from the base on, at `t + 7`.
    pub lead: Signal<Out, Bits<4>>,
    /// Run of the group after them; with all complete it is the base slot's, 0. At `t + 7`.
    pub lead_run: Signal<Out, Bits<6>>,
    /// Write the runs back, at `t + 7`.
    pub write: Signal<In, Bit>,
    /// Flow, at `t + 7`.
    pub flow_7: Signal<In, Bits<FLOW_BITS>>,
    runs: [Ram<Bits<7>, FLOW_BITS>; G],
    run_4: [Delay<Bits<7>, 3>; G],
    run_5: [Reg<Bits<7>>; G],
    run_6: [Reg<Bits<6>>; G],
    run_7: [Reg<Bits<6>>; G],
    stored_7: [Delay<Bits<7>, 2>; G],
    missing_6: [Reg<Bit>; G],
    lead_7: Reg<Bits<4>>,
    low: Signal<Local, Bits<3>>,
    low_5: Signal<Local, Bits<3>>,
    lap_5: Signal<Local, Bit>,
    missing: [Signal<Local, Bit>; G],
    leading: Signal<Local, Bits<4>>,
    init_low: Signal<Local, Bits<3>>,
    init_lap: Signal<Local, Bit>,
    init_run: [Signal<Local, Bits<7>>; G],
    slot_mask: Constant<Bits<3>>,
    slot_bits: Constant<Bits<5>>,
    all_groups: Constant<Bits<4>>,
}

fn signals<T: Default, const N: usize>() -> [T; N] {
    std::array::from_fn(|_| T::default())
}

impl<const G: usize, const LG: usize> GroupRuns<G, LG> {
    /// For `flows` flows.
    pub fn new(flows: usize) -> Self {
        assert_eq!(1 << LG, G);
        Self {
            id: ModuleId::new(
                format!("rondo_group_runs_{G}"),
                &format!(
                    "How far each of {G} groups of 64 PSNs is complete, and how many in a row are.\n\
                     A suffix _n is the clock after issue in which the value is present."
                ),
            ),
            clk: Signal::default(),
            init_write: Signal::default(),
            init_flow: Signal::default(),
            init_psn: Signal::default(),
            flow: Signal::default(),
            base: Signal::default(),
            base_run: Signal::default(),
            accepted: Signal::default(),
            slot: Signal::default(),
            run: Signal::default(),
            base_5: Signal::default(),
            lead: Signal::default(),
            lead_run: Signal::default(),
            write: Signal::default(),
            flow_7: Signal::default(),
            runs: std::array::from_fn(|_| Ram::new(flows)),
            run_4: signals(),
            run_5: signals(),
            run_6: signals(),
            run_7: signals(),
            stored_7: signals(),
            missing_6: signals(),
            lead_7: Reg::default(),
            low: Signal::default(),
            low_5: Signal::default(),
            lap_5: Signal::default(),
            missing: signals(),
            leading: Signal::default(),
            init_low: Signal::default(),
            init_lap: Signal::default(),
            init_run: signals(),
            slot_mask: Constant::new((G as u64 - 1).into()),
            slot_bits: Constant::new((LG as u64).into()),
            all_groups: Constant::new((G as u64).into()),
        }
    }
}

impl<const G: usize, const LG: usize> Logic for GroupRuns<G, LG> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, lead_7);
        for i in 0..G {
            self.runs[i].clock.next = self.clk.val();
            self.run_4[i].clk.next = self.clk.val();
            self.run_5[i].clock.next = self.clk.val();
            self.run_6[i].clock.next = self.clk.val();
            self.run_7[i].clock.next = self.clk.val();
            self.stored_7[i].clk.next = self.clk.val();
            self.missing_6[i].clock.next = self.clk.val();
        }

        // t, t + 1: read; the base group's run.
        self.low.next = bit_cast::<3, 18>(self.base.val()) & self.slot_mask.val();
        self.base_run.next = self.runs[0].read_data.val().get_bits::<6>(0);
        for i in 1..G {
            if self.low.val() == i.to_bits() {
                self.base_run.next = self.runs[i].read_data.val().get_bits::<6>(0);
            }
        }
        for i in 0..G {
            self.runs[i].read_address.next = self.flow.val();
            self.run_4[i].d.next = self.runs[i].read_data.val();
        }

        // t + 4: the arrival's group has a new run.
        for i in 0..G {
            self.run_5[i].d.next = self.run_4[i].q.val();
            if self.accepted.val() && (self.slot.val() == i.to_bits()) {
                self.run_5[i].d.next = self.run.val();
            }
        }

        // t + 5: which groups miss PSNs, base group first.
        self.low_5.next = bit_cast::<3, 18>(self.base_5.val()) & self.slot_mask.val();
        self.lap_5.next = (self.base_5.val() >> self.slot_bits.val()).get_bit(0);
        for i in 0..G {
            self.missing[i].next = !(self.run_5[i].q.val().get_bit(6)
                ^ (self.lap_5.val() ^ (self.low_5.val() > i.to_bits())));
            self.stored_7[i].d.next = self.run_5[i].q.val();
        }
        for i in 0..G {
            self.missing_6[i].d.next = self.missing[i].val();
            self.run_6[i].d.next = self.run_5[i].q.val().get_bits::<6>(0);
            for g in G..(G + 1) {
                for s in 1..G {
                    if self.low_5.val() == s.to_bits() {
                        self.missing_6[i].d.next = self.missing[(i + s) % g].val();
                        self.run_6[i].d.next = self.run_5[(i + s) % g].q.val().get_bits::<6>(0);
                    }
                }
            }
            self.run_7[i].d.next = self.run_6[i].q.val();
        }

        // t + 6: how many groups from the base on are complete.
        self.leading.next = self.all_groups.val();
        for g in G..(G + 1) {
            for i in 1..(G + 1) {
                if self.missing_6[g - i].q.val() {
                    self.leading.next = (g - i).to_bits();
                }
            }
        }
        self.lead_7.d.next = self.leading.val();

        // t + 7: the run of the first that is not; write back.
        self.lead.next = self.lead_7.q.val();
        self.lead_run.next = self.run_7[0].q.val();
        for i in 1..G {
            if self.lead_7.q.val() == i.to_bits() {
                self.lead_run.next = self.run_7[i].q.val();
            }
        }

        // Init sweep: PSNs before the first count as arrived, all later ones as missing.
        self.init_low.next = bit_cast::<3, 24>(self.init_psn.val() >> 6) & self.slot_mask.val();
        self.init_lap.next = ((self.init_psn.val() >> 6) >> self.slot_bits.val()).get_bit(0);
        for i in 0..G {
            self.runs[i].write_enable.next = self.write.val() || self.init_write.val();
            self.runs[i].write_address.next = self.flow_7.val();
            self.runs[i].write_data.next = self.stored_7[i].q.val();
            self.init_run[i].next = 0.into();
            if self.init_low.val() == i.to_bits() {
                self.init_run[i].next = self.init_psn.val().get_bits::<6>(0).get_bits::<7>(0);
            }
            if self.init_write.val() {
                self.runs[i].write_address.next = self.init_flow.val();
                self.runs[i].write_data.next = self.init_run[i].val();
                if self.init_lap.val() ^ (self.init_low.val() > i.to_bits()) {
                    self.runs[i].write_data.next = self.init_run[i].val() ^ 64;
                }
            }
        }
    }
}
