//! The reorder buffer's rules (paper §6.2.1): who gets a slot, when, and what is delivered.

/// Bytes of a beat.
pub const BEAT_BYTES: usize = 64;

/// Size of a reorder buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Slots, a power of two.
    pub slots: usize,
    /// Bytes of a slot, the largest payload of a packet.
    pub slot_bytes: usize,
}

impl Buffer {
    /// 256 slots of 4,096 bytes, 1 MiB.
    pub const DEFAULT: Buffer = Buffer {
        slots: 256,
        slot_bytes: 4096,
    };

    /// Beats of a slot.
    pub const fn slot_beats(self) -> usize {
        self.slot_bytes / BEAT_BYTES
    }

    /// With this many slots in use or more, only the next expected packet gets in, whatever the
    /// limit: the last slots always go to packets that leave again, so that the buffer cannot lock.
    pub const fn reserved_from(self) -> u32 {
        self.slots as u32 - 2
    }

    /// Whether a packet may be kept although it is out of order, `in_use` slots being in use and
    /// the buffer limited to `limit`.
    #[inline]
    pub const fn has_room(self, in_use: u32, limit: u32) -> bool {
        in_use <= limit && in_use < self.reserved_from()
    }

    /// PSNs of a flow that the slot table tells apart, for windows of `window` PSNs: a window, and
    /// before it the packets that are in order but not looked up yet, at most one a slot.
    pub const fn table_psns(self, window: usize) -> usize {
        (self.slots + window).next_power_of_two()
    }
}

/// Change of the number of waiting packets (RBO) when an accepted packet moves the next expected
/// PSN by `advance`: one more, less those that are in order now.
#[inline]
pub fn waiting_change(advance: u16) -> i32 {
    1 - i32::from(advance)
}
