//! The fixed-point models against the `f64` oracle, and invariants that hold for any input.

use proptest::prelude::*;
use rondo_models::arcc::{Interval, Parameters, Path};
use rondo_models::deficit::{Deficits, MAX_PATHS, WINDOW_ONE};
use rondo_models::fixed::{reciprocal, ONE_PACKET};
use rondo_models::oracle::{self, ArccOracle, ArccPath, Observation};
use rondo_models::picker::SentWindow;
use rondo_models::psn::Psn;
use rondo_models::skips::{skips, PathDelay, MAX_SKIP};
use rondo_models::tracker::{ArrivalWindow, Verdict};
use std::collections::BTreeSet;

fn packets(fixed: u32) -> f64 {
    f64::from(fixed) / f64::from(ONE_PACKET)
}

/// A first PSN, as often just below the wrap as anywhere.
fn first_psn() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..1 << 24, (1u32 << 24) - 200..1 << 24]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reciprocal_is_within_2_to_the_minus_14(x in 1u32..) {
        let r = reciprocal(x);
        let got = f64::from(r.mantissa) * 2f64.powi(-(r.shift as i32));
        let error = (got * f64::from(x) - 1.0).abs();
        prop_assert!(error < 2f64.powi(-14), "{x}: {error}");
    }

    /// The window stays within 1/256 packet of the oracle's in every step of any history.
    #[test]
    fn arcc_follows_the_oracle(
        rtt_us in 5u32..60,
        steps in proptest::collection::vec(
            (0u16..40, 0u16..10, 0u16..80, 0u32..80 << 16, 0u32..50 << 16, any::<bool>()),
            1..60,
        ),
    ) {
        let p = Parameters::paper(rtt_us * 1000, 10_000, 30_000);
        let oracle = ArccOracle {
            rtt_per_interval: f64::from(rtt_us) / 10.0,
            target_per_interval: 0.04 * 3.0,
            alpha: f64::from(p.alpha) / 65_536.0,
            gamma: 0.5,
            margin_cap: 3.0,
            margin_floor: 1.0 / 16.0,
            dead_band: 1.0,
        };
        // Past the intervals that a fresh path waits for.
        let mut path = Path { heard: p.span + 1, ..Path::new(&p) };
        for (data_acks, probe_acks, in_flight, mean_in_flight, sustained, unqueued) in steps {
            // Only where a rise is allowed again; the oracle has no waiting.
            path.hold = 0;
            let before = ArccPath {
                rate: packets(path.rate),
                margin: packets(path.margin),
                window: packets(path.window),
                fresh: path.fresh,
            };
            let idle = data_acks == 0 && probe_acks == 0 && in_flight == 0;
            let interval = Interval {
                data_acks,
                probe_acks,
                in_flight,
                sent: 0,
                unqueued,
                mean_in_flight,
                sustained,
            };
            path.update(&p, &interval);
            if idle {
                prop_assert_eq!(packets(path.window), before.window);
                continue;
            }
            let seen = Observation {
                data_acks: data_acks.into(),
                probe_acks: probe_acks.into(),
                sustained: packets(sustained),
                in_flight: in_flight.into(),
                mean_in_flight: packets(mean_in_flight),
                unqueued,
            };
            let want = oracle.update(before, &seen);
            // Where the decision itself hangs on the last bit, either side of it is right.
            let pipe = want.rate * oracle.rtt_per_interval;
            let queue = (seen.mean_in_flight - pipe).max(0.0);
            let excess = (queue - 1f64.min(pipe)).max(0.0);
            let target = want.rate * oracle.target_per_interval;
            let on_edge = (excess - target).abs() < 1e-3
                || (queue - 3.0 - target).abs() < 1e-3
                || (seen.mean_in_flight - 8.0).abs() < 1e-3;
            let error = (packets(path.window) - want.window).abs();
            prop_assert!(error < 1.0 / 256.0 || on_edge, "{error}: {path:?} {want:?}");
        }
    }

    #[test]
    fn skips_follow_the_oracle(
        paths in proptest::collection::vec((0u32..300 << 16, 1_000u32..100_000, 0u32..30_000), 2..=16),
        offset in any::<u32>(),
    ) {
        // The clocks' offset must not matter.
        let delays: Vec<PathDelay> = paths
            .iter()
            .map(|&(window, rtt_ns, forward)| PathDelay { window, rtt_ns, forward_ns: forward.wrapping_add(offset) })
            .collect();
        let mut got = [0; MAX_PATHS];
        skips(&delays, &mut got);
        let exact: Vec<(f64, f64, f64)> = paths
            .iter()
            .map(|&(w, r, d)| (packets(w), f64::from(r), f64::from(d)))
            .collect();
        for (g, w) in got.iter().zip(oracle::skips(&exact)) {
            let error = (f64::from(*g) - w.floor().min(f64::from(MAX_SKIP))).abs();
            prop_assert!(error <= 1.0 + w / 8192.0, "{g} for {w}");
        }
    }

    /// Over 10,000 packets each path gets its share within 1 %.
    #[test]
    fn selection_shares_follow_the_oracle(
        windows in proptest::collection::vec(WINDOW_ONE..400 * WINDOW_ONE, 2..=16),
        first in first_psn(),
    ) {
        let n = windows.len();
        let mut d = Deficits::new(Psn::new(first));
        let rooms: Vec<f64> = windows.iter().map(|&w| f64::from(w)).collect();
        let mut z = vec![0.0; n];
        let (mut got, mut want) = (vec![0u32; n], vec![0u32; n]);
        for _ in 0..10_000 {
            // Every packet is acknowledged at once: the rooms are the windows.
            let acked = d.sent;
            let limit = d.posted.plus(1);
            let p = d.select(&windows, &acked[..n], limit).expect("all paths are open");
            got[p] += 1;
            want[oracle::select(&rooms, &mut z).expect("all paths are open")] += 1;
        }
        for (g, w) in got.iter().zip(&want) {
            prop_assert!(g.abs_diff(*w) <= 100, "{got:?} {want:?}");
        }
    }

    /// A path without room is never chosen, whatever the counters.
    #[test]
    fn never_a_path_without_room(
        steps in proptest::collection::vec((0usize..16, 0u16..4000, any::<bool>()), 1..300),
        first in first_psn(),
    ) {
        let mut d = Deficits::new(Psn::new(first));
        let mut windows = [WINDOW_ONE; MAX_PATHS];
        let mut acked = d.sent;
        for (path, window, ack) in steps {
            windows[path] = window;
            if ack && acked[path] != d.sent[path] {
                acked[path] = acked[path].wrapping_add(1);
            }
            let before = d.sent;
            if let Some(p) = d.select(&windows, &acked, d.posted.plus(1)) {
                let in_flight = before[p].wrapping_sub(acked[p]);
                prop_assert!(in_flight << 6 < windows[p]);
            }
        }
    }

    /// The picker against a plain set of unsent PSNs.
    #[test]
    fn picks_are_the_kth_smallest_unsent(
        first in first_psn(),
        groups in prop_oneof![Just(2usize), Just(4), Just(8)],
        steps in proptest::collection::vec((0u32..600, 0u32..6), 1..800),
    ) {
        let mut w = SentWindow::new(groups, Psn::new(first));
        let mut unsent = BTreeSet::new();
        let mut bound = 0u32; // relative to `first`
        for (skip, step) in steps {
            unsent.extend(bound..bound + step);
            bound += step;
            let base = w.base().distance_from(Psn::new(first));
            let end = base + 64 * groups as i32;
            let open: Vec<u32> = unsent.iter().copied().filter(|&p| (p as i32) < end).collect();
            let want = open.get(skip as usize).or(open.last()).copied();
            let got = w.pick(skip, Psn::new(first).plus(bound));
            prop_assert_eq!(got, want.map(|p| Psn::new(first).plus(p)));
            if let Some(p) = want {
                unsent.remove(&p);
            }
        }
    }

    /// The tracker against a plain set of arrived PSNs.
    #[test]
    fn arrivals_are_tracked_exactly_once(
        first in first_psn(),
        groups in prop_oneof![Just(2usize), Just(4), Just(8)],
        steps in proptest::collection::vec((0u32..140, any::<bool>(), 0u8..4), 1..600),
    ) {
        let mut w = ArrivalWindow::new(groups, Psn::new(first));
        let mut arrived = BTreeSet::new();
        let mut expected = 0u32; // relative to `first`
        for (offset, room, kind) in steps {
            // Mostly near the next expected PSN, sometimes before it, sometimes exactly it.
            let psn = match kind {
                0 => expected,
                1 => (expected + offset).saturating_sub(20),
                _ => expected + offset,
            };
            let base = (first + expected) / 64 * 64;
            let beyond = first + psn >= base + 64 * groups as u32;
            let got = w.arrive(Psn::new(first + psn), room);
            let want = if beyond {
                Verdict::Beyond
            } else if psn < expected || arrived.contains(&psn) {
                Verdict::Duplicate
            } else if !room && psn != expected {
                Verdict::Full
            } else {
                arrived.insert(psn);
                Verdict::Accepted
            };
            prop_assert_eq!(got.verdict, want);
            // The selective map, bit by bit.
            let group = (first + psn) / 64 * 64;
            let map = (0..64u32).filter(|i| {
                let p = i64::from(group + i) - i64::from(first);
                p < i64::from(expected) || arrived.contains(&(p as u32))
            });
            let map = map.fold(0u64, |map, i| map | 1 << i);
            prop_assert_eq!(got.arrived, if beyond { 0 } else { map });
            let before = expected;
            while arrived.remove(&expected) {
                expected += 1;
            }
            prop_assert_eq!(u32::from(got.advance), expected - before);
            prop_assert_eq!(got.expected, Psn::new(first + expected));
            prop_assert_eq!(usize::from(got.waiting), arrived.len());
            let ood = arrived.last().map_or(0, |l| l - expected);
            prop_assert_eq!(u32::from(got.ood), ood);
        }
    }
}
