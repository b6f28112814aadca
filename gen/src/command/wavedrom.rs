//! `rondo wavedrom`: a block's timing diagram from a real run, as WaveJSON.

use super::{print_json, CommandError};
use clap::Args;
use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_sim::trace::{record, Drive};

/// Print a block's timing diagram (WaveJSON for WaveDrom), drawn from a run of its Verilog.
#[derive(Args)]
#[command(after_help = "Example:\n  rondo wavedrom --block tracker > tracker.json")]
pub struct Wavedrom {
    /// Block.
    #[arg(long, value_enum)]
    block: Block,
}

/// What is driven, what is shown, for how long.
struct Plan {
    ready: &'static str,
    drives: &'static [Drive<'static>],
    signals: &'static [&'static str],
    clocks: usize,
    caption: &'static str,
}

const SELECTOR: Plan = Plan {
    ready: "req_ready",
    drives: &[
        &[("req_valid", 1), ("req_flow", 1), ("req_limit", 8)],
        &[("req_flow", 2)],
        &[("req_flow", 1)],
        &[],
        &[("req_valid", 0)],
    ],
    signals: &[
        "req_valid",
        "req_ready",
        "req_flow",
        "res_valid",
        "res_flow",
        "res_granted",
        "res_path",
    ],
    clocks: 30,
    caption: "selector: flows 1, 2, 1: one a clock, the flow's own next six clocks later",
};
const PICKER: Plan = Plan {
    ready: "open_ready",
    drives: &[
        &[
            ("req_valid", 1),
            ("req_flow", 1),
            ("req_skip", 2),
            ("req_bound", 8),
        ],
        &[("req_flow", 2), ("req_skip", 0)],
        &[("req_flow", 1), ("req_skip", 0)],
        &[("req_valid", 0)],
    ],
    signals: &[
        "req_valid",
        "req_ready",
        "req_flow",
        "req_skip",
        "res_valid",
        "res_flow",
        "res_psn",
    ],
    clocks: 38,
    caption: "picker: skip 2 sends PSN 2, the flow's next with skip 0 sends PSN 0",
};
const TRACKER: Plan = Plan {
    ready: "open_ready",
    drives: &[
        &[
            ("req_valid", 1),
            ("req_flow", 1),
            ("req_psn", 1),
            ("req_room", 1),
        ],
        &[("req_psn", 0)],
        &[("req_valid", 0)],
    ],
    signals: &[
        "req_valid",
        "req_ready",
        "req_psn",
        "res_valid",
        "res_psn",
        "res_accepted",
        "res_expected",
        "res_advance",
        "res_ood",
        "res_waiting",
    ],
    clocks: 26,
    caption: "tracker: PSN 1 waits, PSN 0 eight clocks later advances by two",
};
const RECEIVER: Plan = Plan {
    ready: "rx_ready",
    drives: &[
        &[("limit", 253)],
        &[],
        &[
            ("rx_valid", 1),
            ("rx_flow", 1),
            ("rx_psn", 1),
            ("rx_last", 1),
            ("rx_keep", 255),
        ],
        &[("rx_psn", 0)],
        &[("rx_valid", 0)],
    ],
    signals: &[
        "rx_valid",
        "rx_ready",
        "rx_psn",
        "ack_valid",
        "ack_psn",
        "ack_expected",
        "host_valid",
        "host_psn",
        "host_last",
        "occupied",
        "waiting",
    ],
    clocks: 46,
    caption: "receiver: PSN 1 before PSN 0; both are delivered in order",
};
const SENDER: Plan = Plan {
    ready: "open_ready",
    drives: &[
        &[
            ("post_valid", 1),
            ("post_flow", 1),
            ("post_limit", 8),
            ("skip_valid", 1),
            ("skip_flow", 1),
            ("skip_path", 0),
            ("skip_value", 2),
        ],
        &[
            ("post_valid", 0),
            ("skip_valid", 0),
            ("req_valid", 1),
            ("req_flow", 1),
        ],
        &[("req_flow", 2)],
        &[("req_flow", 1)],
        &[("req_valid", 0)],
    ],
    signals: &[
        "post_valid",
        "skip_valid",
        "req_valid",
        "req_flow",
        "idle_valid",
        "idle_flow",
        "res_valid",
        "res_flow",
        "res_path",
        "res_psn",
    ],
    clocks: 68,
    caption:
        "sender: flow 1 sends PSN 2 on path 0 (skip 2), then PSN 0 on path 1; flow 2 has nothing",
};

const REGISTERS: Plan = Plan {
    ready: "s_axil_arready",
    drives: &[
        &[
            ("s_axil_awvalid", 1),
            ("s_axil_awaddr", 0x18),
            ("s_axil_wvalid", 1),
            ("s_axil_wdata", 0x1234),
            ("s_axil_wstrb", 15),
            ("s_axil_bready", 1),
            ("s_axil_rready", 1),
        ],
        &[
            ("s_axil_awvalid", 0),
            ("s_axil_wvalid", 0),
            ("s_axil_arvalid", 1),
            ("s_axil_araddr", 0x18),
        ],
        &[("s_axil_arvalid", 0)],
    ],
    signals: &[
        "s_axil_awvalid",
        "s_axil_awaddr",
        "s_axil_wdata",
        "s_axil_bvalid",
        "s_axil_bresp",
        "s_axil_arvalid",
        "s_axil_araddr",
        "s_axil_rvalid",
        "s_axil_rdata",
        "s_axil_rresp",
    ],
    clocks: 20,
    caption: "registers: a write of SCRATCH, and a read of it that waits for the write",
};

impl Wavedrom {
    /// Records and prints.
    pub fn run(self) -> Result<(), CommandError> {
        let shape = Shape::new(4, 128, 4)?;
        rondo_sim::verilator::version()?;
        let (block, plan) = match self.block {
            Block::Selector => (Block::Selector, SELECTOR),
            Block::Picker => (Block::Picker, PICKER),
            Block::Tracker => (Block::Tracker, TRACKER),
            Block::Sender => (Block::Sender, SENDER),
            Block::Registers => (Block::Registers, REGISTERS),
            Block::Crossing => {
                return Err(CommandError::Failed(
                    "the crossing has two clocks: no diagram is drawn of it".into(),
                ))
            }
            // The reorder buffer needs a tracker to answer it: the receiver shows both.
            Block::Reorder | Block::Receiver => (Block::Receiver, RECEIVER),
        };
        let v = verilog(block, shape)?;
        let diagram = record(
            &v,
            plan.ready,
            plan.drives,
            plan.signals,
            plan.clocks,
            plan.caption,
        )?;
        print_json(&diagram)
    }
}
