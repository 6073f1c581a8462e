//! `peerlane bench`.

mod rtl;
mod transfers;

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use peerlane_demo::error::Error;

use crate::commands::Outcome;

/// Measure the performance of the block, and transfers between a board and an NVIDIA GPU.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Rtl(rtl::Args),
    Transfers(transfers::Args),
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Rtl(args) => rtl::run(args),
        Command::Transfers(args) => transfers::run(args),
    }
}

fn failed(place: &'static str, error: &peerlane_bench::Error) -> Error {
    Error::new(place, error.to_string(), error.hint())
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
