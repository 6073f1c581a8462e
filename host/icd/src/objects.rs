//! Handles and lifetimes.
//!
//! - One object exists for each pair of kind and vendor's handle, in an arena of its own. A comparison and a load find
//!   out whether a number is one of our handles, and a stale handle is not a wild pointer.
//! - An object lives as long as the program has references to it or another object needs it: children hold their
//!   parents, callbacks their object.
//! - It is invalidated before the vendor's release is called, because the vendor may use the address for another
//!   thread's object at once.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use parking_lot::Mutex;

pub(crate) mod record;

use record::Record;

/// A handle: the program's or the vendor's.
pub(crate) type Handle = *mut c_void;

/// The type of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Kind {
    Platform = 1,
    Device,
    Context,
    Queue,
    Mem,
    Program,
    Kernel,
    Event,
    Sampler,
    Semaphore,
}

impl Kind {
    /// Returns the kind for the name of its type in C. Vendors report these names.
    pub(crate) fn of_type(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"cl_platform_id" => Self::Platform,
            b"cl_device_id" => Self::Device,
            b"cl_context" => Self::Context,
            b"cl_command_queue" => Self::Queue,
            b"cl_mem" => Self::Mem,
            b"cl_program" => Self::Program,
            b"cl_kernel" => Self::Kernel,
            b"cl_event" => Self::Event,
            b"cl_sampler" => Self::Sampler,
            _ => return None,
        })
    }
}

/// The target of a program's handle. Dispatch table and loader's word are at the places of `cl_khr_icd` 1.0 and 2.0.
#[repr(C, align(64))]
pub(crate) struct Object {
    dispatch: AtomicPtr<c_void>,
    loaders_word: AtomicPtr<c_void>,
    raw: AtomicPtr<c_void>,
    /// Low half: the program's references. Next 31 bits: the number of other users. Top bit: never freed.
    count: AtomicU64,
    /// 0: a free slot.
    kind: AtomicU32,
    /// 1 while it lives, and 1 for each callback that names it after its end. At 0 the slot is free.
    pins: AtomicU32,
    parent: AtomicPtr<Object>,
    held: AtomicPtr<Vec<Reference>>,
    /// The copy of an event, or null.
    record: AtomicPtr<Record>,
}

type Reference = &'static Object;

const SIZE: usize = size_of::<Object>();
const NEEDED: u64 = 1 << 32;
const ROOT: u64 = 1 << 63;
/// Most objects at a time: 1 GiB of addresses, of which only those in use take memory.
const SLOTS: usize = 1 << 24;

/// The first slot. Before [`set_up`] it is an address that no handle of a program can have: the middle of the address
/// space is not usable.
static BASE: AtomicUsize = AtomicUsize::new(1 << 63);
/// The dispatch table of all objects.
static DISPATCH: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// Slots that were ever used.
static USED: AtomicU32 = AtomicU32::new(0);

/// A hash by multiplication, which is enough for addresses.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, value: usize) {
        let value = value as u64 ^ self.0;
        self.0 = value.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (value >> 32);
    }
}

/// A part of the map from the vendor's handles to slots, with the free slots of this part.
#[derive(Default)]
struct Shard {
    slots: HashMap<usize, u32, BuildHasherDefault<Mix>>,
    free: VecDeque<u32>,
}

static SHARDS: [Mutex<Option<Shard>>; 64] = [const { Mutex::new(None) }; 64];

/// User-space addresses of x86-64 have 57 bits at most.
fn key(raw: Handle, kind: u32) -> usize {
    raw as usize | (kind as usize) << 57
}

fn shard(key: usize) -> &'static Mutex<Option<Shard>> {
    &SHARDS[(key >> 4 ^ key >> 10 ^ key >> 57) & 63]
}

fn slot(index: u32) -> Reference {
    let address = BASE.load(Relaxed) + index as usize * SIZE;
    // SAFETY: a slot of the arena, which stays mapped; all of it is atomic, and zeros are a free
    // object.
    unsafe { &*with_exposed_provenance_mut::<Object>(address) }
}

/// Reserves the arena for objects with this dispatch table. Returns whether there is one.
pub(crate) fn set_up(dispatch: *mut c_void) -> bool {
    // SAFETY: a new mapping of no file.
    let base = unsafe {
        libc::mmap(
            null_mut(),
            SLOTS * SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return false;
    }
    DISPATCH.store(dispatch, Relaxed);
    BASE.store(base.expose_provenance(), Release);
    true
}

/// Returns the object of a handle, if it is a live one of ours.
#[inline]
fn ours(handle: Handle) -> Option<Reference> {
    let offset = (handle as usize).wrapping_sub(BASE.load(Relaxed));
    if offset >= SLOTS * SIZE || !offset.is_multiple_of(SIZE) {
        return None;
    }
    let object = slot((offset / SIZE) as u32);
    (object.kind.load(Acquire) != 0).then_some(object)
}

impl Object {
    fn handle(&self) -> Handle {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Returns the index of its slot.
    fn index(&self) -> u32 {
        ((self.handle() as usize - BASE.load(Relaxed)) / SIZE) as u32
    }

    fn need(&self) {
        self.count.fetch_add(NEEDED, Relaxed);
    }

    fn is_root(&self) -> bool {
        self.count.load(Relaxed) & ROOT != 0
    }

    /// Whether this keeps the other object alive.
    fn keeps(&self, other: Reference) -> bool {
        let mut parent = self.parent.load(Relaxed);
        // SAFETY: objects in the chain of parents are slots of the arena.
        while let Some(object) = unsafe { parent.as_ref() } {
            if std::ptr::eq(object, other) {
                return true;
            }
            parent = object.parent.load(Relaxed);
        }
        let _lock = HELD.lock();
        // SAFETY: the list is changed under the lock only.
        let held = unsafe { self.held.load(Relaxed).as_ref() };
        held.is_some_and(|held| held.iter().any(|object| std::ptr::eq(*object, other)))
    }

    fn hold_too(&self, more: Vec<Reference>) {
        if more.is_empty() {
            return;
        }
        let _lock = HELD.lock();
        let held = self.held.load(Relaxed);
        // SAFETY: the list is changed under the lock only.
        match unsafe { held.as_mut() } {
            Some(held) => held.extend(more),
            None => (self.held).store(Box::into_raw(Box::new(more)), Relaxed),
        }
    }
}

/// Guards all lists of objects that an object holds in addition to its parent, and the records of copies.
static HELD: Mutex<()> = Mutex::new(());

/// Returns the vendor's handle. It is null for all numbers that are not a live handle of this kind; the vendor then
/// refuses the call with the error of the specification.
#[inline]
pub(crate) fn raw(handle: Handle, kind: Kind) -> Handle {
    match ours(handle) {
        Some(object) if object.kind.load(Relaxed) == kind as u32 => object.raw.load(Relaxed),
        _ => null_mut(),
    }
}

/// Returns the vendor's handle, if it is a live handle of one of these kinds.
#[inline]
pub(crate) fn raw_of(handle: Handle, kinds: &[Kind]) -> Option<Handle> {
    let object = ours(handle)?;
    let kind = object.kind.load(Relaxed);
    (kinds.iter().any(|k| *k as u32 == kind)).then(|| object.raw.load(Relaxed))
}

/// Whether a number is the address of an object that was made, live or not.
pub(crate) fn was_ours(handle: Handle) -> bool {
    let offset = (handle as usize).wrapping_sub(BASE.load(Relaxed));
    offset.is_multiple_of(SIZE) && offset / SIZE < USED.load(Relaxed) as usize
}

/// Whether a number is the address of an object of ours, live or not.
pub(crate) fn is_in_arena(handle: Handle) -> bool {
    (handle as usize).wrapping_sub(BASE.load(Relaxed)) < SLOTS * SIZE
}

/// Makes an event that of a copy in a queue; it keeps the queue.
pub(crate) fn attach(event: Handle, record: Arc<Record>, queue: Handle) {
    let (Some(event), Some(queue)) = (ours(event), ours(queue)) else {
        return;
    };
    queue.need();
    event.hold_too(vec![queue]);
    let before = event.record.swap(Arc::into_raw(record).cast_mut(), Release);
    debug_assert!(before.is_null(), "an event is of one copy");
}

/// Returns the copy of an event.
#[inline]
pub(crate) fn record(event: Handle) -> Option<Arc<Record>> {
    let event = ours(event)?;
    if event.record.load(Acquire).is_null() {
        return None;
    }
    let _lock = HELD.lock();
    let record = event.record.load(Acquire);
    // SAFETY: made by `Arc::into_raw`, and taken away under the lock only.
    (!record.is_null()).then(|| unsafe {
        Arc::increment_strong_count(record);
        Arc::from_raw(record)
    })
}

/// Returns the handle of the live object that a vendor's handle has; null if it has none.
pub(crate) fn known(raw: Handle, kind: Kind) -> Handle {
    let key = key(raw, kind as u32);
    let guard = shard(key).lock();
    let index = guard.as_ref().and_then(|shard| shard.slots.get(&key));
    index.map_or(null_mut(), |&index| slot(index).handle())
}

/// Returns the number of live objects.
pub(crate) fn live() -> u64 {
    let of = |shard: &Mutex<Option<Shard>>| shard.lock().as_ref().map_or(0, |s| s.slots.len());
    SHARDS.iter().map(of).sum::<usize>() as u64
}

/// Returns the parent of an object.
pub(crate) fn parent(handle: Handle) -> Handle {
    ours(handle).map_or(null_mut(), |object| object.parent.load(Relaxed).cast())
}

/// The loader's word of the last platform that got one, for objects without a platform. Words of several platforms lead
/// to the same functions.
static LOADERS_WORD: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Sets the loader's word of an object; objects that are made of it have it, too (`cl_khr_icd` 2.0).
pub(crate) fn set_loaders_word(handle: Handle, kind: Kind, word: *mut c_void) -> bool {
    match ours(handle) {
        Some(object) if object.kind.load(Relaxed) == kind as u32 => {
            object.loaders_word.store(word, Release);
            LOADERS_WORD.store(word, Release);
            true
        }
        _ => false,
    }
}

/// Finds or makes the one object of a vendor's handle, and adds to its count. `None` when the
/// arena is full.
fn wrap(raw: Handle, kind: Kind, owner: Handle, add: u64) -> Option<Reference> {
    let key = key(raw, kind as u32);
    let mut guard = shard(key).lock();
    let shard = guard.get_or_insert_default();
    let known = shard.slots.get(&key).map(|&index| slot(index));
    let known = known.filter(|object| {
        // The program has no reference to it, and the vendor has made another event there: the only user left is a
        // callback that the vendor has dropped with the event.
        let gone = kind == Kind::Event && add == 1 && object.count.load(Relaxed) as u32 == 0;
        if gone {
            object.raw.store(null_mut(), Relaxed);
            shard.slots.remove(&key);
        }
        !gone
    });
    if let Some(object) = known {
        match add {
            // An answer may have named it before.
            ROOT => object.count.fetch_or(ROOT, Relaxed),
            add => object.count.fetch_add(add, Relaxed),
        };
        // Made for an older loader of the same process.
        if object.loaders_word.load(Relaxed).is_null() {
            object
                .loaders_word
                .store(LOADERS_WORD.load(Acquire), Release);
        }
        return Some(object);
    }
    let index = match shard.free.pop_front() {
        Some(index) => index,
        None => {
            let index = USED.fetch_add(1, Relaxed);
            if index as usize >= SLOTS {
                USED.fetch_sub(1, Relaxed);
                return None;
            }
            index
        }
    };
    let object = slot(index);
    let owner = ours(owner);
    let word = owner.map_or_else(
        || LOADERS_WORD.load(Acquire),
        |o| o.loaders_word.load(Acquire),
    );
    object.dispatch.store(DISPATCH.load(Relaxed), Relaxed);
    object.loaders_word.store(word, Relaxed);
    object.raw.store(raw, Relaxed);
    // Sub-devices are known from their creation on. A device that only an answer has named is a platform's device, and
    // these are never freed.
    let whole = add == NEEDED && (kind == Kind::Device || kind == Kind::Platform);
    object
        .count
        .store(add | if whole { ROOT } else { 0 }, Relaxed);
    object.pins.store(1, Relaxed);
    object.held.store(null_mut(), Relaxed);
    object.record.store(null_mut(), Relaxed);
    let parent = owner.filter(|_| add != ROOT).map_or(null_mut(), |owner| {
        owner.need();
        std::ptr::from_ref(owner).cast_mut()
    });
    object.parent.store(parent, Relaxed);
    object.kind.store(kind as u32, Release);
    shard.slots.insert(key, index);
    Some(object)
}

/// Objects that a new one keeps in addition to its owner.
pub(crate) struct Held(Vec<Reference>);

impl Held {
    /// Keeps no objects.
    pub(crate) fn nothing() -> Self {
        Self(Vec::new())
    }

    /// Keeps the objects of a list of handles.
    ///
    /// # Safety
    /// `handles` is null or has `count` elements.
    pub(crate) unsafe fn all(count: u32, handles: *const Handle) -> Self {
        if handles.is_null() {
            return Self::nothing();
        }
        // SAFETY: the caller's promise.
        let handles = unsafe { std::slice::from_raw_parts(handles, count as usize) };
        let held = handles.iter().filter_map(|handle| ours(*handle));
        Self(held.inspect(|object| object.need()).collect())
    }
}

/// Returns the handle of an object that the vendor made, with one reference of the program's. It is null when the arena
/// is full.
pub(crate) fn adopt(raw: Handle, kind: Kind, owner: Handle, held: Held) -> Handle {
    match wrap(raw, kind, owner, 1) {
        Some(object) => {
            object.hold_too(held.0);
            object.handle()
        }
        None => {
            for object in held.0 {
                give_up(object, NEEDED);
            }
            null_mut()
        }
    }
}

/// Returns the handle of a platform, or of a device of `clGetDeviceIDs`: these are never freed.
pub(crate) fn root(raw: Handle, kind: Kind, owner: Handle, _: Held) -> Handle {
    match raw.is_null() {
        true => raw,
        false => wrap(raw, kind, owner, ROOT).map_or(null_mut(), Object::handle),
    }
}

/// Returns the handle of an object that an answer names: the existing one or a new one. It lives as long as the object
/// that was asked.
pub(crate) fn named(raw: Handle, kind: Kind, asked: Handle) -> Handle {
    if raw.is_null() {
        return raw;
    }
    let Some(object) = wrap(raw, kind, null_mut(), NEEDED) else {
        return null_mut();
    };
    match ours(asked) {
        Some(asked)
            if !object.is_root() && !std::ptr::eq(asked, object) && !asked.keeps(object) =>
        {
            asked.hold_too(vec![object]);
        }
        _ => drop(give_up(object, NEEDED)),
    }
    object.handle()
}

/// An object that must outlast the vendor's release of another one.
pub(crate) type Later = Option<Arc<Record>>;

/// Subtracts a part of an object's count. After the last part the object is not ours any more.
fn give_up(object: Reference, part: u64) -> Later {
    let mut count = object.count.load(Relaxed);
    while count > part {
        let less = count - part;
        match (object.count).compare_exchange_weak(count, less, AcqRel, Relaxed) {
            Ok(_) => return None,
            Err(now) => count = now,
        }
    }
    let key = key(object.raw.load(Relaxed), object.kind.load(Relaxed));
    give_up_last(object, key, part)
}

/// Subtracts a part that may be the last one. `key` is the object's, or was it a moment ago.
fn give_up_last(object: Reference, key: usize, part: u64) -> Later {
    {
        // The lock under which the object is found.
        let mut guard = shard(key).lock();
        if object.count.fetch_sub(part, AcqRel) != part {
            return None;
        }
        object.kind.store(0, Release);
        // Another thread may have wrapped the vendor's next event at this address since the key was read.
        if let Some(shard) = guard.as_mut()
            && shard.slots.get(&key) == Some(&object.index())
        {
            shard.slots.remove(&key);
        }
    }
    // SAFETY: a parent is a slot of the arena.
    if let Some(parent) = unsafe { object.parent.swap(null_mut(), Relaxed).as_ref() } {
        give_up(parent, NEEDED);
    }
    let held = object.held.swap(null_mut(), Relaxed);
    if !held.is_null() {
        // SAFETY: made by `Box::into_raw`, and no other code has the object any more.
        for held in *unsafe { Box::from_raw(held) } {
            give_up(held, NEEDED);
        }
    }
    let record = {
        let _lock = HELD.lock();
        object.record.swap(null_mut(), Relaxed)
    };
    // SAFETY: made by `Arc::into_raw`, and code that reads it without the lock has a count of its own.
    let later = (!record.is_null()).then(|| unsafe { Arc::from_raw(record) });
    unpin(object, key);
    later
}

fn unpin(object: Reference, key: usize) {
    if object.pins.fetch_sub(1, AcqRel) != 1 {
        return;
    }
    if let Some(shard) = shard(key).lock().as_mut() {
        shard.free.push_back(object.index());
    }
}

/// Counts a reference that the vendor has added.
pub(crate) fn retained(handle: Handle) {
    if let Some(object) = ours(handle).filter(|object| !object.is_root()) {
        object.count.fetch_add(1, Relaxed);
    }
}

/// Prepares a release. The vendor's release is called with the handle that this returns; the caller keeps the rest
/// until that call has returned. The handle is null, which the vendor refuses, if the program has no reference:
/// otherwise the release would take a reference of another user.
pub(crate) fn releasing(handle: Handle, kind: Kind) -> (Handle, Later) {
    let object = ours(handle).filter(|object| object.kind.load(Relaxed) == kind as u32);
    let Some(object) = object else {
        return (null_mut(), None);
    };
    let raw = object.raw.load(Relaxed);
    match object.count.load(Relaxed) {
        count if count & ROOT != 0 => (raw, None),
        count if count as u32 == 0 => (null_mut(), None),
        _ => (raw, give_up(object, 1)),
    }
}

/// The part of an object that a callback needs until it has run.
pub(crate) struct Need {
    object: Reference,
    key: usize,
    /// Only the slot: the callback comes after the object's end.
    slot_only: bool,
}

impl Need {
    /// Makes the need for a live handle.
    pub(crate) fn of(handle: Handle, slot_only: bool) -> Option<Self> {
        let object = ours(handle)?;
        let key = key(object.raw.load(Relaxed), object.kind.load(Relaxed));
        match slot_only {
            true => {
                object.pins.fetch_add(1, AcqRel);
            }
            false => object.need(),
        }
        Some(Self {
            object,
            key,
            slot_only,
        })
    }

    /// Makes the need for the object of a vendor's handle, and the object if it does not exist yet; with the program's
    /// reference if the call that makes it has not returned yet (`early`). Returns `None` where there is no such
    /// handle, for example for a program that could not be linked.
    pub(crate) fn of_raw(raw: Handle, kind: Kind, owner: Handle, early: bool) -> Option<Self> {
        if raw.is_null() {
            return None;
        }
        let object = wrap(raw, kind, owner, NEEDED + u64::from(early))?;
        let key = key(raw, kind as u32);
        Some(Self {
            object,
            key,
            slot_only: false,
        })
    }

    /// Returns the handle that the callback gets.
    pub(crate) fn handle(&self) -> Handle {
        self.object.handle()
    }

    /// Whether it is for the object of this vendor's handle.
    pub(crate) fn is_of(&self, raw: Handle) -> bool {
        self.object.raw.load(Relaxed) == raw
    }

    /// Ends the need.
    pub(crate) fn end(self) -> Later {
        match self.slot_only {
            true => {
                unpin(self.object, self.key);
                None
            }
            false => give_up(self.object, NEEDED),
        }
    }
}

#[cfg(test)]
mod tests;
