//! A library as a runtime finds it, for both flavours.

use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Returns the path of a library: Cargo puts it next to the test.
fn library(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name(name)
}

/// Functions of `peerlane_ext.h`.
const EXTENSION: [&str; 11] = [
    "clCreatePeerMemoryFromDmaBufPeerlane",
    "clCreatePeerMemoryFromPointerPeerlane",
    "clCreatePeerMemoryFromMemObjectPeerlane",
    "clReleasePeerMemoryPeerlane",
    "clCopyBufferToPeerPeerlane",
    "clCopyPeerToBufferPeerlane",
    "clGetBufferAddressPeerlane",
    "clCopyAddressToPeerPeerlane",
    "clCopyPeerToAddressPeerlane",
    "clSetOpenCLPeerlane",
    "clGetErrorTextPeerlane",
];

/// The function that identifies the library.
const IDENTITY: &str = "peerlane_mmd_identity";

/// Checks that a library exports these symbols, without `aocl_mmd_`, those of the extension, and no others.
pub fn exports(name: &str, symbols: &[&str]) {
    let bytes = std::fs::read(library(name)).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition());
    let found: BTreeSet<&str> = exported.map(|symbol| symbol.name().unwrap()).collect();
    let expected: Vec<String> = symbols
        .iter()
        .map(|name| format!("aocl_mmd_{name}"))
        .collect();
    let expected = expected.iter().map(String::as_str).chain(EXTENSION);
    let expected: BTreeSet<&str> = expected.chain([IDENTITY]).collect();
    assert_eq!(found, expected);
    // The file alone shows the source that it was made from.
    let origin = file.section_by_name(".peerlane").unwrap().data().unwrap();
    let origin = String::from_utf8_lossy(origin);
    let version = format!("Peerlane {} (commit ", env!("CARGO_PKG_VERSION"));
    assert!(
        origin.starts_with(&version) && origin.ends_with(')'),
        "{origin}"
    );
}

/// Checks that a copy of a library in a platform of this version reports another version.
#[allow(dead_code, reason = "one flavour's versions differ")]
pub fn says_in_a_platform(name: &str, platform: &str, version: &[u8]) {
    type Offline = unsafe extern "C" fn(i32, usize, *mut u8, *mut usize) -> i32;
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("platform-{platform}"));
    std::fs::create_dir_all(root.join("linux64/lib")).unwrap();
    let copy = root.join("linux64/lib/libpeerlane_mmd.so");
    std::fs::copy(library(name), &copy).unwrap();
    let text = format!("<board_env version=\"{platform}\" name=\"toy\">");
    std::fs::write(root.join("board_env.xml"), text).unwrap();
    // SAFETY: loading it runs nothing.
    let loaded = unsafe { libloading::Library::new(copy) }.unwrap();
    // SAFETY: that is its type in `aocl_mmd.h`.
    let ask = unsafe { *loaded.get::<Offline>(b"aocl_mmd_get_offline_info").unwrap() };
    let mut room = [0xcc; 8];
    // SAFETY: there is so much room, and the library stays.
    let status = unsafe { ask(0, room.len(), room.as_mut_ptr(), std::ptr::null_mut()) };
    assert_eq!((status, &room[..version.len()]), (0, version), "{platform}");
}

/// Checks a library that is loaded twice and unloaded, as by the runtime: it stays loaded and reports its version, and
/// the `runtimes` that it is for.
pub fn answers(name: &str, version: &[u8], runtimes: &str) {
    type Offline = unsafe extern "C" fn(i32, usize, *mut u8, *mut usize) -> i32;
    // SAFETY: loading it runs nothing.
    let first = unsafe { libloading::Library::new(library(name)) }.unwrap();
    // SAFETY: as above.
    let second = unsafe { libloading::Library::new(library(name)) }.unwrap();
    // SAFETY: that is its type in `aocl_mmd.h`.
    let ask = unsafe { *first.get::<Offline>(b"aocl_mmd_get_offline_info").unwrap() };
    first.close().unwrap();
    second.close().unwrap();
    let mut room = [0xcc; 8];
    // SAFETY: there is so much room; the library is linked so that it is never unloaded.
    let status = unsafe { ask(0, room.len(), room.as_mut_ptr(), std::ptr::null_mut()) };
    assert_eq!((status, &room[..version.len()]), (0, version));
    type Identity = unsafe extern "C" fn() -> *const std::ffi::c_char;
    // SAFETY: that is its type, and the text stays.
    let identity = unsafe {
        let library = libloading::Library::new(library(name)).unwrap();
        let identity = library.get::<Identity>(IDENTITY.as_bytes()).unwrap();
        std::ffi::CStr::from_ptr(identity())
    };
    let version = std::str::from_utf8(version).unwrap().trim_end_matches('\0');
    let package = env!("CARGO_PKG_VERSION");
    let expected = format!("Peerlane {package}, for {runtimes}, AOCL_MMD_VERSION {version}");
    assert_eq!(identity.to_str().unwrap(), expected);
    type Release = unsafe extern "C" fn(*mut u8) -> i32;
    type Text = unsafe extern "C" fn(i32) -> *const std::ffi::c_char;
    // SAFETY: those are their types in `peerlane_ext.h`; no handle was given, and the text stays.
    let (released, text) = unsafe {
        let library = libloading::Library::new(library(name)).unwrap();
        let release = library
            .get::<Release>(b"clReleasePeerMemoryPeerlane")
            .unwrap();
        let text = library.get::<Text>(b"clGetErrorTextPeerlane").unwrap();
        let released = release(std::ptr::without_provenance_mut(4711));
        (released, std::ffi::CStr::from_ptr(text(released)))
    };
    assert_eq!(released, -10001);
    assert!(text.to_str().unwrap().contains("register the memory"));
}
