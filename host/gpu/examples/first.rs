//! A megabyte from a GPU to the FPGA's memory and back, without a copy in the host's memory.

use peerlane_gpu::{Gpu, Readers};
use peerlane_host::{Device, Permissions};
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

const LENGTH: u64 = 1 << 20;
const LIMIT: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    match run() {
        Ok(()) => {
            println!("{LENGTH} bytes to the FPGA and back: all right");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let hint = (error.downcast_ref().map(peerlane_gpu::Error::hint))
                .or_else(|| error.downcast_ref().map(peerlane_host::Error::hint));
            eprintln!("{error}. {}", hint.unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let device = Device::first()?;
    let fpga = device.allocate(LENGTH)?;
    let queue = device.queue()?;

    let gpu = Gpu::open(0)?;
    let buffer = gpu.buffer(LENGTH)?;
    let sent: Vec<u8> = (0..LENGTH).map(|at| (at * 7 + at / 4096) as u8).collect();
    buffer.write(0, &sent)?;

    let region = buffer.register(&device, 0..LENGTH, Permissions::ReadWrite)?;
    let to_the_fpga = queue.to_fpga(&region, fpga.base())?;
    to_the_fpga.wait(LIMIT)?;
    // Clears the buffer, so that the bytes found below have come from the FPGA.
    buffer.write(0, &vec![0; LENGTH as usize])?;
    let and_back = queue.from_fpga(fpga.base(), &region)?;
    and_back.wait(LIMIT)?;
    // Kernels that run see the bytes; those that are launched from now on do so without this.
    gpu.flush(Readers::Context)?;

    let mut found = vec![0; LENGTH as usize];
    buffer.read(0, &mut found)?;
    match found == sent {
        true => Ok(()),
        false => Err("other bytes came back".into()),
    }
}
