//! The example `read` of `peerlane-host` on the simulated board and its GPU.

#[path = "../../examples/read.rs"]
mod example;
mod support;

use peerlane_host::MemoryKind;

fn main() -> anyhow::Result<()> {
    example::run(&support::open()?, MemoryKind::Gpu)
}
