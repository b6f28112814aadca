//! The Verilog module name and header comment of a block.

use rust_hdl::core::prelude::*;

/// Names the Verilog module a block becomes, and carries the comment printed above it.
///
/// It has no signals: the back end meets it as an empty namespace whose name starts with
/// [`ModuleId::MARKER`]. Two blocks may share a name only if their Verilog is identical.
#[derive(Clone, Debug)]
pub struct ModuleId(String);

impl ModuleId {
    /// Prefix by which the back end recognises the namespace.
    pub const MARKER: &'static str = "rondo-module:";

    /// `name` is a Verilog identifier in `snake_case`; `doc` may have several lines.
    pub fn new(name: impl AsRef<str>, doc: &str) -> Self {
        Self(format!("{}{}\n{}", Self::MARKER, name.as_ref(), doc))
    }
}

impl Logic for ModuleId {
    fn update(&mut self) {}
}

impl Block for ModuleId {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, _name: &str, probe: &mut dyn Probe) {
        probe.visit_start_namespace(&self.0, self);
        probe.visit_end_namespace(&self.0, self);
    }
}
