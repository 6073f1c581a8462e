//! A cache of registrations. To register memory costs a system call and often thousands of pages; to find a cached
//! region costs nanoseconds.
//!
//! A [`Cache`] looks regions up by the *identity* of their memory, and not by the address alone. Addresses are used
//! again, so a region at an address may belong to memory that was freed since. A [`Buffer`] distinguishes memory from
//! all other memory that ever was at its place: CUDA's `CU_POINTER_ATTRIBUTE_BUFFER_ID`, or the inode of a dma-buf.
//! Host memory has no such identity. The kernel's driver, which the kernel notifies of every change, caches regions of
//! host memory itself ([`Device::register_address`](crate::Device::register_address)).
//!
//! ```no_run
//! use peerlane_host::cache::{Buffer, Cache, Limits};
//! use peerlane_host::{Device, Error, Permissions};
//!
//! # fn run(file: std::fs::File) -> peerlane_host::Result<()> {
//! let device = Device::first()?;
//! let cache = Cache::new(Limits::default());
//! // `file` is a dma-buf.
//! let buffer = Buffer::dma_buf(&file)?;
//! for _ in 0..1000 {
//!     // Registered the first time, and found from then on.
//!     let memory = cache.dma_buf(&device, &file, &buffer, 0..1 << 20, Permissions::ReadWrite)?;
//!     // ... a transfer with memory.region() from memory.offset() on
//! }
//! // Before its owner frees the memory: what nobody uses is given back, and the rest with its last transfer.
//! cache.invalidate(&buffer);
//! # Ok(())
//! # }
//! ```
//!
//! `peerlane-gpu` has the same for GPU memory, by its address: `GpuBuffer::register_cached`.
//!
//! # Rules
//!
//! - A look-up finds only a region of the memory that was named. The region has the same identity, has the permissions
//!   that were asked for or both, and was not [invalidated](Region::forget). Regions of another identity at the same
//!   addresses are dead: the cache drops them.
//! - Memory that a program maps piece by piece has [`Parts`]. A region of it is found only if it has the same pieces:
//!   another piece at an address is other memory.
//! - Ranges of a buffer that overlap become one region. That region has no bytes that no caller has asked for, and
//!   permissions are not widened.
//! - The cache stays within its [`Limits`]. To make room it evicts the region that was used longest ago and is not in
//!   use. Memory for which there is no room is registered for its one use.
//! - Memory is registered without a lock, so that other threads find their regions at the same time. Two threads that
//!   want the same memory register it once.
//! - A cached region keeps the memory of a dma-buf alive after its owner freed it, and NVIDIA's driver may take memory
//!   from under a region. So notify the cache before memory is freed ([`Cache::invalidate`],
//!   [`Cache::invalidate_addresses`]: from any thread, and from an allocator's own hooks), and [`Region::forget`] a
//!   region with which transfers fail.
//! - In a child of a fork a cache is empty and caches nothing: its regions are the parent's.

mod leaving;
mod parts;
mod table;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::region::Region;
use crate::sys::Process;
use leaving::{Departures, let_go};
pub use parts::{Part, Parts};
use peerlane_core::att::AllocError;
use peerlane_core::att::Permissions;
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use table::{Place, Seen, Table};

/// Identity of a buffer's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer {
    space: Space,
    identity: u64,
    bar: Option<u64>,
}

/// Space in which offsets and addresses are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// CUDA's addresses, which all of a process's GPUs share ("Unified Addressing").
    Cuda,
    /// A dma-buf.
    DmaBuf { device: u64, inode: u64 },
}

impl Buffer {
    /// Names memory of CUDA's by its `CU_POINTER_ATTRIBUTE_BUFFER_ID`, which a process's CUDA assigns once ("Unified
    /// Addressing"). Ranges are addresses.
    pub const fn cuda(identity: u64) -> Self {
        Self {
            space: Space::Cuda,
            identity,
            bar: None,
        }
    }

    /// Names a dma-buf. Ranges are offsets in it. Its inode identifies it. The kernel assigns each inode number once
    /// (since 5.18, drivers/dma-buf/dma-buf.c; earlier kernels once in 2^32, and not while a region has it). The result
    /// holds for as long as the file is open.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn dma_buf(file: impl AsFd) -> Result<Self> {
        let status = rustix::fs::fstat(file).map_err(|error| Error::call("fstat", error))?;
        Ok(Self {
            space: Space::DmaBuf {
                device: status.st_dev,
                inode: status.st_ino,
            },
            identity: status.st_ino,
            bar: None,
        })
    }

    /// Names the BAR that the memory lies in. `bar` is any number, the same for all memory in that BAR.
    /// [`Limits::bar_bytes`] applies to each BAR.
    pub const fn behind(mut self, bar: u64) -> Self {
        self.bar = Some(bar);
        self
    }
}

/// Limits of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Regions.
    pub regions: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes in each BAR that [`Buffer::behind`] names. Pinned memory takes up a GPU's BAR, which other users need,
    /// too. `nvidia-smi -q` reports the size of BAR1.
    pub bar_bytes: u64,
}

impl Default for Limits {
    /// Allows 1024 regions, and as many bytes as the driver allows.
    fn default() -> Self {
        Self {
            regions: 1024,
            bytes: u64::MAX,
            bar_bytes: u64::MAX,
        }
    }
}

/// Counts of a cache's look-ups and registrations, and its present size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Times that memory was found.
    pub found: u64,
    /// Times that memory was registered.
    pub registered: u64,
    /// Regions that are cached.
    pub regions: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Memory, registered: a part of a region.
#[derive(Debug, Clone)]
pub struct Cached {
    region: Region,
    offset: u64,
    length: u64,
}

impl Cached {
    /// Returns the region, for requests.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the offset of the memory in the region, in bytes. A transfer of all of the memory needs neither the
    /// offset nor the length: `queue.to_fpga(&cached, ..)`.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the length of the memory in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl<'a> From<&'a Cached> for crate::region::Part<'a> {
    fn from(cached: &'a Cached) -> Self {
        cached
            .region
            .part(cached.offset..cached.offset + cached.length)
    }
}

/// Result of a registration: a region, and the range of the buffer that it covers. The range may be larger than was
/// asked for, for example whole pages.
#[derive(Debug)]
pub struct Registered {
    /// The region.
    pub region: Region,
    /// Its range in the buffer.
    pub range: Range<u64>,
}

/// An error that says whether there was no room. If so, a cache evicts regions that are not in use.
pub trait NoRoom {
    /// Returns whether the registration would have succeeded with one registration less.
    fn no_room(&self) -> bool;
}

impl NoRoom for Error {
    fn no_room(&self) -> bool {
        let full = [Errno::NOSPC, Errno::NOMEM, Errno::DQUOT, Errno::NOBUFS];
        match self {
            Self::AttFull(error) => matches!(error, AllocError::Full { .. }),
            // These do not need memory that others could release.
            Self::Open { .. } | Self::Window { .. } | Self::OpenCl { .. } => false,
            error => error.errno().is_some_and(|number| full.contains(&number)),
        }
    }
}

/// A cache of registrations. Clones are the same cache, for any thread. Use one for each [`Device`].
#[derive(Debug, Clone)]
pub struct Cache(Arc<Shared>);

/// A weak reference to a [`Cache`], for code that notifies the cache that memory goes, while the cache exists.
#[derive(Debug, Clone)]
pub struct WeakCache(Weak<Shared>);

impl WeakCache {
    /// Returns the cache, if any handle of it still exists.
    pub fn upgrade(&self) -> Option<Cache> {
        self.0.upgrade().map(Cache)
    }

    /// Returns whether this refers to the given cache.
    pub fn is_of(&self, cache: &Cache) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&cache.0))
    }
}

#[derive(Debug)]
struct Shared {
    limits: Limits,
    born: Process,
    table: Mutex<Table>,
    /// A registration has ended.
    ended: Condvar,
    leaving: Departures,
}

/// A registration in progress. Other threads see it until this is dropped.
struct Going<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.shared.lock().end(self.number);
        self.shared.ended.notify_all();
    }
}

impl Shared {
    /// Returns whether this process is a child of the process that made the cache.
    fn is_inherited(&self) -> bool {
        self.born != Process::current()
    }

    /// Locks the table. A panic elsewhere leaves it consistent: no foreign code is called while it is locked.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.is_inherited() {
            let table = self.table.get_mut().unwrap_or_else(PoisonError::into_inner);
            let_go(table.take(|_| true));
        }
    }
}

impl Cache {
    /// Makes an empty cache.
    pub fn new(limits: Limits) -> Self {
        Self(Arc::new(Shared {
            limits,
            born: Process::current(),
            table: Mutex::default(),
            ended: Condvar::new(),
            leaving: Departures::default(),
        }))
    }

    /// Returns a weak reference to the cache.
    pub fn downgrade(&self) -> WeakCache {
        WeakCache(Arc::downgrade(&self.0))
    }

    /// Returns a region for a range of a buffer: a cached one, or the one that `register` makes of the range that it is
    /// given, which contains the range that was asked for. `register` is called without a lock. It is called once, or
    /// twice where there was no room at first, or where ranges could not become one. It must not use the cache.
    ///
    /// # Errors
    /// The error of `register`.
    pub fn get<E: NoRoom>(
        &self,
        buffer: &Buffer,
        range: Range<u64>,
        permissions: Permissions,
        mut register: impl FnMut(Range<u64>) -> Result<Registered, E>,
    ) -> Result<Cached, E> {
        let register = |range| register(range).map(|made| (made, None));
        self.get_with(buffer, None, range, permissions, register)
    }

    /// Returns a region for memory that consists of several pieces. `parts` has the pieces of the range. Otherwise as
    /// [`get`](Self::get), but `register` also returns the pieces of the memory that it has registered, and makes sure
    /// that their handles name no other memory in the meantime.
    ///
    /// # Errors
    /// The error of `register`.
    pub fn get_parts<E: NoRoom>(
        &self,
        buffer: &Buffer,
        parts: &Parts,
        range: Range<u64>,
        permissions: Permissions,
        mut register: impl FnMut(Range<u64>) -> Result<(Registered, Parts), E>,
    ) -> Result<Cached, E> {
        let register = |range| register(range).map(|(made, parts)| (made, Some(parts)));
        self.get_with(buffer, Some(parts), range, permissions, register)
    }

    fn get_with<E: NoRoom>(
        &self,
        buffer: &Buffer,
        parts: Option<&Parts>,
        range: Range<u64>,
        permissions: Permissions,
        mut register: impl FnMut(Range<u64>) -> Result<(Registered, Option<Parts>), E>,
    ) -> Result<Cached, E> {
        let shared = &*self.0;
        let place = Place::new(buffer, parts.is_some(), permissions);
        if range.is_empty() || shared.is_inherited() {
            return Ok(part(&register(range.clone())?.0, &range));
        }
        let (going, all) = match shared.find_or_begin(&place, parts, &range) {
            Begun::Found(cached) => return Ok(cached),
            Begun::Going(going, all) => (going, all),
        };
        let mut made = register(all.clone());
        if let Err(error) = &made {
            let no_room = error.no_room();
            if no_room || all != range {
                // In two steps: the lock is held to the end of the first.
                let leaving = {
                    let mut table = shared.lock();
                    let out = table.give_way(going.number, &range, no_room);
                    shared.leaving.begin(out)
                };
                drop(leaving);
                made = register(range.clone());
            }
        }
        let (made, made_of) = made?;
        let cached = part(&made, &range);
        if made.range.start > range.start || made.range.end < range.end {
            // The region does not have all of the range. The caller may use it as its `register` made it, but it is not
            // cached.
            return Ok(cached);
        }
        let leaving = {
            let (mut table, mut out) = (shared.lock(), Vec::new());
            table.insert(
                going.number,
                made.range,
                (made.region, made_of),
                &shared.limits,
                &mut out,
            );
            shared.leaving.begin(out)
        };
        drop(leaving);
        Ok(cached)
    }

    /// Returns a region for a range of a dma-buf. `buffer` is [`Buffer::dma_buf`] of the file.
    ///
    /// # Errors
    /// As [`Device::register_dmabuf`].
    pub fn dma_buf(
        &self,
        device: &Device,
        file: impl AsFd,
        buffer: &Buffer,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<Cached> {
        self.get(buffer, range, permissions, |range| {
            let length = range.end.saturating_sub(range.start);
            let region = device.register_dmabuf(&file, range.start, length, permissions)?;
            Ok(Registered { region, range })
        })
    }

    /// Drops all cached regions of a buffer. Call this before the buffer is freed. Regions that are in use stay with
    /// their users. Regions that other threads are dropping at the same time are gone, too, when this returns.
    pub fn invalidate(&self, buffer: &Buffer) {
        self.invalidate_if(|seen| seen.is_of(buffer));
    }

    /// Drops all cached regions of CUDA memory with some of these addresses in it.
    pub fn invalidate_addresses(&self, range: Range<u64>) {
        self.invalidate_if(|seen| seen.space == Space::Cuda && table::overlap(&seen.range, &range));
    }

    /// Drops all cached regions.
    pub fn clear(&self) {
        self.invalidate_if(|_| true);
    }

    fn invalidate_if(&self, which: impl Fn(&Seen<'_>) -> bool) {
        if !self.0.is_inherited() {
            let (leaving, last) = {
                let mut table = self.0.lock();
                let leaving = self.0.leaving.begin(table.take(which));
                (leaving, self.0.leaving.last())
            };
            drop(leaving);
            // Regions that another thread has taken out of the table are not in it, but the board may still have them.
            self.0.leaving.wait(last);
        }
    }

    /// Returns counts and the present size; all zero in a child of a fork.
    pub fn statistics(&self) -> Statistics {
        match self.0.is_inherited() {
            true => Statistics::default(),
            false => self.0.lock().statistics(),
        }
    }
}

/// Returns a range of a registration.
fn part(registered: &Registered, range: &Range<u64>) -> Cached {
    Cached {
        region: registered.region.clone(),
        offset: range.start.saturating_sub(registered.range.start),
        length: range.end.saturating_sub(range.start),
    }
}

/// Result of a look-up.
enum Begun<'a> {
    Found(Cached),
    /// The caller registers this range.
    Going(Going<'a>, Range<u64>),
}

impl Shared {
    fn find_or_begin(&self, place: &Place, parts: Option<&Parts>, range: &Range<u64>) -> Begun<'_> {
        let mut table = self.lock();
        loop {
            if let Some((region, base)) = table.find(place, parts, range) {
                return Begun::Found(Cached {
                    region,
                    offset: range.start - base,
                    length: range.end - range.start,
                });
            }
            let mut out = Vec::new();
            table.expel(place, parts, range, &mut out);
            if !out.is_empty() {
                // Before this thread waits for another one.
                let leaving = self.leaving.begin(out);
                drop(table);
                drop(leaving);
                table = self.lock();
                continue;
            }
            let all = table.with_overlapping(place, range);
            match table.begin(place, &all) {
                Some(number) => {
                    let shared = self;
                    return Begun::Going(Going { shared, number }, all);
                }
                // Another thread registers some of it.
                None => {
                    let woken = self.ended.wait(table);
                    table = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
