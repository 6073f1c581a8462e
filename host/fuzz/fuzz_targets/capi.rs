//! See `peerlane_host_fuzz`.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/least/mod.rs"]
mod least;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let device = peerlane_host::Device::over(least::Least::new()).expect("the device opens");
    peerlane_host_fuzz::calls(device, data);
});
