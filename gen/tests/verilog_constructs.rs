//! Each construct of `#[hdl_gen]` that the back end prints, against RustHDL's own simulation,
//! exhaustively over small widths. RustHDL's printer gets the first four outputs wrong.

#![allow(clippy::nonminimal_bool)] // the redundant forms are what is tested

mod common;

use rondo::verilog::{print_design, VerilogError};
use rondo_hdl::prim::{IndexNames, ModuleId, Reg, SyncReg};
use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Phase {
    Idle,
    Low,
    High,
}

#[derive(Copy, Clone, Default, PartialEq, Debug, LogicStruct)]
struct Pair {
    low: Bits<4>,
    high: Bits<4>,
}

/// An index by its name.
const LAST: usize = 2;

#[derive(LogicBlock)]
struct Constructs {
    id: ModuleId,
    names: IndexNames,
    a: Signal<In, Bits<4>>,
    b: Signal<In, Bits<4>>,
    c: Signal<In, Bits<4>>,
    add_wraps: Signal<Out, Bit>,
    sub_wraps: Signal<Out, Bit>,
    precedence: Signal<Out, Bit>,
    not_wraps: Signal<Out, Bit>,
    widen: Signal<Out, Bits<8>>,
    narrow: Signal<Out, Bits<2>>,
    shift: Signal<Out, Bits<4>>,
    product: Signal<Out, Bits<32>>,
    reduce: Signal<Out, Bits<3>>,
    slice: Signal<Out, Bits<2>>,
    one_bit: Signal<Out, Bits<2>>,
    replaced: Signal<Out, Bits<4>>,
    chosen: Signal<Out, Bits<4>>,
    label: Signal<Out, Bits<4>>,
    looped: Signal<Out, Bits<4>>,
    logical: Signal<Out, Bit>,
    fields: Signal<Out, Bits<4>>,
    phase: Signal<Local, Phase>,
    pair: Signal<Local, Pair>,
    partial: [Signal<Local, Bits<4>>; 3],
    seven: Constant<Bits<4>>,
}

impl Default for Constructs {
    fn default() -> Self {
        Self {
            id: ModuleId::new("constructs", "One of each."),
            names: IndexNames::new(&[("LAST", LAST)]),
            a: Signal::default(),
            b: Signal::default(),
            c: Signal::default(),
            add_wraps: Signal::default(),
            sub_wraps: Signal::default(),
            precedence: Signal::default(),
            not_wraps: Signal::default(),
            widen: Signal::default(),
            narrow: Signal::default(),
            shift: Signal::default(),
            product: Signal::default(),
            reduce: Signal::default(),
            slice: Signal::default(),
            one_bit: Signal::default(),
            replaced: Signal::default(),
            chosen: Signal::default(),
            label: Signal::default(),
            looped: Signal::default(),
            logical: Signal::default(),
            fields: Signal::default(),
            phase: Signal::default(),
            pair: Signal::default(),
            partial: std::array::from_fn(|_| Signal::default()),
            seven: Constant::new(7.into()),
        }
    }
}

impl Logic for Constructs {
    #[hdl_gen]
    fn update(&mut self) {
        self.add_wraps.next = (self.a.val() + 1) == 0;
        self.sub_wraps.next = (self.a.val() - self.b.val()) < 8;
        self.precedence.next = self.a.val() & self.b.val() == self.c.val();
        self.not_wraps.next = !self.a.val() == 0;
        self.widen.next =
            bit_cast::<8, 4>(self.a.val() + self.b.val()) + (bit_cast::<8, 4>(self.c.val()) << 3);
        self.narrow.next = bit_cast::<2, 4>(self.a.val() + self.b.val());
        self.shift.next = (self.a.val() << 1) ^ (self.b.val() >> bit_cast::<2, 4>(self.c.val()));
        self.product.next = bit_cast::<16, 4>(self.a.val() - self.b.val())
            * bit_cast::<16, 4>(self.c.val() + self.seven.val());
        self.reduce.next = bit_cast::<3, 1>(self.a.val().all().into())
            | (bit_cast::<3, 1>(self.b.val().any().into()) << 1)
            | (bit_cast::<3, 1>((self.a.val() ^ self.c.val()).xor().into()) << 2);
        self.slice.next = (self.a.val() - self.c.val()).get_bits::<2>(1);
        self.one_bit.next = bit_cast::<2, 1>(self.a.val().get_bit(2).into())
            + bit_cast::<2, 1>(
                self.b
                    .val()
                    .get_bit(bit_cast::<2, 4>(self.c.val()).index())
                    .into(),
            );
        self.replaced.next = self.a.val().replace_bit(2, self.b.val().get_bit(0));
        self.chosen.next = self.a.val();
        if self.a.val() > self.b.val() {
            self.chosen.next = self.b.val();
        } else if self.a.val() == self.c.val() {
            self.chosen.next = !self.c.val();
        } else {
            self.chosen.next = 9.into();
        }
        self.phase.next = Phase::Idle;
        if self.a.val() >= self.c.val() {
            self.phase.next = Phase::High;
        } else if self.b.val() <= 4 {
            self.phase.next = Phase::Low;
        }
        self.label.next = 0.into();
        match self.phase.val() {
            Phase::Idle => self.label.next = 1.into(),
            Phase::Low => self.label.next = self.a.val(),
            Phase::High => self.label.next = self.c.val() - self.a.val(),
        }
        self.partial[0].next = self.a.val();
        for i in 1..3 {
            self.partial[i].next = self.partial[i - 1].val()
                + self.b.val().replace_bit(i, self.c.val().get_bit(i + 1));
        }
        self.looped.next = self.partial[LAST].val();
        self.logical.next =
            (self.a.val() != self.b.val()) && !(self.c.val() == 0) || self.a.val().get_bit(3);
        self.pair.next.low = self.a.val() + self.b.val();
        self.pair.next.high = self.c.val();
        self.fields.next = self.pair.val().low ^ (self.pair.val().high << 1);
    }
}

#[test]
fn every_construct_means_what_the_rust_means() {
    let mut uut = Constructs::default();
    uut.connect_all();
    let design = print_design(&uut).expect("prints");
    let mut inputs = Vec::new();
    let mut want = Vec::new();
    for v in 0..4096u64 {
        let (a, b, c) = (v & 15, (v >> 4) & 15, v >> 8);
        uut.a.next = a.into();
        uut.b.next = b.into();
        uut.c.next = c.into();
        assert!(simulate(&mut uut, 100));
        inputs.push(vec![a, b, c]);
        want.push(vec![
            uut.add_wraps.val() as u64,
            uut.sub_wraps.val() as u64,
            uut.precedence.val() as u64,
            uut.not_wraps.val() as u64,
            uut.widen.val().to_u64(),
            uut.narrow.val().to_u64(),
            uut.shift.val().to_u64(),
            uut.product.val().to_u64(),
            uut.reduce.val().to_u64(),
            uut.slice.val().to_u64(),
            uut.one_bit.val().to_u64(),
            uut.replaced.val().to_u64(),
            uut.chosen.val().to_u64(),
            uut.label.val().to_u64(),
            uut.looped.val().to_u64(),
            uut.logical.val() as u64,
            uut.fields.val().to_u64(),
        ]);
    }
    let got = common::run_in_verilator(&design, &inputs, &[]);
    for ((i, w), g) in inputs.iter().zip(&want).zip(&got) {
        assert_eq!(w, g, "inputs {i:?}\n{}", design.text());
    }
}

#[derive(LogicBlock)]
struct Latching {
    id: ModuleId,
    clk: Signal<In, Clock>,
    a: Signal<In, Bit>,
    y: Signal<Out, Bit>,
    hold: Reg<Bit>,
}

impl Logic for Latching {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, hold);
        if self.a.val() {
            self.y.next = self.hold.q.val();
        }
    }
}

#[test]
fn a_latch_is_refused() {
    let uut = Latching {
        id: ModuleId::new("latching", ""),
        clk: Signal::default(),
        a: Signal::default(),
        y: Signal::default(),
        hold: Reg::default(),
    };
    assert_eq!(
        print_design(&uut).expect_err("a latch"),
        VerilogError::Latch {
            module: "latching".into(),
            signal: "y".into()
        }
    );
}

#[derive(LogicBlock)]
struct Crossing {
    id: ModuleId,
    clk: Signal<In, Clock>,
    a: Signal<In, Bit>,
    y: Signal<Out, Bit>,
    sync_0: SyncReg<Bit>,
    sync_1: SyncReg<Bit>,
    plain: Reg<Bit>,
}

impl Logic for Crossing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, sync_0, sync_1, plain);
        self.sync_0.d.next = self.a.val();
        self.sync_1.d.next = self.sync_0.q.val();
        self.plain.d.next = self.sync_1.q.val();
        self.y.next = self.plain.q.val();
    }
}

#[test]
fn a_synchroniser_keeps_its_registers_together() {
    let uut = Crossing {
        id: ModuleId::new("crossing", ""),
        clk: Signal::default(),
        a: Signal::default(),
        y: Signal::default(),
        sync_0: SyncReg::default(),
        sync_1: SyncReg::default(),
        plain: Reg::default(),
    };
    let text = print_design(&uut).expect("prints").text();
    for line in [
        "    (* ASYNC_REG = \"TRUE\" *) reg sync_0;\n",
        "    (* ASYNC_REG = \"TRUE\" *) reg sync_1;\n",
        "    reg plain;\n",
        "        sync_0 <= a;\n        sync_1 <= sync_0;\n        plain <= sync_1;\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
