//! The complete output of `rondo gen`: Verilog files, file list, FuseSoC core, report.

use crate::shape::{Block, Shape};
use crate::verilog::{Memory, Module, Port, VerilogError};
use crate::wrapper::{self, Plain, Stream};
use rondo_models::cycle::{picker, reorder, selector, sender, tracker, Timing};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A stage of the pipelines, as the model states it; co-simulation holds the Verilog to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Name.
    pub stage: &'static str,
    /// From request to result.
    pub latency_clocks: u32,
    /// Between requests of different flows.
    pub initiation_interval: u32,
    /// Between requests of one flow.
    pub own_flow_interval: u32,
}

/// A module in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModuleReport {
    /// Name.
    pub name: String,
    /// Ports.
    pub ports: Vec<Port>,
    /// SHA-256 of its file.
    pub sha256: String,
}

/// `report.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Shape.
    pub shape: Shape,
    /// Files written, the report among them.
    pub files: Vec<String>,
    /// Top module.
    pub top: String,
    /// Pipeline stages.
    pub pipeline: Vec<Stage>,
    /// Memories, by instance.
    pub memories: Vec<Memory>,
    /// AXI4-Streams of the top.
    pub streams: Vec<Stream>,
    /// Other ports of the top.
    pub plain_ports: Vec<Plain>,
    /// Modules.
    pub modules: Vec<ModuleReport>,
    /// SHA-256 over all Verilog files in order.
    pub hash: String,
}

/// Files by name, and the report that describes them.
#[derive(Debug, Clone)]
pub struct Package {
    /// Name and contents.
    pub files: Vec<(String, String)>,
    /// Report; `report.json` holds the same.
    pub report: Report,
}

fn sha256(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// Stages of the datapath.
pub fn pipeline() -> Vec<Stage> {
    let stage = |stage, t: Timing| Stage {
        stage,
        latency_clocks: t.latency_clocks,
        initiation_interval: t.initiation_interval,
        own_flow_interval: t.own_flow_interval,
    };
    vec![
        stage("selector", selector::TIMING),
        stage("picker", picker::TIMING),
        stage("sender", sender::TIMING),
        stage("tracker", tracker::TIMING),
        stage("reorder_announce", reorder::ANNOUNCE),
        stage("reorder_deliver", reorder::DELIVER),
    ]
}

/// Generates the datapath in `shape`: the same bytes on every run.
///
/// # Errors
/// [`VerilogError`] is a fault of the RustHDL source.
pub fn generate(shape: Shape) -> Result<Package, VerilogError> {
    let sender = Block::Sender.print(shape)?;
    let receiver = Block::Receiver.print(shape)?;
    let mut modules: Vec<Module> = Vec::new();
    for m in sender.modules.iter().chain(&receiver.modules) {
        match modules.iter().find(|o| o.name == m.name) {
            None => modules.push(m.clone()),
            Some(o) if o.text == m.text => {}
            Some(o) => {
                return Err(VerilogError::NameClash {
                    name: o.name.clone(),
                    place: "sender and receiver".into(),
                })
            }
        }
    }
    let about = format!(
        "{} paths, windows of {} PSNs, {} flows, {} slots of {} bytes",
        shape.paths, shape.window, shape.flows, shape.slots, shape.slot_bytes
    );
    let tops = (sender.module(&sender.top), receiver.module(&receiver.top));
    let (Some(tx), Some(rx)) = tops else {
        return Err(VerilogError::Unnamed {
            block: "datapath".into(),
        });
    };
    let wrapper = wrapper::wrapper(tx, rx, &about);
    modules.push(wrapper.module.clone());

    let under = |top: &str, list: &[Memory]| -> Vec<Memory> {
        list.iter()
            .map(|m| Memory {
                name: format!("{top}.{}", m.name),
                bits: m.bits,
            })
            .collect()
    };
    let mut memories = under("tx", &sender.memories);
    memories.extend(under("rx", &receiver.memories));

    let verilog: Vec<String> = modules.iter().map(|m| format!("{}.v", m.name)).collect();
    let all: String = modules.iter().map(|m| m.text.as_str()).collect();
    let mut files: Vec<(String, String)> = verilog
        .iter()
        .cloned()
        .zip(modules.iter().map(|m| m.text.clone()))
        .collect();
    files.push(("rondo.f".into(), verilog.join("\n") + "\n"));
    files.push(("rondo.core".into(), fusesoc_core(&about, &verilog)));
    let mut names: Vec<String> = files.iter().map(|(n, _)| n.clone()).collect();
    names.push("report.json".into());
    let report = Report {
        shape,
        files: names,
        top: wrapper::TOP.into(),
        pipeline: pipeline(),
        memories,
        streams: wrapper.streams,
        plain_ports: wrapper.plain,
        modules: modules
            .iter()
            .map(|m| ModuleReport {
                name: m.name.clone(),
                ports: m.ports.clone(),
                sha256: sha256(&m.text),
            })
            .collect(),
        hash: sha256(&all),
    };
    Ok(Package { files, report })
}

/// FuseSoC core description, CAPI 2.
fn fusesoc_core(about: &str, verilog: &[String]) -> String {
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    let list: String = verilog.iter().map(|f| format!("      - {f}\n")).collect();
    sections.insert("files", list);
    format!(
        "CAPI=2:\n\nname: ::rondo_datapath:0.1.0\ndescription: Rondo packet-spraying datapath, {about}\n\n\
         filesets:\n  rtl:\n    file_type: verilogSource\n    files:\n{}\n\
         targets:\n  default:\n    filesets: [rtl]\n    toplevel: {top}\n\
         \x20 lint:\n    default_tool: verilator\n    filesets: [rtl]\n    toplevel: {top}\n\
         \x20   tools:\n      verilator:\n        mode: lint-only\n        verilator_options: [-Wall]\n",
        sections["files"],
        top = wrapper::TOP
    )
}
