//! The kernel's device: each open `/dev/peerlane*` is a context.

mod opencl;

use crate::context::{BoardWindow, Context, RawChannel, SlowPath};
use crate::deadline::deadline;
use crate::error::{Error, Result};
use crate::lock_free::Ring;
use crate::mapping::Mapping;
use crate::memory::{Memory, MemoryKind};
use crate::opencl::OpenCl;
use crate::sys::{self, Argument};
use peerlane_core::channel::{self, Moderation};
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::record;
use peerlane_core::regs::chan;
use peerlane_core::ring::Slots;
use peerlane_core::uapi::{self, map};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::ProtFlags;
use rustix::time::ClockId;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

// The order of stores to the channel's page, and of stores to memory before them, is that of x86-64:
// another processor needs barriers of its own in `post`.
#[cfg(not(target_arch = "x86_64"))]
compile_error!("the kernel's device is driven on x86-64 only: see `post` in host/src/kernel.rs");

/// An open device node.
#[derive(Debug)]
pub(crate) struct Node {
    file: OwnedFd,
    path: PathBuf,
    info: uapi::Info,
    channel: OnceLock<Channel>,
}

/// The channel's page and ring.
#[derive(Debug)]
struct Channel {
    page: Mapping,
    ring: Mapping,
}

impl Node {
    /// Opens a device node.
    pub(crate) fn open(path: PathBuf) -> Result<Self> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(file) => Self::from_file(file, path, 0),
            Err(source) => Err(Error::Open { path, source }),
        }
    }

    /// Makes a node of a file that is open already, if driver and board have the features.
    pub(crate) fn from_file(file: OwnedFd, path: PathBuf, required: u64) -> Result<Self> {
        let ask = |version, required| {
            let mut info = uapi::Info {
                version,
                required,
                ..Default::default()
            };
            sys::call(&file, &mut info).map(|()| info)
        };
        // The driver answers this query in any case. Its answer explains why the other one was refused.
        let any = || ask(0, 0).map_err(|source| Error::call(uapi::Info::NAME, source));
        match ask(uapi::VERSION, required) {
            Ok(info) => Ok(Self {
                file,
                path,
                info,
                channel: OnceLock::new(),
            }),
            Err(Errno::PROTO) => {
                let uapi::Info {
                    version, oldest, ..
                } = any()?;
                Err(Error::Version {
                    path,
                    driver: oldest..=version,
                })
            }
            Err(Errno::OPNOTSUPP) => Err(Error::Features {
                missing: required & !any()?.features,
                path,
            }),
            Err(source) => Err(Error::call(uapi::Info::NAME, source)),
        }
    }

    /// Calls the driver.
    fn call<T: Argument>(&self, argument: &mut T) -> Result<()> {
        self.try_call(argument)
            .map_err(|source| Error::call(T::NAME, source))
    }

    /// Calls the driver, and returns its error number.
    fn try_call<T: Argument>(&self, argument: &mut T) -> Result<(), Errno> {
        sys::call(&self.file, argument)
    }

    /// Calls the driver, and repeats the call after each signal.
    fn try_again<T: Argument>(&self, argument: &mut T) -> Result<(), Errno> {
        loop {
            match self.try_call(argument) {
                Err(Errno::INTR) => {}
                called => return called,
            }
        }
    }

    /// Maps one of the context's mappings.
    fn map(
        &self,
        what: &'static str,
        offset: u64,
        bytes: u64,
        protection: ProtFlags,
    ) -> Result<Mapping> {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        Mapping::device(what, self.file.as_fd(), offset, length, protection)
    }

    fn ring(&self) -> Ring<'_> {
        Ring(
            self.channel
                .get()
                .map_or(&[], |channel| channel.ring.dwords()),
        )
    }

    fn load(&self, offset: usize) -> u32 {
        // Volatile like the stores, in one access of 32 bits.
        let load = |channel: &Channel| channel.page.dwords()[offset / 4].load(Ordering::Relaxed);
        self.channel.get().map_or(0, load)
    }
}

impl Channel {
    /// Writes one naturally aligned word of the page.
    fn store<T>(&self, offset: usize, value: T) {
        let place = self.page.base().as_ptr();
        assert!(
            offset + size_of::<T>() <= self.page.length() && offset.is_multiple_of(size_of::<T>())
        );
        // SAFETY: the word lies in the mapping, which begins at a page boundary, and is aligned. All references to it
        // are atomics.
        unsafe { place.add(offset).cast::<T>().write_volatile(value) };
    }
}

impl Context for Node {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn info(&self) -> &uapi::Info {
        &self.info
    }

    fn memory(&self, kind: MemoryKind, bytes: usize) -> Result<Memory> {
        match kind {
            MemoryKind::Host => Memory::new(bytes),
            MemoryKind::Gpu => Err(Error::NoGpu),
        }
    }

    fn register(&self, region: &mut uapi::Register) -> Result<()> {
        // A signal comes in a wait for the owner of a dma-buf.
        self.try_again(region).map_err(|source| match source {
            Errno::FBIG => Error::TooLarge {
                length: region.length,
                entries: region.entries.into(),
                most: self.info.most_entries,
            },
            _ => Error::call(uapi::Register::NAME, source),
        })
    }

    fn unregister(&self, handle: u32, flags: u32) -> Result<()> {
        self.call(&mut uapi::Unregister { handle, flags })
    }

    fn flush(&self, handle: u32) -> Result<()> {
        match self.try_call(&mut uapi::Flush {
            handle,
            reserved: 0,
        }) {
            Ok(()) => Ok(()),
            Err(Errno::NODEV) => Err(Error::Gone),
            Err(source) => Err(Error::call(uapi::Flush::NAME, source)),
        }
    }

    fn allocate(&self, wanted: &mut uapi::Allocate) -> Result<()> {
        let mut argument = *wanted;
        loop {
            match self.try_call(&mut argument) {
                Ok(()) => break,
                // Memory that was filled so far need not be filled again.
                Err(Errno::INTR) => argument = *wanted,
                Err(source) => return Err(Error::memory(wanted.bytes, source)),
            }
        }
        *wanted = argument;
        Ok(())
    }

    fn free(&self, flags: u32) -> Result<[u64; 2]> {
        let mut argument = uapi::Free {
            flags,
            ..Default::default()
        };
        let freed = self.try_call(&mut argument);
        freed.map_err(|source| Error::memory(0, source))?;
        Ok(argument.token)
    }

    fn open_channel(&self) -> Result<Option<RawChannel>> {
        let both = ProtFlags::READ | ProtFlags::WRITE;
        let uapi::Info {
            page_bytes,
            ring_bytes,
            ..
        } = self.info;
        let page = self.map("the channel's page", map::PAGE, page_bytes, both)?;
        let ring = self.map(
            "the completion ring",
            map::RING,
            ring_bytes,
            ProtFlags::READ,
        )?;
        // A second caller keeps the mappings of the first.
        let Channel { page, ring } = self.channel.get_or_init(|| Channel { page, ring });
        let slots = 1 << self.info.ring_log2;
        // SAFETY: both mappings are this node's, and of the lengths that the driver has said.
        let channel = unsafe { RawChannel::new(page.base(), page.length(), ring.base(), slots) };
        Ok(Some(channel))
    }

    /// Makes 5 stores: the bus carries 64 bits in one packet. Stores to memory and to an uncached mapping leave in
    /// program order (Intel SDM, volume 3, 8.2.2 and 11.3), so the doorbell comes last. A store to an uncached mapping
    /// also empties the buffers of non-temporal stores and of stores to write-combining memory (11.3, "Write
    /// Combining").
    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) -> u32 {
        let Some(page) = self.channel.get() else {
            return 0;
        };
        let (place, doorbell) = channel::entrance(direction);
        // The compiler guarantees no order between data in memory, which the board reads, and volatile stores. The
        // processor needs no instruction for it.
        fence(Ordering::Release);
        let (pairs, rest) = descriptor.as_chunks::<2>();
        for (index, [low, high]) in pairs.iter().enumerate() {
            page.store(place + 8 * index, u64::from(*high) << 32 | u64::from(*low));
        }
        for (index, dword) in rest.iter().enumerate() {
            page.store(place + 8 * pairs.len() + 4 * index, *dword);
        }
        page.store(doorbell, u32::from(freed));
        (pairs.len() + rest.len() + 1) as u32
    }

    fn ring_again(&self, direction: Direction, freed: u16) -> u32 {
        let Some(page) = self.channel.get() else {
            return 0;
        };
        // The program has read the block.
        fence(Ordering::AcqRel);
        let (_, doorbell) = channel::entrance(direction);
        page.store(doorbell, u32::from(freed));
        1
    }

    fn stream(&self, stream: &mut uapi::Stream) -> Result<()> {
        self.call(stream)
    }

    fn queue_free(&self) -> [u32; 2] {
        channel::queue_free(self.load(chan::QUEUE_FREE))
    }

    fn take_refused(&self) -> bool {
        let refused = self.load(chan::REFUSED);
        // A board that does not answer has refused nothing.
        if refused == 0 || refused == u32::MAX {
            return false;
        }
        if let Some(page) = self.channel.get() {
            page.store(chan::REFUSED, refused);
        }
        true
    }

    fn status(&self, slot: u32) -> u32 {
        self.ring().status(slot)
    }

    fn record(&self, slot: u32) -> [u32; record::DWORDS] {
        self.ring().record(slot)
    }

    fn query(&self) -> Result<uapi::Query> {
        let mut query = uapi::Query::default();
        self.call(&mut query)?;
        Ok(query)
    }

    fn peek(&self) -> Result<Option<uapi::Query>> {
        if self.info.features & uapi::feature::PEEK == 0 {
            return Ok(None);
        }
        let mut query = uapi::Query {
            flags: uapi::query::PEEK,
            ..Default::default()
        };
        self.call(&mut query)?;
        Ok(Some(query))
    }

    fn await_event(&self, limit: Option<Duration>) -> Result<bool> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let mut files = [PollFd::new(&self.file, PollFlags::IN)];
        match rustix::event::poll(&mut files, limit.as_ref()) {
            Ok(0) => Ok(false),
            Ok(_) if files[0].revents().contains(PollFlags::HUP) => Err(Error::Gone),
            // After a signal the caller looks, and waits again.
            Ok(_) | Err(Errno::INTR) => Ok(true),
            Err(source) => Err(Error::call("poll", source)),
        }
    }

    fn set_eventfd(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        let fd = eventfd.map_or(-1, |fd| fd.as_raw_fd());
        self.call(&mut uapi::EventFd { fd, flags: 0 })
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }

    fn now(&self) -> Duration {
        let now = rustix::time::clock_gettime(ClockId::Monotonic);
        Duration::try_from(now).unwrap_or_default()
    }

    fn pause(&self) {
        std::hint::spin_loop();
    }

    fn stop(&self, drain: Duration) -> Result<bool> {
        let mut stop = uapi::Stop {
            deadline_ns: deadline(Some(drain)),
            ..Default::default()
        };
        self.call(&mut stop)?;
        Ok(stop.aborted != 0)
    }

    fn moderate(&self, moderation: Moderation) -> Result<()> {
        self.call(&mut uapi::Moderate {
            count: moderation.count.into(),
            age: moderation.age.into(),
        })
    }

    fn slow_path(&self) -> Option<&dyn SlowPath> {
        Some(self)
    }

    fn window(&self) -> Option<&dyn BoardWindow> {
        Some(self)
    }

    fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        Ok(Box::new(self.take_open_cl()?))
    }
}

impl SlowPath for Node {
    fn submit(&self, descriptor: &mut uapi::Submit) -> Result<()> {
        // A signal comes in a wait for earlier descriptors; the board has no descriptor of this call then.
        let submitted = self.try_again(descriptor);
        submitted.map_err(|source| Error::call(uapi::Submit::NAME, source))
    }

    fn wait(&self, ended: &mut uapi::Wait) -> Result<bool> {
        match self.try_again(ended) {
            Ok(()) => Ok(true),
            Err(Errno::TIME) => Ok(false),
            Err(source) => Err(Error::call(uapi::Wait::NAME, source)),
        }
    }

    fn probe(&self, probe: &mut uapi::Probe) -> Result<()> {
        self.try_again(probe)
            .map_err(|source| Error::call(uapi::Probe::NAME, source))
    }
}

impl BoardWindow for Node {
    fn place(&self, place: &uapi::Window) -> Result<()> {
        let mut argument = *place;
        let placed = self.try_call(&mut argument);
        placed.map_err(|source| Error::window(place.base, source))
    }

    fn map(&self) -> Result<Mapping> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let bytes = self.info.window_bytes;
        self.map("FPGA memory", map::WINDOW, bytes, protection)
    }
}
