//! The way to a function: by its IOMMU group, or by its own node where the kernel has no groups.
//!
//! Groups come first. Only their IOMMU of type 1 maps memory of a GPU: iommufd pins pages, and such memory has none
//! (Linux, `pfn_reader_user_pin` in drivers/iommu/iommufd/pages.c).

use super::find::Slot;
use super::iommufd::Ioas;
use super::sys::{self, Container, Function, Group};
use super::{Error, Result};
use peerlane_core::att::Permissions;
use rustix::io::Errno;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The I/O virtual addresses of a function.
pub(super) trait Addresses: Debug + Send + Sync {
    /// Returns the ranges that can be mapped, first and last byte of each. Empty: the kernel does not report them
    /// (before Linux 5.4).
    fn ranges(&self) -> Result<Vec<(u64, u64)>>;

    /// Maps memory of the process for the function, with these permissions only.
    ///
    /// # Errors
    /// `EFAULT` where the process has no memory, `ENOMEM` if it may not lock so much.
    fn map(&self, address: u64, iova: u64, length: u64, permissions: Permissions) -> Result<()>;

    /// Takes a mapping back: the function does not reach the memory when this returns.
    fn unmap(&self, iova: u64, length: u64) -> Result<()>;
}

/// A function that this process has.
#[derive(Debug)]
pub(super) struct Access {
    // Closed in this order: a function that is closed is not bus master any more, so that the mappings can go.
    pub(super) function: Function,
    pub(super) group: Option<Group>,
    pub(super) addresses: Arc<dyn Addresses>,
}

impl Access {
    /// Opens a function that is bound to vfio-pci.
    pub(super) fn open(slot: &Slot) -> Result<Self> {
        let number = slot.group().ok_or_else(|| Error::NoIommu {
            board: slot.address.clone(),
        })?;
        let group = Path::new(sys::DEV).join(&number);
        match slot.node() {
            Some(node) if !(group.exists() && container().exists()) => by_node(slot, &number, node),
            _ => by_group(slot, &number, group),
        }
    }
}

fn container() -> PathBuf {
    Path::new(sys::DEV).join("vfio")
}

fn not_viable(slot: &Slot, group: &str) -> Error {
    Error::NotViable {
        board: slot.address.clone(),
        group: group.to_owned(),
        others: slot.others(),
    }
}

fn in_use(slot: &Slot, group: &str) -> Error {
    Error::InUse {
        board: slot.address.clone(),
        group: group.to_owned(),
    }
}

fn by_group(slot: &Slot, number: &str, path: PathBuf) -> Result<Access> {
    let container = Container::open(container())?;
    let group = match sys::open(&path) {
        Ok(file) => Group::new(file),
        Err(Errno::BUSY) => return Err(in_use(slot, number)),
        Err(source) => return Err(Error::Open { path, source }),
    };
    if !group.is_viable()? {
        return Err(not_viable(slot, number));
    }
    group.join(&container)?;
    container.set_iommu()?;
    Ok(Access {
        function: group.device(&slot.address)?,
        group: Some(group),
        addresses: Arc::new(container),
    })
}

fn by_node(slot: &Slot, number: &str, path: PathBuf) -> Result<Access> {
    let ioas = Ioas::open()?;
    let function = match sys::open(&path) {
        Ok(file) => Function::new(file),
        Err(source) => return Err(Error::Open { path, source }),
    };
    let bound = ioas.bind(&function);
    bound.map_err(|error| match error {
        // Another file of the function is bound (`vfio_df_open` in drivers/vfio/vfio_main.c).
        Error::Call {
            source: Errno::INVAL,
            ..
        } => in_use(slot, number),
        // A driver, or another process, has a device of the group (`iommu_device_claim_dma_owner`).
        Error::Call {
            source: Errno::BUSY,
            ..
        } => match slot.others().is_empty() {
            true => in_use(slot, number),
            false => not_viable(slot, number),
        },
        error => error,
    })?;
    ioas.attach(&function)?;
    Ok(Access {
        function,
        group: None,
        addresses: Arc::new(ioas),
    })
}
