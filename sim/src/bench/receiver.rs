//! The receiver datapath's stimulus and model.

use super::driver::first_psn;
use super::packets::{DeliveryCheck, PacketSource};
use super::reorder::{limit, OutAt, Repeats, RxAt, DROPS};
use super::{Pace, Reached, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::receiver::{Inputs, Outputs, Receiver};
use rondo_models::cycle::reorder::RxBeat;
use rondo_models::reorder::Buffer;

/// Words of the receiver datapath's ports in the input and output rows.
pub struct ReceiverPorts {
    pub(crate) rst: usize,
    pub(crate) limit: usize,
    pub(crate) open: [usize; 3],
    pub(crate) open_ready: usize,
    pub(crate) rx: RxAt,
    pub(crate) rx_ready: usize,
    pub(crate) sample: [usize; 4],
    pub(crate) out: OutAt,
}

impl ReceiverPorts {
    /// Of the receiver `v`.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog) -> Result<Self, SimError> {
        let r = Rows::new(v);
        Ok(Self {
            rst: r.input("rst")?,
            limit: r.input("limit")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            open_ready: r.output("open_ready")?,
            rx: RxAt::new(&r)?,
            rx_ready: r.output("rx_ready")?,
            sample: r.outputs([
                "sample_valid",
                "sample_flow",
                "sample_ood",
                "sample_waiting",
            ])?,
            out: OutAt::new(&r)?,
        })
    }

    /// The model's outputs into a row.
    #[inline]
    pub fn write_outputs(&self, out: &Outputs, expected: &mut [u64]) {
        let a = self;
        expected[a.open_ready] = out.open_ready.into();
        expected[a.rx_ready] = out.reorder.rx_ready.into();
        expected[a.sample[0]] = out.sample.is_some().into();
        if let Some(j) = out.sample {
            expected[a.sample[1]] = j.arrival.flow.into();
            expected[a.sample[2]] = j.outcome.ood.into();
            expected[a.sample[3]] = j.outcome.waiting.into();
        }
        a.out.expect(&out.reorder, expected);
    }

    /// Whether the design's outputs are the model's; fields count while their port is valid.
    #[inline]
    pub fn agree(&self, expected: &[u64], actual: &[u64]) -> bool {
        let same = |at: &[usize]| at.iter().all(|&i| expected[i] == actual[i]);
        let stream = |at: &[usize]| {
            expected[at[0]] == actual[at[0]] && (actual[at[0]] == 0 || same(&at[1..]))
        };
        let (h, place) = (self.out.host[1], self.out.host_place);
        same(&[self.open_ready, self.rx_ready, self.out.no_buffer])
            && same(&self.out.counters)
            && stream(&self.sample)
            && stream(&self.out.ack)
            && stream(&self.out.host)
            && (actual[self.out.host[0]] == 0
                || (expected[h..h + 8] == actual[h..h + 8]
                    && expected[place..place + 2] == actual[place..place + 2]))
    }
}

/// Random packets of many flows, a slow host now and then. Flows are opened right after a reset,
/// before anything of them is under way.
pub struct ReceiverBench {
    rng: SmallRng,
    at: ReceiverPorts,
    model: Receiver,
    packets: PacketSource,
    check: DeliveryCheck,
    rx: Source<RxBeat>,
    opens: Vec<(u16, u32)>,
    host: Pace,
    acks: Pace,
    limit: u32,
    slots: usize,
    resets: Resets,
    repeats: Repeats,
    reached: Reached<5>,
}

impl ReceiverBench {
    /// For the receiver `v` of windows of `window` PSNs and `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(
        v: &Verilog,
        buffer: Buffer,
        window: usize,
        flows: usize,
        seed: u64,
    ) -> Result<Self, SimError> {
        let at = ReceiverPorts::new(v)?;
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            model: Receiver::new(buffer, window, flows),
            packets: PacketSource::new(flows, window, buffer.slot_beats()),
            check: DeliveryCheck::new(flows),
            rx: Source::new(Pace::MIXED),
            opens: Vec::new(),
            // A host that stops for long: the buffer fills to the last slot.
            host: Pace::long(&[256, 256, 256, 128, 8, 0, 0]),
            acks: Pace::new(Pace::MIXED),
            limit: 511,
            slots: buffer.slots,
            resets: Resets::new(buffer.slots.max(flows * window / 64)),
            repeats: Repeats::default(),
            reached: Reached::new(DROPS),
        })
    }

    fn restart(&mut self) {
        self.packets.restart();
        self.rx.reset();
        let count = self.packets.flows.len().min(8) as u16;
        self.opens = (0..count).map(|f| (f, first_psn(&mut self.rng))).collect();
        for f in 0..self.packets.flows.len() {
            self.check.restart(f, 0);
        }
        for &(f, psn) in &self.opens {
            self.check.restart(usize::from(f), psn);
            self.packets.flows[usize::from(f)].restart(psn);
        }
        self.repeats = Repeats::default();
        self.limit = limit(&mut self.rng, self.slots);
    }
}

impl Bench for ReceiverBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let rng = &mut self.rng;
        let a = &self.at;
        inputs[a.rst] = self.resets.active(rng).into();
        if rng.random_range(0..8000) == 0 {
            self.limit = limit(rng, self.slots);
        }
        inputs[a.limit] = self.limit.into();
        let open = self.opens.last();
        inputs[a.open[0]] = open.is_some().into();
        if let Some(&(flow, psn)) = open {
            inputs[a.open[1]] = flow.into();
            inputs[a.open[2]] = psn.into();
        }
        let packets = &mut self.packets;
        let quiet = open.is_some();
        let beat = self
            .rx
            .offer(rng, |rng| (!quiet).then(|| packets.next_beat(rng)));
        a.rx.set(inputs, beat);
        inputs[a.out.host_ready] = self.host.active(rng).into();
        inputs[a.out.ack_ready] = self.acks.active(rng).into();
    }

    fn model(&mut self, inputs: &[u64], expected: &mut [u64]) {
        let a = &self.at;
        let on = |i: usize| inputs[i] != 0;
        let beat = a.rx.get(inputs);
        let out = self.model.step(&Inputs {
            rst: on(a.rst),
            limit: inputs[a.limit] as u32,
            open: on(a.open[0]).then(|| (inputs[a.open[1]] as u16, inputs[a.open[2]] as u32)),
            rx: beat.as_ref(),
            host_ready: on(a.out.host_ready),
            ack_ready: on(a.out.ack_ready),
        });
        a.write_outputs(&out, expected);
    }

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        let a = &self.at;
        a.out.check(inputs, outputs, &mut self.check);
        let taken = self.rx.taken(outputs[a.rx_ready] != 0);
        let drops = self
            .repeats
            .clock(&a.out, inputs, outputs, taken, &mut self.packets);
        self.reached.clock(drops);
        if outputs[a.open_ready] != 0 && inputs[a.open[0]] != 0 {
            self.opens.pop();
        }
    }

    fn violation(&self) -> Option<&str> {
        self.check.violation().or(self.reached.missing())
    }
}
