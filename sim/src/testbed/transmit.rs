//! The sending NIC: the sender datapath in co-simulation, or round-robin spraying to compare with.

use crate::bench::SenderPorts;
use crate::dut::Dut;
use crate::{SimError, Verilog};
use rondo_models::cycle::sender::{Outputs, Sender};
use rondo_models::psn::Psn;
use rondo_models::round_robin::RoundRobin;
use std::collections::VecDeque;

/// What a transmitter did in a clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// It sent a packet: path and PSN.
    pub sent: Option<(u8, u32)>,
    /// It had nothing to send, or no open path.
    pub idle: bool,
    /// It counted a PSN's first ACK: path and PSN.
    pub acked: Option<(u8, u32)>,
}

/// A sending NIC with one flow.
pub trait Transmitter {
    /// Gives it a window, UQ10.6 packets.
    fn set_window(&mut self, path: u8, window: u16);
    /// Gives it a skip.
    fn set_skip(&mut self, path: u8, skip: u16);
    /// An ACK arrived.
    fn acknowledge(&mut self, path: u8, psn: u32);
    /// Asks it to send a packet.
    fn request(&mut self);
    /// Requests that are not answered yet.
    fn under_way(&self) -> u32;
    /// Lets a clock pass.
    fn clock(&mut self) -> Step;
    /// Clocks in which the RTL differed from its model.
    fn mismatches(&self) -> u64;
}

/// The sender datapath, checked on every clock.
pub struct RtlTransmitter {
    /// The RTL; without it the model's outputs are the NIC's.
    dut: Option<Dut>,
    model: Sender,
    ports: SenderPorts,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    expected: Vec<u64>,
    windows: VecDeque<(u8, u16)>,
    skips: VecDeque<(u8, u16)>,
    acks: VecDeque<(u8, u32)>,
    /// Requests that the datapath has not taken yet.
    wants: u32,
    under_way: u32,
    mismatches: u64,
}

/// Flow number used in the testbed.
pub const FLOW: u16 = 3;
/// Flows that the testbed's RTL is generated for.
pub const FLOWS: usize = 16;

impl RtlTransmitter {
    /// Resets the design, opens the flow at `first_psn` and posts `packets` packets.
    ///
    /// # Errors
    /// [`SimError`] when the design cannot be run.
    pub fn new(
        v: &Verilog,
        paths: usize,
        window: usize,
        first_psn: u32,
        packets: u32,
        rtl_seed: Option<u64>,
    ) -> Result<Self, SimError> {
        let mut t = Self {
            dut: rtl_seed.map(|seed| Dut::new(v, seed, None)).transpose()?,
            model: Sender::new(paths, window, FLOWS),
            ports: SenderPorts::new(v)?,
            inputs: vec![0; v.inputs().map(crate::Port::words).sum()],
            outputs: vec![0; v.outputs().map(crate::Port::words).sum()],
            expected: vec![0; v.outputs().map(crate::Port::words).sum()],
            windows: VecDeque::new(),
            skips: VecDeque::new(),
            acks: VecDeque::new(),
            wants: 0,
            under_way: 0,
            mismatches: 0,
        };
        for _ in 0..crate::lockstep::RESET_CLOCKS {
            t.inputs[t.ports.rst] = 1;
            t.step_unchecked();
        }
        t.inputs[t.ports.rst] = 0;
        t.offer_until_taken(t.ports.open, t.ports.open_ready, first_psn);
        let limit = (first_psn + packets) & 0xff_ffff;
        t.offer_until_taken(t.ports.post, t.ports.post_ready, limit);
        Ok(t)
    }

    fn step_unchecked(&mut self) -> Outputs {
        let out = self.model.step(&self.ports.read_inputs(&self.inputs));
        match &mut self.dut {
            Some(dut) => dut.step(&self.inputs, &mut self.outputs),
            None => self.ports.write_outputs(&out, &mut self.outputs),
        }
        out
    }

    /// Holds a control word at a port until it is taken; the sweeps end on their own.
    fn offer_until_taken(&mut self, at: [usize; 3], ready: usize, value: u32) {
        self.inputs[at[0]] = 1;
        self.inputs[at[1]] = FLOW.into();
        self.inputs[at[2]] = value.into();
        loop {
            self.step_checked();
            if self.outputs[ready] != 0 {
                break;
            }
        }
        self.inputs[at[0]] = 0;
    }

    fn step_checked(&mut self) {
        let out = self.step_unchecked();
        self.ports.write_outputs(&out, &mut self.expected);
        if !self.ports.agree(&self.expected, &self.outputs) {
            self.mismatches += 1;
        }
    }

    fn set_inputs(&mut self) {
        let (i, p) = (&mut self.inputs, &self.ports);
        let put = |i: &mut Vec<u64>,
                   at: &[usize; 4],
                   item: Option<(u8, u64)>,
                   path: usize,
                   value: usize| {
            i[at[0]] = item.is_some().into();
            if let Some((p, v)) = item {
                i[at[1]] = FLOW.into();
                i[at[path]] = p.into();
                i[at[value]] = v;
            }
        };
        let window = self.windows.front().map(|&(p, w)| (p, u64::from(w)));
        put(i, &p.window, window, 2, 3);
        let skip = self.skips.front().map(|&(p, s)| (p, u64::from(s)));
        put(i, &p.skip, skip, 2, 3);
        let ack = self.acks.front().map(|&(p, s)| (p, u64::from(s)));
        i[p.ack[4]] = 1;
        put(i, &[p.ack[0], p.ack[1], p.ack[2], p.ack[3]], ack, 2, 3);
        i[p.req[0]] = u64::from(self.wants > 0);
        i[p.req[1]] = FLOW.into();
        for at in p.sink_ready {
            i[at] = 1;
        }
    }
}

impl Transmitter for RtlTransmitter {
    fn set_window(&mut self, path: u8, window: u16) {
        self.windows.push_back((path, window));
    }

    fn set_skip(&mut self, path: u8, skip: u16) {
        self.skips.push_back((path, skip));
    }

    fn acknowledge(&mut self, path: u8, psn: u32) {
        self.acks.push_back((path, psn));
    }

    fn request(&mut self) {
        self.wants += 1;
        self.under_way += 1;
    }

    fn under_way(&self) -> u32 {
        self.under_way
    }

    fn clock(&mut self) -> Step {
        self.set_inputs();
        self.step_checked();
        let (o, p) = (&self.outputs, &self.ports);
        let on = |at: usize| o[at] != 0;
        if on(p.window_ready) {
            self.windows.pop_front();
        }
        if on(p.skip_ready) {
            self.skips.pop_front();
        }
        if on(p.ack_ready) {
            self.acks.pop_front();
        }
        if on(p.req_ready) {
            self.wants = self.wants.saturating_sub(1);
        }
        let step = Step {
            sent: (on(p.res[0]) && on(p.res[4])).then(|| (o[p.res[2]] as u8, o[p.res[3]] as u32)),
            idle: on(p.idle[0]),
            acked: (on(p.acked[0]) && on(p.acked[4]))
                .then(|| (o[p.acked[3]] as u8, o[p.acked[2]] as u32)),
        };
        // A grant and a refusal may come in one clock.
        self.under_way -= u32::from(step.sent.is_some()) + u32::from(step.idle);
        step
    }

    fn mismatches(&self) -> u64 {
        self.mismatches
    }
}

/// Round-robin spraying under the same windows: the model alone, one answer a clock.
#[derive(Debug)]
pub struct RoundRobinTransmitter {
    model: RoundRobin,
    acks: VecDeque<(u8, u32)>,
    wants: u32,
}

impl RoundRobinTransmitter {
    /// With `paths` paths and a window of `window` PSNs from `first_psn` on.
    pub fn new(paths: usize, window: usize, first_psn: u32) -> Self {
        Self {
            model: RoundRobin::new(paths, window, Psn::new(first_psn)),
            acks: VecDeque::new(),
            wants: 0,
        }
    }
}

impl Transmitter for RoundRobinTransmitter {
    fn set_window(&mut self, path: u8, window: u16) {
        self.model.set_window(path.into(), window);
    }

    fn set_skip(&mut self, _path: u8, _skip: u16) {}

    fn acknowledge(&mut self, path: u8, psn: u32) {
        self.acks.push_back((path, psn));
    }

    fn request(&mut self) {
        self.wants += 1;
    }

    fn under_way(&self) -> u32 {
        self.wants
    }

    fn clock(&mut self) -> Step {
        let mut step = Step::default();
        if let Some((path, psn)) = self.acks.pop_front() {
            if self.model.acknowledge(path.into(), Psn::new(psn)) {
                step.acked = Some((path, psn));
            }
        }
        if self.wants > 0 {
            self.wants -= 1;
            step.sent = self.model.send().map(|(p, psn)| (p as u8, psn.value()));
            step.idle = step.sent.is_none();
        }
        step
    }

    fn mismatches(&self) -> u64 {
        0
    }
}
