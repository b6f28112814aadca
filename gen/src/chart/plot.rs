//! A panel of curves and bars: its layout and its axes.

use super::scale::{Scale, Wish};
use super::text::{self, Look, LINE, SIZE};
use super::{curves, Area, Drawn, Root, GREY, GRID, PALETTE};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use rondo_net::chart::{Note, Panel, Series, Style};

/// Height of the plot itself in the lowest panel, in pixels.
const PLOT: i32 = 250;
/// Room at the right for half a tick label, in pixels.
const RIGHT: i32 = 22;
/// Length of a legend's sample, in pixels.
const SAMPLE: i32 = 22;
/// Longest name that is written upwards, in pixels.
const UPWARDS: i32 = 170;
/// Most rows of a legend.
const LEGEND_ROWS: usize = 12;
/// Most rows of labels of marker lines; a label without room is left out.
const NOTE_ROWS: usize = 4;

/// A panel whose texts are placed.
pub struct Plan<'a> {
    panel: &'a Panel,
    x: Scale,
    y: Scale,
    title: Vec<String>,
    /// Rows of entries: distance from the left, number of the series, name.
    legend: Vec<Vec<(i32, usize, String)>>,
    /// Marker lines: position in 0..1, and the row and text of the label if it has room.
    notes: Vec<(f64, Option<(usize, String)>)>,
    names: Names,
    left: i32,
    /// Bytes that a series may take.
    share: usize,
}

/// The names below the plot.
enum Names {
    /// Numbers at ticks.
    Ticks,
    /// Broken into lines.
    Lines(Vec<Vec<String>>),
    /// Written upwards.
    Upwards(Vec<String>),
}

impl<'a> Plan<'a> {
    /// Places the texts of `panel` in a width in pixels; `share` is the bytes a series may take.
    pub fn new(panel: &'a Panel, width: i32, share: usize) -> Self {
        let (x, y) = scales(panel);
        let widest = y.ticks.iter().map(|t| text::width(&t.1, SIZE)).max();
        let side = if panel.y.text().is_empty() { 0 } else { 20 };
        let left = side + widest.unwrap_or(0) + 10;
        let plot = width - left - RIGHT;
        Self {
            title: text::wrap(&panel.title, width, 14, 2),
            legend: legend(&panel.series, plot),
            notes: notes(&panel.notes, &x, plot),
            names: names(&panel.categories, plot),
            panel,
            x,
            y,
            left,
            share,
        }
    }

    /// The least height, in pixels.
    pub fn height(&self) -> i32 {
        self.above() + PLOT + self.below()
    }

    fn above(&self) -> i32 {
        let title = self.title.len() as i32 * 18 + 6;
        let legend = self.legend.len() as i32 * (LINE + 2);
        title + legend + self.note_rows() * LINE + 8
    }

    fn note_rows(&self) -> i32 {
        let rows = self.notes.iter().filter_map(|n| n.1.as_ref());
        rows.map(|label| label.0 as i32 + 1).max().unwrap_or(0)
    }

    fn below(&self) -> i32 {
        let names = match &self.names {
            Names::Ticks => LINE,
            Names::Lines(names) => names.iter().map(Vec::len).max().unwrap_or(0) as i32 * LINE,
            Names::Upwards(names) => names
                .iter()
                .map(|n| text::width(n, SIZE))
                .max()
                .unwrap_or(0),
        };
        let label = if self.panel.x.text().is_empty() {
            0
        } else {
            LINE + 4
        };
        names + label + 10
    }

    /// Draws the panel.
    pub fn draw(&self, root: &Root, area: Area) -> Drawn {
        let (above, below) = (self.above(), self.below());
        let plot = Area {
            x: area.x + self.left,
            y: area.y + above,
            w: area.w - self.left - RIGHT,
            h: area.h - above - below,
        };
        super::panel_title(root, &self.title, area)?;
        self.draw_legend(root, plot.x, area.y + self.title.len() as i32 * 18 + 6)?;
        self.draw_grid(root, plot)?;
        let frame = [(plot.x, plot.y), (plot.x + plot.w, plot.y + plot.h)];
        root.draw(&Rectangle::new(frame, GREY.stroke_width(1)))?;
        let view = curves::View {
            x: &self.x,
            y: &self.y,
            plot,
            share: self.share,
        };
        let drawn = curves::draw(
            root,
            &view,
            &self.panel.series,
            !self.panel.categories.is_empty(),
        )?;
        self.draw_notes(root, plot)?;
        self.draw_names(root, plot)?;
        self.draw_labels(root, area, plot)?;
        if drawn {
            Ok(())
        } else {
            super::no_data(root, plot)
        }
    }

    fn draw_legend(&self, root: &Root, left: i32, top: i32) -> Drawn {
        let look = Look::new(HPos::Left, VPos::Center);
        for (row, entries) in self.legend.iter().enumerate() {
            let y = top + row as i32 * (LINE + 2) + LINE / 2;
            for (x, series, name) in entries {
                let x = left + x;
                match self.panel.series.get(*series) {
                    Some(of) => {
                        curves::sample(root, of.style, PALETTE[series % 8], (x, y), SAMPLE)?;
                        text::write(root, name, (x + SAMPLE + 6, y), look)?;
                    }
                    None => text::write(root, name, (x, y), look)?,
                }
            }
        }
        Ok(())
    }

    fn draw_grid(&self, root: &Root, plot: Area) -> Drawn {
        let line = |from, to| root.draw(&PathElement::new(vec![from, to], GRID));
        for (unit, _) in &self.x.ticks {
            let x = plot.across(*unit);
            line((x, plot.y), (x, plot.y + plot.h))?;
        }
        for (unit, _) in &self.y.ticks {
            let y = plot.up(*unit);
            line((plot.x, y), (plot.x + plot.w, y))?;
        }
        Ok(())
    }

    fn draw_notes(&self, root: &Root, plot: Area) -> Drawn {
        let top = |row: usize| plot.y - 3 - (row as i32 + 1) * LINE;
        for (unit, label) in &self.notes {
            let x = plot.across(*unit);
            let start = label.as_ref().map_or(plot.y, |l| top(l.0));
            let line = [(x, start), (x, plot.y + plot.h)];
            root.draw(&DashedPathElement::new(line, 4, 3, GREY.stroke_width(1)))?;
        }
        let labelled = |(unit, label): &'_ (f64, Option<(usize, String)>)| {
            label.clone().map(|(row, note)| (*unit, row, note))
        };
        for (unit, row, note) in self.notes.iter().filter_map(labelled) {
            let (look, shift) = beside(unit, &note, plot.w);
            let at = (plot.across(unit) + shift, top(row) + LINE / 2);
            let end = at.0 + shift.signum() * text::width(&note, SIZE);
            let back = [(at.0, at.1 - LINE / 2 + 1), (end, at.1 + LINE / 2 - 1)];
            root.draw(&Rectangle::new(back, WHITE.filled()))?;
            text::write(root, &note, at, look)?;
        }
        Ok(())
    }

    fn draw_names(&self, root: &Root, plot: Area) -> Drawn {
        let bottom = plot.y + plot.h + 5;
        let below = Look::new(HPos::Center, VPos::Top);
        match &self.names {
            Names::Ticks => {
                for (unit, label) in &self.x.ticks {
                    text::write(root, label, (plot.across(*unit), bottom), below)?;
                }
            }
            Names::Lines(names) => {
                for (i, lines) in names.iter().enumerate() {
                    let x = plot.across(self.x.unit(i as f64));
                    for (row, line) in lines.iter().enumerate() {
                        text::write(root, line, (x, bottom + row as i32 * LINE), below)?;
                    }
                }
            }
            Names::Upwards(names) => {
                let look = Look {
                    upwards: true,
                    ..Look::new(HPos::Right, VPos::Center)
                };
                for (i, name) in names.iter().enumerate() {
                    let x = plot.across(self.x.unit(i as f64));
                    text::write(root, name, (x, bottom), look)?;
                }
            }
        }
        Ok(())
    }

    fn draw_labels(&self, root: &Root, area: Area, plot: Area) -> Drawn {
        let right = Look::new(HPos::Right, VPos::Center);
        for (unit, label) in &self.y.ticks {
            text::write(root, label, (plot.x - 6, plot.up(*unit)), right)?;
        }
        let x_text = text::fit(&self.panel.x.text(), plot.w, SIZE);
        let low = (plot.x + plot.w / 2, area.y + area.h - 2);
        text::write(root, &x_text, low, Look::new(HPos::Center, VPos::Bottom))?;
        let upwards = Look {
            upwards: true,
            ..Look::new(HPos::Center, VPos::Top)
        };
        let y_text = text::fit(&self.panel.y.text(), plot.h, SIZE);
        text::write(root, &y_text, (area.x, plot.y + plot.h / 2), upwards)
    }
}

fn scales(panel: &Panel) -> (Scale, Scale) {
    let usable = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let points = || panel.series.iter().flat_map(|s| &s.points).filter(usable);
    let solid = |s: &Series| matches!(s.style, Style::Bars | Style::Area);
    let (low, high) = points().fold((f64::INFINITY, 0.0f64), |(l, h), p| {
        (l.min(p.1), h.max(p.1))
    });
    let zero = panel.series.iter().any(solid) || (low >= 0.0 && low <= high * 0.6);
    let wish = |zero, round, ticks| Wish { zero, round, ticks };
    let y = Scale::new(&panel.y, points().map(|p| p.1), wish(zero, true, 5));
    if !panel.categories.is_empty() {
        return (Scale::places(panel.categories.len()), y);
    }
    let margin = curves::bar_slot(&panel.series) / 2.0;
    let xs = points().flat_map(|p| [p.0 - margin, p.0 + margin]);
    (Scale::new(&panel.x, xs, wish(false, false, 7)), y)
}

fn legend(series: &[Series], width: i32) -> Vec<Vec<(i32, usize, String)>> {
    let mut rows: Vec<Vec<(i32, usize, String)>> = Vec::new();
    let named = series.iter().enumerate().filter(|s| !s.1.name.is_empty());
    let mut x = 0;
    for (i, of) in named {
        let name = text::fit(&of.name, width - SAMPLE - 6, SIZE);
        let wide = SAMPLE + 6 + text::width(&name, SIZE);
        if rows.is_empty() || x + wide > width {
            if rows.len() == LEGEND_ROWS {
                let more = format!("and {} more", series.len() - i);
                rows.push(vec![(0, usize::MAX, more)]);
                break;
            }
            rows.push(Vec::new());
            x = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, i, name));
        }
        x += wide + 16;
    }
    rows
}

/// Gives each label the lowest row where it touches no other label and no line to its right.
fn notes(notes: &[Note], x: &Scale, width: i32) -> Vec<(f64, Option<(usize, String)>)> {
    let mut placed: Vec<(f64, &str)> = notes
        .iter()
        .map(|n| (x.unit(n.x), n.text.as_str()))
        .filter(|n| (0.0..=1.0).contains(&n.0))
        .collect();
    placed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut starts = [i32::MAX; NOTE_ROWS];
    let mut place = |(unit, note): (f64, &str)| {
        let note = text::fit(note, width / 2, SIZE);
        let at = (unit * f64::from(width)) as i32;
        let wide = text::width(&note, SIZE) + 10;
        let from = if at + wide > width { at - wide } else { at };
        let free = (0..NOTE_ROWS).find(|&row| from + wide <= starts[row] && !note.is_empty());
        if let Some(row) = free {
            // The line below the label blocks the lower rows.
            starts[..=row].fill(from);
        }
        (unit, free.map(|row| (row, note)))
    };
    placed.into_iter().map(&mut place).collect()
}

/// A label stands to the right of its line, or to the left where the plot ends.
fn beside(unit: f64, note: &str, width: i32) -> (Look, i32) {
    let at = (unit * f64::from(width)) as i32;
    let (h, shift) = if at + text::width(note, SIZE) + 10 > width {
        (HPos::Right, -4)
    } else {
        (HPos::Left, 4)
    };
    let look = Look {
        color: GREY,
        ..Look::new(h, VPos::Center)
    };
    (look, shift)
}

fn names(categories: &[String], width: i32) -> Names {
    if categories.is_empty() {
        return Names::Ticks;
    }
    let room = width / categories.len() as i32 - 6;
    let fits = |name: &String| {
        name.split_whitespace()
            .all(|w| text::width(w, SIZE) <= room)
    };
    if categories.iter().all(fits) {
        let lines = |name: &String| text::wrap(name, room, SIZE, 3);
        return Names::Lines(categories.iter().map(lines).collect());
    }
    let every = categories.len() * 14 / width.max(1) as usize + 1;
    let shown = |(i, name): (usize, &String)| match i % every {
        0 => text::fit(name, UPWARDS, SIZE),
        _ => String::new(),
    };
    Names::Upwards(categories.iter().enumerate().map(shown).collect())
}
