//! Timing diagrams for the documentation, drawn from a real run: WaveJSON as WaveDrom reads it.

use crate::bench::Rows;
use crate::dut::Dut;
use crate::{Port, SimError, Verilog};
use serde::Serialize;

/// A signal of a diagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wave {
    /// Port.
    pub name: String,
    /// One character a clock.
    pub wave: String,
    /// Values of the `=` clocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
}

/// A diagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagram {
    /// Signals, the clock first.
    pub signal: Vec<Wave>,
    /// Caption.
    pub head: Head,
}

/// Caption of a diagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Head {
    /// Text above it.
    pub text: String,
}

/// What is put on the ports in one clock. `port:n` is the 64-bit word `n` of a wide port.
pub type Drive<'a> = &'a [(&'a str, u128)];

/// Clocks in which nothing happens before a recording: longer than any free list's fill.
const SETTLE: usize = 600;

/// Resets `v`, waits for `ready` (if it is not empty), then applies one row of `drives` a clock and
/// records `signals` for `clocks` clocks. Ports keep their value until a row changes them.
///
/// # Errors
/// [`SimError`] when the block cannot be run or has no such port.
pub fn record(
    v: &Verilog,
    ready: &str,
    drives: &[Drive],
    signals: &[&str],
    clocks: usize,
    caption: &str,
) -> Result<Diagram, SimError> {
    let rows = Rows::new(v);
    let mut dut = Dut::new(v, 1, None)?;
    let mut inputs = vec![0u64; v.inputs().map(Port::words).sum()];
    let mut outputs = vec![0u64; v.outputs().map(Port::words).sum()];
    for p in v.inputs().filter(|p| p.name.ends_with("_ready")) {
        inputs[rows.input(&p.name)?] = 1;
    }
    inputs[rows.input("rst")?] = 1;
    for _ in 0..crate::lockstep::RESET_CLOCKS {
        dut.step(&inputs, &mut outputs);
    }
    inputs[rows.input("rst")?] = 0;
    if !ready.is_empty() {
        let at_ready = rows.output(ready)?;
        for _ in 0..200_000 {
            dut.step(&inputs, &mut outputs);
            if outputs[at_ready] != 0 {
                break;
            }
        }
    }
    for _ in 0..SETTLE {
        dut.step(&inputs, &mut outputs);
    }
    let value = |inputs: &[u64], outputs: &[u64], port: &str| -> Result<u64, SimError> {
        match rows.input(port) {
            Ok(at) => Ok(inputs[at]),
            Err(_) => Ok(outputs[rows.output(port)?]),
        }
    };
    let qualifiers: Vec<Option<String>> = signals.iter().map(|s| qualifier(v, s)).collect();
    // None: the port's valid is low, the value means nothing.
    let mut values: Vec<Vec<Option<u64>>> = vec![Vec::new(); signals.len()];
    for clock in 0..clocks {
        for (port, value) in drives.get(clock).copied().unwrap_or(&[]) {
            let (port, word) = port.split_once(':').unwrap_or((port, "0"));
            let at = rows.input(port)? + word.parse().unwrap_or(0);
            inputs[at] = *value as u64;
            let words = v.ports.iter().find(|p| p.name == port).map(Port::words);
            if words > Some(1) {
                inputs[at + 1] = (*value >> 64) as u64;
            }
        }
        dut.step(&inputs, &mut outputs);
        for ((list, name), valid) in values.iter_mut().zip(signals).zip(&qualifiers) {
            let means = match valid {
                Some(valid) => value(&inputs, &outputs, valid)? != 0,
                None => true,
            };
            let now = value(&inputs, &outputs, name)?;
            list.push(means.then_some(now));
        }
    }
    let mut signal = vec![Wave {
        name: "clk".into(),
        wave: format!("p{}", ".".repeat(clocks - 1)),
        data: vec![],
    }];
    for (list, name) in values.iter().zip(signals) {
        let port = v.ports.iter().find(|p| p.name == *name);
        signal.push(wave(name, list, port.map_or(1, |p| p.bits)));
    }
    Ok(Diagram {
        signal,
        head: Head {
            text: caption.to_owned(),
        },
    })
}

/// The `valid` of the stream that `name` is a field of.
fn qualifier(v: &Verilog, name: &str) -> Option<String> {
    name.match_indices('_')
        .map(|(i, _)| format!("{}_valid", &name[..i]))
        .find(|valid| {
            !name.ends_with("_valid")
                && !name.ends_with("_ready")
                && v.ports.iter().any(|p| p.name == *valid)
        })
}

fn wave(name: &str, values: &[Option<u64>], bits: usize) -> Wave {
    let mut wave = String::new();
    let mut data = Vec::new();
    for (i, v) in values.iter().enumerate() {
        match v {
            _ if i > 0 && values[i - 1] == *v => wave.push('.'),
            None => wave.push('x'),
            Some(0) if bits == 1 => wave.push('0'),
            Some(_) if bits == 1 => wave.push('1'),
            Some(v) => {
                wave.push('=');
                data.push(v.to_string());
            }
        }
    }
    Wave {
        name: name.to_owned(),
        wave,
        data,
    }
}
