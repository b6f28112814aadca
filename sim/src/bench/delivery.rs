//! The delivery's stimulus and what it has to say.

use super::driver::{first_psn, set_wide};
use super::{Pace, Reached, Resets, Rows, Scoreboard, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::reorder::{Beat, HostBeat};
use rondo_models::delivery::{completion, header, First};
use rondo_models::psn::Psn;
use rondo_models::wire::context::{Place, MAX_PAYLOAD};
use rondo_models::wire::host::BEAT_BYTES;

struct At {
    rst: usize,
    host: [usize; 6],
    host_place: usize,
    host_ready: usize,
    c2h: [usize; 5],
    c2h_ready: usize,
    delivered: [usize; 3],
    completed: usize,
}

/// A beat of the host stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct C2hBeat {
    data: Beat,
    keep: u64,
    last: bool,
    size: u16,
}

/// Payload that is under way.
#[derive(Clone, Copy)]
struct Payload {
    flow: u16,
    psn: u32,
    place: Place,
    left: u16,
}

/// What the design has to do.
struct Expected {
    c2h: Scoreboard<C2hBeat>,
    delivered: Scoreboard<(u16, u16)>,
    completed: Scoreboard<()>,
}

/// Packets of random messages, as the reorder buffer gives them; an idle and a slow reader.
pub struct DeliveryBench {
    rng: SmallRng,
    at: At,
    source: Source<HostBeat>,
    payload: Option<Payload>,
    ready: Pace,
    resets: Resets,
    expected: Expected,
    /// The input had a beat in the clock before, and there was no reset.
    due: bool,
    bubble: Option<&'static str>,
    reached: Reached<5>,
}

impl DeliveryBench {
    /// For the delivery `v`.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let at = At {
            rst: r.input("rst")?,
            host: r.inputs([
                "host_valid",
                "host_data",
                "host_keep",
                "host_last",
                "host_flow",
                "host_psn",
            ])?,
            host_place: r.input("host_place")?,
            host_ready: r.output("host_ready")?,
            c2h: r.outputs(["c2h_valid", "c2h_data", "c2h_keep", "c2h_last", "c2h_size"])?,
            c2h_ready: r.input("c2h_ready")?,
            delivered: r.outputs(["delivered_valid", "delivered_flow", "delivered_bytes"])?,
            completed: r.output("completed_valid")?,
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            source: Source::new(Pace::MIXED),
            payload: None,
            ready: Pace::new(Pace::MIXED),
            resets: Resets::new(0),
            expected: Expected {
                c2h: Scoreboard::new("c2h"),
                delivered: Scoreboard::new("delivered"),
                completed: Scoreboard::new("completed"),
            },
            due: false,
            bubble: None,
            reached: Reached::new([
                "no packet of one beat",
                "no packet of the largest payload",
                "no completion",
                "no packet in the middle of a message",
                "the last PSN never came",
            ]),
        })
    }
}

fn payload(rng: &mut SmallRng) -> Payload {
    let payload_len = match rng.random_range(0..20) {
        0 => MAX_PAYLOAD,
        1 => 1,
        2..=4 => rng.random_range(1..=MAX_PAYLOAD),
        5..=9 => 64,
        _ => rng.random_range(1..=256),
    };
    let place = Place {
        message: rng.random(),
        offset: rng.random(),
        message_len: rng.random(),
        payload_len,
        last: rng.random(),
    };
    Payload {
        flow: rng.random_range(0..1024),
        psn: match rng.random_range(0..8) {
            0 => 0xff_ffff,
            _ => first_psn(rng),
        },
        place,
        left: payload_len,
    }
}

fn first_beat(first: First, last: bool) -> C2hBeat {
    let word = |w: usize| (0..8).fold(0, |v, b| v | u64::from(first.beat[8 * w + b]) << (8 * b));
    C2hBeat {
        data: std::array::from_fn(word),
        keep: u64::MAX,
        last,
        size: first.size,
    }
}

/// The next beat of the payload under way, or of a new one; what it has to cause is expected from
/// now on.
fn next_beat(
    under_way: &mut Option<Payload>,
    rng: &mut SmallRng,
    expected: &mut Expected,
) -> HostBeat {
    let mut p = under_way.unwrap_or_else(|| payload(rng));
    let psn = Psn::new(p.psn);
    let front = header(p.flow, psn, p.place);
    if under_way.is_none() {
        expected.c2h.expect(first_beat(front, false));
    }
    let bytes = usize::from(p.left).min(BEAT_BYTES);
    let last = usize::from(p.left) == bytes;
    let keep = u64::MAX >> (BEAT_BYTES - bytes);
    let data = std::array::from_fn(|_| rng.random());
    expected.c2h.expect(C2hBeat {
        data,
        keep,
        last,
        size: front.size,
    });
    p.left -= bytes as u16;
    *under_way = (!last).then_some(p);
    if last {
        expected.delivered.expect((p.flow, p.place.payload_len));
        if let Some(end) = completion(p.flow, psn, p.place) {
            expected.c2h.expect(first_beat(end, true));
            expected.completed.expect(());
        }
    }
    let [low, high] = p.place.pack();
    HostBeat {
        data,
        keep,
        last,
        flow: p.flow,
        psn: p.psn,
        place: u128::from(low) | u128::from(high) << 64,
    }
}

impl Bench for DeliveryBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let (rng, a) = (&mut self.rng, &self.at);
        inputs[a.rst] = self.resets.active(rng).into();
        inputs[a.c2h_ready] = self.ready.active(rng).into();
        let (under_way, expected) = (&mut self.payload, &mut self.expected);
        let beat = self
            .source
            .offer(rng, |rng| Some(next_beat(under_way, rng, expected)));
        inputs[a.host[0]] = beat.is_some().into();
        if let Some(b) = beat {
            inputs[a.host[1]..a.host[1] + 8].copy_from_slice(&b.data);
            inputs[a.host[2]] = b.keep;
            inputs[a.host[3]] = b.last.into();
            inputs[a.host[4]] = b.flow.into();
            inputs[a.host[5]] = b.psn.into();
            set_wide(inputs, a.host_place, b.place);
        }
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        if inputs[a.rst] != 0 {
            self.source.reset();
            self.payload = None;
            self.expected.c2h.reset();
            self.expected.delivered.reset();
            self.expected.completed.reset();
            self.due = false;
            return;
        }
        let valid = outputs[a.c2h[0]] != 0;
        if self.due && !valid {
            self.bubble = Some("c2h has a gap although the host had a beat");
        }
        self.due = inputs[a.host[0]] != 0;
        let offered = valid.then(|| C2hBeat {
            data: std::array::from_fn(|i| outputs[a.c2h[1] + i]),
            keep: outputs[a.c2h[2]],
            last: outputs[a.c2h[3]] != 0,
            size: outputs[a.c2h[4]] as u16,
        });
        self.expected.c2h.clock(offered, inputs[a.c2h_ready] != 0);
        let delivered = (outputs[a.delivered[0]] != 0).then(|| {
            (
                outputs[a.delivered[1]] as u16,
                outputs[a.delivered[2]] as u16,
            )
        });
        self.expected.delivered.clock(delivered, true);
        let completed = (outputs[a.completed] != 0).then_some(());
        self.expected.completed.clock(completed, true);
        let taken = self.source.taken(outputs[a.host_ready] != 0);
        let of = |met: fn(&HostBeat) -> bool| taken.is_some_and(|b| b.last && met(&b));
        let bytes = delivered.map_or(0, |d| d.1);
        self.reached.clock([
            bytes == BEAT_BYTES as u16,
            bytes == MAX_PAYLOAD,
            completed.is_some(),
            of(|b| b.place >> 110 & 1 == 0),
            of(|b| b.psn == 0xff_ffff),
        ]);
    }

    fn violation(&self) -> Option<&str> {
        let e = &self.expected;
        let streams = e.c2h.violation().or(e.delivered.violation());
        streams
            .or(e.completed.violation())
            .or(self.bubble)
            .or(self.reached.missing())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        let e = &self.expected;
        e.c2h.compared() + e.delivered.compared() + e.completed.compared()
    }
}
