//! What can go wrong, and what to do about it.

use crate::backend::BackendError;
use peerlane_core::att::AllocError;
use peerlane_core::capability::IdentityError;
use peerlane_core::channel::LocalRangeError;
use peerlane_core::descriptor::Direction;
use peerlane_core::fault::Fault;
use peerlane_core::layout::LayoutError;
use std::time::Duration;

/// Result of the library's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the library. [`Error::remedy`] says what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The hardware is not what this library was built for.
    #[error("cannot open the device: {0}")]
    Identity(#[source] IdentityError),
    /// An option has a value that this device cannot have.
    #[error("option `{option}`: {value} is not possible: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
        /// Why not.
        reason: &'static str,
    },
    /// The block has not done in time what it promises to.
    #[error(
        "the block has not {what} after {waited:?} (the register at {register:#x} is {value:#010x})"
    )]
    NotReady {
        /// What it was to do.
        what: &'static str,
        /// How long was waited, in the board's time.
        waited: Duration,
        /// Offset of the register that was looked at.
        register: usize,
        /// What it said last.
        value: u32,
    },
    /// Every channel is held by somebody.
    #[error("all {channels} channels of the board are taken")]
    ChannelsTaken {
        /// Channels of this build.
        channels: u32,
    },
    /// The range cannot be what a channel may touch of FPGA memory.
    #[error("cannot open the channel: {0}")]
    LocalRange(#[source] LocalRangeError),
    /// A channel has not come to rest in time. Its transfers go on.
    #[error("channel {channel} still has transfers under way after {waited:?}")]
    NotDrained {
        /// The channel.
        channel: u32,
        /// How long was waited, in the board's time.
        waited: Duration,
    },
    /// The region was revoked.
    #[error("the region was revoked: it maps no memory any more")]
    Revoked,
    /// A region for no channel.
    #[error("a region that no channel may use")]
    NoOwner,
    /// The PCIe port has stopped taking what the block sends. Every transfer ends, but
    /// nobody knows what the port still holds: memory that was registered is not given
    /// back.
    #[error("the board's PCIe port takes nothing any more (STATUS.port_dead)")]
    PortDead,
    /// A range does not lie in a region or in memory.
    #[error("{length} bytes at offset {offset} do not lie in the {what} of {size} bytes")]
    Bounds {
        /// A region or memory.
        what: &'static str,
        /// First byte of the range.
        offset: u64,
        /// Bytes in the range.
        length: u64,
        /// Bytes there are.
        size: u64,
    },
    /// A range does not lie in FPGA memory.
    #[error(
        "{length} bytes at FPGA address {address:#x} do not lie in {memory:#x} bytes of FPGA memory"
    )]
    FpgaBounds {
        /// First FPGA byte address.
        address: u64,
        /// Bytes in the range.
        length: u64,
        /// Bytes that a descriptor can name.
        memory: u64,
    },
    /// A transfer of no bytes.
    #[error("a transfer of no bytes")]
    Empty,
    /// The region does not permit the direction.
    #[error("the region does not permit the board to {}", match direction {
        Direction::Write => "write it",
        Direction::Read => "read it",
    })]
    Permission {
        /// What was tried.
        direction: Direction,
    },
    /// A handle of another device.
    #[error("the {what} belongs to another device")]
    Foreign {
        /// What kind of handle.
        what: &'static str,
    },
    /// The memory cannot be mapped.
    #[error("cannot map the memory: {0}")]
    Layout(#[source] LayoutError),
    /// The ATT has no room.
    #[error("cannot map the memory: {0}")]
    AttFull(#[source] AllocError),
    /// The memory lies where the board cannot reach.
    #[error("bus address {address:#x} does not fit the {bits} address bits of this build")]
    Unreachable {
        /// The bus address.
        address: u64,
        /// Address bits of the PCIe port.
        bits: u32,
    },
    /// The board ended a transfer with an error.
    #[error(
        "{direction} of {length} bytes failed after {bytes_done}: {fault}{}",
        place(*.region_offset)
    )]
    Fault {
        /// Which way.
        direction: Direction,
        /// Why, as the board says.
        fault: Fault,
        /// Bytes moved from the start without a gap.
        bytes_done: u64,
        /// Bytes asked for.
        length: u64,
        /// Offset in the region of the request that failed, if the board named one.
        region_offset: Option<u64>,
    },
    /// The transfer has not ended in time. It goes on; wait again, or reset the device.
    #[error(
        "{direction} of {length} bytes has not ended after {waited:?}; {bytes_done} bytes are done"
    )]
    Timeout {
        /// Which way.
        direction: Direction,
        /// Bytes known to be moved.
        bytes_done: u64,
        /// Bytes asked for.
        length: u64,
        /// How long was waited, in the board's time.
        waited: Duration,
    },
    /// The board does not answer: registers read as ones.
    #[error("the device is gone: its registers read as ones")]
    Gone,
    /// Board and library disagree about what is under way.
    #[error("the device's bookkeeping is broken: {reason}")]
    Broken {
        /// What was found.
        reason: String,
    },
    /// The backend has no such door.
    #[error("this device has no back door to its FPGA memory")]
    NoBackdoor,
    /// The backend failed.
    #[error(transparent)]
    Backend(BackendError),
}

fn place(region_offset: Option<u64>) -> String {
    region_offset.map_or_else(String::new, |offset| {
        format!(" (at offset {offset} of the region)")
    })
}

impl From<BackendError> for Error {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Gone => Self::Gone,
            error => Self::Backend(error),
        }
    }
}

impl Error {
    /// What to do about it, in one sentence or two.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Identity(IdentityError::Gone) | Self::Gone => {
                "Check that the board is configured and its link is up; rescan the bus and open the device again."
            }
            Self::Identity(IdentityError::Map { .. }) => {
                "Generate the BSP and this library from the same version of the register map."
            }
            Self::Identity(IdentityError::Build { .. }) => {
                "Load the FPGA image of the expected build, or name the build that is loaded."
            }
            Self::Identity(IdentityError::Capability { .. }) => {
                "The FPGA image is damaged or not Peerlane's: load it again."
            }
            Self::Option { .. } => "Give the option another value, or leave it at its default.",
            Self::NotReady { .. } => {
                "A peer may be holding the bus up: reset the link or the board."
            }
            Self::ChannelsTaken { .. } => {
                "Drop a channel with its queues and transfers, or build the block with more channels."
            }
            Self::LocalRange(_) => "Give a range of whole 4 KiB inside the FPGA's memory.",
            Self::NotDrained { .. } => "Wait longer, or abort the channel.",
            Self::Revoked => "Register the memory again.",
            Self::NoOwner => "Name a channel, or register the memory for all.",
            Self::PortDead => {
                "Reset the FPGA: nothing less opens the port again. Look at the hard IP and the link for the cause."
            }
            Self::Bounds { .. } | Self::Empty => "Give an offset and a length that lie inside.",
            Self::FpgaBounds { .. } => "Give an address and a length inside the FPGA's memory.",
            Self::Permission { .. } => {
                "Register the memory with the permission that the transfer needs."
            }
            Self::Foreign { .. } => {
                "Use memory, regions and channels with the device they were made by."
            }
            Self::Layout(_) => "Register a smaller range, or memory in larger contiguous pieces.",
            Self::AttFull(_) => {
                "Drop regions that are not needed, or build the block with a larger ATT."
            }
            Self::Unreachable { .. } => {
                "Use memory below the limit, or a build with 64-bit addresses."
            }
            Self::Fault {
                fault, direction, ..
            } => fault.remedy(*direction),
            Self::Timeout { .. } => "Wait longer, abort the channel, or reset the device.",
            Self::Broken { .. } => {
                "Abort the channel, or reset the device; transfers under way are lost."
            }
            Self::NoBackdoor => "Only simulated devices have it: move data by transfers.",
            Self::Backend(BackendError::OutOfMemory { .. }) => "Free memory, or ask for less.",
            Self::Backend(_) => "See the message of the backend.",
        }
    }
}
