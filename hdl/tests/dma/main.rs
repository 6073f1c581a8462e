//! The emitted Verilog on the simulated board.

mod channels;
mod counters;
mod faults;
mod fence;
mod interrupts;
mod port;
mod rig;
mod stream;
mod transfers;
mod turns;
