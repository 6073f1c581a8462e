//! The library and its driver in the process against a functional fake of the block's registers (see
//! `fake`). The real RTL is in `host/simulated`, the kernel's device in `tests/guest`.

mod channels;
mod common;
mod copies;
mod device;
mod ends;
mod fake;
mod lifetime;
mod locks;
mod opencl;
mod queue;
mod store;

use common::drive;
use fake::Config;
use peerlane_functional::{ALL, Bench, run};
use peerlane_host::driver::Driver;
use peerlane_host::{Device, MemoryKind};

struct OnFake(Driver);

impl Bench for OnFake {
    fn open(&self) -> anyhow::Result<Device> {
        Ok(self.0.open()?)
    }

    fn kinds(&self) -> &[MemoryKind] {
        &[MemoryKind::Host, MemoryKind::Gpu]
    }

    fn reset(&self) -> anyhow::Result<bool> {
        self.0.reset()?;
        Ok(true)
    }
}

#[test]
fn what_the_library_promises() {
    for (depth_log2, write_granularity) in [(2, 1), (9, 1), (2, 4), (9, 4)] {
        for (name, test) in ALL {
            let bench = OnFake(
                drive(Config {
                    depth_log2,
                    write_granularity,
                    ..Config::default()
                })
                .1,
            );
            let tried = run(&bench, name, *test);
            tried.unwrap_or_else(|error| panic!("granularity {write_granularity}: {error:?}"));
        }
    }
}
