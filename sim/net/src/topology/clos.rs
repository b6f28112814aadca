//! Multi-rooted trees.

use super::{count, delay, rate, BadTopology, Topology};
use crate::fabric::{Builder, Fabric, Node, Steering};
use crate::time::{Ps, NS};

/// A tree's switches between hosts and cores.
struct Tiers {
    pods: u32,
    tors: u32,
    aggs: u32,
    hosts_per_tor: u32,
    /// Cores that each aggregation switch reaches.
    cores_per_agg: u32,
    host_gbps: f64,
    fabric_gbps: f64,
    wire: Ps,
}

fn wire(ns: f64) -> Ps {
    (ns * NS as f64).round() as Ps
}

fn tree(t: &Tiers, seed: u64) -> Fabric {
    let mut b = Builder::default();
    let mut aggs: Vec<Vec<Node>> = Vec::new();
    for pod in 0..t.pods {
        let pod_aggs: Vec<Node> = (0..t.aggs)
            .map(|a| b.switch(format!("agg{pod}.{a}")))
            .collect();
        for tor in 0..t.tors {
            let tor = b.switch(format!("tor{pod}.{tor}"));
            for _ in 0..t.hosts_per_tor {
                let h = b.host();
                b.link(h, tor, t.host_gbps, t.wire);
            }
            let up = pod_aggs
                .iter()
                .map(|&agg| b.link(tor, agg, t.fabric_gbps, t.wire).0)
                .collect();
            b.group(up);
        }
        aggs.push(pod_aggs);
    }
    for group in 0..t.aggs {
        for core in 0..t.cores_per_agg {
            let core = b.switch(format!("core{}", group * t.cores_per_agg + core));
            for pod in &aggs {
                b.link(pod[group as usize], core, t.fabric_gbps, t.wire);
            }
        }
    }
    b.build(Steering::Hash, seed)
}

/// Two tiers.
pub fn leaf_spine(t: &Topology, seed: u64) -> Result<Fabric, BadTopology> {
    let Topology::LeafSpine {
        leaves,
        spines,
        hosts_per_leaf,
        host_gbps,
        fabric_gbps,
        link_ns,
    } = t
    else {
        return Err(wrong());
    };
    count("leaves", *leaves, 1, 4096)?;
    count("spines", *spines, 1, 1024)?;
    count(
        "hosts_per_leaf",
        *hosts_per_leaf,
        1,
        65_536 / leaves.max(&1),
    )?;
    rate("host_gbps", *host_gbps)?;
    rate("fabric_gbps", *fabric_gbps)?;
    delay("link_ns", *link_ns)?;
    let mut b = Builder::default();
    let tops: Vec<Node> = (0..*spines)
        .map(|s| b.switch(format!("spine{s}")))
        .collect();
    for leaf in 0..*leaves {
        let leaf = b.switch(format!("leaf{leaf}"));
        for _ in 0..*hosts_per_leaf {
            let h = b.host();
            b.link(h, leaf, *host_gbps, wire(*link_ns));
        }
        let up = tops
            .iter()
            .map(|&s| b.link(leaf, s, *fabric_gbps, wire(*link_ns)).0)
            .collect();
        b.group(up);
    }
    Ok(b.build(Steering::Hash, seed))
}

/// Three tiers as in §6.2.1.
pub fn clos(t: &Topology, seed: u64) -> Result<Fabric, BadTopology> {
    let Topology::Clos {
        pods,
        tors,
        aggs,
        hosts_per_tor,
        cores,
        host_gbps,
        fabric_gbps,
        link_ns,
    } = t
    else {
        return Err(wrong());
    };
    count("pods", *pods, 1, 256)?;
    count("tors", *tors, 1, 256)?;
    count("aggs", *aggs, 1, 256)?;
    count("hosts_per_tor", *hosts_per_tor, 1, 65_536 / (pods * tors))?;
    rate("host_gbps", *host_gbps)?;
    rate("fabric_gbps", *fabric_gbps)?;
    delay("link_ns", *link_ns)?;
    if *cores == 0 || cores % aggs != 0 {
        return Err(BadTopology {
            key: "cores",
            value: cores.to_string(),
            wanted: "a multiple of `aggs`: every aggregation switch of a pod reaches as many cores",
        });
    }
    let tiers = Tiers {
        pods: *pods,
        tors: *tors,
        aggs: *aggs,
        hosts_per_tor: *hosts_per_tor,
        cores_per_agg: cores / aggs,
        host_gbps: *host_gbps,
        fabric_gbps: *fabric_gbps,
        wire: wire(*link_ns),
    };
    Ok(tree(&tiers, seed))
}

/// k-ary fat tree.
pub fn fat_tree(t: &Topology, seed: u64) -> Result<Fabric, BadTopology> {
    let Topology::FatTree { k, gbps, link_ns } = t else {
        return Err(wrong());
    };
    rate("gbps", *gbps)?;
    delay("link_ns", *link_ns)?;
    if *k < 2 || *k > 64 || k % 2 != 0 {
        return Err(BadTopology {
            key: "k",
            value: k.to_string(),
            wanted: "an even number of 2 to 64: half of a switch's ports lead up, half down",
        });
    }
    let tiers = Tiers {
        pods: *k,
        tors: k / 2,
        aggs: k / 2,
        hosts_per_tor: k / 2,
        cores_per_agg: k / 2,
        host_gbps: *gbps,
        fabric_gbps: *gbps,
        wire: wire(*link_ns),
    };
    Ok(tree(&tiers, seed))
}

fn wrong() -> BadTopology {
    BadTopology {
        key: "kind",
        value: "another".into(),
        wanted: "the kind that this builder makes",
    }
}
