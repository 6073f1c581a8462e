//! The platform that a library lies in: `../../board_env.xml` describes a library in `linux64/lib`.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the dynamic linker's information about the program or library that an address lies in.
pub(crate) fn object(address: *const c_void) -> Option<libc::Dl_info> {
    let mut found = MaybeUninit::uninit();
    // SAFETY: it only compares the address with the addresses of objects, and fills the structure if it finds one.
    let known = unsafe { libc::dladdr(address, found.as_mut_ptr()) } != 0;
    // SAFETY: as above.
    known.then(|| unsafe { found.assume_init() })
}

/// Returns the file that this code was loaded from, with the path that the dynamic linker got.
fn library() -> Option<PathBuf> {
    let address: *const () = library as fn() -> Option<PathBuf> as *const ();
    let info = object(address.cast()).filter(|info| !info.dli_fname.is_null())?;
    // SAFETY: it is a name that ends with a 0, and stays as long as this code is loaded (dladdr(3)).
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(OsStr::from_bytes(name.to_bytes()).into())
}

/// Returns the version of the OpenCL SDK that the platform around this library is for; `None`: it does not lie in a
/// platform, or the platform does not have a version.
pub(crate) fn platform_version() -> Option<String> {
    described(&library()?)
}

fn described(library: &Path) -> Option<String> {
    let lib = library.parent()?;
    let text = std::fs::read_to_string(lib.join("../../board_env.xml")).ok()?;
    version(&text)
}

/// Finds the version in the description of a platform (Custom Platform Toolkit user guide 683398, 1.4.2.1).
fn version(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<board_env")?;
    let (tag, _) = rest.split_once('>')?;
    let (_, value) = tag.split_once("version")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (value, _) = value[1..].split_once(quote)?;
    Some(value.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_its_version() {
        for (text, expected) in [
            (
                "<?xml version=\"1.0\"?>\n<board_env version=\"13.1\" name=\"x\">",
                Some("13.1"),
            ),
            ("<board_env name='x'\n version = '16.0' />", Some("16.0")),
            ("<board_env name=\"x\"/>", None),
            ("<?xml version=\"1.0\"?>", None),
            ("<board_env version=13.1>", None),
            ("", None),
        ] {
            assert_eq!(version(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn this_code_is_in_a_file() {
        let library = library().unwrap();
        assert_eq!(
            library.file_name(),
            std::env::current_exe().unwrap().file_name()
        );
        assert_eq!(platform_version(), None);
    }
}
