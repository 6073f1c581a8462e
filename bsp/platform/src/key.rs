//! Keys of the configuration that errors name.

use std::fmt;

/// A key of the configuration that a BSP may have no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Width of the port.
    PortBits,
    /// Kind of the port.
    PortKind,
    /// Generation of PCIe.
    Generation,
    /// Place of the channel pages.
    ChanBase,
    /// Place of the address table.
    AttBase,
    /// Place of the interrupt vectors.
    MsixBase,
    /// PCI subsystem ID.
    SubsystemDevice,
    /// Streams of the FPGA's logic.
    Streams,
}

impl Key {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::PortBits,
        Self::PortKind,
        Self::Generation,
        Self::ChanBase,
        Self::AttBase,
        Self::MsixBase,
        Self::SubsystemDevice,
        Self::Streams,
    ];

    /// Returns the name with the section, for errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::PortBits => "port_bits",
            Self::PortKind => "port.kind",
            Self::Generation => "port.gen",
            Self::ChanBase => "bar.chan_base",
            Self::AttBase => "bar.att_base",
            Self::MsixBase => "bar.msix_base",
            Self::SubsystemDevice => "identity.subsystem_device",
            Self::Streams => "streams",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
