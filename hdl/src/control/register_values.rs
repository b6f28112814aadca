//! The registers that software writes, and the choice of one to read.

use super::RegisterWord;
use crate::prim::{ModuleId, Reg};
use rondo_models::registers::{Kind, Register, CONTROLS, MAP, STATUSES};
use rust_hdl::prelude::*;

/// Registers of a group, of which one is gathered in a clock.
const GROUP: usize = 8;
/// Groups of the controls.
const CONTROL_GROUPS: usize = CONTROLS.div_ceil(GROUP);
/// Groups of the statuses.
const STATUS_GROUPS: usize = STATUSES.div_ceil(GROUP);

const _: () = assert!(CONTROL_GROUPS <= 8 && STATUS_GROUPS <= 8);

/// Keeps the controls, and reads one control and one status at a time in two steps:
/// of every group of eight, then of all groups.
#[derive(Clone, Debug, LogicBlock)]
pub struct RegisterValues {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: every control has its reset value.
    pub rst: Signal<In, Bit>,
    /// Write the control `write_index`.
    pub write: Signal<In, Bit>,
    /// Control written.
    pub write_index: Signal<In, Bits<6>>,
    /// Data.
    pub write_data: Signal<In, Bits<32>>,
    /// Bytes written.
    pub write_strobe: Signal<In, Bits<4>>,
    /// Controls; reserved bits are 0.
    pub value: [Signal<Out, Bits<32>>; CONTROLS],
    /// Statuses.
    pub status: [Signal<In, Bits<32>>; STATUSES],
    /// Control and status to read.
    pub read_index: Signal<In, Bits<6>>,
    /// The control, two clocks later.
    pub control_read: Signal<Out, Bits<32>>,
    /// The status of one clock after `read_index`, two clocks later.
    pub status_read: Signal<Out, Bits<32>>,
    word: [RegisterWord; CONTROLS],
    member: [Signal<Local, Bit>; GROUP],
    group_at_1: Reg<Bits<3>>,
    controls_at_1: [Reg<Bits<32>>; CONTROL_GROUPS],
    statuses_at_1: [Reg<Bits<32>>; STATUS_GROUPS],
    control_at_2: Reg<Bits<32>>,
    status_at_2: Reg<Bits<32>>,
    reset_of: [Constant<Bits<32>>; CONTROLS],
    mask_of: [Constant<Bits<32>>; CONTROLS],
}

/// `of` of the control `n`.
fn constant(n: usize, of: impl Fn(&Register) -> u32) -> Constant<Bits<32>> {
    let mut controls = MAP
        .iter()
        .flat_map(|b| b.registers)
        .filter(|r| r.kind == Kind::Control);
    Constant::new(u64::from(controls.nth(n).map_or(0, of)).into())
}

impl Default for RegisterValues {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_register_values",
                &format!(
                    "{CONTROLS} registers that software writes; reads one of them and one of \
                     {STATUSES} statuses."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            write: Signal::default(),
            write_index: Signal::default(),
            write_data: Signal::default(),
            write_strobe: Signal::default(),
            value: std::array::from_fn(|_| Signal::default()),
            status: std::array::from_fn(|_| Signal::default()),
            read_index: Signal::default(),
            control_read: Signal::default(),
            status_read: Signal::default(),
            word: std::array::from_fn(|_| RegisterWord::default()),
            member: std::array::from_fn(|_| Signal::default()),
            group_at_1: Reg::default(),
            controls_at_1: std::array::from_fn(|_| Reg::default()),
            statuses_at_1: std::array::from_fn(|_| Reg::default()),
            control_at_2: Reg::default(),
            status_at_2: Reg::default(),
            reset_of: std::array::from_fn(|n| constant(n, Register::reset)),
            mask_of: std::array::from_fn(|n| constant(n, Register::mask)),
        }
    }
}

impl Logic for RegisterValues {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, group_at_1, control_at_2, status_at_2);

        for i in 0..CONTROLS {
            self.word[i].clk.next = self.clk.val();
            self.word[i].rst.next = self.rst.val();
            self.word[i].reset_value.next = self.reset_of[i].val();
            self.word[i].mask.next = self.mask_of[i].val();
            self.word[i].write.next = self.write.val() && (self.write_index.val() == i.to_bits());
            self.word[i].data.next = self.write_data.val();
            self.word[i].strobe.next = self.write_strobe.val();
            self.value[i].next = self.word[i].value.val();
        }

        for m in 0..GROUP {
            self.member[m].next = self.read_index.val().get_bits::<3>(0) == m.to_bits();
        }
        self.group_at_1.d.next = self.read_index.val().get_bits::<3>(3);
        for g in 0..CONTROL_GROUPS {
            self.controls_at_1[g].clock.next = self.clk.val();
            self.controls_at_1[g].d.next = 0.into();
        }
        for i in 0..CONTROLS {
            if self.member[i % 8].val() {
                self.controls_at_1[i / 8].d.next = self.word[i].value.val();
            }
        }
        for g in 0..STATUS_GROUPS {
            self.statuses_at_1[g].clock.next = self.clk.val();
            self.statuses_at_1[g].d.next = 0.into();
        }
        for i in 0..STATUSES {
            if self.member[i % 8].val() {
                self.statuses_at_1[i / 8].d.next = self.status[i].val();
            }
        }

        self.control_at_2.d.next = 0.into();
        for g in 0..CONTROL_GROUPS {
            if self.group_at_1.q.val() == g.to_bits() {
                self.control_at_2.d.next = self.controls_at_1[g].q.val();
            }
        }
        self.status_at_2.d.next = 0.into();
        for g in 0..STATUS_GROUPS {
            if self.group_at_1.q.val() == g.to_bits() {
                self.status_at_2.d.next = self.statuses_at_1[g].q.val();
            }
        }
        self.control_read.next = self.control_at_2.q.val();
        self.status_read.next = self.status_at_2.q.val();
    }
}
