//! Facts from public documents about kinds of components that no file of the BSP composes.

use crate::extent::Extent;
use crate::qsys::Module;
use peerlane_bsp_generate::block;
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::roles::{NEW_DMA, OLD_DMA};

/// Widths of data that Avalon-MM allows (Avalon Interface Specifications 683091, "Avalon Memory Mapped Interface
/// Signal Roles").
const WIDTHS: std::ops::RangeInclusive<u64> = 8..=1024;

/// Reports whether a kind is a PCIe hard IP with an Avalon-MM interface, of any device family.
pub fn is_pcie_hip(kind: &str) -> bool {
    kind.starts_with("altera_pcie_") && kind.ends_with("_hip_avmm")
}

/// The hard IP's variant with an Avalon-ST interface.
pub const STREAMING_HIP: &str = "altera_pcie_sv_hip_ast";

/// Peerlane's own component of that variant, for boards for which Quartus's is not enough.
pub const OWN_HIP: &str = "peerlane_pcie_hip";

/// Reports whether a kind is a PCIe hard IP with an Avalon-ST interface, which a block with a TLP port uses.
pub fn is_streaming_hip(kind: &str) -> bool {
    [STREAMING_HIP, OWN_HIP].contains(&kind)
}

/// Reports whether a kind only passes transfers on, so that it can be removed when it is unused.
pub fn is_bridge(kind: &str) -> bool {
    matches!(
        kind,
        "altera_avalon_mm_bridge" | "altera_avalon_mm_clock_crossing_bridge" | "dma_pcie_bridge"
    )
}

/// Reports whether a kind is a bridge that passes on its whole address space.
pub(super) fn is_plain_bridge(kind: &str) -> bool {
    matches!(
        kind,
        "altera_avalon_mm_bridge" | "altera_avalon_mm_clock_crossing_bridge"
    )
}

/// Reports whether a bridge derives its address width from its slaves.
pub fn is_automatic(module: &Module) -> bool {
    matches!(
        module.parameter("USE_AUTO_ADDRESS_WIDTH"),
        Some("1" | "true")
    )
}

/// Returns the bytes that a bridge with its own width (`ADDRESS_WIDTH`) passes on.
pub(super) fn bridge_bytes(module: &Module) -> Option<u128> {
    let bits = module.number("ADDRESS_WIDTH")?;
    // Addresses have at most 64 bits.
    let steps = 1u128 << u32::try_from(bits).ok().filter(|&bits| bits <= 64)?;
    Some(steps * u128::from(bridge_unit(module)))
}

/// Returns the bytes of one step of a bridge's address.
pub fn bridge_unit(module: &Module) -> u64 {
    match module.parameter("ADDRESS_UNITS") {
        Some("WORDS") => {
            let bits = module
                .number("DATA_WIDTH")
                .filter(|bits| WIDTHS.contains(bits));
            bits.unwrap_or(32) / 8
        }
        _ => 1,
    }
}

/// The source of a span of the SDK's components.
const GENERATED: &str = "a system that Quartus 18.1 generated (.sopcinfo)";

pub(super) fn known_extent(
    module: &Module,
    interface: &str,
    block: Option<&Config>,
) -> Option<Extent> {
    let bits = |name: &str| module.number(name).filter(|&b| b <= 64).map(|b| 1u128 << b);
    let kind = module.kind.as_str();
    let extent = match (kind, interface) {
        ("altera_avalon_mm_bridge" | "altera_avalon_mm_clock_crossing_bridge", "s0") => {
            Extent::exact(bridge_bytes(module)?, "the bridge's ADDRESS_WIDTH")
        }
        ("altera_address_span_extender", "windowed_slave") => {
            let width = module.number("DATA_WIDTH").filter(|w| WIDTHS.contains(w))?;
            let bytes = u128::from(width / 8);
            Extent::exact(
                bits("SLAVE_ADDRESS_WIDTH")? * bytes,
                "the extender's SLAVE_ADDRESS_WIDTH",
            )
        }
        ("altera_avalon_onchip_memory2", "s1" | "s2") => Extent::exact(
            module.number("memorySize")?.into(),
            "the memory's memorySize",
        ),
        // The span of a bank divider, its whole memory, is given by its byte address width.
        ("acl_memory_bank_divider", "s") => {
            Extent::exact(bits("ADDRESS_WIDTH")?, "the divider's ADDRESS_WIDTH")
        }
        // Stratix V Avalon-MM user guide 683411, "Control Register Access": 14 address bits.
        (kind, "Cra") if is_pcie_hip(kind) => Extent::exact(0x4000, "the hard IP's CRA, 16 KiB"),
        (kind, "Txs") if is_pcie_hip(kind) => txs_extent(module)?,
        ("acl_kernel_clk", "ctrl") => Extent::exact(0x800, GENERATED),
        ("kernel_interface", "ctrl") => Extent::exact(0x4000, GENERATED),
        ("version_id" | "uniphy_status", "s") => Extent::exact(4, GENERATED),
        // The public BAR map of these BSPs puts the next slave this far away.
        ("temperature", "s") => bounded(0x10),
        (OLD_DMA, "csr") => Extent::exact(0x400, "acl_dma's CSR, 1 KiB"),
        (OLD_DMA | NEW_DMA, "s_nondma") => Extent::exact(0x1_0000, "the DMA window, 64 KiB"),
        (NEW_DMA, "csr") => Extent::exact(block::CSR_BYTES.into(), "peerlane_dma's CSR"),
        (NEW_DMA, "chan") => Extent::exact(block?.chan_bytes().into(), "peerlane_dma's channels"),
        (NEW_DMA, "att") => {
            Extent::exact(block?.att_bytes().into(), "peerlane_dma's address table")
        }
        (NEW_DMA, "Cra") => Extent::exact(
            block::stream::CRA_BYTES.into(),
            "peerlane_dma, in place of the hard IP's CRA",
        ),
        (NEW_DMA, "msix") => Extent::exact(
            peerlane_bsp_generate::config::MSIX_BYTES.into(),
            "peerlane_dma's interrupt vectors, with their pending bits",
        ),
        _ => return None,
    };
    Some(extent)
}

fn bounded(most: u128) -> Extent {
    Extent {
        least: 4,
        most: Some(most),
        source: "the public BAR map of these BSPs".into(),
    }
}

fn txs_extent(module: &Module) -> Option<Extent> {
    let width = module.number("TX_S_ADDR_WIDTH")?;
    if width == 64 {
        return Some(Extent::exact(1 << 64, "Txs with 64 address bits"));
    }
    let entries = u128::from(module.number("CB_A2P_ADDR_MAP_NUM_ENTRIES")?);
    let page = module
        .number("CB_A2P_ADDR_MAP_PASS_THRU_BITS")
        .filter(|&b| b <= 32)?;
    Some(Extent::exact(
        entries << page,
        "the hard IP's translated pages",
    ))
}

/// Reports whether Quartus includes a kind. Its own kinds usually have these prefixes; the others are components of
/// Quartus 13.1 to 18.1 that BSPs use.
pub fn comes_with_quartus(kind: &str) -> bool {
    const PREFIXES: [&str; 4] = ["altera_", "alt_", "altpcie_", "intel_"];
    const OTHERS: [&str; 11] = [
        "altpll",
        "clock_source",
        "channel_adapter",
        "data_format_adapter",
        "demultiplexer",
        "error_adapter",
        "interrupt_latency",
        "multiplexer",
        "sysid",
        "timing_adapter",
        "timing_bridge",
    ];
    PREFIXES.iter().any(|prefix| kind.starts_with(prefix)) || OTHERS.contains(&kind)
}
