//! Topologies: what a scenario's `[topology]` can be, and the fabrics made of it.

mod clos;
mod small;

use crate::fabric::Fabric;
use serde::{Deserialize, Serialize};

/// A topology. Rates in Gbps; delays are one-way propagation delays of a link in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// Two hosts joined by parallel paths of their own rates and delays: the paper's testbed (§6.1).
    Testbed {
        /// Rate of each path.
        path_gbps: Vec<f64>,
        /// Delay added to each path.
        #[serde(default)]
        extra_delay_ns: Vec<f64>,
        /// Rate of the hosts' links.
        #[serde(default = "hundred")]
        host_gbps: f64,
        /// RTT of an unloaded full-size packet on a path without extra delay, ACK included.
        #[serde(default = "twenty_us")]
        base_rtt_ns: f64,
    },
    /// Fig. 2: senders behind one ToR, receivers behind another, `paths` spines between.
    FourPath {
        /// Sending hosts, numbered from 0.
        senders: u32,
        /// Receiving hosts, numbered after the senders.
        receivers: u32,
        /// Spines.
        #[serde(default = "four")]
        paths: u32,
        /// Rate of the senders' links.
        #[serde(default = "hundred")]
        host_gbps: f64,
        /// Rate of the links to and from spines.
        #[serde(default = "hundred")]
        path_gbps: f64,
        /// Rate of the receivers' links.
        #[serde(default = "hundred")]
        receiver_gbps: f64,
        /// Delay of a link.
        #[serde(default = "two_us")]
        link_ns: f64,
        /// Delay added to the first link of each path, from the first spine on.
        #[serde(default)]
        extra_delay_ns: Vec<f64>,
    },
    /// Hosts left and right of one link, the left ones first.
    Dumbbell {
        /// Hosts on the left.
        left: u32,
        /// Hosts on the right.
        right: u32,
        /// Rate of the hosts' links.
        #[serde(default = "hundred")]
        host_gbps: f64,
        /// Rate of the link between.
        #[serde(default = "hundred")]
        bottleneck_gbps: f64,
        /// Delay of a link.
        #[serde(default = "one_us")]
        link_ns: f64,
    },
    /// Two tiers: every leaf joined to every spine.
    LeafSpine {
        /// Leaf switches.
        leaves: u32,
        /// Spine switches.
        spines: u32,
        /// Hosts a leaf.
        hosts_per_leaf: u32,
        /// Rate of the hosts' links.
        #[serde(default = "hundred")]
        host_gbps: f64,
        /// Rate of the links between switches.
        #[serde(default = "four_hundred")]
        fabric_gbps: f64,
        /// Delay of a link.
        #[serde(default = "one_us")]
        link_ns: f64,
    },
    /// Three tiers (§6.2.1): pods of ToRs and aggregation switches, cores in as many groups as there
    /// are aggregation switches a pod.
    Clos {
        /// Pods.
        #[serde(default = "five")]
        pods: u32,
        /// ToRs a pod.
        #[serde(default = "four")]
        tors: u32,
        /// Aggregation switches a pod.
        #[serde(default = "four")]
        aggs: u32,
        /// Hosts a ToR.
        #[serde(default = "sixteen")]
        hosts_per_tor: u32,
        /// Core switches; a multiple of `aggs`. 4 of the 16 make the paper's 4:1.
        #[serde(default = "sixteen")]
        cores: u32,
        /// Rate of the hosts' links.
        #[serde(default = "hundred")]
        host_gbps: f64,
        /// Rate of the links between switches.
        #[serde(default = "four_hundred")]
        fabric_gbps: f64,
        /// Delay of a link.
        #[serde(default = "one_us")]
        link_ns: f64,
    },
    /// k-ary fat tree of `k^3 / 4` hosts, or fewer a ToR.
    FatTree {
        /// Ports of a switch; even.
        k: u32,
        /// Rate of every link.
        #[serde(default = "hundred")]
        gbps: f64,
        /// Delay of a link.
        #[serde(default = "one_us")]
        link_ns: f64,
    },
}

fn four() -> u32 {
    4
}
fn five() -> u32 {
    5
}
fn sixteen() -> u32 {
    16
}
fn hundred() -> f64 {
    100.0
}
fn four_hundred() -> f64 {
    400.0
}
fn one_us() -> f64 {
    1_000.0
}
fn two_us() -> f64 {
    2_000.0
}
fn twenty_us() -> f64 {
    20_000.0
}

/// What of a topology makes no sense: the key, its value, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTopology {
    /// Key.
    pub key: &'static str,
    /// Value given.
    pub value: String,
    /// What it must be.
    pub wanted: &'static str,
}

fn count(key: &'static str, value: u32, least: u32, most: u32) -> Result<(), BadTopology> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(BadTopology {
        key,
        value: value.to_string(),
        wanted: "a number of 1 or more that a network can have (hosts up to 65536)",
    })
}

fn rate(key: &'static str, value: f64) -> Result<(), BadTopology> {
    if value.is_finite() && (0.001..=10_000.0).contains(&value) {
        return Ok(());
    }
    Err(BadTopology {
        key,
        value: value.to_string(),
        wanted: "a rate of 0.001 to 10000 Gbps",
    })
}

fn delay(key: &'static str, value: f64) -> Result<(), BadTopology> {
    if value.is_finite() && (0.0..=1e9).contains(&value) {
        return Ok(());
    }
    Err(BadTopology {
        key,
        value: value.to_string(),
        wanted: "a delay of 0 to 1e9 ns",
    })
}

impl Topology {
    /// The fabric. `packet_bytes` and `ack_bytes` on the wire are needed where a base RTT is asked
    /// for; `nic` is what the NICs add to a round trip; hash salts come from `seed`.
    ///
    /// # Errors
    /// [`BadTopology`] names the first key that makes no sense.
    pub fn fabric(
        &self,
        packet_bytes: u32,
        ack_bytes: u32,
        nic: crate::time::Ps,
        seed: u64,
    ) -> Result<Fabric, BadTopology> {
        match self {
            Topology::Testbed { .. } => small::testbed(self, packet_bytes, ack_bytes, nic, seed),
            Topology::FourPath { .. } => small::four_path(self, seed),
            Topology::Dumbbell { .. } => small::dumbbell(self, seed),
            Topology::LeafSpine { .. } => clos::leaf_spine(self, seed),
            Topology::Clos { .. } => clos::clos(self, seed),
            Topology::FatTree { .. } => clos::fat_tree(self, seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(text: &str) -> Result<Fabric, BadTopology> {
        let topology: Topology = toml::from_str(text).expect(text);
        topology.fabric(1048, 64, 0, 1)
    }

    #[test]
    fn sizes_are_the_papers() {
        let clos = build("kind = \"clos\"").expect("clos");
        assert_eq!((clos.hosts, clos.switches.len()), (320, 56));
        let (near, far) = (clos.next_hops(clos.leaf[0], 16), clos.leaf[0]);
        assert_eq!(near.len(), 4);
        assert_eq!(clos.next_hops(far, 300).len(), 4);
        let fat = build("kind = \"fat-tree\"\nk = 16").expect("fat tree");
        assert_eq!((fat.hosts, fat.switches.len()), (1024, 320));
    }

    #[test]
    fn a_route_ends_at_its_host_and_uses_every_way() {
        let clos = build("kind = \"clos\"").expect("clos");
        let mut cores = std::collections::BTreeSet::new();
        for sport in 49_152..50_152 {
            let route = clos.route(3, 317, sport).expect("route");
            assert_eq!(route.len(), 6);
            assert_eq!(route[5], HOST | 317);
            cores.insert(route[2]);
        }
        assert_eq!(cores.len(), 16);
    }

    #[test]
    fn a_topology_that_does_not_divide_is_refused() {
        assert_eq!(
            build("kind = \"fat-tree\"\nk = 7")
                .map(|_| ())
                .unwrap_err()
                .key,
            "k"
        );
        let e = build("kind = \"clos\"\ncores = 6").map(|_| ()).unwrap_err();
        assert_eq!(e.key, "cores");
        let e = build("kind = \"dumbbell\"\nleft = 1\nright = 1\nbottleneck_gbps = 0.0");
        assert_eq!(e.map(|_| ()).unwrap_err().key, "bottleneck_gbps");
    }

    #[test]
    fn the_testbeds_base_rtt_is_what_was_asked_for() {
        let text = "kind = \"testbed\"\npath_gbps = [25.0, 10.0]\nextra_delay_ns = [0.0, 500.0]";
        let f = build(text).expect("testbed");
        for (path, extra) in [(0u16, 0u64), (1, 500_000)] {
            let there = f.route(0, 1, 49_152 + path).expect("there");
            let back = f.route(1, 0, 49_152 + path).expect("back");
            let rtt =
                f.unloaded(f.host_port[0], &there, 1048) + f.unloaded(f.host_port[1], &back, 64);
            assert!(rtt.abs_diff(20_000_000 + extra) < 100, "{rtt}");
        }
    }

    use crate::fabric::HOST;
}
