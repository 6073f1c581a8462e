// SPDX-License-Identifier: GPL-2.0

//! Memory of a dma-buf, for example of a GPU.
//!
//! This is a dynamic importer (Documentation/driver-api/dma-buf.rst). It pins the memory while it uses it, and still
//! releases it when the exporter invalidates it. The exporter decides whether its device and ours can reach each
//! other, as everywhere in the kernel: we report that we take peer-to-peer mappings, and the exporter refuses where
//! `pci_p2pdma_distance` or a rule of its own says so. [`crate::logic::refusal`] has the meaning of its errors.
//!
//! An exporter may move its memory as long as it is not pinned, and notifies all importers, even those that have
//! nothing mapped: for example by the pin itself (`amdgpu_dma_buf_pin`, `xe_dma_buf_pin`, both of which end in TTM's
//! `move_notify`). An import that is not mapped loses nothing.
//!
//! Some exporters give physical addresses where an IOMMU translates ([`crate::logic::bus`]); these addresses are
//! mapped for them. Addresses that cannot be the exporter's are refused ([`bar::may_be_of`]).

use super::{
    bar::{self, Bars, Mapped},
    told,
};
use crate::{
    ffi::{peerlane_is_translated, peerlane_references, raw_device},
    gate::Inside,
    logic::{
        att::Permissions,
        bus::{self, Meaning},
        layout::Segment,
        refusal::Asked,
    },
    mapping::Mapping,
};
use core::{cell::UnsafeCell, marker::PhantomPinned, ptr::null_mut};
use kernel::{
    bindings,
    device::{Bound, Device},
    do_once_lite,
    error::{from_err_ptr, to_result},
    prelude::*,
    sync::Arc,
    time::msecs_to_jiffies,
};

/// A dma-buf that is pinned for the board.
#[pin_data(PinnedDrop)]
pub(crate) struct Import {
    /// Dropped before the reference.
    _counted: Counted,
    buffer: Buffer,
    direction: bindings::dma_data_direction,
    /// The hardware's knowledge of it; stopped before the memory is released.
    mapping: Arc<Mapping>,
    attachment: UnsafeCell<*mut bindings::dma_buf_attachment>,
    /// Guarded by the buffer's reservation.
    state: UnsafeCell<State>,
    /// The exporter holds its address.
    #[pin]
    _pin: PhantomPinned,
}

/// How far the memory is pinned and mapped.
struct State {
    /// Null when nothing is mapped.
    table: *mut bindings::sg_table,
    /// The part of it that we have mapped.
    mapped: Option<Mapped>,
    /// Times that the exporter has moved it.
    moves: u32,
}

/// Times that memory is mapped again because its exporter has moved it while it was mapped, and that it is waited for
/// again because its owner has begun another operation.
const ATTEMPTS: u32 = 4;
/// Longest wait in all, and interval at which the gate is looked at, in milliseconds.
const PATIENCE_MS: u32 = 10_000;
const SLICE_MS: u32 = 100;

// SAFETY: `attachment` is written once, in `new`; `state` is guarded as it says.
unsafe impl Send for Import {}
// SAFETY: as above.
unsafe impl Sync for Import {}

/// Exporter of a dma-buf: a module that stays as long as the buffer, or null, and its functions.
#[derive(Clone, Copy)]
pub(crate) struct Exporter(*mut bindings::module, *const bindings::dma_buf_ops);

impl PartialEq for Exporter {
    /// Compares the modules; without a module, the functions. A module may have several kinds of buffers. Exporters
    /// that are built into the kernel have no module.
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 && (!self.0.is_null() || self.1 == other.1)
    }
}

/// `FMODE_WRITE` of include/linux/fs.h.
const FMODE_WRITE: u32 = 1 << 1;

/// A reference to a dma-buf.
pub(crate) struct Buffer(*mut bindings::dma_buf);

// SAFETY: dma-bufs are counted, and locked by themselves.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Returns the dma-buf of a file descriptor of the calling process.
    pub(crate) fn from_fd(fd: i32) -> Result<Self> {
        // SAFETY: any number may be asked for.
        from_err_ptr(unsafe { bindings::dma_buf_get(fd) }).map(Self)
    }

    /// Returns an identity of the buffer. As long as a reference to it is held, no other buffer has the same.
    pub(crate) fn identity(&self) -> u64 {
        self.0 as u64
    }

    /// Returns its length in bytes.
    pub(crate) fn length(&self) -> u64 {
        // SAFETY: we hold a reference, and it is not changed.
        unsafe { (*self.0).size as u64 }
    }

    /// Returns its exporter.
    pub(crate) fn exporter(&self) -> Exporter {
        // SAFETY: as above.
        unsafe { Exporter((*self.0).owner, (*self.0).ops) }
    }

    /// Whether its file is open for writing, as its exporter has opened it: it cannot be opened again.
    fn is_writable(&self) -> bool {
        // SAFETY: as above.
        unsafe { (*(*self.0).file).f_mode & FMODE_WRITE != 0 }
    }

    /// Whether a process can name it, or another device has it. A buffer to which only imports of this driver hold
    /// references, for any board, cannot be registered again: no process has a descriptor of it.
    pub(crate) fn is_named(&self) -> bool {
        let imports = IMPORTS.lock();
        let ours = imports.iter().filter(|import| **import == self.identity());
        // SAFETY: as above.
        unsafe { peerlane_references((*self.0).file) as usize > ours.count() }
    }

    /// Calls `f` with the reservation locked.
    fn reserved<R>(&self, f: impl FnOnce() -> R) -> Result<R> {
        // SAFETY: we hold a reference. Without a context the lock is taken plainly.
        unsafe {
            let reservation = (*self.0).resv;
            to_result(bindings::dma_resv_lock(reservation, null_mut()))?;
            let result = f();
            bindings::dma_resv_unlock(reservation);
            Ok(result)
        }
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        // SAFETY: we hold a reference; this takes another. (What `get_dma_buf` does.)
        unsafe { bindings::get_file((*self.0).file) };
        Self(self.0)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { bindings::dma_buf_put(self.0) }
    }
}

kernel::sync::global_lock! {
    // SAFETY: `init` is called before there is a board.
    /// The buffer of each import, of all boards. It is taken inside of all other locks of the driver's.
    unsafe(uninit) static IMPORTS: Mutex<KVec<u64>> = KVec::new();
}

/// Prepares this file.
///
/// # Safety
/// Called once, before anything else here.
pub(crate) unsafe fn init() {
    // SAFETY: by contract.
    unsafe { IMPORTS.init() }
}

/// An import that is counted. As long as it exists, we have a reference to its buffer.
struct Counted(u64);

impl Counted {
    fn new(buffer: &Buffer) -> Result<Self> {
        IMPORTS.lock().push(buffer.identity(), GFP_KERNEL_ACCOUNT)?;
        Ok(Self(buffer.identity()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut imports = IMPORTS.lock();
        // The last one takes its place.
        let last = imports.pop();
        let mine = imports.iter_mut().find(|import| **import == self.0);
        if let (Some(last), Some(mine)) = (last.filter(|last| *last != self.0), mine) {
            *mine = last;
        }
        if imports.is_empty() {
            // The memory of the list is not freed when the module goes.
            *imports = KVec::new();
        }
    }
}

static OPS: bindings::dma_buf_attach_ops = bindings::dma_buf_attach_ops {
    allow_peer2peer: true,
    #[cfg(PEERLANE_HAS_DMA_BUF_INVALIDATE)]
    invalidate_mappings: Some(invalidate),
    // Its name on older kernels.
    #[cfg(not(PEERLANE_HAS_DMA_BUF_INVALIDATE))]
    move_notify: Some(invalidate),
};

/// # Safety
/// Called by the exporter with one of our attachments, its reservation locked.
unsafe extern "C" fn invalidate(attachment: *mut bindings::dma_buf_attachment) {
    // SAFETY: `new` stored it; it is detached before it goes, which waits for the reservation.
    let import = unsafe { &*(*attachment).importer_priv.cast::<Import>() };
    // SAFETY: the reservation is locked; the reference is gone before the calls below.
    let state = unsafe { &mut *import.state.get() };
    state.moves = state.moves.wrapping_add(1);
    if state.table.is_null() {
        // The memory is not mapped yet, or not any more: the board cannot reach it, and the state may not be
        // accessed. We may be called from within our own pin.
        return;
    }
    import.mapping.revoke();
    // SAFETY: the reservation is locked, and the hardware does not use the memory any more.
    unsafe { import.unmap() };
    import.mapping.evict_if_cached();
}

impl Import {
    /// Attaches to a buffer and maps it for the device. Also returns its segments on the bus. `EACCES`: the board is
    /// to write, and the buffer's file is not open for that.
    ///
    /// Takes the buffer's reservation.
    pub(crate) fn new(
        inside: &Inside<'_>,
        buffer: Buffer,
        permissions: Permissions,
        any_distance: bool,
        mapping: Arc<Mapping>,
    ) -> Result<(Pin<KBox<Self>>, KVVec<Segment>)> {
        let device = inside.device();
        if permissions.write() && !buffer.is_writable() {
            return Err(EACCES);
        }
        let counted = Counted::new(&buffer)?;
        let import = KBox::pin_init(
            pin_init!(Self {
                _counted: counted,
                buffer,
                direction: super::direction(permissions),
                mapping,
                attachment: UnsafeCell::new(null_mut()),
                state: UnsafeCell::new(State {
                    table: null_mut(),
                    mapped: None,
                    moves: 0,
                }),
                _pin: PhantomPinned,
            }),
            GFP_KERNEL_ACCOUNT,
        )?;
        let pointer = core::ptr::from_ref(&*import).cast_mut().cast();
        // SAFETY: `import` is pinned and detaches when it is dropped.
        let attachment = from_err_ptr(unsafe {
            bindings::dma_buf_dynamic_attach(import.buffer.0, raw_device(device), &OPS, pointer)
        })
        .map_err(|error| Self::refused(device, Asked::Attach, error))?;
        // SAFETY: no other thread looks at it yet: callbacks come only for mapped memory.
        unsafe { *import.attachment.get() = attachment };
        let mapped = import.buffer.reserved(|| {
            // SAFETY: attached, and the reservation is locked.
            unsafe { import.map(attachment) }
        })?;
        mapped.map_err(|error| Self::refused(device, Asked::Map, error))?;
        let segments = import.settled(inside, any_distance)?;
        Ok((import, segments))
    }

    /// Returns the buffer.
    pub(super) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the exporter of the memory.
    pub(super) fn exporter(&self) -> Exporter {
        self.buffer.exporter()
    }

    /// Translates an error of the exporter for the caller.
    fn refused(device: &Device<Bound>, asked: Asked, error: Error) -> Error {
        let says = told(asked, error);
        if says != error {
            // Once, as users can make it happen as often as they like.
            do_once_lite! {
                dev_warn!(
                    device,
                    "the driver that exports a dma-buf refuses it to the board: error {}\n",
                    error.to_errno()
                );
            }
        }
        says
    }

    /// # Safety
    /// The reservation is locked.
    unsafe fn map(&self, attachment: *mut bindings::dma_buf_attachment) -> Result {
        // SAFETY: by contract; each step is undone by `unmap`, or here.
        unsafe {
            to_result(bindings::dma_buf_pin(attachment))?;
            match self.map_pinned(attachment) {
                Ok(table) => (*self.state.get()).table = table,
                Err(error) => {
                    bindings::dma_buf_unpin(attachment);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Returns the segments of the mapped memory on the bus, as soon as its owner's operations on it are over, for
    /// example a move to this place. A signal ends the wait, and so does the gate when it closes.
    ///
    /// A process may influence how long that takes, and others need the reservation in the meantime: so it is not
    /// held.
    fn settled(&self, inside: &Inside<'_>, any_distance: bool) -> Result<KVVec<Segment>> {
        let device = inside.device();
        let bars = Bars::all()?;
        let usage = bindings::dma_resv_usage_DMA_RESV_USAGE_KERNEL;
        // SAFETY: we hold a reference, and it is not changed.
        let reservation = unsafe { (*self.buffer.0).resv };
        let mut left = msecs_to_jiffies(PATIENCE_MS);
        let mut attempts = ATTEMPTS;
        while left > 0 && attempts > 0 {
            let slice = left.min(msecs_to_jiffies(SLICE_MS));
            // SAFETY: it takes references of its own to the fences, and needs no lock.
            let waited =
                unsafe { bindings::dma_resv_wait_timeout(reservation, usage, true, slice) };
            // The rest of the slice; more may be left if its fences were over at once.
            let rest = usize::try_from(waited).map_err(|_| Error::from_errno(waited as i32))?;
            left -= slice.saturating_sub(rest);
            if rest == 0 {
                if inside.is_closing() {
                    return Err(ENODEV);
                }
                continue;
            }
            attempts -= 1;
            let segments = self.buffer.reserved(|| {
                // SAFETY: the reservation is locked; no other reference to the state exists.
                unsafe {
                    if (*self.state.get()).table.is_null() {
                        // Invalidated in the meantime.
                        return Some(Err(ESTALE));
                    }
                    bindings::dma_resv_test_signaled(reservation, usage)
                        .then(|| self.segments(device, &bars, any_distance))
                }
            })?;
            if let Some(segments) = segments {
                return segments;
            }
        }
        Err(ETIMEDOUT)
    }

    /// Maps pinned memory. An exporter that moves it during this notifies us; its table may then be that of the old
    /// place.
    ///
    /// # Safety
    /// The reservation is locked, and the attachment pinned.
    unsafe fn map_pinned(
        &self,
        attachment: *mut bindings::dma_buf_attachment,
    ) -> Result<*mut bindings::sg_table> {
        for _ in 0..ATTEMPTS {
            // SAFETY: by contract.
            unsafe {
                let moves = (*self.state.get()).moves;
                let table = bindings::dma_buf_map_attachment(attachment, self.direction);
                let table = from_err_ptr(table)?;
                if (*self.state.get()).moves == moves {
                    return Ok(table);
                }
                bindings::dma_buf_unmap_attachment(attachment, table, self.direction);
            }
        }
        Err(ESTALE)
    }

    /// Returns the segments of the mapped memory on the bus.
    ///
    /// # Safety
    /// The reservation is locked, and the memory mapped.
    unsafe fn segments(
        &self,
        device: &Device<Bound>,
        bars: &Bars,
        any_distance: bool,
    ) -> Result<KVVec<Segment>> {
        // SAFETY: by contract; no other reference exists.
        let state = unsafe { &mut *self.state.get() };
        // SAFETY: by contract.
        let mut segments = unsafe { super::segments(device, state.table, self.buffer.length())? };
        // SAFETY: a valid device.
        let translated = unsafe { peerlane_is_translated(raw_device(device)) };
        let mut mapped = Mapped::new(device, self.direction, 0)?;
        for segment in segments.iter_mut() {
            match self.meaning(device, bars, translated, segment) {
                Meaning::Mapped => {}
                Meaning::Physical => {
                    // The exporter leaves it to us.
                    if !any_distance {
                        bar::near(device, bars, core::slice::from_ref(segment))?;
                    }
                    *segment = mapped.map(*segment)?;
                }
                Meaning::Unclear => {
                    do_once_lite! {
                        dev_err!(
                            device,
                            "a dma-buf's bus address {:#x} may be an untranslated one of a BAR: update the exporter's driver, or boot with iommu=pt\n",
                            segment.address
                        );
                    }
                    return Err(EPROTO);
                }
            }
            if !bar::may_be_of(device, bars, segment, self.buffer.exporter().0) {
                do_once_lite! {
                    dev_err!(
                        device,
                        "a dma-buf's bus address {:#x} is neither in a BAR of its exporter's device nor the machine's memory\n",
                        segment.address
                    );
                }
                return Err(EPROTO);
            }
        }
        if translated {
            state.mapped = Some(mapped);
        }
        Ok(segments)
    }

    /// Returns the meaning of a bus address of the exporter's.
    fn meaning(
        &self,
        device: &Device<Bound>,
        bars: &Bars,
        translated: bool,
        segment: &Segment,
    ) -> Meaning {
        let Exporter(exporter, _) = self.buffer.exporter();
        let bar = bars.with(segment.address).filter(|_| translated);
        let route = bar.map(|bar| bar.route(device));
        // If the address is of another bridge, only the exporter's own BARs count.
        let route = match (route, bar) {
            (Some(bus::Route::OtherBridge), Some(bar)) if !bar.is_driven_by(exporter) => None,
            (route, _) => route,
        };
        let target = || bar::target(device, bars, segment.address, exporter);
        match bus::meaning(translated, route, target) {
            Meaning::Physical if !bar.is_some_and(|bar| bar.contains(segment)) => Meaning::Unclear,
            meaning => meaning,
        }
    }

    /// Releases the memory, once.
    ///
    /// # Safety
    /// The reservation is locked, and the hardware does not use the memory any more.
    unsafe fn unmap(&self) {
        // SAFETY: by contract.
        unsafe {
            let (table, mapped) = {
                let state = &mut *self.state.get();
                let table = core::mem::replace(&mut state.table, null_mut());
                (table, state.mapped.take())
            };
            drop(mapped);
            if !table.is_null() {
                let attachment = *self.attachment.get();
                bindings::dma_buf_unmap_attachment(attachment, table, self.direction);
                bindings::dma_buf_unpin(attachment);
            }
        }
    }
}

#[pinned_drop]
impl PinnedDrop for Import {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: written once, in `new`.
        let attachment = unsafe { *self.attachment.get() };
        if attachment.is_null() {
            return;
        }
        // A region whose entries the board still has is never dropped.
        // SAFETY: the reservation is locked.
        let unmapped = self.buffer.reserved(|| unsafe { self.unmap() });
        // Without a context the lock cannot fail.
        debug_assert!(unmapped.is_ok());
        // SAFETY: nothing is mapped any more.
        unsafe { bindings::dma_buf_detach(self.buffer.0, attachment) };
    }
}
