//! The example `write` of `peerlane-host` on the simulated board and its GPU.

#[path = "../../examples/write.rs"]
mod example;
mod support;

use peerlane_host::MemoryKind;

fn main() -> anyhow::Result<()> {
    example::run(&support::open()?, MemoryKind::Gpu)
}
