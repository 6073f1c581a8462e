// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extents: where the bytes of a region are for the board.

use super::att::AttAddress;
use super::layout::PARTS;
use super::uapi::Register;

/// Bytes whose ATT addresses follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The ATT address of the first byte.
    pub address: AttAddress,
    /// Bytes.
    pub length: u64,
}

/// The extents of a region, or of a part of one, in the order of its bytes. A descriptor moves bytes of one extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extents {
    first: Extent,
    rest: [Option<Extent>; PARTS - 1],
}

impl Extents {
    /// Makes one extent, and others after it.
    pub fn new(first: Extent, rest: [Option<Extent>; PARTS - 1]) -> Self {
        Self { first, rest }
    }

    /// Makes one extent with all bytes.
    pub fn one(address: AttAddress, length: u64) -> Self {
        Self::new(Extent { address, length }, [None; PARTS - 1])
    }

    /// Returns the extents, none of which but the first can be empty.
    pub fn iter(&self) -> impl Iterator<Item = Extent> + Clone + use<> {
        let rest = self.rest.into_iter().flatten();
        core::iter::once(self.first).chain(rest)
    }

    /// Returns the ATT address of the first byte.
    pub fn first(&self) -> AttAddress {
        self.first.address
    }

    /// Returns the ATT address of the first byte, if one extent has all. `Err`: the bytes of the first one.
    pub fn one_extent(&self) -> Result<AttAddress, u64> {
        match self.rest[0] {
            None => Ok(self.first.address),
            Some(_) => Err(self.first.length),
        }
    }

    /// Returns the bytes from `offset` to the end of their extent. `None`: there are no such bytes.
    pub fn from(&self, offset: u64) -> Option<Extent> {
        let mut left = offset;
        for Extent { address, length } in self.iter() {
            if left < length {
                return Some(Extent {
                    address: address.checked_add(left)?,
                    length: length - left,
                });
            }
            left -= length;
        }
        None
    }

    /// Returns some of the bytes. `None`: the range is empty, or not all of it is here.
    pub fn part(&self, offset: u64, length: u64) -> Option<Self> {
        let end = offset.checked_add(length)?;
        let mut at = 0;
        let mut parts = self.iter().filter_map(|extent| {
            let start = at;
            at += extent.length;
            let (from, to) = (start.max(offset), at.min(end));
            (from < to).then(|| (extent.address, from - start, to - from))
        });
        let mut next = || {
            let (address, from, length) = parts.next()?;
            Some(Extent {
                address: address.checked_add(from)?,
                length,
            })
        };
        let part = Self {
            first: next()?,
            rest: [next(), next()],
        };
        let found: u64 = part.iter().map(|extent| extent.length).sum();
        (found == length).then_some(part)
    }

    /// Returns the offset of an ATT address in the bytes.
    pub fn offset_of(&self, address: AttAddress) -> Option<u64> {
        let mut start = 0;
        for extent in self.iter() {
            let offset = address.offset_from(extent.address);
            if let Some(offset) = offset.filter(|offset| *offset < extent.length) {
                return Some(start + offset);
            }
            start += extent.length;
        }
        None
    }
}

impl Register {
    /// Writes the places of the region's bytes to the structure.
    pub fn set_extents(&mut self, extents: &Extents) {
        let raw = |extent: &Option<Extent>| {
            extent.map_or((0, 0), |extent| (extent.address.raw(), extent.length))
        };
        self.att_address = extents.first().raw();
        (self.second_att_address, self.second_length) = raw(&extents.rest[0]);
        (self.third_att_address, self.third_length) = raw(&extents.rest[1]);
    }

    /// Returns the places of the region's bytes. `None`: no driver reports such values.
    pub fn extents(&self) -> Option<Extents> {
        let extent = |raw, length| {
            let address = AttAddress::from_raw(raw)?;
            address.checked_add(length - 1)?;
            Some(Extent { address, length })
        };
        let rest = [
            (self.second_att_address, self.second_length),
            (self.third_att_address, self.third_length),
        ];
        let more = self.second_length.checked_add(self.third_length)?;
        let first = self.length.checked_sub(more).filter(|bytes| *bytes > 0)?;
        let first = extent(self.att_address, first)?;
        let mut others = [None; PARTS - 1];
        for (other, (raw, length)) in others.iter_mut().zip(rest) {
            if length > 0 {
                *other = Some(extent(raw, length)?);
            }
        }
        Some(Extents::new(first, others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::att::PageSize;

    fn at(page_size: PageSize, entry: u32, offset: u64) -> AttAddress {
        AttAddress::new(page_size, entry, offset).unwrap()
    }

    /// Makes 100 bytes in a page of 4 KiB, 3 MiB in pages of 2 MiB, 10 bytes in a page of 4 KiB.
    fn extents() -> Extents {
        let extent = |address, length| Extent { address, length };
        Extents::new(
            extent(at(PageSize::Kib4, 5, 4096 - 100), 100),
            [
                Some(extent(at(PageSize::Mib2, 6, 0), 3 << 20)),
                Some(extent(at(PageSize::Kib4, 8, 0), 10)),
            ],
        )
    }

    #[test]
    fn bytes_are_found_both_ways() {
        let extents = extents();
        let length = 110 + (3 << 20);
        let places = [
            (0, at(PageSize::Kib4, 5, 4096 - 100), 100),
            (99, at(PageSize::Kib4, 5, 4095), 1),
            (100, at(PageSize::Mib2, 6, 0), 3 << 20),
            (101 + (2 << 20), at(PageSize::Mib2, 7, 1), (1 << 20) - 1),
            (length - 1, at(PageSize::Kib4, 8, 9), 1),
        ];
        for (offset, address, length) in places {
            assert_eq!(extents.from(offset), Some(Extent { address, length }));
            assert_eq!(extents.offset_of(address), Some(offset));
        }
        assert_eq!(extents.from(length), None);
        assert_eq!(extents.from(u64::MAX), None);
        for other in [
            at(PageSize::Kib4, 5, 4096 - 101),
            at(PageSize::Kib4, 6, 0),
            at(PageSize::Mib2, 7, 1 << 20),
            at(PageSize::Kib4, 8, 10),
        ] {
            assert_eq!(extents.offset_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_part_is_cut_at_both_ends() {
        let all = extents();
        let length = 110 + (3 << 20);
        assert_eq!(all.part(0, length), Some(all));
        let cases = [
            (0, 1),
            (99, 2),
            (100, 3 << 20),
            (50, 60 + (3 << 20)),
            (length - 1, 1),
        ];
        for (offset, bytes) in cases {
            let part = all.part(offset, bytes).unwrap();
            for at in [0, 1, 49, 50, 51, bytes - 1] {
                let whole = all.from(offset + at).map(|extent| extent.address);
                let whole = whole.filter(|_| at < bytes);
                assert_eq!(part.from(at).map(|extent| extent.address), whole);
            }
        }
        for (offset, bytes) in [(0, 0), (0, length + 1), (length, 1), (1, u64::MAX)] {
            assert_eq!(all.part(offset, bytes), None);
        }
    }

    #[test]
    fn a_registration_carries_them() {
        let mut register = Register {
            length: 110 + (3 << 20),
            ..Default::default()
        };
        register.set_extents(&extents());
        assert_eq!(register.extents(), Some(extents()));
        let wrong: [fn(&mut Register); 4] = [
            |register| register.att_address = 3 << 62,
            |register| register.third_att_address = 3 << 62,
            |register| register.third_length = u64::MAX,
            |register| register.length -= 100,
        ];
        for change in wrong {
            let mut changed = register;
            change(&mut changed);
            assert_eq!(changed.extents(), None);
        }
        register.set_extents(&Extents::one(at(PageSize::Kib64, 1, 2), register.length));
        let one = Extents::one(at(PageSize::Kib64, 1, 2), register.length);
        assert_eq!(register.extents(), Some(one));
    }
}
