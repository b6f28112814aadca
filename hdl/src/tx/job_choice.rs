//! Chooses the job of the next frame.

use crate::prim::{ModuleId, Reg};
use crate::stream::FLOW_BITS;
use rust_hdl::prelude::*;

/// Takes ACK jobs before data jobs before probe jobs, and no more than can be prepared.
///
/// At most two data and probe frames are under way between here and the start on the wire, so that an
/// ACK that comes does not wait for more; at most eight frames in all, which is the room for them.
#[derive(Clone, Debug, LogicBlock)]
pub struct JobChoice {
    id: ModuleId,
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Signal<In, Bit>,
    /// An ACK is to be sent.
    pub ack_valid: Signal<In, Bit>,
    /// It is taken.
    pub ack_ready: Signal<Out, Bit>,
    /// Flow.
    pub ack_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path of the packet that is acknowledged.
    pub ack_path: Signal<In, Bits<4>>,
    /// Its PSN.
    pub ack_psn: Signal<In, Bits<24>>,
    /// Next expected PSN.
    pub ack_expected: Signal<In, Bits<24>>,
    /// Which PSNs of its group of 64 have arrived.
    pub ack_selective: Signal<In, Bits<64>>,
    /// A probe is acknowledged.
    pub ack_probe: Signal<In, Bit>,
    /// A NAK.
    pub ack_nak: Signal<In, Bit>,
    /// The packet was a duplicate.
    pub ack_duplicate: Signal<In, Bit>,
    /// Its send timestamp.
    pub ack_sent_ns: Signal<In, Bits<32>>,
    /// Time of its arrival.
    pub ack_received_ns: Signal<In, Bits<32>>,
    /// A packet is to be sent.
    pub data_valid: Signal<In, Bit>,
    /// It is taken.
    pub data_ready: Signal<Out, Bit>,
    /// Flow.
    pub data_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub data_path: Signal<In, Bits<4>>,
    /// PSN.
    pub data_psn: Signal<In, Bits<24>>,
    /// Slot.
    pub data_slot: Signal<In, Bits<10>>,
    /// It was sent before.
    pub data_retransmission: Signal<In, Bit>,
    /// A probe is to be sent.
    pub probe_valid: Signal<In, Bit>,
    /// It is taken.
    pub probe_ready: Signal<Out, Bit>,
    /// Flow.
    pub probe_flow: Signal<In, Bits<FLOW_BITS>>,
    /// Path.
    pub probe_path: Signal<In, Bits<4>>,
    /// A job is chosen.
    pub job_valid: Signal<Out, Bit>,
    /// From bit 0 on: kind (2), flags (4), path (4), slot (10), flow (10), PSN field (32); of an
    /// ACK next expected PSN, selective map high, low, echoed timestamp, receive timestamp (32 each).
    pub job: Signal<Out, Bits<222>>,
    /// A frame starts on the wire.
    pub started: Signal<In, Bit>,
    /// It is data or a probe.
    pub started_large: Signal<In, Bit>,
    /// A job is dropped.
    pub dropped: Signal<In, Bit>,
    /// It was data or a probe.
    pub dropped_large: Signal<In, Bit>,
    frames: Reg<Bits<4>>,
    large_frames: Reg<Bits<4>>,
    take_ack: Signal<Local, Bit>,
    may_take_large: Signal<Local, Bit>,
    take_data: Signal<Local, Bit>,
    take_probe: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    taken_large: Signal<Local, Bit>,
    valid_q: Reg<Bit>,
    job_q: Reg<Bits<222>>,
    psn: Signal<Local, Bits<32>>,
    expected: Signal<Local, Bits<32>>,
    selective: Signal<Local, Bits<64>>,
    ack: Signal<Local, Bits<222>>,
    data: Signal<Local, Bits<222>>,
    probe: Signal<Local, Bits<222>>,
    most_frames: Constant<Bits<4>>,
    most_large: Constant<Bits<4>>,
    reserved_psn: Constant<Bits<32>>,
}

impl Default for JobChoice {
    fn default() -> Self {
        Self {
            id: ModuleId::new(
                "rondo_job_choice",
                "Chooses the next frame's job: ACKs, then data, then probes.",
            ),
            clk: Signal::default(),
            rst: Signal::default(),
            ack_valid: Signal::default(),
            ack_ready: Signal::default(),
            ack_flow: Signal::default(),
            ack_path: Signal::default(),
            ack_psn: Signal::default(),
            ack_expected: Signal::default(),
            ack_selective: Signal::default(),
            ack_probe: Signal::default(),
            ack_nak: Signal::default(),
            ack_duplicate: Signal::default(),
            ack_sent_ns: Signal::default(),
            ack_received_ns: Signal::default(),
            data_valid: Signal::default(),
            data_ready: Signal::default(),
            data_flow: Signal::default(),
            data_path: Signal::default(),
            data_psn: Signal::default(),
            data_slot: Signal::default(),
            data_retransmission: Signal::default(),
            probe_valid: Signal::default(),
            probe_ready: Signal::default(),
            probe_flow: Signal::default(),
            probe_path: Signal::default(),
            job_valid: Signal::default(),
            job: Signal::default(),
            started: Signal::default(),
            started_large: Signal::default(),
            dropped: Signal::default(),
            dropped_large: Signal::default(),
            frames: Reg::default(),
            large_frames: Reg::default(),
            take_ack: Signal::default(),
            may_take_large: Signal::default(),
            take_data: Signal::default(),
            take_probe: Signal::default(),
            taken: Signal::default(),
            taken_large: Signal::default(),
            valid_q: Reg::default(),
            job_q: Reg::default(),
            psn: Signal::default(),
            expected: Signal::default(),
            selective: Signal::default(),
            ack: Signal::default(),
            data: Signal::default(),
            probe: Signal::default(),
            most_frames: Constant::new(8.into()),
            most_large: Constant::new(2.into()),
            reserved_psn: Constant::new(0xffff_ffff.into()),
        }
    }
}

impl Logic for JobChoice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, frames, large_frames, valid_q, job_q);

        self.ack_ready.next = self.frames.q.val() != self.most_frames.val();
        self.take_ack.next =
            self.ack_valid.val() && (self.frames.q.val() != self.most_frames.val());
        self.may_take_large.next = !self.ack_valid.val()
            && (self.frames.q.val() != self.most_frames.val())
            && (self.large_frames.q.val() != self.most_large.val());
        self.data_ready.next = self.may_take_large.val();
        self.take_data.next = self.data_valid.val() && self.may_take_large.val();
        self.probe_ready.next = self.may_take_large.val() && !self.data_valid.val();
        self.take_probe.next =
            self.probe_valid.val() && self.may_take_large.val() && !self.data_valid.val();
        self.taken_large.next = self.take_data.val() || self.take_probe.val();
        self.taken.next = self.take_ack.val() || self.taken_large.val();
        self.frames.d.next = self.frames.q.val() + bit_cast::<4, 1>(self.taken.val().into())
            - bit_cast::<4, 1>(self.started.val().into())
            - bit_cast::<4, 1>(self.dropped.val().into());
        self.large_frames.d.next = self.large_frames.q.val()
            + bit_cast::<4, 1>(self.taken_large.val().into())
            - bit_cast::<4, 1>((self.started.val() && self.started_large.val()).into())
            - bit_cast::<4, 1>((self.dropped.val() && self.dropped_large.val()).into());

        self.psn.next = bit_cast::<32, 24>(self.ack_psn.val());
        self.expected.next = bit_cast::<32, 24>(self.ack_expected.val());
        self.selective.next = self.ack_selective.val();
        if self.ack_probe.val() {
            self.psn.next = self.reserved_psn.val();
            self.expected.next = 0.into();
            self.selective.next = 0.into();
        }
        self.ack.next = bit_cast::<222, 1>(self.ack_nak.val().into())
            | (bit_cast::<222, 1>(self.ack_valid.val().into()) << 1)
            | (bit_cast::<222, 1>(self.ack_probe.val().into()) << 4)
            | (bit_cast::<222, 1>(self.ack_duplicate.val().into()) << 5)
            | (bit_cast::<222, 4>(self.ack_path.val()) << 6)
            | (bit_cast::<222, FLOW_BITS>(self.ack_flow.val()) << 20)
            | (bit_cast::<222, 32>(self.psn.val()) << 30)
            | (bit_cast::<222, 32>(self.expected.val()) << 62)
            | (bit_cast::<222, 32>(self.selective.val().get_bits::<32>(32)) << 94)
            | (bit_cast::<222, 32>(self.selective.val().get_bits::<32>(0)) << 126)
            | (bit_cast::<222, 32>(self.ack_sent_ns.val()) << 158)
            | (bit_cast::<222, 32>(self.ack_received_ns.val()) << 190);
        self.data.next = (bit_cast::<222, 1>(self.data_retransmission.val().into()) << 3)
            | (bit_cast::<222, 4>(self.data_path.val()) << 6)
            | (bit_cast::<222, 10>(self.data_slot.val()) << 10)
            | (bit_cast::<222, FLOW_BITS>(self.data_flow.val()) << 20)
            | (bit_cast::<222, 24>(self.data_psn.val()) << 30);
        self.probe.next = bit_cast::<222, 1>(self.probe_valid.val().into())
            | (bit_cast::<222, 4>(self.probe_path.val()) << 6)
            | (bit_cast::<222, FLOW_BITS>(self.probe_flow.val()) << 20)
            | (bit_cast::<222, 32>(self.reserved_psn.val()) << 30);
        self.valid_q.d.next = self.taken.val();
        self.job_q.d.next = self.ack.val();
        if !self.ack_valid.val() {
            self.job_q.d.next = self.probe.val();
            if self.data_valid.val() {
                self.job_q.d.next = self.data.val();
            }
        }
        self.job_valid.next = self.valid_q.q.val();
        self.job.next = self.job_q.q.val();

        if self.rst.val() {
            self.frames.d.next = 0.into();
            self.large_frames.d.next = 0.into();
            self.valid_q.d.next = false;
        }
    }
}
