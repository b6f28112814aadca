//! A run is a function of its scenario and seed, and a process can do many of them.

use rondo_net::report::NetReport;
use rondo_net::scenario::Scenario;
use rondo_net::simulation::Simulation;
use rondo_net::time::US;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// Memory is measured of the whole process: the test that does so runs alone.
static ALONE: RwLock<()> = RwLock::new(());

macro_rules! together {
    () => {
        ALONE.read().unwrap_or_else(PoisonError::into_inner)
    };
}

const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 4\n\
                      hosts_per_leaf = 4\nfabric_gbps = 100.0\n\n";

/// Four transports share a fabric that loses 1 % on two of its ways.
fn mixed() -> Scenario {
    let traffic = |transport: &str, pairs: &str| {
        format!(
            "[[traffic]]\nkind = \"pairs\"\npairs = {pairs}\nbytes = 700001\nstagger_us = 3.0\n\
             [traffic.transport]\nkind = \"{transport}\"\n\n"
        )
    };
    let loss = |port: &str| {
        format!("[[event]]\nat_us = 5.0\nport = \"{port}\"\nboth = true\nloss = 0.01\n\n")
    };
    let text = [
        "name = \"mixed\"\nduration_us = 50000.0\n\n".into(),
        FABRIC.into(),
        traffic("rondo", "[[0, 4], [1, 5]]"),
        traffic("dcqcn", "[[2, 6], [3, 7]]"),
        traffic("swift", "[[4, 0], [5, 0]]"),
        traffic("round-robin", "[[6, 1], [7, 2]]"),
        loss("leaf0>spine0"),
        loss("leaf1>spine2"),
    ];
    read(&text.concat())
}

fn read(text: &str) -> Scenario {
    Scenario::parse(Path::new("x.toml"), text).unwrap_or_else(|e| panic!("{e}"))
}

fn simulation(scenario: &Scenario, seed: u64) -> Simulation {
    Simulation::new(scenario.setup(seed).unwrap_or_else(|e| panic!("{e}")))
}

fn json(sim: &Simulation) -> String {
    serde_json::to_string(&NetReport::of(sim, "x", None)).expect("JSON")
}

fn whole(scenario: &Scenario, seed: u64) -> String {
    let mut sim = simulation(scenario, seed);
    sim.run_until(scenario.duration, u64::MAX);
    json(&sim)
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let _guard = together!();
    let scenario = mixed();
    let first = whole(&scenario, 11);
    assert_eq!(first, whole(&scenario, 11));
    // Reading the scenario again changes nothing either.
    assert_eq!(first, whole(&mixed(), 11));
    let report: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(report["flows_completed"], 8);
    assert!(report["drops"]["random_loss"][0].as_u64() > Some(0));
}

#[test]
fn seeds_change_what_depends_on_them_and_nothing_else() {
    let _guard = together!();
    let scenario = mixed();
    let reports: Vec<Value> = (1..=20)
        .map(|seed| serde_json::from_str(&whole(&scenario, seed)).expect("JSON"))
        .collect();
    let values = |key: &str| -> BTreeSet<String> {
        let one = |r: &Value| r.pointer(key).map(Value::to_string);
        reports.iter().map(|r| one(r).expect("key")).collect()
    };
    // Eight flows of 701 packets each, whatever their ways.
    for (key, value) in [
        ("/hosts", "8".into()),
        ("/flows", "8".into()),
        ("/flows_completed", "8".into()),
        ("/packets_delivered", (8 * 701).to_string()),
        ("/bytes_delivered", (8 * 700_001).to_string()),
        ("/drops/link_down", "[0,0,0]".into()),
        ("/pauses", "0".into()),
    ] {
        assert_eq!(values(key), BTreeSet::from([value]), "{key}");
    }
    // Hashes and losses are drawn from the seed.
    for key in [
        "/seed",
        "/events",
        "/duration_us",
        "/fct_us/max",
        "/queue_kb/max",
        "/drops/random_loss",
        "/nic_ood/max",
    ] {
        assert!(values(key).len() > 1, "{key} is the same for every seed");
    }
}

/// Resident memory of this process, kB.
fn resident_kb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn memory_does_not_grow_with_the_number_of_runs() {
    let _guard = ALONE.write().unwrap_or_else(PoisonError::into_inner);
    let scenario = read(&format!(
        "name = \"small\"\nduration_us = 2000.0\n\n{FABRIC}[[traffic]]\nkind = \"permutation\"\n\
         bytes = 50000\n"
    ));
    let mut at_50 = None;
    for run in 1..=200 {
        whole(&scenario, run);
        if run == 50 {
            at_50 = resident_kb();
        }
    }
    // Only where the system tells.
    let (Some(before), Some(after)) = (at_50, resident_kb()) else {
        return;
    };
    assert!(
        (after - before).abs() < 0.05 * before,
        "{before} kB after 50 runs, {after} kB after 200"
    );
}

/// PSNs are serial numbers: where they start shows nowhere. The window begins with a group of 64,
/// so that a flow that fills its window would notice an offset within the group; this one has 2,048
/// PSNs and needs a few hundred.
#[test]
fn the_first_psn_does_not_matter() {
    let _guard = together!();
    let text = |first: u32, loss: f64| {
        format!(
            "name = \"wrap\"\nduration_us = 50000.0\nfirst_psn = {first}\n\n{FABRIC}\
             [transport]\nkind = \"rondo\"\nwindow = 2048\n\n[[traffic]]\nkind = \"pairs\"\n\
             pairs = [[0, 4], [1, 5], [2, 4], [6, 3]]\nbytes = 1500001\n\n[[event]]\n\
             at_us = 0.0\nport = \"leaf0>spine1\"\nloss = {loss:?}\n"
        )
    };
    for loss in [0.0, 0.005] {
        let from_zero = whole(&read(&text(0, loss)), 5);
        for first in [16_777_200, 16_777_215, 16_777_152, 8_388_600] {
            let here = whole(&read(&text(first, loss)), 5);
            assert_eq!(here, from_zero, "{first}, loss {loss}");
        }
    }
}

#[test]
fn a_run_in_pieces_is_the_run_in_one_go() {
    let _guard = together!();
    let scenario = mixed();
    let whole = whole(&scenario, 3);
    for most in [1, 7, 1_000] {
        let mut sim = simulation(&scenario, 3);
        while sim.run_until(scenario.duration, most) {}
        assert_eq!(json(&sim), whole, "{most} events at a time");
    }
    // The same when it is time that is cut, at odd places.
    let mut sim = simulation(&scenario, 3);
    let mut end = 0;
    while sim.unfinished() > 0 && end < scenario.duration {
        end += 13 * US + 17;
        sim.run_until(end.min(scenario.duration), u64::MAX);
    }
    assert_eq!(json(&sim), whole, "13 us at a time");
}
