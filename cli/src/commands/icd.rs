//! `peerlane icd`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::commands::{FAILED, Outcome};
use peerlane_demo::error::Error;
use peerlane_icd_setup::{Failed, LIBRARY, Places, Settings};

/// Install the OpenCL driver for a vendor library that is not a driver itself, or check it.
///
/// OpenCL libraries of FPGA boards before AOCL 15 cannot be used together with others. The driver libpeerlane_icd.so
/// loads such a library, and OpenCL's loader (libOpenCL.so.1) loads the driver.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo env \"PATH=$PATH\" peerlane icd install --vendor /opt/altera/13.1/hld/host/linux64/lib/libalteracl.so
  peerlane icd check
  sudo env \"PATH=$PATH\" peerlane icd uninstall

Programs must be linked with OpenCL's loader (-lOpenCL), not with the vendor library.

The exit status is 0 on success, else 2.")]
pub struct Args {
    /// Root directory of the system: files are written and searched below it.
    #[arg(long, value_name = "DIR", default_value = "/", global = true)]
    root: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Install the driver for all programs, and check it.
    ///
    /// For the check, the vendor library is loaded in a separate process.
    Install {
        /// The driver's file. Default: libpeerlane_icd.so in the directory of this program.
        #[arg(long, value_name = "FILE")]
        library: Option<PathBuf>,
        /// The vendor library that the driver loads: a path, or a name without `/` for the dynamic linker to search.
        /// Default: the setting in /etc/peerlane/icd.toml, else libalteracl.so. With this option that file is written
        /// again.
        #[arg(long, value_name = "FILE")]
        vendor: Option<PathBuf>,
        /// A library that is loaded before the vendor library; can be given several times, in order.
        #[arg(long = "helper", value_name = "FILE", requires = "vendor")]
        helpers: Vec<PathBuf>,
    },
    /// Remove the driver; its settings stay.
    Uninstall,
    /// Report whether programs find the driver and whether it finds a platform.
    Check,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let places = Places::below(&args.root);
    match &args.what {
        What::Install {
            library,
            vendor,
            helpers,
        } => {
            let library = match library {
                Some(library) => library.clone(),
                None => beside_this_program()?,
            };
            let settings = Settings {
                vendor: vendor.clone(),
                helpers: helpers.clone(),
            };
            let written = places.install(&library, &settings).map_err(failed)?;
            say("written", &written);
            return Ok(check(&places));
        }
        What::Uninstall => {
            let removed = places.uninstall().map_err(failed)?;
            match removed.is_empty() {
                true => println!("the driver is not installed"),
                false => say("removed", &removed),
            }
        }
        What::Check => return Ok(check(&places)),
    }
    Ok(ExitCode::SUCCESS)
}

fn check(places: &Places) -> ExitCode {
    let report = places.check();
    for line in &report.lines {
        println!("{line}");
    }
    match report.fault {
        None => ExitCode::SUCCESS,
        Some(fault) => {
            println!("no platform: {fault}");
            ExitCode::from(FAILED)
        }
    }
}

fn say(done: &str, files: &[PathBuf]) {
    for file in files {
        println!("{done}: {}", file.display());
    }
}

fn beside_this_program() -> Result<PathBuf, Error> {
    let program = std::env::current_exe()
        .map_err(|e| Error::io(Path::new(LIBRARY), "find this program's directory", &e))?;
    let library = program.with_file_name(LIBRARY);
    match library.exists() {
        true => Ok(library),
        false => Err(Error::new(
            &library,
            "the driver is not in this program's directory",
            "Build it with `cargo build --release -p peerlane-icd`, and give its path with --library.",
        )),
    }
}

fn failed(failed: Failed) -> Error {
    match &failed {
        Failed::Io {
            doing,
            path,
            source,
        } => Error::io(path, doing, source),
        Failed::NoDriver { path } => Error::new(
            path,
            failed.to_string(),
            "Give the path of the driver with --library, and that of the vendor library with --vendor.",
        ),
        Failed::Path { path } => Error::new(
            path,
            failed.to_string(),
            "Rename the library, or give the path of a link to it.",
        ),
    }
}
