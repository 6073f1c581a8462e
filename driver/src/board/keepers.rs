// SPDX-License-Identifier: GPL-2.0

//! How much each context caches, by control group and for the board's shrinker.
//!
//! The kernel calls a shrinker for a control group only where a list of it has items of that group
//! (`include/linux/list_lru.h`, `shrink_slab_memcg` in `mm/shrinker.c`). A context has one item, in the group that
//! its memory is charged to, from its beginning to its end: how much it caches changes all the time, and is only a
//! number. When a group is removed, its items and its memory become its parent's. So the driver never names a group
//! by its number, which another group may have by then. The item is on the memory node that it was allocated on. A
//! shortage of another node alone does not ask for it.

use super::Board;
use crate::ffi::{
    peerlane_init_list, peerlane_new_cache, peerlane_new_keeper, peerlane_walk_list, //
};
use core::ptr::NonNull;
use kernel::{
    bindings,
    error::to_result,
    ffi::{c_uint, c_void},
    prelude::*,
    str::CString,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
    types::Opaque,
};

/// The item of a context.
#[repr(C)]
struct Item {
    /// The first member: the list knows nothing else.
    link: bindings::list_head,
    /// How much is cached, by [`kept::weight`](crate::logic::kept::weight).
    weight: Atomic<u64>,
    /// How much is not cached any more, and is being released.
    leaving: Atomic<u64>,
    /// How much of the cache the shrinker wants to be released.
    wanted: Atomic<u64>,
}

impl Item {
    fn cached(&self) -> u64 {
        self.weight.load(ordering::Relaxed)
    }
}

/// The lists of a board.
pub(crate) struct Keepers {
    list: KBox<Opaque<bindings::list_lru>>,
    /// The items' allocator. An allocation from it makes sure that the list has a part for the control group.
    cache: NonNull<bindings::kmem_cache>,
}

// SAFETY: both belong to no thread.
unsafe impl Send for Keepers {}
// SAFETY: both have locks of their own.
unsafe impl Sync for Keepers {}

/// Makes the names of caches differ.
static NUMBER: Atomic<u32> = Atomic::new(0);

/// A list that is asked for something.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) node: i32,
    /// Null: the whole machine.
    pub(super) group: *mut bindings::mem_cgroup,
}

impl Keepers {
    /// Makes lists for a shrinker that is not registered yet.
    ///
    /// # Safety
    /// `shrinker` is valid. As soon as it is freed, no more items are added.
    pub(super) unsafe fn new(shrinker: NonNull<bindings::shrinker>) -> Result<Arc<Self>> {
        let list = KBox::new(Opaque::zeroed(), GFP_KERNEL)?;
        let number = NUMBER.fetch_add(1, ordering::Relaxed);
        let name = CString::try_from_fmt(fmt!("peerlane-keepers-{number}"))?;
        // SAFETY: the name is copied.
        let cache = unsafe { peerlane_new_cache(name.as_char_ptr(), size_of::<Item>() as c_uint) };
        let cache = NonNull::new(cache).ok_or(ENOMEM)?;
        // SAFETY: the list has a place of its own, which does not move, and the shrinker is valid.
        let made = to_result(unsafe { peerlane_init_list(list.get(), shrinker.as_ptr()) });
        if let Err(error) = made {
            // SAFETY: nothing was allocated of it.
            unsafe { bindings::kmem_cache_destroy(cache.as_ptr()) };
            return Err(error);
        }
        Ok(Arc::new(Self { list, cache }, GFP_KERNEL)?)
    }

    /// Whether a node's list has items of a group.
    pub(super) fn has_any(&self, asked: Asked) -> bool {
        // SAFETY: the list was initialised.
        unsafe { bindings::list_lru_count_one(self.list.get(), asked.node, asked.group) > 0 }
    }

    /// Returns how much the contexts of a group cache or are releasing.
    pub(super) fn weight(&self, asked: Asked) -> u64 {
        self.sum(asked, |item| item.cached().saturating_add(item.leaving.load(ordering::Relaxed)))
    }

    fn sum(&self, asked: Asked, weight: impl Fn(&Item) -> u64) -> u64 {
        let mut sum = 0_u64;
        self.each(asked, |item| sum = sum.saturating_add(weight(item)));
        sum
    }

    /// Asks the contexts of a group to release so much in all, each for its part.
    pub(super) fn ask(&self, asked: Asked, wanted: u64) {
        let all = self.sum(asked, Item::cached).max(1);
        self.each(asked, |item| {
            let part = wanted.saturating_mul(item.cached()).div_ceil(all);
            item.wanted.fetch_add(part, ordering::Relaxed);
        });
    }

    /// Calls `f` with each item of a group, while a spinlock is held.
    fn each<F: FnMut(&Item)>(&self, asked: Asked, mut f: F) {
        /// # Safety
        /// Called by the kernel with the link of an item, the list locked, and the function to call.
        unsafe extern "C" fn step<F: FnMut(&Item)>(link: *mut bindings::list_head, f: *mut c_void) {
            // SAFETY: by contract. The link is the first member of an item, which leaves the list, that is locked,
            // before it is freed.
            let (f, item) = unsafe { (&mut *f.cast::<F>(), &*link.cast::<Item>()) };
            f(item);
        }
        // SAFETY: the list was initialised, and the callback gets its own argument.
        unsafe {
            let data = (&raw mut f).cast();
            peerlane_walk_list(self.list.get(), asked.node, asked.group, step::<F>, data)
        };
    }
}

impl Drop for Keepers {
    fn drop(&mut self) {
        // SAFETY: every item holds us, so that none is left.
        unsafe {
            bindings::list_lru_destroy(self.list.get());
            bindings::kmem_cache_destroy(self.cache.as_ptr());
        }
    }
}

/// A context's place in the lists.
pub(crate) struct Keeper {
    item: NonNull<Item>,
    keepers: Arc<Keepers>,
}

// SAFETY: an item belongs to no thread.
unsafe impl Send for Keeper {}
// SAFETY: all of it that changes is atomic.
unsafe impl Sync for Keeper {}

impl Keeper {
    /// Makes a place in the control group of the calling process.
    fn new(keepers: Arc<Keepers>) -> Result<Self> {
        // SAFETY: a valid cache, and a list that was initialised.
        let item = unsafe { peerlane_new_keeper(keepers.cache.as_ptr(), keepers.list.get()) };
        let item = NonNull::new(item.cast::<Item>()).ok_or(ENOMEM)?;
        // SAFETY: it is ours alone, and has been zeroed. The list has a part for its group.
        unsafe {
            let link = &raw mut (*item.as_ptr()).link;
            (*link).next = link;
            (*link).prev = link;
            bindings::list_lru_add_obj(keepers.list.get(), link);
        }
        Ok(Self { item, keepers })
    }

    fn item(&self) -> &Item {
        // SAFETY: it is freed by drop only.
        unsafe { self.item.as_ref() }
    }

    /// Shows how much is cached.
    pub(crate) fn show(&self, weight: u64) {
        self.item().weight.store(weight, ordering::Relaxed);
    }

    /// Counts regions that are not cached any more and are being released.
    pub(crate) fn leaves(&self, weight: u64) {
        self.item().leaving.fetch_add(weight, ordering::Relaxed);
    }

    /// Counts regions that have been released.
    pub(crate) fn has_left(&self, weight: u64) {
        self.item().leaving.fetch_sub(weight, ordering::Relaxed);
    }

    /// Returns how much the shrinker wants to be released, and resets it to 0.
    pub(crate) fn take_wanted(&self) -> u64 {
        self.item().wanted.xchg(0, ordering::Relaxed)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let item = self.item.as_ptr();
        // SAFETY: the link was added to this list. No thread uses the item after that.
        unsafe {
            bindings::list_lru_del_obj(self.keepers.list.get(), &raw mut (*item).link);
            bindings::kmem_cache_free(self.keepers.cache.as_ptr(), item.cast());
        }
    }
}

impl Board {
    /// Makes a new context's place among those that are asked when memory is short; `None`: contexts are not asked.
    pub(crate) fn keeper(&self) -> Result<Option<Keeper>> {
        self.keepers.as_ref().cloned().map(Keeper::new).transpose()
    }
}
