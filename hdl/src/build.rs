//! From build parameters to Verilog.

use crate::error::GenerateError;
use crate::link_reset::LinkReset;
use crate::params::{Irq, Params, Port, TOP, txs_burst_bits};
use crate::pcie::bridge::{Bridge, Sizes};
use crate::pcie::{self, target::Reach};
use crate::rtl::engine::{Engine, EngineConfig};
use crate::rtl::stream::StreamAdapter;
use crate::rtl::txs::TxsAdapter;
use crate::streams;
use peerlane_language::*;
use peerlane_verilog::{Design, Narrow, Part, emit, join};

/// The block as Verilog-2005, one file a module, top module [`TOP`].
///
/// The top joins the engine, its reset, the adapter of its PCIe port and, in builds with one, the transaction layer. It
/// leaves out the address bits that this build does not use. It is one module, and so one component of Platform
/// Designer: the streams between the parts have rules of their own, which no interconnect or adapter of that tool may
/// meet.
///
/// # Errors
/// When the parameters cannot be built.
pub fn generate(params: &Params) -> Result<Design, GenerateError> {
    params.validate()?;
    let header = header(params);
    let mut parts = match params.port_bits {
        128 => parts::<128, 16, 129>(params, &header)?,
        _ => parts::<256, 32, 257>(params, &header)?,
    };
    if params.port == Port::Tlp {
        parts.push(pcie::layer(
            params.port_bits,
            pcie::patience_log2(params.clock_mhz),
            reach(params),
            &header,
        )?);
    }
    let mut narrow = Vec::new();
    let bridged = params.bridged();
    if let Some(slaves) = bridged {
        let mut bridge = Bridge::new(slaves, sizes(params));
        bridge.connect_all();
        parts.push(emit("peerlane_bridge", &bridge, &header)?);
    } else {
        narrow.push(cut("chan_address", 10 + params.channels_log2()));
        narrow.push(cut("att_address", params.att_log2 + 1));
    }
    if params.port == Port::Txs {
        narrow.push(cut("txs_address", params.txs_addr_bits));
        narrow.push(cut("txs_burstcount", txs_burst_bits(params.port_bits)));
    }
    if params.irq == Irq::Rxm {
        // A transaction layer sees the capability by itself, and makes a message of the kernel's line. A bridge has
        // a table's ports in any build.
        let kept = |name: &&str| match params.port {
            Port::Tlp if MSIX_STATE.contains(name) => true,
            Port::Tlp => bridged.is_some() && MSIX_TABLE.contains(name),
            Port::Txs | Port::Stream => false,
        };
        let absent = MSIX_TABLE
            .iter()
            .chain(&MSIX_STATE)
            .filter(|name| !kept(name));
        narrow.extend(absent.map(|name| cut(name, 0)));
    }
    let untold: &[&str] = match params.port {
        Port::Txs => &[LIMITS, FINDINGS, MSI_STATE].concat(),
        Port::Stream => &[FINDINGS, MSI_STATE, LOSSES].concat(),
        Port::Tlp => UNUSED,
    };
    narrow.extend(untold.iter().map(|name| cut(name, 0)));
    let mut parts: Vec<Part> = parts.into_iter().map(Part::from).collect();
    if params.inputs.is_empty() {
        narrow.extend(INFLOW.iter().map(|name| cut(name, 0)));
    } else {
        parts.extend(streams::inputs(params, &header)?);
    }
    if params.outputs.is_empty() {
        narrow.extend(OUTFLOW.iter().map(|name| cut(name, 0)));
    } else {
        // The writes to FPGA memory pass the outputs.
        let engine = &mut parts[0];
        let written = |port: &&peerlane_verilog::Port| port.name.starts_with("mem_wr_");
        let names = engine.design.ports.iter().filter(written);
        engine.renamed = names
            .map(|port| (port.name.clone(), format!("engine_{}", port.name)))
            .collect();
        parts.extend(streams::outputs(params, &header)?);
    }
    Ok(join(TOP, parts, &narrow, &header)?)
}

/// Emits the module that a board needs next to a block with a transaction layer: the application's reset, top module
/// [`pcie::RESTART`]. Its files have the same header as the block's.
///
/// # Errors
/// Those of [`generate`].
pub fn restart(params: &Params) -> Result<Design, GenerateError> {
    params.validate()?;
    pcie::restart(&header(params))
}

/// Ports by which the part that makes packets reports the function's configuration to the engine.
const LIMITS: &[&str] = &["max_payload", "max_request"];

/// Ports by which a transaction layer of our own reports its state to the engine.
const FINDINGS: &[&str] = &[
    "extended_tags",
    "ko_cpl_spc_header",
    "short_reads",
    "unsupported",
    "aborted",
    "poisoned",
    "malformed",
    "unexpected",
    "expired",
    "rx_failed",
];

/// Ports between the engine and the streams from the logic.
const INFLOW: &[&str] = &[
    "inputs_clear",
    "inputs_select_we",
    "inputs_control_we",
    "inputs_limit_we",
    "inputs_writedata",
    "inputs_open",
    "inputs_waiting",
    "inputs_count",
    "write_flow_number",
    "write_flow_channel",
    "write_flow_exists",
    "write_flow_granted",
    "write_flow_held",
    "write_flow_sealed",
    "write_flow_claim",
    "write_flow_starves",
    "write_flow_bytes",
    "write_flow_closes",
    "write_flow_fails",
    "write_flow_wake",
    "write_flow_place",
    "inflow_beat",
    "inflow_data",
    "inflow_take",
    "inflow_header",
    "inflow_header_take",
];

/// Ports between the engine and the streams to the logic.
const OUTFLOW: &[&str] = &[
    "outputs_clear",
    "outputs_select_we",
    "outputs_control_we",
    "outputs_writedata",
    "outputs_open",
    "outputs_waiting",
    "outputs_count",
    "read_flow_number",
    "read_flow_channel",
    "read_flow_exists",
    "read_flow_granted",
    "read_flow_held",
    "read_flow_sealed",
    "read_flow_claim",
    "read_flow_starves",
    "read_flow_bytes",
    "read_flow_closes",
    "read_flow_fails",
    "read_flow_wake",
    "read_flow_place",
    "outflow_retired",
    "outflow_number",
    "outflow_channel",
    "outflow_bytes",
    "outflow_last",
    "outflow_failed",
    "outflow_beat",
];

/// Signals about data that only a transaction layer has.
const LOSSES: &[&str] = &["answer_error"];

/// Ports of the transaction layer that no part of the block uses.
const UNUSED: &[&str] = &[
    "stalled_credits",
    "stalled_tags",
    "read_boundary",
    "bus_master",
    "requester_id",
    "host_refused",
    "host_aborted",
    "host_dropped",
];

/// Ports with the state of the function's MSI capability; only a transaction layer sees it.
const MSI_STATE: &[&str] = &["msi_enable", "msi_address", "msi_data"];

/// Ports with the state of the function's MSI-X capability, and the interrupt that becomes a message with it.
const MSIX_STATE: [&str; 3] = ["msix_enable", "msix_mask", "kernel_irq"];

/// Other ports that a block without an MSI-X table does not have.
const MSIX_TABLE: [&str; 6] = [
    "msix_address",
    "msix_read",
    "msix_write",
    "msix_writedata",
    "msix_byteenable",
    "msix_readdata",
];

/// Returns the sizes of the slaves that the host reaches through the block.
fn sizes(params: &Params) -> Sizes {
    Sizes {
        chan_log2: 12 + params.channels_log2(),
        att_log2: 3 + params.att_log2,
    }
}

/// Returns the BAR with these slaves: as large as the build says; else as large as needed, and at least as large as
/// that of the OpenCL BSPs.
fn reach(params: &Params) -> Reach {
    let usual = Reach::default();
    let slaves = params.slaves.as_ref();
    let needed = slaves.map_or(0, |slaves| {
        params.slaves_end(slaves).next_power_of_two().ilog2() as usize
    });
    Reach {
        // The hard IP's documents do not say which bit shows a BAR of 64 bits.
        bars: slaves.map_or(usual.bars, |slaves| 0b11 << slaves.bar),
        bar_log2: params
            .bar_log2
            .map_or(usual.bar_log2.max(needed), |log2| log2 as usize),
        ..usual
    }
}

fn cut(name: &str, width: u32) -> Narrow<'_> {
    Narrow {
        name,
        width: width as usize,
    }
}

fn parts<const W: usize, const B: usize, const E: usize>(
    params: &Params,
    header: &str,
) -> Result<Vec<Design>, GenerateError> {
    let mut engine = Engine::<W, B, E>::new(EngineConfig {
        channels_log2: params.channels_log2() as usize,
        queue_log2: params.queue_log2 as usize,
        att_log2: params.att_log2 as usize,
        memory_log2: params.memory_log2 as usize,
        reads_log2: params.reads_log2 as usize,
        receive_log2: params.receive_log2 as usize,
        address_bits: match params.port {
            Port::Txs => params.txs_addr_bits as usize,
            Port::Stream | Port::Tlp => 64,
        },
        has_layer: params.port == Port::Tlp,
        msix: params.irq == Irq::Msix,
        build_id: params.build_id(),
    });
    engine.connect_all();
    let engine = emit("peerlane_engine", &engine, header)?;
    let mut reset = LinkReset::default();
    reset.connect_all();
    let reset = emit("peerlane_link_reset", &reset, header)?;
    let adapter = match params.port {
        Port::Txs => {
            let mut adapter = TxsAdapter::<W, B>::default();
            adapter.connect_all();
            emit("peerlane_txs", &adapter, header)?
        }
        Port::Stream | Port::Tlp => {
            let mut adapter = StreamAdapter::<W, B>::new(params.reads_log2 as usize);
            adapter.connect_all();
            emit("peerlane_stream", &adapter, header)?
        }
    };
    Ok(vec![engine, reset, adapter])
}

/// Returns the header of each file. `peerlane check` reads the two hashes back.
fn header(params: &Params) -> String {
    format!(
        "Peerlane DMA block. Generated; edit the generator, not this file.\n\
         SPDX-License-Identifier: MIT OR Apache-2.0\n\
         MAP_ID 0x{:08x}  BUILD_ID 0x{:08x}\n\
         {}",
        peerlane_regmap::Map::load().map_id(),
        params.build_id(),
        params.canonical()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prim::IMPATIENT;

    /// A block of 512 words is not taken for a few.
    #[test]
    fn no_block_of_memory_in_one_clock_holds_few_words() {
        let small = Params {
            channels: 4,
            queue_log2: 8,
            att_log2: 10,
            irq: Irq::Msix,
            ..Params::default()
        };
        let mut mlabs = 0;
        for params in [Params::default(), small] {
            for module in generate(&params).unwrap().modules {
                let style = |name| module.verilog.contains(&format!("{name}, no_rw_check"));
                let words = (module.name.split_once("_ram_block_"))
                    .and_then(|(_, shape)| shape.split('x').next()?.parse::<u32>().ok());
                let few = words.is_some_and(|words| words <= 32);
                if few && !module.name.ends_with("_two_clocks") {
                    assert!(style("MLAB") && !style("M20K"), "{}", module.name);
                    mlabs += 1;
                } else if words.is_some() {
                    assert!(style("M20K"), "{}", module.name);
                }
            }
        }
        assert!(mlabs > 1, "{mlabs}");
    }

    /// The times of a build do not depend on the macros that a simulation defines.
    #[test]
    fn only_a_simulation_is_impatient() {
        let params = Params {
            port: Port::Tlp,
            ..Params::default()
        };
        let design = generate(&params).unwrap();
        let with = |module: &&peerlane_verilog::Module| module.verilog.contains(IMPATIENT);
        let modules: Vec<_> = design.modules.iter().filter(with).collect();
        // Reads, those without a tag or room, and the board's bus.
        assert_eq!(modules.len(), 3);
        for module in modules {
            let guard = format!("  `ifdef SIMULATION\n  `ifdef {IMPATIENT}\n");
            assert_eq!(
                module.verilog.matches(&guard).count(),
                1,
                "{}",
                module.verilog
            );
            assert_eq!(module.verilog.matches(IMPATIENT).count(), 1);
        }
    }

    /// Each part of the engine has its reset from a copy of its own, and nothing hangs at the register before
    /// them but these.
    #[test]
    fn no_two_parts_share_a_reset() {
        let design = generate(&Params::default()).unwrap();
        let engine = design.modules.iter().find(|m| m.name == "peerlane_engine");
        let text = &engine.unwrap().verilog;
        let of = |port: &str| -> Vec<&str> {
            text.split(&format!(".{port}("))
                .skip(1)
                .map(|rest| rest.split(')').next().unwrap())
                .collect()
        };
        let mut resets: Vec<_> = of("reset")
            .into_iter()
            .filter(|name| name.starts_with("resets_"))
            .collect();
        // The decoder of the channel pages and the channels share one.
        assert_eq!(resets.len(), 15, "{resets:?}");
        resets.sort_unstable();
        resets.dedup();
        assert_eq!(resets.len(), 14, "{resets:?}");
        let copied = of("trigger")
            .into_iter()
            .filter(|name| *name == "core_reset_q");
        assert_eq!(copied.count(), 16);
        assert!(of("reset").iter().all(|name| *name != "core_reset_q"));
    }
}
