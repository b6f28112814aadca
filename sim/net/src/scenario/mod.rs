//! Scenario files: a topology, a transport, traffic, events, and what to measure.

mod error;
mod traffic;

pub use error::ScenarioError;
pub use traffic::{Operation, Pattern, Traffic};

use crate::config::{NicConfig, PacketConfig, SwitchConfig};
use crate::fabric::Fabric;
use crate::flows::FlowPlan;
use crate::recorder::Recorder;
use crate::simulation::{Change, Setup};
use crate::time::{from_us, Ps, NS};
use crate::topology::Topology;
use crate::transport::{Transport, TransportConfig};
use crate::workload::{Start, Workload};
use error::Place;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    duration_us: f64,
    #[serde(default)]
    first_psn: u32,
    topology: Topology,
    #[serde(default)]
    packet: PacketConfig,
    #[serde(default)]
    switch: SwitchConfig,
    #[serde(default)]
    nic: NicConfig,
    #[serde(default)]
    transport: TransportConfig,
    /// Read one by one: the parser does not tell which of an array's tables is wrong.
    traffic: Vec<toml::Table>,
    #[serde(default)]
    event: Vec<EventConfig>,
    #[serde(default)]
    measure: MeasureConfig,
}

/// A change of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventConfig {
    /// When, us.
    pub at_us: f64,
    /// Port, `from>to`; a switch is called as in `rondo net ports`.
    pub port: String,
    /// The other direction too.
    #[serde(default)]
    pub both: bool,
    /// New rate, Gbps.
    pub gbps: Option<f64>,
    /// New propagation delay, ns.
    pub delay_ns: Option<f64>,
    /// Down (false) or up (true).
    pub up: Option<bool>,
    /// Share of the packets lost at random, 0 to 1.
    pub loss: Option<f64>,
}

/// What is sampled over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureConfig {
    /// Time between samples, us; 0 for none.
    pub sample_us: f64,
    /// Ports whose queue and rate are sampled.
    pub ports: Vec<String>,
    /// Flows whose rate is sampled: the first so many.
    pub flows: u32,
    /// Hosts whose NIC-level out-of-order degree is sampled: the first so many.
    pub hosts: u32,
    /// Follow the inter-path queue difference at every change; by default on up to 64 hosts.
    pub interpath: Option<bool>,
}

impl Default for MeasureConfig {
    fn default() -> Self {
        Self {
            sample_us: 5.0,
            ports: Vec::new(),
            flows: 0,
            hosts: 0,
            interpath: None,
        }
    }
}

/// A scenario, checked.
#[derive(Clone)]
pub struct Scenario {
    /// Name, used for the output folder.
    pub name: String,
    /// The run ends here at the latest.
    pub duration: Ps,
    /// First PSN of every flow.
    pub first_psn: u32,
    /// Topology.
    pub topology: Topology,
    /// Packet sizes.
    pub packet: PacketConfig,
    /// Switches.
    pub switch: SwitchConfig,
    /// NICs.
    pub nic: NicConfig,
    /// The transport of traffic that names none.
    pub transport: TransportConfig,
    /// Traffic.
    pub traffic: Vec<Traffic>,
    /// Events.
    pub events: Vec<EventConfig>,
    /// Measurements.
    pub measure: MeasureConfig,
    /// Where relative file names start.
    pub folder: PathBuf,
    /// Source, for messages; none for scenarios made by the program.
    source: Option<Arc<Source>>,
}

struct Source {
    path: PathBuf,
    text: String,
}

impl Scenario {
    /// A scenario made by the program, with the defaults of a file that says no more.
    pub fn new(name: &str, topology: Topology, transport: TransportConfig) -> Self {
        Self {
            name: name.into(),
            duration: from_us(1_000.0),
            first_psn: 0,
            topology,
            packet: PacketConfig::default(),
            switch: SwitchConfig::default(),
            nic: NicConfig::default(),
            transport,
            traffic: Vec::new(),
            events: Vec::new(),
            measure: MeasureConfig::default(),
            folder: PathBuf::new(),
            source: None,
        }
    }

    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// [`ScenarioError`] names file, line and key, and what to write instead.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// The same from text; `path` is for messages and relative file names.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ScenarioError> {
        let file: File = toml::from_str(text).map_err(|e| ScenarioError::syntax(path, text, &e))?;
        let tables = file.traffic.iter().cloned().enumerate();
        let traffic: Vec<Traffic> = tables
            .map(|(i, table)| {
                let place = Place::of_key(path, text, "[[traffic]]", i, "");
                Traffic::try_from(table).map_err(|e| ScenarioError::syntax_in(place, text, &e))
            })
            .collect::<Result<_, _>>()?;
        check_file(path, text, &file, &traffic)?;
        let scenario = Self {
            name: file.name,
            duration: from_us(file.duration_us),
            first_psn: file.first_psn,
            topology: file.topology,
            packet: file.packet,
            switch: file.switch,
            nic: file.nic,
            transport: file.transport,
            traffic,
            events: file.event,
            measure: file.measure,
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
            source: Some(Arc::new(Source {
                path: path.to_owned(),
                text: text.to_owned(),
            })),
        };
        // Everything that can be wrong is found before anything runs.
        scenario.setup(0)?;
        Ok(scenario)
    }

    /// Where `key` of the `nth` table under `header` is set.
    fn place(&self, header: &str, nth: usize, key: &str) -> Place {
        self.source.as_ref().map_or_else(Place::default, |s| {
            Place::of_key(&s.path, &s.text, header, nth, key)
        })
    }

    /// Hash of everything that a run of `setup` depends on: the file's text, the flows that its files
    /// and the seed made, and the simulator's version.
    pub fn fingerprint(&self, setup: &Setup) -> String {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(self.source.as_ref().map_or("", |s| &s.text));
        hash.update(format!("{:?}{:?}", setup.flows, setup.triggers));
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    /// The fabric.
    ///
    /// # Errors
    /// [`ScenarioError::Value`] for a topology that cannot be built.
    pub fn fabric(&self, seed: u64) -> Result<Fabric, ScenarioError> {
        let turnaround = Ps::from(self.nic.turnaround_ns) * NS;
        let wire = u32::from(self.packet.wire_bytes());
        self.topology
            .fabric(wire, self.packet.ack_bytes.into(), turnaround, seed)
            .map_err(|e| ScenarioError::Value {
                place: self.place("[topology]", 0, e.key),
                key: format!("topology.{}", e.key),
                value: e.value,
                wanted: e.wanted.into(),
            })
    }

    /// Everything that a run needs, with flows and hashes drawn from `seed`.
    ///
    /// # Errors
    /// [`ScenarioError`] as for [`Scenario::load`].
    pub fn setup(&self, seed: u64) -> Result<Setup, ScenarioError> {
        let fabric = self.fabric(seed)?;
        let mut transports: Vec<Arc<dyn Transport>> = vec![self.transport.build()];
        let mut all = Workload::default();
        let mut names = Vec::new();
        let mut stops = Vec::new();
        for (i, traffic) in self.traffic.iter().enumerate() {
            let part = self.part(i, traffic, &fabric, seed)?;
            let transport = match &traffic.transport {
                None => 0,
                Some(t) => {
                    transports.push(t.build());
                    transports.len() as u16 - 1
                }
            };
            if let Some(us) = traffic.stop_us {
                let first = names.len() as u32;
                stops.extend((0..part.flows.len() as u32).map(|f| (from_us(us), first + f)));
            }
            names.extend(part.flows.iter().map(|_| transport));
            let key = "kind";
            all.merge(part).map_err(|source| ScenarioError::Traffic {
                place: self.place("[[traffic]]", i, key),
                key,
                source,
            })?;
        }
        let mut changes = self.changes(&fabric)?;
        changes.extend(
            stops
                .into_iter()
                .map(|(at, flow)| (at, Change::Stop { flow })),
        );
        let plan = |(f, transport): (crate::workload::FlowSpec, u16)| FlowPlan {
            src: f.src,
            dst: f.dst,
            bytes: f.bytes,
            start: f.start,
            done: f.done,
            group: f.group,
            transport,
        };
        let flows: Vec<FlowPlan> = all.flows.into_iter().zip(names).map(plan).collect();
        Ok(Setup {
            packet: self.packet,
            switch: self.switch,
            nic: self.nic,
            transports,
            triggers: all.triggers,
            changes,
            first_psn: self.first_psn,
            seed,
            recorder: self.recorder(&fabric, &flows)?,
            flows,
            fabric,
        })
    }

    /// The flows of `traffic`, the `nth` table.
    fn part(
        &self,
        nth: usize,
        traffic: &Traffic,
        fabric: &Fabric,
        seed: u64,
    ) -> Result<Workload, ScenarioError> {
        traffic.check().map_err(|e| ScenarioError::Value {
            place: self.place("[[traffic]]", nth, e.key),
            key: format!("traffic.{}", e.key),
            value: e.value,
            wanted: e.wanted.into(),
        })?;
        let port = fabric.host_port.first().copied().unwrap_or(0);
        let gbps = fabric.ports[port as usize].gbps;
        let seed = seed ^ (nth as u64) << 32;
        traffic
            .workload(fabric.hosts, gbps, self.duration, &self.folder, seed)
            .and_then(|w| w.validate(fabric.hosts).map(|()| w))
            .map_err(|source| {
                let key = traffic.key_of(&source, &self.folder);
                ScenarioError::Traffic {
                    place: self.place("[[traffic]]", nth, key),
                    key,
                    source,
                }
            })
    }

    fn changes(&self, fabric: &Fabric) -> Result<Vec<(Ps, Change)>, ScenarioError> {
        let mut changes = Vec::new();
        for (i, event) in self.events.iter().enumerate() {
            let bad = |key: &str, value: String, wanted: &str| ScenarioError::Value {
                place: self.place("[[event]]", i, key),
                key: format!("event.{key}"),
                value,
                wanted: wanted.into(),
            };
            let Some(port) = fabric.port_by_name(&event.port) else {
                let wanted = port_examples(fabric);
                return Err(bad("port", format!("{:?}", event.port), &wanted));
            };
            let mut ports = vec![port];
            ports.extend(fabric.reverse(port).filter(|_| event.both));
            if let Some(g) = event.gbps.filter(|&g| !(g > 0.0 && g <= 10_000.0)) {
                let wanted = "a rate above 0, at most 10000 Gbps (to stop a link: up = false)";
                return Err(bad("gbps", g.to_string(), wanted));
            }
            if let Some(d) = event.delay_ns.filter(|&d| !(0.0..=1e9).contains(&d)) {
                return Err(bad("delay_ns", d.to_string(), "0 to 1e9 ns"));
            }
            if let Some(l) = event.loss.filter(|&l| !(0.0..=1.0).contains(&l)) {
                return Err(bad("loss", l.to_string(), "a share from 0 to 1"));
            }
            if !(event.at_us >= 0.0 && event.at_us <= 1e9) {
                return Err(bad("at_us", event.at_us.to_string(), "0 to 1e9 us"));
            }
            for port in ports {
                event.add(from_us(event.at_us), port, &mut changes);
            }
        }
        Ok(changes)
    }

    fn recorder(&self, fabric: &Fabric, flows: &[FlowPlan]) -> Result<Recorder, ScenarioError> {
        let m = &self.measure;
        let mut ports = Vec::new();
        for name in &m.ports {
            ports.push(
                fabric
                    .port_by_name(name)
                    .ok_or_else(|| ScenarioError::Value {
                        place: self.place("[measure]", 0, "ports"),
                        key: "measure.ports".into(),
                        value: format!("{name:?}"),
                        wanted: port_examples(fabric),
                    })?,
            );
        }
        if m.sample_us != 0.0 && !(0.01..=1e9).contains(&m.sample_us) {
            return Err(ScenarioError::Value {
                place: self.place("[measure]", 0, "sample_us"),
                key: "measure.sample_us".into(),
                value: m.sample_us.to_string(),
                wanted: "0 (no samples), or 0.01 to 1e9 us".into(),
            });
        }
        let mut recorder = Recorder::every(from_us(m.sample_us));
        recorder.ports = ports;
        recorder.flows = (0..m.flows.min(flows.len() as u32)).collect();
        recorder.hosts = (0..m.hosts.min(fabric.hosts)).collect();
        recorder.watch_groups = m.interpath.unwrap_or(fabric.hosts <= 64);
        Ok(recorder)
    }
}

impl EventConfig {
    fn add(&self, at: Ps, port: u32, to: &mut Vec<(Ps, Change)>) {
        if let Some(gbps) = self.gbps {
            to.push((at, Change::Rate { port, gbps }));
        }
        if let Some(ns) = self.delay_ns {
            let delay = (ns * NS as f64).round() as Ps;
            to.push((at, Change::Delay { port, delay }));
        }
        if let Some(share) = self.loss {
            to.push((at, Change::Loss { port, share }));
        }
        if let Some(up) = self.up {
            to.push((at, Change::Up { port, up }));
        }
    }
}

fn port_examples(fabric: &Fabric) -> String {
    let names: Vec<&str> = fabric
        .ports
        .iter()
        .rev()
        .step_by(1 + fabric.ports.len() / 4)
        .map(|p| p.name.as_str())
        .collect();
    format!("a port of this topology, such as {}", names.join(", "))
}

fn check_file(
    path: &Path,
    text: &str,
    file: &File,
    traffic: &[Traffic],
) -> Result<(), ScenarioError> {
    let bad_at = |header: &str, nth: usize, key: &str, value: String, wanted: &str| {
        Err(ScenarioError::Value {
            place: Place::of_key(path, text, header, nth, key),
            key: key.into(),
            value,
            wanted: wanted.into(),
        })
    };
    let bad = |header, key: &str, value, wanted: &str| bad_at(header, 0, key, value, wanted);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if file.name.is_empty() || !file.name.chars().all(plain) {
        let value = format!("{:?}", file.name);
        return bad("", "name", value, "letters, digits, - and _");
    }
    let duration = file.duration_us;
    if !(duration > 0.0 && duration <= 1e8) {
        let wanted = "above 0 and at most 1e8 us";
        return bad("", "duration_us", duration.to_string(), wanted);
    }
    if file.first_psn >= 1 << 24 {
        return bad("", "first_psn", file.first_psn.to_string(), "below 2^24");
    }
    if traffic.is_empty() {
        let wanted = "at least one [[traffic]] table";
        return bad("", "traffic", "empty".into(), wanted);
    }
    let p = &file.packet;
    if !(64..=9_000).contains(&p.payload_bytes) {
        let value = p.payload_bytes.to_string();
        return bad("[packet]", "payload_bytes", value, "64 to 9000 bytes");
    }
    if p.header_bytes > 1_000 {
        let value = p.header_bytes.to_string();
        return bad("[packet]", "header_bytes", value, "at most 1000 bytes");
    }
    if !(64..=1_000).contains(&p.ack_bytes) {
        let value = p.ack_bytes.to_string();
        return bad("[packet]", "ack_bytes", value, "64 to 1000 bytes");
    }
    let s = &file.switch;
    if !(s.dynamic_alpha > 0.0 && s.dynamic_alpha <= 1_000.0) {
        let value = s.dynamic_alpha.to_string();
        return bad("[switch]", "dynamic_alpha", value, "above 0, at most 1000");
    }
    if s.buffer_bytes < 10_000 {
        let value = s.buffer_bytes.to_string();
        return bad("[switch]", "buffer_bytes", value, "10000 or more");
    }
    if s.pfc_xon_bytes > s.pfc_xoff_bytes {
        let value = s.pfc_xon_bytes.to_string();
        return bad("[switch]", "pfc_xon_bytes", value, "at most pfc_xoff_bytes");
    }
    if s.data_queue_bytes < 10_000 {
        let value = s.data_queue_bytes.to_string();
        return bad("[switch]", "data_queue_bytes", value, "10000 or more");
    }
    if !(0.0..=1.0).contains(&s.ecn_probability) {
        let value = s.ecn_probability.to_string();
        return bad(
            "[switch]",
            "ecn_probability",
            value,
            "a probability from 0 to 1",
        );
    }
    if s.ecn_min_bytes > s.ecn_max_bytes {
        let value = s.ecn_min_bytes.to_string();
        return bad("[switch]", "ecn_min_bytes", value, "at most ecn_max_bytes");
    }
    let checked = |c: &TransportConfig, header: &str, nth| {
        c.check()
            .or_else(|e| bad_at(header, nth, e.key, e.value, e.wanted))
    };
    checked(&file.transport, "[transport]", 0)?;
    for (i, t) in traffic.iter().enumerate() {
        if let Some(c) = &t.transport {
            checked(c, "[[traffic]]", i)?;
        }
    }
    Ok(())
}

/// All flows start at the same time.
pub(crate) fn start_at(us: f64) -> Start {
    Start::At(from_us(us))
}
