//! See `peerlane_bsp_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| peerlane_bsp_fuzz::xml(data));
