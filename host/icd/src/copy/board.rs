//! The way without the host's memory: the board's library moves the bytes (`peerlane_ext.h`).

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use parking_lot::Mutex;
use peerlane_opencl_api::sys::{
    CL_INVALID_OPERATION, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_SUCCESS,
};

use super::Find;
use super::code::PEER_NOT_SUPPORTED;
use super::functions::{self, Functions, status};
use crate::load;
use crate::objects::{self, Handle, Kind};
use crate::vendor::vendor;

type Create = unsafe extern "C" fn(Handle, u64, Handle, *mut i32) -> Handle;
type Release = unsafe extern "C" fn(Handle) -> i32;
type Copy = unsafe extern "C" fn(
    Handle,
    Handle,
    usize,
    usize,
    usize,
    u32,
    u32,
    *const Handle,
    *mut Handle,
) -> i32;
type Address = unsafe extern "C" fn(Handle, Handle, *mut u64) -> i32;
type Text = unsafe extern "C" fn(i32) -> *const c_char;

/// Direction of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    ToPeer,
    FromPeer,
}

/// Functions of a board's library.
#[derive(Clone, Copy)]
struct Library {
    create: Create,
    release: Release,
    to_peer: Copy,
    from_peer: Copy,
    address: Address,
    text: Text,
}

/// Finds a function of a board's library by the vendor's function for that: the open runtime's, or the one until 16.1.
/// The old libraries of boards are also helpers of the vendor library.
///
/// # Safety
/// `device` is null or the vendor's.
unsafe fn raw_board_function(name: &CStr, device: Handle) -> Handle {
    let vendor = vendor();
    let ways = [
        vendor.clGetBoardExtensionFunctionAddressIntelFPGA,
        vendor.clGetBoardExtensionFunctionAddressAltera,
    ];
    for way in ways.into_iter().flatten() {
        // SAFETY: the caller's promise.
        let found = unsafe { way(name.as_ptr(), device) };
        if !found.is_null() {
            return found;
        }
    }
    load::symbol(name)
}

/// Finds a function of `peerlane_ext.h` in the library of a device's board, for the program's handles: the library is
/// set to find OpenCL's functions here. Null if it does not exist, or takes the vendor's handles only.
///
/// # Safety
/// The device has been in a context: runtimes that do not know their boards yet crash.
pub(crate) unsafe fn peerlane_function(name: &CStr, device: Handle) -> Handle {
    let device = objects::raw(device, Kind::Device);
    if device.is_null() {
        return null_mut();
    }
    // SAFETY: the caller's promise; null, or the function of this name.
    unsafe {
        let set = raw_board_function(c"clSetOpenCLPeerlane", device);
        let set = transmute::<Handle, Option<SetOpenCl>>(set);
        match set.map(|set| set(Some(function_of_opencl))) {
            Some(0) => raw_board_function(name, device),
            _ => null_mut(),
        }
    }
}

type SetOpenCl = unsafe extern "C" fn(Option<Find>) -> i32;

impl Library {
    /// Finds the library of a device of ours, if the device is a Peerlane board.
    ///
    /// # Safety
    /// The device has been in a context: before that, runtimes may not know their boards.
    unsafe fn of(device: Handle) -> Option<Self> {
        // SAFETY: the caller's promise.
        let find = |name| unsafe { peerlane_function(name, device) };
        // SAFETY: null, or the functions of these names in `peerlane_ext.h`.
        unsafe {
            Some(Self {
                create: transmute::<Handle, Option<Create>>(find(
                    c"clCreatePeerMemoryFromMemObjectPeerlane",
                ))?,
                release: transmute::<Handle, Option<Release>>(find(
                    c"clReleasePeerMemoryPeerlane",
                ))?,
                to_peer: transmute::<Handle, Option<Copy>>(find(c"clCopyBufferToPeerPeerlane"))?,
                from_peer: transmute::<Handle, Option<Copy>>(find(c"clCopyPeerToBufferPeerlane"))?,
                address: transmute::<Handle, Option<Address>>(find(c"clGetBufferAddressPeerlane"))?,
                text: transmute::<Handle, Option<Text>>(find(c"clGetErrorTextPeerlane"))?,
            })
        }
    }

    fn text(&self, error: i32) -> String {
        // SAFETY: the text stays, and is never null.
        let text = unsafe { CStr::from_ptr((self.text)(error)) };
        format!("{} ({error})", text.to_string_lossy())
    }
}

/// Memory that a program has named for a peer's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Named {
    /// Buffer and device, exposed.
    of: (usize, usize),
    memory: usize,
    offset: usize,
}

static NAMED: Mutex<Vec<Named>> = Mutex::new(Vec::new());

/// Peers' buffers, with devices, that the board's library has no way to, and the reasons. A program that copies through
/// the host's memory does so many times, and the library prints a line each time that it is asked.
static REFUSED: Mutex<Vec<Refused>> = Mutex::new(Vec::new());

/// The reason why there is no way to a buffer.
struct Refused {
    /// Buffer and device, exposed.
    of: (usize, usize),
    why: Arc<str>,
}

/// `clSetPeerMemoryPeerlane`, with arguments that were checked. A null `memory` removes an earlier name.
///
/// # Safety
/// The buffer is a live one of a platform with these functions.
pub(super) unsafe fn name(
    peer: Functions,
    buffer: Handle,
    device: Handle,
    (memory, offset): (Handle, usize),
) -> Result<(), i32> {
    let of = (buffer.expose_provenance(), device.expose_provenance());
    // A buffer whose name was removed stays in the list, with no memory: its end is reported once.
    let known = NAMED.lock().iter().any(|named| named.of.0 == of.0);
    if !known {
        if memory.is_null() {
            return Ok(());
        }
        // No lock is held: the callback may run before the call returns.
        // SAFETY: the caller's promise.
        status(unsafe { peer.at_the_end_of_mem(buffer, forget, null_mut()) })?;
    }
    let mut all = NAMED.lock();
    all.retain(|named| named.of != of);
    all.push(Named {
        of,
        memory: memory.expose_provenance(),
        offset,
    });
    Ok(())
}

/// Drops the entries of a buffer that ends: its address may be another buffer's soon.
unsafe extern "C" fn forget(buffer: Handle, _: *mut c_void) {
    NAMED.lock().retain(|named| named.of.0 != buffer.addr());
    REFUSED
        .lock()
        .retain(|refused| refused.of.0 != buffer.addr());
}

/// A way to a peer's buffer.
pub(super) struct Direct {
    library: Library,
    memory: Handle,
    /// First byte of the buffer in the memory.
    offset: usize,
    /// Whether it was registered for this copy.
    own: bool,
}

// SAFETY: functions, and a handle that is a number.
unsafe impl Send for Direct {}

impl Direct {
    /// Finds the way from a device of ours to a peer's buffer.
    ///
    /// # Errors
    /// The reason why it does not exist.
    ///
    /// # Safety
    /// As for [`Library::of`]; the buffer is a live one, and not a part of another one.
    pub(super) unsafe fn find(
        device: Handle,
        (peer, buffer): (Functions, Handle),
        direction: Direction,
    ) -> Result<Self, Arc<str>> {
        // SAFETY: the caller's promise.
        let library = unsafe { Library::of(device) }
            .ok_or("the board's library has no functions of cl_peerlane_peer_memory")?;
        let of = (buffer.addr(), device.addr());
        if let Some(named) = NAMED
            .lock()
            .iter()
            .find(|named| named.of == of && named.memory != 0)
        {
            return Ok(Self {
                library,
                memory: std::ptr::with_exposed_provenance_mut(named.memory),
                offset: named.offset,
                own: false,
            });
        }
        let before = REFUSED
            .lock()
            .iter()
            .find(|refused| refused.of == of)
            .map(|refused| Arc::clone(&refused.why));
        if let Some(reason) = before {
            return Err(reason);
        }
        let flags = match direction {
            // The board may also read back, which proves that its writes have arrived.
            Direction::ToPeer => CL_MEM_READ_WRITE,
            Direction::FromPeer => CL_MEM_READ_ONLY,
        };
        let mut error = CL_SUCCESS;
        // SAFETY: the caller's promise, and there is room for the error.
        let memory = unsafe { (library.create)(device, flags, buffer, &raw mut error) };
        match memory.is_null() {
            false => Ok(Self {
                library,
                memory,
                offset: 0,
                own: true,
            }),
            true => {
                let reason: Arc<str> = library.text(error).into();
                // SAFETY: the caller's promise. No lock is held, as in `name`.
                let ends = || unsafe { peer.at_the_end_of_mem(buffer, forget, null_mut()) };
                // Other reasons may be temporary. A reason whose buffer's end would not be reported is not cached.
                if error == PEER_NOT_SUPPORTED && ends() == CL_SUCCESS {
                    let why = Arc::clone(&reason);
                    REFUSED.lock().push(Refused { of, why });
                }
                Err(reason)
            }
        }
    }

    /// Checks that a buffer of ours has its contents on the board.
    ///
    /// # Errors
    /// The reason why it has not.
    ///
    /// # Safety
    /// They are a live device and a live buffer of a context with it.
    pub(super) unsafe fn check_board(
        &self,
        device: Handle,
        buffer: Handle,
    ) -> Result<(), Arc<str>> {
        let mut address = 0;
        // SAFETY: the caller's promise, and there is room for the address.
        let error = unsafe { (self.library.address)(device, buffer, &raw mut address) };
        status(error).map_err(|error| self.library.text(error).into())
    }

    /// Copies, and returns when the bytes have arrived.
    ///
    /// # Errors
    /// The library's error.
    ///
    /// # Safety
    /// It is a live buffer of a context with the device.
    pub(super) unsafe fn copy(
        &self,
        direction: Direction,
        (buffer, at): (Handle, usize),
        peer_at: usize,
        size: usize,
    ) -> Result<(), i32> {
        let in_memory = (self.offset.checked_add(peer_at)).ok_or(CL_INVALID_OPERATION)?;
        let (from, to, from_at, to_at, copy) = match direction {
            Direction::ToPeer => (buffer, self.memory, at, in_memory, self.library.to_peer),
            Direction::FromPeer => (self.memory, buffer, in_memory, at, self.library.from_peer),
        };
        // SAFETY: the caller's promise; the call blocks, and has no events.
        status(unsafe { copy(from, to, from_at, to_at, size, 1, 0, null(), null_mut()) })
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        if self.own {
            // SAFETY: a handle of this one's alone.
            unsafe { (self.library.release)(self.memory) };
        }
    }
}

/// Finds OpenCL's functions for the board's library.
///
/// # Safety
/// `name` ends with a zero byte.
unsafe extern "C" fn function_of_opencl(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's promise.
    functions::for_all_platforms(unsafe { CStr::from_ptr(name) }.to_bytes())
}
