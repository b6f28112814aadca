//! RoCE with DCQCN, round-robin spraying and Swift a path, end to end in small networks.

use rondo_net::config::{NicConfig, PacketConfig, SwitchConfig};
use rondo_net::flows::FlowPlan;
use rondo_net::recorder::Recorder;
use rondo_net::simulation::{Change, Setup, Simulation};
use rondo_net::time::{Ps, MS, US};
use rondo_net::topology::Topology;
use rondo_net::transport::dcqcn::{DcqcnConfig, RateProfile};
use rondo_net::transport::multipath::Selection;
use rondo_net::transport::round_robin::{Control, RoundRobinConfig};
use rondo_net::transport::swift::SwiftConfig;
use rondo_net::transport::Transport;
use rondo_net::workload::Start;
use std::sync::Arc;

const DUMBBELL: &str = "kind = \"dumbbell\"\nleft = 8\nright = 1";
const FOUR_PATH: &str = "kind = \"four-path\"\nsenders = 2\nreceivers = 2";
const LEAF_SPINE: &str =
    "kind = \"leaf-spine\"\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\nfabric_gbps = 100.0";

/// A network without flows.
fn network(topology: &str, transport: Arc<dyn Transport>, first_psn: u32) -> Setup {
    let topology: Topology = toml::from_str(topology).expect("topology");
    let packet = PacketConfig::default();
    let bytes = u32::from(packet.wire_bytes());
    let fabric = topology.fabric(bytes, packet.ack_bytes.into(), 0, 1);
    Setup {
        fabric: fabric.expect("fabric"),
        packet,
        switch: SwitchConfig::default(),
        nic: NicConfig::default(),
        transports: vec![transport],
        flows: Vec::new(),
        triggers: Vec::new(),
        changes: Vec::new(),
        first_psn,
        seed: 7,
        recorder: Recorder::default(),
    }
}

fn flow(src: u32, dst: u32, bytes: u64, start: Ps) -> FlowPlan {
    FlowPlan {
        src,
        dst,
        bytes,
        start: Start::At(start),
        done: None,
        group: 0,
        transport: 0,
    }
}

/// Runs until everything is delivered, and checks that it is.
fn deliver(setup: Setup, label: &str) -> Simulation {
    let mut sim = Simulation::new(setup);
    sim.run_until(500 * MS, u64::MAX);
    assert_eq!(sim.unfinished(), 0, "{label}: flows stay unfinished");
    close(&mut sim);
    for (i, f) in sim.flows().iter().enumerate() {
        assert_eq!(f.in_order, f.packets, "{label}: flow {i}");
        assert_eq!(f.arrived_bytes, f.plan.bytes, "{label}: flow {i}");
    }
    let packets: u64 = sim.flows().iter().map(|f| f.packets).sum();
    assert_eq!(sim.metrics().packets, packets, "{label}");
    sim
}

/// Lets a millisecond pass, in which senders hear that everything is delivered.
fn close(sim: &mut Simulation) {
    let end = sim.now() + MS;
    while sim.now() < end {
        sim.run_until(end, 1);
    }
}

fn round_robin(control: Control, nak: bool) -> Arc<dyn Transport> {
    Arc::new(RoundRobinConfig {
        control,
        nak,
        ..RoundRobinConfig::default()
    })
}

fn dcqcn(change: impl Fn(&mut DcqcnConfig)) -> Arc<dyn Transport> {
    let mut config = DcqcnConfig::default();
    change(&mut config);
    Arc::new(config)
}

fn swift(selection: Selection) -> Arc<dyn Transport> {
    Arc::new(SwiftConfig {
        selection,
        ..SwiftConfig::default()
    })
}

/// Every transport and every setting that changes its course.
fn all() -> Vec<(&'static str, Arc<dyn Transport>)> {
    vec![
        ("dcqcn", dcqcn(|_| {})),
        ("dcqcn_paper", dcqcn(|c| c.profile = RateProfile::Paper)),
        ("capped", dcqcn(|c| c.in_flight_cap = true)),
        ("suppressed", dcqcn(|c| c.nak_interval_us = 500.0)),
        ("adaptive", dcqcn(|c| c.adaptive = true)),
        ("rr dcqcn", round_robin(Control::Dcqcn, false)),
        ("rr dcqcn nak", round_robin(Control::Dcqcn, true)),
        ("rr fixed", round_robin(Control::Fixed, false)),
        ("rr fixed nak", round_robin(Control::Fixed, true)),
        ("rr arcc", round_robin(Control::Arcc, false)),
        ("swift random", swift(Selection::Random)),
        ("swift deficit", swift(Selection::Deficit)),
    ]
}

/// A mix of flows, among them one of a byte and one that does not fill its last packet.
fn mix(hosts: u32) -> Vec<FlowPlan> {
    let (left, right) = (hosts / 2, hosts - hosts / 2);
    let sizes = [1, 999, 1_000, 250_500, 3_000_000, 1_000_001, 40_000];
    let plan = |i: usize, &bytes: &u64| {
        let i = i as u32;
        flow(i % left, left + i % right, bytes, Ps::from(i) * 3 * US)
    };
    sizes.iter().enumerate().map(|(i, b)| plan(i, b)).collect()
}

/// 1 % lost behind the first host and on every way between switches, ACKs too.
fn lossy(setup: &mut Setup) {
    for (i, port) in setup.fabric.ports.iter().enumerate() {
        if i % 3 == 0 || i as u32 == setup.fabric.host_port[0] || port.name.starts_with("spine") {
            let port = i as u32;
            setup.changes.push((0, Change::Loss { port, share: 0.01 }));
        }
    }
}

#[test]
fn every_flow_is_delivered_whole() {
    for (label, transport) in all() {
        for topology in [FOUR_PATH, LEAF_SPINE] {
            for first_psn in [0, 0xff_fff0] {
                let mut setup = network(topology, transport.clone(), first_psn);
                setup.flows = mix(setup.fabric.hosts);
                let sim = deliver(setup, label);
                assert_eq!(sim.metrics().data_drops(), 0, "{label}");
            }
        }
    }
}

#[test]
fn every_flow_is_delivered_whole_despite_losses() {
    for (label, transport) in all() {
        for topology in [DUMBBELL, FOUR_PATH, LEAF_SPINE] {
            for first_psn in [0, 0xff_fff0] {
                let mut setup = network(topology, transport.clone(), first_psn);
                let hosts = setup.fabric.hosts;
                setup.flows = if topology == DUMBBELL {
                    (0..8).map(|i| flow(i, 8, 600_001, 0)).collect()
                } else {
                    mix(hosts)
                };
                lossy(&mut setup);
                let sim = deliver(setup, label);
                assert!(sim.metrics().data_drops() > 0, "{label}");
                assert!(sim.metrics().senders.retransmissions > 0, "{label}");
            }
        }
    }
}

#[test]
fn a_small_reorder_buffer_refuses_but_stalls_nobody() {
    for (label, transport) in all() {
        let mut setup = network(LEAF_SPINE, transport, 0xff_fff0);
        setup.nic.reorder_bytes = 16_000;
        setup.flows = mix(setup.fabric.hosts);
        lossy(&mut setup);
        deliver(setup, label);
    }
}

#[test]
fn a_shallow_buffer_drops_but_stalls_nobody() {
    for (label, transport) in all() {
        let mut setup = network(DUMBBELL, transport, 0);
        setup.switch.data_queue_bytes = 100_000;
        setup.flows = (0..8).map(|i| flow(i, 8, 1_000_000, 0)).collect();
        deliver(setup, label);
    }
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    for (label, transport) in all() {
        let run = |seed: u64| {
            let mut setup = network(LEAF_SPINE, transport.clone(), 0);
            setup.seed = seed;
            setup.flows = mix(setup.fabric.hosts);
            lossy(&mut setup);
            let sim = deliver(setup, label);
            let finished: Vec<Ps> = sim.flows().iter().map(|f| f.finished).collect();
            (sim.events(), finished)
        };
        let first = run(3);
        assert_eq!(first, run(3), "{label}");
        assert_ne!(first, run(4), "{label}");
    }
}

#[test]
fn a_stopped_flow_ends_with_what_it_sent() {
    for (label, transport) in all() {
        let mut setup = network(FOUR_PATH, transport, 0xff_fff0);
        setup.flows = vec![flow(0, 2, 1 << 40, 0), flow(1, 3, 5_000, 0)];
        setup.changes.push((100 * US, Change::Stop { flow: 0 }));
        setup.changes.push((100 * US, Change::Stop { flow: 1 }));
        lossy(&mut setup);
        let mut sim = Simulation::new(setup);
        sim.run_until(20 * MS, u64::MAX);
        assert_eq!(sim.unfinished(), 0, "{label}");
        let f = &sim.flows()[0];
        assert_eq!(f.in_order, f.packets, "{label}");
        assert_eq!(f.arrived_bytes, f.packets * 1_000, "{label}");
        assert!(f.packets > 10, "{label}: {}", f.packets);
    }
}

/// Share of the bottleneck that an 8:1 incast of `bytes` a sender uses.
fn incast(transport: Arc<dyn Transport>, bytes: u64) -> f64 {
    let mut setup = network(DUMBBELL, transport, 0);
    setup.flows = (0..8).map(|i| flow(i, 8, bytes, 0)).collect();
    let sim = deliver(setup, "incast");
    let last = sim.flows().iter().map(|f| f.finished).max();
    let wire = (8 * bytes) as f64 * 1.048;
    wire * 8_000.0 / 100.0 / last.expect("flows") as f64
}

#[test]
fn an_incast_fills_its_bottleneck() {
    for (label, transport) in all() {
        let share = incast(transport, 20_000_000);
        assert!(share > 0.8, "{label}: {share}");
    }
}

/// Data bytes from leaf 0 to each spine.
fn spread(sim: &Simulation, from: &str) -> Vec<u64> {
    let bytes = |s: u32| {
        let port = sim.fabric().port_by_name(&format!("{from}>spine{s}"));
        sim.port(port.expect("spine")).data_bytes
    };
    (0..4).map(bytes).collect()
}

#[test]
fn adaptive_routing_spreads_over_all_spines_and_a_hash_does_not() {
    let run = |transport| {
        let mut setup = network(LEAF_SPINE, transport, 0);
        setup.flows = vec![flow(0, 4, 4_000_000, 0)];
        spread(&deliver(setup, "spread"), "leaf0")
    };
    let adaptive = run(dcqcn(|c| c.adaptive = true));
    assert!(adaptive.iter().all(|&b| b > 700_000), "{adaptive:?}");
    let hashed = run(dcqcn(|_| {}));
    assert_eq!(hashed.iter().filter(|&&b| b > 0).count(), 1, "{hashed:?}");
}

#[test]
fn round_robin_uses_all_paths_equally() {
    for control in [Control::Dcqcn, Control::Fixed, Control::Arcc] {
        let mut setup = network(FOUR_PATH, round_robin(control, false), 0);
        setup.flows = vec![flow(0, 2, 4_000_000, 0)];
        let sim = deliver(setup, "round robin");
        assert_eq!(spread(&sim, "tor0"), [1_048_000; 4], "{control:?}");
    }
}

#[test]
fn naks_cost_spurious_repeats_where_packets_are_sprayed() {
    let run = |nak| {
        let topology = format!("{FOUR_PATH}\nextra_delay_ns = [3000.0]");
        let mut setup = network(&topology, round_robin(Control::Fixed, nak), 0);
        setup.flows = vec![flow(0, 2, 4_000_000, 0)];
        deliver(setup, "naks").metrics().spurious
    };
    assert!(run(true) > 100);
}

#[test]
fn early_recovery_is_faster_than_the_timeout_and_not_spurious_in_order() {
    let mut setup = network(FOUR_PATH, dcqcn(|c| c.adaptive = true), 0);
    let path = setup.fabric.port_by_name("h0>tor0").expect("port");
    setup.changes.push((
        0,
        Change::Loss {
            port: path,
            share: 0.001,
        },
    ));
    setup.flows = vec![flow(0, 2, 4_000_000, 0)];
    let sim = deliver(setup, "early");
    let senders = sim.metrics().senders;
    assert!(senders.retransmissions > 0);
    let mean = senders.retransmission_delay / senders.retransmissions;
    assert!(mean < 40 * US, "{mean}");
    assert_eq!(sim.metrics().spurious, 0);
}

#[test]
fn tables_are_read_and_checked() {
    let config: DcqcnConfig =
        toml::from_str("adaptive = true\nprofile = \"dcqcn_paper\"").expect("dcqcn");
    assert!(config.adaptive && config.profile == RateProfile::Paper && config.check().is_ok());
    let text = "control = \"arcc\"\n[arcc]\nwindow = 256\n[dcqcn]\nmin_gbps = 0.5";
    let config: RoundRobinConfig = toml::from_str(text).expect("round robin");
    assert!(config.control == Control::Arcc && config.check().is_ok());
    let config: SwiftConfig = toml::from_str("selection = \"deficit\"\nhops = 6").expect("swift");
    assert!(config.hops == Some(6) && config.check().is_ok());
    assert!(toml::from_str::<SwiftConfig>("hop = 6").is_err());
    let bad = SwiftConfig {
        beta: f64::NAN,
        ..SwiftConfig::default()
    };
    assert_eq!(bad.check().expect_err("beta").key, "beta");
}
