//! Finds the place of a buffer in the board's memory. OpenCL has no query for that: a byte of the buffer is read
//! through the runtime, and the runtime's own read of the board shows the place.
//!
//! Only a read of exactly this byte is trusted. The runtime makes such a read for a buffer whose contents are on the
//! board: `l_mem_transfer_buffer_explicitly` in `acl_mem.cpp` of intel/fpga-runtime-for-opencl v2025.0. For other
//! buffers it reads nothing, or all bytes, or writes, or reads at 0.

use super::Peers;
use crate::code::{
    CL_BUFFER_WITHOUT_ADDRESS_PEERLANE, CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE,
    gave, refused, refused_once,
};
use peerlane_opencl_api::sys::{
    CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_FLAGS, CL_MEM_OBJECT_BUFFER, CL_MEM_SIZE,
    CL_MEM_TYPE, CL_MEM_USE_HOST_PTR, cl_context, cl_mem,
};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The runtime gives out no memory below this address (`ACL_MEM_ALIGN`, `acl_mem.cpp`).
const FIRST: u64 = 0x400;

/// Accesses of the board that were seen for one byte in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    /// A read of this byte alone.
    Read {
        board: c_int,
        address: u64,
    },
    Other,
}

/// Reads that find an address.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// By the address of the byte in the process.
    expected: Mutex<BTreeMap<usize, Seen>>,
    count: AtomicUsize,
}

/// The place of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl Probes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Seen>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a read of the board's memory: the target in the process, the length, and the source.
    pub(crate) fn saw(&self, to: usize, length: usize, queued: bool, board: c_int, address: u64) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        for (byte, seen) in self.lock().range_mut(to..to.saturating_add(length.max(1))) {
            *seen = match seen {
                Seen::Nothing if (*byte, length) == (to, 1) && queued => {
                    Seen::Read { board, address }
                }
                _ => Seen::Other,
            };
        }
    }

    /// Returns the accesses that are seen for a byte of the process while `read` reads it.
    fn watch<T>(&self, byte: &mut u8, read: impl FnOnce(&mut u8) -> T) -> (T, Seen) {
        let at = std::ptr::from_mut(byte).addr();
        self.lock().insert(at, Seen::Nothing);
        self.count.fetch_add(1, Ordering::SeqCst);
        let result = read(byte);
        self.count.fetch_sub(1, Ordering::SeqCst);
        let seen = self.lock().remove(&at);
        (result, seen.unwrap_or(Seen::Nothing))
    }
}

impl Peers {
    /// Finds the place of a buffer on a board, which has this handle and this name of a device.
    ///
    /// # Errors
    /// The code.
    ///
    /// # Safety
    /// It is a `cl_mem`, or NULL.
    pub(crate) unsafe fn place(
        &self,
        mem: cl_mem,
        (board, name): (c_int, &str),
    ) -> Result<Place, c_int> {
        if mem.is_null() {
            return Err(refused(CL_INVALID_MEM_OBJECT, "the buffer is NULL"));
        }
        let opencl = &self.opencl;
        let no_info = gave("clGetMemObjectInfo");
        // SAFETY: by the promise, here and below.
        let kind: u32 = unsafe { opencl.mem(mem, CL_MEM_TYPE) }.map_err(&no_info)?;
        // SAFETY: as above.
        let parent = match unsafe { opencl.mem(mem, CL_MEM_ASSOCIATED_MEMOBJECT) } {
            // OpenCL 1.0 has neither sub-buffers nor this query.
            Err(CL_INVALID_VALUE) => null_mut(),
            parent => parent.map_err(&no_info)?,
        };
        if kind != CL_MEM_OBJECT_BUFFER || !parent.is_null() {
            let cause = match parent.is_null() {
                true => "it is an image",
                false => "it is a sub-buffer",
            };
            return Err(refused(CL_INVALID_MEM_OBJECT, cause));
        }
        // SAFETY: as above.
        let flags: u64 = unsafe { opencl.mem(mem, CL_MEM_FLAGS) }.map_err(&no_info)?;
        if flags & CL_MEM_USE_HOST_PTR != 0 {
            let cause = "the buffer was made with CL_MEM_USE_HOST_PTR";
            return Err(refused_once(
                mem.addr(),
                CL_BUFFER_WITHOUT_ADDRESS_PEERLANE,
                cause,
            ));
        }
        // SAFETY: as above.
        let bytes: usize = unsafe { opencl.mem(mem, CL_MEM_SIZE) }.map_err(&no_info)?;
        // SAFETY: as above.
        let context = unsafe { opencl.mem(mem, CL_MEM_CONTEXT) };
        let context: cl_context = context.map_err(&no_info)?;
        // SAFETY: it is the buffer's.
        let devices = unsafe { opencl.devices(context) }.map_err(gave("clGetContextInfo"))?;
        // A single device matches with any name.
        let only = devices.len() == 1;
        let device = match devices[..] {
            [device] => Some(device),
            // SAFETY: they are the context's.
            _ => (devices.into_iter()).find(|device| unsafe {
                (opencl.device_name(*device)).is_ok_and(|found| is_named(&found, name))
            }),
        };
        let device = device.ok_or_else(|| {
            let cause = format_args!("the buffer's context has no device \"{name}\"");
            refused(CL_INVALID_DEVICE, cause)
        })?;
        // A queue of our own, so that this does not wait for commands of the program.
        // SAFETY: they go together.
        let queue = unsafe { opencl.queue(context, device) };
        let queue = queue.map_err(gave("clCreateCommandQueue"))?;
        let mut byte = 0;
        let (read, seen) = self.probes.watch(&mut byte, |byte| {
            // SAFETY: the queue is kept.
            unsafe { opencl.read_byte(queue.object(), mem, byte) }
        });
        read.map_err(gave("clEnqueueReadBuffer"))?;
        match seen {
            Seen::Read { board: on, address } if on == board && address >= FIRST => Ok(Place {
                address,
                bytes: bytes as u64,
            }),
            Seen::Read { board: on, .. } if on != board && only => {
                let cause = format_args!("the buffer is on another board, not on {name}");
                Err(refused(CL_INVALID_DEVICE, cause))
            }
            seen => {
                let why = match seen {
                    Seen::Nothing => "OpenCL did not read it from the board".into(),
                    Seen::Read { board: on, .. } if on != board => "it is on another board".into(),
                    Seen::Read { address, .. } => format!("OpenCL has no memory at {address:#x}"),
                    Seen::Other => "OpenCL read more than one byte of it from the board".into(),
                };
                let cause = format_args!("{name}: a buffer of {bytes} bytes: {why}");
                Err(refused_once(
                    mem.addr(),
                    CL_BUFFER_WITHOUT_ADDRESS_PEERLANE,
                    cause,
                ))
            }
        }
    }
}

/// Whether a `CL_DEVICE_NAME` is that of a board: the runtime puts the name in the autodiscovery text in front of the
/// board's own (`l_get_device_official_name`, `acl_device.cpp`).
pub(crate) fn is_named(device: &str, board: &str) -> bool {
    let before = device.strip_suffix(board);
    before.is_some_and(|before| before.is_empty() || before.ends_with(" : "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_read_of_the_byte_alone_is_believed() {
        let probes = Probes::default();
        let mut bytes = [0_u8; 3];
        let at = bytes[1..].as_ptr().addr();
        let mut watch = |reads: &[(usize, usize, bool)]| {
            let (_, seen) = probes.watch(&mut bytes[1], |_| {
                for (to, length, queued) in reads {
                    probes.saw(*to, *length, *queued, 3, 0x400);
                }
            });
            seen
        };
        let found = Seen::Read {
            board: 3,
            address: 0x400,
        };
        assert_eq!(watch(&[]), Seen::Nothing);
        assert_eq!(watch(&[(at, 1, true)]), found);
        assert_eq!(
            watch(&[(at - 1, 1, true), (at, 1, true), (at + 1, 9, true)]),
            found
        );
        for other in [
            &[(at, 1, false)][..],
            &[(at, 2, true)],
            &[(at - 1, 2, true)],
            &[(at, 1, true), (at, 1, true)],
        ] {
            assert_eq!(watch(other), Seen::Other, "{other:?}");
        }
        // No read is expected any more.
        probes.saw(at, 1, true, 3, 0x400);
        assert!(probes.lock().is_empty());
    }

    #[test]
    fn a_device_is_known_by_its_board() {
        for device in ["toy : peerlane1 (Peerlane)", "peerlane1 (Peerlane)"] {
            assert!(is_named(device, "peerlane1 (Peerlane)"), "{device}");
        }
        for device in ["toy : xpeerlane1 (Peerlane)", "toy : peerlane1", ""] {
            assert!(!is_named(device, "peerlane1 (Peerlane)"), "{device}");
        }
    }
}
