//! Prints a lowered module.

use super::express::{number, range, Expressions};
use super::ir::{slice_of, targets, Expr, Instance, Lowered, SignalKind, Stmt};
use super::{Direction, Module, Port, VerilogError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Prints `m`.
///
/// # Errors
/// [`VerilogError::Width`] when operands do not agree.
pub fn print(m: &Lowered) -> Result<Module, VerilogError> {
    let ports = ports(m);
    let mut p = ModulePrinter {
        m,
        e: Expressions::new(m),
        combinational: String::new(),
        procedural: BTreeSet::new(),
    };
    let connected = p.direct_connections();
    p.combinational_targets(&connected)?;
    let clocked = p.clocked()?;
    let text = p.assemble(&ports, &connected, &clocked);
    Ok(Module {
        name: m.name.clone(),
        text,
        ports,
    })
}

fn ports(m: &Lowered) -> Vec<Port> {
    m.order
        .iter()
        .filter_map(|n| match m.signals[n].kind {
            SignalKind::Port(direction) => Some(Port {
                name: n.clone(),
                direction,
                bits: m.signals[n].bits,
            }),
            _ => None,
        })
        .collect()
}

struct ModulePrinter<'a> {
    m: &'a Lowered,
    e: Expressions<'a>,
    combinational: String,
    /// Signals assigned in an `always` block, declared `reg`.
    procedural: BTreeSet<String>,
}

impl ModulePrinter<'_> {
    fn is_register(&self, name: &str) -> bool {
        matches!(
            self.m.signals.get(name).map(|s| &s.kind),
            Some(SignalKind::Register { .. })
        )
    }

    /// Child inputs that are just another signal are connected to it, without a wire between.
    fn direct_connections(&self) -> BTreeMap<String, String> {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        targets(&self.m.body, &mut |t| {
            *count.entry(t.into()).or_default() += 1
        });
        let mut direct = BTreeMap::new();
        for s in &self.m.body {
            if let Stmt::Assign {
                target,
                slice: None,
                value: Expr::Signal(source),
            } = s
            {
                let input = matches!(self.m.signals[target].kind, SignalKind::ChildInput);
                if input && count[target] == 1 {
                    direct.insert(target.clone(), source.clone());
                }
            }
        }
        direct
    }

    fn combinational_targets(
        &mut self,
        connected: &BTreeMap<String, String>,
    ) -> Result<(), VerilogError> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        targets(&self.m.body, &mut |t| {
            if seen.insert(t.to_owned()) {
                order.push(t.to_owned());
            }
        });
        for t in order {
            if self.is_register(&t) || connected.contains_key(&t) {
                continue;
            }
            let body = slice_of(&self.m.body, &|x| x == t);
            let bits = self.m.signals[&t].bits;
            if let [Stmt::Assign {
                slice: None, value, ..
            }] = body.as_slice()
            {
                let value = self.e.top(value, bits)?;
                let _ = writeln!(self.combinational, "    assign {t} = {value};");
            } else {
                self.procedural.insert(t.clone());
                let mut text = String::from("    always @* begin\n");
                self.statements(&body, "=", 2, &mut text)?;
                text.push_str("    end\n");
                self.combinational.push_str(&text);
            }
        }
        Ok(())
    }

    fn clocked(&mut self) -> Result<String, VerilogError> {
        let mut clocks = BTreeSet::new();
        for s in self.m.signals.values() {
            if let SignalKind::Register { clock, .. } = &s.kind {
                clocks.insert(clock.clone());
            }
        }
        let mut text = String::new();
        for clock in clocks {
            let body = slice_of(
                &self.m.body,
                &|x| matches!(&self.m.signals[x].kind, SignalKind::Register { clock: c, .. } if *c == clock),
            );
            let _ = writeln!(text, "    always @(posedge {clock}) begin");
            self.statements(&body, "<=", 2, &mut text)?;
            text.push_str("    end\n");
        }
        Ok(text)
    }

    fn statements(
        &mut self,
        body: &[Stmt],
        assign: &str,
        depth: usize,
        out: &mut String,
    ) -> Result<(), VerilogError> {
        let pad = "    ".repeat(depth);
        for s in body {
            match s {
                // A register holds by itself.
                Stmt::Assign {
                    target,
                    slice: None,
                    value: Expr::Signal(v),
                } if v == target => {}
                Stmt::Assign {
                    target,
                    slice,
                    value,
                } => {
                    let bits = slice.map_or(self.m.signals[target].bits, |(_, w)| w);
                    let value = self.e.top(value, bits)?;
                    let part = match slice {
                        Some((o, w)) => format!("[{}:{o}]", o + w - 1),
                        None => String::new(),
                    };
                    let _ = writeln!(out, "{pad}{target}{part} {assign} {value};");
                }
                Stmt::If {
                    test,
                    then,
                    otherwise,
                } => self.conditional(test, then, otherwise, assign, depth, out)?,
                Stmt::Case { test, arms } => {
                    let Some(w) = self.e.width(test) else {
                        return Err(VerilogError::Width {
                            module: self.m.name.clone(),
                            what: "a match on a bare number".into(),
                        });
                    };
                    let selector = self.e.top(test, w)?;
                    let _ = writeln!(out, "{pad}case ({selector})");
                    for (label, b) in arms {
                        let label = match label {
                            Some(l) => self.e.top(l, w)?,
                            None => "default".into(),
                        };
                        let _ = writeln!(out, "{pad}    {label}: begin");
                        self.statements(b, assign, depth + 2, out)?;
                        let _ = writeln!(out, "{pad}    end");
                    }
                    // A match over all labels of an enum needs no default in Rust; Verilog does.
                    if arms.iter().all(|(l, _)| l.is_some()) {
                        let _ = writeln!(out, "{pad}    default: ;");
                    }
                    let _ = writeln!(out, "{pad}endcase");
                }
            }
        }
        Ok(())
    }

    fn conditional(
        &mut self,
        test: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        assign: &str,
        depth: usize,
        out: &mut String,
    ) -> Result<(), VerilogError> {
        let pad = "    ".repeat(depth);
        let test_text = self.e.top(test, 1)?;
        let _ = writeln!(out, "{pad}if ({test_text}) begin");
        self.statements(then, assign, depth + 1, out)?;
        match otherwise {
            [] => {
                let _ = writeln!(out, "{pad}end");
            }
            [Stmt::If {
                test,
                then,
                otherwise,
            }] => {
                let mut rest = String::new();
                self.conditional(test, then, otherwise, assign, depth, &mut rest)?;
                let _ = write!(out, "{pad}end else {}", rest.trim_start());
            }
            _ => {
                let _ = writeln!(out, "{pad}end else begin");
                self.statements(otherwise, assign, depth + 1, out)?;
                let _ = writeln!(out, "{pad}end");
            }
        }
        Ok(())
    }

    fn assemble(
        &self,
        ports: &[Port],
        connected: &BTreeMap<String, String>,
        clocked: &str,
    ) -> String {
        let mut t = String::new();
        for line in self.m.doc.lines() {
            let _ = writeln!(t, "// {line}");
        }
        let _ = writeln!(t, "module {} (", self.m.name);
        for (i, p) in ports.iter().enumerate() {
            let comma = if i + 1 == ports.len() { "" } else { "," };
            let kind = match p.direction {
                Direction::Input => "input  wire",
                Direction::Output if self.procedural.contains(&p.name) => "output reg ",
                Direction::Output => "output wire",
            };
            let _ = writeln!(t, "    {kind} {}{}{comma}", range(p.bits), p.name);
        }
        t.push_str(");\n\n");
        self.declarations(connected, &mut t);
        for i in &self.m.instances {
            self.instance(i, connected, &mut t);
        }
        for w in &self.e.wires {
            let _ = writeln!(t, "    {w}");
        }
        if !self.e.wires.is_empty() {
            t.push('\n');
        }
        if !self.combinational.is_empty() {
            t.push_str(&self.combinational);
            t.push('\n');
        }
        if !clocked.is_empty() {
            t.push_str(clocked);
            t.push('\n');
        }
        let mut unread = self.m.unread.clone();
        unread.extend(self.e.wire_names());
        for (_, signal, _, taken) in self.m.instances.iter().flat_map(|i| &i.ports) {
            let name = connected.get(signal).unwrap_or(signal);
            if *taken < self.m.signals[signal].bits && !unread.contains(name) {
                unread.push(name.clone());
            }
        }
        if !unread.is_empty() {
            t.push_str("    // Read in part or not at all, on purpose.\n");
            let _ = writeln!(t, "    wire unused = &{{1'b0, {}}};\n", unread.join(", "));
        }
        t.push_str("endmodule\n");
        t
    }

    fn declarations(&self, connected: &BTreeMap<String, String>, t: &mut String) {
        let before = t.len();
        for n in &self.m.order {
            let s = &self.m.signals[n];
            match &s.kind {
                SignalKind::Port(_) => {}
                SignalKind::ChildInput if connected.contains_key(n) => {}
                SignalKind::Constant(v) => {
                    let _ = writeln!(
                        t,
                        "    localparam {}{n} = {};",
                        range(s.bits),
                        number(v, s.bits)
                    );
                }
                SignalKind::Register { synchroniser, .. } => {
                    let attribute = if *synchroniser {
                        "(* ASYNC_REG = \"TRUE\" *) "
                    } else {
                        ""
                    };
                    let _ = writeln!(t, "    {attribute}reg {}{n};", range(s.bits));
                }
                _ if self.procedural.contains(n) => {
                    let _ = writeln!(t, "    reg {}{n};", range(s.bits));
                }
                _ => {
                    let _ = writeln!(t, "    wire {}{n};", range(s.bits));
                }
            }
        }
        if t.len() > before {
            t.push('\n');
        }
    }

    fn instance(&self, i: &Instance, connected: &BTreeMap<String, String>, t: &mut String) {
        let parameters = if i.parameters.is_empty() {
            String::new()
        } else {
            let list: Vec<String> = i
                .parameters
                .iter()
                .map(|(n, v)| format!(".{n}({v})"))
                .collect();
            format!("#({}) ", list.join(", "))
        };
        let _ = writeln!(t, "    {} {parameters}{} (", i.module, i.name);
        for (k, (port, signal, _, taken)) in i.ports.iter().enumerate() {
            let name = connected.get(signal).unwrap_or(signal);
            let part = if *taken == self.m.signals[signal].bits {
                String::new()
            } else if *taken == 1 {
                "[0]".into()
            } else {
                format!("[{}:0]", taken - 1)
            };
            let comma = if k + 1 == i.ports.len() { "" } else { "," };
            let _ = writeln!(t, "        .{port}({name}{part}){comma}");
        }
        t.push_str("    );\n\n");
    }
}
