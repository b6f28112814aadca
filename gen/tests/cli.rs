//! The command line as scripts see it: JSON fields, exit codes, one clear message for bad input.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn rondo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rondo"))
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

/// Fails with one message that contains `needle`, and prints nothing else.
fn refuses(args: &[&str], needle: &str) {
    let out = rondo(args);
    let notes = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success(), "{args:?} succeeded");
    assert!(notes.contains(needle), "{args:?}: {notes}");
    assert!(!notes.contains("panicked"), "{args:?}: {notes}");
    assert!(out.stdout.is_empty(), "{args:?} printed results");
}

fn has(value: &Value, fields: &[&str]) {
    for f in fields {
        assert!(!value[f].is_null(), "`{f}` is missing in {value}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

#[test]
fn gen_writes_and_reports() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("made");
    let r = json(&[
        "gen",
        "--paths",
        "2",
        "--window",
        "256",
        "-o",
        text(&out),
        "--json",
    ]);
    has(
        &r,
        &["shape", "files", "top", "pipeline", "memories", "hash"],
    );
    has(&r["shape"], &["paths", "window", "flows"]);
    has(
        &r["pipeline"][0],
        &["stage", "latency_clocks", "initiation_interval"],
    );
    has(&r["memories"][0], &["name", "bits"]);
    for f in r["files"].as_array().expect("a list") {
        assert!(out.join(f.as_str().expect("a name")).exists(), "{f}");
    }
    let names: Vec<_> = std::fs::read_dir(&out)
        .expect("the folder")
        .map(|e| e.expect("an entry").file_name())
        .collect();
    assert_eq!(names.len(), r["files"].as_array().expect("a list").len());
}

#[test]
fn gen_refuses_what_it_cannot_do() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("never");
    refuses(&["gen", "--paths", "5", "-o", text(&out)], "--paths 5");
    refuses(&["gen", "--window", "64", "-o", text(&out)], "--window 64");
    refuses(
        &["gen", "--window", "33554432", "-o", text(&out)],
        "--window",
    );
    refuses(&["gen", "--flows", "3", "-o", text(&out)], "--flows 3");
    assert!(!out.exists(), "nothing half-written");
    let file = dir.path().join("file");
    std::fs::write(&file, "x").expect("write");
    refuses(&["gen", "-o", text(&file.join("below"))], "below");
}

#[cfg(feature = "cosim")]
mod with_verilator {
    use super::*;

    #[test]
    fn cosim_reports_what_it_did() {
        let args = [
            "cosim", "--block", "tracker", "--cycles", "20000", "--seed", "3", "--json",
        ];
        let r = json(&args);
        assert_eq!(r["seed"], 3);
        assert_eq!(r["mismatches"], 0);
        has(
            &r["blocks"][0],
            &[
                "name",
                "cycles",
                "compared",
                "mismatches",
                "cycles_per_second",
            ],
        );
        assert_eq!(r["blocks"][0]["cycles"], 20_000);
    }

    #[test]
    fn cosim_reports_a_mismatch_with_waves_and_the_command_to_repeat_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let made = dir.path().join("made");
        json(&["gen", "--flows", "16", "-o", text(&made), "--json"]);
        // The receiver's, which is the one that the block's co-simulation runs.
        let file = made.join("rondo_tracker_128x77.v");
        let verilog = std::fs::read_to_string(&file).expect("the tracker");
        std::fs::write(&file, verilog.replace("base_7 + ", "base_7 - ")).expect("write");
        let wave = dir.path().join("waves.vcd");
        let out = rondo(&[
            "cosim",
            "--block",
            "tracker",
            "--cycles",
            "100000",
            "--seed",
            "3",
            "--json",
            "--rtl",
            text(&made),
            "--wave",
            text(&wave),
        ]);
        assert!(!out.status.success());
        let r: Value = serde_json::from_slice(&out.stdout).expect("one JSON object");
        assert_eq!(r["mismatches"], 1);
        let first = &r["blocks"][0]["first_mismatch"];
        has(
            first,
            &["cycle", "port", "expected", "actual", "wave", "reproduce"],
        );
        assert!(first["reproduce"]
            .as_str()
            .expect("text")
            .contains("--seed 3"));
        let vcd = std::fs::read_to_string(&wave).expect("waves");
        assert!(vcd.contains("$enddefinitions"));
    }

    #[test]
    fn a_short_testbed_run_delivers_everything_in_order() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let scenario = root.join("tests/scenarios/testbed-heterogeneous.toml");
        let short = dir.path().join("short.toml");
        let toml = std::fs::read_to_string(scenario)
            .expect("the scenario")
            .replace(
                "duration_ms = 20.0",
                "duration_ms = 3.0\nmeasure_from_ms = 1.0",
            );
        std::fs::write(&short, toml).expect("write");
        let out = dir.path().join("out");
        let r = json(&[
            "run",
            text(&short),
            "--seed",
            "1",
            "-o",
            text(&out),
            "--json",
        ]);
        has(
            &r,
            &[
                "throughput_gbps",
                "goodput_gbps",
                "duration_us",
                "ood",
                "rbo",
                "paths",
                "mismatches",
                "delivered",
                "in_order",
                "lost_bytes",
                "duplicated_bytes",
                "drops",
                "updates",
            ],
        );
        has(&r["ood"], &["avg", "p99", "max"]);
        has(&r["rbo"], &["avg", "max"]);
        has(&r["paths"][3]["queue_us"], &["avg", "max"]);
        assert_eq!(r["mismatches"], 0);
        assert_eq!(r["in_order"], true);
        assert_eq!(r["lost_bytes"], 0);
        assert!(
            r["throughput_gbps"].as_f64().expect("a number") > 60.0,
            "{r}"
        );
        for plot in ["ood.svg", "throughput.svg", "queues.svg", "report.json"] {
            assert!(out.join(plot).exists(), "{plot}");
        }
    }

    #[test]
    fn run_refuses_bad_scenarios() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("bad.toml");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let good = std::fs::read_to_string(root.join("tests/scenarios/testbed-homogeneous.toml"))
            .expect("the scenario");
        let out = dir.path().join("out");
        let check = |from: &str, to: &str, needle: &str| {
            assert!(good.contains(from), "{from}");
            std::fs::write(&file, good.replacen(from, to, 1)).expect("write");
            refuses(&["run", text(&file), "-o", text(&out)], needle);
        };
        check("gbps = 25.0", "gbps = -25.0", "paths[0].gbps");
        check("gbps = 25.0", "gbps = 0.0", "paths[0].gbps");
        check("gbps = 25.0", "gbps = nan", "paths[0].gbps");
        check("[[paths]]\ngbps = 25.0", "", "paths");
        check("window = 256", "window = 33554432", "window");
        check("window = 256", "window = 256\nwindwo = 1", "windwo");
        check("base_rtt_us = 20.0", "", "base_rtt_us");
        check("packet_bytes = 4096", "packet_bytes = 9000", "packet_bytes");
        check("first_psn = 16777000", "first_psn = 16777216", "first_psn");
        check("duration_ms = 20.0", "duration_ms = -1.0", "duration_ms");
        check("name = \"testbed", "name = \"../testbed", "name");
        check("name =", "name", "bad.toml");
        assert!(!out.exists(), "nothing half-written");
        refuses(&["run", "no-such-file.toml"], "no-such-file.toml");
    }

    #[test]
    fn a_missing_verilator_is_named() {
        let out = Command::new(env!("CARGO_BIN_EXE_rondo"))
            .args(["cosim", "--block", "tracker", "--cycles", "1000"])
            .env("PATH", "")
            .output()
            .expect("rondo runs");
        let notes = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success());
        assert!(notes.contains("`verilator` was not found"), "{notes}");
        assert!(notes.contains("setup.sh"), "{notes}");
    }

    #[cfg(unix)]
    #[test]
    fn an_old_verilator_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let fake = dir.path().join("verilator");
        std::fs::write(&fake, "#!/bin/sh\necho 'Verilator 4.038 2020-07-11'\n").expect("write");
        std::fs::set_permissions(&fake, PermissionsExt::from_mode(0o755)).expect("mode");
        let path = format!("{}:/usr/bin:/bin", dir.path().display());
        let out = Command::new(env!("CARGO_BIN_EXE_rondo"))
            .args(["cosim", "--block", "tracker", "--cycles", "1000"])
            .env("PATH", path)
            .output()
            .expect("rondo runs");
        let notes = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success());
        assert!(
            notes.contains("Verilator 5") && notes.contains("4.038"),
            "{notes}"
        );
    }

    #[test]
    fn budget_measures_what_the_model_states() {
        let r = json(&["budget", "--json"]);
        has(
            &r,
            &[
                "packet_interval_clocks",
                "stages",
                "max_mpps",
                "paper",
                "control",
            ],
        );
        has(
            &r["control"],
            &["cycles_per_update", "flows_per_core", "engine_needed"],
        );
        assert_eq!(r["paper"]["per_packet_cycles"], 25);
        for s in rondo::package::pipeline() {
            let measured = r["stages"]
                .as_array()
                .expect("a list")
                .iter()
                .find(|m| m["name"] == s.stage);
            if let Some(m) = measured {
                assert_eq!(m["latency_clocks"], s.latency_clocks, "{}", s.stage);
                assert_eq!(
                    m["initiation_interval"].as_f64(),
                    Some(f64::from(s.initiation_interval)),
                    "{}",
                    s.stage
                );
                assert_eq!(
                    m["own_flow_interval"].as_f64(),
                    Some(f64::from(s.own_flow_interval)),
                    "{}",
                    s.stage
                );
            }
        }
        let stages = r["stages"].as_array().expect("a list");
        let receiver = stages.iter().find(|m| m["name"] == "receiver_1_beat");
        let receiver = receiver.expect("the receiver");
        let stated = rondo_models::cycle::reorder::DELIVER;
        assert_eq!(
            receiver["initiation_interval"],
            f64::from(stated.initiation_interval)
        );
        assert_eq!(
            receiver["own_flow_interval"],
            f64::from(stated.own_flow_interval)
        );
        refuses(&["budget", "--mtu", "10"], "--mtu 10");
        refuses(&["budget", "--link-gbps", "-1"], "--link-gbps -1");
    }
}
