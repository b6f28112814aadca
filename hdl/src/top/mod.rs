//! The two tops: sender datapath and receiver datapath.

mod receiver;
mod sender;

pub use receiver::ReceiverDatapath;
pub use sender::SenderDatapath;
