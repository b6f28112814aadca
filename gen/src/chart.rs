//! Pictures of figures: [`rondo_net::chart::Figure`] as SVG.
//!
//! Panels stand in a grid. A panel has its title, its legend and the labels of its marker lines
//! above the plot, so that none of them covers a curve. Curves are thinned so that a file stays
//! small while its peaks survive.

mod curves;
mod heat;
mod plot;
mod scale;
mod text;
mod thin;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use rondo_net::chart::{Figure, PanelKind};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::Builder;
use text::Look;

/// Width of a panel, in pixels.
const PANEL: i32 = 560;
/// Distance around and between panels, in pixels.
const GAP: i32 = 14;
/// Most panels in a row.
const MOST_COLUMNS: usize = 8;
/// Size of a file's data, in bytes, that thinning aims at.
const BUDGET: usize = 320_000;

/// Colours of series, told apart with any colour vision.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(70, 70, 70),
    RGBColor(150, 135, 0),
];
/// Colour of grid lines.
const GRID: RGBColor = RGBColor(226, 226, 226);
/// Colour of frames, marker lines and secondary texts.
const GREY: RGBColor = RGBColor(120, 120, 120);

/// The whole picture, in pixels.
type Root<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The outcome of drawing something.
type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// Why a figure could not be drawn to its file.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The picture could not be made.
    #[error("{}: {reason}", path.display())]
    Draw {
        /// The figure's file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// The file could not be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The figure's file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// A part of the picture, in pixels.
#[derive(Clone, Copy)]
struct Area {
    x: i32,
    y: i32,
    w: i32,
    h: i32,
}

impl Area {
    /// The pixel column at a part of the width, from the left.
    fn across(self, unit: f64) -> i32 {
        self.x + (unit * f64::from(self.w)).round() as i32
    }

    /// The pixel row at a part of the height, from below.
    fn up(self, unit: f64) -> i32 {
        self.y + self.h - (unit * f64::from(self.h)).round() as i32
    }
}

/// A panel whose texts are placed, before its height is known.
enum Plan<'a> {
    Plot(plot::Plan<'a>),
    Heat(heat::Plan<'a>),
}

impl Plan<'_> {
    fn height(&self) -> i32 {
        match self {
            Plan::Plot(plan) => plan.height(),
            Plan::Heat(plan) => plan.height(),
        }
    }

    fn draw(&self, root: &Root, area: Area) -> Drawn {
        match self {
            Plan::Plot(plan) => plan.draw(root, area),
            Plan::Heat(plan) => plan.draw(root, area),
        }
    }
}

/// Draws `figure` as SVG to `path`, in place of an older file, once it is complete.
///
/// Missing and infinite values are left out; a panel without any value says so.
///
/// # Errors
/// [`ChartError`] with the path, if the picture cannot be made or written; its folder has to
/// exist.
pub fn draw(figure: &Figure, path: &Path) -> Result<(), ChartError> {
    let svg = render(figure).map_err(|e| ChartError::Draw {
        path: path.to_owned(),
        reason: e.to_string(),
    })?;
    save(path, svg.as_bytes()).map_err(|source| ChartError::Write {
        path: path.to_owned(),
        source,
    })
}

fn render(figure: &Figure) -> Result<String, DrawingAreaErrorKind<io::Error>> {
    let count = figure.panels.len().max(1);
    let columns = figure.columns.clamp(1, MOST_COLUMNS.min(count));
    let width = columns as i32 * (PANEL + GAP) + GAP;
    let title = text::wrap(&figure.title, width - 2 * GAP, 18, 2);
    let head = title.len() as i32 * 24 + GAP;

    let plans = plans(figure);
    let rows: Vec<&[Plan]> = plans.chunks(columns).collect();
    let tall = |row: &[Plan]| row.iter().map(Plan::height).max().unwrap_or(0);
    let heights: Vec<i32> = rows.iter().map(|row| tall(row)).collect();
    let body: i32 = heights.iter().map(|h| h + GAP).sum();

    let mut svg = String::new();
    let size = (width.unsigned_abs(), (head + body).max(60).unsigned_abs());
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let look = Look::new(HPos::Center, VPos::Top).title(18);
        for (i, line) in title.iter().enumerate() {
            text::write(&root, line, (width / 2, GAP + i as i32 * 24), look)?;
        }
        let mut y = head;
        for (row, &h) in rows.iter().zip(&heights) {
            for (column, plan) in row.iter().enumerate() {
                let x = GAP + column as i32 * (PANEL + GAP);
                plan.draw(&root, Area { x, y, w: PANEL, h })?;
            }
            y += h + GAP;
        }
        root.present()?;
    }
    Ok(svg)
}

fn plans(figure: &Figure) -> Vec<Plan<'_>> {
    let series = |panel: &PanelKind| match panel {
        PanelKind::Plot(panel) => panel.series.len(),
        PanelKind::Heat(_) => 4,
    };
    let total: usize = figure.panels.iter().map(series).sum();
    let share = BUDGET / total.max(1);
    figure
        .panels
        .iter()
        .map(|panel| match panel {
            PanelKind::Plot(panel) => Plan::Plot(plot::Plan::new(panel, PANEL, share)),
            PanelKind::Heat(heat) => Plan::Heat(heat::Plan::new(heat, PANEL, share * 4)),
        })
        .collect()
}

/// Says in the middle of an area that it has no data.
fn no_data(root: &Root, area: Area) -> Drawn {
    let look = Look {
        color: GREY,
        ..Look::new(HPos::Center, VPos::Center)
    };
    let middle = (area.x + area.w / 2, area.y + area.h / 2);
    text::write(root, "No data", middle, look)
}

/// Writes a panel's title lines.
fn panel_title(root: &Root, lines: &[String], area: Area) -> Drawn {
    let look = Look::new(HPos::Left, VPos::Top).title(14);
    for (i, line) in lines.iter().enumerate() {
        text::write(root, line, (area.x, area.y + i as i32 * 18), look)?;
    }
    Ok(())
}

/// Writes a file that appears under its name only when it is complete.
fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".chart-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests;
