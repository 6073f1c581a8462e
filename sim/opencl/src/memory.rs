//! The board's memory as the kernels see it.

/// The board's memory. All accesses end: what lies outside of the memory reads as anything and takes no write.
pub trait Memory {
    /// Copies from the memory.
    fn read(&mut self, address: u64, data: &mut [u8]);

    /// Copies into the memory.
    fn write(&mut self, address: u64, data: &[u8]);

    /// The contents are lost, as when the FPGA was configured anew and DDR was not refreshed meanwhile.
    fn lose(&mut self);
}
