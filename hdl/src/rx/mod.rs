//! The receiving side around the datapath.

mod delivery;

pub use delivery::Delivery;
