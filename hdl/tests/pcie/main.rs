//! The transaction layer's Verilog on the modelled hard IP.

mod bridge;
mod damage;
mod faults;
mod fuzz;
mod limits;
mod master;
mod matrix;
mod ordering;
mod planted;
mod range;
mod resets;
mod rig;
mod target;
