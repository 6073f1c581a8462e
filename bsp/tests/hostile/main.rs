//! What a BSP may hold, and what may become of one, that nobody meant: the result is right, or refused with the place.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod imports;
mod platform;
mod regions;
mod wiring;
