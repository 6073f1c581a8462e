//! The OpenCL side of a board: the parts of the vendor's BSP in the BAR other than the DMA block.

use crate::bounds::check;
use crate::error::{Error, Result};
use peerlane_core::shell;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::fmt::Debug;
use std::time::Duration;

/// Parts of a board's OpenCL side. Their offsets are the vendor's own, counted from the first byte of the part. The
/// driver knows the place of a part in the BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// `acl_kernel_interface`: version, segment, reset, the window into the kernels' registers, and the
    /// autodiscovery ROM.
    Kernels,
    /// `acl_kernel_clk`: the PLL of the kernels' clock.
    Clock,
    /// `version_id`: one register of 4 bytes that names the kind of board.
    Version,
    /// The temperature sensor: one register of 4 bytes, with the sensor's raw value.
    Temperature,
    /// `uniphy_status`: one register of 4 bytes, 0 when all memories of the board are calibrated. Before that, FPGA
    /// memory does not answer. Read-only.
    Status,
}

impl Area {
    /// All parts.
    pub const ALL: [Self; 5] = [
        Self::Kernels,
        Self::Clock,
        Self::Version,
        Self::Temperature,
        Self::Status,
    ];

    /// Returns the area as the driver's logic knows it.
    pub(crate) fn of_core(self) -> shell::Area {
        match self {
            Self::Kernels => shell::Area::Kernels,
            Self::Clock => shell::Area::Clock,
            Self::Version => shell::Area::Version,
            Self::Temperature => shell::Area::Temperature,
            Self::Status => shell::Area::Status,
        }
    }

    /// Returns the name of the part, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernel interface",
            Self::Clock => "kernel clock",
            Self::Version => "version register",
            Self::Temperature => "temperature sensor",
            Self::Status => "memory's calibration status",
        }
    }
}

/// Packing of an image with which the FPGA is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Packing {
    /// The packing that the board reports for its images.
    #[default]
    AsTold,
    /// Neither compressed nor encrypted.
    Plain,
    /// Encrypted, not compressed.
    Encrypted,
    /// Compressed.
    Compressed,
}

/// The OpenCL side of a board, held by one context at a time. Dropping this releases it: running kernels are reset
/// then, and this process gets none of their register values or interrupts any more.
///
/// All methods can be called from several threads at once. A child that a fork makes must not use any of them, and its
/// copies release nothing.
///
/// # Interrupts
/// The kernels' interrupt is a level. The holder of the side calls [`arm`](Self::arm). The next time that the line is
/// high the driver masks the interrupt and lets [`wait`](Self::wait) return. The holder handles it, which takes the
/// line low, and arms again. The interrupt is not armed at first, nor after [`reprogram`](Self::reprogram).
pub trait OpenCl: Debug + Send + Sync {
    /// Returns the bytes of a part; 0: the board does not have it.
    fn bytes(&self, area: Area) -> u64;

    /// Reads bytes of a part, in the order of their addresses, each once: some registers change when they are read. An
    /// access is as wide as its alignment and the remaining bytes allow, 8 bytes at most, and touches no other bytes.
    /// All earlier writes have arrived when this returns.
    ///
    /// # Errors
    /// [`Error::Bounds`]; [`Error::Gone`].
    fn read(&self, area: Area, offset: u64, data: &mut [u8]) -> Result<()>;

    /// Writes bytes of a part, in the order of their addresses, in accesses like those of [`read`](Self::read): other
    /// bytes keep their values. Writes arrive in the order in which they were made.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&self, area: Area, offset: u64, data: &[u8]) -> Result<()>;

    /// Enables the kernels' interrupt, once. If the line is high, it comes at once.
    ///
    /// # Errors
    /// [`Error::Gone`].
    fn arm(&self) -> Result<()>;

    /// Waits for the kernels' interrupt, for at most `limit`, in real time; `None`: without a limit. Returns `false` if
    /// none has come, because the time is over, or because another thread has called [`wake`](Self::wake). A signal
    /// does not end it. It also returns `true` after a [reset](Self::resets) of the board, which may have ended the
    /// kernels.
    ///
    /// # Errors
    /// [`Error::Gone`], also while it waits.
    fn wait(&self, limit: Option<Duration>) -> Result<bool>;

    /// Makes the [`wait`](Self::wait) of another thread return, or else the next one.
    fn wake(&self);

    /// Has `image` program the FPGA. Before that, the transfers of all contexts are ended, the board is cut off from
    /// memory, and the state of the PCI function is saved. After `image`, whether it went well or not, the board is
    /// looked for, and started if it is the same kind of board. As after a reset, all contexts stay open and their
    /// regions registered, and transfers that were under way fail with [`Error::Restarted`].
    ///
    /// `keeps_memory` says that FPGA memory keeps its contents while `image` works. `image` must not use this board. If
    /// it runs a tool, the tool must end before this function does, also if this process is killed in the meantime: see
    /// [`file`](Self::file).
    ///
    /// # Errors
    /// The error of `image`, or of the board that is found, for example [`Error::Identity`].
    fn reprogram(&self, keeps_memory: bool, image: &mut dyn FnMut() -> Result<()>) -> Result<()>;

    /// Has the port above the board disable the link, inside of [`reprogram`](Self::reprogram), before the FPGA is
    /// configured by other means than the link. A link that goes down unexpectedly may make the machine's firmware
    /// restart it. The end of `reprogram` enables the link. Where driver or port do not support this, the link stays as
    /// it is.
    fn disable_link(&self) {}

    /// Returns the number of resets of the whole board, not of its block alone:
    /// [`Query::resets`](peerlane_core::uapi::Query::resets), without acknowledging events. When the number has
    /// changed, kernels, their registers and clock, and FPGA memory may be as after power-up. Each
    /// [`reprogram`](Self::reprogram) counts. It is always 0 of a driver without
    /// [`feature::RESETS`](peerlane_core::uapi::feature::RESETS).
    ///
    /// # Errors
    /// [`Error::Gone`].
    fn resets(&self) -> Result<u64> {
        Ok(0)
    }

    /// Returns whether [`configure`](Self::configure) can configure the FPGA. This depends on its present
    /// configuration.
    fn configures(&self) -> bool {
        false
    }

    /// Configures the FPGA's core over PCIe, by the hard IP (CvP), with the image of a core (`.core.rbf`) for the
    /// periphery that the FPGA has. Only inside of [`reprogram`](Self::reprogram). FPGA memory is lost, because the
    /// memory's controller is part of the core. If this process is killed in the meantime, the configuration continues
    /// to its end.
    ///
    /// # Errors
    /// [`Error::Call`]: with `EIO` if the FPGA was not configured, and may have no configuration at all; the kernel's
    /// log has the reason. The call can be repeated, or another way be used, before `image` ends. With `EOPNOTSUPP` if
    /// it [cannot](Self::configures) be configured so, with `ENOENT` outside of `reprogram`.
    fn configure(&self, image: &[u8], packing: Packing) -> Result<()> {
        let _ = (image, packing);
        Err(Error::call("CONFIGURE", Errno::OPNOTSUPP))
    }

    /// Returns the context's open file, where it has one. The context ends when the last copy of the file is closed. So
    /// a process can hold a copy while it waits for the tool that configures the FPGA: this process's end then takes
    /// effect when the tool has ended. `None`: the board's driver ends with this process.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Checks that a range lies in a part of `bytes` bytes.
pub(crate) fn check_area(area: Area, bytes: u64, offset: u64, length: usize) -> Result<()> {
    let size = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
    match bytes {
        0 => Err(Error::no_opencl()),
        bytes => check(area.name(), size(bytes), size(offset), length),
    }
}
