//! The block's Verilog for a configuration, and the hashes in its header.

use std::path::Path;

use askama::Template;
use peerlane_hdl::{Params, Port as Form, Slaves, pcie};

use crate::block::logic::Names;
use crate::block::{self, Port};
use crate::config::{Config, Irq};
use crate::logic::{self, Direction, Stream};
use crate::memory_blocks::Blocks;
use crate::verilog;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};

/// A Verilog module: one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerilogModule {
    /// Name of the module.
    pub name: String,
    /// Text of the file.
    pub text: String,
}

impl VerilogModule {
    /// Returns the name of the file.
    pub fn file_name(&self) -> String {
        format!("{}.v", self.name)
    }
}

/// The hashes that hardware and software compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids {
    /// Hash of the register map.
    pub map: u32,
    /// Hash of the map and the build parameters.
    pub build: u32,
}

/// Facts that the board determines for the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// Width of the port to PCIe in bits.
    pub port_bits: u32,
    /// Bytes of FPGA memory, log2.
    pub memory_log2: u32,
    /// Places of the block's slaves in the host's BAR.
    pub slaves: Slaves,
    /// Bytes of that BAR, log2, if the block itself decodes it: with a TLP port.
    pub bar_log2: Option<u32>,
    /// Clock of the port in MHz, by which a block with a TLP port measures time.
    pub clock_mhz: u32,
    /// Hash of the description of the rest of the board, if it is described.
    pub shell: Option<u32>,
}

/// With packets: outstanding reads between the request maker and FPGA memory, and beats of the receive buffer, both
/// log2. They match the hard IP's capacity.
const STREAM_READS_LOG2: u32 = 6;
const STREAM_RECEIVE_LOG2: u32 = 10;

/// Returns the build parameters of the block.
pub fn params(config: &Config, board: Board) -> Params {
    let (inputs, outputs) = logic::params(&config.streams);
    let params = Params {
        irq: config.irq,
        port_bits: board.port_bits,
        txs_addr_bits: block::TXS_ADDR_BITS,
        channels: config.channels,
        queue_log2: config.queue_depth.ilog2(),
        att_log2: config.att_entries.ilog2(),
        memory_log2: board.memory_log2,
        slaves: Some(board.slaves),
        shell: board.shell,
        inputs,
        outputs,
        ..Params::default()
    };
    if !config.has_tlp_port() {
        return params;
    }
    Params {
        port: Form::Tlp,
        reads_log2: STREAM_READS_LOG2,
        receive_log2: STREAM_RECEIVE_LOG2,
        bar_log2: board.bar_log2,
        clock_mhz: board.clock_mhz,
        ..params
    }
}

/// Generates the block as Verilog; the top module is the last.
///
/// # Errors
/// [`ErrorKind::Inconsistent`] if the generator refuses parameters that the configuration allowed.
pub fn generate(config: &Config, board: Board) -> Result<Vec<VerilogModule>> {
    let params = params(config, board);
    let mut modules = taken(peerlane_hdl::generate(&params))?;
    if let Some(block) = modules.last().filter(|_| !config.streams.is_empty()) {
        let top = logic_top(&config.streams, block)?;
        modules.push(top);
    }
    let Some(top) = modules.last() else {
        return Ok(modules);
    };
    match (config.has_tlp_port(), config.irq) {
        (true, _) => {
            let top = stream_top(config, top)?;
            modules.extend(taken(peerlane_hdl::restart(&params))?);
            modules.push(top);
        }
        (false, Irq::Msix) => modules.push(msix_top(top)?),
        (false, Irq::Rxm) => {}
    }
    Ok(modules)
}

/// Returns the modules of a design.
fn taken(
    design: std::result::Result<peerlane_hdl::Design, peerlane_hdl::GenerateError>,
) -> Result<Vec<VerilogModule>> {
    let design = design.map_err(|e| {
        Error::new(
            ErrorKind::Inconsistent,
            Place::file("peerlane_dma"),
            format!("the Verilog could not be generated: {e}"),
            "This is a defect of Peerlane; report it with the configuration.",
        )
    })?;
    let modules = design.modules.into_iter().map(|m| VerilogModule {
        name: m.name,
        text: m.verilog,
    });
    Ok(modules.collect())
}

/// Sets the memory blocks of a family in the Verilog. The generator writes those of Stratix V, which other families do
/// not have (Quartus Prime help, "ramstyle Verilog HDL Synthesis Attribute").
pub fn name_memory(modules: &mut [VerilogModule], blocks: Blocks) {
    let style = |blocks: Blocks| format!("{}, no_rw_check", blocks.name());
    for module in modules {
        module.text = module.text.replace(&style(Blocks::M20k), &style(blocks));
    }
}

/// The module between the block and the interfaces of the hard IP.
#[derive(Template)]
#[template(path = "peerlane_dma_msix.v")]
struct MsixTop<'a> {
    /// Header of the block's own file.
    header: Vec<&'a str>,
    name: &'a str,
    block: &'a str,
    /// Ports that both have.
    shared: Vec<Port>,
}

/// The module between the block and the interfaces of the hard IP's Avalon-ST variant.
#[derive(Template)]
#[template(path = "peerlane_dma_stream.v")]
struct StreamTop<'a> {
    /// Header of the block's own file.
    header: Vec<&'a str>,
    name: &'a str,
    block: &'a str,
    /// The module that makes the application's reset.
    restart: &'a str,
    /// The hard IP's status that is passed on: names of the wires, and the ports.
    status: Vec<(&'static str, Port)>,
    /// Ports that both have.
    shared: Vec<Port>,
}

/// A stream of the module between the block and Platform Designer's interfaces.
struct OneStream<'a> {
    names: Names,
    stream: &'a Stream,
}

impl OneStream<'_> {
    fn is_input(&self) -> bool {
        self.stream.direction == Direction::FromLogic
    }

    fn is_channel(&self) -> bool {
        self.stream.is_channel()
    }

    fn has_packets(&self) -> bool {
        self.stream.has_packets()
    }

    fn empty_bits(&self) -> u32 {
        block::logic::empty_bits(self.stream)
    }

    /// Returns the condition under which words move.
    fn runs(&self) -> String {
        format!("~{}", self.names.reset)
    }

    /// Returns `empty` with the bits that the block has: 6.
    fn padded(&self) -> String {
        let words = &self.names.words;
        match (self.empty_bits(), self.is_input()) {
            (6.., _) => format!("{words}_empty"),
            (bits, true) => format!("{{{}'d0, {words}_empty}}", 6 - bits),
            (_, false) => format!("{{{words}_unused, {words}_empty}}"),
        }
    }
}

/// The module between the block and Platform Designer's interfaces of its streams.
#[derive(Template)]
#[template(path = "peerlane_dma_logic.v")]
struct LogicTop<'a> {
    /// Header of the block's own file.
    header: Vec<&'a str>,
    name: &'a str,
    block: &'a str,
    /// Ports that both have.
    shared: Vec<Port>,
    /// Ports of the streams.
    ports: Vec<Port>,
    streams: Vec<OneStream<'a>>,
}

fn logic_top(streams: &[Stream], block: &VerilogModule) -> Result<VerilogModule> {
    let interfaces: Vec<_> = block::logic::interfaces(streams).collect();
    let ports = interfaces.iter().flat_map(|interface| &interface.ports);
    let ports: Vec<Port> = ports.map(|(_, port)| port.clone()).collect();
    let streams: Vec<_> = logic::numbered(streams)
        .map(|(number, stream)| OneStream {
            names: Names::of(number, stream),
            stream,
        })
        .collect();
    let mut shared = ports_but(block, &[])?;
    let of_stream = |port: &Port| {
        let mut all = streams.iter();
        all.any(|stream| port.name.starts_with(&format!("{}_", stream.names.words)))
    };
    shared.retain(|port| !of_stream(port));
    let template = LogicTop {
        header: header(block),
        name: block::logic::TOP,
        block: &block.name,
        shared,
        ports,
        streams,
    };
    Ok(VerilogModule {
        name: template.name.into(),
        text: peerlane_bsp_platform::text::render(&template),
    })
}

/// Ports of the block that the module with an MSI-X table derives from the hard IP's interfaces.
const MADE: [&str; 2] = ["msix_enable", "msix_mask"];
/// Ports of the block that the module with a TLP port leaves open: the block's messages are packets.
const UNUSED: [&str; 1] = ["dma_irq"];

/// Returns the comment at the beginning of a module's file.
fn header(module: &VerilogModule) -> Vec<&str> {
    let lines = module.text.lines();
    lines.take_while(|l| l.starts_with("//")).collect()
}

/// Returns a module's ports without some.
fn ports_but(module: &VerilogModule, others: &[&str]) -> Result<Vec<Port>> {
    let parsed = verilog::module(Path::new(&module.file_name()), &module.text, &module.name)?;
    let mut ports = parsed.ports;
    ports.retain(|port| !others.contains(&port.name.as_str()));
    Ok(ports)
}

fn stream_top(config: &Config, top: &VerilogModule) -> Result<VerilogModule> {
    let template = StreamTop {
        header: header(top),
        name: block::stream::TOP,
        block: &top.name,
        restart: pcie::RESTART,
        status: block::stream::status(config),
        shared: ports_but(top, &UNUSED)?,
    };
    Ok(VerilogModule {
        name: template.name.into(),
        text: peerlane_bsp_platform::text::render(&template),
    })
}

fn msix_top(top: &VerilogModule) -> Result<VerilogModule> {
    let template = MsixTop {
        header: header(top),
        name: block::MSIX_TOP,
        block: &top.name,
        shared: ports_but(top, &MADE)?,
    };
    Ok(VerilogModule {
        name: template.name.into(),
        text: peerlane_bsp_platform::text::render(&template),
    })
}

/// Returns a port's direction and range as Verilog declares them.
fn declaration(port: &Port) -> String {
    let direction = port.direction.verilog();
    match port.width {
        1 => format!("{direction} wire"),
        width => format!("{direction} wire [{}:0]", width - 1),
    }
}

/// Returns the hashes in the header comment of a Verilog file.
pub fn ids(verilog: &str) -> Option<Ids> {
    let mut words = verilog
        .lines()
        .take_while(|l| l.trim().is_empty() || l.starts_with("//"));
    let (mut map, mut build) = (None, None);
    for line in &mut words {
        let parts: Vec<&str> = line.trim_start_matches('/').split_whitespace().collect();
        for pair in parts.windows(2) {
            let value = pair[1]
                .strip_prefix("0x")
                .and_then(|h| u32::from_str_radix(h, 16).ok());
            match pair[0] {
                "MAP_ID" => map = value,
                "BUILD_ID" => build = value,
                _ => {}
            }
        }
    }
    Some(Ids {
        map: map?,
        build: build?,
    })
}

/// Checks that the Verilog has the ports that the component will declare, and that all files carry the same hashes;
/// returns the hashes.
///
/// # Errors
/// [`ErrorKind::Inconsistent`].
pub fn agree(config: &Config, board: Board, modules: &[VerilogModule]) -> Result<Ids> {
    let defect = |what: String| {
        Error::new(
            ErrorKind::Inconsistent,
            Place::file("peerlane_dma.v"),
            what,
            "This is a defect of Peerlane; report it with the configuration.",
        )
    };
    let name = block::top(config);
    let top = modules
        .iter()
        .find(|m| m.name == name)
        .ok_or_else(|| defect("the generator made no top module".into()))?;
    let parsed = verilog::module(Path::new(&top.file_name()), &top.text, &top.name)?;
    let mut have = parsed.ports;
    let mut want: Vec<_> = block::interfaces(config, board.port_bits, board.slaves.bar)
        .into_iter()
        .flat_map(|i| i.ports.into_iter().map(|(_, p)| p))
        .collect();
    have.sort();
    want.sort();
    if let Some(odd) = have
        .iter()
        .find(|p| !want.contains(p))
        .or(want.iter().find(|p| !have.contains(p)))
    {
        return Err(defect(format!(
            "port {} ({} bits) of Verilog and component differ",
            odd.name, odd.width
        )));
    }
    let common = ids(&top.text)
        .ok_or_else(|| defect("the Verilog has no MAP_ID and BUILD_ID in its header".into()))?;
    match modules.iter().find(|m| ids(&m.text) != Some(common)) {
        Some(odd) => Err(defect(format!(
            "module {} has other hashes than the top module",
            odd.name
        ))),
        None => Ok(common),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_hashes_of_the_header_only() {
        let text =
            "// words\n// MAP_ID 0x0000abcd  BUILD_ID 0x12345678\nmodule m;\n// BUILD_ID 0x1\n";
        assert_eq!(
            ids(text),
            Some(Ids {
                map: 0xabcd,
                build: 0x1234_5678
            })
        );
        assert_eq!(ids("module m;\n// MAP_ID 0x1 BUILD_ID 0x2"), None);
    }
}
