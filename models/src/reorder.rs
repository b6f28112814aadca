//! The reorder buffer's rules (paper §6.2.1): who gets a slot, when, and what is delivered.

/// Slots of the buffer.
pub const SLOTS: usize = 256;
/// Bytes of a slot: the largest payload of a packet.
pub const SLOT_BYTES: usize = 4096;
/// Bytes of a beat.
pub const BEAT_BYTES: usize = 64;
/// Beats of a slot.
pub const SLOT_BEATS: usize = SLOT_BYTES / BEAT_BYTES;
/// With this many slots in use or more, only the next expected packet gets in, whatever the limit:
/// the last slots always go to packets that leave again, so that the buffer cannot lock.
pub const RESERVED_FROM: u32 = 254;

/// Whether a packet may be kept although it is out of order, `in_use` slots being in use and the
/// buffer limited to `limit`.
#[inline]
pub fn has_room(in_use: u32, limit: u32) -> bool {
    in_use <= limit && in_use < RESERVED_FROM
}

/// Change of the number of waiting packets (RBO) when an accepted packet moves the next expected
/// PSN by `advance`: one more, less those that are in order now.
#[inline]
pub fn waiting_change(advance: u16) -> i32 {
    1 - i32::from(advance)
}

/// PSNs of a flow that the slot table tells apart, for windows of `window` PSNs: a window, and
/// before it the packets that are in order but not delivered yet, at most one a slot.
pub const fn table_psns(window: usize) -> usize {
    (SLOTS + window).next_power_of_two()
}
