//! `rondo net` as scripts see it: JSON fields, files, exit codes, one clear message for bad input.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn rondo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rondo"))
        .arg("net")
        .args(args)
        .output()
        .expect("rondo runs")
}

fn json(args: &[&str]) -> Value {
    let out = rondo(args);
    let notes = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{notes}");
    serde_json::from_slice(&out.stdout).expect("exactly one JSON object")
}

fn scenario(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios/net");
    root.join(name).display().to_string()
}

fn has(value: &Value, fields: &[&str]) {
    for f in fields {
        assert!(!value[f].is_null(), "`{f}` is missing in {value}");
    }
}

#[test]
fn run_reports_every_field() {
    let r = json(&["run", &scenario("incast.toml"), "--seed", "7", "--json"]);
    has(
        &r,
        &[
            "packets_delivered",
            "events",
            "cpu_seconds",
            "packets_per_cpu_second",
            "peak_rss_mb",
            "fct_us",
            "jct_us",
            "ood",
            "nic_ood",
            "queue_kb",
            "jain",
            "utilisation",
            "retransmits",
        ],
    );
    has(&r["fct_us"], &["p50", "p99", "max"]);
    has(&r["retransmits"], &["true", "spurious", "delay_us"]);
    // Every byte of 32 flows, none out of order: the last hop is the only bottleneck.
    assert_eq!(r["packets_delivered"], 32_000);
    assert_eq!(r["flows_completed"], 32);
    assert_eq!(r["ood"]["max"], 0.0);
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let run = |seed: &str| {
        let file = scenario("lossy-links.toml");
        let out = rondo(&["run", &file, "--seed", seed, "--json", "--reproducible"]);
        assert!(out.status.success());
        out.stdout
    };
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3"), run("4"));
}

#[test]
fn run_writes_report_samples_and_captures() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("out");
    let text = out.display().to_string();
    let file = scenario("incast.toml");
    let port = "tor1.2>h100";
    let r = rondo(&["run", &file, "--seed", "1", "-o", &text, "--pcap", port]);
    assert!(r.status.success(), "{}", String::from_utf8_lossy(&r.stderr));
    for name in ["report.json", "samples.csv", "samples.svg"] {
        assert!(out.join(name).exists(), "{name}");
    }
    let pcap = std::fs::read(out.join("tor1.2-h100.pcap")).expect("a capture");
    // Nanosecond magic, either byte order; a header and 80 captured bytes a packet.
    assert!(pcap[..4] == [0x4d, 0x3c, 0xb2, 0xa1] || pcap[..4] == [0xa1, 0xb2, 0x3c, 0x4d]);
    assert!((pcap.len() - 24) / 96 > 32_000);
    let r = rondo(&["run", &file, "-o", &text, "--pcap", "nowhere"]);
    assert!(!r.status.success());
    assert!(String::from_utf8_lossy(&r.stderr).contains("`nowhere`"));
}

#[test]
fn a_sweep_goes_on_where_it_was() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().display().to_string();
    let file = scenario("incast.toml");
    let sweep = |seeds: &str| {
        json(&[
            "sweep", &file, "--seeds", seeds, "--seed", "5", "-o", &out, "--json",
        ])
    };
    assert_eq!(sweep("2")["made_before"], 0);
    let before = std::fs::read(dir.path().join("seed-6.json")).expect("a report");
    // A half-written report is made again.
    std::fs::write(dir.path().join("seed-5.json"), "{").expect("written");
    let r = sweep("4");
    assert_eq!(r["made_before"], 1);
    assert_eq!(r["seeds"], 4);
    let after = std::fs::read(dir.path().join("seed-6.json")).expect("a report");
    assert_eq!(before, after);
}

/// A report of the same name and seed but of other traffic is not taken for this one's; a flow that is
/// stopped before it starts never does, and says nothing about completion times.
#[test]
fn a_changed_scenario_is_run_again() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("pair.toml");
    let text = |bytes: &str, stop: &str| {
        format!(
            "name = \"pair\"\nduration_us = 1000.0\n[topology]\nkind = \"dumbbell\"\nleft = 2\n\
             right = 2\n[[traffic]]\nkind = \"pairs\"\npairs = [[0, 2], [1, 3]]\n\
             stagger_us = 200.0\n{bytes}{stop}"
        )
    };
    let out = dir.path().join("out").display().to_string();
    let name = file.display().to_string();
    let sweep = |contents: &str| {
        std::fs::write(&file, contents).expect("written");
        json(&[
            "sweep", &name, "--seeds", "2", "--seed", "1", "-o", &out, "--json",
        ])
    };
    let small = text("bytes = 100_000\n", "");
    assert_eq!(sweep(&small)["made_before"], 0);
    assert_eq!(sweep(&small)["made_before"], 2);
    assert_eq!(sweep(&text("bytes = 200_000\n", ""))["made_before"], 0);
    std::fs::write(&file, text("", "stop_us = 100.0\n")).expect("written");
    let r = json(&["run", &name, "--seed", "1", "--json"]);
    assert_eq!(r["flows_stopped"], 2);
    assert_eq!(r["flows_completed"], 0);
    assert!(r["jct_us"].is_null() && r["fct_us"]["p50"].is_null(), "{r}");
    // Only the first one sent, for 100 us at 100 Gbps at most.
    let packets = r["packets_delivered"].as_u64().expect("a count");
    assert!((100..1_300).contains(&packets), "{packets}");
    let share = r["utilisation"].as_f64().expect("a share");
    assert!(share > 0.0 && share <= 1.0, "{share}");
}

#[test]
fn figures_meet_their_targets() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for figure in ["4", "9", "17", "18", "19", "20", "25", "27"] {
        let out = dir.path().join(figure).display().to_string();
        let r = json(&[
            "fig", figure, "--quick", "--seed", "11", "-o", &out, "--json",
        ]);
        has(&r, &["figure", "rows", "ok"]);
        has(&r["rows"][0], &["name", "ours", "unit", "verdict"]);
        assert!(r["rows"][0].get("paper").is_some());
        assert_eq!(r["ok"], true, "{r}");
        for name in [format!("fig{figure}.svg"), format!("fig{figure}.csv")] {
            assert!(PathBuf::from(&out).join(&name).exists(), "{name}");
        }
    }
}

/// A run that cannot do what the paper says fails: with no probing and no rise a link that recovers
/// stays under-used for long.
#[test]
fn a_missed_target_is_a_failure() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().display().to_string();
    let r = rondo(&[
        "fig",
        "27",
        "--seed",
        "1",
        "--set",
        "rise=false",
        "--set",
        "probing=false",
        "-o",
        &out,
    ]);
    assert!(!r.status.success());
    let notes = String::from_utf8_lossy(&r.stderr).into_owned();
    assert!(notes.contains("targets missed"), "{notes}");
}

#[test]
fn bad_input_is_refused_in_one_message() {
    let refuse = |args: &[&str], needle: &str| {
        let out = rondo(args);
        let notes = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success(), "{args:?} succeeded");
        assert!(notes.contains(needle), "{args:?}: {notes}");
        assert!(!notes.contains("panicked"), "{args:?}: {notes}");
        assert!(out.stdout.is_empty(), "{args:?} printed results");
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("bad.toml");
    std::fs::write(
        &file,
        "name = \"bad\"\nduration_us = 10.0\n[topology]\nkind = \"dumbbell\"\nleft = 1\nright = 1\n\
         bottleneck_gbps = 0.0\n[[traffic]]\nkind = \"permutation\"\n",
    )
    .expect("written");
    let bad = file.display().to_string();
    refuse(&["run", &bad], "bad.toml:7");
    refuse(&["run", "nowhere.toml"], "nowhere.toml");
    refuse(&["fig", "8"], "figure 8");
    refuse(&["fig", "19", "--set", "alpha=2"], "alpha");
    refuse(&["fig", "19", "--set", "colour=1"], "colour");
    refuse(&["ports", &bad], "bad.toml:7");
}

#[test]
fn ports_are_listed() {
    let out = rondo(&["ports", &scenario("incast.toml")]);
    assert!(out.status.success());
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("tor1.2>h100 100 Gbps 1000 ns"), "{text}");
}
