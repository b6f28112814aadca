//! CRC-32C: Castagnoli's polynomial, reflected, initial value and final XOR all ones.

use crc::{Crc, Digest, Table, CRC_32_ISCSI};

/// Bytes of a 512-bit beat; CRCs cover whole beats.
pub const BEAT_BYTES: usize = 64;

static CRC_32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// CRC-32C of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    CRC_32C.checksum(bytes)
}

/// CRC-32C of `bytes` followed by zeros up to a multiple of 64 bytes.
pub fn crc32c_padded(bytes: &[u8]) -> u32 {
    let mut digest: Digest<'_, u32, Table<16>> = CRC_32C.digest();
    digest.update(bytes);
    let padding = bytes.len().next_multiple_of(BEAT_BYTES) - bytes.len();
    digest.update(&[0; BEAT_BYTES][..padding]);
    digest.finalize()
}
