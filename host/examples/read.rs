//! Peer to FPGA: copies 1 MiB of memory next to the board directly into the board's memory. Run it with `cargo run -p
//! peerlane-host --example read /dev/peerlane0`, or on the simulated board with `cargo run -p peerlane-simulated
//! --example simulated-read`.

use anyhow::{Result, ensure};
use peerlane_host::{Device, Error, MemoryKind, Permissions};
use std::time::Duration;

const LENGTH: usize = 1 << 20;

/// Runs the example on an open device, with memory of this kind.
pub fn run(device: &Device, kind: MemoryKind) -> Result<()> {
    let limit = Duration::from_secs(10);
    // FPGA memory of our own. It has to be there before the queue.
    let fpga = device.allocate(LENGTH as u64)?;
    let queue = device.queue()?;

    // Data that a kernel on the GPU, or a program, would have computed. The board may only read it.
    let data: Vec<u8> = (0..LENGTH).map(|i| ((i * i) >> 7) as u8).collect();
    let memory = device.memory(kind, LENGTH)?;
    memory.write(0, &data)?;
    let region = device.register_all(&memory, Permissions::Read)?;

    let start = device.now();
    let transfer = queue.to_fpga(region.part(0..LENGTH as u64), fpga.base())?;
    let bytes = transfer.wait(limit)?;
    let time = device.now() - start;
    println!(
        "{bytes} bytes from {kind:?} to FPGA in {time:?}: {:.0} MB/s",
        bytes as f64 / time.as_secs_f64() / 1e6
    );

    // Copies the data back, to see that they have arrived.
    let check = device.memory(kind, LENGTH)?;
    let region = device.register_all(&check, Permissions::ReadWrite)?;
    queue
        .from_fpga(fpga.base(), region.part(0..LENGTH as u64))?
        .wait(limit)?;
    let mut found = vec![0; LENGTH];
    check.read(0, &mut found)?;
    ensure!(
        found == data,
        "the data in FPGA memory is not what was sent"
    );
    Ok(())
}

#[allow(dead_code, reason = "others run the example on other boards")]
fn main() -> Result<()> {
    let path = std::env::args().nth(1);
    let path = path.as_deref().unwrap_or("/dev/peerlane0");
    if path.starts_with('-') {
        println!("Usage: read [DEVICE]    (default: /dev/peerlane0)");
        return Ok(());
    }
    let device = Device::open(path);
    let done = (device.map_err(Into::into)).and_then(|device| run(&device, MemoryKind::Host));
    done.map_err(with_hint)
}

/// Puts the library's hint before an error, because the text of an error does not contain it.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref().map(Error::hint) {
        Some(hint) => error.context(hint),
        None => error,
    }
}
