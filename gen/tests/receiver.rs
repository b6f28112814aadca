//! What the receiver promises to the NIC around it, on the Verilog: a backlog leaves without a gap,
//! a dead host never stops the network, a slow sink of ACKs does and for how long.
#![cfg(feature = "cosim")]

use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_sim::bench::Rows;
use rondo_sim::dut::Dut;
use rondo_sim::{Port, Verilog};

const FLOWS: usize = 16;
const SLOTS: u64 = 256;

struct Rig {
    dut: Dut,
    rows: Rows,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    no_buffer: u64,
}

impl Rig {
    /// Reset, flows swept, slots free; host and ACK sink are ready.
    fn new(v: &Verilog) -> Self {
        let mut r = Self {
            dut: Dut::new(v, 1, None).expect("runs"),
            rows: Rows::new(v),
            inputs: vec![0; v.inputs().map(Port::words).sum()],
            outputs: vec![0; v.outputs().map(Port::words).sum()],
            no_buffer: 0,
        };
        r.set("rst", 1);
        r.step();
        r.set("rst", 0);
        r.set("limit", SLOTS - 3);
        r.set("host_ready", 1);
        r.set("ack_ready", 1);
        r.set("rx_keep", u64::MAX);
        for _ in 0..600 {
            r.step();
        }
        assert_eq!(r.get("occupied"), 1);
        assert_eq!(r.get("open_ready"), 1);
        r.no_buffer = 0;
        r
    }
    fn set(&mut self, port: &str, value: u64) {
        let at = self.rows.input(port).expect(port);
        self.inputs[at] = value;
    }
    fn get(&self, port: &str) -> u64 {
        self.outputs[self.rows.output(port).expect(port)]
    }
    fn step(&mut self) {
        self.dut.step(&self.inputs, &mut self.outputs);
        self.no_buffer += self.get("no_buffer");
    }
    /// Sends a packet; returns the clocks in which `rx_ready` was low.
    fn send(&mut self, flow: u64, psn: u64, beats: u64) -> u64 {
        let mut waited = 0;
        self.set("rx_valid", 1);
        self.set("rx_flow", flow);
        self.set("rx_psn", psn);
        for beat in 1..=beats {
            self.set("rx_last", (beat == beats).into());
            self.step();
            while self.get("rx_ready") == 0 {
                waited += 1;
                self.step();
            }
        }
        self.set("rx_valid", 0);
        waited
    }
    /// Takes what the host gets: its packets, and clocks between the first and the last beat.
    fn drain(&mut self) -> (u64, u64) {
        let (mut packets, mut clocks, mut quiet, mut first) = (0, 0, 0, None);
        self.set("host_ready", 1);
        while quiet < 100 {
            self.step();
            clocks += 1;
            quiet += 1;
            if self.get("host_valid") != 0 {
                first.get_or_insert(clocks);
                quiet = 0;
                packets += self.get("host_last");
            }
        }
        (packets, clocks - quiet + 1 - first.unwrap_or(clocks))
    }
}

fn receiver() -> Verilog {
    verilog(
        Block::Receiver,
        Shape::new(4, 128, FLOWS).expect("on the menu"),
    )
    .expect("prints")
}

/// Every packet a run of its own: the runs' ends cost nothing, at any length.
#[test]
fn a_backlog_of_runs_leaves_without_a_gap() {
    let v = receiver();
    for beats in [1, 2, 4, 5, 64] {
        let mut r = Rig::new(&v);
        r.set("host_ready", 0);
        for n in 0..160 {
            r.send(n % FLOWS as u64, n / FLOWS as u64, beats);
        }
        for _ in 0..100 {
            r.step();
        }
        assert_eq!(r.drain(), (160, 160 * beats), "{beats} beats");
        assert_eq!(r.get("occupied"), 1);
    }
}

/// One PSN is missing and comes last: the rest follows as one run.
#[test]
fn a_long_run_leaves_without_a_gap() {
    let v = receiver();
    for beats in [1, 4] {
        let mut r = Rig::new(&v);
        for psn in 1..100 {
            r.send(3, psn, beats);
        }
        for _ in 0..1000 {
            r.step();
        }
        r.send(3, 0, beats);
        assert_eq!(r.drain(), (100, 100 * beats), "{beats} beats");
    }
}

/// With a host that takes nothing the network goes on at full rate; what finds no slot is dropped
/// and counted, and everything kept is delivered when the host comes back.
#[test]
fn a_dead_host_never_stops_the_network() {
    let v = receiver();
    let mut r = Rig::new(&v);
    r.set("host_ready", 0);
    for n in 0..1000u64 {
        // In order and of one flow, but never sooner than the tracker takes them.
        assert_eq!(r.send(0, n, 8), 0, "packet {n} had to wait");
    }
    for _ in 0..100 {
        r.step();
    }
    // Beats in the queue to the host hold no slot: 32 of them, 4 packets.
    assert_eq!(r.get("occupied"), SLOTS);
    assert_eq!(r.no_buffer, 1000 - (SLOTS + 4));
    assert_eq!(r.drain(), (SLOTS + 4, 8 * (SLOTS + 4)));
    assert_eq!(r.get("occupied"), 1);
}

/// With a sink of ACKs that takes nothing the network stops only after 32 ACKs, 33 verdicts and
/// 32 announcements, and goes on a few clocks after it has taken one.
#[test]
fn acks_stop_the_network_and_start_it_again() {
    let v = receiver();
    let mut r = Rig::new(&v);
    r.set("ack_ready", 0);
    let mut sent = 0u64;
    r.set("rx_valid", 1);
    r.set("rx_last", 1);
    let mut idle = 0;
    while idle < 200 {
        r.set("rx_flow", sent % FLOWS as u64);
        r.set("rx_psn", sent / FLOWS as u64);
        r.step();
        idle += 1;
        if r.get("rx_ready") != 0 {
            sent += 1;
            idle = 0;
        }
    }
    assert_eq!(sent, 32 + 33 + 32);
    r.set("ack_ready", 1);
    r.step();
    r.set("ack_ready", 0);
    let mut clocks = 1;
    while r.get("rx_ready") == 0 {
        r.step();
        clocks += 1;
        assert!(clocks < 100, "the network never goes on");
    }
    assert!(clocks <= 6, "the network waited {clocks} clocks");
}
