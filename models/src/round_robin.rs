//! Round-robin packet spraying, to compare with: the paths in turn, PSNs in order.

use crate::deficit::{room, INITIAL_WINDOW, MAX_PATHS};
use crate::psn::Psn;
use crate::tracker::{sending_bound, ArrivalWindow, Verdict};

/// Whose turn it is among a flow's paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn(usize);

impl Turn {
    /// The path whose turn it is, if it is open; then it is the next one's of `paths`. A closed path
    /// is waited for.
    #[inline]
    pub fn take(&mut self, paths: usize, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        let path = self.0;
        if !is_open(path) {
            return None;
        }
        self.0 = (path + 1) % paths;
        Some(path)
    }
}

/// A flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRobin {
    paths: usize,
    window: u32,
    windows: [u16; MAX_PATHS],
    in_flight: [u16; MAX_PATHS],
    turn: Turn,
    next: Psn,
    acknowledged: ArrivalWindow,
}

impl RoundRobin {
    /// With `paths` paths and a window of `window` PSNs (128, 256 or 512) from `first` on.
    pub fn new(paths: usize, window: usize, first: Psn) -> Self {
        Self {
            paths,
            window: window as u32,
            windows: [INITIAL_WINDOW; MAX_PATHS],
            in_flight: [0; MAX_PATHS],
            turn: Turn::default(),
            next: first,
            acknowledged: ArrivalWindow::new(window / 64, first),
        }
    }

    /// Sets a path's window, UQ10.6 packets.
    pub fn set_window(&mut self, path: usize, window: u16) {
        self.windows[path] = window;
    }

    /// The next packet's path and PSN; `None` while the path whose turn it is has no room, or the
    /// PSN window is full. There is always more to send.
    #[inline]
    pub fn send(&mut self) -> Option<(usize, Psn)> {
        let una = self.acknowledged.expected();
        let bound = sending_bound(una.plus(2 * self.window), una, self.window);
        if !self.next.is_before(bound) {
            return None;
        }
        let (windows, in_flight) = (&self.windows, &self.in_flight);
        let is_open = |p: usize| room(windows[p], in_flight[p], 0) > 0;
        let path = self.turn.take(self.paths, is_open)?;
        let psn = self.next;
        self.in_flight[path] += 1;
        self.next = psn.plus(1);
        Some((path, psn))
    }

    /// An ACK of `psn`, sent on `path`; whether it is the PSN's first.
    #[inline]
    pub fn acknowledge(&mut self, path: usize, psn: Psn) -> bool {
        let first = self.acknowledged.arrive(psn, true).verdict == Verdict::Accepted;
        if first {
            self.in_flight[path] -= 1;
        }
        first
    }
}
