//! The functions of the extension, as a program calls them.

use super::Mmd;
use crate::board::Board;
use crate::code::{
    CL_INTERNAL_ERROR_PEERLANE, CL_INVALID_DEVICE, CL_INVALID_EVENT_WAIT_LIST,
    CL_INVALID_OPERATION, CL_INVALID_PEER_MEMORY_PEERLANE, CL_INVALID_VALUE, CL_SUCCESS, gave,
    refused, text,
};
use crate::end::called;
use crate::messages::guarded;
use crate::peer::PeerMemory;
use crate::peer::address::{Place, is_named};
use crate::peer::copy::{Copy, Told, not_waited};
use crate::peer::opencl::{
    Find, Kept, Notify, cl_bool, cl_context, cl_device_id, cl_event, cl_int, cl_mem, cl_mem_flags,
    cl_peer_memory_peerlane, cl_uint, cl_ulong,
};
use crate::peer::register::{Source, permissions};
use peerlane_host::Direction;
use peerlane_opencl_api::sys::CL_MEM_CONTEXT;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::Arc;

/// Arguments of a copy that concern events.
#[derive(Clone, Copy)]
pub struct Events {
    /// Whether the call returns when the copy has ended.
    pub blocking: cl_bool,
    /// Number of events in the list.
    pub count: cl_uint,
    /// The events that the copy waits for.
    pub list: *const cl_event,
    /// Place for the copy's own event, or NULL.
    pub event: *mut cl_event,
}

/// Stores an error, where there is a place for it; returns the handle, or NULL.
///
/// # Safety
/// `errcode_ret` is NULL or good for a write.
unsafe fn answer(
    made: Result<cl_peer_memory_peerlane, cl_int>,
    errcode_ret: *mut cl_int,
) -> cl_peer_memory_peerlane {
    if !errcode_ret.is_null() {
        // SAFETY: by the promise.
        unsafe { errcode_ret.write(made.err().unwrap_or(CL_SUCCESS)) };
    }
    made.unwrap_or(null_mut())
}

/// Returns the status of a call.
fn status(f: impl FnOnce() -> Result<(), cl_int>) -> cl_int {
    guarded(CL_INTERNAL_ERROR_PEERLANE, || {
        f().err().unwrap_or(CL_SUCCESS)
    })
}

impl Mmd {
    fn check_owner(&self) -> Result<(), cl_int> {
        called();
        match self.is_child() {
            true => Err(CL_INVALID_OPERATION),
            false => Ok(()),
        }
    }

    /// Returns the board of a device, or for NULL the only one.
    ///
    /// # Safety
    /// It is a `cl_device_id`, or NULL.
    unsafe fn board_of(&self, device: cl_device_id) -> Result<Arc<Board>, cl_int> {
        self.check_owner()?;
        let mut boards = self.boards();
        let board = match device.is_null() {
            true => match boards.len() {
                1 => boards.pop(),
                _ => None,
            },
            false => {
                // SAFETY: by the promise. No lock is held, and no board kept open: the call waits for the runtime's
                // lock.
                let name = unsafe { self.peers.opencl.device_name(device) }
                    .map_err(gave("clGetDeviceInfo"))?;
                boards.into_iter().find(|(known, _)| is_named(&name, known))
            }
        };
        let board = board.and_then(|(_, board)| board.upgrade());
        board.ok_or_else(|| {
            let cause = match device.is_null() {
                true => "the process has no board open, or several: name the device",
                false => "the device is not a Peerlane board that the process has open",
            };
            refused(CL_INVALID_DEVICE, cause)
        })
    }

    /// Returns the memory of a handle.
    fn peer(&self, handle: cl_peer_memory_peerlane) -> Result<Arc<PeerMemory>, cl_int> {
        self.check_owner()?;
        let memory = self.peers.find(handle)?;
        match memory.gate.is_closed() {
            true => Err(refused(
                CL_INVALID_PEER_MEMORY_PEERLANE,
                "the board of this memory was closed",
            )),
            false => Ok(memory),
        }
    }

    /// `clCreatePeerMemoryFromDmaBufPeerlane`.
    ///
    /// # Safety
    /// `device` is NULL or a `cl_device_id`, `errcode_ret` is NULL or good for a write. The owner of the memory allows
    /// writes to it at any time, if the flags say so.
    pub unsafe fn peer_from_dma_buf(
        &self,
        device: cl_device_id,
        flags: cl_mem_flags,
        fd: c_int,
        offset: usize,
        size: usize,
        errcode_ret: *mut cl_int,
    ) -> cl_peer_memory_peerlane {
        let made = guarded(Err(CL_INTERNAL_ERROR_PEERLANE), || {
            let permissions = permissions(flags)?;
            // SAFETY: by the caller's promise.
            let board = unsafe { self.board_of(device) }?;
            let source = Source::DmaBuf { file: fd, offset };
            // SAFETY: as above; the owner of the memory allows writes to it.
            unsafe { self.peers.register(&board, permissions, &source, size) }
        });
        // SAFETY: by the caller's promise.
        unsafe { answer(made, errcode_ret) }
    }

    /// `clCreatePeerMemoryFromPointerPeerlane`.
    ///
    /// # Safety
    /// As [`peer_from_dma_buf`](Self::peer_from_dma_buf).
    pub unsafe fn peer_from_pointer(
        &self,
        device: cl_device_id,
        flags: cl_mem_flags,
        pointer: *mut c_void,
        size: usize,
        buffer_id: cl_ulong,
        errcode_ret: *mut cl_int,
    ) -> cl_peer_memory_peerlane {
        let made = guarded(Err(CL_INTERNAL_ERROR_PEERLANE), || {
            let permissions = permissions(flags)?;
            // SAFETY: by the caller's promise.
            let board = unsafe { self.board_of(device) }?;
            let source = Source::Pointer {
                pointer,
                buffer: buffer_id,
            };
            // SAFETY: as above; the owner of the memory allows writes to it.
            unsafe { self.peers.register(&board, permissions, &source, size) }
        });
        // SAFETY: by the caller's promise.
        unsafe { answer(made, errcode_ret) }
    }

    /// `clCreatePeerMemoryFromMemObjectPeerlane`.
    ///
    /// # Safety
    /// As [`peer_from_dma_buf`](Self::peer_from_dma_buf), and `memobj` is NULL or a `cl_mem`.
    pub unsafe fn peer_from_mem_object(
        &self,
        device: cl_device_id,
        flags: cl_mem_flags,
        memobj: cl_mem,
        errcode_ret: *mut cl_int,
    ) -> cl_peer_memory_peerlane {
        let made = guarded(Err(CL_INTERNAL_ERROR_PEERLANE), || {
            let permissions = permissions(flags)?;
            // SAFETY: by the caller's promise. The board is not kept open during waits.
            let board = Arc::downgrade(&unsafe { self.board_of(device) }?);
            // SAFETY: as above.
            let (file, size) = unsafe { self.peers.exported(memobj) }?;
            let closed = || refused(CL_INVALID_DEVICE, "the board was closed during the call");
            let board = board.upgrade().ok_or_else(closed)?;
            let source = Source::DmaBuf { file, offset: 0 };
            // SAFETY: as above; the owner of the memory allows writes to it.
            unsafe { self.peers.register(&board, permissions, &source, size) }
        });
        // SAFETY: by the caller's promise.
        unsafe { answer(made, errcode_ret) }
    }

    /// `clReleasePeerMemoryPeerlane`.
    pub fn release_peer(&self, memory: cl_peer_memory_peerlane) -> cl_int {
        status(|| {
            self.check_owner()?;
            self.peers.remove(memory)
        })
    }

    /// `clGetBufferAddressPeerlane`.
    ///
    /// # Safety
    /// `device` is NULL or a `cl_device_id`, `buffer` is NULL or a `cl_mem`, `address` is NULL or good for
    /// a write.
    pub unsafe fn buffer_address(
        &self,
        device: cl_device_id,
        buffer: cl_mem,
        address: *mut cl_ulong,
    ) -> cl_int {
        status(|| {
            if address.is_null() {
                return Err(refused(CL_INVALID_VALUE, "address is NULL"));
            }
            // SAFETY: by the caller's promise.
            let board = unsafe { self.board_of(device) }?;
            let (handle, name) = (board.handle(), board.device_name());
            // The read that finds the address waits for the runtime's lock.
            drop(board);
            // SAFETY: as above.
            let place = unsafe { self.peers.place(buffer, (handle, &name)) }?;
            // SAFETY: as above.
            unsafe { address.write(place.address) };
            Ok(())
        })
    }

    /// `clCopyBufferToPeerPeerlane` and `clCopyPeerToBufferPeerlane`: between `buffer_offset` of the buffer
    /// and `offset` of the memory.
    ///
    /// # Safety
    /// `buffer` is NULL or a `cl_mem`; the events are valid, and `event` is NULL or good for a write.
    pub unsafe fn copy_buffer(
        &self,
        direction: Direction,
        (buffer, buffer_offset): (cl_mem, usize),
        (memory, offset): (cl_peer_memory_peerlane, usize),
        size: usize,
        events: Events,
    ) -> cl_int {
        status(|| {
            let memory = self.peer(memory)?;
            // SAFETY: by the caller's promise.
            unsafe {
                self.copy_with_events(
                    direction,
                    buffer,
                    buffer_offset,
                    &memory,
                    offset,
                    size,
                    events,
                )
            }
        })
    }

    /// # Safety
    /// As [`copy_buffer`](Self::copy_buffer).
    #[allow(clippy::too_many_arguments, reason = "they are the call's")]
    unsafe fn copy_with_events(
        &self,
        direction: Direction,
        buffer: cl_mem,
        buffer_offset: usize,
        memory: &Arc<PeerMemory>,
        offset: usize,
        size: usize,
        events: Events,
    ) -> Result<(), cl_int> {
        let Events {
            blocking,
            count,
            list,
            event,
        } = events;
        if list.is_null() != (count == 0) {
            let cause = format_args!(
                "{count} events, and a list that {}",
                if list.is_null() {
                    "is NULL"
                } else {
                    "is not NULL"
                }
            );
            return Err(refused(CL_INVALID_EVENT_WAIT_LIST, cause));
        }
        if blocking == 0 && event.is_null() {
            let cause = "a copy that does not block has no place for an event: its end could not be reported";
            return Err(refused(CL_INVALID_VALUE, cause));
        }
        let list = match count {
            0 => &[],
            // SAFETY: there are so many, by the promise.
            count => unsafe { std::slice::from_raw_parts(list, count as usize) },
        };
        let opencl = &self.peers.opencl;
        if blocking != 0 {
            // SAFETY: by the promise.
            unsafe { opencl.wait(list) }.map_err(not_waited)?;
        }
        let (peers, memory) = (Arc::clone(&self.peers), Arc::clone(memory));
        let address = buffer.expose_provenance();
        let make = move || {
            let name = memory.device_name();
            // SAFETY: by the promise, and the buffer is kept until the copy has ended.
            let place = unsafe {
                peers.place(with_exposed_provenance_mut(address), (memory.board, &name))
            }?;
            Copy::new(direction, &memory, offset, (place, buffer_offset), size)
        };
        let copy = make()?;
        if blocking != 0 && event.is_null() {
            return into_result(copy.status());
        }
        // SAFETY: by the promise.
        let (told, own) = unsafe { self.told(buffer) }?;
        if blocking != 0 {
            let ended = copy.status();
            drop(copy);
            told.tell(opencl, ended);
            into_result(ended)?;
        } else {
            let begun = match list {
                [] => self.peers.begin(copy, told),
                // SAFETY: by the promise.
                list => unsafe { self.peers.begin_behind(&copy, list, Box::new(make), told) },
            };
            // The open runtime keeps an event that never ends, although no code holds it any more, and with it the
            // context.
            begun.inspect_err(|error| opencl.complete(&own, *error))?;
        }
        // SAFETY: by the promise.
        unsafe { event.write(own.hand_over()) };
        Ok(())
    }

    /// Makes an event for a copy of a buffer, with the program's own reference to it.
    ///
    /// # Safety
    /// It is a `cl_mem`.
    unsafe fn told(&self, buffer: cl_mem) -> Result<(Told, Kept), cl_int> {
        let opencl = &self.peers.opencl;
        // SAFETY: by the promise, here and below: the context is the buffer's.
        unsafe {
            let context: cl_context =
                (opencl.mem(buffer, CL_MEM_CONTEXT)).map_err(gave("clGetMemObjectInfo"))?;
            let _context = (opencl.keep_context(context)).map_err(gave("clRetainContext"))?;
            let _buffer = opencl.keep_mem(buffer).map_err(gave("clRetainMemObject"))?;
            let own = (opencl.user_event(context)).map_err(gave("clCreateUserEvent"))?;
            let event = (opencl.keep_event(own.object())).map_err(gave("clRetainEvent"))?;
            let told = Told::Event {
                event,
                _buffer,
                _context,
            };
            Ok((told, own))
        }
    }

    /// `clCopyAddressToPeerPeerlane` and `clCopyPeerToAddressPeerlane`.
    ///
    /// # Safety
    /// `notify` is NULL or can be called once, from any thread, with `user`.
    pub unsafe fn copy_address(
        &self,
        direction: Direction,
        address: cl_ulong,
        (memory, offset): (cl_peer_memory_peerlane, usize),
        size: usize,
        (notify, user): (Option<Notify>, *mut c_void),
    ) -> cl_int {
        status(|| {
            let memory = self.peer(memory)?;
            // The check that the program holds the memory comes at the end.
            let place = Place {
                address,
                bytes: u64::MAX,
            };
            let copy = Copy::new(direction, &memory, offset, (place, 0), size)?;
            match notify {
                None => into_result(copy.status()),
                Some(function) => {
                    let told = Told::callback(function, user);
                    self.peers.begin(copy, told)
                }
            }
        })
    }

    /// `clSetOpenCLPeerlane`.
    ///
    /// # Safety
    /// `find` is NULL, or can be called at any time from then on, and returns for a name NULL or the function of that
    /// name in OpenCL's `CL/cl.h`.
    pub unsafe fn set_opencl(&self, find: Option<Find>) -> cl_int {
        status(|| {
            self.check_owner()?;
            self.peers.opencl.set(find);
            Ok(())
        })
    }

    /// `clGetErrorTextPeerlane`.
    pub fn error_text(&self, error: cl_int) -> *const c_char {
        text(error).as_ptr()
    }
}

fn into_result(status: cl_int) -> Result<(), cl_int> {
    match status {
        CL_SUCCESS => Ok(()),
        error => Err(error),
    }
}
