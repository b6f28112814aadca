//! The check of a payload, when its end is there.

use crate::prim::{Crc32c, Delay, ModuleId, Reg};
use rust_hdl::prelude::*;

/// Pads a payload with zeros, checks its CRC and its frame's length, and hands it on, 5 clocks later.
#[derive(Clone, Debug, LogicBlock)]
pub struct PayloadCheck {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A payload beat, at `s`.
    pub valid: Signal<In, Bit>,
    /// It is the frame's first.
    pub first: Signal<In, Bit>,
    /// It is the frame's last.
    pub last: Signal<In, Bit>,
    /// Its bytes.
    pub data: Signal<In, Bits<512>>,
    /// Bytes of the frame less one, with `last` and `frame_end`.
    pub size: Signal<In, Bits<17>>,
    /// The frame ends, at `s`.
    pub frame_end: Signal<In, Bit>,
    /// Low bits of the header's payload length, at `s`.
    pub payload_low: Signal<In, Bits<6>>,
    /// The header's payload CRC, at `s + 4`.
    pub payload_crc: Signal<In, Bits<32>>,
    /// Bytes that the frame must have, less one, at `s + 4`.
    pub whole_size: Signal<In, Bits<17>>,
    /// `valid`, at `s + 5`.
    pub out_valid: Signal<Out, Bit>,
    /// `last`, at `s + 5`.
    pub out_last: Signal<Out, Bit>,
    /// `data`, at `s + 5`; zeros behind the payload's last byte in a last beat.
    pub out_data: Signal<Out, Bits<512>>,
    /// `frame_end`, at `s + 5`.
    pub out_end: Signal<Out, Bit>,
    /// The frame is as long as it must be; with `out_last` and `out_end`.
    pub size_right: Signal<Out, Bit>,
    /// The payload CRC is right; with `out_last`, and until the next frame's payload.
    pub crc_right: Signal<Out, Bit>,
    payload_sum: Crc32c,
    counted: Signal<Local, Bits<512>>,
    surplus: Signal<Local, Bits<9>>,
    data_1: Reg<Bits<512>>,
    first_1: Reg<Bit>,
    valid_1: Reg<Bit>,
    last_1: Reg<Bit>,
    end_1: Reg<Bit>,
    valid_2: Reg<Bit>,
    end_2: Reg<Bit>,
    valid_3: Reg<Bit>,
    end_3: Reg<Bit>,
    valid_4: Reg<Bit>,
    end_4: Reg<Bit>,
    valid_5: Reg<Bit>,
    end_5: Reg<Bit>,
    last_5: Delay<Bit, 4>,
    data_5: Delay<Bits<512>, 4>,
    size_4: Delay<Bits<17>, 4>,
    size_right_5: Reg<Bit>,
    crc_right_5: Reg<Bit>,
    ones: Constant<Bits<512>>,
}

impl Default for PayloadCheck {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_rx_payload",
                "Checks payload CRC and frame length, in five clocks.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            valid: Signal::default(),
            first: Signal::default(),
            last: Signal::default(),
            data: Signal::default(),
            size: Signal::default(),
            frame_end: Signal::default(),
            payload_low: Signal::default(),
            payload_crc: Signal::default(),
            whole_size: Signal::default(),
            out_valid: Signal::default(),
            out_last: Signal::default(),
            out_data: Signal::default(),
            out_end: Signal::default(),
            size_right: Signal::default(),
            crc_right: Signal::default(),
            payload_sum: Crc32c::default(),
            counted: Signal::default(),
            surplus: Signal::default(),
            data_1: Reg::default(),
            first_1: Reg::default(),
            valid_1: Reg::default(),
            last_1: Reg::default(),
            end_1: Reg::default(),
            valid_2: Reg::default(),
            end_2: Reg::default(),
            valid_3: Reg::default(),
            end_3: Reg::default(),
            valid_4: Reg::default(),
            end_4: Reg::default(),
            valid_5: Reg::default(),
            end_5: Reg::default(),
            last_5: Delay::default(),
            data_5: Delay::default(),
            size_4: Delay::default(),
            size_right_5: Reg::default(),
            crc_right_5: Reg::default(),
            ones: Constant::new(Bits::<512>::mask()),
        }
    }
}

impl Logic for PayloadCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, data_1, first_1, valid_1, last_1, end_1, valid_2, end_2);
        dff_setup!(self, clk, valid_3, end_3, valid_4, end_4, valid_5, end_5);
        dff_setup!(self, clk, size_right_5, crc_right_5);
        self.payload_sum.clk.next = self.clk.val();
        self.last_5.clk.next = self.clk.val();
        self.data_5.clk.next = self.clk.val();
        self.size_4.clk.next = self.clk.val();

        // s: a last beat counts as far as the header says. When the frame is of another length,
        // nothing of it counts.
        self.surplus.next = bit_cast::<9, 6>(bits::<6>(0) - self.payload_low.val()) << 3;
        self.counted.next = self.ones.val();
        if self.last.val() {
            self.counted.next = self.ones.val() >> self.surplus.val();
        }
        self.data_1.d.next = self.data.val() & self.counted.val();
        self.valid_1.d.next = self.valid.val();
        self.first_1.d.next = self.first.val();
        self.last_1.d.next = self.last.val();
        self.end_1.d.next = self.frame_end.val();
        self.size_4.d.next = self.size.val();

        // s + 1
        self.payload_sum.valid.next = self.valid_1.q.val();
        self.payload_sum.first.next = self.first_1.q.val();
        self.payload_sum.data.next = self.data_1.q.val();
        self.data_5.d.next = self.data_1.q.val();
        self.last_5.d.next = self.last_1.q.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.end_2.d.next = self.end_1.q.val();
        self.valid_3.d.next = self.valid_2.q.val();
        self.end_3.d.next = self.end_2.q.val();
        self.valid_4.d.next = self.valid_3.q.val();
        self.end_4.d.next = self.end_3.q.val();

        // s + 4
        self.valid_5.d.next = self.valid_4.q.val();
        self.end_5.d.next = self.end_4.q.val();
        self.size_right_5.d.next = self.size_4.q.val() == self.whole_size.val();
        self.crc_right_5.d.next = self.payload_sum.crc.val() == self.payload_crc.val();

        // s + 5
        self.out_valid.next = self.valid_5.q.val();
        self.out_last.next = self.last_5.q.val();
        self.out_data.next = self.data_5.q.val();
        self.out_end.next = self.end_5.q.val();
        self.size_right.next = self.size_right_5.q.val();
        self.crc_right.next = self.crc_right_5.q.val();

        if self.rst.val() {
            self.valid_1.d.next = false;
            self.end_1.d.next = false;
            self.valid_2.d.next = false;
            self.end_2.d.next = false;
            self.valid_3.d.next = false;
            self.end_3.d.next = false;
            self.valid_4.d.next = false;
            self.end_4.d.next = false;
            self.valid_5.d.next = false;
            self.end_5.d.next = false;
        }
    }
}
