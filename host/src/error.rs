//! Errors of the library.

mod backend;
mod hint;
mod vfio;

pub use backend::{BackendError, BackendResult};
pub use vfio::Error as VfioError;

use crate::sys::Argument as _;
use peerlane_core::att::AllocError;
use peerlane_core::capability::IdentityError;
use peerlane_core::channel::LocalRangeError;
use peerlane_core::descriptor::Direction;
use peerlane_core::fault::Fault;
use peerlane_core::layout::LayoutError;
use peerlane_core::refusal::{self, Refusal};
use peerlane_core::region::RegionError;
use peerlane_core::uapi::{self, VERSION, feature};
use rustix::io::Errno;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Result of the library's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library. [`Error::hint`] returns a hint.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no device node.
    #[error(
        "there is no Peerlane device: no /dev/peerlane*, and no board that is bound to vfio-pci"
    )]
    None,
    /// The device node cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The node.
        path: PathBuf,
        /// Reason.
        source: Errno,
    },
    /// Driver and library speak different versions of the interface.
    #[error(
        "{}: the driver speaks versions {} to {} of the interface, not {VERSION}",
        path.display(), driver.start(), driver.end()
    )]
    Version {
        /// The node.
        path: PathBuf,
        /// The driver's versions.
        driver: RangeInclusive<u32>,
    },
    /// Driver or board lack features that were required.
    #[error("{}: driver or board lack {}", path.display(), features(*.missing))]
    Features {
        /// The node.
        path: PathBuf,
        /// Bits of [`feature`](peerlane_core::uapi::feature).
        missing: u64,
    },
    /// The hardware is not the one that this library was built for.
    #[error("{board}: {source}")]
    Identity {
        /// Name of the board, for example its node.
        board: String,
        /// Difference that was found.
        source: IdentityError,
    },
    /// The driver refused a call.
    #[error("{call} failed: {source}")]
    Call {
        /// The call.
        call: &'static str,
        /// Reason.
        source: Errno,
    },
    /// Memory for the caller cannot be mapped.
    #[error("cannot map {length} bytes of {what}: {source}")]
    Map {
        /// Name of the memory.
        what: &'static str,
        /// Bytes.
        length: usize,
        /// Reason.
        source: Errno,
    },
    /// A range does not lie in the memory.
    #[error("{length} bytes at offset {offset} do not lie in the {what} of {size} bytes")]
    Bounds {
        /// Memory, or a view of it.
        what: &'static str,
        /// First byte of the range.
        offset: usize,
        /// Bytes in the range.
        length: usize,
        /// Size in bytes.
        size: usize,
    },
    /// No driver of Peerlane's allocates memory of a real GPU.
    #[error("memory of a GPU cannot be allocated here")]
    NoGpu,
    /// The region belongs to another device.
    #[error("the region belongs to another device")]
    Foreign,
    /// The board only writes the region from now on. It has lost reads since the memory was registered, and the
    /// region's device may be the cause ([`Query::doubts`](peerlane_core::uapi::Query::doubts)).
    #[error(
        "the board has lost reads since the memory was registered, and only writes it from now on"
    )]
    Doubted,
    /// The region was invalidated: its entries of the board's table belong to another region, or will.
    #[error("the region was invalidated")]
    Forgotten,
    /// The value belongs to the parent process: this process is the child of a fork, and would end the parent's
    /// transfers.
    #[error("this process is the child of a fork: the transfers in progress belong to its parent")]
    Inherited,
    /// The region cannot be used so.
    #[error(transparent)]
    Region(RegionError),
    /// A write begins or ends inside of a dword. The board writes whole dwords, and the region has no copy for the
    /// bytes at the ends.
    #[error(
        "a write of {length} bytes at offset {offset} does not begin and end at multiples of \
         {granularity} bytes, and the board cannot make other writes (write_granularity)"
    )]
    Granularity {
        /// Byte offset in the region. The region itself may begin inside of a dword.
        offset: u64,
        /// Bytes in the range.
        length: u64,
        /// Bytes of which the board writes multiples.
        granularity: u32,
    },
    /// The first or last bytes of a write, which the board cannot write by itself, were not copied to their place.
    #[error("the bytes at an end of a write were not copied: {reason}")]
    Ends {
        /// Reason.
        reason: String,
    },
    /// A range does not lie in the context's part of FPGA memory.
    #[error(
        "{length} bytes at FPGA address {address:#x} do not lie in {base:#x}..{end:#x}, the context's FPGA memory"
    )]
    Local {
        /// First FPGA byte address.
        address: u64,
        /// Bytes in the range.
        length: u64,
        /// First byte of the context's FPGA memory.
        base: u64,
        /// First byte after it.
        end: u64,
    },
    /// FPGA memory cannot be allocated, or not be freed.
    #[error("{}: {source}", fpga_memory(*.bytes))]
    Memory {
        /// Bytes asked for; 0: memory was to be freed or taken over, or all memory was asked for.
        bytes: u64,
        /// Reason.
        source: Errno,
    },
    /// The board's window into FPGA memory is not available, or cannot be placed there.
    #[error("the window into FPGA memory cannot be placed at {base:#x}: {source}")]
    Window {
        /// FPGA address of its first byte.
        base: u64,
        /// Reason.
        source: Errno,
    },
    /// The window was not exported as a dma-buf.
    #[error("the window was not exported as a dma-buf: {source}")]
    Export {
        /// Reason.
        source: Errno,
    },
    /// The OpenCL side of the board is not available.
    #[error("the OpenCL side of the board: {source}")]
    OpenCl {
        /// Reason.
        source: Errno,
    },
    /// The FPGA was not programmed.
    #[error("the FPGA was not programmed: {reason}")]
    Program {
        /// Reason.
        reason: String,
    },
    /// The channel has, or had, a queue, of this device or of another one over the same file. No other queue can know
    /// the position in its ring.
    #[error("the channel has, or had, a queue already")]
    Taken,
    /// The block has not completed an operation in the promised time.
    #[error(
        "the block has not {what} after {waited:?} (the register at {register:#x} is {value:#010x})"
    )]
    NotReady {
        /// The operation, after "the block has not".
        what: &'static str,
        /// Time waited, in the board's time.
        waited: Duration,
        /// Offset of the register that was looked at.
        register: usize,
        /// Last value of that register.
        value: u32,
    },
    /// Every channel is held by some context.
    #[error("all {channels} channels of the board are in use")]
    ChannelsTaken {
        /// Channels of this build.
        channels: u32,
    },
    /// The range cannot be the FPGA memory of a channel.
    #[error("the channel cannot use this FPGA memory: {0}")]
    LocalRange(#[source] LocalRangeError),
    /// The PCIe port has stopped taking packets of the block. Every transfer ends, but it is unknown which packets the
    /// port still holds. So registered memory is not freed.
    #[error(
        "the board's PCIe port is dead: it accepts no more requests, has lost data, or waits for \
         peers that do not answer (STATUS.port_dead)"
    )]
    PortDead,
    /// Answers to reads are owed, and the board's port takes no other reads before they have come.
    #[error(
        "the board waits for answers to reads, and its PCIe port sends no more reads until they have come"
    )]
    ReadsOwed,
    /// The memory cannot be mapped.
    #[error("cannot map the memory: {0}")]
    Layout(#[source] LayoutError),
    /// The region is too large for the board's address table.
    #[error(
        "a region of {length} bytes needs {entries} entries of the board's address table or more, and this context can hold {most}"
    )]
    TooLarge {
        /// Bytes of the region.
        length: u64,
        /// Entries that it needs; the largest pages were assumed if its pages were not looked at.
        entries: u64,
        /// The most entries that the context can hold.
        most: u64,
    },
    /// The ATT has no room.
    #[error("cannot map the memory: {0}")]
    AttFull(#[source] AllocError),
    /// The board cannot reach the address of the memory.
    #[error("bus address {address:#x} does not fit the {bits} address bits of this build")]
    Unreachable {
        /// The bus address.
        address: u64,
        /// Address bits of the PCIe port.
        bits: u32,
    },
    /// The backend of a driver in the process failed.
    #[error(transparent)]
    Backend(BackendError),
    /// Nothing was asked for, or a range ends before it begins.
    #[error("{what} of no bytes")]
    Empty {
        /// Name of the empty item: "a transfer".
        what: &'static str,
    },
    /// A stream cannot have these settings.
    #[error("the settings of the stream are wrong: {reason}")]
    Course {
        /// Reason.
        reason: &'static str,
    },
    /// The transfer does not fit into one descriptor, and the slow path takes one descriptor a transfer.
    #[error(
        "{length} bytes do not fit one descriptor, which moves {} at most",
        u32::MAX
    )]
    TooLong {
        /// Bytes asked for.
        length: u64,
    },
    /// The board ended a transfer with an error.
    #[error(
        "{direction} of {length} bytes failed after {bytes_done}: {fault}{}",
        place(*.offset)
    )]
    Fault {
        /// Direction.
        direction: Direction,
        /// Fault that the board reported.
        fault: Fault,
        /// Bytes moved from the start without a gap.
        bytes_done: u64,
        /// Bytes asked for.
        length: u64,
        /// Offset in the transfer of the request that failed, if the board reported one.
        offset: Option<u64>,
    },
    /// The transfer has not ended in time. It goes on; wait again, or end it by
    /// [`Queue::restart`](crate::Queue::restart), on the slow path by [`Device::stop`](crate::Device::stop).
    #[error(
        "{direction} of {length} bytes has not ended after {waited:?}; {bytes_done} bytes are done"
    )]
    Timeout {
        /// Direction.
        direction: Direction,
        /// Bytes that are known to be moved.
        bytes_done: u64,
        /// Bytes asked for.
        length: u64,
        /// Time waited, in the board's time.
        waited: Duration,
    },
    /// Transfers of a queue have not ended in time. They go on; wait again, or restart the queue.
    #[error("{under_way} transfers have not ended after {waited:?}")]
    NotDrained {
        /// Transfers that have not ended, of those that were waited for.
        under_way: usize,
        /// Time waited, in the board's time.
        waited: Duration,
    },
    /// The block was reset while the transfer was under way, or before it was submitted and before the queue had learnt
    /// of the reset. A queue learns of it by the first wait that meets it, and by
    /// [`Device::query`](crate::Device::query). That query also reports whether more than the block was reset, that is
    /// FPGA memory and kernels with it: [`Query::resets`](peerlane_core::uapi::Query::resets) has changed then.
    #[error("the board was reset: transfers submitted before the queue noticed that are lost")]
    Restarted,
    /// The program has ended the transfer early, for example by [`Transfer::stop`](crate::Transfer::stop) or
    /// [`Queue::restart`](crate::Queue::restart), or its channel was stopped.
    #[error("the transfer was cancelled, or its queue or channel was stopped, before its end")]
    Stopped,
    /// The board does not answer any more, or the driver has released it. It can reach no memory: no byte changes any
    /// more.
    #[error("the device is gone")]
    Gone,
    /// Board and library disagree about the transfers under way.
    #[error("the state of the channel is inconsistent: {reason}")]
    Broken {
        /// Description of the disagreement.
        reason: String,
    },
}

fn features(bits: u64) -> String {
    let names = [
        (feature::HOST, "regions of host memory"),
        (feature::DMABUF, "regions of dma-bufs"),
        (feature::NVIDIA, "regions of NVIDIA's memory"),
        (feature::SUBMIT, "descriptors written by the driver"),
        (feature::PAGE, "descriptors written by the process"),
        (feature::PROBE, "probes"),
        (feature::ALLOCATE, "FPGA memory for contexts"),
        (feature::RESETS, "a count of resets"),
        (feature::WINDOW, "the window into FPGA memory"),
        (feature::MSIX, "an interrupt for each channel"),
        (feature::TAGGED_READS, "reads by tag"),
        (feature::PROVED_PEERS, "proofs of reads"),
    ];
    let mut missing: Vec<String> = Vec::new();
    let mut unknown = bits;
    for (bit, name) in names.into_iter().filter(|(bit, _)| bits & bit != 0) {
        missing.push(name.into());
        unknown &= !bit;
    }
    if unknown != 0 {
        missing.push(format!("features {unknown:#x}"));
    }
    missing.join(", ")
}

fn fpga_memory(bytes: u64) -> String {
    match bytes {
        0 => "FPGA memory cannot be allocated or freed".into(),
        bytes => format!("{bytes} bytes of FPGA memory cannot be allocated"),
    }
}

fn place(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" (at byte {offset} of it)"))
}

impl From<BackendError> for Error {
    fn from(error: BackendError) -> Self {
        match error {
            // The kernel's driver returns the same error.
            BackendError::NoProcessMemory { .. } => Self::call(uapi::Register::NAME, Errno::FAULT),
            error => Self::Backend(error),
        }
    }
}

impl Error {
    /// Makes the error of a call to the driver.
    pub(crate) fn call(call: &'static str, source: Errno) -> Self {
        match source {
            Errno::NODEV => Self::Gone,
            source => Self::Call { call, source },
        }
    }

    /// Returns the number of errno.h for the cause: that of the kernel, or for a driver in the process that of the
    /// kernel's driver for the same cause.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Open { source, .. }
            | Self::Call { source, .. }
            | Self::Map { source, .. }
            | Self::Memory { source, .. }
            | Self::Window { source, .. }
            | Self::Export { source }
            | Self::OpenCl { source } => Some(*source),
            Self::Backend(error) => error.errno(),
            _ => None,
        }
    }

    /// Returns the reason why memory of a peer was not registered, where the kernel or the memory's own driver refused
    /// it.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Call { call, source } if *call == uapi::Register::NAME => {
                refusal::of(source.raw_os_error())
            }
            _ => None,
        }
    }

    /// Returns whether the memory cannot be registered in this way, and may be in another: for example by NVIDIA's
    /// interface instead of a dma-buf.
    pub fn is_no_way(&self) -> bool {
        let refused = self.refusal();
        refused.is_some_and(|refusal| refusal.kind == refusal::Kind::NoWay)
            || matches!(self, Self::Call { call, source: Errno::OPNOTSUPP } if *call == uapi::Register::NAME)
    }

    /// Returns whether the state of a queue's transfers is unknown after this error: the driver has refused a call for
    /// the queue. A refused registration is not such an error, and neither is the end of the board.
    pub fn leaves_transfers_open(&self) -> bool {
        matches!(self, Self::Call { call, source } if *call != uapi::Register::NAME && *source != Errno::NODEV)
    }

    /// Makes the error of a mapping by the driver.
    pub(crate) fn map(what: &'static str, length: usize, source: Errno) -> Self {
        match source {
            Errno::NODEV => Self::Gone,
            source => Self::Map {
                what,
                length,
                source,
            },
        }
    }

    /// Makes the error of a call about FPGA memory.
    pub(crate) fn memory(bytes: u64, source: Errno) -> Self {
        match source {
            Errno::NODEV => Self::Gone,
            source => Self::Memory { bytes, source },
        }
    }

    /// Makes the error of a call that takes the OpenCL side of a board.
    pub(crate) fn opencl(source: Errno) -> Self {
        match source {
            Errno::NODEV => Self::Gone,
            source => Self::OpenCl { source },
        }
    }

    /// Makes the error for a board or driver without an OpenCL side, or without this part of one.
    pub(crate) fn no_opencl() -> Self {
        Self::opencl(Errno::OPNOTSUPP)
    }

    /// Makes the error of a call that places the window into FPGA memory.
    pub(crate) fn window(base: u64, source: Errno) -> Self {
        match source {
            Errno::NODEV => Self::Gone,
            source => Self::Window { base, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_core::att::Permissions;

    #[test]
    fn what_is_missing_is_named() {
        let missing = |missing| Error::Features {
            path: "/dev/peerlane0".into(),
            missing,
        };
        let error = missing(feature::WINDOW | 1 << 60).to_string();
        assert!(
            error.ends_with("the window into FPGA memory, features 0x1000000000000000"),
            "{error}"
        );
        let version = Error::Version {
            path: "/dev/peerlane0".into(),
            driver: 2..=3,
        };
        let error = version.to_string();
        assert!(
            error.contains("versions 2 to 3 ") && error.ends_with("not 1"),
            "{error}"
        );
    }

    /// By VFIO causes have the numbers of the kernel's driver (`errno(3)`).
    #[test]
    fn limits_of_vfio_are_no_room() {
        use crate::cache::NoRoom as _;
        let vfio = |error| Error::from(BackendError::Vfio(error));
        let board = String::from("0000:01:00.0");
        let (bytes, limit) = (4096, Some(0));
        let call = |source| VfioError::call("VFIO_IOMMU_MAP_DMA", source);
        for (error, number, no_room) in [
            (VfioError::Locked { bytes, limit }, 12, true),
            (VfioError::NoAddresses { bytes }, 28, true),
            // More mappings than the module's parameter dma_entry_limit.
            (call(Errno::NOSPC), 28, true),
            (call(Errno::INVAL), 22, false),
            (
                VfioError::InUse {
                    board: board.clone(),
                    group: "7".into(),
                },
                16,
                false,
            ),
            (VfioError::NoDevice { board }, 19, false),
        ] {
            let error = vfio(error);
            let found = error.errno().map(Errno::raw_os_error);
            assert_eq!(
                (found, error.no_room()),
                (Some(number), no_room),
                "{error:?}"
            );
        }
        let full = BackendError::OutOfMemory {
            kind: crate::MemoryKind::Gpu,
            wanted: 1,
        };
        assert!(Error::from(full).no_room());
        let other = Error::from(BackendError::Other("why".into()));
        assert!(other.errno().is_none() && !other.no_room());
        assert!(!Error::opencl(Errno::NOMEM).no_room());
    }

    #[test]
    fn a_vanished_device_is_told_from_a_refusal() {
        assert!(matches!(Error::call("QUERY", Errno::NODEV), Error::Gone));
        assert!(matches!(Error::map("a ring", 1, Errno::NODEV), Error::Gone));
        let error = Error::call("REGISTER", Errno::NOSPC);
        assert!(
            error.to_string().starts_with("REGISTER failed: "),
            "{error}"
        );
        assert!(error.hint().contains("Unregister regions"));
    }

    #[test]
    fn a_fault_says_what_where_and_what_to_do() {
        let mut fault = Error::Fault {
            direction: Direction::ToFpga,
            fault: Fault::Unsupported,
            bytes_done: 512,
            length: 4096,
            offset: Some(1024),
        };
        assert_eq!(
            fault.to_string(),
            "transfer to the FPGA of 4096 bytes failed after 512: a read was answered with Unsupported Request (at byte 1024 of it)"
        );
        assert!(fault.hint().contains("bus address"));
        if let Error::Fault { offset, .. } = &mut fault {
            *offset = None;
        }
        assert!(fault.to_string().ends_with("Unsupported Request"));
    }

    #[test]
    fn hints_lead_out() {
        let open = |source| Error::Open {
            path: "/dev/peerlane7".into(),
            source,
        };
        assert!(open(Errno::NOENT).hint().contains("modprobe"));
        assert!(open(Errno::AGAIN).hint().contains("Try again"));
        // Another handle of the board, in this process, would be the same lost one.
        assert!(Error::Gone.hint().contains("Close all devices"));
        // A GPU that is too far away, and one whose driver is not there.
        let far = Error::call("REGISTER", Errno::REMOTEIO).hint();
        for part in ["one PCIe switch", "any_distance=1", "peerlane doctor"] {
            assert!(far.contains(part), "{far}");
        }
        // Errors of the GPU's own driver. They are neither the board's end nor the limit of locked memory.
        for (errno, part) in [
            (Errno::HOSTUNREACH, "NVreg_GrdmaPciTopoCheckOverride=1"),
            (Errno::NOBUFS, "BAR1"),
            (Errno::STALE, "export the memory again"),
            (Errno::PROTO, "update that driver"),
        ] {
            let error = Error::call("REGISTER", errno);
            let hint = error.hint();
            assert!(hint.contains(part), "{hint}");
            assert!(!hint.contains("ulimit"), "{hint}");
            assert!(!matches!(error, Error::Gone));
        }
        let is_no_way = |errno| Error::call("REGISTER", errno).is_no_way();
        for way in [Errno::HOSTUNREACH, Errno::REMOTEIO, Errno::OPNOTSUPP] {
            assert!(is_no_way(way), "{way}");
        }
        for other in [Errno::NOBUFS, Errno::STALE, Errno::INVAL, Errno::NOSPC] {
            assert!(!is_no_way(other), "{other}");
        }
        assert!(!Error::call("WAIT", Errno::REMOTEIO).is_no_way());
        let missing = Error::call("REGISTER", Errno::NXIO).hint();
        assert!(missing.contains("modprobe nvidia"), "{missing}");
        // The right to put another design in the block's place is not that to a memory.
        for call in [uapi::Reprogram::NAME, uapi::Configure::NAME] {
            let hint = Error::call(call, Errno::PERM).hint();
            for part in ["CAP_SYS_RAWIO", "configure_all=1", "lockdown", "IOMMU"] {
                assert!(hint.contains(part), "{call}: {hint}");
            }
        }
        // The file that was opened is not a device of Peerlane.
        let hint = Error::call("INFO", Errno::NOTTY).hint();
        assert!(hint.contains("device node"), "{hint}");
        // A program with a queue restarts the queue. After a stop by other means its doorbells are refused.
        let late = Error::Timeout {
            direction: Direction::ToFpga,
            bytes_done: 0,
            length: 1,
            waited: Duration::ZERO,
        };
        assert!(late.hint().contains("restart the queue"));
        // The range of a context without memory.
        let local = |end| Error::Local {
            address: 0x1_0000,
            length: 1,
            base: 0,
            end,
        };
        assert!(local(0).hint().contains("Allocate"));
        assert!(local(0x1_0000).hint().contains("inside"));
        assert!(
            Error::TooLong { length: 1 << 32 }
                .to_string()
                .contains("4294967295")
        );
        let refused = |bytes| Error::memory(bytes, Errno::BUSY).to_string();
        assert!(refused(65536).starts_with("65536 bytes of FPGA memory cannot"));
        assert!(!refused(0).contains(" bytes"), "{}", refused(0));
    }

    #[test]
    fn hints_are_sentences() {
        let path = PathBuf::from("/dev/peerlane0");
        let errors = [
            Error::None,
            Error::Open {
                path: path.clone(),
                source: Errno::BUSY,
            },
            Error::Version {
                path: path.clone(),
                driver: 2..=2,
            },
            Error::Identity {
                board: "/dev/peerlane0".into(),
                source: IdentityError::Gone,
            },
            Error::Region(RegionError::Permission {
                direction: Direction::FromFpga,
                permissions: Permissions::Read,
            }),
            Error::Empty { what: "a region" },
            Error::Course { reason: "why" },
            Error::Doubted,
            Error::Forgotten,
            Error::Inherited,
            Error::PortDead,
            Error::Restarted,
            Error::Stopped,
            Error::Gone,
            Error::Timeout {
                direction: Direction::ToFpga,
                bytes_done: 0,
                length: 1,
                waited: Duration::ZERO,
            },
        ];
        let errnos = [
            Errno::AGAIN,
            Errno::STALE,
            Errno::NOENT,
            Errno::INVAL,
            Errno::IO,
            Errno::NOMEM,
            Errno::NOSPC,
            Errno::NOTTY,
        ];
        let refused = errnos.map(|source| Error::call("SUBMIT", source));
        let unmapped = [Errno::BUSY, Errno::AGAIN, Errno::NOMEM]
            .map(|source| Error::map("the channel's page", 4096, source));
        let opencl = [Errno::BUSY, Errno::OPNOTSUPP, Errno::PERM].map(Error::opencl);
        let errors = errors.into_iter().chain(refused).chain(unmapped);
        let errors = errors.chain(opencl);
        for error in errors {
            assert!(error.hint().ends_with(['.', '?']), "{error:?}");
            assert!(!error.to_string().ends_with('.'), "{error:?}");
        }
    }
}
