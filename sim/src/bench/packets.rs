//! Packets from the network: arrival order with gaps, duplicates and strays; contents that tell
//! flow, PSN and beat.

use rand::rngs::SmallRng;
use rand::Rng;
use rondo_models::cycle::reorder::{Beat, RxBeat};

/// Arrivals of one flow.
#[derive(Clone, Default)]
pub struct Flow {
    /// All PSNs before it were offered, but for the gaps.
    next: u32,
    gaps: Vec<u32>,
}

impl Flow {
    /// A flow whose first PSN is `first`.
    pub fn restart(&mut self, first: u32) {
        self.next = first;
        self.gaps.clear();
    }

    /// The packet was dropped: it comes again.
    pub fn again(&mut self, psn: u32) {
        // A stray beyond what was ever sent is not repeated.
        if (self.next.wrapping_sub(psn) & 0xff_ffff) < 1 << 12 && psn != self.next {
            self.gaps.push(psn);
        }
    }

    /// The PSN that arrives next, in a window of `window` PSNs.
    pub fn arrival(&mut self, rng: &mut SmallRng, window: u32) -> u32 {
        // Many gaps: mostly fill, so that the window moves on.
        let fill = if self.gaps.len() > window as usize / 4 {
            90
        } else {
            45
        };
        match rng.random_range(0..100) {
            // A stray: anywhere near the window's ends.
            0 => {
                let off = rng.random_range(0..3 * window);
                self.next.wrapping_add(off).wrapping_sub(window) & 0xff_ffff
            }
            // A duplicate of something recent.
            1..=5 => self.next.wrapping_sub(rng.random_range(1..80)) & 0xff_ffff,
            // Fill a gap, oldest first as often as any.
            r if (6..fill).contains(&r) && !self.gaps.is_empty() => {
                let age = |psn: u32| self.next.wrapping_sub(psn) & 0xff_ffff;
                let i = if rng.random() {
                    let oldest = self.gaps.iter().enumerate().max_by_key(|(_, &p)| age(p));
                    oldest.map_or(0, |(i, _)| i)
                } else {
                    rng.random_range(0..self.gaps.len())
                };
                self.gaps.swap_remove(i)
            }
            // Leave gaps, rarely long ones.
            r if r < 60 && self.gaps.len() < window as usize / 2 => {
                let long = rng.random_range(0..40) == 0;
                for _ in 0..rng.random_range(1..if long { window / 2 } else { 4 }) {
                    let psn = self.take_next();
                    self.gaps.push(psn);
                }
                self.take_next()
            }
            _ => self.take_next(),
        }
    }

    fn take_next(&mut self) -> u32 {
        let psn = self.next;
        self.next = (self.next + 1) & 0xff_ffff;
        psn
    }
}

/// Contents of a beat: a function of flow, PSN and beat, so that a misplaced beat is seen.
pub fn contents(flow: u16, psn: u32, beat: u8) -> Beat {
    let mut x = u64::from(flow) << 40 | u64::from(psn) << 8 | u64::from(beat);
    std::array::from_fn(|_| {
        // SplitMix64: any mixing function will do.
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = x;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ (z >> 27)
    })
}

/// Beats of one packet after another.
#[derive(Clone)]
pub struct PacketSource {
    /// Arrival order of each flow.
    pub flows: Vec<Flow>,
    window: u32,
    hot: u16,
    packet: Option<(u16, u32, u8, u64, u8)>,
    beat: u8,
}

impl PacketSource {
    /// `flows` flows in windows of `window` PSNs.
    pub fn new(flows: usize, window: usize) -> Self {
        Self {
            flows: vec![Flow::default(); flows],
            window: window as u32,
            hot: 0,
            packet: None,
            beat: 0,
        }
    }

    /// Everything starts again at PSN 0.
    pub fn restart(&mut self) {
        for f in &mut self.flows {
            f.restart(0);
        }
        self.packet = None;
        self.beat = 0;
    }

    /// The next beat; a packet has mostly one to four, sometimes all 64, rarely too many.
    pub fn next_beat(&mut self, rng: &mut SmallRng, closed: Option<u16>) -> Option<RxBeat> {
        let count = self.flows.len() as u16;
        if self.packet.is_none() {
            if rng.random_range(0..200) == 0 {
                self.hot = rng.random_range(0..count);
            }
            let flow = if rng.random_range(0..3) == 0 {
                self.hot
            } else {
                rng.random_range(0..count)
            };
            if closed == Some(flow) {
                return None;
            }
            let psn = self.flows[usize::from(flow)].arrival(rng, self.window);
            let beats = match rng.random_range(0..200) {
                0 => 66,
                1..=4 => 64,
                5..=20 => rng.random_range(1..=64),
                _ => rng.random_range(1..=4),
            };
            let keep = u64::MAX >> rng.random_range(0..64);
            self.packet = Some((flow, psn, beats, keep, rng.random_range(0..16)));
            self.beat = 0;
        }
        let (flow, psn, beats, keep, path) = self.packet?;
        let last = self.beat + 1 == beats;
        let beat = RxBeat {
            data: contents(flow, psn, self.beat),
            keep: if last { keep } else { u64::MAX },
            last,
            flow,
            psn,
            path,
        };
        self.beat += 1;
        if last {
            if beats > 64 {
                // It will be dropped for its length: let the PSN come again.
                self.flows[usize::from(flow)].again(psn);
            }
            self.packet = None;
        }
        Some(beat)
    }

    /// A packet of the flow is between its first and last beat.
    pub fn sending(&self, flow: u16) -> bool {
        self.packet.is_some_and(|p| p.0 == flow)
    }
}

/// Checks deliveries by content, without the model: every flow's packets in PSN order, each once,
/// each beat as it was sent.
#[derive(Clone)]
pub struct DeliveryCheck {
    next: Vec<u32>,
    beat: u8,
    violation: Option<&'static str>,
}

impl DeliveryCheck {
    /// For `flows` flows that all start at PSN 0.
    pub fn new(flows: usize) -> Self {
        Self {
            next: vec![0; flows],
            beat: 0,
            violation: None,
        }
    }

    /// Flow `flow` starts at `first`; no packet is between its beats.
    pub fn restart(&mut self, flow: usize, first: u32) {
        self.next[flow] = first;
        self.beat = 0;
    }

    /// A beat was delivered.
    pub fn beat(&mut self, flow: usize, psn: u32, data: &[u64], last: bool) {
        match self.next.get(flow) {
            None => self.violation = Some("host_flow: no such flow"),
            Some(&next) if next != psn => {
                self.violation = Some("host_psn: not the next of its flow");
            }
            Some(_) if contents(flow as u16, psn, self.beat) != data => {
                self.violation = Some("host_data: not what was sent");
            }
            Some(_) => {}
        }
        self.beat += 1;
        if last {
            self.beat = 0;
            if let Some(next) = self.next.get_mut(flow) {
                *next = (psn + 1) & 0xff_ffff;
            }
        }
    }

    /// The latest violation.
    pub fn violation(&self) -> Option<&str> {
        self.violation
    }
}
