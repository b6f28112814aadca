//! Packet captures of ports.

use crate::packet::Kind;
use crate::pcap::{Frame, Kind as FrameKind, PcapError, PcapWriter};
use crate::simulation::Simulation;
use crate::time::NS;
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
        let p = self.arena[id];
        let plan = self.flows[p.flow as usize].plan;
        let kind = match p.kind {
            Kind::Data => FrameKind::Data,
            Kind::Probe => FrameKind::Probe,
            Kind::Nak => FrameKind::Nak,
            Kind::Ack | Kind::ProbeAck => FrameKind::Ack,
        };
        let (src, dst) = match p.kind {
            Kind::Data | Kind::Probe => (plan.src, plan.dst),
            _ => (plan.dst, plan.src),
        };
        let frame = Frame {
            src_host: src,
            dst_host: dst,
            src_port: self.fabric.source_port(p.flow, p.path),
            // Expedited, default, lower effort.
            dscp: [46, 0, 1][p.kind.class()],
            ecn_ce: p.ce,
            kind,
            flow: p.flow,
            psn: p.psn,
            path: p.path,
            cumulative: p.cumulative,
            sent_ns: p.sent / NS,
            retransmission: p.retransmission,
            wire_bytes: p.bytes,
        };
        for capture in self.captures.iter_mut().filter(|c| c.port == at) {
            if capture.failed.is_none() {
                capture.failed = capture.writer.packet(self.now / NS, &frame).err();
            }
        }
    }
}
