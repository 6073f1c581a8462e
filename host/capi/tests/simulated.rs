//! The functions on the simulated board, as a C program calls them.

use anyhow::{Result, ensure};
use peerlane::*;
use peerlane_host::driver::Options;
use peerlane_sim::BoardConfig;
use peerlane_simulated::{Platform, SimBoard};
use std::ffi::CStr;
use std::ptr::{null, null_mut};

const LENGTH: u64 = 10_000;
const SECOND: i64 = 1_000_000_000;

fn text() -> String {
    // SAFETY: it is a string until the thread's next error.
    unsafe { CStr::from_ptr(pl_error_text()) }
        .to_string_lossy()
        .into_owned()
}

/// The simulated board takes only memory of its own, so regions come from the library below.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn transfers_by_the_functions_of_c() -> Result<()> {
    let library = peerlane_block::library(&peerlane_hdl::Params::default())?;
    let board = SimBoard::new(library.instance()?, BoardConfig::default())?;
    let driver = board.drive(&Options::default())?;
    let open = driver.open()?;
    let memory = open.memory(peerlane_host::MemoryKind::Host, 2 * LENGTH as usize)?;
    let bytes: Vec<u8> = (0..LENGTH).map(|i| ((i * i) >> 3) as u8).collect();
    memory.write(0, &bytes)?;
    let device = pl_device::over(open);

    let (mut address, mut region, mut queue) = (0, null_mut(), null_mut());
    // SAFETY: handles are used while they live, and places are places.
    unsafe {
        ensure!(pl_file(device) == PL_UNSUPPORTED && text().contains("no file"));
        ensure!(pl_file(null()) == PL_INVALID);
        let code = pl_allocate(device, 0, &raw mut address);
        ensure!(code == PL_INVALID, "{code}: {}", text());
        ensure!(
            pl_allocate(device, LENGTH, &raw mut address) == PL_OK,
            "{}",
            text()
        );
        let place = std::ptr::with_exposed_provenance_mut(memory.address() as usize);
        for access in [0, 4, 7] {
            let code = pl_register(device, place, LENGTH, access, &raw mut region);
            ensure!(code == PL_INVALID && region.is_null());
        }
        let both = PL_READ | PL_WRITE;
        let code = pl_register(device, place, 2 * LENGTH, both, &raw mut region);
        ensure!(code == PL_OK, "{}", text());
        ensure!(pl_queue_open(device, &raw mut queue) == PL_OK, "{}", text());
        let mut second = null_mut();
        ensure!(pl_queue_open(device, &raw mut second) == PL_BUSY && second.is_null());

        let there = pl_request {
            size: size_of::<pl_request>() as u64,
            direction: PL_TO_FPGA,
            flags: 0,
            region,
            offset: 0,
            fpga_address: address,
            length: LENGTH,
        };
        let back = pl_request {
            size: size_of::<pl_request>() as u64,
            direction: PL_FROM_FPGA,
            flags: PL_AFTER_TO_FPGA | PL_URGENT,
            offset: LENGTH,
            ..there
        };
        let wrong = [
            pl_request {
                direction: 2,
                ..there
            },
            pl_request { flags: 16, ..there },
            pl_request { size: 0, ..there },
            pl_request {
                size: there.size + 8,
                ..there
            },
            pl_request {
                region: null(),
                ..there
            },
            pl_request { length: 0, ..there },
            pl_request {
                offset: LENGTH + 1,
                ..there
            },
            pl_request {
                fpga_address: u64::MAX,
                ..there
            },
        ];
        let mut transfer = null_mut();
        for request in &wrong {
            let code = pl_submit(queue, request, &raw mut transfer);
            ensure!(
                code == PL_INVALID && transfer.is_null(),
                "{request:?}: {code}"
            );
        }
        ensure!(pl_submit(queue, null(), &raw mut transfer) == PL_INVALID);
        ensure!(pl_submit(queue, &there, null_mut()) == PL_INVALID);
        ensure!(pl_submit(null(), &there, &raw mut transfer) == PL_INVALID);

        let mut other = null_mut();
        ensure!(
            pl_submit(queue, &there, &raw mut transfer) == PL_OK,
            "{}",
            text()
        );
        ensure!(
            pl_submit(queue, &back, &raw mut other) == PL_OK,
            "{}",
            text()
        );
        let mut moved = 0;
        ensure!(pl_transfer_wait(other, 0, &raw mut moved) == PL_TIMEOUT && moved == 0);
        ensure!(
            pl_transfer_wait(other, SECOND, &raw mut moved) == PL_OK,
            "{}",
            text()
        );
        ensure!(moved == LENGTH);
        ensure!(
            pl_transfer_poll(transfer, null_mut()) == 1,
            "it ended before"
        );
        ensure!(pl_queue_drain(queue, 0) == PL_OK);
        // A lost transfer reports it.
        let mut lost = null_mut();
        ensure!(pl_submit(queue, &there, &raw mut lost) == PL_OK);
        ensure!(pl_queue_restart(queue) == PL_OK, "{}", text());
        let code = pl_transfer_poll(lost, null_mut());
        ensure!(code == PL_STOPPED, "{code}: {}", text());
        // So does a transfer that is called off, and an ended transfer stays ended.
        let mut off = null_mut();
        ensure!(pl_submit(queue, &there, &raw mut off) == PL_OK);
        ensure!(pl_transfer_stop(off, -1, null_mut()) == PL_INVALID);
        let code = pl_transfer_stop(off, 0, null_mut());
        ensure!(code == PL_STOPPED, "{code}: {}", text());
        let code = pl_transfer_stop(other, 0, &raw mut moved);
        ensure!(code == PL_OK && moved == LENGTH, "{code}: {}", text());

        // In any order, and null has no effect.
        pl_close(device);
        ensure!(pl_queue_close(queue) == PL_OK);
        ensure!(pl_unregister(region) == PL_OK, "{}", text());
        for transfer in [transfer, other, lost, off, null_mut()] {
            pl_transfer_free(transfer);
        }
        ensure!(pl_unregister(null_mut()) == PL_OK && pl_queue_close(null_mut()) == PL_OK);
    }
    let mut found = vec![0; 2 * LENGTH as usize];
    memory.read(0, &mut found)?;
    ensure!(found[LENGTH as usize..] == bytes, "other bytes came back");
    Ok(())
}

/// A probe shows whether the computer passes reads between devices.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_probe_tells_what_the_board_reads() -> Result<()> {
    const AT: u64 = 4003;
    let library = peerlane_block::library(&peerlane_hdl::Params::default())?;
    let board = SimBoard::new(library.instance()?, BoardConfig::default())?;
    let driver = board.drive(&Options {
        port_timeout_cycles: Some(10_000),
        ..Options::default()
    })?;
    let open = driver.open()?;
    let memory = open.memory(peerlane_host::MemoryKind::Gpu, 8192)?;
    let bytes: Vec<u8> = (0..8192_u32).map(|i| (i % 251) as u8).collect();
    memory.write(0, &bytes)?;
    let device = pl_device::over(open);
    let (mut address, mut region, mut deaf, mut queue) = (0, null_mut(), null_mut(), null_mut());
    // SAFETY: handles are used while they live, and places are places.
    unsafe {
        let code = pl_allocate(device, LENGTH, &raw mut address);
        ensure!(code == PL_OK, "{}", text());
        for (access, region) in [
            (PL_READ | PL_WRITE, &raw mut region),
            (PL_WRITE, &raw mut deaf),
        ] {
            let code = pl_register_nvidia(device, memory.address(), 8192, 1, access, region);
            ensure!(code == PL_OK, "{}", text());
        }
        let probe = |region, offset, fpga| {
            let mut data = [0xee; PL_PROBE_BYTES];
            let code = pl_region_probe(region, offset, fpga, data.as_mut_ptr());
            (code, data)
        };
        let (code, data) = probe(region, AT, address + 5);
        ensure!(code == PL_OK, "{}", text());
        ensure!(data == bytes[AT as usize..][..PL_PROBE_BYTES], "{data:?}");

        let end = 8192 - PL_PROBE_BYTES as u64;
        ensure!(probe(region, end, address).0 == PL_OK, "{}", text());
        for (region, offset, fpga) in [
            (region.cast_const(), end + 1, address),
            (region, u64::MAX, address),
            (region, 0, address + (1 << 16)),
            (region, 0, u64::MAX),
            (deaf, 0, address),
            (null(), 0, address),
        ] {
            ensure!(probe(region, offset, fpga).0 == PL_INVALID, "{}", text());
        }
        ensure!(pl_region_probe(region, 0, address, null_mut()) == PL_INVALID);
        // The channel belongs to the driver from the first probe on, or to the queue.
        ensure!(pl_queue_open(device, &raw mut queue) == PL_BUSY && queue.is_null());
        ensure!(pl_unregister(region) == PL_OK && pl_unregister(deaf) == PL_OK);
        pl_close(device);
        let device = pl_device::over(driver.open()?);
        let code = pl_allocate(device, LENGTH, &raw mut address);
        ensure!(code == PL_OK, "{}", text());
        let both = PL_READ | PL_WRITE;
        let place = &raw mut region;
        let code = pl_register_nvidia(device, memory.address(), 8192, 1, both, place);
        ensure!(code == PL_OK, "{}", text());
        ensure!(pl_queue_open(device, &raw mut queue) == PL_OK, "{}", text());
        ensure!(probe(region, 0, address).0 == PL_BUSY, "{}", text());
        ensure!(pl_queue_close(queue) == PL_OK && pl_unregister(region) == PL_OK);
        pl_close(device);

        // A refused read is never answered on `Txs`, which is a fault. After that the board reads nothing more, so this
        // comes last.
        let device = pl_device::over(driver.open()?);
        let code = pl_allocate(device, LENGTH, &raw mut address);
        ensure!(code == PL_OK, "{}", text());
        let place = &raw mut region;
        let code = pl_register_nvidia(device, memory.address(), 8192, 1, both, place);
        ensure!(code == PL_OK, "{}", text());
        board.set_platform(Platform::WritesOnly);
        let (code, data) = probe(region, 0, address);
        ensure!(code == PL_FAULT && data == [0xee; PL_PROBE_BYTES]);
        ensure!(pl_unregister(region) == PL_OK);
        pl_close(device);
    }
    Ok(())
}

/// A path names the simulated board. Each call opens another context of one board.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_board_has_a_name() -> Result<()> {
    let mut there: Vec<u8> = (0..LENGTH).map(|i| (i * 11) as u8).collect();
    let (mut first, mut device, mut region) = (null_mut(), null_mut(), null_mut());
    let (mut address, mut queue) = (0, null_mut());
    // SAFETY: handles are used while they live, places are places, and the memory outlives its region.
    unsafe {
        for place in [&raw mut first, &raw mut device] {
            let code = pl_open(c"simulated".as_ptr(), place);
            ensure!(code == PL_OK, "{code}: {}", text());
        }
        let code = pl_allocate(device, LENGTH, &raw mut address);
        ensure!(code == PL_OK, "{code}: {}", text());
        let code = pl_queue_open(device, &raw mut queue);
        ensure!(code == PL_OK, "{code}: {}", text());
        let place = there.as_mut_ptr().cast();
        let code = pl_register(device, place, LENGTH, PL_READ, &raw mut region);
        ensure!(code == PL_OK, "{code}: {}", text());
        let request = pl_request {
            size: size_of::<pl_request>() as u64,
            direction: PL_TO_FPGA,
            flags: 0,
            region,
            offset: 0,
            fpga_address: address,
            length: LENGTH,
        };
        let (mut transfer, mut moved) = (null_mut(), 0);
        let code = pl_submit(queue, &request, &raw mut transfer);
        ensure!(code == PL_OK, "{code}: {}", text());
        let code = pl_transfer_wait(transfer, SECOND, &raw mut moved);
        ensure!(code == PL_OK && moved == LENGTH, "{code}: {}", text());
        pl_transfer_free(transfer);
        ensure!(pl_queue_close(queue) == PL_OK);
        ensure!(pl_unregister(region) == PL_OK);
        pl_close(device);
        pl_close(first);
    }
    Ok(())
}
