//! A block in Verilator, driven port by port.

use rondo_sim::bench::Rows;
use rondo_sim::dut::Dut;
use rondo_sim::{Port, Verilog};

/// A block, its inputs and its latest outputs.
pub struct Rig {
    dut: Dut,
    rows: Rows,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
}

impl Rig {
    /// `v` with random state.
    pub fn new(v: &Verilog) -> Self {
        Self {
            dut: Dut::new(v, 1, None).expect("runs"),
            rows: Rows::new(v),
            inputs: vec![0; v.inputs().map(Port::words).sum()],
            outputs: vec![0; v.outputs().map(Port::words).sum()],
        }
    }
    /// Sets an input.
    pub fn set(&mut self, port: &str, value: u64) {
        let at = self.rows.input(port).expect(port);
        self.inputs[at] = value;
    }
    /// An output in the latest clock.
    pub fn get(&self, port: &str) -> u64 {
        self.outputs[self.rows.output(port).expect(port)]
    }
    /// One clock.
    pub fn step(&mut self) {
        self.dut.step(&self.inputs, &mut self.outputs);
    }
}
