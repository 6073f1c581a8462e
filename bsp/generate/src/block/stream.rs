//! The interfaces of a block with a TLP port: those of the hard IP's Avalon-ST variant with the directions of the other
//! side, and those that replace the interfaces of the bridge.
//!
//! Names of interfaces, roles and widths are those of `altera_pcie_sv_hip_ast` (component description, ACDS 13.1): a
//! connection compares them.

use super::Direction::{Input, Output};
use super::{Avalon, Interface, Port, avalon, clock, port};
use crate::config::Config;
use peerlane_bsp_platform::roles::Role;

/// The top module of builds with a TLP port.
pub const TOP: &str = "peerlane_dma_stream";
/// Address bits (bytes) of the master to the board: the most that a 32-bit BAR has.
const BOARD_ADDR_BITS: u32 = 32;
/// Data bits of that master.
const BOARD_BITS: u32 = 64;
/// Bits of its burst count. A burst has at most 32 words: 256 bytes.
const BOARD_BURST_BITS: u32 = 6;
/// Bytes of the slave that replaces the bridge's registers (Stratix V Avalon-MM user guide 683411, "Control Register
/// Access").
pub const CRA_BYTES: u32 = 0x4000;

/// Slaves that the host reaches inside the block.
pub const INSIDE_BAR: [&str; 4] = ["csr", "chan", "att", "msix"];

/// Names of the master to the board: it replaces the master of a BAR and takes its name.
const BARS: [&str; 6] = [
    "Rxm_BAR0", "Rxm_BAR1", "Rxm_BAR2", "Rxm_BAR3", "Rxm_BAR4", "Rxm_BAR5",
];

/// A role of a conduit: its name, which is also the port's name; the direction seen from the block; its bits.
type Wire = (&'static str, super::Direction, u32);

/// The conduits between the hard IP and the block, which have one name on both sides.
pub const CONDUITS: [(&str, &[Wire]); 8] = [
    (
        "rx_bar_be",
        &[("rx_st_bar", Input, 8), ("rx_st_mask", Output, 1)],
    ),
    (
        "tx_cred",
        &[
            ("tx_cred_datafccp", Input, 12),
            ("tx_cred_datafcnp", Input, 12),
            ("tx_cred_datafcp", Input, 12),
            ("tx_cred_fchipcons", Input, 6),
            ("tx_cred_fcinfinite", Input, 6),
            ("tx_cred_hdrfccp", Input, 8),
            ("tx_cred_hdrfcnp", Input, 8),
            ("tx_cred_hdrfcp", Input, 8),
            ("tx_cons_cred_sel", Output, 1),
        ],
    ),
    (
        "config_tl",
        &[
            ("hpg_ctrler", Output, 5),
            ("tl_cfg_add", Input, 4),
            ("tl_cfg_ctl", Input, 32),
            ("tl_cfg_sts", Input, 53),
            ("cpl_err", Output, 7),
            ("cpl_pending", Output, 1),
        ],
    ),
    (
        "hip_rst",
        &[
            ("reset_status", Input, 1),
            ("serdes_pll_locked", Input, 1),
            ("pld_clk_inuse", Input, 1),
            ("pld_core_ready", Output, 1),
            ("testin_zero", Input, 1),
        ],
    ),
    (
        "hip_status",
        &[
            ("derr_cor_ext_rcv", Input, 1),
            ("derr_cor_ext_rpl", Input, 1),
            ("derr_rpl", Input, 1),
            ("dlup", Input, 1),
            ("dlup_exit", Input, 1),
            ("ev128ns", Input, 1),
            ("ev1us", Input, 1),
            ("hotrst_exit", Input, 1),
            ("int_status", Input, 4),
            ("l2_exit", Input, 1),
            ("lane_act", Input, 4),
            ("ltssmstate", Input, 5),
            ("rx_par_err", Input, 1),
            ("tx_par_err", Input, 2),
            ("cfg_par_err", Input, 1),
            ("ko_cpl_spc_header", Input, 8),
            ("ko_cpl_spc_data", Input, 12),
        ],
    ),
    (
        "int_msi",
        &[
            ("app_int_sts", Output, 1),
            ("app_msi_num", Output, 5),
            ("app_msi_req", Output, 1),
            ("app_msi_tc", Output, 3),
            ("app_int_ack", Input, 1),
            ("app_msi_ack", Input, 1),
        ],
    ),
    (
        "lmi",
        &[
            ("lmi_addr", Output, 12),
            ("lmi_din", Output, 32),
            ("lmi_rden", Output, 1),
            ("lmi_wren", Output, 1),
            ("lmi_ack", Input, 1),
            ("lmi_dout", Input, 32),
        ],
    ),
    (
        "power_mngt",
        &[
            ("pm_auxpwr", Output, 1),
            ("pm_data", Output, 10),
            ("pme_to_cr", Output, 1),
            ("pm_event", Output, 1),
            ("pme_to_sr", Input, 1),
        ],
    ),
];

/// The hard IP's clock as it leaves the hard IP. [`CLOCK`] is the same clock on a global network. It has the name that
/// the Avalon-MM variant gives it, which puts the clock there itself (`altpcie_sv_hip_avmm_hwtcl`, ACDS 13.1).
pub const RAW_CLOCK: &str = "coreclkout_hip";
/// See [`RAW_CLOCK`].
pub const CLOCK: &str = "coreclkout";

/// The copy of the hard IP's status for the driver of the transceivers' controller, which Gen3 needs
/// (`altera_pcie_reconfig_driver`, ACDS 13.1). A conduit leads to one other, and `hip_status` leads to the block.
pub const STATUS: &str = "hip_status_drv";

/// Returns the roles of [`STATUS`] with their ports and bits, if the block has that interface.
pub fn status(config: &Config) -> Vec<(&'static str, Port)> {
    let gen_3 = config.port.generation == Some(3);
    let of = |name: &str| gen_3 && name == "hip_status";
    let wires = CONDUITS.iter().filter(|(name, _)| of(name));
    let wires = wires.flat_map(|(_, wires)| wires.iter());
    let ports = wires.map(|(role, _, width)| (*role, port(format!("{role}_drv"), Output, *width)));
    ports.collect()
}

/// The streams of packets: from the hard IP, and to it.
pub const STREAMS: [&str; 2] = ["rx_st", "tx_st"];

/// Returns the name of the master to the board for the number of a BAR.
pub fn board(bar: u32) -> &'static str {
    BARS[bar as usize % BARS.len()]
}

/// Returns names and roles of the interfaces of a block with a TLP port.
pub fn roles(config: &Config, bar: u32) -> Vec<(&'static str, Role)> {
    let mut list = vec![
        ("rx_st", Role::StreamSink),
        ("tx_st", Role::StreamSource),
        (board(bar), Role::Master),
        ("Cra", Role::Slave),
        ("nreset_status", Role::ResetSource),
        (RAW_CLOCK, Role::ClockSink),
        (CLOCK, Role::ClockSource),
    ];
    if !status(config).is_empty() {
        list.push((STATUS, Role::Conduit));
    }
    list.extend(CONDUITS.iter().map(|(name, _)| (*name, Role::Conduit)));
    list
}

/// Returns the interfaces for a configuration, a width of the stream and a BAR.
pub fn interfaces(config: &Config, port_bits: u32, bar: u32) -> Vec<Interface> {
    let (forward, back) = (Output, Input);
    let reset = Interface {
        name: "nreset_status".into(),
        role: Role::ResetSource,
        clock: "pcie_clk".into(),
        reset: "".into(),
        properties: vec![("synchronousEdges", "BOTH".to_string())],
        ports: vec![("reset_n", port("nreset_status".into(), Output, 1))],
    };
    let mut list = vec![
        stream("rx_st", port_bits, (back, forward)),
        stream("tx_st", port_bits, (forward, back)),
        master(bar),
        cra(),
        reset,
        clock(RAW_CLOCK),
        Interface {
            role: Role::ClockSource,
            ports: vec![("clk", port(CLOCK.into(), Output, 1))],
            ..clock(CLOCK)
        },
    ];
    let status = status(config);
    if !status.is_empty() {
        list.push(Interface {
            ports: status,
            ..conduit(STATUS, &[])
        });
    }
    list.extend(CONDUITS.iter().map(|(name, wires)| conduit(name, wires)));
    list
}

/// Returns a stream of packets. Both sides must declare it alike, or Platform Designer inserts an adapter.
fn stream(
    name: &'static str,
    port_bits: u32,
    (forward, back): (super::Direction, super::Direction),
) -> Interface {
    let wires = [
        ("startofpacket", "sop", forward, 1),
        ("endofpacket", "eop", forward, 1),
        ("error", "err", forward, 1),
        ("valid", "valid", forward, 1),
        ("empty", "empty", forward, 2),
        ("ready", "ready", back, 1),
        ("data", "data", forward, port_bits),
    ];
    let ports = wires.map(|(role, suffix, direction, width)| {
        (role, port(format!("{name}_{suffix}"), direction, width))
    });
    let role = match forward {
        Output => Role::StreamSource,
        Input => Role::StreamSink,
    };
    Interface {
        name: name.into(),
        role,
        clock: "pcie_clk".into(),
        reset: "pcie_reset".into(),
        properties: vec![
            ("beatsPerCycle", "1".to_string()),
            ("dataBitsPerSymbol", port_bits.to_string()),
            ("maxChannel", "0".to_string()),
            ("readyLatency", "3".to_string()),
            ("symbolsPerBeat", "1".to_string()),
        ],
        ports: ports.into(),
    }
}

/// Returns the master to the slaves of the board that the host reaches and that are not the block's.
fn master(bar: u32) -> Interface {
    let properties = vec![
        ("addressUnits", "SYMBOLS".to_string()),
        ("burstOnBurstBoundariesOnly", "false".to_string()),
        ("doStreamReads", "false".to_string()),
        ("doStreamWrites", "false".to_string()),
        ("linewrapBursts", "false".to_string()),
        ("burstcountUnits", "WORDS".to_string()),
    ];
    let shape = Avalon {
        address_bits: BOARD_ADDR_BITS,
        data_bits: BOARD_BITS,
        burst_bits: BOARD_BURST_BITS,
        read: true,
        write: true,
        waits: true,
        pipelined: true,
    };
    let mut interface = avalon(
        "board",
        Role::Master,
        "pcie_clk",
        "pcie_reset",
        properties,
        &shape,
    );
    interface.name = board(bar).into();
    interface
}

/// Returns the slave that replaces the bridge's registers: it reads 0.
fn cra() -> Interface {
    let properties = vec![
        ("readLatency", "1".to_string()),
        ("readWaitTime", "0".to_string()),
        ("writeWaitTime", "0".to_string()),
        ("maximumPendingReadTransactions", "0".to_string()),
        ("addressUnits", "WORDS".to_string()),
    ];
    let shape = Avalon {
        address_bits: (CRA_BYTES / 4).ilog2(),
        data_bits: 32,
        burst_bits: 0,
        read: true,
        write: true,
        waits: false,
        pipelined: false,
    };
    let mut interface = avalon(
        "cra",
        Role::Slave,
        "pcie_clk",
        "pcie_reset",
        properties,
        &shape,
    );
    interface.name = "Cra".into();
    interface
}

fn conduit(name: &'static str, wires: &[Wire]) -> Interface {
    let ports = wires
        .iter()
        .map(|(role, direction, width)| (*role, port((*role).into(), *direction, *width)));
    Interface {
        name: name.into(),
        role: Role::Conduit,
        clock: "".into(),
        reset: "".into(),
        properties: Vec::new(),
        ports: ports.collect(),
    }
}
