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

/// SplitMix64: any mixing function will do.
fn mix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

/// Contents of a beat: a function of flow, PSN and beat, so that a misplaced beat is seen.
pub fn contents(flow: u16, psn: u32, beat: u16) -> Beat {
    let mut x = u64::from(flow) << 48 | u64::from(psn) << 16 | u64::from(beat);
    std::array::from_fn(|_| mix(&mut x))
}

/// Place of a packet in its message, 112 bits: a function of flow and PSN.
pub fn place(flow: u16, psn: u32) -> u128 {
    let mut x = u64::from(flow) << 24 | u64::from(psn);
    (u128::from(mix(&mut x)) << 64 | u128::from(mix(&mut x))) >> 16
}

/// A packet that is being sent.
#[derive(Clone, Copy)]
struct Packet {
    flow: u16,
    psn: u32,
    beats: u16,
    keep: u64,
    path: u8,
    bad: bool,
    sent_ns: u32,
    received_ns: u32,
}

/// How long packets are for a while.
#[derive(Clone, Copy)]
enum Sizes {
    /// One beat: as many packets as there can be.
    Short,
    /// Mostly one to four beats, sometimes a whole slot, rarely too many.
    Mixed,
    /// Around a whole slot.
    Long,
}

/// Beats of one packet after another.
#[derive(Clone)]
pub struct PacketSource {
    /// Arrival order of each flow.
    pub flows: Vec<Flow>,
    window: u32,
    slot_beats: u16,
    hot: u16,
    sizes: Sizes,
    packet: Option<Packet>,
    beat: u16,
}

impl PacketSource {
    /// `flows` flows in windows of `window` PSNs, slots of `slot_beats` beats.
    pub fn new(flows: usize, window: usize, slot_beats: usize) -> Self {
        Self {
            flows: vec![Flow::default(); flows],
            window: window as u32,
            slot_beats: slot_beats as u16,
            hot: 0,
            sizes: Sizes::Mixed,
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

    fn beats(&mut self, rng: &mut SmallRng) -> u16 {
        let slot = self.slot_beats;
        if rng.random_range(0..500) == 0 {
            self.sizes = match rng.random_range(0..6) {
                0..=1 => Sizes::Short,
                2 => Sizes::Long,
                _ => Sizes::Mixed,
            };
        }
        match (self.sizes, rng.random_range(0..200)) {
            (_, 0) => slot + 2,
            (Sizes::Long, 1..=4) => slot + 1,
            (Sizes::Long, 5..=20) => 1,
            (Sizes::Long, _) | (Sizes::Mixed, 1..=4) => slot,
            (Sizes::Mixed, 5..=20) => rng.random_range(1..=slot),
            (Sizes::Mixed, _) => rng.random_range(1..=4),
            (Sizes::Short, _) => 1,
        }
    }

    fn next_packet(&mut self, rng: &mut SmallRng) -> Packet {
        let count = self.flows.len() as u16;
        if rng.random_range(0..200) == 0 {
            self.hot = rng.random_range(0..count);
        }
        let flow = if rng.random_range(0..3) == 0 {
            self.hot
        } else {
            rng.random_range(0..count)
        };
        Packet {
            flow,
            psn: self.flows[usize::from(flow)].arrival(rng, self.window),
            beats: self.beats(rng),
            keep: u64::MAX >> rng.random_range(0..64),
            path: rng.random_range(0..16),
            bad: rng.random_range(0..40) == 0,
            sent_ns: rng.random(),
            received_ns: rng.random(),
        }
    }

    /// The next beat. What counts with the last beat only is noise in the others.
    pub fn next_beat(&mut self, rng: &mut SmallRng) -> RxBeat {
        let p = match self.packet {
            Some(p) => p,
            None => self.next_packet(rng),
        };
        let beat = self.beat;
        let last = beat + 1 == p.beats;
        self.beat = if last { 0 } else { beat + 1 };
        self.packet = (!last).then_some(p);
        let data = contents(p.flow, p.psn, beat);
        if !last {
            return RxBeat {
                data,
                keep: u64::MAX,
                last,
                bad: rng.random(),
                flow: rng.random_range(0..self.flows.len() as u16),
                psn: rng.random_range(0..1 << 24),
                path: rng.random_range(0..16),
                place: u128::from(rng.random::<u64>()),
                sent_ns: rng.random(),
                received_ns: rng.random(),
            };
        }
        if p.bad || p.beats > self.slot_beats {
            // It will be dropped: let the PSN come again.
            self.flows[usize::from(p.flow)].again(p.psn);
        }
        RxBeat {
            data,
            keep: p.keep,
            last,
            bad: p.bad,
            flow: p.flow,
            psn: p.psn,
            path: p.path,
            place: place(p.flow, p.psn),
            sent_ns: p.sent_ns,
            received_ns: p.received_ns,
        }
    }
}

/// Checks deliveries by content, without the model: every flow's packets in PSN order, each once,
/// each beat as it was sent.
#[derive(Clone)]
pub struct DeliveryCheck {
    next: Vec<u32>,
    beat: u16,
    violation: Option<&'static str>,
}

/// A beat that was delivered.
pub struct Delivered<'a> {
    /// Flow.
    pub flow: usize,
    /// PSN.
    pub psn: u32,
    /// Payload.
    pub data: &'a [u64],
    /// Place in the message.
    pub place: u128,
    /// Last of the packet.
    pub last: bool,
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
    pub fn beat(&mut self, d: &Delivered) {
        match self.next.get(d.flow) {
            None => self.violation = Some("host_flow: no such flow"),
            Some(&next) if next != d.psn => {
                self.violation = Some("host_psn: not the next of its flow");
            }
            Some(_) if contents(d.flow as u16, d.psn, self.beat) != d.data => {
                self.violation = Some("host_data: not what was sent");
            }
            Some(_) if place(d.flow as u16, d.psn) != d.place => {
                self.violation = Some("host_place: not what was sent");
            }
            Some(_) => {}
        }
        self.beat += 1;
        if d.last {
            self.beat = 0;
            if let Some(next) = self.next.get_mut(d.flow) {
                *next = (d.psn + 1) & 0xff_ffff;
            }
        }
    }

    /// The latest violation.
    pub fn violation(&self) -> Option<&str> {
        self.violation
    }
}
