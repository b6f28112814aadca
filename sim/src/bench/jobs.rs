//! The frame builder's jobs and frame ports, as benches drive and read them.

use super::driver::first_psn;
use super::frame_check::WireBeat;
use super::{Pace, Rows, Source};
use crate::SimError;
use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::psn::Psn;
use rondo_models::wire::frame::{self, Acknowledgement};
use rondo_models::wire::header::Acked;
use rondo_models::wire::{FlowContext, FrameRepr, Identity, MacAddress};

/// An ACK to send.
#[derive(Clone, Copy, Debug)]
pub struct AckJob {
    /// Flow.
    pub flow: u16,
    psn: u32,
    expected: u32,
    selective: u64,
    /// A probe is acknowledged: the port's PSN, expected PSN and map mean nothing.
    of_probe: bool,
    nak: bool,
    duplicate: bool,
    path: u8,
    sent_ns: u32,
    received_ns: u32,
}

impl AckJob {
    /// Any ACK of one of the first `flows` flows.
    pub fn random(rng: &mut SmallRng, flows: u16) -> Self {
        let of_probe = rng.random_range(0..8) == 0;
        Self {
            flow: rng.random_range(0..flows),
            path: rng.random_range(0..16),
            psn: first_psn(rng),
            expected: first_psn(rng),
            selective: rng.random(),
            of_probe,
            nak: !of_probe && rng.random_range(0..4) == 0,
            duplicate: rng.random_range(0..4) == 0,
            sent_ns: rng.random(),
            received_ns: rng.random(),
        }
    }

    /// Its frame.
    pub fn frame(&self, identity: &Identity, context: &FlowContext) -> FrameRepr {
        let of = match self.of_probe {
            true => Acked::Probe,
            false => Acked::Data {
                psn: Psn::new(self.psn),
                expected: Psn::new(self.expected),
                selective: self.selective,
            },
        };
        let ack = Acknowledgement {
            path: self.path,
            of,
            nak: self.nak,
            duplicate: self.duplicate,
            sent_ns: self.sent_ns,
            received_ns: self.received_ns,
        };
        frame::ack_frame(identity, context, &ack)
    }
}

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataJob {
    /// Flow.
    pub flow: u16,
    /// Path.
    pub path: u8,
    /// PSN.
    pub psn: u32,
    /// Slot.
    pub slot: u16,
    /// It was sent before.
    pub retransmission: bool,
}

/// A probe to send.
#[derive(Clone, Copy, Debug)]
pub struct ProbeJob {
    /// Flow.
    pub flow: u16,
    /// Path.
    pub path: u8,
}

/// A job, by urgency.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// An ACK.
    Ack(AckJob),
    /// A packet.
    Data(DataJob),
    /// A probe.
    Probe(ProbeJob),
}

impl Job {
    /// Its flow.
    pub fn flow(&self) -> u16 {
        match self {
            Job::Ack(j) => j.flow,
            Job::Data(j) => j.flow,
            Job::Probe(j) => j.flow,
        }
    }

    /// 0 for an ACK, 1 for data, 2 for a probe.
    pub fn class(&self) -> usize {
        match self {
            Job::Ack(_) => 0,
            Job::Data(_) => 1,
            Job::Probe(_) => 2,
        }
    }
}

/// What a frame's pulse says of a data packet: slot, flow, PSN, path, timestamp.
pub type Sent = [u64; 5];

/// A NIC's addresses.
pub fn random_identity(rng: &mut SmallRng) -> Identity {
    Identity {
        mac: MacAddress(rng.random()),
        ipv4: rng.random::<u32>().into(),
        ipv6: rng.random::<u128>().into(),
        udp_port: rng.random(),
    }
}

/// The three job streams.
pub struct Jobs {
    ack: [usize; 11],
    data: [usize; 6],
    probe: [usize; 3],
    ready: [usize; 3],
    acks: Source<AckJob>,
    packets: Source<DataJob>,
    probes: Source<ProbeJob>,
    /// Clocks in which a job of each class waited.
    pub held: [u32; 3],
    /// ACKs of probes that were offered.
    pub acks_of_probes: u32,
    violation: Option<&'static str>,
}

impl Jobs {
    /// The ports' places; ACKs and probes come at one of these rates.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when the block has no such ports.
    pub fn new(
        r: &Rows,
        ack_rates: &'static [u32],
        probe_rates: &'static [u32],
    ) -> Result<Self, SimError> {
        Ok(Self {
            ack: r.inputs([
                "ack_valid",
                "ack_flow",
                "ack_path",
                "ack_psn",
                "ack_expected",
                "ack_selective",
                "ack_probe",
                "ack_nak",
                "ack_duplicate",
                "ack_sent_ns",
                "ack_received_ns",
            ])?,
            data: r.inputs([
                "data_valid",
                "data_flow",
                "data_path",
                "data_psn",
                "data_slot",
                "data_retransmission",
            ])?,
            probe: r.inputs(["probe_valid", "probe_flow", "probe_path"])?,
            ready: [
                r.output("ack_ready")?,
                r.output("data_ready")?,
                r.output("probe_ready")?,
            ],
            acks: Source::new(ack_rates),
            packets: Source::new(&[256, 256, 128, 32, 0]),
            probes: Source::new(probe_rates),
            held: [0; 3],
            acks_of_probes: 0,
            violation: None,
        })
    }

    /// No job is offered any more.
    pub fn reset(&mut self) {
        self.acks.reset();
        self.packets.reset();
        self.probes.reset();
    }

    /// Offers jobs: any ACK and probe of one of the first `flows` flows, and the packets that
    /// `packet` says.
    pub fn drive(
        &mut self,
        rng: &mut SmallRng,
        inputs: &mut [u64],
        flows: u16,
        packet: impl FnOnce(&mut SmallRng) -> Option<DataJob>,
    ) {
        let ack = self.acks.offer(rng, |rng| Some(AckJob::random(rng, flows)));
        inputs[self.ack[0]] = ack.is_some().into();
        if let Some(j) = ack {
            self.acks_of_probes += u32::from(j.of_probe);
            let row = [
                1,
                j.flow.into(),
                j.path.into(),
                j.psn.into(),
                j.expected.into(),
                j.selective,
                j.of_probe.into(),
                j.nak.into(),
                j.duplicate.into(),
                j.sent_ns.into(),
                j.received_ns.into(),
            ];
            for (at, v) in self.ack.iter().zip(row) {
                inputs[*at] = v;
            }
        }
        let data = self.packets.offer(rng, packet);
        inputs[self.data[0]] = data.is_some().into();
        if let Some(j) = data {
            let row = [
                1,
                j.flow.into(),
                j.path.into(),
                j.psn.into(),
                j.slot.into(),
                j.retransmission.into(),
            ];
            for (at, v) in self.data.iter().zip(row) {
                inputs[*at] = v;
            }
        }
        let probe = self.probes.offer(rng, |rng| {
            Some(ProbeJob {
                flow: rng.random_range(0..flows),
                path: rng.random_range(0..16),
            })
        });
        inputs[self.probe[0]] = probe.is_some().into();
        if let Some(j) = probe {
            inputs[self.probe[1]] = j.flow.into();
            inputs[self.probe[2]] = j.path.into();
        }
    }

    /// The job that is taken in this clock: at most one, and the most urgent that waits.
    pub fn taken(&mut self, inputs: &[u64], outputs: &[u64]) -> Option<Job> {
        let ready = self.ready.map(|i| outputs[i] != 0);
        let valid = [self.ack[0], self.data[0], self.probe[0]].map(|i| inputs[i] != 0);
        let jobs = [
            self.acks.taken(ready[0]).map(Job::Ack),
            self.packets.taken(ready[1]).map(Job::Data),
            self.probes.taken(ready[2]).map(Job::Probe),
        ];
        for class in 0..3 {
            self.held[class] += u32::from(valid[class] && !ready[class]);
        }
        let job = jobs.into_iter().flatten().last()?;
        if valid[..job.class()].contains(&true) {
            self.violation = Some("a job was taken before a more urgent one");
        }
        Some(job)
    }

    /// The latest thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation
    }
}

/// The ports of the wire, its pulses and the NIC's addresses.
pub struct FramePorts {
    local: [usize; 4],
    now: usize,
    tx: [usize; 5],
    tx_ready: usize,
    sent: [usize; 6],
    frame: [usize; 2],
    stale: usize,
    ready: Pace,
    /// The wire is ready only once a beat is offered.
    is_coy: bool,
    is_offered: bool,
    /// Clocks in which the wire held a beat.
    pub held: u32,
}

impl FramePorts {
    /// The ports' places.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when the block has no such ports.
    pub fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            local: r.inputs(["local_mac", "local_ipv4", "local_ipv6", "udp_port"])?,
            now: r.input("now_ns")?,
            tx: r.outputs(["tx_valid", "tx_data", "tx_keep", "tx_last", "tx_size"])?,
            tx_ready: r.input("tx_ready")?,
            sent: r.outputs([
                "sent_valid",
                "sent_slot",
                "sent_flow",
                "sent_psn",
                "sent_path",
                "sent_ns",
            ])?,
            frame: r.outputs(["frame_valid", "frame_kind"])?,
            stale: r.output("stale_valid")?,
            ready: Pace::new(Pace::MIXED),
            is_coy: false,
            is_offered: false,
            held: 0,
        })
    }

    /// Drives addresses, time and readiness.
    pub fn drive(&mut self, rng: &mut SmallRng, inputs: &mut [u64], me: &Identity, now_ns: u32) {
        let ipv6 = u128::from(me.ipv6);
        inputs[self.local[0]] = me.mac.to_number();
        inputs[self.local[1]] = u32::from(me.ipv4).into();
        inputs[self.local[2]] = ipv6 as u64;
        inputs[self.local[2] + 1] = (ipv6 >> 64) as u64;
        inputs[self.local[3]] = me.udp_port.into();
        inputs[self.now] = now_ns.into();
        if rng.random_range(0..4_096) == 0 {
            self.is_coy = rng.random();
        }
        let may = self.is_offered || !self.is_coy;
        inputs[self.tx_ready] = (self.ready.active(rng) && may).into();
    }

    /// The beat that is offered, and whether the wire takes it.
    pub fn beat(&mut self, inputs: &[u64], outputs: &[u64]) -> (Option<WireBeat>, bool) {
        let [valid, data, keep, last, size] = self.tx;
        let offered = (outputs[valid] != 0).then(|| {
            WireBeat::new(
                &outputs[data..data + 8],
                outputs[keep],
                outputs[last] != 0,
                outputs[size] as u16,
            )
        });
        let ready = inputs[self.tx_ready] != 0;
        self.is_offered = offered.is_some();
        self.held += u32::from(offered.is_some() && !ready);
        (offered, ready)
    }

    /// Kind of the frame that has started.
    pub fn started(&self, outputs: &[u64]) -> Option<u64> {
        (outputs[self.frame[0]] != 0).then(|| outputs[self.frame[1]])
    }

    /// The data packet of it.
    pub fn sent(&self, outputs: &[u64]) -> Option<Sent> {
        (outputs[self.sent[0]] != 0).then(|| std::array::from_fn(|i| outputs[self.sent[i + 1]]))
    }

    /// A job was dropped.
    pub fn stale(&self, outputs: &[u64]) -> bool {
        outputs[self.stale] != 0
    }
}
