//! `peerlane manuals`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::commands::Outcome;
use peerlane_demo::error::Error;

/// Write the manual pages and the completions of shells into a directory, for packages.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// The directory; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs the subcommand for the command line `command`.
pub fn run(args: &Args, mut command: Command) -> Outcome {
    let mut write = || {
        let pages = args.directory.join("man1");
        fs::create_dir_all(&pages)?;
        // First: completions need `help`, and it would get pages.
        clap_mangen::generate_to(command.clone(), &pages)?;
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            clap_complete::generate_to(shell, &mut command, "peerlane", &args.directory)?;
        }
        std::io::Result::Ok(())
    };
    write().map_err(|error| Error::io(&args.directory, "write the manual pages", &error))?;
    Ok(ExitCode::SUCCESS)
}
