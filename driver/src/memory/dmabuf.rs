// SPDX-License-Identifier: GPL-2.0

//! Memory behind a dma-buf: a GPU's, for one.
//!
//! A dynamic importer (Documentation/driver-api/dma-buf.rst), which pins while it holds on and
//! still lets go when the exporter takes the memory back. That the exporter's device and ours can
//! reach each other is the exporter's to decide, as everywhere in the kernel: it is told that we
//! take peer-to-peer mappings, and refuses where `pci_p2pdma_distance` says so.

use crate::{
    ffi::raw_device,
    logic::{att::Permissions, layout::Segment},
    mapping::Mapping,
};
use core::{cell::UnsafeCell, ptr::null_mut};
use kernel::{
    bindings,
    device::{Bound, Device},
    error::{from_err_ptr, to_result},
    prelude::*,
    sync::Arc,
};

/// A dma-buf that is held for the board.
#[pin_data(PinnedDrop)]
pub(crate) struct Import {
    buffer: Buffer,
    direction: bindings::dma_data_direction,
    /// What the hardware knows of it; stopped before the memory is let go.
    mapping: Arc<Mapping>,
    attachment: UnsafeCell<*mut bindings::dma_buf_attachment>,
    /// Null when nothing is mapped. Guarded by the buffer's reservation.
    table: UnsafeCell<*mut bindings::sg_table>,
}

// SAFETY: `attachment` is written once, in `new`; `table` is guarded as it says.
unsafe impl Send for Import {}
// SAFETY: as above.
unsafe impl Sync for Import {}

/// A reference to a dma-buf.
pub(crate) struct Buffer(*mut bindings::dma_buf);

// SAFETY: dma-bufs are counted, and locked by themselves.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The dma-buf behind a file descriptor of the calling process.
    pub(crate) fn from_fd(fd: i32) -> Result<Self> {
        // SAFETY: any number may be asked for.
        from_err_ptr(unsafe { bindings::dma_buf_get(fd) }).map(Self)
    }

    /// Which buffer it is. As long as a reference to it is held, no other has the same.
    pub(crate) fn identity(&self) -> u64 {
        self.0 as u64
    }

    /// Runs with the reservation locked.
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

static OPS: bindings::dma_buf_attach_ops = bindings::dma_buf_attach_ops {
    allow_peer2peer: true,
    invalidate_mappings: Some(invalidate),
};

/// # Safety
/// Called by the exporter with one of our attachments, its reservation locked.
unsafe extern "C" fn invalidate(attachment: *mut bindings::dma_buf_attachment) {
    // SAFETY: `new` stored it; it is detached before it goes, which waits for the reservation.
    let import = unsafe { &*(*attachment).importer_priv.cast::<Import>() };
    import.mapping.revoke();
    // SAFETY: the reservation is locked, and the hardware has let go.
    unsafe { import.unmap() };
}

impl Import {
    /// Attaches to a buffer and maps it for the device. Also says where on the bus it lies.
    ///
    /// Takes the buffer's reservation.
    pub(crate) fn new(
        device: &Device<Bound>,
        buffer: Buffer,
        permissions: Permissions,
        mapping: Arc<Mapping>,
    ) -> Result<(Pin<KBox<Self>>, KVVec<Segment>)> {
        let import = KBox::pin_init(
            pin_init!(Self {
                buffer,
                direction: super::direction(permissions),
                mapping,
                attachment: UnsafeCell::new(null_mut()),
                table: UnsafeCell::new(null_mut()),
            }),
            GFP_KERNEL,
        )?;
        let pointer = core::ptr::from_ref(&*import).cast_mut().cast();
        // SAFETY: `import` is pinned and detaches when it is dropped.
        let attachment = from_err_ptr(unsafe {
            bindings::dma_buf_dynamic_attach(import.buffer.0, raw_device(device), &OPS, pointer)
        })?;
        // SAFETY: nobody looks at it yet: callbacks come for what is mapped.
        unsafe { *import.attachment.get() = attachment };
        let segments = import.buffer.reserved(|| {
            // SAFETY: attached, and the reservation is locked.
            unsafe { import.map(attachment) }
        })?;
        let segments = segments.map_err(|error| match error {
            // The exporter's device is not ours.
            error if error == ENODEV => ESTALE,
            error => error,
        })?;
        Ok((import, segments))
    }

    /// # Safety
    /// The reservation is locked.
    unsafe fn map(&self, attachment: *mut bindings::dma_buf_attachment) -> Result<KVVec<Segment>> {
        // SAFETY: by contract; each step is undone by `unmap`, or here.
        unsafe {
            to_result(bindings::dma_buf_pin(attachment))?;
            let table =
                match from_err_ptr(bindings::dma_buf_map_attachment(attachment, self.direction)) {
                    Ok(table) => table,
                    Err(error) => {
                        bindings::dma_buf_unpin(attachment);
                        return Err(error);
                    }
                };
            *self.table.get() = table;
            // What the owner does with the memory has to be over: moving it here, for one.
            let waited = bindings::dma_resv_wait_timeout(
                (*self.buffer.0).resv,
                bindings::dma_resv_usage_DMA_RESV_USAGE_KERNEL,
                true,
                kernel::time::msecs_to_jiffies(10_000),
            );
            let segments = match waited {
                1.. => super::segments(table),
                0 => Err(ETIMEDOUT),
                error => Err(Error::from_errno(error as i32)),
            };
            if segments.is_err() {
                self.unmap();
            }
            segments
        }
    }

    /// Lets the memory go, once.
    ///
    /// # Safety
    /// The reservation is locked, and the hardware does not use the memory any more.
    unsafe fn unmap(&self) {
        // SAFETY: by contract.
        unsafe {
            let table = core::mem::replace(&mut *self.table.get(), null_mut());
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
        // Nobody drops a region whose entries the board still has.
        // SAFETY: the reservation is locked.
        let unmapped = self.buffer.reserved(|| unsafe { self.unmap() });
        // Without a context the lock cannot fail.
        debug_assert!(unmapped.is_ok());
        // SAFETY: nothing is mapped any more.
        unsafe { bindings::dma_buf_detach(self.buffer.0, attachment) };
    }
}
