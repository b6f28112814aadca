//! Transfers of a stream against what the model says they are, without a clock.

use std::collections::VecDeque;
use std::fmt::Debug;

/// Clocks that an expected transfer may be missing while the reader is ready.
const PATIENCE: u32 = 20_000;

/// The transfers that a stream of the design has to make, in order.
///
/// It also holds the stream to AXI4-Stream's rule: once `valid`, it stays valid and does not change
/// until it is taken.
#[derive(Debug)]
pub struct Scoreboard<T> {
    name: &'static str,
    expected: VecDeque<T>,
    held: Option<T>,
    waiting: u32,
    compared: u64,
    violation: Option<String>,
}

impl<T: Clone + Debug + PartialEq> Scoreboard<T> {
    /// For the stream `name`.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            expected: VecDeque::new(),
            held: None,
            waiting: 0,
            compared: 0,
            violation: None,
        }
    }

    /// `transfer` comes next, after those that are expected already.
    pub fn expect(&mut self, transfer: T) {
        self.expected.push_back(transfer);
    }

    /// What is still expected, next first.
    pub fn expected(&self) -> impl Iterator<Item = &T> {
        self.expected.iter()
    }

    /// The design was reset: nothing is expected, and `valid` may have been withdrawn.
    pub fn reset(&mut self) {
        self.expected.clear();
        self.held = None;
        self.waiting = 0;
    }

    /// The stream in one clock; `offered` is what it offers while `valid`. Returns the transfer
    /// that took place.
    pub fn clock(&mut self, offered: Option<T>, ready: bool) -> Option<T> {
        if let Some(held) = self.held.take() {
            if offered.as_ref() != Some(&held) {
                self.fail(format!(
                    "withdrew {held:x?} for {offered:x?} before it was taken"
                ));
            }
        }
        let Some(offered) = offered else {
            self.waiting += u32::from(ready && !self.expected.is_empty());
            if self.waiting > PATIENCE {
                self.fail(format!("stalls: {:x?} is due", self.expected.front()));
            }
            return None;
        };
        self.waiting = 0;
        self.compared += 1;
        match self.expected.front() {
            Some(e) if *e == offered => {}
            e => self.fail(format!("offers {offered:x?} instead of {e:x?}")),
        }
        if !ready {
            self.held = Some(offered);
            return None;
        }
        self.expected.pop_front();
        Some(offered)
    }

    fn fail(&mut self, what: String) {
        let name = self.name;
        self.violation.get_or_insert(format!("{name} {what}"));
    }

    /// Values compared so far.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}
