//! The series of a panel: curves, dots and bars.

use super::scale::Scale;
use super::thin::{self, Point};
use super::{Area, Drawn, Root, PALETTE};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use rondo_net::chart::{Series, Style};

/// Most points of a curve.
const MOST_POINTS: usize = 2_000;
/// Most dashes of a curve.
const MOST_DASHES: usize = 300;
/// Width of curves, in pixels.
const STROKE: u32 = 2;
/// Radius of dots, in pixels.
const DOT: i32 = 2;

/// Where series are drawn.
pub struct View<'a> {
    /// Horizontal scale.
    pub x: &'a Scale,
    /// Vertical scale.
    pub y: &'a Scale,
    /// The plot, in pixels.
    pub plot: Area,
    /// Bytes that a series may take.
    pub share: usize,
}

/// The bars of one series among those of its panel.
#[derive(Clone, Copy)]
struct Group {
    /// Width of all bars at a place, as a part of the plot's.
    width: f64,
    /// Number of series with bars, and which of them this is.
    of: usize,
    nth: usize,
}

impl View<'_> {
    fn units(&self, series: &Series) -> Vec<Point> {
        let unit = |p: &(f64, f64)| (self.x.unit(p.0), self.y.unit(p.1));
        series.points.iter().map(unit).collect()
    }

    fn pixel(&self, p: Point) -> (i32, i32) {
        (self.plot.across(p.0), self.plot.up(p.1))
    }

    /// How many points a series may have whose points take `bytes` each.
    fn limit(&self, bytes: usize) -> usize {
        (self.share / bytes).clamp(24, MOST_POINTS)
    }
}

/// Draws all series, bars first; says whether there was anything to draw. With `named` places the
/// bars of a place take most of its part of the axis.
pub fn draw(
    root: &Root,
    view: &View,
    series: &[Series],
    named: bool,
) -> Result<bool, DrawingAreaErrorKind<std::io::Error>> {
    let slot = if named { 1.0 } else { bar_slot(series) };
    let of = series.iter().filter(|s| s.style == Style::Bars).count();
    let mut group = Group {
        width: (view.x.unit(slot + 1.0) - view.x.unit(1.0)).abs() * if named { 0.8 } else { 0.92 },
        of,
        nth: 0,
    };
    let mut any = false;
    for (i, one) in series.iter().enumerate() {
        let points = view.units(one);
        any |= points.iter().any(|p| p.0.is_finite() && p.1.is_finite());
        if one.style == Style::Bars {
            bars(root, view, &points, group, PALETTE[i % 8])?;
            group.nth += 1;
        }
    }
    for (i, one) in series.iter().enumerate() {
        let (points, color) = (view.units(one), PALETTE[i % 8]);
        match one.style {
            Style::Bars => {}
            Style::Points => dots(root, view, &points, color)?,
            style => curve(root, view, &points, style, color)?,
        }
    }
    Ok(any)
}

/// The distance of neighbouring bars in the unit of the axis; 0 without bars.
pub fn bar_slot(series: &[Series]) -> f64 {
    let bars = series.iter().filter(|s| s.style == Style::Bars);
    let mut xs: Vec<f64> = bars
        .flat_map(|s| s.points.iter().map(|p| p.0))
        .filter(|x| x.is_finite())
        .collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let gaps = xs.windows(2).map(|pair| pair[1] - pair[0]);
    match (xs.len(), gaps.fold(f64::INFINITY, f64::min)) {
        (0, _) => 0.0,
        (_, gap) if gap.is_finite() => gap,
        _ => 1.0,
    }
}

fn bars(root: &Root, view: &View, points: &[Point], group: Group, color: RGBColor) -> Drawn {
    let base = view.y.base();
    let known: Vec<Point> = points
        .iter()
        .copied()
        .filter(|p| (0.0..=1.0).contains(&p.0) && p.1.is_finite())
        .collect();
    let width = if group.width.is_finite() {
        group.width.min(1.0)
    } else {
        0.02
    };
    let one = width / group.of.max(1) as f64;
    for p in thin::thin(&known, view.limit(110)) {
        let from = p.0 - width / 2.0 + one * group.nth as f64;
        let left = view.plot.across(from.max(0.0));
        let right = view.plot.across((from + one).min(1.0));
        let gap = i32::from(right - left > 4);
        let corners = [
            (left, view.plot.up(p.1.clamp(0.0, 1.0))),
            ((right - gap).max(left + 1), view.plot.up(base)),
        ];
        root.draw(&Rectangle::new(corners, color.filled()))?;
    }
    Ok(())
}

fn dots(root: &Root, view: &View, points: &[Point], color: RGBColor) -> Drawn {
    let shown: Vec<Point> = points
        .iter()
        .copied()
        .filter(|p| thin::inside(*p))
        .collect();
    let mut pixels: Vec<(i32, i32)> = thin::thin(&shown, view.limit(100))
        .into_iter()
        .map(|p| view.pixel(p))
        .collect();
    pixels.sort_unstable();
    pixels.dedup();
    for pixel in pixels {
        root.draw(&Circle::new(pixel, DOT, color.mix(0.8).filled()))?;
    }
    Ok(())
}

fn curve(root: &Root, view: &View, points: &[Point], style: Style, color: RGBColor) -> Drawn {
    let bytes = match style {
        Style::Line => 9,
        Style::Dashed => 24,
        _ => 18,
    };
    for piece in thin::pieces(points, view.limit(bytes)) {
        let piece = match style {
            Style::Step => thin::stairs(&piece),
            _ => piece,
        };
        for part in thin::clip(&piece) {
            let mut pixels: Vec<(i32, i32)> = part.iter().map(|p| view.pixel(*p)).collect();
            pixels.dedup();
            if style == Style::Area {
                tint(root, view, &pixels, color)?;
            }
            match (pixels.as_slice(), style) {
                ([only], _) => root.draw(&Circle::new(*only, DOT, color.filled()))?,
                (_, Style::Dashed) => dashed(root, pixels, view.share, color)?,
                _ => root.draw(&PathElement::new(pixels, color.stroke_width(STROKE)))?,
            }
        }
    }
    Ok(())
}

fn tint(root: &Root, view: &View, pixels: &[(i32, i32)], color: RGBColor) -> Drawn {
    let base = view.plot.up(view.y.base());
    let mut outline = pixels.to_vec();
    if let (Some(first), Some(last)) = (pixels.first(), pixels.last()) {
        outline.extend([(last.0, base), (first.0, base)]);
    }
    root.draw(&Polygon::new(outline, color.mix(0.25)))
}

/// A dashed curve; on a long and jagged one the dashes grow, so that their number stays small.
fn dashed(root: &Root, pixels: Vec<(i32, i32)>, share: usize, color: RGBColor) -> Drawn {
    let length: f64 = pixels
        .windows(2)
        .map(|pair| f64::from(pair[1].0 - pair[0].0).hypot(f64::from(pair[1].1 - pair[0].1)))
        .sum();
    let most = (share / 200).clamp(8, MOST_DASHES) as f64;
    let dash = 7.max((length / most) as i32 - 4);
    root.draw(&DashedPathElement::new(
        pixels,
        dash,
        4,
        color.stroke_width(STROKE),
    ))
}

/// A legend's sample of `width` pixels with its left end in the middle at `at`.
pub fn sample(root: &Root, style: Style, color: RGBColor, at: (i32, i32), width: i32) -> Drawn {
    let (x, y) = at;
    let middle = (x + width / 2, y);
    let line = vec![(x, y), (x + width, y)];
    let stroke = color.stroke_width(STROKE);
    let block = |top: i32, bottom: i32| [(x + 4, y + top), (x + width - 4, y + bottom)];
    match style {
        Style::Line => root.draw(&PathElement::new(line, stroke)),
        Style::Dashed => root.draw(&DashedPathElement::new(line, 6, 4, stroke)),
        Style::Points => root.draw(&Circle::new(middle, DOT + 1, color.filled())),
        Style::Bars => root.draw(&Rectangle::new(block(-5, 5), color.filled())),
        Style::Step => {
            let steps = [
                (x, y + 4),
                (middle.0, y + 4),
                (middle.0, y - 4),
                (x + width, y - 4),
            ];
            root.draw(&PathElement::new(steps, stroke))
        }
        Style::Area => {
            root.draw(&Rectangle::new(block(-3, 5), color.mix(0.25).filled()))?;
            let top = vec![(x + 4, y - 3), (x + width - 4, y - 3)];
            root.draw(&PathElement::new(top, stroke))
        }
    }
}
