//! The command line: one file a subcommand.

mod bench;
mod config;
mod demo;
mod driver;
mod extend;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Direct transfers between an OpenCL FPGA board and a GPU over PCIe.
#[derive(Debug, Parser)]
#[command(name = "peerlane", version, about, long_about = None)]
#[command(arg_required_else_help = true)]
struct Cli {
    /// Say more on stderr; twice says everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

/// What can be done. A subcommand is a module with `Args` and `run(&Args) -> Outcome`.
#[derive(Debug, Subcommand)]
enum Command {
    Extend(extend::Args),
    Config(config::Args),
    Driver(driver::Args),
    Demo(demo::Args),
    Bench(bench::Args),
}

/// The exit status of a subcommand, or the error that the command prints.
pub type Outcome = Result<ExitCode, Error>;

/// Exit status of a run that failed or a check that found a fault.
pub const FAILED: u8 = 2;

/// Reads the command line and runs it.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let level = match cli.verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(level))
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
    let outcome = match &cli.command {
        Command::Extend(args) => extend::run(args),
        Command::Config(args) => config::run(args),
        Command::Driver(args) => driver::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Bench(args) => bench::run(args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("peerlane: {}", error.paragraph());
        ExitCode::from(FAILED)
    })
}

/// Writes beside the file and renames, so that there is never half a file.
fn save(file: &Path, text: &str) -> Result<(), Error> {
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |e: &std::io::Error| Error::io(file, "write the results", e);
    let mut temporary = tempfile::NamedTempFile::new_in(directory).map_err(|e| failed(&e))?;
    temporary
        .write_all(text.as_bytes())
        .map_err(|e| failed(&e))?;
    temporary.persist(file).map_err(|e| failed(&e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
