//! The memory modules: Verilog written by hand, as is the AXI wrapper's shell.

use super::tree::{Node, NodeKind};
use super::{Direction, Module, Port};

/// Address bits of a memory of `depth` words.
fn address_bits(depth: usize) -> usize {
    depth.trailing_zeros() as usize
}

/// Bits of a RAM's address port that its depth needs; every other port is taken whole.
pub fn taken_bits(child: &Node, port: &str, bits: usize) -> usize {
    match child.kind {
        NodeKind::Ram { depth } if port.ends_with("_address") => address_bits(depth),
        _ => bits,
    }
}

/// Size of a memory in bits.
pub fn bits_of(child: &Node) -> usize {
    match &child.kind {
        NodeKind::Ram { depth } => depth * child.bits_of("read_data"),
        NodeKind::Rom { words, .. } => words.len() * child.bits_of("data"),
        _ => 0,
    }
}

/// Parameters of a RAM instance.
pub fn ram_parameters(child: &Node, depth: usize) -> Vec<(String, String)> {
    vec![
        ("WIDTH".into(), child.bits_of("read_data").to_string()),
        ("ADDRESS_BITS".into(), address_bits(depth).to_string()),
    ]
}

fn input(name: &str, bits: usize) -> Port {
    Port {
        name: name.into(),
        direction: Direction::Input,
        bits,
    }
}

/// The simple dual-port RAM, the same for every instance.
pub fn ram_module() -> Module {
    Module {
        name: "rondo_sdp_ram".into(),
        text: "\
// Simple dual-port block RAM: one writer, one reader, registered read.
// A read and a write of one address in the same clock return the old word.
// Contents are undefined until written: the owner's init sweep clears them.
module rondo_sdp_ram #(
    parameter WIDTH = 8,
    parameter ADDRESS_BITS = 4
) (
    input  wire                    clock,
    input  wire [ADDRESS_BITS-1:0] read_address,
    output reg  [WIDTH-1:0]        read_data,
    input  wire                    write_enable,
    input  wire [ADDRESS_BITS-1:0] write_address,
    input  wire [WIDTH-1:0]        write_data
);

    (* ram_style = \"block\" *)
    reg [WIDTH-1:0] mem [0:(1<<ADDRESS_BITS)-1];

    always @(posedge clock) begin
        if (write_enable) mem[write_address] <= write_data;
        read_data <= mem[read_address];
    end

endmodule
"
        .into(),
        ports: vec![],
    }
}

/// A ROM of `words`, as a module of its own.
pub fn rom_module(child: &Node, name: &str, words: &[String]) -> Module {
    let (bits, address) = (child.bits_of("data"), child.bits_of("address"));
    let contents: String = words
        .iter()
        .enumerate()
        .map(|(i, w)| format!("        mem[{i}] = {bits}'h{w};\n"))
        .collect();
    Module {
        name: name.into(),
        text: format!(
            "\
// Table of {count} words of {bits} bits, registered read.
module {name} (
    input  wire clock,
    input  wire [{a}:0] address,
    output reg  [{b}:0] data
);

    (* rom_style = \"block\" *)
    reg [{b}:0] mem [0:{last}];

    initial begin
{contents}    end

    always @(posedge clock) data <= mem[address];

endmodule
",
            count = words.len(),
            a = address - 1,
            b = bits - 1,
            last = words.len() - 1,
        ),
        ports: vec![
            input("clock", 1),
            input("address", address),
            Port {
                name: "data".into(),
                direction: Direction::Output,
                bits,
            },
        ],
    }
}
