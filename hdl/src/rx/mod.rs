//! The receive side: from frames to packets, and from packets to the host.

mod align;
mod delivery;
mod fields;
mod frame_parser;
mod ipv4_sum;
mod payload;
mod verdict;
mod words;

pub use align::FrameAlign;
pub use delivery::Delivery;
pub use fields::HeaderFields;
pub use frame_parser::FrameParser;
pub use ipv4_sum::Ipv4Sum;
pub use payload::PayloadCheck;
pub use verdict::HeaderVerdict;
