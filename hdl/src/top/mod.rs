//! The tops: sender and receiver datapath, the two sides around them, and the NIC.

mod nic_core;
mod receive_side;
mod receiver;
mod sender;
mod transmit_side;

pub use nic_core::NicCore;
pub use receive_side::ReceiveSide;
pub use receiver::ReceiverDatapath;
pub use sender::SenderDatapath;
pub use transmit_side::{TransmitSide, TRANSMIT_PARTS};
