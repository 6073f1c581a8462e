//! `peerlane_gpu.h` without a GPU: compiled for the processor, it moves data through the block's RTL. A thread
//! takes the place of the GPU's, and the channel's page and ring are memory as in the checks with a GPU.

#[macro_use]
#[path = "../src/forward.rs"]
mod forward;

#[path = "../src/carrier.rs"]
mod carrier;

use anyhow::{Context as _, Result, ensure};
use carrier::Carried;
use peerlane_host::driver::Options;
use peerlane_host::{Device, MemoryKind, Permissions};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::path::Path;
use std::process::Command;

/// `struct peerlane_gpu_queue`, by the header's text.
#[repr(C)]
struct GpuQueue {
    page: u64,
    ring: u64,
    slots: u32,
    rest: [u32; 7],
}

type Transfer = unsafe extern "C" fn(*mut GpuQueue, u32, u64, u64, u32, u64) -> u32;
type Look = unsafe extern "C" fn(*const GpuQueue) -> u32;

const WRITE: u32 = 0;
const READ: u32 = 1;
const LATE: u32 = u32::MAX;
/// Nanoseconds: the simulator's time, not the board's.
const LIMIT: u64 = 60_000_000_000;
const PIECE: u64 = 4096;

fn compile(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args([
            "-std=c99",
            "-D_POSIX_C_SOURCE=200809L",
            "-O2",
            "-shared",
            "-fPIC",
        ])
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("../../host/gpu/include"))
        .arg("-I")
        .arg(root.join("../../driver/uapi"))
        .arg(root.join("tests/on_a_processor.c"))
        .arg("-o")
        .arg(to)
        .status();
    assert!(status.expect("cc runs").success());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_functions_for_kernels_move_data() -> Result<()> {
    let work = tempfile::tempdir()?;
    let file = work.path().join("functions.so");
    compile(&file);
    // SAFETY: the file was just made of the source beside this one, which has these functions.
    let library = unsafe { libloading::Library::new(&file) }?;
    // SAFETY: as above.
    let (transfer, under_way, done) = unsafe {
        (
            *library.get::<Transfer>(b"transfer\0")?,
            *library.get::<Look>(b"under_way\0")?,
            *library.get::<Look>(b"bytes_done\0")?,
        )
    };

    let model = peerlane_block::library(&peerlane_hdl::Params::default())?;
    let board = SimBoard::new(model.instance()?, BoardConfig::default())?;
    let driver = board.drive(&Options::default())?;
    let carried = Carried::new(driver.context()?);
    let device = Device::over(carried.clone())?;
    let fpga = device.allocate(2 * PIECE)?;
    let memory = device.memory(MemoryKind::Gpu, 2 * PIECE as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    let channel = device.hand_over()?;
    ensure!(device.queue().is_err(), "the channel has two owners");
    let carrier = carried.carry();

    let address = |offset| {
        let address = region.att_address().checked_add(offset);
        address.context("the region has no such address")
    };
    let (input, output) = (address(0)?.raw(), address(PIECE)?.raw());
    let mut queue = GpuQueue {
        page: channel.page().as_ptr().expose_provenance() as u64,
        ring: channel.ring().as_ptr().expose_provenance() as u64,
        slots: channel.slots(),
        rest: [0; 7],
    };
    let mut run = |direction, peer, local, length, limit| {
        // SAFETY: page and ring are the carrier's memory, the queue is used by this thread alone.
        unsafe { transfer(&raw mut queue, direction, peer, local, length, limit) }
    };

    // Once around the ring and further, both ways, in pieces that change.
    let rounds = u64::from(channel.slots()) / 2 + 20;
    for round in 0..rounds {
        let length = 1 + round * 37 % PIECE;
        let data: Vec<u8> = (0..length).map(|i| (i * 7 + round * 13) as u8).collect();
        memory.write(0, &data)?;
        let local = fpga.base() + round % 64;
        ensure!(
            run(READ, input, local, length as u32, LIMIT) == 0,
            "round {round}"
        );
        ensure!(
            run(WRITE, output, local, length as u32, LIMIT) == 0,
            "round {round}"
        );
        let mut found = vec![0; length as usize];
        memory.read(PIECE as usize, &mut found)?;
        ensure!(found == data, "round {round}: other bytes came back");
    }
    // A transfer that is refused, and one that is late, whose record comes before the next one's.
    let outside = fpga.base() + fpga.length();
    let status = run(READ, input, outside, 64, LIMIT);
    ensure!(status != 0 && status != LATE, "{status:#x}");
    ensure!(run(READ, input, fpga.base(), PIECE as u32, 0) == LATE);
    memory.write(PIECE as usize, &[0; 64])?;
    // The page in memory has room for one doorbell: the carrier takes the late one first.
    std::thread::sleep(std::time::Duration::from_secs(1));
    ensure!(run(WRITE, output, fpga.base(), 64, LIMIT) == 0);
    // SAFETY: as above.
    unsafe {
        ensure!(
            done(&raw const queue) == 64,
            "the late record was taken for this one's"
        );
        ensure!(under_way(&raw const queue) == 0);
    }
    let mut found = vec![0; 64];
    memory.read(PIECE as usize, &mut found)?;
    ensure!(found.iter().any(|byte| *byte != 0), "nothing was written");
    let bells = carrier.stop()?;
    ensure!(u64::from(bells) == 2 * rounds + 3, "{bells} doorbells");
    Ok(())
}
