//! Random expressions: the value that Rust's wrapping arithmetic gives is the value that the
//! printed Verilog gives, in Verilator, without a lint warning.

mod common;

use proptest::prelude::*;
use rondo::verilog::print_design;
use rondo_hdl::prim::ModuleId;
use rust_hdl::core::ast::{VerilogExpression as E, VerilogOp, VerilogOpUnary, VerilogStatement};
use rust_hdl::prelude::*;

/// An expression over the inputs `a`, `b` (7 bits) and `c` (3 bits).
#[derive(Clone, Debug)]
enum X {
    A,
    B,
    Number(u64),
    Wide(Box<X>),
    Op(VerilogOpName, Box<X>, Box<X>),
    ShiftBy(bool, Box<X>),
    Not(Box<X>),
    If(Cmp, Box<X>, Box<X>),
    Reduced(u8, Box<X>),
    Bit(Box<X>),
    Part(u64, Box<X>),
    Replace(Box<X>, Box<X>),
}

#[derive(Clone, Copy, Debug)]
enum VerilogOpName {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug)]
enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Random expressions compare with constants; widths stay errors.
const CONSTANT_COMPARISONS: [&str; 2] = ["-Wno-UNSIGNED", "-Wno-CMPCONST"];

const BITS: u64 = 7;
const MASK: u64 = (1 << BITS) - 1;

impl X {
    fn value(&self, a: u64, b: u64, c: u64) -> u64 {
        let v = |x: &X| x.value(a, b, c);
        MASK & match self {
            X::A => a,
            X::B => b,
            X::Number(n) => *n,
            // Widened to 12 bits, tripled, and cut back.
            X::Wide(x) => {
                let w = v(x);
                (w + (w << 1)) >> 2
            }
            X::Op(op, l, r) => {
                let (l, r) = (v(l), v(r));
                match op {
                    VerilogOpName::Add => l + r,
                    VerilogOpName::Sub => l.wrapping_sub(r),
                    VerilogOpName::And => l & r,
                    VerilogOpName::Or => l | r,
                    VerilogOpName::Xor => l ^ r,
                }
            }
            X::ShiftBy(left, x) => {
                if *left {
                    v(x) << c
                } else {
                    v(x) >> c
                }
            }
            X::Not(x) => !v(x),
            X::If(cmp, l, r) => {
                let (l, r) = (v(l), v(r));
                u64::from(match cmp {
                    Cmp::Eq => l == r,
                    Cmp::Ne => l != r,
                    Cmp::Lt => l < r,
                    Cmp::Le => l <= r,
                    Cmp::Gt => l > r,
                    Cmp::Ge => l >= r,
                })
            }
            X::Reduced(kind, x) => {
                let x = v(x);
                match kind % 3 {
                    0 => u64::from(x == MASK),
                    1 => u64::from(x != 0),
                    _ => u64::from(x.count_ones() % 2 == 1),
                }
            }
            X::Bit(x) => v(x) >> 4 & 1,
            X::Part(offset, x) => v(x) >> offset & 7,
            X::Replace(x, bit) => {
                let bit = v(bit) & 1;
                v(x) & !(1 << 5) | bit << 5
            }
        }
    }

    fn ast(&self) -> E {
        let signal = |n: &str| E::Signal(n.into());
        let number = |n: u64| E::Literal((n as u32).into());
        let bin = |l: E, op: VerilogOp, r: E| E::Binary(Box::new(l), op, Box::new(r));
        let widen = |x: E| E::Cast(Box::new(x), BITS as usize);
        match self {
            X::A => signal("a"),
            X::B => signal("b"),
            X::Number(n) => E::Cast(Box::new(number(*n)), BITS as usize),
            X::Wide(x) => {
                let w = E::Cast(Box::new(x.ast()), 12);
                let twice = bin(w.clone(), VerilogOp::Shl, number(1));
                widen(bin(
                    bin(w, VerilogOp::Add, twice),
                    VerilogOp::Shr,
                    number(2),
                ))
            }
            X::Op(op, l, r) => bin(
                l.ast(),
                match op {
                    VerilogOpName::Add => VerilogOp::Add,
                    VerilogOpName::Sub => VerilogOp::Sub,
                    VerilogOpName::And => VerilogOp::BitAnd,
                    VerilogOpName::Or => VerilogOp::BitOr,
                    VerilogOpName::Xor => VerilogOp::BitXor,
                },
                r.ast(),
            ),
            X::ShiftBy(left, x) => bin(
                x.ast(),
                if *left {
                    VerilogOp::Shl
                } else {
                    VerilogOp::Shr
                },
                signal("c"),
            ),
            X::Not(x) => E::Unary(VerilogOpUnary::Not, Box::new(x.ast())),
            X::If(cmp, l, r) => widen(bin(
                l.ast(),
                match cmp {
                    Cmp::Eq => VerilogOp::Eq,
                    Cmp::Ne => VerilogOp::Ne,
                    Cmp::Lt => VerilogOp::Lt,
                    Cmp::Le => VerilogOp::Le,
                    Cmp::Gt => VerilogOp::Gt,
                    Cmp::Ge => VerilogOp::Ge,
                },
                r.ast(),
            )),
            X::Reduced(kind, x) => widen(E::Unary(
                match kind % 3 {
                    0 => VerilogOpUnary::All,
                    1 => VerilogOpUnary::Any,
                    _ => VerilogOpUnary::Xor,
                },
                Box::new(x.ast()),
            )),
            X::Bit(x) => widen(E::Index(Box::new(x.ast()), Box::new(number(4)))),
            X::Part(offset, x) => widen(E::Slice(Box::new(x.ast()), 3, Box::new(number(*offset)))),
            X::Replace(x, bit) => E::IndexReplace(
                Box::new(x.ast()),
                Box::new(number(5)),
                Box::new(E::Index(Box::new(bit.ast()), Box::new(number(0)))),
            ),
        }
    }
}

fn expression() -> impl Strategy<Value = X> {
    let leaf = prop_oneof![Just(X::A), Just(X::B), (0..=MASK).prop_map(X::Number)];
    let op = prop_oneof![
        Just(VerilogOpName::Add),
        Just(VerilogOpName::Sub),
        Just(VerilogOpName::And),
        Just(VerilogOpName::Or),
        Just(VerilogOpName::Xor)
    ];
    let cmp = prop_oneof![
        Just(Cmp::Eq),
        Just(Cmp::Ne),
        Just(Cmp::Lt),
        Just(Cmp::Le),
        Just(Cmp::Gt),
        Just(Cmp::Ge)
    ];
    leaf.prop_recursive(5, 40, 2, move |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (op.clone(), two.clone()).prop_map(|(o, (l, r))| X::Op(o, l.into(), r.into())),
            2 => (cmp.clone(), two.clone()).prop_map(|(o, (l, r))| X::If(o, l.into(), r.into())),
            1 => inner.clone().prop_map(|x| X::Wide(x.into())),
            1 => (any::<bool>(), inner.clone()).prop_map(|(l, x)| X::ShiftBy(l, x.into())),
            1 => inner.clone().prop_map(|x| X::Not(x.into())),
            1 => (0u8..3, inner.clone()).prop_map(|(k, x)| X::Reduced(k, x.into())),
            1 => inner.clone().prop_map(|x| X::Bit(x.into())),
            1 => (0u64..5, inner.clone()).prop_map(|(o, x)| X::Part(o, x.into())),
            1 => two.prop_map(|(x, b)| X::Replace(x.into(), b.into())),
        ]
    })
}

/// A block whose kernel is made at run time: one output an expression.
#[derive(LogicBlock)]
struct Kernel {
    id: ModuleId,
    a: Signal<In, Bits<7>>,
    b: Signal<In, Bits<7>>,
    c: Signal<In, Bits<3>>,
    y: Vec<Signal<Out, Bits<7>>>,
    _body: Vec<X>,
}

impl Logic for Kernel {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        Verilog::Combinatorial(
            self._body
                .iter()
                .enumerate()
                .map(|(i, x)| {
                    VerilogStatement::Assignment(E::Signal(format!("y[{i}]$next")), x.ast())
                })
                .collect(),
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rust_value_is_verilog_value(
        body in proptest::collection::vec(expression(), 60),
        vectors in proptest::collection::vec((0..=MASK, 0..=MASK, 0u64..8), 200),
    ) {
        let kernel = Kernel {
            id: ModuleId::new("kernel", "Random expressions."),
            a: Signal::default(),
            b: Signal::default(),
            c: Signal::default(),
            y: body.iter().map(|_| Signal::default()).collect(),
            _body: body.clone(),
        };
        let design = print_design(&kernel).expect("prints");
        let inputs: Vec<Vec<u64>> = vectors.iter().map(|&(a, b, c)| vec![a, b, c]).collect();
        let got = common::run_in_verilator(&design, &inputs, &CONSTANT_COMPARISONS);
        for (&(a, b, c), row) in vectors.iter().zip(got) {
            for (x, y) in body.iter().zip(row) {
                prop_assert_eq!(x.value(a, b, c), y, "{:?} at {} {} {}", x, a, b, c);
            }
        }
    }
}
