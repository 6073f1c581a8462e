//! iommufd's calls (Linux, include/uapi/linux/iommufd.h), each as a safe function.

use super::access::Addresses;
use super::sys::{Function, bytes, number, open, with};
use super::{Error, Result};
use peerlane_core::att::Permissions;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::ffi::c_ulong;
use std::path::Path;
use vfio_bindings::bindings::vfio::{vfio_device_attach_iommufd_pt, vfio_device_bind_iommufd};

/// The node of iommufd.
const NODE: &str = "/dev/iommu";

/// `IOMMUFD_CMD_BASE`, without the base of VFIO's calls, whose type is the same.
const BASE: u32 = 0x80 - 100;
const IOAS_ALLOC: c_ulong = number(BASE + 1);
const IOAS_IOVA_RANGES: c_ulong = number(BASE + 4);
const IOAS_MAP: c_ulong = number(BASE + 5);
const IOAS_UNMAP: c_ulong = number(BASE + 6);
const DEVICE_BIND: c_ulong = number(18);
const DEVICE_ATTACH: c_ulong = number(19);

/// `IOMMU_IOAS_MAP_FIXED_IOVA`, `_WRITEABLE` and `_READABLE`.
const FIXED: u32 = 1 << 0;
const WRITEABLE: u32 = 1 << 1;
const READABLE: u32 = 1 << 2;

/// `struct iommu_ioas_alloc`.
#[repr(C)]
#[derive(Default)]
struct Alloc {
    size: u32,
    flags: u32,
    ioas: u32,
}

/// `struct iommu_ioas_iova_ranges`.
#[repr(C)]
#[derive(Default)]
struct Ranges {
    size: u32,
    ioas: u32,
    count: u32,
    reserved: u32,
    ranges: u64,
    alignment: u64,
}

/// `struct iommu_ioas_map`.
#[repr(C)]
#[derive(Default)]
struct Map {
    size: u32,
    flags: u32,
    ioas: u32,
    reserved: u32,
    address: u64,
    length: u64,
    iova: u64,
}

/// `struct iommu_ioas_unmap`.
#[repr(C)]
#[derive(Default)]
struct Unmap {
    size: u32,
    ioas: u32,
    iova: u64,
    length: u64,
}

/// An address space of iommufd.
#[derive(Debug)]
pub(super) struct Ioas {
    file: OwnedFd,
    id: u32,
}

impl Ioas {
    /// Makes an address space.
    pub(super) fn open() -> Result<Self> {
        let path = Path::new(NODE);
        let file = open(path).map_err(|source| Error::Open {
            path: path.to_owned(),
            source,
        })?;
        let mut alloc = Alloc {
            size: bytes::<Alloc>(),
            ..Default::default()
        };
        // SAFETY: the call's own structure.
        unsafe { with(file.as_fd(), IOAS_ALLOC, "IOMMU_IOAS_ALLOC", &mut alloc) }?;
        let id = alloc.ioas;
        Ok(Self { file, id })
    }

    /// Binds a function to this iommufd. Before that, the function has no other calls.
    pub(super) fn bind(&self, function: &Function) -> Result<()> {
        let mut bind = vfio_device_bind_iommufd {
            argsz: bytes::<vfio_device_bind_iommufd>(),
            iommufd: self.file.as_raw_fd(),
            ..Default::default()
        };
        let what = "VFIO_DEVICE_BIND_IOMMUFD";
        // SAFETY: the call's own structure.
        unsafe { with(function.fd(), DEVICE_BIND, what, &mut bind) }.map(drop)
    }

    /// Gives a function this address space.
    pub(super) fn attach(&self, function: &Function) -> Result<()> {
        let mut attach = vfio_device_attach_iommufd_pt {
            argsz: bytes::<vfio_device_attach_iommufd_pt>(),
            pt_id: self.id,
            ..Default::default()
        };
        let what = "VFIO_DEVICE_ATTACH_IOMMUFD_PT";
        // SAFETY: the call's own structure.
        unsafe { with(function.fd(), DEVICE_ATTACH, what, &mut attach) }.map(drop)
    }
}

impl Addresses for Ioas {
    fn ranges(&self) -> Result<Vec<(u64, u64)>> {
        let mut found: Vec<[u64; 2]> = Vec::new();
        // The kernel reports the number that it has.
        for _ in 0..3 {
            let mut ranges = Ranges {
                size: bytes::<Ranges>(),
                ioas: self.id,
                count: found.len() as u32,
                ranges: found.as_mut_ptr() as u64,
                ..Default::default()
            };
            let what = "IOMMU_IOAS_IOVA_RANGES";
            // SAFETY: the call's own structure, with room for as many ranges as it says.
            let asked = unsafe { with(self.file.as_fd(), IOAS_IOVA_RANGES, what, &mut ranges) };
            match asked {
                Ok(_) => {
                    found.truncate(ranges.count as usize);
                    return Ok(found
                        .into_iter()
                        .map(|[start, last]| (start, last))
                        .collect());
                }
                Err(Error::Call {
                    source: Errno::MSGSIZE,
                    ..
                }) => found = vec![[0; 2]; ranges.count as usize],
                Err(error) => return Err(error),
            }
        }
        Ok(Vec::new())
    }

    fn map(&self, address: u64, iova: u64, length: u64, permissions: Permissions) -> Result<()> {
        let rights = match permissions {
            Permissions::Read => READABLE,
            Permissions::Write => WRITEABLE,
            Permissions::ReadWrite => READABLE | WRITEABLE,
        };
        let mut map = Map {
            size: bytes::<Map>(),
            flags: FIXED | rights,
            ioas: self.id,
            address,
            length,
            iova,
            ..Default::default()
        };
        // SAFETY: the call's own structure. The kernel pins the pages of the range until they are unmapped. The library
        // registers memory only with its owner's consent that devices write to it.
        unsafe { with(self.file.as_fd(), IOAS_MAP, "IOMMU_IOAS_MAP", &mut map) }.map(drop)
    }

    fn unmap(&self, iova: u64, length: u64) -> Result<()> {
        let mut unmap = Unmap {
            size: bytes::<Unmap>(),
            ioas: self.id,
            iova,
            length,
        };
        let what = "IOMMU_IOAS_UNMAP";
        // SAFETY: the call's own structure.
        unsafe { with(self.file.as_fd(), IOAS_UNMAP, what, &mut unmap) }.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a C compiler has them with the kernel's header: `_IO(';', 0x81)` and so on, and `_IO(';', 118)` and 119.
    #[test]
    fn numbers_and_sizes_are_those_of_the_kernels_header() {
        assert_eq!(
            [IOAS_ALLOC, IOAS_IOVA_RANGES, IOAS_MAP, IOAS_UNMAP],
            [0x3b81, 0x3b84, 0x3b85, 0x3b86]
        );
        assert_eq!((DEVICE_BIND, DEVICE_ATTACH), (0x3b76, 0x3b77));
        assert_eq!(
            [
                bytes::<Alloc>(),
                bytes::<Ranges>(),
                bytes::<Map>(),
                bytes::<Unmap>()
            ],
            [12, 32, 40, 24]
        );
    }
}
