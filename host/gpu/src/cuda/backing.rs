//! Finds the memory that a range of addresses has.
//!
//! `cuMemAlloc` gives memory with addresses of its own. By virtual memory management a program maps memory at addresses
//! that it chooses, also several pieces side by side ("Virtual Memory Management"); PyTorch's `expandable_segments` do
//! so. Such addresses can be other memory at any time. The manual does not promise that
//! `CU_POINTER_ATTRIBUTE_BUFFER_ID` changes then: it speaks of allocations. The handle of the memory identifies it. The
//! same number can be another memory's handle only after all holders have released the first one.

use super::{Driver, Gpu, SUCCESS};
use crate::error::Result;
use cudarc::driver::sys;
use peerlane_host::Process;
use peerlane_host::cache::{Part, Parts};
use std::ffi::c_int;
use std::ops::Range;

/// The memory at a range of addresses.
#[derive(Debug, Clone)]
pub(crate) struct Backing {
    /// All of it: one allocation, or pieces that lie side by side. If the requested range does not lie in either, this
    /// ends before the requested range ends.
    pub(crate) range: Range<u64>,
    /// Number of pieces.
    pub(crate) pieces: usize,
    /// The pieces, if they were mapped.
    pub(crate) parts: Option<Parts>,
}

/// Handles that identify their memory until this is dropped.
struct Retained {
    driver: &'static Driver,
    handles: Vec<u64>,
    owner: Process,
}

impl Drop for Retained {
    fn drop(&mut self) {
        // CUDA does not work in children of a fork.
        if self.owner != Process::current() {
            return;
        }
        for handle in &self.handles {
            // SAFETY: the handle was retained once, and this releases it once.
            let _ = unsafe { (self.driver.release)(*handle) };
        }
    }
}

impl Gpu {
    /// Finds the memory at a range of addresses.
    pub(crate) fn backing(&self, asked: &Range<u64>) -> Result<Backing> {
        let _bound = self.bind()?;
        let mut range = self.allocation(asked.start)?;
        let mut retained = Retained {
            driver: self.driver(),
            handles: Vec::new(),
            owner: Process::current(),
        };
        let mut parts = Vec::new();
        let mut piece = range.clone();
        while let Some(handle) = self.retain(piece.start) {
            retained.handles.push(handle);
            range.end = piece.end;
            parts.push(Part {
                identity: self.identity(piece.start)?,
                range: piece,
                handle,
            });
            if range.end >= asked.end {
                break;
            }
            // The mapping that follows, if there is one.
            match self.allocation(range.end) {
                Ok(next) if next.start == range.end && next.end > next.start => piece = next,
                _ => break,
            }
        }
        Ok(Backing {
            range,
            pieces: parts.len().max(1),
            parts: (!parts.is_empty()).then(|| Parts::new(parts, retained)),
        })
    }

    /// Retains the handle of the memory that is mapped at an address; the caller releases it. Memory of `cuMemAlloc`
    /// needs none, because its `BUFFER_ID` is its own ("Unified Addressing"). For that memory it is undocumented how
    /// `cuMemFree` treats a handle that is still retained.
    fn retain(&self, address: u64) -> Option<u64> {
        // 1 for memory of `cuMemAlloc` ("Unified Addressing", `CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE`).
        let legacy =
            sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE as c_int;
        let mut is_plain: c_int = 0;
        // SAFETY: the attribute is a truth value, of the size of an int at most.
        let code =
            unsafe { (self.driver().pointer_get)((&raw mut is_plain).cast(), legacy, address) };
        if code == SUCCESS && is_plain != 0 {
            return None;
        }
        let mut handle = 0;
        let place = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the first argument is a place for the handle; the address is looked up.
        let code = unsafe { (self.driver().retain)(&raw mut handle, place) };
        (code == SUCCESS).then_some(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::least::Least;
    use crate::standin;
    use peerlane_host::cache::{Cache, Limits};
    use peerlane_host::{Device, Permissions};

    const MIB: u64 = 1 << 20;
    const PIECE: u64 = 2 * MIB;
    const BASE: u64 = 1 << 44;

    /// Maps pieces of these kinds side by side.
    fn map(kinds: &[u32]) {
        for (index, kind) in kinds.iter().enumerate() {
            let handle = standin::create(*kind);
            standin::map(BASE + index as u64 * PIECE, PIECE as usize, handle);
            standin::forget(handle);
        }
    }

    #[test]
    fn pieces_side_by_side_are_exported_as_one() {
        let gpu = standin::gpu();
        map(&[1, 1, 1, 2]);
        // SAFETY: no code has memory here.
        let export = |address, length| unsafe { gpu.export_address(address, length) };
        // The end of one piece, all of the next, and the beginning of the third, in whole pages.
        let dmabuf = export(BASE + PIECE - 8, PIECE + 16).unwrap();
        assert_eq!((dmabuf.length, dmabuf.offset), (3 * PIECE, PIECE - 8));
        let one = export(BASE + PIECE + 5, 1).unwrap();
        assert_eq!((one.length, one.offset), (PIECE, 5));
        // Pieces with other properties.
        let refused = export(BASE + 3 * PIECE - 1, 2).unwrap_err();
        assert!(
            matches!(refused, Error::Pieces { pieces: 2, .. }),
            "{refused:?}"
        );
        assert!(refused.hint().contains("expandable_segments"));
        // After the last piece nothing is mapped.
        let refused = export(BASE + 4 * PIECE - 1, 2).unwrap_err();
        assert!(matches!(refused, Error::Bounds { .. }), "{refused:?}");
        // No handle stays retained.
        for piece in 0..4 {
            standin::unmap(BASE + piece * PIECE);
        }
        assert_eq!(standin::handles(), 0);
    }

    #[test]
    fn allocations_that_lie_side_by_side_are_several() {
        let gpu = standin::gpu();
        let [one, other] = [(); 2].map(|()| gpu.plain_buffer(PIECE).unwrap());
        assert_eq!(one.address() + PIECE, other.address());
        // SAFETY: as above.
        let refused = unsafe { gpu.export_address(other.address() - 8, 16) };
        assert!(matches!(refused, Err(Error::Bounds { .. })), "{refused:?}");
    }

    struct Rig {
        gpu: Gpu,
        least: Least,
        device: Device,
        cache: Cache,
    }

    impl Rig {
        fn new() -> Self {
            let least = Least::new();
            Self {
                gpu: standin::gpu(),
                device: Device::over(least.clone()).unwrap(),
                least,
                cache: Cache::new(Limits::default()),
            }
        }

        /// Returns the handle of the region that the cache gives for a range.
        fn get(&self, range: Range<u64>) -> u32 {
            let (at, length) = (BASE + range.start, range.end - range.start);
            let both = Permissions::ReadWrite;
            // SAFETY: the mock has no memory.
            let got =
                unsafe { (self.gpu).register_cached(&self.cache, &self.device, at, length, both) };
            got.unwrap().pages().handle()
        }

        fn known(&self) -> usize {
            self.least.regions.lock().unwrap().len()
        }
    }

    /// A range whose handle has changed is other memory. That holds whether CUDA gives it another identity or not, and
    /// whether the handle's number has changed or not.
    #[test]
    fn what_is_mapped_anew_is_other_memory() {
        for keeps in [false, true] {
            standin::keeps_identity(keeps);
            let rig = Rig::new();
            map(&[1, 1]);
            let before = rig.get(0..2 * PIECE);
            assert_eq!(rig.get(PIECE + 5..PIECE + 9), before, "{keeps}");
            for again in 0..3 {
                standin::unmap(BASE + PIECE);
                let handle = standin::create(1);
                standin::map(BASE + PIECE, PIECE as usize, handle);
                standin::forget(handle);
                let now = rig.get(PIECE..PIECE + 4096);
                assert_ne!(now, before, "{keeps}, {again}");
                assert_eq!(rig.known(), 1, "the dead one goes");
                assert_eq!(rig.get(PIECE + 8..PIECE + 12), now);
                // And the next memory gets another region.
                assert_ne!(rig.get(0..2 * PIECE), before);
            }
            rig.cache.clear();
            for piece in 0..2 {
                standin::unmap(BASE + piece * PIECE);
            }
            assert_eq!(standin::handles(), 0, "{keeps}");
        }
    }

    /// Ranges that share a piece all stay cached, and are found.
    #[test]
    fn neighbours_in_a_piece_do_not_drive_each_other_out() {
        for keeps in [false, true] {
            standin::keeps_identity(keeps);
            let rig = Rig::new();
            map(&[1, 1, 1]);
            let ranges = [
                0..PIECE + 4096,
                PIECE + 4096..3 * PIECE,
                2 * PIECE..2 * PIECE + 64,
            ];
            let first = ranges.clone().map(|range| rig.get(range));
            assert_eq!(ranges.map(|range| rig.get(range)), first, "{keeps}");
            assert_eq!(rig.known(), 2);
            // The key may be that of any of its pieces.
            rig.cache
                .invalidate(&rig.gpu.cache_key(BASE + 2 * PIECE).unwrap());
            assert_eq!(rig.known(), 1);
            rig.cache.clear();
            for piece in 0..3 {
                standin::unmap(BASE + piece * PIECE);
            }
            assert_eq!(standin::handles(), 0, "{keeps}");
        }
    }
}
