//! The flow scheduler's rules: a flow is queued once, and waits never make it late.

use proptest::prelude::*;
use rondo_models::pacing::{Pacer, LATENESS};
use rondo_models::schedule::{FlowState, Next, RETRY, WAITS_LOG2_NS};

/// One packet in 1,000 ns.
const RATE: u32 = ((1u64 << 34) / 1000) as u32;

fn opened() -> FlowState {
    let mut f = FlowState::default();
    f.open();
    f
}

#[test]
fn a_flow_is_queued_once_and_leaves_when_all_is_sent() {
    let mut f = opened();
    assert!(f.post());
    assert!(!f.post());
    let first = f.visit(0, RATE, false);
    assert!(first.request && f.is_queued());
    // Half a packet time later at the earliest, since there is credit.
    assert_eq!(first.next, Next::Wait(1));
    assert!(!f.visit(400, RATE, false).request);
    let second = f.visit(501, RATE, false);
    assert!(second.request);
    assert_eq!(second.next, Next::Leave);
    assert!(f.post());
}

#[test]
fn a_refusal_gives_back_and_is_tried_again_later() {
    let mut f = opened();
    f.post();
    assert_eq!(f.visit(0, RATE, false).next, Next::Leave);
    let refusal = f.refuse(false, true, 4);
    assert!(refusal.enters && refusal.probe.is_none());
    let visit = f.visit(100, RATE, false);
    assert_eq!((visit.request, visit.next), (false, Next::Wait(RETRY)));
    assert!(f.visit(228, RATE, false).request);
    // A grant says that a path is open: no wait.
    f.refuse(false, true, 4);
    f.grant();
    assert!(f.visit(229, RATE, false).request);
}

#[test]
fn a_probing_flow_stays_in_the_ring_and_probes_the_paths_in_turn() {
    let mut f = opened();
    f.post();
    f.post();
    let visit = f.visit(0, 0, true);
    assert_eq!((visit.request, visit.next), (true, Next::Ring));
    let paths: Vec<_> = (0..5).map(|_| f.refuse(true, true, 4).probe).collect();
    assert_eq!(paths, [Some(0), Some(1), Some(2), Some(3), Some(0)]);
    assert_eq!(f.refuse(true, false, 4).probe, None);
    assert_eq!(f.refuse(true, true, 4).probe, Some(1));
    // The spacing came back with the refusals.
    assert!(f.visit(0, 0, true).request);
}

#[test]
fn a_closed_flow_takes_nothing_and_leaves() {
    let mut f = opened();
    f.post();
    f.close();
    assert!(f.is_queued());
    assert!(!f.post());
    assert!(!f.refuse(true, true, 4).enters);
    // Opened again before it has left: it is still queued, so that it must not enter again.
    f.open();
    assert!(!f.post());
    f.close();
    assert_eq!(f.visit(0, RATE, false).next, Next::Leave);
    f.open();
    assert!(f.post());
}

#[test]
fn time_and_pace_beyond_all_bounds_fill_the_credit_and_no_more() {
    let mut p = Pacer::default();
    p.spend();
    p.set_rate(u32::MAX);
    p.advance(u32::MAX);
    p.set_rate(0);
    assert_eq!(p, Pacer::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whoever waits as long as the pacer allows is late by its bound at most: its own 1/256 and
    /// what is rounded off twice.
    #[test]
    fn waits_end_in_time(
        rate in 1u32..,
        shift in 0u32..32,
        steps in proptest::collection::vec((0u32..100_000, any::<bool>()), 1..20),
    ) {
        let rate = (rate >> shift).max(1);
        let mut p = Pacer::default();
        p.set_rate(rate);
        for (ns, spends) in steps {
            p.advance(ns);
            if spends && p.is_due() {
                p.spend();
            }
        }
        if let Some(wait) = p.wait_ns().filter(|&w| w > 0) {
            let packet_ns = (1u64 << 34) / u64::from(rate) + 1;
            let allowed = u64::from(wait) + packet_ns * (LATENESS + 2) / 256 + 1;
            for log2_ns in WAITS_LOG2_NS {
                let waits = p.can_wait(log2_ns);
                prop_assert!(!waits || 1 << log2_ns <= allowed, "{p:?} {log2_ns} {wait}");
                // And it does wait where there is no doubt.
                prop_assert!(waits || 1 << log2_ns > u64::from(wait) / 2, "{p:?} {log2_ns} {wait}");
            }
        }
    }
}
