//! Extends an OpenCL BSP with the Peerlane DMA block, and checks the result.
//!
//! [`extend::extend`] reads a vendor's BSP, finds its `acl_dma` instance by kind, and writes a copy with
//! `peerlane_dma` in its place; [`check::check`] proves such a copy sound. The command `peerlane` is a thin
//! shell over both.

pub mod block;
pub mod build;
pub mod check;
pub mod cli;
pub mod config;
pub mod demo;
pub mod driver;
pub mod error;
pub mod extend;
pub mod generator;
pub mod layout;
pub mod library;
pub mod qsf;
pub mod qsys;
pub mod verilog;
pub mod xml;
