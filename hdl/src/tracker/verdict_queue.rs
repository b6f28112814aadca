//! The tracker's output queue.

use crate::prim::ModuleId;
use crate::stream::{StreamFifo, FLOW_BITS, QUEUE_ADDRESS_BITS};
use rust_hdl::prelude::*;

/// Queues verdicts; the issue gate's credits see to it that there is room.
///
/// Tag and selective map have queues of their own in lock-step: the tag's width is free, and where
/// nothing reads the map its memory goes.
#[derive(Clone, Debug, LogicBlock)]
pub struct VerdictQueue<const T: usize> {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// Store the verdict given by the fields below.
    pub push: Signal<In, Bit>,
    /// Flow.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// PSN of the arrival.
    pub psn: Signal<In, Bits<24>>,
    /// The request's tag.
    pub tag: Signal<In, Bits<T>>,
    /// The arrival is new and was taken.
    pub accepted: Signal<In, Bit>,
    /// It had arrived before.
    pub duplicate: Signal<In, Bit>,
    /// It lies beyond the window.
    pub beyond: Signal<In, Bit>,
    /// There was no room for it.
    pub full: Signal<In, Bit>,
    /// Next expected PSN.
    pub expected: Signal<In, Bits<24>>,
    /// How far it moved.
    pub advance: Signal<In, Bits<10>>,
    /// Out-of-order degree.
    pub ood: Signal<In, Bits<10>>,
    /// Packets that wait.
    pub waiting: Signal<In, Bits<10>>,
    /// Arrived PSNs of the group.
    pub arrived: Signal<In, Bits<64>>,
    /// A verdict leaves in this clock.
    pub popped: Signal<Out, Bit>,
    /// A verdict is at the output; `res_*` are its fields.
    pub res_valid: Signal<Out, Bit>,
    /// It is taken.
    pub res_ready: Signal<In, Bit>,
    /// Flow.
    pub res_flow: Signal<Out, Bits<FLOW_BITS>>,
    /// PSN of the arrival.
    pub res_psn: Signal<Out, Bits<24>>,
    /// The request's tag.
    pub res_tag: Signal<Out, Bits<T>>,
    /// New and taken.
    pub res_accepted: Signal<Out, Bit>,
    /// It had arrived before.
    pub res_duplicate: Signal<Out, Bit>,
    /// Beyond the window.
    pub res_beyond: Signal<Out, Bit>,
    /// No room.
    pub res_full: Signal<Out, Bit>,
    /// Next expected PSN.
    pub res_expected: Signal<Out, Bits<24>>,
    /// How far it moved.
    pub res_advance: Signal<Out, Bits<10>>,
    /// Out-of-order degree.
    pub res_ood: Signal<Out, Bits<10>>,
    /// Packets that wait.
    pub res_waiting: Signal<Out, Bits<10>>,
    /// Arrived PSNs of the group.
    pub res_arrived: Signal<Out, Bits<64>>,
    results: StreamFifo<Bits<92>, QUEUE_ADDRESS_BITS>,
    tags: StreamFifo<Bits<T>, QUEUE_ADDRESS_BITS>,
    maps: StreamFifo<Bits<64>, QUEUE_ADDRESS_BITS>,
}

impl<const T: usize> Default for VerdictQueue<T> {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                format!("rondo_verdict_queue_{T}"),
                "The tracker's output queue: verdicts, tags and selective maps in lock-step.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            push: Signal::default(),
            flow: Signal::default(),
            psn: Signal::default(),
            tag: Signal::default(),
            accepted: Signal::default(),
            duplicate: Signal::default(),
            beyond: Signal::default(),
            full: Signal::default(),
            expected: Signal::default(),
            advance: Signal::default(),
            ood: Signal::default(),
            waiting: Signal::default(),
            arrived: Signal::default(),
            popped: Signal::default(),
            res_valid: Signal::default(),
            res_ready: Signal::default(),
            res_flow: Signal::default(),
            res_psn: Signal::default(),
            res_tag: Signal::default(),
            res_accepted: Signal::default(),
            res_duplicate: Signal::default(),
            res_beyond: Signal::default(),
            res_full: Signal::default(),
            res_expected: Signal::default(),
            res_advance: Signal::default(),
            res_ood: Signal::default(),
            res_waiting: Signal::default(),
            res_arrived: Signal::default(),
            results: StreamFifo::new("verdicts"),
            tags: StreamFifo::new(&format!("verdict_tags_{T}")),
            maps: StreamFifo::new("verdict_maps"),
        }
    }
}

impl<const T: usize> Logic for VerdictQueue<T> {
    #[hdl_gen]
    fn update(&mut self) {
        self.results.clk.next = self.clk.val();
        self.tags.clk.next = self.clk.val();
        self.maps.clk.next = self.clk.val();
        self.results.rst.next = self.rst.val();
        self.tags.rst.next = self.rst.val();
        self.maps.rst.next = self.rst.val();

        self.results.push.next = self.push.val();
        self.results.push_data.next = bit_cast::<92, 24>(self.psn.val())
            | (bit_cast::<92, 24>(self.expected.val()) << 24)
            | (bit_cast::<92, 10>(self.advance.val()) << 48)
            | (bit_cast::<92, 10>(self.ood.val()) << 58)
            | (bit_cast::<92, 10>(self.waiting.val()) << 68)
            | (bit_cast::<92, 1>(self.accepted.val().into()) << 78)
            | (bit_cast::<92, 1>(self.duplicate.val().into()) << 79)
            | (bit_cast::<92, 1>(self.beyond.val().into()) << 80)
            | (bit_cast::<92, 1>(self.full.val().into()) << 81)
            | (bit_cast::<92, FLOW_BITS>(self.flow.val()) << 82);
        self.tags.push.next = self.push.val();
        self.tags.push_data.next = self.tag.val();
        self.maps.push.next = self.push.val();
        self.maps.push_data.next = self.arrived.val();

        self.results.ready.next = self.res_ready.val();
        self.tags.ready.next = self.res_ready.val();
        self.maps.ready.next = self.res_ready.val();
        self.popped.next = self.results.valid.val() && self.res_ready.val();
        self.res_valid.next = self.results.valid.val();
        self.res_psn.next = self.results.data.val().get_bits::<24>(0);
        self.res_expected.next = self.results.data.val().get_bits::<24>(24);
        self.res_advance.next = self.results.data.val().get_bits::<10>(48);
        self.res_ood.next = self.results.data.val().get_bits::<10>(58);
        self.res_waiting.next = self.results.data.val().get_bits::<10>(68);
        self.res_accepted.next = self.results.data.val().get_bit(78);
        self.res_duplicate.next = self.results.data.val().get_bit(79);
        self.res_beyond.next = self.results.data.val().get_bit(80);
        self.res_full.next = self.results.data.val().get_bit(81);
        self.res_flow.next = self.results.data.val().get_bits::<FLOW_BITS>(82);
        self.res_tag.next = self.tags.data.val();
        self.res_arrived.next = self.maps.data.val();
    }
}
