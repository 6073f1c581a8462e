//! GPU to FPGA: 1 MiB from a GPU's memory straight into the board's, on a simulated
//! board. Run it with `cargo run -p peerlane-host --example read`.

mod support;

use anyhow::{Result, ensure};
use peerlane_host::{Device, MemoryKind, Options, Permissions};
use std::time::Duration;

const LENGTH: u64 = 1 << 20;

fn main() -> Result<()> {
    let board = support::board()?;
    let device = Device::open_sim(&board, &Options::default())?;

    // What a kernel on the GPU would have computed; the board may read it, not write.
    let data = support::pattern(LENGTH as usize);
    let memory = device.allocate(MemoryKind::Gpu, LENGTH)?;
    memory.write(0, &data)?;
    let region = device.register(&memory, Permissions::Read)?;

    let start = device.now();
    let transfer = device.queue().read(&region, 0, 0, LENGTH)?;
    let bytes = transfer.wait(Duration::from_secs(1))?;
    let time = device.now() - start;

    let mut found = vec![0; LENGTH as usize];
    device.fpga_memory_backdoor_read(0, &mut found)?;
    ensure!(
        found == data,
        "the data in FPGA memory is not what was sent"
    );
    println!(
        "{bytes} bytes from GPU to FPGA in {time:?} of simulated time: {:.0} MB/s",
        bytes as f64 / time.as_secs_f64() / 1e6
    );
    Ok(())
}
