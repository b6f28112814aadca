//! The back end's intermediate form: loops unrolled, names resolved, widths known.

use super::Direction;
use num_bigint::BigUint;
use std::collections::BTreeMap;

/// Binary operators of the `#[hdl_gen]` subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// Operators whose result has the operands' width.
    Arithmetic(&'static str),
    /// `<<` and `>>`: the result has the left operand's width.
    Shift(&'static str),
    /// Comparisons: one bit.
    Compare(&'static str),
    /// `&&` and `||`: one bit.
    Logical(&'static str),
    /// 16 × 16 → 32 bits.
    Multiply,
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A signal, port, register output or child output.
    Signal(String),
    /// A number; without a width it takes its peer's.
    Literal(BigUint, Option<usize>),
    /// Zero-extension or truncation to a width.
    Cast(Box<Expr>, usize),
    /// Binary operation.
    Binary(Box<Expr>, BinaryOp, Box<Expr>),
    /// Bitwise complement.
    Not(Box<Expr>),
    /// Reduction by `&`, `|` or `^`.
    Reduce(&'static str, Box<Expr>),
    /// One bit.
    Index(Box<Expr>, Box<Expr>),
    /// A part-select of a width, at an offset.
    Slice(Box<Expr>, usize, Box<Expr>),
    /// The first operand with one bit (second) replaced (third).
    ReplaceBit(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// A statement, in program order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stmt {
    /// Assignment to a signal or to `slice` (offset, width) of it.
    Assign {
        /// Signal or register assigned.
        target: String,
        /// Part assigned, or all of it.
        slice: Option<(usize, usize)>,
        /// Value.
        value: Expr,
    },
    /// Conditional.
    If {
        /// One-bit test.
        test: Expr,
        /// Statements when set.
        then: Vec<Stmt>,
        /// Statements when clear.
        otherwise: Vec<Stmt>,
    },
    /// Multi-way choice; a `None` label is the default.
    Case {
        /// Selector.
        test: Expr,
        /// Arms.
        arms: Vec<(Option<Expr>, Vec<Stmt>)>,
    },
}

/// What a name in a module is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalKind {
    /// Module port.
    Port(Direction),
    /// Local signal.
    Local,
    /// Register output; the register's clock signal.
    Register {
        /// Clock, as a signal name of the same module.
        clock: String,
        /// It takes a signal from another clock domain: printed with `ASYNC_REG`.
        synchroniser: bool,
    },
    /// Input of a child: assigned here.
    ChildInput,
    /// Output of a child: read here.
    ChildOutput,
    /// Constant of a value.
    Constant(BigUint),
}

/// A name in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Width in bits.
    pub bits: usize,
    /// What it is.
    pub kind: SignalKind,
}

/// An instance of a child module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Instance name.
    pub name: String,
    /// Module name.
    pub module: String,
    /// Verilog parameters, printed as given.
    pub parameters: Vec<(String, String)>,
    /// Port name, signal name, direction seen from the child, bits the child takes.
    pub ports: Vec<(String, String, Direction, usize)>,
}

/// A module before printing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lowered {
    /// Module name.
    pub name: String,
    /// Header comment.
    pub doc: String,
    /// All names.
    pub signals: BTreeMap<String, Signal>,
    /// Names in declaration order.
    pub order: Vec<String>,
    /// Statements in program order.
    pub body: Vec<Stmt>,
    /// Children.
    pub instances: Vec<Instance>,
    /// Signals that nothing, or not every bit of which anything, reads.
    pub unread: Vec<String>,
}

impl Expr {
    /// A literal that takes its peer's width.
    pub fn number(value: usize) -> Self {
        Expr::Literal(BigUint::from(value), None)
    }

    /// The value of a constant expression.
    pub fn constant(&self) -> Option<usize> {
        match self {
            Expr::Literal(v, _) => usize::try_from(v.clone()).ok(),
            Expr::Cast(e, _) => e.constant(),
            Expr::Binary(l, op, r) => {
                let (l, r) = (l.constant()?, r.constant()?);
                match op {
                    BinaryOp::Arithmetic("+") => Some(l + r),
                    BinaryOp::Arithmetic("-") => l.checked_sub(r),
                    BinaryOp::Multiply => Some(l * r),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Calls `f` on each direct operand.
    pub fn operands(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Signal(_) | Expr::Literal(..) => {}
            Expr::Cast(e, _) | Expr::Not(e) | Expr::Reduce(_, e) => f(e),
            Expr::Binary(a, _, b) | Expr::Index(a, b) | Expr::Slice(a, _, b) => {
                f(a);
                f(b);
            }
            Expr::ReplaceBit(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
        }
    }
}

/// The statements of `body` that assign a signal for which `keep` holds, structure kept.
pub fn slice_of(body: &[Stmt], keep: &dyn Fn(&str) -> bool) -> Vec<Stmt> {
    body.iter()
        .filter_map(|s| match s {
            Stmt::Assign { target, .. } => keep(target).then(|| s.clone()),
            Stmt::If {
                test,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (slice_of(then, keep), slice_of(otherwise, keep));
                (!then.is_empty() || !otherwise.is_empty()).then(|| Stmt::If {
                    test: test.clone(),
                    then,
                    otherwise,
                })
            }
            Stmt::Case { test, arms } => {
                let arms: Vec<_> = arms
                    .iter()
                    .map(|(l, b)| (l.clone(), slice_of(b, keep)))
                    .collect();
                arms.iter().any(|(_, b)| !b.is_empty()).then(|| Stmt::Case {
                    test: test.clone(),
                    arms,
                })
            }
        })
        .collect()
}

/// Calls `on_target` for each assigned signal, in program order.
pub fn targets(body: &[Stmt], on_target: &mut dyn FnMut(&str)) {
    for s in body {
        match s {
            Stmt::Assign { target, .. } => on_target(target),
            Stmt::If {
                then, otherwise, ..
            } => {
                targets(then, on_target);
                targets(otherwise, on_target);
            }
            Stmt::Case { arms, .. } => {
                for (_, b) in arms {
                    targets(b, on_target);
                }
            }
        }
    }
}

/// Whether every path through `body` assigns all of `target`.
pub fn always_assigned(body: &[Stmt], target: &str) -> bool {
    body.iter().any(|s| match s {
        Stmt::Assign {
            target: t, slice, ..
        } => t == target && slice.is_none(),
        Stmt::If {
            then, otherwise, ..
        } => always_assigned(then, target) && always_assigned(otherwise, target),
        Stmt::Case { arms, .. } => {
            arms.iter().any(|(l, _)| l.is_none())
                && arms.iter().all(|(_, b)| always_assigned(b, target))
        }
    })
}
