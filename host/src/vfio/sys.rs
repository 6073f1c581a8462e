//! VFIO's calls (Linux, include/uapi/linux/vfio.h), each as a safe function.
//!
//! The structures and numbers are those of `vfio-bindings`. The library of the same project for the calls, `vfio-ioctls`,
//! maps all memory for reading and writing, and has no reset of the bus.

use super::access::Addresses;
use super::{Error, Result};
use peerlane_core::att::Permissions;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Resource, getrlimit};
use std::ffi::{CString, c_ulong};
use std::ops::Range;
use std::path::{Path, PathBuf};
use vfio_bindings::bindings::vfio::{self, *};

/// Returns the number of a call (`_IO(VFIO_TYPE, VFIO_BASE + n)`).
pub(super) const fn number(call: u32) -> c_ulong {
    ((VFIO_TYPE as u32) << 8 | (VFIO_BASE + call)) as c_ulong
}

const GET_API_VERSION: c_ulong = number(0);
const CHECK_EXTENSION: c_ulong = number(1);
const SET_IOMMU: c_ulong = number(2);
const GROUP_GET_STATUS: c_ulong = number(3);
const GROUP_SET_CONTAINER: c_ulong = number(4);
const GROUP_GET_DEVICE_FD: c_ulong = number(6);
const DEVICE_GET_INFO: c_ulong = number(7);
const DEVICE_GET_REGION_INFO: c_ulong = number(8);
const DEVICE_GET_IRQ_INFO: c_ulong = number(9);
const DEVICE_SET_IRQS: c_ulong = number(10);
const IOMMU_GET_INFO: c_ulong = number(12);
const DEVICE_PCI_HOT_RESET: c_ulong = number(13);
const IOMMU_MAP_DMA: c_ulong = number(13);
const IOMMU_UNMAP_DMA: c_ulong = number(14);
const DEVICE_FEATURE: c_ulong = number(17);

/// `VFIO_DEVICE_FEATURE_DMA_BUF` (since Linux 6.19), which `vfio-bindings` does not have.
const FEATURE_DMA_BUF: u32 = 11;

/// `struct vfio_device_feature` with a `struct vfio_device_feature_dma_buf` of one range.
#[repr(C)]
struct Export {
    size: u32,
    flags: u32,
    region: u32,
    open_flags: u32,
    export_flags: u32,
    count: u32,
    offset: u64,
    length: u64,
}

/// A number of files that few programs have open: the usual limit.
const HIGH: u64 = 1024;

/// The directory of VFIO's device nodes.
pub(super) const DEV: &str = "/dev/vfio";

/// Opens a device node.
pub(super) fn open(path: &Path) -> std::result::Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
}

/// Calls VFIO with an argument in a register.
fn plain(
    file: BorrowedFd<'_>,
    call: c_ulong,
    what: &'static str,
    argument: c_ulong,
) -> Result<i32> {
    // SAFETY: only used for calls whose argument is a number.
    done(what, unsafe {
        libc::ioctl(file.as_raw_fd(), call, argument)
    })
}

/// Calls VFIO with a structure.
///
/// # Safety
/// The structure must be the call's own, and its `argsz` the bytes that VFIO may use.
pub(super) unsafe fn with<T: ?Sized>(
    file: BorrowedFd<'_>,
    call: c_ulong,
    what: &'static str,
    argument: &mut T,
) -> Result<i32> {
    let argument = std::ptr::from_mut(argument).cast::<u8>();
    // SAFETY: the caller's promise.
    done(what, unsafe {
        libc::ioctl(file.as_raw_fd(), call, argument)
    })
}

fn done(what: &'static str, result: i32) -> Result<i32> {
    match result {
        failed if failed < 0 => {
            let source = std::io::Error::last_os_error();
            let source = Errno::from_io_error(&source).unwrap_or(Errno::IO);
            Err(Error::Call { what, source })
        }
        result => Ok(result),
    }
}

/// Checks the result of a call that connects interrupts: if the computer has fewer vectors free, the kernel returns
/// their number, and connects none.
fn all_or_none(what: &'static str, free: i32) -> Result<()> {
    match free {
        0 => Ok(()),
        _ => Err(Error::call(what, Errno::NOSPC)),
    }
}

/// Returns the bytes of a structure, as VFIO takes them.
pub(super) const fn bytes<T>() -> u32 {
    size_of::<T>() as u32
}

/// A set of memory mappings that devices share: VFIO's container with an IOMMU of type 1.
#[derive(Debug)]
pub(super) struct Container(OwnedFd);

impl Container {
    /// Opens a container.
    pub(super) fn open(path: PathBuf) -> Result<Self> {
        let file = open(&path).map_err(|source| Error::Open { path, source })?;
        let container = Self(file);
        let version = plain(container.fd(), GET_API_VERSION, "VFIO_GET_API_VERSION", 0)?;
        let kind = c_ulong::from(VFIO_TYPE1v2_IOMMU);
        let has = plain(
            container.fd(),
            CHECK_EXTENSION,
            "VFIO_CHECK_EXTENSION",
            kind,
        )?;
        match (version, has) {
            (0, 1) => Ok(container),
            _ => Err(Error::Interface),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }

    /// Lets the container use the IOMMU, after the first group was added.
    pub(super) fn set_iommu(&self) -> Result<()> {
        let kind = c_ulong::from(VFIO_TYPE1v2_IOMMU);
        plain(self.fd(), SET_IOMMU, "VFIO_SET_IOMMU", kind).map(drop)
    }
}

impl Addresses for Container {
    fn ranges(&self) -> Result<Vec<(u64, u64)>> {
        let what = "VFIO_IOMMU_GET_INFO";
        let mut size = bytes::<vfio_iommu_type1_info>();
        // The kernel reports the bytes that it needs.
        for _ in 0..3 {
            let mut buffer = vec![0_u64; (size as usize).div_ceil(8)];
            let head = &mut buffer[0];
            *head = u64::from(size);
            // SAFETY: `argsz`, the first dword, is the buffer's size.
            unsafe { with(self.fd(), IOMMU_GET_INFO, what, &mut buffer[..]) }?;
            let raw: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
            match dword(&raw, 0) {
                Some(needed) if needed > size => size = needed,
                _ => return Ok(iova_ranges(&raw)),
            }
        }
        Ok(Vec::new())
    }

    fn map(&self, address: u64, iova: u64, length: u64, permissions: Permissions) -> Result<()> {
        let flags = match permissions {
            Permissions::Read => VFIO_DMA_MAP_FLAG_READ,
            Permissions::Write => VFIO_DMA_MAP_FLAG_WRITE,
            Permissions::ReadWrite => VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        };
        let mut map = vfio_iommu_type1_dma_map {
            argsz: bytes::<vfio_iommu_type1_dma_map>(),
            flags,
            vaddr: address,
            iova,
            size: length,
        };
        // SAFETY: the call's own structure. The kernel pins the pages of the range until they are unmapped. The library
        // registers memory only with its owner's consent that devices write to it.
        unsafe { with(self.fd(), IOMMU_MAP_DMA, "VFIO_IOMMU_MAP_DMA", &mut map) }.map(drop)
    }

    fn unmap(&self, iova: u64, length: u64) -> Result<()> {
        let mut unmap = vfio_iommu_type1_dma_unmap {
            argsz: bytes::<vfio_iommu_type1_dma_unmap>(),
            flags: 0,
            iova,
            size: length,
            ..Default::default()
        };
        let what = "VFIO_IOMMU_UNMAP_DMA";
        // SAFETY: the call's own structure; without a flag it has no data after it.
        unsafe { with(self.fd(), IOMMU_UNMAP_DMA, what, &mut unmap) }.map(drop)
    }
}

fn dword(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_ne_bytes)
}

fn qword(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_ne_bytes)
}

/// Reads the capability IOVA_RANGE of the information about an IOMMU: a chain of capabilities, each with the offset of
/// the next.
fn iova_ranges(info: &[u8]) -> Vec<(u64, u64)> {
    let has_chain = dword(info, 4).is_some_and(|flags| flags & VFIO_IOMMU_INFO_CAPS != 0);
    let mut at = match dword(
        info,
        std::mem::offset_of!(vfio_iommu_type1_info, cap_offset),
    ) {
        Some(first) if has_chain => first as usize,
        _ => 0,
    };
    let ranges_at = size_of::<vfio_iommu_type1_info_cap_iova_range>();
    // A chain has a handful of capabilities; one that ends in itself ends here.
    for _ in 0..64 {
        let (Some(head), Some(next)) = (dword(info, at), dword(info, at + 4)) else {
            break;
        };
        if at == 0 {
            break;
        }
        if head & 0xffff == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE {
            let count = dword(info, at + 8).unwrap_or(0) as usize;
            let ranges = (0..count).map_while(|index| {
                let range = at + ranges_at + 16 * index;
                Some((qword(info, range)?, qword(info, range + 8)?))
            });
            return ranges.collect();
        }
        at = next as usize;
    }
    Vec::new()
}

/// An IOMMU group: the devices that the IOMMU cannot tell apart.
#[derive(Debug)]
pub(super) struct Group(OwnedFd);

impl Group {
    /// Takes a group that was opened.
    pub(super) fn new(file: OwnedFd) -> Self {
        Self(file)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }

    /// Returns whether no device of the group has a driver other than VFIO's.
    pub(super) fn is_viable(&self) -> Result<bool> {
        let mut status = vfio_group_status {
            argsz: bytes::<vfio_group_status>(),
            flags: 0,
        };
        let what = "VFIO_GROUP_GET_STATUS";
        // SAFETY: the call's own structure.
        unsafe { with(self.fd(), GROUP_GET_STATUS, what, &mut status) }?;
        Ok(status.flags & VFIO_GROUP_FLAGS_VIABLE != 0)
    }

    /// Adds the group to a container.
    pub(super) fn join(&self, container: &Container) -> Result<()> {
        let mut file = container.fd().as_raw_fd();
        let what = "VFIO_GROUP_SET_CONTAINER";
        // SAFETY: the call's argument is a pointer to a file's number.
        unsafe { with(self.fd(), GROUP_SET_CONTAINER, what, &mut file) }.map(drop)
    }

    /// Opens a device of the group, by its address: `0000:01:00.0`.
    pub(super) fn device(&self, address: &str) -> Result<Function> {
        let what = "VFIO_GROUP_GET_DEVICE_FD";
        let error = |source| Error::Call { what, source };
        let name = CString::new(address).map_err(|_| error(Errno::INVAL))?;
        let mut name = name.into_bytes_with_nul();
        // SAFETY: the call's argument is a string that ends with 0.
        let file = unsafe { with(self.fd(), GROUP_GET_DEVICE_FD, what, &mut name[..]) }?;
        // SAFETY: the call returns a new file.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        // The files of a process that is killed are released from the highest number on (Linux, `exit_files` and
        // kernel/task_work.c). The function goes first, and with it the board's access, before GDRCopy unpins memory.
        let high = getrlimit(Resource::Nofile)
            .current
            .map_or(HIGH, |limit| limit.min(HIGH) / 4 * 3);
        Ok(Function(
            fcntl_dupfd_cloexec(&file, high as i32).unwrap_or(file),
        ))
    }
}

/// A region of a function: a BAR, or its configuration space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    /// Offset in the function's file.
    pub(super) offset: u64,
    /// Bytes.
    pub(super) bytes: u64,
    /// It can be mapped.
    pub(super) mappable: bool,
}

/// A PCI function.
#[derive(Debug)]
pub(super) struct Function(OwnedFd);

impl Function {
    /// Takes a function that was opened.
    pub(super) fn new(file: OwnedFd) -> Self {
        Self(file)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }

    /// Returns whether it is a PCI function.
    pub(super) fn is_pci(&self) -> Result<bool> {
        let mut info = vfio_device_info {
            argsz: bytes::<vfio_device_info>(),
            ..Default::default()
        };
        // SAFETY: the call's own structure.
        unsafe {
            with(
                self.fd(),
                DEVICE_GET_INFO,
                "VFIO_DEVICE_GET_INFO",
                &mut info,
            )
        }?;
        Ok(info.flags & VFIO_DEVICE_FLAGS_PCI != 0)
    }

    /// Returns one of its regions.
    pub(super) fn region(&self, index: u32) -> Result<Region> {
        let mut info = vfio_region_info {
            argsz: bytes::<vfio_region_info>(),
            index,
            ..Default::default()
        };
        let what = "VFIO_DEVICE_GET_REGION_INFO";
        // SAFETY: the call's own structure.
        unsafe { with(self.fd(), DEVICE_GET_REGION_INFO, what, &mut info) }?;
        Ok(Region {
            offset: info.offset,
            bytes: info.size,
            mappable: info.flags & VFIO_REGION_INFO_FLAG_MMAP != 0,
        })
    }

    /// Returns the number of interrupts of a kind.
    pub(super) fn interrupts(&self, index: u32) -> Result<u32> {
        let mut info = vfio_irq_info {
            argsz: bytes::<vfio_irq_info>(),
            index,
            ..Default::default()
        };
        let what = "VFIO_DEVICE_GET_IRQ_INFO";
        // SAFETY: the call's own structure.
        unsafe { with(self.fd(), DEVICE_GET_IRQ_INFO, what, &mut info) }?;
        Ok(info.count)
    }

    /// Lets each interrupt of a kind signal an eventfd of its own, from a number on; `None`: no eventfd any more.
    pub(super) fn signal(
        &self,
        index: u32,
        first: u32,
        events: &[Option<BorrowedFd<'_>>],
    ) -> Result<()> {
        let head = [
            bytes::<[u32; 5]>() + 4 * events.len() as u32,
            VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
            index,
            first,
            events.len() as u32,
        ];
        let events = events.iter();
        let events = events.map(|event| event.map_or(-1, |event| event.as_raw_fd()) as u32);
        let mut set: Vec<u32> = head.into_iter().chain(events).collect();
        let what = "VFIO_DEVICE_SET_IRQS";
        // SAFETY: `vfio_irq_set` with as many files after it as it says; `argsz` has the bytes of both.
        let free = unsafe { with(self.fd(), DEVICE_SET_IRQS, what, &mut set[..]) }?;
        all_or_none(what, free)
    }

    /// Resets the bus of the function, and so its link. All functions on the bus must be of this group; without a group,
    /// of the same iommufd.
    pub(super) fn reset_bus(&self, group: Option<&Group>) -> Result<()> {
        let file = group.map_or(0, |group| group.fd().as_raw_fd() as u32);
        let mut reset = [bytes::<[u32; 4]>(), 0, u32::from(group.is_some()), file];
        let what = "VFIO_DEVICE_PCI_HOT_RESET";
        // SAFETY: `vfio_pci_hot_reset` with room for one group's file after it; `argsz` has the bytes of both.
        unsafe { with(self.fd(), DEVICE_PCI_HOT_RESET, what, &mut reset) }.map(drop)
    }

    /// Exports a part of a region as a dma-buf: whole pages. Devices of which the kernel can take it back may import it.
    ///
    /// # Errors
    /// `ENOTTY` before Linux 6.19, and of a kernel without `CONFIG_VFIO_PCI_DMABUF`.
    pub(super) fn export(&self, region: u32, range: Range<u64>) -> Result<OwnedFd> {
        let mut export = Export {
            size: bytes::<Export>(),
            flags: VFIO_DEVICE_FEATURE_GET | FEATURE_DMA_BUF,
            region,
            open_flags: (OFlags::RDWR | OFlags::CLOEXEC).bits(),
            export_flags: 0,
            count: 1,
            offset: range.start,
            length: range.end - range.start,
        };
        let what = "VFIO_DEVICE_FEATURE_DMA_BUF";
        // SAFETY: the call's own structure, with as many ranges as it says.
        let file = unsafe { with(self.fd(), DEVICE_FEATURE, what, &mut export) }?;
        // SAFETY: the call returns a new file.
        Ok(unsafe { OwnedFd::from_raw_fd(file) })
    }

    /// Reads from configuration space.
    pub(super) fn config<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let place = self.region(vfio::VFIO_PCI_CONFIG_REGION_INDEX)?.offset + offset;
        let mut data = [0; N];
        match rustix::io::pread(self.fd(), &mut data, place) {
            Ok(read) if read == N => Ok(data),
            Ok(_) => Err(Error::call("reading configuration space", Errno::IO)),
            Err(source) => Err(Error::call("reading configuration space", source)),
        }
    }

    /// Writes to configuration space.
    pub(super) fn set_config(&self, offset: u64, data: &[u8]) -> Result<()> {
        let place = self.region(vfio::VFIO_PCI_CONFIG_REGION_INDEX)?.offset + offset;
        match rustix::io::pwrite(self.fd(), data, place) {
            Ok(written) if written == data.len() => Ok(()),
            Ok(_) => Err(Error::call("writing configuration space", Errno::IO)),
            Err(source) => Err(Error::call("writing configuration space", source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the information about an IOMMU as `vfio_iommu_type1.c` fills it in: two capabilities.
    fn info() -> Vec<u8> {
        let mut words = vec![0_u32; 6];
        words[1] = VFIO_IOMMU_INFO_CAPS | VFIO_IOMMU_INFO_PGSIZES;
        words[4] = 24;
        // DMA_AVAIL: id and version, next, available, and padding.
        words.extend([VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL | 1 << 16, 40, 65_535, 0]);
        words.extend([VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE | 1 << 16, 0, 2, 0]);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for range in [0_u64, 0xfedf_ffff, 0xfef0_0000, (1 << 39) - 1] {
            bytes.extend(range.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn the_ranges_of_an_iommu_are_found() {
        assert_eq!(size_of::<vfio_iommu_type1_info>(), 24);
        let expected = [(0, 0xfedf_ffff), (0xfef0_0000, (1 << 39) - 1)];
        assert_eq!(iova_ranges(&info()), expected);
    }

    #[test]
    fn information_that_is_cut_or_odd_has_no_more_ranges() {
        let whole = info();
        for end in 0..whole.len() {
            assert!(iova_ranges(&whole[..end]).len() < 2, "{end}");
        }
        let mut circle = whole.clone();
        circle[28] = 24;
        assert_eq!(iova_ranges(&circle), []);
        let mut none = whole;
        none[4] = 1;
        assert_eq!(iova_ranges(&none), []);
    }

    #[test]
    fn fewer_vectors_than_asked_for_are_an_error() {
        assert!(all_or_none("a call", 0).is_ok());
        let error = all_or_none("a call", 3).unwrap_err();
        assert!(error.to_string().starts_with("a call failed"), "{error}");
    }

    #[test]
    fn the_numbers_are_those_of_the_kernels_header() {
        // _IO(';', 100) and _IO(';', 113).
        assert_eq!((GET_API_VERSION, IOMMU_MAP_DMA), (0x3b64, 0x3b71));
        // _IO(';', 117), and the bytes of both structures and one range.
        assert_eq!((DEVICE_FEATURE, bytes::<Export>()), (0x3b75, 40));
    }
}
