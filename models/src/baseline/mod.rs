//! Transports that Rondo is compared with, as pure state machines.
//!
//! They hold no clock and send nothing: the caller passes the time in nanoseconds and moves the
//! packets. Unlike Rondo's own models they compute in `f64`, as nothing of them is ever hardware;
//! only basic operations are used, so that a run gives the same bits everywhere.
//!
//! * [`adaptive`]: the load by which a switch chooses among equal ports;
//! * [`dcqcn`]: rate control by ECN marks, and the marking itself;
//! * [`selective_repeat`]: loss recovery of a RoCE NIC;
//! * [`swift`]: delay-based windows of Falcon's paths.

pub mod adaptive;
pub mod dcqcn;
pub mod selective_repeat;
pub mod swift;

/// Square root of a positive number, which `core` does not have; 0 of anything else.
fn sqrt(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 0.0;
    }
    // Half the exponent is within 6% of the root; each Newton step squares the relative error, so
    // four steps would do.
    let mut root = f64::from_bits((x.to_bits() >> 1) + (0x3ff0_0000_0000_0000 >> 1));
    for _ in 0..5 {
        root = 0.5 * (root + x / root);
    }
    root
}

/// A set of PSNs in a window that only moves forward: one bit for each, in a ring.
#[derive(Clone, Debug)]
struct Ring<const WORDS: usize> {
    words: [u64; WORDS],
    /// Bit of the first PSN of the window.
    head: u32,
    /// Bits set.
    len: u32,
}

impl<const WORDS: usize> Ring<WORDS> {
    /// Bits of the window. The window must be nonempty and shorter than half the PSN space, or
    /// order would be lost; refused at compile time.
    const CAPACITY: u32 = {
        assert!(WORDS > 0 && WORDS < (1 << 17));
        WORDS as u32 * 64
    };

    const fn new() -> Self {
        Self {
            words: [0; WORDS],
            head: 0,
            len: 0,
        }
    }

    /// Word and mask of the PSN `offset` after the first.
    fn place(&self, offset: u32) -> (usize, u64) {
        let sum = self.head + offset;
        let bit = if sum < Self::CAPACITY {
            sum
        } else {
            sum - Self::CAPACITY
        };
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn contains(&self, offset: u32) -> bool {
        if offset >= Self::CAPACITY {
            return false;
        }
        let (word, mask) = self.place(offset);
        self.words[word] & mask != 0
    }

    /// Adds an offset inside the window; `false` if it was there or is outside.
    fn insert(&mut self, offset: u32) -> bool {
        if offset >= Self::CAPACITY || self.contains(offset) {
            return false;
        }
        let (word, mask) = self.place(offset);
        self.words[word] |= mask;
        self.len += 1;
        true
    }

    /// Moves the window one PSN forward; whether the one that left was in the set.
    fn shift(&mut self) -> bool {
        let (word, mask) = self.place(0);
        let was = self.words[word] & mask != 0;
        self.words[word] &= !mask;
        self.len -= u32::from(was);
        self.head += 1;
        if self.head == Self::CAPACITY {
            self.head = 0;
        }
        was
    }
}
