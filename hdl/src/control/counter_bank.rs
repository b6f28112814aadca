//! 64-bit counters in one block RAM, exact at one increment a clock each.

use crate::prim::{ModuleId, Ram, Reg};
use rondo_models::registers::{AMOUNTS, COUNTER_SLOTS, PULSES, PULSE_SLOT};
use rust_hdl::prelude::*;

/// Counters of a group, of which one is gathered in a clock.
const GROUP: usize = 8;
/// Groups of the counters that count by one.
const PULSE_GROUPS: usize = PULSES.div_ceil(GROUP);

const _: () = assert!(COUNTER_SLOTS == 64 && PULSE_SLOT == GROUP);
const _: () = assert!(AMOUNTS <= GROUP && PULSES <= COUNTER_SLOTS - PULSE_SLOT);

/// Counts in small registers and adds each to its total in turn, one a clock.
///
/// Invariants: a counter's turn comes every 64 clocks, so that a small register holds at most 64
/// increments; what comes in the clock of its turn starts the next round; a total is written 4
/// clocks after it is read, long before its next turn. So nothing is lost, and a read, which takes
/// the total on its way to the RAM, is exact: it has every increment taken up before its turn.
///
/// The high word of every total that was read is kept, each in its own place.
#[derive(Clone, Debug, LogicBlock)]
pub struct CounterBank {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: all counters are 0.
    pub rst: Signal<In, Bit>,
    /// Increments by one.
    pub count: [Signal<In, Bit>; PULSES],
    /// Increments by a number.
    pub amount: [Signal<In, Bits<16>>; AMOUNTS],
    /// The totals are cleared: high words may be read.
    pub ready: Signal<Out, Bit>,
    /// Read the total of `read_slot`; held until `read_done`.
    pub read: Signal<In, Bit>,
    /// Slot to read: amounts from 0 on, pulses from 8 on.
    pub read_slot: Signal<In, Bits<6>>,
    /// `read_total` is the total, in this clock only.
    pub read_done: Signal<Out, Bit>,
    /// The total's low word; its high word is kept.
    pub read_total: Signal<Out, Bits<32>>,
    /// Slot whose kept high word is looked up.
    pub high_slot: Signal<In, Bits<6>>,
    /// The high word, one clock later.
    pub high: Signal<Out, Bits<32>>,
    totals: Ram<Bits<64>, 6>,
    high_words: Ram<Bits<32>, 6>,
    counted: [Reg<Bit>; PULSES],
    added: [Reg<Bits<16>>; AMOUNTS],
    pulse_sum: [Reg<Bits<7>>; PULSES],
    amount_sum: [Reg<Bits<22>>; AMOUNTS],
    pulse_left: [Signal<Local, Bits<7>>; PULSES],
    amount_left: [Signal<Local, Bits<22>>; AMOUNTS],
    turn: Reg<Bits<6>>,
    first: Reg<Bit>,
    member: [Signal<Local, Bit>; GROUP],
    group: [Signal<Local, Bit>; PULSE_GROUPS + 1],
    pulses_at_1: [Reg<Bits<7>>; PULSE_GROUPS],
    amount_at_1: Reg<Bits<22>>,
    first_1: Reg<Bit>,
    sum_2: Reg<Bits<22>>,
    total_2: Reg<Bits<64>>,
    low_3: Reg<Bits<33>>,
    high_3: Reg<Bits<32>>,
    low_4: Reg<Bits<32>>,
    high_4: Reg<Bits<32>>,
    turns: [Reg<Bits<6>>; 4],
    reads: [Reg<Bit>; 4],
}

impl Default for CounterBank {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_register_counters",
                &format!(
                    "{PULSES} counters by one and {AMOUNTS} by up to 65535 a clock, 64 bits each:\n\
                     small sums, added in turn to totals in block RAM."
                ),
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            count: std::array::from_fn(|_| Signal::default()),
            amount: std::array::from_fn(|_| Signal::default()),
            ready: Signal::default(),
            read: Signal::default(),
            read_slot: Signal::default(),
            read_done: Signal::default(),
            read_total: Signal::default(),
            high_slot: Signal::default(),
            high: Signal::default(),
            totals: Ram::new(COUNTER_SLOTS),
            high_words: Ram::new(COUNTER_SLOTS),
            counted: std::array::from_fn(|_| Reg::default()),
            added: std::array::from_fn(|_| Reg::default()),
            pulse_sum: std::array::from_fn(|_| Reg::default()),
            amount_sum: std::array::from_fn(|_| Reg::default()),
            pulse_left: std::array::from_fn(|_| Signal::default()),
            amount_left: std::array::from_fn(|_| Signal::default()),
            turn: Reg::default(),
            first: Reg::default(),
            member: std::array::from_fn(|_| Signal::default()),
            group: std::array::from_fn(|_| Signal::default()),
            pulses_at_1: std::array::from_fn(|_| Reg::default()),
            amount_at_1: Reg::default(),
            first_1: Reg::default(),
            sum_2: Reg::default(),
            total_2: Reg::default(),
            low_3: Reg::default(),
            high_3: Reg::default(),
            low_4: Reg::default(),
            high_4: Reg::default(),
            turns: std::array::from_fn(|_| Reg::default()),
            reads: std::array::from_fn(|_| Reg::default()),
        }
    }
}

impl Logic for CounterBank {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, turn, first, amount_at_1, first_1, sum_2, total_2);
        dff_setup!(self, clk, low_3, high_3, low_4, high_4);
        clock!(self, clk, totals, high_words);
        for i in 0..4 {
            self.turns[i].clock.next = self.clk.val();
            self.reads[i].clock.next = self.clk.val();
        }

        // Whose turn it is.
        self.turn.d.next = self.turn.q.val() + 1;
        if self.turn.q.val().all() {
            self.first.d.next = false;
        }
        self.ready.next = !self.first.q.val();
        for i in 0..GROUP {
            self.member[i].next = self.turn.q.val().get_bits::<3>(0) == i.to_bits();
        }
        for g in 0..(PULSE_GROUPS + 1) {
            self.group[g].next = self.turn.q.val().get_bits::<3>(3) == g.to_bits();
        }

        // The small sums: what is not handed over in this clock stays, and the increment.
        for i in 0..PULSES {
            self.counted[i].clock.next = self.clk.val();
            self.counted[i].d.next = self.count[i].val();
            self.pulse_sum[i].clock.next = self.clk.val();
            self.pulse_left[i].next = self.pulse_sum[i].q.val();
            if self.member[i % 8].val() && self.group[i / 8 + 1].val() {
                self.pulse_left[i].next = 0.into();
            }
            self.pulse_sum[i].d.next = self.pulse_left[i].val();
            if self.counted[i].q.val() {
                self.pulse_sum[i].d.next = self.pulse_left[i].val() + 1;
            }
        }
        for i in 0..AMOUNTS {
            self.added[i].clock.next = self.clk.val();
            self.added[i].d.next = self.amount[i].val();
            self.amount_sum[i].clock.next = self.clk.val();
            self.amount_left[i].next = self.amount_sum[i].q.val();
            if self.member[i].val() && self.group[0].val() {
                self.amount_left[i].next = 0.into();
            }
            self.amount_sum[i].d.next =
                self.amount_left[i].val() + self.added[i].q.val().get_bits::<22>(0);
        }

        // t: the member of every group; the total is read.
        self.amount_at_1.d.next = 0.into();
        for i in 0..AMOUNTS {
            if self.member[i].val() {
                self.amount_at_1.d.next = self.amount_sum[i].q.val();
            }
        }
        for g in 0..PULSE_GROUPS {
            self.pulses_at_1[g].clock.next = self.clk.val();
            self.pulses_at_1[g].d.next = 0.into();
        }
        for i in 0..PULSES {
            if self.member[i % 8].val() {
                self.pulses_at_1[i / 8].d.next = self.pulse_sum[i].q.val();
            }
        }
        self.first_1.d.next = self.first.q.val();
        self.totals.read_address.next = self.turn.q.val();
        self.turns[0].d.next = self.turn.q.val();
        self.reads[0].d.next =
            self.read.val() && (self.read_slot.val() == self.turn.q.val()) && !self.first.q.val();
        for i in 1..4 {
            self.turns[i].d.next = self.turns[i - 1].q.val();
            self.reads[i].d.next = self.reads[i - 1].q.val();
        }

        // t + 1: its group; in the first round the RAM holds nothing yet.
        self.sum_2.d.next = 0.into();
        if self.turns[0].q.val().get_bits::<3>(3) == 0 {
            self.sum_2.d.next = self.amount_at_1.q.val();
        }
        for g in 0..PULSE_GROUPS {
            if self.turns[0].q.val().get_bits::<3>(3) == (g + 1).to_bits() {
                self.sum_2.d.next = self.pulses_at_1[g].q.val().get_bits::<22>(0);
            }
        }
        self.total_2.d.next = self.totals.read_data.val();
        if self.first_1.q.val() {
            self.total_2.d.next = 0.into();
        }

        // t + 2, t + 3: low word, high word.
        self.low_3.d.next = bit_cast::<33, 32>(self.total_2.q.val().get_bits::<32>(0))
            + bit_cast::<33, 22>(self.sum_2.q.val());
        self.high_3.d.next = self.total_2.q.val().get_bits::<32>(32);
        self.low_4.d.next = self.low_3.q.val().get_bits::<32>(0);
        self.high_4.d.next =
            self.high_3.q.val() + bit_cast::<32, 1>(self.low_3.q.val().get_bits::<1>(32));

        // t + 4: back to the RAM, and to the reader.
        self.totals.write_enable.next = true;
        self.totals.write_address.next = self.turns[3].q.val();
        self.totals.write_data.next = bit_cast::<64, 32>(self.low_4.q.val())
            | (bit_cast::<64, 32>(self.high_4.q.val()) << 32);
        self.read_done.next = self.reads[3].q.val();
        self.read_total.next = self.low_4.q.val();
        self.high_words.write_enable.next = self.reads[3].q.val() || self.first.q.val();
        self.high_words.write_address.next = self.turns[3].q.val();
        self.high_words.write_data.next = self.high_4.q.val();
        if self.first.q.val() {
            self.high_words.write_address.next = self.turn.q.val();
            self.high_words.write_data.next = 0.into();
        }
        self.high_words.read_address.next = self.high_slot.val();
        self.high.next = self.high_words.read_data.val();

        if self.rst.val() {
            self.turn.d.next = 0.into();
            self.first.d.next = true;
            for i in 0..4 {
                self.reads[i].d.next = false;
            }
            for i in 0..PULSES {
                self.counted[i].d.next = false;
                self.pulse_sum[i].d.next = 0.into();
            }
            for i in 0..AMOUNTS {
                self.added[i].d.next = 0.into();
                self.amount_sum[i].d.next = 0.into();
            }
        }
    }
}
