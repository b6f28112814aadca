//! Sequences that shrink: proptest drives picker and tracker, RTL beside model, and on a
//! difference finds the shortest sequence that shows it. The corner cases by name come first.
#![cfg(feature = "cosim")]

mod rig;

use proptest::prelude::*;
use rondo::cosim::verilog;
use rondo::shape::{Block, Shape};
use rondo_models::cycle::picker::{Inputs as PickInputs, Picker, Request};
use rondo_models::cycle::tracker::{Arrival, Inputs as TrackInputs, Tracker};
use rondo_models::tracker::Verdict;
use rondo_sim::Verilog;

use rig::Rig;

const FLOWS: usize = 4;

/// A request, then so many idle clocks; the sink is ready in clocks whose bit is set.
#[derive(Clone, Copy, Debug)]
struct Step {
    flow: u16,
    /// Skip of a pick, or distance of an arrival from the next expected PSN.
    offset: u16,
    /// How far the bound moves; for an arrival, whether there is room.
    step: u16,
    idle: u8,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one =
        (0u16..FLOWS as u16, 0u16..150, 0u16..4, 0u8..4).prop_map(|(flow, offset, step, idle)| {
            Step {
                flow,
                offset,
                step,
                idle,
            }
        });
    proptest::collection::vec(one, 1..200)
}

/// A first PSN for each flow, as often just below the wrap as anywhere.
fn firsts() -> impl Strategy<Value = [u32; FLOWS]> {
    let one = prop_oneof![0u32..1 << 24, (1u32 << 24) - 130..1 << 24];
    proptest::array::uniform4(one)
}

/// Runs picks; returns the first difference.
fn picks_differ(
    v: &Verilog,
    window: usize,
    firsts: [u32; FLOWS],
    steps: &[Step],
    ready: u64,
) -> Option<String> {
    let mut rig = Rig::new(v);
    let mut model = Picker::new(window, FLOWS);
    let mut bounds = firsts;
    let mut clock = 0u32;
    let mut tick = |rig: &mut Rig, i: PickInputs, compare: bool| -> Result<bool, String> {
        let i = PickInputs {
            res_ready: ready >> (clock % 64) & 1 == 1,
            ..i
        };
        rig.set("rst", i.rst.into());
        rig.set("open_valid", i.open.is_some().into());
        if let Some((flow, psn)) = i.open {
            rig.set("open_flow", flow.into());
            rig.set("open_psn", psn.into());
        }
        rig.set("req_valid", i.req.is_some().into());
        if let Some(q) = i.req {
            rig.set("req_flow", q.flow.into());
            rig.set("req_path", q.path.into());
            rig.set("req_skip", q.skip.into());
            rig.set("req_bound", q.bound.into());
        }
        rig.set("res_ready", i.res_ready.into());
        rig.step();
        let out = model.step(&i);
        clock += 1;
        let same = rig.get("open_ready") == u64::from(out.idle)
            && rig.get("req_ready") == u64::from(out.req_ready)
            && rig.get("res_valid") == u64::from(out.res.is_some())
            && out.res.is_none_or(|p| {
                rig.get("res_flow") == u64::from(p.flow)
                    && rig.get("res_found") == u64::from(p.psn.is_some())
                    && rig.get("res_psn") == u64::from(p.psn.unwrap_or(0))
            });
        if compare && !same {
            return Err(format!("clock {clock}: the model says {out:?}"));
        }
        Ok(if i.open.is_some() {
            out.idle
        } else {
            out.req_ready
        })
    };
    let mut all = || -> Result<(), String> {
        for _ in 0..4 {
            tick(
                &mut rig,
                PickInputs {
                    rst: true,
                    ..PickInputs::default()
                },
                false,
            )?;
        }
        for (flow, psn) in firsts.into_iter().enumerate() {
            let open = Some((flow as u16, psn));
            while !tick(
                &mut rig,
                PickInputs {
                    open,
                    ..PickInputs::default()
                },
                true,
            )? {}
        }
        for s in steps {
            let bound = &mut bounds[usize::from(s.flow)];
            *bound = (*bound + u32::from(s.step)) & 0xff_ffff;
            let req = Some(Request {
                flow: s.flow,
                path: 0,
                skip: s.offset,
                bound: *bound,
            });
            let mut patience = 0;
            while !tick(
                &mut rig,
                PickInputs {
                    req,
                    ..PickInputs::default()
                },
                true,
            )? {
                patience += 1;
                // A sink that is never ready stops the block for good.
                if patience > 2_000 {
                    return Ok(());
                }
            }
            for _ in 0..s.idle {
                tick(&mut rig, PickInputs::default(), true)?;
            }
        }
        for _ in 0..80 {
            tick(&mut rig, PickInputs::default(), true)?;
        }
        Ok(())
    };
    all().err()
}

/// Runs arrivals; returns the first difference.
fn arrivals_differ(
    v: &Verilog,
    window: usize,
    firsts: [u32; FLOWS],
    steps: &[Step],
    ready: u64,
) -> Option<String> {
    let mut rig = Rig::new(v);
    let mut model = Tracker::new(window, FLOWS);
    let mut expected = firsts;
    let mut clock = 0u32;
    let mut tick = |rig: &mut Rig,
                    i: TrackInputs,
                    compare: bool|
     -> Result<(bool, Option<(u16, u32)>), String> {
        let i = TrackInputs {
            res_ready: ready >> (clock % 64) & 1 == 1,
            ..i
        };
        rig.set("rst", i.rst.into());
        rig.set("open_valid", i.open.is_some().into());
        if let Some((flow, psn)) = i.open {
            rig.set("open_flow", flow.into());
            rig.set("open_psn", psn.into());
        }
        rig.set("req_valid", i.req.is_some().into());
        if let Some(q) = i.req {
            rig.set("req_flow", q.flow.into());
            rig.set("req_psn", q.psn.into());
            rig.set("req_room", q.room.into());
        }
        rig.set("res_ready", i.res_ready.into());
        rig.step();
        let out = model.step(&i);
        clock += 1;
        let same = rig.get("req_ready") == u64::from(out.req_ready)
            && rig.get("res_valid") == u64::from(out.res.is_some())
            && out.res.is_none_or(|j| {
                rig.get("res_psn") == u64::from(j.arrival.psn)
                    && rig.get("res_expected") == u64::from(j.outcome.expected.value())
                    && rig.get("res_advance") == u64::from(j.outcome.advance)
                    && rig.get("res_ood") == u64::from(j.outcome.ood)
                    && rig.get("res_waiting") == u64::from(j.outcome.waiting)
                    && rig.get("res_arrived") == j.outcome.arrived
                    && rig.get("res_accepted") == u64::from(j.outcome.verdict == Verdict::Accepted)
                    && rig.get("res_duplicate")
                        == u64::from(j.outcome.verdict == Verdict::Duplicate)
                    && rig.get("res_beyond") == u64::from(j.outcome.verdict == Verdict::Beyond)
                    && rig.get("res_full") == u64::from(j.outcome.verdict == Verdict::Full)
            });
        if compare && !same {
            return Err(format!("clock {clock}: the model says {out:?}"));
        }
        let seen = out
            .res
            .map(|j| (j.arrival.flow, j.outcome.expected.value()));
        Ok((
            if i.open.is_some() {
                out.idle
            } else {
                out.req_ready
            },
            seen,
        ))
    };
    let mut all = || -> Result<(), String> {
        for _ in 0..4 {
            tick(
                &mut rig,
                TrackInputs {
                    rst: true,
                    ..TrackInputs::default()
                },
                false,
            )?;
        }
        for (flow, psn) in firsts.into_iter().enumerate() {
            let open = Some((flow as u16, psn));
            while !tick(
                &mut rig,
                TrackInputs {
                    open,
                    ..TrackInputs::default()
                },
                true,
            )?
            .0
            {}
        }
        for s in steps {
            let e = &mut expected[usize::from(s.flow)];
            // Every fourth kind is the next expected PSN itself, some lie before it.
            let psn = if s.offset % 4 == 0 {
                *e
            } else {
                e.wrapping_add(u32::from(s.offset)).wrapping_sub(8) & 0xff_ffff
            };
            let req = Some(Arrival {
                flow: s.flow,
                psn,
                room: s.step > 0,
                tag: 0,
            });
            let mut patience = 0;
            loop {
                let (taken, seen) = tick(
                    &mut rig,
                    TrackInputs {
                        req,
                        ..TrackInputs::default()
                    },
                    true,
                )?;
                if let Some((flow, e)) = seen {
                    expected[usize::from(flow)] = e;
                }
                patience += 1;
                if patience > 2_000 {
                    return Ok(());
                }
                if taken {
                    break;
                }
            }
            for _ in 0..s.idle {
                if let Some((flow, e)) = tick(&mut rig, TrackInputs::default(), true)?.1 {
                    expected[usize::from(flow)] = e;
                }
            }
        }
        for _ in 0..60 {
            tick(&mut rig, TrackInputs::default(), true)?;
        }
        Ok(())
    };
    all().err()
}

const READY: u64 = u64::MAX;

fn design(block: Block, window: usize) -> Verilog {
    verilog(block, Shape::new(4, window, FLOWS).expect("on the menu")).expect("prints")
}

fn repeat(step: Step, n: usize) -> Vec<Step> {
    vec![step; n]
}

#[test]
fn corner_cases_of_the_picker() {
    let v = design(Block::Picker, 128);
    let wrap = [0xff_fffe, 0, 63, 0xff_ff80];
    let step = |flow, offset, step| Step {
        flow,
        offset,
        step,
        idle: 0,
    };
    // Nothing to send.
    assert_eq!(
        picks_differ(&v, 128, wrap, &repeat(step(0, 0, 0), 10), READY),
        None
    );
    // One flow back to back, in order, across the wrap and round the window twice.
    assert_eq!(
        picks_differ(&v, 128, wrap, &repeat(step(0, 0, 1), 300), READY),
        None
    );
    // Skips beyond the window; then the holes are filled.
    let mut list = repeat(step(3, 1000, 3), 40);
    list.extend(repeat(step(3, 0, 0), 120));
    assert_eq!(picks_differ(&v, 128, wrap, &list, READY), None);
    // A full window whose base never moves, with a sink that is mostly shut.
    let mut list = vec![step(2, 0, 3)];
    list.extend(repeat(step(2, 1, 3), 140));
    assert_eq!(picks_differ(&v, 128, wrap, &list, 0x11), None);
}

#[test]
fn corner_cases_of_the_tracker() {
    let v = design(Block::Tracker, 128);
    let wrap = [0xff_fffe, 0, 63, 0xff_ff80];
    let step = |flow, offset, step| Step {
        flow,
        offset,
        step,
        idle: 0,
    };
    // In order across the wrap, with verdicts awaited and without.
    let slow = Step {
        idle: 3,
        ..step(0, 0, 1)
    };
    assert_eq!(
        arrivals_differ(&v, 128, wrap, &repeat(slow, 300), READY),
        None
    );
    assert_eq!(
        arrivals_differ(&v, 128, wrap, &repeat(step(3, 0, 1), 100), READY),
        None
    );
    // A window full but for the first PSN, then that one: an advance of a whole window.
    let mut list: Vec<Step> = (9..150).map(|o| step(1, o, 1)).collect();
    list.extend((9..150).map(|o| step(1, o, 1)));
    list.push(Step {
        idle: 3,
        ..step(1, 0, 1)
    });
    assert_eq!(arrivals_differ(&v, 128, wrap, &list, READY), None);
    // Without room only the next expected PSN gets in.
    let list: Vec<Step> = (0..60).map(|o| step(2, o, 0)).collect();
    assert_eq!(arrivals_differ(&v, 128, wrap, &list, 0x3333), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn picks_agree(firsts in firsts(), steps in steps(), ready in any::<u64>()) {
        let v = design(Block::Picker, 128);
        prop_assert_eq!(picks_differ(&v, 128, firsts, &steps, ready | 1), None);
    }

    #[test]
    fn arrivals_agree(firsts in firsts(), steps in steps(), ready in any::<u64>()) {
        let v = design(Block::Tracker, 128);
        prop_assert_eq!(arrivals_differ(&v, 128, firsts, &steps, ready | 1), None);
    }
}
