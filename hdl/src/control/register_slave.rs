//! AXI4-Lite slave of the register map.

use super::decode::{Decode, WORD_BITS};
use super::{CounterBank, RegisterValues};
use crate::prim::{ModuleId, Reg, Rom};
use rondo_models::registers::{
    Build, Kind, AMOUNTS, COMMANDS, CONTROLS, MAP, PULSES, STATUSES, WIDES,
};
use rust_hdl::prelude::*;

/// What the slave is at.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
pub enum SlaveState {
    /// Waits for an access.
    Idle,
    /// The ROMs look up the address.
    Lookup,
    /// The data is compared with mask and bounds.
    Check,
    /// The checks come together.
    Gather,
    /// A read is answered; a write takes effect.
    Act,
    /// A counter's turn is awaited.
    Wait,
}

/// Takes one access at a time, reads and writes in turn while both wait.
///
/// Decoding, masks, bounds and constants are in ROMs made of the map, so that nothing here knows a
/// register by name. What is refused, answers SLVERR, changes nothing, and reads 0.
///
/// Every response has a register of its own: while one is not taken, accesses of the other kind go on.
#[derive(Clone, Debug, LogicBlock)]
pub struct RegisterSlave {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A write's address.
    pub s_axil_awvalid: Signal<In, Bit>,
    /// It is taken.
    pub s_axil_awready: Signal<Out, Bit>,
    /// Byte address; its low two bits do not count.
    pub s_axil_awaddr: Signal<In, Bits<16>>,
    /// A write's data, before, with or after its address.
    pub s_axil_wvalid: Signal<In, Bit>,
    /// It is taken.
    pub s_axil_wready: Signal<Out, Bit>,
    /// Data.
    pub s_axil_wdata: Signal<In, Bits<32>>,
    /// Bytes that count.
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    /// A write is done.
    pub s_axil_bvalid: Signal<Out, Bit>,
    /// The answer is taken.
    pub s_axil_bready: Signal<In, Bit>,
    /// 0 OKAY, 2 SLVERR: refused.
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    /// A read's address.
    pub s_axil_arvalid: Signal<In, Bit>,
    /// It is taken.
    pub s_axil_arready: Signal<Out, Bit>,
    /// Byte address; its low two bits do not count.
    pub s_axil_araddr: Signal<In, Bits<16>>,
    /// A read is done.
    pub s_axil_rvalid: Signal<Out, Bit>,
    /// The answer is taken.
    pub s_axil_rready: Signal<In, Bit>,
    /// Data; 0 when refused.
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    /// 0 OKAY, 2 SLVERR: refused.
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    /// Controls, indexed by `rondo_models::registers::at`.
    pub value: [Signal<Out, Bits<32>>; CONTROLS],
    /// A command was given, in this clock only; all controls written before it have their value.
    pub command: [Signal<Out, Bit>; COMMANDS],
    /// Value that the latest command was given with.
    pub command_value: Signal<Out, Bits<32>>,
    /// Statuses.
    pub status: [Signal<In, Bits<32>>; STATUSES],
    /// Statuses of 64 bits.
    pub wide: [Signal<In, Bits<64>>; WIDES],
    /// Increments of the counters by one.
    pub count: [Signal<In, Bit>; PULSES],
    /// Increments of the counters by a number.
    pub amount: [Signal<In, Bits<16>>; AMOUNTS],
    counters: CounterBank,
    values: RegisterValues,
    info: Rom<16, WORD_BITS>,
    masks: Rom<32, WORD_BITS>,
    lows: Rom<32, WORD_BITS>,
    highs: Rom<32, WORD_BITS>,
    has_write_address: Reg<Bit>,
    has_write_data: Reg<Bit>,
    has_read: Reg<Bit>,
    write_word: Reg<Bits<14>>,
    read_word: Reg<Bits<14>>,
    data: Reg<Bits<32>>,
    strobe: Reg<Bits<4>>,
    state: Reg<SlaveState>,
    writing: Reg<Bit>,
    word: Reg<Bits<14>>,
    kind: Reg<Bits<8>>,
    whole: Reg<Bit>,
    index: Reg<Bits<6>>,
    reserved: [Reg<Bit>; 4],
    too_low: Reg<Bit>,
    too_high: Reg<Bit>,
    partial: Reg<Bit>,
    fixed: Reg<Bits<32>>,
    writable: Reg<Bit>,
    readable: Reg<Bit>,
    wide_now: Reg<Bits<64>>,
    wide_kept: Reg<Bits<32>>,
    wide_high: [Reg<Bits<32>>; WIDES],
    pulse: [Reg<Bit>; COMMANDS],
    command_data: Reg<Bits<32>>,
    b_valid: Reg<Bit>,
    b_refused: Reg<Bit>,
    r_valid: Reg<Bit>,
    r_refused: Reg<Bit>,
    r_data: Reg<Bits<32>>,
    idle: Signal<Local, Bit>,
    start_write: Signal<Local, Bit>,
    start_read: Signal<Local, Bit>,
    acting: Signal<Local, Bit>,
    outside: Signal<Local, Bit>,
}

impl RegisterSlave {
    /// Of the design `build`.
    pub fn new(build: &Build) -> Self {
        let decode = Decode::new(build);
        for r in MAP.iter().flat_map(|b| b.registers) {
            let reset = r.reset();
            let within = r
                .bounds(build)
                .is_none_or(|(l, h)| (l..=h).contains(&reset));
            assert!(
                r.kind != Kind::Control || within,
                "{} resets to {reset}, which the design does not allow",
                r.name
            );
        }
        Self {
            id: ModuleId::new(
                "rondo_registers",
                "AXI4-Lite slave of the register map (docs/registers.md).\n\
                 States: 0 idle, 1 look up, 2 check, 3 gather, 4 act, 5 wait for a counter.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            s_axil_awvalid: Signal::default(),
            s_axil_awready: Signal::default(),
            s_axil_awaddr: Signal::default(),
            s_axil_wvalid: Signal::default(),
            s_axil_wready: Signal::default(),
            s_axil_wdata: Signal::default(),
            s_axil_wstrb: Signal::default(),
            s_axil_bvalid: Signal::default(),
            s_axil_bready: Signal::default(),
            s_axil_bresp: Signal::default(),
            s_axil_arvalid: Signal::default(),
            s_axil_arready: Signal::default(),
            s_axil_araddr: Signal::default(),
            s_axil_rvalid: Signal::default(),
            s_axil_rready: Signal::default(),
            s_axil_rdata: Signal::default(),
            s_axil_rresp: Signal::default(),
            value: std::array::from_fn(|_| Signal::default()),
            command: std::array::from_fn(|_| Signal::default()),
            command_value: Signal::default(),
            status: std::array::from_fn(|_| Signal::default()),
            wide: std::array::from_fn(|_| Signal::default()),
            count: std::array::from_fn(|_| Signal::default()),
            amount: std::array::from_fn(|_| Signal::default()),
            counters: CounterBank::default(),
            values: RegisterValues::default(),
            info: Rom::new("rondo_register_info", decode.info),
            masks: Rom::new("rondo_register_masks", decode.masks),
            lows: Rom::new("rondo_register_lows", decode.lows),
            highs: Rom::new("rondo_register_highs", decode.highs),
            has_write_address: Reg::default(),
            has_write_data: Reg::default(),
            has_read: Reg::default(),
            write_word: Reg::default(),
            read_word: Reg::default(),
            data: Reg::default(),
            strobe: Reg::default(),
            state: Reg::default(),
            writing: Reg::default(),
            word: Reg::default(),
            kind: Reg::default(),
            whole: Reg::default(),
            index: Reg::default(),
            reserved: std::array::from_fn(|_| Reg::default()),
            too_low: Reg::default(),
            too_high: Reg::default(),
            partial: Reg::default(),
            fixed: Reg::default(),
            writable: Reg::default(),
            readable: Reg::default(),
            wide_now: Reg::default(),
            wide_kept: Reg::default(),
            wide_high: std::array::from_fn(|_| Reg::default()),
            pulse: std::array::from_fn(|_| Reg::default()),
            command_data: Reg::default(),
            b_valid: Reg::default(),
            b_refused: Reg::default(),
            r_valid: Reg::default(),
            r_refused: Reg::default(),
            r_data: Reg::default(),
            idle: Signal::default(),
            start_write: Signal::default(),
            start_read: Signal::default(),
            acting: Signal::default(),
            outside: Signal::default(),
        }
    }
}

impl Logic for RegisterSlave {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, has_write_address, has_write_data, has_read);
        dff_setup!(self, clk, write_word, read_word, data, strobe, state, writing, word);
        dff_setup!(self, clk, kind, whole, index, too_low, too_high, partial, fixed);
        dff_setup!(
            self,
            clk,
            writable,
            readable,
            wide_now,
            wide_kept,
            command_data
        );
        dff_setup!(self, clk, b_valid, b_refused, r_valid, r_refused, r_data);
        clock!(self, clk, info, masks, lows, highs);
        self.counters.clk.next = self.clk.val();
        self.counters.rst.next = self.rst.val();
        self.values.clk.next = self.clk.val();
        self.values.rst.next = self.rst.val();
        for i in 0..PULSES {
            self.counters.count[i].next = self.count[i].val();
        }
        for i in 0..AMOUNTS {
            self.counters.amount[i].next = self.amount[i].val();
        }
        for i in 0..STATUSES {
            self.values.status[i].next = self.status[i].val();
        }
        for i in 0..CONTROLS {
            self.value[i].next = self.values.value[i].val();
        }

        // From the bus.
        self.s_axil_awready.next = self.counters.ready.val() && !self.has_write_address.q.val();
        self.s_axil_wready.next = self.counters.ready.val() && !self.has_write_data.q.val();
        self.s_axil_arready.next = self.counters.ready.val() && !self.has_read.q.val();
        if self.counters.ready.val() && !self.has_write_address.q.val() {
            self.has_write_address.d.next = self.s_axil_awvalid.val();
            self.write_word.d.next = self.s_axil_awaddr.val().get_bits::<14>(2);
        }
        if self.counters.ready.val() && !self.has_write_data.q.val() {
            self.has_write_data.d.next = self.s_axil_wvalid.val();
            self.data.d.next = self.s_axil_wdata.val();
            self.strobe.d.next = self.s_axil_wstrb.val();
        }
        if self.counters.ready.val() && !self.has_read.q.val() {
            self.has_read.d.next = self.s_axil_arvalid.val();
            self.read_word.d.next = self.s_axil_araddr.val().get_bits::<14>(2);
        }
        if self.s_axil_bready.val() {
            self.b_valid.d.next = false;
        }
        if self.s_axil_rready.val() {
            self.r_valid.d.next = false;
        }

        // An access starts only when its answer has room. Writes go first; when one is done, the next is
        // not there yet, so that a read that waits has its turn.
        self.idle.next = self.state.q.val() == SlaveState::Idle;
        self.start_write.next = self.idle.val()
            && self.has_write_address.q.val()
            && self.has_write_data.q.val()
            && !self.b_valid.q.val();
        self.start_read.next = self.idle.val()
            && self.has_read.q.val()
            && !self.r_valid.q.val()
            && !self.start_write.val();
        if self.start_write.val() {
            self.state.d.next = SlaveState::Lookup;
            self.writing.d.next = true;
            self.word.d.next = self.write_word.q.val();
        }
        if self.start_read.val() {
            self.state.d.next = SlaveState::Lookup;
            self.writing.d.next = false;
            self.word.d.next = self.read_word.q.val();
        }

        // Look up.
        self.info.address.next = self.word.q.val().get_bits::<WORD_BITS>(0);
        self.masks.address.next = self.word.q.val().get_bits::<WORD_BITS>(0);
        self.lows.address.next = self.word.q.val().get_bits::<WORD_BITS>(0);
        self.highs.address.next = self.word.q.val().get_bits::<WORD_BITS>(0);
        if self.state.q.val() == SlaveState::Lookup {
            self.state.d.next = SlaveState::Check;
        }

        // Check. Nothing lies beyond the ROMs: such an address has no kind.
        self.outside.next = self.word.q.val().get_bits::<6>(8).any();
        self.kind.d.next = self.info.data.val().get_bits::<8>(0);
        if self.outside.val() {
            self.kind.d.next = 0.into();
        }
        self.whole.d.next = self.info.data.val().get_bit(8);
        self.index.d.next = self.info.data.val().get_bits::<6>(9);
        for b in 0..4 {
            self.reserved[b].clock.next = self.clk.val();
            self.reserved[b].d.next = self.strobe.q.val().get_bit(b)
                && (self.data.q.val().get_bits::<8>(8 * b)
                    & !self.masks.data.val().get_bits::<8>(8 * b))
                .any();
        }
        self.too_low.d.next = self.data.q.val() < self.lows.data.val();
        self.too_high.d.next = self.data.q.val() > self.highs.data.val();
        self.partial.d.next = !self.strobe.q.val().all();
        self.fixed.d.next = self.lows.data.val();
        self.values.read_index.next = self.info.data.val().get_bits::<6>(9);
        if self.state.q.val() == SlaveState::Check {
            self.state.d.next = SlaveState::Gather;
        }

        // Gather.
        self.writable.d.next = (self.kind.q.val().get_bit(1) || self.kind.q.val().get_bit(3))
            && !(self.reserved[0].q.val()
                || self.reserved[1].q.val()
                || self.reserved[2].q.val()
                || self.reserved[3].q.val())
            && !(self.whole.q.val()
                && (self.partial.q.val() || self.too_low.q.val() || self.too_high.q.val()));
        self.readable.d.next = self.kind.q.val().any() && !self.kind.q.val().get_bit(3);
        self.counters.high_slot.next = self.index.q.val();
        self.wide_now.d.next = 0.into();
        self.wide_kept.d.next = 0.into();
        for i in 0..WIDES {
            self.wide_high[i].clock.next = self.clk.val();
            self.wide_high[i].d.next = self.wide_high[i].q.val();
            if self.index.q.val() == i.to_bits() {
                self.wide_now.d.next = self.wide[i].val();
                self.wide_kept.d.next = self.wide_high[i].q.val();
                if self.acting.val() && !self.writing.q.val() && self.kind.q.val().get_bit(6) {
                    self.wide_high[i].d.next = self.wide_now.q.val().get_bits::<32>(32);
                }
            }
        }
        if self.state.q.val() == SlaveState::Gather {
            self.state.d.next = SlaveState::Act;
        }

        // Act: a write takes effect in the next clock, when it is answered.
        self.acting.next = self.state.q.val() == SlaveState::Act;
        self.values.write.next = self.acting.val()
            && self.writing.q.val()
            && self.writable.q.val()
            && self.kind.q.val().get_bit(1);
        self.values.write_index.next = self.index.q.val();
        self.values.write_data.next = self.data.q.val();
        self.values.write_strobe.next = self.strobe.q.val();
        for i in 0..COMMANDS {
            self.pulse[i].clock.next = self.clk.val();
            self.pulse[i].d.next = self.acting.val()
                && self.writing.q.val()
                && self.writable.q.val()
                && self.kind.q.val().get_bit(3)
                && (self.index.q.val() == i.to_bits());
            self.command[i].next = self.pulse[i].q.val();
        }
        self.command_value.next = self.command_data.q.val();
        if self.acting.val() && self.writing.q.val() {
            self.state.d.next = SlaveState::Idle;
            self.command_data.d.next = self.data.q.val();
            self.has_write_address.d.next = false;
            self.has_write_data.d.next = false;
            self.b_valid.d.next = true;
            self.b_refused.d.next = !self.writable.q.val();
        }
        self.counters.read.next = self.state.q.val() == SlaveState::Wait;
        self.counters.read_slot.next = self.index.q.val();
        if self.acting.val() && !self.writing.q.val() {
            self.state.d.next = SlaveState::Idle;
            self.has_read.d.next = false;
            self.r_valid.d.next = true;
            self.r_refused.d.next = !self.readable.q.val();
            self.r_data.d.next = 0.into();
            if self.kind.q.val().get_bit(0) {
                self.r_data.d.next = self.fixed.q.val();
            }
            if self.kind.q.val().get_bit(1) {
                self.r_data.d.next = self.values.control_read.val();
            }
            if self.kind.q.val().get_bit(2) {
                self.r_data.d.next = self.values.status_read.val();
            }
            if self.kind.q.val().get_bit(4) {
                self.r_valid.d.next = false;
                self.state.d.next = SlaveState::Wait;
            }
            if self.kind.q.val().get_bit(5) {
                self.r_data.d.next = self.counters.high.val();
            }
            if self.kind.q.val().get_bit(6) {
                self.r_data.d.next = self.wide_now.q.val().get_bits::<32>(0);
            }
            if self.kind.q.val().get_bit(7) {
                self.r_data.d.next = self.wide_kept.q.val();
            }
        }
        if self.counters.read_done.val() {
            self.state.d.next = SlaveState::Idle;
            self.r_valid.d.next = true;
            self.r_data.d.next = self.counters.read_total.val();
        }

        self.s_axil_bvalid.next = self.b_valid.q.val();
        self.s_axil_bresp.next = 0.into();
        if self.b_refused.q.val() {
            self.s_axil_bresp.next = 2.into();
        }
        self.s_axil_rvalid.next = self.r_valid.q.val();
        self.s_axil_rdata.next = self.r_data.q.val();
        self.s_axil_rresp.next = 0.into();
        if self.r_refused.q.val() {
            self.s_axil_rresp.next = 2.into();
        }

        if self.rst.val() {
            self.has_write_address.d.next = false;
            self.has_write_data.d.next = false;
            self.has_read.d.next = false;
            self.state.d.next = SlaveState::Idle;
            self.b_valid.d.next = false;
            self.r_valid.d.next = false;
            for i in 0..COMMANDS {
                self.pulse[i].d.next = false;
            }
            for i in 0..WIDES {
                self.wide_high[i].d.next = 0.into();
            }
        }
    }
}
