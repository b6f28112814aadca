//! The flow scheduler's stimulus. What it does is compared by replaying its events.

use super::schedule_replay::{Issued, Replay, INPUTS};
use super::{Pace, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Streams of events from outside, in the order of their sources.
const STREAMS: [&str; INPUTS] = ["post", "idle", "grant", "open", "close"];
/// Clocks after which every case must have been reached.
const LONG_RUN: u64 = 200_000;

struct At {
    rst: usize,
    now_ns: usize,
    inputs: [[usize; 2]; INPUTS],
    ready: [usize; INPUTS],
    rate: [usize; 4],
    rate_ready: usize,
    req_ready: usize,
    req: [usize; 2],
    probe_ready: usize,
    probe: [usize; 3],
    active: usize,
    event: [usize; 5],
}

/// What the stimulus tends to do for a while.
#[derive(Clone, Copy)]
struct Mood {
    /// Of 256 requests, how many are refused.
    refused: u32,
    /// Packets of all flows that wait before no more are posted.
    backlog: usize,
    /// Bits of a pace, from and to.
    rate_bits: (u32, u32),
    /// Of 256 paces, how many probe.
    probing: u32,
    hot: u16,
    /// Of 256 events, how many are of the hot flow.
    heat: u32,
}

/// Random posts, refusals, grants, paces, opens and closes, and a clock that jumps.
pub struct SchedulerBench {
    rng: SmallRng,
    at: At,
    replay: Replay,
    flows: usize,
    clock: u64,
    /// Time of this clock and of the one before, ns, not wrapping.
    now_ns: u64,
    before_ns: u64,
    mood: Mood,
    resets: Resets,
    inputs: [Source<u16>; INPUTS],
    rate: Source<(u16, u32, bool)>,
    requests: Pace,
    probes: Pace,
    refused: Vec<u16>,
}

impl SchedulerBench {
    /// For the scheduler `v` of `flows` flows of `paths` paths.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, paths: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let mut inputs = [[0; 2]; INPUTS];
        let mut ready = [0; INPUTS];
        for (i, stream) in STREAMS.iter().enumerate() {
            inputs[i] = [
                r.input(&format!("{stream}_valid"))?,
                r.input(&format!("{stream}_flow"))?,
            ];
            ready[i] = r.output(&format!("{stream}_ready"))?;
        }
        let at = At {
            rst: r.input("rst")?,
            now_ns: r.input("now_ns")?,
            inputs,
            ready,
            rate: r.inputs(["rate_valid", "rate_flow", "rate_value", "rate_probing"])?,
            rate_ready: r.output("rate_ready")?,
            req_ready: r.input("req_ready")?,
            req: r.outputs(["req_valid", "req_flow"])?,
            probe_ready: r.input("probe_ready")?,
            probe: r.outputs(["probe_valid", "probe_flow", "probe_path"])?,
            active: r.output("active_flows")?,
            event: r.outputs([
                "event_valid",
                "event_source",
                "event_flow",
                "event_ns",
                "event_room",
            ])?,
        };
        let mut rng = SmallRng::seed_from_u64(seed);
        let now_ns = (1 << 32) - rng.random_range(0..100_000u64);
        Ok(Self {
            at,
            replay: Replay::new(flows, paths),
            flows,
            clock: 0,
            now_ns,
            before_ns: now_ns,
            mood: Mood {
                refused: 128,
                backlog: flows,
                rate_bits: (1, 32),
                probing: 128,
                hot: 0,
                heat: 0,
            },
            resets: Resets::new(flows),
            inputs: [
                Source::new(Pace::MIXED),
                Source::new(Pace::MIXED),
                Source::new(&[0, 1, 0, 4, 1, 64]),
                Source::new(Pace::MIXED),
                Source::new(&[0, 0, 1, 2]),
            ],
            rate: Source::new(&[1, 2, 4, 64]),
            requests: Pace::new(Pace::MIXED),
            probes: Pace::new(Pace::MIXED),
            refused: Vec::new(),
            rng,
        })
    }

    fn change_mood(&mut self) {
        let rng = &mut self.rng;
        self.mood = Mood {
            refused: [0, 20, 128, 256][rng.random_range(0..4)],
            backlog: [1, self.flows / 2, 4 * self.flows, 4_000][rng.random_range(0..4)],
            rate_bits: [(1, 32), (20, 27), (20, 27), (24, 30)][rng.random_range(0..4)],
            probing: [0, 0, 128, 256][rng.random_range(0..4)],
            hot: rng.random_range(0..self.flows as u16),
            heat: [0, 64, 200, 256][rng.random_range(0..4)],
        };
    }

    /// Mostly a clock of 250 MHz; now and then a jump of up to 2^33 ns.
    fn pass_time(&mut self) {
        self.before_ns = self.now_ns;
        self.now_ns += 4;
        if self.rng.random_range(0..700) == 0 {
            let bits = self.rng.random_range(1..34);
            self.now_ns += self.rng.random_range(0..1u64 << bits);
        }
    }

    fn drive_inputs(&mut self, row: &mut [u64]) {
        let (rng, mood, flows) = (&mut self.rng, self.mood, self.flows as u16);
        let (replay, refused) = (&self.replay, &mut self.refused);
        let any = |rng: &mut SmallRng| {
            if rng.random_range(0..256) < mood.heat {
                mood.hot
            } else {
                rng.random_range(0..flows)
            }
        };
        for (i, source) in self.inputs.iter_mut().enumerate() {
            let flow = source.offer(rng, |rng| match STREAMS[i] {
                "post" => (replay.unsent() < mood.backlog).then(|| any(rng)),
                // Now and then a refusal of what was never asked for.
                "idle" if rng.random_range(0..200) == 0 => Some(any(rng)),
                "idle" if refused.is_empty() => None,
                "idle" => Some(refused.swap_remove(rng.random_range(0..refused.len()))),
                "open" => {
                    let flow = rng.random_range(0..flows);
                    let again = rng.random_range(0..400) == 0;
                    (again || !replay.is_open(flow.into())).then_some(flow)
                }
                _ => Some(any(rng)),
            });
            row[self.at.inputs[i][0]] = flow.is_some().into();
            row[self.at.inputs[i][1]] = flow.unwrap_or(0).into();
        }
        let rate = self.rate.offer(rng, |rng| {
            let value = match rng.random_range(0..16) {
                0 => 0,
                1 => u32::MAX,
                _ => {
                    let (from, to) = mood.rate_bits;
                    rng.random::<u32>() >> (32 - rng.random_range(from..=to))
                }
            };
            let probing = rng.random_range(0..256) < mood.probing;
            Some((any(rng), value, probing))
        });
        let a = &self.at.rate;
        row[a[0]] = rate.is_some().into();
        if let Some((flow, value, probing)) = rate {
            row[a[1]] = flow.into();
            row[a[2]] = value.into();
            row[a[3]] = probing.into();
        }
    }

    fn restart(&mut self) {
        self.replay.reset();
        self.inputs.iter_mut().for_each(Source::reset);
        self.rate.reset();
        self.refused.clear();
    }

    fn answer_request(&mut self, flow: u16) {
        if self.rng.random_range(0..256) < self.mood.refused {
            self.refused.push(flow);
        }
    }
}

impl Bench for SchedulerBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        if self.clock % (1_500 + 8 * self.flows as u64) == 0 {
            self.change_mood();
        }
        self.pass_time();
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        inputs[self.at.now_ns] = self.now_ns & 0xffff_ffff;
        self.drive_inputs(inputs);
        inputs[self.at.req_ready] = self.requests.active(&mut self.rng).into();
        inputs[self.at.probe_ready] = self.probes.active(&mut self.rng).into();
        self.clock += 1;
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        if inputs[a.rst] != 0 {
            return self.restart();
        }
        let issued = (outputs[a.event[0]] != 0).then(|| Issued {
            source: outputs[a.event[1]] as usize,
            flow: outputs[a.event[2]] as u16,
            ns: outputs[a.event[3]] as u32,
            room: outputs[a.event[4]] != 0,
            at_ns: self.before_ns,
        });
        let written = self.rate.taken(outputs[a.rate_ready] != 0);
        let serves = inputs[a.req_ready] != 0;
        let active = outputs[a.active] as usize;
        self.replay.clock(issued, written, serves, active);
        for i in 0..INPUTS {
            if let Some(flow) = self.inputs[i].taken(outputs[a.ready[i]] != 0) {
                self.replay.accept(i, flow);
            }
        }
        let request = (outputs[a.req[0]] != 0).then(|| outputs[a.req[1]] as u16);
        let probes = inputs[a.probe_ready] != 0;
        let probe = (outputs[a.probe[0]] != 0)
            .then(|| (outputs[a.probe[1]] as u16, outputs[a.probe[2]] as u8));
        self.replay.probes.clock(probe, probes);
        if let Some(flow) = self.replay.requests.clock(request, serves) {
            self.answer_request(flow);
        }
        // Two flows refuse too little to fill the queue of probes in every run.
        if self.clock == LONG_RUN && self.flows >= 16 {
            self.replay.check_reached();
        }
    }

    fn violation(&self) -> Option<&str> {
        self.replay.violation()
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.replay.compared()
    }
}
