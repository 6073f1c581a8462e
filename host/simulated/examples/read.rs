//! The example `read` of `peerlane-host` on the simulated board and its GPU.

#[path = "../../examples/read.rs"]
mod example;
mod support;

use peerlane_host::MemoryKind;

fn main() -> anyhow::Result<()> {
    let device = support::open();
    let done = device.and_then(|device| example::run(&device, MemoryKind::Gpu));
    done.map_err(example::with_hint)
}
