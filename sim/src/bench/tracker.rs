//! The tracker's stimulus and model.

use super::driver::{first_psn, get_wide, set_wide};
use super::packets::Flow;
use super::{Pace, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::reorder::TAG_BITS;
use rondo_models::cycle::tracker::{Arrival, Inputs, Tracker};
use rondo_models::tracker::Verdict;

struct At {
    rst: usize,
    open: [usize; 3],
    req: [usize; 4],
    req_tag: usize,
    res_ready: usize,
    open_ready: usize,
    req_ready: usize,
    res: [usize; 12],
    res_tag: usize,
}

/// Random arrivals: order, loss that is made good, duplicates, PSNs out of the window.
pub struct TrackerBench {
    rng: SmallRng,
    at: At,
    model: Tracker,
    window: u32,
    clock: u64,
    flows: Vec<Flow>,
    hot: u16,
    resets: Resets,
    open: Source<(u16, u32)>,
    req: Source<Arrival>,
    ready: Pace,
    room: Pace,
}

impl TrackerBench {
    /// For the tracker `v` of windows of `window` PSNs and `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, window: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let at = At {
            rst: r.input("rst")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            req: r.inputs(["req_valid", "req_flow", "req_psn", "req_room"])?,
            req_tag: r.input("req_tag")?,
            res_ready: r.input("res_ready")?,
            open_ready: r.output("open_ready")?,
            req_ready: r.output("req_ready")?,
            res: r.outputs([
                "res_valid",
                "res_flow",
                "res_psn",
                "res_accepted",
                "res_duplicate",
                "res_beyond",
                "res_full",
                "res_expected",
                "res_advance",
                "res_ood",
                "res_waiting",
                "res_arrived",
            ])?,
            res_tag: r.output("res_tag")?,
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            model: Tracker::new(window, flows),
            window: window as u32,
            clock: 0,
            flows: vec![Flow::default(); flows],
            hot: 0,
            resets: Resets::new(flows * window / 64),
            open: Source::new(Pace::RARE),
            req: Source::new(Pace::MIXED),
            ready: Pace::new(Pace::MIXED),
            room: Pace::new(&[256, 256, 240, 64]),
        })
    }
}

impl Bench for TrackerBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let count = self.flows.len() as u16;
        if self.clock % 512 == 0 {
            self.hot = self.rng.random_range(0..count);
        }
        let rng = &mut self.rng;
        let a = &self.at;
        inputs[a.rst] = self.resets.active(rng).into();
        let open = self.open.offer(rng, |rng| {
            (rng.random_range(0..20) == 0).then(|| (rng.random_range(0..count), first_psn(rng)))
        });
        inputs[a.open[0]] = open.is_some().into();
        if let Some((flow, psn)) = open {
            inputs[a.open[1]] = flow.into();
            inputs[a.open[2]] = psn.into();
        }
        let (flows, hot, clock, window) = (&mut self.flows, self.hot, self.clock, self.window);
        let room = self.room.active(rng);
        let req = self.req.offer(rng, |rng| {
            let flow = match rng.random_range(0..4) {
                0 => hot,
                1 => (clock % u64::from(count)) as u16,
                _ => rng.random_range(0..count),
            };
            Some(Arrival {
                flow,
                psn: flows[usize::from(flow)].arrival(rng, window),
                room,
                tag: rng.random_range(0..1 << TAG_BITS),
            })
        });
        inputs[a.req[0]] = req.is_some().into();
        if let Some(q) = req {
            inputs[a.req[1]] = q.flow.into();
            inputs[a.req[2]] = q.psn.into();
            inputs[a.req[3]] = q.room.into();
            set_wide(inputs, a.req_tag, q.tag);
        }
        inputs[a.res_ready] = self.ready.active(rng).into();
        self.clock += 1;
    }

    fn model(&mut self, inputs: &[u64], expected: &mut [u64]) {
        let a = &self.at;
        let on = |i: usize| inputs[i] != 0;
        let out = self.model.step(&Inputs {
            rst: on(a.rst),
            open: on(a.open[0]).then(|| (inputs[a.open[1]] as u16, inputs[a.open[2]] as u32)),
            req: on(a.req[0]).then(|| Arrival {
                flow: inputs[a.req[1]] as u16,
                psn: inputs[a.req[2]] as u32,
                room: on(a.req[3]),
                tag: get_wide(inputs, a.req_tag),
            }),
            res_ready: on(a.res_ready),
        });
        expected[a.open_ready] = out.idle.into();
        expected[a.req_ready] = out.req_ready.into();
        expected[a.res[0]] = out.res.is_some().into();
        if let Some(j) = out.res {
            let o = j.outcome;
            let row = [
                1,
                j.arrival.flow.into(),
                j.arrival.psn.into(),
                (o.verdict == Verdict::Accepted).into(),
                (o.verdict == Verdict::Duplicate).into(),
                (o.verdict == Verdict::Beyond).into(),
                (o.verdict == Verdict::Full).into(),
                o.expected.value().into(),
                o.advance.into(),
                o.ood.into(),
                o.waiting.into(),
                o.arrived,
            ];
            for (at, v) in a.res.iter().zip(row) {
                expected[*at] = v;
            }
            set_wide(expected, a.res_tag, j.arrival.tag);
        }
    }

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        if inputs[a.rst] != 0 {
            for f in &mut self.flows {
                f.restart(0);
            }
            self.open.reset();
            self.req.reset();
            return;
        }
        self.req.taken(outputs[a.req_ready] != 0);
        if let Some((flow, psn)) = self.open.taken(outputs[a.open_ready] != 0) {
            self.flows[usize::from(flow)].restart(psn);
        }
    }
}
