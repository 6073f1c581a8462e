//! MSI-X: what the hard IP is set to, and which of its interrupts the block takes over.
//!
//! The table is in the block, behind the BAR; a message is a write through `Txs`, which keeps it behind the
//! data and the completion record written before it. The function's Message Control register comes out of the
//! hard IP on `MSIX_Interface`, and its INTx request goes in on `INTX_Interface`, where the block holds it
//! off: a function signals by one of them only.
//!
//! Sources: Stratix V Avalon-MM user guide 683411, "MSI and MSI-X Capabilities" and 4.6 "Interrupts for
//! Endpoints when Multiple MSI/MSI-X Support Is Enabled"; names of interfaces, roles and parameters from the
//! component of Quartus 13.1. Offsets are in bytes: the capability holds bits 31:3 of them.

use crate::block;
use crate::config::{Config, Irq};
use crate::error::Result;
use crate::extend::site::Site;
use crate::qsys::{Connection, End, System};

/// Kinds of the hard IP whose exported interrupt interfaces are known; they share one description.
const KINDS: [&str; 2] = ["altera_pcie_sv_hip_avmm", "altera_pcie_avgz_hip_avmm"];

/// The hard IP's interrupt input, which makes MSI of a level.
pub const RXM_IRQ: &str = "RxmIrq";

/// Interfaces of the hard IP and of the block that belong together.
pub const CONDUITS: [(&str, &str); 2] = [
    ("MSIX_Interface", "msix_control"),
    ("INTX_Interface", "intx"),
];

/// Where the MSI-X table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Number of the BAR.
    pub bar: u32,
    /// Byte offset in it.
    pub offset: u64,
    /// Vectors.
    pub vectors: u32,
}

impl Table {
    /// Byte offset of the pending bits in the BAR.
    pub fn pending(&self) -> u64 {
        self.offset + u64::from(block::PBA_OFFSET)
    }

    /// The hard IP's parameters.
    pub fn settings(&self) -> [(&'static str, u64); 7] {
        let bar = u64::from(self.bar);
        [
            ("CG_ENABLE_ADVANCED_INTERRUPT", 1),
            ("enable_function_msix_support_hwtcl", 1),
            // The capability counts from 0.
            ("msix_table_size_hwtcl", u64::from(self.vectors) - 1),
            ("msix_table_bir_hwtcl", bar),
            ("msix_table_offset_hwtcl", self.offset),
            ("msix_pba_bir_hwtcl", bar),
            ("msix_pba_offset_hwtcl", self.pending()),
        ]
    }

    /// What a person should know.
    pub fn notes(&self, site: &Site<'_>, kernel: &Connection) -> [String; 2] {
        let (dma, hip) = (&site.dma.name, &site.hip.name);
        let Self {
            bar,
            offset,
            vectors,
        } = self;
        let pending = self.pending();
        [
            format!(
                "Interrupts are MSI-X, {vectors} vectors: 0 for faults and refused doorbells, 1 for the \
                 OpenCL kernel, 2 + c for channel c. The table is in BAR {bar} at {offset:#x}, its pending \
                 bits at {pending:#x}. {} interrupts through {dma} instead of {hip}.{RXM_IRQ}.",
                kernel.end
            ),
            format!(
                "Not verified without Quartus and a board: that {hip} takes the table's offsets in bytes \
                 (`lspci -vv` must say \"Vector table: BAR={bar} offset={offset:08x}\" and \"PBA: BAR={bar} \
                 offset={pending:08x}\"), and that Platform Designer takes the connections of \
                 {hip}.MSIX_Interface (16 bits: Message Control, bit 15 Enable, bit 14 Function Mask) and \
                 {hip}.INTX_Interface to {dma}. `irq = \"rxm\"` needs none of this."
            ),
        ]
    }
}

/// Connections that start at the hard IP's interrupt input and end elsewhere than at the block.
pub fn other_senders<'a>(
    system: &'a System,
    hip: &'a str,
    block: &'a str,
) -> impl Iterator<Item = &'a Connection> {
    system.of_kind("interrupt").filter(move |c| {
        c.start.instance == hip && c.start.interface == RXM_IRQ && c.end.instance != block
    })
}

/// The connection of the OpenCL kernel's interrupt, which the block takes over; `None` without MSI-X.
///
/// # Errors
/// [`crate::error::ErrorKind::Unsupported`] if the hard IP is not known to have MSI-X, or has it in use, or
/// an interrupt would be left without a vector.
pub fn kernel<'a>(site: &Site<'a>, config: &Config) -> Result<Option<&'a Connection>> {
    const STAY: &str = "Set irq = \"rxm\" in the configuration, which leaves the hard IP's interrupts \
                        as they are.";
    if config.irq == Irq::Rxm {
        return Ok(None);
    }
    let (system, hip) = (site.system, site.hip);
    let refuse = |what: String| Err(site.unsupported(system.place(hip), what, STAY));
    if !KINDS.contains(&hip.kind.as_str()) {
        return refuse(format!(
            "irq = \"msix\" needs to know which interrupt interfaces {} (kind {}) exports; that is known of \
             {} only",
            hip.name,
            hip.kind,
            KINDS.join(" and ")
        ));
    }
    for name in [
        "enable_function_msix_support_hwtcl",
        "CG_ENABLE_ADVANCED_INTERRUPT",
    ] {
        if hip.number(name).is_some_and(|value| value != 0) {
            return refuse(format!(
                "{name} of {} is on already: something else in the BSP has its MSI-X",
                hip.name
            ));
        }
    }
    for interface in CONDUITS
        .map(|(of_hip, _)| of_hip)
        .into_iter()
        .chain([RXM_IRQ])
    {
        if let Some(export) = system.exported(&hip.name, Some(interface)) {
            return refuse(format!(
                "{}.{interface} is exported as {}: an interrupt from outside would have no vector",
                hip.name, export.name
            ));
        }
    }
    let senders: Vec<_> = other_senders(system, &hip.name, &site.dma.name).collect();
    match senders.as_slice() {
        [one] => Ok(Some(one)),
        [] => refuse(format!(
            "the OpenCL kernel's interrupt is not connected to {}.{RXM_IRQ}, and would have no vector",
            hip.name
        )),
        [_, second, ..] => {
            let names: Vec<_> = senders.iter().map(|c| c.end.to_string()).collect();
            Err(site.unsupported(
                site.place(second),
                format!(
                    "{} interrupts beside the DMA's at {}.{RXM_IRQ} ({}), but the block has one vector for \
                     the OpenCL kernel's",
                    names.len(),
                    hip.name,
                    names.join(", ")
                ),
                STAY,
            ))
        }
    }
}

/// Whether a connection joins two interfaces, in either order.
pub fn joins(connection: &Connection, one: &End, other: &End) -> bool {
    let ends = (&connection.start, &connection.end);
    ends == (one, other) || ends == (other, one)
}
