//! The simulated board by its name, for the libraries for C and Python and for commands.

use crate::SimBoard;
use peerlane_block::library_for_users;
use peerlane_hdl::Params;
use peerlane_host::driver::{BackendError, Driver, Options};
use peerlane_host::{Device, Error, Result};
use peerlane_sim::BoardConfig;
use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of the simulated board, in place of the path of a device node.
pub const NAME: &str = "simulated";

/// Directory with the block's model, compiled ahead, next to a library or a program that has the simulated board.
pub const MODELS: &str = "peerlane-models";

/// Variable with the number of channels of the named board that other programs seem to have. The default is 0.
const TAKEN: &str = "PEERLANE_SIMULATED_TAKEN";

fn failed(error: &dyn std::error::Error) -> Error {
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |error| error.source());
    for cause in causes.map(ToString::to_string) {
        // Some errors have the text of their cause.
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    Error::Backend(BackendError::NotSimulated(text))
}

/// Returns the directory of the file with this code: of a shared library, or of a program.
fn directory() -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    let here = directory as fn() -> Option<PathBuf> as *const libc::c_void;
    // SAFETY: there is room for the result, and any address may be asked for.
    if unsafe { libc::dladdr(here, found.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the call has filled it in. The name is a string that lives as long as this code is loaded.
    let name = unsafe { CStr::from_ptr(found.assume_init().dli_fname) };
    let name = Path::new(OsStr::from_bytes(name.to_bytes()));
    // A program has the name that it was called by: one without a directory was found by PATH.
    let file = match name.components().count() {
        1 => std::env::current_exe(),
        _ => name.canonicalize(),
    };
    Some(file.ok()?.parent()?.to_owned())
}

/// Makes a board of the block's default parameters. Its model comes from the directory [`MODELS`] next to the library
/// or program, else from the user's cache. Before it is compiled, which takes a minute, a line says so on standard
/// error.
///
/// # Errors
/// [`BackendError::NotSimulated`] if there is no model and it cannot be compiled.
pub fn board() -> Result<SimBoard> {
    let ahead = directory().map(|directory| directory.join(MODELS));
    let library =
        library_for_users(&Params::default(), ahead.as_deref()).map_err(|e| failed(&e))?;
    let model = library.instance().map_err(|e| failed(&e))?;
    SimBoard::new(model, BoardConfig::default())
}

/// Opens a device of the process's board, which takes memory of the process, and files in place of dma-bufs.
///
/// # Errors
/// As [`board`]; if no channel is free.
///
/// # Safety
/// As [`SimBoard::admit_process_memory`] and [`SimBoard::admit_files`].
pub unsafe fn open() -> Result<Device> {
    /// The board of the process, and the other contexts.
    static DRIVER: OnceLock<Result<(Driver, Vec<Device>)>> = OnceLock::new();
    let start = || {
        let board = board()?;
        // SAFETY: the caller promises it.
        unsafe {
            board.admit_process_memory();
            board.admit_files();
        }
        let driver = board.drive(&Options::default())?;
        let taken = std::env::var(TAKEN).map_or(Ok(0), |taken| taken.parse());
        let others = (0..taken.map_err(|e| failed(&e))?).map(|_| driver.open());
        let others = others.collect::<Result<_>>()?;
        Ok((driver, others))
    };
    let (driver, _) = DRIVER.get_or_init(start).as_ref().map_err(Clone::clone)?;
    driver.open()
}
