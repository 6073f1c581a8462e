//! I/O virtual addresses: the addresses at which a board sees memory.

/// Bytes of a page of the IOMMU.
pub(super) const PAGE: u64 = 4096;

/// The largest alignment of a mapping: that of the IOMMU's largest pages.
const LARGEST: u64 = 1 << 30;

/// Free I/O virtual addresses, in ascending order: first byte, and the first byte after each range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Iovas(Vec<(u64, u64)>);

impl Iovas {
    /// Makes an allocator of the ranges that an IOMMU maps, without those of `used`; first and last byte of each. Only
    /// addresses from `first` on are used, with as many `bits` as the board's port has.
    pub(super) fn new(ranges: &[(u64, u64)], used: &[(u64, u64)], first: u64, bits: u32) -> Self {
        let most = 1_u64.checked_shl(bits).map_or(u64::MAX, |end| end - 1);
        let mut free: Vec<_> = ranges.to_vec();
        for (start, last) in used {
            let parts = free.into_iter().flat_map(|(from, to)| {
                let before = start.checked_sub(1).map(|end| (from, to.min(end)));
                let after = last.checked_add(1).map(|begin| (from.max(begin), to));
                [before, after]
                    .into_iter()
                    .flatten()
                    .filter(|(from, to)| from <= to)
            });
            free = parts.collect();
        }
        let usable = free.iter().filter_map(|(start, last)| {
            let start = (*start).max(first).checked_next_multiple_of(PAGE)?;
            // An end of 2^64 cannot be written, so the last page is left out.
            let end = (*last).min(most).saturating_add(1) & !(PAGE - 1);
            (start < end).then_some((start, end))
        });
        let mut free: Vec<_> = usable.collect();
        free.sort_unstable();
        Self(free)
    }

    /// Allocates addresses for `length` bytes of memory at an address of the process, both multiples of a page. They
    /// lie in a large page as the memory does, so that the IOMMU can use large pages. `None`: there are none.
    pub(super) fn allocate(&mut self, address: u64, length: u64) -> Option<u64> {
        let align = match length {
            0 => return None,
            length => (length + 1).next_power_of_two() / 2,
        };
        let align = align.clamp(PAGE, LARGEST);
        let (index, iova) = self
            .0
            .iter()
            .enumerate()
            .find_map(|(index, (start, end))| {
                // The first place from the start on that is congruent to the address.
                let iova = start.checked_add(address.wrapping_sub(*start) % align)?;
                (iova.checked_add(length)? <= *end).then_some((index, iova))
            })?;
        let (start, end) = self.0.remove(index);
        let rests = [(start, iova), (iova + length, end)];
        let rests = rests.into_iter().filter(|(start, end)| start < end);
        self.0.splice(index..index, rests);
        Some(iova)
    }

    /// Frees addresses that were allocated.
    pub(super) fn free(&mut self, iova: u64, length: u64) {
        let index = self.0.partition_point(|(start, _)| *start < iova);
        self.0.insert(index, (iova, iova + length));
        // Joins the range with its neighbours, the one after it first.
        for index in [Some(index), index.checked_sub(1)].into_iter().flatten() {
            if let [(_, end), (start, last), ..] = self.0[index..]
                && end == start
            {
                self.0[index].1 = last;
                self.0.remove(index + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RANGES: [(u64, u64); 2] = [(0, 0xfedf_ffff), (0xfef0_0000, u64::MAX)];

    #[test]
    fn addresses_lie_as_the_memory_does() {
        let mut iovas = Iovas::new(&RANGES, &[], 1 << 20, 64);
        let iova = iovas.allocate(0x7f12_3456_7000, 3 << 20).unwrap();
        assert_eq!(iova % (2 << 20), 0x7f12_3456_7000 % (2 << 20));
        assert!(iova >= 1 << 20);
        assert_eq!(iovas.allocate(0, 0), None);
    }

    #[test]
    fn no_address_is_beyond_the_ranges() {
        let mut iovas = Iovas::new(&RANGES, &[], 0, 32);
        assert_eq!(iovas, Iovas(vec![(0, 0xfee0_0000), (0xfef0_0000, 1 << 32)]));
        assert_eq!(iovas.allocate(0, 1 << 32), None);
        assert!(iovas.allocate(0, 0xfee0_0000).is_some());
        assert_eq!(iovas.allocate(0, 2 << 24), None);
        assert_eq!(iovas.allocate(0, 1 << 24), Some(0xff00_0000));
        assert_eq!(
            Iovas::new(&[(0, 100), (u64::MAX - 1, u64::MAX)], &[], 0, 64),
            Iovas(vec![])
        );
    }

    #[test]
    fn windows_of_devices_are_left_out() {
        let used = [
            (0xa000_0000, 0xbfff_ffff),
            (0xa000_0000, 0xa00f_ffff),
            (0x38_0000_0000, u64::MAX),
        ];
        let mut iovas = Iovas::new(&RANGES, &used, 0, 64);
        let expected = vec![
            (0, 0xa000_0000),
            (0xc000_0000, 0xfee0_0000),
            (0xfef0_0000, 0x38_0000_0000),
        ];
        assert_eq!(iovas, Iovas(expected));
        // 3 GiB do not fit below 4 GiB.
        assert!(iovas.allocate(0, 3 << 30).unwrap() >= 0xfef0_0000);
    }

    proptest! {
        #[test]
        fn addresses_have_one_user(steps in prop::collection::vec((any::<bool>(), 0u64..1 << 24, 1u64..2000), 1..60)) {
            let all = Iovas::new(&RANGES, &[], 1 << 20, 34);
            let mut iovas = all.clone();
            let mut used: Vec<(u64, u64)> = Vec::new();
            for (takes, place, pages) in steps {
                match takes {
                    true => {
                        let length = pages * PAGE;
                        let iova = iovas.allocate(place * PAGE, length).unwrap();
                        prop_assert!(used.iter().all(|(start, bytes)| iova + length <= *start || start + bytes <= iova));
                        prop_assert!(iova >= 1 << 20 && iova + length <= 1 << 34);
                        prop_assert!(iova + length <= 0xfee0_0000 || iova >= 0xfef0_0000);
                        used.push((iova, length));
                    }
                    false if used.is_empty() => {}
                    false => {
                        let (iova, length) = used.swap_remove(place as usize % used.len());
                        iovas.free(iova, length);
                    }
                }
            }
            for (iova, length) in used {
                iovas.free(iova, length);
            }
            prop_assert_eq!(iovas, all);
        }
    }
}
