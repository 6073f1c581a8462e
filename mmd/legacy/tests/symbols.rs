//! The library as a runtime finds it.

#[path = "../../tests/library/mod.rs"]
mod library;

/// Functions of `aocl_mmd.h`, without `aocl_mmd_`.
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

const NAME: &str = "libpeerlane_mmd_legacy.so";

#[test]
fn it_has_these_symbols_and_those_of_the_extension_alone() {
    library::exports(NAME, SYMBOLS);
}

#[test]
fn it_is_loaded_and_answers() {
    library::answers(NAME, b"14.0\0", "closed runtimes");
}

/// A runtime refuses a library of a later version than its own, so the library in a platform of 13.1 reports 13.1.
/// Later runtimes would ask a library of their own version for more than this one has.
#[test]
fn in_a_platform_it_is_not_later_than_the_platform() {
    for (platform, version) in [
        ("13.1", b"13.1\0"),
        ("14.0", b"14.0\0"),
        ("16.1", b"14.0\0"),
        ("13.0", b"14.0\0"),
    ] {
        library::says_in_a_platform(NAME, platform, version);
    }
}
