//! A TLP port: the changes of the board, or the reasons against it.
//!
//! The hard IP's variant with Avalon-MM ports is replaced by the one with an Avalon-ST interface, and the block
//! replaces the bridge between them. Everything that is connected to the hard IP now must have a place there.

use std::collections::BTreeMap;

use peerlane_hdl::{Params, Slaves};

use crate::gen3;
use crate::hard_ip::{self, HardIp, Wanted};
use crate::host_bus::HostBus;
use crate::step::Step;
use peerlane_bsp_design::host_bus::{BarEntry, HostPath, bar_map, bar_number};
use peerlane_bsp_design::interrupts::{RXM_IRQ, other_senders};
use peerlane_bsp_design::kinds::OWN_HIP;
use peerlane_bsp_design::qsys::{Connection, End};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block::{self, stream::RAW_CLOCK};
use peerlane_bsp_generate::build;
use peerlane_bsp_generate::config::{Config, Key};
use peerlane_bsp_generate::generator::{self, Board};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Problems, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::message::Message;

/// The fate of an interface of the Avalon-MM variant that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The other variant has it, or one with the same function.
    Stays,
    /// The block has it, or it is not needed; no part outside the system may use it.
    Inside,
    /// Its users would lose it; the reason why nothing can replace it.
    Gone(&'static str),
}

const REGISTERS: &str = "it comes from the bridge, which the block replaces";
const MESSAGES: &str = "the block sends all messages, but another component sends some now";
const STATUS: &str = "the block's reset is made from it";

/// The output that reports a stable clock of the transceivers' reconfiguration.
const LOCKED: &str = "reconfig_clk_locked";

/// Every interface (component description of `altera_pcie_sv_hip_avmm`, ACDS 13.1; 16.0 has the same, by the
/// `.sopcinfo` of `maccoymerrell/Rowhammer_StratixV_FPGA`), except `Rxm_BARn`.
const INTERFACES: [(&str, Fate); 21] = [
    ("refclk", Fate::Stays),
    ("npor", Fate::Stays),
    ("coreclkout", Fate::Stays),
    ("nreset_status", Fate::Stays),
    ("hip_serial", Fate::Stays),
    ("hip_pipe", Fate::Stays),
    ("hip_ctrl", Fate::Stays),
    ("hip_currentspeed", Fate::Stays),
    ("reconfig_to_xcvr", Fate::Stays),
    ("reconfig_from_xcvr", Fate::Stays),
    ("Txs", Fate::Inside),
    ("Cra", Fate::Inside),
    (RXM_IRQ, Fate::Inside),
    ("CraIrq", Fate::Gone(REGISTERS)),
    ("hip_status", Fate::Gone(STATUS)),
    ("HIP_status_ext", Fate::Gone(STATUS)),
    ("MSI_Interface", Fate::Gone(MESSAGES)),
    ("MSI_Control", Fate::Gone(MESSAGES)),
    ("MSIX_Interface", Fate::Gone(MESSAGES)),
    ("INTX_Interface", Fate::Gone(MESSAGES)),
    // Peerlane's own component of the hard IP brings it out.
    (LOCKED, Fate::Stays),
];

/// The hint for a part that a board with a TLP port cannot have.
fn remove_it() -> Hint {
    Hint::without_tlp("Remove it in Platform Designer, or ")
}

/// Returns the fate of an interface; `None` for an unknown one.
fn fate(interface: &str) -> Option<Fate> {
    if bar_number(&End::new("", interface)).is_some() {
        return Some(Fate::Inside);
    }
    let mut all = INTERFACES.iter();
    all.find(|(name, _)| *name == interface)
        .map(|(_, fate)| *fate)
}

/// Changes of a board with a TLP port.
#[derive(Debug)]
pub struct Streaming<'a> {
    /// The hard IP.
    pub hip: HardIp,
    /// The host's bus, which the block drives.
    pub bus: HostBus<'a>,
    /// Byte offsets in the BAR of the block's slaves, by the names of their interfaces.
    pub places: BTreeMap<String, u64>,
    /// The OpenCL kernel's interrupt, if there is one.
    pub kernel: Option<&'a Connection>,
}

/// Changes a family's refusal to name the key `gen`, if only that key asks for the TLP port.
fn of_generation(config: &Config, mut error: Error) -> Error {
    match config.port.generation {
        Some(generation) if !config.places.has(Key::PortKind) => {
            let what = format!("port.gen = {generation} asks for a TLP port, but ");
            error.what = Message::from(what).then(error.what);
            error.of_key(Key::Generation)
        }
        _ => error,
    }
}

/// Decides the changes of a board with a TLP port.
///
/// # Errors
/// [`ErrorKind::Unsupported`] or [`ErrorKind::Config`] with the reasons against it.
pub fn plan<'a>(site: &Site<'a>, config: &Config) -> Result<Streaming<'a>> {
    const AGAINST: &str = "a TLP port";
    // Another family's hard IP is refused first: nothing else is known of it.
    hard_ip::is_known(site.system, site.hip).map_err(|e| of_generation(config, e))?;
    let path = HostPath::find(site)?;
    let mut wanted = Wanted {
        bar: path.bar,
        bar_log2: bar_map(site, path.bar).bits,
        generation: config.port.generation,
        port_bits: config.port_bits,
    };
    let mut problems = Problems::default();
    hard_ip::streaming(site.system, site.hip, wanted, &mut problems);
    interfaces(site, &mut problems);
    problems.take(registers(site, &path));
    let kernel = problems.take(kernel(site));
    std::mem::take(&mut problems).settle(AGAINST)?;
    let bus = HostBus::plan_inside(site, config)?;
    let places = bus.places(site);
    let (slaves, bar_log2) = room(site, config, path.bar, &places)?;
    wanted.bar_log2 = bar_log2;
    let hip = hard_ip::streaming(site.system, site.hip, wanted, &mut problems);
    problems.settle(AGAINST)?;
    let (Some(hip), Some(kernel)) = (hip, kernel) else {
        unreachable!("a missing part is a problem");
    };
    let board = Board {
        port_bits: hip.port_bits,
        memory_log2: Params::default().memory_log2,
        slaves,
        bar_log2: Some(hip.bar_log2),
        clock_mhz: hip.clock.1,
        shell: None,
    };
    generator::params(config, board).validate().map_err(|e| {
        site.unsupported(
            site.system.place(site.dma),
            format!("the block cannot be built for this board with a TLP port: {e}"),
            Hint::without_tlp("Move the slave in Platform Designer, or "),
        )
    })?;
    Ok(Streaming {
        hip,
        bus,
        places,
        kernel,
    })
}

/// Returns the block's slaves in the BAR, and the bytes of the BAR with them, log2.
fn room(
    site: &Site<'_>,
    config: &Config,
    bar: u32,
    offsets: &BTreeMap<String, u64>,
) -> Result<(Slaves, u64)> {
    let slaves = build::slaves(bar, offsets).map_err(|slave| {
        site.unsupported(
            site.system.place(site.dma),
            format!("no path leads from BAR {bar} to {}.{slave}", site.dma.name),
            remove_it(),
        )
    })?;
    let map = bar_map(site, bar);
    let own = format!("{}.", site.dma.name);
    let others: Vec<_> = map
        .entries
        .iter()
        .filter(|e| !e.slave.starts_with(&own))
        .collect();
    let mut end = 1;
    for (name, &at) in offsets {
        let bytes = bytes(config, name);
        let last = at.saturating_add(bytes);
        end = end.max(last);
        // The block decodes addresses first: its slaves would hide others at the same place.
        let hides = |e: &&&BarEntry| {
            name != "s_nondma" && e.base < last && at < e.base.saturating_add(e.bytes)
        };
        if let Some(other) = others.iter().find(hides) {
            return Err(site.unsupported(
                site.system.place(site.dma),
                format!(
                    "{own}{name} needs {bytes:#x} bytes at {at:#x} of BAR {bar}, but {} is at {:#x}",
                    other.slave, other.base
                ),
                "Move that slave in Platform Designer, or set free places under [bar] of the configuration.",
            ));
        }
    }
    let ends = others.iter().map(|e| e.base.saturating_add(e.bytes));
    let end = ends.fold(end, u64::max).checked_next_power_of_two();
    let log2 = end.map_or(64, |end| u64::from(end.ilog2()));
    Ok((slaves, log2.max(map.bits)))
}

/// Returns the bytes of a slave of the block.
fn bytes(config: &Config, slave: &str) -> u64 {
    let new = config.new_slaves();
    let found = new.iter().find(|new| new.name == slave);
    match slave {
        "csr" => u64::from(block::CSR_BYTES),
        "s_nondma" => u64::from(block::WINDOW_BYTES),
        _ => found.map_or(0, |new| new.bytes),
    }
}

impl Streaming<'_> {
    /// Describes the clock's change, if the width alone causes it.
    pub fn clock(&self, site: &Site<'_>) -> Option<String> {
        let (before, after) = self.hip.clock;
        let same = self.hip.generation.0 == self.hip.generation.1;
        (same && before != after).then(|| {
            format!(
                "The port to PCIe has {} bits, so the hard IP's clock becomes {after} MHz ({before} MHz before): its \
                 whole clock domain, with {} and the host's bus, runs at that speed.",
                self.hip.port_bits, site.dma.name
            )
        })
    }

    /// Returns the tasks for a user outside the system.
    pub fn to_do(&self, site: &Site<'_>) -> Vec<String> {
        let hip = &self.hip;
        let name = &site.hip.name;
        let sequencer = match hip.soft_reset {
            true => {
                " The Timing Analyzer must find the registers of the reset sequencer (altpcie_rs_serdes), whose paths \
                 peerlane_pcie.sdc cuts."
            }
            false => "",
        };
        let mut to_do = vec![format!(
            "Quartus was not at hand: the hard IP's streaming variant ({}) was added by the description of Quartus \
             13.1, and no board has run with it. Open the system by `qsys-edit` in the board's directory, with the \
             variables of step 1 of README.md: Platform Designer must accept {name} and {} without an error or an \
             adapter between them.{sequencer} If it does not, report its message and the version of Quartus as an \
             issue of Peerlane; until then `kind = \"txs\"` in the configuration does without this variant.",
            hip.kind, site.dma.name
        )];
        if hip.generation.0 != hip.generation.1 {
            let (before, mhz) = hip.clock;
            let clock = match before == mhz {
                true => format!("{mhz} MHz, as before"),
                false => format!("{mhz} MHz (before {before} MHz)"),
            };
            to_do.push(format!(
                "PCIe becomes Gen{} from Gen{}, with {} bits: {name}.{RAW_CLOCK} has {clock}, and the device's speed \
                 grade must allow that (Stratix V Avalon-ST Interface for PCIe 683093, \"Recommended Speed Grades\"). \
                 The reference clock stays unchanged. Ask the board's maker whether its lanes and slot support 8 GT/s; \
                 lspci -vv prints the speed of the link.",
                hip.generation.1, hip.generation.0, hip.port_bits,
            ));
        }
        to_do.extend(gen3::to_do(site, hip));
        to_do
    }
}

/// Returns the task about the version of Quartus for a board that gets a TLP port, and so another hard IP.
pub(crate) fn step(site: &Site<'_>, sdk: &str, hip: Option<&HardIp>) -> Step {
    Step {
        to_do: (hip.and_then(|_| other_quartus(site, sdk)).into_iter()).collect(),
        ..Step::default()
    }
}

/// Returns the task for a user if a Quartus other than 13.1 compiles the board: the SDK's, or the hard IP's.
pub fn other_quartus(site: &Site<'_>, sdk: &str) -> Option<String> {
    let name = &site.hip.name;
    let of_hip = site.hip.element.attribute("version").unwrap_or(sdk);
    let is_other = |version: &&str| !version.starts_with("13.1");
    let (version, who) = match (Some(of_hip).filter(is_other), Some(sdk).filter(is_other)) {
        (Some(version), _) => (version, format!("{name} is of Quartus {version}")),
        (None, Some(sdk)) => (
            sdk,
            format!("The board is compiled with Quartus {sdk}, the version of its OpenCL SDK"),
        ),
        (None, None) => return None,
    };
    Some(format!(
        "{who}. {OWN_HIP} takes the hard IP's description from the installed Quartus, by the names that 13.1 and 18.1 \
         have. If the installed one, {version} or another, has other names, Platform Designer stops with \"Quartus's \
         description of the hard IP has no ..., as 13.1 has it\": report that line and the version as an issue of \
         Peerlane; until then `kind = \"txs\"` in the configuration does without these names."
    ))
}

/// Refuses every use of an interface that is removed.
fn interfaces(site: &Site<'_>, problems: &mut Problems) {
    let system = site.system;
    let own = |end: &&End| end.instance == site.hip.name;
    for connection in &system.connections {
        for end in [&connection.start, &connection.end]
            .iter()
            .copied()
            .filter(own)
        {
            let other = if *end == connection.start {
                &connection.end
            } else {
                &connection.start
            };
            problems.take(in_use(
                end,
                &format!("connected to {other}"),
                site.place(connection),
                false,
            ));
        }
    }
    for export in system.exports.iter().filter(|export| !export.stale) {
        if let Some(end) = export.internal.as_ref().filter(own) {
            let what = format!("exported as {}", export.name);
            let mut all = system.document.root.children("interface");
            let line = all.find(|one| one.attribute("name") == Some(&export.name));
            let place = line.map_or_else(
                || system.place(site.hip),
                |line| system.document.place(line),
            );
            problems.take(in_use(end, &what, place, true));
        }
    }
}

/// Refuses a master other than the host's for the block's registers, which are inside the block.
fn registers(site: &Site<'_>, path: &HostPath<'_>) -> Result<()> {
    let csr = End::new(&site.dma.name, "csr");
    let of_host = path.last().element.span.start;
    let mut all = site.system.of_kind("avalon").filter(|c| c.end == csr);
    let Some(other) = all.find(|c| c.element.span.start != of_host) else {
        return Ok(());
    };
    Err(site.unsupported(
        site.place(other),
        format!(
            "{} is a master of {csr} in addition to the host's, but with a TLP port the registers are inside the \
             block, and only the host reaches them",
            other.start
        ),
        remove_it(),
    ))
}

/// Refuses one interface that is in use, in the system or outside.
fn in_use(end: &End, how: &str, place: Place, outside: bool) -> Result<()> {
    let why = match fate(&end.interface) {
        Some(Fate::Stays) => return Ok(()),
        Some(Fate::Inside) if !outside => return Ok(()),
        Some(Fate::Inside) => "it is inside the block",
        Some(Fate::Gone(why)) => why,
        None => {
            return Err(Error::new(
                ErrorKind::Unsupported,
                place,
                format!(
                    "{end} is {how}, an interface that the hard IP of Quartus 13.1 to 16.0 does not have: its \
                     replacement with a TLP port is not known"
                ),
                remove_it(),
            ));
        }
    };
    Err(Error::new(
        ErrorKind::Unsupported,
        place,
        format!("{end} is {how}, but does not exist with a TLP port: {why}"),
        remove_it(),
    ))
}

/// Returns the kernels' interrupt; refuses further ones, except the DMA's.
fn kernel<'a>(site: &Site<'a>) -> Result<Option<&'a Connection>> {
    let senders: Vec<_> = other_senders(site.system, &site.hip.name, &site.dma.name).collect();
    let [_, second, ..] = senders.as_slice() else {
        return Ok(senders.first().copied());
    };
    let names: Vec<_> = senders.iter().map(|c| c.end.to_string()).collect();
    Err(site.unsupported(
        site.place(second),
        format!(
            "{} interrupts in addition to the DMA's at {}.{RXM_IRQ} ({}), but with a TLP port the block accepts only \
             one, the OpenCL kernel's",
            names.len(),
            site.hip.name,
            names.join(", ")
        ),
        remove_it(),
    ))
}
