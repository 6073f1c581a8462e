//! Unexpected content of a BSP, and unexpected changes of an extended one: the result is right, or refused with the
//! place.

mod files;
mod imports;
mod platform;
mod regions;
mod wiring;
