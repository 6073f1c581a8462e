//! A process that moves data to the board and back, through all events that happen to the board.

use crate::lab::{Buffer, Lab, Mover, same, told};
use crate::process::{Child, fork};
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::fault::Fault;
use peerlane_guest::pattern;
use peerlane_host::{Direction, Error, Memory};
use rand::Rng;
use rustix::io::Errno;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// FPGA memory of a worker: little, because it opens the board often.
const PLACE: u64 = 512 << 10;

/// Longest time that the board may be away.
const AWAY: Duration = Duration::from_secs(60);

/// Longest time that a transfer may take when an event happens to the board. The block's time-outs bound it.
const BOUND: Duration = Duration::from_secs(60);

/// A count that processes share.
pub struct Count(Memory);

impl Count {
    /// Makes a count of zero.
    pub fn new() -> Result<Self> {
        let file = rustix::fs::memfd_create("count", rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, 4096)?;
        Ok(Self(Memory::shared(&file, 4096)?))
    }

    /// Returns the counter.
    pub fn get(&self) -> &AtomicU64 {
        // SAFETY: aligned, mapped as long as `self`, and used by atomics only.
        unsafe { AtomicU64::from_ptr(self.0.address() as *mut u64) }
    }
}

/// The process, and the count of its round trips.
pub struct Worker {
    child: Child,
    good: Count,
}

/// Returns whether a transfer may end with this error when an event happens to the board.
pub fn is_expected(error: &Error) -> bool {
    match error {
        Error::Gone | Error::Restarted | Error::None => true,
        // The node may exist before the board does, or may not have been removed yet; while the board is being reset it
        // cannot be opened.
        Error::Open { source, .. } => {
            let passing = [
                Errno::NODEV,
                Errno::NOENT,
                Errno::NXIO,
                Errno::IO,
                Errno::AGAIN,
            ];
            passing.contains(source)
        }
        Error::Identity { .. } => true,
        Error::Call { source, .. } => {
            matches!(*source, Errno::IO | Errno::NODEV | Errno::AGAIN)
        }
        // FPGA memory cannot be filled while the board is away.
        Error::Memory { source, .. } => matches!(*source, Errno::IO | Errno::AGAIN),
        Error::Fault { fault, .. } => matches!(
            fault,
            Fault::Aborted
                | Fault::PortDown
                | Fault::ReadTimeout
                | Fault::Flush
                | Fault::Unsupported
                | Fault::CompleterAbort
                | Fault::Poisoned
        ),
        _ => false,
    }
}

/// Moves a pattern to the board and back, and compares.
pub fn round_trip(
    lab: &mut Lab,
    mover: &mut Mover,
    buffer: &Buffer,
    place: u64,
    length: usize,
) -> Result<Result<(), Error>> {
    let half = buffer.memory.length() / 2;
    ensure!(length <= half, "the buffer is too small");
    let mut bytes = vec![0; length];
    pattern(lab.rng.random(), &mut bytes);
    buffer.memory.write(0, &bytes)?;
    buffer.memory.write(half, &vec![0; length])?;
    let region = &buffer.region;
    for (direction, offset) in [(Direction::ToFpga, 0), (Direction::FromFpga, half)] {
        match mover.attempt(direction, region, offset, place, length, BOUND) {
            Ok(moved) => ensure!(moved == length as u64, "{moved} bytes of {length}"),
            Err(error) => return Ok(Err(error)),
        }
    }
    let mut found = vec![0; length];
    buffer.memory.read(half, &mut found)?;
    same(&bytes, &found, half)?;
    Ok(Ok(()))
}

fn work(lab: &mut Lab, slow: bool, good: &AtomicU64) -> Result<()> {
    let mut since = Instant::now();
    loop {
        let made = if slow {
            Mover::slow(lab)
        } else {
            Mover::fast_with(lab, PLACE)
        };
        let opened = made.and_then(|mover| {
            let buffer = Buffer::new(mover.device(), 512 << 10)?;
            let place = lab.place_of(mover.device(), PLACE)?;
            Ok((mover, buffer, place))
        });
        let (mut mover, buffer, place) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let expected = error.downcast_ref::<Error>().is_some_and(is_expected);
                ensure!(expected && since.elapsed() < AWAY, "{error:#}");
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
        };
        loop {
            let length = lab.rng.random_range(1..256 << 10);
            match round_trip(lab, &mut mover, &buffer, place, length)? {
                Ok(()) => {
                    since = Instant::now();
                    good.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) if !is_expected(&error) => return Err(told(error)),
                Err(error) if since.elapsed() > AWAY => {
                    return Err(told(error)).context("the board does not come back");
                }
                Err(Error::Gone) => break,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Worker {
    /// Starts a worker on a context of its own.
    pub fn start(lab: &mut Lab, slow: bool) -> Result<Self> {
        let good = Count::new()?;
        let mut branch = lab.branch();
        let shared = &good;
        let child = fork("worker", move || work(&mut branch, slow, shared.get()))?;
        Ok(Self { child, good })
    }

    /// Waits until the worker has made more round trips.
    pub fn progress(&mut self) -> Result<()> {
        let begin = Instant::now();
        let target = self.good.get().load(Ordering::Relaxed) + 2;
        while self.good.get().load(Ordering::Relaxed) < target {
            if let Some(status) = self.child.wait_for(Duration::ZERO)? {
                bail!("the worker has ended, see above: {status:?}");
            }
            ensure!(begin.elapsed() < AWAY + BOUND, "the worker does not go on");
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Returns the number of round trips so far.
    pub fn count(&self) -> u64 {
        self.good.get().load(Ordering::Relaxed)
    }

    /// Ends the worker.
    pub fn stop(self) -> Result<u64> {
        let count = self.count();
        self.child.kill()?;
        Ok(count)
    }
}
