//! Progress of work that takes longer than a moment, on standard error.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A step of the work: a spinner with the elapsed time on a terminal, plain lines elsewhere. The spinner is removed when
/// the step is dropped.
#[derive(Debug)]
pub struct Step(ProgressBar);

impl Step {
    /// Begins a step.
    pub fn begin(message: &str) -> Self {
        let step = Self::on_terminal(message);
        if step.0.is_hidden() {
            errln!("{message}");
        }
        step
    }

    /// As [`Step::begin`], for a step that mostly takes a moment: there are no lines without a terminal.
    pub fn on_terminal(message: &str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(message.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        // The thread that ticks reserves memory, of which a script may have limited the amount.
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self(bar)
    }

    /// Ends the step, with a line about it that stays.
    pub fn end(self, message: &str) {
        if self.0.is_hidden() {
            errln!("{message}");
        }
        self.0.finish_with_message(message.to_owned());
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.0.is_finished() {
            self.0.finish_and_clear();
        }
    }
}
