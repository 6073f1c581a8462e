//! 06: several processes use a board at the same time. Each has a channel, FPGA memory and regions of its own, and
//! reaches nothing of the others'. Then one of them gets FPGA memory from another, with its contents.
//!
//! ```text
//! cargo run -p peerlane-host --example processes
//! ```

use anyhow::{Context as _, Result, bail, ensure};
use peerlane_host::{
    Device, Direction, Error, FpgaMemory, Memory, MemoryKind, Offer, Permissions, Queue, Terms,
};
use std::process::{Child, Command};
use std::time::Duration;

const BYTES: usize = 256 << 10;
const ROUNDS: usize = 4;
const PROCESSES: u64 = 3;

const LIMIT: Duration = Duration::from_secs(10);

fn data(number: u64, round: usize) -> Vec<u8> {
    (0..BYTES as u64)
        .map(|i| (i * 7 + i / 251 + number * 31 + round as u64) as u8)
        .collect()
}

/// A context's memory, and its queue.
struct Work {
    queue: Queue,
    there: Memory,
    back: Memory,
}

impl Work {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            queue: device.queue()?,
            there: device.memory(MemoryKind::Host, BYTES)?,
            back: device.memory(MemoryKind::Host, BYTES)?,
        })
    }

    fn send(&self, bytes: &[u8], fpga: &FpgaMemory) -> Result<()> {
        self.there.write(0, bytes)?;
        let region = self
            .queue
            .device()
            .register_all(&self.there, Permissions::Read)?;
        let transfer = self
            .queue
            .to_fpga(region.part(0..BYTES as u64), fpga.base())?;
        transfer.wait(LIMIT)?;
        Ok(())
    }

    fn fetch(&self, fpga: &FpgaMemory) -> Result<Vec<u8>> {
        let region = self
            .queue
            .device()
            .register_all(&self.back, Permissions::ReadWrite)?;
        let transfer = self
            .queue
            .from_fpga(fpga.base(), region.part(0..BYTES as u64))?;
        transfer.wait(LIMIT)?;
        let mut bytes = vec![0; BYTES];
        self.back.read(0, &mut bytes)?;
        Ok(bytes)
    }
}

/// Does the work of each process, on a context of its own.
pub fn work(device: &Device, number: u64) -> Result<()> {
    let fpga = device.allocate(BYTES as u64)?;
    let work = Work::new(device)?;
    for round in 0..ROUNDS {
        let bytes = data(number, round);
        work.send(&bytes, &fpga)?;
        let found = work.fetch(&fpga)?;
        ensure!(
            found == bytes,
            "process {number} found bytes of another process"
        );
    }
    println!(
        "process {number}, channel {}: {ROUNDS} times {} KiB to the FPGA and back",
        device.info().channel,
        BYTES >> 10
    );
    Ok(())
}

/// Fills FPGA memory and offers it to any process that has the token, which is a secret. The kernel writes the
/// descriptor for this transfer: a process that has a queue cannot offer its FPGA memory.
pub fn offer(device: &Device) -> Result<Offer> {
    let fpga = device.allocate(BYTES as u64)?;
    let memory = device.memory(MemoryKind::Host, BYTES)?;
    memory.write(0, &data(99, 0))?;
    let region = device.register_all(&memory, Permissions::Read)?;
    let (base, terms) = (fpga.base(), Terms::default());
    let filled = device.submit(Direction::ToFpga, region.part(0..BYTES as u64), base, terms)?;
    filled.wait(LIMIT)?;
    Ok(fpga.offer()?)
}

/// Takes the memory over, and compares it with the bytes that the other process has left there.
pub fn take_over(device: &Device, offer: Offer) -> Result<()> {
    let fpga = device.take_over(offer)?;
    let found = Work::new(device)?.fetch(&fpga)?;
    ensure!(
        found == data(99, 0),
        "the memory was handed over with other bytes"
    );
    println!("{} KiB of FPGA memory were handed over", BYTES >> 10);
    Ok(())
}

/// Starts this program as another process.
fn start(arguments: &[String]) -> Result<Child> {
    let program = std::env::current_exe()?;
    let child = Command::new(&program).args(arguments).spawn();
    child.with_context(|| format!("{} does not start", program.display()))
}

fn parent() -> Result<()> {
    let children: Vec<Child> = (0..PROCESSES)
        .map(|number| start(&["work".into(), number.to_string()]))
        .collect::<Result<_>>()?;
    for mut child in children {
        ensure!(child.wait()?.success(), "a process has failed");
    }
    // The memory outlives the context that offered it.
    let Offer([first, second]) = offer(&Device::first()?)?;
    let arguments = ["take", &first.to_string(), &second.to_string()].map(String::from);
    ensure!(start(&arguments)?.wait()?.success(), "a process has failed");
    Ok(())
}

#[allow(dead_code, reason = "a test runs the example on the simulated board")]
fn main() -> Result<()> {
    run().map_err(with_hint)
}

/// Adds the library's hint in front of an error: the text of the error does not include it.
pub fn with_hint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref().map(Error::hint) {
        Some(hint) => error.context(hint),
        None => error,
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => parent(),
        ["work", number] => work(&Device::first()?, number.parse()?),
        ["take", first, second] => {
            take_over(&Device::first()?, Offer([first.parse()?, second.parse()?]))
        }
        _ => bail!("Usage: processes"),
    }
}
