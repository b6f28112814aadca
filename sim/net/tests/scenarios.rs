//! Scenario files: what is refused and how it is said, what the shipped ones do, and events.

use rondo_net::scenario::Scenario;
use rondo_net::simulation::Simulation;
use rondo_net::time::{from_us, MS};
use std::path::{Path, PathBuf};

const TOP: &str = "name = \"x\"\nduration_us = 100.0\n";
const TOPOLOGY: &str =
    "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
const TRAFFIC: &str = "[[traffic]]\nkind = \"pairs\"\npairs = [[0, 2]]\nbytes = 10000\n";

/// A good scenario with `more` at its end.
fn with(more: &str) -> String {
    format!("{TOP}\n{TOPOLOGY}\n{TRAFFIC}\n{more}\n")
}

/// A good scenario but for its topology.
fn over(topology: &str) -> String {
    format!("{TOP}\n[topology]\n{topology}\n\n{TRAFFIC}")
}

/// A good scenario but for its traffic.
fn sending(traffic: &str) -> String {
    format!("{TOP}\n{TOPOLOGY}\n[[traffic]]\n{traffic}\n")
}

/// The message about `text`, if it is refused.
fn message(text: &str) -> Option<String> {
    let refused = Scenario::parse(Path::new("x.toml"), text).err();
    refused.map(|e| e.to_string())
}

/// What is wrong with the message about `text`, whose offending line ends in `#!`: it has to name
/// the file once, that line, and `key`, and be one line itself.
fn fault(label: &str, key: &str, text: &str) -> Option<String> {
    let line = 1 + text.lines().position(|l| l.ends_with("#!")).expect(label);
    let Some(message) = message(text) else {
        return Some(format!("{label}: accepted"));
    };
    let place = format!("x.toml:{line}: ");
    let good = message.starts_with(&place)
        && message.matches("x.toml").count() == 1
        && message.contains(key)
        && message.lines().count() == 1;
    (!good).then(|| format!("{label}: wants {place}{key}, got {message:?}"))
}

fn check(cases: &[(&str, &str, String)]) {
    let faults = cases.iter().filter_map(|(l, k, t)| fault(l, k, t));
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_base_of_all_cases_is_good() {
    assert_eq!(message(&with("")), None);
}

/// Cases, one a line: what a good scenario gets (another topology, other traffic, or more), what the
/// message has to hold, and the lines, between semicolons.
fn refused(cases: &str) {
    let case = |case: &str| {
        let parts: Vec<&str> = case.split(" | ").map(str::trim).collect();
        let lines = parts[2].replace("; ", "\n");
        let text = match parts[0] {
            "over" => over(&lines),
            "sending" => sending(&lines),
            _ => with(&lines),
        };
        let faults = parts[1].split(" + ").map(|holds| fault(case, holds, &text));
        faults.flatten().collect::<Vec<_>>()
    };
    let cases = cases.lines().filter(|l| !l.trim().is_empty());
    let faults: Vec<String> = cases.flat_map(case).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn topologies_that_cannot_be_are_refused() {
    refused(
        r##"
        over | fabric_gbps | kind = "leaf-spine"; leaves = 2; spines = 2; hosts_per_leaf = 2; fabric_gbps = 0.0 #!
        over | `topology.k` | kind = "fat-tree"; k = 7 #!
        over | `topology.cores` | kind = "clos"; cores = 6 #!
        over | `topology.spines` | kind = "leaf-spine"; leaves = 2; spines = 0 #!; hosts_per_leaf = 2
        over | `topology.pods` | kind = "clos"; pods = 0 #!
        over | `topology.tors` | kind = "clos"; tors = 0 #!
        over | `topology.leaves` | kind = "leaf-spine"; leaves = 0 #!; spines = 2; hosts_per_leaf = 2
        over | `topology.link_ns` | kind = "fat-tree"; k = 4; link_ns = -1.0 #!
        "##,
    );
}

#[test]
fn unknown_keys_are_refused_in_every_table() {
    let top = format!("{TOP}colour = 1 #!\n{TOPOLOGY}\n{TRAFFIC}");
    let second = with(&format!("{TRAFFIC}colour = 1 #!\n\n{TRAFFIC}"));
    check(&[("top", "colour", top), ("second", "colour", second)]);
    refused(
        r##"
        with | colour | [packet]; colour = 1 #!
        with | colour | [switch]; colour = 1 #!
        with | colour | [nic]; colour = 1 #!
        with | colour | [measure]; colour = 1 #!
        with | colour | [[event]]; at_us = 1.0; port = "leaf0>spine0"; colour = 1 #!
        over | colour | kind = "fat-tree"; k = 4; colour = 1 #!
        with | colour | [transport]; kind = "rondo"; colour = 1 #!
        with | colour | [transport]; kind = "round-robin"; [transport.dcqcn]; colour = 1 #!
        with | colour | [traffic.transport]; kind = "rondo"; colour = 1 #!; [nic]; turnaround_ns = 1
        sending | colour | kind = "permutation"; bytes = 10; colour = 1 #!
        sending | colour | kind = "permutation"; transport = { kind = "rondo", colour = 1 } #!
        sending | colour | kind = "pairs"; pairs = [; [0, 2],; [1, 3]; ]; bytes = 10; colour = 1 #!
        with | `bytes` | [[traffic]] #!; kind = "random"; flows = 2
        "##,
    );
}

#[test]
fn unknown_kinds_are_refused_at_their_lines() {
    refused(
        r##"
        over | `torus` | k = 4; kind = "torus" #!
        over | "four" | kind = "fat-tree"; k = "four" #!
        over | `-4` | kind = "fat-tree"; link_ns = 1.0; k = -4 #!
        with | `pigeon` | [transport]; paths = 4; kind = "pigeon" #!
        sending | `smoke-signals` | bytes = 10; kind = "smoke-signals" #!
        sending | `pigeon` | kind = "permutation"; transport = { kind = "pigeon" } #!
        sending | `all-gone` | kind = "collective"; operation = "all-gone" #!; ranks = 4; bytes = 10
        "##,
    );
}

#[test]
fn a_message_is_one_line() {
    let text = format!("{TOP}colour = [1,, 2] #!\n{TOPOLOGY}");
    check(&[("syntax", "", text)]);
}

#[test]
fn traffic_that_cannot_be_is_refused() {
    let empty = format!("{TOP}traffic = [] #!\n{TOPOLOGY}");
    check(&[("empty", "traffic", empty)]);
    refused(
        r##"
        with | `traffic.pairs` | [[traffic]]; kind = "pairs"; pairs = [[1, 9]] #!
        sending | `traffic.pairs` + host 9 | kind = "pairs"; bytes = 10; pairs = [[0, 2], [1, 9]] #!
        sending | `traffic.pairs` + itself | kind = "on-off"; bytes = 10; gap_us = 9.0; pairs = [[1, 1]] #!
        sending | `traffic.bytes` + 1 or more | kind = "pairs"; pairs = [[0, 2]]; bytes = 0 #!
        sending | `traffic.receiver` + host 9 | kind = "incast"; bytes = 10; receiver = 9 #!
        sending | `traffic.senders` + 7 | kind = "incast"; receiver = 1; senders = 7 #!
        sending | `traffic.hosts` | kind = "all-to-all"; bytes = 10; hosts = 1 #!
        sending | `traffic.receivers` + 1 to 3 | kind = "fan-out"; bytes = 10; receivers = 8 #!
        sending | `traffic.table` + none.txt | kind = "sizes"; load = 0.5; table = "none.txt" #!
        sending | `traffic.load` + at most 1 | kind = "sizes"; table = "solar"; load = 1.5 #!
        sending | `traffic.file` + none.cm | kind = "matrix"; file = "none.cm" #!
        sending | `traffic.ranks` + 9 | kind = "collective"; operation = "all-reduce"; bytes = 10; ranks = 9 #!
        "##,
    );
    let none = message(&format!("{TOP}\n{TOPOLOGY}")).expect("no traffic");
    assert!(none.starts_with("x.toml:1: ") && none.contains("traffic"));
}

#[test]
fn values_out_of_range_are_refused() {
    let duration = format!("name = \"x\"\nduration_us = -1.0 #!\n{TOPOLOGY}\n{TRAFFIC}");
    check(&[("duration", "`duration_us`", duration)]);
    let event = "[[event]]; at_us = 1.0; port = \"leaf0>spine0\"";
    let events = r##"
        with | `event.loss` | EVENT; loss = 1.5 #!
        with | `event.loss` | EVENT; loss = 0.5; EVENT; loss = 1.5 #!
        with | `event.gbps` | EVENT; gbps = 0.0 #!
        with | `event.delay_ns` | EVENT; delay_ns = -1.0 #!
    "##;
    refused(&events.replace("EVENT", event));
    refused(
        r##"
        with | `event.port` | [[event]]; at_us = 1.0; port = "leaf0>spine7" #!; up = false
        with | `payload_bytes` | [packet]; payload_bytes = 10 #!
        with | `window` | [transport]; kind = "rondo"; window = 300 #!
        with | `paths` | [transport]; kind = "rondo"; paths = 0 #!
        with | `paths` | [transport]; kind = "rondo"; paths = 17 #!
        with | `interval_rtts` | [transport]; kind = "rondo"; interval_rtts = 0.0 #!
        with | `paths` | [transport]; kind = "swift"; paths = 0 #!
        with | `paths` | [transport]; kind = "round-robin"; paths = 17 #!
        with | `window` | [traffic.transport]; kind = "rondo"; window = 300 #!
        with | `measure.ports` | [measure]; ports = ["leaf0>spine7"] #!
        with | `port` | [[event]]; at_us = 1.0; port = "leaf0>spine0"; [[event]] #!; at_us = 1.0
        "##,
    );
}

#[test]
fn times_out_of_range_are_refused() {
    let cases = r##"
        sending | start_us + to 1e9 us | kind = "pairs"; pairs = [[0, 2]]; start_us = TIME #!
        sending | stagger_us + to 1e9 us | kind = "pairs"; pairs = [[0, 2]]; stagger_us = TIME #!
        sending | stop_us + to 1e9 us | kind = "pairs"; pairs = [[0, 2]]; stop_us = TIME #!
        sending | start_us + to 1e9 us | kind = "incast"; receiver = 0; start_us = TIME #!
        sending | start_us + to 1e9 us | kind = "permutation"; start_us = TIME #!
        sending | start_us + to 1e9 us | kind = "random"; flows = 2; bytes = 10; start_us = TIME #!
        sending | start_us + to 1e9 us | kind = "all-to-all"; bytes = 10; start_us = TIME #!
        sending | start_us + to 1e9 us | kind = "fan-out"; receivers = 2; bytes = 10; start_us = TIME #!
        sending | start_us | kind = "collective"; operation = "all-gather"; ranks = 4; bytes = 10; start_us = TIME #!
        sending | gap_us + to 1e9 us | kind = "on-off"; pairs = [[0, 2]]; bytes = 10; gap_us = TIME #!
        sending | until_us | kind = "on-off"; pairs = [[0, 2]]; bytes = 10; gap_us = 5.0; until_us = TIME #!
        sending | until_us + to 1e9 us | kind = "sizes"; table = "solar"; load = 0.5; until_us = TIME #!
    "##;
    for time in ["-1.0", "nan", "inf", "1.1e9"] {
        refused(&cases.replace("TIME", time));
    }
}

#[test]
fn ideal_transports_that_cannot_be_are_refused() {
    let rates = |last: &str| format!("path_gbps = [{}{last}]", "100.0, ".repeat(15));
    for last in ["0.0", "-1.0", "nan", "inf"] {
        let ideal = format!("[transport]; kind = \"ideal\"; {} #!", rates(last));
        refused(&format!("with | `path_gbps` + above 0 | {ideal}"));
    }
    refused(
        r##"
        with | `paths` + 1 to 16 | [transport]; kind = "ideal"; paths = 0 #!
        with | `paths` + 1 to 16 | [transport]; kind = "ideal"; paths = 17 #!
        with | `sharing` + 1 or more | [transport]; kind = "ideal"; sharing = 0 #!
        sending | `paths` | kind = "permutation"; transport = { kind = "ideal", paths = 0 } #!
        "##,
    );
    let good = "[transport]\nkind = \"ideal\"\npaths = 16\n";
    assert_eq!(message(&with(&format!("{good}{}", rates("0.1")))), None);
}

#[test]
fn traces_that_cannot_be_are_refused() {
    let trace = "sending | KEY | kind = \"trace\"; groups = \"groups.json\"";
    let cases = [
        "`traffic.ranks` + 1 ranks for 2 files | files = [\"a\", \"b\"]; stage_ranks = 2; ranks = [0] #!",
        "`traffic.files` | ranks = []; stage_ranks = 2; files = [] #!",
        "`traffic.stage_ranks` | ranks = [4294967295]; files = [\"a\"]; stage_ranks = 0 #!",
        "`traffic.shrink` + 1 or more | files = [\"a\"]; ranks = [0]; stage_ranks = 2; shrink = 0 #!",
        "`traffic.groups` | files = [\"a\"]; ranks = [0]; stage_ranks = 2; groups = \"none\" #!",
    ];
    for (key, lines) in cases.iter().filter_map(|c| c.split_once(" | ")) {
        let start = trace.replace("KEY", key);
        let start = match lines.contains("groups") {
            true => start.replace("; groups = \"groups.json\"", ""),
            false => start,
        };
        refused(&format!("{start}; {lines}"));
    }
}

/// A scenario whose traffic is `traffic`, with `text` as the file that it names, `name`.
fn message_about(name: &str, text: &str, traffic: &str) -> (String, PathBuf) {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("write");
    let scenario = folder.path().join("x.toml");
    let refused = Scenario::parse(&scenario, &sending(traffic)).err();
    (refused.expect("refused").to_string(), file)
}

#[test]
fn a_files_fault_is_told_with_its_own_line() {
    let traffic = "kind = \"sizes\"\ntable = \"sizes.txt\"\nload = 0.5";
    let text = "# bytes percent\n100 50\n1000 40\n5000 100\n";
    let (message, file) = message_about("sizes.txt", text, traffic);
    assert!(
        message.contains(&format!("{}:3: ", file.display())),
        "{message}"
    );
    let traffic = "kind = \"matrix\"\nfile = \"few.cm\"";
    let text = "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000\n2->4 id 2 start 0 size 1000\n";
    let (message, file) = message_about("few.cm", text, traffic);
    let place = format!("{}:4: ", file.display());
    assert!(
        message.contains(&place) && message.contains("node 4"),
        "{message}"
    );
    // More hosts than the topology has, which the file cannot know.
    let text =
        "Nodes 16\nConnections 2\n# far\n0->9 id 1 start 0 size 1000\n0->1 id 2 start 0 size 1\n";
    let (message, file) = message_about("few.cm", text, traffic);
    let place = format!("{}:4: ", file.display());
    assert!(
        message.contains(&place) && message.contains("host 9") && message.contains("hosts 0 to 3"),
        "{message}"
    );
}

#[test]
fn the_shipped_scenarios_load_and_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios/net");
    let mut found = 0;
    for entry in std::fs::read_dir(&folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        found += 1;
        let scenario = Scenario::load(&path).unwrap_or_else(|e| panic!("{e}"));
        let setup = scenario.setup(1).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Simulation::new(setup);
        sim.run_until(scenario.duration.min(from_us(200.0)), u64::MAX);
        assert!(sim.metrics().packets > 0, "{}", path.display());
    }
    assert!(found > 0);
}

/// Four pairs over a leaf-spine fabric whose links are as fast as its hosts', with `more`.
fn crossing(more: &str, bytes: u64) -> Simulation {
    let text = format!(
        "name = \"x\"\nduration_us = 100000.0\n\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\n\
         spines = 4\nhosts_per_leaf = 4\nfabric_gbps = 100.0\n\n[[traffic]]\nkind = \"pairs\"\n\
         pairs = [[0, 4], [1, 5], [2, 6], [3, 7]]\nbytes = {bytes}\n\n{more}\n"
    );
    let scenario = Scenario::parse(Path::new("x.toml"), &text).unwrap_or_else(|e| panic!("{e}"));
    let setup = scenario.setup(3).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Simulation::new(setup);
    sim.run_until(scenario.duration, u64::MAX);
    sim
}

#[test]
fn a_run_of_no_events_changes_nothing() {
    let scenario = Scenario::parse(Path::new("x.toml"), &with("")).expect("good");
    let mut sim = Simulation::new(scenario.setup(3).expect("good"));
    assert!(sim.run_until(scenario.duration, 0));
    assert_eq!(sim.metrics().packets, 0);
    assert!(!sim.run_until(scenario.duration, u64::MAX));
    assert_delivered_once(&sim);
}

/// Every flow got every packet, and none twice.
fn assert_delivered_once(sim: &Simulation) {
    assert_eq!(sim.unfinished(), 0);
    let mut packets = 0;
    for flow in sim.flows() {
        assert_eq!(flow.arrived_bytes, flow.plan.bytes);
        assert_eq!(flow.in_order, flow.packets);
        packets += flow.packets;
    }
    assert_eq!(sim.metrics().packets, packets);
}

#[test]
fn a_link_that_fails_and_comes_back_costs_no_flow() {
    // Two of four ways, one on either side, for overlapping times.
    let event = |at: f64, port: &str, up: bool| {
        format!("[[event]]\nat_us = {at:.1}\nport = \"{port}\"\nboth = true\nup = {up}\n")
    };
    let events: String = [
        event(50.0, "leaf0>spine1", false),
        event(90.0, "leaf1>spine2", false),
        event(150.0, "leaf0>spine1", true),
        event(200.0, "leaf1>spine2", true),
    ]
    .concat();
    let sim = crossing(&events, 3_000_000);
    assert_delivered_once(&sim);
    let down = sim.metrics().drops[rondo_net::metrics::Drop::LinkDown as usize];
    assert!(down.iter().sum::<u64>() > 0, "the failure hit nothing");
}

#[test]
fn flows_wait_for_a_network_that_is_down_altogether() {
    let event = |at: f64, spine: u32, up: bool| {
        format!(
            "[[event]]\nat_us = {at:.1}\nport = \"leaf0>spine{spine}\"\nboth = true\nup = {up}\n"
        )
    };
    let events: String = (0..4)
        .flat_map(|s| [event(50.0, s, false), event(300.0, s, true)])
        .collect();
    let sim = crossing(&events, 1_000_000);
    assert_delivered_once(&sim);
    assert!(sim.flows().iter().all(|f| f.finished > from_us(300.0)));
}

#[test]
fn losses_are_repaired() {
    let event = |spine: u32| {
        format!("[[event]]\nat_us = 0.0\nport = \"leaf0>spine{spine}\"\nboth = true\nloss = 0.01\n")
    };
    let sim = crossing(&(0..4).map(event).collect::<String>(), 3_000_000);
    assert_delivered_once(&sim);
    let m = sim.metrics();
    assert!(m.drops[rondo_net::metrics::Drop::RandomLoss as usize][0] > 0);
    assert!(m.senders.retransmissions > 0);
}

#[test]
fn pauses_keep_small_queues_from_overflowing() {
    // What is under way when a pause is sent has to fit above its threshold.
    let incast = |pfc: bool| {
        let text = format!(
            "name = \"x\"\nduration_us = 20000.0\n\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\n\
             spines = 2\nhosts_per_leaf = 4\n\n[switch]\npfc = {pfc}\ndata_queue_bytes = 300000\n\
             buffer_bytes = 2000000\npfc_xoff_bytes = 20000\npfc_xon_bytes = 18000\n\n\
             [transport]\nkind = \"dcqcn\"\n\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\n\
             bytes = 1000000\n"
        );
        let scenario =
            Scenario::parse(Path::new("x.toml"), &text).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Simulation::new(scenario.setup(3).unwrap_or_else(|e| panic!("{e}")));
        sim.run_until(scenario.duration, u64::MAX);
        assert_delivered_once(&sim);
        sim
    };
    let (with, without) = (incast(true), incast(false));
    assert!(with.metrics().pauses > 0);
    assert_eq!(with.metrics().data_drops(), 0);
    // Without them the same queues do overflow.
    assert!(without.metrics().data_drops() > 0);
}

#[test]
fn a_full_reorder_buffer_refuses_and_everything_arrives() {
    let text = "name = \"x\"\nduration_us = 50000.0\n\n[topology]\nkind = \"four-path\"\n\
                senders = 4\nreceivers = 4\nextra_delay_ns = [0.0, 0.0, 0.0, 15000.0]\n\n\
                [nic]\nreorder_bytes = 32000\n\n[transport]\nkind = \"rondo\"\n\
                scheduler = false\n\n[[traffic]]\nkind = \"pairs\"\n\
                pairs = [[0, 4], [1, 5], [2, 6], [3, 7]]\nbytes = 2000000\n";
    let scenario = Scenario::parse(Path::new("x.toml"), text).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Simulation::new(scenario.setup(3).unwrap_or_else(|e| panic!("{e}")));
    sim.run_until(50 * MS, u64::MAX);
    assert_delivered_once(&sim);
    let m = sim.metrics();
    assert!(m.drops[rondo_net::metrics::Drop::ReorderBuffer as usize][0] > 0);
    assert!(m.buffered_max <= 32_000, "{}", m.buffered_max);
}
