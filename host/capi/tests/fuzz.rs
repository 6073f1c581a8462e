//! The fuzzer's calls of the functions of C: a bounded, repeatable run without a fuzzer.

#[allow(dead_code, reason = "the host library's tests use more of it")]
#[path = "../../tests/least/mod.rs"]
mod least;

#[path = "../../fuzz/src/lib.rs"]
mod functions;

use least::Least;
use peerlane_host::Device;

#[test]
fn any_calls_in_any_order() {
    // Xorshift (Marsaglia 2003): the same numbers in every run.
    let mut random = 14_u64;
    let mut byte = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 16) as u8
    };
    for round in 0..3000 {
        let length = 1 + usize::from(byte()) * 3;
        let mut data: Vec<u8> = (0..length).map(|_| byte()).collect();
        // Most rounds begin with a queue and a region: otherwise most calls are refused.
        if round % 4 != 0 {
            let begin = [7, 0, 3, 1, 8, 2, 16, 3, 0];
            data.splice(0..0, begin);
        }
        let least = Least::new();
        functions::calls(Device::over(least.clone()).unwrap(), &data);
        assert!(
            least.regions.lock().unwrap().is_empty(),
            "a region was left"
        );
    }
}
