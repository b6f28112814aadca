//! Plain data of figures: panels of curves, bars and heat maps, without any drawing.
//!
//! A simulation fills a [`Figure`]; a renderer turns it into a picture and [`Figure::to_csv`] into
//! a table. Values are in the unit that the axis names.

use serde::Serialize;
use std::fmt::Write;

/// A figure: a grid of panels under one title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Title above the grid; empty for none.
    pub title: String,
    /// Panels side by side in a row of the grid.
    pub columns: usize,
    /// The panels, row by row.
    pub panels: Vec<PanelKind>,
}

/// One cell of a figure's grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PanelKind {
    /// Curves, points or bars over two axes.
    Plot(Panel),
    /// A matrix of coloured cells.
    Heat(Heat),
}

/// Curves, points or bars over two axes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Panel {
    /// Title of the panel.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// What is drawn, from the back to the front.
    pub series: Vec<Series>,
    /// Names on the horizontal axis: a point with x = i belongs to name i. Empty for a numeric axis.
    pub categories: Vec<String>,
    /// Vertical marker lines.
    pub notes: Vec<Note>,
}

/// An axis of a panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// Unit of the values; empty for a pure number.
    pub unit: String,
    /// Logarithmic scale; values of zero and below are left out.
    pub log: bool,
    /// Lower end, in the axis's unit; without it, taken from the data.
    pub min: Option<f64>,
    /// Upper end, in the axis's unit; without it, taken from the data.
    pub max: Option<f64>,
}

/// A named sequence of points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// (x, y) in the units of the axes; a point with NaN interrupts a curve.
    pub points: Vec<(f64, f64)>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Straight lines from point to point.
    Line,
    /// Like a line, dashed.
    Dashed,
    /// Each value holds until the next point.
    Step,
    /// Separate dots.
    Points,
    /// Vertical bars, side by side when several series have them.
    Bars,
    /// A line with a tint down to the axis.
    Area,
}

/// A vertical marker line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    /// Position, in the unit of the horizontal axis.
    pub x: f64,
    /// Label of the line.
    pub text: String,
}

/// A matrix of coloured cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Heat {
    /// Title of the panel.
    pub title: String,
    /// Names of the columns, from the left.
    pub x_names: Vec<String>,
    /// Names of the rows, from the top.
    pub y_names: Vec<String>,
    /// Values by row and column; NaN is a cell without a value.
    pub values: Vec<Vec<f64>>,
    /// Texts in the cells by row and column; where one is missing the value is written.
    pub texts: Vec<Vec<String>>,
    /// Unit of the values; empty for a pure number.
    pub unit: String,
}

impl Figure {
    /// A figure of `columns` panels in a row, with no panels yet.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self {
            title: title.into(),
            columns,
            panels: Vec::new(),
        }
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, panel: impl Into<PanelKind>) -> Self {
        self.panels.push(panel.into());
        self
    }

    /// The figure's values as comma-separated text, one line a value under the heading
    /// `panel,series,x,y`. On an axis with names x is the name; of a heat map the series is the
    /// row's name and x the column's.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::from("panel,series,x,y\n");
        for panel in &self.panels {
            match panel {
                PanelKind::Plot(plot) => plot.write_csv(&mut out),
                PanelKind::Heat(heat) => heat.write_csv(&mut out),
            }
        }
        out
    }
}

impl From<Panel> for PanelKind {
    fn from(panel: Panel) -> Self {
        Self::Plot(panel)
    }
}

impl From<Heat> for PanelKind {
    fn from(heat: Heat) -> Self {
        Self::Heat(heat)
    }
}

impl Panel {
    /// A panel with a title and nothing else.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Names the horizontal axis and its unit.
    #[must_use]
    pub fn x(mut self, label: impl Into<String>, unit: impl Into<String>) -> Self {
        self.x.label = label.into();
        self.x.unit = unit.into();
        self
    }

    /// Names the vertical axis and its unit.
    #[must_use]
    pub fn y(mut self, label: impl Into<String>, unit: impl Into<String>) -> Self {
        self.y.label = label.into();
        self.y.unit = unit.into();
        self
    }

    /// Makes the horizontal axis logarithmic.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.x.log = true;
        self
    }

    /// Makes the vertical axis logarithmic.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.y.log = true;
        self
    }

    /// Fixes ends of the horizontal axis, in its unit.
    #[must_use]
    pub fn x_range(mut self, min: impl Into<Option<f64>>, max: impl Into<Option<f64>>) -> Self {
        self.x.min = min.into();
        self.x.max = max.into();
        self
    }

    /// Fixes ends of the vertical axis, in its unit.
    #[must_use]
    pub fn y_range(mut self, min: impl Into<Option<f64>>, max: impl Into<Option<f64>>) -> Self {
        self.y.min = min.into();
        self.y.max = max.into();
        self
    }

    /// Names on the horizontal axis: a point with x = i belongs to name i.
    #[must_use]
    pub fn categories<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.categories = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a series in front of those before it; points are in the units of the axes.
    #[must_use]
    pub fn series(
        mut self,
        name: impl Into<String>,
        style: Style,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.series.push(Series {
            name: name.into(),
            style,
            points: points.into_iter().collect(),
        });
        self
    }

    /// Adds bars, one value a category, in the unit of the vertical axis.
    #[must_use]
    pub fn bars(self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let points = values.into_iter().enumerate().map(|(i, v)| (i as f64, v));
        self.series(name, Style::Bars, points)
    }

    /// Adds a vertical marker line at `x`, in the unit of the horizontal axis.
    #[must_use]
    pub fn note(mut self, x: f64, text: impl Into<String>) -> Self {
        self.notes.push(Note {
            x,
            text: text.into(),
        });
        self
    }

    fn write_csv(&self, out: &mut String) {
        for series in &self.series {
            for &(x, y) in &series.points {
                let x = self.category(x).map_or_else(|| number(x), quoted);
                row(out, &self.title, &series.name, &x, y);
            }
        }
    }

    /// The name of category `x`, if `x` is the number of one.
    fn category(&self, x: f64) -> Option<&str> {
        let whole = x >= 0.0 && x.fract() == 0.0;
        let name = whole.then(|| self.categories.get(x as usize))??;
        Some(name)
    }
}

impl Axis {
    /// The axis's text: its label with the unit in brackets, as in `Time (ms)`.
    #[must_use]
    pub fn text(&self) -> String {
        match (self.label.is_empty(), self.unit.is_empty()) {
            (_, true) => self.label.clone(),
            (true, false) => self.unit.clone(),
            (false, false) => format!("{} ({})", self.label, self.unit),
        }
    }
}

impl Heat {
    /// A heat map with a title and the unit of its values, without cells.
    #[must_use]
    pub fn new(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            unit: unit.into(),
            ..Self::default()
        }
    }

    /// Names the columns, from the left.
    #[must_use]
    pub fn x_names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.x_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a row below those before it: its name and its values, one a column.
    #[must_use]
    pub fn row(mut self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        self.y_names.push(name.into());
        self.values.push(values.into_iter().collect());
        self
    }

    /// Replaces the texts in the cells, by row and column.
    #[must_use]
    pub fn texts(mut self, texts: Vec<Vec<String>>) -> Self {
        self.texts = texts;
        self
    }

    fn write_csv(&self, out: &mut String) {
        let name =
            |names: &[String], i: usize| names.get(i).map_or_else(|| i.to_string(), String::clone);
        for (i, values) in self.values.iter().enumerate() {
            for (j, &value) in values.iter().enumerate() {
                let x = quoted(&name(&self.x_names, j));
                row(out, &self.title, &name(&self.y_names, i), &x, value);
            }
        }
    }
}

/// Appends a line; `x` is already quoted where it has to be.
fn row(out: &mut String, panel: &str, series: &str, x: &str, y: f64) {
    let (panel, series, y) = (quoted(panel), quoted(series), number(y));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{panel},{series},{x},{y}");
}

/// A number that reads back as the same value, without long runs of zeros.
fn number(value: f64) -> String {
    let size = value.abs();
    if size.is_finite() && size != 0.0 && !(1e-5..1e15).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A field in quotes where it holds a separator, a quote, a line end or blanks at an end.
fn quoted(field: &str) -> String {
    let special = field.contains([',', '"', '\n', '\r']) || field.trim() != field;
    if special {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_is_long_and_quoted() {
        let curve = Panel::new("Rate, \"all\"").x("Time", "ms").series(
            "flow\n1",
            Style::Line,
            [(0.5, 2.0), (1e-9, f64::NAN)],
        );
        let bars = Panel::new("Bars")
            .categories(["one, two", "b"])
            .bars("s", [1.0, 2.5, 4.0]);
        let heat = Heat::new("Heat", "%").x_names(["a"]).row(" r", [7.0, 1e20]);
        let csv = Figure::new("f", 2)
            .panel(curve)
            .panel(bars)
            .panel(heat)
            .to_csv();
        let expected = "panel,series,x,y\n\
            \"Rate, \"\"all\"\"\",\"flow\n1\",0.5,2\n\
            \"Rate, \"\"all\"\"\",\"flow\n1\",1e-9,NaN\n\
            Bars,s,\"one, two\",1\nBars,s,b,2.5\nBars,s,2,4\n\
            Heat,\" r\",a,7\nHeat,\" r\",1,1e20\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn axis_text_has_the_unit() {
        let panel = Panel::new("p").x("Time", "ms").y("Share", "");
        assert_eq!(panel.x.text(), "Time (ms)");
        assert_eq!(panel.y.text(), "Share");
    }

    #[test]
    fn serializes_with_the_kind() {
        let figure = Figure::new("f", 1)
            .panel(Panel::new("p").bars("b", [1.0]))
            .panel(Heat::new("h", ""));
        let json = serde_json::to_value(&figure).expect("plain data");
        assert_eq!(json["panels"][0]["kind"], "plot");
        assert_eq!(json["panels"][0]["series"][0]["style"], "bars");
        assert_eq!(json["panels"][1]["kind"], "heat");
    }
}
