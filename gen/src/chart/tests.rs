//! Whole figures: what is in the file, what odd input does.

use super::*;
use rondo_net::chart::{Heat, Panel, Style};

const STYLES: [Style; 6] = [
    Style::Line,
    Style::Dashed,
    Style::Step,
    Style::Points,
    Style::Bars,
    Style::Area,
];

fn drawn(figure: &Figure) -> String {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("figure.svg");
    draw(figure, &path).expect("draws");
    let files = std::fs::read_dir(folder.path()).expect("list").count();
    assert_eq!(files, 1);
    std::fs::read_to_string(&path).expect("text")
}

fn noise(count: u32) -> Vec<(f64, f64)> {
    let value = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 16);
    (0..count).map(|i| (f64::from(i), value(i))).collect()
}

#[test]
fn texts_units_and_escapes_are_there() {
    let panel = Panel::new("A <b> & \u{1}c")
        .x("Time", "ms")
        .series("s", Style::Line, [(0.0, 1.0), (5000.0, 25_000.0)])
        .note(2500.0, "failure");
    let svg = drawn(&Figure::new("Title", 1).panel(panel));
    for text in [
        "A &lt;b&gt; &amp; c",
        "Time (ms)",
        "25,000",
        "failure",
        "Title",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains("No data") && !svg.contains('\u{1}'));
}

#[test]
fn odd_input_gives_a_picture() {
    let nan = f64::NAN;
    let odd: [&[(f64, f64)]; 8] = [
        &[],
        &[(nan, nan), (1.0, nan), (nan, 1.0)],
        &[(f64::INFINITY, 1.0), (1.0, f64::NEG_INFINITY)],
        &[(0.0, 0.0), (0.0, 0.0)],
        &[(7.0, 7.0); 3],
        &[(-1e308, -1e308), (1e308, 1e308)],
        &[(-1.0, -1.0), (0.0, 0.0)],
        &[(1e-320, 1e-320), (1e-310, 1e300)],
    ];
    for (i, points) in odd.iter().enumerate() {
        for style in STYLES {
            for log in [false, true] {
                let mut panel = Panel::new("odd").series("s", style, points.to_vec());
                panel.x.log = log;
                panel.y.log = log;
                let named = panel.clone().categories(["a", "b"]).note(nan, "n");
                let ranged = panel.clone().x_range(5.0, 1.0).y_range(nan, f64::INFINITY);
                let figure = Figure::new("", 0).panel(panel).panel(named).panel(ranged);
                let svg = drawn(&figure);
                assert!(i >= 3 || svg.matches("No data").count() == 3);
                assert!(!svg.contains("NaN"));
            }
        }
    }
}

#[test]
fn odd_figures_give_a_picture() {
    assert!(drawn(&Figure::new("", 0)).contains("</svg>"));
    let rows = Heat::new("h", "%")
        .row("a", [1.0, f64::NAN])
        .row("b", [])
        .row("c", [f64::MAX, f64::MIN, 0.0]);
    let figure = Figure::new("f", usize::MAX)
        .panel(Heat::new("", ""))
        .panel(rows)
        .panel(Heat::new("equal", "").row("a", [2.0, 2.0]))
        .panel(Panel::new(""));
    assert_eq!(drawn(&figure).matches("No data").count(), 2);
}

#[test]
fn files_stay_small() {
    let points = noise(300_000);
    let heat = Heat {
        values: (0..300)
            .map(|r| (0..300).map(|c| f64::from(r ^ c)).collect())
            .collect(),
        ..Heat::new("h", "")
    };
    let mut many = Figure::new("many", 2).panel(heat);
    for style in STYLES {
        let mut panel = Panel::new("noise");
        for i in 0..4 {
            panel = panel.series(format!("{i}"), style, points.clone());
        }
        let svg = drawn(&Figure::new("f", 1).panel(panel.clone()));
        assert!(svg.len() < 500_000, "{style:?}: {}", svg.len());
        many = many.panel(panel);
    }
    let svg = drawn(&many);
    assert!(svg.len() < 500_000, "many: {}", svg.len());
}

#[test]
fn a_failed_write_names_the_path_and_keeps_the_old_file() {
    let folder = tempfile::tempdir().expect("folder");
    let missing = folder.path().join("none").join("a.svg");
    let error = draw(&Figure::new("f", 1), &missing).expect_err("no folder");
    assert!(error
        .to_string()
        .starts_with(&missing.display().to_string()));
    let taken = folder.path().join("taken.svg");
    std::fs::create_dir(&taken).expect("folder");
    assert!(draw(&Figure::new("f", 1), &taken).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 1);
}
