//! The component without a BSP: for a system that somebody makes in Platform Designer by hand.
//!
//! What [`crate::extend`] finds in a BSP must be told here: where the block's slaves are put in the BAR, because
//! `BUILD_ID` stands for that, too, and how much memory there is. The component's validation compares the system
//! with it as far as Platform Designer tells a component what it is connected to; the places in the BAR it does not.

use std::fs;
use std::path::{Path, PathBuf};

use peerlane_hdl::Slaves;

use crate::block;
use crate::build;
use crate::config::{Config, Irq, PortKind};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::component;
use crate::generator::{self, Board, Ids};
use crate::interrupt;
use crate::layout::write_below;
use crate::output;

/// Where the component stands in a Quartus project: Platform Designer looks for components in `ip/**` (Platform
/// Designer user guide 683364, "IP Search Path Recursive Search").
pub const DIR: &str = "ip/peerlane_dma";

/// What to make.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory to be made.
    pub out: PathBuf,
    /// The configuration, and the file that it came from.
    pub config: (Config, PathBuf),
    /// Number of the BAR.
    pub bar: u32,
    /// Byte offset of the control registers in it.
    pub csr: u64,
    /// Byte offset of the window into FPGA memory, if the host gets one.
    pub window: Option<u64>,
    /// Bytes of FPGA memory, from address 0 on.
    pub memory: u64,
}

/// A component that was written.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its hashes.
    pub ids: Ids,
    /// What it was built for.
    pub board: Board,
    /// Number of files.
    pub files: usize,
}

/// Writes a component. Nothing is left behind if it fails.
///
/// # Errors
/// [`ErrorKind::Config`] for places and sizes that cannot be, [`ErrorKind::Output`], [`ErrorKind::Io`],
/// [`ErrorKind::Interrupted`].
pub fn write(options: &Options) -> Result<Made> {
    let (config, file) = &options.config;
    let board = board(options, config, file)?;
    let parent = output::new_directory(&options.out)?;
    let modules = generator::generate(config, board)?;
    let ids = generator::agree(config, board, &modules)?;
    let files = component::ip_files(DIR, config, &board, ids, &modules);

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
        // The directory is ours alone; if it cannot be removed there is nothing better to do.
        let _ = fs::remove_dir_all(&path);
        return Err(error);
    }
    Ok(Made {
        ids,
        board,
        files: files.len(),
    })
}

/// What the options say of the board.
fn board(options: &Options, config: &Config, file: &Path) -> Result<Board> {
    let wrong = |what: String, remedy: &str| {
        Err(Error::new(
            ErrorKind::Config,
            Place::file(file),
            what,
            remedy,
        ))
    };
    if config.port.kind == PortKind::Stream {
        return wrong(
            "port.kind = \"stream\" is not possible here: such a block replaces a part of the hard IP, and only \
             `peerlane extend` writes the two together"
                .into(),
            "Leave port.kind out of the configuration, or extend the vendor's BSP.",
        );
    }
    let memory_log2 = options
        .memory
        .checked_next_power_of_two()
        .map_or(64, u64::ilog2);
    if options.memory == 0 || !(20..=40).contains(&memory_log2) {
        return wrong(
            format!("--memory {:#x} is not possible", options.memory),
            "The block serves 1 MiB to 1 TiB.",
        );
    }
    if options.bar > 5 {
        return wrong(
            format!("--bar {} is not possible", options.bar),
            "A function has the BARs 0 to 5 (PCI Local Bus Specification 3.0, 6.2.5).",
        );
    }
    // Only who makes the system knows what else is in the BAR.
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
                "Without a BSP nobody else knows what is free in the BAR: set it in [bar] of the configuration.",
            );
        };
        places.push((slave.name, slave.key.name(), slave.bytes, at));
    }
    for (name, key, bytes, at) in &places {
        if at % bytes.next_power_of_two() != 0 || *at >= 1 << 31 {
            return wrong(
                format!("{key} = {at:#x} is no place for {name}, which takes {bytes:#x} bytes"),
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
                &format!("Give another place with {key}."),
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
    Ok(Board {
        port_bits: config.port_bits.unwrap_or(128),
        memory_log2,
        slaves,
        bar_log2: None,
        clock_mhz: build::USUAL_CLOCK,
    })
}
