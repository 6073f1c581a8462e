//! Tests of `peerlane_gpu.h` without a GPU: compiled for the processor, it moves data through the block's RTL. A thread
//! takes the place of the GPU's thread, and the channel's page and ring are memory, as in the checks with a GPU. Tests
//! that need a GPU's buffers use a mock of CUDA's driver (`tests/fake-cuda`).

#[macro_use]
#[path = "../src/forward.rs"]
mod forward;

#[path = "../src/carrier.rs"]
mod carrier;

#[path = "../../fake-cuda/mod.rs"]
mod fake_cuda;

use anyhow::{Context as _, Result, ensure};
use carrier::Carried;
use fake_cuda::FakeCuda;
use peerlane_gpu::Gpu;
use peerlane_host::driver::Options;
use peerlane_host::{Device, MemoryKind, Permissions, RawChannel};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::path::Path;
use std::process::Command;

/// `struct peerlane_gpu_queue`, as in the header's text.
#[repr(C)]
struct GpuQueue {
    page: u64,
    ring: u64,
    slots: u32,
    rest: [u32; 7],
}

type Transfer = unsafe extern "C" fn(*mut GpuQueue, u32, u64, u64, u32, u64) -> u32;
/// The kernel of the example: queue, input, output, FPGA memory, bytes of a piece, pieces, nanoseconds, result.
type Kernel = unsafe extern "C" fn(*mut GpuQueue, u64, u64, u64, u32, u32, u64, *mut u32);
type Look = unsafe extern "C" fn(*const GpuQueue) -> u32;

const WRITE: u32 = 0;
const READ: u32 = 1;
const LATE: u32 = u32::MAX;
/// `PEERLANE_STATUS_CODE_ALIGNMENT`.
const ALIGNMENT: u32 = 16;
/// Nanoseconds of the simulator's time, not the board's.
const LIMIT: u64 = 60_000_000_000;
const PIECE: u64 = 4096;

/// The header's functions.
struct Functions {
    transfer: Transfer,
    under_way: Look,
    bytes_done: Look,
    /// The library of these functions.
    _library: libloading::Library,
}

impl Functions {
    fn load() -> Result<Self> {
        let work = tempfile::tempdir()?;
        let file = work.path().join("functions.so");
        compile(("cc", "-std=c99", "on_a_processor.c"), &file);
        // SAFETY: the file was just made of the source next to this one, which has these functions.
        unsafe {
            let library = libloading::Library::new(&file)?;
            Ok(Self {
                transfer: *library.get::<Transfer>(b"transfer\0")?,
                under_way: *library.get::<Look>(b"under_way\0")?,
                bytes_done: *library.get::<Look>(b"bytes_done\0")?,
                _library: library,
            })
        }
    }
}

/// Returns the structure that `GpuQueue` puts into the GPU's memory.
fn queue_of(channel: &RawChannel) -> GpuQueue {
    GpuQueue {
        page: channel.page().as_ptr().expose_provenance() as u64,
        ring: channel.ring().as_ptr().expose_provenance() as u64,
        slots: channel.slots(),
        rest: [0; 7],
    }
}

fn compile((compiler, standard, source): (&str, &str, &str), to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(compiler);
    command.args([standard, "-D_POSIX_C_SOURCE=200809L", "-O2"]);
    command.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]);
    for directory in ["host/gpu/include", "driver/uapi", "examples/08-gpu-kernel"] {
        command.arg("-I").arg(root.join("../..").join(directory));
    }
    command.arg(root.join("tests").join(source));
    let status = command.arg("-o").arg(to).status();
    assert!(status.expect("the compiler runs").success());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_functions_for_kernels_move_data() -> Result<()> {
    let functions = Functions::load()?;
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
    let mut queue = queue_of(&channel);
    let mut run = |direction, peer, local, length, limit| {
        // SAFETY: page and ring are the carrier's memory, the queue is used by this thread alone.
        unsafe { (functions.transfer)(&raw mut queue, direction, peer, local, length, limit) }
    };

    // Once around the ring and further, in both directions, in pieces of changing length.
    let rounds = u64::from(channel.slots()) / 2 + 20;
    for round in 0..rounds {
        let length = 4 + (round * 37 % PIECE) / 4 * 4;
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
    // The queue's owner handles ends within a dword: the board refuses them, and writes nothing.
    memory.write(PIECE as usize, &[0x5A; 64])?;
    for (at, length) in [(output + 1, 64), (output, 63)] {
        let status = run(WRITE, at, fpga.base(), length, LIMIT);
        ensure!(status >> 16 & 0xFF == ALIGNMENT, "{status:#x}");
    }
    let mut found = [0; 64];
    memory.read(PIECE as usize, &mut found)?;
    ensure!(found == [0x5A; 64], "a refused write was made");
    // A transfer that is refused, and a late one, whose record comes before the next one's.
    let outside = fpga.base() + fpga.length();
    let status = run(READ, input, outside, 64, LIMIT);
    ensure!(status != 0 && status != LATE, "{status:#x}");
    ensure!(run(READ, input, fpga.base(), PIECE as u32, 0) == LATE);
    memory.write(PIECE as usize, &[0; 64])?;
    // The page in memory has room for one doorbell: the carrier must take the late one first.
    std::thread::sleep(std::time::Duration::from_secs(1));
    ensure!(run(WRITE, output, fpga.base(), 64, LIMIT) == 0);
    // SAFETY: as above.
    unsafe {
        ensure!(
            (functions.bytes_done)(&raw const queue) == 64,
            "the late record was taken for the new one"
        );
        ensure!((functions.under_way)(&raw const queue) == 0);
    }
    let mut found = vec![0; 64];
    memory.read(PIECE as usize, &mut found)?;
    ensure!(found.iter().any(|byte| *byte != 0), "nothing was written");
    let bells = carrier.stop()?;
    ensure!(u64::from(bells) == 2 * rounds + 5, "{bells} doorbells");
    Ok(())
}

/// The pages that a GPU's memory is registered in may begin before it. Checks that a kernel gets the address of the
/// memory's own first byte.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_kernel_moves_the_part_of_a_buffer_that_was_registered() -> Result<()> {
    const KIB: u64 = 1 << 10;
    let (begin, end) = (64 * KIB, 128 * KIB);
    let length = end - begin;
    let fake = FakeCuda::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fake-cuda"));
    // SAFETY: loading it runs no code.
    let _cuda = unsafe { libloading::Library::new(fake.library()) }?;
    let gpu = Gpu::open(0)?;
    let buffer = gpu.plain_buffer(1024 * KIB)?;
    // No two pieces of 64 KiB are equal.
    let mut data: Vec<u8> = (0..1024 * KIB)
        .map(|i| (i * 7 + (i >> 16) * 13) as u8)
        .collect();
    buffer.write(0, &data)?;

    let functions = Functions::load()?;
    let model = peerlane_block::library(&peerlane_hdl::Params::default())?;
    let board = SimBoard::new(model.instance()?, BoardConfig::default())?;
    // SAFETY: the mock does not shorten any file, and its memory is only accessed by copying after transfers have
    // ended.
    unsafe { board.admit_files() };
    let driver = board.drive(&Options::default())?;
    let carried = Carried::new(driver.context()?);
    let device = Device::over(carried.clone())?;
    let fpga = device.allocate(length)?;
    let region = buffer.register(&device, begin..end, Permissions::ReadWrite)?;
    ensure!(
        region.offset() != 0,
        "the region begins at the memory, and nothing is tested"
    );
    let channel = device.hand_over()?;
    let carrier = carried.carry();
    let mut queue = queue_of(&channel);
    let peer = region.att_address().raw();
    let mut run = |direction| {
        let (transfer, local) = (functions.transfer, fpga.base());
        // SAFETY: page and ring are the carrier's memory, the queue is used by this thread alone.
        unsafe { transfer(&raw mut queue, direction, peer, local, length as u32, LIMIT) }
    };

    ensure!(run(READ) == 0);
    let part = begin as usize..end as usize;
    let mut found = vec![0; length as usize];
    board.fpga_read(fpga.base(), &mut found)?;
    ensure!(found == data[part.clone()], "other bytes came to the FPGA");
    found.reverse();
    board.fpga_write(fpga.base(), &found)?;
    ensure!(run(WRITE) == 0);
    data[part].copy_from_slice(&found);
    let mut all = vec![0; data.len()];
    buffer.read(0, &mut all)?;
    ensure!(all == data, "other bytes of the buffer were written");
    carrier.stop()?;
    Ok(())
}

/// Runs the kernel of examples/08-gpu-kernel on a thread of the processor.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_kernel_of_the_example_moves_data() -> Result<()> {
    const PIECES: u32 = 8;
    let work = tempfile::tempdir()?;
    let file = work.path().join("kernel.so");
    compile(("c++", "-std=c++11", "kernel_on_a_processor.cpp"), &file);
    // SAFETY: the file was just made of the source next to this one.
    let library = unsafe { libloading::Library::new(&file) }?;
    // SAFETY: it has this function.
    let both_ways = unsafe { *library.get::<Kernel>(b"both_ways\0")? };

    let model = peerlane_block::library(&peerlane_hdl::Params::default())?;
    let board = SimBoard::new(model.instance()?, BoardConfig::default())?;
    let driver = board.drive(&Options::default())?;
    let carried = Carried::new(driver.context()?);
    let device = Device::over(carried.clone())?;
    let bytes = u64::from(PIECES) * PIECE;
    let fpga = device.allocate(bytes)?;
    let memory = device.memory(MemoryKind::Gpu, 2 * bytes as usize)?;
    let region = device.register_all(&memory, Permissions::ReadWrite)?;
    let data: Vec<u8> = (0..bytes).map(|i| (i * 7 + (i >> 12)) as u8).collect();
    memory.write(0, &data)?;
    let channel = device.hand_over()?;
    let carrier = carried.carry();
    let mut queue = queue_of(&channel);
    let mut run = |fpga| {
        let (input, mut result) = (region.att_address().raw(), [0; 2]);
        let output = input + bytes;
        let (queue, told) = (&raw mut queue, result.as_mut_ptr());
        // SAFETY: page and ring are the carrier's memory, only this thread uses the queue, and there is room for both
        // words.
        unsafe {
            both_ways(
                queue,
                input,
                output,
                fpga,
                PIECE as u32,
                PIECES,
                LIMIT,
                told,
            )
        };
        result
    };
    ensure!(run(fpga.base()) == [2 * PIECES, 0]);
    let mut found = vec![0; bytes as usize];
    memory.read(bytes as usize, &mut found)?;
    ensure!(found == data, "other bytes came back");
    // Each transfer that the board refuses is counted.
    ensure!(run(fpga.base() + fpga.length()) == [2 * PIECES; 2]);
    ensure!(carrier.stop()? == 4 * PIECES);
    Ok(())
}
