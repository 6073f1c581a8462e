//! The library as a runtime finds it.

use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What `aocl_mmd.h` has, without `aocl_mmd_`.
const SYMBOLS: &[&str] = &[
    "get_offline_info",
    "get_info",
    "open",
    "close",
    "set_interrupt_handler",
    "set_device_interrupt_handler",
    "set_status_handler",
    "yield",
    "read",
    "write",
    "copy",
    "shared_mem_alloc",
    "shared_mem_free",
    "hostchannel_create",
    "hostchannel_destroy",
    "hostchannel_get_buffer",
    "hostchannel_ack_buffer",
    "reprogram",
];

/// Cargo puts the library beside the test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libpeerlane_mmd_legacy.so")
}

#[test]
fn it_has_these_symbols_and_no_others() {
    let bytes = std::fs::read(library()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition());
    let found: BTreeSet<&str> = exported.map(|symbol| symbol.name().unwrap()).collect();
    let expected: Vec<String> = SYMBOLS
        .iter()
        .map(|name| format!("aocl_mmd_{name}"))
        .collect();
    let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
    assert_eq!(found, expected);
}

/// Loaded twice and unloaded, as the runtime does, it stays and answers.
#[test]
fn it_is_loaded_and_answers() {
    type Offline = unsafe extern "C" fn(i32, usize, *mut u8, *mut usize) -> i32;
    // SAFETY: loading it runs nothing.
    let first = unsafe { libloading::Library::new(library()) }.unwrap();
    // SAFETY: as above.
    let second = unsafe { libloading::Library::new(library()) }.unwrap();
    // SAFETY: that is its type in `aocl_mmd.h`.
    let ask = unsafe { *first.get::<Offline>(b"aocl_mmd_get_offline_info").unwrap() };
    first.close().unwrap();
    second.close().unwrap();
    let mut version = [0xcc; 8];
    // SAFETY: there is so much room; the library is linked so that it is never unloaded.
    let status = unsafe { ask(0, version.len(), version.as_mut_ptr(), std::ptr::null_mut()) };
    assert_eq!((status, &version[..5]), (0, &b"14.0\0"[..]));
}
