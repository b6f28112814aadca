//! Measures latency and rate of a block's Verilog: what budgets are made of.

use crate::bench::Rows;
use crate::dut::Dut;
use crate::{SimError, Verilog};
use serde::Serialize;

/// Latency and rate of a stage, measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// From the clock in which a request is taken to the clock in which its answer is valid.
    pub latency_clocks: u32,
    /// Clocks a request at saturation, over all flows.
    pub initiation_interval: f64,
    /// Clocks a request at saturation, one flow alone.
    pub own_flow_interval: f64,
}

/// Clocks of a saturated run.
const SATURATED: u64 = 8_000;
/// A block that answers nothing for this long is broken.
const PATIENCE: u64 = 200_000;

struct Driver<'a> {
    v: &'a Verilog,
    dut: Dut,
    rows: Rows,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
}

impl<'a> Driver<'a> {
    /// Resets the block; all sinks are ready.
    fn new(v: &'a Verilog) -> Result<Self, SimError> {
        let mut d = Self {
            v,
            dut: Dut::new(v, 1, None)?,
            rows: Rows::new(v),
            inputs: vec![0; v.inputs().map(crate::Port::words).sum()],
            outputs: vec![0; v.outputs().map(crate::Port::words).sum()],
        };
        for p in d.v.inputs() {
            if p.name.ends_with("_ready") {
                d.inputs[d.rows.input(&p.name)?] = 1;
            }
        }
        d.set("rst", 1)?;
        for _ in 0..crate::lockstep::RESET_CLOCKS {
            d.step();
        }
        d.set("rst", 0)?;
        Ok(d)
    }

    fn set(&mut self, port: &str, value: u64) -> Result<(), SimError> {
        let at = self.rows.input(port)?;
        self.inputs[at] = value;
        Ok(())
    }

    fn get(&self, port: &str) -> Result<u64, SimError> {
        Ok(self.outputs[self.rows.output(port)?])
    }

    fn step(&mut self) {
        self.dut.step(&self.inputs, &mut self.outputs);
    }

    /// Steps until `port` is high; returns the clocks before that.
    fn wait_for(&mut self, port: &str) -> Result<u64, SimError> {
        for n in 0..PATIENCE {
            self.step();
            if self.get(port)? != 0 {
                return Ok(n);
            }
        }
        Err(SimError::NoAnswer {
            port: port.to_owned(),
        })
    }

    /// Waits until a receiver has its flows and its slots; all are in use until then.
    fn prepare_receiver(&mut self) -> Result<(), SimError> {
        self.set("limit", 253)?;
        self.set("rx_keep", u64::MAX)?;
        self.wait_for("open_ready")?;
        for _ in 0..PATIENCE {
            self.step();
            if self.get("occupied")? == 1 {
                return Ok(());
            }
        }
        Err(SimError::NoAnswer {
            port: "occupied".into(),
        })
    }

    /// Holds `<stream>_valid` until it is taken, with `fields`.
    fn send(&mut self, stream: &str, fields: &[(&str, u64)]) -> Result<(), SimError> {
        for (f, value) in fields {
            self.set(&format!("{stream}_{f}"), *value)?;
        }
        self.set(&format!("{stream}_valid"), 1)?;
        self.wait_for(&format!("{stream}_ready"))?;
        self.set(&format!("{stream}_valid"), 0)
    }
}

/// How a block is asked: the request's fields for the `n`-th request of a flow.
type Request = fn(flow: u64, n: u64) -> Vec<(&'static str, u64)>;

fn flow_only(flow: u64, _n: u64) -> Vec<(&'static str, u64)> {
    vec![("flow", flow)]
}

fn selector_request(flow: u64, _n: u64) -> Vec<(&'static str, u64)> {
    vec![("flow", flow), ("limit", 1 << 20)]
}

fn picker_request(flow: u64, _n: u64) -> Vec<(&'static str, u64)> {
    vec![("flow", flow), ("path", 0), ("skip", 0), ("bound", 1 << 20)]
}

fn tracker_request(flow: u64, n: u64) -> Vec<(&'static str, u64)> {
    vec![("flow", flow), ("psn", n), ("room", 1), ("tag", 0)]
}

/// What to prepare before the requests.
fn prepare(d: &mut Driver, block: &str, flows: u64) -> Result<(), SimError> {
    match block {
        "selector" => {
            d.wait_for("window_ready")?;
            for flow in 0..flows {
                d.send("window", &[("flow", flow), ("path", 0), ("value", 0xffff)])?;
            }
        }
        "sender" => {
            d.wait_for("open_ready")?;
            for flow in 0..flows {
                d.send("window", &[("flow", flow), ("path", 0), ("value", 0xffff)])?;
                d.send("post", &[("flow", flow), ("limit", 1 << 20)])?;
            }
        }
        _ => {
            d.wait_for("open_ready")?;
        }
    }
    Ok(())
}

fn saturate(d: &mut Driver, request: Request, flows: u64) -> Result<f64, SimError> {
    let mut counts = vec![0u64; flows as usize];
    let (mut flow, mut taken) = (0u64, 0u64);
    let mut first = None;
    let mut last = 0;
    d.set("req_valid", 1)?;
    for clock in 0..SATURATED {
        for (f, value) in request(flow, counts[flow as usize]) {
            d.set(&format!("req_{f}"), value)?;
        }
        d.step();
        if d.get("req_ready")? != 0 {
            counts[flow as usize] += 1;
            flow = (flow + 1) % flows;
            // The door and the queues fill first: count from a settled state on.
            if clock > SATURATED / 2 {
                match first {
                    None => first = Some(clock),
                    Some(_) => taken += 1,
                }
                last = clock;
            }
        }
    }
    d.set("req_valid", 0)?;
    Ok((last - first.unwrap_or(0)) as f64 / taken.max(1) as f64)
}

/// Clocks an answer, from the `from`-th to the `to`-th.
fn time_answers(d: &mut Driver, from: u64, to: u64) -> Result<f64, SimError> {
    let (mut clocks, mut answers, mut start) = (0u64, 0u64, 0u64);
    while answers < to {
        clocks += d.wait_for("res_valid")? + 1;
        answers += 1;
        if answers == from {
            start = clocks;
        }
    }
    Ok((clocks - start) as f64 / (to - from) as f64)
}

/// Measures a block with a `req` and a `res` port: `selector`, `picker`, `tracker` or `sender`.
///
/// # Errors
/// [`SimError`] when the block cannot be run or does not answer.
pub fn request_block(v: &Verilog, block: &str, flows: usize) -> Result<Measured, SimError> {
    let flows = flows as u64;
    let request = match block {
        "selector" => selector_request,
        "picker" => picker_request,
        "tracker" => tracker_request,
        _ => flow_only as Request,
    };
    let mut d = Driver::new(v)?;
    prepare(&mut d, block, flows)?;
    d.send("req", &request(0, 0))?;
    let latency = d.wait_for("res_valid")? + 1;
    let mut d = Driver::new(v)?;
    prepare(&mut d, block, flows)?;
    let initiation_interval = saturate(&mut d, request, flows)?;
    let mut d = Driver::new(v)?;
    prepare(&mut d, block, 1)?;
    let own_flow_interval = if block == "sender" {
        // A flow that gets no ACKs stops at its window: time its packets before that.
        d.set("req_flow", 0)?;
        d.set("req_valid", 1)?;
        time_answers(&mut d, 20, 100)?
    } else {
        saturate(&mut d, request, 1)?
    };
    Ok(Measured {
        latency_clocks: latency as u32,
        initiation_interval,
        own_flow_interval,
    })
}

/// Measures the receiver with in-order packets of `beats` beats: last beat in to first beat out,
/// and clocks a packet at saturation.
///
/// # Errors
/// [`SimError`] when the receiver cannot be run or does not answer.
pub fn receiver(v: &Verilog, flows: usize, beats: u64) -> Result<Measured, SimError> {
    let flows = flows as u64;
    let mut d = Driver::new(v)?;
    d.prepare_receiver()?;
    for beat in 0..beats {
        let last = u64::from(beat + 1 == beats);
        d.send("rx", &[("flow", 0), ("psn", 0), ("last", last)])?;
    }
    let latency = d.wait_for("host_valid")? + 1;

    let rate = |flows: u64| -> Result<f64, SimError> {
        let mut d = Driver::new(v)?;
        d.prepare_receiver()?;
        let mut psn = vec![0u64; flows as usize];
        let (mut flow, mut beat, mut delivered) = (0u64, 0u64, 0u64);
        let (mut first, mut last) = (0, 0);
        d.set("rx_valid", 1)?;
        let clocks = SATURATED.max(beats * 400);
        for clock in 0..clocks {
            d.set("rx_flow", flow)?;
            d.set("rx_psn", psn[flow as usize])?;
            d.set("rx_last", u64::from(beat + 1 == beats))?;
            d.step();
            if d.get("rx_ready")? != 0 {
                beat += 1;
                if beat == beats {
                    beat = 0;
                    psn[flow as usize] += 1;
                    flow = (flow + 1) % flows;
                }
            }
            if d.get("host_valid")? != 0 && d.get("host_last")? != 0 && clock > clocks / 4 {
                if first == 0 {
                    first = clock;
                } else {
                    delivered += 1;
                }
                last = clock;
            }
        }
        Ok((last - first) as f64 / delivered.max(1) as f64)
    };
    Ok(Measured {
        latency_clocks: latency as u32,
        initiation_interval: rate(flows)?,
        own_flow_interval: rate(1)?,
    })
}
