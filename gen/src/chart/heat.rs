//! A heat map: cells from pale to dark by value, with texts.

use super::scale;
use super::text::{self, Look, LINE, SIZE};
use super::{Area, Drawn, Root, GREY, GRID};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use rondo_net::chart::Heat;

/// Least height of all cells, and of a row with text, in pixels.
const CELLS: i32 = 220;
const ROW: i32 = 22;
/// Width of the key at the right with its numbers, in pixels.
const KEY: i32 = 74;
/// Bytes of a cell without text.
const CELL_BYTES: usize = 130;

/// Colours from the lowest value to the highest.
const RAMP: [(f64, f64, f64); 5] = [
    (247.0, 251.0, 255.0),
    (198.0, 219.0, 239.0),
    (107.0, 174.0, 214.0),
    (33.0, 113.0, 181.0),
    (8.0, 48.0, 107.0),
];

/// A heat map whose texts are placed.
pub struct Plan<'a> {
    heat: &'a Heat,
    title: Vec<String>,
    /// Rows and columns of the data.
    rows: usize,
    columns: usize,
    /// Rows and columns of the data that are drawn as one cell, with the highest value.
    merge: (usize, usize),
    low: f64,
    high: f64,
    left: i32,
}

impl<'a> Plan<'a> {
    /// Places the texts of `heat` in a width in pixels; `share` is the bytes it may take.
    pub fn new(heat: &'a Heat, width: i32, share: usize) -> Self {
        let rows = heat.values.len();
        let columns = heat.values.iter().map(Vec::len).max().unwrap_or(0);
        let most = ((share / CELL_BYTES) as f64).sqrt().clamp(24.0, 48.0) as usize;
        let known = heat.values.iter().flatten().filter(|v| v.is_finite());
        let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(*v), h.max(*v))
        });
        let names = heat.y_names.iter().take(rows);
        let widest = names.map(|n| text::width(n, SIZE)).max().unwrap_or(0);
        let merge = (rows.div_ceil(most).max(1), columns.div_ceil(most).max(1));
        let title = match merge {
            (1, 1) => heat.title.clone(),
            (r, c) => format!("{} (highest of each {r} × {c} values)", heat.title),
        };
        Self {
            title: text::wrap(&title, width, 14, 2),
            rows,
            columns,
            merge,
            low,
            high,
            left: widest.min(width / 3) + 8,
            heat,
        }
    }

    /// The least height, in pixels.
    pub fn height(&self) -> i32 {
        let cells = self.rows.div_ceil(self.merge.0) as i32 * ROW;
        self.above() + cells.clamp(CELLS, 2 * CELLS) + self.below()
    }

    fn above(&self) -> i32 {
        self.title.len() as i32 * 18 + 10
    }

    /// Room for the columns' names: two lines, or more if they are written upwards.
    fn below(&self) -> i32 {
        if self.upright() {
            2 * LINE + 6
        } else {
            let names = self.heat.x_names.iter().map(|n| text::width(n, SIZE));
            names.max().unwrap_or(0).min(110) + 8
        }
    }

    fn cell_width(&self) -> i32 {
        let cells = self.columns.div_ceil(self.merge.1).max(1) as i32;
        (super::PANEL - self.left - KEY) / cells
    }

    /// Whether the columns' names fit below their columns in two lines.
    fn upright(&self) -> bool {
        let room = self.cell_width() - 4;
        let fits = |name: &String| {
            let mut words = name.split_whitespace();
            words.all(|w| text::width(w, SIZE) <= room)
                && text::wrap(name, room, SIZE, 3).len() <= 2
        };
        self.heat.x_names.iter().all(fits)
    }

    /// Draws the heat map.
    pub fn draw(&self, root: &Root, area: Area) -> Drawn {
        super::panel_title(root, &self.title, area)?;
        let cells = Area {
            x: area.x + self.left,
            y: area.y + self.above(),
            w: area.w - self.left - KEY,
            h: area.h - self.above() - self.below(),
        };
        if self.rows == 0 || self.columns == 0 || self.low > self.high {
            super::no_data(root, cells)?;
        } else {
            self.draw_cells(root, cells)?;
            self.draw_names(root, cells)?;
            self.draw_key(root, cells)?;
        }
        let frame = [(cells.x, cells.y), (cells.x + cells.w, cells.y + cells.h)];
        root.draw(&Rectangle::new(frame, GREY.stroke_width(1)))
    }

    /// The part of `cells` of a merged row and column.
    fn cell(&self, cells: Area, row: usize, column: usize) -> Area {
        let rows = self.rows.div_ceil(self.merge.0) as f64;
        let columns = self.columns.div_ceil(self.merge.1) as f64;
        let (x, y) = (
            cells.across(column as f64 / columns),
            cells.up(1.0 - row as f64 / rows),
        );
        Area {
            x,
            y,
            w: cells.across((column + 1) as f64 / columns) - x,
            h: cells.up(1.0 - (row + 1) as f64 / rows) - y,
        }
    }

    fn draw_cells(&self, root: &Root, cells: Area) -> Drawn {
        for row in 0..self.rows.div_ceil(self.merge.0) {
            for column in 0..self.columns.div_ceil(self.merge.1) {
                let value = self.highest(row, column);
                let at = self.cell(cells, row, column);
                let color = self.color(value);
                let corners = [(at.x, at.y), (at.x + at.w, at.y + at.h)];
                root.draw(&Rectangle::new(corners, color.filled()))?;
                self.draw_text(root, at, (row, column), color)?;
            }
        }
        Ok(())
    }

    /// The highest value of a merged cell, NaN without any.
    fn highest(&self, row: usize, column: usize) -> f64 {
        let (rows, columns) = self.merge;
        let values = self.heat.values.iter().skip(row * rows).take(rows);
        values
            .flat_map(|v| v.iter().skip(column * columns).take(columns))
            .filter(|v| v.is_finite())
            .fold(f64::NAN, |high, v| high.max(*v))
    }

    fn color(&self, value: f64) -> RGBColor {
        if value.is_nan() {
            return GRID;
        }
        // Halves, since the distance of two finite numbers may be infinite.
        let span = self.high / 2.0 - self.low / 2.0;
        let part = (value / 2.0 - self.low / 2.0) / span;
        ramp(if part.is_finite() { part } else { 0.5 })
    }

    fn draw_text(&self, root: &Root, at: Area, cell: (usize, usize), back: RGBColor) -> Drawn {
        if self.merge != (1, 1) || at.h < SIZE + 2 {
            return Ok(());
        }
        let given = self.heat.texts.get(cell.0).and_then(|row| row.get(cell.1));
        let value = given.map_or_else(|| scale::short(self.highest(cell.0, cell.1)), String::clone);
        let size = (9..=SIZE)
            .rev()
            .find(|s| text::width(&value, *s) <= at.w - 2);
        let Some(size) = size else {
            return Ok(());
        };
        let look = Look {
            size,
            color: if luminance(back) > 0.2 { BLACK } else { WHITE },
            ..Look::new(HPos::Center, VPos::Center)
        };
        text::write(root, &value, (at.x + at.w / 2, at.y + at.h / 2), look)
    }

    fn draw_names(&self, root: &Root, cells: Area) -> Drawn {
        let right = Look::new(HPos::Right, VPos::Center);
        let first = self.cell(cells, 0, 0);
        let every = (LINE - 2).div_euclid(first.h.max(1)) as usize + 1;
        let shown = self
            .heat
            .y_names
            .iter()
            .take(self.rows)
            .step_by(self.merge.0);
        for (row, name) in shown.enumerate().step_by(every) {
            let at = self.cell(cells, row, 0);
            let name = text::fit(name, self.left - 8, SIZE);
            text::write(root, &name, (cells.x - 6, at.y + at.h / 2), right)?;
        }
        let upright = self.upright();
        let every = if upright {
            1
        } else {
            SIZE / first.w.max(1) + 1
        } as usize;
        let shown = self
            .heat
            .x_names
            .iter()
            .take(self.columns)
            .step_by(self.merge.1);
        for (column, name) in shown.enumerate().step_by(every) {
            let at = self.cell(cells, 0, column);
            self.draw_column(
                root,
                name,
                (at.x + at.w / 2, cells.y + cells.h + 5),
                upright,
            )?;
        }
        Ok(())
    }

    fn draw_column(&self, root: &Root, name: &str, at: (i32, i32), upright: bool) -> Drawn {
        if upright {
            let lines = text::wrap(name, self.cell_width() - 4, SIZE, 2);
            let look = Look::new(HPos::Center, VPos::Top);
            for (i, line) in lines.iter().enumerate() {
                text::write(root, line, (at.0, at.1 + i as i32 * LINE), look)?;
            }
            return Ok(());
        }
        let look = Look {
            upwards: true,
            ..Look::new(HPos::Right, VPos::Center)
        };
        text::write(root, &text::fit(name, 110, SIZE), at, look)
    }

    /// The key: a strip of all colours with the ends of the values and their unit.
    fn draw_key(&self, root: &Root, cells: Area) -> Drawn {
        let (x, steps) = (cells.x + cells.w + 12, 32);
        let strip = Area { x, w: 12, ..cells };
        for i in 0..steps {
            let part = f64::from(i) / f64::from(steps);
            let top = strip.up(part + 1.0 / f64::from(steps));
            let corners = [(x, top), (x + strip.w, strip.up(part))];
            root.draw(&Rectangle::new(corners, ramp(part).filled()))?;
        }
        let frame = [(x, cells.y), (x + strip.w, cells.y + cells.h)];
        root.draw(&Rectangle::new(frame, GREY.stroke_width(1)))?;
        let x = x + strip.w + 4;
        let look = Look::new(HPos::Left, VPos::Center);
        text::write(root, &scale::short(self.high), (x, cells.y + 6), look)?;
        text::write(
            root,
            &scale::short(self.low),
            (x, cells.y + cells.h - 6),
            look,
        )?;
        let upwards = Look {
            upwards: true,
            ..Look::new(HPos::Center, VPos::Top)
        };
        let unit = text::fit(&self.heat.unit, cells.h - 4 * LINE, SIZE);
        text::write(root, &unit, (x + 2, cells.y + cells.h / 2), upwards)
    }
}

fn ramp(part: f64) -> RGBColor {
    let at = part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let i = (at as usize).min(RAMP.len() - 2);
    let (a, b, t) = (RAMP[i], RAMP[i + 1], at - i as f64);
    let mix = |from: f64, to: f64| (from + (to - from) * t).round() as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Relative luminance, 0 (black) to 1 (white).
fn luminance(color: RGBColor) -> f64 {
    let linear = |c: u8| (f64::from(c) / 255.0).powf(2.2);
    0.2126 * linear(color.0) + 0.7152 * linear(color.1) + 0.0722 * linear(color.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_darkens() {
        let steps: Vec<f64> = (0..=20)
            .map(|i| luminance(ramp(f64::from(i) / 20.0)))
            .collect();
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn merged_cells_keep_the_highest_value() {
        let rows = (0..200).map(|r| (0..300).map(|c| f64::from(r * c)).collect());
        let heat = Heat {
            values: rows.collect(),
            ..Heat::new("h", "")
        };
        let plan = Plan::new(&heat, 560, 300_000);
        let (rows, columns) = plan.merge;
        assert!(rows > 1 && columns > 1);
        let last = plan.highest((200 - 1) / rows, (300 - 1) / columns);
        assert_eq!(last, 199.0 * 299.0);
    }
}
