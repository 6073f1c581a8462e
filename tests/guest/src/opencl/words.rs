//! Tests that transfers of other processes, and the driver, continue whichever values a holder writes into the OpenCL
//! side.

use super::{
    BYTES, COPY_SEGMENT, FIRST, MAPPED, Pages, SEGMENT, TEXT, VERSION, VERSIONS, dword, holder,
    take,
};
use crate::lab::{Lab, told};
use crate::raw;
use crate::worker::Worker;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{self, access_flags, area};
use peerlane_guest::Fault;
use peerlane_host::{Area, Direction, Error, Memory, Permissions, Terms};
use std::time::Duration;

/// Registers that reset something: the kernels, and their clock (open OpenCL runtime, `acl_kernel_if.cpp`,
/// `acl_pll.cpp`).
const RESETS: [(Area, u32, u64); 2] = [
    (Area::Kernels, area::KERNELS, 0x30),
    (Area::Clock, area::CLOCK, 0x110),
];

/// Checks that a store to a reset that is in progress is dropped, so that no kind of store leads to a second reset
/// while the first lasts: several words in one call, parts of a word, neighbouring words, and calls one after the
/// other.
pub(super) fn resets(lab: &mut Lab) -> Result<&'static str> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let zeros = Memory::new(4096).map_err(told)?;
    for (area, number, reset) in RESETS {
        for (offset, length) in [
            (0, 8),
            (1, 3),
            (4, 4),
            (4, 4),
            (0, 4),
            (0, 4),
            (3, 2),
            (-16, 48),
        ] {
            let mut argument = uapi::Access {
                area: number,
                flags: access_flags::WRITE,
                offset: reset.wrapping_add_signed(offset),
                address: zeros.address(),
                length,
                reserved: 0,
            };
            raw::with(&device, uapi::ACCESS, &mut argument)?;
        }
        // The board answers.
        let value = dword(&*side, area, reset)?;
        ensure!(value == 1, "{area:?} reads {value:#x}");
    }
    let version = dword(&*side, Area::Kernels, VERSION)?;
    ensure!(VERSIONS.contains(&version), "version {version:#x}");
    Ok("")
}

/// Values that are written into each word.
const VALUES: [u32; 3] = [u32::MAX, 0, 0x5555_5555];

/// Writes into the OpenCL side word by word, by calls and through the mapping, and so starts kernels, too. Checks that
/// no register of the block changes, and that transfers of others continue. (Not tested: access to the kernels'
/// registers when their clock is set wrongly. No board answers that, and it stalls the bus.)
pub(super) fn every_word(lab: &mut Lab) -> Result<String> {
    let device = holder(lab)?;
    let side = take(&device)?;
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    worker.stop()?;
    // A context of another user, with memory, that does nothing.
    let other = lab.open()?;
    lab.place_of(&other, 64 << 10)?;
    let generation = device.query().map_err(told)?.generation;
    // The harness does not access the board over the link. A read over the link comes after the stores that have opened
    // the contexts' channels.
    dword(&*side, Area::Kernels, VERSION)?;
    let settings = lab.host.settings()?;
    let same = |what: &str| {
        let found = lab.host.settings()?;
        ensure!(found == settings, "{what}: {settings:x?} became {found:x?}");
        anyhow::Ok(())
    };
    // The window shows registers of kernels there.
    let segment = COPY_SEGMENT.to_le_bytes();
    side.write(Area::Kernels, SEGMENT, &segment).map_err(told)?;
    let pages = Pages::new(&device)?;
    for value in VALUES {
        for offset in (FIRST..BYTES as u64).step_by(4) {
            pages.store(offset, value);
        }
        // The load waits until the stores have arrived.
        pages.load(TEXT);
        same("the mapping")?;
    }
    let mut words = VALUES.len() * MAPPED / 4;
    for area in [Area::Kernels, Area::Clock] {
        for value in VALUES {
            for offset in (0..side.bytes(area)).step_by(4) {
                let written = side.write(area, offset, &value.to_le_bytes());
                written.map_err(told)?;
                words += 1;
            }
            same(area.name())?;
        }
    }
    ensure!(device.query().map_err(told)?.generation == generation);
    let mut worker = Worker::start(lab, false)?;
    worker.progress()?;
    worker.stop()?;
    Ok(format!("{words} words"))
}

/// Checks that memory that is not calibrated does not answer, and that the board reports the reason. When calibration
/// is done, the transfers in progress end well.
pub(super) fn calibration(lab: &mut Lab) -> Result<&'static str> {
    const BYTES: u64 = 4096;
    let device = holder(lab)?;
    let side = take(&device)?;
    ensure!(side.bytes(Area::Status) == 4);
    ensure!(dword(&*side, Area::Status, 0)? == 0);
    let place = device.range().start;
    lab.host.fpga_write(place, 3, BYTES)?;
    let memory = Memory::new(BYTES as usize).map_err(told)?;
    let region = device.register(&memory, 0..BYTES as usize, Permissions::ReadWrite);
    let region = region.map_err(told)?;
    lab.host.fault(Fault::Calibration { after: None })?;
    ensure!(dword(&*side, Area::Status, 0)? != 0);
    let terms = Terms::default();
    let write = device.submit(Direction::FromFpga, region.part(0..BYTES), place, terms);
    let write = write.map_err(told)?;
    let early = write.wait(Some(Duration::from_millis(500)));
    ensure!(
        matches!(early, Err(Error::Timeout { .. })),
        "memory that is not calibrated has answered: {early:?}"
    );
    ensure!(dword(&*side, Area::Status, 0)? != 0);
    lab.host.fault(Fault::Calibration { after: Some(1000) })?;
    let query = device.query().map_err(told)?;
    // Calibration is lost with a configuration, and comes back by itself.
    while dword(&*side, Area::Status, 0)? != 0 {}
    let again = device.submit(Direction::FromFpga, region.part(0..BYTES), place, terms);
    let moved = again.and_then(|again| again.wait(Some(crate::lab::LIMIT)));
    ensure!(moved.map_err(told)? == BYTES);
    let mut found = vec![0; BYTES as usize];
    memory.read(0, &mut found)?;
    let mut expected = vec![0; BYTES as usize];
    peerlane_guest::pattern(3, &mut expected);
    ensure!(found == expected);
    ensure!(device.query().map_err(told)?.generation == query.generation);
    lab.host.fault(Fault::Clear {})?;
    Ok("")
}
