//! Curves made small: thinned so that peaks survive, cut at the edges of the plot, dashed.

/// A point in the unit square of a plot.
pub type Point = (f64, f64);

fn finite(p: Point) -> bool {
    p.0.is_finite() && p.1.is_finite()
}

/// Whether a point lies in the unit square.
pub fn inside(p: Point) -> bool {
    (0.0..=1.0).contains(&p.0) && (0.0..=1.0).contains(&p.1)
}

/// The curve's unbroken pieces within the plot's width, thinned to about `limit` points in all.
/// A curve of very many pieces is drawn as one.
pub fn pieces(points: &[Point], limit: usize) -> Vec<Vec<Point>> {
    let near = near(points);
    let mut runs: Vec<&[Point]> = near
        .split(|p| !finite(*p))
        .filter(|run| !run.is_empty())
        .collect();
    let all: Vec<Point>;
    if runs.len() > limit / 4 {
        all = near.iter().copied().filter(|p| finite(*p)).collect();
        runs = vec![&all];
    }
    let total: usize = runs.iter().map(|run| run.len()).sum();
    runs.iter()
        .map(|run| thin(run, (limit * run.len()).div_ceil(total.max(1))))
        .collect()
}

/// Without the points whose neighbours all lie on their own side of the plot.
fn near(points: &[Point]) -> Vec<Point> {
    let aside = |p: &Point| (p.0 < 0.0, p.0 > 1.0);
    let keep = |i: usize| {
        let around = &points[i.saturating_sub(1)..(i + 2).min(points.len())];
        !around.iter().all(|p| aside(p).0) && !around.iter().all(|p| aside(p).1)
    };
    (0..points.len())
        .filter(|&i| keep(i))
        .map(|i| points[i])
        .collect()
}

/// At most about `limit` of the points: of each bucket the first, the lowest, the highest and the
/// last, in their order.
pub fn thin(points: &[Point], limit: usize) -> Vec<Point> {
    if points.len() <= limit.max(4) {
        return points.to_vec();
    }
    let size = points.len().div_ceil((limit / 4).max(1));
    points.chunks(size).flat_map(extremes).collect()
}

fn extremes(bucket: &[Point]) -> Vec<Point> {
    let (mut low, mut high) = (0, 0);
    for (i, p) in bucket.iter().enumerate() {
        if p.1 < bucket[low].1 {
            low = i;
        }
        if p.1 > bucket[high].1 {
            high = i;
        }
    }
    let mut kept = vec![0, low, high, bucket.len() - 1];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| bucket[i]).collect()
}

/// A curve whose values hold until the next point.
pub fn stairs(points: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::with_capacity(points.len() * 2);
    for &p in points {
        if let Some(last) = out.last() {
            out.push((p.0, last.1));
        }
        out.push(p);
    }
    out
}

/// The parts of a curve that lie in the unit square.
pub fn clip(points: &[Point]) -> Vec<Vec<Point>> {
    if let [only] = points {
        return [vec![*only]]
            .into_iter()
            .filter(|_| inside(*only))
            .collect();
    }
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for pair in points.windows(2) {
        let Some((from, to)) = clip_segment(pair[0], pair[1]) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of a segment in the unit square: each edge cuts the range of the parameter.
fn clip_segment(a: Point, b: Point) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for (slope, room) in [(-dx, a.0), (dx, 1.0 - a.0), (-dy, a.1), (dy, 1.0 - a.1)] {
        if slope == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if slope < 0.0 {
            from = from.max(room / slope);
        } else {
            to = to.min(room / slope);
        }
    }
    let at = |t: f64| (a.0 + dx * t, a.1 + dy * t);
    let start = if from == 0.0 { a } else { at(from) };
    let end = if to == 1.0 { b } else { at(to) };
    (from <= to).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_thinning() {
        let mut points: Vec<Point> = (0..1_000_000).map(|i| (f64::from(i) / 1e6, 0.5)).collect();
        points[777_777].1 = 1.0;
        points[333_333].1 = 0.0;
        let thinned = thin(&points, 2_000);
        assert!(thinned.len() <= 2_000);
        assert!(thinned.contains(&points[777_777]) && thinned.contains(&points[333_333]));
        assert_eq!(thinned.last(), points.last());
    }

    #[test]
    fn gaps_break_a_curve() {
        let points = [(0.1, 0.1), (0.2, 0.2), (0.3, f64::NAN), (0.4, 0.4)];
        assert_eq!(pieces(&points, 100).len(), 2);
        let gaps: Vec<Point> = (0..9_000)
            .map(|i| (f64::from(i) / 9e3, if i % 2 == 0 { f64::NAN } else { 0.1 }))
            .collect();
        assert_eq!(pieces(&gaps, 2_000).len(), 1);
        assert!(pieces(&[], 100).is_empty());
    }

    #[test]
    fn curves_are_cut_at_the_edges() {
        let parts = clip(&[(-0.5, 0.5), (0.5, 0.5), (0.5, 1.5), (0.6, 1.5), (0.6, 0.5)]);
        assert_eq!(parts[0], [(0.0, 0.5), (0.5, 0.5), (0.5, 1.0)]);
        assert_eq!(parts[1], [(0.6, 1.0), (0.6, 0.5)]);
        assert_eq!(parts.len(), 2);
        assert!(clip(&[(2.0, 0.5)]).is_empty());
    }

    #[test]
    fn far_points_are_left_out() {
        let points: Vec<Point> = (-50..50).map(|i| (f64::from(i), 0.5)).collect();
        assert_eq!(near(&points).len(), 4);
    }

    #[test]
    fn stairs_hold_values() {
        let points = stairs(&[(0.0, 1.0), (1.0, 2.0)]);
        assert_eq!(points, [(0.0, 1.0), (1.0, 1.0), (1.0, 2.0)]);
    }
}
