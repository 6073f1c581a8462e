//! `peerlane diagram`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::{Outcome, save};
use peerlane_bsp::diagram::Diagram;

/// Show a BSP: a block diagram, and its addresses, interrupts and clocks as tables.
///
/// Of a BSP that `peerlane extend` wrote, it shows what the vendor had, too: what was put in is
/// highlighted, what was taken out is dashed.
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
    /// What is written; without it the ending of FILE says it, and the tables are printed.
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// What is written.
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

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let ending = args.out.as_ref().and_then(|file| file.extension());
    let format = args.format.unwrap_or_else(|| match ending {
        Some(e) if e == "svg" => Format::Svg,
        Some(e) if e == "html" => Format::Html,
        Some(e) if e == "json" => Format::Json,
        _ => Format::Text,
    });
    let diagram = Diagram::read(&args.bsp)?;
    let text = match format {
        Format::Svg => diagram.svg(),
        Format::Text => diagram.text(),
        Format::Html => diagram.html(),
        Format::Json => diagram.json(),
    };
    match &args.out {
        Some(file) => save(file, &text)?,
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}
