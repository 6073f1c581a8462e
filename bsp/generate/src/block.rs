//! The interfaces of `peerlane_dma` as Platform Designer sees them: the contract between the RTL's
//! port list and the system around it.

pub mod logic;
pub mod stream;

use std::borrow::Cow;

use crate::config::{Config, Irq, MSIX_BYTES};
use peerlane_bsp_platform::roles::{NEW_DMA, Role};
use peerlane_hdl::txs_burst_bits;

/// Bytes of the CSR slave.
pub const CSR_BYTES: u32 = 1024;
/// Cycles from a read of the CSR slave to its data (`read_latency` of the register map).
pub const CSR_LATENCY: u32 = 2;
/// Bytes of the window slave.
pub const WINDOW_BYTES: u32 = 65536;
/// Byte offset of the pending bits in that slave.
pub const PBA_OFFSET: u32 = 0x800;
/// The block with its interrupt interfaces as the hard IP exports them: the top module of builds with an
/// MSI-X table.
pub const MSIX_TOP: &str = "peerlane_dma_msix";
/// Address bits (bytes) of the master to PCIe. They are bus addresses, which the hard IP does not translate.
pub const TXS_ADDR_BITS: u32 = 64;
/// Address bits of the masters to FPGA memory (bytes).
pub const MEM_ADDR_BITS: u32 = 40;
/// Width of FPGA memory's ports in bits.
pub const MEM_BITS: u32 = 512;
/// Version of the Platform Designer component.
pub const COMPONENT_VERSION: &str = "1.0";

/// Direction of a port, seen from the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Into the block.
    Input,
    /// Out of the block.
    Output,
}

impl Direction {
    /// Returns Verilog's keyword.
    pub fn verilog(self) -> &'static str {
        match self {
            Direction::Input => "input",
            Direction::Output => "output",
        }
    }

    /// Returns Platform Designer's word.
    pub fn platform_designer(self) -> &'static str {
        match self {
            Direction::Input => "Input",
            Direction::Output => "Output",
        }
    }
}

/// A port of the module.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port {
    /// Name in the Verilog.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Width in bits.
    pub width: u32,
}

/// An interface and its ports by role.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Name.
    pub name: Cow<'static, str>,
    /// Role.
    pub role: Role,
    /// The clock interface that the interface belongs to; empty for clocks.
    pub clock: Cow<'static, str>,
    /// The reset interface that the interface belongs to; empty for clocks and resets.
    pub reset: Cow<'static, str>,
    /// Properties in Platform Designer other than clock and reset.
    pub properties: Vec<(&'static str, String)>,
    /// Ports, each with its role in Platform Designer.
    pub ports: Vec<(&'static str, Port)>,
}

const ROLES: [(&str, Role); 13] = [
    ("clk", Role::ClockSink),
    ("reset", Role::ResetSink),
    ("pcie_clk", Role::ClockSink),
    ("pcie_reset", Role::ResetSink),
    ("csr", Role::Slave),
    ("chan", Role::Slave),
    ("att", Role::Slave),
    ("txs", Role::Master),
    ("dma_irq", Role::IrqSender),
    ("mem_rd", Role::Master),
    ("mem_wr", Role::Master),
    ("s_nondma", Role::Slave),
    ("mem_win", Role::Master),
];

/// Interfaces that a block with an MSI-X table has in addition.
const MSIX_ROLES: [(&str, Role); 4] = [
    ("msix", Role::Slave),
    ("kernel_irq", Role::IrqReceiver),
    ("msix_control", Role::Conduit),
    ("intx", Role::Conduit),
];

/// Interfaces that a block with a TLP port does not have. The host reaches these slaves inside the block, and the
/// block's messages are packets.
const INSIDE: [&str; 8] = [
    "csr",
    "chan",
    "att",
    "txs",
    "dma_irq",
    "msix",
    "msix_control",
    "intx",
];

/// Returns every interface with its role. `bar` is the BAR by which the host reaches the block.
pub fn roles(config: &Config, bar: u32) -> Vec<(Cow<'static, str>, Role)> {
    let more: &[_] = match config.irq {
        Irq::Rxm => &[],
        Irq::Msix => &MSIX_ROLES,
    };
    let mut list: Vec<_> = ROLES.into_iter().chain(more.iter().copied()).collect();
    if config.has_tlp_port() {
        list.retain(|(name, _)| !INSIDE.contains(name));
        list.extend(stream::roles(config, bar));
    }
    let list = list.into_iter().map(|(name, role)| (name.into(), role));
    list.chain(logic::roles(&config.streams)).collect()
}

/// Returns the name of the component's top module.
pub fn top(config: &Config) -> &'static str {
    match (config.has_tlp_port(), config.irq) {
        (true, _) => stream::TOP,
        (false, Irq::Rxm) if !config.streams.is_empty() => logic::TOP,
        (false, Irq::Rxm) => NEW_DMA,
        (false, Irq::Msix) => MSIX_TOP,
    }
}

/// The ports that an Avalon-MM interface has.
struct Avalon {
    address_bits: u32,
    data_bits: u32,
    burst_bits: u32,
    read: bool,
    write: bool,
    waits: bool,
    pipelined: bool,
}

/// Returns the interfaces for a configuration, a width of the port to PCIe and the BAR by which the host reaches the
/// block.
pub fn interfaces(config: &Config, port_bits: u32, bar: u32) -> Vec<Interface> {
    let config_slave = |name, words: u64, latency: u32| {
        // Avalon's fixed latency: `latency` cycles from read to data, no wait states.
        let properties = vec![
            ("readLatency", latency.to_string()),
            ("readWaitTime", "0".to_string()),
            ("writeWaitTime", "0".to_string()),
            ("maximumPendingReadTransactions", "0".to_string()),
            ("addressUnits", "WORDS".to_string()),
        ];
        let shape = Avalon {
            address_bits: words.ilog2(),
            data_bits: 32,
            burst_bits: 0,
            read: true,
            write: true,
            waits: false,
            pipelined: false,
        };
        avalon(
            name,
            Role::Slave,
            "pcie_clk",
            "pcie_reset",
            properties,
            &shape,
        )
    };
    let master = |name, clock, reset, shape: Avalon| {
        let mut properties = vec![
            ("addressUnits", "SYMBOLS".to_string()),
            ("burstOnBurstBoundariesOnly", "false".to_string()),
            ("doStreamReads", "false".to_string()),
            ("doStreamWrites", "false".to_string()),
            ("linewrapBursts", "false".to_string()),
        ];
        if shape.burst_bits > 0 {
            properties.push(("burstcountUnits", "WORDS".to_string()));
        }
        avalon(name, Role::Master, clock, reset, properties, &shape)
    };
    let memory = |burst_bits, read, write| Avalon {
        address_bits: MEM_ADDR_BITS,
        data_bits: MEM_BITS,
        burst_bits,
        read,
        write,
        waits: true,
        pipelined: true,
    };
    let window = avalon(
        "s_nondma",
        Role::Slave,
        "clk",
        "reset",
        vec![
            ("maximumPendingReadTransactions", "1".to_string()),
            ("addressUnits", "WORDS".to_string()),
        ],
        &Avalon {
            address_bits: (WINDOW_BYTES / (MEM_BITS / 8)).ilog2(),
            ..memory(0, true, true)
        },
    );
    let txs = Avalon {
        address_bits: TXS_ADDR_BITS,
        data_bits: port_bits,
        burst_bits: txs_burst_bits(port_bits),
        ..memory(0, true, true)
    };
    let irq = Interface {
        name: "dma_irq".into(),
        role: Role::IrqSender,
        clock: "pcie_clk".into(),
        reset: "pcie_reset".into(),
        properties: vec![("associatedAddressablePoint", "csr".to_string())],
        ports: vec![("irq", port("dma_irq".into(), Direction::Output, 1))],
    };
    let mut list = vec![
        clock("clk"),
        reset("reset", "clk"),
        clock("pcie_clk"),
        reset("pcie_reset", "pcie_clk"),
        config_slave("csr", u64::from(CSR_BYTES) / 4, CSR_LATENCY),
        config_slave("chan", config.chan_bytes() / 4, 1),
        config_slave("att", config.att_bytes() / 4, 1),
        master("txs", "pcie_clk", "pcie_reset", txs),
        irq,
        master("mem_rd", "clk", "reset", memory(5, true, false)),
        master("mem_wr", "clk", "reset", memory(5, false, true)),
        window,
        master("mem_win", "clk", "reset", memory(0, true, true)),
    ];
    if config.irq == Irq::Msix {
        list.push(config_slave("msix", u64::from(MSIX_BYTES) / 4, 1));
        list.extend(interrupt_interfaces());
    }
    if config.has_tlp_port() {
        list.retain(|interface| !INSIDE.contains(&&*interface.name));
        list.extend(stream::interfaces(config, port_bits, bar));
    }
    list.extend(logic::interfaces(&config.streams));
    list
}

/// Returns the OpenCL kernel's interrupt and the interfaces that the hard IP exports with CG_ENABLE_ADVANCED_INTERRUPT
/// (Stratix V Avalon-MM user guide 683411, 4.6), with the directions of the other side. The names of the conduits'
/// roles are those of the hard IP's component (Quartus 13.1): a connection compares them.
fn interrupt_interfaces() -> [Interface; 3] {
    use Direction::{Input, Output};
    let conduit = |name: &'static str, ports| Interface {
        name: name.into(),
        role: Role::Conduit,
        clock: "".into(),
        reset: "".into(),
        properties: Vec::new(),
        ports,
    };
    let kernel = Interface {
        name: "kernel_irq".into(),
        role: Role::IrqReceiver,
        clock: "pcie_clk".into(),
        reset: "pcie_reset".into(),
        properties: vec![
            ("associatedAddressablePoint", "\"\"".to_string()),
            ("irqScheme", "INDIVIDUAL_REQUESTS".to_string()),
        ],
        ports: vec![("irq", port("kernel_irq".into(), Input, 1))],
    };
    let control = vec![("msix_intfc", port("msix_control".into(), Input, 16))];
    let legacy = vec![
        ("intx_req", port("intx_req".into(), Output, 1)),
        ("intx_ack", port("intx_ack".into(), Input, 1)),
    ];
    [
        kernel,
        conduit("msix_control", control),
        conduit("intx", legacy),
    ]
}

fn port(name: String, direction: Direction, width: u32) -> Port {
    Port {
        name,
        direction,
        width,
    }
}

fn clock(name: impl Into<Cow<'static, str>>) -> Interface {
    let name = name.into();
    Interface {
        role: Role::ClockSink,
        clock: "".into(),
        reset: "".into(),
        properties: Vec::new(),
        ports: vec![("clk", port(name.to_string(), Direction::Input, 1))],
        name,
    }
}

fn reset(name: impl Into<Cow<'static, str>>, clock: impl Into<Cow<'static, str>>) -> Interface {
    let name = name.into();
    Interface {
        role: Role::ResetSink,
        clock: clock.into(),
        reset: "".into(),
        properties: vec![("synchronousEdges", "BOTH".to_string())],
        ports: vec![("reset", port(name.to_string(), Direction::Input, 1))],
        name,
    }
}

fn avalon(
    name: &'static str,
    role: Role,
    clock: &'static str,
    reset: &'static str,
    properties: Vec<(&'static str, String)>,
    shape: &Avalon,
) -> Interface {
    use Direction::{Input, Output};
    let (forward, back) = match role {
        Role::Master => (Output, Input),
        _ => (Input, Output),
    };
    let mut list = vec![("address", forward, shape.address_bits)];
    if shape.read {
        list.push(("read", forward, 1));
        list.push(("readdata", back, shape.data_bits));
        if shape.pipelined {
            list.push(("readdatavalid", back, 1));
        }
    }
    if shape.write {
        list.push(("write", forward, 1));
        list.push(("writedata", forward, shape.data_bits));
        list.push(("byteenable", forward, shape.data_bits / 8));
    }
    if shape.burst_bits > 0 {
        list.push(("burstcount", forward, shape.burst_bits));
    }
    if shape.waits {
        list.push(("waitrequest", back, 1));
    }
    let ports = list
        .into_iter()
        .map(|(role, direction, width)| (role, port(format!("{name}_{role}"), direction, width)))
        .collect();
    Interface {
        name: name.into(),
        role,
        clock: clock.into(),
        reset: reset.into(),
        properties,
        ports,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interface table of the design, written out by hand: "+" in, "-" out.
    const TABLE: &str = "+clk 1 +reset 1 +pcie_clk 1 +pcie_reset 1 \
        +csr_address 8 +csr_read 1 +csr_write 1 +csr_writedata 32 +csr_byteenable 4 -csr_readdata 32 \
        +chan_address 13 +chan_read 1 +chan_write 1 +chan_writedata 32 +chan_byteenable 4 \
        -chan_readdata 32 +att_address 13 +att_read 1 +att_write 1 +att_writedata 32 \
        +att_byteenable 4 -att_readdata 32 -txs_address 64 -txs_read 1 -txs_write 1 \
        -txs_writedata 128 -txs_byteenable 16 -txs_burstcount 6 +txs_waitrequest 1 \
        +txs_readdata 128 +txs_readdatavalid 1 -dma_irq 1 -mem_rd_address 40 -mem_rd_read 1 \
        -mem_rd_burstcount 5 +mem_rd_waitrequest 1 +mem_rd_readdata 512 +mem_rd_readdatavalid 1 \
        -mem_wr_address 40 -mem_wr_write 1 -mem_wr_burstcount 5 -mem_wr_writedata 512 \
        -mem_wr_byteenable 64 +mem_wr_waitrequest 1 +s_nondma_address 10 +s_nondma_read 1 \
        +s_nondma_write 1 +s_nondma_writedata 512 +s_nondma_byteenable 64 -s_nondma_readdata 512 \
        -s_nondma_readdatavalid 1 -s_nondma_waitrequest 1 -mem_win_address 40 -mem_win_read 1 \
        -mem_win_write 1 -mem_win_writedata 512 -mem_win_byteenable 64 +mem_win_waitrequest 1 \
        +mem_win_readdata 512 +mem_win_readdatavalid 1";

    /// Further ports of a block with an MSI-X table.
    const MSIX_TABLE: &str = "+msix_address 10 +msix_read 1 +msix_write 1 +msix_writedata 32 \
        +msix_byteenable 4 -msix_readdata 32 +kernel_irq 1 +msix_control 16 -intx_req 1 +intx_ack 1";

    fn table(text: &str) -> Vec<Port> {
        let mut ports: Vec<Port> = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .chunks(2)
            .map(|c| Port {
                name: c[0][1..].into(),
                direction: if c[0].starts_with('+') {
                    Direction::Input
                } else {
                    Direction::Output
                },
                width: c[1].parse().unwrap(),
            })
            .collect();
        ports.sort();
        ports
    }

    fn ports(config: &Config) -> Vec<Port> {
        let mut ports: Vec<Port> = interfaces(config, 128, 0)
            .into_iter()
            .flat_map(|i| i.ports.into_iter().map(|(_, p)| p))
            .collect();
        ports.sort();
        ports
    }

    #[test]
    fn ports_are_those_of_the_design() {
        assert_eq!(ports(&Config::default()), table(TABLE));
        let msix = Config {
            irq: Irq::Msix,
            ..Config::default()
        };
        assert_eq!(ports(&msix), table(&format!("{TABLE} {MSIX_TABLE}")));
        for (channels, bits) in [(1, 10), (64, 16)] {
            let config = Config {
                channels,
                ..Config::default()
            };
            let wide = format!("+chan_address {bits}");
            assert_eq!(
                ports(&config),
                table(&TABLE.replace("+chan_address 13", &wide))
            );
        }
    }

    #[test]
    fn every_interface_has_its_role() {
        for irq in [Irq::Rxm, Irq::Msix] {
            let config = Config {
                irq,
                ..Config::default()
            };
            let list = interfaces(&config, 256, 0);
            let have: Vec<_> = list.iter().map(|i| (i.name.clone(), i.role)).collect();
            assert_eq!(have, roles(&config, 0));
            let enable = list[7].ports.iter().find(|p| p.0 == "byteenable").unwrap();
            assert_eq!(enable.1.width, 32);
        }
    }
}
