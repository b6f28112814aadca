//! The sender datapath's stimulus and model.

use super::driver::first_psn;
use super::{Pace, Resets, SenderPorts, Source};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::sender::{Ack, Sender};

/// Random posts, windows, skips, requests; ACKs of what was sent, late, out of order, doubled.
/// Flows are opened right after a reset, before anything of them is under way.
pub struct SenderBench {
    rng: SmallRng,
    at: SenderPorts,
    model: Sender,
    paths: usize,
    window_psns: u32,
    clock: u64,
    limits: Vec<u32>,
    hot: u16,
    resets: Resets,
    opens: Vec<(u16, u32)>,
    post: Source<(u16, u32)>,
    window: Source<(u16, u8, u16)>,
    skip: Source<(u16, u8, u16)>,
    ack: Source<Ack>,
    resolve: Source<(u16, u8)>,
    again: Source<(u16, u32)>,
    req: Source<u16>,
    sinks: [Pace; 4],
    sent: Vec<Sent>,
    lost: Vec<Sent>,
    resending: Vec<(u16, u32)>,
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct Sent {
    flow: u16,
    path: u8,
    psn: u32,
    acknowledged: bool,
}

impl SenderBench {
    /// For the sender `v` of `paths` paths, windows of `window` PSNs and `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(
        v: &Verilog,
        paths: usize,
        window: usize,
        flows: usize,
        seed: u64,
    ) -> Result<Self, SimError> {
        let at = SenderPorts::new(v)?;
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed),
            at,
            model: Sender::new(paths, window, flows),
            paths,
            window_psns: window as u32,
            clock: 0,
            limits: vec![0; flows],
            hot: 0,
            resets: Resets::new(flows * window / 8),
            opens: Vec::new(),
            post: Source::new(Pace::MIXED),
            window: Source::new(Pace::MIXED),
            skip: Source::new(Pace::MIXED),
            ack: Source::new(Pace::MIXED),
            resolve: Source::new(Pace::MIXED),
            again: Source::new(Pace::MIXED),
            req: Source::new(Pace::MIXED),
            sinks: std::array::from_fn(|_| Pace::new(Pace::MIXED)),
            sent: Vec::new(),
            lost: Vec::new(),
            resending: Vec::new(),
        })
    }

    fn restart(&mut self) {
        self.limits.fill(0);
        self.sent.clear();
        self.lost.clear();
        self.resending.clear();
        self.resolve.reset();
        self.again.reset();
        self.post.reset();
        self.window.reset();
        self.skip.reset();
        self.ack.reset();
        self.req.reset();
        let count = self.limits.len().min(8) as u16;
        self.opens = (0..count).map(|f| (f, first_psn(&mut self.rng))).collect();
        for &(f, psn) in &self.opens {
            self.limits[usize::from(f)] = psn;
        }
    }

    fn drive_control(&mut self, inputs: &mut [u64]) {
        let rng = &mut self.rng;
        let a = &self.at;
        let count = self.limits.len() as u16;
        let paths = self.paths as u8;
        let (limits, span) = (&mut self.limits, self.window_psns);
        let post = self.post.offer(rng, |rng| {
            let flow = rng.random_range(0..count);
            let limit = &mut limits[usize::from(flow)];
            let step = match rng.random_range(0..32) {
                0 => rng.random_range(0..2 * span),
                _ => rng.random_range(0..12),
            };
            *limit = (*limit + step) & 0xff_ffff;
            Some((flow, *limit))
        });
        inputs[a.post[0]] = post.is_some().into();
        if let Some((flow, limit)) = post {
            inputs[a.post[1]] = flow.into();
            inputs[a.post[2]] = limit.into();
        }
        let window = self.window.offer(rng, |rng| {
            let value = match rng.random_range(0..8) {
                0 => 0,
                1 => rng.random_range(1..64),
                2 => rng.random(),
                _ => rng.random_range(0..64 * 40),
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
        let skip = self.skip.offer(rng, |rng| {
            let value = match rng.random_range(0..4) {
                0 => 0,
                1 => rng.random_range(0..1024),
                _ => rng.random_range(0..30),
            };
            Some((
                rng.random_range(0..count),
                rng.random_range(0..paths),
                value,
            ))
        });
        inputs[a.skip[0]] = skip.is_some().into();
        if let Some((flow, path, value)) = skip {
            inputs[a.skip[1]] = flow.into();
            inputs[a.skip[2]] = path.into();
            inputs[a.skip[3]] = value.into();
        }
    }

    fn drive_ack(&mut self, inputs: &mut [u64]) {
        let a = &self.at;
        let sent = &mut self.sent;
        let ack = self.ack.offer(&mut self.rng, |rng| {
            if sent.is_empty() {
                return None;
            }
            // Mostly the oldest, so that windows advance; sometimes any; some twice.
            let i = if rng.random_range(0..3) > 0 {
                0
            } else {
                rng.random_range(0..sent.len())
            };
            let s = if rng.random_range(0..16) == 0 {
                let before = sent[i];
                sent[i].acknowledged = true;
                before
            } else {
                sent.remove(i)
            };
            Some(Ack {
                flow: s.flow,
                path: s.path,
                psn: s.psn,
                count: true,
            })
        });
        inputs[a.ack[0]] = ack.is_some().into();
        if let Some(ack) = ack {
            inputs[a.ack[1]] = ack.flow.into();
            inputs[a.ack[2]] = ack.path.into();
            inputs[a.ack[3]] = ack.psn.into();
            inputs[a.ack[4]] = ack.count.into();
        }
    }

    /// Now and then a packet is lost: its place on the path is free, and it is sent again.
    fn drive_loss(&mut self, inputs: &mut [u64]) {
        let a = &self.at;
        if !self.sent.is_empty() && self.rng.random_range(0..8) == 0 {
            let i = self.rng.random_range(0..self.sent.len());
            if !self.sent[i].acknowledged {
                self.lost.push(self.sent.remove(i));
            }
        }
        let (lost, resending) = (&mut self.lost, &mut self.resending);
        let resolve = self.resolve.offer(&mut self.rng, |_| {
            let s = lost.pop()?;
            resending.push((s.flow, s.psn));
            Some((s.flow, s.path))
        });
        inputs[a.resolve[0]] = resolve.is_some().into();
        if let Some((flow, path)) = resolve {
            inputs[a.resolve[1]] = flow.into();
            inputs[a.resolve[2]] = path.into();
        }
        let again = self.again.offer(&mut self.rng, |_| resending.pop());
        inputs[a.again[0]] = again.is_some().into();
        if let Some((flow, psn)) = again {
            inputs[a.again[1]] = flow.into();
            inputs[a.again[2]] = psn.into();
        }
    }

    /// What the design sent, or has no path for.
    fn note(&mut self, inputs: &[u64], outputs: &[u64]) {
        let a = &self.at;
        let taken =
            |at: &[usize], sink: usize| outputs[at[0]] != 0 && inputs[a.sink_ready[sink]] != 0;
        let sent = |at: &[usize]| Sent {
            flow: outputs[at[1]] as u16,
            path: outputs[at[2]] as u8,
            psn: outputs[at[3]] as u32,
            acknowledged: false,
        };
        if taken(&a.res, 0) && outputs[a.res[4]] != 0 {
            self.sent.push(sent(&a.res));
        }
        if taken(&a.retry, 3) {
            self.sent.push(sent(&a.retry));
        }
        if taken(&a.idle, 1) && outputs[a.idle[2]] != 0 {
            self.resending
                .push((outputs[a.idle[1]] as u16, outputs[a.idle[3]] as u32));
        }
    }
}

impl Bench for SenderBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        let count = self.limits.len() as u16;
        if self.clock % 512 == 0 {
            self.hot = self.rng.random_range(0..count);
        }
        self.clock += 1;
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        let open = self.opens.last().copied();
        let a = &self.at;
        inputs[a.open[0]] = open.is_some().into();
        for i in [
            a.post[0],
            a.window[0],
            a.skip[0],
            a.ack[0],
            a.resolve[0],
            a.again[0],
            a.req[0],
        ] {
            inputs[i] = 0;
        }
        if let Some((flow, psn)) = open {
            inputs[a.open[1]] = flow.into();
            inputs[a.open[2]] = psn.into();
        } else {
            self.drive_control(inputs);
            self.drive_ack(inputs);
            self.drive_loss(inputs);
            let (hot, clock) = (self.hot, self.clock);
            let req = self.req.offer(&mut self.rng, |rng| {
                Some(match rng.random_range(0..4) {
                    0 => hot,
                    1 => (clock % u64::from(count)) as u16,
                    _ => rng.random_range(0..count),
                })
            });
            inputs[self.at.req[0]] = req.is_some().into();
            inputs[self.at.req[1]] = req.unwrap_or(0).into();
        }
        for (at, pace) in self.at.sink_ready.iter().zip(&mut self.sinks) {
            inputs[*at] = pace.active(&mut self.rng).into();
        }
    }

    fn model(&mut self, inputs: &[u64], expected: &mut [u64]) {
        let out = self.model.step(&self.at.read_inputs(inputs));
        self.at.write_outputs(&out, expected);
    }

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        let a = &self.at;
        if inputs[a.open[0]] != 0 {
            if outputs[a.open_ready] != 0 {
                self.opens.pop();
            }
        } else {
            self.post.taken(outputs[a.post_ready] != 0);
            self.window.taken(outputs[a.window_ready] != 0);
            self.skip.taken(outputs[a.skip_ready] != 0);
            self.ack.taken(outputs[a.ack_ready] != 0);
            self.resolve.taken(outputs[a.resolve_ready] != 0);
            self.again.taken(outputs[a.again_ready] != 0);
            self.req.taken(outputs[a.req_ready] != 0);
        }
        self.note(inputs, outputs);
    }
}
