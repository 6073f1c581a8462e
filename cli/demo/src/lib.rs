//! `peerlane demo`, and the modules that the other subcommands share with it. A package of its own, so that
//! `cargo xtask demo` does not compile the whole command.

pub mod error;
#[macro_use]
pub mod out;

mod course;
pub mod files;
mod moves;
pub mod progress;
pub mod provenance;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};

use course::Options;
use files::{FAILED, Outcome, check_file, save_json};
use peerlane_bsp::config::PortKind;
use summary::{Row, Summary};

/// Extend a BSP, build the Verilog that was written into it, and move data both ways through it.
///
/// Random data go from the board's memory to a GPU's and from the GPU's to the board's, on a simulated
/// PCIe Gen2 x8 link, and are compared byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane demo
  peerlane demo --size 64
  peerlane demo --port txs
  peerlane demo --bsp de5net/hardware/de5net_a7 --json demo.json

The last line is `demo: PASS` or `demo: FAIL`; the exit status is 0 or 2.")]
pub struct Args {
    /// The BSP to extend; the default is a small one of Peerlane's own.
    #[arg(long, value_name = "DIR")]
    bsp: Option<PathBuf>,
    /// The block's port to PCIe, txs or tlp; the default is the one that the BSP gets without a configuration.
    #[arg(long, value_name = "PORT", value_parser = port)]
    port: Option<PortKind>,
    /// MiB to move in each direction.
    #[arg(long, value_name = "MIB", default_value_t = 8, value_parser = mebibytes)]
    size: u64,
    /// Seed of the random data.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Keep the extended BSP in this directory, which must not exist.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Also write the results to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Parses a port, as `kind` below `[port]` of a configuration names it.
fn port(text: &str) -> Result<PortKind, String> {
    match text {
        "txs" => Ok(PortKind::Txs),
        "tlp" => Ok(PortKind::Tlp),
        _ => Err("give txs or tlp".into()),
    }
}

/// Parses a size to move.
fn mebibytes(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|size| (1..=240).contains(size));
    number.ok_or_else(|| "give a whole number of MiB from 1 to 240".into())
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    if let Some(file) = &args.json {
        check_file(file)?;
    }
    let outcome = course::run(&Options {
        bsp: args.bsp.clone(),
        port: args.port,
        bytes: args.size << 20,
        seed: args.seed,
        keep: args.keep.clone(),
    })
    .and_then(|summary| {
        if let Some(file) = &args.json {
            save_json(file, &summary)?;
        }
        Ok(summary)
    });
    match outcome {
        Ok(summary) => {
            print(&summary);
            let word = if summary.pass() { "PASS" } else { "FAIL" };
            outln!("demo: {word}");
            Ok(if summary.pass() {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(FAILED)
            })
        }
        Err(error) => {
            errln!("peerlane: {}", error.message());
            outln!("demo: FAIL");
            Ok(ExitCode::from(FAILED))
        }
    }
}

fn print(summary: &Summary) {
    outln!(
        "\n{} MiB each way, {}, {}-bit port ({}), build {:#010x}, on a modelled PCIe {}",
        summary.bytes >> 20,
        summary.bsp,
        summary.port_bits,
        summary.port,
        summary.build_id,
        summary.link,
    );
    let mut table = Table::new();
    table.load_preset(presets::UTF8_BORDERS_ONLY).set_header(
        [
            "",
            "MB/s",
            "of link",
            "of port",
            "time (µs)",
            "cycles",
            "requests",
            "interrupts",
            "data",
        ]
        .map(|h| Cell::new(h).add_attribute(Attribute::Bold)),
    );
    for row in &summary.rows {
        table.add_row(cells(row));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    outln!("{table}");
    for note in &summary.notes {
        outln!("{note}");
    }
}

fn percent(part: Option<f64>) -> String {
    part.map_or(String::new(), |part| format!("{:.1} %", part * 100.0))
}

fn cells(row: &Row) -> Vec<Cell> {
    let number = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
    let data = match row.correct {
        Some(true) => Cell::new("same").fg(Color::Green),
        Some(false) => Cell::new("WRONG").fg(Color::Red),
        None => Cell::new(""),
    };
    vec![
        Cell::new(&row.name),
        Cell::new(match (row.rate, &row.instead) {
            (Some(rate), _) => format!("{:.0}", rate / 1e6),
            (None, word) => word.clone(),
        }),
        Cell::new(percent(row.of_ceiling)),
        Cell::new(percent(row.of_port)),
        Cell::new(
            row.ns
                .map_or(String::new(), |ns| format!("{:.0}", ns / 1e3)),
        ),
        Cell::new(number(row.cycles)),
        Cell::new(number(row.requests)),
        Cell::new(number(row.interrupts)),
        data,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        demo: Args,
    }

    #[test]
    fn the_default_takes_seconds() {
        let size = |arguments: &[&str]| Cli::try_parse_from(arguments).map(|cli| cli.demo.size);
        assert_eq!(size(&["demo"]).unwrap(), 8);
        assert_eq!(size(&["demo", "--size", "64"]).unwrap(), 64);
        assert!(size(&["demo", "--size", "0"]).is_err());
    }
}
