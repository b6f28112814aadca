//! SVG plots of a scenario's runs over time.

use plotters::prelude::*;
use rondo_sim::testbed::metrics::RunReport;
use std::path::Path;

const COLORS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(255, 127, 14),
    RGBColor(23, 190, 207),
];

/// A curve of a plot.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

fn draw(path: &Path, title: &str, unit: &str, curves: &[Curve]) -> Result<(), String> {
    let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let top = |f: fn(&(f64, f64)) -> f64| {
        curves
            .iter()
            .flat_map(|c| &c.points)
            .map(f)
            .fold(0.0, f64::max)
    };
    let (x_end, y_end) = (top(|p| p.0).max(0.1), top(|p| p.1).max(0.1) * 1.35);
    let root = SVGBackend::new(path, (900, 360)).into_drawing_area();
    root.fill(&WHITE).map_err(|e| fail(&e))?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..x_end, 0.0..y_end)
        .map_err(|e| fail(&e))?;
    chart
        .configure_mesh()
        .x_desc("time, ms")
        .y_desc(unit)
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(|e| fail(&e))?;
    for (i, c) in curves.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        chart
            .draw_series(LineSeries::new(c.points.iter().copied(), &color))
            .map_err(|e| fail(&e))?
            .label(c.name.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()
        .map_err(|e| fail(&e))?;
    root.present().map_err(|e| fail(&e))
}

/// Draws throughput and OOD of all runs, and the queues of the first, into `folder`; returns the
/// files.
///
/// # Errors
/// A message that names the file that could not be written.
pub fn draw_all(folder: &Path, title: &str, runs: &[&RunReport]) -> Result<Vec<String>, String> {
    let curves = |f: fn(&rondo_sim::testbed::metrics::Point) -> f64| -> Vec<Curve> {
        runs.iter()
            .map(|r| Curve {
                name: r.name.clone(),
                points: r.points.iter().map(|p| (p.ms, f(p))).collect(),
            })
            .collect()
    };
    let mut files = vec!["throughput.svg".to_owned(), "ood.svg".to_owned()];
    draw(
        &folder.join(&files[0]),
        &format!("{title}: throughput"),
        "Gbps",
        &curves(|p| p.gbps),
    )?;
    draw(
        &folder.join(&files[1]),
        &format!("{title}: out-of-order degree"),
        "packets",
        &curves(|p| p.ood),
    )?;
    if let Some(first) = runs.first() {
        let paths = first.paths.len();
        let queues: Vec<Curve> = (0..paths)
            .map(|i| Curve {
                name: format!("path {i}"),
                points: first.points.iter().map(|p| (p.ms, p.queue_us[i])).collect(),
            })
            .collect();
        files.push("queues.svg".into());
        draw(
            &folder.join("queues.svg"),
            &format!("{title}: largest queueing delay, {}", first.name),
            "us",
            &queues,
        )?;
    }
    Ok(files)
}
