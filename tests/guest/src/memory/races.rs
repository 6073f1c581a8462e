//! Tests of processes that share one context and do everything at once, next to a process that has secrets.

use super::GRANULE;
use crate::lab::{Buffer, LIMIT, Lab, Mover, told};
use crate::process::{Child, fork};
use crate::raw;
use crate::window::Mapped;
use crate::worker::Count;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{self, Allocate, Free, Info, Submit, Wait, map, window};
use peerlane_host::{Device, Direction};
use rand::Rng;
use rustix::mm::{MapFlags, ProtFlags};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Every byte of the secret. No other process stores it.
const SECRET: u8 = 0xc3;

/// Bytes of each allocation: as many as the owner of secrets fills with them.
const BYTES: u64 = 2 * GRANULE;

/// Duration of a round.
const WHILE: Duration = Duration::from_secs(5);

/// Races `ALLOCATE`, `FREE`, `SUBMIT`, the window and the channel page on one file. Checks that earlier content of the
/// memory is never visible.
pub fn races(lab: &mut Lab) -> Result<String> {
    let [allocated, planted, read] = [Count::new()?, Count::new()?, Count::new()?];
    for round in 0..lab.rounds.min(4) {
        let device = lab.open()?;
        let buffer = Buffer::new(&device, 4096)?;
        let end = Instant::now() + WHILE;
        let mut children = vec![
            spawn("planter", end, {
                let branch = lab.branch();
                let (planted, mut made) = (&planted, None);
                move || {
                    let (mover, secret) = match &mut made {
                        Some(made) => made,
                        made => made.insert(secrets(&branch)?),
                    };
                    plant(mover, secret)?;
                    planted.get().fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }
            })?,
            spawn("allocator", end, || {
                let mut argument = Allocate {
                    bytes: BYTES,
                    ..Default::default()
                };
                // The context may have memory already, or another process may be allocating.
                if raw::with(&device, uapi::ALLOCATE, &mut argument).is_ok() {
                    allocated.get().fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            })?,
            spawn("freer", end, || {
                let _ = raw::with(&device, uapi::FREE, &mut Free::default());
                std::thread::sleep(Duration::from_millis(1));
                Ok(())
            })?,
            spawn("reader", end, {
                let mut lab = lab.branch();
                let (device, buffer, read) = (&device, &buffer, &read);
                move || {
                    if look_by_transfer(&mut lab, device, buffer)? {
                        read.get().fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                }
            })?,
            spawn("looker", end, || look_through_window(&device))?,
        ];
        if round % 2 == 1 {
            let late = Instant::now() + WHILE / 2;
            children.push(spawn("mapper", end, || {
                if Instant::now() > late {
                    map_page(&device);
                }
                Ok(())
            })?);
        }
        children.into_iter().try_for_each(Child::wait)?;
    }
    let [allocated, planted, read] =
        [allocated, planted, read].map(|count| count.get().load(Ordering::Relaxed));
    ensure!(
        allocated > 0 && planted > 0 && read > 0,
        "{allocated} allocations, {planted} secrets, {read} looks"
    );
    Ok(format!(
        "{allocated} allocations, {planted} secrets, {read} looks"
    ))
}

/// Starts a process that repeats an action until `end`.
fn spawn(what: &'static str, end: Instant, mut run: impl FnMut() -> Result<()>) -> Result<Child> {
    fork(what, move || {
        while Instant::now() < end {
            run()?;
        }
        Ok(())
    })
}

/// Opens a context, and makes memory full of secrets.
fn secrets(lab: &Lab) -> Result<(Mover, Buffer)> {
    let mover = Mover::slow(lab)?;
    let secret = Buffer::new(mover.device(), BYTES as usize)?;
    secret.memory.write(0, &[SECRET; BYTES as usize])?;
    Ok((mover, secret))
}

/// Stores the secrets in FPGA memory, and frees that memory.
fn plant(mover: &mut Mover, secret: &Buffer) -> Result<()> {
    let memory = mover.device().allocate(BYTES).map_err(told)?;
    let region = &secret.region;
    mover.transfer(Direction::ToFpga, region, 0, memory.base(), BYTES as usize)?;
    memory.free().map_err(told)
}

/// Returns the base of the context's memory at the moment, if it has any.
fn base(device: &Device) -> Result<Option<u64>> {
    let mut info = Info {
        version: uapi::VERSION,
        ..Default::default()
    };
    raw::with(device, uapi::INFO, &mut info)?;
    Ok((info.local_base < info.local_end).then_some(info.local_base))
}

/// Makes the board copy some of the context's memory, and looks at the copy. Returns whether the copy was possible.
fn look_by_transfer(lab: &mut Lab, device: &Device, buffer: &Buffer) -> Result<bool> {
    // A place at which the memory is, was, or will be.
    let Some(base) = base(device)? else {
        return Ok(false);
    };
    let mut submit = Submit {
        handle: buffer.region.handle(),
        length: 256,
        local: base + lab.rng.random_range(0..BYTES - 256),
        ..Default::default()
    };
    if raw::with(device, uapi::SUBMIT, &mut submit).is_err() {
        return Ok(false);
    }
    let mut wait = Wait {
        cookie: submit.cookie,
        deadline_ns: peerlane_host::deadline(Some(LIMIT)),
        ..Default::default()
    };
    if raw::with(device, uapi::WAIT, &mut wait).is_err() {
        return Ok(false);
    }
    let mut bytes = [0; 256];
    buffer.memory.read(0, &mut bytes)?;
    ensure!(
        !bytes.contains(&SECRET),
        "a transfer from {:#x} has shown the secret, status {}",
        submit.local,
        wait.status
    );
    Ok(wait.status == 0)
}

/// Takes the window, looks through it, and releases it.
fn look_through_window(device: &Device) -> Result<()> {
    let Some(base) = base(device)? else {
        return Ok(());
    };
    let mut hold = uapi::Window {
        base,
        ..Default::default()
    };
    if raw::with(device, uapi::WINDOW, &mut hold).is_err() {
        return Ok(());
    }
    if let Ok(mapped) = Mapped::new(device) {
        for word in (0..Mapped::WORDS).step_by(1021) {
            let bytes = mapped.load(word).to_ne_bytes();
            ensure!(
                !bytes.contains(&SECRET),
                "the window at {base:#x} shows the secret"
            );
        }
    }
    let mut release = uapi::Window {
        flags: window::RELEASE,
        ..Default::default()
    };
    let _ = raw::with(device, uapi::WINDOW, &mut release);
    std::thread::sleep(Duration::from_millis(3));
    Ok(())
}

/// Maps the channel's page, if possible.
fn map_page(device: &Device) {
    let write = ProtFlags::READ | ProtFlags::WRITE;
    let (none, flags) = (std::ptr::null_mut(), MapFlags::SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice.
    let _ = unsafe { rustix::mm::mmap(none, 4096, write, flags, raw::fd(device), map::PAGE) };
    std::thread::sleep(Duration::from_millis(1));
}
