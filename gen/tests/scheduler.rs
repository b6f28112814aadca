//! The flow scheduler's figures: how often flows are visited, how exact their pace is, what it
//! keeps up with. `cargo test --release --test scheduler -- --nocapture` prints them.
#![cfg(feature = "cosim")]

mod rig;

use rig::Rig;
use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_models::pacing::Pacer;
use std::collections::VecDeque;

const CLOCK_NS: u64 = 4;
/// Clocks from a request to its refusal: what the sender datapath takes, and a little more.
const REFUSAL_CLOCKS: u64 = 30;

/// A pace of one packet in `ns` ns.
fn rate(ns: f64) -> u64 {
    ((1u64 << 34) as f64 / ns) as u64
}

/// The scheduler between a host that posts and a sender that takes or refuses.
struct Host {
    rig: Rig,
    clock: u64,
    /// Posts, as fast as they are taken.
    posts: VecDeque<u64>,
    /// Posts, one in so many clocks, when there are no others.
    slow_posts: VecDeque<u64>,
    refusals: VecDeque<(u64, u64)>,
    /// Of four requests of a flow, how many are refused.
    refused: Vec<u64>,
    /// For every packet sent one more is posted.
    steady: bool,
    /// Clock of each flow's first post.
    first_posts: Vec<Option<u64>>,
    /// Clock and flow of each request.
    requests: Vec<(u64, usize)>,
    /// Clock and flow of each visit.
    visits: Vec<(u64, usize)>,
}

impl Host {
    /// `flows` flows, all open.
    fn new(flows: usize) -> Self {
        let shape = Shape::new(4, 128, flows.next_power_of_two().max(2)).expect("on the menu");
        let v = verilog(Block::Scheduler, shape).expect("prints");
        let mut h = Self {
            rig: Rig::new(&v),
            clock: 0,
            posts: VecDeque::new(),
            slow_posts: VecDeque::new(),
            refusals: VecDeque::new(),
            refused: vec![0; flows],
            steady: true,
            first_posts: vec![None; flows],
            requests: Vec::new(),
            visits: Vec::new(),
        };
        h.rig.set("rst", 1);
        for _ in 0..4 {
            h.rig.step();
        }
        h.rig.set("rst", 0);
        h.rig.set("req_ready", 1);
        h.rig.set("probe_ready", 1);
        for flow in 0..flows {
            h.send("open", &[("open_flow", flow as u64)]);
        }
        h
    }

    fn send(&mut self, stream: &str, fields: &[(&str, u64)]) {
        for (field, value) in fields {
            self.rig.set(field, *value);
        }
        self.rig.set(&format!("{stream}_valid"), 1);
        let ready = format!("{stream}_ready");
        loop {
            self.step();
            if self.rig.get(&ready) != 0 {
                break;
            }
        }
        self.rig.set(&format!("{stream}_valid"), 0);
    }

    fn pace(&mut self, flow: usize, rate: u64, probing: bool) {
        let fields = [
            ("rate_flow", flow as u64),
            ("rate_value", rate),
            ("rate_probing", probing.into()),
        ];
        self.send("rate", &fields);
    }

    fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.step();
        }
    }

    fn step(&mut self) {
        self.rig
            .set("now_ns", (self.clock * CLOCK_NS) & 0xffff_ffff);
        if self.posts.is_empty() && self.clock % 8 == 0 {
            self.posts.extend(self.slow_posts.pop_front());
        }
        let post = self.posts.front().copied();
        self.rig.set("post_valid", post.is_some().into());
        self.rig.set("post_flow", post.unwrap_or(0));
        let refusal = self.refusals.front().filter(|r| r.0 <= self.clock);
        self.rig.set("idle_valid", refusal.is_some().into());
        self.rig.set("idle_flow", refusal.map_or(0, |r| r.1));
        let refuses = refusal.is_some();
        self.rig.step();
        if let Some(flow) = post.filter(|_| self.rig.get("post_ready") != 0) {
            self.posts.pop_front();
            self.first_posts[flow as usize].get_or_insert(self.clock);
        }
        if refuses && self.rig.get("idle_ready") != 0 {
            self.refusals.pop_front();
        }
        if self.rig.get("req_valid") != 0 {
            self.answer(self.rig.get("req_flow"));
        }
        if self.rig.get("event_valid") != 0 && self.rig.get("event_source") < 5 {
            let flow = self.rig.get("event_flow") as usize;
            self.visits.push((self.clock, flow));
        }
        self.clock += 1;
    }

    fn answer(&mut self, flow: u64) {
        let i = flow as usize;
        self.requests.push((self.clock, i));
        if self.requests.len() as u64 % 4 < self.refused[i] {
            self.refusals.push_back((self.clock + REFUSAL_CLOCKS, flow));
        } else if self.steady {
            self.posts.push_back(flow);
        }
    }

    /// Forgets what was recorded, runs for `clocks`.
    fn measure(&mut self, clocks: u64) {
        self.requests.clear();
        self.visits.clear();
        self.run(clocks);
    }
}

/// Least, mean and most clocks between two visits of a flow.
fn intervals(visits: &[(u64, usize)], flows: usize) -> (u64, f64, u64) {
    let mut last = vec![None; flows];
    let mut all = Vec::new();
    for &(clock, flow) in visits {
        if let Some(before) = last[flow].replace(clock) {
            all.push(clock - before);
        }
    }
    let sum: u64 = all.iter().sum();
    let min = all.iter().min().copied().unwrap_or(0);
    let max = all.iter().max().copied().unwrap_or(u64::MAX);
    (min, sum as f64 / all.len() as f64, max)
}

/// `flows` flows that probe and are never due: they stay in the ring.
fn in_the_ring(flows: usize) -> (u64, f64, u64) {
    let mut h = Host::new(flows);
    for flow in 0..flows {
        h.pace(flow, 1, true);
        h.posts.extend([flow as u64; 8]);
    }
    h.run(60 * flows as u64 + 1_000);
    h.measure(20 * flows as u64 + 10_000);
    intervals(&h.visits, flows)
}

#[test]
fn visits_in_the_ring() {
    for (flows, most) in [(1, 16), (16, 2 * 16), (1024, 2 * 1024)] {
        let (min, mean, max) = in_the_ring(flows);
        println!("{flows} flows in the ring: {min} to {max} clocks between visits, mean {mean:.1}");
        assert!(max <= most, "{flows}: {max}");
    }
}

/// A flow alone, always due, posts beside it: the least interval between its packets.
#[test]
fn a_flow_alone() {
    let mut h = Host::new(1);
    h.pace(0, u64::from(u32::MAX), false);
    h.posts.extend([0; 64]);
    h.run(1_000);
    h.measure(8_000);
    let clocks = 8_000.0 / h.requests.len() as f64;
    let (min, mean, max) = intervals(&h.visits, 1);
    println!(
        "a flow alone: {clocks:.2} clocks a packet; {min} to {max} between visits, mean {mean:.1}"
    );
    assert!(max <= 16);
}

/// Times, ns, at which a flow's packets leave when its pacer is asked every ns.
fn ideal(rate: u64, packets: usize) -> Vec<u64> {
    let mut p = Pacer::default();
    p.set_rate(rate as u32);
    let mut ns = 0;
    let mut times = Vec::new();
    while times.len() < packets {
        if p.is_due() {
            p.spend();
            times.push(ns);
        }
        let wait = p.wait_ns().expect("a rate");
        p.advance(wait);
        ns += u64::from(wait);
    }
    times
}

/// Flows whose paces sum up to one packet of 256 bytes after the other at 100 Gbps, the first with a
/// seventh of all, the last with a thousandth of that: how late is each packet, in packet times?
#[test]
fn a_thousand_paces() {
    let flows = 1024;
    let mut h = Host::new(flows);
    let share: f64 = (1..=flows).map(|i| 1.0 / i as f64).sum();
    let time = |i: usize| 22.4 * share * (i + 1) as f64;
    for flow in 0..flows {
        h.pace(flow, rate(time(flow)), false);
        h.slow_posts.extend([flow as u64; 8]);
    }
    h.run(600_000);
    let visits = h.visits.len() as f64 / h.requests.len() as f64;
    let (mut worst, mut sum) = (0f64, 0f64);
    for flow in 0..flows {
        let sent: Vec<u64> = h
            .requests
            .iter()
            .filter(|r| r.1 == flow)
            .map(|r| r.0)
            .collect();
        let want = ideal(rate(time(flow)), sent.len() + 1);
        // Lateness since the first packet; the next is not due yet, or late.
        let late = |clock: u64, n: usize| {
            let ns = ((clock - sent[0]) * CLOCK_NS) as f64 - (want[n] - want[0]) as f64;
            ns / time(flow)
        };
        let all: Vec<f64> = sent.iter().enumerate().map(|(n, &c)| late(c, n)).collect();
        let most = all
            .iter()
            .copied()
            .fold(late(h.clock, sent.len()), f64::max);
        let least = all.iter().copied().fold(0.0, f64::min);
        worst = worst.max(most - least);
        sum += all.iter().sum::<f64>();
    }
    let mean = sum / h.requests.len() as f64;
    println!(
        "{flows} paces: {} packets, {visits:.2} visits a packet; late by {mean:.3} packet times, \
         over any interval {worst:.3} at most",
        h.requests.len()
    );
    assert!(worst < 1.0);
}

/// Sixty-four flows of 256-byte packets at 100 Gbps, a quarter of the requests refused: 7 clocks a
/// packet that is sent, with its post beside it.
#[test]
fn small_packets_of_64_flows() {
    let flows = 64;
    let mut h = Host::new(flows);
    h.refused = vec![1; flows];
    for flow in 0..flows {
        // Far above what is asked for: the scheduler is the limit.
        h.pace(flow, u64::from(u32::MAX), false);
        h.posts.extend([flow as u64; 16]);
    }
    h.run(5_000);
    h.measure(100_000);
    let clocks = 100_000.0 / h.requests.len() as f64;
    println!("64 flows, a quarter refused: {clocks:.2} clocks a request at saturation");
    assert!(clocks < 7.0);

    let mut h = Host::new(flows);
    h.refused = vec![1; flows];
    for flow in 0..flows {
        h.pace(flow, rate(64.0 * 7.0 * CLOCK_NS as f64), false);
        h.posts.extend([flow as u64; 16]);
    }
    h.run(5_000);
    h.measure(100_000);
    let sent = h.requests.len() as f64 * 0.75;
    println!(
        "64 flows at 28 ns a packet: {:.2} clocks a packet that is sent",
        100_000.0 / sent
    );
    assert!(100_000.0 / sent < 7.1);
}

/// One fast flow among flows that are slow, and among flows whose requests are all refused: its
/// packets leave as if it were alone.
#[test]
fn a_fast_flow_in_bad_company() {
    for (refused, name) in [(0, "slow"), (4, "refused")] {
        let flows = 1024;
        let mut h = Host::new(flows);
        for flow in 0..flows {
            let ns = match (flow, refused) {
                (0, _) => 100.0,
                (_, 0) => 100_000.0,
                _ => 1_000.0,
            };
            h.refused[flow] = if flow == 0 { 0 } else { refused };
            h.pace(flow, rate(ns), false);
            h.slow_posts.extend([flow as u64; 8]);
        }
        h.run(100_000);
        h.measure(100_000);
        let own: Vec<u64> = h
            .requests
            .iter()
            .filter(|r| r.1 == 0)
            .map(|r| r.0)
            .collect();
        let ns = 100_000.0 * CLOCK_NS as f64 / own.len() as f64;
        let visits = h.visits.iter().filter(|v| v.1 == 0).count();
        println!(
            "a packet in 100 ns among 1,023 {name} flows: one in {ns:.1} ns, a visit in {:.1} clocks",
            100_000.0 / visits as f64
        );
        assert!(ns < 101.0, "{name}: {ns}");
    }
}

/// More than 65,535 packets, or grants, of a flow do not wrap.
#[test]
fn counts_saturate() {
    let mut h = Host::new(1);
    h.steady = false;
    h.pace(0, 0, false);
    for _ in 0..65_600 {
        h.send("grant", &[("grant_flow", 0)]);
    }
    h.posts.extend(vec![0; 65_537]);
    h.run(65_537 * 20);
    // All grants, one packet by the credit of the start, and nothing more without a rate.
    assert_eq!(h.requests.len(), 65_535 + 1);

    let mut h = Host::new(1);
    h.steady = false;
    h.rig.set("req_ready", 0);
    h.pace(0, 0, false);
    h.posts.extend(vec![0; 65_600]);
    h.run(65_600 * 8);
    h.pace(0, u64::from(u32::MAX), false);
    h.requests.clear();
    h.rig.set("req_ready", 1);
    h.run(65_535 * 16);
    // One had gone to the queue of requests at once.
    assert_eq!(h.requests.len(), 65_535 + 1);
}
