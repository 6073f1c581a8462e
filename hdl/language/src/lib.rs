//! The part of rust-hdl 0.46 in which the block is written, and the syntax tree of which `peerlane-verilog` makes
//! Verilog.
//!
//! rust-hdl is not maintained any more, so no other package depends on it (`tests/tests/language.rs`): if a compiler
//! refuses it, or something replaces it, this package changes. Its writer of Verilog and its derives for blocks are not
//! used. Its simulator is used by tests.

// Types of values, and the parts of a block.
pub use rust_hdl_core::prelude::{
    Bit, Bits, Block, Clock, Constant, In, InOut, Local, Logic, LogicState, LogicStruct, Out,
    Signal, Verilog, bit_cast, hdl_gen,
};
pub use rust_hdl_widgets::dff::DFF;
pub use rust_hdl_widgets::dff_setup;

// Modules that the expansion of the derives and of `hdl_gen` names, and that read a block.
pub use rust_hdl_core::check_error;
pub use rust_hdl_core::prelude::{
    Atom, AtomKind, LiteralType, LogicJoin, LogicLink, Probe, Synth, TimingInfo, ToBits,
    TypeDescriptor, TypeField, TypeKind, VCDValue, VerilogLiteral, ast, bits, check_all, clock,
    clog2, logic, probe, synth, type_descriptor,
};

// Simulation, for tests.
pub use rust_hdl_core::prelude::{
    LogicBlock, LogicInterface, Signed, Wrapper, block, generate_verilog, simulate,
};
pub use rust_hdl_widgets::prelude::RAM;
