//! `peerlane diagram`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::commands::{Outcome, check_file, save};
use peerlane_bsp::diagram::Diagram;
use peerlane_demo::error::Error;

/// Show a BSP: a block diagram, and its addresses, interrupts and clocks as tables.
///
/// For a BSP that `peerlane extend` wrote, the diagram also shows the vendor's design: added parts are highlighted,
/// removed parts are dashed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane diagram --bsp de5net/hardware/de5net_a7
  peerlane diagram --bsp de5net_peerlane --out de5net.svg
  peerlane diagram --bsp de5net_peerlane --out de5net.html
  peerlane diagram --bsp de5net_peerlane --format json")]
pub struct Args {
    /// The BSP: its hardware/<board> directory, or a BSP root with one board.
    #[arg(long, value_name = "DIR")]
    bsp: PathBuf,
    /// The file to write; without it the result is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The output format. The default follows from the extension of FILE (svg, html, json, txt); printed output has the
    /// tables.
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// The output format.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// The block diagram.
    Svg,
    /// The tables.
    Text,
    /// A page with both.
    Html,
    /// Everything, for programs.
    Json,
}

/// Returns the format that belongs to the extension of a file name.
fn of_ending(file: &Path) -> Result<Format, Error> {
    let ending = file.extension().map(|e| e.to_ascii_lowercase());
    match ending.as_ref().and_then(|e| e.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("html") => Ok(Format::Html),
        Some("json") => Ok(Format::Json),
        Some("txt") => Ok(Format::Text),
        _ => Err(Error::new(
            file,
            "the file's extension does not select a format",
            "Use the extension .svg, .html, .json or .txt, or give --format.",
        )),
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let format = match (args.format, &args.out) {
        (Some(format), _) => format,
        (None, None) => Format::Text,
        (None, Some(file)) => of_ending(file)?,
    };
    if let Some(file) = &args.out {
        check_file(file)?;
    }
    let diagram = Diagram::read(&args.bsp)?;
    let text = match format {
        Format::Svg => diagram.svg(),
        Format::Text => diagram.text(),
        Format::Html => diagram.html(),
        Format::Json => diagram.json(),
    };
    match &args.out {
        Some(file) => save(file, &text)?,
        None => out!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}
