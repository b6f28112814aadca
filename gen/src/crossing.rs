//! The clock crossing in co-simulation: its halves, with wires between them on which every bit arrives
//! at its own time.
//!
//! `clk` is the grid of time on which the bench moves the two clocks and delays the bits. A bit is late
//! by up to three steps, which is less than a period of either clock: what a placed design may do.

use crate::verilog::{print_design, Design, Direction, Port, VerilogError};
use rondo_hdl::control::{AxilCrossing, CrossingSink, CrossingSource};
use std::fmt::Write;

/// The module that the bench drives.
const TOP: &str = "rondo_axil_crossing_bench";

/// Both halves, joined by late wires.
///
/// # Errors
/// [`VerilogError`] is a fault of the RustHDL source.
pub fn late() -> Result<rondo_sim::Verilog, VerilogError> {
    let source = print_design(&CrossingSource::default())?;
    let sink = print_design(&CrossingSink::default())?;
    let (s, m) = (ports(&source), ports(&sink));
    let crossing: Vec<&Port> = s.iter().filter(|p| is_crossing(p)).collect();
    let bits: usize = crossing.iter().map(|p| p.bits).sum();
    let mut text = String::new();
    let mut at = 0;
    for p in &crossing {
        let range = format!("[{}:{at}]", at + p.bits - 1);
        at += p.bits;
        let (from, to) = match p.direction {
            Direction::Output => ("source", "sink"),
            Direction::Input => ("sink", "source"),
        };
        let width = format!("[{}:0]", p.bits - 1);
        let _ = writeln!(text, "    wire {width} {from}_{0}, {to}_{0};", p.name);
        let _ = writeln!(text, "    assign now{range} = {from}_{};", p.name);
        let _ = writeln!(text, "    assign {to}_{} = seen{range};", p.name);
    }
    let _ = write!(
        text,
        "    wire [{b}:0] now, seen;\n    reg [{b}:0] one, two, three;\n\
         \x20   always @(posedge clk) begin\n        one <= now;\n        two <= one;\n        three <= two;\n    end\n\
         \x20   genvar i;\n    generate for (i = 0; i < {bits}; i = i + 1) begin : bits\n\
         \x20       assign seen[i] = late[2*i+1] ? (late[2*i] ? three[i] : two[i]) : (late[2*i] ? one[i] : now[i]);\n\
         \x20   end endgenerate\n",
        b = bits - 1
    );
    for (side, design, ports) in [("source", &source, &s), ("sink", &sink, &m)] {
        let letter = if side == "source" { "s" } else { "m" };
        let pins: Vec<String> = ports
            .iter()
            .map(|p| match p.name.as_str() {
                "clk" | "rst" => format!(".{0}({letter}_{0})", p.name),
                _ if is_crossing(p) => format!(".{0}({side}_{0})", p.name),
                _ => format!(".{0}({0})", p.name),
            })
            .collect();
        let _ = writeln!(text, "    {} {side} ({});", design.top, pins.join(", "));
    }
    let mut designs = source.modules;
    designs.extend(sink.modules);
    Ok(bench_top(&s, &m, bits, &text, designs))
}

/// The crossing as it is generated, under the same ports.
///
/// # Errors
/// [`VerilogError`] is a fault of the RustHDL source.
pub fn joined() -> Result<rondo_sim::Verilog, VerilogError> {
    let design = print_design(&AxilCrossing::default())?;
    let all = ports(&design);
    let side = |letter: &str| -> Vec<Port> {
        let axil = format!("{letter}_axil_");
        all.iter()
            .filter(|p| p.name.starts_with(&axil))
            .cloned()
            .collect()
    };
    let pins: Vec<String> = all.iter().map(|p| format!(".{0}({0})", p.name)).collect();
    let text = format!("    {} joined ({});\n", design.top, pins.join(", "));
    Ok(bench_top(&side("s"), &side("m"), 1, &text, design.modules))
}

fn ports(design: &Design) -> Vec<Port> {
    design
        .module(&design.top)
        .map_or_else(Vec::new, |m| m.ports.clone())
}

/// A wire between the halves.
fn is_crossing(p: &Port) -> bool {
    p.name.starts_with("write_") || p.name.starts_with("read_")
}

fn bench_top(
    source: &[Port],
    sink: &[Port],
    crossing_bits: usize,
    body: &str,
    modules: Vec<crate::verilog::Module>,
) -> rondo_sim::Verilog {
    let port = |name: &str, bits: usize, output: bool| rondo_sim::Port {
        name: name.into(),
        bits,
        output,
    };
    let mut ports = vec![
        port("clk", 1, false),
        port("s_clk", 1, false),
        port("m_clk", 1, false),
        port("s_rst", 1, false),
        port("m_rst", 1, false),
        port("late", 2 * crossing_bits, false),
    ];
    let axil = source
        .iter()
        .chain(sink)
        .filter(|p| p.name.contains("_axil_"));
    ports.extend(axil.map(|p| port(&p.name, p.bits, p.direction == Direction::Output)));
    let list: Vec<String> = ports
        .iter()
        .map(|p| {
            let side = if p.output { "output" } else { "input" };
            format!("    {side} wire [{}:0] {}", p.bits - 1, p.name)
        })
        .collect();
    let top = format!(
        "module {TOP} (\n{}\n);\n{body}endmodule\n",
        list.join(",\n")
    );
    let mut files: Vec<(String, String)> = Vec::new();
    for m in modules {
        let file = (format!("{}.v", m.name), m.text);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files.push((format!("{TOP}.v"), top));
    rondo_sim::Verilog {
        top: TOP.into(),
        files,
        ports,
    }
}
