// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Modules for the RTL, generated from the register map.

#[rustfmt::skip]
#[allow(clippy::collapsible_else_if, clippy::collapsible_if)] // The tree of address bits.
mod chan;
#[rustfmt::skip]
#[allow(clippy::collapsible_else_if, clippy::collapsible_if)] // The tree of address bits.
mod csr;

pub use chan::ChanRegs;
pub use csr::CsrRegs;
