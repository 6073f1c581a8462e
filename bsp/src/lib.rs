//! The peerlane command: extends an OpenCL BSP with the Peerlane DMA block.
