//! Frames as the models compose them, against the beats on the wire.

use super::Scoreboard;
use rondo_models::wire::frame::FrameRepr;
use rondo_models::wire::header::Repr;
use std::collections::VecDeque;

/// A beat on the wire; bytes that are not kept are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireBeat {
    data: [u64; 8],
    keep: u64,
    /// The frame's last.
    pub last: bool,
    size: u16,
}

impl WireBeat {
    /// Of the words of the port.
    pub fn new(data: &[u64], keep: u64, last: bool, size: u16) -> Self {
        let kept = |w: usize| {
            (0..8).fold(0, |mask, b| {
                let byte = if keep >> (8 * w + b) & 1 == 1 {
                    0xff
                } else {
                    0
                };
                mask | byte << (8 * b)
            })
        };
        Self {
            data: std::array::from_fn(|w| data[w] & kept(w)),
            keep,
            last,
            size,
        }
    }

    fn byte(&self, at: usize) -> u8 {
        (self.data[at / 8] >> (8 * (at % 8))) as u8
    }
}

/// A frame that has started.
pub struct Started {
    /// What it says; a probe's timestamp is not known yet.
    pub frame: FrameRepr,
    /// Of a data packet.
    pub payload: Vec<u8>,
    /// When its job was taken.
    pub taken_ns: u32,
    /// When it started, at the latest.
    pub started_ns: u32,
}

/// Checks the stream of frames.
pub struct FrameCheck {
    due: VecDeque<Started>,
    /// Of the first frame due only the first beat was expected so far.
    is_open: bool,
    beats: Scoreboard<WireBeat>,
    violation: Option<String>,
}

impl Default for FrameCheck {
    fn default() -> Self {
        Self {
            due: VecDeque::new(),
            is_open: false,
            beats: Scoreboard::new("tx"),
            violation: None,
        }
    }
}

/// Beats of a frame.
fn beats(frame: &FrameRepr, payload: &[u8]) -> Vec<WireBeat> {
    let mut bytes = vec![0; frame.frame_bytes()];
    frame.emit(payload, &mut bytes);
    let count = bytes.len().div_ceil(64);
    let beat = |(i, chunk): (usize, &[u8])| {
        let mut data = [0; 8];
        for (at, byte) in chunk.iter().enumerate() {
            data[at / 8] |= u64::from(*byte) << (8 * (at % 8));
        }
        WireBeat {
            data,
            keep: u64::MAX >> (64 - chunk.len()),
            last: i + 1 == count,
            size: bytes.len() as u16,
        }
    };
    bytes.chunks(64).enumerate().map(beat).collect()
}

impl FrameCheck {
    /// The frame comes after those that have started before.
    pub fn start(&mut self, frame: Started) {
        self.due.push_back(frame);
    }

    /// The design was reset.
    pub fn reset(&mut self) {
        self.due.clear();
        self.is_open = false;
        self.beats.reset();
    }

    /// A probe's timestamp is taken from its second beat, when it is plausible.
    fn note_timestamp(&mut self, second: &WireBeat) {
        let Some(probe) = self.due.front_mut() else {
            return;
        };
        let below = frame_bytes_below(&probe.frame);
        let at = below + 24 - 64;
        let found = (0..4).fold(0, |ns, b| ns << 8 | u32::from(second.byte(at + b)));
        let (since, until) = (probe.taken_ns, probe.started_ns);
        if found.wrapping_sub(since) > until.wrapping_sub(since) {
            self.violation.get_or_insert(format!(
                "tx: a probe's timestamp {found:x} is not between {since:x} and {until:x}"
            ));
        }
        if let Repr::Probe { sent_ns, .. } = &mut probe.frame.header {
            *sent_ns = found;
        }
    }

    /// The stream in one clock.
    pub fn clock(&mut self, offered: Option<WireBeat>, ready: bool) {
        if self.beats.expected().next().is_none() {
            self.expect_more(offered.as_ref());
        }
        self.beats.clock(offered, ready);
    }

    fn expect_more(&mut self, offered: Option<&WireBeat>) {
        let is_probe = |s: &Started| matches!(s.frame.header, Repr::Probe { .. });
        match (self.due.front().map(is_probe), self.is_open, offered) {
            (Some(true), false, _) => {
                let first = self.due.front().map(|s| beats(&s.frame, &s.payload)[0]);
                first.into_iter().for_each(|b| self.beats.expect(b));
                self.is_open = true;
            }
            (Some(true), true, Some(second)) => {
                self.note_timestamp(second);
                self.is_open = false;
                if let Some(s) = self.due.pop_front() {
                    let rest = beats(&s.frame, &s.payload).into_iter().skip(1);
                    rest.for_each(|b| self.beats.expect(b));
                }
            }
            (Some(false), _, _) => {
                if let Some(s) = self.due.pop_front() {
                    let all = beats(&s.frame, &s.payload).into_iter();
                    all.for_each(|b| self.beats.expect(b));
                }
            }
            _ => {}
        }
    }

    /// Beats compared.
    pub fn compared(&self) -> u64 {
        self.beats.compared()
    }

    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or(self.beats.violation())
    }
}

/// Bytes before the Rondo header.
fn frame_bytes_below(frame: &FrameRepr) -> usize {
    rondo_models::wire::frame::frame_bytes(frame.ip.is_ipv6(), 0)
        - rondo_models::wire::header::HEADER_BYTES
}
