//! The receiving NIC: the receiver datapath in co-simulation, and the check of what it delivers.

use super::transmit::{FLOW, FLOWS};
use crate::bench::{contents, ReceiverPorts};
use crate::dut::Dut;
use crate::{SimError, Verilog};
use rondo_models::cycle::receiver::{Inputs, Receiver};
use rondo_models::cycle::reorder::RxBeat;
use rondo_models::reorder::Buffer;
use std::collections::VecDeque;

/// What the receiver did in a clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// It acknowledges a PSN that came on a path, or (true) refuses it.
    pub ack: Option<(u32, u8, bool)>,
    /// An arrival was judged: out-of-order degree and packets that wait.
    pub sample: Option<(u16, u16)>,
    /// A packet was delivered to its last beat.
    pub delivered: bool,
}

/// What the host saw: exactly once and in order, or not, by content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Packets delivered.
    pub packets: u64,
    /// Payload bytes delivered.
    pub bytes: u64,
    /// Packets whose PSN was not the next.
    pub out_of_order: u64,
    /// Packets that had been delivered before.
    pub duplicated: u64,
    /// Beats whose contents, length or position were wrong.
    pub corrupt: u64,
}

/// The receiver datapath, checked on every clock.
pub struct RtlReceiver {
    /// The RTL; without it the model's outputs are the NIC's.
    dut: Option<Dut>,
    model: Receiver,
    ports: ReceiverPorts,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    expected: Vec<u64>,
    limit: u32,
    payload_bytes: usize,
    beats: usize,
    packets: VecDeque<(u32, u8)>,
    beat: usize,
    delivery: Delivery,
    next_psn: u32,
    host_beat: usize,
    mismatches: u64,
}

impl RtlReceiver {
    /// Resets the design and opens the flow at `first_psn`.
    ///
    /// # Errors
    /// [`SimError`] when the design cannot be run.
    pub fn new(
        v: &Verilog,
        window: usize,
        first_psn: u32,
        payload_bytes: usize,
        limit: u32,
        rtl_seed: Option<u64>,
    ) -> Result<Self, SimError> {
        let mut r = Self {
            dut: rtl_seed.map(|seed| Dut::new(v, seed, None)).transpose()?,
            model: Receiver::new(Buffer::DEFAULT, window, FLOWS),
            ports: ReceiverPorts::new(v)?,
            inputs: vec![0; v.inputs().map(crate::Port::words).sum()],
            outputs: vec![0; v.outputs().map(crate::Port::words).sum()],
            expected: vec![0; v.outputs().map(crate::Port::words).sum()],
            limit,
            payload_bytes,
            beats: payload_bytes.div_ceil(64),
            packets: VecDeque::new(),
            beat: 0,
            delivery: Delivery::default(),
            next_psn: first_psn,
            host_beat: 0,
            mismatches: 0,
        };
        r.inputs[r.ports.limit] = limit.into();
        r.inputs[r.ports.rst] = 1;
        for _ in 0..crate::lockstep::RESET_CLOCKS {
            r.step(None, None, false);
        }
        r.inputs[r.ports.rst] = 0;
        let open = (FLOW, first_psn);
        loop {
            r.step(Some(open), None, true);
            if r.outputs[r.ports.open_ready] != 0 {
                return Ok(r);
            }
        }
    }

    fn step(&mut self, open: Option<(u16, u32)>, rx: Option<&RxBeat>, checked: bool) {
        let (i, p) = (&mut self.inputs, &self.ports);
        i[p.open[0]] = open.is_some().into();
        if let Some((flow, psn)) = open {
            i[p.open[1]] = flow.into();
            i[p.open[2]] = psn.into();
        }
        p.rx.set(i, rx.copied());
        i[p.out.host_ready] = 1;
        i[p.out.ack_ready] = 1;
        if let Some(dut) = &mut self.dut {
            dut.step(&self.inputs, &mut self.outputs);
        }
        let out = self.model.step(&Inputs {
            rst: self.inputs[self.ports.rst] != 0,
            limit: self.limit,
            open,
            rx,
            host_ready: true,
            ack_ready: true,
        });
        if self.dut.is_none() {
            self.ports.write_outputs(&out, &mut self.outputs);
        }
        if checked {
            self.ports.write_outputs(&out, &mut self.expected);
            if !self.ports.agree(&self.expected, &self.outputs) {
                self.mismatches += 1;
            }
        }
    }

    /// A packet is complete at the NIC.
    pub fn arrive(&mut self, psn: u32, path: u8) {
        self.packets.push_back((psn, path));
    }

    /// Packets that the datapath has not begun to take.
    pub fn backlog(&self) -> usize {
        self.packets.len()
    }

    /// Lets a clock pass.
    pub fn clock(&mut self) -> Step {
        let beat = self
            .packets
            .front()
            .map(|&(psn, path)| self.make_beat(psn, path));
        self.step(None, beat.as_ref(), true);
        let (o, p) = (&self.outputs, &self.ports);
        if beat.is_some() && o[p.rx_ready] != 0 {
            self.beat += 1;
            if self.beat == self.beats {
                self.beat = 0;
                self.packets.pop_front();
            }
        }
        let ack = (o[p.out.ack[0]] != 0).then(|| {
            (
                o[p.out.ack[2]] as u32,
                o[p.out.ack[6]] as u8,
                o[p.out.ack[4]] != 0,
            )
        });
        let sample = (o[p.sample[0]] != 0).then(|| (o[p.sample[2]] as u16, o[p.sample[3]] as u16));
        let delivered = o[p.out.host[0]] != 0 && self.check_host_beat();
        Step {
            ack,
            sample,
            delivered,
        }
    }

    fn keep(&self, last: bool) -> u64 {
        let bytes = self.payload_bytes - 64 * (self.beats - 1);
        if last && bytes < 64 {
            (1 << bytes) - 1
        } else {
            u64::MAX
        }
    }

    fn make_beat(&self, psn: u32, path: u8) -> RxBeat {
        let last = self.beat + 1 == self.beats;
        RxBeat {
            data: contents(FLOW, psn, self.beat as u16),
            keep: self.keep(last),
            last,
            flow: FLOW,
            psn,
            path,
            ..RxBeat::default()
        }
    }

    /// Checks a delivered beat against what was sent; returns whether it ends a packet.
    fn check_host_beat(&mut self) -> bool {
        let (o, h) = (&self.outputs, &self.ports.out.host);
        let psn = o[h[5]] as u32;
        let last = o[h[3]] != 0;
        let want = contents(FLOW, self.next_psn, self.host_beat as u16);
        let right = o[h[1]..h[1] + 8] == want
            && o[h[2]] == self.keep(last)
            && o[h[4]] == u64::from(FLOW)
            && last == (self.host_beat + 1 == self.beats);
        if !right {
            self.delivery.corrupt += 1;
        }
        self.host_beat += 1;
        if !last {
            return false;
        }
        self.host_beat = 0;
        match psn.wrapping_sub(self.next_psn) & 0xff_ffff {
            0 => {}
            back if back > 1 << 23 => self.delivery.duplicated += 1,
            _ => self.delivery.out_of_order += 1,
        }
        self.delivery.packets += 1;
        self.delivery.bytes += self.payload_bytes as u64;
        self.next_psn = (psn + 1) & 0xff_ffff;
        true
    }

    /// What the host saw so far.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// Clocks in which the RTL differed from its model.
    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }
}
