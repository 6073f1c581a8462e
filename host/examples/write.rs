//! FPGA to GPU: 1 MiB from the board's memory straight into a GPU's, on a simulated
//! board. Run it with `cargo run -p peerlane-host --example write`.

mod support;

use anyhow::{Result, ensure};
use peerlane_host::{Device, MemoryKind, Options, Permissions};
use std::time::Duration;

const LENGTH: u64 = 1 << 20;

fn main() -> Result<()> {
    let board = support::board()?;
    let device = Device::open_sim(&board, &Options::default())?;

    // What a kernel on the FPGA would have computed.
    let data = support::pattern(LENGTH as usize);
    device.fpga_memory_backdoor_write(0, &data)?;

    // The GPU's memory, made reachable for the board: it may write there, not read.
    let memory = device.allocate(MemoryKind::Gpu, LENGTH)?;
    let region = device.register(&memory, Permissions::Write)?;

    let start = device.now();
    let transfer = device.queue().write(0, &region, 0, LENGTH)?;
    let bytes = transfer.wait(Duration::from_secs(1))?;
    let time = device.now() - start;

    let mut found = vec![0; LENGTH as usize];
    memory.read(0, &mut found)?;
    ensure!(found == data, "the data in GPU memory is not what was sent");
    println!(
        "{bytes} bytes from FPGA to GPU in {time:?} of simulated time: {:.0} MB/s",
        bytes as f64 / time.as_secs_f64() / 1e6
    );
    Ok(())
}
