// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of cached regions: the account of regions that were unregistered and stay mapped, because the next transfer
//! is likely to use the same memory.

/// Kind of a region's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Of a process; it counts against the process's limit of locked memory.
    Host,
    /// Of a dma-buf: usually of a GPU, where it takes up the GPU's BAR.
    DmaBuf,
    /// Of an NVIDIA GPU, by its address; it takes up the GPU's BAR, too. Only the process that has registered it can
    /// release it.
    Nvidia,
}

impl Kind {
    /// Whether the memory is that of a peer of the board.
    pub const fn is_peer(self) -> bool {
        !matches!(self, Self::Host)
    }
}

/// Limits of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Regions of both kinds.
    pub count: u32,
    /// Bytes of host memory.
    pub host_bytes: u64,
    /// Bytes of GPU memory.
    pub gpu_bytes: u64,
}

impl Limits {
    const fn bytes(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Host => self.host_bytes,
            Kind::DmaBuf | Kind::Nvidia => self.gpu_bytes,
        }
    }
}

/// Returns how much memory the machine gets when a cached region is evicted, by any thread, in pages of 4 KiB: a
/// process's memory, and something for the lists of every region. Only the exporter knows where the pages of a
/// dma-buf are. Usually the machine gains nothing from them, so a dma-buf counts as its lists only. 0: nothing, for
/// memory that only its process can release.
pub const fn weight(kind: Kind, bytes: u64) -> u64 {
    match kind {
        Kind::Host => bytes / 4096 + 1,
        Kind::DmaBuf => 1,
        Kind::Nvidia => 0,
    }
}

/// Account of cached regions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    count: u32,
    weight: u64,
    host_bytes: u64,
    gpu_bytes: u64,
}

impl Account {
    fn of(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Host => &mut self.host_bytes,
            Kind::DmaBuf | Kind::Nvidia => &mut self.gpu_bytes,
        }
    }

    /// Adds a region.
    pub fn add(&mut self, kind: Kind, bytes: u64) {
        self.count = self.count.saturating_add(1);
        self.weight = self.weight.saturating_add(weight(kind, bytes));
        let sum = self.of(kind);
        *sum = sum.saturating_add(bytes);
    }

    /// Removes a region that was added.
    pub fn remove(&mut self, kind: Kind, bytes: u64) {
        self.count = self.count.saturating_sub(1);
        self.weight = self.weight.saturating_sub(weight(kind, bytes));
        let sum = self.of(kind);
        *sum = sum.saturating_sub(bytes);
    }

    /// Returns the number of regions.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the [`weight`] of all.
    pub const fn weight(&self) -> u64 {
        self.weight
    }

    /// Whether a region of this kind must be evicted for the limits to hold. The least recently used region for which
    /// this is true should go first.
    pub const fn must_go(&self, limits: &Limits, kind: Kind) -> bool {
        let bytes = match kind {
            Kind::Host => self.host_bytes,
            Kind::DmaBuf | Kind::Nvidia => self.gpu_bytes,
        };
        self.count > limits.count || bytes > limits.bytes(kind)
    }
}

/// Sorts a list by numbers of its items, without additional memory. (`sort_unstable` of the standard library has
/// calls in it that the kernel's checks of objects do not know.)
pub fn sort<T>(list: &mut [T], key: impl Fn(&T) -> u64) {
    for root in (0..list.len() / 2).rev() {
        sift_down(list, root, &key);
    }
    for end in (1..list.len()).rev() {
        list.swap(0, end);
        if let Some(heap) = list.get_mut(..end) {
            sift_down(heap, 0, &key);
        }
    }
}

/// Moves the item at `root` of a heap down to its place: no number is larger than its parent's.
fn sift_down<T>(heap: &mut [T], mut root: usize, key: &impl Fn(&T) -> u64) {
    while let Some(left) = heap.get(2 * root + 1) {
        let right = heap.get(2 * root + 2);
        let right = right.filter(|right| key(right) > key(left));
        let larger = 2 * root + 1 + usize::from(right.is_some());
        if heap.get(root).map(key) >= heap.get(larger).map(key) {
            return;
        }
        heap.swap(root, larger);
        root = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::Host), Just(Kind::DmaBuf), Just(Kind::Nvidia)]
    }

    proptest! {
        /// For any regions: evicting the oldest that must go ends within the limits, and caches everything that the
        /// limits allow.
        #[test]
        fn eviction_ends_within_the_limits(
            sizes in proptest::collection::vec((kinds(), 1u64..1000), 0..40),
            count in 0u32..20,
            host_bytes in 0u64..3000,
            gpu_bytes in 0u64..3000,
        ) {
            let limits = Limits { count, host_bytes, gpu_bytes };
            let mut account = Account::default();
            let mut kept: Vec<(Kind, u64)> = Vec::new();
            for (kind, bytes) in sizes {
                kept.push((kind, bytes));
                account.add(kind, bytes);
                while let Some(oldest) = kept.iter().position(|(kind, _)| account.must_go(&limits, *kind)) {
                    let (kind, bytes) = kept.remove(oldest);
                    account.remove(kind, bytes);
                }
                let sum = |peer| kept.iter().filter(|(kind, _)| kind.is_peer() == peer).map(|(_, bytes)| bytes).sum::<u64>();
                prop_assert!(kept.len() <= count as usize);
                prop_assert!(sum(false) <= host_bytes && sum(true) <= gpu_bytes);
                prop_assert_eq!((account.host_bytes, account.gpu_bytes), (sum(false), sum(true)));
                prop_assert_eq!(account.count() as usize, kept.len());
                let weights = kept.iter().map(|(kind, bytes)| weight(*kind, *bytes));
                prop_assert_eq!(account.weight(), weights.sum::<u64>());
            }
        }
    }

    proptest! {
        #[test]
        fn a_list_is_sorted(mut list in proptest::collection::vec(any::<(u64, u8)>(), 0..100)) {
            let mut expected = list.clone();
            sort(&mut list, |(key, _)| *key);
            prop_assert!(list.is_sorted_by_key(|(key, _)| *key));
            list.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(list, expected);
        }
    }

    #[test]
    fn one_kind_does_not_push_the_other_out() {
        let limits = Limits {
            count: 10,
            host_bytes: 100,
            gpu_bytes: 100,
        };
        let mut account = Account::default();
        account.add(Kind::DmaBuf, 50);
        account.add(Kind::Nvidia, 40);
        account.add(Kind::Host, 101);
        assert!(account.must_go(&limits, Kind::Host));
        assert!(!account.must_go(&limits, Kind::DmaBuf));
        account.add(Kind::DmaBuf, 11);
        assert!(account.must_go(&limits, Kind::Nvidia));
    }

    /// A thread that is short of memory does not ask for memory that only another process can release.
    #[test]
    fn what_only_its_process_gives_back_weighs_nothing() {
        let mut account = Account::default();
        account.add(Kind::Nvidia, 1 << 30);
        assert_eq!((account.count(), account.weight()), (1, 0));
        account.add(Kind::DmaBuf, 1 << 30);
        account.add(Kind::Host, 8192);
        assert_eq!((account.count(), account.weight()), (3, 4));
    }
}
