//! Test vectors exported from the model, for a second simulator.
//!
//! The stimulus is answered by the model alone; the vectors hold every clock's inputs, expected
//! outputs and which output bits count. A self-checking Verilog testbench reads them.

use crate::lockstep::{Bench, RESET_CLOCKS};
use crate::{Port, Verilog};
use std::fmt::Write;

/// Vectors as text for `$readmemh`, and the testbench that reads them.
#[derive(Debug, Clone)]
pub struct Vectors {
    /// One line a clock: inputs.
    pub inputs: String,
    /// One line a clock: expected outputs.
    pub expected: String,
    /// One line a clock: output bits that count.
    pub care: String,
    /// Verilog testbench; prints `PASS` or the first difference.
    pub testbench: String,
}

/// Appends a port's bits to a bit string, most significant first.
fn push_bits(bits: &mut String, port: &Port, words: &[u64]) {
    for i in (0..port.bits).rev() {
        bits.push(if words[i / 64] >> (i % 64) & 1 == 1 {
            '1'
        } else {
            '0'
        });
    }
}

/// A bit string as hexadecimal.
fn hex(bits: &str) -> String {
    let padded = "0".repeat((4 - bits.len() % 4) % 4) + bits;
    padded
        .as_bytes()
        .chunks(4)
        .map(|c| {
            let digit = c.iter().fold(0, |n, b| 2 * n + u32::from(b - b'0'));
            char::from_digit(digit, 16).unwrap_or('0')
        })
        .collect()
}

/// The port whose `valid` qualifies output `name`.
fn qualifier<'a>(v: &'a Verilog, name: &str) -> Option<&'a str> {
    v.outputs().map(|o| o.name.as_str()).find(|o| {
        *o != name
            && o.strip_suffix("_valid").is_some_and(|s| {
                name.strip_prefix(s)
                    .is_some_and(|rest| rest.starts_with('_'))
            })
    })
}

/// Exports `cycles` clocks of `bench` for `v`.
pub fn export(v: &Verilog, bench: &mut dyn Bench, cycles: u64) -> Vectors {
    let inputs: Vec<&Port> = v.inputs().collect();
    let outputs: Vec<&Port> = v.outputs().collect();
    let mut in_row = vec![0u64; inputs.iter().map(|p| p.words()).sum()];
    let mut out_row = vec![0u64; outputs.iter().map(|p| p.words()).sum()];
    let mut text = Vectors {
        inputs: String::new(),
        expected: String::new(),
        care: String::new(),
        testbench: testbench(v, cycles),
    };
    for clock in 0..cycles {
        bench.drive(&mut in_row);
        bench.model(&in_row, &mut out_row);
        bench.observe(&in_row, &out_row);
        let mut bits = String::new();
        let mut at = 0;
        for p in &inputs {
            push_bits(&mut bits, p, &in_row[at..at + p.words()]);
            at += p.words();
        }
        let _ = writeln!(text.inputs, "{}", hex(&bits));
        let (mut expected, mut care) = (String::new(), String::new());
        let mut place = std::collections::HashMap::new();
        at = 0;
        for p in &outputs {
            place.insert(p.name.as_str(), at);
            at += p.words();
        }
        for p in &outputs {
            let at = place[p.name.as_str()];
            push_bits(&mut expected, p, &out_row[at..at + p.words()]);
            let counts = clock >= RESET_CLOCKS
                && qualifier(v, &p.name).is_none_or(|q| out_row[place[q]] != 0);
            care.push_str(&if counts { "1" } else { "0" }.repeat(p.bits));
        }
        let _ = writeln!(text.expected, "{}", hex(&expected));
        let _ = writeln!(text.care, "{}", hex(&care));
    }
    text
}

fn testbench(v: &Verilog, cycles: u64) -> String {
    let width = |ports: &mut dyn Iterator<Item = &Port>| ports.map(|p| p.bits).sum::<usize>();
    let (win, wout) = (width(&mut v.inputs()), width(&mut v.outputs()));
    let mut connections = String::from("        .clk(clk)");
    let connect = |list: &mut String, ports: Vec<&Port>, total: usize, bus: &str| {
        let mut high = total;
        for p in ports {
            let _ = write!(
                list,
                ",\n        .{}({bus}[{}:{}])",
                p.name,
                high - 1,
                high - p.bits
            );
            high -= p.bits;
        }
    };
    connect(&mut connections, v.inputs().collect(), win, "in");
    connect(&mut connections, v.outputs().collect(), wout, "out");
    format!(
        "`timescale 1ns/1ps
module testbench;
    reg clk = 1'b0;
    reg [{i}:0] in;
    wire [{o}:0] out;
    reg [{i}:0] inputs [0:{last}];
    reg [{o}:0] expected [0:{last}];
    reg [{o}:0] care [0:{last}];
    integer n;
    {top} dut (
{connections}
    );
    initial begin
        $readmemh(\"inputs.hex\", inputs);
        $readmemh(\"expected.hex\", expected);
        $readmemh(\"care.hex\", care);
        for (n = 0; n < {cycles}; n = n + 1) begin
            clk = 1'b0;
            in = inputs[n];
            #2;
            if ((out & care[n]) !== (expected[n] & care[n])) begin
                $display(\"FAIL clock %0d: outputs %h, expected %h, compared %h\", n, out, expected[n], care[n]);
                $finish;
            end
            clk = 1'b1;
            #2;
        end
        $display(\"PASS\");
        $finish;
    end
endmodule
",
        i = win - 1,
        o = wout - 1,
        last = cycles - 1,
        top = v.top
    )
}
