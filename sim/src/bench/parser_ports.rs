//! What the frame parser says on its ports.

use super::Rows;
use crate::SimError;
use rondo_models::cycle::reorder::Beat;

/// A beat of a data packet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DataBeat {
    pub(super) data: Beat,
    /// The length was wrong and this is where it shows: the bytes mean nothing.
    pub(super) blank: bool,
    pub(super) keep: u64,
    pub(super) last: bool,
    pub(super) bad: bool,
    pub(super) flow: u16,
    pub(super) psn: u32,
    pub(super) path: u8,
    pub(super) place: [u64; 2],
    pub(super) sent_ns: u32,
    pub(super) received_ns: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probe {
    pub(super) flow: u16,
    pub(super) path: u8,
    pub(super) sent_ns: u32,
    pub(super) received_ns: u32,
}

/// An ACK with the time of its arrival; what means nothing for a probe is zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ack {
    pub(super) flow: u16,
    pub(super) path: u8,
    pub(super) psn: u32,
    pub(super) expected: u32,
    pub(super) selective: u64,
    pub(super) probe: bool,
    pub(super) nak: bool,
    pub(super) duplicate: bool,
    pub(super) sent_ns: u32,
    pub(super) received_ns: u32,
    pub(super) now_ns: u32,
}

/// What the pulses say of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Accepted(u8),
    Dropped(u8),
    /// No design may say this.
    Both,
}

pub(super) struct At {
    pub(super) rst: usize,
    pub(super) identity: [usize; 4],
    pub(super) now_ns: usize,
    pub(super) rx: [usize; 4],
    pub(super) rx_ready: usize,
    pub(super) context_flow: usize,
    pub(super) context: usize,
    pub(super) data_ready: usize,
    pub(super) data: [usize; 11],
    pub(super) probe_ready: usize,
    pub(super) probe: [usize; 5],
    pub(super) ack_ready: usize,
    pub(super) ack: [usize; 12],
    pub(super) pulses: [usize; 4],
}

impl At {
    pub(super) fn new(r: &Rows) -> Result<Self, SimError> {
        Ok(Self {
            rst: r.input("rst")?,
            identity: r.inputs(["local_mac", "local_ipv4", "local_ipv6", "udp_port"])?,
            now_ns: r.input("now_ns")?,
            rx: r.inputs(["rx_valid", "rx_data", "rx_keep", "rx_last"])?,
            rx_ready: r.output("rx_ready")?,
            context_flow: r.output("context_flow")?,
            context: r.input("context_data")?,
            data_ready: r.input("data_ready")?,
            data: r.outputs([
                "data_valid",
                "data_data",
                "data_keep",
                "data_last",
                "data_bad",
                "data_flow",
                "data_psn",
                "data_path",
                "data_place",
                "data_sent_ns",
                "data_received_ns",
            ])?,
            probe_ready: r.input("probe_ready")?,
            probe: r.outputs([
                "probe_valid",
                "probe_flow",
                "probe_path",
                "probe_sent_ns",
                "probe_received_ns",
            ])?,
            ack_ready: r.input("ack_ready")?,
            ack: r.outputs([
                "ack_valid",
                "ack_flow",
                "ack_path",
                "ack_psn",
                "ack_expected",
                "ack_selective",
                "ack_probe",
                "ack_nak",
                "ack_duplicate",
                "ack_sent_ns",
                "ack_received_ns",
                "ack_now_ns",
            ])?,
            pulses: r.outputs(["frame_valid", "frame_kind", "drop_valid", "drop_cause"])?,
        })
    }

    pub(super) fn data(&self, o: &[u64]) -> Option<DataBeat> {
        let a = &self.data;
        (o[a[0]] != 0).then(|| DataBeat {
            data: std::array::from_fn(|i| o[a[1] + i]),
            blank: false,
            keep: o[a[2]],
            last: o[a[3]] != 0,
            bad: o[a[4]] != 0,
            flow: o[a[5]] as u16,
            psn: o[a[6]] as u32,
            path: o[a[7]] as u8,
            place: [o[a[8]], o[a[8] + 1]],
            sent_ns: o[a[9]] as u32,
            received_ns: o[a[10]] as u32,
        })
    }

    pub(super) fn probe(&self, o: &[u64]) -> Option<Probe> {
        let a = &self.probe;
        (o[a[0]] != 0).then(|| Probe {
            flow: o[a[1]] as u16,
            path: o[a[2]] as u8,
            sent_ns: o[a[3]] as u32,
            received_ns: o[a[4]] as u32,
        })
    }

    pub(super) fn ack(&self, o: &[u64]) -> Option<Ack> {
        let a = &self.ack;
        let probe = o[a[6]] != 0;
        let of_data = |value: u64| if probe { 0 } else { value };
        (o[a[0]] != 0).then(|| Ack {
            flow: o[a[1]] as u16,
            path: o[a[2]] as u8,
            psn: of_data(o[a[3]]) as u32,
            expected: of_data(o[a[4]]) as u32,
            selective: of_data(o[a[5]]),
            probe,
            nak: o[a[7]] != 0,
            duplicate: o[a[8]] != 0,
            sent_ns: o[a[9]] as u32,
            received_ns: o[a[10]] as u32,
            now_ns: o[a[11]] as u32,
        })
    }

    pub(super) fn fate(&self, o: &[u64]) -> Option<Fate> {
        let [accepted, kind, dropped, cause] = self.pulses.map(|at| o[at]);
        match (accepted != 0, dropped != 0) {
            (false, false) => None,
            (true, false) => Some(Fate::Accepted(kind as u8)),
            (false, true) => Some(Fate::Dropped(cause as u8)),
            (true, true) => Some(Fate::Both),
        }
    }
}
