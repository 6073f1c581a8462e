//! The block, Verilated, on the simulated board.

mod faults;
mod rig;
mod transfers;
