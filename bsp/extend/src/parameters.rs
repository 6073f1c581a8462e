//! The parameters of the component: they describe a build.
//!
//! All of them are derived. The Verilog is generated for the values, and `BUILD_ID`, which driver and host library
//! compare, is their hash. A parameter that can be set in Platform Designer would have no effect, or make a board that
//! every driver refuses.

use crate::logic;
use peerlane_bsp_generate::config::{Config, Irq};
use peerlane_bsp_generate::generator::{Board, Ids};

/// A parameter with its value, as Tcl writes it.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Type, in Platform Designer's word.
    pub kind: &'static str,
    /// Value.
    pub value: String,
    /// Its title in the parameter editor.
    pub title: &'static str,
    /// Units, in Platform Designer's word.
    pub units: &'static str,
    /// A sentence of help.
    pub help: &'static str,
}

impl Parameter {
    /// Returns the value as people write it.
    pub fn plain(&self) -> &str {
        self.value.trim_matches('"')
    }
}

/// Returns the places of the slaves in the BAR, by the names of their interfaces.
pub fn places(board: &Board) -> Vec<(&'static str, Option<u64>)> {
    let slaves = &board.slaves;
    vec![
        ("csr", Some(slaves.csr)),
        ("chan", Some(slaves.chan)),
        ("att", Some(slaves.att)),
        ("msix", slaves.msix),
        ("s_nondma", slaves.window),
    ]
}

/// Returns every parameter, in the order of the parameter editor.
pub fn parameters(config: &Config, board: &Board, ids: Ids) -> Vec<Parameter> {
    let number = |name, value: u32, title, units, help| Parameter {
        name,
        kind: "INTEGER",
        value: value.to_string(),
        title,
        units,
        help,
    };
    let words = |name, value: String, title, help| Parameter {
        name,
        kind: "STRING",
        value: format!("\"{value}\""),
        title,
        units: "None",
        help,
    };
    let place = |at: Option<u64>| at.map_or("none".to_string(), |at| format!("{at:#x}"));
    let slaves = &board.slaves;
    let (interrupts, vectors) = match config.irq {
        Irq::Rxm => ("line", 0),
        Irq::Msix => ("MSI-X", config.vectors()),
    };
    let mut list = vec![
        number(
            "CHANNELS",
            config.channels,
            "Channels",
            "None",
            "Each has its own page of 4 KiB in the BAR, queues and range of FPGA memory.",
        ),
        number(
            "QUEUE_DEPTH",
            config.queue_depth,
            "Waiting descriptors, each direction",
            "None",
            "All channels together; each has an equal share.",
        ),
        number(
            "ATT_ENTRIES",
            config.att_entries,
            "Entries of the address translation table",
            "None",
            "An entry maps a page of 4 KiB, 64 KiB or 2 MiB of a peer.",
        ),
        number(
            "PORT_BITS",
            board.port_bits,
            "Width of the port to PCIe",
            "Bits",
            "It must be the width of the hard IP's ports.",
        ),
        number(
            "MEMORY_LOG2",
            board.memory_log2,
            "Address bits of FPGA memory",
            "Bits",
            "The block refuses a descriptor beyond this range.",
        ),
        words(
            "INTERRUPTS",
            interrupts.into(),
            "Interrupts",
            "A line to the hard IP's RxmIrq, or an MSI-X table in the block.",
        ),
        number(
            "VECTORS",
            vectors,
            "Vectors of the MSI-X table",
            "None",
            "One for faults, one for the OpenCL kernel, one a channel; 0 without a table.",
        ),
        number(
            "BAR",
            slaves.bar,
            "BAR of the slaves",
            "None",
            "The hard IP's Rxm_BAR that leads to csr, chan and att.",
        ),
        words(
            "CSR_BASE",
            place(Some(slaves.csr)),
            "Place of csr in the BAR",
            "Byte offset of the control registers.",
        ),
        words(
            "CHAN_BASE",
            place(Some(slaves.chan)),
            "Place of chan in the BAR",
            "Byte offset of the channel pages.",
        ),
        words(
            "ATT_BASE",
            place(Some(slaves.att)),
            "Place of att in the BAR",
            "Byte offset of the address translation table.",
        ),
        words(
            "MSIX_BASE",
            place(slaves.msix),
            "Place of msix in the BAR",
            "Byte offset of the MSI-X table.",
        ),
        words(
            "WINDOW_BASE",
            place(slaves.window),
            "Place of s_nondma in the BAR",
            "Byte offset of the window into FPGA memory.",
        ),
        words(
            "MAP_ID",
            format!("{:#010x}", ids.map),
            "MAP_ID",
            "Hash of the register map, which software compares.",
        ),
        words(
            "BUILD_ID",
            format!("{:#010x}", ids.build),
            "BUILD_ID",
            "Hash of the register map and of all values here, which software compares.",
        ),
    ];
    if !config.streams.is_empty() {
        let streams: Vec<_> = (logic::at_the_block(&config.streams))
            .map(|(names, stream)| format!("{} {} {} bits", names.words, stream.name, stream.bits))
            .collect();
        list.push(words(
            "STREAMS",
            streams.join("; "),
            "Streams of the FPGA's logic",
            "Interface, name and width of each.",
        ));
    }
    list
}
