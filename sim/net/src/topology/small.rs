//! Topologies around one bottleneck or one set of parallel paths.

use super::{count, delay, rate, BadTopology, Topology};
use crate::fabric::{serialisation, Builder, Fabric, Steering};
use crate::time::{Ps, NS};

fn ps(ns: f64) -> Ps {
    (ns * NS as f64).round() as Ps
}

fn extras(values: &[f64], paths: usize) -> Result<Vec<Ps>, BadTopology> {
    if values.len() > paths {
        return Err(BadTopology {
            key: "extra_delay_ns",
            value: format!("{} values", values.len()),
            wanted: "at most one value a path",
        });
    }
    for &v in values {
        delay("extra_delay_ns", v)?;
    }
    let mut out: Vec<Ps> = values.iter().map(|&v| ps(v)).collect();
    out.resize(paths, 0);
    Ok(out)
}

/// Two hosts; the switch on the sender's side holds a queue a path.
pub fn testbed(
    t: &Topology,
    packet_bytes: u32,
    ack_bytes: u32,
    nic: Ps,
    seed: u64,
) -> Result<Fabric, BadTopology> {
    let Topology::Testbed {
        path_gbps,
        extra_delay_ns,
        host_gbps,
        base_rtt_ns,
    } = t
    else {
        return Err(wrong());
    };
    count("path_gbps", path_gbps.len() as u32, 1, 16)?;
    for &g in path_gbps {
        rate("path_gbps", g)?;
    }
    rate("host_gbps", *host_gbps)?;
    delay("base_rtt_ns", *base_rtt_ns)?;
    let extra = extras(extra_delay_ns, path_gbps.len())?;
    let mut b = Builder::default();
    let (sender, receiver) = (b.host(), b.host());
    let (near, far) = (b.switch("near"), b.switch("far"));
    b.link(sender, near, *host_gbps, 0);
    b.link(receiver, far, *host_gbps, 0);
    let mut group = Vec::new();
    for (i, &gbps) in path_gbps.iter().enumerate() {
        let host = serialisation(packet_bytes, *host_gbps);
        let there = 2 * host + serialisation(packet_bytes, gbps) + nic;
        let back = 3 * serialisation(ack_bytes, *host_gbps);
        let half = ps(*base_rtt_ns) / 2;
        let (Some(forward), Some(backward)) = (half.checked_sub(there), half.checked_sub(back))
        else {
            return Err(BadTopology {
                key: "base_rtt_ns",
                value: base_rtt_ns.to_string(),
                wanted: "longer than twice the serialisation of a packet on the slowest path",
            });
        };
        group.push(b.one_way(near, far, gbps, forward + extra[i]));
        b.one_way(far, near, *host_gbps, backward);
    }
    b.group(group);
    Ok(b.build(Steering::Direct, seed))
}

/// Fig. 2.
pub fn four_path(t: &Topology, seed: u64) -> Result<Fabric, BadTopology> {
    let Topology::FourPath {
        senders,
        receivers,
        paths,
        host_gbps,
        path_gbps,
        receiver_gbps,
        link_ns,
        extra_delay_ns,
    } = t
    else {
        return Err(wrong());
    };
    count("senders", *senders, 1, 4096)?;
    count("receivers", *receivers, 1, 4096)?;
    count("paths", *paths, 1, 64)?;
    rate("host_gbps", *host_gbps)?;
    rate("path_gbps", *path_gbps)?;
    rate("receiver_gbps", *receiver_gbps)?;
    delay("link_ns", *link_ns)?;
    let extra = extras(extra_delay_ns, *paths as usize)?;
    let wire = ps(*link_ns);
    let mut b = Builder::default();
    let near = b.switch("tor0");
    let far = b.switch("tor1");
    for _ in 0..*senders {
        let h = b.host();
        b.link(h, near, *host_gbps, wire);
    }
    for _ in 0..*receivers {
        let h = b.host();
        b.link(h, far, *receiver_gbps, wire);
    }
    let mut group = Vec::new();
    for (i, extra) in extra.iter().enumerate() {
        let spine = b.switch(format!("spine{i}"));
        group.push(b.one_way(near, spine, *path_gbps, wire + extra));
        b.one_way(spine, near, *path_gbps, wire);
        b.link(spine, far, *path_gbps, wire);
    }
    b.group(group);
    Ok(b.build(Steering::Direct, seed))
}

/// One bottleneck.
pub fn dumbbell(t: &Topology, seed: u64) -> Result<Fabric, BadTopology> {
    let Topology::Dumbbell {
        left,
        right,
        host_gbps,
        bottleneck_gbps,
        link_ns,
    } = t
    else {
        return Err(wrong());
    };
    count("left", *left, 1, 4096)?;
    count("right", *right, 1, 4096)?;
    rate("host_gbps", *host_gbps)?;
    rate("bottleneck_gbps", *bottleneck_gbps)?;
    delay("link_ns", *link_ns)?;
    let wire = ps(*link_ns);
    let mut b = Builder::default();
    let (near, far) = (b.switch("left"), b.switch("right"));
    for i in 0..left + right {
        let h = b.host();
        b.link(h, if i < *left { near } else { far }, *host_gbps, wire);
    }
    let (there, _) = b.link(near, far, *bottleneck_gbps, wire);
    b.group(vec![there]);
    Ok(b.build(Steering::Hash, seed))
}

fn wrong() -> BadTopology {
    BadTopology {
        key: "kind",
        value: "another".into(),
        wanted: "the kind that this builder makes",
    }
}
