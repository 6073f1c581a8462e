// SPDX-License-Identifier: MIT OR Apache-2.0
//! A region: memory of a peer that the board can reach through a run of ATT entries.

use super::att::{AttAddress, Permissions, Run};
use super::descriptor::Direction;
use super::extent::{Extent, Extents};
use super::layout::{Layout, Part};
use super::owners::Owners;
use core::fmt;

/// A registered range of peer memory.
#[derive(Debug)]
pub struct Region {
    run: Run,
    layout: Layout,
    permissions: Permissions,
    owners: Owners,
}

/// Reasons why a region cannot be made or used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionError {
    /// The run does not hold the entries that the layout needs.
    Entries {
        /// Entries of the run.
        run: u32,
        /// Entries of the layout.
        layout: u32,
    },
    /// The range is not inside the region.
    Bounds {
        /// First byte of the range.
        offset: u64,
        /// Bytes in the range.
        length: u64,
        /// Bytes in the region.
        region: u64,
    },
    /// The range is in pages of several sizes, so one descriptor cannot move it.
    Extent {
        /// First byte of the range.
        offset: u64,
        /// Bytes in the range.
        length: u64,
        /// Bytes from the first one on that one descriptor can move.
        extent: u64,
    },
    /// The region does not permit this direction.
    Permission {
        /// The direction that was tried.
        direction: Direction,
        /// Permissions of the region.
        permissions: Permissions,
    },
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries { run, layout } => write!(
                f,
                "a run of {run} ATT entries was taken for a layout of {layout}"
            ),
            Self::Bounds {
                offset,
                length,
                region,
            } => write!(
                f,
                "{length} bytes at offset {offset} do not lie in a region of {region} bytes"
            ),
            Self::Extent {
                offset,
                length,
                extent,
            } => write!(
                f,
                "{length} bytes at offset {offset} lie in pages of several sizes: one descriptor moves the first {extent} of them"
            ),
            Self::Permission { direction, .. } => f.write_str(match direction {
                Direction::FromFpga => "the region does not permit the board to write",
                Direction::ToFpga => "the region does not permit the board to read",
            }),
        }
    }
}

impl core::error::Error for RegionError {}

impl Region {
    /// Makes a region of a layout in a run of entries, for these channels. On failure the run is returned.
    pub fn new(
        run: Run,
        layout: &Layout,
        permissions: Permissions,
        owners: Owners,
    ) -> Result<Self, (Run, RegionError)> {
        if run.count() != layout.entries {
            let error = RegionError::Entries {
                run: run.count(),
                layout: layout.entries,
            };
            return Err((run, error));
        }
        Ok(Self {
            run,
            layout: *layout,
            permissions,
            owners,
        })
    }

    /// Returns its ATT entries.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the entries, when the hardware has invalidated them.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Returns the layout of its bytes in its entries.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns its length in bytes, at least 1.
    pub fn length(&self) -> u64 {
        self.layout.length
    }

    /// Returns the permissions of the board.
    pub fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// Returns the channels that may use it.
    pub fn owners(&self) -> Owners {
        self.owners
    }

    /// Gives it to other channels. The hardware uses the old channels until the entries are written again.
    pub fn set_owners(&mut self, owners: Owners) {
        self.owners = owners;
    }

    /// Checks whether the board may move `length` bytes at `offset` in this direction.
    pub fn check(&self, direction: Direction, offset: u64, length: u64) -> Result<(), RegionError> {
        let inside = offset
            .checked_add(length)
            .is_some_and(|end| end <= self.length());
        if !inside {
            return Err(RegionError::Bounds {
                offset,
                length,
                region: self.length(),
            });
        }
        let permitted = match direction {
            Direction::FromFpga => self.permissions.write(),
            Direction::ToFpga => self.permissions.read(),
        };
        if !permitted {
            return Err(RegionError::Permission {
                direction,
                permissions: self.permissions,
            });
        }
        Ok(())
    }

    /// Returns the extents of its bytes for the board. `None`: they do not fit in any possible table.
    pub fn extents(&self) -> Option<Extents> {
        let mut parts = self
            .layout
            .parts()
            .into_iter()
            .filter(|part| part.length > 0);
        let extent = |part: Part| {
            let first = self.run.first() + part.first;
            Some(Extent {
                address: AttAddress::new(part.page_size, first, part.first_offset)?,
                length: part.length,
            })
        };
        let first = parts.next().and_then(extent)?;
        Some(Extents::new(
            first,
            [0; 2].map(|_| parts.next().and_then(extent)),
        ))
    }

    /// Returns the ATT address of the byte at `offset`.
    pub fn att_address(&self, offset: u64) -> Result<AttAddress, RegionError> {
        self.place(offset, 1)
    }

    /// Returns the ATT address of the first of some bytes that one descriptor can move.
    pub fn place(&self, offset: u64, length: u64) -> Result<AttAddress, RegionError> {
        let from = self.extents().and_then(|extents| extents.from(offset));
        match from {
            Some(found) if length <= found.length => Ok(found.address),
            Some(found) if length <= self.length() - offset => Err(RegionError::Extent {
                offset,
                length,
                extent: found.length,
            }),
            _ => Err(RegionError::Bounds {
                offset,
                length,
                region: self.length(),
            }),
        }
    }

    /// Returns the offset of an ATT address in the region, if it is there.
    pub fn offset_of(&self, address: AttAddress) -> Option<u64> {
        self.extents()?.offset_of(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::att::{AttAllocator, PageSize};
    use std::vec;

    fn region(permissions: Permissions) -> Region {
        let mut att = AttAllocator::new(vec![0; 8], 256).unwrap();
        let _before = att.allocate(9).unwrap();
        let layout = Layout::uniform(PageSize::Kib64, 3, 0x100, 0x2_0000);
        let owners = Owners::channel(2);
        Region::new(att.allocate(3).unwrap(), &layout, permissions, owners).unwrap()
    }

    #[test]
    fn addresses_are_first_entry_plus_offset() {
        let region = region(Permissions::ReadWrite);
        let address = region.att_address(0x1_ff00).unwrap();
        assert_eq!(address.raw(), 1 << 62 | ((9 << 16) + 0x100 + 0x1_ff00));
        assert_eq!(region.offset_of(address), Some(0x1_ff00));
        assert!(region.att_address(0x2_0000).is_err());
        assert!(region.att_address(u64::MAX).is_err());
        // In the region's first page, but before its first byte.
        assert_eq!(
            region.offset_of(AttAddress::new(PageSize::Kib64, 9, 0).unwrap()),
            None
        );
        assert_eq!(
            region.offset_of(AttAddress::new(PageSize::Kib64, 11, 0x100).unwrap()),
            None
        );
    }

    #[test]
    fn a_mixed_region_has_an_extent_for_each_part() {
        let mut att = AttAllocator::new(vec![0; 8], 256).unwrap();
        let _before = att.allocate(9).unwrap();
        let layout = Layout {
            page_size: PageSize::Mib2,
            entries: 5,
            first_offset: 0xf00,
            length: 0x1100 + (4 << 20) + 7,
            head: 0x1100,
            tail: 7,
        };
        let run = att.allocate(5).unwrap();
        let region = Region::new(run, &layout, Permissions::Read, Owners::ALL).unwrap();
        let places = [
            (0, (PageSize::Kib4, 9, 0xf00)),
            (0x10ff, (PageSize::Kib4, 10, 0xfff)),
            (0x1100, (PageSize::Mib2, 11, 0)),
            (0x1100 + (4 << 20), (PageSize::Kib4, 13, 0)),
        ];
        for (offset, (page_size, entry, inner)) in places {
            let address = AttAddress::new(page_size, entry, inner).unwrap();
            assert_eq!(region.att_address(offset), Ok(address));
            assert_eq!(region.offset_of(address), Some(offset));
        }
        assert_eq!(region.place(0x1100, 4 << 20), region.att_address(0x1100));
        let crosses = region.place(0x10fe, 3);
        assert!(matches!(
            crosses,
            Err(RegionError::Extent { extent: 2, .. })
        ));
        let beyond = region.place(0x1100 + (4 << 20), 8);
        assert!(matches!(beyond, Err(RegionError::Bounds { .. })));
    }

    #[test]
    fn bounds_and_permissions_are_checked() {
        let region = region(Permissions::Write);
        assert_eq!(region.check(Direction::FromFpga, 0, 0x2_0000), Ok(()));
        assert!(matches!(
            region.check(Direction::FromFpga, 1, 0x2_0000),
            Err(RegionError::Bounds { .. })
        ));
        assert!(matches!(
            region.check(Direction::FromFpga, u64::MAX, 2),
            Err(RegionError::Bounds { .. })
        ));
        assert!(matches!(
            region.check(Direction::ToFpga, 0, 1),
            Err(RegionError::Permission { .. })
        ));
    }

    #[test]
    fn the_run_must_fit_the_layout() {
        let mut att = AttAllocator::new(vec![0; 8], 256).unwrap();
        let layout = Layout::uniform(PageSize::Kib4, 3, 0, 0x3000);
        let run = att.allocate(2).unwrap();
        let (run, error) = Region::new(run, &layout, Permissions::Read, Owners::ALL).unwrap_err();
        assert_eq!(error, RegionError::Entries { run: 2, layout: 3 });
        att.free(run).unwrap();
        assert_eq!(att.free_entries(), 256);
    }
}
