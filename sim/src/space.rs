//! The block's slaves.

/// A 32-bit slave of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Control and status registers, 1 KiB.
    Csr,
    /// Channel pages, 4 KiB each.
    Chan,
    /// Address translation table.
    Att,
    /// MSI-X table and pending bits.
    Msix,
}

impl Space {
    pub(crate) const ALL: [Self; 4] = [Self::Csr, Self::Chan, Self::Att, Self::Msix];

    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Csr => "csr",
            Self::Chan => "chan",
            Self::Att => "att",
            Self::Msix => "msix",
        }
    }
}
