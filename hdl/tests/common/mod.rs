//! Common parts of the tests of single blocks.

use peerlane_language::Block;
use peerlane_verilated::{Library, Port};
use std::collections::HashMap;

/// Returns a block, Verilated, with its ports by their names.
pub fn verilate(top: &str, mut block: impl Block) -> (Library, HashMap<String, Port>) {
    block.connect_all();
    let design = peerlane_verilog::emit(top, &block, "").expect("the block emits");
    let library = peerlane_block::library_of(top, &design).expect("the block as a model");
    let ports = library
        .ports()
        .iter()
        .map(|port| (port.name.clone(), library.port(&port.name).unwrap()))
        .collect();
    (library, ports)
}
