//! Terms of transfers.

/// Terms of a transfer: its start, its flush and its interrupt. By default a transfer starts in its turn, concurrently
/// with transfers of the other direction; its end is reported when the data have arrived; and its interrupt is
/// moderated like all others.
///
/// A write to a region that the board may not read is an exception, because the board makes sure of the arrival by a
/// read. On the kernel's device the end of such a write is reported before its data are proven to have arrived
/// ([`access::WRITE`](peerlane_core::uapi::access::WRITE)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Start when all transfers from the FPGA that were submitted to the channel before have ended, well or not: their
    /// data have arrived, or their faults are reported.
    pub after_from_fpga: bool,
    /// Start when all transfers to the FPGA that were submitted to the channel before have ended, well or not: their
    /// data are in FPGA memory, or their faults are reported. For a transfer from the FPGA this holds if the board's
    /// BSP has no interconnect stage between the block and FPGA memory. This is Peerlane's default. `peerlane check` of
    /// the BSP reports a BSP where it does not hold; there the program has to wait.
    pub after_to_fpga: bool,
    /// The interrupt at its end is not delayed by the channel's moderation. The slow path has no such descriptors.
    pub urgent: bool,
    /// Do not make sure that the data of a transfer from the FPGA have arrived before its end is reported.
    pub no_flush: bool,
}
