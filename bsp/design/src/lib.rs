//! A BSP as it is in its files: the system of Platform Designer, its kinds of components, its settings, the place of
//! the DMA in it, and the slaves on the host's bus. Nothing here changes anything.
//!
//! This crate depends neither on `peerlane-bsp-extend` nor on `peerlane-bsp-check`: it reads a design, and decides
//! nothing.

#![warn(unreachable_pub)]

pub mod clocks;
pub mod extent;
pub mod host_bus;
pub mod interrupts;
pub mod kinds;
pub mod library;
pub mod missing;
pub mod part;
pub mod project;
pub mod qsf;
pub mod qsys;
pub mod search;
pub mod shell;
pub mod site;
pub mod tcl;
pub mod values;
