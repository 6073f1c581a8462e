//! `program`: configures a board's FPGA, in the way of the OpenCL runtime.

use crate::diagnose::find;
use crate::package::Image;
use crate::{Failure, Machine, Platform, Result};
use peerlane_mmd_core::{Boards, Flavour, Mmd};
use std::ffi::CString;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, Clone)]
pub struct Options {
    /// The board.
    pub board: String,
    /// A package, `fpga.bin`, or both.
    pub files: Vec<PathBuf>,
}

/// Configures the FPGA of a board. FPGA memory is lost. Progress goes to `say`.
///
/// # Errors
/// The reason why it was not done. Messages of the library for the runtime go to standard error.
pub fn program(
    machine: &Machine,
    platform: Option<&Platform>,
    boards: impl Boards + 'static,
    options: &Options,
    say: &mut dyn FnMut(String),
) -> Result<()> {
    let mut image = Image::of(&options.files)?;
    let board = find(&boards.names(), &options.board)?;
    let names = match machine.says(&board, "board") {
        Some(name) => vec![name],
        None => platform.map(Platform::board_names).unwrap_or_default(),
    };
    image.check_board(&names)?;
    if image.board.is_none() {
        say(
            "the board of the configuration is not known: only packages (.aocx) name their board"
                .into(),
        );
    }
    let name = CString::new(board.clone())
        .map_err(|_| Failure::new(format!("\"{board}\" is not a name"), "Name a board."))?;
    let mmd = Mmd::new(Flavour::TOOL, boards);
    // SAFETY: the name ends with a 0.
    let handle = unsafe { mmd.open(name.as_ptr()) };
    if handle < 0 {
        return Err(Failure::new(
            format!("{board} was not programmed, because it cannot be opened"),
            "The message above has the reason.",
        ));
    }
    let bytes = &mut image.bytes;
    // SAFETY: these are the bytes of a vector that lives.
    let programmed = unsafe { mmd.program(handle, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    // A board that was not programmed is closed.
    if programmed < 0 {
        return Err(Failure::new(
            format!("{board} was not programmed"),
            "The message above has the reason.",
        ));
    }
    mmd.close(programmed);
    say(format!("{board} is programmed"));
    Ok(())
}
