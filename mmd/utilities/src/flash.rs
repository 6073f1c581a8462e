//! `flash`: puts a configuration into the memory that a board is configured from when it is switched on.
//!
//! The way to that memory depends on the board. The vendor's part of the BSP has it: a script `flash`, or a file for
//! Quartus's converter (`.cof`), whose result Quartus's programmer takes. Without either the command is refused.
//!
//! A tool that writes goes on to its end when the terminal interrupts it or this process is ended: a flash memory that
//! is half-written leaves a board that does not start.

use crate::diagnose::find;
use crate::package::Image;
use crate::{Failure, Platform, Result};
use peerlane_mmd_core::{JTAG_CABLE, JTAG_DEVICE, board_settings, quartus_tool};
use peerlane_package::section;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The device in the JTAG chain that programs the flash memory, from 1 on.
pub const DEVICE: &str = "PEERLANE_FLASH_DEVICE_INDEX";
/// The section with the configuration for JTAG.
const SOF: &str = ".acl.sof";

/// Arguments of the command.
#[derive(Debug, Clone)]
pub struct Options {
    /// The board, which the vendor's script gets.
    pub board: String,
    /// A package, `fpga.bin`, or both.
    pub files: Vec<PathBuf>,
}

/// A board, for its settings.
struct Board {
    name: String,
    alone: bool,
}

impl Board {
    /// Takes a board of the driver's, or another one: a board whose flash memory is empty has no driver.
    fn of(boards: &[String], name: &str) -> Self {
        let known = find(boards, name);
        let others = boards.len() - usize::from(known.is_ok());
        Self {
            name: known.unwrap_or_else(|_| name.into()),
            alone: others == 0,
        }
    }

    /// Returns the board's settings from the environment.
    fn settings<const N: usize>(&self, names: [&str; N]) -> Result<[Option<OsString>; N]> {
        board_settings(&self.name, self.alone, names).map_err(|reason| {
            Failure::new(
                format!("the flash memory of {} is not written", self.name),
                format!("It might be another board's flash memory: {reason}."),
            )
        })
    }
}

/// Writes the flash memory of a board, which may be one of the `boards` that the driver has; progress goes to `say`.
///
/// # Errors
/// Missing parts, before anything is written; else the errors of the tools.
pub fn flash(
    platform: &Platform,
    boards: &[String],
    options: &Options,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let board = Board::of(boards, &options.board);
    let image = Image::of(&options.files)?;
    image.check_board(&platform.board_names())?;
    if let Some(script) = script(platform)? {
        let place = [JTAG_CABLE, JTAG_DEVICE];
        let settings = place.into_iter().zip(board.settings(place)?);
        let settings = settings.filter_map(|(name, value)| Some((name, value?)));
        return run_script(&script, platform, options, &image, settings, say);
    }
    let Some(cof) = setup(platform)? else {
        return Err(Failure::new(
            format!(
                "{} does not describe how to write this board's flash memory",
                platform.root.display()
            ),
            "Its vendor's BSP has no script `flash`, and no hardware/<board> has a .cof file for quartus_cpf. Write \
             the .sof as the board's manual describes.",
        ));
    };
    by_quartus(&cof, &board, &image, say)
}

/// Finds the vendor's script.
fn script(platform: &Platform) -> Result<Option<PathBuf>> {
    let vendor = platform.root.join("peerlane/vendor");
    let utilities = match vendor.join("board_env.xml").is_file() {
        true => Platform::described(&vendor)?.utilities,
        false => None,
    };
    let Some(script) = utilities.map(|place| place.join("flash")) else {
        return Ok(None);
    };
    let Ok(bytes) = std::fs::read(&script) else {
        return Ok(None);
    };
    match bytes.starts_with(b"#!") {
        true => Ok(Some(script)),
        false => Err(Failure::new(
            format!(
                "{} is a program that drives the vendor's own DMA",
                script.display()
            ),
            "This platform does not have that DMA. Write the .sof as the board's manual describes.",
        )),
    }
}

fn run_script(
    script: &Path,
    platform: &Platform,
    options: &Options,
    image: &Image,
    settings: impl IntoIterator<Item = (&'static str, OsString)>,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let code = temporary(&image.bytes, ".bin")?;
    say(format!("running the vendor's {}", script.display()));
    run(Command::new(script)
        .arg(&options.board)
        .arg(code.path())
        .envs(settings)
        .env(
            "AOCL_BOARD_PACKAGE_ROOT",
            platform.root.join("peerlane/vendor"),
        ))
}

/// Finds the converter's settings of the platform's board.
fn setup(platform: &Platform) -> Result<Option<PathBuf>> {
    let places = platform
        .boards
        .iter()
        .flat_map(|board| [board.clone(), board.join("scripts")]);
    let entries = places.flat_map(std::fs::read_dir).flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "cof"));
    found.sort();
    if let [one, other, ..] = &found[..] {
        return Err(Failure::new(
            format!(
                "there are several .cof files: {}, {}",
                one.display(),
                other.display()
            ),
            "Keep only the file for this board's flash memory.",
        ));
    }
    Ok(found.pop())
}

/// Converts and programs (Quartus Prime Command-Line Reference, `quartus_cpf -c`, `quartus_pgm`).
fn by_quartus(cof: &Path, board: &Board, image: &Image, say: &mut dyn FnMut(String)) -> Result<()> {
    let [cable, index] = board.settings([JTAG_CABLE, DEVICE])?;
    let cable = cable.unwrap_or_else(|| "1".into());
    let tool = |name: &str, variable: &str| {
        quartus_tool(name, variable).map_err(|what| {
            Failure::new(
                what,
                "Install Quartus, and put its tools on the PATH or set QUARTUS_ROOTDIR (QUARTUS_ROOTDIR_OVERRIDE with \
                 AOCL before 17.1).",
            )
        })
    };
    let convert = tool("quartus_cpf", "PEERLANE_QUARTUS_CPF")?;
    let program = tool("quartus_pgm", "PEERLANE_QUARTUS_PGM")?;
    let index = index
        .and_then(|index| index.into_string().ok())
        .filter(|index| index.parse::<u8>().is_ok_and(|n| n > 0));
    let index = index.ok_or_else(|| {
        Failure::new(
            format!(
                "{DEVICE} does not name the device in the JTAG chain that writes the flash memory"
            ),
            format!("Set it, for example by: export {DEVICE}=2. `jtagconfig` lists the chain, and the board's manual \
                     names the device."),
        )
    })?;
    let sof = section(&image.bytes, SOF).filter(|sof| !sof.is_empty());
    let sof = sof.ok_or_else(|| {
        Failure::new(
            format!("the configuration has no section {SOF}"),
            "Compile the kernels with this board's BSP.",
        )
    })?;
    let text = std::fs::read_to_string(cof).map_err(|error| Failure::io(cof, "be read", &error))?;

    let (output, operation) = format(cof, &text)?;
    let directory = tempfile::tempdir()
        .map_err(|error| Failure::io(&std::env::temp_dir(), "be written", &error))?;
    let file = |name: &str| directory.path().join(name);
    let settings = replaced(&text, "sof_filename", &file("image.sof"))
        .and_then(|text| replaced(&text, "output_filename", &file(output)));
    let settings = settings.ok_or_else(|| {
        Failure::new(
            format!(
                "{}: it must have one <sof_filename> and one <output_filename>",
                cof.display()
            ),
            "Make the file again with Quartus's Convert Programming Files.",
        )
    })?;
    for (name, bytes) in [("image.sof", sof), ("image.cof", settings.as_bytes())] {
        std::fs::write(file(name), bytes)
            .map_err(|error| Failure::io(&file(name), "be written", &error))?;
    }
    say(format!("converting by {}", cof.display()));
    run(Command::new(convert).arg("-c").arg(file("image.cof")))?;
    say(format!(
        "programming the flash memory by device {index} of cable {}",
        cable.display()
    ));
    let operation = format!("{operation};{}@{index}", file(output).display());
    run(Command::new(program)
        .arg("-c")
        .arg(cable)
        .args(["-m", "jtag", "-o", &operation]))?;
    say("the flash memory is written; switch the computer off and on to use it".into());
    Ok(())
}

/// Returns the name of the converter's output, from its settings, and the programmer's operation: the programmer
/// derives the kind of file from the name. A `.pof` is programmed and verified. A `.jic` is for a serial memory that
/// the FPGA is connected to: the FPGA is first configured with a design that writes that memory (`pvi`, as in Altera's
/// guides for its development kits).
fn format(cof: &Path, text: &str) -> Result<(&'static str, &'static str)> {
    let named = text
        .split_once("<output_filename>")
        .and_then(|(_, rest)| rest.split_once("</output_filename>"))
        .map(|(name, _)| name.trim());
    // Settings without such a name are refused in the same way.
    let named = named.unwrap_or(".pof");
    match named.to_ascii_lowercase().rsplit_once('.') {
        Some((_, "pof")) => Ok(("image.pof", "pv")),
        Some((_, "jic")) => Ok(("image.jic", "pvi")),
        _ => Err(Failure::new(
            format!(
                "{}: its <output_filename> is \"{named}\", neither a .pof nor a .jic",
                cof.display()
            ),
            "Quartus's programmer needs one of these for a flash memory: make the file again with Quartus's Convert \
             Programming Files, or write the .sof as the board's manual describes.",
        )),
    }
}

/// Replaces the content of a text's one element of this name.
fn replaced(text: &str, element: &str, content: &Path) -> Option<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let (before, rest) = text.split_once(&open)?;
    let (_, after) = rest.split_once(&close)?;
    let one = !after.contains(&open);
    one.then(|| format!("{before}{open}{}{close}{after}", content.display()))
}

fn temporary(bytes: &[u8], suffix: &str) -> Result<tempfile::NamedTempFile> {
    let made = tempfile::Builder::new()
        .prefix("peerlane-")
        .suffix(suffix)
        .tempfile();
    let written = made.and_then(|file| std::fs::write(file.path(), bytes).map(|()| file));
    written.map_err(|error| Failure::io(&std::env::temp_dir(), "be written", &error))
}

/// Signals by which a user ends a command.
const ENDS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Runs a tool to its end; the tool prints its own output. It has a process group of its own, which a terminal does not
/// interrupt, and no input, because such a group may not read from the terminal. A signal that would end this process
/// waits for the tool.
fn run(command: &mut Command) -> Result<()> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let watched = ENDS.map(|signal| signal_hook::flag::register(signal, Arc::clone(&interrupted)));
    command.process_group(0).stdin(Stdio::null());
    let done = to_its_end(command);
    for id in watched.into_iter().flatten() {
        signal_hook::low_level::unregister(id);
    }
    match (done, interrupted.load(Ordering::Relaxed)) {
        (Ok(()), true) => Err(Failure::new(
            "interrupted, after the tool in progress ended without an error",
            "The previous message names the tool's work: if that is programming, the flash memory is written.",
        )),
        (done, _) => done,
    }
}

fn to_its_end(command: &mut Command) -> Result<()> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let failed = |how: String| {
        Failure::new(
            format!("{tool}: {how}"),
            "The tool's output is above. The flash memory may be half-written: do not switch the board off before it \
             has been written completely.",
        )
    };
    let status = command
        .status()
        .map_err(|error| failed(error.to_string()))?;
    match status.success() {
        true => Ok(()),
        false => Err(failed(status.to_string())),
    }
}
