//! Tests of the share of a board that one user can have.

use super::number;
use crate::fakegpu::{Gpu, GpuBuffer};
use crate::lab::{entries_free, told};
use crate::process::{Peer, become_user, fork, pair};
use crate::suite::Suite;
use anyhow::{Context, Result, bail, ensure};
use peerlane_host::{Device, Error, FpgaMemory, Memory, Permissions, Region};
use rustix::io::Errno;
use std::fs::Permissions as Mode;
use std::os::unix::fs::PermissionsExt;

const NODE: &str = "/dev/peerlane0";
/// Two users without privileges.
const USERS: [u32; 2] = [65533, 65534];

/// Runs the tests of this module.
pub fn run(suite: &mut Suite) {
    suite.run("admin.channels_of_a_user", || channels(false));
    suite.run("admin.channels_of_a_user_namespace", || channels(true));
    suite.run("admin.entries_of_a_user", entries);
    suite.run("admin.memory_of_a_user", memory);
    suite.run("admin.gpu_memory_of_a_user", gpu_memory);
}

/// Allows all users to open the board.
fn for_all() -> Result<()> {
    Ok(std::fs::set_permissions(NODE, Mode::from_mode(0o666))?)
}

/// Opens the board until the driver refuses, and returns the contexts and the error.
fn open_all() -> Result<(Vec<Device>, Errno)> {
    let mut devices = Vec::new();
    loop {
        match Device::first() {
            Ok(device) => devices.push(device),
            Err(Error::Open { source, .. }) => return Ok((devices, source)),
            Err(other) => bail!("opening gave {other:?}"),
        }
    }
}

/// Starts a process of a user that opens all contexts that it may. There must be `expected` of them before the error
/// `end`. The process holds them until its peer signals.
fn takes(
    user: u32,
    (expected, end): (u32, Errno),
    namespace: bool,
    there: Peer,
) -> Result<crate::process::Child> {
    fork("user", move || {
        become_user(user)?;
        if namespace {
            // In a namespace of its own it has all capabilities.
            // SAFETY: a plain system call.
            let failed = unsafe { libc::unshare(libc::CLONE_NEWUSER) };
            ensure!(failed == 0, "unshare: {}", std::io::Error::last_os_error());
        }
        let (devices, error) = open_all()?;
        ensure!(
            devices.len() == expected as usize && error == end,
            "user {user}: {} channels, then {error}",
            devices.len()
        );
        // Channels that were released can be opened again.
        drop(devices);
        let (devices, _) = open_all()?;
        ensure!(devices.len() == expected as usize, "{}", devices.len());
        there.signal()?;
        there.wait()
    })
}

/// Checks that a user gets half of the channels, so that a second user always gets some, and that the administrator of
/// the machine gets the rest.
fn channels(namespace: bool) -> Result<&'static str> {
    for_all()?;
    let all = number("channels")?;
    let (first, there) = pair()?;
    let one = takes(USERS[0], (all / 2, Errno::DQUOT), namespace, there)?;
    first.wait().context("the first user")?;
    // A second process of the same user gets no more.
    let left = number("channels_free")?;
    fork("same user", move || {
        become_user(USERS[0])?;
        let (devices, error) = open_all()?;
        ensure!(
            devices.is_empty() && error == Errno::DQUOT,
            "{} more channels, then {error}",
            devices.len()
        );
        Ok(())
    })?
    .wait()?;
    ensure!(left == all - all / 2, "{left} channels are left of {all}");
    let (second, there) = pair()?;
    let two = takes(USERS[1], (all / 2, Errno::BUSY), namespace, there)?;
    second.wait().context("the second user")?;
    for (user, peer) in [(one, first), (two, second)] {
        peer.signal()?;
        user.wait()?;
    }
    let (devices, error) = open_all()?;
    ensure!(
        devices.len() == all as usize && error == Errno::BUSY,
        "root has {} channels, then {error}",
        devices.len()
    );
    Ok("")
}

/// Registers a page until the driver refuses, and returns the regions and the error.
fn register_all(device: &Device, memory: &Memory) -> Result<(Vec<Region>, Errno)> {
    let mut regions = Vec::new();
    loop {
        match device.register(memory, 0..4096, Permissions::ReadWrite) {
            Ok(region) => regions.push(region),
            Err(Error::Call { source, .. }) => return Ok((regions, source)),
            Err(other) => bail!("registering gave {other:?}"),
        }
        ensure!(regions.len() <= 1000, "no end");
    }
}

/// Checks that all channels of a user share its part of the table, and that cached regions are evicted when the part is
/// full.
fn entries() -> Result<&'static str> {
    /// The value of the parameter `user_entries`.
    const PART: usize = 64;
    for_all()?;
    // A cached region of another user: its eviction does not help.
    let other = Device::first().map_err(told)?;
    let cached = Memory::new(4096)?;
    // SAFETY: there are no references into the memory. A fork would change it.
    unsafe {
        let place = cached.address() as *mut std::ffi::c_void;
        rustix::mm::madvise(place, 4096, rustix::mm::Advice::LinuxDontFork)?;
    }
    drop(
        other
            .register(&cached, 0..4096, Permissions::Read)
            .map_err(told)?,
    );
    let (ours, theirs) = pair()?;
    let one = fork("user", move || {
        become_user(USERS[0])?;
        let devices = [
            Device::first().map_err(told)?,
            Device::first().map_err(told)?,
        ];
        let memory = Memory::new(4096)?;
        let mut first = Vec::new();
        for _ in 0..PART / 4 {
            let region = devices[0].register(&memory, 0..4096, Permissions::ReadWrite);
            first.push(region.map_err(told)?);
        }
        let (second, error) = register_all(&devices[1], &memory)?;
        ensure!(
            second.len() == PART - PART / 4 && error == Errno::DQUOT,
            "{} regions in the other context, then {error}",
            second.len()
        );
        // A cached region of one context is evicted for the other context.
        drop(first);
        let (third, error) = register_all(&devices[1], &memory)?;
        ensure!(
            third.len() == PART / 4 && error == Errno::DQUOT,
            "{} more regions, then {error}",
            third.len()
        );
        theirs.signal()?;
        theirs.wait()
    })?;
    ours.wait().context("the first user")?;
    let regions = other.query().map_err(told)?.regions;
    ensure!(
        regions == [0, 1],
        "another user's region was evicted for the user's part"
    );
    drop(other);
    fork("other user", move || {
        become_user(USERS[1])?;
        let device = Device::first().map_err(told)?;
        let memory = Memory::new(4096)?;
        let (regions, error) = register_all(&device, &memory)?;
        ensure!(
            regions.len() == PART && error == Errno::DQUOT,
            "{} regions, then {error}",
            regions.len()
        );
        Ok(())
    })?
    .wait()?;
    ours.signal()?;
    one.wait()?;
    let device = Device::first().map_err(told)?;
    let memory = Memory::new(4096)?;
    let regions: peerlane_host::Result<Vec<_>> = (0..=PART)
        .map(|_| device.register(&memory, 0..4096, Permissions::ReadWrite))
        .collect();
    ensure!(regions.map_err(told)?.len() > PART);
    Ok("")
}

/// Checks that all channels of a user share its part of FPGA memory, whichever call it gets the memory by.
fn memory() -> Result<&'static str> {
    /// The value of the parameter `user_memory_mib`, in pieces of the smallest size.
    const PART: u64 = 1 << 20;
    const PIECE: u64 = 64 << 10;
    fn refused(result: peerlane_host::Result<FpgaMemory>) -> Result<()> {
        match result {
            Err(error @ Error::Memory { source, .. }) if source == Errno::DQUOT => {
                let hint = error.hint();
                ensure!(hint.contains("user_memory_mib"), "{hint}");
                Ok(())
            }
            other => bail!("more than a user may have gave {other:?}"),
        }
    }
    for_all()?;
    let root = Device::first().map_err(told)?;
    let offer = root.allocate(PIECE).map_err(told)?.offer().map_err(told)?;
    let (ours, theirs) = pair()?;
    let one = fork("user", move || {
        become_user(USERS[0])?;
        let devices = [(); 3].map(|()| Device::first());
        let [a, b, c] = devices.map(|device| device.map_err(told));
        let (a, b, c) = (a?, b?, c?);
        refused(a.allocate(PART + 1))?;
        refused(a.allocate(u64::MAX))?;
        let first = a.allocate(PART - PIECE).map_err(told)?;
        refused(b.allocate(PIECE + 1))?;
        let second = b.allocate(PIECE).map_err(told)?;
        refused(c.allocate(1))?;
        refused(c.take_over(offer))?;
        // Memory that was freed can be allocated again, and an offer that was refused stays open.
        second.free().map_err(told)?;
        let taken = c.take_over(offer).map_err(told)?;
        refused(b.allocate(1))?;
        // Memory on offer counts for no user.
        let again = taken.offer().map_err(told)?;
        let other = b.allocate(1).map_err(told)?;
        refused(c.take_over(again))?;
        theirs.signal()?;
        theirs.wait()?;
        drop((first, other));
        Ok(())
    })?;
    ours.wait().context("the first user")?;
    fork("other user", move || {
        become_user(USERS[1])?;
        let device = Device::first().map_err(told)?;
        drop(device.allocate(PART).map_err(told)?);
        Ok(())
    })?
    .wait()?;
    // The administrator of the machine is not limited to this part.
    let more = root.allocate(PART + 1).map_err(told)?;
    ours.signal()?;
    one.wait()?;
    drop(more);
    Ok("")
}

/// Checks that NVIDIA's pages stay pinned, and count, when another process evicts their cached region. They count until
/// their own process registers again, or frees them.
fn held_by_nvidia() -> Result<()> {
    /// The most that a user may have pinned.
    const PART: usize = 2 << 20;
    let (ours, theirs) = pair()?;
    let user = fork("user", move || {
        become_user(USERS[0])?;
        let (gpu, device) = (Gpu::open()?, Device::first().map_err(told)?);
        let register = |buffer: &GpuBuffer| {
            let (address, id) = (buffer.address(), buffer.id());
            // SAFETY: the memory is the fake GPU's, which the process has no reference to.
            let region =
                unsafe { device.register_nvidia(address, PART as u64, id, Permissions::ReadWrite) };
            region.map_err(told)
        };
        let mut buffer = gpu.buffer(PART, 0, 2, None)?;
        for frees in [false, true] {
            drop(register(&buffer)?);
            theirs.signal()?;
            theirs.wait()?;
            let query = device.query().map_err(told)?;
            ensure!(query.regions[1] == 0, "its region is still cached");
            if frees {
                drop(buffer);
                buffer = gpu.buffer(PART, 0, 2, None)?;
            }
            let again = register(&buffer).with_context(|| format!("frees: {frees}"))?;
            ensure!(!again.found(), "found");
            again.forget().map_err(told)?;
        }
        Ok(())
    })?;
    for _ in 0..2 {
        ours.wait()?;
        let root = Device::first().map_err(told)?;
        let memory = Memory::new(4096)?;
        let one = || root.register(&memory, 0..4096, Permissions::Read);
        // One region more than there are free entries.
        let free = entries_free(root.name().as_ref())?;
        let held = (0..=free).map(|_| one().map_err(told));
        let held = held.collect::<Result<Vec<_>>>()?;
        for region in held {
            region.forget().map_err(told)?;
        }
        ours.signal()?;
    }
    user.wait()?;
    Ok(())
}

/// Checks that all channels of a user share its quota of pinned memory of other devices. All of a dma-buf is pinned,
/// and counts, for each region. Cached regions are evicted when the quota is used up.
fn gpu_memory() -> Result<&'static str> {
    /// The value of the parameter `user_gpu_mib`.
    const PART: usize = 2 << 20;
    fn mib(device: &Device, gpu: &Gpu) -> Result<peerlane_host::Result<Region>> {
        let file = gpu.buffer(PART / 2, 0, 1, None)?.dmabuf(true)?;
        Ok(device.register_dmabuf(&file, 0, 4096, Permissions::ReadWrite))
    }
    for_all()?;
    let users = USERS.map(|user| {
        fork("user", move || {
            become_user(user)?;
            let gpu = Gpu::open()?;
            let devices = [
                Device::first().map_err(told)?,
                Device::first().map_err(told)?,
            ];
            let first = mib(&devices[0], &gpu)?.map_err(told)?;
            let second = mib(&devices[1], &gpu)?.map_err(told)?;
            match mib(&devices[1], &gpu)? {
                Err(error @ Error::Call { source, .. }) if source == Errno::DQUOT => {
                    let hint = error.hint();
                    ensure!(hint.contains("user_gpu_mib"), "{hint}");
                }
                other => bail!("more than a user may have gave {other:?}"),
            }
            // The region of the other context is cached, and evicted for this one.
            drop(first);
            let third = mib(&devices[1], &gpu)?.map_err(told)?;
            second.forget().map_err(told)?;
            third.forget().map_err(told)
        })
    });
    for user in users {
        user?.wait()?;
    }
    held_by_nvidia()?;
    let (root, gpu) = (Device::first().map_err(told)?, Gpu::open()?);
    let regions: Vec<Region> = (0..3)
        .map(|_| mib(&root, &gpu)?.map_err(told))
        .collect::<Result<_>>()?;
    drop(regions);
    Ok("")
}
