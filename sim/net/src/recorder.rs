//! Samples over time of what a scenario wants to see.

use crate::chart::{Figure, Panel, Style};
use crate::fabric::Fabric;
use crate::flows::Flow;
use crate::nic::Host;
use crate::port::Port;
use crate::time::{to_us, Ps};

/// What to sample, and the samples: one row a time, one column a subject.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Time between samples; 0 for none.
    pub interval: Ps,
    /// Ports.
    pub ports: Vec<u32>,
    /// Flows.
    pub flows: Vec<u32>,
    /// Hosts.
    pub hosts: Vec<u32>,
    /// The inter-path queue difference is followed at every change.
    pub watch_groups: bool,
    /// Largest difference between the queues of a group, bytes: over the run, and since the last
    /// sample.
    pub interpath_max: u32,
    interpath: u32,
    sent: Vec<u64>,
    arrived: Vec<u64>,
    /// Times of the rows.
    pub times: Vec<Ps>,
    /// Data bytes that wait in each port.
    pub queue: Vec<Vec<u32>>,
    /// Most data bytes that waited since the last row.
    pub peak: Vec<Vec<u32>>,
    /// Payload-carrying bytes sent by each port since the last row.
    pub port_bytes: Vec<Vec<u32>>,
    /// Payload bytes that arrived of each flow since the last row.
    pub flow_bytes: Vec<Vec<u32>>,
    /// Largest skip of each flow's paths.
    pub skips: Vec<Vec<u16>>,
    /// Largest NIC-level out-of-order degree of each host since the last row.
    pub nic_ood: Vec<Vec<u32>>,
    /// Largest inter-path difference since the last row.
    pub differences: Vec<u32>,
}

impl Recorder {
    /// Takes samples every `interval` of what is added to it.
    pub fn every(interval: Ps) -> Self {
        Self {
            interval,
            ..Self::default()
        }
    }

    #[inline]
    pub(crate) fn compare(&mut self, difference: u32) {
        self.interpath_max = self.interpath_max.max(difference);
        self.interpath = self.interpath.max(difference);
    }

    pub(crate) fn sample(
        &mut self,
        now: Ps,
        ports: &mut [Port],
        hosts: &mut [Host],
        flows: &[Flow],
    ) {
        self.sent.resize(self.ports.len(), 0);
        self.arrived.resize(self.flows.len(), 0);
        self.times.push(now);
        let (mut queue, mut peak, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (&p, sent) in self.ports.iter().zip(&mut self.sent) {
            let port = &mut ports[p as usize];
            queue.push(port.queued(1));
            let waits = port.queued(1);
            peak.push(std::mem::replace(&mut port.peak_bytes, waits));
            let before = std::mem::replace(sent, port.data_bytes);
            bytes.push((port.data_bytes - before) as u32);
        }
        self.queue.push(queue);
        self.peak.push(peak);
        self.port_bytes.push(bytes);
        let (mut bytes, mut skips) = (Vec::new(), Vec::new());
        for (&f, arrived) in self.flows.iter().zip(&mut self.arrived) {
            let flow = &flows[f as usize];
            let before = std::mem::replace(arrived, flow.arrived_bytes);
            bytes.push((flow.arrived_bytes - before) as u32);
            skips.push(flow.skips().iter().copied().max().unwrap_or(0));
        }
        self.flow_bytes.push(bytes);
        self.skips.push(skips);
        let peaks = self.hosts.iter().map(|&h| {
            let host = &mut hosts[h as usize];
            std::mem::replace(&mut host.peak_ood, host.ood)
        });
        self.nic_ood.push(peaks.collect());
        self.differences.push(std::mem::take(&mut self.interpath));
    }

    /// Times in microseconds with column `at` of `table`, scaled.
    pub fn curve<T: Copy + Into<f64>>(
        &self,
        table: &[Vec<T>],
        at: usize,
        scale: f64,
    ) -> Vec<(f64, f64)> {
        self.times
            .iter()
            .zip(table)
            .map(|(&t, row)| (to_us(t), row[at].into() * scale))
            .collect()
    }

    /// The samples as a figure; `None` when nothing was sampled.
    pub fn figure(&self, title: &str, fabric: &Fabric) -> Option<Figure> {
        let us = to_us(self.interval);
        let port = |i: usize| fabric.ports[self.ports[i] as usize].name.clone();
        let mut figure = Figure::new(title, 1);
        let mut panels = 0;
        let mut add = |panel: Panel| {
            if !panel.series.is_empty() {
                figure.panels.push(panel.into());
                panels += 1;
            }
        };
        let time = |title: &str| Panel::new(title).x("Time", "us");
        let mut queue = time("Queues").y("Queue", "kB");
        let mut rate = time("Data on the links").y("Rate", "Gbps");
        for i in 0..self.ports.len() {
            queue = queue.series(port(i), Style::Line, self.curve(&self.peak, i, 1e-3));
            let points = self.curve(&self.port_bytes, i, 8e-3 / us);
            rate = rate.series(port(i), Style::Line, points);
        }
        add(queue);
        add(rate);
        let mut flows = time("Payload of flows").y("Rate", "Gbps");
        let mut skips = time("Largest skip of flows").y("Skip", "packets");
        for (i, f) in self.flows.iter().enumerate() {
            let points = self.curve(&self.flow_bytes, i, 8e-3 / us);
            flows = flows.series(format!("flow {f}"), Style::Line, points);
            let points = self.curve(&self.skips, i, 1.0);
            skips = skips.series(format!("flow {f}"), Style::Step, points);
        }
        add(flows);
        add(skips);
        let mut ood = time("NIC-level OOD").y("OOD", "packets");
        for (i, h) in self.hosts.iter().enumerate() {
            let points = self.curve(&self.nic_ood, i, 1.0);
            ood = ood.series(format!("h{h}"), Style::Line, points);
        }
        add(ood);
        if self.watch_groups {
            let points = self.times.iter().zip(&self.differences);
            let points = points.map(|(&t, &d)| (to_us(t), f64::from(d) / 1000.0));
            let panel = time("Queue difference between parallel ports").y("Difference", "kB");
            add(panel.series("largest", Style::Line, points));
        }
        (panels > 0 && !self.times.is_empty()).then_some(figure)
    }
}
