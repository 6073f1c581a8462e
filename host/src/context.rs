//! The interface between the library and the driver of a board.

use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::memory::{Memory, MemoryKind};
use crate::opencl::OpenCl;
use crate::sys::Argument;
use peerlane_core::channel::Moderation;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::record;
use peerlane_core::uapi;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::any::Any;
use std::fmt::Debug;
use std::ptr::NonNull;
use std::time::Duration;

/// A channel's page and completion ring, mapped into this process for as long as its context lives. Offsets and
/// records are those of the register map.
#[derive(Debug, Clone, Copy)]
pub struct RawChannel {
    page: NonNull<u8>,
    page_bytes: usize,
    ring: NonNull<u8>,
    slots: u32,
}

impl RawChannel {
    /// Makes a channel of a page with `page_bytes` bytes and a ring with `slots` records, a power of two.
    ///
    /// # Safety
    /// Both are mapped for as long as the context lives that gives them out, the page for stores and loads of 4
    /// and 8 bytes, the ring for loads.
    pub const unsafe fn new(
        page: NonNull<u8>,
        page_bytes: usize,
        ring: NonNull<u8>,
        slots: u32,
    ) -> Self {
        Self {
            page,
            page_bytes,
            ring,
            slots,
        }
    }

    /// Returns the page. It is not memory: each store has an effect.
    pub const fn page(&self) -> NonNull<u8> {
        self.page
    }

    /// Returns the number of bytes of the page.
    pub const fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Returns the ring. Only the board writes it.
    pub const fn ring(&self) -> NonNull<u8> {
        self.ring
    }

    /// Returns the number of records that the ring holds: a power of two.
    pub const fn slots(&self) -> u32 {
        self.slots
    }
}

/// A context of a board: a share of it, with one channel of its own.
///
/// This is the interface between the library and a driver. Above it are [`Device`](crate::Device),
/// [`Region`](crate::Region), [`Queue`](crate::Queue) and the rest of the public interface, once for all boards. Below
/// it is a driver. The kernel's driver draws the line at the same place: a context never sees the block's CSR or ATT,
/// only its own channel page and completion ring, and the calls of [`uapi`]. [`uapi`] documents the calls; their
/// structures are the arguments here.
///
/// The work is divided as follows:
///
/// - The *driver* owns the board: it starts and resets the block, writes the ATT, gives out channels
///   and FPGA memory, and keeps memory alive that the board may still reach.
/// - The *library* owns the channel once [`open_channel`](Self::open_channel) was called: it cuts transfers into
///   descriptors, tracks which slots of queue and ring are free, reads the records, and keeps regions alive while
///   transfers with them are under way. Only one [`Queue`](crate::Queue) of a context ever does that, and one thread at
///   a time.
///
/// The methods from [`post`](Self::post) to [`record`](Self::record) are the fast path. They do not
/// allocate and, where the board's registers are mapped, make no system call. They cannot fail: a
/// board that is gone takes no descriptors and writes no records, and [`query`](Self::query) says why.
///
/// A driver without a feature (a bit of [`uapi::feature`] in [`uapi::Info::features`]) leaves the feature's method at
/// the default. The default fails with `EOPNOTSUPP`, or returns `None` or `false`.
pub trait Context: Debug + Send + Sync {
    /// Returns a name of the board for messages, for example its device node.
    fn name(&self) -> String;

    /// Returns identity, limits and features, as they were when the context was opened.
    fn info(&self) -> &uapi::Info;

    /// Allocates memory of a peer, all zero, that [`register`](Self::register) accepts.
    fn memory(&self, kind: MemoryKind, bytes: usize) -> Result<Memory>;

    /// Makes memory reachable for the context's channel. Writes the driver's results into `region`.
    fn register(&self, region: &mut uapi::Register) -> Result<()>;

    /// Makes a range of bus addresses reachable for the context's channel, where the driver supports it. The kernel's
    /// driver does not: [`Device::register_bus`](crate::Device::register_bus).
    ///
    /// # Safety
    /// As [`Device::register_bus`](crate::Device::register_bus).
    unsafe fn register_bus(&self, region: &mut uapi::Register) -> Result<()> {
        let _ = region;
        Err(Error::call("REGISTER", Errno::OPNOTSUPP))
    }

    /// Unregisters a region: [`uapi::Unregister`].
    fn unregister(&self, handle: u32, flags: u32) -> Result<()>;

    /// Gives up a board that does not release memory: cuts it off from all memory, if the driver can do that. The
    /// default does nothing: the kernel's driver resets such a board by itself.
    fn give_up(&self) {}

    /// Keeps memory that the board may still reach, because [`unregister`](Self::unregister) of its region has failed,
    /// until the region is unregistered. The memory's drop must not use the device. The default drops it: the kernel's
    /// driver keeps all memory alive by itself.
    fn keep(&self, handle: u32, memory: Box<dyn Any + Send + Sync>) {
        let _ = (handle, memory);
    }

    /// Makes sure that all data that the board wrote to a region before the records that are there now have arrived,
    /// and can be seen by the memory's owner. It is called where the block has not done that: after a write that failed
    /// or was called off, and by [`Region::flush`](crate::Region::flush). It fails with `EAGAIN`, as the kernel does,
    /// while the board is being restarted; then it is called again. The default does nothing, for a driver whose board
    /// has written everything by then.
    fn flush(&self, handle: u32) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Flushes a region that the board may not read, after a write to it that ended well, where the driver can prove
    /// that the data have arrived. The default does nothing: the kernel's driver has no such proof, and can only rely
    /// on time ([`uapi::access::WRITE`]).
    fn flush_unread(&self, handle: u32) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Allocates FPGA memory for the context. Writes the driver's results into `wanted`.
    fn allocate(&self, wanted: &mut uapi::Allocate) -> Result<()>;

    /// Frees the context's FPGA memory: [`uapi::Free`]. Returns the token of an offer.
    fn free(&self, flags: u32) -> Result<[u64; 2]>;

    /// Hands the channel's page and ring to the library. From now on the driver writes no descriptors to the channel.
    /// Returns the addresses of page and ring, if they are mapped.
    fn open_channel(&self) -> Result<Option<RawChannel>>;

    /// Writes a descriptor into the channel's page and rings the doorbell, which also reports that `freed` slots of the
    /// ring are free again. Returns the number of stores to the page.
    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) -> u32;

    /// Rings a doorbell without a descriptor: the one that its slot of the queue had a lap ago is queued again. Returns
    /// the number of stores to the page. It is for drivers with [`stream`](Self::stream); the default does nothing.
    fn ring_again(&self, direction: Direction, freed: u16) -> u32 {
        let _ = (direction, freed);
        0
    }

    /// Opens, closes or inspects a stream of the FPGA's logic. Writes the driver's results into `stream`.
    fn stream(&self, stream: &mut uapi::Stream) -> Result<()> {
        let _ = stream;
        Err(Error::call(uapi::Stream::NAME, Errno::OPNOTSUPP))
    }

    /// Returns how many doorbells the write and the read queue take now; 0 while the board is being started.
    fn queue_free(&self) -> [u32; 2];

    /// Returns whether doorbells were refused since the last call.
    fn take_refused(&self) -> bool;

    /// Returns the status dword of a slot of the ring, with acquire ordering.
    fn status(&self, slot: u32) -> u32;

    /// Returns all dwords of a slot of the ring.
    fn record(&self, slot: u32) -> [u32; record::DWORDS];

    /// Returns the state of the context, and acknowledges its events. If the board is gone, it fails with
    /// [`Error::Gone`] or returns [`state::GONE`](uapi::state::GONE).
    fn query(&self) -> Result<uapi::Query>;

    /// Returns the state of the context without acknowledging events; `None` where the driver has no such call.
    fn peek(&self) -> Result<Option<uapi::Query>> {
        Ok(None)
    }

    /// Waits for an event that no [`query`](Self::query) has acknowledged, for at most `limit`; `None`: without a
    /// limit. Returns `false` if no event has come in time.
    fn await_event(&self, limit: Option<Duration>) -> Result<bool>;

    /// Sets an eventfd that each event adds 1 to, or removes it.
    fn set_eventfd(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        let _ = eventfd;
        Err(Error::call(uapi::EventFd::NAME, Errno::OPNOTSUPP))
    }

    /// Returns the context's file, which can be polled, where it has one.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Returns the board's time: CLOCK_MONOTONIC, or simulated time.
    fn now(&self) -> Duration;

    /// Waits a moment between two looks at the ring.
    fn pause(&self);

    /// Stops the channel. Descriptors that have not ended by themselves after `drain`, a second at most, are aborted.
    /// Returns whether any descriptor was aborted. Afterwards every descriptor has its record.
    fn stop(&self, drain: Duration) -> Result<bool>;

    /// Sets the moderation of the channel's interrupts.
    fn moderate(&self, moderation: Moderation) -> Result<()>;

    /// Returns the slow path, where the driver has one.
    fn slow_path(&self) -> Option<&dyn SlowPath> {
        None
    }

    /// Returns the board's window into FPGA memory, where the driver has one.
    fn window(&self) -> Option<&dyn BoardWindow> {
        None
    }

    /// Takes the OpenCL side of the board. The result keeps the parts of the context alive that it needs.
    fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        Err(Error::no_opencl())
    }
}

/// Interface to descriptors that the driver writes itself, one a call.
pub trait SlowPath {
    /// Has the driver write one descriptor. Writes the cookie into `descriptor`.
    fn submit(&self, descriptor: &mut uapi::Submit) -> Result<()>;

    /// Waits for a descriptor's end. Returns `Ok(false)` if it has not ended at its deadline.
    fn wait(&self, ended: &mut uapi::Wait) -> Result<bool>;

    /// Has the board read a piece of a region, and returns the bytes that it read.
    fn probe(&self, probe: &mut uapi::Probe) -> Result<()>;
}

/// The board's window into FPGA memory, which one context at a time holds.
pub trait BoardWindow {
    /// Takes, moves or releases the window.
    fn place(&self, place: &uapi::Window) -> Result<()>;

    /// Maps the window into the process.
    fn map(&self) -> Result<Mapping>;

    /// Exports the window as a dma-buf.
    ///
    /// # Errors
    /// [`Error::Export`], with `EOPNOTSUPP` where the driver or the kernel does not.
    fn export(&self) -> Result<OwnedFd> {
        let source = Errno::OPNOTSUPP;
        Err(Error::Export { source })
    }
}
