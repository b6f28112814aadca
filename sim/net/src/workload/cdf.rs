//! Flow-size distributions: tables of size and cumulative percent, read from text or built in.
//!
//! A table is the inverse distribution function, linear between its points: a percentage drawn
//! uniformly is looked up and interpolated.

use super::{read_text, WorkloadError};
use rand::Rng;
use std::path::Path;

/// Names of the built-in tables with their text. `workloads/README.md` gives the origin of each.
const BUILT_IN: [(&str, &str); 8] = [
    ("web-search", include_str!("../../workloads/web-search.txt")),
    (
        "cache-follower",
        include_str!("../../workloads/cache-follower.txt"),
    ),
    ("web-server", include_str!("../../workloads/web-server.txt")),
    ("hadoop", include_str!("../../workloads/hadoop.txt")),
    ("fb-hadoop", include_str!("../../workloads/fb-hadoop.txt")),
    (
        "ali-storage",
        include_str!("../../workloads/ali-storage.txt"),
    ),
    ("solar", include_str!("../../workloads/solar.txt")),
    ("google-rpc", include_str!("../../workloads/google-rpc.txt")),
];

/// How far the last percentage may be from 100, for tables digitised with rounding.
const END_TOLERANCE: f64 = 1e-6;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    bytes: f64,
    percent: f64,
}

/// A flow-size distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeCdf {
    points: Vec<Point>,
}

impl SizeCdf {
    /// Names that [`SizeCdf::built_in`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The built-in table of that name.
    pub fn built_in(name: &str) -> Result<Self, WorkloadError> {
        match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((known, text)) => Self::parse(known, text),
            None => Err(WorkloadError::argument(
                "flow-size table",
                format!(
                    "no built-in table is called {name:?}; use one of {} or give a file",
                    Self::names().collect::<Vec<_>>().join(", ")
                ),
            )),
        }
    }

    /// Reads a table from a file.
    pub fn load(path: &Path) -> Result<Self, WorkloadError> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Reads a table from text: one `bytes percent` pair a line, `#` starts a comment. `path` is used
    /// in error messages only.
    pub fn parse(path: &str, text: &str) -> Result<Self, WorkloadError> {
        let fail = |line: usize, message: String| WorkloadError::Cdf {
            path: path.to_owned(),
            line,
            message,
        };
        let mut points: Vec<Point> = Vec::new();
        let mut last_line = 1;
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            last_line = index + 1;
            let point = parse_point(content).map_err(|message| fail(last_line, message))?;
            check_order(points.last(), point).map_err(|message| fail(last_line, message))?;
            points.push(point);
        }
        let Some(last) = points.last() else {
            let message = "has no points; give lines of size in bytes and cumulative percent";
            return Err(fail(text.lines().count().max(1), message.into()));
        };
        if (last.percent - 100.0).abs() > END_TOLERANCE {
            let message = format!(
                "ends at {} percent; the last line must reach 100",
                last.percent
            );
            return Err(fail(last_line, message));
        }
        if last.bytes < 1.0 {
            let message = "every size is 0; give a largest size of at least 1 byte";
            return Err(fail(last_line, message.into()));
        }
        Ok(Self { points })
    }

    /// Mean flow size in bytes.
    pub fn mean_bytes(&self) -> f64 {
        let mut sum = 0.0;
        let mut before = self.origin();
        for &point in &self.points {
            sum += (point.percent - before.percent) / 100.0 * (point.bytes + before.bytes) / 2.0;
            before = point;
        }
        sum
    }

    /// Largest flow size in bytes.
    pub fn max_bytes(&self) -> u64 {
        self.sample(1.0)
    }

    /// The flow size in bytes (at least 1) below which the share `u` of the flows lies. `u` outside
    /// 0 to 1 is taken as the nearer end.
    pub fn sample(&self, u: f64) -> u64 {
        let percent = u.clamp(0.0, 1.0) * 100.0;
        let next = self.points.partition_point(|p| p.percent < percent);
        let before = match next {
            0 => self.origin(),
            _ => self.points[next - 1],
        };
        // Only a table that ends a rounding error below 100 has no next point.
        let after = self.points.get(next).copied().unwrap_or(before);
        let width = after.percent - before.percent;
        let bytes = if width > 0.0 {
            before.bytes + (after.bytes - before.bytes) * (percent - before.percent) / width
        } else {
            after.bytes
        };
        (bytes.round() as u64).max(1)
    }

    /// Draws a flow size in bytes.
    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        self.sample(rng.random())
    }

    /// A table that starts above 0 percent has that share of flows at its smallest size.
    fn origin(&self) -> Point {
        Point {
            bytes: self.points.first().map_or(0.0, |p| p.bytes),
            percent: 0.0,
        }
    }
}

fn parse_point(content: &str) -> Result<Point, String> {
    let fields: Vec<&str> = content.split_whitespace().collect();
    let [bytes, percent] = fields[..] else {
        return Err(format!(
            "has {} columns; give two, size in bytes and cumulative percent",
            fields.len()
        ));
    };
    let number = |text: &str, limit: f64, what: &str| match text.parse::<f64>() {
        Ok(value) if (0.0..=limit).contains(&value) => Ok(value),
        _ => Err(format!(
            "{text:?} is no {what}; give a number from 0 to {limit}"
        )),
    };
    Ok(Point {
        bytes: number(bytes, 1e15, "size in bytes")?,
        percent: number(percent, 100.0, "cumulative percent")?,
    })
}

fn check_order(before: Option<&Point>, point: Point) -> Result<(), String> {
    let Some(before) = before else { return Ok(()) };
    if point.percent < before.percent {
        return Err(format!(
            "a CDF that falls: {} percent after {}; sort the lines or correct the number",
            point.percent, before.percent
        ));
    }
    if point.bytes < before.bytes {
        return Err(format!(
            "the size falls from {} to {} bytes; sort the lines or correct the number",
            before.bytes, point.bytes
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{rngs::SmallRng, SeedableRng};

    fn error(text: &str) -> String {
        SizeCdf::parse("t.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn built_in_means_match_the_published_ones() {
        let means = [
            ("web-search", 1_711_250.0),
            ("cache-follower", 609_883.0),
            ("web-server", 91_343.0),
            ("hadoop", 568_755.0),
            ("fb-hadoop", 120_421.0),
            ("ali-storage", 40_870.0),
            ("solar", 39_424.0),
            ("google-rpc", 2_892.0),
        ];
        assert_eq!(SizeCdf::names().count(), means.len());
        for (name, mean) in means {
            let got = SizeCdf::built_in(name).unwrap().mean_bytes();
            assert!((got - mean).abs() <= 1.0, "{name}: {got} instead of {mean}");
        }
        let message = SizeCdf::built_in("web").unwrap_err().to_string();
        assert!(message.contains("web-search, cache-follower"), "{message}");
    }

    #[test]
    fn sampling_interpolates() {
        let cdf = SizeCdf::parse("t", "# c\n0 0\n100 50 # half\n100 60\n\n300 100\n").unwrap();
        assert_eq!(cdf.sample(0.0), 1);
        assert_eq!(cdf.sample(0.25), 50);
        assert_eq!(cdf.sample(0.55), 100);
        assert_eq!(cdf.sample(0.8), 200);
        assert_eq!(cdf.sample(7.0), 300);
        assert_eq!(cdf.max_bytes(), 300);
        assert!((cdf.mean_bytes() - (25.0 + 10.0 + 80.0)).abs() < 1e-9);
    }

    #[test]
    fn a_first_point_above_zero_is_a_mass() {
        let cdf = SizeCdf::parse("t", "40 50\n60 100\n").unwrap();
        assert_eq!(cdf.sample(0.3), 40);
        assert_eq!(cdf.sample(0.75), 50);
        assert!((cdf.mean_bytes() - 45.0).abs() < 1e-9);
        let single = SizeCdf::parse("t", "8 100\n").unwrap();
        assert_eq!((single.sample(0.0), single.sample(1.0)), (8, 8));
    }

    #[test]
    fn drawn_sizes_have_the_mean() {
        let cdf = SizeCdf::built_in("web-search").unwrap();
        let mut rng = SmallRng::seed_from_u64(3);
        let sum: f64 = (0..200_000).map(|_| cdf.draw(&mut rng) as f64).sum();
        let ratio = sum / 200_000.0 / cdf.mean_bytes();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn bad_tables_name_file_and_line() {
        assert!(error("").starts_with("t.txt:1: flow-size table: has no points"));
        assert!(error("# only\n# comments\n").starts_with("t.txt:2:"));
        assert!(
            error("0 0\n10 50\n20 40\n").starts_with("t.txt:3: flow-size table: a CDF that falls")
        );
        assert!(error("0 0\n10 50\n5 100\n").contains("the size falls from 10 to 5"));
        assert!(error("0 0\n10 99\n").contains("must reach 100"));
        assert!(error("0 0\n10 NaN\n").contains("cumulative percent"));
        assert!(error("inf 0\n").contains("size in bytes"));
        assert!(error("1 2 3\n").contains("3 columns"));
        assert!(error("-1 0\n").contains("size in bytes"));
        assert!(error("0 0\n0 100\n").contains("every size is 0"));
    }
}
