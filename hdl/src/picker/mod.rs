//! Picking the (skip + 1)-th smallest unsent PSN of a flow.
//!
//! A flow's window of PSNs is a tree in block RAM: groups of 64 PSNs, bytes of 8, single PSNs.
//! Each level keeps how many PSNs below each child were sent, so that a pick walks down the tree
//! with one rank-select of eight a level, and each level's read-modify-write is at most 8 clocks
//! long whatever the window.
//!
//! **Lap coding.** Counters and bits are never cleared when the window comes round again: a
//! counter runs modulo twice its capacity and a bit flips its meaning with every lap, the lap
//! being a bit of the PSN itself.

mod pick_group;
mod pick_leaf;
mod pick_node;
mod picker_block;
mod rank_select;

pub use pick_group::PickGroup;
pub use pick_leaf::PickLeaf;
pub use pick_node::PickNode;
pub use picker_block::PsnPicker;
pub use rank_select::RankSelect;

/// Clocks between two picks of one flow.
pub const OWN_FLOW_INTERVAL: usize = 8;

/// The smaller of two loop bounds.
pub(crate) const fn lesser(a: usize, b: usize) -> usize {
    if a < b {
        a
    } else {
        b
    }
}
