// SPDX-License-Identifier: GPL-2.0

//! The regions of a context: those with a handle, and the cached ones, which were unregistered and stay mapped for use
//! again.

use crate::{
    board::{Board, Keeper, Pinned},
    context::Context,
    logic::{
        kept::{self, Account, Kind, Limits},
        lifecycle::Epoch,
        uapi::Register,
    },
    hw::Failure,
    mapping::Mapping,
    memory::{dmabuf, space::Space, Memory},
};
use core::ops::Range;
use kernel::{
    alloc::kvec::InsertError,
    mm::Mm,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
};

/// Key of a cached region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// Address space of the addresses, where they are a process's.
    pub(crate) space: usize,
    pub(crate) provider: u32,
    pub(crate) access: u32,
    pub(crate) address: u64,
    pub(crate) length: u64,
    pub(crate) identity: u64,
}

/// Memory that the board can reach. When it is dropped, the board cannot reach it any more.
pub(crate) struct Region {
    board: Arc<Board>,
    mapping: Arc<Mapping>,
    // After the mapping, which must be gone first.
    memory: Memory,
    /// Its count of another device's memory, if it has such memory.
    _pinned: Option<Pinned>,
    key: Key,
    /// Prevents another address space from having the key's `space`.
    _space: Option<ARef<Mm>>,
    /// Whether the board has no entries of it.
    retired: bool,
    /// Number of its last unregistration among all regions.
    given_back: u64,
}

/// Counts regions that are unregistered.
static GIVEN_BACK: Atomic<u64> = Atomic::new(0);

impl Region {
    /// Makes a region of memory that is mapped and that the board does not know yet.
    pub(crate) fn new(
        board: Arc<Board>,
        mapping: Arc<Mapping>,
        memory: Memory,
        pinned: Option<Pinned>,
        key: Key,
        space: Option<ARef<Mm>>,
    ) -> Self {
        Self {
            board,
            mapping,
            memory,
            _pinned: pinned,
            key,
            _space: space,
            retired: true,
            given_back: 0,
        }
    }

    /// Records that the board has entries for it, or may have.
    pub(crate) fn note_placed(&mut self) {
        self.retired = false;
    }

    /// Returns the bytes of another device's memory that are pinned for it: all of a dma-buf.
    pub(crate) fn pinned_bytes(&self) -> u64 {
        self.memory.buffer().map_or(self.key.length, dmabuf::Buffer::length)
    }

    /// Whether its eviction by the calling process releases memory of another device.
    pub(crate) fn is_released_by_caller(&self) -> bool {
        match &self.memory {
            Memory::Host(_) => false,
            Memory::DmaBuf { .. } => true,
            Memory::Nvidia { pages } => pages.are_callers() || self.mapping.is_revoked(),
        }
    }

    /// Returns the kind of its memory.
    pub(crate) fn kind(&self) -> Kind {
        self.mapping.kind()
    }

    /// Returns its [`kept::weight`].
    pub(crate) fn weight(&self) -> u64 {
        kept::weight(self.kind(), self.key.length)
    }

    /// Returns the board's knowledge of it.
    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// Writes bytes into the memory, which is the machine's and which the board may write.
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) -> Result {
        match &self.memory {
            Memory::Host(pages) => pages.store(offset, bytes),
            Memory::DmaBuf { .. } | Memory::Nvidia { .. } => Err(EOPNOTSUPP),
        }
    }

    /// Returns the memory.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns its number among all regions that were unregistered: no other region has the same.
    pub(crate) fn given_back(&self) -> u64 {
        self.given_back
    }

    /// Returns its entries of the ATT, as long as it has them.
    pub(crate) fn entries(&self) -> Range<u32> {
        let entries = self.mapping.region(|region| region.run().indices());
        entries.unwrap_or(0..0)
    }

    /// Whether it would be found again, and may stay mapped until then.
    fn may_stay(&self) -> bool {
        self.memory.may_stay() && self.memory.buffer().is_none_or(dmabuf::Buffer::is_named)
    }

    /// Whether it may be used again.
    fn is_usable(&self) -> bool {
        !self.memory.is_stale() && !self.mapping.is_revoked() && !self.mapping.is_in_doubt()
    }

    /// Whether it is of no use any more, and its eviction releases its memory. Pages that are NVIDIA's by their
    /// address are released only by their own process, or by their owner ([`crate::memory::nvidia`]).
    pub(crate) fn is_useless(&self) -> bool {
        match self.kind() {
            Kind::Nvidia => self.mapping.is_revoked(),
            Kind::Host | Kind::DmaBuf => !self.is_usable(),
        }
    }

    /// Whether its pages are of several sizes.
    fn is_mixed(&self) -> bool {
        let layout = self.mapping.region(|region| *region.layout());
        layout.is_ok_and(|layout| layout.head + layout.tail > 0)
    }

    /// Writes its place in the ATT to the arguments.
    pub(crate) fn describe(&self, arguments: &mut Register) -> Result {
        arguments.proof = self.mapping.proof();
        self.mapping.region(|region| {
            arguments.page_shift = region.layout().page_size.shift();
            arguments.entries = region.run().count();
            if let Some(extents) = region.extents() {
                arguments.set_extents(&extents);
            }
        })
    }

    /// Drops several regions with one fence for all. For none there is no fence.
    pub(crate) fn retire(board: &Board, mut regions: KVVec<Region>) {
        if regions.is_empty() {
            return;
        }
        Mapping::retire(board, regions.iter().map(Region::mapping));
        for region in &mut regions {
            region.retired = true;
        }
        drop(regions);
        board.kept_less();
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if !self.retired {
            Mapping::retire(&self.board, core::iter::once(&self.mapping));
        }
    }
}

/// A region with its handle.
struct Held {
    handle: u32,
    region: Region,
}

/// Lists with room for regions.
pub(crate) struct Lists {
    held: KVVec<Held>,
    kept: KVVec<Region>,
}

impl Lists {
    /// Makes empty lists for so many regions.
    pub(crate) fn new(room: usize) -> Result<Self> {
        Ok(Self {
            held: KVVec::with_capacity(room, GFP_KERNEL_ACCOUNT)?,
            kept: KVVec::with_capacity(room, GFP_KERNEL_ACCOUNT)?,
        })
    }
}

/// Moves the items of a list to an empty one with more room, and exchanges the two lists.
fn move_all<T>(from: &mut KVVec<T>, to: &mut KVVec<T>) {
    for item in from.drain_all() {
        // There is room.
        let _ = to.push(item, GFP_NOWAIT);
    }
    core::mem::swap(from, to);
}

/// Number of regions that are released with one fence.
const BATCH: usize = 64;

/// The regions of a context.
pub(crate) struct Regions {
    /// By handle, ascending.
    held: KVVec<Held>,
    /// The least recently used first.
    kept: KVVec<Region>,
    /// Regions that are being made, each with a place in both lists.
    promised: usize,
    account: Account,
    limits: Limits,
    next: u32,
    /// Shows the account to the shrinker.
    keeper: Option<Keeper>,
    /// The address space of which memory was registered last.
    pub(crate) space: Option<Arc<Space>>,
}

impl Regions {
    /// Makes an empty set of regions.
    pub(crate) fn new(limits: Limits, keeper: Option<Keeper>) -> Self {
        Self {
            held: KVVec::new(),
            kept: KVVec::new(),
            promised: 0,
            account: Account::default(),
            limits,
            next: 1,
            keeper,
            space: None,
        }
    }

    /// Shows the shrinker how much is cached now.
    fn show_weight(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.show(self.account.weight());
        }
    }

    /// Returns how much of the cache the shrinker has asked for since the last call.
    pub(crate) fn wanted(&self) -> u64 {
        self.keeper.as_ref().map_or(0, Keeper::take_wanted)
    }

    /// Notes that regions were released that [`take`](Self::take) has taken out.
    fn note_released(&self, weight: u64) {
        if let Some(keeper) = &self.keeper {
            keeper.has_left(weight);
        }
    }

    /// Returns the cached regions, the oldest first.
    pub(crate) fn cached(&self) -> &[Region] {
        &self.kept
    }

    /// Returns all regions, with a handle and without one.
    fn all(&self) -> impl Iterator<Item = &Region> {
        Iterator::chain(self.held.iter().map(|held| &held.region), &self.kept)
    }

    fn position(&self, handle: u32) -> Result<usize> {
        let found = self.held.binary_search_by_key(&handle, |held| held.handle);
        found.map_err(|_| ENOENT)
    }

    /// Returns the region of a handle.
    pub(crate) fn get(&self, handle: u32) -> Result<&Region> {
        Ok(&self.held[self.position(handle)?].region)
    }

    fn take_kept(&mut self, index: usize) -> Result<Region> {
        let region = self.kept.remove(index).map_err(|_| ENOENT)?;
        self.account.remove(region.kind(), region.pinned_bytes());
        region.memory.note_kept(false);
        self.show_weight();
        Ok(region)
    }

    /// Looks for a region among those that are cached, with pages of one size or `mixed`, and gives it a handle, at
    /// once: a restart of the board writes the entries of the regions that it finds here.
    pub(crate) fn reuse(&mut self, key: &Key, mixed: bool, arguments: &mut Register) -> Result<bool> {
        let matches = |region: &Region| {
            region.key == *key
                && region.is_usable()
                && (mixed || !region.is_mixed())
                && region.memory.is_accessible()
        };
        let Some(index) = self.kept.iter().position(matches) else {
            return Ok(false);
        };
        self.kept[index].describe(arguments)?;
        let region = self.take_kept(index)?;
        // There is room.
        arguments.handle = self.hold(region).map_err(|(_, error)| error)?;
        Ok(true)
    }

    /// Promises one more region its places in both lists, if they have them: with a handle, and later without one.
    /// Otherwise returns how much room the lists need.
    pub(crate) fn promise(&mut self) -> Result<(), usize> {
        let more = self.held.len() + self.kept.len() + self.promised + 1;
        if self.held.capacity() < more || self.kept.capacity() < more {
            return Err(2 * more);
        }
        self.promised += 1;
        Ok(())
    }

    /// Ends a promise: the region has its places, or was not made.
    pub(crate) fn redeem(&mut self) {
        self.promised -= 1;
    }

    /// Moves to lists that have more room, and returns the old ones. Nothing is allocated with the regions locked.
    pub(crate) fn move_to(&mut self, mut lists: Lists) -> Lists {
        if lists.held.capacity() > self.held.capacity() {
            move_all(&mut self.held, &mut lists.held);
        }
        if lists.kept.capacity() > self.kept.capacity() {
            move_all(&mut self.kept, &mut lists.kept);
        }
        lists
    }

    /// Gives a region a handle. Handles are not used again soon. `ENOMEM`: there is no room.
    fn hold(&mut self, region: Region) -> Result<u32, (Region, Error)> {
        let (handle, index) = loop {
            let handle = self.next;
            self.next = self.next.checked_add(1).unwrap_or(1);
            match self.held.binary_search_by_key(&handle, |held| held.handle) {
                Ok(_) => {}
                Err(index) => break (handle, index),
            }
        };
        let held = Held { handle, region };
        match self.held.insert_within_capacity(index, held) {
            Ok(()) => Ok(handle),
            Err(InsertError::IndexOutOfBounds(held) | InsertError::OutOfCapacity(held)) => {
                Err((held.region, ENOMEM))
            }
        }
    }

    /// Has the board know a new region, and gives it a handle, under one lock: a restart of the board comes before,
    /// or finds the region.
    pub(crate) fn admit(&mut self, region: Region) -> Result<u32, (Region, Error)> {
        match region.mapping.publish() {
            Ok(()) => self.hold(region),
            Err(error) => Err((region, error)),
        }
    }

    /// Removes a handle. The region is cached if it may be, even beyond the limits; otherwise it is returned, and
    /// must be dropped without the lock.
    fn release(&mut self, handle: u32, keep: bool) -> Result<Option<Region>> {
        let index = self.position(handle)?;
        let mut region = self.held.remove(index).map_err(|_| ENOENT)?.region;
        if !keep || !region.may_stay() || self.kept.len() == self.kept.capacity() {
            return Ok(Some(region));
        }
        // An invalidation from now on has the region evicted. An earlier one is seen here.
        region.memory.note_kept(true);
        if !region.is_usable() {
            return Ok(Some(region));
        }
        self.account.add(region.kind(), region.pinned_bytes());
        region.given_back = GIVEN_BACK.fetch_add(1, ordering::Relaxed);
        // There is room.
        self.kept.push(region, GFP_NOWAIT)?;
        self.show_weight();
        Ok(None)
    }

    /// Whether more is cached than may be.
    fn has_excess(&self) -> bool {
        let over = |region: &Region| self.account.must_go(&self.limits, region.kind());
        self.kept.iter().any(over)
    }

    /// Takes cached regions out that `wanted` accepts, so many at most, the oldest first. The second argument
    /// of `wanted` is whether the limits ask for it. Returns whether it has looked at all regions.
    fn take(
        &mut self,
        most: usize,
        mut taken: impl FnMut(Region),
        wanted: &mut impl FnMut(&Region, bool) -> bool,
    ) -> bool {
        let (mut index, mut count) = (0, 0);
        while index < self.kept.len() {
            if count == most {
                return false;
            }
            let region = &self.kept[index];
            let over = self.account.must_go(&self.limits, region.kind());
            if !wanted(region, over) {
                index += 1;
            } else if let Ok(region) = self.take_kept(index) {
                count += 1;
                if let Some(keeper) = &self.keeper {
                    keeper.leaves(region.weight());
                }
                taken(region);
            }
        }
        true
    }

    /// Writes the entries of all regions again.
    pub(crate) fn restore(&self, epoch: Epoch) -> Result<(), Failure> {
        self.all().try_for_each(|region| region.mapping.restore(epoch))
    }

    /// Returns regions and bytes that have a handle, and those that are cached.
    pub(crate) fn usage(&self) -> ([u32; 2], [u64; 2]) {
        let held: u64 = self.held.iter().map(|held| held.region.key.length).sum();
        let cached: u64 = self.kept.iter().map(|region| region.key.length).sum();
        (
            [self.held.len() as u32, self.account.count()],
            [held, cached],
        )
    }
}

impl Context {
    /// Evicts cached regions that `wanted` accepts, the oldest first. The second argument of `wanted` is whether the
    /// limits ask for it. Returns whether there were any. For [`Board::let_go`].
    pub(crate) fn evict(&self, mut wanted: impl FnMut(&Region, bool) -> bool) -> bool {
        // Regions that are cached from now on are skipped: else a process could keep this going for ever.
        let end = GIVEN_BACK.load(ordering::Relaxed);
        let mut wanted = |region: &Region, over| region.given_back < end && wanted(region, over);
        let mut went = false;
        loop {
            let count = self.regions.lock().cached().len().min(BATCH);
            if count == 0 {
                return went;
            }
            // Threads that are short of memory wait for the work item, which waits for this eviction.
            let over = match KVVec::with_capacity(count, GFP_NOWAIT | __GFP_NOWARN) {
                Ok(mut batch) => {
                    let taken = |region| {
                        // There is room.
                        let _ = batch.push(region, GFP_NOWAIT);
                    };
                    let over = self.regions.lock().take(count, taken, &mut wanted);
                    went |= !batch.is_empty();
                    let weight = batch.iter().map(Region::weight).sum();
                    Region::retire(&self.board, batch);
                    self.regions.lock().note_released(weight);
                    over
                }
                // Memory is short, and an eviction helps: one by one.
                Err(_) => {
                    let mut one = None;
                    let over = self.regions.lock().take(1, |region| one = Some(region), &mut wanted);
                    if let Some(region) = one {
                        let weight = region.weight();
                        drop(region);
                        self.regions.lock().note_released(weight);
                        self.board.kept_less();
                        went = true;
                    }
                    over
                }
            };
            if over {
                return went;
            }
        }
    }

    /// Removes all regions, and the other references to a process's memory. They must be dropped without a lock.
    pub(crate) fn take_regions(&self) -> KVVec<Region> {
        let (mut kept, held, space) = {
            let mut regions = self.regions.lock();
            regions.account = Account::default();
            regions.show_weight();
            let kept = core::mem::take(&mut regions.kept);
            (kept, core::mem::take(&mut regions.held), regions.space.take())
        };
        drop(space);
        for held in held {
            // A region for which there is no room is dropped, and so invalidated.
            let _ = kept.push(held.region, GFP_KERNEL);
        }
        kept
    }

    /// Makes sure that the board's writes to a region have arrived.
    pub(crate) fn flush(&self, handle: u32) -> Result {
        let mapping = self.regions.lock().get(handle)?.mapping().clone();
        mapping.flush().map_err(|failure| self.board.reported(failure))
    }

    /// Removes a handle, and returns whether the region is cached.
    pub(crate) fn give_back(&self, handle: u32, keep: bool) -> Result<bool> {
        let keep = keep && !self.board.is_pressed(self.channel);
        let mut regions = self.regions.lock();
        let dropped = regions.release(handle, keep)?;
        // The region that was unregistered just now is the newest.
        let newest = regions.kept.last().map(|region| region.given_back);
        let has_excess = regions.has_excess();
        drop(regions);
        let mut kept = dropped.is_none();
        drop(dropped);
        if has_excess {
            self.board.let_go(|| {
                self.evict(|region, over| {
                    kept &= !(over && Some(region.given_back) == newest);
                    over
                });
            });
        }
        Ok(kept)
    }
}
