//! Two NICs end to end, the golden endpoints in lock-step.

use rondo::cosim::as_text;
use rondo::nic::nic_core;
use rondo::shape::Shape;
use rondo_sim::nic::run::{run, Outcome};
use rondo_sim::nic::scenario::{Impairments, Mesh, MeshPath, Traffic};

fn mesh() -> Mesh {
    let path = |gbps| MeshPath {
        gbps,
        forward_ps: 4_000_000,
        backward_ps: 4_000_000,
        outages_ps: Vec::new(),
    };
    Mesh {
        paths: vec![path(25.0), path(20.0), path(15.0), path(10.0)],
        impairments: Impairments::default(),
        queue_limit_bytes: 1 << 20,
        host_gbps: 100.0,
        window: 128,
        flows: 16,
        open_flows: 4,
        mtu: 4096,
        both_ip_versions: true,
        first_psn: (1 << 24) - 50,
        traffic: Traffic::Messages {
            per_flow: 2,
            min_bytes: 1,
            max_bytes: 400_000,
        },
        both_ways: true,
        reorder_slots: 253,
        end_ps: 0,
        measure_from_ps: 0,
        rtt_ns: vec![12_000; 4],
        interval_ns: 6_000,
        delay_tolerance_ns: 1_000,
        scheduler: true,
        probing: false,
        host_pace: 200,
    }
}

fn moves(mesh: &Mesh, seed: u64) -> Outcome {
    let shape = Shape::new(mesh.paths.len(), mesh.window, mesh.flows).expect("on the menu");
    let v = as_text(&nic_core(shape).expect("prints"));
    let o = run(&v, mesh, seed, None, &mut |_| true).expect("runs");
    assert_eq!(o.mismatches, 0, "seed {seed}: {:?}", o.first);
    assert!(
        o.complete,
        "seed {seed}: {:?}, lost {} bytes",
        o.unrest, o.lost_bytes
    );
    o
}

#[test]
fn messages_both_ways() {
    let o = moves(&mesh(), 1);
    assert_eq!(o.messages, 16);
}

/// Loss, duplication, corruption and jitter in both directions, and a path that dies twice.
#[test]
fn a_bad_network_loses_nothing() {
    let mut m = mesh();
    m.impairments = Impairments {
        loss: 0.01,
        duplicate: 0.005,
        corrupt: 0.005,
        jitter_ps: 2_000_000,
    };
    m.paths[3].outages_ps = vec![(60_000_000, 120_000_000), (200_000_000, 260_000_000)];
    m.open_flows = 16;
    let o = moves(&m, 7);
    assert_eq!(o.messages, 64);
    assert!(o.retransmissions > 0 && o.fates.corrupted > 0 && o.fates.outage > 0);
}
