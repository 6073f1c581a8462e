//! The board's memory as the kernels see it.

/// The board's memory. All accesses end: a read outside of the memory returns anything, and a write there has no
/// effect.
pub trait Memory {
    /// Copies from the memory.
    fn read(&mut self, address: u64, data: &mut [u8]);

    /// Copies into the memory.
    fn write(&mut self, address: u64, data: &[u8]);

    /// Loses the contents, as when the FPGA was configured and DDR was not refreshed in the meantime.
    fn lose(&mut self);
}
