//! The transmit side's blocks: silent linters, no latch, block RAM only; the benches with slots of
//! 16 KB; and the rates and latencies that their pages state, measured.
#![cfg(feature = "cosim")]

use rondo::cosim::as_text;
use rondo::verilog::{print_design, Design};
use rondo_hdl::tx::{FrameBuilder, Segmenter, TransmitPath};
use rondo_models::wire::context::{Place, Segment};
use rondo_models::wire::host::{Packet, SendRepr};
use rondo_models::wire::{FlowContext, IpAddress};
use rondo_sim::bench::{BuilderBench, Rows, SegmenterBench};
use rondo_sim::dut::Dut;
use rondo_sim::lockstep::{run, Bench, Run};
use rondo_sim::{Port, Verilog};
use std::process::{Command, Output};

fn designs() -> Vec<Design> {
    let print = |r: Result<Design, _>| r.expect("prints");
    vec![
        print(print_design(&Segmenter::<6>::new(1024))),
        print(print_design(&Segmenter::<8>::new(1024))),
        print(print_design(&FrameBuilder::<6>::default())),
        print(print_design(&FrameBuilder::<8>::default())),
        print(print_design(&TransmitPath::<6>::new(1024))),
    ]
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

fn write(design: &Design, folder: &std::path::Path) -> Vec<String> {
    let file = |m: &rondo::verilog::Module| {
        let name = format!("{}.v", m.name);
        std::fs::write(folder.join(&name), &m.text).expect("write");
        name
    };
    design.modules.iter().map(file).collect()
}

#[test]
fn verilator_lint_is_silent() {
    for design in designs() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let files = write(&design, dir.path());
        let out = Command::new("verilator")
            .current_dir(dir.path())
            .args(["--lint-only", "-Wall", "--top-module", &design.top])
            .args(files)
            .output()
            .expect("verilator is installed (scripts/setup.sh)");
        let notes = said(&out);
        assert!(
            out.status.success() && notes.is_empty(),
            "{}: {notes}",
            design.top
        );
    }
}

#[test]
fn yosys_finds_no_latch_and_only_block_ram() {
    let printed = [
        print_design(&Segmenter::<8>::new(1024)),
        print_design(&FrameBuilder::<8>::default()),
    ];
    for design in printed {
        let design = design.expect("prints");
        let dir = tempfile::tempdir().expect("a temporary folder");
        let files = write(&design, dir.path()).join(" ");
        let script = format!(
            "read_verilog {files}; synth_xilinx -family xcup -noiopad -noclkbuf -top {}; \
             check -assert; tee -o stat.txt stat",
            design.top
        );
        let out = Command::new("yosys")
            .current_dir(dir.path())
            .args(["-q", "-p", &script])
            .output()
            .expect("yosys is installed (scripts/setup.sh)");
        assert!(out.status.success(), "{}", said(&out));
        let stat = std::fs::read_to_string(dir.path().join("stat.txt")).expect("statistics");
        let total = stat.split("design hierarchy").last().unwrap_or(&stat);
        for cell in [
            "LDCE", "LDPE", "$dlatch", "RAM32", "RAM64", "RAM128", "RAM256",
        ] {
            assert!(!total.contains(cell), "{cell} in {}\n{total}", design.top);
        }
        assert!(total.contains("RAMB"), "{total}");
        println!("{}\n{total}", design.top);
    }
}

fn agrees(v: &Verilog, mut bench: impl Bench, seed: u64) {
    let how = Run {
        cycles: 150_000,
        seed,
        checked: true,
        waves: None,
    };
    let outcome = run(v, &mut bench, how, &mut |_| true).expect("runs");
    assert_eq!(outcome.mismatch, None, "{} seed {seed}", v.top);
    for (port, transfers) in &outcome.transfers {
        assert!(*transfers > 0, "{}: `{port}` was never used", v.top);
    }
}

#[test]
fn slots_of_16_kilobytes() {
    let v = as_text(&print_design(&Segmenter::<8>::new(64)).expect("prints"));
    agrees(&v, SegmenterBench::new(&v, 256, 64, 5).expect("fits"), 5);
    let v = as_text(&print_design(&FrameBuilder::<8>::default()).expect("prints"));
    agrees(&v, BuilderBench::new(&v, 256, 64, 6).expect("fits"), 6);
}

/// A block whose inputs keep their values until they are set.
struct Driver {
    dut: Dut,
    rows: Rows,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
}

impl Driver {
    /// Reset, and idle for long enough for every sweep; all sinks are ready.
    fn new(v: &Verilog) -> Self {
        let mut d = Self {
            dut: Dut::new(v, 1, None).expect("compiles"),
            rows: Rows::new(v),
            inputs: vec![0; v.inputs().map(Port::words).sum()],
            outputs: vec![0; v.outputs().map(Port::words).sum()],
        };
        for p in v.inputs().filter(|p| p.name.ends_with("_ready")) {
            d.set(&p.name, &[1]);
        }
        d.set("rst", &[1]);
        d.steps(4);
        d.set("rst", &[0]);
        d.steps(200);
        d
    }

    fn set(&mut self, port: &str, words: &[u64]) {
        let at = self.rows.input(port).expect("a port");
        self.inputs[at..at + words.len()].copy_from_slice(words);
    }

    fn get(&self, port: &str) -> u64 {
        self.outputs[self.rows.output(port).expect("a port")]
    }

    fn steps(&mut self, clocks: usize) {
        for _ in 0..clocks {
            self.dut.step(&self.inputs, &mut self.outputs);
        }
    }
}

fn open(mtu: u16, peer_ip: IpAddress) -> FlowContext {
    FlowContext {
        mtu,
        valid: true,
        peer_ip,
        ..FlowContext::CLOSED
    }
}

const IPV4: IpAddress = IpAddress::V4(core::net::Ipv4Addr::LOCALHOST);
const IPV6: IpAddress = IpAddress::V6(core::net::Ipv6Addr::LOCALHOST);

/// Descriptor of a whole message in one chunk.
fn descriptor(flow: u16, chunk_len: u32) -> [u64; 8] {
    let mut beat = [0; 64];
    let chunk = SendRepr {
        flow,
        message: 1,
        offset: 0,
        message_len: chunk_len,
        chunk_len,
    };
    chunk.emit(&mut Packet::new_unchecked(&mut beat[..]));
    std::array::from_fn(|w| {
        let mut word = [0; 8];
        word.copy_from_slice(&beat[8 * w..8 * w + 8]);
        u64::from_le_bytes(word)
    })
}

/// Beats that the segmenter takes in `clocks` clocks when chunks of `chunk_len` bytes are always
/// there, to one flow or to two in turn, and every commit is acknowledged at once.
fn beats_taken(v: &Verilog, mtu: u16, chunk_len: u32, flows: u16, clocks: u64) -> u64 {
    let mut d = Driver::new(v);
    d.set("context_data", &open(mtu, IPV4).pack());
    d.set("free_valid", &[1]);
    d.set("h2c_valid", &[1]);
    d.set("h2c_size", &[u64::from(chunk_len) + 64]);
    let beats = chunk_len.div_ceil(64);
    let (mut at, mut flow, mut taken) = (0, 0, 0);
    for _ in 0..clocks {
        let data = match at {
            0 => descriptor(flow, chunk_len),
            _ => [0; 8],
        };
        d.set("h2c_data", &data);
        d.set("h2c_last", &[u64::from(at == beats)]);
        d.steps(1);
        if d.get("h2c_ready") != 0 {
            taken += 1;
            at = if at == beats { 0 } else { at + 1 };
            flow = if at == 0 { (flow + 1) % flows } else { flow };
        }
        d.set("una_valid", &[d.get("commit_valid")]);
        d.set("una_flow", &[d.get("commit_flow")]);
        d.set("una_psn", &[(d.get("commit_psn") + 1) & 0xff_ffff]);
        assert_eq!(d.get("refused_valid"), 0);
    }
    taken
}

#[test]
fn the_segmenter_takes_a_beat_a_clock() {
    let v = as_text(&print_design(&Segmenter::<6>::new(16)).expect("prints"));
    let cases = [
        (4_096, 4_096),
        (4_096, 9_216),
        (256, 9_216),
        (256, 256),
        (64, 9_216),
        (64, 64),
    ];
    for (mtu, chunk) in cases {
        for flows in [1, 2] {
            let taken = beats_taken(&v, mtu, chunk, flows, 8_000);
            assert_eq!(taken, 8_000, "MTU {mtu}, chunks of {chunk}, {flows} flows");
        }
    }
}

#[test]
fn latency_of_the_segmenter() {
    let v = as_text(&print_design(&Segmenter::<6>::new(16)).expect("prints"));
    let mut d = Driver::new(&v);
    d.set("context_data", &open(64, IPV4).pack());
    d.set("free_valid", &[1]);
    d.steps(4);
    d.set("h2c_valid", &[1]);
    d.set("h2c_size", &[128]);
    d.set("h2c_data", &descriptor(1, 64));
    d.steps(1);
    d.set("h2c_last", &[1]);
    d.steps(1);
    d.set("h2c_valid", &[0]);
    let mut since_last_beat = [0; 2];
    for clock in 1..100 {
        d.steps(1);
        for (at, port) in ["pool_write", "commit_valid"].iter().enumerate() {
            if d.get(port) != 0 && since_last_beat[at] == 0 {
                since_last_beat[at] = clock;
            }
        }
    }
    assert_eq!(since_last_beat, [11, 22]);
}

/// Clocks a frame when jobs of one kind are always there.
fn clocks_a_frame(v: &Verilog, job: &str, payload: u16, peer: IpAddress) -> f64 {
    let mut d = Driver::new(v);
    d.set(
        "context_data",
        &open(payload.next_multiple_of(64), peer).pack(),
    );
    let place = Place {
        payload_len: payload,
        ..Place::default()
    };
    let segment = Segment {
        place,
        payload_crc: 0,
    };
    d.set("segment_data", &segment.pack());
    d.set(&format!("{job}_valid"), &[1]);
    d.steps(1_000);
    let (mut frames, mut first, mut last) = (0, 0, 0);
    for clock in 0..8_000 {
        d.steps(1);
        if d.get("frame_valid") != 0 {
            first = if frames == 0 { clock } else { first };
            last = clock;
            frames += 1;
        }
    }
    f64::from(last - first) / f64::from(frames - 1)
}

#[test]
fn the_frame_builder_leaves_no_bubble() {
    let v = as_text(&print_design(&FrameBuilder::<8>::default()).expect("prints"));
    for (payload, ipv4, ipv6) in [(4_096, 66.0, 66.0), (9_216, 146.0, 146.0), (256, 6.0, 6.0)] {
        assert_eq!(clocks_a_frame(&v, "data", payload, IPV4), ipv4, "{payload}");
        assert_eq!(clocks_a_frame(&v, "data", payload, IPV6), ipv6, "{payload}");
        assert_eq!(
            clocks_a_frame(&v, "probe", payload, IPV4),
            ipv4,
            "{payload}"
        );
    }
    assert_eq!(clocks_a_frame(&v, "ack", 0, IPV4), 2.0);
    assert_eq!(clocks_a_frame(&v, "ack", 0, IPV6), 2.0);
    // Shorter frames than those of 256 bytes are limited by the two that are prepared.
    let short = clocks_a_frame(&v, "data", 64, IPV4);
    assert!((4.9..5.1).contains(&short), "{short}");
}

#[test]
fn latency_of_the_frame_builder() {
    let v = as_text(&print_design(&FrameBuilder::<6>::default()).expect("prints"));
    let mut d = Driver::new(&v);
    d.set("context_data", &open(64, IPV4).pack());
    d.set("ack_valid", &[1]);
    d.steps(1);
    assert_eq!(d.get("ack_ready"), 1);
    d.set("ack_valid", &[0]);
    let mut since_job = [0; 2];
    for clock in 1..50 {
        d.steps(1);
        for (at, port) in ["frame_valid", "tx_valid"].iter().enumerate() {
            if d.get(port) != 0 && since_job[at] == 0 {
                since_job[at] = clock;
            }
        }
    }
    assert_eq!(since_job, [10, 13]);
}
