//! Wire format: frames, flow context and host streams, bit by bit as `docs/wire-format.md` and
//! `docs/nic.md` say.
//!
//! Every protocol is a module with a view `Packet<T>` over bytes, checked once to be long enough,
//! and a `Repr`, its meaning, with parse and emit. [`frame`] joins them: what a NIC emits, and what
//! it demands of a frame before it looks at a flow. `no_std`, nothing is allocated.

pub mod context;
pub mod crc;
pub mod drop_cause;
pub mod ethernet;
pub mod frame;
pub mod header;
pub mod host;
pub mod ipv4;
pub mod ipv6;
pub mod udp;

pub use context::{FlowContext, Identity, IpAddress, Place, Segment};
pub use drop_cause::DropCause;
pub use ethernet::MacAddress;
pub use frame::FrameRepr;

use core::ops::Range;

/// Why bytes are not what a parser wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Fewer bytes than the header takes.
    Truncated,
    /// A field has a value that it may not have.
    Malformed,
    /// The checksum or CRC over the header is not the one in it.
    Checksum,
}

/// The bytes of a field.
fn take<const N: usize>(bytes: &[u8], at: Range<usize>) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at]);
    field
}

/// Writes the bytes of a field.
fn put<const N: usize>(bytes: &mut [u8], at: Range<usize>, field: [u8; N]) {
    bytes[at].copy_from_slice(&field);
}
