//! See `peerlane_bsp::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| peerlane_bsp::fuzz::record(data));
