//! Packet captures of ports.

use crate::packet::{Kind, Packet};
use crate::pcap::{zeros_crc, Frame, PcapError, PcapWriter};
use crate::simulation::Simulation;
use crate::time::NS;
use rondo_models::psn::Psn;
use rondo_models::wire::context::{Place, MAX_PAYLOAD};
use rondo_models::wire::header::{Acked, Repr};
use std::path::Path;

/// A capture of one port.
pub struct Capture {
    pub(crate) port: u32,
    pub(crate) writer: PcapWriter,
    /// The first failure; nothing is written after it.
    pub(crate) failed: Option<PcapError>,
}

impl Simulation {
    /// Captures what port `port` sends into a nanosecond pcap.
    ///
    /// # Errors
    /// [`PcapError`] when the file cannot be made.
    pub fn capture_port(&mut self, port: u32, path: &Path) -> Result<(), PcapError> {
        self.captures.push(Capture {
            port,
            writer: PcapWriter::create(path)?,
            failed: None,
        });
        self.ports[port as usize].watched = true;
        Ok(())
    }

    /// Closes the captures.
    ///
    /// # Errors
    /// [`PcapError`] of the first file that could not be written whole; that file is not there.
    pub fn finish_captures(&mut self) -> Result<(), PcapError> {
        for capture in self.captures.drain(..) {
            if let Some(e) = capture.failed {
                return Err(e);
            }
            capture.writer.finish()?;
        }
        Ok(())
    }

    /// Packet `id` goes out of watched port `at`.
    pub(crate) fn capture(&mut self, at: u32, id: u32) {
        if self.captures.is_empty() {
            return;
        }
        let frame = self.frame(&self.arena[id]);
        for capture in self.captures.iter_mut().filter(|c| c.port == at) {
            if capture.failed.is_none() {
                capture.failed = capture.writer.packet(self.now / NS, &frame).err();
            }
        }
    }

    /// The packet as a frame of the wire format. What the simulation does not have is made up: a flow
    /// is one message of its own number, and its connections have one epoch, 0.
    fn frame(&self, p: &Packet) -> Frame {
        let plan = self.flows[p.flow as usize].plan;
        let (src_host, dst_host) = match p.kind {
            Kind::Data | Kind::Probe => (plan.src, plan.dst),
            Kind::Ack | Kind::ProbeAck | Kind::Nak => (plan.dst, plan.src),
        };
        Frame {
            src_host,
            dst_host,
            src_port: self.fabric.source_port(p.flow, p.path),
            ecn_ce: p.ce,
            header: self.header(p, plan.bytes),
        }
    }

    fn header(&self, p: &Packet, flow_bytes: u64) -> Repr {
        let (flow, epoch, path) = (p.flow as u16, 0, p.path);
        let sent_ns = (p.sent / NS) as u32;
        let payload_len = p.bytes.saturating_sub(self.packet.header_bytes);
        let psn = Psn::new(p.psn);
        let of = match p.kind {
            Kind::Data => {
                let place = self.place(p, payload_len.clamp(1, MAX_PAYLOAD), flow_bytes);
                return Repr::Data {
                    flow,
                    epoch,
                    path,
                    psn,
                    place,
                    payload_crc: zeros_crc(place.payload_len),
                    sent_ns,
                    retransmission: p.retransmission,
                };
            }
            Kind::Probe => {
                return Repr::Probe {
                    flow,
                    epoch,
                    path,
                    sent_ns,
                    payload_len: payload_len.min(MAX_PAYLOAD),
                }
            }
            Kind::ProbeAck => Acked::Probe,
            Kind::Ack | Kind::Nak => Acked::Data {
                psn,
                expected: Psn::new(p.cumulative),
                selective: arrived(psn, Psn::new(p.cumulative), p.kind == Kind::Ack),
            },
        };
        Repr::Ack {
            flow,
            epoch,
            path,
            of,
            nak: p.kind == Kind::Nak,
            duplicate: false,
            sent_ns,
            received_ns: (p.arrived / NS) as u32,
        }
    }

    /// Which bytes of its flow a data packet carries, modulo 2^32.
    fn place(&self, p: &Packet, payload_len: u16, flow_bytes: u64) -> Place {
        let index = Psn::new(p.psn.wrapping_sub(self.first_psn)).value();
        let offset = u64::from(index) * u64::from(self.packet.payload_bytes);
        Place {
            message: p.flow,
            offset: offset as u32,
            message_len: u32::try_from(flow_bytes).unwrap_or(u32::MAX),
            payload_len,
            last: offset + u64::from(payload_len) == flow_bytes,
        }
    }
}

/// The selective map, as far as an acknowledgement of the simulation tells: all before the expected
/// PSN, and the acknowledged one itself unless it was refused.
fn arrived(psn: Psn, expected: Psn, accepted: bool) -> u64 {
    let group = Psn::new(psn.value() & !63);
    let has = |i: u32| {
        let other = group.plus(i);
        other.is_before(expected) || accepted && other == psn
    };
    (0..64).fold(0, |map, i| map | u64::from(has(i)) << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selective_map_holds_what_is_known() {
        let (psn, before) = (Psn::new(70), |n| Psn::new(n));
        assert_eq!(arrived(psn, before(64), true), 1 << 6);
        assert_eq!(arrived(psn, before(66), true), 0b100_0011);
        assert_eq!(arrived(psn, before(66), false), 0b11);
        assert_eq!(arrived(psn, before(200), true), u64::MAX);
        assert_eq!(arrived(psn, before(3), false), 0);
        // Across the wrap.
        let last = Psn::new(Psn::COUNT - 1);
        assert_eq!(arrived(last, before(5), true), u64::MAX);
        assert_eq!(arrived(Psn::new(1), last, true), 2);
    }
}
