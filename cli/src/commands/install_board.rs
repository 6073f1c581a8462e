//! `peerlane install-board`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::commands::{Outcome, publish};
use peerlane_bsp::hash::sha256;
use peerlane_bsp::layout::{BOARD_FILE, Layout};
use peerlane_core::board::{Board, BoardError, FileName, Ids, SUBDEVICE, descriptions};
use peerlane_demo::error::Error;
use peerlane_icd_setup::make;

/// Install descriptions of boards where the kernel module and programs by VFIO find them.
///
/// The module is the same for all boards. A description of a board says where the block's registers are. It is used
/// only if the hardware reports the BUILD_ID that the description gives. `peerlane extend` writes the
/// description into the board's hardware directory (peerlane.board); it must be that of the image in the FPGA.
///
/// A file has the descriptions of all boards with the same PCI IDs. A description with the same BUILD_ID is replaced,
/// others stay.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo peerlane install-board de5net_peerlane
  sudo peerlane install-board one.board other.board
  peerlane install-board de5net_peerlane --firmware image/lib/firmware/peerlane

The exit status is 0 if all descriptions were installed, else 2.")]
pub struct Args {
    /// Platforms that `peerlane extend` wrote, or files with descriptions.
    #[arg(required = true, value_name = "DIR|FILE")]
    boards: Vec<PathBuf>,
    /// The directory for the descriptions.
    #[arg(long, value_name = "DIR", default_value = "/lib/firmware/peerlane")]
    firmware: PathBuf,
}

/// A description.
#[derive(Debug, Clone)]
struct Description {
    text: String,
    name: String,
    ids: Ids,
    build_id: u32,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let mut new = Vec::new();
    for source in &args.boards {
        let file = file_of(source)?;
        new.extend(read(&file, "Copy peerlane.board from the platform again.")?);
    }
    let mut files: BTreeMap<PathBuf, Vec<Description>> = BTreeMap::new();
    for description in &new {
        let file = args.firmware.join(FileName(description.ids).to_string());
        if !files.contains_key(&file) {
            let there = match file.exists() {
                true => read(&file, "Delete the file, then install its boards again.")?,
                false => Vec::new(),
            };
            files.insert(file.clone(), there);
        }
        let there = files.entry(file).or_default();
        match there
            .iter_mut()
            .find(|known| known.build_id == description.build_id)
        {
            Some(known) => *known = description.clone(),
            None => there.push(description.clone()),
        }
    }
    make(&args.firmware).map_err(|e| Error::io(&args.firmware, "make the directory", &e))?;
    for (file, all) in &files {
        let text: String = all.iter().map(|one| one.text.as_str()).collect();
        // Programs of any user read it, where a board is driven by VFIO.
        publish(file, "write the descriptions", text.as_bytes())?;
    }
    list(&args.firmware)?;
    next(&new);
    Ok(ExitCode::SUCCESS)
}

/// Returns the file with the description of a platform, or the file itself.
fn file_of(source: &Path) -> Result<PathBuf, Error> {
    if !source.is_dir() {
        return Ok(source.into());
    }
    let file = Layout::of_result(source)?.hardware_dir().join(BOARD_FILE);
    match file.is_file() {
        true => Ok(file),
        false => Err(Error::new(
            &file,
            "the platform has no description of its board",
            "Extend the vendor's BSP again and compile it: an older version of Peerlane wrote the platform, and its \
             BUILD_ID is not that of a description.",
        )),
    }
}

/// Reads the descriptions of a file. All must be sound.
fn read(file: &Path, hint: &str) -> Result<Vec<Description>, Error> {
    let bytes = fs::read(file).map_err(|e| Error::io(file, "read the description", &e))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::new(file, "it is not a text", hint))?;
    let read = |(before, text): (usize, &str)| {
        let board = Board::parse(text, before, sha256).map_err(|error| {
            let number = match error {
                BoardError::Line { number } => number,
                _ => before + 1,
            };
            let place = PathBuf::from(format!("{}:{number}", file.display()));
            Error::new(&place, error.to_string(), hint)
        })?;
        Ok(Description {
            text: text.into(),
            name: board.name.into(),
            ids: board.ids,
            build_id: board.build_id,
        })
    };
    let all: Result<Vec<_>, _> = descriptions(&text).map(read).collect();
    match all {
        Ok(all) if all.is_empty() => Err(Error::new(file, "there is no description in it", hint)),
        all => all,
    }
}

/// Prints all descriptions of a directory.
fn list(firmware: &Path) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::io(firmware, "list the directory", &e);
    let mut files = Vec::new();
    for entry in fs::read_dir(firmware).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "board")
        {
            files.push(path);
        }
    }
    files.sort();
    outln!("Installed in {}:", firmware.display());
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match read(&file, "Delete the file, then install its boards again.") {
            Ok(all) => {
                for Description {
                    name: board,
                    build_id,
                    ..
                } in all
                {
                    outln!("  {name}  BUILD_ID {build_id:#010x}  {board}");
                }
            }
            Err(error) => outln!("  {name}  unusable: {}", error.message()),
        }
    }
    Ok(())
}

/// Prints the steps after the installation.
fn next(new: &[Description]) {
    outln!(
        "Programs by VFIO read this when they open the board: peerlane bind ADDRESS.\n\
         A kernel module that is not loaded yet reads this when it is: sudo modprobe peerlane. For a board that the loaded \
         driver has not taken:\n  echo ADDRESS | sudo tee /sys/bus/pci/drivers/peerlane/bind\n\
         with its address from lspci, such as 0000:03:00.0. (A board that it has taken goes on as before; it must be \
         unbound first, with the file unbind.) A restart does both."
    );
    let others = new
        .iter()
        .filter(|one| one.ids.subdevice != Some(SUBDEVICE));
    let mut names: Vec<_> = others.map(|one| one.name.as_str()).collect();
    names.dedup();
    if names.is_empty() {
        return;
    }
    // A driver in Rust takes no IDs by `new_id`: its table has data for each ID.
    outln!(
        "The kernel module does not look for a subsystem other than {SUBDEVICE:04x} by itself. For {}, once after each \
         start of the computer:\n  echo peerlane | sudo tee /sys/bus/pci/devices/ADDRESS/driver_override\n  echo ADDRESS \
         | sudo tee /sys/bus/pci/drivers_probe",
        names.join(", ")
    );
}
