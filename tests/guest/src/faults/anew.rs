//! Tests in which a board is started again: nothing from before the start may be taken for something after it.

use super::{bind, come_back, reset, unbind};
use crate::lab::{Buffer, LIMIT, Lab, Mover, told};
use crate::raw;
use anyhow::{Context, Result, bail, ensure};
use peerlane_core::regs::{Completion, StatusCode, chan};
use peerlane_core::uapi::{self, RING_EMPTY, Submit, Wait, map};
use peerlane_guest::{Counters, Fault};
use peerlane_host::{Device, Direction, Error, Queue, Terms};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A process submits without pause while the board is reset. Checks that a descriptor that was refused takes no room in
/// the queue, and frees none.
pub(super) fn submitted_without_pause(lab: &mut Lab) -> Result<String> {
    const BYTES: u32 = 1 << 16;
    let device = lab.open()?;
    let buffer = Buffer::new(&device, BYTES as usize)?;
    let place = lab.place(&device)?;
    // The channels of the others are started after the first one's; that time is the one that matters.
    let others: Vec<Device> = (0..7).map(|_| lab.open()).collect::<Result<_>>()?;
    let done = AtomicBool::new(false);
    let refusals = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let spinner = scope.spawn(|| -> Result<()> {
            let (mut submitted, mut before) = (0_u64, 0);
            while !done.load(Ordering::Relaxed) {
                let mut submit = Submit {
                    handle: buffer.region.handle(),
                    direction: (submitted % 2) as u32,
                    length: BYTES,
                    local: place,
                    ..Default::default()
                };
                match raw::with(&device, uapi::SUBMIT, &mut submit) {
                    Err(Errno::AGAIN) => {
                        refusals.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => bail!("SUBMIT gave {error}"),
                    Ok(()) => {
                        let refused = refusals.load(Ordering::Relaxed);
                        // The end of this transfer would count for all before it.
                        if refused > before {
                            let [writes, reads] = device.query().map_err(told)?.outstanding;
                            ensure!(
                                writes + reads <= 1,
                                "{writes} writes and {reads} reads are under way after {} that were \
                                 refused",
                                refused - before
                            );
                            before = refused;
                        }
                        submitted += 1;
                        let mut wait = Wait {
                            direction: submit.direction,
                            cookie: submit.cookie,
                            deadline_ns: uapi::NEVER,
                            ..Default::default()
                        };
                        while let Err(error) = raw::with(&device, uapi::WAIT, &mut wait) {
                            ensure!(error == Errno::AGAIN, "WAIT gave {error}");
                        }
                    }
                }
            }
            Ok(())
        });
        let begin = Instant::now();
        // Where processors are busy that thread may not have run at any time when the board was away.
        let wanted = |round| {
            let none = refusals.load(Ordering::Relaxed) == 0 && !spinner.is_finished();
            round < lab.rounds || (none && begin.elapsed() < LIMIT / 2)
        };
        let resets = (0..).take_while(|round| wanted(*round)).try_for_each(|_| {
            reset()?;
            std::thread::sleep(std::time::Duration::from_millis(20));
            anyhow::Ok(())
        });
        done.store(true, Ordering::Relaxed);
        match spinner.join() {
            Ok(ended) => ended?,
            Err(_) => bail!("the submitting thread panicked"),
        }
        resets
    })?;
    let refused = refusals.into_inner();
    ensure!(refused > 0, "nothing was refused");
    let outstanding = device.query().map_err(told)?.outstanding;
    ensure!(
        outstanding == [0, 0],
        "{outstanding:?} descriptors are under way that never were ({refused} refused)"
    );
    for direction in Direction::BOTH {
        let region = &buffer.region;
        let submitted = device.submit(direction, region.part(0..64), place, Terms::default());
        submitted
            .and_then(|one| one.wait(Some(LIMIT)))
            .map_err(told)?;
    }
    drop(others);
    Ok(format!("{refused} refused"))
}

/// The FPGA comes back with another block, by itself or with a reset of the function. Checks that the board is given
/// up, that the log names both blocks, and that nothing was written to the unknown block.
pub(super) fn another_block(lab: &mut Lab) -> Result<&'static str> {
    for with_reset in [false, true] {
        let device = lab.open()?;
        let known = device.info().build_id;
        let other = known ^ 0x0100_0001;
        let mut log = Log::from_here()?;
        lab.host.fault(Fault::ConfigureOther { build_id: other })?;
        let before = lab.host.counters()?;
        if with_reset {
            reset()?;
        }
        let begin = Instant::now();
        while device.query().map_err(told)?.state != uapi::state::GONE {
            ensure!(begin.elapsed() < LIMIT, "another block is not found");
            std::thread::sleep(Duration::from_millis(20));
        }
        let expected = format!("BUILD_ID {other:#010x} instead of {known:#010x}");
        ensure!(log.has(&expected)?, "the log has no `{expected}`");
        // Mappings are empty, and calls are refused.
        ensure!(matches!(Device::first(), Err(Error::Open { .. })));
        drop(device);
        let after = lab.host.counters()?;
        let written = |counters: &Counters| [counters.page_writes, counters.other_writes];
        // Before a reset the driver makes the block idle, by some stores. This block is idle already.
        let allowed = match with_reset {
            true => 8,
            false => 0,
        };
        let stores = written(&after).iter().sum::<u64>() - written(&before).iter().sum::<u64>();
        ensure!(stores <= allowed, "{stores} stores to another block");
        // The known block again.
        lab.host.fault(Fault::Configure {})?;
        reset()?;
        let mover = Mover::fast(lab)?;
        let buffer = Buffer::new(mover.device(), 1 << 20)?;
        come_back(lab, mover, buffer)?;
    }
    Ok("")
}

/// The kernel's log, from a given moment on.
pub(super) struct Log(File);

impl Log {
    pub(super) fn from_here() -> Result<Self> {
        let mut file = File::options()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/kmsg")?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// Returns whether a message since then has this text.
    pub(super) fn has(&mut self, text: &str) -> Result<bool> {
        Ok(self.behind(text)?.is_some())
    }

    /// Returns the text that follows `text` in the next message with it. Messages are read one at a time
    /// (Documentation/ABI, dev-kmsg).
    pub(super) fn behind(&mut self, text: &str) -> Result<Option<String>> {
        let mut record = [0; 8192];
        loop {
            match self.0.read(&mut record) {
                Ok(length) => {
                    let message = String::from_utf8_lossy(&record[..length]);
                    if let Some((_, behind)) = message.split_once(text) {
                        return Ok(Some(behind.to_owned()));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                // Messages were overwritten before they were read.
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A mapping of a part of a context's file.
struct View {
    start: *mut u32,
    bytes: usize,
}

impl View {
    fn new(device: &Device, place: u64, bytes: usize, rights: ProtFlags) -> Result<Self> {
        let none = std::ptr::null_mut();
        // SAFETY: a new mapping at a place of the kernel's choice.
        let start = unsafe {
            rustix::mm::mmap(
                none,
                bytes,
                rights,
                MapFlags::SHARED,
                raw::fd(device),
                place,
            )
        };
        let start = start?.cast();
        Ok(Self { start, bytes })
    }

    fn load(&self, dword: usize) -> u32 {
        assert!(dword < self.bytes / 4);
        // SAFETY: a dword of the mapping.
        unsafe { self.start.add(dword).read_volatile() }
    }

    fn store(&self, dword: usize, value: u32) {
        assert!(dword < self.bytes / 4);
        // SAFETY: as above.
        unsafe { self.start.add(dword).write_volatile(value) };
    }

    /// Returns phase and status code of a slot of the ring.
    fn status(&self, slot: usize) -> (bool, Result<StatusCode, u32>) {
        let at = slot * Completion::SIZE + std::mem::offset_of!(Completion, status);
        let record = Completion {
            status: self.load(at / 4),
            ..Default::default()
        };
        (record.status_phase(), record.status_code())
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.bytes) };
    }
}

/// Checks that a process that is on a lap of its ring whose records have phase 0 finds no record in an emptied ring,
/// neither after a start nor after the board was taken away.
pub(super) fn emptied_ring(lab: &mut Lab) -> Result<&'static str> {
    let device = lab.open()?;
    let buffer = Buffer::new(&device, 4096)?;
    let place = lab.place(&device)?;
    let info = *device.info();
    let queue = Queue::new(&device).map_err(told)?;
    let ring = View::new(
        &device,
        map::RING,
        info.ring_bytes as usize,
        ProtFlags::READ,
    )?;
    let slots = 1_usize << info.ring_log2;
    // One lap and a half.
    for index in 0..slots * 3 / 2 {
        let region = &buffer.region;
        let id = queue.submit(Direction::FromFpga, region.part(0..64), place);
        let moved = id.and_then(|id| id.wait(Some(LIMIT))).map_err(told);
        ensure!(moved? == 64, "record {index}");
    }
    ensure!(
        ring.status(0) == (false, Ok(StatusCode::Ok)),
        "not on a second lap"
    );
    let check = || {
        (0..slots).try_for_each(|slot| {
            let status = ring.status(slot);
            ensure!(
                status == (false, Err(RING_EMPTY)),
                "slot {slot} shows {status:?}"
            );
            Ok(())
        })
    };
    reset()?;
    check().context("after a reset")?;
    // A process that has the library gets an error, and can continue.
    let id = queue.submit(Direction::FromFpga, buffer.region.part(0..64), place);
    if let Ok(id) = id {
        let _ = id.wait(Some(LIMIT));
    }
    ensure!(device.query().map_err(told)?.generation != info.generation);
    let rights = ProtFlags::READ | ProtFlags::WRITE;
    let page = View::new(&device, map::PAGE, chan::SIZE, rights)?;
    unbind()?;
    let checked = check()
        .context("after the board was released")
        .and_then(|()| {
            // A store to the page does not appear in the ring.
            (0..chan::SIZE / 4).for_each(|dword| page.store(dword, 0));
            check().context("after stores to the page")
        });
    bind()?;
    checked.map(|()| "")
}
