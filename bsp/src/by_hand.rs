//! The component without a BSP, for a system that a user makes in Platform Designer by hand.
//!
//! The user gives the facts that [`crate::extend`] finds in a BSP: the places of the block's slaves in the BAR, because
//! `BUILD_ID` covers them too, and the size of memory. The component's validation compares the system with these facts,
//! as far as Platform Designer reports a component's connections to it. It does not report the places in the BAR.

use std::fs;
use std::path::{Path, PathBuf};

use peerlane_hdl::{Params, Slaves};

use crate::block;
use crate::build;
use crate::config::{Config, Irq};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::component::{self, Written};
use crate::generator::{self, Board, Ids};
use crate::hash::sha256;
use crate::interrupt;
use crate::layout::{BOARD_FILE, write_below};
use crate::output;
use crate::system::shell::{self, BoardError, HEADER};
use crate::text;

/// The component's directory in a Quartus project: Platform Designer looks for components in `ip/**` (Platform Designer
/// user guide 683364, "IP Search Path Recursive Search").
pub const DIR: &str = "ip/peerlane_dma";

/// Options for writing a component.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory to make.
    pub out: PathBuf,
    /// The configuration and its file.
    pub config: (Config, PathBuf),
    /// Number of the BAR.
    pub bar: u32,
    /// Byte offset of the control registers in it.
    pub csr: u64,
    /// Byte offset of the window into FPGA memory, if the host has one.
    pub window: Option<u64>,
    /// Bytes of FPGA memory, from address 0 on.
    pub memory: u64,
    /// Facts about the hard IP that a block with a TLP port is built for.
    pub stream: Stream,
    /// A file that describes the rest of the board.
    pub board: Option<PathBuf>,
}

/// Facts about the hard IP that only a TLP port needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stream {
    /// Bytes of the BAR, which the block decodes itself.
    pub bar_bytes: Option<u64>,
    /// Clock of the application in MHz; 250 if it is not given.
    pub clock_mhz: Option<u32>,
}

/// A component that was written.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its hashes.
    pub ids: Ids,
    /// The board that the component was built for.
    pub board: Board,
    /// Number of files.
    pub files: usize,
}

/// Writes a component. On failure it leaves no files.
///
/// # Errors
/// [`ErrorKind::Config`] for impossible places and sizes, [`ErrorKind::Output`], [`ErrorKind::Io`],
/// [`ErrorKind::Interrupted`].
pub fn write(options: &Options) -> Result<Made> {
    let (config, file) = &options.config;
    let mut board = board(options, config, file)?;
    let rest = options.board.as_deref().map(Rest::read).transpose()?;
    board.shell = rest.as_ref().map(Rest::hash);
    let parent = output::new_directory(&options.out)?;
    let modules = generator::generate(config, board)?;
    let ids = generator::agree(config, board, &modules)?;
    let mut files = component::ip_files(DIR, config, &board, ids, &modules);
    if config.has_tlp_port() {
        // The kind of the hard IP's reset controller is not known here: constraints of the soft one match no other.
        files.extend(component::hip_files(DIR, true));
    }

    if let Some(rest) = &rest {
        files.push(Written {
            path: BOARD_FILE.into(),
            text: rest.description(ids, &generator::params(config, board))?,
        });
    }

    let temporary = tempfile::Builder::new()
        .prefix(".peerlane-component-")
        .tempdir_in(&parent)
        .map_err(|e| output::not_writable(&parent, &e))?;
    for file in &files {
        interrupt::check(&options.out)?;
        write_below(temporary.path(), &file.path, file.text.as_bytes())
            .map_err(|e| e.named_as_given(temporary.path(), &options.out))?;
    }
    output::set_directory_mode(temporary.path())?;
    let path = temporary.keep();
    if let Err(error) = output::put(&path, &options.out, "the component") {
        // This process made the directory; a failure to remove it has no better handling.
        let _ = fs::remove_dir_all(&path);
        return Err(error);
    }
    Ok(Made {
        ids,
        board,
        files: files.len(),
    })
}

/// The lines of a board's description that are not the block's.
struct Rest<'a> {
    file: &'a Path,
    /// Those before the block's.
    head: String,
    /// Those after them.
    shell: String,
}

impl<'a> Rest<'a> {
    fn read(file: &'a Path) -> Result<Self> {
        let text = text::read(file)?;
        // `name` and `pci`.
        let lines = text.split_inclusive('\n');
        let (head, shell): (Vec<_>, Vec<_>) = lines.enumerate().partition(|(at, _)| *at < HEAD);
        let joined = |lines: Vec<(usize, &str)>| lines.into_iter().map(|(_, line)| line).collect();
        Ok(Self {
            file,
            head: joined(head),
            shell: joined(shell),
        })
    }

    fn hash(&self) -> u32 {
        shell::hash(sha256, self.shell.as_bytes())
    }

    /// Returns the whole description.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if a line of the file cannot be understood.
    fn description(&self, ids: Ids, params: &Params) -> Result<String> {
        let Self { file, head, shell } = self;
        let block = params.canonical();
        let map = ids.map;
        let text = format!("{HEADER}\n{head}map {map:08x}\nblock {block}\n{shell}");
        let wrong = |error: BoardError| {
            // The file has neither the header nor the block's lines.
            let place = match error {
                BoardError::Line { number } if number > HEAD + 1 => Place::line(file, number - 3),
                BoardError::Line { number } => Place::line(file, number - 1),
                _ => Place::file(file),
            };
            let hint = "docs/fpga/README.md has the lines, in their order (\"By hand in Platform Designer\").";
            Error::new(ErrorKind::Config, place, error.to_string(), hint)
        };
        shell::Board::parse(&text, 0, sha256).map_err(wrong)?;
        Ok(text)
    }
}

/// Lines of a description between its header and those of the block.
const HEAD: usize = 2;

/// Makes an error of the configuration.
fn refused<T>(file: &Path, what: String, hint: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Config, Place::file(file), what, hint))
}

/// Returns the facts that the options give about the board.
fn board(options: &Options, config: &Config, file: &Path) -> Result<Board> {
    let wrong = |what: String, hint: &str| refused(file, what, hint);
    let memory_log2 = options
        .memory
        .checked_next_power_of_two()
        .map_or(64, u64::ilog2);
    if options.memory == 0 || !(20..=40).contains(&memory_log2) {
        return wrong(
            format!("--memory {:#x} is not possible", options.memory),
            "Use 1 MiB to 1 TiB.",
        );
    }
    if options.bar > 5 {
        return wrong(
            format!("--bar {} is not possible", options.bar),
            "Use 0 to 5, the BARs of a function (PCI Local Bus Specification 3.0, 6.2.5).",
        );
    }
    // Only the author of the system knows the other slaves in the BAR.
    let mut places = vec![("csr", "--csr", u64::from(block::CSR_BYTES), options.csr)];
    if let Some(window) = options.window {
        places.push((
            "s_nondma",
            "--window",
            u64::from(block::WINDOW_BYTES),
            window,
        ));
    }
    for slave in config.new_slaves() {
        let Some(at) = slave.asked else {
            return wrong(
                format!("{} is not set", slave.key),
                "Set it in [bar] of the configuration: without a BSP the free places in the BAR are not known.",
            );
        };
        places.push((slave.name, slave.key.name(), slave.bytes, at));
    }
    for (name, key, bytes, at) in &places {
        if at % bytes.next_power_of_two() != 0 || *at >= 1 << 31 {
            return wrong(
                format!("{key} = {at:#x} is not a place for {name}, which takes {bytes:#x} bytes"),
                "Use a multiple of its size, rounded up to a power of two, below 2 GiB.",
            );
        }
    }
    places.sort_by_key(|(.., at)| *at);
    for pair in places.windows(2) {
        let ((one, _, bytes, at), (other, key, _, next)) = (&pair[0], &pair[1]);
        if at + bytes > *next {
            return wrong(
                format!(
                    "{other} at {next:#x} lies in {one}, which takes {at:#x} to {:#x}",
                    at + bytes - 1
                ),
                &format!("Set another place with {key}."),
            );
        }
    }
    let offsets = places
        .iter()
        .map(|(name, .., at)| ((*name).to_string(), *at));
    let slaves: std::result::Result<Slaves, _> = build::slaves(options.bar, &offsets.collect());
    let Ok(slaves) = slaves else {
        unreachable!("csr, chan and att are all there");
    };
    debug_assert_eq!(slaves.msix.is_some(), config.irq == Irq::Msix);
    let end = (places.iter().map(|(_, _, bytes, at)| at + bytes)).max();
    let (bar_log2, clock_mhz) = stream(options, end.unwrap_or(0))?;
    let board = Board {
        port_bits: port_bits(config),
        memory_log2,
        slaves,
        bar_log2,
        clock_mhz,
        shell: None,
    };
    // The errors above name their options; the remaining errors are reported here.
    generator::params(config, board).validate().map_err(|e| {
        Error::new(
            ErrorKind::Config,
            Place::file(file),
            format!("the block cannot be built: {e}"),
            "Change the places in the BAR, or the values that the message names.",
        )
    })?;
    Ok(board)
}

/// Returns the width of the port: that of the configuration, or the usual one.
fn port_bits(config: &Config) -> u32 {
    // Gen3 x8 has no other width.
    let usual = if config.port.generation == Some(3) {
        256
    } else {
        128
    };
    config.port_bits.unwrap_or(usual)
}

/// Returns the bytes of the BAR, log2, and the clock, for a block whose slaves end at `end`.
fn stream(options: &Options, end: u64) -> Result<(Option<u32>, u32)> {
    let (config, file) = &options.config;
    let Stream {
        bar_bytes,
        clock_mhz,
    } = options.stream;
    let wrong = |what: String, hint: &str| refused(file, what, hint);
    if !config.has_tlp_port() {
        return match (bar_bytes, clock_mhz) {
            (None, None) => Ok((None, build::USUAL_CLOCK)),
            _ => wrong(
                "--bar-size and --clock are options of a TLP port, and the configuration does not ask for one"
                    .into(),
                "Set kind = \"tlp\" below [port] of the configuration, or leave both options out.",
            ),
        };
    }
    // The links' clocks (Stratix V Avalon-ST Interface for PCIe 683093, table of coreclkout_hip).
    let clock = clock_mhz.unwrap_or(build::USUAL_CLOCK);
    if ![125, 250].contains(&clock) {
        return wrong(
            format!("--clock {clock} is not possible"),
            "Use 125 or 250. `peerlane config` explains which link has which width; the wider port has half the clock.",
        );
    }
    let Some(bytes) = bar_bytes else {
        return wrong(
            "--bar-size is missing: a block with a TLP port decodes the BAR itself".into(),
            "Give the size of the BAR, such as 512KiB. Everything of the board that the host reaches is in this BAR.",
        );
    };
    if !bytes.is_power_of_two() || !(1 << 12..=1 << 31).contains(&bytes) || bytes < end {
        return wrong(
            format!("--bar-size {bytes:#x} is not possible: the block's slaves end at {end:#x}"),
            "Use a power of two from 4KiB to 2GiB that is large enough.",
        );
    }
    Ok((Some(bytes.ilog2()), clock))
}
