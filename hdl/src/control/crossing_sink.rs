//! The crossing's side in the slave's clock domain.

use super::HandshakeSink;
use crate::prim::{ModuleId, Reg};
use rust_hdl::prelude::*;

/// Carries out the accesses that the other side hands over.
#[derive(Clone, Debug, LogicBlock)]
pub struct CrossingSink {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// From the other side: a write is there.
    pub write_request: Signal<In, Bit>,
    /// From the other side: address 15:0, data 47:16, strobe 51:48.
    pub write_asked: Signal<In, Bits<52>>,
    /// To the other side: it is done.
    pub write_ack: Signal<Out, Bit>,
    /// To the other side: its response.
    pub write_answer: Signal<Out, Bits<2>>,
    /// From the other side: a read is there.
    pub read_request: Signal<In, Bit>,
    /// From the other side: its address.
    pub read_asked: Signal<In, Bits<16>>,
    /// To the other side: it is done.
    pub read_ack: Signal<Out, Bit>,
    /// To the other side: data 31:0, response 33:32.
    pub read_answer: Signal<Out, Bits<34>>,
    /// A write's address.
    pub m_axil_awvalid: Signal<Out, Bit>,
    /// It is taken.
    pub m_axil_awready: Signal<In, Bit>,
    /// Byte address.
    pub m_axil_awaddr: Signal<Out, Bits<16>>,
    /// A write's data.
    pub m_axil_wvalid: Signal<Out, Bit>,
    /// It is taken.
    pub m_axil_wready: Signal<In, Bit>,
    /// Data.
    pub m_axil_wdata: Signal<Out, Bits<32>>,
    /// Bytes that count.
    pub m_axil_wstrb: Signal<Out, Bits<4>>,
    /// A write is done.
    pub m_axil_bvalid: Signal<In, Bit>,
    /// The answer is taken.
    pub m_axil_bready: Signal<Out, Bit>,
    /// Response.
    pub m_axil_bresp: Signal<In, Bits<2>>,
    /// A read's address.
    pub m_axil_arvalid: Signal<Out, Bit>,
    /// It is taken.
    pub m_axil_arready: Signal<In, Bit>,
    /// Byte address.
    pub m_axil_araddr: Signal<Out, Bits<16>>,
    /// A read is done.
    pub m_axil_rvalid: Signal<In, Bit>,
    /// The answer is taken.
    pub m_axil_rready: Signal<Out, Bit>,
    /// Data.
    pub m_axil_rdata: Signal<In, Bits<32>>,
    /// Response.
    pub m_axil_rresp: Signal<In, Bits<2>>,
    write_side: HandshakeSink<52, 2>,
    read_side: HandshakeSink<16, 34>,
    address_sent: Reg<Bit>,
    data_sent: Reg<Bit>,
    read_sent: Reg<Bit>,
}

impl Default for CrossingSink {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_axil_crossing_sink",
                "Carries out AXI4-Lite accesses that come from another clock domain.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            write_request: Signal::default(),
            write_asked: Signal::default(),
            write_ack: Signal::default(),
            write_answer: Signal::default(),
            read_request: Signal::default(),
            read_asked: Signal::default(),
            read_ack: Signal::default(),
            read_answer: Signal::default(),
            m_axil_awvalid: Signal::default(),
            m_axil_awready: Signal::default(),
            m_axil_awaddr: Signal::default(),
            m_axil_wvalid: Signal::default(),
            m_axil_wready: Signal::default(),
            m_axil_wdata: Signal::default(),
            m_axil_wstrb: Signal::default(),
            m_axil_bvalid: Signal::default(),
            m_axil_bready: Signal::default(),
            m_axil_bresp: Signal::default(),
            m_axil_arvalid: Signal::default(),
            m_axil_arready: Signal::default(),
            m_axil_araddr: Signal::default(),
            m_axil_rvalid: Signal::default(),
            m_axil_rready: Signal::default(),
            m_axil_rdata: Signal::default(),
            m_axil_rresp: Signal::default(),
            write_side: HandshakeSink::default(),
            read_side: HandshakeSink::default(),
            address_sent: Reg::default(),
            data_sent: Reg::default(),
            read_sent: Reg::default(),
        }
    }
}

impl Logic for CrossingSink {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, address_sent, data_sent, read_sent);
        self.write_side.clk.next = self.clk.val();
        self.write_side.rst.next = self.rst.val();
        self.read_side.clk.next = self.clk.val();
        self.read_side.rst.next = self.rst.val();

        // Address and data go when each is taken; the answer comes after both.
        self.m_axil_awvalid.next = self.write_side.active.val() && !self.address_sent.q.val();
        self.m_axil_wvalid.next = self.write_side.active.val() && !self.data_sent.q.val();
        self.m_axil_awaddr.next = self.write_side.asked.val().get_bits::<16>(0);
        self.m_axil_wdata.next = self.write_side.asked.val().get_bits::<32>(16);
        self.m_axil_wstrb.next = self.write_side.asked.val().get_bits::<4>(48);
        self.m_axil_bready.next = self.write_side.active.val();
        if self.write_side.active.val() && self.m_axil_awready.val() {
            self.address_sent.d.next = true;
        }
        if self.write_side.active.val() && self.m_axil_wready.val() {
            self.data_sent.d.next = true;
        }
        self.write_side.done.next = self.m_axil_bvalid.val();
        self.write_side.answer.next = self.m_axil_bresp.val();
        if self.write_side.active.val() && self.m_axil_bvalid.val() {
            self.address_sent.d.next = false;
            self.data_sent.d.next = false;
        }

        self.m_axil_arvalid.next = self.read_side.active.val() && !self.read_sent.q.val();
        self.m_axil_araddr.next = self.read_side.asked.val();
        self.m_axil_rready.next = self.read_side.active.val();
        if self.read_side.active.val() && self.m_axil_arready.val() {
            self.read_sent.d.next = true;
        }
        self.read_side.done.next = self.m_axil_rvalid.val();
        self.read_side.answer.next = bit_cast::<34, 32>(self.m_axil_rdata.val())
            | (bit_cast::<34, 2>(self.m_axil_rresp.val()) << 32);
        if self.read_side.active.val() && self.m_axil_rvalid.val() {
            self.read_sent.d.next = false;
        }

        self.write_side.request.next = self.write_request.val();
        self.write_side.request_data.next = self.write_asked.val();
        self.write_ack.next = self.write_side.ack.val();
        self.write_answer.next = self.write_side.ack_data.val();
        self.read_side.request.next = self.read_request.val();
        self.read_side.request_data.next = self.read_asked.val();
        self.read_ack.next = self.read_side.ack.val();
        self.read_answer.next = self.read_side.ack_data.val();

        if self.rst.val() {
            self.address_sent.d.next = false;
            self.data_sent.d.next = false;
            self.read_sent.d.next = false;
        }
    }
}
