//! Memory that the board can reach.

use crate::bounds::check;
use crate::device::{Device, Shared};
use crate::ends::{Access, Patch, is_ragged};
use crate::error::{Error, Result};
use crate::flow::Keep;
use crate::memory::Memory;
use crate::sys::{Argument, Process};
use peerlane_core::att::{AttAddress, Permissions};
use peerlane_core::descriptor::Direction;
use peerlane_core::extent::Extents;
use peerlane_core::region::RegionError;
use peerlane_core::uapi::{Probe, Register, access, provider, state, unregister};
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

impl Keep for Region {
    fn stands(&self) -> bool {
        !self.0.forgotten.load(Ordering::Relaxed)
    }
}

/// Memory that the board can reach. Clones are the same region. When the last one is dropped, the region is
/// unregistered, but may stay cached: registering the same memory again is cheap then.
#[derive(Debug, Clone)]
pub struct Region(Arc<Inner>);

/// A region that is [held](Region::hold): it cannot be invalidated.
#[derive(Debug)]
#[must_use = "it is held until this is dropped"]
pub struct HeldRegion(Region);

impl HeldRegion {
    /// Returns the region.
    pub fn region(&self) -> &Region {
        &self.0
    }
}

impl Drop for HeldRegion {
    fn drop(&mut self) {
        self.0.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Inner {
    device: Arc<Shared>,
    handle: u32,
    extents: Extents,
    length: u64,
    permissions: Permissions,
    /// [`Register::proof`].
    proof: u64,
    found: bool,
    /// The process that registered it: a child's copy unregisters nothing.
    owner: Process,
    /// A thread has begun to invalidate it.
    forgotten: AtomicBool,
    /// The driver must not cache it.
    discarded: AtomicBool,
    /// A write without a flush was submitted for it.
    unflushed: AtomicBool,
    /// Number of holders.
    held: AtomicU32,
    /// It is unregistered. Locked during the driver's call.
    gone: Mutex<bool>,
    /// Way in which the library writes it. This keeps memory of the library's own alive.
    access: OnceLock<Access>,
    /// Keeps other memory in place. The driver does not need that, except for bus addresses.
    memory: Option<Arc<dyn Any + Send + Sync>>,
}

/// A part of a region, which a transfer moves. A whole region is one, too.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    pub(crate) region: &'a Region,
    /// First byte.
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl<'a> From<&'a Region> for Part<'a> {
    fn from(region: &'a Region) -> Self {
        region.part(0..region.length())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let gone = *self.gone.get_mut().unwrap_or_else(PoisonError::into_inner);
        if gone || self.owner != Process::current() {
            return;
        }
        // A region whose invalidation failed is not cached.
        let not = [&self.forgotten, &self.discarded];
        let is_kept = !not.iter().any(|flag| flag.load(Ordering::Relaxed));
        let context = &*self.device.context;
        // A driver that caches the region does not flush it.
        let mut has_arrived = || !*self.unflushed.get_mut() || context.flush(self.handle).is_ok();
        let flags = match is_kept && has_arrived() {
            true => unregister::KEEP,
            false => 0,
        };
        // The device may be gone, and the region with it.
        let forgotten = self.device.unregister(self.handle, flags);
        if let (Err(_), Some(memory)) = (forgotten, self.memory.take()) {
            context.keep(self.handle, Box::new((memory, self.access.take())));
        }
    }
}

impl Device {
    /// Registers a part of memory.
    ///
    /// A region takes an entry of the board's address translation table for each page of 4 KiB, 64 KiB or 2 MiB: the
    /// largest size that fits all of its contiguous pieces. Host memory may have pages of 4 KiB at its start and end,
    /// and larger ones between ([`Region::extents`], [`one_page_size`](Self::one_page_size)). The table has
    /// [`att_entries`](peerlane_core::capability::Capabilities::att_entries) entries for all contexts of the board
    /// together: the 4096 entries of the default build are 16 MiB of memory in pages of 4 KiB, or 8 GiB of memory in
    /// pieces of 2 MiB ([`Memory::huge`]).
    ///
    /// On a board with [`PROVED_PEERS`](peerlane_core::uapi::feature::PROVED_PEERS) another device's memory is
    /// registered for reading only if the board can read it. The first registration tries that:
    /// [`Device::proved_only`].
    ///
    /// With [`Permissions::Write`] alone the kernel's device reports the end of a write before its data are proven to
    /// have arrived; [`Permissions::ReadWrite`] lets the board prove that. This applies to all kinds of registration
    /// ([`access::WRITE`]).
    ///
    /// # Errors
    /// [`Error::Bounds`], [`Error::Empty`]; [`Error::Call`] with `ENOSPC`, `EDQUOT` or `ENOMEM` if there is no room,
    /// and [`Error::AttFull`] of a driver in the process; [`Error::TooLarge`] if there can never be room. Such memory
    /// is copied by [`Queue::copy_to_fpga`](crate::Queue::copy_to_fpga) and
    /// [`copy_from_fpga`](crate::Queue::copy_from_fpga).
    pub fn register(
        &self,
        memory: &Memory,
        range: Range<usize>,
        permissions: Permissions,
    ) -> Result<Region> {
        let Range { start, end } = range;
        let length = end.saturating_sub(start);
        check("memory", memory.length(), start, length)?;
        let request = Register {
            provider: memory.provider(),
            address: memory.address() + start as u64,
            length: length as u64,
            fd: -1,
            ..Default::default()
        };
        let region = Region::new(self, request, permissions)?;
        Ok(region.with(Access::Memory(memory.clone(), start)))
    }

    /// Registers all of a memory.
    pub fn register_all(&self, memory: &Memory, permissions: Permissions) -> Result<Region> {
        self.register(memory, 0..memory.length(), permissions)
    }

    /// Registers memory of this process by its address.
    ///
    /// # Safety
    /// The board may write the memory until the region has been [invalidated](Region::forget), or is dropped and no
    /// transfer with it is under way. For as long, no other code may hold references into it. Memory that is unmapped
    /// in the meantime is cut off from the board. But the mapping must not change, from mapped to unmapped or back,
    /// until a write to it has ended that does not begin and end at a multiple of the board's
    /// [granularity](peerlane_core::capability::Capabilities::write_granularity): this process copies the ends of such
    /// a write to the memory that is mapped at their address then. By VFIO, a region whose memory was unmapped must be
    /// forgotten before a [reset](crate::driver::Driver::reset) that follows [`Error::Gone`]: the reset pins the memory
    /// that is mapped at its address then.
    ///
    /// That copy needs a mapping that may be written: after `mprotect(PROT_READ)` the write fails with
    /// [`Fault::AttInvalid`](crate::Fault::AttInvalid) when its middle is written. In the meantime no other write of
    /// the queue ends: a thread that serves page faults of the memory (userfaultfd) must not wait for one.
    pub unsafe fn register_address(
        &self,
        address: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<Region> {
        let request = Register {
            provider: provider::HOST,
            address,
            length,
            fd: -1,
            ..Default::default()
        };
        let region = Region::new(self, request, permissions)?;
        Ok(region.with(Access::Process(address)))
    }

    /// Registers `length` bytes at `offset` of a dma-buf. The region remains when the descriptor is closed.
    pub fn register_dmabuf(
        &self,
        dmabuf: impl AsFd,
        offset: u64,
        length: u64,
        permissions: Permissions,
    ) -> Result<Region> {
        let request = Register {
            provider: provider::DMABUF,
            address: offset,
            length,
            fd: dmabuf.as_fd().as_raw_fd(),
            ..Default::default()
        };
        Region::new(self, request, permissions)
    }

    /// Registers memory of an NVIDIA GPU by its device pointer. `identity` is the buffer's
    /// `CU_POINTER_ATTRIBUTE_BUFFER_ID`, because addresses are used again and identities are not.
    ///
    /// # Safety
    /// The board may write the memory until the region has been [invalidated](Region::forget), or is dropped and no
    /// transfer with it is under way. The caller must have the right to open all of it, from `address` on, to the
    /// board: no other code relies on its bytes for as long. (Buffers of safe code are such memory, too: any pointer of
    /// the process names one.) Memory that is freed in the meantime is cut off from the board.
    ///
    /// ```compile_fail,E0133
    /// # use peerlane_host::{Device, Permissions, Region, Result};
    /// fn anywhere(device: &Device, pointer: u64) -> Result<Region> {
    ///     device.register_nvidia(pointer, 65_536, 1, Permissions::Write)
    /// }
    /// ```
    pub unsafe fn register_nvidia(
        &self,
        address: u64,
        length: u64,
        identity: u64,
        permissions: Permissions,
    ) -> Result<Region> {
        let request = Register {
            provider: provider::NVIDIA,
            address,
            length,
            identity,
            fd: -1,
            ..Default::default()
        };
        Region::new(self, request, permissions)
    }

    /// Registers memory of another device by its bus address, where the board's driver is in the process and takes such
    /// addresses. `keep` is dropped when the memory is unregistered. The driver may be locked then, so its drop must
    /// not use the device.
    ///
    /// The kernel's driver takes no bus addresses, from any process. A bus address refers to whichever memory lies
    /// there, and no exporter reports that the memory has changed its owner. GPU memory is registered as a dma-buf
    /// ([`register_dmabuf`](Self::register_dmabuf)), whose exporter reports that.
    ///
    /// # Safety
    /// The addresses are memory of a device. The caller has the right to open all of it to the board, until `keep` is
    /// dropped.
    ///
    /// # Errors
    /// [`Error::Call`] with `EOPNOTSUPP` where the driver takes no bus addresses, and as [`register`](Self::register).
    pub unsafe fn register_bus(
        &self,
        address: u64,
        length: u64,
        permissions: Permissions,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Result<Region> {
        let request = Register {
            address,
            length,
            fd: -1,
            ..Default::default()
        };
        // SAFETY: the caller promises it.
        let enter = |request: &mut Register| unsafe { self.context().register_bus(request) };
        Region::entered(self, request, permissions, Some(keep), enter)
    }
}

impl Region {
    fn new(device: &Device, register: Register, permissions: Permissions) -> Result<Self> {
        let enter = |request: &mut Register| {
            request.flags |= device.mixed_flag(request.provider);
            device.context().register(request)
        };
        Self::entered(device, register, permissions, None, enter)
    }

    /// Returns the region with the way in which the library writes it.
    fn with(self, access: Access) -> Self {
        // The access was not set before.
        let _ = self.0.access.set(access);
        self
    }

    fn entered(
        device: &Device,
        mut register: Register,
        permissions: Permissions,
        memory: Option<Arc<dyn Any + Send + Sync>>,
        enter: impl FnOnce(&mut Register) -> Result<()>,
    ) -> Result<Self> {
        if register.length == 0 {
            return Err(Error::Empty { what: "a region" });
        }
        register.access = match permissions {
            Permissions::Read => access::READ,
            Permissions::Write => access::WRITE,
            Permissions::ReadWrite => access::READ | access::WRITE,
        };
        register.flags = device.proof_flag();
        enter(&mut register)?;
        let Some(extents) = register.extents() else {
            // The region is not usable.
            let _ = device.shared().unregister(register.handle, 0);
            return Err(Error::Broken {
                reason: format!("{register:?} has no place of a region"),
            });
        };
        Ok(Self(Arc::new(Inner {
            extents,
            device: Arc::clone(&device.0),
            handle: register.handle,
            length: register.length,
            permissions,
            proof: register.proof,
            found: register.found != 0,
            owner: Process::current(),
            forgotten: AtomicBool::new(false),
            discarded: AtomicBool::new(false),
            unflushed: AtomicBool::new(false),
            held: AtomicU32::new(0),
            gone: Mutex::new(false),
            access: OnceLock::new(),
            memory,
        })))
    }

    /// Returns a part of it, for a transfer. The submission checks that the part lies in the region.
    pub fn part(&self, bytes: Range<u64>) -> Part<'_> {
        Part {
            region: self,
            offset: bytes.start,
            length: bytes.end.saturating_sub(bytes.start),
        }
    }

    /// Returns the driver's name for it in this context.
    pub fn handle(&self) -> u32 {
        self.0.handle
    }

    /// Returns the ATT address of its first byte. The addresses of the next bytes follow, in memory of a GPU and where
    /// the device [registers pages of one size](Device::one_page_size). Otherwise see [`extents`](Self::extents).
    pub fn att_address(&self) -> AttAddress {
        self.0.extents.first()
    }

    /// Returns its pieces with consecutive ATT addresses: up to three in memory of a process. A descriptor must not
    /// cross from one to the next; a [`Queue`](crate::Queue) splits transfers there.
    pub fn extents(&self) -> &Extents {
        &self.0.extents
    }

    /// Returns the number of bytes.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// Returns the permissions of the board.
    pub fn permissions(&self) -> Permissions {
        self.0.permissions
    }

    /// Returns whether the board only writes it, though it was registered for reading: reads were lost since then, and
    /// its device may be the cause. This is the state at the last [`Device::query`], by the program or by the device's
    /// queue.
    pub fn is_doubted(&self) -> bool {
        self.0.device.doubts(self.0.proof)
    }

    /// Returns whether the board may read it, so that it can also prove that writes have arrived.
    pub(crate) fn is_readable(&self) -> bool {
        self.permissions().read() && !self.is_doubted()
    }

    /// Returns whether it was still registered from an earlier registration.
    pub fn found(&self) -> bool {
        self.0.found
    }

    /// Sets the function that writes a few bytes of it where the board cannot: at the ends of a write that does not
    /// begin and end at multiples of the board's
    /// [granularity](peerlane_core::capability::Capabilities::write_granularity). It is for memory that only its owner
    /// reaches, such as a GPU's. Without it, [`Queue::submit`](crate::Queue::submit) refuses such a write. Only the
    /// first call has an effect, and none does for memory that the library writes itself.
    pub fn set_patch(&self, patch: Arc<dyn Patch>) {
        let _ = self.0.access.set(Access::Owner(patch));
    }

    /// Returns the places of some of its bytes at the board. The bytes must lie in the region.
    pub(crate) fn places(&self, offset: u64, length: u64) -> Result<Extents> {
        if length == 0 {
            return Err(Error::Empty { what: "a transfer" });
        }
        let places = self.0.extents.part(offset, length);
        places.ok_or_else(|| Error::Broken {
            reason: format!(
                "{length} bytes at offset {offset:#x} of a region have no ATT addresses"
            ),
        })
    }

    /// Returns the ATT address of the first of `length` bytes that one descriptor moves.
    pub(crate) fn place(&self, offset: u64, length: u64) -> Result<AttAddress> {
        match self.places(offset, length)?.one_extent() {
            Ok(address) => Ok(address),
            Err(extent) => Err(Error::Region(RegionError::Extent {
                offset,
                length,
                extent,
            })),
        }
    }

    /// Returns the way in which the library writes it, if it can.
    pub(crate) fn access(&self) -> Option<&Access> {
        self.0.access.get()
    }

    /// Checks that the board writes whole units from an address of it on, or that there is an access to it that `helps`
    /// with the ends.
    pub(crate) fn check_ends(
        &self,
        peer: AttAddress,
        length: u64,
        helps: impl FnOnce(&Access) -> bool,
    ) -> Result<()> {
        let granularity = self.0.device.write_granularity();
        match is_ragged(peer, length, granularity) {
            true if !self.access().is_some_and(helps) => Err(Error::Granularity {
                offset: self.0.extents.offset_of(peer).unwrap_or(0),
                length,
                granularity,
            }),
            _ => Ok(()),
        }
    }

    /// Invalidates the region now: when this returns `Ok`, for this handle or a clone, the board cannot reach the
    /// memory any more. Transfers with it that are under way fail.
    ///
    /// # Errors
    /// [`Error::Inherited`] in the child of a fork. [`Error::Call`] with `EBUSY` while a holder [holds](Self::hold) it:
    /// nothing has happened then. After an error of the driver, the board may still reach the memory; a clone can try
    /// it again, and so does the drop of the last one.
    pub fn forget(self) -> Result<()> {
        let region = &*self.0;
        if region.owner != Process::current() {
            return Err(Error::Inherited);
        }
        let mut gone = region.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if *gone {
            return Ok(());
        }
        // Under the lock that a new holder needs.
        if region.held.load(Ordering::Relaxed) > 0 {
            return Err(Error::call("UNREGISTER", Errno::BUSY));
        }
        // Between two descriptors: a descriptor that was made for this region must not be posted when its ATT entries
        // belong to another region.
        let forget = || region.forgotten.swap(true, Ordering::Relaxed);
        let again = region.device.between_descriptors(&forget);
        match region.device.unregister(region.handle, 0) {
            Ok(()) => {}
            // The driver could not do it at first, and has done it in the meantime.
            Err(Error::Call { source, .. }) if again && source == Errno::NOENT => {}
            Err(error) => return Err(error),
        }
        *gone = true;
        Ok(())
    }

    /// Cuts off a board that does not release it ([`Context::give_up`](crate::context::Context::give_up)).
    pub(crate) fn give_up(&self) {
        self.0.device.context.give_up();
    }

    /// Makes sure that all data that the board wrote to it before have arrived: the data of transfers that records
    /// reported, or that [`Device::stop`] ended. A [`Transfer`](crate::Transfer) does that by itself, except with
    /// [`Terms::no_flush`](crate::Terms::no_flush). Where the board may not read the memory, the kernel's device has no
    /// proof, and this waits for the time that such data need.
    ///
    /// # Errors
    /// [`Error::Gone`], and errors of the driver: the data may be on their way. [`Error::Call`] with `EAGAIN` while the
    /// board is being restarted, and with `ENOTTY` of a driver without [`FLUSH`](peerlane_core::uapi::feature::FLUSH).
    pub fn flush(&self) -> Result<()> {
        let gone = self.0.gone.lock().unwrap_or_else(PoisonError::into_inner);
        match *gone {
            true => Ok(()),
            false => {
                let flushed = self.0.device.context.flush(self.0.handle);
                flushed.inspect_err(|_| self.note_unflushed())
            }
        }
    }

    /// Holds it for code that gives the board its descriptors without the library's queue. Until the result is dropped,
    /// [`forget`](Self::forget) fails, because the entries of an invalidated region are used for another one.
    ///
    /// # Errors
    /// [`Error::Forgotten`].
    pub fn hold(&self) -> Result<HeldRegion> {
        let gone = self.0.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if *gone || !self.stands() {
            return Err(Error::Forgotten);
        }
        self.0.held.fetch_add(1, Ordering::Relaxed);
        Ok(HeldRegion(self.clone()))
    }

    /// Returns whether a transfer with it is under way, as far as records have come. Other clones count, too. On a
    /// board that is gone no transfer moves bytes ([`Error::Gone`]), nor does a transfer of the child of a fork. A transfer of [`Device::submit`] counts until its
    /// [`Submitted`](crate::Submitted) is dropped.
    pub fn is_in_use(&self) -> bool {
        let Some(queue) = self.0.device.queue() else {
            let may_move = self.0.owner == Process::current() && self.0.device.may_move();
            return may_move && self.is_shared();
        };
        queue.settle();
        let is_gone = || match queue.query() {
            Ok(query) => query.state & state::GONE != 0,
            Err(error) => matches!(error, Error::Gone),
        };
        let is_over = || is_gone() && queue.give_up();
        self.is_shared() && !queue.is_inherited() && !is_over()
    }

    /// Notes that a write to it was submitted that is not flushed.
    pub(crate) fn note_unflushed(&self) {
        self.0.unflushed.store(true, Ordering::Relaxed);
    }

    /// Returns whether no read of the board proves that writes to the region have arrived. Records push the data of
    /// writes to host memory.
    pub(crate) fn is_never_proven(&self) -> bool {
        let is_host = || self.0.access.get().is_some_and(Access::is_host);
        !self.is_readable() && !is_host()
    }

    /// Returns whether there is another clone of it, for example of a transfer under way.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Makes the driver not cache it when the last clone is dropped. This is for memory that is not registered again by
    /// the same name: a dma-buf that was exported for this region is a new one each time, and a cached region of it
    /// would only keep its memory allocated.
    pub fn do_not_keep(&self) {
        self.0.discarded.store(true, Ordering::Relaxed);
    }

    /// Lets the board read [`PROBE_BYTES`](peerlane_core::uapi::PROBE_BYTES) bytes at `offset` into FPGA memory at
    /// `local`, and returns them. Not every platform passes reads between peers, and some send them elsewhere and
    /// report no error. A probe is possible only before the device has a queue, and the device has none afterwards:
    /// open it once more for one. Memory of which reads fail takes writes if it is registered for
    /// [`Permissions::Write`] alone: otherwise the board reads back after the data.
    ///
    /// # Errors
    /// [`Error::Fault`] if the read failed; [`Error::Region`] and [`Error::Local`] if the bytes do not lie in the
    /// region and in the context's FPGA memory, or the board may not read them; [`Error::Call`] with `EBUSY` once the
    /// device has a queue, and with `EOPNOTSUPP` where the driver has no probes.
    pub fn probe(&self, offset: u64, local: u64) -> Result<[u8; peerlane_core::uapi::PROBE_BYTES]> {
        let length = peerlane_core::uapi::PROBE_BYTES as u64;
        self.check(Direction::ToFpga, offset, length)?;
        self.0.device.check_local(local, length)?;
        let mut probe = Probe {
            handle: self.0.handle,
            offset,
            local,
            ..Default::default()
        };
        self.0.device.slow_path(Probe::NAME)?.probe(&mut probe)?;
        crate::status::outcome(probe.status, |fault| Error::Fault {
            direction: Direction::ToFpga,
            fault,
            bytes_done: 0,
            length,
            offset: None,
        })?;
        Ok(probe.data)
    }

    /// Returns an error if it belongs to another device.
    pub(crate) fn check_device(&self, device: &Device) -> Result<()> {
        match Arc::ptr_eq(&self.0.device, &device.0) {
            true => Ok(()),
            false => Err(Error::Foreign),
        }
    }

    /// Checks a transfer, as far as the region's values show errors. The driver and the board check it too.
    pub(crate) fn check(&self, direction: Direction, offset: u64, length: u64) -> Result<()> {
        let region = self.0.length;
        let inside = (offset.checked_add(length)).is_some_and(|end| end <= region);
        let permissions = self.0.permissions;
        let permitted = match direction {
            Direction::FromFpga => permissions.write(),
            Direction::ToFpga => permissions.read(),
        };
        let error = match (inside, permitted) {
            (true, true) => return Ok(()),
            (false, _) => RegionError::Bounds {
                offset,
                length,
                region,
            },
            (true, false) => RegionError::Permission {
                direction,
                permissions,
            },
        };
        Err(Error::Region(error))
    }
}
