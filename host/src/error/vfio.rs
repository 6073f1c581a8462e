//! Errors of boards that are reached by VFIO.

use peerlane_core::board::BoardError;
use rustix::io::Errno;
use std::path::PathBuf;

/// Reason why a board cannot be used by VFIO.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such PCI device.
    #[error("there is no PCI device {board}")]
    NoDevice {
        /// Its address.
        board: String,
    },
    /// The device has another driver than VFIO's, or none.
    #[error("{board} is not bound to vfio-pci{}", driver.as_ref().map_or(String::new(), |driver| format!(": its driver is {driver}")))]
    NotBound {
        /// Its address.
        board: String,
        /// Its driver.
        driver: Option<String>,
    },
    /// The computer has no IOMMU, or does not use it.
    #[error("{board} has no IOMMU")]
    NoIommu {
        /// Its address.
        board: String,
    },
    /// The kernel has no VFIO, or the user may not open its nodes.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The node.
        path: PathBuf,
        /// Reason.
        source: Errno,
    },
    /// Another process has the board.
    #[error("{board} is in use: another process has its IOMMU group {group}")]
    InUse {
        /// Its address.
        board: String,
        /// The group.
        group: String,
    },
    /// Other devices of the IOMMU group have drivers.
    #[error("{board} cannot be used alone: its IOMMU group {group} also has {}", others.join(", "))]
    NotViable {
        /// Its address.
        board: String,
        /// The group.
        group: String,
        /// The other devices, each with its driver.
        others: Vec<String>,
    },
    /// The kernel pins memory that the process has not written to yet, and its later writes go elsewhere.
    #[error("the kernel is older than Linux 5.14")]
    OldKernel,
    /// The kernel's VFIO has no IOMMU of type 1.
    #[error("the kernel's VFIO does not have the interface type1v2")]
    Interface,
    /// A call failed.
    #[error("{what} failed: {source}")]
    Call {
        /// The call.
        what: &'static str,
        /// Reason.
        source: Errno,
    },
    /// The process may not lock so much memory.
    #[error("{bytes} bytes of memory cannot be locked: the limit is {}", limit.map_or("not reached".into(), |limit| format!("{limit} bytes")))]
    Locked {
        /// Bytes that were to be locked.
        bytes: u64,
        /// The process's limit, `RLIMIT_MEMLOCK`.
        limit: Option<u64>,
    },
    /// All I/O virtual addresses are used.
    #[error("there are no I/O virtual addresses for {bytes} bytes")]
    NoAddresses {
        /// Bytes that were to be mapped.
        bytes: u64,
    },
    /// There is no description of the board.
    #[error("there is no description of {board}: no {} in {}", file, directories.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or "))]
    Undescribed {
        /// Its address.
        board: String,
        /// Name of the file.
        file: String,
        /// The directories where it was looked for.
        directories: Vec<PathBuf>,
    },
    /// A description cannot be read.
    #[error("{}: {source}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: BoardError,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// No description is confirmed by the board.
    #[error("{} does not describe {board}: {found}", path.display())]
    Other {
        /// Its address.
        board: String,
        /// The file.
        path: PathBuf,
        /// The values that the board has at the described places.
        found: String,
    },
    /// The board's BAR cannot be mapped, or is too small.
    #[error("BAR {bar} of {board} cannot be used: {reason}")]
    Bar {
        /// Its address.
        board: String,
        /// Number of the BAR.
        bar: u32,
        /// Reason.
        reason: String,
    },
    /// The board's read requests are too small for its port.
    #[error(
        "the Max Read Request Size of {board} is {bytes} bytes, with which reads give wrong data"
    )]
    ReadRequest {
        /// Its address.
        board: String,
        /// The size.
        bytes: u32,
    },
    /// The board has fewer interrupts than channels.
    #[error("{board} needs {wanted} interrupts, and has {found}")]
    Interrupts {
        /// Its address.
        board: String,
        /// Interrupts that are needed.
        wanted: u32,
        /// Interrupts that there are.
        found: u32,
    },
    /// Memory of NVIDIA's GPUs needs GDRCopy.
    #[error("memory of a GPU cannot be reached without GDRCopy: {reason}")]
    NoGdrcopy {
        /// Reason why it cannot be used.
        reason: String,
    },
    /// GDRCopy's mappings end without notice.
    #[error(
        "GDRCopy's driver does not keep memory that the program frees, which the board would go on to write"
    )]
    Fleeting,
    /// The kernel has iommufd alone, which maps no memory of a GPU.
    #[error(
        "memory of a GPU cannot be reached: the kernel has no VFIO groups, and iommufd does not map it"
    )]
    NoGroups,
    /// Memory of a GPU cannot be pinned.
    #[error("memory of a GPU at {address:#x} cannot be pinned: {reason}")]
    Gpu {
        /// Its address.
        address: u64,
        /// Reason.
        reason: String,
    },
}

impl Error {
    pub(crate) fn call(what: &'static str, source: Errno) -> Self {
        Self::Call { what, source }
    }

    /// Returns the number of errno.h for the cause: that of a call that failed, or that of the kernel's driver for the
    /// same cause.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Open { source, .. } | Self::Call { source, .. } => Some(*source),
            Self::NoDevice { .. } | Self::NotBound { .. } => Some(Errno::NODEV),
            Self::InUse { .. } => Some(Errno::BUSY),
            Self::Locked { .. } => Some(Errno::NOMEM),
            Self::NoAddresses { .. } => Some(Errno::NOSPC),
            _ => None,
        }
    }

    /// Returns a hint how to fix the cause, in one or two sentences.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoDevice { .. } => "Name a PCI address as lspci -D lists it: 0000:01:00.0.",
            Self::NotBound { .. } => "As root: peerlane bind ADDRESS.",
            Self::NoIommu { .. } => {
                "Switch the IOMMU on in the firmware's settings (VT-d, AMD-Vi), and for Intel boot with intel_iommu=on. Without an IOMMU, use the kernel module."
            }
            Self::Open { source, .. } if *source == Errno::ACCESS => {
                "Give your user the board, as root: peerlane bind ADDRESS --user USER."
            }
            Self::Open { .. } => "As root: modprobe vfio-pci.",
            Self::InUse { .. } => {
                "End that process: by VFIO one process has the board. With the kernel module, many processes share it."
            }
            Self::NotViable { .. } => {
                "Put the board into another slot, or use the kernel module. If nothing else needs the other devices, bind them to vfio-pci, too. Devices below a switch without ACS are in one group."
            }
            Self::OldKernel => "Use Linux 5.14 or later.",
            Self::Interface => {
                "Load vfio_iommu_type1, or use a kernel with CONFIG_VFIO_IOMMU_TYPE1."
            }
            Self::Call { .. } => "Look into the kernel's log for the reason.",
            Self::Locked { .. } => {
                "Raise the limit of locked memory: ulimit -l, LimitMEMLOCK= of the service, or /etc/security/limits.d. Registered memory is locked."
            }
            Self::NoAddresses { .. } => "Unregister regions that are not needed.",
            Self::Undescribed { .. } | Self::Other { .. } => {
                "As root: peerlane install-board DIRECTORY, with the directory of the extended platform that the FPGA has."
            }
            Self::Description { .. } => "Install it again: peerlane install-board DIRECTORY.",
            Self::File { .. } => "Make the file readable for all users.",
            Self::Bar { .. } => {
                "See that the FPGA is configured with the extended platform, then rescan the bus."
            }
            Self::ReadRequest { .. } => {
                "As root: peerlane bind ADDRESS, which sets 512 bytes. If it cannot, boot without pci=pcie_bus_perf, or use another slot or computer."
            }
            Self::Interrupts { .. } => "Use a build with fewer channels.",
            Self::NoGdrcopy { .. } => {
                "Install NVIDIA's gdrcopy and load its driver (modprobe gdrdrv), use the kernel module, or go through host memory."
            }
            Self::Fleeting => {
                "Load gdrdrv of GDRCopy 2.5 or later with use_persistent_mapping=1, its default."
            }
            Self::NoGroups => {
                "Use a kernel with CONFIG_VFIO_GROUP and CONFIG_VFIO_CONTAINER, or the kernel module, or go through host memory."
            }
            Self::Gpu { .. } => {
                "Give an address of cuMemAlloc or cudaMalloc, and see that the GPU has free BAR space (peerlane doctor)."
            }
        }
    }
}
