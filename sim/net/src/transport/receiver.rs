//! Rondo's receiver: the tracker's decision on every arrival.

use super::{Arrival, Receiver};
use crate::packet::{Kind, Packet};
use rondo_models::psn::Psn;
use rondo_models::tracker::{ArrivalWindow, Verdict};

/// Receives by the golden model's bitmap.
pub struct Tracked {
    window: ArrivalWindow,
}

impl Tracked {
    /// A flow whose first PSN is `first`, with a window of `psns`, a power of two of 128 to 2,048.
    pub fn new(first: u32, psns: usize) -> Self {
        Self {
            window: ArrivalWindow::new(psns / 64, Psn::new(first)),
        }
    }
}

impl Receiver for Tracked {
    #[inline]
    fn on_data(&mut self, packet: &Packet, room: bool) -> Arrival {
        let o = self.window.arrive(Psn::new(packet.psn), room);
        let refused = matches!(o.verdict, Verdict::Full | Verdict::Beyond);
        Arrival {
            reply: if refused { Kind::Nak } else { Kind::Ack },
            accepted: o.verdict == Verdict::Accepted,
            duplicate: o.verdict == Verdict::Duplicate,
            expected: o.expected.value(),
            advance: o.advance.into(),
            ood: o.ood.into(),
            waiting: o.waiting.into(),
        }
    }
}
