//! Scales of axes: from values to the unit interval, with round ticks and readable numbers.

use rondo_net::chart::Axis;

/// Values beyond this size count as missing.
const LARGEST: f64 = 1e300;
/// Most ticks of a linear scale.
const MOST_TICKS: u32 = 20;

/// A scale from an axis's values to 0..1.
pub struct Scale {
    log: bool,
    /// Ends; of a logarithmic scale, their decimal logarithms.
    low: f64,
    high: f64,
    /// Labelled positions in 0..1.
    pub ticks: Vec<(f64, String)>,
}

/// What is wanted of a scale.
#[derive(Clone, Copy)]
pub struct Wish {
    /// A linear scale shows zero.
    pub zero: bool,
    /// Free ends are moved to round values.
    pub round: bool,
    /// Number of ticks, about.
    pub ticks: usize,
}

impl Scale {
    /// A scale that shows `values`, within the ends that the axis fixes.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, wish: Wish) -> Self {
        let of = |value: f64| position(value, axis.log);
        let (mut low, mut high) = values
            .map(of)
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
                (l.min(v), h.max(v))
            });
        if wish.zero && !axis.log {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        let fixed = |end: Option<f64>| end.map(of).filter(|v| v.is_finite());
        let (fixed_low, fixed_high) = (fixed(axis.min), fixed(axis.max));
        low = fixed_low.unwrap_or(low);
        high = fixed_high.unwrap_or(high);
        (low, high) = widened(low, high, axis.log);
        let step = step(low, high, wish.ticks);
        if wish.round {
            let (l, h) = rounded(low, high, axis.log, step);
            low = if fixed_low == Some(low) { low } else { l };
            high = if fixed_high == Some(high) { high } else { h };
        }
        let values = if axis.log {
            log_ticks(low, high, wish.ticks)
        } else {
            linear_ticks(low, high, step)
        };
        let mut scale = Self {
            log: axis.log,
            low,
            high,
            ticks: Vec::new(),
        };
        scale.ticks = values
            .into_iter()
            .map(|(v, step)| (scale.unit(v), label(v, step)))
            .collect();
        scale
    }

    /// A scale for `count` named places, place i in the middle of its i-th part.
    pub fn places(count: usize) -> Self {
        Self {
            log: false,
            low: -0.5,
            high: count.max(1) as f64 - 0.5,
            ticks: Vec::new(),
        }
    }

    /// Where a value lies: 0 at the lower end, 1 at the upper, NaN if the scale has no place for
    /// it.
    pub fn unit(&self, value: f64) -> f64 {
        (position(value, self.log) - self.low) / (self.high - self.low)
    }

    /// Where bars stand: zero, or the lower end if the scale does not show zero.
    pub fn base(&self) -> f64 {
        let zero = self.unit(0.0);
        if zero.is_nan() {
            0.0
        } else {
            zero.clamp(0.0, 1.0)
        }
    }
}

fn position(value: f64, log: bool) -> f64 {
    let usable = value.abs() <= LARGEST && !(log && value <= 0.0);
    match (usable, log) {
        (false, _) => f64::NAN,
        (true, true) => value.log10(),
        (true, false) => value,
    }
}

/// Ends that are apart, whatever the data.
fn widened(low: f64, high: f64, log: bool) -> (f64, f64) {
    let apart = (high - low) > low.abs().max(high.abs()) * 1e-9;
    match (low.is_finite(), high.is_finite()) {
        (true, true) if apart => (low, high),
        (false, false) => (0.0, 1.0),
        (low_known, _) => {
            let middle = if low_known { low } else { high };
            let pad = match (log, middle == 0.0) {
                (true, _) | (false, true) => 1.0,
                (false, false) => middle.abs() * 0.1,
            };
            (middle - pad, middle + pad)
        }
    }
}

fn rounded(low: f64, high: f64, log: bool, step: f64) -> (f64, f64) {
    if log {
        return (low.floor(), high.ceil());
    }
    ((low / step).floor() * step, (high / step).ceil() * step)
}

/// A step of 1, 2, 2.5 or 5 times a power of ten that gives about `ticks` ticks.
fn step(low: f64, high: f64, ticks: usize) -> f64 {
    let raw = (high - low) / ticks.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .find(|m| m * power >= raw * 0.999)
        .unwrap_or(10.0)
        * power
}

/// Values of ticks, each with its distance to the next.
fn linear_ticks(low: f64, high: f64, step: f64) -> Vec<(f64, f64)> {
    let first = (low / step - 1e-6).ceil();
    (0..MOST_TICKS)
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|v| *v <= high + step * 1e-6)
        .map(|v| (v, step))
        .collect()
}

fn log_ticks(low: f64, high: f64, ticks: usize) -> Vec<(f64, f64)> {
    let decades = high - low;
    let parts: &[f64] = match decades {
        d if d < 0.7 => return few_decades(low, high, ticks),
        d if d < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let stride = (decades / ticks.max(1) as f64).ceil().max(1.0);
    let first = (low / stride).floor() * stride;
    (0..=ticks + 2)
        .map(|i| first + i as f64 * stride)
        .flat_map(|power| parts.iter().map(move |p| (p * 10f64.powf(power), power)))
        .filter(|(v, _)| (low - 1e-9..=high + 1e-9).contains(&v.log10()))
        .map(|(v, power)| (v, 10f64.powf(power)))
        .collect()
}

/// Ticks of a logarithmic scale too short for powers of ten.
fn few_decades(low: f64, high: f64, ticks: usize) -> Vec<(f64, f64)> {
    let (low, high) = (10f64.powf(low), 10f64.powf(high));
    linear_ticks(low, high, step(low, high, ticks))
}

/// A number with the decimals that tell it from its neighbours a `step` away.
pub fn label(value: f64, step: f64) -> String {
    let step = step.abs();
    let size = value.abs();
    if size < step * 1e-6 {
        return "0".into();
    }
    if !(1e-5..1e15).contains(&size) || !(1e-7..1e15).contains(&step) {
        return format!("{value:.3e}").replace(".000e", "e");
    }
    let (factor, suffix) = match size {
        s if s >= 1e12 => (1e12, " T"),
        s if s >= 1e9 => (1e9, " G"),
        s if s >= 1e6 => (1e6, " M"),
        _ => (1.0, ""),
    };
    let decimals = decimals(step / factor);
    let digits = format!("{:.decimals$}", size / factor);
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{}{suffix}", grouped(&digits))
}

/// A number with three digits that count.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0" } else { "–" }.into();
    }
    let power = value.abs().log10().floor() - 2.0;
    let power = if value.abs() < 1e6 {
        power.min(0.0)
    } else {
        power
    };
    let text = label(value, 10f64.powf(power));
    let (digits, suffix) = match text.find([' ', 'e']) {
        Some(end) => text.split_at(end),
        None => (text.as_str(), ""),
    };
    if !digits.contains('.') {
        return text;
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}{suffix}")
}

fn decimals(step: f64) -> usize {
    (0..9)
        .find(|&d| {
            let scaled = step * 10f64.powi(d);
            (scaled - scaled.round()).abs() < 1e-6 && scaled > 0.5
        })
        .unwrap_or(9) as usize
}

/// Digits with commas at the thousands.
fn grouped(digits: &str) -> String {
    let (whole, rest) = match digits.find('.') {
        Some(dot) => digits.split_at(dot),
        None => (digits, ""),
    };
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, log: bool) -> Vec<String> {
        let axis = Axis {
            log,
            ..Axis::default()
        };
        let wish = Wish {
            zero: false,
            round: true,
            ticks: 5,
        };
        let scale = Scale::new(&axis, [low, high].into_iter(), wish);
        scale.ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_and_readable() {
        assert_eq!(labels(0.0, 19_000.0, false)[1], "5,000");
        assert_eq!(labels(0.0, 1.0, false)[1], "0.2");
        assert_eq!(labels(-0.12, 0.13, false)[0], "−0.15");
        assert_eq!(
            labels(1.0, 1e6, true).last().map(String::as_str),
            Some("1 M")
        );
        assert_eq!(labels(0.0, 5e6, false)[1], "1 M");
        assert_eq!(
            labels(3.0, 3.0, false).first().map(String::as_str),
            Some("2.6")
        );
    }

    #[test]
    fn short_numbers() {
        let texts: Vec<String> = [0.5, 99.75, 1234.5, 0.0123, -3.0, 2.5e7, 0.0, f64::NAN]
            .into_iter()
            .map(short)
            .collect();
        let expected = ["0.5", "99.8", "1,234", "0.0123", "−3", "25 M", "0", "–"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn odd_ranges_give_a_scale() {
        let odd = [
            (f64::NAN, f64::NAN),
            (-1e300, 1e300),
            (f64::MAX, f64::INFINITY),
            (1e-320, 1e-310),
            (1e16, 1e16 + 2.0),
            (-5.0, -5.0),
        ];
        for (low, high) in odd {
            for log in [false, true] {
                assert!(labels(low, high, log).len() < 30, "{low} {high} {log}");
            }
        }
    }
}
