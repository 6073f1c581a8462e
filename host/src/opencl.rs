//! The OpenCL side of a board: what the vendor's BSP has in the BAR beside the DMA block.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::check;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::fmt::Debug;
use std::time::Duration;

/// Parts of a board's OpenCL side. Their offsets are the vendor's own, counted from the first byte of the
/// part; where a part lies in the BAR is the driver's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// `acl_kernel_interface`: version, segment, reset, the window into the kernels' registers, and the
    /// autodiscovery ROM.
    Kernels,
    /// `acl_kernel_clk`: the PLL of the kernels' clock.
    Clock,
    /// `version_id`: one register of 4 bytes that names the kind of board.
    Version,
    /// The temperature sensor: one register of 4 bytes, as the sensor gives it.
    Temperature,
    /// `uniphy_status`: one register of 4 bytes, 0 when all memories of the board are calibrated. While they are
    /// not, FPGA memory does not answer. Only read.
    Status,
}

impl Area {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Kernels,
        Self::Clock,
        Self::Version,
        Self::Temperature,
        Self::Status,
    ];

    /// For messages.
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

/// How an image is packed that the FPGA is configured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Packing {
    /// As the board says of the images that it is made for.
    #[default]
    AsTold,
    /// Neither compressed nor encrypted.
    Plain,
    /// Encrypted, not compressed.
    Encrypted,
    /// Compressed.
    Compressed,
}

/// The OpenCL side of a board, held by one context at a time. Dropping this gives it back: kernels that
/// run are reset then, and nothing of their registers reaches this process any more.
///
/// All methods can be called from several threads at once. A child that a fork makes must use none of
/// them, and its copies give nothing back.
///
/// # Interrupts
/// The kernels' interrupt is a level. Whoever holds the side calls [`arm`](Self::arm); the next time that
/// the line is high the driver masks the interrupt and lets [`wait`](Self::wait) return. The holder
/// handles it, which takes the line low, and arms again. Nothing is armed at first, nor after
/// [`reprogram`](Self::reprogram).
pub trait OpenCl: Debug + Send + Sync {
    /// Bytes of a part; 0: the board has none.
    fn bytes(&self, area: Area) -> u64;

    /// Reads bytes of a part, in the order of their addresses, each once: some registers change as they
    /// are read. An access is as wide as its alignment and the bytes that are left allow, 8 bytes at most,
    /// and reaches no byte beside them. Whatever was written before has arrived when this returns.
    ///
    /// # Errors
    /// [`Error::Bounds`]; [`Error::Gone`].
    fn read(&self, area: Area, offset: u64, data: &mut [u8]) -> Result<()>;

    /// Writes bytes of a part, in the order of their addresses, in accesses as those of
    /// [`read`](Self::read): the bytes beside them stay as they are. Writes arrive in the order in which
    /// they were made.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&self, area: Area, offset: u64, data: &[u8]) -> Result<()>;

    /// Lets the kernels' interrupt come, once. If the line is high, it comes at once.
    ///
    /// # Errors
    /// [`Error::Gone`].
    fn arm(&self) -> Result<()>;

    /// Waits for the kernels' interrupt, for at most `limit`, in real time; `None`: for as long as it
    /// takes. `false`: none has come, because the time is over, or somebody has called
    /// [`wake`](Self::wake). A signal does not end it.
    ///
    /// # Errors
    /// [`Error::Gone`], also while it waits.
    fn wait(&self, limit: Option<Duration>) -> Result<bool>;

    /// Has the [`wait`](Self::wait) that another thread is in, or else the next one, return.
    fn wake(&self);

    /// Has the FPGA programmed by `image`. Before it, everybody's transfers are brought to rest, the board
    /// can reach no memory, and what the PCI function needs is saved. After it, whether it went well or not,
    /// the board is looked for, and started if it is the same kind of board: as after a reset, all
    /// contexts stay open and their regions registered, and what was under way fails with
    /// [`Error::Restarted`].
    ///
    /// `keeps_memory` says that FPGA memory keeps its contents while `image` works. `image` must use
    /// nothing of this board. Where it runs a tool, the tool is to end before the bracket does, also if this
    /// process is killed meanwhile: see [`file`](Self::file).
    ///
    /// # Errors
    /// That of `image`; or that of the board that is found, [`Error::Identity`] for one.
    fn reprogram(&self, keeps_memory: bool, image: &mut dyn FnMut() -> Result<()>) -> Result<()>;

    /// Has the port above the board disable the link, inside of [`reprogram`](Self::reprogram), before something else than the
    /// link configures the FPGA: a link that goes down by surprise may have the machine's firmware restart it. The end of
    /// `reprogram` enables it. Where driver or port cannot, the link stays as it is.
    fn disable_link(&self) {}

    /// Times that the board was reset, and not its block alone:
    /// [`Query::resets`](peerlane_core::uapi::Query::resets), without acknowledging events. When it is another number
    /// than before, kernels, their registers and clock, and FPGA memory may be as after power-up. Each
    /// [`reprogram`](Self::reprogram) counts. Always 0 of a driver in the process, which nobody resets a function
    /// under, and of a driver without [`feature::RESETS`](peerlane_core::uapi::feature::RESETS).
    ///
    /// # Errors
    /// [`Error::Gone`].
    fn resets(&self) -> Result<u64> {
        Ok(0)
    }

    /// Whether [`configure`](Self::configure) can configure the FPGA: what it is configured with now says so.
    fn configures(&self) -> bool {
        false
    }

    /// Configures the FPGA's core over PCIe, by the hard IP (CvP), with the image of a core (`.core.rbf`) for the
    /// periphery that the FPGA has. Only inside of [`reprogram`](Self::reprogram). FPGA memory is lost: the
    /// memory's controller is of the core. If this process is killed meanwhile, the FPGA is configured to the end.
    ///
    /// # Errors
    /// [`Error::Call`]: with `EIO` if the FPGA was not configured, and may have no configuration at all; the kernel's
    /// log says why. It can be tried again, or another way, before `image` ends. With `EOPNOTSUPP` if it
    /// [cannot](Self::configures), with `ENOENT` outside of `reprogram`.
    fn configure(&self, image: &[u8], packing: Packing) -> Result<()> {
        let _ = (image, packing);
        Err(Error::call("CONFIGURE", Errno::OPNOTSUPP))
    }

    /// The context as an open file, where it is one. The context ends when the last copy of the file is
    /// closed. So a process that has a copy and waits for the tool that configures the FPGA puts off what the
    /// end of this process means until the tool has ended. `None`: the board's driver ends with this process.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Device {
    /// Takes the OpenCL side of the board. The kernels in the FPGA reach all of its memory, so the kernel's
    /// driver gives it to who has [all that nobody else has](Self::allocate_all).
    ///
    /// # Errors
    /// [`Error::OpenCl`]: with `EBUSY` or `EEXIST` if a context has it already; with `EPERM` if this one does not
    /// have all memory; with `EOPNOTSUPP` if board or driver have none. [`Error::Gone`].
    pub fn open_cl(&self) -> Result<Box<dyn OpenCl>> {
        self.context().open_cl()
    }
}

/// Checks that a range lies in a part of so many bytes.
pub(crate) fn check_area(area: Area, bytes: u64, offset: u64, length: usize) -> Result<()> {
    let size = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
    match bytes {
        0 => Err(Error::no_opencl()),
        bytes => check(area.name(), size(bytes), size(offset), length),
    }
}
