//! Packet captures of a simulated link, as nanosecond pcap files.
//!
//! A packet is Ethernet, IPv4, UDP to port 4793 and the simulation header below; the payload is
//! cut off, so a record holds 74 bytes and the packet's true size stands in pcap's original
//! length. MAC addresses are `02:00:` and the host number in four bytes; IPv4 addresses are `10.`
//! and the host number's low three bytes. The ECN field is CE for a marked packet and ECT(0) for
//! any other. The UDP checksum is absent (0), since the payload is not kept.
//!
//! | Offset | Bytes | Field                                                       |
//! |-------:|------:|-------------------------------------------------------------|
//! |      0 |     4 | magic `RSIM`                                                |
//! |      4 |     1 | version, 1                                                  |
//! |      5 |     1 | kind: 0 data, 1 probe, 2 acknowledgement, 3 negative one    |
//! |      6 |     1 | flags: bit 0 retransmission                                 |
//! |      7 |     1 | path                                                        |
//! |      8 |     4 | flow                                                        |
//! |     12 |     3 | packet sequence number                                      |
//! |     15 |     3 | cumulative packet sequence number                           |
//! |     18 |     8 | time of sending, ns                                         |
//! |     26 |     2 | size on the wire, bytes                                     |
//! |     28 |     4 | reserved, 0                                                 |
//!
//! Numbers are big-endian. A packet smaller than the 74 bytes of its headers is recorded with an
//! original length of 74 bytes; its own size is in the header.

use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, UdpHeader};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter as Records};
use pcap_file::{DataLink, TsResolution};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// UDP destination port of every packet.
pub const UDP_PORT: u16 = 4793;
/// First bytes of the simulation header.
pub const MAGIC: [u8; 4] = *b"RSIM";
/// Version of the simulation header.
pub const VERSION: u8 = 1;
/// Length of the simulation header, in bytes.
pub const SIM_HEADER_BYTES: u16 = 32;
/// Length of all headers of a packet, in bytes: what a record holds.
pub const CAPTURED_BYTES: u16 = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + SIM_HEADER_BYTES;

const ETHERNET_BYTES: u16 = 14;
const IPV4_BYTES: u16 = 20;
const UDP_BYTES: u16 = 8;

/// A packet on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Number of the sending host.
    pub src_host: u32,
    /// Number of the receiving host.
    pub dst_host: u32,
    /// UDP source port, by which switches choose a path.
    pub src_port: u16,
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// Marked by a switch: congestion experienced.
    pub ecn_ce: bool,
    /// What the packet is for.
    pub kind: Kind,
    /// Number of the flow.
    pub flow: u32,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
    /// Path that the sender chose.
    pub path: u8,
    /// Cumulative packet sequence number, 24 bits.
    pub cumulative: u32,
    /// Time at which the sender sent it, in ns.
    pub sent_ns: u64,
    /// Sent before.
    pub retransmission: bool,
    /// Size in bytes, from the Ethernet header to the end of the payload.
    pub wire_bytes: u16,
}

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Carries payload.
    Data = 0,
    /// Measures a path.
    Probe = 1,
    /// Acknowledges packets.
    Ack = 2,
    /// Reports a missing packet.
    Nak = 3,
}

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PcapError {
    /// The file could not be made, written or renamed.
    #[error("{}: {source}", path.display())]
    Write {
        /// The capture's path.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A value of a packet does not fit its field; nothing of the packet was written.
    #[error("{}: {field} {value} does not fit {bits} bits", path.display())]
    Field {
        /// The capture's path.
        path: PathBuf,
        /// Name of the field in [`Frame`], or `time_ns`.
        field: &'static str,
        /// The value.
        value: u64,
        /// Width of the field, in bits.
        bits: u32,
    },
}

/// A value that is too wide for its field.
struct TooWide {
    field: &'static str,
    value: u64,
    bits: u32,
}

/// Writes the packets of one link to a file.
///
/// The file appears under its name in [`finish`](Self::finish); a writer that is dropped before
/// leaves nothing behind.
#[derive(Debug)]
pub struct PcapWriter {
    path: PathBuf,
    /// Without one once a write has failed.
    records: Option<Records<BufWriter<NamedTempFile>>>,
}

impl PcapWriter {
    /// Starts a capture that will be `path`; its folder has to exist.
    ///
    /// # Errors
    /// [`PcapError::Write`] if no file can be made in the folder.
    pub fn create(path: &Path) -> Result<Self, PcapError> {
        let failed = |source| write_error(path, source);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = temporary(folder).map_err(failed)?;
        let records = start(BufWriter::new(file)).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            records: Some(records),
        })
    }

    /// Appends a packet that was seen at `time_ns`, in ns from the start of the simulation.
    ///
    /// # Errors
    /// [`PcapError::Field`] if a value is too wide for its field, or if `time_ns` is beyond the
    /// 32 bits of seconds of a capture; [`PcapError::Write`] if the file cannot be written, after
    /// which every later call fails too.
    pub fn packet(&mut self, time_ns: u64, frame: &Frame) -> Result<(), PcapError> {
        check(time_ns, frame).map_err(|e| PcapError::Field {
            path: self.path.clone(),
            field: e.field,
            value: e.value,
            bits: e.bits,
        })?;
        let records = self.records.as_mut().ok_or_else(broken);
        let written = records.and_then(|records| append(records, time_ns, frame));
        written.map_err(|source| {
            self.records = None;
            write_error(&self.path, source)
        })
    }

    /// Writes what is left and gives the file its name, in place of an older one.
    ///
    /// # Errors
    /// [`PcapError::Write`] if that fails or if an earlier write failed; then an older file of
    /// that name stays as it was.
    pub fn finish(self) -> Result<(), PcapError> {
        let failed = |source| write_error(&self.path, source);
        let records = self.records.ok_or_else(|| failed(broken()))?;
        let buffer = records.into_writer();
        let file = buffer.into_inner().map_err(|e| failed(e.into_error()))?;
        file.persist(&self.path).map_err(|e| failed(e.error))?;
        Ok(())
    }
}

fn write_error(path: &Path, source: io::Error) -> PcapError {
    PcapError::Write {
        path: path.to_owned(),
        source,
    }
}

fn broken() -> io::Error {
    io::Error::other("an earlier write failed")
}

/// A temporary file with the permissions of any new file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".pcap-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Writes the file's header. Its snap length is the longest frame rather than the captured one:
/// some readers refuse records whose original length is above it.
fn start<W: Write>(writer: W) -> io::Result<Records<W>> {
    let header = PcapHeader {
        snaplen: u32::from(u16::MAX),
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        ..PcapHeader::default()
    };
    Records::with_header(writer, header).map_err(plain)
}

/// The input or output error inside an error of the pcap format.
fn plain(error: pcap_file::PcapError) -> io::Error {
    match error {
        pcap_file::PcapError::IoError(source) => source,
        other => io::Error::other(other),
    }
}

fn append<W: Write>(records: &mut Records<W>, time_ns: u64, frame: &Frame) -> io::Result<()> {
    let bytes = encode(frame)?;
    let length = u32::from(frame.wire_bytes.max(CAPTURED_BYTES));
    let packet = PcapPacket::new(Duration::from_nanos(time_ns), length, &bytes);
    records.write_packet(&packet).map_err(plain)?;
    Ok(())
}

fn check(time_ns: u64, frame: &Frame) -> Result<(), TooWide> {
    let fits = |field, value: u64, bits: u32| match value >> bits {
        0 => Ok(()),
        _ => Err(TooWide { field, value, bits }),
    };
    fits("dscp", frame.dscp.into(), 6)?;
    fits("psn", frame.psn.into(), 24)?;
    fits("cumulative", frame.cumulative.into(), 24)?;
    if time_ns / 1_000_000_000 > u64::from(u32::MAX) {
        return Err(TooWide {
            field: "time_ns",
            value: time_ns,
            bits: 32,
        });
    }
    Ok(())
}

/// The headers of a packet, as on the wire.
fn encode(frame: &Frame) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(CAPTURED_BYTES.into());
    let udp_bytes = frame.wire_bytes.max(CAPTURED_BYTES) - ETHERNET_BYTES - IPV4_BYTES;
    let ethernet = Ethernet2Header {
        source: mac(frame.src_host),
        destination: mac(frame.dst_host),
        ether_type: EtherType::IPV4,
    };
    let (from, to) = (ipv4(frame.src_host), ipv4(frame.dst_host));
    let mut ip =
        Ipv4Header::new(udp_bytes, 64, IpNumber::UDP, from, to).map_err(io::Error::other)?;
    ip.dscp = IpDscp::try_new(frame.dscp).map_err(io::Error::other)?;
    ip.ecn = IpEcn::try_new(if frame.ecn_ce { 0b11 } else { 0b10 }).map_err(io::Error::other)?;
    let udp = UdpHeader {
        source_port: frame.src_port,
        destination_port: UDP_PORT,
        length: udp_bytes,
        checksum: 0,
    };
    ethernet.write(&mut bytes)?;
    ip.write(&mut bytes)?;
    udp.write(&mut bytes)?;
    bytes.extend_from_slice(&sim_header(frame));
    Ok(bytes)
}

fn sim_header(frame: &Frame) -> [u8; SIM_HEADER_BYTES as usize] {
    let mut header = [0; SIM_HEADER_BYTES as usize];
    header[..4].copy_from_slice(&MAGIC);
    header[4] = VERSION;
    header[5] = frame.kind as u8;
    header[6] = frame.retransmission.into();
    header[7] = frame.path;
    header[8..12].copy_from_slice(&frame.flow.to_be_bytes());
    header[12..15].copy_from_slice(&frame.psn.to_be_bytes()[1..]);
    header[15..18].copy_from_slice(&frame.cumulative.to_be_bytes()[1..]);
    header[18..26].copy_from_slice(&frame.sent_ns.to_be_bytes());
    header[26..28].copy_from_slice(&frame.wire_bytes.to_be_bytes());
    header
}

fn mac(host: u32) -> [u8; 6] {
    let [a, b, c, d] = host.to_be_bytes();
    [0x02, 0x00, a, b, c, d]
}

fn ipv4(host: u32) -> [u8; 4] {
    let [_, b, c, d] = host.to_be_bytes();
    [10, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{LaxPacketHeaders, LinkHeader, NetHeaders, TransportHeader};
    use pcap_file::pcap::PcapReader;
    use std::fs::File;

    fn data() -> Frame {
        Frame {
            src_host: 0x0102_0304,
            dst_host: 7,
            src_port: 51_234,
            dscp: 46,
            ecn_ce: true,
            kind: Kind::Data,
            flow: 0xdead_beef,
            psn: 0xff_fffe,
            path: 200,
            cumulative: 0x01_0203,
            sent_ns: 1_234_567_890_123,
            retransmission: true,
            wire_bytes: 4_178,
        }
    }

    fn frames() -> Vec<(u64, Frame)> {
        let with = |kind, wire_bytes| Frame {
            kind,
            wire_bytes,
            ecn_ce: false,
            retransmission: false,
            dscp: 0,
            ..data()
        };
        vec![
            (0, data()),
            (999_999_999, with(Kind::Probe, 74)),
            (5_000_000_001, with(Kind::Ack, 64)),
            (4_294_967_295_999_999_999, with(Kind::Nak, u16::MAX)),
        ]
    }

    /// Reads a record back, field by field.
    fn decode(record: &PcapPacket) -> Frame {
        let packet = LaxPacketHeaders::from_ethernet(&record.data).expect("headers");
        let Some(LinkHeader::Ethernet2(link)) = packet.link else {
            panic!("no Ethernet")
        };
        let Some(NetHeaders::Ipv4(ip, _)) = packet.net else {
            panic!("no IPv4")
        };
        let Some(TransportHeader::Udp(udp)) = packet.transport else {
            panic!("no UDP")
        };
        let host = |mac: [u8; 6]| u32::from_be_bytes([mac[2], mac[3], mac[4], mac[5]]);
        let (src_host, dst_host) = (host(link.source), host(link.destination));
        assert_eq!((link.source[0], link.source[1]), (2, 0));
        assert_eq!(
            (ip.source, ip.destination),
            (ipv4(src_host), ipv4(dst_host))
        );
        assert_eq!(ip.header_checksum, ip.calc_header_checksum());
        assert_eq!(udp.destination_port, UDP_PORT);
        assert_eq!(u32::from(ip.total_len) + 14, record.orig_len);
        assert_eq!(u32::from(udp.length) + 34, record.orig_len);
        let head = packet.payload.slice();
        assert_eq!((head.len(), &head[..5]), (32, &b"RSIM\x01"[..]));
        assert_eq!(&head[28..], [0; 4]);
        let number =
            |from: usize, to: usize| head[from..to].iter().fold(0, |n, &b| n << 8 | u64::from(b));
        Frame {
            src_host,
            dst_host,
            src_port: udp.source_port,
            dscp: ip.dscp.value(),
            ecn_ce: ip.ecn.value() == 0b11,
            kind: [Kind::Data, Kind::Probe, Kind::Ack, Kind::Nak][usize::from(head[5])],
            flow: number(8, 12) as u32,
            psn: number(12, 15) as u32,
            path: head[7],
            cumulative: number(15, 18) as u32,
            sent_ns: number(18, 26),
            retransmission: head[6] == 1,
            wire_bytes: number(26, 28) as u16,
        }
    }

    #[test]
    fn every_field_reads_back() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("link.pcap");
        let mut writer = PcapWriter::create(&path).expect("create");
        for (time, frame) in &frames() {
            writer.packet(*time, frame).expect("packet");
        }
        assert!(!path.exists());
        writer.finish().expect("finish");
        assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 1);

        let mut reader = PcapReader::new(File::open(&path).expect("open")).expect("header");
        assert_eq!(reader.header().ts_resolution, TsResolution::NanoSecond);
        for (time, frame) in &frames() {
            let record = reader.next_packet().expect("a record").expect("valid");
            assert_eq!(record.timestamp, Duration::from_nanos(*time));
            assert_eq!(record.data.len(), 74);
            assert_eq!(record.orig_len, u32::from(frame.wire_bytes.max(74)));
            assert_eq!(decode(&record), *frame);
        }
        assert!(reader.next_packet().is_none());
    }

    #[test]
    fn dropped_writer_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let mut writer = PcapWriter::create(&folder.path().join("a.pcap")).expect("create");
        writer.packet(1, &data()).expect("packet");
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 0);
    }

    #[test]
    fn errors_name_the_path() {
        let folder = tempfile::tempdir().expect("folder");
        let missing = folder.path().join("none").join("a.pcap");
        let error = PcapWriter::create(&missing).expect_err("no folder");
        assert!(error
            .to_string()
            .starts_with(&missing.display().to_string()));

        let path = folder.path().join("b.pcap");
        let mut writer = PcapWriter::create(&path).expect("create");
        let wide = Frame {
            psn: 1 << 24,
            ..data()
        };
        let error = writer.packet(0, &wide).expect_err("too wide").to_string();
        assert!(error.ends_with("b.pcap: psn 16777216 does not fit 24 bits"));
        assert!(writer.packet(u64::MAX, &data()).is_err());
        writer.packet(0, &data()).expect("still usable");
        writer.records = None;
        assert!(writer.packet(0, &data()).is_err());
        let error = writer.finish().expect_err("broken").to_string();
        assert!(error.ends_with("b.pcap: an earlier write failed"));
        assert!(!path.exists());
    }

    #[test]
    fn full_device_is_an_error() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let taken = bytes.len().min(self.0);
                self.0 -= taken;
                match taken {
                    0 => Err(io::ErrorKind::StorageFull.into()),
                    _ => Ok(taken),
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut records = start(Full(60)).expect("header");
        let error = append(&mut records, 0, &data()).expect_err("full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
