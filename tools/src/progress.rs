//! Progress on standard error: a spinner on a terminal, one line at start and end elsewhere.

use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// One installation, shown to the user while it runs.
///
/// Dropped without [`Progress::finish`] it takes the spinner away and prints nothing: the error is
/// reported by the caller.
#[derive(Debug)]
pub struct Progress {
    label: String,
    bar: Option<ProgressBar>,
    start: Instant,
}

impl Progress {
    /// Shows that work on `label` begins.
    pub fn start(label: &str) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) =
                ProgressStyle::with_template("{spinner:.cyan} {prefix} {msg:.dim} ({elapsed})")
            {
                bar.set_style(style);
            }
            bar.set_prefix(format!("installing {label}"));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        if bar.is_none() {
            eprintln!("peerlane: installing {label}");
        }
        Self {
            label: label.to_owned(),
            bar,
            start: Instant::now(),
        }
    }

    /// Says which step runs now. Shown on a terminal only.
    pub fn step(&self, message: impl Into<String>) {
        if let Some(bar) = &self.bar {
            bar.set_message(message.into());
        }
    }

    /// Says that the work is done.
    pub fn finish(self) {
        let line = format!(
            "peerlane: installed {} in {:.1} s",
            self.label,
            self.start.elapsed().as_secs_f32()
        );
        match &self.bar {
            Some(bar) => {
                bar.finish_and_clear();
                bar.println(&line);
            }
            None => eprintln!("{line}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
