//! The board's side: the extension of its library (`peerlane_ext.h`).

use crate::error::{
    CLRDMA_FAILED, CLRDMA_INVALID, CLRDMA_NO_DRIVER, CLRDMA_TIMEOUT, CLRDMA_WRONG_DRIVER, Failure,
};
use crate::opencl::{self, Handle};
use peerlane_host::vfio;
use peerlane_opencl_api::sys::{
    CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_SUCCESS,
};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::DirEntry;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;

// Numbers of peerlane_ext.h.
const CL_INVALID_PEER_MEMORY_PEERLANE: c_int = -10001;
const CL_PEER_MEMORY_REVOKED_PEERLANE: c_int = -10002;
const CL_PEER_TRANSFER_FAILED_PEERLANE: c_int = -10005;
const CL_PEER_TRANSFER_TIMEOUT_PEERLANE: c_int = -10006;

/// `pfn_notify` of a copy.
pub(crate) type Notify = unsafe extern "C" fn(c_int, *mut c_void);

type Create = unsafe extern "C" fn(Handle, u64, *mut c_void, usize, u64, *mut c_int) -> Handle;
type Release = unsafe extern "C" fn(Handle) -> c_int;
type Address = unsafe extern "C" fn(Handle, Handle, *mut u64) -> c_int;
type ToPeer = unsafe extern "C" fn(u64, Handle, usize, usize, Option<Notify>, *mut c_void) -> c_int;
type FromPeer =
    unsafe extern "C" fn(Handle, u64, usize, usize, Option<Notify>, *mut c_void) -> c_int;
type Text = unsafe extern "C" fn(c_int) -> *const c_char;

/// A function of a board's library by its name (`clGetBoardExtensionFunctionAddressIntelFPGA`).
type OfBoard = unsafe extern "C" fn(*const c_char, Handle) -> *mut c_void;

/// An error of the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) c_int);

impl Code {
    /// Returns whether the copy may succeed after the memory is registered again.
    pub(crate) fn is_stale(self) -> bool {
        [
            CL_INVALID_PEER_MEMORY_PEERLANE,
            CL_PEER_MEMORY_REVOKED_PEERLANE,
        ]
        .contains(&self.0)
    }

    /// Returns whether the peer or the way to it has refused an access: for example the read by which the board checks
    /// that its data have arrived.
    pub(crate) fn is_refused(self) -> bool {
        self.0 == CL_PEER_TRANSFER_FAILED_PEERLANE
    }

    /// Returns whether there may be room for less memory.
    pub(crate) fn is_no_room(self) -> bool {
        self.0 == CL_MEM_OBJECT_ALLOCATION_FAILURE
    }
}

/// Permissions of a board for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Both,
    /// Nothing proves then that the board's data have arrived.
    Write,
}

/// A device, and the functions of its board's library.
#[derive(Debug)]
pub(crate) struct Board {
    /// The address of its `cl_device_id`.
    device: usize,
    create: Create,
    release: Release,
    address: Address,
    to_peer: ToPeer,
    from_peer: FromPeer,
    text: Text,
}

/// Memory of a GPU, registered at a board.
#[derive(Debug)]
pub(crate) struct Peer {
    board: Arc<Board>,
    /// Its handle, as a number.
    handle: usize,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let handle = std::ptr::without_provenance_mut(self.handle);
        // SAFETY: handles are numbers; one that is gone is refused.
        let _ = unsafe { (self.board.release)(handle) };
    }
}

impl Peer {
    pub(crate) fn is_of(&self, board: &Arc<Board>) -> bool {
        Arc::ptr_eq(&self.board, board)
    }

    pub(crate) fn handle(&self) -> Handle {
        std::ptr::without_provenance_mut(self.handle)
    }
}

impl Board {
    /// Returns the board of a device.
    ///
    /// # Safety
    /// It is a `cl_device_id`.
    pub(crate) unsafe fn find(device: Handle) -> Result<Arc<Self>, Failure> {
        // SAFETY: the caller promises the device.
        let library = unsafe { Library::of(device) }?;
        macro_rules! function {
            ($name:literal, $kind:ty) => {{
                // SAFETY: the caller promises the device.
                let found = unsafe { library.find($name, device) }.ok_or_else(not_ours)?;
                // SAFETY: it is the function of this name in peerlane_ext.h, whose type this is.
                unsafe { std::mem::transmute::<*mut c_void, $kind>(found) }
            }};
        }
        let board = Self {
            device: device.expose_provenance(),
            create: function!(c"clCreatePeerMemoryFromPointerPeerlane", Create),
            release: function!(c"clReleasePeerMemoryPeerlane", Release),
            address: function!(c"clGetBufferAddressPeerlane", Address),
            to_peer: function!(c"clCopyAddressToPeerPeerlane", ToPeer),
            from_peer: function!(c"clCopyPeerToAddressPeerlane", FromPeer),
            text: function!(c"clGetErrorTextPeerlane", Text),
        };
        let mut nowhere = 0;
        // SAFETY: the caller promises the device, NULL is not a buffer, and there is room for an address.
        match unsafe { (board.address)(device, null_mut(), &raw mut nowhere) } {
            // The device belongs to the library, and is open: the library only refuses the buffer.
            CL_INVALID_MEM_OBJECT => Ok(Arc::new(board)),
            CL_INVALID_DEVICE => Err(Failure::new(
                CLRDMA_WRONG_DRIVER,
                "the device is not an open board of Peerlane. Give the FPGA's device, and one of the context",
            )),
            code => Err(board.failure(code)),
        }
    }

    fn device(&self) -> Handle {
        std::ptr::with_exposed_provenance_mut(self.device)
    }

    /// Translates an error of the library.
    fn failure(&self, code: c_int) -> Failure {
        // SAFETY: any number may be asked for; the text stays.
        let text = unsafe { CStr::from_ptr((self.text)(code)) }.to_string_lossy();
        let number = match code {
            CL_INVALID_VALUE | CL_INVALID_MEM_OBJECT => CLRDMA_INVALID,
            // The library has stopped it: the copy does not go on.
            CL_PEER_TRANSFER_TIMEOUT_PEERLANE => CLRDMA_TIMEOUT,
            _ => CLRDMA_FAILED,
        };
        Failure::new(number, format!("{text} ({code})"))
    }

    /// Returns the address of a buffer.
    ///
    /// # Safety
    /// It is a `cl_mem`.
    pub(crate) unsafe fn address_of(&self, buffer: Handle) -> Result<u64, Failure> {
        let mut address = 0;
        // SAFETY: the caller promises the buffer, and there is room for the address.
        match unsafe { (self.address)(self.device(), buffer, &raw mut address) } {
            CL_SUCCESS => Ok(address),
            code => Err(self.failure(code)),
        }
    }

    /// Registers memory of a GPU.
    ///
    /// # Safety
    /// The program has the right to open the memory to the board, for as long as the result lives and a copy with it
    /// goes on.
    pub(crate) unsafe fn register(
        self: &Arc<Self>,
        address: u64,
        bytes: usize,
        identity: u64,
        access: Access,
    ) -> Result<Peer, Code> {
        let flags = match access {
            Access::Both => CL_MEM_READ_WRITE,
            Access::Write => CL_MEM_WRITE_ONLY,
        };
        let mut error = CL_SUCCESS;
        let pointer = std::ptr::without_provenance_mut(address as usize);
        // SAFETY: the caller promises the memory; the device is the board's, and there is room for the error.
        let handle = unsafe {
            (self.create)(
                self.device(),
                flags,
                pointer,
                bytes,
                identity,
                &raw mut error,
            )
        };
        match error {
            CL_SUCCESS => Ok(Peer {
                board: Arc::clone(self),
                handle: handle.addr(),
            }),
            code => Err(Code(code)),
        }
    }

    /// Begins a copy from the board's memory.
    ///
    /// # Safety
    /// The function may be called once with `user`, from any thread; it is not if this is an error.
    pub(crate) unsafe fn copy_to(
        &self,
        (address, peer, offset): (u64, &Peer, usize),
        bytes: usize,
        notify: Notify,
        user: *mut c_void,
    ) -> Result<(), Code> {
        // SAFETY: the caller promises it.
        let code =
            unsafe { (self.to_peer)(address, peer.handle(), offset, bytes, Some(notify), user) };
        result(code)
    }

    /// Begins a copy to the board's memory.
    ///
    /// # Safety
    /// As [`copy_to`](Self::copy_to).
    pub(crate) unsafe fn copy_from(
        &self,
        (address, peer, offset): (u64, &Peer, usize),
        bytes: usize,
        notify: Notify,
        user: *mut c_void,
    ) -> Result<(), Code> {
        // SAFETY: the caller promises it.
        let code =
            unsafe { (self.from_peer)(peer.handle(), address, offset, bytes, Some(notify), user) };
        result(code)
    }

    /// Translates an error of a copy.
    pub(crate) fn explain(&self, code: Code) -> Failure {
        self.failure(code.0)
    }
}

pub(crate) fn result(code: c_int) -> Result<(), Code> {
    match code {
        CL_SUCCESS => Ok(()),
        code => Err(Code(code)),
    }
}

/// Way in which functions of a board's library are found.
enum Library {
    /// By a function of the runtime.
    Runtime(OfBoard),
    /// In the library itself, which the runtime has loaded: runtimes before 14.x have no such function.
    Loaded(*mut c_void),
}

impl Library {
    /// # Safety
    /// It is a `cl_device_id`.
    unsafe fn of(device: Handle) -> Result<Self, Failure> {
        // SAFETY: the caller promises the device.
        let platform = unsafe { opencl::platform(device) }?;
        for name in [
            c"clGetBoardExtensionFunctionAddressIntelFPGA",
            // Its name up to 16.1.
            c"clGetBoardExtensionFunctionAddressAltera",
        ] {
            // SAFETY: the platform is OpenCL's.
            if let Some(found) = unsafe { opencl::of_platform(platform, name) }? {
                // SAFETY: the function of this name has this type (CL/cl_ext_intelfpga.h).
                return Ok(Self::Runtime(unsafe {
                    std::mem::transmute::<*mut c_void, OfBoard>(found)
                }));
            }
        }
        let has_board = || driver(Path::new("/sys/class/misc"), &vfio::boards());
        loaded().map(Self::Loaded).ok_or_else(|| match has_board() {
            false => Failure::new(
                CLRDMA_NO_DRIVER,
                "Peerlane's driver is not loaded, and no board is bound to vfio-pci: modprobe peerlane, or peerlane \
                 bind ADDRESS. Make the context with the board's device",
            ),
            true => not_ours(),
        })
    }

    /// # Safety
    /// It is a `cl_device_id` of the platform.
    unsafe fn find(&self, name: &CStr, device: Handle) -> Option<*mut c_void> {
        let found = match self {
            // SAFETY: the caller promises the device, and the name ends with a 0.
            Self::Runtime(find) => unsafe { find(name.as_ptr(), device) },
            // SAFETY: the library is loaded, and the name ends with a 0.
            Self::Loaded(library) => unsafe { libc::dlsym(*library, name.as_ptr()) },
        };
        (!found.is_null()).then_some(found)
    }
}

fn not_ours() -> Failure {
    Failure::new(
        CLRDMA_WRONG_DRIVER,
        "the device's board library is not Peerlane's. Extend the BSP by peerlane extend, and install it by aocl \
         install",
    )
}

/// Returns whether a board has a driver: that of Peerlane, which has its boards in the directory `misc` (`driver/src`),
/// or VFIO's, which needs no module of Peerlane's.
fn driver(misc: &Path, by_vfio: &[String]) -> bool {
    let mut devices = std::fs::read_dir(misc).into_iter().flatten().flatten();
    let is_board = |entry: DirEntry| {
        let name = entry.file_name();
        name.to_str()
            .is_some_and(|name| name.starts_with("peerlane"))
    };
    !by_vfio.is_empty() || devices.any(is_board)
}

/// Returns Peerlane's board library, if the process has loaded it.
fn loaded() -> Option<*mut c_void> {
    let mut path: Option<CString> = None;
    /// Takes the path of a library if it is that one.
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, path: *mut c_void) -> c_int {
        // SAFETY: the linker gives a description whose name is a string or null, and the place below.
        let (name, path) = unsafe {
            let name = (*info).dlpi_name;
            if name.is_null() {
                return 0;
            }
            (CStr::from_ptr(name), &mut *path.cast::<Option<CString>>())
        };
        let file = name
            .to_bytes()
            .rsplit(|letter| *letter == b'/')
            .next()
            .unwrap_or_default();
        if file.starts_with(b"libpeerlane_mmd") {
            *path = Some(name.into());
        }
        c_int::from(path.is_some())
    }
    // SAFETY: the function gets the place, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut path).cast()) };
    let path = path?;
    // SAFETY: with these flags nothing is loaded, and nothing runs (dlopen(3)).
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!library.is_null()).then_some(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_of_vfio_needs_no_module() {
        let misc = tempfile::tempdir().unwrap();
        std::fs::create_dir(misc.path().join("cpu_dma_latency")).unwrap();
        assert!(!driver(misc.path(), &[]));
        assert!(driver(misc.path(), &["0000:01:00.0".into()]));
        std::fs::create_dir(misc.path().join("peerlane0")).unwrap();
        assert!(driver(misc.path(), &[]));
    }
}
