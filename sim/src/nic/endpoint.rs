//! One NIC with its host, its control, and the golden endpoint in lock-step.

use super::axis::Hold;
use super::bits::{put, to_bytes};
use super::control::{Account, Control};
use super::golden_rx::{GoldenRx, RxTaps};
use super::golden_tx::{GoldenTx, TxTaps};
use super::host::{Receiver, Sender};
use super::scenario::Mesh;
use crate::bench::Rows;
use crate::dut::{Dut, WaveFile};
use crate::lockstep::RESET_CLOCKS;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::recovery::{DEFAULT_THRESHOLD, TIMEOUT_RTTS};
use rondo_models::reorder::Buffer;
use rondo_models::wire::{FlowContext, Identity};
use std::collections::VecDeque;

/// Slots of the transmit pool.
pub const TRANSMIT_SLOTS: usize = 1024;
/// Clocks around a flow command in which the NIC gets no frame, so that it is clear which context a
/// frame was judged by.
const COMMAND_CLOCKS: u64 = 64;

/// A command to open or close a flow.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Open, else close.
    pub open: bool,
    /// Flow.
    pub flow: u16,
    /// Its context.
    pub context: FlowContext,
    /// First PSN that it sends.
    pub tx_psn: u32,
    /// First PSN that it receives.
    pub rx_psn: u32,
}

macro_rules! rows {
    ($name:ident, $kind:ident { $($field:ident),* $(,)? }) => {
        struct $name { $($field: usize),* }
        impl $name {
            fn new(r: &Rows) -> Result<Self, SimError> {
                Ok(Self { $($field: r.$kind(stringify!($field))?),* })
            }
        }
    };
}

rows!(
    In,
    input {
        rst,
        now_ns,
        local_mac,
        local_ipv4,
        local_ipv6,
        udp_port,
        limit,
        h2c_valid,
        h2c_data,
        h2c_keep,
        h2c_last,
        h2c_size,
        c2h_ready,
        tx_ready,
        rx_valid,
        rx_data,
        rx_keep,
        rx_last,
        cmd_valid,
        cmd_open,
        cmd_flow,
        cmd_context,
        cmd_tx_psn,
        cmd_rx_psn,
        cmd_recovery,
        window_valid,
        window_flow,
        window_path,
        window_value,
        skip_valid,
        skip_flow,
        skip_path,
        skip_value,
        rate_valid,
        rate_flow,
        rate_value,
        rate_probing,
        grant_valid,
        grant_flow,
    }
);
rows!(
    Out,
    output {
        h2c_ready,
        c2h_valid,
        c2h_data,
        c2h_keep,
        c2h_last,
        c2h_size,
        tx_valid,
        tx_data,
        tx_keep,
        tx_last,
        tx_size,
        rx_ready,
        cmd_ready,
        done,
        ready,
        window_ready,
        skip_ready,
        rate_ready,
        grant_ready,
        account_valid,
        account_kind,
        account_flow,
        account_path,
        account_freed_path,
        account_in_flight,
        account_timeout,
        account_sent_ns,
        account_received_ns,
        account_now_ns,
        free_count,
        lost_count,
        active_flows,
        occupied,
        high_water,
        waiting,
        tx_frame_valid,
        tx_frame_kind,
        rx_frame_valid,
        rx_frame_kind,
        refused_valid,
        refused_cause,
        stale_valid,
        drop_valid,
        drop_cause,
        no_buffer,
        duplicate,
        refused,
        delivered_valid,
        completed_valid,
        trace_sender_in,
        trace_sender_out,
        trace_ledger,
        trace_commit,
        trace_sent,
        trace_job,
        trace_rx_data,
        trace_rx,
        trace_receiver_out,
        trace_ack,
        trace_probe,
    }
);

/// Counters of the NIC's pulses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulses {
    /// Frames made, by kind.
    pub tx_frames: [u64; 4],
    /// Frames accepted, by kind.
    pub rx_frames: [u64; 4],
    /// Frames dropped, by cause.
    pub drops: [u64; 16],
    /// Packets that had arrived before.
    pub duplicates: u64,
    /// Packets refused by a NAK.
    pub refused: u64,
    /// Chunks refused.
    pub refused_chunks: u64,
    /// Packets of closed flows that were not sent.
    pub stale: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Messages completed.
    pub completed: u64,
}

/// A NIC.
pub struct Endpoint {
    dut: Dut,
    i: In,
    o: Out,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    /// The golden transmit side.
    pub tx: GoldenTx,
    /// The golden receive side.
    pub rx: GoldenRx,
    /// What the host sends.
    pub sender: Sender,
    /// What the host was given.
    pub receiver: Receiver,
    /// Control of the flows.
    pub control: Control,
    commands: VecDeque<Command>,
    opening: Option<Command>,
    hold_rx_until: u64,
    clock: u64,
    epoch_ns: u32,
    frame: Vec<u8>,
    arriving: Option<(Vec<u8>, usize)>,
    held: [Hold; 2],
    first_beat: bool,
    done: u64,
    pulses: Pulses,
    occupied_at_rest: u64,
    free_at_rest: u64,
    rng: SmallRng,
    host_pace: u32,
    limit: u32,
    recovery: (u32, u32),
    beats_in: u64,
}

/// What a NIC did in a clock.
#[derive(Debug, Default)]
pub struct Step {
    /// A frame that left it.
    pub sent: Option<Vec<u8>>,
    /// It would take a frame.
    pub wants_frame: bool,
    /// Out-of-order degree and waiting packets after an arrival.
    pub sample: Option<(u16, u16)>,
}

impl Endpoint {
    /// Resets the NIC of `side` and waits until it is initialised.
    ///
    /// # Errors
    /// [`SimError`] when the design cannot be run, or does not become ready.
    pub fn new(
        v: &Verilog,
        mesh: &Mesh,
        side: usize,
        identity: Identity,
        seed: u64,
        waves: Option<WaveFile>,
    ) -> Result<Self, SimError> {
        let r = Rows::new(v);
        let shape = (mesh.paths.len(), mesh.window, mesh.flows);
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x5eed_0000 ^ side as u64);
        let max_rtt = mesh.max_rtt_ns();
        let mut e = Self {
            dut: Dut::new(v, seed.wrapping_add(side as u64), waves)?,
            i: In::new(&r)?,
            o: Out::new(&r)?,
            inputs: vec![0; v.inputs().map(crate::Port::words).sum()],
            outputs: vec![0; v.outputs().map(crate::Port::words).sum()],
            tx: GoldenTx::new(identity, shape, TRANSMIT_SLOTS, 4096),
            rx: GoldenRx::new(identity, Buffer::DEFAULT, mesh.window, mesh.flows),
            sender: Sender::new(side, mesh.flows),
            receiver: Receiver::new(1 - side, mesh.flows),
            control: Control::new(mesh),
            commands: VecDeque::new(),
            opening: None,
            hold_rx_until: 0,
            clock: 0,
            // The two clocks differ, and one of them wraps early in the run.
            epoch_ns: if side == 0 {
                0u32.wrapping_sub(rng.random_range(10_000..100_000))
            } else {
                rng.random()
            },
            frame: Vec::new(),
            arriving: None,
            held: [Hold::new("tx"), Hold::new("c2h")],
            first_beat: true,
            done: 0,
            pulses: Pulses::default(),
            occupied_at_rest: 0,
            free_at_rest: 0,
            rng,
            host_pace: mesh.host_pace,
            limit: mesh.reorder_slots,
            recovery: (TIMEOUT_RTTS * max_rtt, max_rtt),
            beats_in: 0,
        };
        e.set_identity(&identity);
        for clock in 0..200_000 {
            e.inputs[e.i.rst] = u64::from(clock < RESET_CLOCKS);
            e.clock(&mut None, false);
            if clock > RESET_CLOCKS && e.outputs[e.o.ready] != 0 {
                // The pool fills, and the first slots are taken.
                for _ in 0..TRANSMIT_SLOTS + 64 {
                    e.clock(&mut None, false);
                }
                e.occupied_at_rest = e.outputs[e.o.occupied];
                e.free_at_rest = e.outputs[e.o.free_count];
                return Ok(e);
            }
        }
        Err(SimError::NoAnswer {
            port: "ready".into(),
        })
    }

    fn set_identity(&mut self, identity: &Identity) {
        let (i, n) = (&mut self.inputs, &self.i);
        i[n.local_mac] = identity.mac.to_number();
        i[n.local_ipv4] = u32::from(identity.ipv4).into();
        let v6 = u128::from(identity.ipv6);
        i[n.local_ipv6] = v6 as u64;
        i[n.local_ipv6 + 1] = (v6 >> 64) as u64;
        i[n.udp_port] = identity.udp_port.into();
    }

    /// The NIC's time, ns.
    pub fn now_ns(&self) -> u32 {
        self.epoch_ns.wrapping_add(4 * self.clock as u32)
    }

    /// Opens or closes a flow, after what was commanded before.
    pub fn command(&mut self, c: Command) {
        self.commands.push_back(c);
    }

    /// All commands are carried out; how many ever.
    pub fn commands_done(&self) -> Option<u64> {
        self.commands.is_empty().then_some(self.done)
    }

    fn drive(&mut self, mac_ready: bool) {
        let now_ns = self.now_ns();
        let i = &mut self.inputs;
        let n = &self.i;
        i[n.now_ns] = now_ns.into();
        i[n.limit] = self.limit.into();
        i[n.tx_ready] = mac_ready.into();
        i[n.c2h_ready] = u64::from(self.rng.random_range(0..256) < self.host_pace);
        let offer = i[n.h2c_valid] != 0 || self.rng.random_range(0..256) < self.host_pace;
        let beat = if i[n.rst] == 0 && offer {
            self.sender.beat(&mut self.rng)
        } else {
            None
        };
        i[n.h2c_valid] = beat.is_some().into();
        if let Some(b) = beat {
            i[n.h2c_data..n.h2c_data + 8].copy_from_slice(&b.data);
            i[n.h2c_keep] = b.keep;
            i[n.h2c_last] = b.last.into();
            i[n.h2c_size] = b.size.into();
        }
        let c = self.commands.front();
        i[n.cmd_valid] = c.is_some().into();
        if let Some(c) = c {
            i[n.cmd_open] = c.open.into();
            i[n.cmd_flow] = c.flow.into();
            i[n.cmd_context..n.cmd_context + 4].copy_from_slice(&c.context.pack());
            i[n.cmd_tx_psn] = c.tx_psn.into();
            i[n.cmd_rx_psn] = c.rx_psn.into();
            let (timeout, slack) = self.recovery;
            let words = &mut i[n.cmd_recovery..n.cmd_recovery + 2];
            put(words, 0, 32, timeout.into());
            put(words, 32, 32, slack.into());
            put(words, 64, 16, DEFAULT_THRESHOLD.into());
        }
        let o = &self.control.orders;
        let triple = |i: &mut [u64], at: [usize; 4], t: Option<&(u16, u8, u16)>| {
            i[at[0]] = t.is_some().into();
            if let Some(&(flow, path, value)) = t {
                i[at[1]] = flow.into();
                i[at[2]] = path.into();
                i[at[3]] = value.into();
            }
        };
        let window = [n.window_valid, n.window_flow, n.window_path, n.window_value];
        triple(i, window, o.windows.front());
        let skip = [n.skip_valid, n.skip_flow, n.skip_path, n.skip_value];
        triple(i, skip, o.skips.front());
        let rate = o.rates.front();
        i[n.rate_valid] = rate.is_some().into();
        if let Some(&(flow, value, probing)) = rate {
            i[n.rate_flow] = flow.into();
            i[n.rate_value] = value.into();
            i[n.rate_probing] = probing.into();
        }
        let grant = o.grants.front();
        i[n.grant_valid] = grant.is_some().into();
        i[n.grant_flow] = grant.copied().unwrap_or(0).into();
    }

    fn drive_rx(&mut self, frame: &mut Option<Vec<u8>>) {
        if self.arriving.is_none() && self.clock >= self.hold_rx_until {
            self.arriving = frame.take().map(|f| (f, 0));
        }
        let (i, n) = (&mut self.inputs, &self.i);
        i[n.rx_valid] = self.arriving.is_some().into();
        if let Some((bytes, at)) = &self.arriving {
            let (data, keep) = super::bits::to_beat(&bytes[*at..]);
            i[n.rx_data..n.rx_data + 8].copy_from_slice(&data);
            i[n.rx_keep] = keep;
            i[n.rx_last] = (at + 64 >= bytes.len()).into();
        }
    }

    /// One clock; takes `frame` from the network when there is room, and gives one to it if
    /// `mac_ready`.
    pub fn clock(&mut self, frame: &mut Option<Vec<u8>>, mac_ready: bool) -> Step {
        self.drive(mac_ready);
        self.drive_rx(frame);
        let offered = self.inputs[self.i.h2c_valid] != 0;
        if offered && self.first_beat {
            if let Some(chunk) = self.sender.chunk() {
                self.tx.chunk(chunk);
            }
            self.first_beat = false;
        }
        self.dut.step(&self.inputs, &mut self.outputs);
        let mut step = Step::default();
        self.observe_commands();
        self.observe_golden(&mut step);
        self.observe_streams(&mut step);
        self.observe_control();
        self.count();
        self.clock += 1;
        step.wants_frame = self.arriving.is_none() && self.clock >= self.hold_rx_until;
        step
    }

    fn on(&self, at: usize) -> bool {
        self.outputs[at] != 0
    }

    fn observe_commands(&mut self) {
        if self.inputs[self.i.rst] != 0 {
            return;
        }
        self.done += u64::from(self.on(self.o.done));
        if !self.on(self.o.cmd_ready) {
            return;
        }
        let Some(c) = self.commands.pop_front() else {
            return;
        };
        self.opening = Some(c);
        self.hold_rx_until = self.clock + COMMAND_CLOCKS;
        let l = self.tx.ledger.model.flow_mut(c.flow);
        l.open = c.open;
        (l.timeout_ns, l.recovery.slack_ns) = self.recovery;
        l.recovery.threshold = DEFAULT_THRESHOLD;
        if c.open {
            self.tx.open(c.flow, c.context, c.tx_psn);
            self.tx.ledger.model.open(c.flow, c.tx_psn);
            self.rx.set_context(c.flow, c.context);
        } else {
            self.tx.close(c.flow);
            self.rx.set_context(c.flow, FlowContext::CLOSED);
        }
    }

    fn observe_golden(&mut self, step: &mut Step) {
        let out = &self.outputs;
        let o = &self.o;
        let rst = self.inputs[self.i.rst] != 0;
        let flow_open = super::bits::field(&out[o.trace_sender_in..], 1, 10) as u16;
        let rx_psn = self.last_rx_psn(flow_open);
        let out = &self.outputs;
        let r = self.rx.clock(&RxTaps {
            rst,
            limit: self.limit,
            data: &out[o.trace_rx_data..o.trace_rx_data + 8],
            rx: &out[o.trace_rx..o.trace_rx + 5],
            out: &out[o.trace_receiver_out..o.trace_receiver_out + 4],
            ack: &out[o.trace_ack..o.trace_ack + 3],
            probe: &out[o.trace_probe..o.trace_probe + 2],
            open: (flow_open, rx_psn),
            flush: 0,
        });
        let account = [
            o.account_valid,
            o.account_kind,
            o.account_flow,
            o.account_path,
            o.account_freed_path,
            o.account_in_flight,
            o.account_timeout,
            o.account_sent_ns,
            o.account_received_ns,
            o.account_now_ns,
        ]
        .map(|at| out[at]);
        self.tx.clock(&TxTaps {
            rst,
            sender_in: &out[o.trace_sender_in..o.trace_sender_in + 4],
            sender_out: &out[o.trace_sender_out..o.trace_sender_out + 3],
            ledger: &out[o.trace_ledger..o.trace_ledger + 2],
            commit: &out[o.trace_commit..o.trace_commit + 1],
            sent: &out[o.trace_sent..o.trace_sent + 2],
            job: &out[o.trace_job..o.trace_job + 1],
            account,
            stale: out[o.stale_valid] != 0,
            refused: (out[o.refused_valid] != 0).then_some(out[o.refused_cause]),
        });
        if rst {
            return;
        }
        if let Some((flow, ack)) = r.reply {
            self.tx.reply(flow, ack);
        }
        if let Some(e) = r.heard {
            self.tx.heard(e);
        }
        step.sample = r.sample.map(|(_, ood, waiting)| (ood, waiting));
    }

    /// First PSN that the flow being opened receives.
    fn last_rx_psn(&self, flow: u16) -> u32 {
        self.opening
            .filter(|c| c.flow == flow)
            .map_or(0, |c| c.rx_psn)
    }

    fn observe_streams(&mut self, step: &mut Step) {
        let now_ns = self.now_ns();
        let (i, o, n) = (&self.inputs, &self.outputs, &self.o);
        if i[self.i.rst] != 0 {
            return;
        }
        if i[self.i.h2c_valid] != 0 && o[n.h2c_ready] != 0 {
            self.beats_in += 1;
            if self.sender.taken() {
                self.first_beat = true;
            }
        }
        if let (Some((bytes, at)), true) = (&mut self.arriving, o[n.rx_ready] != 0) {
            if *at == 0 {
                self.rx.frame(bytes, now_ns);
            }
            *at += 64;
            if *at >= bytes.len() {
                self.arriving = None;
            }
        }
        let fields = |data: usize, keep: usize, last: usize, size: usize| {
            [
                &o[data..data + 8],
                &o[keep..keep + 1],
                &o[last..last + 1],
                &o[size..size + 1],
            ]
        };
        let tx = fields(n.tx_data, n.tx_keep, n.tx_last, n.tx_size);
        let (valid, ready) = (o[n.tx_valid] != 0, i[self.i.tx_ready] != 0);
        self.held[0].clock(valid, ready, &tx);
        if valid && ready {
            let kept = o[n.tx_keep].trailing_ones() as usize;
            self.frame.extend_from_slice(&to_bytes(tx[0])[..kept]);
            if o[n.tx_last] != 0 {
                let frame = std::mem::take(&mut self.frame);
                self.tx.sent_frame(&frame, now_ns);
                step.sent = Some(frame);
            }
        }
        let c2h = fields(n.c2h_data, n.c2h_keep, n.c2h_last, n.c2h_size);
        let (valid, ready) = (o[n.c2h_valid] != 0, i[self.i.c2h_ready] != 0);
        self.held[1].clock(valid, ready, &c2h);
        if valid && ready {
            let size = o[n.c2h_size] as u16;
            let last = o[n.c2h_last] != 0;
            self.receiver
                .beat(&to_bytes(c2h[0]), o[n.c2h_keep], last, size);
        }
    }

    fn observe_control(&mut self) {
        let (o, n) = (&self.outputs, &self.o);
        let orders = &mut self.control.orders;
        if o[n.window_ready] != 0 && self.inputs[self.i.window_valid] != 0 {
            orders.windows.pop_front();
        }
        if o[n.skip_ready] != 0 && self.inputs[self.i.skip_valid] != 0 {
            orders.skips.pop_front();
        }
        if o[n.rate_ready] != 0 && self.inputs[self.i.rate_valid] != 0 {
            orders.rates.pop_front();
        }
        if o[n.grant_ready] != 0 && self.inputs[self.i.grant_valid] != 0 {
            orders.grants.pop_front();
        }
        if o[n.account_valid] != 0 {
            self.control.told(&Account {
                kind: o[n.account_kind],
                flow: o[n.account_flow] as u16,
                path: o[n.account_path] as u8,
                freed_path: o[n.account_freed_path] as u8,
                in_flight: o[n.account_in_flight] != 0,
                sent_ns: o[n.account_sent_ns] as u32,
                received_ns: o[n.account_received_ns] as u32,
                now_ns: o[n.account_now_ns] as u32,
            });
        }
    }

    fn count(&mut self) {
        if self.inputs[self.i.rst] != 0 {
            return;
        }
        let (o, n, p) = (&self.outputs, &self.o, &mut self.pulses);
        let pulse = |at: usize| o[at] & 1;
        p.tx_frames[o[n.tx_frame_kind] as usize & 3] += pulse(n.tx_frame_valid);
        p.rx_frames[o[n.rx_frame_kind] as usize & 3] += pulse(n.rx_frame_valid);
        p.drops[o[n.drop_cause] as usize & 15] += pulse(n.drop_valid);
        p.drops[15] += pulse(n.no_buffer);
        p.duplicates += pulse(n.duplicate);
        p.refused += pulse(n.refused);
        p.refused_chunks += pulse(n.refused_valid);
        p.stale += pulse(n.stale_valid);
        p.delivered += pulse(n.delivered_valid);
        p.completed += pulse(n.completed_valid);
    }

    /// Counters of the NIC's pulses.
    pub fn pulses(&self) -> &Pulses {
        &self.pulses
    }

    /// Most slots of the reorder buffer ever in use.
    pub fn high_water(&self) -> u64 {
        self.outputs[self.o.high_water]
    }

    /// Beats taken from the host, beats to the network, beats to the host.
    pub fn beats(&self) -> [u64; 3] {
        [self.beats_in, self.held[0].beats, self.held[1].beats]
    }

    /// Nothing is under way in the NIC, and every pool is as full as after reset.
    pub fn is_at_rest(&self) -> bool {
        let (o, n) = (&self.outputs, &self.o);
        o[n.free_count] == self.free_at_rest
            && o[n.lost_count] == 0
            && o[n.active_flows] == 0
            && o[n.waiting] == 0
            && o[n.occupied] == self.occupied_at_rest
            && self.tx.is_quiet()
            && self.rx.is_quiet()
            && self.arriving.is_none()
            && self.sender.is_empty()
    }

    /// What is not as after reset, for people.
    pub fn unrest(&self) -> String {
        let (o, n) = (&self.outputs, &self.o);
        format!(
            "{} transmit slots free ({} at rest), {} lost PSNs wait, {} flows active, {} packets wait, \
             {} reorder slots in use ({} at rest), golden transmit side quiet: {}, receive side: {}, host has sent all: {}",
            o[n.free_count],
            self.free_at_rest,
            o[n.lost_count],
            o[n.active_flows],
            o[n.waiting],
            o[n.occupied],
            self.occupied_at_rest,
            self.tx.is_quiet(),
            self.rx.is_quiet(),
            self.sender.is_empty(),
        )
    }

    /// Differences from the golden endpoint, and the first thing that was wrong.
    pub fn mismatches(&self) -> (u64, Option<String>) {
        let (tx, first_tx) = self.tx.mismatches();
        let (rx, first_rx) = self.rx.mismatches();
        let hold = self.held.iter().find_map(Hold::violation);
        let wrong = self.receiver.wrong();
        let n = tx + rx + u64::from(hold.is_some()) + wrong.len() as u64;
        let first = first_tx
            .or(first_rx)
            .or(hold)
            .map(str::to_owned)
            .or(wrong.first().cloned());
        (n, first)
    }

    /// The golden counters are the NIC's.
    pub fn counters_agree(&self) -> Result<(), String> {
        let frames = self.tx.frames();
        let golden = self.rx.counts();
        let p = &self.pulses;
        let tx = [frames.data, frames.probes, frames.acks, frames.naks];
        if p.tx_frames != tx {
            return Err(format!("frames sent: {:?}, not {tx:?}", p.tx_frames));
        }
        if p.rx_frames != golden.kinds {
            return Err(format!(
                "frames accepted: {:?}, not {:?}",
                p.rx_frames, golden.kinds
            ));
        }
        if p.drops != golden.drops {
            return Err(format!("drops: {:?}, not {:?}", p.drops, golden.drops));
        }
        let host = self.receiver.delivered();
        let rest = (p.duplicates, p.refused, p.delivered, p.completed);
        let due = (
            golden.duplicates,
            golden.refused,
            host.packets,
            host.messages,
        );
        if rest != due {
            return Err(format!(
                "duplicates, refused, delivered, completed: {rest:?}, not {due:?}"
            ));
        }
        Ok(())
    }
}
