//! Tests in which a region is unregistered while another thread submits descriptors for it.

use crate::lab::{Lab, same};
use crate::raw;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{self, access};
use peerlane_host::{Device, Memory};
use rand::Rng;
use rustix::io::Errno;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PAGE: usize = 4096;
const ROUNDS: u32 = 200;
const LENGTH: u32 = 64;

fn register(device: &Device, memory: &Memory, page: usize) -> Result<u32, Errno> {
    let mut argument = raw::page(memory, access::READ | access::WRITE);
    argument.address += (page * PAGE) as u64;
    raw::with(device, uapi::REGISTER, &mut argument)?;
    Ok(argument.handle)
}

fn unregister(device: &Device, handle: u32) -> Result<(), Errno> {
    let mut argument = uapi::Unregister {
        handle,
        ..Default::default()
    };
    raw::with(device, uapi::UNREGISTER, &mut argument)
}

/// Submits writes to a region until the region is unregistered. Returns the number of writes that the driver accepted,
/// and the last one's cookie.
fn submit_all(
    device: &Device,
    handle: u32,
    local: u64,
    begun: &AtomicBool,
) -> Result<(u32, Option<u32>), Errno> {
    let (mut count, mut last) = (0, None);
    loop {
        let mut argument = uapi::Submit {
            handle,
            length: LENGTH,
            local,
            ..Default::default()
        };
        match raw::with(device, uapi::SUBMIT, &mut argument) {
            Ok(()) => {
                count += 1;
                last = Some(argument.cookie);
                begun.store(true, Ordering::Relaxed);
            }
            Err(Errno::AGAIN) => std::thread::yield_now(),
            Err(Errno::NOENT | Errno::STALE) => return Ok((count, last)),
            Err(other) => return Err(other),
        }
    }
}

/// Checks that a descriptor that a thread submits for a region never goes to the region that is registered next, which
/// may have the same entries.
pub(super) fn while_given_back(lab: &mut Lab) -> Result<String> {
    let device = lab.open()?;
    let local = lab.place_of(&device, 64 << 10)?;
    lab.host.fpga_write(local, 99, LENGTH.into())?;
    let memory = Memory::new(2 * PAGE)?;
    let zeros = vec![0; PAGE];
    let mut submitted = 0;
    for _ in 0..ROUNDS {
        let first = register(&device, &memory, 0)?;
        let begun = AtomicBool::new(false);
        let wait = Duration::from_micros(lab.rng.random_range(0..2000));
        let (taken, second) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| submit_all(&device, first, local, &begun));
            while !begun.load(Ordering::Relaxed) && !writer.is_finished() {
                std::thread::yield_now();
            }
            std::thread::sleep(wait);
            let second = unregister(&device, first).and_then(|()| register(&device, &memory, 1));
            (writer.join(), second)
        });
        let second = second?;
        let taken = taken.map_err(|_| anyhow::anyhow!("the thread panicked"))?;
        let (count, last) = taken?;
        submitted += count;
        if let Some(cookie) = last {
            let mut argument = uapi::Wait {
                cookie,
                deadline_ns: uapi::NEVER,
                ..Default::default()
            };
            // The driver may have dropped its end since, as one of the oldest.
            let waited = raw::with(&device, uapi::WAIT, &mut argument);
            ensure!(matches!(waited, Ok(()) | Err(Errno::NOENT)), "{waited:?}");
        }
        let mut found = vec![0; PAGE];
        memory.read(PAGE, &mut found)?;
        same(&zeros, &found, PAGE)?;
        unregister(&device, second)?;
    }
    Ok(format!("{submitted} descriptors in {ROUNDS} rounds"))
}
