//! The deficit selector's stimulus and model.

use super::driver::first_psn;
use super::{Pace, Resets, Rows, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::selector::{Inputs, Request, Selector};

struct At {
    rst: usize,
    open: [usize; 3],
    window: [usize; 4],
    ack: [usize; 3],
    req: [usize; 4],
    res_ready: usize,
    open_ready: usize,
    window_ready: usize,
    ack_ready: usize,
    req_ready: usize,
    res: [usize; 6],
}

/// What the stimulus knows of a flow.
#[derive(Clone)]
struct Flow {
    limit: u32,
    outstanding: Vec<u16>,
}

/// Random requests, ACKs, windows, opens and resets.
pub struct SelectorBench {
    rng: SmallRng,
    at: At,
    model: Selector,
    paths: usize,
    clock: u64,
    flows: Vec<Flow>,
    hot: u16,
    resets: Resets,
    open: Source<(u16, u32)>,
    window: Source<(u16, u8, u16)>,
    ack: Source<(u16, u8)>,
    req: Source<Request>,
    ready: Pace,
    acks: Vec<(u16, u8)>,
}

impl SelectorBench {
    /// For the selector `v` of `paths` paths and `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, paths: usize, flows: usize, seed: u64) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let at = At {
            rst: r.input("rst")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            window: r.inputs(["window_valid", "window_flow", "window_path", "window_value"])?,
            ack: r.inputs(["ack_valid", "ack_flow", "ack_path"])?,
            req: r.inputs(["req_valid", "req_flow", "req_limit", "req_again"])?,
            res_ready: r.input("res_ready")?,
            open_ready: r.output("open_ready")?,
            window_ready: r.output("window_ready")?,
            ack_ready: r.output("ack_ready")?,
            req_ready: r.output("req_ready")?,
            res: r.outputs([
                "res_valid",
                "res_flow",
                "res_granted",
                "res_path",
                "res_limit",
                "res_again",
            ])?,
        };
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            model: Selector::new(paths, flows),
            paths,
            clock: 0,
            flows: vec![
                Flow {
                    limit: 0,
                    outstanding: vec![0; paths],
                };
                flows
            ],
            hot: 0,
            resets: Resets::new(flows),
            open: Source::new(Pace::RARE),
            window: Source::new(Pace::MIXED),
            ack: Source::new(Pace::MIXED),
            req: Source::new(Pace::MIXED),
            ready: Pace::new(Pace::MIXED),
            acks: Vec::new(),
        })
    }

    fn restart(&mut self) {
        for f in &mut self.flows {
            f.limit = 0;
            f.outstanding.fill(0);
        }
        self.acks.clear();
        self.open.reset();
        self.window.reset();
        self.ack.reset();
        self.req.reset();
    }
}

impl Bench for SelectorBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let count = self.flows.len() as u16;
        if self.clock % 512 == 0 {
            self.hot = self.rng.random_range(0..count);
        }
        let rst = self.resets.active(&mut self.rng);
        let rng = &mut self.rng;
        let a = &self.at;
        inputs[a.rst] = rst.into();

        // Rarely: the sweep stops the block for a while.
        let open = self.open.offer(rng, |rng| {
            (rng.random_range(0..100) == 0).then(|| (rng.random_range(0..count), first_psn(rng)))
        });
        inputs[a.open[0]] = open.is_some().into();
        if let Some((flow, psn)) = open {
            inputs[a.open[1]] = flow.into();
            inputs[a.open[2]] = psn.into();
        }
        let paths = self.paths as u8;
        let window = self.window.offer(rng, |rng| {
            let value = match rng.random_range(0..8) {
                0 => 0,
                1 => rng.random_range(1..64),
                2 => rng.random(),
                _ => rng.random_range(0..64 * 12),
            };
            Some((
                rng.random_range(0..count),
                rng.random_range(0..paths),
                value,
            ))
        });
        inputs[a.window[0]] = window.is_some().into();
        if let Some((flow, path, value)) = window {
            inputs[a.window[1]] = flow.into();
            inputs[a.window[2]] = path.into();
            inputs[a.window[3]] = value.into();
        }
        let acks = &mut self.acks;
        let ack = self.ack.offer(rng, |rng| {
            if acks.is_empty() {
                return None;
            }
            let i = rng.random_range(0..acks.len());
            Some(acks.swap_remove(i))
        });
        inputs[a.ack[0]] = ack.is_some().into();
        if let Some((flow, path)) = ack {
            inputs[a.ack[1]] = flow.into();
            inputs[a.ack[2]] = path.into();
        }
        let (flows, hot, clock) = (&mut self.flows, self.hot, self.clock);
        let req = self.req.offer(rng, |rng| {
            let flow = match rng.random_range(0..4) {
                0 => hot,
                1 => (clock % u64::from(count)) as u16,
                _ => rng.random_range(0..count),
            };
            let f = &mut flows[usize::from(flow)];
            f.limit = (f.limit + rng.random_range(0..3)) & 0xff_ffff;
            Some(Request {
                flow,
                limit: f.limit,
                again: rng.random_range(0..8) == 0,
            })
        });
        inputs[a.req[0]] = req.is_some().into();
        if let Some(r) = req {
            inputs[a.req[1]] = r.flow.into();
            inputs[a.req[2]] = r.limit.into();
            inputs[a.req[3]] = r.again.into();
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
            window: on(a.window[0]).then(|| {
                (
                    inputs[a.window[1]] as u16,
                    inputs[a.window[2]] as u8,
                    inputs[a.window[3]] as u16,
                )
            }),
            ack: on(a.ack[0]).then(|| (inputs[a.ack[1]] as u16, inputs[a.ack[2]] as u8)),
            req: on(a.req[0]).then(|| Request {
                flow: inputs[a.req[1]] as u16,
                limit: inputs[a.req[2]] as u32,
                again: on(a.req[3]),
            }),
            res_ready: on(a.res_ready),
        });
        expected[a.open_ready] = out.idle.into();
        expected[a.window_ready] = out.idle.into();
        expected[a.ack_ready] = out.idle.into();
        expected[a.req_ready] = out.req_ready.into();
        expected[a.res[0]] = out.res.is_some().into();
        if let Some(d) = out.res {
            expected[a.res[1]] = d.flow.into();
            expected[a.res[2]] = d.path.is_some().into();
            expected[a.res[3]] = d.path.unwrap_or(0).into();
            expected[a.res[4]] = d.limit.into();
            expected[a.res[5]] = d.again.into();
        }
    }

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        if inputs[a.rst] != 0 {
            return self.restart();
        }
        let ready = |i: usize| outputs[i] != 0;
        if let Some((flow, psn)) = self.open.taken(ready(a.open_ready)) {
            // Packets of the flow's former life are not acknowledged any more.
            self.flows[usize::from(flow)].limit = psn;
            self.acks.retain(|&(f, _)| f != flow);
        }
        self.window.taken(ready(a.window_ready));
        self.ack.taken(ready(a.ack_ready));
        self.req.taken(ready(a.req_ready));
        if ready(a.res[0]) && inputs[a.res_ready] != 0 && ready(a.res[2]) {
            self.acks
                .push((outputs[a.res[1]] as u16, outputs[a.res[3]] as u8));
        }
    }
}
