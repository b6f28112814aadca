//! Scenario files of two NICs. They are told from the testbed's by their table `[messages]`.

use super::scenario::{Impairments, Mesh, MeshPath, Traffic};
use crate::testbed::scenario::ScenarioError;
use serde::Deserialize;
use std::path::Path;

/// Time that a frame and its ACK spend in the NICs, ps: measured with an unloaded path.
const NIC_PS: f64 = 700_000.0;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathFile {
    gbps: f64,
    #[serde(default)]
    extra_delay_us: f64,
    #[serde(default)]
    outages_us: Vec<(f64, f64)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessagesFile {
    per_flow: u32,
    min_bytes: u32,
    max_bytes: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ImpairmentsFile {
    loss: f64,
    duplicate: f64,
    corrupt: f64,
    jitter_us: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    base_rtt_us: f64,
    host_gbps: f64,
    queue_limit_kib: u64,
    window: usize,
    mtu: u16,
    flows: usize,
    #[serde(default)]
    both_ways: bool,
    #[serde(default)]
    first_psn: u32,
    messages: MessagesFile,
    #[serde(default)]
    impairments: ImpairmentsFile,
    paths: Vec<PathFile>,
}

/// Whether the file at `path` is one of two NICs; false when it cannot be read.
pub fn is_mesh(path: &Path) -> bool {
    std::fs::read_to_string(path)
        .ok()
        .and_then(|text| toml::from_str::<toml::Table>(&text).ok())
        .is_some_and(|t| t.contains_key("messages"))
}

/// Reads a scenario; its name comes with it.
///
/// # Errors
/// [`ScenarioError`] names the file, the key and the mend.
pub fn load(path: &Path) -> Result<(String, Mesh), ScenarioError> {
    let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::File {
        path: path.to_owned(),
        source,
    })?;
    let f: File = toml::from_str(&text).map_err(|e| ScenarioError::Syntax {
        path: path.to_owned(),
        message: e.to_string().trim_end().to_owned(),
    })?;
    if let Some((key, value, wanted)) = fault(&f) {
        return Err(ScenarioError::Value {
            path: path.to_owned(),
            key,
            value,
            wanted,
        });
    }
    let name = f.name.clone();
    Ok((name, mesh(&f)))
}

type Fault = (String, String, &'static str);

/// The first value that makes no sense.
fn fault(f: &File) -> Option<Fault> {
    let bad = |key: &str, value: String, wanted| Some((key.to_owned(), value, wanted));
    let share = |v: f64| (0.0..=0.5).contains(&v);
    let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if f.name.is_empty() || !f.name.chars().all(named) {
        return bad("name", format!("{:?}", f.name), "letters, digits, - and _");
    }
    if !(2.0..=1000.0).contains(&f.base_rtt_us) {
        return bad(
            "base_rtt_us",
            f.base_rtt_us.to_string(),
            "between 2 and 1000",
        );
    }
    if !(0.1..=125.0).contains(&f.host_gbps) {
        return bad("host_gbps", f.host_gbps.to_string(), "between 0.1 and 125");
    }
    if f.queue_limit_kib == 0 {
        return bad("queue_limit_kib", "0".into(), "at least 1");
    }
    if !(64..=4096).contains(&f.mtu) || f.mtu % 64 != 0 {
        return bad("mtu", f.mtu.to_string(), "a multiple of 64 from 64 to 4096");
    }
    if !(2..=1024).contains(&f.flows) || !f.flows.is_power_of_two() {
        return bad(
            "flows",
            f.flows.to_string(),
            "a power of two from 2 to 1024",
        );
    }
    if f.first_psn >= 1 << 24 {
        return bad(
            "first_psn",
            f.first_psn.to_string(),
            "below 16777216 (24 bits)",
        );
    }
    let m = &f.messages;
    if m.per_flow == 0 {
        return bad("messages.per_flow", "0".into(), "at least 1");
    }
    if m.min_bytes == 0 || m.max_bytes < m.min_bytes || m.max_bytes > 1 << 28 {
        let value = format!("{} to {}", m.min_bytes, m.max_bytes);
        return bad(
            "messages",
            value,
            "sizes from 1 byte to 256 MB, the shortest first",
        );
    }
    let i = &f.impairments;
    for (key, v) in [
        ("impairments.loss", i.loss),
        ("impairments.duplicate", i.duplicate),
        ("impairments.corrupt", i.corrupt),
    ] {
        if !share(v) {
            return bad(key, v.to_string(), "a share from 0 to 0.5");
        }
    }
    if !(0.0..=1000.0).contains(&i.jitter_us) {
        return bad(
            "impairments.jitter_us",
            i.jitter_us.to_string(),
            "between 0 and 1000",
        );
    }
    for (n, p) in f.paths.iter().enumerate() {
        if !(0.1..=1000.0).contains(&p.gbps) {
            return bad(
                &format!("paths[{n}].gbps"),
                p.gbps.to_string(),
                "between 0.1 and 1000",
            );
        }
        if !(0.0..=1000.0).contains(&p.extra_delay_us) {
            let key = format!("paths[{n}].extra_delay_us");
            return bad(&key, p.extra_delay_us.to_string(), "between 0 and 1000");
        }
        if let Some(o) = p.outages_us.iter().find(|o| !(o.0 >= 0.0 && o.0 < o.1)) {
            let key = format!("paths[{n}].outages_us");
            return bad(
                &key,
                format!("{o:?}"),
                "pairs of times in us, from before to",
            );
        }
    }
    None
}

fn mesh(f: &File) -> Mesh {
    let frame = f64::from(f.mtu) + 104.0;
    let ps = |us: f64| (us * 1e6).round() as u64;
    let paths: Vec<MeshPath> = f
        .paths
        .iter()
        .map(|p| {
            // The base RTT is what an unloaded full packet and its ACK take.
            let wires = frame * 8_000.0 * (2.0 / f.host_gbps + 1.0 / p.gbps)
                + 104.0 * 8_000.0 * (2.0 / f.host_gbps + 1.0 / p.gbps);
            let left = (f.base_rtt_us * 1e6 - wires - NIC_PS).max(0.0) / 2.0;
            MeshPath {
                gbps: p.gbps,
                forward_ps: (left + p.extra_delay_us * 1e6) as u64,
                backward_ps: left as u64,
                outages_ps: p.outages_us.iter().map(|o| (ps(o.0), ps(o.1))).collect(),
            }
        })
        .collect();
    let rtt_ns = f
        .paths
        .iter()
        .map(|p| ((f.base_rtt_us + p.extra_delay_us) * 1000.0).round() as u32)
        .collect();
    Mesh {
        paths,
        impairments: Impairments {
            loss: f.impairments.loss,
            duplicate: f.impairments.duplicate,
            corrupt: f.impairments.corrupt,
            jitter_ps: ps(f.impairments.jitter_us),
        },
        queue_limit_bytes: f.queue_limit_kib * 1024,
        host_gbps: f.host_gbps,
        window: f.window,
        flows: f.flows.max(16),
        open_flows: f.flows,
        mtu: f.mtu,
        both_ip_versions: true,
        first_psn: f.first_psn,
        traffic: Traffic::Messages {
            per_flow: f.messages.per_flow,
            min_bytes: f.messages.min_bytes,
            max_bytes: f.messages.max_bytes,
        },
        both_ways: f.both_ways,
        reorder_slots: 253,
        end_ps: 0,
        measure_from_ps: 0,
        rtt_ns,
        interval_ns: (f.base_rtt_us * 500.0).round() as u32,
        delay_tolerance_ns: 1_000,
        scheduler: true,
        probing: false,
        host_pace: 256,
    }
}
