//! The frame parser's stimulus, and what it has to make of it.

use super::frames::FrameSource;
use super::parser_ports::{Ack, At, DataBeat, Fate, Probe};
use super::{Pace, Resets, Rows, Scoreboard};
use crate::lockstep::Bench;
use crate::{SimError, Verilog};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rondo_models::cycle::reorder::Beat;
use rondo_models::rx::{classify, classify_headers, Received};
use rondo_models::wire::frame::{frame_bytes, Acknowledgement};
use rondo_models::wire::header::{self, Acked};
use rondo_models::wire::{ethernet, DropCause, Place};
use std::ops::Range;

/// Bytes of a beat.
const BEAT_BYTES: usize = 64;
/// Clocks after which nothing of a frame is in the pipeline any more, if nothing stalls.
const SETTLE_CLOCKS: u32 = 64;
/// Frames after which every outcome must have been seen.
const FRAMES_FOR_ALL: u64 = 30_000;

/// A reader of a stream: as ready as its pace, or only when something is offered.
struct Reader {
    pace: Pace,
    after_valid: bool,
    was_valid: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            // Now and then it stops for long.
            pace: Pace::new(&[256, 256, 128, 32, 256, 200, 0]),
            after_valid: false,
            was_valid: false,
        }
    }

    fn ready(&mut self, rng: &mut SmallRng) -> bool {
        self.pace.active(rng) && (self.was_valid || !self.after_valid)
    }
}

/// The frame that is on its way in.
#[derive(Default)]
struct Sending {
    frame: Vec<u8>,
    sent: usize,
    offered: bool,
    /// Bytes of the last beat beyond the frame's end: they mean nothing.
    filler: u8,
}

/// Random frames, and random pauses on every port.
pub struct ParserBench {
    rng: SmallRng,
    at: At,
    source: FrameSource,
    flows: usize,
    sending: Sending,
    pace: Pace,
    readers: [Reader; 3],
    now_ns: u32,
    context: [u64; 4],
    data: Scoreboard<DataBeat>,
    probes: Scoreboard<Probe>,
    acks: Scoreboard<Ack>,
    fates: Scoreboard<Fate>,
    resets: Resets,
    /// Clocks since a stream last waited for its reader.
    unstalled: u32,
    /// Clocks left in which no frame starts, because flows change behind them.
    pause: u32,
    frames: u64,
    kinds: [u64; 4],
    causes: [u64; 16],
    wrong_lengths_shown: u64,
    violation: Option<String>,
}

impl ParserBench {
    /// For the frame parser `v` of `flows` flows.
    ///
    /// # Errors
    /// [`SimError::NoPort`] when `v` is another block.
    pub fn new(v: &Verilog, flows: usize, seed: u64) -> Result<Self, SimError> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let source = FrameSource::new(&mut rng, flows);
        Ok(Self {
            rng,
            at: At::new(&Rows::new(v))?,
            source,
            flows,
            sending: Sending::default(),
            pace: Pace::new(Pace::MIXED),
            readers: [Reader::new(), Reader::new(), Reader::new()],
            now_ns: 0,
            context: [0; 4],
            data: Scoreboard::new("data"),
            probes: Scoreboard::new("probe"),
            acks: Scoreboard::new("ack"),
            fates: Scoreboard::new("frame and drop"),
            resets: Resets::new(0),
            unstalled: 0,
            pause: 0,
            frames: 0,
            kinds: [0; 4],
            causes: [0; 16],
            wrong_lengths_shown: 0,
            violation: None,
        })
    }

    fn restart(&mut self) {
        let rng = &mut self.rng;
        self.source = FrameSource::new(rng, self.flows);
        self.sending = Sending::default();
        self.now_ns = if rng.random() {
            rng.random()
        } else {
            u32::MAX - rng.random_range(0..100_000)
        };
        for r in &mut self.readers {
            r.after_valid = rng.random_range(0..3) == 0;
            r.was_valid = false;
        }
        self.data.reset();
        self.probes.reset();
        self.acks.reset();
        self.fates.reset();
        self.unstalled = 0;
        self.pause = 0;
    }

    /// The next beat, if one is to be offered.
    fn next_beat(&mut self) -> bool {
        let rng = &mut self.rng;
        let s = &mut self.sending;
        if s.offered {
            return true;
        }
        if !self.pace.active(rng) {
            return false;
        }
        if s.sent >= s.frame.len() {
            if self.pause > 0 {
                return false;
            }
            s.frame = self.source.frame(rng);
            s.sent = 0;
            s.filler = rng.random();
        }
        s.offered = true;
        true
    }

    /// Puts on the scoreboards what becomes of the frame whose first beat is taken now.
    fn expect(&mut self) {
        let frame = &self.sending.frame;
        let contexts = |flow: u16| self.source.contexts.get(usize::from(flow)).copied();
        let identity = &self.source.identity;
        let now_ns = self.now_ns;
        let verdict = classify(frame, identity, contexts);
        let fate = match &verdict {
            Ok(Received::Data { .. }) => Fate::Accepted(0),
            Ok(Received::Probe { .. }) => Fate::Accepted(1),
            Ok(Received::Ack {
                acknowledgement, ..
            }) => Fate::Accepted(2 + u8::from(acknowledgement.nak)),
            Err(cause) => Fate::Dropped(cause.code()),
        };
        // What is shown although the frame is dropped: its end comes after its beginning.
        let shown = match verdict {
            Err(DropCause::PayloadCrc) => classify_headers(frame, identity, contexts),
            Err(DropCause::BadLength) => match of_declared_length(frame) {
                Some(whole) => classify_headers(&whole, identity, contexts),
                None => verdict,
            },
            _ => verdict,
        };
        match shown {
            Ok(Received::Data {
                flow,
                psn,
                path,
                place,
                sent_ns,
                payload,
                ..
            }) => {
                let wrong_length = fate == Fate::Dropped(DropCause::BadLength.code());
                self.wrong_lengths_shown += u64::from(wrong_length);
                let beats = data_beats(frame, payload, &place);
                let count = beats.len();
                for (i, data) in beats.into_iter().enumerate() {
                    let last = i + 1 == count;
                    let blank = last && wrong_length;
                    self.data.expect(DataBeat {
                        data: if blank { Beat::default() } else { data },
                        blank,
                        keep: if last { keep(&place) } else { u64::MAX },
                        last,
                        bad: last && fate != Fate::Accepted(0),
                        flow,
                        psn: psn.value(),
                        path,
                        place: place.pack(),
                        sent_ns,
                        received_ns: now_ns,
                    });
                }
            }
            Ok(Received::Probe {
                flow,
                path,
                sent_ns,
            }) if fate == Fate::Accepted(1) => self.probes.expect(Probe {
                flow,
                path,
                sent_ns,
                received_ns: now_ns,
            }),
            Ok(Received::Ack {
                flow,
                acknowledgement,
            }) if matches!(fate, Fate::Accepted(2 | 3)) => {
                self.acks.expect(ack(flow, &acknowledgement, now_ns));
            }
            _ => {}
        }
        self.fates.expect(fate);
        self.count(fate);
    }

    fn count(&mut self, fate: Fate) {
        self.frames += 1;
        match fate {
            Fate::Accepted(kind) => self.kinds[usize::from(kind & 3)] += 1,
            Fate::Dropped(cause) => self.causes[usize::from(cause & 15)] += 1,
            Fate::Both => {}
        }
        let all = self.kinds.iter().chain(&self.causes[1..=14]);
        if self.frames == FRAMES_FOR_ALL && (all.min() == Some(&0) || self.wrong_lengths_shown == 0)
        {
            self.fail("the stimulus does not reach every outcome");
        }
    }

    fn fail(&mut self, what: &str) {
        self.violation.get_or_insert_with(|| what.to_owned());
    }

    /// `rx_ready` may fall only when a reader makes the parser wait.
    fn check_ready(&mut self, stalled: bool, ready: bool) {
        self.unstalled = if stalled { 0 } else { self.unstalled + 1 };
        if self.unstalled > SETTLE_CLOCKS && !ready {
            self.fail("rx_ready is low although no reader makes it wait");
        }
    }
}

/// The frame as long as its header says, when it has a third beat and must have one.
fn of_declared_length(frame: &[u8]) -> Option<Vec<u8>> {
    let ether_type = frame.get(12..14)?;
    let headers = frame_bytes(ether_type == ethernet::IPV6.to_be_bytes(), 0);
    let rondo = frame.get(headers - header::HEADER_BYTES..)?;
    let payload_len = header::Packet::new_checked(rondo).ok()?.payload_len();
    let length = headers + usize::from(payload_len);
    (frame.len() > 2 * BEAT_BYTES && length > 2 * BEAT_BYTES).then(|| {
        let mut whole = frame.to_vec();
        whole.resize(length, 0);
        whole
    })
}

/// The payload's beats, as far as the frame and the header's length go.
fn data_beats(frame: &[u8], payload: Range<usize>, place: &Place) -> Vec<Beat> {
    let most = usize::from(place.payload_len).div_ceil(BEAT_BYTES);
    frame[payload.start..]
        .chunks(BEAT_BYTES)
        .take(most)
        .map(|bytes| beat(bytes, 0))
        .collect()
}

/// Bytes as a beat, `filler` behind them.
fn beat(bytes: &[u8], filler: u8) -> Beat {
    let mut whole = [filler; BEAT_BYTES];
    whole[..bytes.len()].copy_from_slice(bytes);
    let mut words = whole.chunks_exact(8);
    std::array::from_fn(|_| {
        let bytes = words.next().unwrap_or_default();
        bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))
    })
}

/// Bytes that count in a packet's last beat.
fn keep(place: &Place) -> u64 {
    u64::MAX >> ((64 - place.payload_len % 64) % 64)
}

fn ack(flow: u16, a: &Acknowledgement, now_ns: u32) -> Ack {
    let (psn, expected, selective) = match a.of {
        Acked::Data {
            psn,
            expected,
            selective,
        } => (psn.value(), expected.value(), selective),
        Acked::Probe => (0, 0, 0),
    };
    Ack {
        flow,
        path: a.path,
        psn,
        expected,
        selective,
        probe: a.of == Acked::Probe,
        nak: a.nak,
        duplicate: a.duplicate,
        sent_ns: a.sent_ns,
        received_ns: a.received_ns,
        now_ns,
    }
}

impl Bench for ParserBench {
    fn drive(&mut self, inputs: &mut [u64]) {
        inputs[self.at.rst] = self.resets.active(&mut self.rng).into();
        self.now_ns = self.now_ns.wrapping_add(4);
        let offered = self.next_beat();
        let a = &self.at;
        let i = &self.source.identity;
        let ipv6 = u128::from(i.ipv6);
        inputs[a.identity[0]] = i.mac.to_number();
        inputs[a.identity[1]] = u32::from(i.ipv4).into();
        inputs[a.identity[2]] = ipv6 as u64;
        inputs[a.identity[2] + 1] = (ipv6 >> 64) as u64;
        inputs[a.identity[3]] = i.udp_port.into();
        inputs[a.now_ns] = self.now_ns.into();
        inputs[a.context..a.context + 4].copy_from_slice(&self.context);
        inputs[a.rx[0]] = offered.into();
        if offered {
            let s = &self.sending;
            let left = &s.frame[s.sent..];
            let bytes = &left[..left.len().min(BEAT_BYTES)];
            inputs[a.rx[1]..a.rx[1] + 8].copy_from_slice(&beat(bytes, s.filler));
            inputs[a.rx[2]] = u64::MAX >> (BEAT_BYTES - bytes.len());
            inputs[a.rx[3]] = (left.len() <= BEAT_BYTES).into();
        }
        let [data, probe, ack] = &mut self.readers;
        inputs[a.data_ready] = data.ready(&mut self.rng).into();
        inputs[a.probe_ready] = probe.ready(&mut self.rng).into();
        inputs[a.ack_ready] = ack.ready(&mut self.rng).into();
    }

    fn model(&mut self, _inputs: &[u64], _expected: &mut [u64]) {}

    fn observe(&mut self, inputs: &[u64], outputs: &[u64]) {
        let flow = outputs[self.at.context_flow] as usize;
        // Beyond the last flow the memory has anything.
        self.context = match self.source.contexts.get(flow) {
            Some(context) => context.pack(),
            None => self.rng.random(),
        };
        if inputs[self.at.rst] != 0 {
            return self.restart();
        }
        let ready = outputs[self.at.rx_ready] != 0;
        if self.sending.offered && ready {
            if self.sending.sent == 0 {
                self.expect();
            }
            self.sending.offered = false;
            self.sending.sent += BEAT_BYTES;
        }
        if self.sending.sent >= self.sending.frame.len() {
            self.pause = self.pause.saturating_sub(1);
            if self.pause == 1 {
                self.source.change_flow(&mut self.rng);
            }
            if self.pause == 0 && self.rng.random_range(0..1000) == 0 {
                self.pause = SETTLE_CLOCKS;
            }
        }

        let a = &self.at;
        let on = |at: usize| inputs[at] != 0;
        let readies = [on(a.data_ready), on(a.probe_ready), on(a.ack_ready)];
        let valids = [a.data[0], a.probe[0], a.ack[0]].map(|at| outputs[at] != 0);
        for (reader, valid) in self.readers.iter_mut().zip(valids) {
            reader.was_valid = valid;
        }
        let stalled = (0..3).any(|i| valids[i] && !readies[i]);
        let mut data = a.data(outputs);
        if let (Some(d), Some(true)) = (&mut data, self.data.expected().next().map(|e| e.blank)) {
            d.blank = true;
            d.data = Beat::default();
        }
        self.data.clock(data, readies[0]);
        self.probes.clock(a.probe(outputs), readies[1]);
        self.acks.clock(a.ack(outputs), readies[2]);
        self.fates.clock(a.fate(outputs), true);
        self.check_ready(stalled, ready);
    }

    fn violation(&self) -> Option<&str> {
        self.violation
            .as_deref()
            .or_else(|| self.data.violation())
            .or_else(|| self.probes.violation())
            .or_else(|| self.acks.violation())
            .or_else(|| self.fates.violation())
    }

    fn is_clocked(&self) -> bool {
        false
    }

    fn compared(&self) -> u64 {
        self.data.compared() + self.probes.compared() + self.acks.compared() + self.fates.compared()
    }

    fn counts(&self) -> Vec<(String, u64)> {
        let kinds = ["data", "probe", "ack", "nak"];
        let accepted = kinds.iter().zip(self.kinds);
        let mut counts = vec![("frames".to_owned(), self.frames)];
        counts.extend(accepted.map(|(kind, n)| (format!("accepted {kind}"), n)));
        for cause in &DropCause::ALL[..14] {
            let name = format!("dropped {:02} {}", cause.code(), cause.name());
            counts.push((name, self.causes[usize::from(cause.code())]));
        }
        let shown = "dropped 08 after data was shown";
        counts.push((shown.to_owned(), self.wrong_lengths_shown));
        counts
    }
}
