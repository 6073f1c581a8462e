//! Memory that the board may be allowed to reach.

use crate::bounds::check;
use crate::error::{Error, Result};
use crate::mapping::Mapping;
pub use crate::memory_kind::MemoryKind;
use peerlane_core::uapi::provider;
use rustix::fd::AsFd;
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::fmt::Debug;
use std::sync::Arc;

/// `f_type` of a file system of huge pages, whose `f_bsize` is the size of one (the kernel's
/// include/uapi/linux/magic.h, `HUGETLBFS_MAGIC`, and fs/hugetlbfs/inode.c, `hugetlbfs_statfs`).
const HUGETLBFS: u64 = 0x9584_58f6;

/// Memory as its owner sees it: the implementation of a [`Memory`].
///
/// # Safety
/// Safe code registers the memory by the results of these functions, and the board then writes it at any time. As long
/// as the value lives,
///
/// - [`kind`](Self::kind), [`address`](Self::address) and [`length`](Self::length) do not change;
/// - the memory that a driver finds by them is the value's own, or does not exist. The caller may use any driver, also
///   the kernel's: in host memory that driver takes the bytes of this process from `address` on. They stay mapped, and
///   all references to them are atomics. A driver with other memory takes addresses where no process has any.
///
/// So safe code cannot say which memory it is:
///
/// ```compile_fail,E0200
/// # use peerlane_host::{MemoryKind, Place, Result};
/// #[derive(Debug)]
/// struct Anything(u64);
///
/// impl Place for Anything {
///     fn kind(&self) -> MemoryKind {
///         MemoryKind::Host
///     }
///     fn address(&self) -> u64 {
///         self.0
///     }
///     fn length(&self) -> usize {
///         4096
///     }
///     fn read(&self, _: usize, _: &mut [u8]) -> Result<()> {
///         Ok(())
///     }
///     fn write(&self, _: usize, _: &[u8]) -> Result<()> {
///         Ok(())
///     }
/// }
/// ```
pub unsafe trait Place: Debug + Send + Sync {
    /// Returns the owner of the memory. This decides how it is registered ([`provider`]).
    fn kind(&self) -> MemoryKind;

    /// Returns the address by which it is registered: an address of this process, or of the memory's own driver.
    fn address(&self) -> u64;

    /// Returns the number of bytes.
    fn length(&self) -> usize;

    /// Copies from the memory. The caller has checked that the range lies in it.
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()>;

    /// Copies into the memory. The caller has checked that the range lies in it.
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()>;
}

/// Memory that has an address of its own for as long as it lives. The board may write it at
/// any time while it is registered, so there are no references into it: it is read and
/// written by copying. Clones are the same memory, and so are regions in it.
#[derive(Debug, Clone)]
pub struct Memory(Arc<dyn Place>);

impl Memory {
    /// Allocates memory of this process, all zero: for the kernel's device. A driver in the process may accept only
    /// memory of [`Device::memory`](crate::Device::memory).
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::Map`].
    pub fn new(length: usize) -> Result<Self> {
        let length = some(length)?;
        Mapping::anonymous("memory", length, 1, MapFlags::PRIVATE).map(Self::over)
    }

    /// Allocates huge pages of the default size, as many as `length` needs, all zero.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::Map`]: with `ENOMEM` where not enough are free.
    pub fn huge(length: usize) -> Result<Self> {
        let what = "huge pages";
        let length = some(length)?;
        let page = std::fs::read_to_string("/proc/meminfo").ok();
        let page = page.as_deref().and_then(huge_page);
        let page = page.ok_or_else(|| Error::map(what, length, Errno::OPNOTSUPP))?;
        let flags = MapFlags::PRIVATE | MapFlags::HUGETLB;
        Mapping::anonymous(what, length, page, flags).map(Self::over)
    }

    /// Maps `length` bytes of a regular file from its start, shared with other mappings of it. The file must not become
    /// shorter in the meantime: an access after its end is a `SIGBUS`.
    ///
    /// # Errors
    /// [`Error::Empty`]; [`Error::Bounds`] if the file is shorter; [`Error::Map`], with `EACCES` if it is
    /// not a regular file, or not open for reading and writing.
    pub fn shared(file: impl AsFd, length: usize) -> Result<Self> {
        let what = "shared memory";
        let length = some(length)?;
        let error = |source| Error::map(what, length, source);
        let status = rustix::fs::fstat(&file).map_err(error)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(error(Errno::ACCESS));
        }
        let size = usize::try_from(status.st_size).unwrap_or(usize::MAX);
        check("file", size, 0, length)?;
        let system = rustix::fs::fstatfs(&file).map_err(error)?;
        let page = match u64::try_from(system.f_type) {
            Ok(HUGETLBFS) => usize::try_from(system.f_bsize).unwrap_or(usize::MAX),
            _ => 1,
        };
        Mapping::file(what, file.as_fd(), length, page).map(Self::over)
    }

    /// Maps `length` bytes of memory of a device's file from offset 0 on.
    ///
    /// # Safety
    /// It must be memory, and not registers: whole words are loaded, and stores of bytes store whole words, with the
    /// neighbouring bytes unchanged. It must stay mapped, and all references to it in this process must be atomics.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::Map`].
    pub unsafe fn device(file: impl AsFd, length: usize) -> Result<Self> {
        let length = some(length)?;
        let both = ProtFlags::READ | ProtFlags::WRITE;
        Mapping::device("a device's memory", file.as_fd(), 0, length, both).map(Self::over)
    }

    /// Makes a memory of any kind.
    pub fn over(place: impl Place + 'static) -> Self {
        Self(Arc::new(place))
    }

    /// Returns the owner of the memory.
    pub fn kind(&self) -> MemoryKind {
        self.0.kind()
    }

    /// Returns the number by which the driver knows the kind of memory.
    pub(crate) fn provider(&self) -> u32 {
        match self.kind() {
            MemoryKind::Host => provider::HOST,
            MemoryKind::Gpu => provider::NVIDIA,
        }
    }

    /// Returns the address of the first byte.
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// Returns the number of bytes.
    pub fn length(&self) -> usize {
        self.0.length()
    }

    /// Copies from the memory at `offset`.
    ///
    /// # Errors
    /// [`Error::Bounds`], and errors of the memory's owner.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        check("memory", self.length(), offset, bytes.len())?;
        self.0.read(offset, bytes)
    }

    /// Copies into the memory at `offset`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        check("memory", self.length(), offset, bytes.len())?;
        self.0.write(offset, bytes)
    }
}

/// Returns a length, or an error if it is 0.
fn some(length: usize) -> Result<usize> {
    match length {
        0 => Err(Error::Empty { what: "memory" }),
        length => Ok(length),
    }
}

/// Returns the bytes of a huge page of the default size, from the text of `/proc/meminfo` (the kernel's
/// Documentation/admin-guide/mm/hugetlbpage.rst).
fn huge_page(meminfo: &str) -> Option<usize> {
    let mut lines = meminfo.lines();
    let size = lines.find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    let kib: usize = size.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
        .filter(|bytes| bytes.is_power_of_two())
}

// SAFETY: the range is mapped as long as the value lives, and all references into it are atomics.
unsafe impl Place for Mapping {
    fn kind(&self) -> MemoryKind {
        MemoryKind::Host
    }

    fn address(&self) -> u64 {
        self.base().as_ptr() as u64
    }

    fn length(&self) -> usize {
        Mapping::length(self)
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.copy_to(offset, bytes)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.copy_from(offset, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_written_within_its_bounds() {
        let memory = Memory::new(8192).unwrap();
        assert_eq!((memory.length(), memory.address() % 4096), (8192, 0));
        memory.write(8190, &[7, 8]).unwrap();
        let mut bytes = [9; 3];
        memory.read(8189, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 7, 8]);
        for offset in [8191, usize::MAX] {
            assert!(matches!(
                memory.write(offset, &[1, 2]),
                Err(Error::Bounds { size: 8192, .. })
            ));
        }
        memory.write(8192, &[]).unwrap();
    }

    #[test]
    fn memory_of_no_bytes_is_named() {
        let file = rustix::fs::memfd_create("none", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        for memory in [Memory::new(0), Memory::huge(0), Memory::shared(file, 0)] {
            assert_eq!(memory.unwrap_err().to_string(), "memory of no bytes");
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_refused() {
        let file = rustix::fs::memfd_create("short", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, 4097).unwrap();
        let error = Memory::shared(&file, 8193).unwrap_err().to_string();
        assert!(error.ends_with("the file of 4097 bytes"), "{error}");
        let memory = Memory::shared(&file, 4097).unwrap();
        memory.write(4090, &[1, 2, 3, 4, 5, 6, 7]).unwrap();
        let other = Memory::shared(&file, 4097).unwrap();
        let mut found = [9; 8];
        other.read(4089, &mut found).unwrap();
        assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_device_is_no_shared_memory() {
        let zero = std::fs::File::open("/dev/zero").unwrap();
        let error = Memory::shared(zero, 4096).unwrap_err();
        assert!(
            matches!(&error, Error::Map { source, .. } if *source == Errno::ACCESS),
            "{error}"
        );
        assert!(error.hint().contains("regular file"), "{error:?}");
    }

    #[test]
    fn the_size_of_a_huge_page_is_found() {
        let text = "HugePages_Total:       2\nHugepagesize:       2048 kB\nHugetlb:   0 kB\n";
        assert_eq!(huge_page(text), Some(2 << 20));
        assert_eq!(huge_page("Hugepagesize:    1048576 kB"), Some(1 << 30));
        for text in [
            "",
            "Hugepagesize: 2048",
            "Hugepagesize: -1 kB",
            "Hugepagesize: 0 kB",
        ] {
            assert_eq!(huge_page(text), None, "{text}");
        }
    }
}
