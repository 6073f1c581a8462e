//! Tests of the information about a board that an administrator sees, and of the limits of one user.

mod shares;

use crate::faults::{bind, unbind};
use crate::lab::{Buffer, Lab, Mover, driver_says, entries_used, pci_device, told};
use crate::process::{become_user, fork, pair};
use crate::suite::{Suite, skip};
use anyhow::{Context, Result, bail, ensure};
use peerlane_host::{Device, Memory, Permissions};
use rustix::fd::AsRawFd;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Names of the files in the board's directory in sysfs.
const FILES: [&str; 32] = [
    "any_distance",
    "att_entries",
    "att_entries_free",
    "board",
    "build_id",
    "channels",
    "channels_free",
    "configure_all",
    "configure_s",
    "context_entries",
    "fpga_memory",
    "fpga_memory_free",
    "hold_all",
    "kept_gpu",
    "kept_host",
    "kept_regions",
    "link_pace",
    "link_speed",
    "link_width",
    "map_id",
    "memory_pool",
    "patience_ms",
    "peer_reads",
    "peers",
    "port_timeout",
    "recovery_s",
    "state",
    "user_channels",
    "user_entries",
    "user_gpu",
    "user_memory",
    "verbose",
];

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("admin.sysfs", || sysfs(lab));
    suite.run("admin.sysfs_while_unbound", || sysfs_while_unbound(lab));
    suite.run("admin.limits", limits);
    suite.run("admin.who_has_what", || who_has_what(lab));
    suite.run("admin.path", path);
    suite.run("admin.fdinfo", || fdinfo(lab));
    suite.run("admin.charged", || charged(lab));
    suite.run("admin.shrunk", || shrunk(lab));
    shares::run(suite);
}

fn directory() -> Result<PathBuf> {
    Ok(pci_device()?.join("peerlane"))
}

fn says(file: &str) -> Result<String> {
    let path = directory()?.join(file);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let line = text.strip_suffix('\n').context("no end of line")?;
    ensure!(!line.contains('\n'), "{file} says {text:?}");
    Ok(line.to_owned())
}

fn number(file: &str) -> Result<u32> {
    says(file)?.parse().with_context(|| file.to_owned())
}

/// Checks that each file has one value, and that it agrees with the value from another source.
fn sysfs(lab: &mut Lab) -> Result<String> {
    let mut found: Vec<_> = std::fs::read_dir(directory()?)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    found.sort();
    ensure!(found == FILES, "files {found:?}");
    let (free, entries) = (number("channels_free")?, number("att_entries_free")?);
    ensure!(free == number("channels")?, "{free} channels are free");
    ensure!(
        entries == number("att_entries")?,
        "{entries} entries are free"
    );
    let device = lab.open()?;
    let info = *device.info();
    ensure!(says("map_id")? == format!("{:#010x}", info.map_id));
    ensure!(says("build_id")? == format!("{:#010x}", info.build_id));
    ensure!(says("state")? == "ready", "state {}", says("state")?);
    ensure!(!says("board")?.is_empty());
    // CAPS0.channels and CAPS1.att_log2; eight entries are the driver's own.
    ensure!(number("channels")? == info.caps[0] >> 8 & 0xff);
    ensure!(number("att_entries")? == (1 << (info.caps[1] >> 8 & 0xff)) - 8);
    ensure!(number("channels_free")? == free - 1);
    let buffer = Buffer::new(&device, MIB)?;
    let used = entries_used(device.name().as_ref())?;
    ensure!(used > 0 && number("att_entries_free")? == entries - used);
    buffer.region.forget().map_err(told)?;
    ensure!(number("att_entries_free")? == entries);
    let memory: [u64; 2] = [
        says("fpga_memory")?.parse()?,
        says("fpga_memory_free")?.parse()?,
    ];
    // CAPS1.mem_addr_bits; the board's description says the same of this one.
    ensure!(
        memory == [1 << (info.caps[1] >> 24); 2],
        "FPGA memory {memory:?}"
    );
    let range = device.allocate(1).map_err(told)?;
    let left: u64 = says("fpga_memory_free")?.parse()?;
    ensure!(left == memory[1] - range.length(), "{left} bytes are free");
    drop((range, device));
    ensure!(number("channels_free")? == free);
    ensure!(says("fpga_memory_free")? == memory[1].to_string());
    // The simulated board's link: the second generation, of eight lanes.
    let link = [says("link_speed")?, says("link_width")?, says("link_pace")?];
    ensure!(link[..2] == ["5.0 GT/s", "8"], "link {link:?}");
    // 4 GB/s at 250 MHz are 16 bytes a cycle, less one part in 64, in 256ths.
    ensure!(link[2] == "4032", "link {link:?}");
    Ok(link.join(", "))
}

/// Checks the limits in force with `user_entries=64 user_memory_mib=1 user_gpu_mib=2`: the values that were asked for,
/// and the defaults of the other limits on this board.
fn limits() -> Result<&'static str> {
    let (entries, channels) = (number("att_entries")?, number("channels")?);
    let bytes: usize = says("fpga_memory")?.parse()?;
    for (file, expected) in [
        ("context_entries", entries as usize),
        ("user_channels", channels as usize / 2),
        ("user_entries", 64),
        ("user_memory", MIB),
        ("user_gpu", 2 * MIB),
        ("memory_pool", bytes),
        ("kept_regions", 1024),
        ("kept_host", 1024 * MIB),
        ("kept_gpu", 128 * MIB),
        ("patience_ms", 2000),
        ("recovery_s", 90),
        ("any_distance", 0),
        ("hold_all", 0),
        ("configure_all", 0),
        ("configure_s", 300),
        ("verbose", 0),
    ] {
        ensure!(
            says(file)? == expected.to_string(),
            "{file}: {}, expected {expected}",
            says(file)?
        );
    }
    ensure!(number("port_timeout")? > 0);
    Ok("")
}

/// Checks that an administrator sees which process uses how much of its user's quota, and which process has the window.
fn who_has_what(lab: &mut Lab) -> Result<String> {
    const USER: u32 = 65533;
    std::fs::set_permissions("/dev/peerlane0", std::fs::Permissions::from_mode(0o666))?;
    let (ours, theirs) = pair()?;
    let child = fork("user", move || {
        become_user(USER)?;
        let device = Device::first().map_err(told)?;
        let range = device.allocate(MIB as u64).map_err(told)?;
        let _window = device.window(range.base()).map_err(told)?;
        let memory = Memory::new(4 * 4096)?;
        let page = |index: usize| {
            device
                .register(&memory, index * 4096..(index + 1) * 4096, Permissions::Read)
                .map_err(told)
        };
        let _held = page(0)?;
        drop(page(2)?);
        theirs.signal()?;
        theirs.wait()
    })?;
    ours.wait()?;
    let device = lab.open()?;
    let state = driver_says(device.name().as_ref(), "state")?;
    let line = |start: String| {
        let line = state.lines().find(|line| line.starts_with(&start));
        line.map(str::to_owned)
            .with_context(|| format!("no line {start:?} in: {state}"))
    };
    let channel = |line: &str| -> Result<u32> {
        let start = line.split_once(':').context("no colon")?.0;
        Ok(start.trim_start_matches("channel ").parse()?)
    };
    let process = format!("opened by process {} of user {USER},", child.id()?);
    let found = state.lines().find(|line| line.contains(&process));
    let theirs = found.with_context(|| format!("no {process:?} in: {state}"))?;
    ensure!(
        theirs.ends_with("has 2 ATT entries, 1048576 bytes of FPGA memory, the window"),
        "{theirs}"
    );
    let usage = line(format!("channel {}: ring", channel(theirs)?))?;
    ensure!(usage.contains("kept 1 (4096 bytes)"), "{usage}");
    let own = format!(
        "channel {}: opened by process {} of user 0, has 0 ATT entries, 0 bytes of FPGA memory",
        device.info().channel,
        std::process::id()
    );
    ensure!(line(own.clone())? == own, "{state}");
    ours.signal()?;
    child.wait()?;
    Ok(theirs.to_owned())
}

/// Checks that a process that reads while the driver is unbound and bound again only gets `ENOENT` or `ENODEV`.
fn sysfs_while_unbound(lab: &mut Lab) -> Result<String> {
    let directory = directory()?;
    let (ours, theirs) = pair()?;
    let place = directory.clone();
    let mut reader = fork("reader", move || {
        theirs.signal()?;
        loop {
            for file in FILES {
                match std::fs::read_to_string(place.join(file)) {
                    // No peer was seen yet.
                    Ok(text) if text.is_empty() && file == "peers" => {}
                    Ok(text) => ensure!(text.ends_with('\n'), "{file}: {text:?}"),
                    Err(error) => {
                        let code = error.raw_os_error();
                        ensure!(
                            [libc::ENOENT, libc::ENODEV].map(Some).contains(&code),
                            "{file}: {error}"
                        );
                    }
                }
            }
        }
    })?;
    ours.wait()?;
    for _ in 0..lab.rounds {
        unbind()?;
        ensure!(!directory.exists(), "the files outlive the driver");
        bind()?;
        ensure!(directory.join("state").exists(), "no files with the driver");
    }
    if let Some(status) = reader.wait_for(Duration::from_millis(50))? {
        bail!("the reader ended: {status:?}");
    }
    reader.kill()?;
    Ok(format!("{} rounds", lab.rounds))
}

/// Checks the path that the udev rule uses: the node belongs to a misc device, whose parent is a PCI device named by
/// its address on the bus.
fn path() -> Result<String> {
    let node = Path::new("/sys/class/misc/peerlane0");
    let above = node.join("device").canonicalize()?;
    ensure!(above == pci_device()?, "above it is {}", above.display());
    let subsystem = above.join("subsystem").canonicalize()?;
    ensure!(subsystem.ends_with("bus/pci"), "{}", subsystem.display());
    let name = above.file_name().context("no name")?.to_string_lossy();
    ensure!(name.len() == "0000:00:00.0".len(), "{name}");
    Ok(format!("pci-{name}"))
}

/// Returns the fields of `fdinfo`, the kernel's information about an open file.
fn info_of(device: &Device) -> Result<BTreeMap<String, String>> {
    let path = format!(
        "/proc/self/fdinfo/{}",
        device.file().expect("a device node").as_raw_fd()
    );
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| line.starts_with("peerlane-"));
    lines
        .map(|line| {
            let (key, value) = line.split_once(":\t").context(line.to_owned())?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

fn fdinfo(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let other = lab.open()?;
    let expect = |device: &Device, regions: [u32; 2], bytes: [usize; 2]| -> Result<()> {
        let info = info_of(device)?;
        let has = |key: &str, value: String| {
            let found = info.get(&format!("peerlane-{key}"));
            ensure!(found == Some(&value), "{key} is not {value}: {info:?}");
            Ok(())
        };
        has("driver", "peerlane".into())?;
        let name = pci_device()?;
        let name = name.file_name().context("no name")?.to_string_lossy();
        has("pdev", name.into_owned())?;
        has("channel", device.info().channel.to_string())?;
        has("generation", device.info().generation.to_string())?;
        has("state", "ready".into())?;
        has("regions", regions[0].to_string())?;
        has("kept", regions[1].to_string())?;
        has("memory-regions", bytes[0].to_string())?;
        has("memory-kept", bytes[1].to_string())
    };
    expect(&device, [0, 0], [0, 0])?;
    let one = Buffer::new(&device, MIB)?;
    let two = Buffer::new(&device, 3 * MIB)?;
    expect(&device, [2, 0], [4 * MIB, 0])?;
    // A cached region is evicted when its memory is unmapped.
    let Buffer {
        memory: _mapped,
        region,
    } = two;
    drop(region);
    expect(&device, [1, 1], [MIB, 3 * MIB])?;
    expect(&other, [0, 0], [0, 0])?;
    let entries =
        |device: &Device| -> Result<u32> { Ok(info_of(device)?["peerlane-entries"].parse()?) };
    ensure!(entries(&device)? == entries_used(device.name().as_ref())?);
    ensure!(entries(&other)? == 0);
    one.region.forget().map_err(told)?;
    let fpga = |bytes: u64| -> Result<()> {
        let found = info_of(&device)?["peerlane-memory-fpga"].clone();
        ensure!(found == bytes.to_string(), "{found} bytes of FPGA memory");
        Ok(())
    };
    fpga(0)?;
    let memory = device.allocate(100_000).map_err(told)?;
    fpga(2 << 16)?;
    memory.free().map_err(told)?;
    fpga(0)?;
    Ok("")
}

const GROUP: &str = "/sys/fs/cgroup/peerlane";

/// Returns the bytes of the kernel's own memory that the control group is charged for, as soon as they are as expected,
/// or else after a while.
fn kernel_bytes(mut expected: impl FnMut(usize) -> bool) -> Result<usize> {
    let begin = Instant::now();
    loop {
        // Counts are collected every two seconds (FLUSH_TIME, mm/memcontrol.c), by a work item that a
        // busy machine runs later.
        std::thread::sleep(Duration::from_millis(2500));
        let text = std::fs::read_to_string(format!("{GROUP}/memory.stat"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("kernel "));
        let bytes = line.context("no line of the kernel's")?.parse()?;
        if expected(bytes) || begin.elapsed() > Duration::from_secs(20) {
            return Ok(bytes);
        }
    }
}

/// Checks that memory that the driver allocates for a process is charged to its control group.
fn charged(lab: &mut Lab) -> Result<String> {
    let controllers = std::fs::read_to_string("/sys/fs/cgroup/cgroup.controllers");
    if !controllers.is_ok_and(|list| list.contains("memory")) {
        return skip("the kernel has no control groups of memory");
    }
    std::fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")?;
    std::fs::create_dir_all(GROUP)?;
    let lab = lab.branch();
    fork("charged", move || {
        std::fs::write(format!("{GROUP}/cgroup.procs"), "0")?;
        let memory = Memory::new(64 * MIB)?;
        // All of its pages are there, and the page tables that map them.
        memory.write(0, &vec![1; 64 * MIB])?;
        // Wait until two readings are equal: nothing is left to be counted.
        let mut last = None;
        let before = kernel_bytes(|bytes| last.replace(bytes) == Some(bytes))?;
        let devices = (0..4).map(|_| lab.open()).collect::<Result<Vec<_>>>()?;
        let rings: u64 = devices.iter().map(|device| device.info().ring_bytes).sum();
        let opened = kernel_bytes(|bytes| bytes >= before + rings as usize)?;
        ensure!(
            opened >= before + rings as usize,
            "{before} bytes before, {opened} with rings of {rings} bytes"
        );
        let buffer = Buffer::of(&devices[0], memory)?;
        // A pointer to each page, at least.
        let list = 64 * MIB / 4096 * 8;
        let registered = kernel_bytes(|bytes| bytes >= opened + list)?;
        ensure!(
            registered >= opened + list,
            "{opened} bytes before, {registered} with a region of {list} bytes of pointers"
        );
        buffer.region.forget().map_err(told)?;
        drop(devices);
        let after = kernel_bytes(|bytes| bytes < before + rings as usize)?;
        ensure!(
            after < before + rings as usize,
            "{before} bytes before, {after} after"
        );
        println!("charged: {before}, {opened} with rings, {registered} with a region, {after}");
        Ok(())
    })?
    .wait()?;
    std::fs::remove_dir(GROUP)?;
    Ok(String::new())
}

/// Returns the memory of this process that is pinned, in KiB.
fn locked() -> Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPin:"));
    let words = line.context("no VmPin")?.split_whitespace().next();
    Ok(words.context("VmPin without a number")?.parse()?)
}

/// Checks that cached regions are evicted when the machine is short of memory, and that regions with a handle stay.
fn shrunk(lab: &mut Lab) -> Result<String> {
    let mut mover = Mover::fast(lab)?;
    let device = mover.device().clone();
    let other = lab.open()?;
    let place = lab.place(&device)?;
    let held = Buffer::new(&device, MIB)?;
    let before = locked()?;
    let mut memories = Vec::new();
    // All regions fit into the table at once, even as single pages.
    let length = MIB / 4;
    for index in 0..40 {
        let device = if index % 2 == 0 { &device } else { &other };
        let buffer = Buffer::new(device, length)?;
        memories.push(buffer.memory.clone());
    }
    let kept = |device: &Device| -> Result<u32> { Ok(device.query().map_err(told)?.regions[1]) };
    ensure!(kept(&device)? == 20 && kept(&other)? == 20);
    ensure!(
        locked()? >= before + 40 * length / 1024,
        "pinned pages are not counted"
    );
    let begin = Instant::now();
    // Caches of the kernel's own (Documentation/admin-guide/sysctl/vm.rst, drop_caches).
    std::fs::write("/proc/sys/vm/drop_caches", "2")?;
    // Regions that are being evicted are no longer counted as cached, so wait for the pinned memory, too.
    while kept(&device)? + kept(&other)? > 0 || locked()? > before {
        ensure!(
            begin.elapsed() < Duration::from_secs(20),
            "{} and {} regions are still kept, {} KiB pinned",
            kept(&device)?,
            kept(&other)?,
            locked()?
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let took = begin.elapsed();
    let used = entries_used(device.name().as_ref())?;
    let held_entries: u32 = info_of(&device)?["peerlane-entries"].parse()?;
    ensure!(
        used == held_entries,
        "{used} entries, {held_entries} of held regions"
    );
    lab.check_some(&mut mover, &held, place, 4, 50_000)?;
    // While transfers run, regions are cached and evicted.
    for round in 0..lab.rounds {
        let Buffer {
            memory: _mapped,
            region,
        } = Buffer::new(&device, MIB)?;
        drop(region);
        std::fs::write("/proc/sys/vm/drop_caches", "2")?;
        lab.check_some(&mut mover, &held, place, 2, 50_000)
            .with_context(|| format!("round {round}"))?;
    }
    Ok(format!("40 regions in {took:?}"))
}
