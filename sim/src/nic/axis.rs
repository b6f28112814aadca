//! AXI4-Stream's rule, held to by every stream that leaves a NIC.

/// Once valid, a beat stays as it is until it is taken.
#[derive(Debug, Clone)]
pub struct Hold {
    name: &'static str,
    held: Option<Vec<u64>>,
    broken: Option<String>,
    /// Clocks in which a beat was taken.
    pub beats: u64,
    /// Clocks in which a beat was offered and not taken.
    pub stalls: u64,
}

impl Hold {
    /// For the stream `name`.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            held: None,
            broken: None,
            beats: 0,
            stalls: 0,
        }
    }

    /// The stream in one clock; `fields` is what it offers while `valid`.
    pub fn clock(&mut self, valid: bool, ready: bool, fields: &[&[u64]]) {
        let same = |held: &[u64]| fields.iter().flat_map(|f| f.iter()).eq(held.iter());
        if let Some(held) = &self.held {
            if !valid || !same(held) {
                let name = self.name;
                self.broken
                    .get_or_insert(format!("{name} changed before it was taken"));
            }
        }
        self.held = None;
        self.beats += u64::from(valid && ready);
        self.stalls += u64::from(valid && !ready);
        if valid && !ready {
            self.held = Some(fields.iter().flat_map(|f| f.iter().copied()).collect());
        }
    }

    /// What was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.broken.as_deref()
    }
}
