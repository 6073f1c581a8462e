//! Record of the block's accesses to the bus.

use std::ops::Range;

use peerlane_sim::Target;
use serde::Serialize;

use crate::ranges::Ranges;

/// Number of accesses that are recorded individually.
const KEPT: usize = 64;

/// An access of the block to the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Access {
    /// First bus address (an IOVA under an IOMMU).
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Whether the block wrote.
    pub write: bool,
}

impl Access {
    pub(crate) fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(u64::from(self.bytes))
    }
}

/// Traffic with one destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Bytes that the block read.
    pub bytes_read: u64,
    /// Bytes that it wrote.
    pub bytes_written: u64,
}

/// Addresses that the block has accessed, whether memory was there or not. Interrupt messages do not count as accesses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Touched {
    /// Addresses that were read.
    pub read: Ranges,
    /// Addresses that were written.
    pub written: Ranges,
}

impl Touched {
    /// Returns the accesses outside of these ranges: forbidden reads, then forbidden writes. Both are empty if there
    /// were none.
    pub fn outside(&self, readable: &Ranges, writable: &Ranges) -> Self {
        Self {
            read: self.read.outside(readable),
            written: self.written.outside(writable),
        }
    }

    /// Returns whether nothing was accessed.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.written.is_empty()
    }
}

/// The account of the block's accesses.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) touched: Touched,
    /// The allowed accesses, if they are watched.
    allowed: Option<Touched>,
    /// The first access that was not allowed, and the number of such accesses.
    pub(crate) violation: Option<Access>,
    pub(crate) violations: u64,
    /// The first accesses without memory.
    pub(crate) unmapped: Vec<Access>,
    pub(crate) unmapped_total: u64,
    pub(crate) host: Traffic,
    pub(crate) gpu: Traffic,
}

impl Ledger {
    /// Allows only these ranges from now on; `None`: all.
    pub(crate) fn watch(&mut self, allowed: Option<Touched>) {
        self.allowed = allowed;
        self.violation = None;
        self.violations = 0;
    }

    /// Records an access before it is carried out.
    pub(crate) fn note(&mut self, access: Access) {
        let range = access.range();
        if let Some(allowed) = &self.allowed {
            let ranges = if access.write {
                &allowed.written
            } else {
                &allowed.read
            };
            if !ranges.contains(&range) {
                self.violations += 1;
                self.violation.get_or_insert(access);
            }
        }
        if access.write {
            self.touched.written.insert(range);
        } else {
            self.touched.read.insert(range);
        }
    }

    /// Records the end of the access: its target, if memory was there.
    pub(crate) fn ended(&mut self, access: Access, target: Option<Target>) {
        let bytes = u64::from(access.bytes);
        let traffic = match target {
            Some(Target::Host) => &mut self.host,
            Some(Target::Gpu) => &mut self.gpu,
            None => {
                self.unmapped_total += 1;
                if self.unmapped.len() < KEPT {
                    self.unmapped.push(access);
                }
                return;
            }
        };
        if access.write {
            traffic.bytes_written += bytes;
        } else {
            traffic.bytes_read += bytes;
        }
    }

    /// Clears the record and the counters; the allowed accesses stay.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            allowed: self.allowed.take(),
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, bytes: u32, write: bool) -> Access {
        Access {
            address,
            bytes,
            write,
        }
    }

    #[test]
    fn the_first_access_that_is_not_allowed_is_kept() {
        let mut ledger = Ledger::default();
        ledger.note(access(0x100, 8, true));
        ledger.watch(Some(Touched {
            read: Ranges::from(0x1000..0x2000),
            written: Ranges::from(0x1000..0x1800),
        }));
        ledger.note(access(0x1FFC, 4, false));
        ledger.note(access(0x17FC, 4, true));
        assert_eq!(ledger.violation, None);
        ledger.note(access(0x17FD, 4, true));
        ledger.note(access(0x2000, 1, false));
        assert_eq!(ledger.violation, Some(access(0x17FD, 4, true)));
        assert_eq!(ledger.violations, 2);
        ledger.clear();
        ledger.note(access(0, 1, false));
        assert_eq!(ledger.violation, Some(access(0, 1, false)));
        ledger.watch(None);
        ledger.note(access(0, 1, false));
        assert_eq!((ledger.violation, ledger.violations), (None, 0));
    }

    #[test]
    fn reads_and_writes_are_told_apart() {
        let mut ledger = Ledger::default();
        for (at, write, target) in [
            (0, true, Some(Target::Host)),
            (4, true, Some(Target::Gpu)),
            (64, false, Some(Target::Host)),
            (128, false, None),
        ] {
            ledger.note(access(at, 4, write));
            ledger.ended(access(at, 4, write), target);
        }
        assert_eq!((ledger.host.bytes_written, ledger.host.bytes_read), (4, 4));
        assert_eq!((ledger.gpu.bytes_written, ledger.gpu.bytes_read), (4, 0));
        assert_eq!(ledger.unmapped, [access(128, 4, false)]);
        let low = Ranges::from(0..70);
        let outside = ledger.touched.outside(&low, &low);
        assert_eq!(outside.read, Ranges::from(128..132));
        assert!(outside.written.is_empty() && !outside.is_empty());
    }
}
