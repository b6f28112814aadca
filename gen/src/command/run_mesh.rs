//! `rondo run` of a scenario with `[messages]`: two NICs end to end.

use super::long_run::{interrupted, progress_bar};
use super::{print_json, print_text, CommandError};
use rondo::cosim::as_text;
use rondo::nic::nic_core;
use rondo::shape::Shape;
use rondo_models::wire::DropCause;
use rondo_sim::nic::file;
use rondo_sim::nic::run::{run, Outcome};
use serde_json::json;
use std::path::Path;

/// Runs the scenario at `path`; fails on a difference, and when anything is not delivered.
pub fn run_mesh(path: &Path, seed: u64, as_json: bool) -> Result<(), CommandError> {
    let (name, mesh) = file::load(path)?;
    let shape = Shape::new(mesh.paths.len(), mesh.window, mesh.flows)?;
    let design = nic_core(shape).map_err(|e| CommandError::Failed(e.to_string()))?;
    let v = as_text(&design);
    let bar = progress_bar(1000, &name);
    let o = run(&v, &mesh, seed, None, &mut |share| {
        bar.set_position((share * 1000.0) as u64);
        !interrupted()
    })?;
    bar.finish_and_clear();
    if interrupted() {
        return Err(CommandError::Interrupted);
    }
    if as_json {
        print_json(&report(&name, seed, &o))?;
    } else {
        print_text(&table(&name, &o))?;
    }
    if o.mismatches > 0 {
        let what = o.first.unwrap_or_default();
        return Err(CommandError::Failed(format!(
            "{} differences from the golden endpoints, first: {what}",
            o.mismatches
        )));
    }
    match o.unrest {
        Some(what) => Err(CommandError::Failed(format!("not at rest: {what}"))),
        None if !o.complete => Err(CommandError::Failed(format!(
            "{} bytes were not delivered",
            o.lost_bytes
        ))),
        None => Ok(()),
    }
}

/// Drops of both NICs by cause, and those of the network.
fn drops(o: &Outcome) -> serde_json::Map<String, serde_json::Value> {
    let nic = (1..16u8).filter_map(|code| {
        let cause = DropCause::from_code(code)?;
        Some((cause.name().to_owned(), o.drops[usize::from(code)].into()))
    });
    let f = &o.fates;
    let network = [
        ("network_loss", f.lost),
        ("network_outage", f.outage),
        ("queue_full", f.queue_full),
    ];
    nic.chain(network.map(|(n, v)| (n.to_owned(), v.into())))
        .collect()
}

fn report(name: &str, seed: u64, o: &Outcome) -> serde_json::Value {
    let paths: Vec<_> = o
        .paths
        .iter()
        .map(|&(gbps, avg, max)| json!({"gbps": gbps, "queue_us": {"avg": avg, "max": max}}))
        .collect();
    json!({
        "scenario": name,
        "seed": seed,
        "throughput_gbps": o.throughput_gbps,
        "goodput_gbps": o.goodput_gbps,
        "duration_us": o.measured_us,
        "ood": o.ood,
        "rbo": {"avg": o.rbo.avg, "max": o.rbo.max},
        "paths": paths,
        "mismatches": o.mismatches,
        "compared": o.compared,
        "delivered": {"bytes": o.bytes, "messages": o.messages},
        "in_order": o.mismatches == 0,
        "lost_bytes": o.lost_bytes,
        "duplicated_bytes": 0,
        "at_rest": o.unrest.is_none(),
        "drops": drops(o),
        "duplicates": o.duplicates,
        "naks": o.naks,
        "retransmissions": o.retransmissions,
        "timeouts": o.timeouts,
        "updates": {"count": o.updates},
        "cycles_per_second": o.cycles_per_second,
    })
}

fn table(name: &str, o: &Outcome) -> String {
    format!(
        "{name}: {} messages, {} bytes delivered once, in order, in {:.1} us of network time\n\
         goodput to side 1 {:.2} Gbps; OOD average {:.2}, largest {}\n\
         network: {} lost, {} in outages, {} queue full, {} doubled, {} corrupted\n\
         {} retransmissions ({} by timeout), {} duplicates, {} NAKs\n\
         {} values compared, {} mismatches; pools as after reset: {}\n",
        o.messages,
        o.bytes,
        o.total_us,
        o.goodput_gbps,
        o.ood.avg,
        o.ood.max,
        o.fates.lost,
        o.fates.outage,
        o.fates.queue_full,
        o.fates.duplicated,
        o.fates.corrupted,
        o.retransmissions,
        o.timeouts,
        o.duplicates,
        o.naks,
        o.compared,
        o.mismatches,
        o.unrest.is_none()
    )
}
