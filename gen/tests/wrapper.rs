//! The AXI wrapper in simulation: the tops' own benches run through `rondo_datapath`, connected by
//! the layout that `report.json` states.
#![cfg(feature = "cosim")]

use rondo::package::{generate, Package};
use rondo::shape::Shape;
use rondo::verilog::{Direction, Port};
use rondo_models::reorder::Buffer;
use rondo_sim::bench::{ReceiverBench, SenderBench};
use rondo_sim::lockstep::{run, Bench, Run};
use rondo_sim::Verilog;
use std::fmt::Write;

/// A module with the ports of `top` around the wrapper; the other side's inputs are tied off.
fn through_the_wrapper(package: &Package, top: &str, instance: &str) -> Verilog {
    let report = &package.report;
    let module = |name: &str| {
        let m = report.modules.iter().find(|m| m.name == name);
        m.expect("the module is in the report").ports.clone()
    };
    let (ports, outer) = (module(top), module(&report.top));
    let width = |p: &Port| match p.bits {
        1 => String::new(),
        n => format!("[{}:0] ", n - 1),
    };
    let mut declare = String::new();
    let mut join = String::new();
    for p in &outer {
        let _ = writeln!(declare, "    wire {}w_{};", width(p), p.name);
    }
    let _ = writeln!(
        join,
        "    assign w_aclk = clk;\n    assign w_aresetn = !rst;"
    );
    // Wires of the wrapper's inputs, part by part, and what is left of them.
    let mut connect = |inner: &str, outer: String, input: bool| {
        let _ = if input {
            writeln!(join, "    assign w_{outer} = {inner};")
        } else {
            writeln!(join, "    assign {inner} = w_{outer};")
        };
    };
    let mut driven = vec!["aclk".to_owned(), "aresetn".to_owned()];
    for s in &report.streams {
        let Some(inner) = s
            .name
            .strip_prefix(&format!("s_axis_{instance}"))
            .or(s.name.strip_prefix(&format!("m_axis_{instance}")))
        else {
            continue;
        };
        let inner = match inner {
            "" => instance,
            rest => rest.trim_start_matches('_'),
        };
        let input = s.direction == Direction::Input;
        connect(
            &format!("{inner}_valid"),
            format!("{}_tvalid", s.name),
            input,
        );
        connect(
            &format!("{inner}_ready"),
            format!("{}_tready", s.name),
            !input,
        );
        driven.push(format!(
            "{}_{}",
            s.name,
            if input { "tvalid" } else { "tready" }
        ));
        if s.packet {
            for f in ["data", "keep", "last"] {
                connect(&format!("{inner}_{f}"), format!("{}_t{f}", s.name), input);
                driven.push(format!("{}_t{f}", s.name));
            }
        }
        for f in &s.fields {
            let part = format!(
                "{}_{}[{}:{}]",
                s.name,
                s.carrier,
                f.offset + f.bits - 1,
                f.offset
            );
            connect(&format!("{inner}_{}", f.name), part, input);
        }
        if input {
            driven.push(format!("{}_{}", s.name, s.carrier));
            let used = s.fields.last().map_or(0, |f| f.offset + f.bits);
            if used < s.bits {
                connect(
                    &format!("{}'d0", s.bits - used),
                    format!("{}_{}[{}:{used}]", s.name, s.carrier, s.bits - 1),
                    true,
                );
            }
        }
    }
    for p in &report.plain_ports {
        if let Some(inner) = p.name.strip_prefix(&format!("{instance}_")) {
            let input = p.direction == Direction::Input;
            connect(inner, p.name.clone(), input);
            driven.push(p.name.clone());
        }
    }
    for p in &outer {
        if p.direction == Direction::Input && !driven.contains(&p.name) {
            let _ = writeln!(join, "    assign w_{} = {}'d0;", p.name, p.bits);
        }
    }
    let list: Vec<String> = ports
        .iter()
        .map(|p| {
            let side = match p.direction {
                Direction::Input => "input",
                Direction::Output => "output",
            };
            format!("    {side} wire {}{}", width(p), p.name)
        })
        .collect();
    let pins: Vec<String> = outer
        .iter()
        .map(|p| format!("        .{0}(w_{0})", p.name))
        .collect();
    let text = format!(
        "module shim (\n{}\n);\n{declare}{join}    {} dut (\n{}\n    );\nendmodule\n",
        list.join(",\n"),
        report.top,
        pins.join(",\n")
    );
    let mut files: Vec<(String, String)> = package
        .files
        .iter()
        .filter(|(n, _)| n.ends_with(".v"))
        .cloned()
        .collect();
    files.push(("shim.v".into(), text));
    Verilog {
        top: "shim".into(),
        files,
        ports: ports
            .iter()
            .map(|p| rondo_sim::Port {
                name: p.name.clone(),
                bits: p.bits,
                output: p.direction == Direction::Output,
            })
            .collect(),
    }
}

fn agrees(v: &Verilog, bench: &mut dyn Bench) {
    let how = Run {
        cycles: 100_000,
        seed: 1,
        checked: true,
        waves: None,
    };
    let outcome = run(v, bench, how, &mut |_| true).expect("runs");
    assert_eq!(outcome.mismatch, None);
    for (port, transfers) in &outcome.transfers {
        assert!(*transfers > 0, "`{port}` was never used");
    }
}

#[test]
fn the_sender_behind_its_axi_names() {
    let package = generate(Shape::new(4, 128, 16).expect("on the menu")).expect("generates");
    let v = through_the_wrapper(&package, "rondo_sender", "tx");
    agrees(&v, &mut SenderBench::new(&v, 4, 128, 16, 1).expect("fits"));
}

#[test]
fn the_receiver_behind_its_axi_names() {
    let package = generate(Shape::new(2, 256, 16).expect("on the menu")).expect("generates");
    let v = through_the_wrapper(&package, "rondo_receiver", "rx");
    agrees(
        &v,
        &mut ReceiverBench::new(&v, Buffer::DEFAULT, 256, 16, 1).expect("fits"),
    );
}
