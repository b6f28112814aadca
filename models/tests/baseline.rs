//! The comparison transports against what is known of them.

use rondo_models::baseline::dcqcn::{self, mark_probability, Dcqcn, Marking, Profile};
use rondo_models::baseline::selective_repeat::{
    Kind, NakPolicy, Parameters, Receiver, Reply, Sender,
};
use rondo_models::baseline::swift::{self, BufferWindow, Path};
use rondo_models::psn::Psn;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

// DCQCN.

#[test]
fn marks_rise_linearly_between_the_thresholds() {
    assert_eq!(mark_probability(400, 400, 1600, 0.2), 0.0);
    assert!(close(mark_probability(1000, 400, 1600, 0.2), 0.1));
    assert!(close(mark_probability(1600, 400, 1600, 0.2), 0.2));
    assert_eq!(mark_probability(1601, 400, 1600, 0.2), 1.0);
    // A step.
    assert_eq!(mark_probability(401, 400, 400, 0.2), 1.0);
    let m = Marking::scaled(400.0);
    assert_eq!((m.kmin, m.kmax), (1_600_000, 6_400_000));
    assert_eq!(Marking::shallow().kmax, 400_000);
    assert!(close(m.probability(4_000_000), 0.1));
}

#[test]
fn profiles_have_names_and_steps_scale() {
    for p in [Profile::Eager, Profile::Paper] {
        assert_eq!(Profile::from_name(p.name()), Some(p));
    }
    assert_eq!(Profile::from_name("other"), None);
    let p = dcqcn::Parameters::profile(100.0, Profile::Eager);
    assert!(close(p.additive_gbps, 0.02) && close(p.hyper_gbps, 0.2));
}

#[test]
fn alpha_decays_by_the_gain_in_idle_intervals() {
    let mut d = Dcqcn::new(&dcqcn::Parameters::profile(100.0, Profile::Eager));
    d.on_ack(500, true);
    assert_eq!(d.alpha(), 1.0);
    let mut expected = 1.0;
    for n in 1..=100u64 {
        expected *= 255.0 / 256.0;
        d.advance(500 + n * 1_000);
        assert!(close(d.alpha(), expected), "after {n}");
    }
    // A mark, however many, weighs the gain once.
    d.on_ack(100_600, true);
    d.on_ack(100_700, true);
    d.advance(101_500);
    assert!(close(d.alpha(), expected * 255.0 / 256.0 + 1.0 / 256.0));
}

/// Estimates come after the first decrease, which so sees the estimate 1.
fn halving() -> dcqcn::Parameters {
    dcqcn::Parameters {
        alpha_ns: 1_000_000,
        ..dcqcn::Parameters::profile(100.0, Profile::Paper)
    }
}

#[test]
fn one_mark_at_line_rate_halves_the_rate_and_recovery_halves_the_gap() {
    let mut d = Dcqcn::new(&halving());
    assert_eq!(d.next_timer_ns(), None);
    d.on_ack(0, false);
    assert_eq!(d.next_timer_ns(), None);
    d.on_ack(1_000, true);
    assert_eq!(d.rate_gbps(), 100.0);
    assert_eq!(d.next_timer_ns(), Some(51_000));
    d.advance(50_999);
    assert_eq!(d.rate_gbps(), 100.0);
    d.advance(51_000);
    assert_eq!(d.rate_gbps(), 50.0);
    assert_eq!(d.target_gbps(), 100.0);
    let mut gap = 50.0;
    for stage in 1..=5u64 {
        let at = 51_000 + stage * 55_000;
        assert_eq!(d.next_timer_ns(), Some(at));
        d.advance(at);
        gap /= 2.0;
        assert!(close(d.rate_gbps(), 100.0 - gap), "stage {stage}");
    }
}

#[test]
fn profiles_decrease_with_the_estimate_of_that_time() {
    // Four estimates come before the first decrease of the one, one before that of the other.
    for (profile, at, ticks) in [(Profile::Eager, 4_000, 4), (Profile::Paper, 50_000, 1)] {
        let mut d = Dcqcn::new(&dcqcn::Parameters::profile(100.0, profile));
        d.on_ack(0, true);
        d.advance(at);
        let alpha = (255.0f64 / 256.0).powi(ticks);
        assert!(close(d.rate_gbps(), 100.0 * (1.0 - alpha / 2.0)));
    }
}

#[test]
fn increases_add_after_recovery_then_grow() {
    let mut d = Dcqcn::new(&halving());
    d.on_ack(0, true);
    d.advance(50_000);
    d.advance(50_000 + 55_000);
    assert_eq!(d.rate_gbps(), 75.0);
    // The next decrease comes in stage 1 and takes the rate as target.
    d.on_ack(106_000, true);
    d.advance(150_000);
    assert_eq!((d.rate_gbps(), d.target_gbps()), (37.5, 75.0));
    // One straight after keeps the target.
    d.on_ack(151_000, true);
    d.advance(200_000);
    assert_eq!((d.rate_gbps(), d.target_gbps()), (18.75, 75.0));
    for _ in 0..5 {
        d.advance(d.next_timer_ns().unwrap());
    }
    assert_eq!(d.target_gbps(), 75.0);
    d.advance(d.next_timer_ns().unwrap());
    assert!(close(d.target_gbps(), 75.02));
    d.advance(d.next_timer_ns().unwrap());
    assert!(close(d.target_gbps(), 75.22));
    d.advance(1_000_000_000);
    assert!(close(d.rate_gbps(), 100.0) && d.rate_gbps() <= 100.0);
}

#[test]
fn a_flow_marked_for_ever_ends_at_the_lower_bound() {
    let mut d = Dcqcn::new(&dcqcn::Parameters::profile(100.0, Profile::Eager));
    for t in 0..1_000 {
        d.on_ack(t * 1_000, true);
    }
    assert_eq!(d.rate_gbps(), 1.0);
}

#[test]
fn lazy_and_eager_callers_see_the_same() {
    let p = dcqcn::Parameters::profile(100.0, Profile::Eager);
    let (mut lazy, mut eager) = (Dcqcn::new(&p), Dcqcn::new(&p));
    let mut rng = Lcg(7);
    let mut now = 0;
    for _ in 0..2_000 {
        let next = now + u64::from(rng.below(20_000));
        while now < next {
            now = next.min(now + 1 + u64::from(rng.below(700)));
            eager.advance(now);
        }
        let ce = rng.below(20) == 0;
        // Nothing happens to the rate before the time that is announced.
        let announced = lazy.next_timer_ns();
        if announced.is_none_or(|t| t > now) {
            assert_eq!(lazy.rate_gbps(), eager.rate_gbps());
        }
        lazy.on_ack(now, ce);
        eager.on_ack(now, ce);
        assert_eq!(lazy.rate_gbps().to_bits(), eager.rate_gbps().to_bits());
        assert_eq!(lazy.alpha().to_bits(), eager.alpha().to_bits());
    }
}

// Swift.

fn path(window: f64) -> Path {
    Path::new(&swift::Parameters {
        initial_window: window,
        hops: 0,
        ..swift::Parameters::default()
    })
}

#[test]
fn targets_follow_the_flow_scaling_table() {
    for (window, extra) in [
        (0.05, 100.0),
        (0.1, 100.0),
        (1.0, 30.2),
        (2.0, 20.8),
        (4.0, 14.1),
        (8.0, 9.4),
        (16.0, 6.1),
        (32.0, 3.7),
        (37.0, 3.3),
        (64.0, 2.0),
        (128.0, 0.8),
        (256.0, 0.0),
    ] {
        let us = path(window).target_ns() / 1_000.0 - 25.0;
        // The table is rounded to tenths.
        assert!((us - extra).abs() < 0.0515, "{window}: {us}");
    }
    let end = 1.0 / 256f64.sqrt();
    let scale = 100_000.0 / (1.0 / 0.1f64.sqrt() - end);
    for n in 1..=256 {
        let extra = scale * (1.0 / f64::from(n).sqrt() - end);
        assert!(close(path(f64::from(n)).target_ns(), 25_000.0 + extra));
    }
    let hops = Path::new(&swift::Parameters {
        initial_window: 256.0,
        hops: 5,
        ..swift::Parameters::default()
    });
    assert!((hops.target_ns() - 30_000.0).abs() < 1e-3);
}

#[test]
fn twice_the_target_costs_four_tenths_once_a_round_trip() {
    let mut p = path(256.0);
    let target = p.target_ns();
    assert!((target - 25_000.0).abs() < 1e-6);
    p.on_ack(50_000, 25_000, 1_000_000);
    assert!((p.window_packets() / 256.0 - 0.6).abs() < 1e-6);
    let after = p.window_packets();
    p.on_ack(60_000, 25_000, 1_024_000);
    assert_eq!(p.window_packets(), after);
    p.on_ack(1_000_000, 25_000, 1_025_001);
    assert!((p.window_packets() / after - 0.5).abs() < 1e-9);
}

#[test]
fn growth_from_the_minimum_lasts_a_round_trip() {
    let mut p = path(0.01);
    p.on_retransmit(3, 1_000_000);
    p.on_ack(900_000, 25_000, 1_010_000);
    p.on_ack(12_000, 25_000, 1_015_000);
    // The window was at its minimum until 1,010,000 at least.
    p.on_ack(900_000, 25_000, 1_034_000);
    assert!(close(p.window_packets(), 1.01));
    p.on_ack(900_000, 25_000, 1_035_000);
    assert!(close(p.window_packets(), 0.505));
}

#[test]
fn below_the_target_a_window_grows_by_a_packet_a_round_trip() {
    let mut p = path(8.0);
    for _ in 0..8 {
        p.on_ack(12_000, 12_000, 0);
    }
    assert!((8.9..9.0).contains(&p.window_packets()));
    let mut q = path(8.0);
    q.on_acks(8, 12_000, 12_000, 0);
    assert!(close(q.window_packets(), 9.0));
    // Below one packet the ACK adds a whole one.
    let mut small = path(0.25);
    small.on_ack(12_000, 12_000, 0);
    assert!(close(small.window_packets(), 1.25));
    for _ in 0..100_000 {
        p.on_ack(12_000, 12_000, 0);
    }
    assert_eq!(p.window_packets(), 256.0);
}

#[test]
fn retransmissions_halve_then_collapse_the_window() {
    let mut p = path(8.0);
    assert_eq!(p.rto_ns(), 1_000_000);
    p.on_retransmit(1, 1_000_000);
    assert_eq!(p.window_packets(), 4.0);
    p.on_retransmit(1, 1_001_000);
    p.on_retransmit(2, 2_000_000);
    assert_eq!(p.window_packets(), 4.0);
    p.on_retransmit(3, 2_000_000);
    assert_eq!(p.window_packets(), 0.01);
    assert_eq!(p.allowed_in_flight(), 1);
    assert_eq!(p.pacing_gap_ns(), 2_500_000);
    p.on_ack(12_000, 25_000, 3_000_000);
    assert!(close(p.window_packets(), 1.01));
    assert_eq!(p.pacing_gap_ns(), 0);
    assert_eq!(p.rto_ns(), 250_000);
    p.on_ack(12_000, 825_000, 3_100_000);
    assert_eq!(p.smoothed_rtt_ns(), 225_000);
    assert_eq!(p.rto_ns(), 450_000);
}

#[test]
fn the_buffer_window_holds_half_the_buffer() {
    assert_eq!(BufferWindow::level(0, 1_200_000), 0);
    assert_eq!(BufferWindow::level(600_000, 1_200_000), 16);
    assert_eq!(BufferWindow::level(2_000_000, 1_200_000), 31);
    assert_eq!(BufferWindow::level(5, 0), 0);
    let mut w = BufferWindow::new();
    w.on_ack(14, 12_000, 0);
    assert_eq!(w.window_packets(), 65.0);
    w.on_ack(30, 12_000, 1_000);
    assert!(close(w.window_packets(), 39.0));
    w.on_ack(30, 12_000, 2_000);
    w.on_refusal(12_000, 2_000);
    assert!(close(w.window_packets(), 39.0));
    w.on_refusal(12_000, 13_000);
    assert!(close(w.window_packets(), 19.5));
}

// Selective repeat.

fn psn(n: u32) -> Psn {
    Psn::new(n)
}

fn reply(expected: u32, ood: u32, waiting: u32, kind: Kind) -> Reply {
    Reply {
        expected: psn(expected),
        ood,
        waiting,
        kind,
    }
}

#[test]
fn a_receiver_holds_what_is_early_across_the_wrap() {
    let mut r = Receiver::<2>::new(psn(0xff_fffe), NakPolicy::Every);
    assert_eq!(
        r.arrive(psn(0xff_fffe), 0),
        reply(0xff_ffff, 0, 0, Kind::Ack)
    );
    assert_eq!(r.arrive(psn(1), 0), reply(0xff_ffff, 3, 1, Kind::Nak));
    assert_eq!(r.arrive(psn(1), 0), reply(0xff_ffff, 3, 1, Kind::Duplicate));
    assert_eq!(r.arrive(psn(0), 0), reply(0xff_ffff, 3, 2, Kind::Nak));
    assert_eq!(r.arrive(psn(4), 0), reply(0xff_ffff, 6, 3, Kind::Nak));
    assert_eq!(r.arrive(psn(0xff_ffff), 0), reply(2, 3, 1, Kind::Ack));
    assert_eq!(r.arrive(psn(0xff_ffff), 0), reply(2, 3, 1, Kind::Duplicate));
    // 128 PSNs from the expected one on.
    assert_eq!(r.arrive(psn(129), 0), reply(2, 128, 2, Kind::Nak));
    let beyond = r.arrive(psn(130), 0);
    assert_eq!(beyond, reply(2, 128, 2, Kind::Beyond));
    assert!(beyond.is_nak());
    assert_eq!(beyond.echo(psn(130)), psn(1));
    // Without room only the expected packet is kept.
    assert_eq!(r.arrive_without_room(psn(3), 0).kind, Kind::Beyond);
    assert_eq!(r.arrive_without_room(psn(4), 0).kind, Kind::Duplicate);
    assert_eq!(r.arrive_without_room(psn(2), 0).kind, Kind::Ack);
    assert_eq!((r.expected(), r.waiting(), r.ood()), (psn(3), 2, 127));
}

#[test]
fn suppressed_naks_come_once_an_interval() {
    let mut r = Receiver::<2>::new(psn(0), NakPolicy::Suppressed(1_000));
    let kinds = [
        (2, 0),
        (3, 10),
        (4, 999),
        (5, 1_000),
        (0, 1_010),
        (6, 1_020),
    ]
    .map(|(n, at)| r.arrive(psn(n), at).kind);
    let (ack, nak) = (Kind::Ack, Kind::Nak);
    assert_eq!(kinds, [nak, ack, ack, nak, ack, nak]);
}

#[test]
fn the_first_nak_resends_what_is_missing_and_later_ones_do_not() {
    let limit = psn(100);
    let mut s = Sender::<2>::new(psn(0), &Parameters::default());
    for n in 0..6 {
        assert_eq!(s.next_psn(limit, n), Some((psn(n as u32), false)));
    }
    s.on_ack(psn(1), psn(0), false, 10);
    s.on_ack(psn(1), psn(3), true, 11);
    assert!(s.is_recovering());
    // 3 is known; 5 becomes known before its turn.
    assert_eq!(s.next_psn(limit, 12), Some((psn(1), true)));
    s.on_ack(psn(1), psn(5), true, 13);
    assert_eq!(s.next_psn(limit, 14), Some((psn(2), true)));
    assert_eq!(s.next_psn(limit, 14), Some((psn(4), true)));
    assert_eq!(s.in_flight(), 3);
    assert_eq!(s.next_psn(limit, 15), Some((psn(6), false)));
    s.on_ack(psn(4), psn(2), false, 16);
    assert!(s.is_recovering());
    s.on_ack(psn(6), psn(4), false, 17);
    assert!(!s.is_recovering());
    assert_eq!((s.una(), s.in_flight()), (psn(6), 1));
    // A NAK from before is out of date.
    s.on_ack(psn(4), psn(5), true, 18);
    assert!(!s.is_recovering());
    s.on_ack(psn(7), psn(6), false, 19);
    assert!(s.is_done(psn(7)) && !s.is_done(limit));
    assert_eq!(s.next_timeout_ns(), None);
}

#[test]
fn timeouts_depend_on_what_is_outstanding_and_rewind() {
    let limit = psn(100);
    let mut s = Sender::<2>::new(psn(0), &Parameters::default());
    for at in 0..4 {
        s.next_psn(limit, at);
        let rto = if at < 3 { 100_000 } else { 320_000 };
        assert_eq!(s.next_timeout_ns(), Some(rto));
    }
    s.on_ack(psn(0), psn(2), true, 5);
    assert_eq!(s.next_psn(limit, 50), Some((psn(0), true)));
    // Three are outstanding, and the oldest was sent again at 50.
    assert_eq!(s.next_timeout_ns(), Some(100_050));
    assert!(!s.on_timeout(100_049));
    assert!(s.on_timeout(100_050));
    assert_eq!(s.in_flight(), 0);
    let again: Vec<_> = (0..3).filter_map(|_| s.next_psn(psn(4), 100_060)).collect();
    assert_eq!(again, [(psn(0), true), (psn(1), true), (psn(3), true)]);
    assert_eq!(s.next_psn(psn(4), 100_060), None);
}

#[test]
fn caps_and_windows_hold_packets_back() {
    let limit = psn(1_000);
    let p = Parameters {
        in_flight_cap: Some(3),
        ..Parameters::default()
    };
    let mut s = Sender::<1>::new(psn(0), &p);
    assert_eq!((0..9).filter_map(|_| s.next_psn(limit, 0)).count(), 3);
    s.on_ack(psn(0), psn(1), true, 1);
    assert_eq!((0..9).filter_map(|_| s.next_psn(limit, 1)).count(), 3);
    assert_eq!(s.in_flight(), 3);
    let mut s = Sender::<1>::new(psn(0), &Parameters::default());
    assert_eq!((0..90).filter_map(|_| s.next_psn(limit, 0)).count(), 64);
    s.on_ack(psn(1), psn(0), false, 1);
    assert_eq!(s.next_psn(limit, 1), Some((psn(64), false)));
    // What was never sent cannot be acknowledged.
    s.on_ack(psn(500), psn(499), false, 2);
    assert_eq!(s.una(), psn(1));
}

#[test]
fn an_oldest_packet_acknowledged_by_itself_does_not_stall() {
    let limit = psn(3);
    let mut s = Sender::<1>::new(psn(0), &Parameters::default());
    while s.next_psn(limit, 0).is_some() {}
    // 1 and 2 were early; the answer to 0, which covers all, is lost and an older one comes last.
    s.on_ack(psn(0), psn(1), true, 1);
    s.on_ack(psn(0), psn(2), true, 2);
    s.on_ack(psn(0), psn(0), false, 3);
    assert!(s.is_done(limit));
}

/// Linear congruential generator, 64 bits.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// What a network does, in thousandths and ns.
#[derive(Clone, Copy, Debug)]
struct Network {
    loss: u32,
    duplication: u32,
    jitter: u32,
}

#[derive(Clone, Copy)]
enum Message {
    Data(Psn),
    Answer(Psn, Psn, bool),
}

/// Sends `count` packets from `first` through `n`; returns how many were sent again.
fn transfer(seed: u64, first: Psn, count: u32, n: Network, p: &Parameters, nak: NakPolicy) -> u32 {
    let mut rng = Lcg(seed);
    let limit = first.plus(count);
    let mut s = Sender::<8>::new(first, p);
    let mut r = Receiver::<8>::new(first, nak);
    let mut wire: Vec<(u64, Message)> = Vec::new();
    let mut copies = vec![0u32; count as usize];
    let (mut now, mut again, mut delivered) = (0u64, 0, 0);
    let cap = p.in_flight_cap.unwrap_or(u32::MAX);
    while !s.is_done(limit) {
        assert!(now < 20_000_000_000, "stalled at {:?} of {n:?}", s.una());
        now += 100;
        s.on_timeout(now);
        let mut out = Vec::new();
        if let Some((psn, retransmission)) = s.next_psn(limit, now) {
            again += u32::from(retransmission);
            out.push(Message::Data(psn));
        }
        assert!(s.in_flight() <= cap.min(512));
        let mut index = 0;
        while index < wire.len() {
            if wire[index].0 > now {
                index += 1;
                continue;
            }
            match wire.swap_remove(index).1 {
                Message::Data(psn) => {
                    let expected = r.expected();
                    let held = r.waiting();
                    let full = rng.below(50) == 0;
                    let a = if full {
                        r.arrive_without_room(psn, now)
                    } else {
                        r.arrive(psn, now)
                    };
                    let step = a.expected.distance_from(expected);
                    assert!(step >= 0);
                    delivered += step;
                    let kept = matches!(a.kind, Kind::Ack | Kind::Nak);
                    // Kept packets are either held or delivered, in order.
                    assert_eq!(a.waiting as i32 + step, held as i32 + i32::from(kept));
                    assert!(a.ood >= a.waiting);
                    if kept {
                        copies[psn.distance_from(first) as usize] += 1;
                    }
                    out.push(Message::Answer(a.expected, a.echo(psn), a.is_nak()));
                }
                Message::Answer(cum, psn, nak) => s.on_ack(cum, psn, nak, now),
            }
        }
        for message in out {
            let twice = rng.below(1_000) < n.duplication;
            for m in [Some(message), twice.then_some(message)]
                .into_iter()
                .flatten()
            {
                if rng.below(1_000) >= n.loss {
                    let delay = 5_000 + u64::from(rng.below(n.jitter + 1));
                    wire.push((now + delay, m));
                }
            }
        }
    }
    assert_eq!(delivered as u32, count);
    assert_eq!(r.expected(), limit);
    assert_eq!((r.waiting(), r.ood(), s.in_flight()), (0, 0, 0));
    assert!(copies.iter().all(|&c| c == 1), "exactly once");
    again
}

#[test]
fn every_packet_is_delivered_once_in_order_whatever_the_network_does() {
    let cap = |in_flight_cap| Parameters {
        in_flight_cap,
        ..Parameters::default()
    };
    for seed in 0..6 {
        for (loss, duplication, jitter) in [(0, 0, 0), (10, 0, 0), (0, 20, 9_000), (80, 80, 30_000)]
        {
            let n = Network {
                loss,
                duplication,
                jitter,
            };
            for nak in [NakPolicy::Every, NakPolicy::Suppressed(20_000)] {
                for p in [cap(None), cap(Some(100))] {
                    let again = transfer(seed, psn(0xff_fe00), 2_000, n, &p, nak);
                    // Without loss or reordering nothing is sent again.
                    assert_eq!(again > 0, loss > 0 || jitter > 0);
                }
            }
        }
    }
}
