//! Hosts, switches, links, and which way a packet goes.
//!
//! A link has two directions, each an output port of its own. Routes are shortest paths; of several
//! next hops a switch takes the one that the hash of the 5-tuple says, with a salt of its own, the
//! hash space cut in equal regions (RFC 2992). A logical path of a flow is a UDP source port.

use crate::time::Ps;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// A host or a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Host number.
    Host(u32),
    /// Switch number.
    Switch(u32),
}

/// One direction of a link: an output port and the wire behind it.
#[derive(Clone, Debug)]
pub struct PortSpec {
    /// `from>to`, names of the nodes; further links of the same pair get `#1`, `#2`, …
    pub name: String,
    /// Whose port it is.
    pub from: Node,
    /// What it leads to.
    pub to: Node,
    /// Rate, Gbps.
    pub gbps: f64,
    /// Propagation delay.
    pub delay: Ps,
    /// It carries packets.
    pub up: bool,
}

/// How logical paths are laid on equal next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// By hash of the 5-tuple.
    Hash,
    /// The path number modulo the number of next hops, as a testbed's switch is programmed.
    Direct,
}

/// A route entry that is a host, not a port.
pub const HOST: u32 = 1 << 31;
/// A route entry for switches that choose themselves; the low bits are the node it heads for.
pub const ADAPTIVE: u32 = 1 << 30;

/// The network's structure.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Number of hosts.
    pub hosts: u32,
    /// Names of the switches.
    pub switches: Vec<String>,
    /// Ports; each host's only egress port is among them.
    pub ports: Vec<PortSpec>,
    /// Egress port of each host.
    pub host_port: Vec<u32>,
    /// Switch of each host.
    pub leaf: Vec<u32>,
    /// Ports between which the inter-path queue difference is taken: parallel ways of one switch.
    pub groups: Vec<Vec<u32>>,
    /// How paths are steered.
    pub steering: Steering,
    salts: Vec<u64>,
    /// Output ports of each switch.
    out: Vec<Vec<u32>>,
    /// Next hops by switch and destination leaf: a range of `next_hops`.
    table: Vec<(u32, u32)>,
    next_hops: Vec<u32>,
    /// Index of a switch among those with hosts.
    leaf_index: Vec<u32>,
    leaves: u32,
}

/// Adds hosts, switches and links, then becomes a [`Fabric`].
#[derive(Default)]
pub struct Builder {
    hosts: u32,
    switches: Vec<String>,
    ports: Vec<PortSpec>,
    groups: Vec<Vec<u32>>,
    parallel: std::collections::HashMap<(Node, Node), u32>,
}

impl Builder {
    /// Adds a host.
    pub fn host(&mut self) -> Node {
        self.hosts += 1;
        Node::Host(self.hosts - 1)
    }

    /// Adds a switch.
    pub fn switch(&mut self, name: impl Into<String>) -> Node {
        self.switches.push(name.into());
        Node::Switch(self.switches.len() as u32 - 1)
    }

    fn node_name(&self, node: Node) -> String {
        match node {
            Node::Host(h) => format!("h{h}"),
            Node::Switch(s) => self.switches[s as usize].clone(),
        }
    }

    /// Adds one direction and returns its port.
    pub fn one_way(&mut self, from: Node, to: Node, gbps: f64, delay: Ps) -> u32 {
        let base = format!("{}>{}", self.node_name(from), self.node_name(to));
        let same = self.parallel.entry((from, to)).or_insert(0);
        let name = match *same {
            0 => base,
            n => format!("{base}#{n}"),
        };
        *same += 1;
        self.ports.push(PortSpec {
            name,
            from,
            to,
            gbps,
            delay,
            up: true,
        });
        self.ports.len() as u32 - 1
    }

    /// Adds a link of one rate and delay; returns the ports there and back.
    pub fn link(&mut self, a: Node, b: Node, gbps: f64, delay: Ps) -> (u32, u32) {
        (
            self.one_way(a, b, gbps, delay),
            self.one_way(b, a, gbps, delay),
        )
    }

    /// Declares parallel ways between which queues are compared.
    pub fn group(&mut self, ports: Vec<u32>) {
        self.groups.push(ports);
    }

    /// The fabric, its hash salts from `seed`.
    pub fn build(self, steering: Steering, seed: u64) -> Fabric {
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x7361_6c74);
        let switches = self.switches.len();
        let mut fabric = Fabric {
            hosts: self.hosts,
            host_port: vec![0; self.hosts as usize],
            leaf: vec![0; self.hosts as usize],
            groups: self.groups,
            steering,
            salts: (0..switches).map(|_| rng.random()).collect(),
            out: vec![Vec::new(); switches],
            table: Vec::new(),
            next_hops: Vec::new(),
            leaf_index: vec![u32::MAX; switches],
            leaves: 0,
            switches: self.switches,
            ports: self.ports,
        };
        for (i, port) in fabric.ports.iter().enumerate() {
            match (port.from, port.to) {
                (Node::Host(h), Node::Switch(s)) => {
                    fabric.host_port[h as usize] = i as u32;
                    fabric.leaf[h as usize] = s;
                    if fabric.leaf_index[s as usize] == u32::MAX {
                        fabric.leaf_index[s as usize] = fabric.leaves;
                        fabric.leaves += 1;
                    }
                }
                (Node::Switch(s), _) => fabric.out[s as usize].push(i as u32),
                (Node::Host(_), Node::Host(_)) => {}
            }
        }
        fabric.route_all();
        fabric
    }
}

/// A 64-bit mix of the words of a 5-tuple and a salt.
#[inline]
fn mix(mut h: u64) -> u64 {
    h ^= h >> 30;
    h = h.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h ^= h >> 27;
    h = h.wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

impl Fabric {
    /// Computes next hops over the links that are up: breadth first from every leaf.
    pub fn route_all(&mut self) {
        let switches = self.switches.len();
        self.table = vec![(0, 0); switches * self.leaves as usize];
        self.next_hops.clear();
        let mut into: Vec<Vec<(u32, u32)>> = vec![Vec::new(); switches];
        for port in self.ports.iter().filter(|p| p.up) {
            if let (Node::Switch(a), Node::Switch(b)) = (port.from, port.to) {
                into[b as usize].push((a, b));
            }
        }
        for leaf in 0..switches as u32 {
            if self.leaf_index[leaf as usize] != u32::MAX {
                self.route_to(leaf, &into);
            }
        }
    }

    fn route_to(&mut self, leaf: u32, into: &[Vec<(u32, u32)>]) {
        let mut distance = vec![u32::MAX; self.switches.len()];
        distance[leaf as usize] = 0;
        let mut queue = std::collections::VecDeque::from([leaf]);
        while let Some(at) = queue.pop_front() {
            for &(from, _) in &into[at as usize] {
                if distance[from as usize] == u32::MAX {
                    distance[from as usize] = distance[at as usize] + 1;
                    queue.push_back(from);
                }
            }
        }
        let column = self.leaf_index[leaf as usize];
        for (s, &d) in distance.iter().enumerate() {
            let begin = self.next_hops.len() as u32;
            if d != 0 && d != u32::MAX {
                for &p in &self.out[s] {
                    let port = &self.ports[p as usize];
                    if let Node::Switch(to) = port.to {
                        if port.up && distance[to as usize] == d - 1 {
                            self.next_hops.push(p);
                        }
                    }
                }
            }
            let end = self.next_hops.len() as u32;
            self.table[s * self.leaves as usize + column as usize] = (begin, end);
        }
    }

    /// Equal next hops of `switch` towards host `dst`; its own port if the host is here.
    #[inline]
    pub fn next_hops(&self, switch: u32, dst: u32) -> &[u32] {
        let leaf = self.leaf[dst as usize];
        if leaf == switch {
            let out = &self.out[switch as usize];
            let here = out
                .iter()
                .position(|&p| self.ports[p as usize].to == Node::Host(dst));
            return here.map_or(&[], |i| &out[i..=i]);
        }
        let column = self.leaf_index[leaf as usize] as usize;
        let (begin, end) = self.table[switch as usize * self.leaves as usize + column];
        &self.next_hops[begin as usize..end as usize]
    }

    /// UDP source port of a logical path.
    pub fn source_port(&self, flow: u32, path: u8) -> u16 {
        match self.steering {
            Steering::Hash => {
                let h = mix(u64::from(flow) << 8 | u64::from(path));
                49_152 + (h % 16_384) as u16
            }
            Steering::Direct => 49_152 + u16::from(path),
        }
    }

    /// The ports that a packet from `src` to `dst` with the given UDP source port takes after the
    /// host's own, then the host; `None` when there is no way.
    pub fn route(&self, src: u32, dst: u32, source_port: u16) -> Option<Vec<u32>> {
        let mut route = Vec::new();
        let mut at = self.leaf[src as usize];
        loop {
            let hops = self.next_hops(at, dst);
            if hops.is_empty() {
                return None;
            }
            let port = hops[self.choose(at, hops.len(), src, dst, source_port)];
            route.push(port);
            match self.ports[port as usize].to {
                Node::Switch(next) => at = next,
                Node::Host(h) => {
                    route.push(HOST | h);
                    return Some(route);
                }
            }
        }
    }

    fn choose(&self, switch: u32, ways: usize, src: u32, dst: u32, source_port: u16) -> usize {
        if self.steering == Steering::Direct {
            return usize::from(source_port - 49_152) % ways;
        }
        // Addresses, then ports and protocol; UDP to one well-known port.
        let addresses = mix(u64::from(src) << 32 | u64::from(dst));
        let hash = mix(addresses ^ u64::from(source_port) << 16 ^ self.salts[switch as usize]);
        ((u128::from(hash) * ways as u128) >> 64) as usize
    }

    /// Number of the port called `name`.
    pub fn port_by_name(&self, name: &str) -> Option<u32> {
        self.ports
            .iter()
            .position(|p| p.name == name)
            .map(|p| p as u32)
    }

    /// The other direction of a link.
    pub fn reverse(&self, port: u32) -> Option<u32> {
        let p = &self.ports[port as usize];
        let suffix = p.name.find('#').map_or("", |i| &p.name[i..]);
        let back = self.ports.iter().position(|q| {
            q.from == p.to
                && q.to == p.from
                && q.name.find('#').map_or("", |i| &q.name[i..]) == suffix
        });
        back.map(|i| i as u32)
    }

    /// Time of `bytes` through `first` and the ports of `route`, stored and forwarded, unloaded.
    pub fn unloaded(&self, first: u32, route: &[u32], bytes: u32) -> Ps {
        let ports = std::iter::once(first).chain(route.iter().copied());
        ports
            .filter(|p| p & HOST == 0)
            .map(|p| {
                let port = &self.ports[p as usize];
                port.delay + serialisation(bytes, port.gbps)
            })
            .sum()
    }
}

/// Picoseconds a byte at `gbps`, 16 fraction bits.
pub fn ps_per_byte(gbps: f64) -> u64 {
    (8_000.0 / gbps * 65_536.0).round() as u64
}

/// Time of `bytes` at `gbps`.
pub fn serialisation(bytes: u32, gbps: f64) -> Ps {
    (u64::from(bytes) * ps_per_byte(gbps)) >> 16
}
