//! Tests of every ioctl and mapping with the arguments that it must refuse. After each the context still works.

mod mappings;
mod memory;
mod mixed;
mod order;
mod shapes;
mod window;

use crate::lab::{Buffer, Lab, Mover, told};
use crate::raw::{self, Plain};
use crate::suite::{Suite, skip};
use anyhow::{Context, Result, ensure};
use peerlane_core::uapi::{
    self, EventFd, Info, Ioctl, Moderate, Probe, Register, Stop, Submit, Unregister, Wait, access,
    feature, provider, unregister,
};
use peerlane_host::{Device, Memory, Permissions};
use rustix::fd::AsRawFd;
use rustix::io::Errno;

/// Runs the tests of this module.
pub fn run(suite: &mut Suite, lab: &mut Lab) {
    suite.run("ioctls.codes", || with_bench(lab, shapes::codes));
    suite.run("ioctls.lengths", || with_bench(lab, shapes::lengths));
    suite.run("ioctls.reserved", || with_bench(lab, shapes::reserved));
    suite.run("ioctls.info", || with_bench(lab, info));
    suite.run("ioctls.register", || with_bench(lab, register));
    suite.run("ioctls.unregister", || with_bench(lab, unregister_));
    suite.run("ioctls.submit", || with_bench(lab, submit));
    suite.run("ioctls.wait", || with_bench(lab, wait));
    suite.run("ioctls.probe", || with_bench(lab, probe));
    suite.run("ioctls.memory", || with_bench(lab, memory::arguments));
    suite.run("ioctls.memory_lengths", || with_bench(lab, memory::lengths));
    suite.run("ioctls.window", || with_bench(lab, window::arguments));
    suite.run("ioctls.window_mappings", || {
        with_bench(lab, window::mappings)
    });
    suite.run("ioctls.others", || with_bench(lab, others));
    suite.run("ioctls.mappings", || with_bench(lab, mappings::mappings));
    suite.run("ioctls.one_writer", || mappings::one_writer(lab));
    suite.run("ioctls.no_writer_yet", || mappings::no_writer_yet(lab));
    suite.run("ioctls.stop_and_submit", || order::stop_and_submit(lab));
    suite.run("ioctls.stop_wakes", || order::stop_wakes(lab));
    suite.run("ioctls.held_back", || order::held_back(lab));
    suite.run("ioctls.time_namespace", || order::time_namespace(lab));
    suite.run("ioctls.told_before_doorbells", || {
        order::told_before_doorbells(lab)
    });
    suite.run("ioctls.untold_events", || order::untold_events(lab));
    suite.run("ioctls.wait_is_restarted", || order::wait_is_restarted(lab));
    suite.run("ioctls.ends_are_submitted_once", || {
        order::ends_are_submitted_once(lab)
    });
    suite.run("ioctls.channels", || channels(lab));
    suite.run("ioctls.quota", || quota(lab));
    suite.run("ioctls.mixed", || mixed::mixed(lab));
}

/// A context with memory registered.
struct Bench {
    device: Device,
    buffer: Buffer,
    place: u64,
}

/// Runs a test, and then checks that the context still works.
fn with_bench(lab: &mut Lab, test: fn(&Bench) -> Result<()>) -> Result<&'static str> {
    let device = lab.open()?;
    let bench = Bench {
        buffer: Buffer::new(&device, 1 << 16)?,
        place: lab.place(&device)?,
        device,
    };
    test(&bench)?;
    let mut mover = Mover::Slow(bench.device.clone());
    lab.check_some(&mut mover, &bench.buffer, bench.place, 2, 5000)
        .context("the context does not work any more")?;
    Ok("")
}

/// Checks that an ioctl is refused with this error, and that it writes nothing back.
fn refuse<T: Plain + Default + std::fmt::Debug>(
    bench: &Bench,
    ioctl: Ioctl,
    argument: T,
    error: Errno,
) -> Result<()> {
    let mut bytes = raw::bytes(&argument);
    let result = raw::call(&bench.device, ioctl, &mut bytes);
    ensure!(
        result == Err(error),
        "{argument:?} gave {result:?}, not {error}"
    );
    ensure!(
        bytes == raw::bytes(&argument),
        "{argument:?} was refused and written to"
    );
    Ok(())
}

fn good_register(bench: &Bench) -> Register {
    raw::page(&bench.buffer.memory, access::READ | access::WRITE)
}

fn good_submit(bench: &Bench) -> Submit {
    Submit {
        handle: bench.buffer.region.handle(),
        length: 64,
        local: bench.place,
        ..Default::default()
    }
}

fn good_probe(bench: &Bench) -> Probe {
    Probe {
        handle: bench.buffer.region.handle(),
        local: bench.place,
        ..Default::default()
    }
}

fn info(bench: &Bench) -> Result<()> {
    for version in [uapi::VERSION + 1, u32::MAX] {
        let info = Info {
            version,
            ..Default::default()
        };
        refuse(bench, uapi::INFO, info, Errno::PROTO)?;
    }
    let ask = |version, required| {
        let mut info = Info {
            version,
            required,
            ..Default::default()
        };
        raw::with(&bench.device, uapi::INFO, &mut info).map(|()| info)
    };
    // A caller that asks for the version gets it, and so does a caller that names any version in between.
    for version in std::iter::once(0).chain(uapi::OLDEST..=uapi::VERSION) {
        let info = ask(version, 0)?;
        ensure!(
            (info.oldest, info.version) == (uapi::OLDEST, uapi::VERSION),
            "versions {} to {}",
            info.oldest,
            info.version
        );
    }
    let info = bench.device.info();
    let always = feature::HOST | feature::DMABUF | feature::SUBMIT | feature::PAGE | feature::PROBE;
    ensure!(
        info.features & always == always,
        "features {:#x}",
        info.features
    );
    let capabilities = bench.device.capabilities();
    for (there, feature) in [
        (info.window_bytes > 0, feature::WINDOW),
        (capabilities.msix, feature::MSIX),
        (capabilities.tagged, feature::TAGGED_READS),
        (!capabilities.tagged, feature::PROVED_PEERS),
    ] {
        ensure!(
            bench.device.has(feature) == there,
            "feature {feature:#x} is reported, or not reported, wrongly: {:#x}",
            info.features
        );
    }
    // A caller may require all features that the driver has, and no others.
    ensure!(ask(uapi::VERSION, info.features)?.required == info.features);
    for bit in (0..64).map(|bit| 1 << bit) {
        let answer = ask(uapi::VERSION, bit).map(|info| info.features & bit);
        let expected = match info.features & bit {
            0 => Err(Errno::OPNOTSUPP),
            there => Ok(there),
        };
        // NVIDIA's driver may be loaded at any time.
        ensure!(
            answer == expected || bit == feature::NVIDIA,
            "feature {bit:#x} gave {answer:?}"
        );
    }
    ensure!(
        info.reserved == 0 && info.reserved0 == 0,
        "reserved fields are not zero"
    );
    ensure!(
        info.local_base == info.local_end,
        "FPGA memory from the start"
    );
    ensure!(info.page_bytes == 4096, "{} bytes of page", info.page_bytes);
    let records = 32u64 << info.ring_log2;
    ensure!(info.ring_bytes >= records, "the ring is too short");
    Ok(())
}

fn register(bench: &Bench) -> Result<()> {
    let good = good_register(bench);
    let refuse = |register: Register, error| refuse(bench, uapi::REGISTER, register, error);
    for access in [0, 4, 7, u32::MAX] {
        refuse(Register { access, ..good }, Errno::INVAL)?;
    }
    refuse(Register { length: 0, ..good }, Errno::INVAL)?;
    refuse(Register { flags: 4, ..good }, Errno::INVAL)?;
    refuse(Register { fd: 0, ..good }, Errno::INVAL)?;
    for provider in [3, 31, u32::MAX] {
        refuse(Register { provider, ..good }, Errno::OPNOTSUPP)?;
    }
    // Memory that is not mapped, not writable, not the process's, or at no address.
    let hole = peerlane_host::Memory::new(8192)?;
    let address = hole.address();
    drop(hole);
    refuse(Register { address, ..good }, Errno::FAULT)?;
    refuse(Register { address: 0, ..good }, Errno::FAULT)?;
    let text = run as *const () as u64;
    refuse(
        Register {
            address: text,
            ..good
        },
        Errno::FAULT,
    )?;
    let kernel = 0xffff_8880_0000_0000;
    refuse(
        Register {
            address: kernel,
            ..good
        },
        Errno::FAULT,
    )?;
    let address = u64::MAX - 100;
    refuse(Register { address, ..good }, Errno::OVERFLOW)?;
    for length in [u64::MAX, 1 << 63, 1 << 46] {
        let result = raw::with(
            &bench.device,
            uapi::REGISTER,
            &mut Register { length, ..good },
        );
        ensure!(result.is_err(), "{length:#x} bytes were registered");
    }
    // Files that are not dma-bufs.
    let dmabuf = Register {
        provider: provider::DMABUF,
        address: 0,
        ..good
    };
    refuse(dmabuf, Errno::BADF)?;
    refuse(Register { fd: 9999, ..dmabuf }, Errno::BADF)?;
    let null = std::fs::File::open("/dev/null")?;
    let fd = null.as_raw_fd();
    refuse(Register { fd, ..dmabuf }, Errno::INVAL)?;
    // The context's own file is not a dma-buf either.
    let fd = bench.device.file().expect("a device node").as_raw_fd();
    refuse(Register { fd, ..dmabuf }, Errno::INVAL)?;
    let query = bench.device.query().map_err(told)?;
    ensure!(query.regions == [1, 0], "regions are left over: {query:?}");
    Ok(())
}

fn unregister_(bench: &Bench) -> Result<()> {
    let refuse =
        |handle, flags, error| refuse(bench, uapi::UNREGISTER, Unregister { handle, flags }, error);
    let handle = bench.buffer.region.handle();
    for unknown in [0, handle + 1, u32::MAX] {
        refuse(unknown, 0, Errno::NOENT)?;
        refuse(unknown, unregister::KEEP, Errno::NOENT)?;
    }
    for flags in [2, 3, 1 << 31] {
        refuse(handle, flags, Errno::INVAL)?;
    }
    let mut register = good_register(bench);
    raw::with(&bench.device, uapi::REGISTER, &mut register)?;
    ensure!(
        register.handle != 0 && register.handle != handle,
        "handle {}",
        register.handle
    );
    let handle = register.handle;
    raw::with(
        &bench.device,
        uapi::UNREGISTER,
        &mut Unregister { handle, flags: 0 },
    )?;
    refuse(handle, 0, Errno::NOENT)
}

fn submit(bench: &Bench) -> Result<()> {
    let good = good_submit(bench);
    let refuse = |submit: Submit, error| refuse(bench, uapi::SUBMIT, submit, error);
    for direction in [2, u32::MAX] {
        refuse(Submit { direction, ..good }, Errno::INVAL)?;
    }
    for flags in [8, 16, 1 << 31] {
        refuse(Submit { flags, ..good }, Errno::INVAL)?;
    }
    for handle in [0, good.handle + 1, u32::MAX] {
        refuse(Submit { handle, ..good }, Errno::NOENT)?;
    }
    let region = bench.buffer.region.length();
    refuse(Submit { length: 0, ..good }, Errno::INVAL)?;
    let length = u32::try_from(region)? + 1;
    refuse(Submit { length, ..good }, Errno::INVAL)?;
    for offset in [region, region - 63, u64::MAX, u64::MAX - 63] {
        refuse(Submit { offset, ..good }, Errno::INVAL)?;
    }
    let end = bench.device.range().end;
    for local in [end, end - 63, u64::MAX, u64::MAX - 63] {
        refuse(Submit { local, ..good }, Errno::INVAL)?;
    }
    // Permissions, for both directions.
    for (permissions, direction) in [(Permissions::Read, 0), (Permissions::Write, 1)] {
        let memory = &bench.buffer.memory;
        let region = bench
            .device
            .register(memory, 0..4096, permissions)
            .map_err(told)?;
        let handle = region.handle();
        refuse(
            Submit {
                handle,
                direction,
                ..good
            },
            Errno::INVAL,
        )?;
        region.forget().map_err(told)?;
        refuse(
            Submit {
                handle,
                direction,
                ..good
            },
            Errno::NOENT,
        )?;
    }
    Ok(())
}

fn wait(bench: &Bench) -> Result<()> {
    let none = Wait {
        deadline_ns: uapi::NEVER,
        ..Default::default()
    };
    let refuse = |wait: Wait, error| refuse(bench, uapi::WAIT, wait, error);
    for cookie in [0, 7, u32::MAX] {
        refuse(Wait { cookie, ..none }, Errno::NOENT)?;
    }
    for direction in [2, u32::MAX] {
        refuse(Wait { direction, ..none }, Errno::INVAL)?;
    }
    let mut submit = good_submit(bench);
    raw::with(&bench.device, uapi::SUBMIT, &mut submit)?;
    let cookie = submit.cookie;
    // The other direction has no such descriptor.
    refuse(
        Wait {
            cookie,
            direction: 1,
            ..none
        },
        Errno::NOENT,
    )?;
    for deadline_ns in [-1, i64::MIN] {
        let wait = Wait {
            cookie,
            deadline_ns,
            ..none
        };
        refuse(wait, Errno::INVAL)?;
    }
    let mut ended = Wait { cookie, ..none };
    raw::with(&bench.device, uapi::WAIT, &mut ended)?;
    ensure!((ended.status, ended.bytes_done) == (0, 64), "{ended:?}");
    // The same end may be asked for again, without waiting.
    let mut again = Wait {
        cookie,
        ..Default::default()
    };
    raw::with(&bench.device, uapi::WAIT, &mut again)?;
    ensure!(again.bytes_done == 64, "{again:?}");
    Ok(())
}

fn probe(bench: &Bench) -> Result<()> {
    let good = good_probe(bench);
    let refuse = |probe: Probe, error| refuse(bench, uapi::PROBE, probe, error);
    refuse(Probe { handle: 0, ..good }, Errno::NOENT)?;
    let end = bench.buffer.region.length();
    for offset in [end, end - 63, u64::MAX] {
        refuse(Probe { offset, ..good }, Errno::INVAL)?;
    }
    let end = bench.device.range().end;
    for local in [end, end - 63, u64::MAX] {
        refuse(Probe { local, ..good }, Errno::INVAL)?;
    }
    Ok(())
}

fn others(bench: &Bench) -> Result<()> {
    let eventfd = |fd, flags, error| refuse(bench, uapi::EVENTFD, EventFd { fd, flags }, error);
    eventfd(-1, 1, Errno::INVAL)?;
    eventfd(-2, 0, Errno::BADF)?;
    eventfd(9999, 0, Errno::BADF)?;
    let null = std::fs::File::open("/dev/null")?;
    eventfd(null.as_raw_fd(), 0, Errno::INVAL)?;
    for (count, age) in [(256, 0), (u32::MAX, 0), (0, 1 << 16), (0, u32::MAX)] {
        let moderate = Moderate { count, age };
        let result = raw::with(&bench.device, uapi::MODERATE, &mut moderate.clone());
        ensure!(
            matches!(result, Err(Errno::RANGE | Errno::INVAL)),
            "{moderate:?} gave {result:?}"
        );
    }
    let stop = |deadline_ns| Stop {
        deadline_ns,
        ..Default::default()
    };
    refuse(bench, uapi::STOP, stop(-1), Errno::INVAL)?;
    // Without a time limit, as a user may mean it.
    let mut stop = stop(uapi::NEVER);
    raw::with(&bench.device, uapi::STOP, &mut stop)?;
    ensure!(
        stop.aborted == 0,
        "nothing was under way, and something was aborted"
    );
    Ok(())
}

/// Checks that there are as many contexts as channels, and no more, and that each works.
fn channels(lab: &mut Lab) -> Result<&'static str> {
    let first = lab.open()?;
    let count = first.capabilities().channels as usize;
    let mut devices = vec![first];
    while devices.len() < count {
        devices.push(lab.open()?);
    }
    let mut numbers: Vec<_> = devices.iter().map(|one| one.info().channel).collect();
    numbers.sort_unstable();
    numbers.dedup();
    ensure!(
        numbers.len() == count,
        "channels are given out twice: {numbers:?}"
    );
    match Device::first() {
        Err(peerlane_host::Error::Open {
            source: Errno::BUSY,
            ..
        }) => {}
        other => anyhow::bail!("one context too many: {other:?}"),
    }
    for device in &devices {
        let place = lab.place(device)?;
        let buffer = Buffer::new(device, 1 << 16)?;
        let mut mover = Mover::Slow(device.clone());
        lab.check_some(&mut mover, &buffer, place, 2, 5000)?;
    }
    // After one is closed, another can be opened.
    devices.pop();
    lab.open()?;
    Ok("")
}

/// Checks that a context cannot have more ATT entries than its quota, and that another context has its own quota.
fn quota(lab: &mut Lab) -> Result<String> {
    let parameters = std::env::var("PEERLANE_PARAMETERS").unwrap_or_default();
    let quota = parameters
        .split(' ')
        .find_map(|parameter| parameter.strip_prefix("context_entries="));
    let Some(quota) = quota else {
        return skip("the driver was loaded without a quota");
    };
    let quota: usize = quota.parse()?;
    let memory = Memory::new(4096)?;
    let register = |device: &Device| device.register(&memory, 0..4096, Permissions::Write);
    let [greedy, other] = [lab.open()?, lab.open()?];
    let mut regions = (0..quota)
        .map(|_| register(&greedy))
        .collect::<peerlane_host::Result<Vec<_>>>()
        .map_err(told)?;
    match register(&greedy) {
        Err(peerlane_host::Error::Call {
            source: Errno::DQUOT,
            ..
        }) => {}
        more => anyhow::bail!("region {quota} of {quota}: {more:?}"),
    }
    register(&other).map_err(told)?;
    // A region that is unregistered makes room, even if it is cached.
    regions.pop();
    let half = greedy.register(&memory, 0..2048, Permissions::Write);
    half.map_err(told)?;
    drop(regions);
    // A region that needs more entries never fits: the answer is the same for each attempt, and the memory is not
    // pinned if its length alone shows that.
    let most = greedy.info().most_entries;
    ensure!(most == quota as u64, "the driver reports {most} entries");
    let large = crate::kept::scattered(quota + 1)?;
    let never = |length: u64| {
        // SAFETY: nothing is registered.
        let refused =
            unsafe { greedy.register_address(large.address(), length, Permissions::Write) };
        match refused {
            Err(peerlane_host::Error::TooLarge { entries, most, .. }) => Ok((entries, most)),
            other => Err(anyhow::anyhow!("{length} bytes: {other:?}")),
        }
    };
    for _ in 0..3 {
        ensure!(
            never(large.length() as u64)? == (quota as u64 + 1, quota as u64),
            "other numbers"
        );
    }
    ensure!(
        never((quota as u64 + 1) << 21)?.0 == quota as u64 + 1,
        "another number"
    );
    greedy
        .register(&large, 0..quota * 4096, Permissions::Write)
        .map_err(told)?;
    Ok(format!("{quota} entries"))
}
