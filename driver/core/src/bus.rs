// SPDX-License-Identifier: MIT OR Apache-2.0
//! Meaning of a bus address that an exporter of peer memory gives.
//!
//! An exporter maps its memory for the importer's device and gives the addresses that this device must use. Some give
//! physical addresses of their BAR instead, to every importer (NVIDIA/open-gpu-kernel-modules, issue 1324). Where an
//! IOMMU translates for the importer, such an address leads nowhere, or to other memory.

/// Ways of the importer's requests to a BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// By a switch that does not redirect them: no IOMMU sees them, and the kernel, too, uses the BAR's own address
    /// (`PCI_P2PDMA_MAP_BUS_ADDR` in Linux' `include/linux/pci-p2pdma.h`).
    Switch,
    /// By the importer's own host bridge. No address that is mapped for the importer is in the windows of that bridge
    /// (`iova_reserve_pci_windows` in Linux' `drivers/iommu/dma-iommu.c`).
    OwnBridge,
    /// By another host bridge, whose windows may contain mapped addresses.
    OtherBridge,
}

/// Destinations to which the IOMMU leads a request of the importer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Nowhere: nothing is mapped at the address.
    Nothing,
    /// To a BAR of the exporter's.
    Bar,
    /// Elsewhere.
    Elsewhere,
}

/// Treatment of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It is the address that the importer's device must use.
    Mapped,
    /// It is a physical address, and must be mapped for the importer's device.
    Physical,
    /// It may be either. Used as it is, it might reach other memory.
    Unclear,
}

/// Returns the meaning of an address that an exporter gave.
///
/// - `translated`: an IOMMU translates for the importer's device.
/// - `bar`: how the importer would reach the BAR that has this physical address: of any device below its own host
///   bridge, of the exporter's devices below others. `None`: no BAR has it.
/// - `leads_to`: where the IOMMU leads a request to the address. It is called only where the address alone does not
///   decide.
///
/// An address that no BAR has was mapped by the exporter. One in a BAR below the importer's own bridge was not, for
/// such addresses are never given out. Below another bridge it may be both by chance. If nothing is mapped there, it
/// is physical. If it leads to the exporter's BAR, it is mapped. If it leads elsewhere, it leads to memory of the
/// exporter outside of a BAR, or to memory that was mapped for others.
pub fn meaning(translated: bool, bar: Option<Route>, leads_to: impl FnOnce() -> Target) -> Meaning {
    match bar {
        _ if !translated => Meaning::Mapped,
        None | Some(Route::Switch) => Meaning::Mapped,
        Some(Route::OwnBridge) => Meaning::Physical,
        Some(Route::OtherBridge) => match leads_to() {
            Target::Nothing => Meaning::Physical,
            Target::Bar => Meaning::Mapped,
            Target::Elsewhere => Meaning::Unclear,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unasked() -> Target {
        panic!("the IOMMU was asked")
    }

    #[test]
    fn without_a_translation_every_address_is_taken() {
        for bar in [
            None,
            Some(Route::Switch),
            Some(Route::OwnBridge),
            Some(Route::OtherBridge),
        ] {
            assert_eq!(meaning(false, bar, unasked), Meaning::Mapped);
        }
    }

    #[test]
    fn a_bar_s_address_is_physical_where_none_is_mapped_so() {
        assert_eq!(
            meaning(true, Some(Route::OwnBridge), unasked),
            Meaning::Physical
        );
        assert_eq!(meaning(true, Some(Route::Switch), unasked), Meaning::Mapped);
        assert_eq!(meaning(true, None, unasked), Meaning::Mapped);
    }

    #[test]
    fn an_address_that_only_looks_like_a_bar_s_is_told_by_where_it_leads() {
        let other = |target| meaning(true, Some(Route::OtherBridge), || target);
        assert_eq!(other(Target::Nothing), Meaning::Physical);
        assert_eq!(other(Target::Bar), Meaning::Mapped);
        assert_eq!(other(Target::Elsewhere), Meaning::Unclear);
    }
}
