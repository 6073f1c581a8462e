//! How long it takes to find memory that is registered: `cargo bench -p peerlane-host --bench cache`. Times are the
//! processor's time of the thread, so that other programs do not count.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/least/mod.rs"]
mod least;

use criterion::Criterion;
use least::Least;
use peerlane_host::cache::{Buffer, Cache, Limits, Registered};
use peerlane_host::{Device, Error, Permissions};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

/// Regions that the cache has.
const REGIONS: u64 = 10_000;

const LENGTH: u64 = 64 << 10;

/// Looks one of many regions up, in an order that no processor foresees; with the regions in one buffer, and in one each.
fn find(criterion: &mut Criterion) {
    let device = Device::over(Least::new()).expect("the device opens");
    let file = std::fs::File::open("/dev/null").expect("there is /dev/null");
    let both = Permissions::ReadWrite;
    for (name, buffers) in [("one buffer", 1), ("a buffer each", REGIONS)] {
        let cache = Cache::new(Limits {
            regions: REGIONS as usize,
            ..Limits::default()
        });
        let get = |number: u64| {
            let buffer = Buffer::cuda(number % buffers);
            let start = number * 2 * LENGTH;
            let cached = cache.get(&buffer, start..start + LENGTH, both, |range| {
                let region = device.register_dmabuf(&file, range.start, LENGTH, both)?;
                Ok::<_, Error>(Registered { region, range })
            });
            cached.expect("the driver has room")
        };
        for number in 0..REGIONS {
            drop(get(number));
        }
        let mut number = 0;
        criterion.bench_function(
            &format!("find one of {REGIONS} regions, {name}"),
            |bencher| {
                bencher.iter_custom(|times| {
                    let begin = clock_gettime(ClockId::ThreadCPUTime);
                    for _ in 0..times {
                        // A linear congruential generator; its upper bits are the better ones (Knuth, volume 2, 3.2.1.3).
                        number = (number * 1_664_525 + 1_013_904_223) % (1 << 32);
                        black_box(get((number >> 8) % REGIONS));
                    }
                    let end = clock_gettime(ClockId::ThreadCPUTime);
                    Duration::try_from(end - begin).expect("time goes on")
                });
            },
        );
        let statistics = cache.statistics();
        assert_eq!(
            (statistics.registered, statistics.regions),
            (REGIONS, REGIONS as usize)
        );
    }
}

fn main() {
    find(&mut Criterion::default().configure_from_args());
}
