//! The results, for people and programs.

use anyhow::Result;
use peerlane_gpu::Gpu;
use serde::Serialize;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine of the checks.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// The GPU's name and address on the bus.
    pub gpu: String,
    /// The GPU driver's version.
    pub driver: String,
    /// The commit of the program.
    pub commit: String,
    /// The day, UTC: year-month-day.
    pub date: String,
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The check's name.
    pub check: &'static str,
    /// Whether it passed.
    pub passed: bool,
    /// The results, or the error.
    pub found: String,
}

/// The whole report.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The machine of the checks.
    pub machine: Machine,
    /// The checks, in their order.
    pub lines: Vec<Line>,
}

impl Machine {
    /// Describes this machine.
    pub fn of(gpu: &Gpu) -> Result<Self> {
        // The version in the driver's own words (NVIDIA's README, "procfs interface").
        let driver = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
        let driver = driver
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
            .unwrap_or("unknown");
        Ok(Self {
            gpu: format!("{} at {}", gpu.name()?, gpu.bus()),
            driver: driver.into(),
            commit: option_env!("PEERLANE_COMMIT").unwrap_or("unknown").into(),
            date: date(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / 86_400),
        })
    }
}

/// Returns the date that is `days` days after 1 January 1970 (Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// `civil_from_days`).
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = match month {
        0..10 => (month + 3, year + era * 400),
        _ => (month - 9, year + era * 400 + 1),
    };
    format!("{year:04}-{month:02}-{day:02}")
}

impl Line {
    /// Makes a line of a check's result.
    pub fn new(check: &'static str, result: Result<String>) -> Self {
        let passed = result.is_ok();
        let found = result.unwrap_or_else(|error| format!("{error:#}"));
        Self {
            check,
            passed,
            found,
        }
    }
}

impl Report {
    /// Returns the report as a section of a document.
    pub fn markdown(&self) -> String {
        let Machine {
            gpu,
            driver,
            commit,
            date,
        } = &self.machine;
        let mut text = format!(
            "## {date}: {gpu}\n\nDriver {driver}, commit {commit}.\n\n| check | | found |\n| --- | --- | --- |\n"
        );
        for line in &self.lines {
            let passed = if line.passed { "passed" } else { "FAILED" };
            text += &format!(
                "| {} | {passed} | {} |\n",
                line.check,
                line.found.replace('|', "\\|")
            );
        }
        text
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, driver {}, {}", self.gpu, self.driver, self.date)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = if self.passed { "ok" } else { "FAILED" };
        write!(f, "{passed:6} {}: {}", self.check, self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        // 2024 is a leap year.
        assert_eq!(date(19_782), "2024-02-29");
        assert_eq!(date(19_783), "2024-03-01");
        assert_eq!(date(20_453), "2025-12-31");
    }
}
