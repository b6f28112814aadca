//! Texts of a figure: their estimated widths, line breaks and placement.

use super::{Drawn, Root};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Size of ordinary text, in pixels.
pub const SIZE: i32 = 12;
/// Height of a line of ordinary text, in pixels.
pub const LINE: i32 = 16;
/// Colour of ordinary text.
pub const INK: RGBColor = RGBColor(40, 40, 40);

/// How a text looks and which of its corners stands at its place.
#[derive(Clone, Copy)]
pub struct Look {
    /// Size in pixels.
    pub size: i32,
    /// Colour.
    pub color: RGBColor,
    /// Horizontal anchor.
    pub h: HPos,
    /// Vertical anchor.
    pub v: VPos,
    /// Bold face.
    pub bold: bool,
    /// Written upwards.
    pub upwards: bool,
}

impl Look {
    /// Ordinary text with its anchors.
    pub const fn new(h: HPos, v: VPos) -> Self {
        Self {
            size: SIZE,
            color: INK,
            h,
            v,
            bold: false,
            upwards: false,
        }
    }

    /// Bold text of a size in pixels.
    pub const fn title(self, size: i32) -> Self {
        Self {
            size,
            bold: true,
            ..self
        }
    }
}

/// Writes a text with its anchor at a pixel.
pub fn write(root: &Root, text: &str, at: (i32, i32), look: Look) -> Drawn {
    if text.is_empty() {
        return Ok(());
    }
    // The SVG backend divides sizes by this factor.
    let mut font = ("sans-serif", f64::from(look.size) * 1.24).into_font();
    if look.bold {
        font = font.style(FontStyle::Bold);
    }
    if look.upwards {
        font = font.transform(FontTransform::Rotate270);
    }
    let style = TextStyle::from(font)
        .color(&look.color)
        .pos(Pos::new(look.h, look.v));
    root.draw(&Text::new(clean(text), at, style))
}

/// The text without characters that XML forbids.
fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}'))
        .filter(|c| !c.is_control())
        .collect()
}

/// The width of a text in pixels, rather too large than too small.
pub fn width(text: &str, size: i32) -> i32 {
    let ems: f64 = text.chars().map(advance).sum();
    (ems * f64::from(size)).ceil() as i32
}

fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.35,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.98,
        'A'..='Z' => 0.74,
        c if c.is_ascii() => 0.62,
        c if u32::from(c) < 0x1100 => 0.7,
        _ => 1.05,
    }
}

/// The text cut to a width in pixels, with an ellipsis where something is missing.
pub fn fit(text: &str, room: i32, size: i32) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut left = f64::from(room) / f64::from(size) - 1.0;
    for c in text.chars() {
        left -= advance(c);
        if left < 0.0 {
            break;
        }
        kept.push(c);
    }
    if kept.is_empty() {
        return kept;
    }
    format!("{}…", kept.trim_end())
}

/// The text broken at blanks into at most `most` lines of a width in pixels.
pub fn wrap(text: &str, room: i32, size: i32, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() >= most;
        match lines.last_mut() {
            Some(line) if full || width(line, size) + width(word, size) + size / 2 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, room, size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_and_cuts() {
        assert_eq!(wrap("one two three", 60, 12, 3), ["one two", "three"]);
        let cut = wrap("one two three four five six", 60, 12, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut[1].ends_with('…'));
        assert!(cut.iter().all(|l| width(l, 12) <= 66));
        assert!(wrap("", 60, 12, 2).is_empty());
        assert_eq!(fit("wide", 5, 12), "");
    }
}
