//! Drops what nothing reads, finds what is only partly read, and checks assignment order.

use super::ir::{always_assigned, slice_of, targets, Expr, Lowered, SignalKind, Stmt};
use super::{Direction, VerilogError};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

type Reads = BTreeMap<String, BigUint>;

fn mask(offset: usize, width: usize) -> BigUint {
    ((BigUint::from(1u8) << width) - 1u8) << offset
}

/// Adds the bits that `e` reads, `whole` giving every signal's width.
fn reads_of(e: &Expr, whole: &dyn Fn(&str) -> usize, out: &mut Reads) {
    let mut add = |name: &str, bits: BigUint| *out.entry(name.into()).or_default() |= bits;
    match e {
        Expr::Signal(s) => add(s, mask(0, whole(s))),
        Expr::Cast(inner, width) => match inner.as_ref() {
            Expr::Signal(s) => add(s, mask(0, (*width).min(whole(s)))),
            other => reads_of(other, whole, out),
        },
        Expr::Index(base, index) | Expr::Slice(base, _, index) => {
            let width = if let Expr::Slice(_, w, _) = e { *w } else { 1 };
            match (base.as_ref(), index.constant()) {
                (Expr::Signal(s), Some(offset)) => {
                    add(s, mask(offset, width.min(whole(s).saturating_sub(offset))))
                }
                _ => {
                    reads_of(base, whole, out);
                    reads_of(index, whole, out);
                }
            }
        }
        _ => e.operands(&mut |o| reads_of(o, whole, out)),
    }
}

fn reads_of_body(body: &[Stmt], whole: &dyn Fn(&str) -> usize, out: &mut Reads) {
    for s in body {
        match s {
            Stmt::Assign { value, .. } => reads_of(value, whole, out),
            Stmt::If {
                test,
                then,
                otherwise,
            } => {
                reads_of(test, whole, out);
                reads_of_body(then, whole, out);
                reads_of_body(otherwise, whole, out);
            }
            Stmt::Case { test, arms } => {
                reads_of(test, whole, out);
                for (_, b) in arms {
                    reads_of_body(b, whole, out);
                }
            }
        }
    }
}

/// Removes dead locals and registers, notes the rest of the unread bits.
///
/// # Errors
/// [`VerilogError::Latch`] and [`VerilogError::ReadBeforeWrite`].
pub fn prune(mut m: Lowered) -> Result<Lowered, VerilogError> {
    let bits: BTreeMap<String, usize> =
        m.signals.iter().map(|(n, s)| (n.clone(), s.bits)).collect();
    let whole = |name: &str| bits.get(name).copied().unwrap_or(0);

    let mut assigned = BTreeSet::new();
    targets(&m.body, &mut |t| {
        assigned.insert(t.to_owned());
    });
    for t in &assigned {
        if !always_assigned(&m.body, t) && !assigned_by_slices(&m.body, t, whole(t)) {
            return Err(VerilogError::Latch {
                module: m.name,
                signal: t.clone(),
            });
        }
    }
    check_order(&m)?;

    // Reads of each target's own slice, so that a dead target keeps nothing alive.
    let per_target: BTreeMap<&String, Reads> = assigned
        .iter()
        .map(|t| {
            let mut r = Reads::new();
            let mut slice = slice_of(&m.body, &|x| x == t);
            drop_self_hold(&mut slice, t);
            reads_of_body(&slice, &whole, &mut r);
            (t, r)
        })
        .collect();

    let mut live: BTreeSet<String> = m
        .signals
        .iter()
        .filter(|(_, s)| {
            matches!(
                s.kind,
                SignalKind::Port(Direction::Output) | SignalKind::ChildInput
            )
        })
        .map(|(n, _)| n.clone())
        .collect();
    let mut read = Reads::new();
    let mut queue: Vec<String> = live.iter().cloned().collect();
    while let Some(name) = queue.pop() {
        if let Some(SignalKind::Register { clock, .. }) = m.signals.get(&name).map(|s| &s.kind) {
            *read.entry(clock.clone()).or_default() |= BigUint::from(1u8);
        }
        for (r, bits) in per_target.get(&name).into_iter().flatten() {
            *read.entry(r.clone()).or_default() |= bits;
            if live.insert(r.clone()) {
                queue.push(r.clone());
            }
        }
    }

    m.body = slice_of(&m.body, &|t| live.contains(t));
    let mut unread = Vec::new();
    let mut keep = Vec::new();
    for name in std::mem::take(&mut m.order) {
        let signal = &m.signals[&name];
        let full = mask(0, signal.bits);
        let got = read.get(&name).cloned().unwrap_or_default();
        match signal.kind {
            SignalKind::Local | SignalKind::Register { .. } | SignalKind::Constant(_)
                if !live.contains(&name) =>
            {
                m.signals.remove(&name);
                continue;
            }
            // A constant is printed as a localparam; unused bits of it cost nothing.
            SignalKind::Constant(_)
            | SignalKind::Port(Direction::Output)
            | SignalKind::ChildInput => {}
            _ if got != full => unread.push(name.clone()),
            _ => {}
        }
        keep.push(name);
    }
    m.order = keep;
    m.unread = unread;
    Ok(m)
}

fn drop_self_hold(slice: &mut Vec<Stmt>, target: &str) {
    slice.retain(|s| {
        !matches!(s, Stmt::Assign { target: t, slice: None, value: Expr::Signal(v) } if t == target && v == target)
    });
}

/// Whether unconditional part assignments together cover all of `target`.
fn assigned_by_slices(body: &[Stmt], target: &str, bits: usize) -> bool {
    let mut covered = BigUint::default();
    for s in body {
        if let Stmt::Assign {
            target: t,
            slice: Some((offset, width)),
            ..
        } = s
        {
            if t == target {
                covered |= mask(*offset, *width);
            }
        }
    }
    covered == mask(0, bits)
}

/// No combinational signal may be read between two of its assignments: the Verilog sees only its
/// final value, RustHDL's simulation the value so far.
fn check_order(m: &Lowered) -> Result<(), VerilogError> {
    #[derive(Default)]
    struct Seen {
        written: bool,
        read_after_write: bool,
    }
    fn note_reads(e: &Expr, seen: &mut BTreeMap<String, Seen>) {
        if let Expr::Signal(s) = e {
            if let Some(x) = seen.get_mut(s) {
                x.read_after_write |= x.written;
            }
        }
        e.operands(&mut |o| note_reads(o, seen));
    }
    fn walk(body: &[Stmt], seen: &mut BTreeMap<String, Seen>, bad: &mut Option<String>) {
        for s in body {
            match s {
                Stmt::Assign { target, value, .. } => {
                    note_reads(value, seen);
                    if let Some(x) = seen.get_mut(target) {
                        if x.read_after_write {
                            bad.get_or_insert(target.clone());
                        }
                        x.written = true;
                    }
                }
                Stmt::If {
                    test,
                    then,
                    otherwise,
                } => {
                    note_reads(test, seen);
                    walk(then, seen, bad);
                    walk(otherwise, seen, bad);
                }
                Stmt::Case { test, arms } => {
                    note_reads(test, seen);
                    for (_, b) in arms {
                        walk(b, seen, bad);
                    }
                }
            }
        }
    }
    let mut seen: BTreeMap<String, Seen> = m
        .signals
        .iter()
        .filter(|(_, s)| {
            matches!(
                s.kind,
                SignalKind::Local | SignalKind::Port(Direction::Output)
            )
        })
        .map(|(n, _)| (n.clone(), Seen::default()))
        .collect();
    let mut bad = None;
    walk(&m.body, &mut seen, &mut bad);
    match bad {
        Some(signal) => Err(VerilogError::ReadBeforeWrite {
            module: m.name.clone(),
            signal,
        }),
        None => Ok(()),
    }
}
