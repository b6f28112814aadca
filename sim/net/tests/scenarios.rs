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
        (
            "traffic's transport as a table",
            "colour",
            with("[traffic.transport]\nkind = \"rondo\"\ncolour = 1 #!\n\n[nic]\nturnaround_ns = 1"),
        ),
        (
            "traffic of several lines",
            "colour",
            sending("kind = \"pairs\"\npairs = [\n  [0, 2],\n  [1, 3]\n]\nbytes = 10\ncolour = 1 #!"),
        ),
        (
            "second traffic",
            "colour",
            with(&format!("{TRAFFIC}colour = 1 #!\n\n{TRAFFIC}")),
        ),
        (
            "missing in the second traffic",
            "`bytes`",
            with("[[traffic]] #!\nkind = \"random\"\nflows = 2"),
        ),
        (
            "missing in the second event",
            "`port`",
            with("[[event]]\nat_us = 1.0\nport = \"leaf0>spine0\"\n\n[[event]] #!\nat_us = 1.0"),
        ),
        (
            "a table in a transport",
            "colour",
            with("[transport]\nkind = \"round-robin\"\n\n[transport.dcqcn]\ncolour = 1 #!"),
        ),
    ]);
}

#[test]
fn unknown_kinds_are_refused_at_their_lines() {
    check(&[
        ("topology", "`torus`", over("k = 4\nkind = \"torus\" #!")),
        (
            "transport",
            "`pigeon`",
            with("[transport]\npaths = 4\nkind = \"pigeon\" #!"),
        ),
        (
            "traffic",
            "`smoke-signals`",
            sending("bytes = 10\nkind = \"smoke-signals\" #!"),
        ),
        (
            "traffic's transport",
            "`pigeon`",
            sending("kind = \"permutation\"\ntransport = { kind = \"pigeon\" } #!"),
        ),
        (
            "operation",
            "`all-gone`",
            sending("kind = \"collective\"\noperation = \"all-gone\" #!\nranks = 4\nbytes = 10"),
        ),
        (
            "type",
            "\"four\"",
            over("kind = \"fat-tree\"\nk = \"four\" #!"),
        ),
        (
            "value",
            "`-4`",
            over("kind = \"fat-tree\"\nlink_ns = 1.0\nk = -4 #!"),
        ),
    ]);
}

#[test]
fn a_message_is_one_line() {
    let text = format!("{TOP}colour = [1,, 2] #!\n{TOPOLOGY}");
    check(&[("syntax", "", text)]);
}

#[test]
fn traffic_that_cannot_be_is_refused() {
    let empty = format!("{TOP}traffic = [] #!\n{TOPOLOGY}");
    let case = |key: &'static str, holds: &'static str, kind: &str, rest: &str| {
        let text = sending(&format!("kind = \"{kind}\"\n{rest}"));
        [(key, key, text.clone()), (key, holds, text)]
    };
    let second = "[[traffic]]\nkind = \"pairs\"\npairs = [[1, 9]] #!";
    let cases = [
        [
            ("empty", "traffic", empty),
            ("second", "`traffic.pairs`", with(second)),
        ],
        case(
            "`traffic.pairs`",
            "host 9",
            "pairs",
            "bytes = 10\npairs = [[0, 2], [1, 9]] #!",
        ),
        case(
            "`traffic.pairs`",
            "itself",
            "on-off",
            "bytes = 10\ngap_us = 9.0\npairs = [[1, 1]] #!",
        ),
        case(
            "`traffic.bytes`",
            "0",
            "pairs",
            "pairs = [[0, 2]]\nbytes = 0 #!",
        ),
        case(
            "`traffic.receiver`",
            "host 9",
            "incast",
            "bytes = 10\nreceiver = 9 #!",
        ),
        case(
            "`traffic.senders`",
            "7",
            "incast",
            "receiver = 1\nsenders = 7 #!",
        ),
        case(
            "`traffic.hosts`",
            "1",
            "all-to-all",
            "bytes = 10\nhosts = 1 #!",
        ),
        case(
            "`traffic.receivers`",
            "8",
            "fan-out",
            "bytes = 10\nreceivers = 8 #!",
        ),
        case(
            "`traffic.table`",
            "none.txt",
            "sizes",
            "load = 0.5\ntable = \"none.txt\" #!",
        ),
        case(
            "`traffic.load`",
            "1.5",
            "sizes",
            "table = \"solar\"\nload = 1.5 #!",
        ),
        case(
            "`traffic.file`",
            "none.cm",
            "matrix",
            "file = \"none.cm\" #!",
        ),
        case(
            "`traffic.ranks`",
            "9",
            "collective",
            "operation = \"all-reduce\"\nbytes = 10\nranks = 9 #!",
        ),
    ];
    check(cases.as_flattened());
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

#[test]
fn times_out_of_range_are_refused() {
    let range = "to 1e9 us";
    for value in ["-1.0", "nan", "inf", "1.1e9"] {
        let case = |key: &'static str, rest: &str| {
            let text = sending(&format!("{rest}\n{key} = {value} #!"));
            [(key, key, text.clone()), (key, range, text)]
        };
        let sizes = "kind = \"sizes\"\ntable = \"solar\"\nload = 0.5";
        let collective = "kind = \"collective\"\noperation = \"all-gather\"\nranks = 4\nbytes = 10";
        let on_off = "kind = \"on-off\"\npairs = [[0, 2]]\nbytes = 10";
        let cases = [
            case("start_us", "kind = \"pairs\"\npairs = [[0, 2]]"),
            case("stagger_us", "kind = \"pairs\"\npairs = [[0, 2]]"),
            case("stop_us", "kind = \"pairs\"\npairs = [[0, 2]]"),
            case("start_us", "kind = \"incast\"\nreceiver = 0"),
            case("start_us", "kind = \"permutation\""),
            case("start_us", "kind = \"random\"\nflows = 2\nbytes = 10"),
            case("start_us", "kind = \"all-to-all\"\nbytes = 10"),
            case("start_us", "kind = \"fan-out\"\nreceivers = 2\nbytes = 10"),
            case("start_us", collective),
            case("gap_us", on_off),
            case("until_us", &format!("{on_off}\ngap_us = 5.0")),
            case("until_us", sizes),
        ];
        check(cases.as_flattened());
    }
}

#[test]
fn ideal_transports_that_cannot_be_are_refused() {
    let rates = |last: &str| format!("path_gbps = [{}{last}]", "100.0, ".repeat(15));
    let case = |key: &'static str, range: &'static str, line: &str| {
        let text = with(&format!("[transport]\nkind = \"ideal\"\n{line} #!"));
        [(key, key, text.clone()), (key, range, text)]
    };
    let cases = [
        case("`paths`", "1 to 16", "paths = 0"),
        case("`paths`", "1 to 16", "paths = 17"),
        case("`sharing`", "1 or more", "sharing = 0"),
        case("`path_gbps`", "above 0", &rates("0.0")),
        case("`path_gbps`", "above 0", &rates("-1.0")),
        case("`path_gbps`", "above 0", &rates("nan")),
        case("`path_gbps`", "above 0", &rates("inf")),
    ];
    check(cases.as_flattened());
    let good = format!(
        "[transport]\nkind = \"ideal\"\npaths = 16\n{}",
        rates("0.1")
    );
    assert_eq!(message(&with(&good)), None);
}

#[test]
fn traces_that_cannot_be_are_refused() {
    let trace = |rest: &str| {
        sending(&format!(
            "kind = \"trace\"\ngroups = \"groups.json\"\n{rest}"
        ))
    };
    check(&[
        (
            "lengths",
            "`traffic.ranks` is 1 ranks for 2 files",
            trace("files = [\"a\", \"b\"]\nstage_ranks = 2\nranks = [0] #!"),
        ),
        (
            "no files",
            "`traffic.files`",
            trace("ranks = []\nstage_ranks = 2\nfiles = [] #!"),
        ),
        (
            "stage ranks",
            "`traffic.stage_ranks`",
            trace("ranks = [4294967295]\nfiles = [\"a\"]\nstage_ranks = 0 #!"),
        ),
        (
            "shrink",
            "`traffic.shrink`",
            trace("files = [\"a\"]\nranks = [0]\nstage_ranks = 2\nshrink = 0 #!"),
        ),
    ]);
    let text =
        trace("files = [\"a\"]\nranks = [0]\nstage_ranks = 2").replace("json\"", "json\" #!");
    check(&[("groups", "`traffic.groups`", text)]);
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
