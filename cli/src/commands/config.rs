//! `peerlane config`.

use std::process::ExitCode;

use crate::commands::Outcome;
use peerlane_bsp::config::COMMENTED_DEFAULT;

/// Print a configuration file with every key, its default and its range.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  peerlane config > peerlane.toml")]
pub struct Args {}

/// Runs the subcommand.
pub fn run(_: &Args) -> Outcome {
    out!("{COMMENTED_DEFAULT}");
    Ok(ExitCode::SUCCESS)
}
