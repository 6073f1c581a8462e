// SPDX-License-Identifier: GPL-2.0

//! Changes of a process's addresses.
//!
//! Each address space has one notifier of ours (`struct mmu_notifier`), which knows all its watched ranges. The
//! kernel's `mmu_interval_notifier` is for one range, but its end waits until no change is in progress in the whole
//! address space, and a process can make sure that there always is one. Regions are also released on behalf of
//! others, so the end of a [`Watch`] waits for nothing.

use crate::{
    board::Board,
    ffi::{peerlane_may_access, peerlane_mmu_notifier_get},
    logic::{att::Permissions, changes::Changes},
};
use core::{
    ops::Range,
    ptr::{null_mut, NonNull},
};
use kernel::{
    bindings, container_of, current,
    error::from_err_ptr,
    ffi::c_int,
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLock,
    },
    time::{delay::fsleep, Delta},
    types::Opaque,
};

/// The kernel's notifications of an address space. It is made by `mmu_notifier_get` and freed some time after the
/// last `mmu_notifier_put`.
#[pin_data]
struct Listener {
    #[pin]
    notifier: Opaque<bindings::mmu_notifier>,
    /// Taken by callbacks, within reclaim and under the locks of reverse mappings: the holder neither allocates nor
    /// waits.
    #[pin]
    state: SpinLock<State>,
}

struct State {
    /// The nodes of all [`Watch`]es (include/linux/interval_tree.h).
    watches: bindings::rb_root_cached,
    changes: Changes,
}

// SAFETY: the tree belongs to no thread.
unsafe impl Send for State {}

/// Listeners that are not freed yet.
static LISTENERS: Atomic<usize> = Atomic::new(0);

/// The operations by whose address the kernel finds our notifiers among others.
static OPS: bindings::mmu_notifier_ops = {
    let mut ops: bindings::mmu_notifier_ops = pin_init::zeroed();
    ops.alloc_notifier = Some(alloc);
    ops.free_notifier = Some(free);
    ops.invalidate_range_start = Some(change_begins);
    ops.invalidate_range_end = Some(change_ends);
    ops.release = Some(release);
    ops
};

impl Listener {
    /// # Safety
    /// The notifier is that of a listener, which is not freed as long as the reference is used.
    unsafe fn of<'a>(notifier: *mut bindings::mmu_notifier) -> &'a Self {
        // SAFETY: by contract.
        unsafe { &*container_of!(Opaque::cast_from(notifier), Self, notifier) }
    }
}

/// # Safety
/// Called by `mmu_notifier_get`, which fills the notifier in.
unsafe extern "C" fn alloc(_: *mut bindings::mm_struct) -> *mut bindings::mmu_notifier {
    let made = KBox::pin_init(
        pin_init!(Listener {
            notifier: Opaque::new(pin_init::zeroed()),
            state <- new_spinlock!(State {
                watches: pin_init::zeroed(),
                changes: Changes::NONE,
            }),
        }),
        GFP_KERNEL_ACCOUNT,
    );
    match made {
        Err(error) => error.to_ptr(),
        Ok(listener) => {
            LISTENERS.fetch_add(1, ordering::Relaxed);
            // SAFETY: it is not moved until `free`.
            let listener = KBox::leak(unsafe { Pin::into_inner_unchecked(listener) });
            listener.notifier.get()
        }
    }
}

/// # Safety
/// Called by the kernel with a notifier of [`alloc`], which is not used any more.
unsafe extern "C" fn free(notifier: *mut bindings::mmu_notifier) {
    // SAFETY: by contract; it was leaked there.
    unsafe {
        let listener = container_of!(Opaque::cast_from(notifier), Listener, notifier);
        drop(KBox::from_raw(listener.cast_mut()));
    }
    LISTENERS.fetch_sub(1, ordering::Release);
}

/// # Safety
/// Called by the kernel with a notifier of [`alloc`]. It may be one that must not sleep.
unsafe extern "C" fn change_begins(
    notifier: *mut bindings::mmu_notifier,
    range: *const bindings::mmu_notifier_range,
) -> c_int {
    // SAFETY: by contract.
    let (listener, event) = unsafe { (Listener::of(notifier), (*range).event) };
    // SAFETY: as above.
    let range = unsafe { (*range).start..(*range).end };
    let mut state = listener.state.lock();
    state.changes.begin(range.clone());
    let note = match keeps_pages(event) {
        true => Watch::note_protected,
        false => Watch::note_stale,
    };
    state.mark(range, note);
    0
}

/// Whether the process sees the same pages after a change, if it may access them at all: where pages are written for
/// the first time after a fork, or are moved, there is another event. NUMA balancing repeatedly removes the access to
/// all memory, to see which node uses it (`change_prot_numa` of mm/mempolicy.c); it does not move pinned pages.
fn keeps_pages(event: bindings::mmu_notifier_event) -> bool {
    matches!(
        event,
        bindings::mmu_notifier_event_MMU_NOTIFY_PROTECTION_VMA
            | bindings::mmu_notifier_event_MMU_NOTIFY_PROTECTION_PAGE
            | bindings::mmu_notifier_event_MMU_NOTIFY_SOFT_DIRTY
    )
}

/// # Safety
/// As above, after it, with the same addresses; or where that was before the notifier was registered.
unsafe extern "C" fn change_ends(
    notifier: *mut bindings::mmu_notifier,
    range: *const bindings::mmu_notifier_range,
) {
    // SAFETY: by contract.
    let (listener, range) = unsafe { (Listener::of(notifier), (*range).start..(*range).end) };
    listener.state.lock().changes.end(&range);
}

/// Handles the end of the address space, and of its pages.
///
/// # Safety
/// As above.
unsafe extern "C" fn release(
    notifier: *mut bindings::mmu_notifier,
    _: *mut bindings::mm_struct,
) {
    // SAFETY: by contract.
    let listener = unsafe { Listener::of(notifier) };
    listener.state.lock().mark(0..usize::MAX, Watch::note_stale);
}

impl State {
    /// Informs the watches of some of these addresses.
    fn mark(&mut self, range: Range<usize>, note: fn(&Watch)) {
        // Both ends belong to an interval of the tree.
        let (start, last) = (range.start, range.end.saturating_sub(1));
        // SAFETY: each node in the tree is that of a `Watch`, which removes it, under the lock that we hold, before
        // it goes. Such a watch may still be under construction; `stale` is there before.
        unsafe {
            let mut node = bindings::interval_tree_iter_first(&mut self.watches, start, last);
            while !node.is_null() {
                let watch = container_of!(Opaque::cast_from(node), Watch, node);
                note(&*watch);
                node = bindings::interval_tree_iter_next(node, start, last);
            }
        }
    }
}

/// A reference to the notifier of an address space.
pub(crate) struct Space(NonNull<Listener>);

// SAFETY: its contents belong to no thread.
unsafe impl Send for Space {}
// SAFETY: all of it that may change is under a lock.
unsafe impl Sync for Space {}

impl Space {
    /// Returns that of the calling process. It takes `mmap_lock`, for which the process's own threads can make it
    /// wait. `ERESTARTNOINTR`: a signal came during the call, and the kernel makes the call again.
    pub(crate) fn of_caller() -> Result<Arc<Self>> {
        current!().mm().ok_or(EINVAL)?;
        // SAFETY: the process has an address space. The operations are there as long as the module,
        // which waits for all notifiers (`settle`).
        let notifier = from_err_ptr(unsafe { peerlane_mmu_notifier_get(&OPS) });
        // The first hold takes all locks of the address space, and stops at a signal.
        let notifier = notifier.map_err(|error| match error {
            EINTR => ERESTARTNOINTR,
            error => error,
        })?;
        // SAFETY: it is of `alloc`, and ours until we put it.
        let space = Self(NonNull::from(unsafe { Listener::of(notifier) }));
        Ok(Arc::new(space, GFP_KERNEL_ACCOUNT)?)
    }

    fn listener(&self) -> &Listener {
        // SAFETY: it is not freed before we have put it.
        unsafe { self.0.as_ref() }
    }

    /// Whether it is that of the calling process.
    pub(crate) fn is_callers(&self) -> bool {
        // SAFETY: it was set before we got the notifier, and does not change; the notifier keeps the address space's
        // structure, so that no other address space has the same.
        let mm = unsafe { (*self.listener().notifier.get()).mm };
        current!().mm().map_or(null_mut(), |mm| mm.as_raw()) == mm
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: got by `of_caller`. Watches hold us, so none of them is in the tree.
        unsafe { bindings::mmu_notifier_put(self.listener().notifier.get()) };
    }
}

/// Waits until no callback of the module runs or comes any more. All [`Space`]s must be gone.
pub(crate) fn settle() {
    // A notifier that was put is freed by a callback of its own, which may come later than `mmu_notifier_synchronize`
    // returns, where another processor has it.
    loop {
        // SAFETY: nothing is held.
        unsafe { bindings::mmu_notifier_synchronize() };
        if LISTENERS.load(ordering::Acquire) == 0 {
            break;
        }
        // SAFETY: as above.
        unsafe { bindings::msleep(1) };
    }
    // Such callbacks run with soft interrupts off: the last one has returned after this.
    // SAFETY: as above.
    unsafe { bindings::synchronize_rcu() };
}

/// Length of the first pause in which a change that has begun is waited for; each pause is twice the one before. Most
/// changes are over by then.
const NAP_NS: i64 = 20_000;
const NAPS: u32 = 6;
/// Number of longer pauses after these, of a tick more than [`PAUSE_MS`] each.
const PAUSES: u32 = 10;
const PAUSE_MS: u32 = 2;

/// Records when addresses get other memory.
#[pin_data(PinnedDrop)]
pub(super) struct Watch {
    // Before the node is in the tree.
    stale: Atomic<bool>,
    /// Whether the process's access may have changed.
    protected: Atomic<bool>,
    /// Whether a cached region has the pages, which is evicted when they are stale.
    kept: Atomic<bool>,
    board: Arc<Board>,
    range: Range<usize>,
    space: Arc<Space>,
    #[pin]
    node: Opaque<bindings::interval_tree_node>,
}

impl Watch {
    /// Watches addresses of an address space; the range has at least one.
    pub(super) fn new(
        board: Arc<Board>,
        space: Arc<Space>,
        range: Range<usize>,
    ) -> impl PinInit<Self> {
        let within = space.clone();
        let mut node: bindings::interval_tree_node = pin_init::zeroed();
        (node.start, node.last) = (range.start, range.end.saturating_sub(1));
        pin_init!(Self {
            stale: Atomic::new(true),
            protected: Atomic::new(false),
            kept: Atomic::new(false),
            board,
            range,
            space,
            // The last: a node in the tree is not given up.
            node <- Opaque::ffi_init(move |slot: *mut bindings::interval_tree_node| {
                let mut state = within.listener().state.lock();
                // SAFETY: `slot` is ours, and pinned until drop has taken it out of the tree.
                unsafe {
                    slot.write(node);
                    bindings::interval_tree_insert(slot, &mut state.watches);
                }
            }),
        })
    }

    /// Records every change from now on. A change that has begun was not reported to watches that did not exist then,
    /// and may still take the pages away. So this waits for it a little, as only its own process can make it last.
    /// Returns `false` if the change had not ended by then, or a signal came, which must not make a process start
    /// over for ever. The watch is stale from the beginning then.
    pub(super) fn begin(&self) -> bool {
        for pause in 0.. {
            let state = self.space.listener().state.lock();
            let fresh = !state.changes.may_touch(&self.range);
            self.stale.store(!fresh, ordering::Release);
            drop(state);
            if fresh || pause == NAPS + PAUSES {
                return fresh;
            }
            if pause < NAPS {
                fsleep(Delta::from_nanos(NAP_NS << pause));
            // SAFETY: no lock is held.
            } else if unsafe { bindings::msleep_interruptible(PAUSE_MS) } > 0 {
                break;
            }
        }
        false
    }

    /// Records a change. Called by the kernel, which may hold any lock.
    fn note_stale(&self) {
        // A full barrier: either this sees that the region is cached, or the thread that caches the region sees that
        // it is stale.
        self.stale.xchg(true, ordering::Full);
        if self.kept.load(ordering::Relaxed) {
            self.board.relieve();
        }
    }

    /// Records that the process's access may have changed. Called as [`note_stale`](Self::note_stale).
    fn note_protected(&self) {
        self.protected.store(true, ordering::Release);
    }

    /// Whether the calling process, which has the pages, may access them as the board does. Never waits: an access
    /// that cannot be looked up just now does not count.
    pub(super) fn is_accessible(&self, permissions: Permissions) -> bool {
        // Before the look: a change after it is seen the next time.
        if !self.protected.xchg(false, ordering::Full) {
            return true;
        }
        // SAFETY: it looks at the calling process.
        let may = unsafe {
            let (read, write) = (permissions.read(), permissions.write());
            peerlane_may_access(self.range.start, self.range.end, read, write)
        };
        match may {
            0 => self.note_stale(),
            1 => {}
            _ => self.note_protected(),
        }
        may == 1
    }

    /// Records that a cached region has the pages, or does not have them any more. It may be stale already.
    pub(super) fn note_kept(&self, kept: bool) {
        self.kept.xchg(kept, ordering::Full);
    }

    /// Returns the address space.
    pub(super) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Whether the process may see other memory there now.
    pub(super) fn is_stale(&self) -> bool {
        self.stale.load(ordering::Acquire)
    }
}

#[pinned_drop]
impl PinnedDrop for Watch {
    fn drop(self: Pin<&mut Self>) {
        let mut state = self.space.listener().state.lock();
        // SAFETY: it was inserted there.
        unsafe { bindings::interval_tree_remove(self.node.get(), &mut state.watches) };
    }
}
