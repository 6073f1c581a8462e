// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures of a descriptor, their meaning, and hints how to fix them.

// A board may report any value: an overflow of a sum with it would stop the kernel.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::descriptor::Direction;
use super::regs::StatusCode;
use core::fmt;

/// Reasons why a descriptor failed, as the hardware reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Zero length, or an FPGA range that ends after the FPGA memory.
    Length,
    /// The entry index is after the end of the table.
    AttBounds,
    /// The entry maps nothing.
    AttInvalid,
    /// The entry does not belong to the channel.
    AttOwner,
    /// The entry does not permit this direction.
    AttPermission,
    /// The entry has another page size than the descriptor.
    AttPageSize,
    /// A read was not answered in time, or found no room because of such reads.
    ReadTimeout,
    /// Reads are refused until the answers that are due after a timeout are accounted for, or the port takes nothing
    /// at all.
    PortDown,
    /// The descriptor was stopped by a reset, or by an abort of its channel.
    Aborted,
    /// The descriptor has reserved bits set or names an unknown port.
    Descriptor,
    /// All bytes were sent, but their arrival could not be confirmed.
    Flush,
    /// Not all of the FPGA addresses are inside the channel's range.
    LocalRange,
    /// A read was answered with Unsupported Request.
    Unsupported,
    /// A read was answered with Completer Abort.
    CompleterAbort,
    /// A read was answered with poisoned data.
    Poisoned,
    /// A write begins or ends between two multiples of the port's granularity
    /// ([`Capabilities::write_granularity`](super::capability::Capabilities::write_granularity)).
    Alignment,
}

impl Fault {
    /// Every fault, in the order of the codes.
    pub const ALL: [Self; 16] = [
        Self::Length,
        Self::AttBounds,
        Self::AttInvalid,
        Self::AttOwner,
        Self::AttPermission,
        Self::AttPageSize,
        Self::ReadTimeout,
        Self::PortDown,
        Self::Aborted,
        Self::Descriptor,
        Self::Flush,
        Self::LocalRange,
        Self::Unsupported,
        Self::CompleterAbort,
        Self::Poisoned,
        Self::Alignment,
    ];

    /// Returns the status code.
    pub const fn code(self) -> StatusCode {
        match self {
            Self::Length => StatusCode::Length,
            Self::AttBounds => StatusCode::AttBounds,
            Self::AttInvalid => StatusCode::AttInvalid,
            Self::AttOwner => StatusCode::AttOwner,
            Self::AttPermission => StatusCode::AttPermission,
            Self::AttPageSize => StatusCode::AttPageSize,
            Self::ReadTimeout => StatusCode::ReadTimeout,
            Self::PortDown => StatusCode::PortDown,
            Self::Aborted => StatusCode::Aborted,
            Self::Descriptor => StatusCode::Descriptor,
            Self::Flush => StatusCode::Flush,
            Self::LocalRange => StatusCode::LocalRange,
            Self::Unsupported => StatusCode::Unsupported,
            Self::CompleterAbort => StatusCode::CompleterAbort,
            Self::Poisoned => StatusCode::Poisoned,
            Self::Alignment => StatusCode::Alignment,
        }
    }

    /// Translates a status code.
    pub const fn from_code(code: StatusCode) -> Result<(), Self> {
        Err(match code {
            StatusCode::Ok => return Ok(()),
            StatusCode::Length => Self::Length,
            StatusCode::AttBounds => Self::AttBounds,
            StatusCode::AttInvalid => Self::AttInvalid,
            StatusCode::AttOwner => Self::AttOwner,
            StatusCode::AttPermission => Self::AttPermission,
            StatusCode::AttPageSize => Self::AttPageSize,
            StatusCode::ReadTimeout => Self::ReadTimeout,
            StatusCode::PortDown => Self::PortDown,
            StatusCode::Aborted => Self::Aborted,
            StatusCode::Descriptor => Self::Descriptor,
            StatusCode::Flush => Self::Flush,
            StatusCode::LocalRange => Self::LocalRange,
            StatusCode::Unsupported => Self::Unsupported,
            StatusCode::CompleterAbort => Self::CompleterAbort,
            StatusCode::Poisoned => Self::Poisoned,
            StatusCode::Alignment => Self::Alignment,
        })
    }

    /// Returns a hint how to fix it, for a transfer of this direction.
    pub const fn hint(self, direction: Direction) -> &'static str {
        match (self, direction) {
            // The only read that a write makes is the one that confirms it.
            (
                Self::ReadTimeout
                | Self::Flush
                | Self::Unsupported
                | Self::CompleterAbort
                | Self::Poisoned,
                Direction::FromFpga,
            ) => {
                "The block could not read back the data that it wrote: register the memory for \
                 writing only, if the computer passes no reads between peers. After a read that \
                 was never answered, reads are refused for a while: fix that one first."
            }
            (Self::ReadTimeout, Direction::ToFpga) => {
                "The computer may not pass reads between peers: use a route by writes. Reads may \
                 stay refused until the late answers have come. Reads of other peers are refused, \
                 too, if this peer holds all reads that the board may have in progress."
            }
            (Self::PortDown, _) => {
                "Outstanding answers may still come: try again in a second. If they do not, reads \
                 need a reset of the link. The kernel driver makes it by itself, which ends the \
                 transfers of all programs. For a driver in the process, reset the link by other \
                 means, and then the block. A stopped port (STATUS.port_dead) continues when the \
                 link is back and Bus Master Enable is set again. A port that has lost data of a \
                 read (LINK.rx_failed) needs a reset of the link or a new configuration of the \
                 FPGA."
            }
            (Self::Aborted, _) => "Submit the transfer again.",
            (Self::AttOwner, _) => {
                "Register the memory for this channel too, or use the channel that it was registered for."
            }
            (Self::AttInvalid, _) => {
                "The region was unregistered during the transfer, or the memory's owner has \
                 invalidated it: register the memory again."
            }
            (Self::AttPermission, Direction::ToFpga) => {
                "Register the memory again, for reading. A board with a Txs port that was reset for lost reads only writes other devices' memory until that memory is registered again."
            }
            (Self::AttPermission | Self::AttBounds | Self::AttPageSize, _) => {
                "The board's ATT does not hold the region as it was registered: register the \
                 memory again, and see that no other program uses the board."
            }
            (Self::LocalRange, _) => {
                "Give FPGA addresses inside the context's FPGA memory, or allocate more of it before the channel is used."
            }
            (Self::Length | Self::Descriptor, _) => {
                "The board refused the descriptor: check that the FPGA image matches this software."
            }
            (Self::Unsupported, Direction::ToFpga) => {
                "No device answers at this bus address, or its owner takes no reads: check that \
                 the memory is still mapped by its owner, and that the computer passes reads \
                 between peers."
            }
            (Self::CompleterAbort, Direction::ToFpga) => {
                "The memory's owner refused the read: check its own error report, and that it may be read in such pieces."
            }
            (Self::Poisoned, Direction::ToFpga) => {
                "The data are damaged: look for memory errors at the peer and for link errors on the way, then submit the transfer again."
            }
            (Self::Alignment, _) => {
                "Begin and end the write at multiples of 4 bytes of the peer's address: this board's PCIe port writes whole dwords only. The libraries write other ends for host memory and GPU memory by themselves."
            }
            // A read sends nothing that could be confirmed.
            (Self::Flush, Direction::ToFpga) => "Submit the transfer again.",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the length is zero or the FPGA range runs past the end of FPGA memory",
            Self::AttBounds => "the address lies after the end of the ATT",
            Self::AttInvalid => "the ATT entry maps nothing",
            Self::AttOwner => "the ATT entry does not belong to the channel",
            Self::AttPermission => "the ATT entry does not permit this direction",
            Self::AttPageSize => "the ATT entry has another page size",
            Self::ReadTimeout => {
                "a read was not answered in time, or such reads left no room for it"
            }
            Self::PortDown => {
                "the PCIe port is closed: answers to earlier reads are outstanding, or it accepts \
                 no more requests, or has lost data"
            }
            Self::Aborted => "the descriptor was stopped by a reset or by an abort of its channel",
            Self::Descriptor => "the descriptor has reserved bits set or names an unknown port",
            Self::Flush => "the data were sent, but the read that confirms their arrival failed",
            Self::LocalRange => {
                "not all of the FPGA addresses are inside the channel's range of FPGA memory"
            }
            Self::Unsupported => "a read was answered with Unsupported Request",
            Self::CompleterAbort => "a read was answered with Completer Abort",
            Self::Poisoned => "a read was answered with poisoned data",
            Self::Alignment => {
                "the write does not begin and end at multiples of the port's granularity"
            }
        })
    }
}

impl core::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::string::ToString;

    #[test]
    fn codes_and_faults_go_together() {
        for (index, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault.code().raw() as usize, index + 1);
            assert_eq!(Fault::from_code(fault.code()), Err(fault));
        }
        assert_eq!(Fault::from_code(StatusCode::Ok), Ok(()));
        // No code of the map is left out.
        assert_eq!(StatusCode::from_raw(17), Err(17));
    }

    #[test]
    fn every_fault_has_a_text_of_its_own_and_a_hint() {
        let texts: BTreeSet<_> = Fault::ALL.map(|fault| fault.to_string()).into();
        assert_eq!(texts.len(), Fault::ALL.len());
        for fault in Fault::ALL {
            for direction in Direction::BOTH {
                assert!(fault.hint(direction).ends_with('.'));
            }
        }
        // Causes in the library come before causes in other programs.
        let invalid = Fault::AttInvalid.hint(Direction::ToFpga);
        assert!(invalid.contains("unregistered"), "{invalid}");
        // FPGA memory is a context's, and a channel is not opened with any.
        let local = Fault::LocalRange.hint(Direction::ToFpga);
        assert!(local.contains("allocate"), "{local}");
        // The driver takes the right to read away after lost reads.
        let permission = Fault::AttPermission.hint(Direction::ToFpga);
        assert!(permission.contains("lost reads"), "{permission}");
        assert!(Fault::Poisoned.hint(Direction::ToFpga).contains("damaged"));
        assert!(
            Fault::Poisoned
                .hint(Direction::FromFpga)
                .contains("read back")
        );
    }
}
