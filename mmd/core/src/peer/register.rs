//! Registers a peer's memory with a board: by a dma-buf, by a GPU's pointer, by another OpenCL's buffer.

use super::opencl::{OpenCl, cl_mem, cl_mem_flags};
use super::{PeerMemory, Peers, cl_peer_memory_peerlane};
use crate::board::Board;
use crate::code::{
    CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_PEER_NOT_SUPPORTED_PEERLANE, code, gave, refused,
    refused_once,
};
use crate::messages::say;
use peerlane_host::cache::NoRoom as _;
use peerlane_host::peerlane_core::uapi::feature;
use peerlane_host::{Device, Error, Pages, Permissions, Region};
use peerlane_opencl_api::Lookup;
use peerlane_opencl_api::sys::{
    CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_SIZE,
    CL_MEM_WRITE_ONLY,
};
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

/// Bytes by which a buffer's memory may be larger than the buffer, if the memory is the buffer's alone: the largest
/// page that Intel's runtime rounds up to. Buffers that it makes parts of larger ones are an exception (`isPoolBuffer`,
/// opencl/source/mem_obj of compute-runtime).
const ROUNDED: u64 = 64 << 10;

/// Query of Intel's compute-runtime (opencl/extensions/public/cl_ext_private.h): a file descriptor of the buffer's
/// memory, as 64 bits, which stays the runtime's.
const CL_MEM_ALLOCATION_HANDLE_INTEL: u32 = 0x1_0050;

/// Ways to name a peer's memory.
pub(crate) enum Source {
    DmaBuf {
        file: c_int,
        offset: usize,
    },
    Pointer {
        pointer: *mut c_void,
        /// CUDA's `CU_POINTER_ATTRIBUTE_BUFFER_ID`; 0: not known.
        buffer: u64,
    },
}

/// Returns the board's permissions for memory of these flags, which are meant from the board's side.
pub(crate) fn permissions(flags: cl_mem_flags) -> Result<Permissions, c_int> {
    match flags {
        0 | CL_MEM_READ_WRITE => Ok(Permissions::ReadWrite),
        CL_MEM_WRITE_ONLY => Ok(Permissions::Write),
        CL_MEM_READ_ONLY => Ok(Permissions::Read),
        _ => {
            let cause = format_args!("flags of {flags:#x}: see the function's description");
            Err(refused(CL_INVALID_VALUE, cause))
        }
    }
}

/// Borrows a file descriptor of the program's.
fn borrow(file: &c_int) -> Result<BorrowedFd<'_>, c_int> {
    // SAFETY: it asks the kernel whether the file is open.
    let open = *file >= 0 && unsafe { libc::fcntl(*file, libc::F_GETFD) } >= 0;
    if !open {
        let cause = format_args!("there is no open file {file}");
        return Err(refused(CL_INVALID_VALUE, cause));
    }
    // SAFETY: it is open, and the program keeps it open during the call.
    Ok(unsafe { BorrowedFd::borrow_raw(*file) })
}

impl Peers {
    /// Registers memory with a board.
    ///
    /// # Errors
    /// The code.
    ///
    /// # Safety
    /// The program may let the board into memory that is named by a pointer, until its handle is released and no copy
    /// with it is in progress.
    pub(crate) unsafe fn register(
        &self,
        board: &Arc<Board>,
        permissions: Permissions,
        source: &Source,
        bytes: usize,
    ) -> Result<cl_peer_memory_peerlane, c_int> {
        if bytes == 0 {
            return Err(refused(CL_INVALID_VALUE, "memory of 0 bytes"));
        }
        // The board is not closed before the memory is in the table.
        let pass = board.gate.enter().map_err(|code| {
            let cause = "the board is being closed or programmed";
            refused(code, cause)
        })?;
        let device = board.dma().device();
        let length = bytes as u64;
        let registered = match source {
            Source::DmaBuf { file, offset } => {
                let file = borrow(file)?;
                let region = device.register_dmabuf(file, *offset as u64, length, permissions);
                region.map(|region| (region, 0))
            }
            Source::Pointer { pointer, buffer } => {
                // SAFETY: by the promise.
                unsafe { self.pointer(device, permissions, (*pointer, *buffer), length) }?
            }
        };
        let (region, first) = registered.map_err(|error| {
            let name = board.name();
            say(format_args!(
                "{name}: {length} bytes of a peer's memory cannot be registered: {error}. {}",
                error.hint()
            ));
            match error {
                // An error of a driver in the process for addresses and sizes.
                Error::Backend(_) if !error.no_room() => CL_INVALID_VALUE,
                error => code(&error),
            }
        })?;
        let handle = self.insert(PeerMemory {
            gate: Arc::clone(&board.gate),
            board: board.handle(),
            name: board.name().into(),
            region: Mutex::new(Some(region)),
            first,
            length,
            permissions,
        });
        drop(pass);
        Ok(handle)
    }

    /// Registers a GPU's memory by its pointer. CUDA's own dma-buf is the way that NVIDIA recommends ("Deprecation
    /// Notice: NV-P2P API Support", GPUDirect RDMA documentation). If the program has no CUDA, or CUDA exports no
    /// dma-buf, or the dma-buf is refused to the board, the driver asks NVIDIA's module.
    ///
    /// # Safety
    /// As [`register`](Self::register).
    unsafe fn pointer(
        &self,
        device: &Device,
        permissions: Permissions,
        (pointer, buffer): (*mut c_void, u64),
        length: u64,
    ) -> Result<Result<(Region, u64), Error>, c_int> {
        let first = pointer.addr() as u64;
        let behind = first.checked_add(length).filter(|_| first != 0);
        let behind = behind.ok_or_else(|| {
            let cause = format_args!("{length} bytes at {pointer:p} are not memory");
            refused(CL_INVALID_VALUE, cause)
        })?;
        let asked = first..behind;
        if device.has(feature::DMABUF)
            && let Some((file, Pages { export, register })) = cuda::dma_buf(&self.opencl, &asked)
        {
            let (at, bytes) = (register.start - export.start, register.end - register.start);
            let region = device.register_dmabuf(file.as_fd(), at, bytes, permissions);
            // Rules of the kernel and of the GPU's driver for dma-bufs do not apply to NVIDIA's pages.
            let next = region.as_ref().is_err_and(Error::is_no_way);
            if !(next && device.has(feature::NVIDIA)) {
                return Ok(region.map(|region| {
                    region.do_not_keep();
                    cuda::help(&self.opencl, &region, register.start);
                    (region, first - register.start)
                }));
            }
        }
        if !device.has(feature::NVIDIA) {
            let cause = "neither CUDA nor the driver can register memory by its pointer";
            return Err(refused(CL_PEER_NOT_SUPPORTED_PEERLANE, cause));
        }
        let buffer = match buffer {
            0 => cuda::buffer(&self.opencl, first).unwrap_or(0),
            buffer => buffer,
        };
        // SAFETY: by the promise.
        let region = unsafe { device.register_nvidia(first, length, buffer, permissions) };
        Ok(region.map(|region| {
            cuda::help(&self.opencl, &region, first);
            (region, 0)
        }))
    }

    /// Returns the dma-buf of another OpenCL's buffer, which stays that OpenCL's, and the buffer's bytes. No extension
    /// of Khronos's exports a buffer; Intel's runtime for GPUs answers a query for it.
    ///
    /// # Errors
    /// The code.
    ///
    /// # Safety
    /// It is a `cl_mem`, or NULL.
    pub(crate) unsafe fn exported(&self, mem: cl_mem) -> Result<(c_int, usize), c_int> {
        if mem.is_null() {
            return Err(refused(CL_INVALID_MEM_OBJECT, "the buffer is NULL"));
        }
        let opencl = &self.opencl;
        // SAFETY: by the promise, here and below.
        let bytes = unsafe { opencl.mem(mem, CL_MEM_SIZE) };
        let bytes: usize = bytes.map_err(gave("clGetMemObjectInfo"))?;
        // SAFETY: as above.
        let parent = unsafe { opencl.mem(mem, CL_MEM_ASSOCIATED_MEMOBJECT) };
        let parent: *mut c_void = parent.unwrap_or(std::ptr::null_mut());
        if !parent.is_null() {
            return Err(refused(CL_INVALID_MEM_OBJECT, "it is a sub-buffer"));
        }
        // SAFETY: as above.
        let file: Result<u64, _> = unsafe { opencl.mem(mem, CL_MEM_ALLOCATION_HANDLE_INTEL) };
        let file = file.ok().and_then(|file| c_int::try_from(file).ok());
        let not_given = || {
            let cause = "the buffer's OpenCL does not export its memory as a dma-buf (reported once, for all its \
                         buffers)";
            refused_once(0, CL_PEER_NOT_SUPPORTED_PEERLANE, cause)
        };
        let file = file.ok_or_else(not_given)?;
        borrow(&file).map_err(|_| not_given())?;
        // SAFETY: it is open. Its size is found in this way (the kernel's Documentation/driver-api/dma-buf.rst,
        // "Userspace Interface Notes"), and its position has no other use.
        let size = unsafe { libc::lseek(file, 0, libc::SEEK_END) };
        let size = u64::try_from(size).map_err(|_| not_given())?;
        match size.checked_sub(bytes as u64) {
            Some(more) if more < ROUNDED => Ok((file, bytes)),
            _ => {
                let cause = format_args!(
                    "a buffer of {bytes} bytes is a part of {size} bytes of memory, at an unknown place"
                );
                Err(refused(CL_PEER_NOT_SUPPORTED_PEERLANE, cause))
            }
        }
    }
}

/// CUDA, where the program has loaded it: NVIDIA CUDA Driver API, "Memory Management" and "Unified
/// Addressing".
mod cuda {
    use super::{
        Arc, CStr, FromRawFd, Lookup, OpenCl, OwnedFd, Pages, Range, Region, c_int, c_void,
    };
    use peerlane_host::{Error, Patch, widen};
    use std::fmt;

    /// `CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD`.
    const DMA_BUF_FD: c_int = 1;
    /// `CU_POINTER_ATTRIBUTE_BUFFER_ID`.
    const BUFFER_ID: c_int = 7;

    /// `CU_POINTER_ATTRIBUTE_CONTEXT`.
    const CONTEXT: c_int = 1;
    /// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
    const DEVICE_ORDINAL: c_int = 9;

    type Retain = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
    type OfDevice = unsafe extern "C" fn(c_int) -> c_int;
    type Push = unsafe extern "C" fn(*mut c_void) -> c_int;
    type Pop = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
    type Allocation = unsafe extern "C" fn(*mut u64, *mut usize, u64) -> c_int;
    type Export = unsafe extern "C" fn(*mut c_void, u64, usize, c_int, u64) -> c_int;
    type Attribute = unsafe extern "C" fn(*mut c_void, c_int, u64) -> c_int;

    /// Finds a function of CUDA's.
    ///
    /// # Safety
    /// `F` is the function's type in `cuda.h`.
    unsafe fn find<F: Copy>(opencl: &OpenCl, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let found = opencl.find(name)?.as_ptr();
        // SAFETY: both are pointers, and the caller promises the type.
        Some(unsafe { std::mem::transmute_copy(&found) })
    }

    /// A device's primary context, which is retained until this is dropped.
    struct Primary {
        device: c_int,
        release: OfDevice,
    }

    impl Primary {
        /// Retains the primary context of a device.
        fn of(opencl: &OpenCl, device: c_int) -> Option<(Self, *mut c_void)> {
            // SAFETY: those are their types.
            let (retain, release) = unsafe {
                let retain: Retain = find(opencl, c"cuDevicePrimaryCtxRetain")?;
                (retain, find(opencl, c"cuDevicePrimaryCtxRelease_v2")?)
            };
            let mut context = std::ptr::null_mut();
            // SAFETY: there is room for the context.
            let result = unsafe { retain(&raw mut context, device) };
            (result == 0).then_some((Self { device, release }, context))
        }
    }

    impl Drop for Primary {
        fn drop(&mut self) {
            // SAFETY: it was retained once for this.
            let _ = unsafe { (self.release)(self.device) };
        }
    }

    /// A context that is the thread's current one until this is dropped.
    struct Current {
        pop: Pop,
        /// Released after the context is not the thread's any more.
        _primary: Option<Primary>,
    }

    impl Current {
        /// Makes the context of the memory at an address the thread's. CUDA's functions use the thread's context, and a
        /// thread of the program may have none, or another GPU's. Memory of virtual memory management or of a pool has
        /// no context (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator", Pointer Attributes): its device's
        /// primary context is used.
        fn of(opencl: &OpenCl, address: u64) -> Option<Self> {
            // SAFETY: those are their types.
            let (attribute, push, pop) = unsafe {
                let attribute: Attribute = find(opencl, c"cuPointerGetAttribute")?;
                let push: Push = find(opencl, c"cuCtxPushCurrent_v2")?;
                (attribute, push, find(opencl, c"cuCtxPopCurrent_v2")?)
            };
            let mut context: *mut c_void = std::ptr::null_mut();
            // SAFETY: there is room for the pointer that is this attribute's value.
            let found = unsafe { attribute((&raw mut context).cast(), CONTEXT, address) };
            let mut primary = None;
            if found != 0 || context.is_null() {
                let mut device: c_int = -1;
                // SAFETY: there is room for the number that is this attribute's value.
                if unsafe { attribute((&raw mut device).cast(), DEVICE_ORDINAL, address) } != 0 {
                    return None;
                }
                let (retained, its_context) = Primary::of(opencl, device)?;
                (primary, context) = (Some(retained), its_context);
            }
            // SAFETY: the context is the memory's, which the program keeps, or is retained.
            let pushed = unsafe { push(context) };
            (pushed == 0).then_some(Self {
                pop,
                _primary: primary,
            })
        }
    }

    impl Drop for Current {
        fn drop(&mut self) {
            let mut ours = std::ptr::null_mut();
            // SAFETY: there is room for the context, which was pushed.
            let _ = unsafe { (self.pop)(&raw mut ours) };
        }
    }

    /// Finds the allocations with a range in them: one of CUDA's, or several that are mapped side by side (PyTorch's
    /// expandable segments).
    fn pieces(opencl: &OpenCl, asked: &Range<u64>) -> Option<Vec<Range<u64>>> {
        // SAFETY: that is its type.
        let allocation: Allocation = unsafe { find(opencl, c"cuMemGetAddressRange_v2")? };
        let piece = |address| {
            let (mut base, mut size) = (0, 0);
            // SAFETY: there is room for both.
            let result = unsafe { allocation(&raw mut base, &raw mut size, address) };
            let end = base.checked_add(size as u64)?;
            (result == 0 && (base..end).contains(&address)).then_some(base..end)
        };
        let mut pieces = vec![piece(asked.start)?];
        while let Some(end) = pieces.last().map(|last| last.end)
            && end < asked.end
        {
            pieces.push(piece(end).filter(|next| next.start == end)?);
        }
        Some(pieces)
    }

    /// Exports a dma-buf of whole pages with a range in them. CUDA itself checks that the range's allocations are one
    /// memory: it exports no others.
    pub(super) fn dma_buf(opencl: &OpenCl, asked: &Range<u64>) -> Option<(OwnedFd, Pages)> {
        // SAFETY: that is its type.
        let export: Export = unsafe { find(opencl, c"cuMemGetHandleForAddressRange")? };
        // If the memory's context cannot be found, the thread's current context is used.
        let _current = Current::of(opencl, asked.start);
        let pieces = pieces(opencl, asked)?;
        let whole = pieces.first()?.start..pieces.last()?.end;
        let pages = widen(asked, &whole)?;
        let mut file: c_int = -1;
        let Range { start, end } = pages.export;
        let bytes = usize::try_from(end - start).ok()?;
        // SAFETY: there is room for a file descriptor.
        let result = unsafe { export((&raw mut file).cast(), start, bytes, DMA_BUF_FD, 0) };
        // SAFETY: it is new, and the caller's.
        (result == 0 && file >= 0).then(|| unsafe { (OwnedFd::from_raw_fd(file), pages) })
    }

    /// `CU_STREAM_NON_BLOCKING`.
    const NON_BLOCKING: u32 = 1;

    type Create = unsafe extern "C" fn(*mut *mut c_void, u32) -> c_int;
    type CopyIn = unsafe extern "C" fn(u64, *const c_void, usize, *mut c_void) -> c_int;
    type OfStream = unsafe extern "C" fn(*mut c_void) -> c_int;

    /// Copies the ends of a transfer from a board that writes whole dwords only.
    struct Ends {
        opencl: Arc<OpenCl>,
        /// Address of the region's first byte.
        first: u64,
        /// First addresses of the region's pieces and the buffers there; addresses are used again. Empty: not known.
        pieces: Vec<(u64, Option<u64>)>,
        create: Create,
        copy_in: CopyIn,
        wait: OfStream,
        destroy: OfStream,
    }

    impl fmt::Debug for Ends {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "Ends({:#x})", self.first)
        }
    }

    /// Makes CUDA copy the ends of writes to a region, where the program has CUDA.
    pub(super) fn help(opencl: &Arc<OpenCl>, region: &Region, first: u64) {
        if let Some(ends) = Ends::new(opencl, first, region.length()) {
            region.set_patch(Arc::new(ends));
        }
    }

    impl Ends {
        fn new(opencl: &Arc<OpenCl>, first: u64, length: u64) -> Option<Self> {
            let _current = Current::of(opencl, first);
            let pieces = pieces(opencl, &(first..first + length)).unwrap_or_default();
            let pieces = pieces.into_iter().map(|piece| piece.start);
            // SAFETY: those are their types.
            unsafe {
                Some(Self {
                    opencl: Arc::clone(opencl),
                    first,
                    pieces: pieces.map(|at| (at, buffer(opencl, at))).collect(),
                    create: find(opencl, c"cuStreamCreate")?,
                    copy_in: find(opencl, c"cuMemcpyHtoDAsync_v2")?,
                    wait: find(opencl, c"cuStreamSynchronize")?,
                    destroy: find(opencl, c"cuStreamDestroy_v2")?,
                })
            }
        }

        /// Copies by a stream of its own, which does not wait for the program's work. Returns the first error.
        fn copy(&self, at: u64, bytes: &[u8]) -> c_int {
            let mut stream = std::ptr::null_mut();
            // SAFETY: there is room for the stream.
            let created = unsafe { (self.create)(&raw mut stream, NON_BLOCKING) };
            if created != 0 {
                return created;
            }
            // SAFETY: the memory is the program's, which keeps it while a copy with it is in progress; the bytes are
            // there until the stream has ended, which is a living one.
            let results = unsafe {
                let from = bytes.as_ptr().cast();
                let copied = (self.copy_in)(at, from, bytes.len(), stream);
                [copied, (self.wait)(stream), (self.destroy)(stream)]
            };
            results.into_iter().find(|result| *result != 0).unwrap_or(0)
        }
    }

    impl Patch for Ends {
        fn patch(&self, offset: u64, bytes: &[u8]) -> peerlane_host::Result<()> {
            let at = self.first + offset;
            let failed = |reason| Err(Error::Ends { reason });
            let piece = self.pieces.iter().rfind(|(start, _)| *start <= at);
            if piece.is_some_and(|(_, known)| buffer(&self.opencl, at) != *known) {
                return Err(Error::Forgotten);
            }
            let Some(_current) = Current::of(&self.opencl, at) else {
                return failed(format!("CUDA has no memory at {at:#x}"));
            };
            match self.copy(at, bytes) {
                0 => Ok(()),
                result => failed(format!("CUDA returned {result} for a copy to {at:#x}")),
            }
        }
    }

    /// Returns the identity of the buffer that an address is in.
    pub(super) fn buffer(opencl: &OpenCl, address: u64) -> Option<u64> {
        // SAFETY: that is its type.
        let attribute: Attribute = unsafe { find(opencl, c"cuPointerGetAttribute")? };
        let mut buffer = 0_u64;
        // SAFETY: there is room for the number of 64 bits that is this attribute's value.
        let result = unsafe { attribute((&raw mut buffer).cast(), BUFFER_ID, address) };
        (result == 0).then_some(buffer)
    }
}
