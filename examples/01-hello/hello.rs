//! 01: memory goes to the FPGA's memory and back.
//!
//! ```text
//! cargo run -p peerlane-host --example hello
//! ```

use anyhow::{Result, ensure};
use peerlane_host::{Device, Error, MemoryKind, Permissions};
use std::time::Duration;

const BYTES: usize = 100_000;

/// Runs the example on an open device.
pub fn run(device: &Device) -> Result<()> {
    let limit = Duration::from_secs(10);
    // FPGA memory of our own, before there is a queue.
    let fpga = device.allocate(BYTES as u64)?;
    let queue = device.queue()?;

    // Memory that the board may read, and memory that it may write.
    let data: Vec<u8> = (0..BYTES).map(|i| (i * 7) as u8).collect();
    let there = device.memory(MemoryKind::Host, BYTES)?;
    there.write(0, &data)?;
    let back = device.memory(MemoryKind::Host, BYTES)?;
    let from = device.register_all(&there, Permissions::Read)?;
    let to = device.register_all(&back, Permissions::ReadWrite)?;

    let length = BYTES as u64;
    queue
        .to_fpga(from.part(0..length), fpga.base())?
        .wait(limit)?;
    let moved = queue
        .from_fpga(fpga.base(), to.part(0..length))?
        .wait(limit)?;

    let mut found = vec![0; BYTES];
    back.read(0, &mut found)?;
    ensure!(found == data, "other bytes came back");
    println!("{moved} bytes to the FPGA and back");
    Ok(())
}

#[allow(dead_code, reason = "a test runs the example on the simulated board")]
fn main() -> Result<()> {
    let device = Device::first().map_err(Into::into);
    device.and_then(|device| run(&device)).map_err(with_hint)
}

/// Adds the library's hint in front of an error: the text of the error does not include it.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref().map(Error::hint) {
        Some(hint) => error.context(hint),
        None => error,
    }
}
