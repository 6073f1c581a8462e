//! The board without the board: Verilated RTL with PCIe, GPU and DDR models.
