//! The AXI wrapper: both tops behind AXI4-Stream names, `aclk` and `aresetn`.
//!
//! A top's port called `<stream>_<field>` belongs to the stream when the top also has
//! `<stream>_valid` and `<stream>_ready`. A stream with `data`, `keep` and `last` keeps them and
//! carries its other fields in `tuser`; any other stream carries its fields in `tdata`, first
//! field in the lowest bits, padded to whole bytes.

use crate::verilog::{Direction, Module, Port};
use serde::Serialize;
use std::fmt::Write;

/// Where a field lies in its stream's `tdata` or `tuser`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Lowest bit.
    pub offset: usize,
    /// Width.
    pub bits: usize,
}

/// An AXI4-Stream of the wrapper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// AXI name without the signal: `s_axis_tx_req`.
    pub name: String,
    /// Seen from the wrapper: `s_axis` is an input.
    pub direction: Direction,
    /// Signal that carries the fields.
    pub carrier: &'static str,
    /// Its width, whole bytes.
    pub bits: usize,
    /// Fields.
    pub fields: Vec<Field>,
    /// Whether it also has `tdata[511:0]`, `tkeep[63:0]` and `tlast`.
    pub packet: bool,
    #[serde(skip)]
    inner: String,
}

/// A port of a top that belongs to no stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plain {
    /// Name at the wrapper.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Width.
    pub bits: usize,
    #[serde(skip)]
    inner: String,
}

/// What a top's ports become.
struct Wrapped {
    module: String,
    instance: &'static str,
    streams: Vec<Stream>,
    plain: Vec<Plain>,
}

const PACKET_FIELDS: [&str; 3] = ["data", "keep", "last"];

fn wrap(top: &Module, instance: &'static str) -> Wrapped {
    let has = |name: String| top.ports.iter().any(|p| p.name == name);
    let stream_of = |p: &Port| {
        p.name
            .match_indices('_')
            .map(|(i, _)| &p.name[..i])
            .find(|s| has(format!("{s}_valid")) && has(format!("{s}_ready")))
            .map(str::to_owned)
    };
    let mut w = Wrapped {
        module: top.name.clone(),
        instance,
        streams: Vec::new(),
        plain: Vec::new(),
    };
    for p in top
        .ports
        .iter()
        .filter(|p| p.name != "clk" && p.name != "rst")
    {
        let Some(inner) = stream_of(p) else {
            w.plain.push(Plain {
                name: format!("{instance}_{}", p.name),
                direction: p.direction,
                bits: p.bits,
                inner: p.name.clone(),
            });
            continue;
        };
        let field = p.name[inner.len() + 1..].to_owned();
        if field == "valid" {
            let side = match p.direction {
                Direction::Input => "s_axis",
                Direction::Output => "m_axis",
            };
            let packet = has(format!("{inner}_data")) && has(format!("{inner}_last"));
            w.streams.push(Stream {
                name: if inner == instance {
                    format!("{side}_{inner}")
                } else {
                    format!("{side}_{instance}_{inner}")
                },
                direction: p.direction,
                carrier: if packet { "tuser" } else { "tdata" },
                bits: 0,
                fields: Vec::new(),
                packet,
                inner,
            });
        } else if let Some(s) = w.streams.iter_mut().find(|s| s.inner == inner) {
            if field != "ready" && !(s.packet && PACKET_FIELDS.contains(&field.as_str())) {
                let offset = s.fields.last().map_or(0, |f| f.offset + f.bits);
                s.fields.push(Field {
                    name: field,
                    offset,
                    bits: p.bits,
                });
                s.bits = (offset + p.bits).div_ceil(8) * 8;
            }
        }
    }
    w
}

/// The wrapper's Verilog and the layout of its streams.
pub struct Wrapper {
    /// Verilog module.
    pub module: Module,
    /// Streams.
    pub streams: Vec<Stream>,
    /// Other ports.
    pub plain: Vec<Plain>,
}

/// Name of the wrapper module.
pub const TOP: &str = "rondo_datapath";

/// Wraps the sender and receiver tops.
pub fn wrapper(sender: &Module, receiver: &Module, about: &str) -> Wrapper {
    let tops = [wrap(sender, "tx"), wrap(receiver, "rx")];
    let mut ports = vec![
        Port {
            name: "aclk".into(),
            direction: Direction::Input,
            bits: 1,
        },
        Port {
            name: "aresetn".into(),
            direction: Direction::Input,
            bits: 1,
        },
    ];
    for top in &tops {
        for s in &top.streams {
            ports.extend(stream_ports(s));
        }
        ports.extend(top.plain.iter().map(|p| Port {
            name: p.name.clone(),
            direction: p.direction,
            bits: p.bits,
        }));
    }
    let text = text(&tops, &ports, about);
    let (streams, plain) = tops.into_iter().fold((vec![], vec![]), |mut all, t| {
        all.0.extend(t.streams);
        all.1.extend(t.plain);
        all
    });
    Wrapper {
        module: Module {
            name: TOP.into(),
            text,
            ports,
        },
        streams,
        plain,
    }
}

fn stream_ports(s: &Stream) -> Vec<Port> {
    let back = match s.direction {
        Direction::Input => Direction::Output,
        Direction::Output => Direction::Input,
    };
    let mut list = vec![("tvalid", s.direction, 1), ("tready", back, 1)];
    if s.packet {
        list.extend([
            ("tdata", s.direction, 512),
            ("tkeep", s.direction, 64),
            ("tlast", s.direction, 1),
        ]);
    }
    list.push((s.carrier, s.direction, s.bits));
    list.into_iter()
        .map(|(signal, direction, bits)| Port {
            name: format!("{}_{signal}", s.name),
            direction,
            bits,
        })
        .collect()
}

fn slice(f: &Field) -> String {
    if f.bits == 1 {
        format!("[{}]", f.offset)
    } else {
        format!("[{}:{}]", f.offset + f.bits - 1, f.offset)
    }
}

fn text(tops: &[Wrapped], ports: &[Port], about: &str) -> String {
    let mut t = format!("// Rondo datapath behind AXI4-Stream names: {about}.\n");
    t.push_str("// Fields, lowest bit first:\n");
    for s in tops.iter().flat_map(|w| &w.streams) {
        let fields: Vec<String> = s
            .fields
            .iter()
            .map(|f| format!("{}{}", f.name, slice(f)))
            .collect();
        let _ = writeln!(t, "//   {}_{}: {}", s.name, s.carrier, fields.join(" "));
    }
    let _ = writeln!(t, "module {TOP} (");
    for (i, p) in ports.iter().enumerate() {
        let kind = match p.direction {
            Direction::Input => "input  wire",
            Direction::Output => "output wire",
        };
        let range = if p.bits == 1 {
            String::new()
        } else {
            format!("[{}:0] ", p.bits - 1)
        };
        let comma = if i + 1 == ports.len() { "" } else { "," };
        let _ = writeln!(t, "    {kind} {range}{}{comma}", p.name);
    }
    t.push_str(");\n\n    // Synchronous, active-high reset inside.\n    wire rst = !aresetn;\n\n");
    let mut unread = Vec::new();
    for w in tops {
        let mut connections = vec![
            (String::from("clk"), String::from("aclk")),
            ("rst".into(), "rst".into()),
        ];
        for s in &w.streams {
            let mut used = 0;
            for (inner, outer) in [("valid", "tvalid"), ("ready", "tready")] {
                connections.push((
                    format!("{}_{inner}", s.inner),
                    format!("{}_{outer}", s.name),
                ));
            }
            if s.packet {
                for f in PACKET_FIELDS {
                    connections.push((format!("{}_{f}", s.inner), format!("{}_t{f}", s.name)));
                }
            }
            for f in &s.fields {
                used = f.offset + f.bits;
                connections.push((
                    format!("{}_{}", s.inner, f.name),
                    format!("{}_{}{}", s.name, s.carrier, slice(f)),
                ));
            }
            if used < s.bits {
                let pad = format!("{}_{}[{}:{used}]", s.name, s.carrier, s.bits - 1);
                match s.direction {
                    Direction::Output => {
                        let _ = writeln!(t, "    assign {pad} = {}'d0;", s.bits - used);
                    }
                    Direction::Input => unread.push(pad),
                }
            }
        }
        for p in &w.plain {
            connections.push((p.inner.clone(), p.name.clone()));
        }
        let _ = writeln!(t, "\n    {} {} (", w.module, w.instance);
        for (i, (inner, outer)) in connections.iter().enumerate() {
            let comma = if i + 1 == connections.len() { "" } else { "," };
            let _ = writeln!(t, "        .{inner}({outer}){comma}");
        }
        t.push_str("    );\n");
    }
    if !unread.is_empty() {
        let _ = writeln!(
            t,
            "\n    // Padding to whole bytes.\n    wire unused = &{{1'b0, {}}};",
            unread.join(", ")
        );
    }
    t.push_str("\nendmodule\n");
    t
}
