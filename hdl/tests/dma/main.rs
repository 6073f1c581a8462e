//! The emitted Verilog on the simulated board.

mod chains;
mod channels;
mod counters;
mod faults;
mod fence;
mod host;
mod inputs;
mod interrupts;
mod long;
mod outputs;
mod packets;
mod port;
mod registers;
mod resets;
mod rig;
mod rings;
mod settling;
mod stores;
mod stream;
mod table;
mod transfers;
mod turns;
