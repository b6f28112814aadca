//! A datacenter in a process: an event-driven packet-level network whose Rondo endpoints are the
//! golden model that the RTL is checked against.
//!
//! Time is integer picoseconds; a run is a function of its scenario and seed. [`simulation`] is the
//! loop, [`calendar`] its event queue, [`fabric`] and [`topology`] the structure, [`port`] and
//! [`forward`] the switches, [`nic`] the hosts, [`transport`] the endpoints, [`workload`] the traffic.

pub mod calendar;
pub mod capture;
pub mod chart;
pub mod config;
pub mod external;
pub mod fabric;
pub mod figures;
pub mod flows;
mod forward;
pub mod metrics;
pub mod nic;
pub mod packet;
pub mod pcap;
pub mod port;
pub mod recorder;
pub mod report;
pub mod scenario;
pub mod simulation;
pub mod time;
pub mod topology;
pub mod transport;
pub mod workload;
