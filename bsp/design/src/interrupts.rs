//! MSI-X: the hard IP's settings, and the interrupts that the block takes over.
//!
//! The table is in the block, in the BAR. A message is a write through `Txs`, which keeps it after the data and the
//! completion record that were written before it. The function's Message Control register comes out of the hard IP on
//! `MSIX_Interface`. Its INTx request goes in on `INTX_Interface`, where the block keeps it inactive: a function
//! signals by one of them only.
//!
//! Sources: Stratix V Avalon-MM user guide 683411, "MSI and MSI-X Capabilities" and 4.6 "Interrupts for
//! Endpoints when Multiple MSI/MSI-X Support Is Enabled"; names of interfaces, roles and parameters from the
//! component of Quartus 13.1. Offsets are in bytes: the capability holds bits 31:3 of them.

use crate::qsys::{Connection, System};
use crate::site::Site;
use peerlane_bsp_generate::block;

/// The hard IP's interrupt input, which makes an MSI from a level.
pub const RXM_IRQ: &str = "RxmIrq";

/// Interfaces of the hard IP and of the block that belong together.
pub const CONDUITS: [(&str, &str); 2] = [
    ("MSIX_Interface", "msix_control"),
    ("INTX_Interface", "intx"),
];

/// The place of the MSI-X table.
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
    /// Returns the byte offset of the pending bits in the BAR.
    pub fn pending(&self) -> u64 {
        self.offset + u64::from(block::PBA_OFFSET)
    }

    /// Returns the hard IP's parameters, of the variant with Avalon-MM ports.
    pub fn settings(&self) -> Vec<(&'static str, u64)> {
        let mut settings = vec![("CG_ENABLE_ADVANCED_INTERRUPT", 1)];
        settings.extend(self.of_function());
        settings
    }

    /// Returns the parameters of the function's capability, which both variants have.
    pub fn of_function(&self) -> [(&'static str, u64); 6] {
        let bar = u64::from(self.bar);
        [
            ("enable_function_msix_support_hwtcl", 1),
            // The capability has the number of vectors less one.
            ("msix_table_size_hwtcl", u64::from(self.vectors) - 1),
            ("msix_table_bir_hwtcl", bar),
            ("msix_table_offset_hwtcl", self.offset),
            ("msix_pba_bir_hwtcl", bar),
            ("msix_pba_offset_hwtcl", self.pending()),
        ]
    }

    /// Returns the note on the vectors.
    pub fn note(&self, site: &Site<'_>, kernel: Option<&Connection>) -> String {
        let (dma, hip) = (&site.dma.name, &site.hip.name);
        let Self {
            bar,
            offset,
            vectors,
        } = self;
        let pending = self.pending();
        let kernel = kernel.map_or(String::new(), |kernel| {
            let end = &kernel.end;
            format!(" {end} interrupts through {dma} instead of {hip}.{RXM_IRQ}.")
        });
        format!(
            "Interrupts are MSI-X, {vectors} vectors: 0 for faults and refused doorbells, 1 for the OpenCL kernel, 2 + c \
             for channel c. The table is in BAR {bar} at {offset:#x}, its pending bits at {pending:#x}.{kernel}"
        )
    }

    /// Returns the notes for a capability in the hard IP's Avalon-MM variant.
    pub fn notes(&self, site: &Site<'_>, kernel: &Connection) -> [String; 2] {
        let (dma, hip) = (&site.dma.name, &site.hip.name);
        let Self { bar, offset, .. } = self;
        let pending = self.pending();
        [
            self.note(site, Some(kernel)),
            format!(
                "Not verified without Quartus and a board: that {hip} takes the table's offsets in bytes (`lspci -vv` \
                 must print \"Vector table: BAR={bar} offset={offset:08x}\" and \"PBA: BAR={bar} \
                 offset={pending:08x}\"), and that Platform Designer accepts the connections of {hip}.MSIX_Interface \
                 (16 bits: Message Control, bit 15 Enable, bit 14 Function Mask) and {hip}.INTX_Interface to {dma}. \
                 `irq = \"rxm\"` does not depend on this."
            ),
        ]
    }
}

/// Returns connections that start at the hard IP's interrupt input and do not end at the block.
pub fn other_senders<'a>(
    system: &'a System,
    hip: &'a str,
    block: &'a str,
) -> impl Iterator<Item = &'a Connection> {
    system.of_kind("interrupt").filter(move |c| {
        c.start.instance == hip && c.start.interface == RXM_IRQ && c.end.instance != block
    })
}
