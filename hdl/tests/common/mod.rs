//! What tests of a single block have in common.

use peerlane_verilated::{Build, Library, Port, Toolchain};
use rust_hdl::prelude::Block;
use std::collections::HashMap;

/// A block, Verilated, with its ports by their names.
pub fn verilate(top: &str, mut block: impl Block) -> (Library, HashMap<String, Port>) {
    block.connect_all();
    let design = peerlane_verilog::emit(top, &block, "").expect("the block emits");
    let mut build = Build::new(top);
    for module in &design.modules {
        build = build.text(format!("{}.v", module.name), module.verilog.clone());
    }
    let library = build
        .model(&Toolchain::open().expect("Verilator"))
        .expect("the block verilates");
    let ports = library
        .ports()
        .iter()
        .map(|port| (port.name.clone(), library.port(&port.name).unwrap()))
        .collect();
    (library, ports)
}
