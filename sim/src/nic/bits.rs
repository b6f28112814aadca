//! Fields of wide ports.

/// The `len` bits (at most 64) from bit `at` on of a little-endian word row.
pub fn field(words: &[u64], at: usize, len: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let mut value = words[word] >> shift;
    if shift + len > 64 {
        value |= words[word + 1] << (64 - shift);
    }
    if len == 64 {
        value
    } else {
        value & ((1 << len) - 1)
    }
}

/// Reads the fields of a wide port one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    words: &'a [u64],
    at: usize,
}

impl<'a> Fields<'a> {
    /// From bit 0 on.
    pub fn new(words: &'a [u64]) -> Self {
        Self { words, at: 0 }
    }

    /// The next `len` bits.
    pub fn take(&mut self, len: usize) -> u64 {
        let value = field(self.words, self.at, len);
        self.at += len;
        value
    }

    /// The next bit.
    pub fn bit(&mut self) -> bool {
        self.take(1) != 0
    }
}

/// Writes `len` bits of `value` at bit `at`.
pub fn put(words: &mut [u64], at: usize, len: usize, value: u64) {
    for i in 0..len {
        let (word, bit) = ((at + i) / 64, (at + i) % 64);
        words[word] = words[word] & !(1 << bit) | (value >> i & 1) << bit;
    }
}

/// Bytes of a beat, byte 0 in the lowest bits.
pub fn to_bytes(words: &[u64]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (to, from) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    bytes
}

/// The beat that starts with `bytes`, and the mask of its valid bytes.
pub fn to_beat(bytes: &[u8]) -> ([u64; 8], u64) {
    let mut beat = [0u8; 64];
    let n = bytes.len().min(64);
    beat[..n].copy_from_slice(&bytes[..n]);
    let mut words = [0; 8];
    for (to, from) in words.iter_mut().zip(beat.chunks_exact(8)) {
        let mut w = [0; 8];
        w.copy_from_slice(from);
        *to = u64::from_le_bytes(w);
    }
    let keep = if n == 64 { u64::MAX } else { (1 << n) - 1 };
    (words, keep)
}
