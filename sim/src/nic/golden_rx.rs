//! The golden receive side: what becomes of every frame, the receiver datapath, and the answers.

use super::bits::Fields;
use rondo_models::cycle::receiver::{Inputs, Receiver};
use rondo_models::cycle::reorder::{Ack, RxBeat};
use rondo_models::ledger::{Event, Kind};
use rondo_models::psn::Psn;
use rondo_models::reorder::Buffer;
use rondo_models::rx::{classify, classify_headers, Received};
use rondo_models::wire::frame::Acknowledgement;
use rondo_models::wire::header::Acked;
use rondo_models::wire::{DropCause, FlowContext, Identity};
use std::collections::VecDeque;

/// A data packet that the parser has to hand on.
#[derive(Debug, Clone)]
struct Data {
    fields: [u64; 7],
    place: u128,
    bad: bool,
    payload: Vec<u8>,
    at: usize,
}

/// Frames by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Accepted, by kind: data, probe, ACK, NAK.
    pub kinds: [u64; 4],
    /// Dropped, by the code of [`DropCause`].
    pub drops: [u64; 16],
    /// Packets that had arrived before.
    pub duplicates: u64,
    /// Packets refused by a NAK.
    pub refused: u64,
}

/// The receive side's monitors in one clock.
#[derive(Debug, Clone, Copy)]
pub struct RxTaps<'a> {
    /// Reset.
    pub rst: bool,
    /// The reorder buffer's limit.
    pub limit: u32,
    /// `trace_rx_data`.
    pub data: &'a [u64],
    /// `trace_rx`.
    pub rx: &'a [u64],
    /// `trace_receiver_out`.
    pub out: &'a [u64],
    /// `trace_ack`.
    pub ack: &'a [u64],
    /// `trace_probe`.
    pub probe: &'a [u64],
    /// Flow and PSN of an open, if one is offered.
    pub open: (u16, u32),
    /// Flow of a flush, if one is offered.
    pub flush: u16,
}

/// What a clock of the receive side did.
#[derive(Debug, Clone, Default)]
pub struct RxStep {
    /// An answer is to be sent: flow, and what it says.
    pub reply: Option<(u16, Acknowledgement)>,
    /// An ACK or NAK was taken by the transmit side.
    pub heard: Option<Event>,
    /// Out-of-order degree and waiting packets of the flow whose packet was judged.
    pub sample: Option<(u16, u16, u16)>,
}

/// The receive side of one NIC.
pub struct GoldenRx {
    identity: Identity,
    contexts: Vec<FlowContext>,
    receiver: Receiver,
    data: VecDeque<Data>,
    acks: VecDeque<(u16, Acknowledgement)>,
    probes: VecDeque<[u64; 4]>,
    counts: FrameCounts,
    mismatches: u64,
    first: Option<String>,
    /// Values compared.
    pub compared: u64,
}

impl GoldenRx {
    /// As after reset.
    pub fn new(identity: Identity, buffer: Buffer, window: usize, flows: usize) -> Self {
        Self {
            identity,
            contexts: vec![FlowContext::CLOSED; flows],
            receiver: Receiver::new(buffer, window, flows),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            probes: VecDeque::new(),
            counts: FrameCounts::default(),
            mismatches: 0,
            first: None,
            compared: 0,
        }
    }

    fn differ(&mut self, what: impl FnOnce() -> String) {
        self.mismatches += 1;
        if self.first.is_none() {
            self.first = Some(what());
        }
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, expected: &T, actual: &T) {
        self.compared += 1;
        if expected != actual {
            self.differ(|| format!("{what}: expected {expected:x?}, got {actual:x?}"));
        }
    }

    /// A flow is opened, or closed by [`FlowContext::CLOSED`].
    pub fn set_context(&mut self, flow: u16, context: FlowContext) {
        self.contexts[usize::from(flow)] = context;
    }

    /// A frame whose first beat the NIC takes at `now_ns`.
    pub fn frame(&mut self, bytes: &[u8], now_ns: u32) {
        let contexts = &self.contexts;
        let of = |flow: u16| contexts.get(usize::from(flow)).copied();
        let whole = classify(bytes, &self.identity, of);
        let headers = classify_headers(bytes, &self.identity, of);
        if let Err(cause) = whole {
            self.counts.drops[cause as usize & 15] += 1;
        }
        match headers {
            Ok(Received::Data {
                flow,
                psn,
                path,
                place,
                sent_ns,
                payload,
                ..
            }) => {
                self.counts.kinds[0] += u64::from(whole.is_ok());
                let [low, high] = place.pack();
                self.data.push_back(Data {
                    fields: [
                        flow.into(),
                        psn.value().into(),
                        path.into(),
                        sent_ns.into(),
                        now_ns.into(),
                        0,
                        0,
                    ],
                    place: u128::from(low) | u128::from(high) << 64,
                    bad: whole == Err(DropCause::PayloadCrc),
                    payload: bytes[payload].to_vec(),
                    at: 0,
                });
            }
            Ok(Received::Probe {
                flow,
                path,
                sent_ns,
            }) => {
                self.counts.kinds[1] += 1;
                self.probes
                    .push_back([flow.into(), path.into(), sent_ns.into(), now_ns.into()]);
            }
            Ok(Received::Ack {
                flow,
                acknowledgement,
            }) => {
                self.counts.kinds[2 + usize::from(acknowledgement.nak)] += 1;
                self.acks.push_back((flow, acknowledgement));
            }
            Err(_) => {}
        }
    }

    /// One clock.
    pub fn clock(&mut self, t: &RxTaps) -> RxStep {
        let mut f = Fields::new(t.rx);
        let (valid, ready) = (f.bit(), f.bit());
        let keep = f.take(64);
        let (last, bad) = (f.bit(), f.bit());
        let (flow, psn, path) = (f.take(10) as u16, f.take(24) as u32, f.take(4) as u8);
        let place = u128::from(f.take(64)) | u128::from(f.take(48)) << 64;
        let (sent_ns, received_ns) = (f.take(32) as u32, f.take(32) as u32);
        let (opens, _flushes) = (f.bit(), f.bit());
        let mut data = [0; 8];
        data.copy_from_slice(&t.data[..8]);
        let beat = RxBeat {
            data,
            keep,
            last,
            bad,
            flow,
            psn,
            path,
            place,
            sent_ns,
            received_ns,
        };
        if valid && ready && !t.rst {
            self.parsed(&beat);
        }
        let mut o = Fields::new(t.out);
        let open_ready = o.bit();
        let (host_valid, host_ready) = (o.bit(), o.bit());
        let host = (o.bit(), o.take(10), o.take(24));
        let (ack_valid, ack_ready) = (o.bit(), o.bit());
        let out = self.receiver.step(&Inputs {
            rst: t.rst,
            limit: t.limit,
            open: opens.then_some(t.open),
            rx: valid.then_some(&beat),
            host_ready,
            ack_ready,
        });
        if t.rst {
            return RxStep::default();
        }
        self.equal("rx_ready", &out.reorder.rx_ready, &ready);
        self.equal("open_ready", &out.open_ready, &open_ready);
        let wanted = out
            .reorder
            .host
            .map(|h| (h.last, u64::from(h.flow), u64::from(h.psn)));
        self.equal("delivered beat", &wanted, &host_valid.then_some(host));
        let ack = Ack {
            flow: o.take(10) as u16,
            psn: o.take(24) as u32,
            expected: o.take(24) as u32,
            selective: o.take(64),
            path: o.take(4) as u8,
            nak: o.bit(),
            accepted: o.bit(),
            duplicate: o.bit(),
            sent_ns: o.take(32) as u32,
            received_ns: o.take(32) as u32,
        };
        self.equal("ACK due", &out.reorder.ack, &ack_valid.then_some(ack));
        let no_buffer = o.bit();
        self.equal("no_buffer", &out.reorder.no_buffer, &no_buffer);
        self.counts.drops[DropCause::NoBuffer as usize] += u64::from(no_buffer);
        self.equal("waiting", &u64::from(out.reorder.waiting), &o.take(16));
        RxStep {
            reply: self.answer(t, out.reorder.ack.filter(|_| ack_ready)),
            heard: self.heard(t),
            sample: out
                .sample
                .map(|j| (j.arrival.flow, j.outcome.ood, j.outcome.waiting)),
        }
    }

    /// A beat that the parser hands on.
    fn parsed(&mut self, b: &RxBeat) {
        let Some(mut d) = self.data.pop_front() else {
            return self.differ(|| format!("a beat of PSN {:#x} that never came", b.psn));
        };
        let end = (d.at + 64).min(d.payload.len());
        let (data, keep) = super::bits::to_beat(&d.payload[d.at..end]);
        let last = end == d.payload.len();
        let fields = [
            b.flow.into(),
            b.psn.into(),
            b.path.into(),
            b.sent_ns.into(),
            b.received_ns.into(),
            0,
            0,
        ];
        self.equal("fields of a packet", &d.fields, &fields);
        self.equal("place of a packet", &d.place, &b.place);
        self.equal("payload", &(data, last), &(b.data, b.last));
        if last {
            self.equal("end of a packet", &(keep, d.bad), &(b.keep, b.bad));
        }
        d.at = end;
        if !b.last {
            self.data.push_front(d);
        }
    }

    fn answer(&mut self, t: &RxTaps, ack: Option<Ack>) -> Option<(u16, Acknowledgement)> {
        let mut f = Fields::new(t.probe);
        if f.bit() & f.bit() {
            let seen = [f.take(10), f.take(4), f.take(32), f.take(32)];
            let due = self.probes.pop_front();
            self.equal("probe", &due, &Some(seen));
            let ack = Acknowledgement {
                path: seen[1] as u8,
                of: Acked::Probe,
                nak: false,
                duplicate: false,
                sent_ns: seen[2] as u32,
                received_ns: seen[3] as u32,
            };
            return Some((seen[0] as u16, ack));
        }
        let a = ack?;
        self.counts.duplicates += u64::from(a.duplicate);
        self.counts.refused += u64::from(a.nak);
        let ack = Acknowledgement {
            path: a.path,
            of: Acked::Data {
                psn: Psn::new(a.psn),
                expected: Psn::new(a.expected),
                selective: a.selective,
            },
            nak: a.nak,
            duplicate: a.duplicate,
            sent_ns: a.sent_ns,
            received_ns: a.received_ns,
        };
        Some((a.flow, ack))
    }

    fn heard(&mut self, t: &RxTaps) -> Option<Event> {
        let mut f = Fields::new(t.ack);
        if !(f.bit() & f.bit()) {
            return None;
        }
        let (flow, path) = (f.take(10) as u16, f.take(4) as u8);
        let (psn, expected) = (f.take(24) as u32, f.take(24) as u32);
        let (probe, nak, duplicate) = (f.bit(), f.bit(), f.bit());
        let (sent_ns, received_ns, now_ns) =
            (f.take(32) as u32, f.take(32) as u32, f.take(32) as u32);
        let due = self.acks.pop_front();
        let of = match due.map(|d| d.1.of) {
            // The selective map is not used by the ledger: only what it takes is compared.
            Some(Acked::Data { selective, .. }) if !probe => Acked::Data {
                psn: Psn::new(psn),
                expected: Psn::new(expected),
                selective,
            },
            _ => Acked::Probe,
        };
        let seen = Acknowledgement {
            path,
            of,
            nak,
            duplicate,
            sent_ns,
            received_ns,
        };
        self.equal("ACK that arrived", &due, &Some((flow, seen)));
        let kind = match (probe, nak) {
            (true, _) => Kind::ProbeAck,
            (_, true) => Kind::Nak,
            _ => Kind::Ack,
        };
        let of_data = !probe;
        Some(Event {
            kind,
            flow,
            psn: if of_data { psn } else { 0 },
            path,
            expected: if of_data { expected } else { 0 },
            sent_ns,
            received_ns,
            now_ns,
        })
    }

    /// What became of the frames.
    pub fn counts(&self) -> FrameCounts {
        self.counts
    }

    /// Nothing is expected any more.
    pub fn is_quiet(&self) -> bool {
        self.data.is_empty() && self.acks.is_empty() && self.probes.is_empty()
    }

    /// Differences found, and the first of them.
    pub fn mismatches(&self) -> (u64, Option<&str>) {
        (self.mismatches, self.first.as_deref())
    }
}
