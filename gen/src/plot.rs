//! SVG plots of a scenario's runs over time.

use crate::chart::{draw, ChartError};
use rondo_net::chart::{Figure, Panel, Style};
use rondo_sim::testbed::metrics::{Point, RunReport};
use std::path::Path;

fn over_time(title: &str, label: &str, unit: &str) -> Panel {
    Panel::new(title).x("Time", "ms").y(label, unit)
}

/// A panel with a curve a run.
fn of_runs(mut panel: Panel, runs: &[&RunReport], f: fn(&Point) -> f64) -> Panel {
    for run in runs {
        let points = run.points.iter().map(|p| (p.ms, f(p)));
        panel = panel.series(run.name.clone(), Style::Line, points);
    }
    panel
}

/// Draws throughput and OOD of all runs, and the queues of the first, into `folder`; returns the
/// files.
///
/// # Errors
/// [`ChartError`] names the file that could not be written.
pub fn draw_all(
    folder: &Path,
    title: &str,
    runs: &[&RunReport],
) -> Result<Vec<String>, ChartError> {
    let mut plots = vec![
        (
            "throughput.svg",
            of_runs(over_time("Throughput", "Rate", "Gbps"), runs, |p| p.gbps),
        ),
        (
            "ood.svg",
            of_runs(
                over_time("Out-of-order degree", "OOD", "packets"),
                runs,
                |p| p.ood,
            ),
        ),
    ];
    if let Some(first) = runs.first() {
        let heading = format!("Largest queueing delay, {}", first.name);
        let mut queues = over_time(&heading, "Queueing", "us");
        for i in 0..first.paths.len() {
            let points = first.points.iter().map(|p| (p.ms, p.queue_us[i]));
            queues = queues.series(format!("path {i}"), Style::Line, points);
        }
        plots.push(("queues.svg", queues));
    }
    let mut files = Vec::new();
    for (file, panel) in plots {
        draw(&Figure::new(title, 1).panel(panel), &folder.join(file))?;
        files.push(file.to_owned());
    }
    Ok(files)
}
