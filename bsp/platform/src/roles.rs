//! Names that Platform Designer gives to the DMA and to the sides of interfaces.

/// The kind that the extension replaces.
pub const OLD_DMA: &str = "acl_dma";
/// The kind that replaces it.
pub const NEW_DMA: &str = "peerlane_dma";

/// Type of an interface, from the instance's own side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Avalon-MM master: start of `avalon` connections.
    Master,
    /// Avalon-MM slave: their end.
    Slave,
    /// Clock output, start of `clock` connections.
    ClockSource,
    /// Clock input.
    ClockSink,
    /// Reset output.
    ResetSource,
    /// Reset input.
    ResetSink,
    /// Interrupt input of the CPU side, start of `interrupt` connections.
    IrqReceiver,
    /// Interrupt output of the device, their end.
    IrqSender,
    /// Wires without a protocol.
    Conduit,
    /// Avalon-ST output, start of `avalon_streaming` connections.
    StreamSource,
    /// Avalon-ST input.
    StreamSink,
}
