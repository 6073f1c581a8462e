//! The seam between the library and whatever drives a board.

use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::memory::{Memory, MemoryKind};
use crate::opencl::OpenCl;
use crate::sys::Argument;
use peerlane_core::channel::Moderation;
use peerlane_core::descriptor::{DWORDS, Direction};
use peerlane_core::record;
use peerlane_core::uapi;
use rustix::fd::BorrowedFd;
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
    /// A page of so many bytes, and a ring of so many records, a power of two.
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

    /// The page. It is no memory: each store has an effect.
    pub const fn page(&self) -> NonNull<u8> {
        self.page
    }

    /// Bytes of the page.
    pub const fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The ring, which the board writes and nobody else.
    pub const fn ring(&self) -> NonNull<u8> {
        self.ring
    }

    /// Records that the ring holds: a power of two.
    pub const fn slots(&self) -> u32 {
        self.slots
    }
}

/// What a context can do: a share of a board, with one channel of its own.
///
/// This is the seam of the library. Above it are [`Device`](crate::Device), [`Region`](crate::Region),
/// [`Queue`](crate::Queue) and the rest of the public interface, once for all boards. Below it is a
/// driver. It lies where the kernel puts it: a context never sees the block's CSR or ATT, only its
/// own channel page and completion ring, and what [`uapi`] has calls for. What the calls mean,
/// [`uapi`] says; their structures are the arguments here.
///
/// Who does what:
///
/// - The *driver* owns the board: it starts and resets the block, writes the ATT, gives out channels
///   and FPGA memory, and keeps memory alive that the board may still reach.
/// - The *library* owns the channel once [`open_channel`](Self::open_channel) was called: it cuts
///   transfers into descriptors, knows which slots of queue and ring are free, reads the records,
///   and keeps regions alive while transfers with them are under way. Only one [`Queue`](crate::Queue)
///   of a context ever does that, and one thread at a time.
///
/// The methods from [`post`](Self::post) to [`record`](Self::record) are the fast path. They do not
/// allocate and, where the board's registers are mapped, make no system call. They cannot fail: a
/// board that is gone takes no descriptors and writes no records, and [`query`](Self::query) says why.
///
/// A driver that does not have a feature (a bit of [`uapi::feature`] in [`uapi::Info::features`])
/// leaves its method at the default, which fails with `EOPNOTSUPP` or says that there is none.
pub trait Context: Debug + Send + Sync {
    /// The board, for messages: its device node, for one.
    fn name(&self) -> String;

    /// Identity, limits and features, as they were when the context was opened.
    fn info(&self) -> &uapi::Info;

    /// New memory of a peer, all zero, that [`register`](Self::register) accepts.
    fn memory(&self, kind: MemoryKind, bytes: usize) -> Result<Memory>;

    /// Makes memory reachable for the context's channel. Fills in what the driver answers.
    fn register(&self, region: &mut uapi::Register) -> Result<()>;

    /// Makes a range of bus addresses reachable for the context's channel, where the driver takes such. The kernel's does
    /// not: [`Device::register_bus`](crate::Device::register_bus).
    ///
    /// # Safety
    /// As [`Device::register_bus`](crate::Device::register_bus).
    unsafe fn register_bus(&self, region: &mut uapi::Register) -> Result<()> {
        let _ = region;
        Err(Error::call("REGISTER", Errno::OPNOTSUPP))
    }

    /// Whether a board that is gone ([`Error::Gone`]) reaches no memory any more. The kernel's driver has taken its right to be
    /// bus master then. A driver in the process may only know that the board does not answer now.
    fn is_cut_off_when_gone(&self) -> bool {
        true
    }

    /// Gives a region back: [`uapi::Unregister`].
    fn unregister(&self, handle: u32, flags: u32) -> Result<()>;

    /// Keeps memory that the board may still reach, because [`unregister`](Self::unregister) of a region has failed, until the
    /// board has forgotten the region. Its drop must not use the device. The default drops it: the kernel's driver holds
    /// all memory by itself.
    fn keep(&self, handle: u32, memory: Box<dyn Any + Send + Sync>) {
        let _ = (handle, memory);
    }

    /// Makes sure that what the board wrote to a region before the records that are there now has arrived, and can be
    /// seen by the memory's owner. Called where the block has not done it: after a write that failed or was called
    /// off, and by [`Region::flush`](crate::Region::flush). `EAGAIN`, as the kernel says while the board is being started again: it
    /// is called again. The default does nothing, for a driver whose board has written everything by then.
    fn flush(&self, handle: u32) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// The same after a write that ended well to a region that the board may not read, where the driver can prove
    /// it. The default does nothing: the kernel's driver cannot, and there is only time ([`uapi::access::WRITE`]).
    fn flush_unread(&self, handle: u32) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Gives the context FPGA memory. Fills in what the driver answers.
    fn allocate(&self, wanted: &mut uapi::Allocate) -> Result<()>;

    /// Takes the context's FPGA memory back: [`uapi::Free`]. Returns the token of an offer.
    fn free(&self, flags: u32) -> Result<[u64; 2]>;

    /// Hands the channel's page and ring to the library. From now on the driver writes none of the
    /// channel's descriptors. Says where they are mapped, if they are.
    fn open_channel(&self) -> Result<Option<RawChannel>>;

    /// Writes a descriptor into the channel's page and rings the doorbell, which tells that `freed`
    /// slots of the ring are free again. Returns the number of stores to the page.
    fn post(&self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) -> u32;

    /// Doorbells that the write and the read queue take now; 0 while the board is being started.
    fn queue_free(&self) -> [u32; 2];

    /// Whether doorbells were refused since the last call.
    fn take_refused(&self) -> bool;

    /// The status dword of a slot of the ring, with acquire ordering.
    fn status(&self, slot: u32) -> u32;

    /// All dwords of a slot of the ring.
    fn record(&self, slot: u32) -> [u32; record::DWORDS];

    /// The state of the context; acknowledges its events. [`Error::Gone`], or
    /// [`state::GONE`](uapi::state::GONE), if the board is gone.
    fn query(&self) -> Result<uapi::Query>;

    /// The same, but it acknowledges nothing; `None` where the driver has no such call.
    fn peek(&self) -> Result<Option<uapi::Query>> {
        Ok(None)
    }

    /// Waits for an event that no [`query`](Self::query) has acknowledged, for at most `limit`;
    /// `None`: for as long as it takes. `false`: none has come in time.
    fn await_event(&self, limit: Option<Duration>) -> Result<bool>;

    /// Names an eventfd that each event adds 1 to, or none any more.
    fn set_eventfd(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        let _ = eventfd;
        Err(Error::call(uapi::EventFd::NAME, Errno::OPNOTSUPP))
    }

    /// The context as a file that can be polled, where it is one.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Time as the board lives it: CLOCK_MONOTONIC, or simulated time.
    fn now(&self) -> Duration;

    /// A moment between two looks at the ring.
    fn pause(&self);

    /// Ends what the channel was given: what has not ended by itself after `drain`, a second at most, is
    /// aborted. Returns whether something had to be. Every descriptor has its record then.
    fn stop(&self, drain: Duration) -> Result<bool>;

    /// Sets how the channel's interrupts are held back.
    fn moderate(&self, moderation: Moderation) -> Result<()>;

    /// The slow path, where the driver has one.
    fn slow_path(&self) -> Option<&dyn SlowPath> {
        None
    }

    /// The board's window into FPGA memory, where the driver has one.
    fn window(&self) -> Option<&dyn BoardWindow> {
        None
    }

    /// Takes the OpenCL side of the board. What is returned keeps what it needs of the context alive.
    fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        Err(Error::no_opencl())
    }
}

/// Descriptors that the driver writes itself, one a call.
pub trait SlowPath {
    /// Has the driver write one descriptor. Fills in the cookie.
    fn submit(&self, descriptor: &mut uapi::Submit) -> Result<()>;

    /// Waits for a descriptor's end. `Ok(false)`: it has not ended at its deadline.
    fn wait(&self, ended: &mut uapi::Wait) -> Result<bool>;

    /// Has the board read a piece of a region, and says what it read.
    fn probe(&self, probe: &mut uapi::Probe) -> Result<()>;
}

/// The board's window into FPGA memory, which one context at a time holds.
pub trait BoardWindow {
    /// Takes, moves or gives back the window.
    fn place(&self, place: &uapi::Window) -> Result<()>;

    /// Maps it into the process.
    fn map(&self) -> Result<Mapping>;
}
