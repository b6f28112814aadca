//! Prints expressions at a known width.

use super::ir::{BinaryOp, Expr, Lowered};
use super::VerilogError;
use num_bigint::BigUint;

/// Prints expressions of one module and collects the wires that they need.
pub struct Expressions<'a> {
    module: &'a Lowered,
    /// Declarations of named sub-expressions, in order of first use.
    pub wires: Vec<String>,
    taken: std::collections::BTreeMap<String, String>,
}

/// Bits needed to index `n` items.
fn index_bits(n: usize) -> usize {
    (usize::BITS - (n.max(2) - 1).leading_zeros()) as usize
}

/// `[7:0]`, or nothing for one bit.
pub fn range(bits: usize) -> String {
    if bits == 1 {
        String::new()
    } else {
        format!("[{}:0] ", bits - 1)
    }
}

/// A sized number.
pub fn number(value: &BigUint, bits: usize) -> String {
    if bits <= 4 || *value < BigUint::from(10u8) {
        format!("{bits}'d{value}")
    } else {
        format!("{bits}'h{value:x}")
    }
}

impl<'a> Expressions<'a> {
    /// For `module`.
    pub fn new(module: &'a Lowered) -> Self {
        Self {
            module,
            wires: Vec::new(),
            taken: Default::default(),
        }
    }

    fn width_error<T>(&self, what: String) -> Result<T, VerilogError> {
        Err(VerilogError::Width {
            module: self.module.name.clone(),
            what,
        })
    }

    /// Width of `e`; `None` for a literal that takes its peer's.
    pub fn width(&self, e: &Expr) -> Option<usize> {
        match e {
            Expr::Signal(s) => self.module.signals.get(s).map(|s| s.bits),
            Expr::Literal(_, bits) => *bits,
            Expr::Cast(_, bits) | Expr::Slice(_, bits, _) => Some(*bits),
            Expr::Binary(l, op, r) => match op {
                BinaryOp::Arithmetic(_) => self.width(l).or_else(|| self.width(r)),
                BinaryOp::Shift(_) => self.width(l),
                BinaryOp::Multiply if e.constant().is_some() => None,
                BinaryOp::Multiply => Some(32),
                BinaryOp::Compare(_) | BinaryOp::Logical(_) => Some(1),
            },
            Expr::Not(e) => self.width(e),
            Expr::ReplaceBit(e, ..) => self.width(e),
            Expr::Index(..) | Expr::Reduce(..) => Some(1),
        }
    }

    /// `e` printed at exactly `bits`, without outer parentheses.
    pub fn top(&mut self, e: &Expr, bits: usize) -> Result<String, VerilogError> {
        let text = self.emit(e, bits)?;
        Ok(strip_parens(&text).to_owned())
    }

    /// `e` printed at exactly `bits`, safe as an operand.
    fn emit(&mut self, e: &Expr, bits: usize) -> Result<String, VerilogError> {
        if let Some(own) = self.width(e) {
            if own != bits {
                return self.width_error(format!("{own} bits where {bits} are wanted: {e:?}"));
            }
        }
        if let (None, Some(n)) = (self.width(e), e.constant()) {
            let n = BigUint::from(n);
            if n.bits() > bits as u64 {
                return self.width_error(format!("{n} does not fit {bits} bits"));
            }
            return Ok(number(&n, bits));
        }
        match e {
            Expr::Signal(s) => Ok(s.clone()),
            Expr::Literal(v, _) => {
                if v.bits() > bits as u64 {
                    return self.width_error(format!("{v} does not fit {bits} bits"));
                }
                Ok(number(v, bits))
            }
            Expr::Cast(inner, _) => self.cast(inner, bits),
            Expr::Binary(l, op, r) => self.binary(l, *op, r, bits),
            Expr::Not(e) => {
                let op = if bits == 1 { "!" } else { "~" };
                Ok(format!("({op}{})", self.emit(e, bits)?))
            }
            Expr::Reduce(op, e) => {
                let Some(w) = self.width(e) else {
                    return self.width_error("a reduction of a bare number".into());
                };
                Ok(format!("({op}{})", self.emit(e, w)?))
            }
            Expr::Index(base, index) => self.select(base, index, 1),
            Expr::Slice(base, width, offset) => self.select(base, offset, *width),
            Expr::ReplaceBit(base, index, value) => {
                let b = self.emit(base, bits)?;
                let i = self.index(index, bits)?;
                let v = self.emit(value, 1)?;
                let wide = if bits == 1 {
                    v
                } else {
                    format!("{{{}'d0, {v}}}", bits - 1)
                };
                Ok(format!(
                    "(({b} & (~({} << {i}))) | ({wide} << {i}))",
                    number(&BigUint::from(1u8), bits)
                ))
            }
        }
    }

    fn cast(&mut self, inner: &Expr, bits: usize) -> Result<String, VerilogError> {
        match self.width(inner) {
            None => self.emit(inner, bits),
            Some(w) if w == bits => self.emit(inner, bits),
            Some(w) if w < bits => {
                let text = self.top(inner, w)?;
                Ok(format!("{{{}'d0, {text}}}", bits - w))
            }
            Some(_) => self.select(inner, &Expr::number(0), bits),
        }
    }

    fn binary(
        &mut self,
        l: &Expr,
        op: BinaryOp,
        r: &Expr,
        bits: usize,
    ) -> Result<String, VerilogError> {
        match op {
            BinaryOp::Arithmetic(op) => {
                let (l, r) = (self.emit(l, bits)?, self.emit(r, bits)?);
                Ok(format!("({l} {op} {r})"))
            }
            BinaryOp::Shift(op) => {
                let amount = match r.constant() {
                    Some(n) => n.to_string(),
                    None => {
                        let Some(w) = self.width(r) else {
                            return self.width_error("a shift by an unsized amount".into());
                        };
                        self.emit(r, w)?
                    }
                };
                Ok(format!("({} {op} {amount})", self.emit(l, bits)?))
            }
            BinaryOp::Compare(op) => {
                let Some(w) = self.width(l).or_else(|| self.width(r)) else {
                    return self.width_error("a comparison of two bare numbers".into());
                };
                let (l, r) = (self.emit(l, w)?, self.emit(r, w)?);
                Ok(format!("({l} {op} {r})"))
            }
            BinaryOp::Logical(op) => {
                let (l, r) = (self.emit(l, 1)?, self.emit(r, 1)?);
                Ok(format!("({l} {op} {r})"))
            }
            BinaryOp::Multiply => {
                let (l, r) = (self.emit(l, 16)?, self.emit(r, 16)?);
                Ok(format!("({{16'd0, {l}}} * {{16'd0, {r}}})"))
            }
        }
    }

    fn index(&mut self, index: &Expr, items: usize) -> Result<String, VerilogError> {
        if let Some(n) = index.constant() {
            return Ok(n.to_string());
        }
        self.cast(index, index_bits(items))
    }

    /// `width` bits of `base` from `offset` on.
    fn select(&mut self, base: &Expr, offset: &Expr, width: usize) -> Result<String, VerilogError> {
        let Some(w) = self.width(base) else {
            return self.width_error("a part-select of a bare number".into());
        };
        if let Some(o) = offset.constant() {
            if o >= w {
                return self.width_error(format!("bits {}..{o} of {w}", o + width - 1));
            }
            if o + width > w {
                // RustHDL reads zeros beyond the top.
                let part = self.select(base, offset, w - o)?;
                return Ok(format!("{{{}'d0, {}}}", o + width - w, strip_parens(&part)));
            }
            // A part of a part, or of an unwidened cast, is a part of the signal below.
            if let (Expr::Slice(inner, _, at), true) = (base, w > 0) {
                if let Some(at) = at.constant() {
                    return self.select(inner, &Expr::number(o + at), width);
                }
            }
            if width == w {
                return self.emit(base, w);
            }
            let name = self.named(base, w)?;
            return Ok(if width == 1 {
                format!("{name}[{o}]")
            } else {
                format!("{name}[{}:{o}]", o + width - 1)
            });
        }
        if width == 1 {
            let name = self.named(base, w)?;
            if w == 1 {
                return Ok(name);
            }
            let i = self.index(offset, w)?;
            return Ok(format!("{name}[{}]", strip_parens(&i)));
        }
        let shifted = Expr::Binary(
            Box::new(base.clone()),
            BinaryOp::Shift(">>"),
            Box::new(offset.clone()),
        );
        if width == w {
            return self.emit(&shifted, w);
        }
        let name = self.named(&shifted, w)?;
        Ok(format!("{name}[{}:0]", width - 1))
    }

    /// A name for `e`: the signal itself, or a wire that holds it.
    fn named(&mut self, e: &Expr, bits: usize) -> Result<String, VerilogError> {
        if let Expr::Signal(s) = e {
            if !matches!(
                self.module.signals.get(s).map(|s| &s.kind),
                Some(super::ir::SignalKind::Constant(_))
            ) {
                return Ok(s.clone());
            }
        }
        let text = self.top(e, bits)?;
        if let Some(name) = self.taken.get(&text) {
            return Ok(name.clone());
        }
        // Only part of the wire is read: `unused` tells a linter that this is meant.
        let name = format!("part_of_{}", self.taken.len());
        self.wires
            .push(format!("wire {}{name} = {text};", range(bits)));
        self.taken.insert(text, name.clone());
        Ok(name)
    }

    /// Names of the sub-expression wires.
    pub fn wire_names(&self) -> Vec<String> {
        self.taken.values().cloned().collect()
    }
}

/// Removes one pair of parentheses that spans the whole of `text`.
pub fn strip_parens(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text;
        }
    }
    inner
}
