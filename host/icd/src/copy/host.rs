//! The way through the host's memory: a part is read while the one before it is written.

use std::ptr::{null, null_mut};

use peerlane_opencl_api::sys::{
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE,
};

use super::functions::{Functions, Kept, status};
use crate::objects::Handle;

/// Most bytes of a part. There is room for two parts.
const PART: usize = 4 << 20;

/// Memory of the host that the platform's devices reach best. Most platforms pin it.
const HOST_MEMORY: u64 = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
const MAP: u64 = CL_MAP_READ | CL_MAP_WRITE;

/// A buffer, with an offset.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) functions: Functions,
    pub(super) context: Handle,
    pub(super) device: Handle,
    pub(super) buffer: Handle,
    pub(super) at: usize,
}

/// Memory for two parts.
enum Staging {
    /// A buffer of a platform, mapped.
    Pinned { address: *mut u8, buffer: Kept },
    /// Memory of the process, where the platform has none.
    Plain(Vec<u8>),
}

impl Staging {
    /// # Safety
    /// The queue is a live one of the end's context.
    unsafe fn new(end: &End, queue: Handle, size: usize) -> Self {
        let f = end.functions;
        // SAFETY: the caller's promise; the buffer is of the same context.
        unsafe {
            let buffer = f.new_buffer(end.context, HOST_MEMORY, size);
            if let Ok(buffer) = buffer {
                let mut error = 0;
                let address = f.map_buffer(
                    queue,
                    buffer.object(),
                    1,
                    MAP,
                    0,
                    size,
                    0,
                    null(),
                    null_mut(),
                    &raw mut error,
                );
                if !address.is_null() {
                    return Self::Pinned {
                        address: address.cast(),
                        buffer,
                    };
                }
            }
        }
        Self::Plain(vec![0; size])
    }

    /// Frees the memory when it is not used any more.
    ///
    /// # Safety
    /// The queue is the one that it was made with.
    unsafe fn end(self, queue: &Kept) {
        if let Self::Pinned { address, buffer } = self {
            let f = buffer.functions();
            // SAFETY: the caller's promise. An error here is not an error of the copy.
            unsafe {
                let address = address.cast();
                f.unmap(
                    queue.object(),
                    buffer.object(),
                    address,
                    0,
                    null(),
                    null_mut(),
                );
                f.finish(queue.object());
            }
        }
    }

    fn address(&mut self) -> *mut u8 {
        match self {
            Self::Pinned { address, .. } => *address,
            Self::Plain(bytes) => bytes.as_mut_ptr(),
        }
    }
}

/// Copies, and returns when all is written.
///
/// # Errors
/// The error of the platform that has failed.
///
/// # Safety
/// Both ends are live buffers of live contexts, with devices of these; the bytes lie in the buffers.
pub(super) unsafe fn copy(from: &End, to: &End, pinned: &End, size: usize) -> Result<(), i32> {
    if size == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        let from_queue = from.functions.new_queue(from.context, from.device)?;
        let to_queue = to.functions.new_queue(to.context, to.device)?;
        let part = size.min(PART);
        let queue = match std::ptr::eq(pinned, from) {
            true => &from_queue,
            false => &to_queue,
        };
        let mut staging = Staging::new(pinned, queue.object(), 2 * part);
        let room = staging.address();
        let copied = parts(from, to, [&from_queue, &to_queue], (room, part), size);
        // No command may write from the staging memory when it is freed.
        let finished = status(to.functions.finish(to_queue.object()));
        staging.end(queue);
        copied.and(finished)
    }
}

/// # Safety
/// As of [`copy`]; the room is for two parts, and stays until the second queue was finished.
unsafe fn parts(
    from: &End,
    to: &End,
    [from_queue, to_queue]: [&Kept; 2],
    (room, part): (*mut u8, usize),
    size: usize,
) -> Result<(), i32> {
    let mut written: [Option<Kept>; 2] = [None, None];
    let mut done = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while done < size {
            let (half, length) = (done / part % 2, part.min(size - done));
            let place = room.add(half * part);
            if let Some(event) = written[half].take() {
                to.functions.wait(event.object())?;
            }
            status(from.functions.read_buffer(
                from_queue.object(),
                from.buffer,
                1,
                from.at + done,
                length,
                place.cast(),
                0,
                null(),
                null_mut(),
            ))?;
            let mut event = null_mut();
            status(to.functions.write_buffer(
                to_queue.object(),
                to.buffer,
                0,
                to.at + done,
                length,
                place.cast(),
                0,
                null(),
                &raw mut event,
            ))?;
            written[half] = Some(to.functions.kept_event(event));
            status(to.functions.flush(to_queue.object()))?;
            done += length;
        }
        for event in written.into_iter().flatten() {
            to.functions.wait(event.object())?;
        }
    }
    Ok(())
}
