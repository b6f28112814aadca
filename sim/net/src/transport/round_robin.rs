//! Round-robin packet spraying: the packets of a flow take its paths in turn, whatever these are like.

use super::dcqcn::{Bound, DcqcnConfig};
use super::multipath::{FlowSetup, Selection};
use super::rondo::RondoConfig;
use super::{BadParameter, Receiver, Sender, Transport};
use serde::{Deserialize, Serialize};

/// What bounds a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// DCQCN's rate, one for all paths.
    Dcqcn,
    /// One bandwidth-delay product of the host's link in flight.
    Fixed,
    /// ARCC's window of each path; the flow waits for the path whose turn it is.
    Arcc,
}

/// Parameters of round-robin packet spraying.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoundRobinConfig {
    /// Logical paths a flow, 1 to 16.
    pub paths: u8,
    /// What bounds a flow.
    pub control: Control,
    /// Receivers NAK every packet out of order and senders repeat selectively, instead of early
    /// recovery. Not with `arcc`.
    pub nak: bool,
    /// Rate, threshold and timeouts with `dcqcn` and `fixed`; its `adaptive` means nothing here.
    pub dcqcn: DcqcnConfig,
    /// ARCC with `arcc`; its paths, selection, scheduler and probing are those of this table.
    pub arcc: RondoConfig,
}

impl Default for RoundRobinConfig {
    fn default() -> Self {
        Self {
            paths: 4,
            control: Control::Dcqcn,
            nak: false,
            dcqcn: DcqcnConfig::default(),
            arcc: RondoConfig::default(),
        }
    }
}

impl RoundRobinConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`BadParameter`] names the first that makes no sense.
    pub fn check(&self) -> Result<(), BadParameter> {
        if !(1..=16).contains(&self.paths) {
            return Err(BadParameter {
                key: "paths",
                value: self.paths.to_string(),
                wanted: "1 to 16 paths",
            });
        }
        self.dcqcn.check()?;
        self.windows().check()
    }

    /// ARCC alone: neither Rondo's selection nor its scheduler nor its probes.
    fn windows(&self) -> RondoConfig {
        RondoConfig {
            paths: self.paths,
            selection: Selection::RoundRobin,
            scheduler: false,
            probing: false,
            ..self.arcc
        }
    }
}

impl Transport for RoundRobinConfig {
    fn paths(&self) -> u8 {
        self.paths
    }

    fn open(&self, setup: &FlowSetup, flows: u32) -> (Box<dyn Sender>, Box<dyn Receiver>) {
        match self.control {
            Control::Dcqcn => self.dcqcn.flow(setup, Bound::Rate, self.nak),
            Control::Fixed => self.dcqcn.flow(setup, Bound::Pipe, self.nak),
            Control::Arcc => self.windows().open(setup, flows),
        }
    }
}
