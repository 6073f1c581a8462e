//! Places of the block's slaves in the function's BAR.

use peerlane_hdl::{Irq, Params, Slaves};
use peerlane_sim::opencl::Offsets;
use peerlane_sim::{Board, Space};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Bytes of the window into FPGA memory (`s_nondma`).
const WINDOW_BYTES: u64 = 64 << 10;
/// Offset of the pending bits in the MSI-X slave (`peerlane_hdl`, `rtl::interrupts::msix`).
const PENDING_BITS: u64 = 0x800;

/// Offsets in bytes in one 64-bit memory BAR.
///
/// [`Layout::of`] is the layout that `peerlane extend` makes for Peerlane's reference BSP; `peerlane-report.md` in an
/// extended BSP has the offsets of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Number of the BAR: 0, 2 or 4, because a 64-bit BAR takes two.
    pub bar: u8,
    /// Bytes of the BAR, a power of two from 4 KiB to 2 GiB.
    pub size: u64,
    /// Whether the BAR says that it is prefetchable.
    pub prefetchable: bool,
    /// CSR, 1 KiB.
    pub csr: u64,
    /// Window into FPGA memory (`s_nondma`), 64 KiB; the CSR selects the part of the memory.
    pub window: Option<u64>,
    /// Channel pages, 4 KiB each.
    pub chan: u64,
    /// Address translation table, 8 bytes an entry.
    pub att: u64,
    /// MSI-X table and, at 0x800 in it, pending bits: 4 KiB. In builds with a table.
    pub msix: Option<u64>,
    /// The hard IP's `Cra`, 16 KiB, with its interrupt registers. With it a build without a table only interrupts as
    /// far as these are set, as on a board ([`peerlane_sim::opencl::Cra`] documents which transitions send a message).
    /// Without it every rising edge of the block's line is a message.
    #[serde(default)]
    pub cra: Option<u64>,
    /// The OpenCL kernels and their other parts.
    #[serde(default)]
    pub opencl: Option<OpenClLayout>,
}

/// Places of the OpenCL kernels' parts in the BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenClLayout {
    /// Kernel interface, 16 KiB.
    pub kernels: u64,
    /// Kernel clock, 2 KiB.
    pub clock: u64,
    /// Identity of the BSP, 16 bytes.
    #[serde(default)]
    pub version: Option<u64>,
    /// State of the memory's calibration, 16 bytes.
    #[serde(default)]
    pub status: Option<u64>,
    /// Temperature, 16 bytes.
    #[serde(default)]
    pub temperature: Option<u64>,
}

impl Layout {
    /// Returns the reference BSP's layout: BAR 2, registers at 0x3000, the hard IP's at 0x8000, the window at 0x10000,
    /// and from 0x20000 on the new slaves, each at the lowest multiple of its size.
    pub fn of(params: &Params) -> Self {
        let mut end = 0x2_0000_u64;
        let mut place = |bytes: u64| {
            let at = end.next_multiple_of(bytes);
            end = at + bytes;
            at
        };
        let chan = place(u64::from(params.channels) << 12);
        let att = place(8 << params.att_log2);
        let msix = (params.irq == Irq::Msix).then(|| place(4096));
        Self {
            bar: 2,
            size: end.next_power_of_two(),
            prefetchable: true,
            csr: 0x3000,
            window: Some(0x1_0000),
            chan,
            att,
            msix,
            cra: (params.irq == Irq::Rxm).then_some(0x8000),
            opencl: None,
        }
    }

    /// Adds the OpenCL side of the reference BSP, including the hard IP's `Cra`.
    #[must_use]
    pub fn with_opencl(self) -> Self {
        Self {
            cra: Some(0x8000),
            opencl: Some(OpenClLayout {
                kernels: 0x4000,
                clock: 0x2000,
                version: Some(0x3800),
                status: None,
                temperature: None,
            }),
            ..self
        }
    }

    /// Returns the places of the parts of the OpenCL side; `None`: there is none.
    pub(crate) fn offsets(&self) -> Option<Offsets> {
        let parts = self.opencl;
        let offsets = Offsets {
            cra: self.cra,
            kernels: parts.map(|parts| parts.kernels),
            clock: parts.map(|parts| parts.clock),
            version: parts.and_then(|parts| parts.version),
            status: parts.and_then(|parts| parts.status),
            temperature: parts.and_then(|parts| parts.temperature),
        };
        (offsets != Offsets::default()).then_some(offsets)
    }

    /// Returns the slaves as a block that is built for this layout knows them.
    pub fn slaves(&self) -> Slaves {
        Slaves {
            bar: self.bar.into(),
            csr: self.csr,
            chan: self.chan,
            att: self.att,
            msix: self.msix,
            window: self.window,
        }
    }

    /// Returns the offset of the MSI-X pending bits in the BAR.
    pub(crate) fn pending_bits(&self) -> Option<u64> {
        self.msix.map(|base| base + PENDING_BITS)
    }
}

/// The target of an offset of the BAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A slave of 32-bit registers, and the offset in it.
    Slave(Space, u64),
    /// The window into FPGA memory, and the offset in it.
    Window(u64),
    /// A part of the OpenCL side, and the offset in the BAR.
    OpenCl(u64),
    /// Nothing: reads give 0, writes are ignored, as in an Avalon interconnect.
    Nothing,
}

/// The layout with the sizes of the design's slaves.
#[derive(Debug)]
pub(crate) struct Map {
    /// First offset, bytes, and the target of that offset.
    ranges: Vec<(u64, u64, Place)>,
}

impl Map {
    /// Checks the layout against the design.
    ///
    /// # Errors
    /// [`Error::Layout`].
    pub(crate) fn new(layout: &Layout, board: &Board) -> Result<Self> {
        let bad = |message: String| Err(Error::Layout { message });
        if ![0, 2, 4].contains(&layout.bar) {
            return bad(format!("a 64-bit BAR cannot begin at BAR {}", layout.bar));
        }
        if !layout.size.is_power_of_two() || !(4096..=1 << 31).contains(&layout.size) {
            return bad(format!(
                "the size of the BAR, {:#x} bytes, is not a power of two from 4 KiB to 2 GiB",
                layout.size
            ));
        }
        let slaves = [
            (Some(layout.csr), Space::Csr),
            (Some(layout.chan), Space::Chan),
            (Some(layout.att), Space::Att),
            (layout.msix, Space::Msix),
        ];
        let mut ranges = Vec::new();
        for (base, space) in slaves {
            match (base, board.space_size(space)) {
                (None, 0) => {}
                (Some(base), bytes) if bytes > 0 => {
                    ranges.push((base, bytes, Place::Slave(space, 0)));
                }
                (None, _) => return bad(format!("the layout has no {space:?} slave")),
                (Some(_), _) => return bad(format!("the design has no {space:?} slave")),
            }
        }
        if layout.opencl.is_some() && layout.cra.is_none() && layout.msix.is_none() {
            return bad(
                "the kernels' interrupt is not connected: set `cra`, or build with an MSI-X table"
                    .to_owned(),
            );
        }
        if let Some(base) = layout.window {
            ranges.push((base, WINDOW_BYTES, Place::Window(0)));
        }
        if let Some(side) = board.opencl() {
            let parts = side.offsets().ranges();
            ranges.extend(parts.map(|(base, bytes, _)| (base, bytes, Place::OpenCl(base))));
        }
        ranges.sort_by_key(|range| range.0);
        let ends = ranges.iter().map(|(base, bytes, _)| base + bytes);
        let next = ranges.iter().skip(1).map(|range| range.0);
        for (end, next) in ends.zip(next.chain([layout.size])) {
            if end > next {
                return bad(format!(
                    "the range that ends at {end:#x} goes beyond {next:#x}, where another range \
                     begins or the BAR ends"
                ));
            }
        }
        Ok(Self { ranges })
    }

    /// Returns the target of an offset.
    pub(crate) fn locate(&self, offset: u64) -> Place {
        for (base, bytes, place) in &self.ranges {
            if let Some(at) = offset.checked_sub(*base)
                && at < *bytes
            {
                return match place {
                    Place::Slave(space, _) => Place::Slave(*space, at),
                    Place::OpenCl(_) => Place::OpenCl(offset),
                    _ => Place::Window(at),
                };
            }
        }
        Place::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_bsp() {
        // From the report of `peerlane extend` with `irq = "msix"`.
        let params = Params {
            irq: Irq::Msix,
            ..Params::default()
        };
        let layout = Layout::of(&params);
        assert_eq!(
            (layout.bar, layout.size, layout.csr),
            (2, 256 << 10, 0x3000)
        );
        assert_eq!((layout.chan, layout.att), (0x2_0000, 0x2_8000));
        assert_eq!(layout.msix, Some(0x3_0000));
        assert_eq!(layout.pending_bits(), Some(0x3_0800));
        assert_eq!(Layout::of(&Params::default()).msix, None);
    }

    #[test]
    fn the_reference_bsp_with_its_opencl_side() {
        let layout = Layout::of(&Params::default());
        assert_eq!(layout.offsets().unwrap().kernels, None);
        let offsets = layout.with_opencl().offsets().unwrap();
        // From the base addresses in the reference BSP's system.
        let places = [offsets.clock, offsets.version, offsets.kernels, offsets.cra];
        assert_eq!(places, [0x2000, 0x3800, 0x4000, 0x8000].map(Some));
    }

    #[test]
    fn larger_slaves_are_aligned_to_their_size() {
        let layout = Layout::of(&Params {
            channels: 64,
            att_log2: 16,
            ..Params::default()
        });
        assert_eq!((layout.chan, layout.att), (0x4_0000, 0x8_0000));
        assert_eq!(layout.size, 1 << 20);
    }
}
