//! Pacing, probing, skips and delay estimates: what the oracle has no equation for.

use rondo_models::arcc::{Interval, Parameters, Path};
use rondo_models::control::{FlowControl, PathSetup};
use rondo_models::deficit::{MAX_PATHS, WINDOW_ONE};
use rondo_models::fixed::ONE_PACKET;
use rondo_models::oracle::ood_bound;
use rondo_models::pacing::{pace, Pacer, BURST};
use rondo_models::probing::{Probing, PHASE_RTTS, QUIET_UPDATES};
use rondo_models::psn::Psn;
use rondo_models::recovery::{PathWitness, Recovery, Transmission, Witness};
use rondo_models::skips::{skips, DelayEstimate, PathDelay};
use rondo_models::tracker::sending_bound;

#[test]
fn psns_compare_across_the_wrap() {
    let before = Psn::new(0xff_fffe);
    assert!(before.is_before(before.plus(5)));
    assert_eq!(before.plus(5).value(), 3);
    assert_eq!(before.plus(5).distance_from(before), 5);
    assert_eq!(before.distance_from(before.plus(5)), -5);
    assert!(!before.is_before(before));
}

#[test]
fn a_pacer_sends_at_its_rate_and_saves_a_few_packets() {
    // 10 packets in flight over 20 us: a packet every 2 us.
    let mut p = Pacer::default();
    let inverse = ((1u64 << 32) / 20_000) as u32;
    p.set_rate(pace(10 * ONE_PACKET, inverse));
    let mut sent = 0;
    for _ in 0..1_000_000 / 4 {
        p.advance(4);
        if p.is_due() {
            p.spend();
            sent += 1;
        }
    }
    // A millisecond holds 500 packets, and the burst at its start.
    assert!((500..=500 + BURST + 1).contains(&sent), "{sent}");
    // Idle for long: no more than the burst is saved, and it leaves at twice the pace.
    p.advance(1_000_000_000);
    let mut sent_at = Vec::new();
    for t in 0..10_000 {
        if p.is_due() {
            p.spend();
            sent_at.push(t);
        }
        assert_eq!(p.is_due(), p.wait_ns() == Some(0));
        p.advance(1);
    }
    for pair in sent_at.windows(2) {
        assert!(pair[1] - pair[0] >= 999, "{sent_at:?}");
    }
    let caught_up = sent_at.iter().filter(|&&t| t < 4_000).count();
    assert_eq!(caught_up as u32, BURST);
}

#[test]
fn a_grant_goes_beside_the_pace() {
    // No rate at all, and the credit of the start spent.
    let mut p = Pacer::default();
    for _ in 0..BURST {
        p.spend();
        p.refund();
        p.spend();
    }
    assert!(!p.is_due());
    assert_eq!(p.wait_ns(), None);
    p.grant();
    assert!(p.is_due());
    p.spend();
    assert!(!p.is_due());
}

#[test]
fn probing_begins_at_flow_start_and_after_five_quiet_updates() {
    let (rtt, interval) = (20_000, 10_000);
    let mut p = Probing::at_start(rtt);
    let mut updates = 0;
    while p.is_probing() {
        p.update(interval, rtt, true);
        updates += 1;
    }
    assert_eq!(updates, PHASE_RTTS * rtt / interval);
    for _ in 0..QUIET_UPDATES - 1 {
        p.update(interval, rtt, true);
        assert!(!p.is_probing());
    }
    // One update with something old outstanding: the count starts again.
    p.update(interval, rtt, false);
    for _ in 0..QUIET_UPDATES - 1 {
        p.update(interval, rtt, true);
        assert!(!p.is_probing());
    }
    p.update(interval, rtt, true);
    assert!(p.is_probing());
}

#[test]
fn a_delay_estimate_is_stable_only_after_four_close_values() {
    let mut d = DelayEstimate::default();
    for _ in 0..3 {
        d.push(10_000);
        assert!(!d.is_stable(1_000));
    }
    d.push(10_000);
    assert!(d.is_stable(1_000));
    // A jump of 40 us moves the estimate by 5 us at once.
    d.push(50_000);
    assert!(!d.is_stable(1_000));
    for _ in 0..60 {
        d.push(50_000);
    }
    assert!(d.is_stable(1_000));
    assert!(d.forward_ns().abs_diff(50_000) < 100);
}

/// Two equal paths, one 10 us later: the later one passes over what the other sends in 10 us, which
/// is also what Eq. 3 says the out-of-order degree would be without the skip.
#[test]
fn a_skip_is_what_the_faster_paths_send_in_the_difference() {
    let path = |forward_ns| PathDelay {
        window: 20 * ONE_PACKET,
        rtt_ns: 20_000,
        forward_ns,
    };
    let mut out = [0; MAX_PATHS];
    // The clocks' offset is just below the wrap of 32 bits.
    skips(&[path(u32::MAX - 4_000), path(5_999)], &mut out);
    // 10,000 ns at a packet a microsecond, rounded down.
    assert!((9..=10).contains(&out[1]), "{}", out[1]);
    assert_eq!(out[0], 0);
    let gbps = 4096.0 * 8.0 / 1000.0;
    assert!((ood_bound(gbps, 4096.0, 10_000.0) - 10.0).abs() < 1e-9);
}

/// A path with a fixed capacity: the window settles near the bandwidth-delay product and the
/// margin, from 1 to 200 packets of it.
#[test]
fn the_window_settles_at_the_pipe_and_its_margin() {
    for bdp in [1.0, 4.0, 15.0, 60.0, 200.0] {
        let p = Parameters::paper(20_000, 10_000, 20_000);
        let mut path = Path::new(&p);
        let (mut queue, mut credit) = (0.0f64, 0.0f64);
        for _ in 0..4000 {
            // Fluid link, packets counted whole: what is beyond the pipe queues.
            let window = f64::from(path.window) / f64::from(ONE_PACKET);
            let in_flight = window.ceil();
            queue = (in_flight - bdp).max(0.0);
            credit += (bdp / 2.0).min(in_flight / 2.0);
            let acks = credit.floor();
            credit -= acks;
            let aloft = (in_flight * f64::from(ONE_PACKET)) as u32;
            path.update(
                &p,
                &Interval {
                    data_acks: acks as u16,
                    probe_acks: 0,
                    in_flight: in_flight as u16,
                    sent: acks as u16,
                    unqueued: queue == 0.0 && acks > 0.0,
                    mean_in_flight: aloft,
                    sustained: (acks as u32) << 16,
                },
            );
        }
        let window = f64::from(path.window) / f64::from(ONE_PACKET);
        assert!(window >= 0.9 * bdp, "BDP {bdp}: window {window}");
        assert!(queue <= 6.0, "BDP {bdp}: queue {queue}");
    }
}

#[test]
fn the_senders_window_begins_with_a_group() {
    let bound = |limit, una| sending_bound(Psn::new(limit), Psn::new(una), 128).value();
    assert_eq!(bound(1000, 0), 128);
    assert_eq!(bound(1000, 63), 128);
    assert_eq!(bound(1000, 64), 192);
    assert_eq!(bound(70, 64), 70);
    // Across the wrap.
    assert_eq!(bound(500, 0xff_fff0), 64);
}

fn flow(rtts_ns: &[u32], probing: bool) -> FlowControl {
    let shortest = rtts_ns.iter().copied().min().unwrap_or(1);
    let longest = rtts_ns.iter().copied().max().unwrap_or(1);
    let setups: Vec<PathSetup> = rtts_ns
        .iter()
        .map(|&rtt| PathSetup::paper(rtt, shortest / 2, longest))
        .collect();
    FlowControl::new(&setups, shortest / 2, 1_000, true, probing)
}

#[test]
fn a_path_is_updated_no_faster_than_its_rtt() {
    assert_eq!(PathSetup::period(20_000, 20_000), 1);
    assert_eq!(PathSetup::period(41_000, 16_000), 3);
    let mut c = flow(&[16_000, 48_000], false);
    let mut windows = Vec::new();
    let mut now = 0u32.wrapping_sub(40_000);
    for tick in 0..9u32 {
        for path in 0..2 {
            for _ in 0..4 {
                c.sent(path, now);
                c.acked(path, now, 5_000, 16_000);
            }
        }
        now = now.wrapping_add(8_000);
        windows.push(c.update(now).windows[1]);
        if tick % 3 != 2 && tick > 0 {
            let n = windows.len();
            assert_eq!(windows[n - 1], windows[n.saturating_sub(2)], "tick {tick}");
        }
    }
    assert_ne!(windows[5], windows[8]);
}

/// A path whose ACKs begin late in an interval is not taken for a slow one.
#[test]
fn the_first_update_takes_a_whole_interval() {
    let mut c = flow(&[20_000], false);
    let first = c.initial().windows[0];
    c.sent(0, 0);
    assert_eq!(c.update(10_000).windows[0], first);
    c.acked(0, 19_900, 9_000, 19_900);
    assert_eq!(c.update(20_000).windows[0], first);
    for i in 0..10 {
        c.sent(0, 20_000 + i * 1_000);
        c.acked(0, 20_500 + i * 1_000, 9_000, 20_000);
    }
    // Ten an interval are twenty in flight over two.
    let window = c.update(30_000).windows[0];
    assert!(window >= 20 * WINDOW_ONE, "{window}");
}

#[test]
fn probe_acks_let_packets_out_until_the_first_update() {
    let mut c = flow(&[20_000, 20_000], true);
    assert!(c.initial().probing);
    assert!(c.probe_acked(0));
    let d = c.update(10_000);
    // The interval was a part of one: what was let out stays out.
    assert_eq!(d.windows[0], 2 * WINDOW_ONE);
    assert_eq!(d.windows[1], WINDOW_ONE);
    for _ in 0..5 {
        assert!(c.probe_acked(0));
    }
    let d = c.update(20_000);
    // Five an interval are ten in flight, and the margin.
    assert!(d.windows[0] >= 10 * WINDOW_ONE, "{}", d.windows[0]);
    assert!(!c.probe_acked(0));
}

#[test]
fn a_flow_that_waits_for_nothing_old_probes_again() {
    let mut c = flow(&[20_000], true);
    let mut now = 0;
    let mut probing = Vec::new();
    for _ in 0..40 {
        for i in 0..4 {
            c.sent(0, now + i * 2_000);
        }
        now += 10_000;
        for _ in 0..4 {
            c.acked(0, now, 9_000, 10_000);
        }
        probing.push(c.update(now).probing);
    }
    // Three RTTs at the start, five quiet updates, three RTTs, …
    assert!(probing[..5].iter().all(|&p| p), "{probing:?}");
    assert!(!probing[6] && !probing[9], "{probing:?}");
    assert!(probing[10..].contains(&true), "{probing:?}");
}

#[test]
fn a_loss_is_found_by_a_later_packet_of_the_same_path() {
    let r = Recovery::early(12_000);
    let sent = |sent_ns, path| Transmission {
        sent_ns,
        path,
        count: 1,
        in_flight: true,
    };
    let base = 0xffff_f000u32;
    let lost = sent(base, 1);
    let psn = Psn::new(0xff_fffe);
    let witness = Witness {
        highest: psn.plus(5),
        arrived_ns: base.wrapping_add(9_000),
    };
    let later = PathWitness {
        latest_ns: base.wrapping_add(5_000),
        forward_ns: 6_000,
        known: true,
    };
    assert!(r.is_lost(psn, &lost, &witness, &later));
    // Passed by the threshold only.
    let near = Witness {
        highest: psn.plus(4),
        ..witness
    };
    assert!(!r.is_lost(psn, &lost, &near, &later));
    // Nothing later on its path: it may still come, until it is a base RTT late.
    let quiet = PathWitness {
        latest_ns: base,
        forward_ns: 6_000,
        known: true,
    };
    assert!(!r.is_lost(psn, &lost, &witness, &quiet));
    let late = Witness {
        arrived_ns: base.wrapping_add(6_000 + 12_001),
        ..witness
    };
    assert!(r.is_lost(psn, &lost, &late, &quiet));
    let found = Transmission {
        in_flight: false,
        ..lost
    };
    assert!(!r.is_lost(psn, &found, &late, &later));
    assert!(!Recovery::is_overdue(
        &lost,
        base.wrapping_add(48_000),
        48_000
    ));
    assert!(Recovery::is_overdue(
        &lost,
        base.wrapping_add(48_001),
        48_000
    ));
}
