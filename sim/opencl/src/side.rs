//! The parts of one board, at their offsets in its BAR.

use serde::{Deserialize, Serialize};

use crate::cra::Cra;

/// Where the parts lie in the BAR, in bytes. A part without an offset is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Offsets {
    /// The hard IP's `Cra`, 16 KiB.
    pub cra: Option<u64>,
}

/// A part of the OpenCL side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The hard IP's interrupt registers.
    Cra,
}

/// Accesses to a part, a dword each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Accesses {
    /// Dwords read.
    pub reads: u64,
    /// Dwords written, whole or in part.
    pub writes: u64,
}

impl Offsets {
    /// First offset, bytes, and part, of what is there.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64, Part)> + use<> {
        let ranges = [(self.cra, Cra::BYTES, Part::Cra)];
        ranges
            .into_iter()
            .filter_map(|(base, bytes, part)| Some((base?, bytes, part)))
    }
}

/// The bits of a dword whose byte is enabled.
pub(crate) fn mask(lanes: u8) -> u32 {
    (0..4)
        .filter(|lane| lanes >> lane & 1 == 1)
        .fold(0, |mask, lane| mask | 0xFF << (8 * lane))
}

/// The OpenCL side of a board.
#[derive(Debug, Clone)]
pub struct OpenClSide {
    offsets: Offsets,
    cra: Option<Cra>,
    counts: [Accesses; 1],
}

impl OpenClSide {
    /// A side with the parts that have an offset.
    pub fn new(offsets: Offsets) -> Self {
        Self {
            offsets,
            cra: offsets.cra.map(|_| Cra::new()),
            counts: Default::default(),
        }
    }

    /// Where the parts are.
    pub fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// The part at an offset of the BAR, and the offset in it.
    pub fn part(&self, offset: u64) -> Option<(Part, u64)> {
        self.offsets.ranges().find_map(|(base, bytes, part)| {
            let at = offset.checked_sub(base)?;
            (at < bytes).then_some((part, at))
        })
    }

    /// Reads the dword at an offset of the BAR, a multiple of 4. Where no part is, it is 0, as of an Avalon
    /// interconnect without a slave there.
    pub fn read(&mut self, offset: u64) -> u32 {
        let Some((part, at)) = self.part(offset) else {
            return 0;
        };
        self.counts[part as usize].reads += 1;
        match part {
            Part::Cra => self.cra.as_ref().map_or(0, |cra| cra.read(at)),
        }
    }

    /// Writes the bytes of a dword whose bit in `lanes` is set. Where no part is, nothing happens.
    pub fn write(&mut self, offset: u64, value: u32, lanes: u8) {
        let Some((part, at)) = self.part(offset) else {
            return;
        };
        self.counts[part as usize].writes += 1;
        match part {
            Part::Cra => {
                if let Some(cra) = &mut self.cra {
                    cra.write(at, value, lanes);
                }
            }
        }
    }

    /// The hard IP's interrupt registers.
    pub fn cra_mut(&mut self) -> Option<&mut Cra> {
        self.cra.as_mut()
    }

    /// Accesses to a part.
    pub fn accesses(&self, part: Part) -> Accesses {
        self.counts[part as usize]
    }

    /// Level of the kernels' interrupt.
    pub fn kernel_irq(&self) -> bool {
        false
    }

    /// A reset of the PCIe hard IP.
    pub fn reset_hard_ip(&mut self) {
        if let Some(cra) = &mut self.cra {
            cra.reset();
        }
    }
}
