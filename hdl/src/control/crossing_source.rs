//! The crossing's side in the master's clock domain.

use super::HandshakeSource;
use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Takes one write and one read at a time and hands each over.
#[derive(Clone, Debug, LogicBlock)]
pub struct CrossingSource {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A write's address.
    pub s_axil_awvalid: Signal<In, Bit>,
    /// It is taken.
    pub s_axil_awready: Signal<Out, Bit>,
    /// Byte address.
    pub s_axil_awaddr: Signal<In, Bits<16>>,
    /// A write's data.
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
    /// Response.
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    /// A read's address.
    pub s_axil_arvalid: Signal<In, Bit>,
    /// It is taken.
    pub s_axil_arready: Signal<Out, Bit>,
    /// Byte address.
    pub s_axil_araddr: Signal<In, Bits<16>>,
    /// A read is done.
    pub s_axil_rvalid: Signal<Out, Bit>,
    /// The answer is taken.
    pub s_axil_rready: Signal<In, Bit>,
    /// Data.
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    /// Response.
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    /// To the other side: a write is there.
    pub write_request: Signal<Out, Bit>,
    /// To the other side: address 15:0, data 47:16, strobe 51:48.
    pub write_asked: Signal<Out, Bits<52>>,
    /// From the other side: it is done.
    pub write_ack: Signal<In, Bit>,
    /// From the other side: its response.
    pub write_answer: Signal<In, Bits<2>>,
    /// To the other side: a read is there.
    pub read_request: Signal<Out, Bit>,
    /// To the other side: its address.
    pub read_asked: Signal<Out, Bits<16>>,
    /// From the other side: it is done.
    pub read_ack: Signal<In, Bit>,
    /// From the other side: data 31:0, response 33:32.
    pub read_answer: Signal<In, Bits<34>>,
    write_side: HandshakeSource<52, 2>,
    read_side: HandshakeSource<16, 34>,
    has_address: Reg<Bit>,
    has_data: Reg<Bit>,
    address: Reg<Bits<16>>,
    data: Reg<Bits<32>>,
    strobe: Reg<Bits<4>>,
    both: Signal<Local, Bit>,
}

impl Default for CrossingSource {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_axil_crossing_source",
                "Takes AXI4-Lite accesses and hands them to another clock domain.",
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
            write_request: Signal::default(),
            write_asked: Signal::default(),
            write_ack: Signal::default(),
            write_answer: Signal::default(),
            read_request: Signal::default(),
            read_asked: Signal::default(),
            read_ack: Signal::default(),
            read_answer: Signal::default(),
            write_side: HandshakeSource::default(),
            read_side: HandshakeSource::default(),
            has_address: Reg::default(),
            has_data: Reg::default(),
            address: Reg::default(),
            data: Reg::default(),
            strobe: Reg::default(),
            both: Signal::default(),
        }
    }
}

impl Logic for CrossingSource {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, has_address, has_data, address, data, strobe);
        self.write_side.clk.next = self.clk.val();
        self.write_side.rst.next = self.rst.val();
        self.read_side.clk.next = self.clk.val();
        self.read_side.rst.next = self.rst.val();

        // A write is handed over when it has both address and data.
        self.s_axil_awready.next = !self.has_address.q.val();
        self.s_axil_wready.next = !self.has_data.q.val();
        if !self.has_address.q.val() {
            self.has_address.d.next = self.s_axil_awvalid.val();
            self.address.d.next = self.s_axil_awaddr.val();
        }
        if !self.has_data.q.val() {
            self.has_data.d.next = self.s_axil_wvalid.val();
            self.data.d.next = self.s_axil_wdata.val();
            self.strobe.d.next = self.s_axil_wstrb.val();
        }
        self.both.next = self.has_address.q.val() && self.has_data.q.val();
        self.write_side.ask_valid.next = self.both.val();
        self.write_side.ask.next = bit_cast::<52, 16>(self.address.q.val())
            | (bit_cast::<52, 32>(self.data.q.val()) << 16)
            | (bit_cast::<52, 4>(self.strobe.q.val()) << 48);
        if self.both.val() && self.write_side.ask_ready.val() {
            self.has_address.d.next = false;
            self.has_data.d.next = false;
        }
        self.s_axil_bvalid.next = self.write_side.answer_valid.val();
        self.write_side.answer_ready.next = self.s_axil_bready.val();
        self.s_axil_bresp.next = self.write_side.answer.val();

        self.read_side.ask_valid.next = self.s_axil_arvalid.val();
        self.s_axil_arready.next = self.read_side.ask_ready.val();
        self.read_side.ask.next = self.s_axil_araddr.val();
        self.s_axil_rvalid.next = self.read_side.answer_valid.val();
        self.read_side.answer_ready.next = self.s_axil_rready.val();
        self.s_axil_rdata.next = self.read_side.answer.val().get_bits::<32>(0);
        self.s_axil_rresp.next = self.read_side.answer.val().get_bits::<2>(32);

        self.write_request.next = self.write_side.request.val();
        self.write_asked.next = self.write_side.request_data.val();
        self.write_side.ack.next = self.write_ack.val();
        self.write_side.ack_data.next = self.write_answer.val();
        self.read_request.next = self.read_side.request.val();
        self.read_asked.next = self.read_side.request_data.val();
        self.read_side.ack.next = self.read_ack.val();
        self.read_side.ack_data.next = self.read_answer.val();

        if self.rst.val() {
            self.has_address.d.next = false;
            self.has_data.d.next = false;
        }
    }
}
