//! Memory blocks of device families, on which the size of the block depends.

use serde::Serialize;

/// The memory blocks of a device family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Blocks {
    /// 20,480 bits (Stratix V, Arria V GZ).
    #[serde(rename = "M20K")]
    M20k,
    /// 10,240 bits (Cyclone V, the other Arria V).
    #[serde(rename = "M10K")]
    M10k,
}

/// Width and depth of a memory.
type Shape = (u64, u64);

impl Blocks {
    /// Returns the handbooks' name.
    pub fn name(self) -> &'static str {
        match self {
            Self::M20k => "M20K",
            Self::M10k => "M10K",
        }
    }

    /// Returns the shapes of one block with one write port and one read port (Stratix V Device Handbook, volume 1,
    /// "Embedded Memory Blocks in Stratix V Devices", "Embedded Memory Configurations"; Cyclone V Device Handbook,
    /// volume 1, "Embedded Memory Blocks in Cyclone V Devices", the same section).
    pub fn shapes(self) -> &'static [Shape] {
        match self {
            Self::M20k => &[
                (40, 512),
                (20, 1024),
                (10, 2048),
                (5, 4096),
                (2, 8192),
                (1, 16384),
            ],
            Self::M10k => &[
                (40, 256),
                (20, 512),
                (10, 1024),
                (5, 2048),
                (2, 4096),
                (1, 8192),
            ],
        }
    }

    /// Returns the shapes of a logic array block that is used as memory (MLAB), 640 bits (the same sections). Only the
    /// families with M20K have the deep one.
    pub fn mlab_shapes(self) -> &'static [Shape] {
        match self {
            Self::M20k => &[(20, 32), (10, 64)],
            Self::M10k => &[(20, 32)],
        }
    }
}
