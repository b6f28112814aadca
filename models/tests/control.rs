//! Pacing, probing, skips and delay estimates: what the oracle has no equation for.

use rondo_models::arcc::{Interval, Parameters, Path};
use rondo_models::deficit::MAX_PATHS;
use rondo_models::fixed::ONE_PACKET;
use rondo_models::oracle::ood_bound;
use rondo_models::pacing::{pace, Pacer, BURST};
use rondo_models::probing::{Probing, PHASE_RTTS, QUIET_UPDATES};
use rondo_models::psn::Psn;
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
    // Idle for long: no more than the burst is saved.
    p.advance(1_000_000_000);
    let mut burst = 0;
    while p.is_due() {
        p.spend();
        burst += 1;
    }
    assert_eq!(burst, BURST);
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
            path.update(
                &p,
                &Interval {
                    data_acks: acks as u16,
                    probe_acks: 0,
                    in_flight: in_flight as u16,
                    sent: acks as u16,
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
