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

/// The same where the table may be named instead of the line: tables whose keys depend on their
/// `kind` are read as a whole.
fn fault_in_table(label: &str, key: &str, text: &str) -> Option<String> {
    let end = text.lines().position(|l| l.ends_with("#!")).expect(label);
    let lines = text.lines().take(end).collect::<Vec<_>>();
    let start = lines.iter().rposition(|l| l.starts_with('[')).expect(label);
    let Some(message) = message(text) else {
        return Some(format!("{label}: accepted"));
    };
    let within = (start..=end).any(|i| message.starts_with(&format!("x.toml:{}: ", i + 1)));
    let good = within && message.matches("x.toml").count() == 1 && message.contains(key);
    (!good).then(|| {
        format!(
            "{label}: wants {} to {}, got {message:?}",
            start + 1,
            end + 1
        )
    })
}

fn check_in_tables(cases: &[(&str, &str, String)]) {
    let faults = cases.iter().filter_map(|(l, k, t)| fault_in_table(l, k, t));
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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

#[test]
fn topologies_that_cannot_be_are_refused() {
    check(&[
        (
            "rate 0",
            "fabric_gbps",
            over("kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nfabric_gbps = 0.0 #!"),
        ),
        ("odd k", "`topology.k`", over("kind = \"fat-tree\"\nk = 7 #!")),
        ("cores", "`topology.cores`", over("kind = \"clos\"\ncores = 6 #!")),
        (
            "spines 0",
            "`topology.spines`",
            over("kind = \"leaf-spine\"\nleaves = 2\nspines = 0 #!\nhosts_per_leaf = 2"),
        ),
        (
            "pods 0",
            "`topology.pods`",
            over("kind = \"clos\"\npods = 0 #!"),
        ),
        (
            "tors 0",
            "`topology.tors`",
            over("kind = \"clos\"\ntors = 0 #!"),
        ),
        (
            "leaves 0",
            "`topology.leaves`",
            over("kind = \"leaf-spine\"\nleaves = 0 #!\nspines = 2\nhosts_per_leaf = 2"),
        ),
        (
            "delay below 0",
            "`topology.link_ns`",
            over("kind = \"fat-tree\"\nk = 4\nlink_ns = -1.0 #!"),
        ),
    ]);
}

#[test]
fn unknown_keys_are_refused_in_every_table() {
    let top = format!("{TOP}colour = 1 #!\n{TOPOLOGY}\n{TRAFFIC}");
    check(&[
        ("top", "colour", top),
        ("packet", "colour", with("[packet]\ncolour = 1 #!")),
        ("switch", "colour", with("[switch]\ncolour = 1 #!")),
        ("nic", "colour", with("[nic]\ncolour = 1 #!")),
        ("measure", "colour", with("[measure]\ncolour = 1 #!")),
        (
            "event",
            "colour",
            with("[[event]]\nat_us = 1.0\nport = \"leaf0>spine0\"\ncolour = 1 #!"),
        ),
    ]);
    check_in_tables(&[
        (
            "topology",
            "colour",
            over("kind = \"fat-tree\"\nk = 4\ncolour = 1 #!"),
        ),
        (
            "transport",
            "colour",
            with("[transport]\nkind = \"rondo\"\ncolour = 1 #!"),
        ),
        (
            "traffic",
            "colour",
            sending("kind = \"permutation\"\nbytes = 10\ncolour = 1 #!"),
        ),
        (
            "traffic's transport",
            "colour",
            sending("kind = \"permutation\"\nbytes = 10\ntransport = { kind = \"rondo\", colour = 1 } #!"),
        ),
    ]);
}

#[test]
fn traffic_that_cannot_be_is_refused() {
    let kind = sending("kind = \"smoke-signals\" #!");
    let empty = format!("{TOP}traffic = [] #!\n{TOPOLOGY}");
    check(&[("empty", "traffic", empty)]);
    check_in_tables(&[
        ("unknown kind", "smoke-signals", kind),
        (
            "host in pairs",
            "host 9",
            sending("kind = \"pairs\"\npairs = [[0, 2], [1, 9]] #!\nbytes = 10"),
        ),
        (
            "receiver",
            "host 9",
            sending("kind = \"incast\"\nreceiver = 9 #!\nbytes = 10"),
        ),
    ]);
    let none = message(&format!("{TOP}\n{TOPOLOGY}")).expect("no traffic");
    assert!(none.starts_with("x.toml:1: ") && none.contains("traffic"));
}

#[test]
fn values_out_of_range_are_refused() {
    let event = |rest: &str| {
        with(&format!(
            "[[event]]\nat_us = 1.0\nport = \"leaf0>spine0\"\n{rest}"
        ))
    };
    let duration = format!("name = \"x\"\nduration_us = -1.0 #!\n{TOPOLOGY}\n{TRAFFIC}");
    let second = format!(
        "{}loss = 0.5\n\n[[event]]\nat_us = 1.0\nport = \"leaf0>spine1\"\nloss = 1.5 #!",
        event("")
    );
    let rondo = |line: &str| with(&format!("[transport]\nkind = \"rondo\"\n{line} #!"));
    check(&[
        ("loss", "`event.loss`", event("loss = 1.5 #!")),
        ("loss of the second", "`event.loss`", second),
        ("rate", "`event.gbps`", event("gbps = 0.0 #!")),
        ("delay", "`event.delay_ns`", event("delay_ns = -1.0 #!")),
        (
            "no such port",
            "`event.port`",
            with("[[event]]\nat_us = 1.0\nport = \"leaf0>spine7\" #!\nup = false"),
        ),
        ("duration", "`duration_us`", duration),
        (
            "payload",
            "`payload_bytes`",
            with("[packet]\npayload_bytes = 10 #!"),
        ),
        ("window", "`window`", rondo("window = 300")),
        ("no paths", "`paths`", rondo("paths = 0")),
        ("many paths", "`paths`", rondo("paths = 17")),
        ("interval", "`interval_rtts`", rondo("interval_rtts = 0.0")),
        (
            "swift paths",
            "`paths`",
            with("[transport]\nkind = \"swift\"\npaths = 0 #!"),
        ),
        (
            "round-robin paths",
            "`paths`",
            with("[transport]\nkind = \"round-robin\"\npaths = 17 #!"),
        ),
        (
            "traffic's transport",
            "`window`",
            format!(
                "{}\n[traffic.transport]\nkind = \"rondo\"\nwindow = 300 #!\n",
                with("")
            ),
        ),
        (
            "sampled port",
            "`measure.ports`",
            with("[measure]\nports = [\"leaf0>spine7\"] #!"),
        ),
    ]);
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
