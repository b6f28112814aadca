//! Typed access to the tops' ports.

use super::Rows;
use crate::{SimError, Verilog};
use rondo_models::cycle::sender::{Ack, Inputs, Outputs};
use rondo_models::tracker::Verdict;

/// Words of the sender datapath's ports in the input and output rows.
pub struct SenderPorts {
    pub(crate) rst: usize,
    pub(crate) open: [usize; 3],
    pub(crate) post: [usize; 3],
    pub(crate) window: [usize; 4],
    pub(crate) skip: [usize; 4],
    pub(crate) ack: [usize; 5],
    pub(crate) resolve: [usize; 3],
    pub(crate) again: [usize; 3],
    pub(crate) req: [usize; 2],
    pub(crate) sink_ready: [usize; 4],
    pub(crate) open_ready: usize,
    pub(crate) post_ready: usize,
    pub(crate) window_ready: usize,
    pub(crate) skip_ready: usize,
    pub(crate) ack_ready: usize,
    pub(crate) resolve_ready: usize,
    pub(crate) again_ready: usize,
    pub(crate) req_ready: usize,
    pub(crate) res: [usize; 5],
    pub(crate) retry: [usize; 4],
    pub(crate) idle: [usize; 4],
    pub(crate) acked: [usize; 6],
}

impl SenderPorts {
    /// Of the sender `v`.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog) -> Result<Self, SimError> {
        let r = Rows::new(v);
        Ok(Self {
            rst: r.input("rst")?,
            open: r.inputs(["open_valid", "open_flow", "open_psn"])?,
            post: r.inputs(["post_valid", "post_flow", "post_limit"])?,
            window: r.inputs(["window_valid", "window_flow", "window_path", "window_value"])?,
            skip: r.inputs(["skip_valid", "skip_flow", "skip_path", "skip_value"])?,
            ack: r.inputs(["ack_valid", "ack_flow", "ack_path", "ack_psn", "ack_count"])?,
            resolve: r.inputs(["resolve_valid", "resolve_flow", "resolve_path"])?,
            again: r.inputs(["again_valid", "again_flow", "again_psn"])?,
            req: r.inputs(["req_valid", "req_flow"])?,
            sink_ready: r.inputs(["res_ready", "idle_ready", "acked_ready", "retry_ready"])?,
            open_ready: r.output("open_ready")?,
            post_ready: r.output("post_ready")?,
            window_ready: r.output("window_ready")?,
            skip_ready: r.output("skip_ready")?,
            ack_ready: r.output("ack_ready")?,
            resolve_ready: r.output("resolve_ready")?,
            again_ready: r.output("again_ready")?,
            req_ready: r.output("req_ready")?,
            res: r.outputs(["res_valid", "res_flow", "res_path", "res_psn", "res_found"])?,
            retry: r.outputs(["retry_valid", "retry_flow", "retry_path", "retry_psn"])?,
            idle: r.outputs(["idle_valid", "idle_flow", "idle_again", "idle_psn"])?,
            acked: r.outputs([
                "acked_valid",
                "acked_flow",
                "acked_psn",
                "acked_path",
                "acked_new",
                "acked_una",
            ])?,
        })
    }

    /// The row's inputs, as the model takes them.
    #[inline]
    pub fn read_inputs(&self, inputs: &[u64]) -> Inputs {
        let a = self;
        let on = |i: usize| inputs[i] != 0;
        let pair =
            |at: &[usize; 3]| on(at[0]).then(|| (inputs[at[1]] as u16, inputs[at[2]] as u32));
        let triple = |at: &[usize; 4]| {
            on(at[0]).then(|| {
                (
                    inputs[at[1]] as u16,
                    inputs[at[2]] as u8,
                    inputs[at[3]] as u32,
                )
            })
        };
        let short = |t: Option<(u16, u8, u32)>| t.map(|(f, p, v)| (f, p, v as u16));
        Inputs {
            rst: on(a.rst),
            open: pair(&a.open),
            post: pair(&a.post),
            window: short(triple(&a.window)),
            skip: short(triple(&a.skip)),
            ack: on(a.ack[0]).then(|| Ack {
                flow: inputs[a.ack[1]] as u16,
                path: inputs[a.ack[2]] as u8,
                psn: inputs[a.ack[3]] as u32,
                count: on(a.ack[4]),
            }),
            resolve: on(a.resolve[0])
                .then(|| (inputs[a.resolve[1]] as u16, inputs[a.resolve[2]] as u8)),
            again: pair(&a.again),
            req: on(a.req[0]).then(|| inputs[a.req[1]] as u16),
            res_ready: on(a.sink_ready[0]),
            idle_ready: on(a.sink_ready[1]),
            acked_ready: on(a.sink_ready[2]),
            retry_ready: on(a.sink_ready[3]),
        }
    }

    /// The model's outputs into a row.
    #[inline]
    pub fn write_outputs(&self, out: &Outputs, expected: &mut [u64]) {
        let a = self;
        expected[a.open_ready] = out.open_ready.into();
        expected[a.post_ready] = out.control_ready.into();
        expected[a.skip_ready] = out.control_ready.into();
        expected[a.window_ready] = out.window_ready.into();
        expected[a.ack_ready] = out.ack_ready.into();
        expected[a.resolve_ready] = out.resolve_ready.into();
        expected[a.again_ready] = out.again_ready.into();
        expected[a.req_ready] = out.req_ready.into();
        expected[a.res[0]] = out.res.is_some().into();
        if let Some(p) = out.res {
            expected[a.res[1]] = p.flow.into();
            expected[a.res[2]] = p.path.into();
            expected[a.res[3]] = p.psn.unwrap_or(0).into();
            expected[a.res[4]] = p.psn.is_some().into();
        }
        expected[a.idle[0]] = out.idle.is_some().into();
        if let Some((flow, psn)) = out.idle {
            expected[a.idle[1]] = flow.into();
            expected[a.idle[2]] = psn.is_some().into();
            expected[a.idle[3]] = psn.unwrap_or(0).into();
        }
        expected[a.retry[0]] = out.retry.is_some().into();
        if let Some(r) = out.retry {
            expected[a.retry[1]] = r.flow.into();
            expected[a.retry[2]] = r.path.unwrap_or(0).into();
            expected[a.retry[3]] = r.psn.into();
        }
        expected[a.acked[0]] = out.acked.is_some().into();
        if let Some(j) = out.acked {
            expected[a.acked[1]] = j.arrival.flow.into();
            expected[a.acked[2]] = j.arrival.psn.into();
            expected[a.acked[3]] = (j.arrival.tag & 15) as u64;
            expected[a.acked[4]] = (j.outcome.verdict == Verdict::Accepted).into();
            expected[a.acked[5]] = j.outcome.expected.value().into();
        }
    }

    /// Whether the design's outputs are the model's; fields count while their port is valid.
    #[inline]
    pub fn agree(&self, expected: &[u64], actual: &[u64]) -> bool {
        let same = |at: &[usize]| at.iter().all(|&i| expected[i] == actual[i]);
        let stream = |at: &[usize]| {
            expected[at[0]] == actual[at[0]] && (actual[at[0]] == 0 || same(&at[1..]))
        };
        same(&[
            self.open_ready,
            self.post_ready,
            self.window_ready,
            self.skip_ready,
            self.ack_ready,
            self.resolve_ready,
            self.again_ready,
            self.req_ready,
        ]) && stream(&self.res)
            && stream(&self.retry)
            && stream(&self.idle)
            && stream(&self.acked)
    }
}
