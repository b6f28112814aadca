//! Names for the indices of port arrays.

use rust_hdl::core::prelude::*;

/// Lets a block write `array[NAME]` where `NAME` is a constant: `#[hdl_gen]` hands indices over as
/// text, and the back end looks the names up here.
///
/// It has no signals: the back end meets it as an empty namespace whose name starts with
/// [`IndexNames::MARKER`].
#[derive(Clone, Debug)]
pub struct IndexNames(String);

impl IndexNames {
    /// Prefix by which the back end recognises the namespace.
    pub const MARKER: &'static str = "rondo-indices:";

    /// The constants by name, such as `rondo_models::registers::at::ALL`.
    pub fn new(names: &[(&str, usize)]) -> Self {
        let list: Vec<String> = names.iter().map(|(n, i)| format!("{n}={i}")).collect();
        Self(format!("{}{}", Self::MARKER, list.join(",")))
    }
}

impl Logic for IndexNames {
    fn update(&mut self) {}
}

impl Block for IndexNames {
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
