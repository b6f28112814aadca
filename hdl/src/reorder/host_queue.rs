//! The way from the packet memories to the host.

use super::PLACE_BITS;
use crate::prim::{ModuleId, Reg};
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Registers what the memories give and queues it for the host, so that the host's `ready` reaches
/// no packet memory. The reader keeps count of the room. Comments count clocks from `t`, in which
/// the memories are addressed.
#[derive(Clone, Debug, LogicBlock)]
pub struct HostQueue {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// A beat is read, at `t`.
    pub read: Signal<In, Bit>,
    /// It is the packet's last, at `t`.
    pub last: Signal<In, Bit>,
    /// Flow of the packet, at `t`.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the packet, at `t`.
    pub psn: Signal<In, Bits<24>>,
    /// The beat, at `t + 1`.
    pub data: Signal<In, Bits<512>>,
    /// Valid bytes of the packet's last beat, at `t + 1`.
    pub keep: Signal<In, Bits<64>>,
    /// The packet's place in its message, at `t + 1`.
    pub place: Signal<In, Bits<PLACE_BITS>>,
    /// A beat left the queue.
    pub popped: Signal<Out, Bit>,
    /// A beat to the host.
    pub host_valid: Signal<Out, Bit>,
    /// The beat is taken.
    pub host_ready: Signal<In, Bit>,
    /// 64 bytes.
    pub host_data: Signal<Out, Bits<512>>,
    /// Valid bytes.
    pub host_keep: Signal<Out, Bits<64>>,
    /// The packet's last beat.
    pub host_last: Signal<Out, Bit>,
    /// Flow of the packet.
    pub host_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN of the packet.
    pub host_psn: Signal<Out, Bits<24>>,
    /// Its place in its message.
    pub host_place: Signal<Out, Bits<PLACE_BITS>>,
    beats: StreamFifo<Bits<512>, QUEUE_ADDRESS_BITS>,
    infos: StreamFifo<Bits<211>, QUEUE_ADDRESS_BITS>,
    read_1: Reg<Bit>,
    read_2: Reg<Bit>,
    last_1: Reg<Bit>,
    last_2: Reg<Bit>,
    flow_1: Reg<Bits<FLOW_BITS>>,
    flow_2: Reg<Bits<FLOW_BITS>>,
    psn_1: Reg<Bits<24>>,
    psn_2: Reg<Bits<24>>,
    data_2: Reg<Bits<512>>,
    keep_2: Reg<Bits<64>>,
    place_2: Reg<Bits<PLACE_BITS>>,
}

impl Default for HostQueue {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_reorder_host_queue",
                "Queue of beats to the host, each with what is known of its packet.\n\
                 A suffix _n is the clock after the memories are addressed.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            read: Signal::default(),
            last: Signal::default(),
            flow: Signal::default(),
            psn: Signal::default(),
            data: Signal::default(),
            keep: Signal::default(),
            place: Signal::default(),
            popped: Signal::default(),
            host_valid: Signal::default(),
            host_ready: Signal::default(),
            host_data: Signal::default(),
            host_keep: Signal::default(),
            host_last: Signal::default(),
            host_flow: Signal::default(),
            host_psn: Signal::default(),
            host_place: Signal::default(),
            beats: StreamFifo::new("reorder_beats"),
            infos: StreamFifo::new("reorder_infos"),
            read_1: Reg::default(),
            read_2: Reg::default(),
            last_1: Reg::default(),
            last_2: Reg::default(),
            flow_1: Reg::default(),
            flow_2: Reg::default(),
            psn_1: Reg::default(),
            psn_2: Reg::default(),
            data_2: Reg::default(),
            keep_2: Reg::default(),
            place_2: Reg::default(),
        }
    }
}

impl Logic for HostQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, read_1, read_2, last_1, last_2, flow_1, flow_2);
        dff_setup!(self, clk, psn_1, psn_2, data_2, keep_2, place_2);
        self.beats.clk.next = self.clk.val();
        self.infos.clk.next = self.clk.val();
        self.beats.rst.next = self.rst.val();
        self.infos.rst.next = self.rst.val();

        self.read_1.d.next = self.read.val();
        self.last_1.d.next = self.last.val();
        self.flow_1.d.next = self.flow.val();
        self.psn_1.d.next = self.psn.val();

        // t + 1: the memories answer. Only a packet's last beat may be partly valid.
        self.read_2.d.next = self.read_1.q.val();
        self.last_2.d.next = self.last_1.q.val();
        self.flow_2.d.next = self.flow_1.q.val();
        self.psn_2.d.next = self.psn_1.q.val();
        self.data_2.d.next = self.data.val();
        self.place_2.d.next = self.place.val();
        self.keep_2.d.next = !bits::<64>(0);
        if self.last_1.q.val() {
            self.keep_2.d.next = self.keep.val();
        }

        // t + 2: push.
        self.beats.push.next = self.read_2.q.val();
        self.beats.push_data.next = self.data_2.q.val();
        self.infos.push.next = self.read_2.q.val();
        self.infos.push_data.next = bit_cast::<211, 64>(self.keep_2.q.val())
            | (bit_cast::<211, PLACE_BITS>(self.place_2.q.val()) << 64)
            | (bit_cast::<211, 24>(self.psn_2.q.val()) << 176)
            | (bit_cast::<211, FLOW_BITS>(self.flow_2.q.val()) << 200)
            | (bit_cast::<211, 1>(self.last_2.q.val().into()) << 210);

        self.beats.ready.next = self.host_ready.val();
        self.infos.ready.next = self.host_ready.val();
        self.popped.next = self.infos.valid.val() && self.host_ready.val();
        self.host_valid.next = self.infos.valid.val();
        self.host_data.next = self.beats.data.val();
        self.host_keep.next = self.infos.data.val().get_bits::<64>(0);
        self.host_place.next = self.infos.data.val().get_bits::<PLACE_BITS>(64);
        self.host_psn.next = self.infos.data.val().get_bits::<24>(176);
        self.host_flow.next = self.infos.data.val().get_bits::<FLOW_BITS>(200);
        self.host_last.next = self.infos.data.val().get_bit(210);

        if self.rst.val() {
            self.read_1.d.next = false;
            self.read_2.d.next = false;
        }
    }
}
