// Generated from the register map by `peerlane-regmap`. Do not edit.

//! Modules for the RTL, generated from the register map.

#[rustfmt::skip]
#[allow(clippy::collapsible_else_if, clippy::collapsible_if)] // The tree of address bits.
mod four;
#[rustfmt::skip]
#[allow(clippy::collapsible_else_if, clippy::collapsible_if)] // The tree of address bits.
mod one;
#[rustfmt::skip]
#[allow(clippy::collapsible_else_if, clippy::collapsible_if)] // The tree of address bits.
mod three;
#[rustfmt::skip]
#[allow(clippy::collapsible_else_if, clippy::collapsible_if)] // The tree of address bits.
mod two;

pub use four::FourRegs;
pub use one::OneRegs;
pub use three::ThreeRegs;
pub use two::TwoRegs;
