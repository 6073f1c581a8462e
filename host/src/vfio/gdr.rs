//! Memory of NVIDIA's GPUs, by NVIDIA's library GDRCopy, which is loaded if it is there.
//!
//! The library maps a GPU's memory into the process, and VFIO maps that for the board (`follow_fault_pfn` of
//! drivers/vfio/vfio_iommu_type1.c takes mappings of a device's pages). VFIO has no notice of a mapping that ends. So
//! only *persistent* mappings are taken: the GPU's driver keeps their memory until they are unpinned, also if the program
//! frees it (`GDR_ATTR_USE_PERSISTENT_MAPPING` in GDRCopy's gdrapi.h, the default of its driver).

use super::Error;
use crate::sys::Process;
use libloading::Library;
use std::ffi::{c_int, c_ulong, c_void};
use std::ops::Range;
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, OnceLock};

/// Names another library than the system's.
const LIBRARY: &str = "PEERLANE_GDRAPI";

/// The library's name since GDRCopy 2.0.
const NAME: &str = "libgdrapi.so.2";

/// Bytes of a page of a GPU, of which pinned ranges have multiples (gdrapi.h, `GPU_PAGE_SIZE`).
const PAGE: u64 = 64 << 10;

/// `GDR_ATTR_USE_PERSISTENT_MAPPING`.
const PERSISTENT: c_int = 1;

/// `gdr_mh_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Handle(c_ulong);

/// The library, open.
#[derive(Debug)]
pub(super) struct Gdr {
    library: Library,
    state: NonNull<c_void>,
}

// SAFETY: the library locks its state (gdrapi.c), and the pointer is only passed to it.
unsafe impl Send for Gdr {}
// SAFETY: as above.
unsafe impl Sync for Gdr {}

/// Reason why the GPU's memory cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unusable {
    /// There is no library, or its driver is not loaded.
    Missing(String),
    /// Mappings end without notice.
    Fleeting,
    /// The board is reached by iommufd, which does not map them.
    Iommufd,
}

impl Unusable {
    /// Returns the error of a registration.
    pub(super) fn error(&self) -> Error {
        match self {
            Self::Missing(reason) => Error::NoGdrcopy {
                reason: reason.clone(),
            },
            Self::Fleeting => Error::Fleeting,
            Self::Iommufd => Error::NoGroups,
        }
    }
}

/// Whole pages of a GPU's memory, which are pinned when they are used first.
#[derive(Debug)]
pub(super) struct Pages {
    gdr: Arc<Gdr>,
    /// The GPU's addresses.
    range: Range<u64>,
    mapped: OnceLock<Mapped>,
}

impl Pages {
    /// Returns the pages of a range of the GPU's addresses. `None`: the range ends beyond all addresses.
    pub(super) fn of(gdr: &Arc<Gdr>, address: u64, length: u64) -> Option<Self> {
        let end = address
            .checked_add(length)?
            .checked_next_multiple_of(PAGE)?;
        Some(Self {
            gdr: Arc::clone(gdr),
            range: address & !(PAGE - 1)..end,
            mapped: OnceLock::new(),
        })
    }

    /// Returns the GPU's addresses.
    pub(super) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the address of the first page in the process. The first call pins the pages, which may take long.
    pub(super) fn address(&self) -> Result<u64, String> {
        let mapped = match self.mapped.get() {
            Some(mapped) => mapped,
            None => {
                let mapped = self.gdr.map(&self.range)?;
                self.mapped.get_or_init(|| mapped)
            }
        };
        Ok(mapped.base.as_ptr() as u64)
    }

    /// Reads a word of the memory, which waits for the writes before it: a read does not pass them on the way to the
    /// GPU (PCI Express Base Specification, 2.4.1).
    pub(super) fn flush(&self) {
        if let Some(mapped) = self.mapped.get() {
            // SAFETY: the first word of the mapping, which exists as long as `mapped`.
            unsafe { mapped.base.cast::<u32>().read_volatile() };
        }
    }
}

/// A range of a GPU's memory that is pinned, and mapped into the process.
#[derive(Debug)]
struct Mapped {
    gdr: Arc<Gdr>,
    handle: Handle,
    base: NonNull<c_void>,
    bytes: u64,
    /// The process that mapped it: a child does not have the mapping.
    owner: Process,
}

// SAFETY: the mapping belongs to this value; the process only reads a word of it.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

macro_rules! call {
    ($gdr:expr, $name:ident($($type:ty),*) -> $result:ty, $($argument:expr),*) => {{
        type Function = unsafe extern "C" fn($($type),*) -> $result;
        // SAFETY: the function's type is that of gdrapi.h.
        let function = unsafe { $gdr.get::<Function>(concat!(stringify!($name), "\0").as_bytes()) };
        // SAFETY: the arguments are those that gdrapi.h asks for, of this library.
        function.map(|function| unsafe { function($($argument),*) })
    }};
}

impl Gdr {
    /// Loads the library, and checks that its mappings stay.
    pub(super) fn open() -> Result<Self, Unusable> {
        let name = std::env::var_os(LIBRARY).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| NAME.into());
        let missing = |error: libloading::Error| Unusable::Missing(error.to_string());
        // SAFETY: GDRCopy's library has no initialization but to set up its messages.
        let library = unsafe { Library::new(&name) }.map_err(missing)?;
        let state = call!(library, gdr_open() -> *mut c_void,).map_err(missing)?;
        let state = NonNull::new(state);
        let state =
            state.ok_or_else(|| Unusable::Missing("the driver gdrdrv is not loaded".into()))?;
        let gdr = Self { library, state };
        let mut persistent = 0;
        let asked = call!(
            gdr.library,
            gdr_get_attribute(*mut c_void, c_int, *mut c_int) -> c_int,
            gdr.state.as_ptr(),
            PERSISTENT,
            &raw mut persistent
        );
        match asked {
            Ok(0) if persistent != 0 => Ok(gdr),
            // Before 2.5 there is no such question, and no such mapping.
            _ => Err(Unusable::Fleeting),
        }
    }

    /// Pins and maps pages of the GPU's addresses. This may take long.
    fn map(self: &Arc<Self>, range: &Range<u64>) -> Result<Mapped, String> {
        let bytes = range.end - range.start;
        let failed = |what: &str, code: c_int| {
            format!("{what}: {}", std::io::Error::from_raw_os_error(code.abs()))
        };
        let mut handle = Handle(0);
        let pinned = call!(
            self.library,
            gdr_pin_buffer(*mut c_void, c_ulong, usize, u64, u32, *mut Handle) -> c_int,
            self.state.as_ptr(),
            range.start,
            bytes as usize,
            0,
            0,
            &raw mut handle
        );
        match pinned {
            Ok(0) => {}
            Ok(code) => return Err(failed("gdr_pin_buffer", code)),
            Err(error) => return Err(error.to_string()),
        }
        let mut base = null_mut();
        let mapped = call!(
            self.library,
            gdr_map(*mut c_void, Handle, *mut *mut c_void, usize) -> c_int,
            self.state.as_ptr(),
            handle,
            &raw mut base,
            bytes as usize
        );
        let base = match (mapped, NonNull::new(base)) {
            (Ok(0), Some(base)) => base,
            (mapped, _) => {
                self.unpin(handle);
                return Err(
                    mapped.map_or_else(|error| error.to_string(), |code| failed("gdr_map", code))
                );
            }
        };
        let gdr = Arc::clone(self);
        Ok(Mapped {
            gdr,
            handle,
            base,
            bytes,
            owner: Process::current(),
        })
    }

    fn unpin(&self, handle: Handle) {
        // There is nothing to be done about a failure.
        let _ = call!(
            self.library,
            gdr_unpin_buffer(*mut c_void, Handle) -> c_int,
            self.state.as_ptr(),
            handle
        );
    }
}

impl Drop for Gdr {
    fn drop(&mut self) {
        let _ = call!(
            self.library,
            gdr_close(*mut c_void) -> c_int,
            self.state.as_ptr()
        );
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.owner != Process::current() {
            return;
        }
        let _ = call!(
            self.gdr.library,
            gdr_unmap(*mut c_void, Handle, *mut c_void, usize) -> c_int,
            self.gdr.state.as_ptr(),
            self.handle,
            self.base.as_ptr(),
            self.bytes as usize
        );
        self.gdr.unpin(self.handle);
    }
}
