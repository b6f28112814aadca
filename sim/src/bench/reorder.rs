//! The reorder buffer's stimulus and model. A functional tracker stands in for the RTL's, with
//! random delay.

use super::driver::{get_wide, set_wide};
use super::packets::{Delivered, DeliveryCheck, PacketSource};
use super::{Pace, Reached, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::reorder::{Inputs, Outputs, Reorder, RxBeat};
use rondo_models::cycle::tracker::{Arrival, Judged};
use rondo_models::psn::Psn;
use rondo_models::reorder::Buffer;
use rondo_models::tracker::{ArrivalWindow, Verdict};
use std::collections::VecDeque;

struct At {
    rst: usize,
    limit: usize,
    rx: RxAt,
    rx_ready: usize,
    arrival_ready: usize,
    arrival: [usize; 4],
    arrival_tag: usize,
    verdict: [usize; 10],
    verdict_tag: usize,
    verdict_ready: usize,
    out: OutAt,
}

/// Words of the network port.
pub(crate) struct RxAt {
    pub(crate) valid: usize,
    data: usize,
    keep: usize,
    last: usize,
    bad: usize,
    flow: usize,
    psn: usize,
    path: usize,
    place: usize,
    sent_ns: usize,
    received_ns: usize,
}

impl RxAt {
    pub(crate) fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            valid: r.input("rx_valid")?,
            data: r.input("rx_data")?,
            keep: r.input("rx_keep")?,
            last: r.input("rx_last")?,
            bad: r.input("rx_bad")?,
            flow: r.input("rx_flow")?,
            psn: r.input("rx_psn")?,
            path: r.input("rx_path")?,
            place: r.input("rx_place")?,
            sent_ns: r.input("rx_sent_ns")?,
            received_ns: r.input("rx_received_ns")?,
        })
    }

    pub(crate) fn set(&self, inputs: &mut [u64], beat: Option<RxBeat>) {
        inputs[self.valid] = beat.is_some().into();
        if let Some(b) = beat {
            inputs[self.data..self.data + 8].copy_from_slice(&b.data);
            inputs[self.keep] = b.keep;
            inputs[self.last] = b.last.into();
            inputs[self.bad] = b.bad.into();
            inputs[self.flow] = b.flow.into();
            inputs[self.psn] = b.psn.into();
            inputs[self.path] = b.path.into();
            set_wide(inputs, self.place, b.place);
            inputs[self.sent_ns] = b.sent_ns.into();
            inputs[self.received_ns] = b.received_ns.into();
        }
    }

    pub(crate) fn get(&self, inputs: &[u64]) -> Option<RxBeat> {
        (inputs[self.valid] != 0).then(|| RxBeat {
            data: std::array::from_fn(|i| inputs[self.data + i]),
            keep: inputs[self.keep],
            last: inputs[self.last] != 0,
            bad: inputs[self.bad] != 0,
            flow: inputs[self.flow] as u16,
            psn: inputs[self.psn] as u32,
            path: inputs[self.path] as u8,
            place: get_wide(inputs, self.place),
            sent_ns: inputs[self.sent_ns] as u32,
            received_ns: inputs[self.received_ns] as u32,
        })
    }
}

/// Words of the host and ACK ports and the counters.
pub(crate) struct OutAt {
    pub(crate) host_ready: usize,
    pub(crate) host: [usize; 6],
    pub(crate) host_place: usize,
    pub(crate) ack_ready: usize,
    pub(crate) ack: [usize; 11],
    pub(crate) no_buffer: usize,
    pub(crate) counters: [usize; 4],
}

impl OutAt {
    pub(crate) fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            host_ready: r.input("host_ready")?,
            host: r.outputs([
                "host_valid",
                "host_data",
                "host_keep",
                "host_last",
                "host_flow",
                "host_psn",
            ])?,
            host_place: r.output("host_place")?,
            ack_ready: r.input("ack_ready")?,
            ack: r.outputs([
                "ack_valid",
                "ack_flow",
                "ack_psn",
                "ack_expected",
                "ack_nak",
                "ack_accepted",
                "ack_path",
                "ack_duplicate",
                "ack_selective",
                "ack_sent_ns",
                "ack_received_ns",
            ])?,
            no_buffer: r.output("no_buffer")?,
            counters: r.outputs(["occupied", "high_water", "waiting", "oversize"])?,
        })
    }

    pub(crate) fn expect(&self, o: &Outputs, expected: &mut [u64]) {
        expected[self.host[0]] = o.host.is_some().into();
        if let Some(h) = &o.host {
            expected[self.host[1]..self.host[1] + 8].copy_from_slice(&h.data);
            expected[self.host[2]] = h.keep;
            expected[self.host[3]] = h.last.into();
            expected[self.host[4]] = h.flow.into();
            expected[self.host[5]] = h.psn.into();
            set_wide(expected, self.host_place, h.place);
        }
        expected[self.ack[0]] = o.ack.is_some().into();
        if let Some(a) = o.ack {
            expected[self.ack[1]] = a.flow.into();
            expected[self.ack[2]] = a.psn.into();
            expected[self.ack[3]] = a.expected.into();
            expected[self.ack[4]] = a.nak.into();
            expected[self.ack[5]] = a.accepted.into();
            expected[self.ack[6]] = a.path.into();
            expected[self.ack[7]] = a.duplicate.into();
            expected[self.ack[8]] = a.selective;
            expected[self.ack[9]] = a.sent_ns.into();
            expected[self.ack[10]] = a.received_ns.into();
        }
        expected[self.no_buffer] = o.no_buffer.into();
        let row = [
            o.occupied.into(),
            o.high_water.into(),
            o.waiting.into(),
            o.oversize.into(),
        ];
        for (at, v) in self.counters.iter().zip(row) {
            expected[*at] = v;
        }
    }

    /// Hands a beat that is delivered in this clock to `check`.
    pub(crate) fn check(&self, inputs: &[u64], outputs: &[u64], check: &mut DeliveryCheck) {
        if outputs[self.host[0]] != 0 && inputs[self.host_ready] != 0 {
            check.beat(&Delivered {
                flow: outputs[self.host[4]] as usize,
                psn: outputs[self.host[5]] as u32,
                data: &outputs[self.host[1]..self.host[1] + 8],
                place: get_wide(outputs, self.host_place),
                last: outputs[self.host[3]] != 0,
            });
        }
    }

    /// Flow and PSN of an ACK that is taken in this clock and has the flag `ack[flag]`.
    fn ack(&self, inputs: &[u64], outputs: &[u64], flag: usize) -> Option<(usize, u32)> {
        (outputs[self.ack[0]] != 0 && inputs[self.ack_ready] != 0 && outputs[self.ack[flag]] != 0)
            .then(|| (outputs[self.ack[1]] as usize, outputs[self.ack[2]] as u32))
    }
}

/// What drops packets, for [`Reached`].
pub(crate) const DROPS: [&str; 5] = [
    "no packet was dropped for want of a slot",
    "no packet was dropped for its length",
    "no packet was dropped as bad",
    "no packet was refused",
    "no packet came twice",
];

/// A random limit: beyond what is allowed, too, as the reserve must hold by itself.
pub(crate) fn limit(rng: &mut SmallRng, slots: usize) -> u32 {
    let most = slots as u32 - 3;
    match rng.random_range(0..4) {
        0 | 1 => rng.random_range(most..512),
        2 => rng.random_range(1..20),
        _ => rng.random_range(20..most),
    }
}

/// Lets packets that the design dropped come again.
#[derive(Default)]
pub(crate) struct Repeats {
    ended: Option<RxBeat>,
    oversize: u64,
}

impl Repeats {
    /// A clock in which the design took `taken`; returns which of [`DROPS`] it saw.
    pub(crate) fn clock(
        &mut self,
        a: &OutAt,
        inputs: &[u64],
        outputs: &[u64],
        taken: Option<RxBeat>,
        packets: &mut PacketSource,
    ) -> [bool; 5] {
        let mut again = |flow: usize, psn: u32| {
            if let Some(f) = packets.flows.get_mut(flow) {
                f.again(psn);
            }
        };
        let slotless = outputs[a.no_buffer] != 0;
        if let (true, Some(b)) = (slotless, self.ended.take()) {
            again(b.flow.into(), b.psn);
        }
        let nak = a.ack(inputs, outputs, 4);
        if let Some((flow, psn)) = nak {
            again(flow, psn);
        }
        self.ended = taken.filter(|b| b.last);
        let oversize = outputs[a.counters[3]];
        let long = oversize > self.oversize;
        self.oversize = oversize;
        [
            slotless,
            long,
            self.ended.is_some_and(|b| b.bad),
            nak.is_some(),
            a.ack(inputs, outputs, 7).is_some(),
        ]
    }
}

/// Random packets, verdicts after a random delay, a slow host now and then.
pub struct ReorderBench {
    rng: SmallRng,
    at: At,
    model: Reorder,
    windows: Vec<ArrivalWindow>,
    groups: usize,
    packets: PacketSource,
    check: DeliveryCheck,
    rx: Source<RxBeat>,
    host: Pace,
    acks: Pace,
    arrivals: Pace,
    verdicts: VecDeque<Judged>,
    verdict: Source<Judged>,
    limit: u32,
    slots: usize,
    resets: Resets,
    repeats: Repeats,
    reached: Reached<5>,
}

impl ReorderBench {
    /// For the reorder buffer `v` of windows of `window` PSNs and `flows` flows.
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
        let r = Rows::new(v);
        let at = At {
            rst: r.input("rst")?,
            limit: r.input("limit")?,
            rx: RxAt::new(&r)?,
            rx_ready: r.output("rx_ready")?,
            arrival_ready: r.input("arrival_ready")?,
            arrival: r.outputs([
                "arrival_valid",
                "arrival_flow",
                "arrival_psn",
                "arrival_room",
            ])?,
            arrival_tag: r.output("arrival_tag")?,
            verdict: r.inputs([
                "verdict_valid",
                "verdict_flow",
                "verdict_psn",
                "verdict_accepted",
                "verdict_duplicate",
                "verdict_full",
                "verdict_beyond",
                "verdict_expected",
                "verdict_advance",
                "verdict_arrived",
            ])?,
            verdict_tag: r.input("verdict_tag")?,
            verdict_ready: r.output("verdict_ready")?,
            out: OutAt::new(&r)?,
        };
        let groups = window / 64;
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            model: Reorder::new(buffer, window, flows),
            windows: vec![ArrivalWindow::new(groups, Psn::new(0)); flows],
            groups,
            packets: PacketSource::new(flows, window, buffer.slot_beats()),
            check: DeliveryCheck::new(flows),
            rx: Source::new(Pace::MIXED),
            // A host that stops for long: the buffer fills to the last slot.
            host: Pace::long(&[256, 256, 256, 128, 8, 0, 0]),
            acks: Pace::new(Pace::MIXED),
            arrivals: Pace::new(Pace::MIXED),
            verdicts: VecDeque::new(),
            verdict: Source::new(Pace::MIXED),
            limit: 511,
            slots: buffer.slots,
            resets: Resets::new(buffer.slots),
            repeats: Repeats::default(),
            reached: Reached::new(DROPS),
        })
    }

    fn restart(&mut self) {
        // Flows start anywhere: the buffer keeps no state of a flow but the slot table.
        self.packets.restart();
        for (f, w) in self.windows.iter_mut().enumerate() {
            let first = super::driver::first_psn(&mut self.rng);
            *w = ArrivalWindow::new(self.groups, Psn::new(first));
            self.packets.flows[f].restart(first);
            self.check.restart(f, first);
        }
        self.verdicts.clear();
        self.verdict.reset();
        self.rx.reset();
        self.repeats = Repeats::default();
        self.limit = limit(&mut self.rng, self.slots);
    }
}

impl Bench for ReorderBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let rng = &mut self.rng;
        let a = &self.at;
        inputs[a.rst] = self.resets.active(rng).into();
        if rng.random_range(0..8000) == 0 {
            self.limit = limit(rng, self.slots);
        }
        inputs[a.limit] = self.limit.into();
        let packets = &mut self.packets;
        let beat = self.rx.offer(rng, |rng| Some(packets.next_beat(rng)));
        a.rx.set(inputs, beat);
        let verdicts = &mut self.verdicts;
        let verdict = self.verdict.offer(rng, |_| verdicts.pop_front());
        inputs[a.verdict[0]] = verdict.is_some().into();
        // `verdict_ready` looks at the verdict: an idle port says "not accepted".
        inputs[a.verdict[3]] = 0;
        if let Some(j) = verdict {
            let o = j.outcome;
            let row = [
                1,
                j.arrival.flow.into(),
                j.arrival.psn.into(),
                (o.verdict == Verdict::Accepted).into(),
                (o.verdict == Verdict::Duplicate).into(),
                (o.verdict == Verdict::Full).into(),
                (o.verdict == Verdict::Beyond).into(),
                o.expected.value().into(),
                o.advance.into(),
                o.arrived,
            ];
            for (at, v) in a.verdict.iter().zip(row) {
                inputs[*at] = v;
            }
            set_wide(inputs, a.verdict_tag, j.arrival.tag);
        }
        inputs[a.arrival_ready] = self.arrivals.active(rng).into();
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
            rx: beat.as_ref(),
            arrival_ready: on(a.arrival_ready),
            verdict: on(a.verdict[0]).then(|| self.verdict.peek()).flatten(),
            host_ready: on(a.out.host_ready),
            ack_ready: on(a.out.ack_ready),
        });
        expected[a.rx_ready] = out.rx_ready.into();
        expected[a.verdict_ready] = out.verdict_ready.into();
        expected[a.arrival[0]] = out.arrival.is_some().into();
        if let Some(r) = out.arrival {
            expected[a.arrival[1]] = r.flow.into();
            expected[a.arrival[2]] = r.psn.into();
            expected[a.arrival[3]] = r.room.into();
            set_wide(expected, a.arrival_tag, r.tag);
        }
        a.out.expect(&out, expected);
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
        self.verdict.taken(outputs[a.verdict_ready] != 0);
        if outputs[a.arrival[0]] != 0 && inputs[a.arrival_ready] != 0 {
            let arrival = Arrival {
                flow: outputs[a.arrival[1]] as u16,
                psn: outputs[a.arrival[2]] as u32,
                room: outputs[a.arrival[3]] != 0,
                tag: get_wide(outputs, a.arrival_tag),
            };
            if let Some(w) = self.windows.get_mut(usize::from(arrival.flow)) {
                let outcome = w.arrive(Psn::new(arrival.psn), arrival.room);
                self.verdicts.push_back(Judged { arrival, outcome });
            }
        }
    }

    fn violation(&self) -> Option<&str> {
        self.check.violation().or(self.reached.missing())
    }
}
