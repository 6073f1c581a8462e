//! `peerlane component`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Outcome;
use peerlane_bsp::by_hand::{self, DIR, Options, Stream};
use peerlane_bsp::config::Config;

/// Write the block as a Platform Designer component, for a system that you make by hand.
///
/// OUT gets ip/peerlane_dma with the component, its help page, the Verilog and the timing constraints; copy ip into the
/// Quartus project, where Platform Designer finds it. The options state where its slaves will be in the BAR and how
/// much FPGA memory there is: BUILD_ID, which the driver compares, represents all of it. The offsets of chan, att and
/// (with irq = "msix") msix are those in section bar of the configuration. In Platform Designer the component compares
/// the build with its connections, and its help page lists the connections that it needs.
///
/// With kind = "tlp" in the section `port` the block has a TLP port, and the hard IP's component for it
/// (peerlane_pcie_hip) is written, too; without a kind the port is txs, which every device family has.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  peerlane config > peerlane.toml      # then set chan_base and att_base of [bar]
  peerlane component --config peerlane.toml --bar 0 --csr 0xc800 --memory 8GiB --out block
  peerlane component --config peerlane.toml --bar 2 --csr 0x3000 --window 0x10000 --memory 4GiB --out block
  peerlane component --config tlp.toml --bar 0 --csr 0xc800 --bar-size 512KiB --memory 8GiB --out block")]
pub struct Args {
    /// A configuration file with the offsets in its section bar.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Number of the BAR that leads to the block's slaves.
    #[arg(long, value_name = "N")]
    bar: u32,
    /// Byte offset of csr in the BAR.
    #[arg(long, value_name = "OFFSET", value_parser = number)]
    csr: u64,
    /// Byte offset of s_nondma, the window into FPGA memory; without it the host has no window.
    #[arg(long, value_name = "OFFSET", value_parser = number)]
    window: Option<u64>,
    /// Bytes of FPGA memory from address 0 on, such as 4GiB.
    #[arg(long, value_name = "SIZE", value_parser = number)]
    memory: u64,
    /// Bytes of the BAR, such as 512KiB: only for a TLP port, which decodes it.
    #[arg(long, value_name = "SIZE", value_parser = number)]
    bar_size: Option<u64>,
    /// Clock of the hard IP's application in MHz: only for a TLP port; 250 if it is left out.
    #[arg(long, value_name = "MHZ")]
    clock: Option<u32>,
    /// A file that describes the rest of the board, for the kernel driver: docs/fpga/README.md has its lines. Without
    /// it the driver cannot use the board.
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// The directory to create; it must not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Parses a number: decimal, hexadecimal, or with KiB, MiB, GiB or TiB.
fn number(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is not a number such as 51200, 0xc800 or 4GiB");
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map_err(|_| wrong());
    }
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let unit = units.iter().find(|(unit, _)| text.ends_with(unit));
    let (digits, shift) = unit.map_or((text, 0), |(unit, shift)| {
        (text.trim_end_matches(unit).trim_end(), *shift)
    });
    let value: u64 = digits.parse().map_err(|_| wrong())?;
    value.checked_mul(1 << shift).ok_or_else(wrong)
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let made = by_hand::write(&Options {
        out: args.out.clone(),
        config: (Config::read(&args.config)?, args.config.clone()),
        bar: args.bar,
        csr: args.csr,
        window: args.window,
        memory: args.memory,
        stream: Stream {
            bar_bytes: args.bar_size,
            clock_mhz: args.clock,
        },
        board: args.board.clone(),
    })?;
    outln!(
        "{}: {} files, {}-bit port, BUILD_ID {:#010x}; peerlane_dma.html lists the connections",
        args.out.join(DIR).display(),
        made.files,
        made.board.port_bits,
        made.ids.build
    );
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_units() {
        for (text, want) in [
            ("0", Some(0)),
            ("51200", Some(51200)),
            ("0xc800", Some(51200)),
            ("64KiB", Some(65536)),
            ("4GiB", Some(1 << 32)),
            ("1 TiB", Some(1 << 40)),
            ("GiB", None),
            ("4GB", None),
            ("-1", None),
            ("20000000TiB", None),
            ("0x", None),
        ] {
            assert_eq!(number(text).ok(), want, "{text}");
        }
    }
}
