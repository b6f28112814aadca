//! Synthetic traffic patterns.
//!
//! Everything random is drawn from the generator handed in, so one seed gives one workload. Hosts are
//! given as lists of host numbers; sizes are payload bytes, times picoseconds.

use super::cdf::SizeCdf;
use super::{FlowSpec, Start, Workload, WorkloadError};
use crate::time::Ps;
use rand::seq::{index, SliceRandom};
use rand::Rng;

/// How long an on-off source waits from the start of one burst to the start of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Always the same time in picoseconds.
    Fixed(Ps),
    /// Uniform between the two times in picoseconds, both included.
    Uniform(Ps, Ps),
    /// Exponential with this mean in picoseconds.
    Exponential(Ps),
}

impl Gap {
    fn draw(self, rng: &mut impl Rng) -> Ps {
        let gap = match self {
            Gap::Fixed(gap) => gap,
            Gap::Uniform(low, high) => rng.random_range(low..=high),
            Gap::Exponential(mean) => exponential(mean as f64, rng) as Ps,
        };
        // A gap of 0 would never reach the end of the run.
        gap.max(1)
    }
}

/// An exponential variate; `1 - u` keeps the logarithm finite.
fn exponential(mean: f64, rng: &mut impl Rng) -> f64 {
    -mean * (1.0 - rng.random::<f64>()).ln()
}

fn flow(src: u32, dst: u32, bytes: u64, start: Start) -> FlowSpec {
    FlowSpec {
        src,
        dst,
        bytes,
        start,
        done: None,
        group: 0,
    }
}

fn check_hosts(what: &'static str, hosts: &[u32], least: usize) -> Result<(), WorkloadError> {
    if hosts.len() < least {
        let message = format!("needs at least {least} hosts, got {}", hosts.len());
        return Err(WorkloadError::argument(what, message));
    }
    let mut sorted = hosts.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(WorkloadError::argument(
            what,
            format!("host {} is listed twice; list each host once", pair[0]),
        )),
        None => Ok(()),
    }
}

fn check_bytes(what: &'static str, bytes: u64) -> Result<(), WorkloadError> {
    if bytes == 0 {
        return Err(WorkloadError::argument(
            what,
            "flows of 0 bytes; give at least 1",
        ));
    }
    Ok(())
}

/// Every sender sends `bytes` to `receiver`, all at `start`.
pub fn incast(
    senders: &[u32],
    receiver: u32,
    bytes: u64,
    start: Start,
) -> Result<Workload, WorkloadError> {
    check_hosts("incast", senders, 1)?;
    check_bytes("incast", bytes)?;
    if senders.contains(&receiver) {
        let message = format!("receiver {receiver} is among the senders; take it out");
        return Err(WorkloadError::argument("incast", message));
    }
    let flows = senders.iter().map(|&src| flow(src, receiver, bytes, start));
    Ok(Workload::of_flows(flows.collect()))
}

/// Every host sends `bytes` to one other host and receives from exactly one: a random permutation
/// without fixed points, each such permutation being equally likely.
pub fn permutation(
    hosts: &[u32],
    bytes: u64,
    start: Start,
    rng: &mut impl Rng,
) -> Result<Workload, WorkloadError> {
    check_hosts("permutation", hosts, 2)?;
    check_bytes("permutation", bytes)?;
    let mut receivers = hosts.to_vec();
    // About one shuffle in e has no fixed point, whatever the number of hosts; retrying keeps the
    // choice uniform, which repairing a shuffle would not.
    loop {
        receivers.shuffle(rng);
        if hosts.iter().zip(&receivers).all(|(src, dst)| src != dst) {
            break;
        }
    }
    let pairs = hosts.iter().zip(&receivers);
    let flows = pairs.map(|(&src, &dst)| flow(src, dst, bytes, start));
    Ok(Workload::of_flows(flows.collect()))
}

/// `count` flows between independently drawn pairs of different hosts; a pair may come up again.
pub fn random_pairs(
    count: usize,
    hosts: &[u32],
    bytes: u64,
    start: Start,
    rng: &mut impl Rng,
) -> Result<Workload, WorkloadError> {
    check_hosts("random pairs", hosts, 2)?;
    check_bytes("random pairs", bytes)?;
    let flows = (0..count).map(|_| {
        let src = rng.random_range(0..hosts.len());
        flow(hosts[src], other(hosts, src, rng), bytes, start)
    });
    Ok(Workload::of_flows(flows.collect()))
}

/// A host other than the one at index `not`, uniformly. Needs two hosts.
fn other(hosts: &[u32], not: usize, rng: &mut impl Rng) -> u32 {
    let draw = rng.random_range(0..hosts.len() - 1);
    hosts[draw + usize::from(draw >= not)]
}

/// Every host sends `bytes` to every other host, all at `start`. Each host begins with its successor
/// in the list, so that the flow order itself makes no incast.
pub fn all_to_all(hosts: &[u32], bytes: u64, start: Start) -> Result<Workload, WorkloadError> {
    check_hosts("all-to-all", hosts, 2)?;
    check_bytes("all-to-all", bytes)?;
    let n = hosts.len();
    let flows = (0..n)
        .flat_map(|i| (1..n).map(move |step| flow(hosts[i], hosts[(i + step) % n], bytes, start)));
    Ok(Workload::of_flows(flows.collect()))
}

/// Every host sends `bytes` to each of `receivers_each` other hosts at once, drawn without repetition:
/// the dispatch of a mixture-of-experts layer.
pub fn fan_out(
    hosts: &[u32],
    receivers_each: usize,
    bytes: u64,
    start: Start,
    rng: &mut impl Rng,
) -> Result<Workload, WorkloadError> {
    check_hosts("fan-out", hosts, 2)?;
    check_bytes("fan-out", bytes)?;
    let others = hosts.len() - 1;
    if receivers_each == 0 || receivers_each > others {
        let message = format!("{receivers_each} receivers for each host; give 1 to {others}");
        return Err(WorkloadError::argument("fan-out", message));
    }
    let mut flows = Vec::with_capacity(hosts.len() * receivers_each);
    for (i, &src) in hosts.iter().enumerate() {
        for draw in index::sample(rng, others, receivers_each) {
            let dst = hosts[draw + usize::from(draw >= i)];
            flows.push(flow(src, dst, bytes, start));
        }
    }
    Ok(Workload::of_flows(flows))
}

/// Each pair (sender, receiver) sends a burst of `bytes_per_burst` again and again until `until`.
///
/// Bursts are offered on time whether or not the last one has finished. The first burst of a pair comes
/// one gap after 0, so that pairs with random gaps are not in step. `group` is the index of the pair.
pub fn on_off(
    pairs: &[(u32, u32)],
    bytes_per_burst: u64,
    gap: Gap,
    until: Ps,
    rng: &mut impl Rng,
) -> Result<Workload, WorkloadError> {
    check_bytes("on-off", bytes_per_burst)?;
    let empty = match gap {
        Gap::Fixed(gap) | Gap::Exponential(gap) => gap == 0,
        Gap::Uniform(low, high) => low > high || high == 0,
    };
    if empty {
        let message = format!("{gap:?} is no usable gap; give times above 0, the smaller first");
        return Err(WorkloadError::argument("on-off", message));
    }
    let mut flows = Vec::new();
    for (group, &(src, dst)) in (0u32..).zip(pairs) {
        if src == dst {
            let message = format!("host {src} is paired with itself");
            return Err(WorkloadError::argument("on-off", message));
        }
        let mut now = gap.draw(rng);
        while now < until {
            flows.push(FlowSpec {
                group,
                ..flow(src, dst, bytes_per_burst, Start::At(now))
            });
            now = now.saturating_add(gap.draw(rng));
        }
    }
    sort_by_start(&mut flows);
    Ok(Workload::of_flows(flows))
}

/// Poisson traffic: each host starts flows with exponential gaps of mean
/// `8 * mean size / (load * host bandwidth)`, sized by `cdf`, to hosts drawn uniformly from the others,
/// until `until`. `load` is the share (above 0, at most 1) of `host_gbps` (Gbit/s) that is offered.
pub fn poisson(
    hosts: &[u32],
    cdf: &SizeCdf,
    load: f64,
    host_gbps: f64,
    until: Ps,
    rng: &mut impl Rng,
) -> Result<Workload, WorkloadError> {
    check_hosts("poisson", hosts, 2)?;
    if !(load > 0.0 && load <= 1.0) {
        let message = format!("a load of {load}; give a share above 0 and at most 1");
        return Err(WorkloadError::argument("poisson", message));
    }
    if !(host_gbps > 0.0 && host_gbps.is_finite()) {
        let message = format!("a host bandwidth of {host_gbps} Gbit/s; give a number above 0");
        return Err(WorkloadError::argument("poisson", message));
    }
    // One bit takes 1000 ps at 1 Gbit/s.
    let mean_gap = 8.0 * cdf.mean_bytes() * 1000.0 / (load * host_gbps);
    let mut flows = Vec::new();
    for (i, &src) in hosts.iter().enumerate() {
        // Kept as a real number: rounding each gap would shift the load of short gaps.
        let mut now = exponential(mean_gap, rng);
        while now < until as f64 {
            let bytes = cdf.draw(rng);
            flows.push(flow(src, other(hosts, i, rng), bytes, Start::At(now as Ps)));
            now += exponential(mean_gap, rng);
        }
    }
    sort_by_start(&mut flows);
    Ok(Workload::of_flows(flows))
}

/// Stable, so that equal times keep the order of the hosts.
fn sort_by_start(flows: &mut [FlowSpec]) {
    flows.sort_by_key(|flow| match flow.start {
        Start::At(time) | Start::On(_, time) => time,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{rngs::SmallRng, SeedableRng};
    use std::collections::HashSet;

    fn hosts(n: u32) -> Vec<u32> {
        (0..n).collect()
    }

    fn rng() -> SmallRng {
        SmallRng::seed_from_u64(42)
    }

    const NOW: Start = Start::At(0);

    #[test]
    fn incast_ends_at_one_host() {
        let workload = incast(&[1, 2, 5], 0, 9, Start::At(4)).unwrap();
        assert_eq!(workload.flows.len(), 3);
        assert!(workload.flows.iter().all(|f| f.dst == 0 && f.bytes == 9));
        assert_eq!(workload.validate(6), Ok(()));
        assert!(incast(&[1, 0], 0, 9, NOW).is_err());
        assert!(incast(&[], 0, 9, NOW).is_err());
        assert!(incast(&[1, 1], 0, 9, NOW).is_err());
        assert!(incast(&[1], 0, 0, NOW).is_err());
    }

    #[test]
    fn permutations_have_no_fixed_point_and_follow_the_seed() {
        for n in [2, 3, 16, 320] {
            let workload = permutation(&hosts(n), 1, NOW, &mut rng()).unwrap();
            let receivers: HashSet<u32> = workload.flows.iter().map(|f| f.dst).collect();
            assert_eq!(receivers.len(), n as usize);
            assert_eq!(workload.validate(n), Ok(()));
            let again = permutation(&hosts(n), 1, NOW, &mut rng()).unwrap();
            assert_eq!(workload, again);
        }
        let other = permutation(&hosts(320), 1, NOW, &mut SmallRng::seed_from_u64(1)).unwrap();
        assert_ne!(other, permutation(&hosts(320), 1, NOW, &mut rng()).unwrap());
        assert!(permutation(&[3], 1, NOW, &mut rng()).is_err());
    }

    #[test]
    fn pairs_and_all_to_all() {
        let workload = random_pairs(1000, &hosts(5), 1, NOW, &mut rng()).unwrap();
        let pairs: HashSet<_> = workload.flows.iter().map(|f| (f.src, f.dst)).collect();
        assert_eq!(pairs.len(), 20, "every ordered pair comes up");
        assert_eq!(workload.validate(5), Ok(()));
        let workload = all_to_all(&[4, 2, 7], 3, NOW).unwrap();
        let pairs: HashSet<_> = workload.flows.iter().map(|f| (f.src, f.dst)).collect();
        assert_eq!((pairs.len(), workload.flows.len()), (6, 6));
        assert_eq!(workload.validate(8), Ok(()));
    }

    #[test]
    fn fan_out_has_distinct_receivers() {
        let workload = fan_out(&hosts(20), 8, 1, NOW, &mut rng()).unwrap();
        let pairs: HashSet<_> = workload.flows.iter().map(|f| (f.src, f.dst)).collect();
        assert_eq!(pairs.len(), 160);
        assert_eq!(workload.validate(20), Ok(()));
        assert!(fan_out(&hosts(3), 2, 1, NOW, &mut rng()).is_ok());
        assert!(fan_out(&hosts(3), 3, 1, NOW, &mut rng()).is_err());
        assert!(fan_out(&hosts(3), 0, 1, NOW, &mut rng()).is_err());
    }

    #[test]
    fn on_off_keeps_its_gap() {
        let workload = on_off(&[(0, 1), (2, 1)], 5, Gap::Fixed(10), 35, &mut rng()).unwrap();
        let starts: Vec<_> = workload.flows.iter().map(|f| f.start).collect();
        let expected = [10, 10, 20, 20, 30, 30].map(Start::At);
        assert_eq!(starts, expected);
        let gap = Gap::Exponential(1000);
        let bursts = on_off(&[(0, 1)], 5, gap, 10_000_000, &mut rng()).unwrap();
        let count = bursts.flows.len() as f64;
        assert!((count / 10_000.0 - 1.0).abs() < 0.05, "{count}");
        let gap = Gap::Uniform(5, 5);
        assert_eq!(
            on_off(&[(0, 1)], 5, gap, 21, &mut rng())
                .unwrap()
                .flows
                .len(),
            4
        );
        for bad in [Gap::Fixed(0), Gap::Exponential(0), Gap::Uniform(2, 1)] {
            assert!(on_off(&[(0, 1)], 5, bad, 9, &mut rng()).is_err());
        }
        assert!(on_off(&[(1, 1)], 5, Gap::Fixed(1), 9, &mut rng()).is_err());
    }

    #[test]
    fn poisson_offers_the_load() {
        let cdf = SizeCdf::built_in("solar").unwrap();
        let until = 10_000_000_000; // 10 ms
        let workload = poisson(&hosts(16), &cdf, 0.6, 100.0, until, &mut rng()).unwrap();
        assert_eq!(workload.validate(16), Ok(()));
        let capacity = 16.0 * 100e9 / 8.0 * 10e-3;
        let load = workload.total_bytes() as f64 / capacity;
        assert!((load - 0.6).abs() < 0.03, "{load}");
        let time = |f: &FlowSpec| match f.start {
            Start::At(time) | Start::On(_, time) => time,
        };
        assert!(workload.flows.is_sorted_by_key(time));
        assert!(workload.flows.iter().all(|f| time(f) < until));
        for load in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(poisson(&hosts(4), &cdf, load, 100.0, 1, &mut rng()).is_err());
        }
        assert!(poisson(&hosts(4), &cdf, 0.5, 0.0, 1, &mut rng()).is_err());
    }
}
