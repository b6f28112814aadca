//! From RustHDL's tree to the intermediate form: unroll loops, resolve names, find registers.

use super::ir::{BinaryOp, Expr, Instance, Lowered, Signal, SignalKind, Stmt};
use super::reserved::is_reserved;
use super::tree::{verilog_name, Node, NodeKind};
use super::{memory, Direction, VerilogError};
use num_bigint::BigUint;
use rust_hdl::core::ast::{
    Verilog, VerilogBlock, VerilogBlockOrConditional, VerilogExpression as Ast, VerilogLiteral,
    VerilogOp, VerilogOpUnary, VerilogStatement,
};
use rust_hdl::core::prelude::AtomKind;
use std::collections::BTreeMap;

/// Lowers one block; `child_modules` maps its child blocks to their module names.
///
/// # Errors
/// [`VerilogError`] when the block uses what the back end cannot print.
pub fn lower(
    node: &Node,
    child_modules: &BTreeMap<String, String>,
) -> Result<Lowered, VerilogError> {
    let (name, doc) = node.id.clone().ok_or_else(|| VerilogError::Unnamed {
        block: node.field.clone(),
    })?;
    let mut l = Lowering {
        module: name.clone(),
        signals: BTreeMap::new(),
        order: Vec::new(),
        aliases: BTreeMap::new(),
        labels: BTreeMap::new(),
        loops: Vec::new(),
        indices: node.indices.clone(),
        clocks: BTreeMap::new(),
    };
    l.check_name(&name)?;
    l.declare_atoms(node)?;
    let instances = l.declare_children(node, child_modules)?;
    let body = match &node.hdl {
        Verilog::Combinatorial(block) => l.block(block)?,
        Verilog::Empty => Vec::new(),
        _ => return Err(l.unsupported("hand-written Verilog inside RustHDL")),
    };
    let body = l.bind_clocks(body)?;
    Ok(Lowered {
        name,
        doc,
        signals: l.signals,
        order: l.order,
        body,
        instances,
        unread: Vec::new(),
    })
}

struct Lowering {
    module: String,
    signals: BTreeMap<String, Signal>,
    order: Vec<String>,
    /// `reg_q` and `reg_d` both mean the register `reg`.
    aliases: BTreeMap<String, String>,
    labels: BTreeMap<String, (usize, usize)>,
    loops: Vec<(String, usize)>,
    /// Constants that indices may name.
    indices: Vec<(String, usize)>,
    /// `reg_clock` → `reg`.
    clocks: BTreeMap<String, String>,
}

fn parse_literal(l: &VerilogLiteral) -> (BigUint, usize) {
    let text = format!("{l:x}");
    let (bits, digits) = text.split_once("'h").unwrap_or(("32", "0"));
    (
        BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default(),
        bits.parse().unwrap_or(32),
    )
}

impl Lowering {
    fn unsupported(&self, what: &str) -> VerilogError {
        VerilogError::Unsupported {
            module: self.module.clone(),
            what: what.into(),
        }
    }

    fn check_name(&self, name: &str) -> Result<(), VerilogError> {
        if is_reserved(name) {
            return Err(self.unsupported(&format!("the reserved word `{name}` as a name")));
        }
        Ok(())
    }

    fn declare(&mut self, name: String, signal: Signal) -> Result<(), VerilogError> {
        self.check_name(&name)?;
        if self.signals.insert(name.clone(), signal).is_some() {
            return Err(VerilogError::NameClash {
                name,
                place: format!("module `{}`", self.module),
            });
        }
        self.order.push(name);
        Ok(())
    }

    fn declare_atoms(&mut self, node: &Node) -> Result<(), VerilogError> {
        for a in &node.atoms {
            if a.signed {
                return Err(self.unsupported(&format!("the signed signal `{}`", a.name)));
            }
            self.note_labels(&a.labels, a.bits);
            let kind = match a.kind {
                AtomKind::InputParameter => SignalKind::Port(Direction::Input),
                AtomKind::OutputParameter => SignalKind::Port(Direction::Output),
                AtomKind::LocalSignal => SignalKind::Local,
                AtomKind::Constant => {
                    let digits = a.value.split_once("'h").map_or("0", |(_, d)| d);
                    SignalKind::Constant(
                        BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default(),
                    )
                }
                _ => return Err(self.unsupported(&format!("the port kind of `{}`", a.name))),
            };
            self.declare(a.name.clone(), Signal { bits: a.bits, kind })?;
        }
        Ok(())
    }

    fn note_labels(&mut self, labels: &Option<(String, Vec<String>)>, bits: usize) {
        if let Some((ty, names)) = labels {
            for (i, label) in names.iter().enumerate() {
                let label = label.rsplit("::").next().unwrap_or(label);
                self.labels.insert(format!("{ty}${label}"), (i, bits));
            }
        }
    }

    fn declare_children(
        &mut self,
        node: &Node,
        child_modules: &BTreeMap<String, String>,
    ) -> Result<Vec<Instance>, VerilogError> {
        let mut instances = Vec::new();
        for child in &node.children {
            if let NodeKind::Register { synchroniser } = child.kind {
                let bits = child.bits_of("q");
                if let Some(q) = child.atoms.iter().find(|a| a.name == "q") {
                    if q.signed {
                        return Err(
                            self.unsupported(&format!("the signed register `{}`", child.field))
                        );
                    }
                    self.note_labels(&q.labels, bits);
                }
                for port in ["d", "q"] {
                    self.aliases
                        .insert(format!("{}_{port}", child.field), child.field.clone());
                }
                self.clocks
                    .insert(format!("{}_clock", child.field), child.field.clone());
                let kind = SignalKind::Register {
                    clock: String::new(),
                    synchroniser,
                };
                self.declare(child.field.clone(), Signal { bits, kind })?;
                continue;
            }
            let (module, parameters) = match &child.kind {
                NodeKind::Ram { depth } => (
                    "rondo_sdp_ram".into(),
                    memory::ram_parameters(child, *depth),
                ),
                NodeKind::Rom { name, .. } => (name.clone(), Vec::new()),
                _ => (child_modules[&child.field].clone(), Vec::new()),
            };
            self.check_name(&child.field)?;
            let mut ports = Vec::new();
            for a in &child.atoms {
                self.note_labels(&a.labels, a.bits);
                let (direction, kind) = match a.kind {
                    AtomKind::InputParameter => (Direction::Input, SignalKind::ChildInput),
                    AtomKind::OutputParameter => (Direction::Output, SignalKind::ChildOutput),
                    _ => continue,
                };
                let name = format!("{}_{}", child.field, a.name);
                let taken = memory::taken_bits(child, &a.name, a.bits);
                ports.push((a.name.clone(), name.clone(), direction, taken));
                self.declare(name, Signal { bits: a.bits, kind })?;
            }
            instances.push(Instance {
                name: child.field.clone(),
                module,
                parameters,
                ports,
            });
        }
        Ok(instances)
    }

    /// Takes the `reg_clock = clk` assignments out of `body` and notes them on the registers.
    fn bind_clocks(&mut self, body: Vec<Stmt>) -> Result<Vec<Stmt>, VerilogError> {
        let mut rest = Vec::with_capacity(body.len());
        for s in body {
            if let Stmt::Assign { target, value, .. } = &s {
                if let Some(register) = self.clocks.get(target) {
                    let Expr::Signal(clock) = value else {
                        return Err(self.unsupported(&format!("a gated clock on `{register}`")));
                    };
                    if let Some(SignalKind::Register { clock: bound, .. }) =
                        self.signals.get_mut(register).map(|s| &mut s.kind)
                    {
                        bound.clone_from(clock);
                    }
                    continue;
                }
            }
            rest.push(s);
        }
        for (name, signal) in &self.signals {
            if matches!(&signal.kind, SignalKind::Register { clock, .. } if clock.is_empty()) {
                return Err(self.unsupported(&format!("the register `{name}` without a clock")));
            }
        }
        Ok(rest)
    }

    fn evaluate(&self, text: &str) -> Result<usize, VerilogError> {
        use evalexpr::ContextWithMutableVariables;
        let unknown = || VerilogError::UnknownName {
            module: self.module.clone(),
            name: text.into(),
        };
        let mut context = evalexpr::HashMapContext::new();
        for (name, value) in self.indices.iter().chain(&self.loops) {
            let value = i64::try_from(*value).map_err(|_| unknown())?;
            context
                .set_value(name.clone(), value.into())
                .map_err(|_| unknown())?;
        }
        let value = evalexpr::eval_int_with_context(text, &context).map_err(|_| unknown())?;
        usize::try_from(value).map_err(|_| unknown())
    }

    /// RustHDL's `lane[i + 1]$z$next` to `lane_2_z`, registers to their own name.
    fn resolve(&self, raw: &str) -> Result<String, VerilogError> {
        let mut name = String::new();
        let mut rest = raw.trim_start_matches(['.', '$']);
        rest = rest.strip_suffix("$next").unwrap_or(rest);
        while let Some(open) = rest.find('[') {
            let close = rest[open..]
                .find(']')
                .map(|c| open + c)
                .ok_or_else(|| self.unsupported(&format!("the index in `{raw}`")))?;
            name.push_str(&rest[..open]);
            name.push('_');
            name.push_str(&self.evaluate(&rest[open + 1..close])?.to_string());
            rest = &rest[close + 1..];
        }
        name.push_str(rest);
        let name = verilog_name(&name);
        if let Some(register) = self.aliases.get(&name) {
            return Ok(register.clone());
        }
        if self.signals.contains_key(&name) || self.clocks.contains_key(&name) {
            return Ok(name);
        }
        Err(VerilogError::UnknownName {
            module: self.module.clone(),
            name: raw.into(),
        })
    }

    fn block(&mut self, block: &VerilogBlock) -> Result<Vec<Stmt>, VerilogError> {
        let mut out = Vec::new();
        for s in block {
            self.statement(s, &mut out)?;
        }
        Ok(out)
    }

    fn statement(&mut self, s: &VerilogStatement, out: &mut Vec<Stmt>) -> Result<(), VerilogError> {
        match s {
            VerilogStatement::Assignment(target, value) => {
                let (target, value) = (self.target(target)?, self.expr(value)?);
                out.push(Stmt::Assign {
                    target,
                    slice: None,
                    value,
                });
            }
            VerilogStatement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => {
                let offset = self
                    .expr(offset)?
                    .constant()
                    .ok_or_else(|| self.unsupported("assignment to a variable part"))?;
                out.push(Stmt::Assign {
                    target: self.target(base)?,
                    slice: Some((offset, *width)),
                    value: self.expr(replacement)?,
                });
            }
            VerilogStatement::If(c) => {
                let test = self.expr(&c.test)?;
                let then = self.block(&c.then)?;
                let otherwise = match &c.otherwise {
                    VerilogBlockOrConditional::Block(b) => self.block(b)?,
                    VerilogBlockOrConditional::Conditional(s) => {
                        let mut inner = Vec::new();
                        self.statement(s, &mut inner)?;
                        inner
                    }
                    VerilogBlockOrConditional::None => Vec::new(),
                };
                match &test {
                    Expr::Literal(n, Some(1)) if *n == BigUint::default() => out.extend(otherwise),
                    Expr::Literal(_, Some(1)) => out.extend(then),
                    _ => out.push(Stmt::If {
                        test,
                        then,
                        otherwise,
                    }),
                }
            }
            VerilogStatement::Match(m) => {
                let test = self.expr(&m.test)?;
                let mut arms = Vec::new();
                for case in &m.cases {
                    arms.push((self.label(&case.condition)?, self.block(&case.block)?));
                }
                out.push(Stmt::Case { test, arms });
            }
            VerilogStatement::Loop(l) => {
                for i in l.from.as_usize()..l.to.as_usize() {
                    self.loops.push((l.index.clone(), i));
                    for s in &l.block {
                        self.statement(s, out)?;
                    }
                    self.loops.pop();
                }
            }
            VerilogStatement::Macro(b) => {
                for s in b {
                    self.statement(s, out)?;
                }
            }
            VerilogStatement::Comment(_) => {}
            VerilogStatement::Link(_) => return Err(self.unsupported("an interface link or join")),
        }
        Ok(())
    }

    fn label(&self, condition: &str) -> Result<Option<Expr>, VerilogError> {
        if condition == "default" {
            return Ok(None);
        }
        if let Ok(value) = condition.parse::<usize>() {
            return Ok(Some(Expr::number(value)));
        }
        let key = condition.replace("::", "$");
        match self.labels.get(&key) {
            Some((value, bits)) => Ok(Some(Expr::Literal(BigUint::from(*value), Some(*bits)))),
            None => Err(VerilogError::UnknownName {
                module: self.module.clone(),
                name: condition.into(),
            }),
        }
    }

    fn target(&self, e: &Ast) -> Result<String, VerilogError> {
        match e {
            Ast::Signal(name) => self.resolve(name),
            Ast::Paren(e) => self.target(e),
            _ => Err(self.unsupported("assignment to an expression")),
        }
    }

    fn boxed(&self, e: &Ast) -> Result<Box<Expr>, VerilogError> {
        self.expr(e).map(Box::new)
    }

    fn expr(&self, e: &Ast) -> Result<Expr, VerilogError> {
        Ok(match e {
            Ast::Signal(name) => self.name(name)?,
            Ast::Literal(l) => {
                // RustHDL gives an integer literal its Rust type's width, which says nothing
                // about the hardware; only `true` and `false` have a width of their own.
                let (value, bits) = parse_literal(l);
                Expr::Literal(value, (bits == 1).then_some(1))
            }
            Ast::Cast(e, bits) => Expr::Cast(self.boxed(e)?, *bits),
            Ast::Paren(e) => self.expr(e)?,
            Ast::Binary(l, op, r) => {
                let (l, op, r) = (self.boxed(l)?, binary_op(op), self.boxed(r)?);
                match self.settled(&l, op, &r) {
                    Some(value) => Expr::Literal(BigUint::from(u8::from(value)), Some(1)),
                    None => Expr::Binary(l, op, r),
                }
            }
            Ast::Unary(op, e) => {
                let e = self.boxed(e)?;
                match op {
                    VerilogOpUnary::Not => Expr::Not(e),
                    VerilogOpUnary::All => Expr::Reduce("&", e),
                    VerilogOpUnary::Any => Expr::Reduce("|", e),
                    VerilogOpUnary::Xor => Expr::Reduce("^", e),
                    VerilogOpUnary::Neg => return Err(self.unsupported("signed negation")),
                }
            }
            Ast::Index(e, i) => Expr::Index(self.boxed(e)?, self.boxed(i)?),
            Ast::Slice(e, width, offset) => {
                Expr::Slice(self.boxed(e)?, *width, self.boxed(offset)?)
            }
            Ast::IndexReplace(e, i, v) => {
                Expr::ReplaceBit(self.boxed(e)?, self.boxed(i)?, self.boxed(v)?)
            }
            Ast::Signed(_) | Ast::Unsigned(_) => {
                return Err(self.unsupported("signed arithmetic"));
            }
        })
    }

    /// A comparison with the largest or smallest number of a signal's width may be settled, as in
    /// a loop over lanes that asks whether a lane is before the last.
    fn settled(&self, l: &Expr, op: BinaryOp, r: &Expr) -> Option<bool> {
        let bits = match l {
            Expr::Signal(s) => self.signals.get(s)?.bits,
            Expr::Slice(_, bits, _) | Expr::Cast(_, bits) => *bits,
            _ => return None,
        };
        let (Expr::Literal(n, _), BinaryOp::Compare(op)) = (r, op) else {
            return None;
        };
        let largest = (BigUint::from(1u8) << bits) - 1u8;
        match op {
            ">" if *n == largest => Some(false),
            "<=" if *n == largest => Some(true),
            "<" if *n == BigUint::default() => Some(false),
            ">=" if *n == BigUint::default() => Some(true),
            _ => None,
        }
    }

    fn name(&self, raw: &str) -> Result<Expr, VerilogError> {
        if let Some((_, value)) = self.loops.iter().rev().find(|(n, _)| n == raw) {
            return Ok(Expr::number(*value));
        }
        if let Some((value, bits)) = self.labels.get(&raw.replace("::", "$")) {
            return Ok(Expr::Literal(BigUint::from(*value), Some(*bits)));
        }
        let signal = self.resolve(raw)?;
        // Both `q` and `d` of a register resolve to it; only its present value can be read.
        if raw.ends_with("$d") && self.aliases.values().any(|r| *r == signal) {
            return Err(self.unsupported(&format!("reading the next value of `{signal}`")));
        }
        Ok(Expr::Signal(signal))
    }
}

fn binary_op(op: &VerilogOp) -> BinaryOp {
    match op {
        VerilogOp::Add => BinaryOp::Arithmetic("+"),
        VerilogOp::Sub => BinaryOp::Arithmetic("-"),
        VerilogOp::BitXor => BinaryOp::Arithmetic("^"),
        VerilogOp::BitAnd => BinaryOp::Arithmetic("&"),
        VerilogOp::BitOr => BinaryOp::Arithmetic("|"),
        VerilogOp::Mul => BinaryOp::Multiply,
        VerilogOp::LogicalAnd => BinaryOp::Logical("&&"),
        VerilogOp::LogicalOr => BinaryOp::Logical("||"),
        VerilogOp::Shl => BinaryOp::Shift("<<"),
        VerilogOp::Shr => BinaryOp::Shift(">>"),
        VerilogOp::Eq => BinaryOp::Compare("=="),
        VerilogOp::Ne => BinaryOp::Compare("!="),
        VerilogOp::Lt => BinaryOp::Compare("<"),
        VerilogOp::Le => BinaryOp::Compare("<="),
        VerilogOp::Ge => BinaryOp::Compare(">="),
        VerilogOp::Gt => BinaryOp::Compare(">"),
    }
}
