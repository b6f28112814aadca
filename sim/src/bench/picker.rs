//! The picker's stimulus and model.

use super::driver::first_psn;
use super::{Pace, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::picker::{Inputs, Picker, Request};

struct At {
    rst: usize,
    open: [usize; 3],
    req: [usize; 5],
    res_ready: usize,
    open_ready: usize,
    req_ready: usize,
    res: [usize; 5],
}

/// Random picks: skips from 0 to beyond the window, bounds that creep, jump or stay.
pub struct PickerBench {
    rng: SmallRng,
    at: At,
    model: Picker,
    window: u32,
    clock: u64,
    bounds: Vec<u32>,
    /// Requests of each flow that are not answered yet: a flow is opened only when it is quiet.
    outstanding: Vec<u32>,
    hot: u16,
    /// The hot flow passes over its base group, so that later groups fill first, and then fills it:
    /// the base jumps over several groups at once.
    base_last: bool,
    resets: Resets,
    open: Source<(u16, u32)>,
    req: Source<Request>,
    ready: Pace,
}

impl PickerBench {
    /// For the picker `v` of windows of `window` PSNs and `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, window: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let at = At {
            rst: r.input("rst")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            req: r.inputs(["req_valid", "req_flow", "req_path", "req_skip", "req_bound"])?,
            res_ready: r.input("res_ready")?,
            open_ready: r.output("open_ready")?,
            req_ready: r.output("req_ready")?,
            res: r.outputs(["res_valid", "res_flow", "res_path", "res_found", "res_psn"])?,
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            model: Picker::new(window, flows),
            window: window as u32,
            clock: 0,
            bounds: vec![0; flows],
            outstanding: vec![0; flows],
            hot: 0,
            base_last: false,
            resets: Resets::new(flows * window / 8),
            open: Source::new(Pace::RARE),
            req: Source::new(Pace::MIXED),
            ready: Pace::new(Pace::MIXED),
        })
    }
}

impl Bench for PickerBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let count = self.bounds.len() as u16;
        if self.clock % 8192 == 0 {
            self.hot = self.rng.random_range(0..count);
            self.base_last = self.rng.random_range(0..2) == 0;
        }
        let rng = &mut self.rng;
        let a = &self.at;
        inputs[a.rst] = self.resets.active(rng).into();
        let outstanding = &mut self.outstanding;
        let open = self.open.offer(rng, |rng| {
            let flow = rng.random_range(0..count);
            (outstanding[usize::from(flow)] == 0 && rng.random_range(0..20) == 0)
                .then(|| (flow, first_psn(rng)))
        });
        let opening = open.map(|(flow, _)| flow);
        inputs[a.open[0]] = open.is_some().into();
        if let Some((flow, psn)) = open {
            inputs[a.open[1]] = flow.into();
            inputs[a.open[2]] = psn.into();
        }
        let (bounds, hot, clock, window) = (&mut self.bounds, self.hot, self.clock, self.window);
        let base_last = self.base_last;
        let req = self.req.offer(rng, |rng| {
            let flow = match rng.random_range(0..4) {
                0 => hot,
                1 if base_last => hot,
                1 => (clock % u64::from(count)) as u16,
                _ => rng.random_range(0..count),
            };
            if opening == Some(flow) {
                return None;
            }
            outstanding[usize::from(flow)] += 1;
            let bound = &mut bounds[usize::from(flow)];
            // On average one PSN a pick, in steps: the window runs full and empty.
            let passes_over = base_last && flow == hot;
            let step = match rng.random_range(0..64) {
                0 | 9 if passes_over => window,
                0 => rng.random_range(0..window),
                1..=8 => rng.random_range(0..4),
                _ => u32::from(rng.random::<bool>()),
            };
            *bound = (*bound + step) & 0xff_ffff;
            let skip = match rng.random_range(0..8) {
                _ if passes_over && clock % 8192 < 5120 => 64,
                _ if passes_over => 0,
                0..=2 => 0,
                3 | 4 => rng.random_range(0..8),
                5 | 6 => rng.random_range(0..window as u16),
                _ => rng.random_range(0..1024),
            };
            Some(Request {
                flow,
                path: rng.random_range(0..16),
                skip,
                bound: *bound,
            })
        });
        inputs[a.req[0]] = req.is_some().into();
        if let Some(q) = req {
            inputs[a.req[1]] = q.flow.into();
            inputs[a.req[2]] = q.path.into();
            inputs[a.req[3]] = q.skip.into();
            inputs[a.req[4]] = q.bound.into();
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
            req: on(a.req[0]).then(|| Request {
                flow: inputs[a.req[1]] as u16,
                path: inputs[a.req[2]] as u8,
                skip: inputs[a.req[3]] as u16,
                bound: inputs[a.req[4]] as u32,
            }),
            res_ready: on(a.res_ready),
        });
        expected[a.open_ready] = out.idle.into();
        expected[a.req_ready] = out.req_ready.into();
        expected[a.res[0]] = out.res.is_some().into();
        if let Some(p) = out.res {
            expected[a.res[1]] = p.flow.into();
            expected[a.res[2]] = p.path.into();
            expected[a.res[3]] = p.psn.is_some().into();
            expected[a.res[4]] = p.psn.unwrap_or(0).into();
        }
    }

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        if inputs[a.rst] != 0 {
            self.bounds.fill(0);
            self.outstanding.fill(0);
            self.open.reset();
            self.req.reset();
            return;
        }
        if outputs[a.res[0]] != 0 && inputs[a.res_ready] != 0 {
            if let Some(n) = self.outstanding.get_mut(outputs[a.res[1]] as usize) {
                *n = n.saturating_sub(1);
            }
        }
        self.req.taken(outputs[a.req_ready] != 0);
        if let Some((flow, psn)) = self.open.taken(outputs[a.open_ready] != 0) {
            self.bounds[usize::from(flow)] = psn;
        }
    }
}
