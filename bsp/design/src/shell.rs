//! The vendor's part of a board, as far as the driver uses it: the hard IP's interrupt registers, and the OpenCL side
//! (the kernels' interface, their clock, and the board's identification).

use peerlane_core::shell::KERNELS_BYTES;

use crate::host_bus::{BarEntry, BarMap};
use crate::interrupts::RXM_IRQ;
use crate::qsys::{Connection, End, Module, System, number};
use crate::site::Site;
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};

pub use peerlane_core::board::{Board, BoardError, HEADER, Ids, Shell, hash};
pub use peerlane_core::shell::{LINES, Line, OpenCl, Range};

/// Returns the byte offset in the BAR of the hard IP's control registers.
///
/// # Errors
/// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`] if the BAR does not reach them: then no software could
/// enable interrupts.
pub fn registers(site: &Site<'_>, map: &BarMap) -> Result<u64> {
    let hip = &site.hip.name;
    let registers = format!("{hip}.Cra");
    let mut entries = map.entries.iter();
    let entry = entries.find(|entry| entry.slave == registers);
    let there = entry.map(|entry| entry.base);
    there.ok_or_else(|| {
        site.unsupported(
            site.system.place(site.hip),
            format!(
                "{registers} is not in BAR {}: the host cannot enable the interrupts of {hip}.{RXM_IRQ}",
                map.bar
            ),
            HINT,
        )
    })
}

const HINT: &str = "Connect it in Platform Designer, or set irq = \"msix\" in the configuration.";

/// Returns the hard IP's interrupt input for the block of a site, in the BAR that the block is in.
///
/// # Errors
/// Those of [`registers`]; [`peerlane_bsp_platform::error::ErrorKind::Unsupported`], too, if the number of the block's
/// interrupt is not known.
pub fn line(site: &Site<'_>, map: &BarMap) -> Result<Line> {
    let (hip, dma) = (&site.hip.name, &site.dma.name);
    let cra = registers(site, map)?;
    let lines = lines(site);
    let line_of = |is_it: &dyn Fn(&str) -> bool| {
        let mut lines = lines.iter();
        lines
            .find(|(_, end)| is_it(&end.instance))
            .map(|(number, _)| *number)
    };
    let block = line_of(&|instance| instance == dma);
    let kernels = line_of(&|instance| {
        let module = site.system.module(instance);
        let kind = module.map(|module| module.kind.as_str());
        KERNEL_INTERFACES.iter().any(|(of, _)| kind == Some(*of))
    });
    let block = block.ok_or_else(|| {
        site.unsupported(
            site.system.place(site.hip),
            format!(
                "the number below {LINES} at which {dma} interrupts {hip}.{RXM_IRQ} cannot be determined"
            ),
            HINT,
        )
    })?;
    Ok(Line {
        cra,
        block,
        kernels,
    })
}

/// Kinds of the kernels' interface, up to AOCL 13.1 and since 14.0, with the slave that the host uses.
const KERNEL_INTERFACES: [(&str, &str); 2] = [
    ("acl_kernel_interface", "kernel_cntrl"),
    ("kernel_interface", "ctrl"),
];

/// Returns the senders of the hard IP's interrupts with their numbers, found through Quartus's bridges of interrupts
/// (Embedded Peripherals IP User Guide, "IRQ Bridge": receiver n is `sender<n>_irq`).
fn lines<'a>(site: &Site<'a>) -> Vec<(u32, &'a End)> {
    let from = |instance: &str, interface: &str| {
        let (instance, interface) = (instance.to_owned(), interface.to_owned());
        let wires = site.system.of_kind("interrupt");
        wires.filter(move |wire| {
            wire.start.instance == instance && wire.start.interface == interface
        })
    };
    let mut lines = Vec::new();
    for wire in from(&site.hip.name, RXM_IRQ) {
        let Some(number) = irq_number(wire).filter(|number| *number < LINES) else {
            continue;
        };
        let mut end = &wire.end;
        // A circle of bridges would have no end.
        for _ in 0..site.system.modules.len() {
            let kind = site
                .system
                .module(&end.instance)
                .map(|module| module.kind.as_str());
            let next = match kind {
                Some("altera_irq_bridge") => {
                    let sender = end.interface.strip_prefix("sender");
                    let index = sender.and_then(|rest| rest.strip_suffix("_irq")?.parse().ok());
                    from(&end.instance, "receiver_irq").find(|wire| irq_number(wire) == index)
                }
                Some("altera_irq_clock_crosser") => from(&end.instance, "receiver").next(),
                _ => break,
            };
            match next {
                Some(wire) => end = &wire.end,
                None => break,
            }
        }
        lines.push((number, end));
    }
    lines
}

fn irq_number(wire: &Connection) -> Option<u32> {
    let mut parameters = wire.element.children("parameter");
    let parameter = parameters.find(|one| one.attribute("name") == Some("irqNumber"));
    let text = match parameter {
        Some(parameter) => parameter.attribute("value").unwrap_or(&parameter.text),
        None => "0",
    };
    number(text)?.try_into().ok()
}

/// Returns the slaves of the OpenCL side in a BAR: that of the kernels' interface, `ctrl` of `acl_kernel_clk`,
/// `version_id`, `temperature`, `uniphy_status`. If there are two of a kind, neither is taken.
pub fn opencl(map: &BarMap) -> OpenCl {
    let only = |kind: &str, interface: &str| {
        let mut found = map.entries.iter().filter(|entry| {
            let of = entry.slave.split_once('.').map(|(_, interface)| interface);
            entry.kind == kind && of == Some(interface)
        });
        found.next().filter(|_| found.next().is_none())
    };
    let range = |entry: &BarEntry| Range {
        offset: entry.base,
        bytes: entry.bytes,
    };
    let word = |entry: &BarEntry| Range {
        offset: entry.base,
        bytes: 4,
    };
    let mut interfaces = KERNEL_INTERFACES.iter();
    OpenCl {
        kernels: interfaces
            .find_map(|(kind, slave)| only(kind, slave))
            .filter(|entry| entry.bytes >= KERNELS_BYTES)
            .map(|entry| Range {
                offset: entry.base,
                bytes: KERNELS_BYTES,
            }),
        clock: only("acl_kernel_clk", "ctrl").map(range),
        version: only("version_id", "s").map(word),
        temperature: only("temperature", "s").map(word),
        status: only("uniphy_status", "s").map(word),
    }
}

fn unusable(system: &System, hip: &Module, name: &str) -> Error {
    let has = hip.parameter(name).unwrap_or("not set");
    Error::new(
        ErrorKind::Unsupported,
        system.place(hip),
        format!("{}: {name} is {has}", hip.name),
        "Set it in Platform Designer, then extend the BSP again.",
    )
}

/// Returns the PCI IDs of a hard IP.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if it has no vendor or no device that a function can have.
pub fn ids(system: &System, hip: &Module) -> Result<Ids> {
    let number = |name| {
        hip.number(name)
            .and_then(|number| u16::try_from(number).ok())
    };
    let id = |name| {
        let id = number(name).filter(|id| ![0, u16::MAX].contains(id));
        id.ok_or_else(|| unusable(system, hip, name))
    };
    Ok(Ids {
        vendor: id("vendor_id_hwtcl")?,
        device: id("device_id_hwtcl")?,
        subvendor: number("subsystem_vendor_id_hwtcl"),
        subdevice: number("subsystem_device_id_hwtcl"),
    })
}

const RATE: &str = "gen123_lane_rate_mode_hwtcl";
const LANES: &str = "lane_mask_hwtcl";

/// Returns the frequency of `coreclkout_hip`: the bit rate of all lanes divided by the width of the port, but no less
/// than 125 MHz (Stratix V Avalon-MM Interface for PCIe Solutions User Guide, table of `coreclkout_hip` values for all
/// parameterizations). The 62.5 MHz of a single Gen1 lane is an option that no OpenCL board has.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a link that is not known.
pub fn clock(system: &System, hip: &Module, port_bits: u32) -> Result<u64> {
    const LEAST: u64 = 125_000_000;
    let rate = hip.parameter(RATE).unwrap_or_default();
    // Bits that a lane carries in a second, coded 8b/10b or 128b/130b; the clock of Gen3 ignores the loss by the
    // coding.
    let lane: u64 = match rate.split_whitespace().next() {
        Some("Gen1") => 2_000_000_000,
        Some("Gen2") => 4_000_000_000,
        Some("Gen3") => 8_000_000_000,
        _ => return Err(unusable(system, hip, RATE)),
    };
    let lanes = hip.parameter(LANES).unwrap_or_default();
    let lanes: u64 = match lanes.strip_prefix('x').map(str::parse) {
        Some(Ok(lanes @ (1 | 2 | 4 | 8))) => lanes,
        _ => return Err(unusable(system, hip, LANES)),
    };
    Ok((lanes * lane / u64::from(port_bits)).max(LEAST))
}
