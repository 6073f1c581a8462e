//! `peerlane driver`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::{Outcome, check_file, save};
use peerlane_bsp::driver::{Board, table};

/// Write the kernel driver's table of boards for extended BSPs.
///
/// The table lists the PCI IDs by which a board is found, and the block's offset in its BAR. Boards of the same vendor
/// and device are distinguished by their subsystems (identity.subsystem_device of the configuration). The table is the
/// file src/boards_table.rs of the driver's source. The README.md of each extended platform has the steps that build
/// and install a driver with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane driver de5net_peerlane
  peerlane driver de5net_peerlane --out boards_table.rs

The exit status is 0 if the table was made, else 2.")]
pub struct Args {
    /// Platforms that `peerlane extend` wrote.
    #[arg(required = true, value_name = "DIR")]
    bsps: Vec<PathBuf>,
    /// The file to write; without it the table is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    if let Some(file) = &args.out {
        check_file(file)?;
    }
    let boards = args.bsps.iter().map(|bsp| Board::read(bsp));
    let text = table(&boards.collect::<Result<Vec<_>, _>>()?)?;
    match &args.out {
        Some(file) => save(file, &text)?,
        None => out!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}
