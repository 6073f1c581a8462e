//! `peerlane upgrade`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::{Outcome, replace};
use peerlane_demo::error::Error;
use peerlane_package::upgrade_package;

/// Rewrite a package of AOCL 14.1 to 18.1, Standard Edition, for the open FPGA runtime for OpenCL.
///
/// The open runtime reads autodiscovery text of version 23 only, and packages of AOCL 14.1 to 18.1 have version 13 or
/// 14; those of the Pro Edition have others (18.1.2: 17), and are rejected. The text is rewritten; everything else in
/// the package stays unchanged, byte for byte. libpeerlane_mmd.so presents a board's own text to the runtime in the
/// same way.
///
/// The runtime programs the board once in each process with such a package, even if the board has the same
/// configuration already.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane upgrade kernel.aocx -o kernel-23.aocx
  mkdir new; for old in *.aocx; do peerlane upgrade \"$old\" -o \"new/$old\"; done

The exit status is 0 if the new package was written, else 2.")]
pub struct Args {
    /// The package (.aocx) that aoc wrote; it is only read.
    #[arg(value_name = "IN")]
    package: PathBuf,
    /// The file to write; it must not exist.
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    if std::fs::symlink_metadata(&args.out).is_ok() {
        return Err(Error::new(
            &args.out,
            "the output exists already",
            "Choose another --out, or remove the file first: it is not overwritten.",
        ));
    }
    let failed = |e: std::io::Error| Error::io(&args.package, "read the package", &e);
    let file = std::fs::read(&args.package).map_err(failed)?;
    let made = upgrade_package(&file)
        .map_err(|error| Error::new(&args.package, error.to_string(), error.hint()))?;
    replace(&args.out, "write the package", &made.file)?;
    outln!(
        "{}: autodiscovery text of version {} rewritten as version 23{}",
        args.out.display(),
        made.version,
        match made.board {
            Some(board) => format!(", for the board {board}"),
            None => String::new(),
        }
    );
    Ok(ExitCode::SUCCESS)
}
