//! One bit a PSN: whether it arrived.

use crate::prim::{Delay, ModuleId, Ram, Reg};
use rust_hdl::prelude::*;

/// Reads the 64 PSNs of an arrival's group, says whether the PSN had arrived, and marks it.
///
/// Lap-coded: a PSN has arrived in its lap when its bit differs from the lap. Comments count clocks
/// from `t`, in which the arrival is given.
#[derive(Clone, Debug, LogicBlock)]
pub struct ArrivalBits {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Init sweep writes this group.
    pub init_write: Signal<In, Bit>,
    /// Group of the init sweep.
    pub init_address: Signal<In, Bits<13>>,
    /// Its lap.
    pub init_lap: Signal<In, Bit>,
    /// The first PSN lies in this group.
    pub init_is_first: Signal<In, Bit>,
    /// Place of the first PSN in its group; stands at least one clock before the write.
    pub init_place: Signal<In, Bits<6>>,
    /// Flow and slot, at `t`.
    pub address: Signal<In, Bits<13>>,
    /// Place of the PSN in its group, at `t`.
    pub place: Signal<In, Bits<6>>,
    /// Lap of the PSN, at `t`.
    pub lap: Signal<In, Bit>,
    /// The arrival is accepted, at `t + 3`: mark it.
    pub mark: Signal<In, Bit>,
    /// The PSN had arrived before, at `t + 2`.
    pub seen: Signal<Out, Bit>,
    /// Arrived PSNs of the group, this one with them, at `t + 2`.
    pub arrived: Signal<Out, Bits<64>>,
    /// Arrived PSNs of the group before this arrival, at `t + 2`.
    pub stored: Signal<Out, Bits<64>>,
    bitmaps: Ram<Bits<64>, 13>,
    address_3: Delay<Bits<13>, 3>,
    lap_1: Reg<Bit>,
    mask_1: Reg<Bits<64>>,
    seen_2: Reg<Bit>,
    arrived_2: Reg<Bits<64>>,
    stored_2: Reg<Bits<64>>,
    marked_2: Reg<Bits<64>>,
    marked_3: Reg<Bits<64>>,
    init_mask: Reg<Bits<64>>,
    lap_word: Signal<Local, Bits<64>>,
    init_word: Signal<Local, Bits<64>>,
}

impl ArrivalBits {
    /// For `groups` groups of all flows together.
    pub fn new(groups: usize) -> Self {
        Self {
            id: ModuleId::new(
                "rondo_arrival_bits",
                "One lap-coded bit a PSN, 64 PSNs a word: had the PSN arrived? Marks it.\n\
                 A suffix _n is the clock after the arrival in which the value is present.",
            ),
            clk: Signal::default(),
            init_write: Signal::default(),
            init_address: Signal::default(),
            init_lap: Signal::default(),
            init_is_first: Signal::default(),
            init_place: Signal::default(),
            address: Signal::default(),
            place: Signal::default(),
            lap: Signal::default(),
            mark: Signal::default(),
            seen: Signal::default(),
            arrived: Signal::default(),
            stored: Signal::default(),
            bitmaps: Ram::new(groups),
            address_3: Delay::default(),
            lap_1: Reg::default(),
            mask_1: Reg::default(),
            seen_2: Reg::default(),
            arrived_2: Reg::default(),
            stored_2: Reg::default(),
            marked_2: Reg::default(),
            marked_3: Reg::default(),
            init_mask: Reg::default(),
            lap_word: Signal::default(),
            init_word: Signal::default(),
        }
    }
}

impl Logic for ArrivalBits {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, lap_1, mask_1, seen_2, arrived_2, stored_2, marked_2);
        dff_setup!(self, clk, marked_3, init_mask);
        clock!(self, clk, bitmaps);
        self.address_3.clk.next = self.clk.val();

        self.bitmaps.read_address.next = self.address.val();
        self.address_3.d.next = self.address.val();
        self.lap_1.d.next = self.lap.val();
        self.mask_1.d.next = bits::<64>(1) << self.place.val();

        // t + 1: the old bit, and the word with the PSN marked.
        self.lap_word.next = 0.into();
        if self.lap_1.q.val() {
            self.lap_word.next = !bits::<64>(0);
        }
        self.seen_2.d.next =
            ((self.bitmaps.read_data.val() ^ self.lap_word.val()) & self.mask_1.q.val()).any();
        self.arrived_2.d.next =
            (self.bitmaps.read_data.val() ^ self.lap_word.val()) | self.mask_1.q.val();
        self.stored_2.d.next = self.bitmaps.read_data.val() ^ self.lap_word.val();
        self.marked_2.d.next = self.bitmaps.read_data.val() | self.mask_1.q.val();
        if self.lap_1.q.val() {
            self.marked_2.d.next = self.bitmaps.read_data.val() & !self.mask_1.q.val();
        }
        self.seen.next = self.seen_2.q.val();
        self.arrived.next = self.arrived_2.q.val();
        self.stored.next = self.stored_2.q.val();

        // t + 3: mark. The init sweep counts PSNs before the first as arrived.
        self.marked_3.d.next = self.marked_2.q.val();
        self.init_mask.d.next = (bits::<64>(1) << self.init_place.val()) - 1;
        self.init_word.next = 0.into();
        if self.init_is_first.val() {
            self.init_word.next = self.init_mask.q.val();
        }
        self.bitmaps.write_enable.next = self.mark.val() || self.init_write.val();
        self.bitmaps.write_address.next = self.address_3.q.val();
        self.bitmaps.write_data.next = self.marked_3.q.val();
        if self.init_write.val() {
            self.bitmaps.write_address.next = self.init_address.val();
            self.bitmaps.write_data.next = self.init_word.val();
            if self.init_lap.val() {
                self.bitmaps.write_data.next = !self.init_word.val();
            }
        }
    }
}
