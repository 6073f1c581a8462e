//! The transfers of the demo.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use peerlane_core::descriptor::Direction;
use peerlane_host::driver::Options;
use peerlane_host::{Device, Error, MemoryKind, Permissions, Result, Transfer};
use peerlane_sim::Stats;
use peerlane_simulated::SimBoard;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Simulated time between two updates of the progress.
const SLICE: Duration = Duration::from_micros(200);
/// Number of slices of simulated time without progress after which the transfer is given up.
const PATIENCE: u32 = 500;

/// Bytes per descriptor.
const PIECE: u32 = 1 << 20;

/// Result of one direction.
#[derive(Debug, Clone)]
pub struct Moved {
    /// The direction.
    pub direction: Direction,
    /// Simulated nanoseconds from the submission to the end of the wait.
    pub ns: f64,
    /// Cycles of the PCIe clock in that time.
    pub cycles: u64,
    /// Requests on the link.
    pub requests: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Whether every byte was correct.
    pub correct: bool,
}

/// Moves data FPGA → GPU, then other data GPU → FPGA.
pub fn both_ways(board: &SimBoard, build_id: u32, bytes: u64, seed: u64) -> Result<Vec<Moved>> {
    let options = Options {
        build_id: Some(build_id),
        ..Options::default()
    };
    let device = board.drive(&options)?.open()?;
    // All of the memory, from address 0 on: nothing is filled with zeros first.
    let fpga = device.allocate_all(bytes)?.keep().start;
    // Opened before the time measurement starts.
    let queue = device.queue()?;
    queue.set_piece(PIECE);
    let memory = device.memory(MemoryKind::Gpu, bytes as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut data = vec![0; bytes as usize];
    let mut found = vec![0; bytes as usize];
    let mut moved = Vec::new();

    rng.fill_bytes(&mut data);
    board.fpga_write(fpga, &data)?;
    let mut done = timed(board, &device, Direction::FromFpga, bytes, || {
        queue.from_fpga(fpga, region.part(0..bytes))
    })?;
    memory.read(0, &mut found)?;
    done.correct = found == data;
    moved.push(done);

    rng.fill_bytes(&mut data);
    memory.write(0, &data)?;
    let mut done = timed(board, &device, Direction::ToFpga, bytes, || {
        queue.to_fpga(region.part(0..bytes), fpga)
    })?;
    board.fpga_read(fpga, &mut found)?;
    done.correct = found == data;
    moved.push(done);
    Ok(moved)
}

fn timed(
    board: &SimBoard,
    device: &Device,
    direction: Direction,
    bytes: u64,
    submit: impl FnOnce() -> Result<Transfer>,
) -> Result<Moved> {
    let before = board.with(|b| b.stats());
    let start = device.now();
    let transfer = submit()?;
    wait(board, &transfer, direction, bytes, &before)?;
    let time = device.now() - start;
    let after = board.with(|b| b.stats());
    let requests = match direction {
        Direction::FromFpga => after.write_packets - before.write_packets,
        Direction::ToFpga => after.read_requests - before.read_requests,
    };
    Ok(Moved {
        direction,
        ns: time.as_nanos() as f64,
        cycles: after.pcie_cycles - before.pcie_cycles,
        requests,
        interrupts: after.irqs - before.irqs,
        correct: false,
    })
}

/// Waits in slices, so that the progress bar moves.
fn wait(
    board: &SimBoard,
    transfer: &Transfer,
    direction: Direction,
    bytes: u64,
    before: &Stats,
) -> Result<u64> {
    let label = match direction {
        Direction::FromFpga => "FPGA → GPU",
        Direction::ToFpga => "GPU → FPGA",
    };
    let bar = ProgressBar::new(bytes).with_message(label);
    if let Ok(style) =
        ProgressStyle::with_template("  {msg} {bar:40.cyan} {bytes}/{total_bytes} ({elapsed})")
    {
        bar.set_style(style);
    }
    if bar.is_hidden() {
        errln!("moving {} MiB, {label}", bytes >> 20);
    }
    let mut idle = 0;
    loop {
        match transfer.wait(SLICE) {
            Err(error @ Error::Timeout { .. }) => {
                let stats = board.with(|b| b.stats());
                let there = match direction {
                    Direction::FromFpga => stats.bytes_written - before.bytes_written,
                    Direction::ToFpga => stats.bytes_read - before.bytes_read,
                };
                idle = if there > bar.position() { 0 } else { idle + 1 };
                if idle > PATIENCE {
                    return Err(error);
                }
                bar.set_position(there.min(bytes));
            }
            ended => {
                bar.finish();
                return ended;
            }
        }
    }
}
