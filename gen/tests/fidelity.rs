//! The network simulator against the RTL on the testbed's scenarios.
#![cfg(feature = "cosim")]

use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_sim::testbed::fidelity::compare;
use rondo_sim::testbed::scenario::Scenario;
use rondo_sim::testbed::transmit::FLOWS;
use std::path::Path;

/// The same PSNs on the same paths in the same order: the RTL in co-simulation, and its clocked model
/// in the network simulator. The event-driven endpoint has no pipelines, so its order differs; what it
/// is used for must not.
#[test]
fn the_same_packets_in_the_same_order() {
    for name in ["testbed-homogeneous.toml", "testbed-heterogeneous.toml"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
        let mut scenario = Scenario::load(&root.join(name)).expect("a scenario");
        scenario.duration_ms = 3.0;
        let shape = Shape::new(scenario.paths.len(), scenario.window, FLOWS).expect("a shape");
        let (sender, receiver) = (
            verilog(Block::Sender, shape).expect("Verilog"),
            verilog(Block::Receiver, shape).expect("Verilog"),
        );
        let f = compare(&scenario, &sender, &receiver, 5, &mut |_| true).expect("runs");
        assert_eq!(f.rtl.mismatches, 0, "{name}");
        assert!(f.rtl.in_order, "{name}");
        assert!(f.model.packets > 5_000, "{name}: {:?}", f.model);
        assert!(f.model.identical, "{name}: {:?}", f.model);
        let e = &f.event_driven;
        let rate = (e.throughput_gbps - f.rtl.throughput_gbps).abs();
        assert!(rate < 0.01 * f.rtl.throughput_gbps, "{name}: {e:?}");
        assert!((e.ood_avg - f.rtl.ood.avg).abs() < 1.0, "{name}: {e:?}");
    }
}
