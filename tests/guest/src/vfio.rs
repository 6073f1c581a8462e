//! Tests of a board that programs drive by VFIO: no module of ours is loaded.

use crate::lab::{Buffer, LIMIT, Lab, Mover, exports_bars, same, told};
use crate::opencl::{COPY_FINISHED, dword, start_copy};
use crate::process::{Child, fork, pair};
use crate::rings;
use crate::suite::{Suite, skip};
use anyhow::{Context, Result, bail, ensure};
use peerlane_functional::{ALL, Bench};
use peerlane_guest::{Fault, pattern};
use peerlane_host::driver::{BackendError, Options};
use peerlane_host::peerlane_core::uapi::feature;
use peerlane_host::{
    Area, Device, Direction, Error, Memory, MemoryKind, Permissions, Queue, Region, Transfer, vfio,
};
use rand::Rng;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, getuid, setrlimit};
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than the end of a process, or the reset of a board, takes here.
const SOON: Duration = Duration::from_secs(30);

/// `EBUSY`.
const BUSY: i32 = 16;

struct ByVfio;

impl Bench for ByVfio {
    fn open(&self) -> Result<Device> {
        Device::first().map_err(told)
    }

    fn takes_addresses(&self) -> bool {
        true
    }

    fn reset(&self) -> Result<bool> {
        let driver = vfio::open(&board()?, &Default::default()).map_err(told)?;
        driver.reset().map_err(told)?;
        Ok(true)
    }
}

/// Returns the address of the only board.
fn board() -> Result<String> {
    match vfio::boards().as_slice() {
        [board] => Ok(board.clone()),
        other => bail!("boards: {other:?}"),
    }
}

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("vfio.opened", opened);
    for (name, test) in ALL {
        suite.run(&format!("vfio.library.{name}"), || {
            test(&ByVfio).map(|()| "")
        });
    }
    suite.run("vfio.window", || window(lab));
    suite.run("vfio.window_for_other_devices", || exported(lab));
    suite.run("vfio.registered_before_it_is_written", || {
        registered_first(lab)
    });
    suite.run("vfio.opencl", || opencl(lab));
    suite.run("vfio.kernels", || kernels(lab));
    suite.run("vfio.gpu", || gpu(lab));
    suite.run("vfio.gpu_is_pinned_beside_others", || beside_a_pin(lab));
    suite.run("vfio.one_process", || one_process(lab));
    suite.run("vfio.killed", || killed(lab));
    suite.run("vfio.outlived_by_a_child", || outlived(lab));
    suite.run("vfio.locked_memory", || locked_memory(lab));
    suite.run("vfio.memory_that_is_not_there", || nowhere(lab));
    rings::run_by_vfio(suite, lab);
    suite.run("vfio.silent", || silent(lab));
    suite.run("vfio.silent_in_a_copy", || silent_in_a_copy(lab));
    suite.run("vfio.stuck_in_a_copy", || stuck_in_a_copy(lab));
    suite.run("vfio.reset", || reset(lab));
    suite.run("vfio.error_of_the_bus", || error_of_the_bus(lab));
    suite.run("vfio.wanted_back", || wanted_back(lab));
}

/// Runs the tests of a board in a slot that supports hot-plugging.
pub fn run_hotplug(suite: &mut Suite, lab: &mut Lab) {
    for round in 0..lab.rounds {
        suite.run(&format!("vfio_hotplug.taken_out_{round}"), || {
            taken_out(lab)
        });
    }
}

fn opened() -> Result<String> {
    let device = Device::first().map_err(told)?;
    let name = device.name();
    ensure!(name == board()?, "it is called {name}");
    ensure!(
        device.has(feature::HOST | feature::WINDOW),
        "features {:#x}",
        device.info().features
    );
    // A second context of the same process.
    let second = Device::by_vfio(&name).map_err(told)?;
    ensure!(
        second.info().channel != device.info().channel,
        "one channel for two"
    );
    let wrong = vfio::open("0000:ff:1f.7", &Default::default());
    ensure!(
        matches!(
            &wrong,
            Err(Error::Backend(BackendError::Vfio(
                vfio::Error::NoDevice { .. }
            )))
        ),
        "{wrong:?}"
    );
    Ok(name)
}

/// Checks that data arrive, on a board that an earlier user may have left in any state.
fn moves(lab: &mut Lab) -> Result<()> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let place = lab.place(&device)?;
    let buffer = Buffer::new(&device, 256 << 10)?;
    for direction in Direction::BOTH {
        lab.check(&mut mover, direction, &buffer, 300, place + 77, 200_001)?;
    }
    Ok(())
}

/// Checks that stores and loads through the window reach the memory that it shows, wherever it is placed, and that one
/// context at a time has it.
fn window(lab: &mut Lab) -> Result<&'static str> {
    const BYTES: u64 = 64 << 10;
    let [device, other] = [lab.open()?, lab.open()?];
    let place = lab.place(&device)?;
    let place_of_other = lab.place(&other)?;
    let mut window = device.window(place).map_err(told)?;
    for base in [place, place + 3 * BYTES] {
        window.place(base).map_err(told)?;
        let [seed, second] = [lab.rng.random(), lab.rng.random()];
        let (offset, length) = (lab.rng.random_range(0..3000), lab.rng.random_range(1..5000));
        let at = base + offset as u64;
        lab.host.fpga_write(at, seed, length as u64)?;
        let mut expected = vec![0; length];
        pattern(seed, &mut expected);
        let mut found = vec![0; length];
        window.read(offset, &mut found).map_err(told)?;
        same(&expected, &found, offset)?;
        pattern(second, &mut expected);
        window.write(offset, &expected).map_err(told)?;
        window.settle();
        lab.host.fpga_check(at, second, length as u64)?;
    }
    let busy = other.window(place_of_other);
    ensure!(
        matches!(&busy, Err(Error::Window { source, .. }) if source.raw_os_error() == BUSY),
        "{busy:?}"
    );
    let outside = window.place(place_of_other);
    ensure!(outside.is_err(), "another context's memory is shown");
    drop(window);
    drop(other.window(place_of_other).map_err(told)?);
    // Memory that the window shows is not freed for another context.
    let third = lab.open()?;
    let memory = third.allocate(1 << 20).map_err(told)?;
    let _shown = third.window(memory.base()).map_err(told)?;
    let freed = memory.free();
    ensure!(
        matches!(&freed, Err(Error::Memory { source, .. }) if source.raw_os_error() == BUSY),
        "{freed:?}"
    );
    Ok("")
}

/// Address space of iommufd: `struct iommu_ioas_alloc` and `struct iommu_ioas_map_file` (include/uapi/linux/iommufd.h).
mod iommufd {
    use super::*;
    use std::os::fd::{AsRawFd, OwnedFd};

    /// `_IO(';', 0x81)` and `_IO(';', 0x8f)`.
    const IOAS_ALLOC: libc::c_ulong = 0x3b81;
    const IOAS_MAP_FILE: libc::c_ulong = 0x3b8f;
    /// `IOMMU_IOAS_MAP_FIXED_IOVA`, `_WRITEABLE` and `_READABLE`.
    const FLAGS: u32 = 7;

    #[repr(C)]
    #[derive(Default)]
    struct MapFile {
        size: u32,
        flags: u32,
        ioas: u32,
        file: i32,
        start: u64,
        length: u64,
        iova: u64,
    }

    /// Maps the first bytes of a file into a new address space.
    pub(super) fn map(file: &OwnedFd, length: u64) -> Result<std::io::Result<()>> {
        let iommu = fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/iommu")?;
        let mut alloc = [12_u32, 0, 0];
        // SAFETY: the call's own structure.
        let made = unsafe { libc::ioctl(iommu.as_raw_fd(), IOAS_ALLOC, &raw mut alloc) };
        ensure!(made == 0, "{}", std::io::Error::last_os_error());
        let mut map = MapFile {
            size: 40,
            flags: FLAGS,
            ioas: alloc[2],
            file: file.as_raw_fd(),
            length,
            iova: 1 << 20,
            ..MapFile::default()
        };
        // SAFETY: the call's own structure.
        let mapped = unsafe { libc::ioctl(iommu.as_raw_fd(), IOAS_MAP_FILE, &raw mut map) };
        Ok(match mapped {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    }
}

/// Checks that the window is exported as a dma-buf of its size, which another address space takes until the board is
/// closed. Kernels that cannot export it are named in the error.
fn exported(lab: &mut Lab) -> Result<&'static str> {
    const BYTES: u64 = 64 << 10;
    let device = lab.open()?;
    let window = device.window(lab.place(&device)?).map_err(told)?;
    let exported = window.export_dmabuf();
    if !exports_bars() {
        ensure!(
            matches!(&exported, Err(error @ Error::Export { .. }) if error.hint().contains("6.19")),
            "{exported:?}"
        );
        return Ok("refused");
    }
    let file = exported.map_err(told)?;
    let end = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))?;
    ensure!(end == BYTES, "it has {end} bytes");
    let info = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
    let info = fs::read_to_string(info)?;
    ensure!(info.contains("exp_name:\tvfio_pci_core"), "{info:?}");
    if !Path::new("/dev/iommu").exists() {
        return Ok("exported");
    }
    iommufd::map(&file, BYTES)?.context("the whole window")?;
    ensure!(
        iommufd::map(&file, BYTES + 4096)?.is_err(),
        "more than the window"
    );
    drop(window);
    drop(device);
    ensure!(iommufd::map(&file, BYTES)?.is_err(), "of a closed board");
    moves(lab)?;
    Ok("imported")
}

/// Checks that the board reads data that were written after their memory was registered for reading. Kernels before 6.2
/// pin the zero page there, if the process has not written to the memory yet.
fn registered_first(lab: &mut Lab) -> Result<&'static str> {
    const LENGTH: u64 = 64 << 10;
    let device = lab.open()?;
    let place = lab.place(&device)?;
    let memory = Memory::new(LENGTH as usize).map_err(told)?;
    let region = device
        .register_all(&memory, Permissions::Read)
        .map_err(told)?;
    let queue = device.queue().map_err(told)?;
    let seed = lab.rng.random();
    let mut data = vec![0; LENGTH as usize];
    pattern(seed, &mut data);
    memory.write(0, &data)?;
    let moved = queue.to_fpga(region.part(0..LENGTH), place).map_err(told)?;
    moved.wait(LIMIT).map_err(told)?;
    lab.host.fpga_check(place, seed, LENGTH)?;
    Ok("")
}

/// Checks the OpenCL side: its registers, and the end of a kernel.
fn opencl(lab: &Lab) -> Result<&'static str> {
    let device = lab.open()?;
    device.allocate_all(0).map_err(told)?.keep();
    let opencl = device.open_cl().map_err(told)?;
    // The text that describes the kernels (open OpenCL runtime, `acl_kernel_if.h`).
    let mut text = [0; 64];
    opencl
        .read(Area::Kernels, 0x2000, &mut text)
        .map_err(told)?;
    ensure!(text.iter().any(u8::is_ascii_digit), "a text of {text:?}");
    let outside = opencl.read(Area::Kernels, 0x4000, &mut [0; 4]);
    ensure!(matches!(outside, Err(Error::Bounds { .. })), "{outside:?}");
    // No kernel runs: the time is over.
    opencl.arm().map_err(told)?;
    let woken = opencl.wait(Some(Duration::from_millis(50))).map_err(told)?;
    ensure!(!woken, "an interrupt of no kernel");
    Ok("")
}

/// Checks that kernels interrupt once for each time that a thread waits, also if their line is high before.
fn kernels(lab: &mut Lab) -> Result<&'static str> {
    const WORDS: u32 = 1000;
    const MIB: u64 = 1 << 20;
    let device = lab.open()?;
    device.allocate_all(0).map_err(told)?.keep();
    let side = device.open_cl().map_err(told)?;
    let moment = Some(Duration::from_millis(100));
    for round in 0..4_u64 {
        let (from, to) = (MIB, 2 * MIB + round * 8192);
        let length = u64::from(WORDS) * 4;
        lab.host.fpga_write(from, round, length)?;
        // This takes the line low.
        start_copy(&*side, WORDS, from, to)?;
        side.arm().map_err(told)?;
        // The line stays high, and is reported once more each time that it is armed.
        for time in 0..3 {
            let came = side.wait(Some(SOON)).map_err(told)?;
            ensure!(came, "round {round}: interrupt {time} has not come");
            let again = side.wait(moment).map_err(told)?;
            ensure!(!again, "round {round}: interrupt {time} has come twice");
            side.arm().map_err(told)?;
        }
        ensure!(side.wait(Some(SOON)).map_err(told)?, "round {round}");
        lab.host.fpga_check(to, round, length)?;
        let finished = dword(&*side, Area::Kernels, COPY_FINISHED)?;
        ensure!(finished == 1, "{finished} finished");
    }
    Ok("")
}

/// A long write to memory of the process. It is under way until the faults are cleared, as the port is slow.
struct Write {
    memory: Memory,
    region: Region,
    transfer: Transfer,
    queue: Queue,
}

impl Write {
    const LENGTH: u64 = 4 << 20;

    fn start(lab: &Lab, device: &Device) -> Result<Self> {
        let place = lab.place(device)?;
        let memory = Memory::new(Self::LENGTH as usize).map_err(told)?;
        let both = Permissions::ReadWrite;
        let region = device.register_all(&memory, both).map_err(told)?;
        let queue = device.queue().map_err(told)?;
        let part = region.part(0..Self::LENGTH);
        lab.host.fault(Fault::SlowPort {})?;
        let transfer = queue.from_fpga(place, part).map_err(told)?;
        Ok(Self {
            memory,
            region,
            transfer,
            queue,
        })
    }

    /// Writes to the same memory again, with the board's user as it is.
    fn again(self, lab: &mut Lab, device: &Device) -> Result<()> {
        let place = lab.place(device)?;
        let seed = lab.rng.random();
        let mut expected = vec![0; Self::LENGTH as usize];
        pattern(seed, &mut expected);
        lab.host.fpga_write(place, seed, Self::LENGTH)?;
        let part = self.region.part(0..Self::LENGTH);
        let moved = self.queue.from_fpga(place, part).map_err(told)?;
        moved.wait(LIMIT).map_err(told)?;
        let mut found = vec![0; Self::LENGTH as usize];
        self.memory.read(0, &mut found)?;
        same(&expected, &found, 0)
    }

    /// Checks that the board, which is gone, writes no bytes any more, and that the memory is released.
    fn check_end(self, lab: &mut Lab) -> Result<()> {
        let mut expected = vec![0; Self::LENGTH as usize];
        pattern(lab.rng.random(), &mut expected);
        self.memory.write(0, &expected)?;
        std::thread::sleep(Duration::from_secs(2));
        let mut found = vec![0; Self::LENGTH as usize];
        self.memory.read(0, &mut found)?;
        same(&expected, &found, 0)?;
        self.region.forget().map_err(told)
    }
}

/// Has the board answer no read any more in the middle of a write, with which it goes on.
fn silent(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let write = Write::start(lab, &device)?;
    lab.host.fault(Fault::Absent {})?;
    let stopped = write.transfer.stop(Duration::from_secs(1));
    ensure!(matches!(stopped, Err(Error::Gone)), "{stopped:?}");
    write.check_end(lab)?;
    drop(device);
    lab.host.fault(Fault::Clear {})?;
    moves(lab)?;
    Ok("")
}

/// Checks that a copy ends when the board does not answer any more.
fn silent_in_a_copy(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let place = lab.place(&device)?;
    let queue = device.queue().map_err(told)?;
    let mut bytes = vec![0; 4 << 20];
    let host = lab.host;
    host.fault(Fault::SlowPort {})?;
    let silencer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        host.fault(Fault::Absent {})
    });
    let begin = Instant::now();
    let copied = queue.copy_from_fpga(place, &mut bytes, Duration::from_secs(1));
    let took = begin.elapsed();
    let silenced = silencer.join();
    ensure!(matches!(silenced, Ok(Ok(()))), "{silenced:?}");
    ensure!(matches!(copied, Err(Error::Gone)), "{copied:?}");
    ensure!(took < SOON, "it took {took:?}");
    drop((queue, device));
    lab.host.fault(Fault::Clear {})?;
    moves(lab)?;
    Ok("")
}

/// Resets the board under its user, whose transfers end. The user goes on.
fn reset(lab: &mut Lab) -> Result<&'static str> {
    if !getuid().is_root() {
        return skip("only root may reset a function");
    }
    let path = PathBuf::from("/sys/bus/pci/devices").join(board()?);
    // As `peerlane bind` sets it.
    fs::write(path.join("reset_method"), "bus")?;
    let again = || fs::write(path.join("reset"), "1");
    let device = lab.open()?;
    let write = Write::start(lab, &device)?;
    again()?;
    let ended = write.transfer.wait(LIMIT);
    ensure!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
    let resets = device.query().map_err(told)?.resets;
    ensure!(resets == 1, "{resets} resets");
    write.again(lab, &device)?;
    drop(device);
    // A thread that waits for kernels looks at them.
    let device = lab.open()?;
    device.allocate_all(0).map_err(told)?.keep();
    let side = device.open_cl().map_err(told)?;
    let before = side.resets().map_err(told)?;
    side.arm().map_err(told)?;
    again()?;
    ensure!(
        side.wait(Some(SOON)).map_err(told)?,
        "the wait goes on after the reset"
    );
    let resets = side.resets().map_err(told)?;
    ensure!(resets == before + 1, "{resets} resets after {before}");
    Ok("")
}

/// Has the port above the board report an error that the kernel does not repair: nothing but VFIO's eventfd reports it,
/// as the link stays. Transfers end, and the user goes on.
fn error_of_the_bus(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let before = device.query().map_err(told)?.resets;
    let write = Write::start(lab, &device)?;
    lab.host.bus_error("COMP_TIME")?;
    lab.host.fault(Fault::Clear {})?;
    let ended = write.transfer.wait(LIMIT);
    ensure!(matches!(ended, Err(Error::Restarted)), "{ended:?}");
    let resets = device.query().map_err(told)?.resets;
    ensure!(resets == before + 1, "{resets} resets after {before}");
    write.again(lab, &device)?;
    Ok("")
}

/// Moves data from and to memory of a GPU, by the mock of GDRCopy.
fn gpu(lab: &mut Lab) -> Result<&'static str> {
    const LENGTH: usize = 3 << 20;
    let device = lab.open()?;
    if !Path::new("/dev/vfio/vfio").exists() {
        // SAFETY: as below, if it were not refused.
        let refused = unsafe { device.register_nvidia(0, 4096, 1, Permissions::Write) };
        ensure!(
            matches!(
                &refused,
                Err(Error::Backend(BackendError::Vfio(vfio::Error::NoGroups)))
            ),
            "{refused:?}"
        );
        return skip("iommufd does not map memory of a GPU");
    }
    let file = std::env::var_os("PEERLANE_FAKE_GDR").context("there is no mock of GDRCopy")?;
    let file = fs::File::options().read(true).write(true).open(file);
    let memory = file.ok().and_then(|file| {
        // SAFETY: memory of a mock GPU, of which this process has no reference but this.
        unsafe { Memory::device(&file, 16 << 20) }.ok()
    });
    let Some(memory) = memory else {
        return skip("a kernel that is locked down maps no BAR by sysfs");
    };
    ensure!(device.has(feature::NVIDIA), "no memory of GPUs");
    let place = lab.place(&device)?;
    let queue = device.queue().map_err(told)?;
    // Not at the start of a page of the GPU, nor of a page.
    for start in [0x3_1230_u64, 5 << 20] {
        let length = LENGTH as u64;
        // SAFETY: as above.
        let region = unsafe { device.register_nvidia(start, length, 1, Permissions::ReadWrite) };
        let region = region.map_err(told)?;
        let [seed, second] = [lab.rng.random(), lab.rng.random()];
        lab.host.fpga_write(place, seed, length)?;
        memory.write(start as usize - 4, &[0x55; 4])?;
        let moved = queue
            .from_fpga(place, region.part(0..length))
            .map_err(told)?;
        moved.wait(LIMIT).map_err(told)?;
        let mut expected = vec![0; LENGTH];
        pattern(seed, &mut expected);
        let mut found = vec![0; LENGTH];
        memory.read(start as usize, &mut found)?;
        same(&expected, &found, start as usize)?;
        let mut beside = [0; 4];
        memory.read(start as usize - 4, &mut beside)?;
        ensure!(beside == [0x55; 4], "bytes beside the region: {beside:x?}");
        pattern(second, &mut expected);
        memory.write(start as usize, &expected)?;
        let moved = queue.to_fpga(region.part(0..length), place).map_err(told)?;
        moved.wait(LIMIT).map_err(told)?;
        lab.host.fpga_check(place, second, length)?;
        region.forget().map_err(told)?;
    }
    // SAFETY: as above. It ends beyond the GPU's memory.
    let beyond = unsafe { device.register_nvidia(u64::MAX - 4096, 8192, 1, Permissions::Write) };
    ensure!(
        matches!(
            &beyond,
            Err(Error::Backend(BackendError::Vfio(vfio::Error::Gpu { .. })))
        ),
        "{beyond:?}"
    );
    Ok("")
}

/// Checks that other threads use the board while GDRCopy pins memory, which may take long.
fn beside_a_pin(lab: &Lab) -> Result<&'static str> {
    let busy = std::env::var_os("PEERLANE_FAKE_GDR_BUSY").context("the mock is never busy")?;
    let device = lab.open()?;
    if !device.has(feature::NVIDIA) {
        return skip("no memory of a GPU can be reached");
    }
    fs::write(&busy, "")?;
    let pinner = device.clone();
    let pinned = std::thread::spawn(move || {
        // SAFETY: memory of a mock GPU, to which no other code has a reference.
        unsafe { pinner.register_nvidia(1 << 20, 1 << 20, 1, Permissions::ReadWrite) }
    });
    std::thread::sleep(Duration::from_millis(200));
    let (sent, answered) = std::sync::mpsc::channel();
    let user = device.clone();
    std::thread::spawn(move || sent.send(user.query().map(drop)));
    let answered = answered.recv_timeout(SOON / 3);
    let still = !pinned.is_finished();
    fs::remove_file(&busy)?;
    let pinned = pinned.join();
    ensure!(matches!(pinned, Ok(Ok(_))), "{pinned:?}");
    ensure!(
        matches!(answered, Ok(Ok(()))),
        "another thread waits for the pin: {answered:?}"
    );
    ensure!(still, "the pin did not wait");
    Ok("")
}

/// Checks that another process gets a clear error, and a child of this one, too.
fn one_process(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let refused = || match Device::first() {
        Err(Error::Backend(BackendError::Vfio(error @ vfio::Error::InUse { .. }))) => {
            ensure!(!error.hint().is_empty());
            Ok(())
        }
        other => bail!("a second process got {other:?}"),
    };
    fork("second", refused)?.wait()?;
    drop(device);
    let free = lab.branch();
    fork("second", move || free.open().map(drop))?.wait()?;
    moves(lab)?;
    Ok("")
}

/// Starts a process that moves data all the time, and maybe has a child that does nothing.
fn busy(lab: &mut Lab, has_child: bool) -> Result<(Child, Option<i32>)> {
    let (ours, theirs) = pair()?;
    let lab = lab.branch();
    let child = fork("busy", move || {
        let mut mover = Mover::fast(&lab)?;
        let device = mover.device().clone();
        let place = lab.place(&device)?;
        let buffer = Buffer::new(&device, 4 << 20)?;
        let idle = match has_child {
            false => None,
            true => Some(fork("idle", || {
                std::thread::sleep(4 * SOON);
                Ok(())
            })?),
        };
        let id = idle.as_ref().map(Child::id).transpose()?.unwrap_or(0);
        theirs.send_number(id)?;
        loop {
            for direction in Direction::BOTH {
                mover.transfer(direction, &buffer.region, 0, place, 4 << 20)?;
            }
        }
    })?;
    let id = ours.receive_number()?;
    // Transfers are under way.
    std::thread::sleep(Duration::from_millis(300));
    Ok((child, (id != 0).then_some(id)))
}

/// Kills processes in the middle of transfers. The harness checks that the board reaches no memory after that.
fn killed(lab: &mut Lab) -> Result<&'static str> {
    for _ in 0..lab.rounds {
        let (mut child, _) = busy(lab, false)?;
        child.signal(Signal::KILL)?;
        ensure!(child.wait_for(SOON)?.is_some(), "it does not end");
        moves(lab)?;
    }
    Ok("")
}

/// Kills a process whose child goes on and has the same files open: the board stays in use, and its memory pinned.
fn outlived(lab: &mut Lab) -> Result<&'static str> {
    let (mut child, idle) = busy(lab, true)?;
    let idle = idle.context("it has no child")?;
    child.signal(Signal::KILL)?;
    ensure!(child.wait_for(SOON)?.is_some(), "it does not end");
    let refused = Device::first();
    ensure!(
        matches!(
            &refused,
            Err(Error::Backend(BackendError::Vfio(
                vfio::Error::InUse { .. }
            )))
        ),
        "{refused:?}"
    );
    let idle = rustix::process::Pid::from_raw(idle).context("no process")?;
    rustix::process::kill_process(idle, Signal::KILL)?;
    let begin = Instant::now();
    while Device::first().is_err() {
        ensure!(begin.elapsed() < SOON, "the board is not free");
        std::thread::sleep(Duration::from_millis(20));
    }
    moves(lab)?;
    Ok("")
}

/// Checks the error of a registration beyond the user's limit of locked memory.
fn locked_memory(lab: &Lab) -> Result<String> {
    if getuid().is_root() {
        return skip("root may lock all memory");
    }
    let device = lab.open()?;
    let before = getrlimit(Resource::Memlock);
    let limit = 16 << 20;
    setrlimit(
        Resource::Memlock,
        Rlimit {
            current: Some(limit),
            maximum: before.maximum,
        },
    )?;
    let memory = Memory::new(32 << 20).map_err(told)?;
    let refused = device.register_all(&memory, Permissions::ReadWrite);
    setrlimit(Resource::Memlock, before)?;
    match refused {
        Err(
            error @ Error::Backend(BackendError::Vfio(vfio::Error::Locked {
                limit: Some(found),
                ..
            })),
        ) if found == limit => Ok(error.to_string()),
        other => bail!("{other:?}"),
    }
}

/// Checks the error for memory that the process does not have.
fn nowhere(lab: &Lab) -> Result<&'static str> {
    let device = lab.open()?;
    // SAFETY: the process has no memory there, and so nothing that could be written to.
    let refused = unsafe { device.register_address(4096, 4096, Permissions::ReadWrite) };
    ensure!(
        matches!(&refused, Err(Error::Call { source, .. }) if source.raw_os_error() == 14),
        "{refused:?}"
    );
    let gpu = device.memory(MemoryKind::Gpu, 4096);
    ensure!(gpu.is_err(), "memory of a GPU without a GPU");
    Ok("")
}

/// Unbinds the board while it writes: its user gets an error, the board writes no more, and is free when the user has
/// closed it.
fn wanted_back(lab: &mut Lab) -> Result<&'static str> {
    if !getuid().is_root() {
        return skip("only root may unbind a driver");
    }
    let board = board()?;
    let device = lab.open()?;
    let write = Write::start(lab, &device)?;
    let driver = PathBuf::from("/sys/bus/pci/drivers").join(vfio::DRIVER);
    let (name, unbind) = (board.clone(), driver.join("unbind"));
    let unbinder = std::thread::spawn(move || fs::write(unbind, name));
    let begin = Instant::now();
    loop {
        match device.poll(Some(Duration::from_millis(100))) {
            Ok(_) => {}
            Err(Error::Gone) => break,
            Err(error) => return Err(told(error)),
        }
        ensure!(begin.elapsed() < SOON, "the user is not asked");
    }
    let stopped = write.transfer.stop(Duration::from_secs(1));
    // A block that was stopped reports how its descriptors ended.
    ensure!(
        matches!(stopped, Err(Error::Gone | Error::Stopped)),
        "{stopped:?}"
    );
    write.check_end(lab)?;
    drop(device);
    let unbound = unbinder.join();
    ensure!(matches!(unbound, Ok(Ok(()))), "{unbound:?}");
    let gone = Device::first();
    ensure!(matches!(gone, Err(Error::None)), "{gone:?}");
    fs::write(driver.join("bind"), &board)?;
    lab.host.fault(Fault::Clear {})?;
    moves(lab)?;
    Ok("")
}

/// Returns the KiB of memory that this process has locked.
fn locked_kib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(number.context("no VmLck")?.trim().parse()?)
}

/// Takes the board out of its slot while a program moves data, as its button does: the program gets an error and ends,
/// and no byte of its memory changes any more. The board that is put in again works when it is bound.
fn taken_out(lab: &mut Lab) -> Result<String> {
    let board = board()?;
    let path = PathBuf::from("/sys/bus/pci/devices").join(&board);
    let (ours, theirs) = pair()?;
    let mut branch = lab.branch();
    let mut user = fork("user", move || {
        let device = branch.open()?;
        let write = Write::start(&branch, &device)?;
        ensure!(locked_kib()? >= Write::LENGTH >> 10, "memory is not locked");
        theirs.signal()?;
        let ended = write.transfer.wait(LIMIT);
        ensure!(matches!(ended, Err(Error::Gone)), "{ended:?}");
        write.check_end(&mut branch)?;
        drop(device);
        let kib = locked_kib()?;
        ensure!(kib == 0, "{kib} KiB are still locked");
        Ok(())
    })?;
    ours.wait()?;
    lab.host.take_out()?;
    let begin = Instant::now();
    let ended = user.wait_for(SOON)?;
    let ended = ended.context("the program does not end")?;
    ensure!(ended.exit_status() == Some(0), "{ended:?}");
    let took = begin.elapsed();
    while path.exists() {
        ensure!(begin.elapsed() < 2 * SOON, "the board stays");
        std::thread::sleep(Duration::from_millis(20));
    }
    let none = Device::first();
    ensure!(matches!(none, Err(Error::None)), "{none:?}");
    lab.host.put_in()?;
    let begin = Instant::now();
    while !path.exists() {
        ensure!(begin.elapsed() < SOON, "the board does not come back");
        std::thread::sleep(Duration::from_millis(20));
    }
    let bound = Command::new("peerlane").args(["bind", &board]).status()?;
    ensure!(bound.success(), "{bound}");
    moves(lab)?;
    Ok(format!("the program ended after {took:?}"))
}

/// Checks that a copy ends on a board whose port takes nothing any more, and that a new user has the board.
fn stuck_in_a_copy(lab: &mut Lab) -> Result<String> {
    let options = Options {
        // The simulated board is slower than the machine around it.
        port_timeout_cycles: Some(20_000),
        ..Default::default()
    };
    let driver = vfio::open(&board()?, &options).map_err(told)?;
    let device = driver.open().map_err(told)?;
    let place = lab.place(&device)?;
    let queue = device.queue().map_err(told)?;
    let mut bytes = vec![0; 1 << 20];
    lab.host.fault(Fault::StickPort { after: 1000 })?;
    let begin = Instant::now();
    let copied = queue.copy_from_fpga(place, &mut bytes, Duration::from_secs(1));
    let took = begin.elapsed();
    ensure!(copied.is_err() && took < SOON, "{copied:?} after {took:?}");
    let next = device.query();
    ensure!(matches!(next, Err(Error::Gone)), "{next:?}");
    drop((queue, device, driver));
    lab.host.fault(Fault::Clear {})?;
    moves(lab)?;
    Ok(format!("{copied:?} after {took:?}"))
}
