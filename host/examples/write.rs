//! FPGA to peer: copies 1 MiB of the board's memory directly into memory next to it. Run it with `cargo run -p
//! peerlane-host --example write /dev/peerlane0`, or on the simulated board with `cargo run -p peerlane-simulated
//! --example simulated-write`.

use anyhow::{Result, ensure};
use peerlane_host::{Device, Direction, Error, MemoryKind, Permissions, Request, Terms};
use std::time::Duration;

const LENGTH: usize = 1 << 20;

/// Runs the example on an open device, with memory of this kind.
pub fn run(device: &Device, kind: MemoryKind) -> Result<()> {
    let limit = Duration::from_secs(10);
    // FPGA memory of our own. It has to be there before the queue.
    let fpga = device.allocate(LENGTH as u64)?;
    let queue = device.queue()?;

    // Here the FPGA would compute data; this example copies them there.
    let data: Vec<u8> = (0..LENGTH).map(|i| ((i * i) >> 9) as u8).collect();
    let from = device.memory(MemoryKind::Host, LENGTH)?;
    from.write(0, &data)?;
    let from = device.register_all(&from, Permissions::Read)?;
    let read = queue.to_fpga(from.part(0..LENGTH as u64), fpga.base())?;

    // The peer's memory, made reachable for the board. The write starts by itself when the read has ended: the program
    // does not wait in between.
    let memory = device.memory(kind, LENGTH)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: fpga.base(),
        length: LENGTH as u64,
        piece: None,
    };
    let chained = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let write = queue.submit_with(&request, chained)?;

    read.wait(limit)?;
    let start = device.now();
    let bytes = write.wait(limit)?;
    let time = device.now() - start;
    println!(
        "{bytes} bytes from FPGA to {kind:?} in {time:?}: {:.0} MB/s",
        bytes as f64 / time.as_secs_f64() / 1e6
    );

    let mut found = vec![0; LENGTH];
    memory.read(0, &mut found)?;
    ensure!(found == data, "the data that arrived is not what was sent");
    Ok(())
}

#[allow(dead_code, reason = "others run the example on other boards")]
fn main() -> Result<()> {
    let path = std::env::args().nth(1);
    let path = path.as_deref().unwrap_or("/dev/peerlane0");
    if path.starts_with('-') {
        println!("Usage: write [DEVICE]    (default: /dev/peerlane0)");
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
