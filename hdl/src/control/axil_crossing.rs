//! AXI4-Lite from one clock domain to another.

use super::{CrossingSink, CrossingSource};
use crate::prim::ModuleId;
use rust_hdl::prelude::*;

/// One write and one read at a time, each by a four-phase handshake; the clocks may be in any relation.
///
/// A reset of one side alone is safe too, if the clocks differ by no more than a factor of four: after
/// one of the `s` side, answers to what was under way are dropped; after one of the `m` side, what
/// was not answered is carried out again.
#[derive(Clone, Debug, LogicBlock)]
pub struct AxilCrossing {
    id: ModuleId,
    /// Clock of the `s_axil` side.
    pub s_clk: Signal<In, Clock>,
    /// Synchronous reset of the `s_axil` side.
    pub s_rst: Signal<In, Bit>,
    /// Clock of the `m_axil` side.
    pub m_clk: Signal<In, Clock>,
    /// Synchronous reset of the `m_axil` side.
    pub m_rst: Signal<In, Bit>,
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
    source: CrossingSource,
    sink: CrossingSink,
}

impl Default for AxilCrossing {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_axil_crossing",
                "AXI4-Lite between two clock domains, one access of each kind at a time.",
            ),
            s_clk: Signal::default(),
            s_rst: Signal::default(),
            m_clk: Signal::default(),
            m_rst: Signal::default(),
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
            source: CrossingSource::default(),
            sink: CrossingSink::default(),
        }
    }
}

impl Logic for AxilCrossing {
    #[hdl_gen]
    fn update(&mut self) {
        self.source.clk.next = self.s_clk.val();
        self.source.rst.next = self.s_rst.val();
        self.sink.clk.next = self.m_clk.val();
        self.sink.rst.next = self.m_rst.val();

        self.source.s_axil_awvalid.next = self.s_axil_awvalid.val();
        self.s_axil_awready.next = self.source.s_axil_awready.val();
        self.source.s_axil_awaddr.next = self.s_axil_awaddr.val();
        self.source.s_axil_wvalid.next = self.s_axil_wvalid.val();
        self.s_axil_wready.next = self.source.s_axil_wready.val();
        self.source.s_axil_wdata.next = self.s_axil_wdata.val();
        self.source.s_axil_wstrb.next = self.s_axil_wstrb.val();
        self.s_axil_bvalid.next = self.source.s_axil_bvalid.val();
        self.source.s_axil_bready.next = self.s_axil_bready.val();
        self.s_axil_bresp.next = self.source.s_axil_bresp.val();
        self.source.s_axil_arvalid.next = self.s_axil_arvalid.val();
        self.s_axil_arready.next = self.source.s_axil_arready.val();
        self.source.s_axil_araddr.next = self.s_axil_araddr.val();
        self.s_axil_rvalid.next = self.source.s_axil_rvalid.val();
        self.source.s_axil_rready.next = self.s_axil_rready.val();
        self.s_axil_rdata.next = self.source.s_axil_rdata.val();
        self.s_axil_rresp.next = self.source.s_axil_rresp.val();

        self.m_axil_awvalid.next = self.sink.m_axil_awvalid.val();
        self.sink.m_axil_awready.next = self.m_axil_awready.val();
        self.m_axil_awaddr.next = self.sink.m_axil_awaddr.val();
        self.m_axil_wvalid.next = self.sink.m_axil_wvalid.val();
        self.sink.m_axil_wready.next = self.m_axil_wready.val();
        self.m_axil_wdata.next = self.sink.m_axil_wdata.val();
        self.m_axil_wstrb.next = self.sink.m_axil_wstrb.val();
        self.sink.m_axil_bvalid.next = self.m_axil_bvalid.val();
        self.m_axil_bready.next = self.sink.m_axil_bready.val();
        self.sink.m_axil_bresp.next = self.m_axil_bresp.val();
        self.m_axil_arvalid.next = self.sink.m_axil_arvalid.val();
        self.sink.m_axil_arready.next = self.m_axil_arready.val();
        self.m_axil_araddr.next = self.sink.m_axil_araddr.val();
        self.sink.m_axil_rvalid.next = self.m_axil_rvalid.val();
        self.m_axil_rready.next = self.sink.m_axil_rready.val();
        self.sink.m_axil_rdata.next = self.m_axil_rdata.val();
        self.sink.m_axil_rresp.next = self.m_axil_rresp.val();

        self.sink.write_request.next = self.source.write_request.val();
        self.sink.write_asked.next = self.source.write_asked.val();
        self.source.write_ack.next = self.sink.write_ack.val();
        self.source.write_answer.next = self.sink.write_answer.val();
        self.sink.read_request.next = self.source.read_request.val();
        self.sink.read_asked.next = self.source.read_asked.val();
        self.source.read_ack.next = self.sink.read_ack.val();
        self.source.read_answer.next = self.sink.read_answer.val();
    }
}
