//! The library that the OpenCL runtime loads for a board: checks of a file in its place.

use crate::{Failure, Result};
use object::{Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol};
use std::ffi::{c_char, c_int, c_void};
use std::io::ErrorKind;
use std::path::Path;

/// Functions that a runtime looks up in every library and ends without (intel/fpga-runtime-for-opencl v2025.0,
/// `acl_hal_mmd.cpp`, `l_load_single_board_library`); each name begins with `aocl_mmd_`.
const NEEDED: [&str; 10] = [
    "get_offline_info",
    "get_info",
    "open",
    "close",
    "set_interrupt_handler",
    "set_status_handler",
    "yield",
    "read",
    "write",
    "copy",
];
/// A function that only Peerlane's libraries have.
const OURS: &str = "clGetErrorTextPeerlane";
/// Hint for a file that is not a library.
const COPY: &str = "Step 7 of the platform's README.md builds and copies the library that it needs: of peerlane-mmd \
                    for the open runtime, of peerlane-mmd-legacy for the SDK's own runtime, under the same name.";
/// The section with the source that a library was made from (`mmd/src/origin.rs`).
const ORIGIN: &str = ".peerlane";

/// The two libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Library {
    /// For the open runtime.
    Open,
    /// For the closed runtimes.
    Legacy,
}

impl Library {
    /// Checks a file, without loading it.
    ///
    /// # Errors
    /// It does not exist, or is not a library of Peerlane's for this computer.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let failed = |what: String| Failure::new(format!("{}: {what}", path.display()), COPY);
        let bytes = match path.is_dir() {
            false => std::fs::read(path),
            true => Err(ErrorKind::IsADirectory.into()),
        };
        let bytes = bytes.map_err(|error| {
            failed(match error.kind() {
                ErrorKind::NotFound => "the library for the OpenCL runtime is not there".into(),
                _ => format!("the library for the OpenCL runtime cannot be read: {error}"),
            })
        })?;
        kind(&bytes).map_err(failed)
    }

    /// Returns the other one.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Open => Self::Legacy,
            Self::Legacy => Self::Open,
        }
    }

    /// Returns a text with the runtimes that it is for.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Open => "the library for the open runtime",
            Self::Legacy => "the library for the closed runtimes (legacy)",
        }
    }
}

fn kind(bytes: &[u8]) -> Result<Library, String> {
    if bytes.is_empty() {
        return Err("is empty, not a library".into());
    }
    let file = object::File::parse(bytes)
        .map_err(|error| format!("is not a library, or only a part of one: {error}"))?;
    if file.kind() != ObjectKind::Dynamic || file.architecture() != Architecture::X86_64 {
        return Err("is not a shared library for this computer's processor".into());
    }
    let symbols = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
    let names: Vec<&str> = symbols.filter_map(|symbol| symbol.name().ok()).collect();
    let has = |name: &str| names.contains(&name);
    let called = |name: &str| has(&format!("aocl_mmd_{name}"));
    if let Some(name) = NEEDED.iter().find(|name| !called(name)) {
        return Err(format!(
            "is not a library for an OpenCL runtime: it has no aocl_mmd_{name}"
        ));
    }
    if !has(OURS) {
        return Err("is a library for an OpenCL runtime, but not one of Peerlane".into());
    }
    match (called("program"), called("reprogram")) {
        (true, false) => Ok(Library::Open),
        (false, true) => Ok(Library::Legacy),
        _ => Err("has aocl_mmd_program and aocl_mmd_reprogram both, or neither".into()),
    }
}

/// Returns the source that a library was made from, if it has this text.
pub(crate) fn origin(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let text = file.section_by_name(ORIGIN)?.data().ok()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Loads a library as the runtime does, and returns the version that it reports (`AOCL_MMD_VERSION` of `aocl_mmd.h`).
///
/// # Errors
/// The dynamic linker's error.
pub(crate) fn version(path: &Path) -> Result<String, String> {
    type Ask = unsafe extern "C" fn(c_int, usize, *mut c_void, *mut usize) -> c_int;
    /// `AOCL_MMD_VERSION`.
    const VERSION: c_int = 0;
    // SAFETY: it was checked before: it is a library of Peerlane's, which runs nothing when it is loaded. As with the
    // runtime, the writer of the platform's files is trusted.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    let mut room: [c_char; 64] = [0; 64];
    // SAFETY: that is its type in `aocl_mmd.h`.
    let ask = unsafe { library.get::<Ask>(b"aocl_mmd_get_offline_info") };
    let ask = ask.map_err(|error| error.to_string())?;
    // SAFETY: there is so much room; the used length is not needed.
    let status = unsafe {
        ask(
            VERSION,
            room.len() - 1,
            room.as_mut_ptr().cast(),
            std::ptr::null_mut(),
        )
    };
    if status < 0 {
        return Err("it does not report its version".into());
    }
    let text = room.iter().take_while(|byte| **byte != 0);
    Ok(text.map(|byte| char::from(byte.cast_unsigned())).collect())
}
