//! Packet captures of a simulated link, as nanosecond pcap files in Rondo's wire format
//! (`docs/wire-format.md`) on IPv4.
//!
//! Payloads are zeros, with the CRC of zeros, and cut off: a record holds the 80 bytes of a packet's
//! headers, and its length stands in pcap's original length. MAC addresses are `02:00:` and the host
//! number in four bytes; IPv4 addresses are `10.` and the host number's low three bytes. The ECN field
//! is CE for a marked packet and ECT(0) for any other.

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter as Records};
use pcap_file::{DataLink, TsResolution};
use rondo_models::wire::crc::crc32c_padded;
use rondo_models::wire::frame::{frame_bytes, IpAddresses};
use rondo_models::wire::udp::RONDO_PORT;
use rondo_models::wire::{ethernet, header, ipv4, FrameRepr, MacAddress};
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// Length of all headers of a packet, in bytes: what a record holds.
pub const CAPTURED_BYTES: usize = frame_bytes(false, 0);

/// Zeros for the longest payload that a field of 14 bits can tell.
static ZEROS: [u8; 1 << PAYLOAD_BITS] = [0; 1 << PAYLOAD_BITS];
const PAYLOAD_BITS: u32 = 14;

/// CRC-32C of a payload of `payload_len` zeros, padded as the wire format demands.
///
/// # Panics
/// If the length has more than 14 bits.
pub fn zeros_crc(payload_len: u16) -> u32 {
    crc32c_padded(&ZEROS[..payload_len.into()])
}

/// A packet on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Number of the sending host.
    pub src_host: u32,
    /// Number of the receiving host.
    pub dst_host: u32,
    /// UDP source port, by which switches choose a path.
    pub src_port: u16,
    /// Marked by a switch: congestion experienced.
    pub ecn_ce: bool,
    /// Rondo header.
    pub header: header::Repr,
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
    let bytes = encode(frame);
    let time = Duration::from_nanos(time_ns);
    let packet = PcapPacket::new(time, bytes.len() as u32, &bytes[..CAPTURED_BYTES]);
    records.write_packet(&packet).map_err(plain)?;
    Ok(())
}

fn check(time_ns: u64, frame: &Frame) -> Result<(), TooWide> {
    let fits = |field, value: u64, bits: u32| match value >> bits {
        0 => Ok(()),
        _ => Err(TooWide { field, value, bits }),
    };
    fits("path", frame.header.path().into(), 4)?;
    fits(
        "payload_len",
        frame.header.payload_len().into(),
        PAYLOAD_BITS,
    )?;
    if time_ns / 1_000_000_000 > u64::from(u32::MAX) {
        return Err(TooWide {
            field: "time_ns",
            value: time_ns,
            bits: 32,
        });
    }
    Ok(())
}

/// The packet as on the wire.
fn encode(frame: &Frame) -> Vec<u8> {
    let repr = FrameRepr {
        source_mac: mac(frame.src_host),
        destination_mac: mac(frame.dst_host),
        ip: IpAddresses::V4 {
            source: ipv4(frame.src_host),
            destination: ipv4(frame.dst_host),
        },
        source_port: frame.src_port,
        destination_port: RONDO_PORT,
        header: frame.header,
    };
    let mut bytes = vec![0; repr.frame_bytes()];
    repr.emit(&ZEROS[..frame.header.payload_len().into()], &mut bytes);
    let mut ip = ipv4::Packet::new_unchecked(&mut bytes[ethernet::HEADER_BYTES..]);
    let ecn = if frame.ecn_ce { 0b11 } else { 0b10 };
    ip.set_traffic_class(frame.header.kind().dscp(), ecn);
    ip.fill_checksum();
    bytes
}

fn mac(host: u32) -> MacAddress {
    let [a, b, c, d] = host.to_be_bytes();
    MacAddress([0x02, 0x00, a, b, c, d])
}

fn ipv4(host: u32) -> Ipv4Addr {
    let [_, b, c, d] = host.to_be_bytes();
    Ipv4Addr::new(10, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcap::PcapReader;
    use rondo_models::psn::Psn;
    use rondo_models::wire::frame::parse;
    use rondo_models::wire::header::Acked;
    use rondo_models::wire::{Identity, Place};
    use std::fs::File;
    use std::net::Ipv6Addr;

    fn data() -> Frame {
        let place = Place {
            message: 0xdead_beef,
            offset: 0xffff_f000,
            message_len: u32::MAX,
            payload_len: 4_032,
            last: true,
        };
        Frame {
            src_host: 0x0102_0304,
            dst_host: 7,
            src_port: 51_234,
            ecn_ce: true,
            header: header::Repr::Data {
                flow: 0xbeef,
                epoch: 0,
                path: 15,
                psn: Psn::new(0xff_fffe),
                place,
                payload_crc: zeros_crc(place.payload_len),
                sent_ns: 0x8765_4321,
                retransmission: true,
            },
        }
    }

    fn frames() -> Vec<(u64, Frame)> {
        let with = |header| Frame {
            ecn_ce: false,
            header,
            ..data()
        };
        let ack = |of, nak| {
            with(header::Repr::Ack {
                flow: 3,
                epoch: 0,
                path: 2,
                of,
                nak,
                duplicate: false,
                sent_ns: 1,
                received_ns: 2,
            })
        };
        let of = Acked::Data {
            psn: Psn::new(0xff_fffe),
            expected: Psn::new(0x01_0203),
            selective: 1 << 62,
        };
        let probe = header::Repr::Probe {
            flow: 3,
            epoch: 0,
            path: 2,
            sent_ns: 1,
            payload_len: 4_032,
        };
        vec![
            (0, data()),
            (999_999_999, with(probe)),
            (5_000_000_001, ack(of, false)),
            (6_000_000_000, ack(Acked::Probe, false)),
            (4_294_967_295_999_999_999, ack(of, true)),
        ]
    }

    /// Reads a record back, its payload put where it was cut off.
    fn decode(record: &PcapPacket) -> Frame {
        let mut bytes = record.data.to_vec();
        bytes.resize(record.orig_len as usize, 0);
        let identity = Identity {
            mac: mac(7),
            ipv4: ipv4(7),
            ipv6: Ipv6Addr::UNSPECIFIED,
            udp_port: RONDO_PORT,
        };
        let (repr, payload) = parse(&bytes, &identity).expect("valid");
        if let header::Repr::Data { payload_crc, .. } = repr.header {
            assert_eq!(payload_crc, crc32c_padded(&bytes[payload]));
        }
        let [a, b, src_host @ ..] = repr.source_mac.0;
        let src_host = u32::from_be_bytes(src_host);
        assert_eq!((a, b), (2, 0));
        assert_eq!(repr.ip.source(), ipv4(src_host));
        let ip = ipv4::Packet::new_unchecked(&bytes[ethernet::HEADER_BYTES..]);
        assert_eq!(ip.dscp(), repr.header.kind().dscp());
        Frame {
            src_host,
            dst_host: 7,
            src_port: repr.source_port,
            ecn_ce: ip.ecn() == 0b11,
            header: repr.header,
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
            assert_eq!(record.data.len(), 80);
            let length = 80 + u32::from(frame.header.payload_len());
            assert_eq!(record.orig_len, length);
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
        let mut error = |header| {
            let wide = Frame { header, ..data() };
            writer.packet(0, &wide).expect_err("too wide").to_string()
        };
        let probe = |path, payload_len| header::Repr::Probe {
            flow: 3,
            epoch: 0,
            path,
            sent_ns: 1,
            payload_len,
        };
        assert!(error(probe(16, 0)).ends_with("b.pcap: path 16 does not fit 4 bits"));
        let long = error(probe(0, 1 << 14));
        assert!(long.ends_with("b.pcap: payload_len 16384 does not fit 14 bits"));
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
