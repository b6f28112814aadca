//! What long commands share: a seed to repeat them by, progress, and an orderly end on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

/// The given seed, or a fresh one; printed so that the run can be repeated.
pub fn seed_or_random(given: Option<u64>) -> u64 {
    let seed = given.unwrap_or_else(|| u64::from(rand::random::<u32>()));
    eprintln!("seed {seed}");
    seed
}

/// Set by Ctrl-C; long commands look at it and stop between two steps.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C end a long command in order.
pub fn watch_for_interrupt() {
    // A second call, or a platform without signals, leaves the default: the process just ends.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// A progress bar on standard error; hidden where that is no terminal.
pub fn progress_bar(length: u64, what: &str) -> indicatif::ProgressBar {
    let bar = indicatif::ProgressBar::new(length).with_message(what.to_owned());
    if let Ok(style) =
        indicatif::ProgressStyle::with_template("{msg:12} {bar:32} {human_pos}/{human_len} {eta}")
    {
        bar.set_style(style);
    }
    bar
}
