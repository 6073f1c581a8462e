//! The library as a runtime finds it.

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
    "program",
    "host_alloc",
    "shared_alloc",
    "free",
];

const NAME: &str = "libpeerlane_mmd.so";

#[test]
fn it_has_these_symbols_and_those_of_the_extension_alone() {
    library::exports(NAME, SYMBOLS);
}

#[test]
fn it_is_loaded_and_answers() {
    library::answers(NAME, b"2024.2\0", "the open runtime");
}
