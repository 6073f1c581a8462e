//! The Peerlane DMA block in rust-hdl.
