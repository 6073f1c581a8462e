//! `peerlane new`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::{Outcome, extend};
use peerlane_bsp::board::{Description, Options, SHIPPED, Shipped, blank_pins, make};
use peerlane_bsp::config::Config;
use peerlane_demo::progress::Step;

/// Make a BSP with the Peerlane DMA block for a Stratix V board that has none.
///
/// A description of the board, a TOML file, defines device, link, clocks, memory and pins. The result is the same as
/// that of `peerlane extend` for a vendor's BSP, if there were one: `peerlane check` checks it, and its report
/// describes the system. No FPGA tool has ever processed a board that was made this way. The platform's README.md has
/// the steps that remain, and the one in the board's directory lists the features that the board lacks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane new --list
  peerlane new --board de5net --out de5net_peerlane
  peerlane new --show p385 > p385.toml           # fill in the unknown values
  peerlane new --board p385.toml --ports > p385_pins.tcl   # fill in the pins
  peerlane new --board p385.toml --pins p385_pins.tcl --out p385_peerlane

The exit status is 0 on success, else 2.")]
#[command(group = clap::ArgGroup::new("what").args(["board", "list", "show"]).required(true))]
pub struct Args {
    /// The description: a file, or the name of a board that comes with Peerlane.
    #[arg(long, value_name = "FILE|NAME")]
    board: Option<PathBuf>,
    /// The directory to create; it must not exist.
    #[arg(long, value_name = "DIR", requires = "board", required_unless_present_any = ["list", "show", "ports"])]
    out: Option<PathBuf>,
    /// The fragment with the pins; it replaces the one that the description names.
    #[arg(long, value_name = "FILE", requires = "out")]
    pins: Option<PathBuf>,
    /// A configuration file of the block; without it the defaults apply.
    #[arg(long, value_name = "FILE", requires = "out")]
    config: Option<PathBuf>,
    /// Print a template for the fragment with the board's pins.
    #[arg(long, requires = "board", conflicts_with = "out")]
    ports: bool,
    /// List the boards that come with Peerlane.
    #[arg(long)]
    list: bool,
    /// Print the description of one of them.
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    if args.list {
        for board in SHIPPED {
            let state = match (board.gaps(), board.pins) {
                (0, Some(_)) => "complete".into(),
                (gaps, _) => format!(
                    "{gaps} values and the pins are missing; extend the vendor's BSP if you have it"
                ),
            };
            outln!("{:<8} {} ({state})", board.name, board.title());
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &args.show {
        out!("{}", Shipped::named(name)?.text);
        return Ok(ExitCode::SUCCESS);
    }
    let board = args
        .board
        .as_deref()
        .expect("clap requires one of the three");
    let description = Description::find(board)?;
    let Some(out) = &args.out else {
        out!("{}", blank_pins(&description)?);
        return Ok(ExitCode::SUCCESS);
    };
    let config = match &args.config {
        Some(file) => Config::read(file)?,
        None => Config::default(),
    };
    let step = Step::on_terminal("making the platform");
    let report = make(&Options {
        description,
        out: out.clone(),
        pins: args.pins.clone(),
        config,
    })?;
    drop(step);
    extend::print_report(&report, Some(out));
    outln!(
        "{} has the remaining steps: none of this was tried in Quartus",
        out.join("README.md").display()
    );
    Ok(ExitCode::SUCCESS)
}
