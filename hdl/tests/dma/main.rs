//! The block, Verilated, on the simulated board.

mod rig;
mod transfers;
