//! `peerlane revert`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Outcome;
use peerlane_bsp::kept::Origin;
use peerlane_bsp::revert::{Options, revert};
use peerlane_demo::progress::Step;

/// Restore the vendor's BSP from an extended one, byte for byte.
///
/// The extended platform is only read, and nothing else is needed: it contains all of the vendor's files, with their
/// names, links, permissions and empty directories. Each is compared with its hash before the new directory gets its
/// name. If files of the platform were changed since it was written, they are listed, and nothing is done.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane revert --bsp de5net_peerlane --out de5net
  peerlane revert --bsp de5net_peerlane --out de5net --without-edits

The exit status is 0 if the vendor's BSP was restored, else 2.")]
pub struct Args {
    /// A platform that `peerlane extend` wrote, or its hardware/<board> directory.
    #[arg(long, value_name = "DIR")]
    bsp: PathBuf,
    /// The directory to create; it must not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Leave out the later changes to the platform; they stay there.
    #[arg(long)]
    without_edits: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let step = Step::on_terminal("restoring the vendor's BSP");
    let reverted = revert(&Options {
        bsp: args.bsp.clone(),
        out: args.out.clone(),
        without_edits: args.without_edits,
    })?;
    drop(step);
    for (path, edit) in &reverted.edits {
        outln!("· left out: {} ({edit})", path.display());
    }
    outln!(
        "{}: {}, {} files, each verified by its hash",
        args.out.display(),
        match reverted.origin {
            Origin::Vendor => "the vendor's BSP",
            Origin::New => "the board without the block, as `peerlane new` first wrote it",
        },
        reverted.files
    );
    Ok(ExitCode::SUCCESS)
}
