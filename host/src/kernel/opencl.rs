//! The OpenCL side of a board, through the kernel's driver.

use super::Node;
use crate::error::{Error, Result};
use crate::opencl::{Area, OpenCl, Packing, check_area};
use crate::sys::{self, Process};
use peerlane_core::uapi;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// The OpenCL side, held by the context of an open file.
#[derive(Debug)]
pub(crate) struct Side {
    file: OwnedFd,
    /// Size of each area, by its number.
    bytes: [u64; 5],
    /// An eventfd to which the kernels' interrupts add.
    interrupts: OwnedFd,
    /// An eventfd to which [`OpenCl::wake`] adds.
    woken: OwnedFd,
    process: Process,
}

impl Node {
    /// Takes the OpenCL side of the board.
    pub(super) fn take_open_cl(&self) -> Result<Side> {
        let counter = || {
            let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
            rustix::event::eventfd(0, flags)
        };
        let made = || -> rustix::io::Result<_> {
            Ok((
                rustix::io::fcntl_dupfd_cloexec(&self.file, 0)?,
                counter()?,
                counter()?,
            ))
        };
        let (file, interrupts, woken) = made().map_err(|source| Error::call("eventfd", source))?;
        let mut taken = uapi::OpenCl {
            fd: interrupts.as_raw_fd(),
            ..Default::default()
        };
        self.try_call(&mut taken).map_err(Error::opencl)?;
        let [kernels, clock, version, temperature] = taken.bytes;
        let bytes = [kernels, clock, version, temperature, taken.status_bytes];
        Ok(Side {
            file,
            bytes,
            interrupts,
            woken,
            process: Process::current(),
        })
    }
}

/// Returns the number of an area in the driver's interface.
fn number(area: Area) -> u32 {
    match area {
        Area::Kernels => uapi::area::KERNELS,
        Area::Clock => uapi::area::CLOCK,
        Area::Version => uapi::area::VERSION,
        Area::Temperature => uapi::area::TEMPERATURE,
        Area::Status => uapi::area::STATUS,
    }
}

/// Resets a counter. Returns whether it was not 0.
fn take(counter: &OwnedFd) -> bool {
    rustix::io::read(counter, &mut [0; 8]).is_ok()
}

impl Side {
    fn call<T: sys::Argument>(&self, argument: &mut T) -> Result<()> {
        sys::call(&self.file, argument).map_err(|source| Error::call(T::NAME, source))
    }

    /// Reads or writes bytes of an area, as many at once as the driver takes.
    fn access(
        &self,
        area: Area,
        offset: u64,
        bytes: usize,
        address: *mut u8,
        flags: u32,
    ) -> Result<()> {
        check_area(area, self.bytes(area), offset, bytes)?;
        for done in (0..bytes).step_by(uapi::ACCESS_BYTES) {
            let length = (bytes - done).min(uapi::ACCESS_BYTES);
            self.call(&mut uapi::Access {
                area: number(area),
                flags,
                offset: offset + done as u64,
                address: address.wrapping_add(done) as u64,
                length: length as u32,
                reserved: 0,
            })?;
        }
        Ok(())
    }

    fn program(&self, flags: u32) -> Result<()> {
        self.call(&mut uapi::Reprogram { flags, reserved: 0 })
    }

    /// Returns the present description of driver and board.
    fn info(&self) -> Result<uapi::Info> {
        let mut info = uapi::Info {
            version: uapi::VERSION,
            ..Default::default()
        };
        self.call(&mut info).map(|()| info)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // A child's copy is the parent's.
        if self.process == Process::current() {
            // A board that is gone has nothing to release.
            let _ = self.call(&mut uapi::OpenCl {
                flags: uapi::opencl::RELEASE,
                fd: -1,
                ..Default::default()
            });
        }
    }
}

impl OpenCl for Side {
    fn bytes(&self, area: Area) -> u64 {
        self.bytes[number(area) as usize]
    }

    fn read(&self, area: Area, offset: u64, data: &mut [u8]) -> Result<()> {
        // The driver writes this many bytes there.
        self.access(area, offset, data.len(), data.as_mut_ptr(), 0)
    }

    fn write(&self, area: Area, offset: u64, data: &[u8]) -> Result<()> {
        // The driver only reads them.
        let address = data.as_ptr().cast_mut();
        self.access(area, offset, data.len(), address, uapi::access_flags::WRITE)
    }

    fn arm(&self) -> Result<()> {
        self.call(&mut uapi::Arm::default())
    }

    fn wait(&self, limit: Option<Duration>) -> Result<bool> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            if take(&self.interrupts) {
                return Ok(true);
            }
            if take(&self.woken) {
                return Ok(false);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            // The file is only polled for the end of the board.
            let mut files = [
                PollFd::new(&self.interrupts, PollFlags::IN),
                PollFd::new(&self.woken, PollFlags::IN),
                PollFd::new(&self.file, PollFlags::empty()),
            ];
            match rustix::event::poll(&mut files, left.as_ref()) {
                Ok(_) if files[2].revents().contains(PollFlags::HUP) => return Err(Error::Gone),
                Ok(_) | Err(Errno::INTR) => {}
                Err(source) => return Err(Error::call("poll", source)),
            }
        }
    }

    fn wake(&self) {
        // If the counter is full, a waiting thread wakes up already.
        let _ = rustix::io::write(&self.woken, &1_u64.to_ne_bytes());
    }

    fn reprogram(&self, _: bool, image: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.program(uapi::reprogram::BEGIN)?;
        let bracket = Bracket(self);
        let programmed = image();
        std::mem::forget(bracket);
        let found = self.program(uapi::reprogram::END);
        programmed.and(found)
    }

    fn disable_link(&self) {
        // An older driver has no such flag.
        let _ = self.program(uapi::reprogram::LINK_OFF);
    }

    fn configures(&self) -> bool {
        // The configuration may have changed since the file was opened.
        let has = |info: uapi::Info| info.features & uapi::feature::CVP != 0;
        self.info().is_ok_and(has)
    }

    fn resets(&self) -> Result<u64> {
        self.info().map(|info| info.resets)
    }

    fn configure(&self, image: &[u8], packing: Packing) -> Result<()> {
        let packing = match packing {
            Packing::AsTold => uapi::packing::AS_TOLD,
            Packing::Plain => uapi::packing::PLAIN,
            Packing::Encrypted => uapi::packing::ENCRYPTED,
            Packing::Compressed => uapi::packing::COMPRESSED,
        };
        self.call(&mut uapi::Configure {
            address: image.as_ptr() as u64,
            length: image.len() as u64,
            packing,
            reserved: 0,
        })
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

/// A configuration in progress. Its drop ends it, also if `image` panics.
struct Bracket<'a>(&'a Side);

impl Drop for Bracket<'_> {
    fn drop(&mut self) {
        // The thread panics already.
        let _ = self.0.program(uapi::reprogram::END);
    }
}
