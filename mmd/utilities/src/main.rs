//! `peerlane-aocl`: the program that the OpenCL SDK's `aocl` runs for a platform with the Peerlane block.

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Parser, Subcommand};
use peerlane_mmd_core::{Boards, Nodes};
use peerlane_utilities::gpus::Installed;
use peerlane_utilities::setup::VENDORS;
use peerlane_utilities::{Failure, Machine, Platform, Result};
use peerlane_utilities::{diagnose, flash, install, program};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Text of `--version` after the program's name.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("PEERLANE_COMMIT"),
    ")"
);

/// A larger value does not fit a number of bytes.
const MOST_MEBIBYTES: u64 = u64::MAX >> 20;

/// The utilities of a platform with the Peerlane block, which `aocl` runs.
///
/// The scripts in the platform's linux64/libexec call it; `aocl` calls them.
#[derive(Debug, Parser)]
#[command(name = "peerlane-aocl", version = VERSION)]
#[command(after_help = "Examples:
  aocl install PLATFORM            # as root, after the driver's package; no argument before 17.1
  aocl diagnose acl0               # tests the first board; resets its kernels
  aocl program acl0 kernel.aocx    # configures its FPGA
  linux64/libexec/diagnose -probe  # lists the boards; opens nothing

SDKs before 14.1 call `diagnose` `diagnostic`, and `program` `reprogram`.
The exit status is 0 on success, 1 on failure, 2 if the command line is wrong.")]
struct Cli {
    /// The platform: a directory that `peerlane extend` wrote.
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        env = "AOCL_BOARD_PACKAGE_ROOT",
        // An empty variable names no platform, and is not an error: the scripts name the platform by themselves.
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    platform: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set this computer up for the platform's boards: .fcd file, udev rules, driver.
    #[command(after_help = "Examples:
  aocl install PLATFORM                    # its directory; no argument before 17.1
  linux64/libexec/install --dry-run        # prints the steps and the missing parts
  linux64/libexec/install --fcd-only --fcd-dir ~/boards
                                           # export ACL_BOARD_VENDOR_PATH=~/boards

The exit status is 0 on success, 1 on failure, 2 if the command line is wrong.")]
    Install(Install),
    /// Remove everything that `install` has set up.
    #[command(after_help = "Examples:
  aocl uninstall PLATFORM                  # its directory; no argument before 17.1
  linux64/libexec/uninstall --dry-run

ACL_BOARD_VENDOR_PATH and --fcd-dir must be the same as for `install`.
The exit status is 0 on success, 1 on failure, 2 if the command line is wrong.")]
    Uninstall(Install),
    /// List the boards and test them: OpenCL's set-up, memory, rates, GPUs.
    ///
    /// It resets the kernels of the named boards, or of all boards if none is named.
    #[command(after_help = "Examples:
  aocl diagnose acl0
  linux64/libexec/diagnose -probe          # names only; opens nothing
  linux64/libexec/diagnose peerlane0 --mebibytes 64

Without a name, `aocl diagnose` lists boards from 15.1 on, and tests all boards before 15.1.
The exit status is 0 if all boards work, 1 if not, 2 if the command line is wrong.")]
    Diagnose(Diagnose),
    /// Configure a board's FPGA, over PCIe if package and FPGA support it, else by JTAG. FPGA memory is lost.
    #[command(after_help = "Examples:
  aocl program acl0 kernel.aocx
  PEERLANE_PROGRAM=jtag linux64/libexec/program peerlane0 kernel.aocx    # only by JTAG; or cvp

ACL_PCIE_JTAG_CABLE and ACL_PCIE_JTAG_DEVICE_INDEX are the FPGA's place on JTAG. With a board's
name at the end (ACL_PCIE_JTAG_CABLE_peerlane1) they are the place of that board.
The exit status is 0 on success, 1 on failure, 2 if the command line is wrong.")]
    Program(Load),
    /// Write a configuration into a board's flash memory, by the vendor's script or Quartus.
    #[command(after_help = "Examples:
  aocl flash acl0 kernel.aocx
  PEERLANE_FLASH_DEVICE_INDEX=2 linux64/libexec/flash peerlane0 kernel.aocx

An interrupt does not stop the tool that writes. PEERLANE_QUARTUS_CPF and PEERLANE_QUARTUS_PGM
are the paths of Quartus's tools, if they are not on the PATH.
The exit status is 0 on success, 1 on failure, 2 if the command line is wrong.")]
    Flash(Load),
}

#[derive(Debug, clap::Args)]
struct Install {
    /// Only print the steps, without doing them.
    #[arg(long)]
    dry_run: bool,
    /// Only the .fcd file: no driver, no rules.
    #[arg(long)]
    fcd_only: bool,
    /// The directory of the .fcd file: else the one that ACL_BOARD_VENDOR_PATH names, else /opt/Intel/OpenCL/Boards.
    #[arg(long, value_name = "DIR")]
    fcd_dir: Option<PathBuf>,
    /// Use the files below this directory, such as those of a package that is being made. No command is run, and the
    /// variable is not read.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Diagnose {
    /// Boards: peerlane0, or acl0 for the first; by default all, whose kernels are reset.
    boards: Vec<String>,
    /// Check only without opening a board; `-probe` is the same.
    #[arg(long)]
    probe: bool,
    /// FPGA memory to test, in MiB, at least 1; by default all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_MEBIBYTES))]
    mebibytes: Option<u64>,
    /// Copy nothing to and from GPUs. If the computer does not answer a read, the board must be reset.
    #[arg(long)]
    no_gpus: bool,
}

#[derive(Debug, clap::Args)]
struct Load {
    /// The board: peerlane0, or acl0 for the first.
    board: String,
    /// A package (.aocx), the fpga.bin of a compile, or both.
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Returns the directory of `.fcd` files that the environment names, as a runtime reads it: an empty name counts, too.
fn vendors() -> Option<PathBuf> {
    std::env::var_os(VENDORS).map(PathBuf::from)
}

/// Adds a dash: `aocl` has options of one dash.
fn with_two_dashes(argument: OsString) -> OsString {
    match argument.to_str() {
        Some("-probe") => "--probe".into(),
        _ => argument,
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(std::env::args_os().map(with_two_dashes));
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("peerlane-aocl: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    let say = &mut |line: String| println!("{line}");
    let named = cli.platform.as_ref();
    let named = named.filter(|root| !root.as_os_str().is_empty());
    let platform = || {
        let root = named.ok_or_else(|| {
            Failure::new(
                "the platform is not named",
                "Name the directory that `peerlane extend` wrote, by --platform or AOCL_BOARD_PACKAGE_ROOT.",
            )
        })?;
        Platform::read(root)
    };
    let machine = Machine::here();
    match &cli.command {
        Command::Install(args) => {
            install::install(&args.machine(), &platform()?, &args.options(), say)
        }
        Command::Uninstall(args) => {
            install::uninstall(&args.machine(), &platform()?, &args.options(), say)
        }
        Command::Diagnose(args) => {
            let options = diagnose::Options {
                boards: args.boards.clone(),
                probe: args.probe,
                mebibytes: args.mebibytes,
                no_gpus: args.no_gpus,
            };
            let platform = named.map(|_| platform()).transpose()?;
            let vendors = vendors();
            let computer = diagnose::Computer {
                machine: &machine,
                platform: platform.as_ref(),
                vendors: vendors.as_deref(),
                boards: &Nodes,
                gpus: &Installed,
            };
            diagnose::diagnose(&computer, &options, say)
        }
        Command::Program(Load { board, files }) => {
            let (board, files) = (board.clone(), files.clone());
            let platform = named.map(|_| platform()).transpose()?;
            let options = program::Options { board, files };
            program::program(&machine, platform.as_ref(), Nodes, &options, say)
        }
        Command::Flash(Load { board, files }) => {
            let (board, files) = (board.clone(), files.clone());
            let options = flash::Options { board, files };
            flash::flash(&platform()?, &Nodes.names(), &options, say)
        }
    }
}

impl Install {
    fn machine(&self) -> Machine {
        match &self.root {
            Some(root) => Machine::tree(root),
            None => Machine::here(),
        }
    }

    fn options(&self) -> install::Options {
        install::Options {
            directory: match (&self.fcd_dir, &self.root) {
                // An empty name is ignored: it would mean the root directory, which no user intends.
                (None, None) => vendors().filter(|name| !name.as_os_str().is_empty()),
                (named, _) => named.clone(),
            },
            fcd_only: self.fcd_only,
            dry_run: self.dry_run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_probe_may_have_one_dash() {
        for words in [["-probe"], ["--probe"]] {
            let line = ["peerlane-aocl", "diagnose"].iter().chain(&words);
            let cli = Cli::parse_from(line.map(|word| with_two_dashes(word.into())));
            assert!(matches!(
                cli.command,
                Command::Diagnose(Diagnose { probe: true, .. })
            ));
        }
    }
}
