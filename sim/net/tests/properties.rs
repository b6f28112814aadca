//! The paper's equations and propositions, by the network and by the models alone.

use proptest::prelude::*;
use rondo_models::deficit::{Deficits, MAX_PATHS};
use rondo_models::fixed::ONE_PACKET;
use rondo_models::oracle::ood_bound;
use rondo_models::picker::SentWindow;
use rondo_models::psn::Psn;
use rondo_models::skips::{skips, PathDelay};
use rondo_models::tracker::{ArrivalWindow, Verdict};
use rondo_net::metrics::jain;
use rondo_net::packet::Packet;
use rondo_net::report::gbps;
use rondo_net::scenario::{Pattern, Scenario, Traffic};
use rondo_net::simulation::Simulation;
use rondo_net::time::from_us;
use rondo_net::topology::Topology;
use rondo_net::transport::ideal::IdealConfig;
use rondo_net::transport::multipath::FlowSetup;
use rondo_net::transport::rondo::RondoConfig;
use rondo_net::transport::{Arrival, Receiver, Sender, Transport, TransportConfig};
use std::sync::Arc;

/// A full packet on the wire, bytes, and its payload.
const WIRE: f64 = 1048.0;
const PAYLOAD: f64 = 1000.0;

/// A transport whose receivers check what holds after every arrival.
struct Checked(Arc<dyn Transport>);

struct CheckedReceiver(Box<dyn Receiver>);

impl Transport for Checked {
    fn paths(&self) -> u8 {
        self.0.paths()
    }

    fn open(&self, setup: &FlowSetup, flows: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        let (sender, receiver) = self.0.open(setup, flows);
        (sender, Box::new(CheckedReceiver(receiver)))
    }
}

impl Receiver for CheckedReceiver {
    fn on_data(&mut self, packet: &Packet, room: bool) -> Arrival {
        let a = self.0.on_data(packet, room);
        // What waits lies between the next expected PSN and the largest received.
        assert!(a.waiting <= a.ood, "RBO {} above OOD {}", a.waiting, a.ood);
        a
    }
}

/// Fig. 2's topology, the last path longer by `extra_us`.
fn four_path(senders: u32, receivers: u32, extra_us: f64) -> Topology {
    Topology::FourPath {
        senders,
        receivers,
        paths: 4,
        host_gbps: 100.0,
        path_gbps: 100.0,
        receiver_gbps: 100.0,
        link_ns: 2_000.0,
        extra_delay_ns: vec![0.0, 0.0, 0.0, extra_us * 1_000.0],
    }
}

fn endless(pairs: Vec<[u32; 2]>, start_us: f64) -> Traffic {
    Traffic::of(Pattern::Pairs {
        pairs,
        bytes: None,
        start_us,
        stagger_us: 0.0,
    })
}

fn simulation(scenario: &Scenario) -> Simulation {
    let mut setup = scenario.setup(1).unwrap_or_else(|e| panic!("{e}"));
    for t in &mut setup.transports {
        *t = Arc::new(Checked(t.clone()));
    }
    Simulation::new(setup)
}

fn run(sim: &mut Simulation, to_us: f64) {
    sim.run_until(from_us(to_us), u64::MAX);
}

/// Flows of the ideal controller, one a sender, each over four paths of which one is longer.
struct Steady {
    /// Largest NIC-level out-of-order degree, packets.
    ood: f64,
    /// Largest number of packets that wait.
    rbo: f64,
    /// Rate of a flow on the wire, Gbps.
    gbps: f64,
    /// Rate of a flow on each path, Gbps.
    path_gbps: Vec<f64>,
}

fn steady(extra_us: f64) -> Steady {
    const FLOWS: u32 = 4;
    let ideal = IdealConfig {
        sharing: FLOWS,
        ..IdealConfig::default()
    };
    let topology = four_path(FLOWS, FLOWS, extra_us);
    let mut scenario = Scenario::new("ideal", topology, TransportConfig::Ideal(ideal));
    scenario.duration = from_us(3_000.0);
    scenario.measure.sample_us = 0.0;
    let pairs = (0..FLOWS).map(|i| [i, FLOWS + i]).collect();
    scenario.traffic.push(endless(pairs, 0.0));
    let mut sim = simulation(&scenario);
    let ports: Vec<u32> = (0..4)
        .map(|i| {
            let name = format!("tor0>spine{i}");
            sim.fabric().port_by_name(&name).expect("port")
        })
        .collect();
    let bytes =
        |sim: &Simulation| -> Vec<u64> { ports.iter().map(|&p| sim.port(p).data_bytes).collect() };
    run(&mut sim, 1_000.0);
    let (before, payload) = (bytes(&sim), sim.metrics().payload_bytes);
    sim.restart_histograms();
    run(&mut sim, 3_000.0);
    let time = from_us(2_000.0);
    let m = sim.metrics();
    let rate = |b: u64| gbps(b, time) / f64::from(FLOWS);
    let paths = bytes(&sim).into_iter().zip(before);
    Steady {
        ood: m.nic_ood.spread().max,
        rbo: m.rbo.spread().max,
        gbps: rate(m.payload_bytes - payload) * WIRE / PAYLOAD,
        path_gbps: paths.map(|(after, before)| rate(after - before)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 6,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Eqs. 3 and 15: what a persistent delay difference costs, if the rates are steady.
    #[test]
    fn a_delay_difference_costs_what_the_equations_say(extra_us in 1.0f64..25.0) {
        let s = steady(extra_us);
        let delay_ns = extra_us * 1_000.0;
        let eq3 = ood_bound(s.gbps, WIRE, delay_ns);
        // Packets are no fluid: up to six more, whatever the delay, which counts below 4 us.
        prop_assert!((s.ood - eq3).abs() <= (0.15 * eq3).max(7.0), "{extra_us} us: OOD {}, Eq. 3 {eq3}", s.ood);
        // The three faster paths deliver meanwhile.
        let eq15: f64 = s.path_gbps[..3].iter().map(|&g| ood_bound(g, WIRE, delay_ns)).sum();
        prop_assert!((s.rbo - eq15).abs() <= (0.2 * eq15).max(7.0), "{extra_us} us: RBO {}, Eq. 15 {eq15}", s.rbo);
        prop_assert!(s.rbo <= s.ood);
    }
}

/// Starts of `count` flows within 40 us, by a small generator.
fn starts(seed: u64, count: u32) -> Vec<f64> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f64 / f64::from(1 << 24) * 40.0
    };
    (0..count).map(|_| next()).collect()
}

/// Largest out-of-order degree of a flow while flows start, and after that.
fn reordering(rondo: RondoConfig, senders: u32, receivers: u32, seed: u64) -> (f64, f64, u32) {
    let topology = four_path(senders, receivers, 0.0);
    let mut scenario = Scenario::new("eq8", topology, TransportConfig::Rondo(rondo));
    scenario.measure.sample_us = 0.0;
    scenario.duration = from_us(2_500.0);
    for (i, start) in (0..).zip(starts(seed, senders)) {
        let pair = vec![[i, senders + i % receivers]];
        scenario.traffic.push(endless(pair, start));
    }
    let mut sim = simulation(&scenario);
    run(&mut sim, 500.0);
    let start = sim.metrics().ood.spread().max;
    sim.restart_histograms();
    run(&mut sim, 2_500.0);
    (start, sim.metrics().ood.spread().max, sim.max_rtt_ns())
}

/// Eq. 8: with equal paths and no scheduler, queues alone reorder, and no more than the bound says.
///
/// A path's bottleneck and a sender's own link are as fast: `R_max / C` is 1, and so is
/// `T_max / T_min`. One logical path of each flow leads over each spine. The packets that probe ACKs
/// let out are not in the bound: it holds at the start for flows that do not probe.
#[test]
fn queue_differences_reorder_no_more_than_the_bound() {
    for (senders, receivers) in [(16, 4), (4, 4)] {
        for seed in 1..=4 {
            for probing in [false, true] {
                let rondo = RondoConfig {
                    scheduler: false,
                    probing,
                    ..RondoConfig::default()
                };
                let (start, later, rtt_ns) = reordering(rondo, senders, receivers, seed);
                let paths = f64::from(senders);
                let target_ns = rondo.target_rtts * f64::from(rtt_ns);
                let controlled =
                    ood_bound(100.0, WIRE, target_ns) + paths * rondo.margin_packets / 4.0;
                let label = format!("{senders}:{receivers}, seed {seed}, probing {probing}");
                assert!(later <= controlled, "{label}: {later} above {controlled}");
                let starting = controlled + paths;
                let bounded = probing || start <= starting;
                assert!(bounded, "{label}: {start} above {starting}");
            }
        }
    }
}

/// Proposition 1: flows that come to a bottleneck one after the other, every other one without
/// probing and so from almost nothing, end at equal rates.
#[test]
fn flows_converge_to_equal_rates() {
    for flows in [2u32, 4, 8] {
        let topology = Topology::Dumbbell {
            left: flows,
            right: flows,
            host_gbps: 100.0,
            bottleneck_gbps: 100.0,
            link_ns: 1_000.0,
        };
        let rondo = RondoConfig::default();
        let mut scenario = Scenario::new("fair", topology, TransportConfig::Rondo(rondo));
        scenario.measure.sample_us = 0.0;
        scenario.duration = from_us(20_000.0);
        for i in 0..flows {
            let mut traffic = endless(vec![[i, flows + i]], f64::from(i) * 100.0);
            traffic.transport = Some(TransportConfig::Rondo(RondoConfig {
                probing: i % 2 == 0,
                ..rondo
            }));
            scenario.traffic.push(traffic);
        }
        let mut sim = simulation(&scenario);
        let last = f64::from(flows - 1) * 100.0;
        run(&mut sim, last);
        // Windows grow: the first sees the start, the last the end.
        let mut at = last;
        let mut seen = Vec::new();
        for length in [100.0, 400.0, 1_500.0, 3_000.0] {
            let before: Vec<u64> = sim.flows().iter().map(|f| f.arrived_bytes).collect();
            at += length;
            run(&mut sim, at);
            let rates: Vec<f64> = sim
                .flows()
                .iter()
                .zip(&before)
                .map(|(f, b)| (f.arrived_bytes - b) as f64)
                .collect();
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            let most = rates.iter().copied().fold(0.0, f64::max);
            let least = rates.iter().copied().fold(f64::MAX, f64::min);
            seen.push(((most - least) / mean, jain(&rates)));
        }
        // It falls until no more than packets' noise is left.
        let falls = seen.windows(2).all(|w| w[1].0 < w[0].0.max(0.1));
        assert!(falls, "{flows}: {seen:?}");
        assert!(seen[3].1 >= 0.99, "{flows}: {seen:?}");
    }
}

/// A path of constant rate and delay, without a network.
#[derive(Clone, Copy, Debug)]
struct Fluid {
    /// Time of the first opportunity, ns.
    phase: u32,
    /// Time between opportunities, ns.
    interval: u32,
    /// Forward delay, ns.
    delay: u32,
}

impl Fluid {
    fn rate(&self) -> f64 {
        1.0 / f64::from(self.interval)
    }
}

/// Skips of Eq. 7 by the model, from rates and delays without error.
fn exact_skips(paths: &[Fluid]) -> [u16; MAX_PATHS] {
    let known: Vec<PathDelay> = paths
        .iter()
        .map(|p| {
            let rtt_ns = 2 * p.delay;
            let window = p.rate() * f64::from(rtt_ns) * f64::from(ONE_PACKET);
            PathDelay {
                window: window.round() as u32,
                rtt_ns,
                forward_ns: p.delay,
            }
        })
        .collect();
    let mut out = [0; MAX_PATHS];
    skips(&known, &mut out);
    out
}

/// Largest out-of-order degree when the opportunities of `paths` take the PSNs that `skips` says,
/// from `first` on.
fn fluid_ood(paths: &[Fluid], skips: &[u16], first: Psn) -> u32 {
    const END: u32 = 200_000;
    let mut opportunities: Vec<(u32, usize)> = Vec::new();
    for (i, p) in paths.iter().enumerate() {
        let times = (p.phase..END).step_by(p.interval as usize);
        opportunities.extend(times.map(|t| (t, i)));
    }
    opportunities.sort_unstable();
    let mut window = SentWindow::new(32, first);
    let mut arrivals: Vec<(u32, usize, Psn)> = Vec::new();
    for (t, i) in opportunities {
        let bound = window.base().plus(2048);
        let psn = window.pick(skips[i].into(), bound).expect("unsent PSN");
        arrivals.push((t + paths[i].delay, i, psn));
    }
    arrivals.sort_unstable_by_key(|a| (a.0, a.1));
    // Later than that, packets of a fast path that were not sent any more are missed.
    let shortest = paths.iter().map(|p| p.delay).min().unwrap_or(0);
    let mut tracker = ArrivalWindow::new(32, first);
    let mut most = 0;
    for &(_, _, psn) in arrivals.iter().filter(|a| a.0 < END + shortest) {
        let outcome = tracker.arrive(psn, true);
        assert_eq!(outcome.verdict, Verdict::Accepted);
        most = most.max(u32::from(outcome.ood));
    }
    most
}

/// A first PSN, as often just below the wrap as anywhere.
fn first_psn() -> impl Strategy<Value = Psn> {
    prop_oneof![0u32..1 << 24, (1u32 << 24) - 500..1 << 24].prop_map(Psn::new)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Proposition 3. It counts a fluid; here it holds to the packet, because the times are laid
    /// such that the opportunities of a faster path during a delay difference are the same number
    /// from whatever moment they are counted:
    ///
    /// * intervals are 1 to 4 units of 64 ns, delays multiples of 768 ns, which all of these divide;
    /// * path `p` sends 16 `p` ns after the start of a unit, so that no two events coincide;
    /// * a slower path is slower by 4 ns more a rank, less than the 16 ns to the next event: no
    ///   count changes, but the fluid's lies above the integer by more than the reciprocal's error,
    ///   and is not rounded to the one below.
    #[test]
    fn exact_skips_undo_delay_differences(
        shape in proptest::collection::vec((1u32..=4, 0u32..=13), 2..=4),
        first in first_psn(),
    ) {
        let rank = |i: usize| {
            let slower = |&j: &usize| (shape[j].1, j) < (shape[i].1, i);
            (0..shape.len()).filter(slower).count() as u32
        };
        let paths: Vec<Fluid> = shape
            .iter()
            .enumerate()
            .map(|(i, &(units, steps))| Fluid {
                phase: 16 * i as u32,
                interval: 64 * units,
                delay: 5_000 + 768 * steps + 4 * rank(i),
            })
            .collect();
        prop_assert_eq!(fluid_ood(&paths, &exact_skips(&paths), first), 0);
        // In PSN order, what is sent during the largest difference overtakes (Eq. 3), but for what
        // the fastest path has not sent yet: up to one of its intervals.
        let ood = f64::from(fluid_ood(&paths, &[0; MAX_PATHS], first));
        let rate: f64 = paths.iter().map(Fluid::rate).sum();
        let delays = || paths.iter().map(|p| p.delay);
        let difference = delays().max().unwrap_or(0) - delays().min().unwrap_or(0);
        let fastest = paths.iter().min_by_key(|p| p.delay).expect("path");
        let eq3 = rate * f64::from(difference);
        let late = rate * f64::from(fastest.interval);
        prop_assert!(ood <= eq3 + 1.0 && ood >= eq3 - late - 2.0, "OOD {ood}, Eq. 3 {eq3}");
    }

    /// The same at any times: the count of a faster path during a delay difference is the fluid's or
    /// the one beside it, depending on the moment, so that a packet is off its rank by up to one a
    /// faster path. A faster path that is off by one of its opportunities is off by as many PSNs as
    /// all paths send in between; and one packet may be early while another is late.
    #[test]
    fn skips_leave_what_rounding_costs(
        paths in proptest::collection::vec((0u32..500, 60u32..500, 5_000u32..12_000), 2..=4),
        first in first_psn(),
    ) {
        let fluid = |&(phase, interval, delay): &(u32, u32, u32)| Fluid { phase, interval, delay };
        let paths: Vec<Fluid> = paths.iter().map(fluid).collect();
        let with = fluid_ood(&paths, &exact_skips(&paths), first);
        let rate: f64 = paths.iter().map(Fluid::rate).sum();
        let longest = paths.iter().map(|p| p.interval).max().unwrap_or(0);
        let off = 2.0 * (paths.len() - 1) as f64 * (1.0 + rate * f64::from(longest));
        prop_assert!(f64::from(with) <= off, "OOD {with} above {off}");
    }

    /// Deficits (§4.2.3): as often as a path's window says, at any time. The model truncates shares
    /// to 2^-16, which adds up over packets.
    #[test]
    fn packets_are_shared_as_windows_are(
        windows in proptest::collection::vec(64u16..10_000, 1..=16),
        first in first_psn(),
    ) {
        let total: f64 = windows.iter().map(|&w| f64::from(w)).sum();
        let mut deficits = Deficits::new(first);
        let mut sent = vec![0u32; windows.len()];
        for n in 1u32..=20_000 {
            // Everything is acknowledged at once: the room is the window.
            let acked = deficits.sent;
            let path = deficits
                .select(&windows, &acked[..windows.len()], deficits.posted.plus(1))
                .expect("open path");
            sent[path] += 1;
            if n % 100 != 0 {
                continue;
            }
            let rounding = f64::from(n) * windows.len() as f64 / 65_536.0;
            for (&count, &w) in sent.iter().zip(&windows) {
                let due = f64::from(n) * f64::from(w) / total;
                let off = (f64::from(count) - due).abs();
                prop_assert!(off <= 1.0 + rounding, "{n}: {count} for {due}");
            }
        }
    }
}
