// SPDX-License-Identifier: GPL-2.0

//! The regions of a context: those with a handle, and those that were given back and are kept
//! for use again.

use crate::{
    board::{Board, Need, Pinned},
    context::Context,
    ffi::peerlane_is_killed,
    hw::Failure,
    logic::{
        att::{PageSize, Permissions},
        kept::{self, Account, Kind, Limits},
        lifecycle::Epoch,
        uapi::{access, provider, register, Register},
    },
    mapping::Mapping,
    memory::{dmabuf, host, nvidia, space::Space, Memory},
    peers::Proofs,
    trace,
};
use kernel::{
    alloc::kvec::InsertError,
    current,
    mm::Mm,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
    time::{Delta, Instant, Monotonic},
};

/// By what a region that is kept is found again.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    /// Whose addresses they are, where they are a process's.
    space: usize,
    provider: u32,
    access: u32,
    address: u64,
    length: u64,
    identity: u64,
}

/// Memory that the board can reach. The board forgets it when it is dropped.
pub(crate) struct Region {
    board: Arc<Board>,
    mapping: Arc<Mapping>,
    // Behind the mapping, which must be gone first.
    memory: Memory,
    /// What counts of it, where it is another device's.
    _pinned: Option<Pinned>,
    key: Key,
    /// Keeps the key's `space` from being another's.
    _space: Option<ARef<Mm>>,
    /// Whether the board has forgotten it already.
    retired: bool,
    /// When it was given back last, among all regions.
    given_back: u64,
}

/// Counts regions that are given back.
static GIVEN_BACK: Atomic<u64> = Atomic::new(0);

impl Region {
    fn kind(&self) -> Kind {
        self.mapping.kind()
    }

    /// By [`kept::weight`].
    fn weight(&self) -> u64 {
        kept::weight(self.kind(), self.key.length)
    }

    /// What the board knows of it.
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

    fn usable(&self) -> bool {
        !self.memory.is_stale() && !self.mapping.is_revoked() && !self.mapping.is_in_doubt()
    }

    /// Says where it is, in the ATT.
    fn describe(&self, arguments: &mut Register) -> Result {
        arguments.proof = self.mapping.proof();
        self.mapping.region(|region| {
            arguments.page_shift = region.page_size().shift();
            arguments.entries = region.run().count();
            arguments.att_address = region.att_address(0).map_or(0, |address| address.raw());
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

/// For how long a region is tried again after something was let go for it: who had nothing to let go may
/// keep something meanwhile.
const PATIENCE: Delta = Delta::from_secs(1);

/// How often at least: on a busy machine one try can take longer than [`PATIENCE`].
const LEAST_TRIES: u32 = 16;

/// The regions of a context.
pub(crate) struct Regions {
    /// By handle, ascending.
    held: KVVec<Held>,
    /// Those used longest ago first.
    kept: KVVec<Region>,
    account: Account,
    limits: Limits,
    next: u32,
    /// The address space of which memory was registered last.
    space: Option<Arc<Space>>,
}

impl Regions {
    /// None.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            held: KVVec::new(),
            kept: KVVec::new(),
            account: Account::default(),
            limits,
            next: 1,
            space: None,
        }
    }

    fn position(&self, handle: u32) -> Result<usize> {
        let found = self.held.binary_search_by_key(&handle, |held| held.handle);
        found.map_err(|_| ENOENT)
    }

    /// The region of a handle.
    pub(crate) fn get(&self, handle: u32) -> Result<&Region> {
        Ok(&self.held[self.position(handle)?].region)
    }

    fn take_kept(&mut self, index: usize) -> Result<Region> {
        let region = self.kept.remove(index).map_err(|_| ENOENT)?;
        self.account.remove(region.kind(), region.key.length);
        Ok(region)
    }

    /// Looks for a region among those that are kept and gives it a handle: at once, as a restart of
    /// the board writes the entries of what it finds here.
    fn reuse(&mut self, key: &Key, arguments: &mut Register) -> Result<bool> {
        let matches = |region: &Region| region.key == *key && region.usable();
        let Some(index) = self.kept.iter().position(matches) else {
            return Ok(false);
        };
        self.kept[index].describe(arguments)?;
        self.held.reserve(1, GFP_KERNEL_ACCOUNT)?;
        let region = self.take_kept(index)?;
        // There is room.
        arguments.handle = self.hold(region).map_err(|(_, error)| error)?;
        Ok(true)
    }

    /// Gives a region a handle. Handles are not used again soon.
    fn hold(&mut self, region: Region) -> Result<u32, (Region, Error)> {
        if let Err(error) = self.held.reserve(1, GFP_KERNEL_ACCOUNT) {
            return Err((region, error.into()));
        }
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
            // Not reached: room was made above, and the index was found.
            Err(InsertError::IndexOutOfBounds(held) | InsertError::OutOfCapacity(held)) => {
                Err((held.region, ENOMEM))
            }
        }
    }

    /// Has the board know a new region, and gives it a handle, in one go: a restart of the board
    /// comes before, or finds the region.
    fn admit(&mut self, region: Region) -> Result<u32, (Region, Error)> {
        match region.mapping.publish() {
            Ok(()) => self.hold(region),
            Err(error) => Err((region, error)),
        }
    }

    /// Takes a handle away. The region is kept if it may be, until [`take_excess`](Self::take_excess);
    /// else it comes out, and must be dropped without the lock.
    fn release(&mut self, handle: u32, keep: bool) -> Result<Option<Region>> {
        let index = self.position(handle)?;
        let room = self.kept.reserve(1, GFP_KERNEL_ACCOUNT).is_ok();
        let mut region = self.held.remove(index).map_err(|_| ENOENT)?.region;
        if !(keep && room && region.usable()) {
            return Ok(Some(region));
        }
        self.account.add(region.kind(), region.key.length);
        region.given_back = GIVEN_BACK.fetch_add(1, ordering::Relaxed);
        // There is room.
        self.kept.push(region, GFP_KERNEL_ACCOUNT)?;
        Ok(None)
    }

    /// Whether more is kept than may be.
    fn has_excess(&self) -> bool {
        let over = |region: &Region| self.account.must_go(&self.limits, region.kind());
        self.kept.iter().any(over)
    }

    /// What is kept beyond the limits, the longest kept first; it must be dropped without the lock.
    fn take_excess(&mut self) -> KVVec<Region> {
        let mut taken = KVVec::new();
        loop {
            let over = |region: &Region| self.account.must_go(&self.limits, region.kind());
            let index = self.kept.iter().position(over);
            // What finds no room in the list goes the next time.
            let (Some(index), true) = (index, taken.reserve(1, GFP_KERNEL).is_ok()) else {
                return taken;
            };
            if let Ok(region) = self.take_kept(index) {
                // There is room.
                let _ = taken.push(region, GFP_KERNEL);
            }
        }
    }

    /// How much the machine would get back, by [`kept::weight`].
    pub(crate) fn weight(&self) -> u64 {
        self.account.weight()
    }

    /// Where the one is that has been kept longest, of those that somebody else can let go.
    fn oldest_of_weight(&self) -> Option<usize> {
        self.kept.iter().position(|region| region.weight() > 0)
    }

    /// When that was given back.
    pub(crate) fn oldest(&self) -> Option<u64> {
        Some(self.kept[self.oldest_of_weight()?].given_back)
    }

    /// It, and its weight. It must be dropped without the lock.
    pub(crate) fn take_oldest(&mut self) -> Option<(Region, u64)> {
        let region = self.take_kept(self.oldest_of_weight()?).ok()?;
        let weight = region.weight();
        Some((region, weight))
    }

    /// Those of which `wanted` says so among all that are kept; they must be dropped without the lock.
    fn take_kept_if(&mut self, wanted: impl Fn(&Region) -> bool) -> KVVec<Region> {
        let mut taken = KVVec::new();
        let mut index = 0;
        while index < self.kept.len() {
            if !wanted(&self.kept[index]) {
                index += 1;
            } else if taken.reserve(1, GFP_KERNEL).is_err() {
                // The rest stays: a region is dropped without the lock.
                break;
            } else if let Ok(region) = self.take_kept(index) {
                // There is room.
                let _ = taken.push(region, GFP_KERNEL);
            }
        }
        taken
    }

    /// All that are kept; they must be dropped without the lock.
    fn take_all_kept(&mut self) -> KVVec<Region> {
        self.account = Account::default();
        core::mem::take(&mut self.kept)
    }

    /// Writes the entries of all once more.
    pub(crate) fn restore(&self, epoch: Epoch) -> Result<(), Failure> {
        let held = self.held.iter().map(|held| &held.region);
        Iterator::chain(held, &self.kept).try_for_each(|region| region.mapping.restore(epoch))
    }

    /// Regions and bytes that have a handle, and those that are kept.
    pub(crate) fn usage(&self) -> ([u32; 2], [u64; 2]) {
        let held: u64 = self.held.iter().map(|held| held.region.key.length).sum();
        (
            [self.held.len() as u32, self.account.count()],
            [held, self.account.bytes()],
        )
    }
}

/// What the bits of `access` permit.
fn permissions(bits: u32) -> Result<Permissions> {
    match bits {
        access::READ => Ok(Permissions::Read),
        access::WRITE => Ok(Permissions::Write),
        bits if bits == access::READ | access::WRITE => Ok(Permissions::ReadWrite),
        _ => Err(EINVAL),
    }
}

impl Context {
    /// Makes memory reachable, or finds it among what is kept.
    pub(crate) fn register(&self, arguments: &mut Register) -> Result {
        if arguments.length == 0 || arguments.flags & !register::PROVED_ONLY != 0 {
            return Err(EINVAL);
        }
        // Longer ones have no place in the ATT, whatever their pages are.
        let entries = u64::from(self.board.capabilities.att_entries());
        if arguments.length > entries << PageSize::Mib2.shift() {
            return Err(ENOSPC);
        }
        let permissions = permissions(arguments.access)?;
        let buffer = match arguments.provider {
            provider::DMABUF => Some(dmabuf::Buffer::from_fd(arguments.fd)?),
            provider::HOST | provider::NVIDIA if arguments.fd == -1 => None,
            provider::HOST | provider::NVIDIA => return Err(EINVAL),
            _ => return Err(EOPNOTSUPP),
        };
        if let Some(buffer) = &buffer {
            let end = arguments.address.checked_add(arguments.length);
            if end.is_none_or(|end| end > buffer.length()) {
                return Err(EINVAL);
            }
        }
        let space = match buffer {
            Some(_) => None,
            None => Some(ARef::<Mm>::from(&**current!().mm().ok_or(EINVAL)?)),
        };
        let key = Key {
            space: space.as_ref().map_or(0, |space| space.as_raw() as usize),
            provider: arguments.provider,
            access: arguments.access,
            address: arguments.address,
            length: arguments.length,
            identity: buffer
                .as_ref()
                .map_or(arguments.identity, dmabuf::Buffer::identity),
        };
        let wanted = Wanted {
            key,
            space,
            permissions,
            may_risk: arguments.flags & register::PROVED_ONLY == 0,
            buffer,
        };
        // A region that no context knows must not outlive the gate.
        let inside = self.board.gate.enter()?;
        arguments.found = u32::from(self.find(&wanted.key, arguments)?);
        if arguments.found != 0 {
            trace::registered(&self.board, self.channel, arguments);
            return Ok(());
        }
        drop(inside);
        // What is kept makes room: ours first, then others'.
        let mut alone = true;
        let mut since = None;
        let mut tries = 0;
        let mut need = self.board.need();
        loop {
            let departures = self.board.departures();
            let error = match self.make(&wanted, arguments) {
                Err(error) if [ENOSPC, ENOMEM, EDQUOT, ENOBUFS].contains(&error) => error,
                done => return done,
            };
            let since: &Instant<Monotonic> = since.get_or_insert_with(Instant::now);
            tries += 1;
            if since.elapsed() > PATIENCE && tries > LEAST_TRIES {
                return Err(error);
            }
            // SAFETY: it looks at the calling thread.
            if unsafe { peerlane_is_killed() } {
                return Err(EINTR);
            }
            let _inside = self.board.gate.enter()?;
            let went = self.make_room(&wanted, core::mem::take(&mut alone), error, &mut need)?;
            // What was kept when we were refused, and is not any more, may be all that we need.
            if !went && departures == self.board.departures() {
                return Err(error);
            }
        }
    }

    /// Lets go what we keep, if `ours_first` and if there is something; else what any context keeps of that
    /// of which a region has found too little, and has those contexts keep nothing more. Says whether
    /// there was something. One at a time does this: what another lets go is gone afterwards.
    fn make_room(
        &self,
        wanted: &Wanted,
        ours_first: bool,
        error: Error,
        need: &mut Need<'_>,
    ) -> Result<bool> {
        let payer = host::Payer::caller()?;
        let exporter = wanted.buffer.as_ref().map(dmabuf::Buffer::exporter);
        let mut went = false;
        self.board.let_go(|| {
            went = ours_first && self.let_kept_go();
            if went {
                return;
            }
            self.board.for_each_user(|other| {
                let gone = if [ENOMEM, ENOBUFS].contains(&error) {
                    let helps = |region: &Region| match error {
                        // Of the process's locked memory, or its user's, whoever has opened the board.
                        error if error == ENOMEM => region.memory.weighs_on(&payer),
                        // Of a GPU's BAR.
                        _ => region.memory.fills_the_bar_of(exporter),
                    };
                    let kept = other.regions.lock().take_kept_if(helps);
                    let gone = !kept.is_empty();
                    Region::retire(&self.board, kept);
                    gone
                } else {
                    // Of a user's part of the board, other contexts of the same user have something.
                    (error == ENOSPC || self.has_user_of(other)) && other.let_kept_go()
                };
                if gone {
                    need.press(other.channel);
                    went = true;
                }
            });
        });
        Ok(went)
    }

    /// Unmaps what is kept, for its entries. Says whether there was something. NVIDIA's pages of another
    /// process stay held ([`crate::memory::nvidia`]).
    fn let_kept_go(&self) -> bool {
        let kept = self.regions.lock().take_all_kept();
        let went = !kept.is_empty();
        Region::retire(&self.board, kept);
        went
    }

    /// Takes all regions away, and whatever else is held for a process's memory. They must be dropped
    /// without a lock.
    pub(crate) fn take_regions(&self) -> KVVec<Region> {
        let (mut regions, held, space) = {
            let mut regions = self.regions.lock();
            let kept = regions.take_all_kept();
            (kept, core::mem::take(&mut regions.held), regions.space.take())
        };
        drop(space);
        for held in held {
            // A region for which there is no room is dropped, and so forgotten by the board.
            let _ = regions.push(held.region, GFP_KERNEL);
        }
        regions
    }

    /// Looks for a region among those that are kept, and drops those that are of no use any more if it is
    /// not there.
    fn find(&self, key: &Key, arguments: &mut Register) -> Result<bool> {
        let mut regions = self.regions.lock();
        let found = regions.reuse(key, arguments)?;
        if found {
            self.board.kept_less();
        }
        let is_useless = |region: &Region| !region.usable();
        // Who finds what it looks for does not look through the rest.
        let some_are = !found && regions.kept.iter().any(is_useless);
        drop(regions);
        if some_are {
            self.board.let_go(|| {
                let useless = self.regions.lock().take_kept_if(is_useless);
                Region::retire(&self.board, useless);
            });
        }
        Ok(found)
    }

    /// Makes sure that what the board wrote to a region has arrived.
    pub(crate) fn flush(&self, handle: u32) -> Result {
        let mapping = self.regions.lock().get(handle)?.mapping().clone();
        Ok(mapping.flush()?)
    }

    /// Takes a handle away, and says whether the region is kept.
    pub(crate) fn give_back(&self, handle: u32, keep: bool) -> Result<bool> {
        let keep = keep && !self.board.is_pressed(self.channel);
        let mut regions = self.regions.lock();
        let dropped = regions.release(handle, keep)?;
        // The one that was given back just now is the newest.
        let newest = regions.kept.last().map(|region| region.given_back);
        let has_excess = regions.has_excess();
        drop(regions);
        let mut kept = dropped.is_none();
        drop(dropped);
        if has_excess {
            self.board.let_go(|| {
                let excess = self.regions.lock().take_excess();
                kept &= !excess.iter().any(|region| Some(region.given_back) == newest);
                Region::retire(&self.board, excess);
            });
        }
        Ok(kept)
    }

    /// The calling process's address space. Who registers again need not wait for its lock.
    fn space_of_caller(&self) -> Result<Arc<Space>> {
        let last = self.regions.lock().space.clone();
        if let Some(space) = last.filter(|space| space.is_callers()) {
            return Ok(space);
        }
        Space::of_caller()
    }

    /// Makes a region and hands it out.
    fn make(&self, wanted: &Wanted, arguments: &mut Register) -> Result {
        let Key {
            address, length, ..
        } = wanted.key;
        let permissions = wanted.permissions;
        // Pages may take as long to come as their owner likes: a user's page fault handler, a
        // file system in user space. Nobody waits for that inside of the gate.
        let (space, pages) = match wanted.key.provider {
            provider::HOST => {
                let space = || self.space_of_caller();
                let pages = host::Pinned::new(space, address, length, permissions)?;
                (Some(pages.space().clone()), Some(pages))
            }
            _ => (None, None),
        };
        let inside = self.board.gate.enter()?;
        if space.is_some() {
            let before = core::mem::replace(&mut self.regions.lock().space, space);
            drop(before);
        }
        let device = inside.device();
        let kind = match wanted.key.provider {
            provider::HOST => Kind::Host,
            provider::NVIDIA => Kind::Nvidia,
            _ => Kind::DmaBuf,
        };
        let pinned = match &wanted.buffer {
            // All of it is pinned, however little is asked for.
            Some(buffer) => Some(self.board.pin(self.channel, buffer.length())?),
            None if kind == Kind::Nvidia => Some(self.board.pin(self.channel, length)?),
            None => None,
        };
        let (board, events) = (self.board.clone(), self.events.clone());
        let mapping = Mapping::new(board, events, self.channel, kind)?;
        let any_distance = self.board.settings.any_distance;
        let (memory, segments, offset) = match (&wanted.buffer, pages) {
            (Some(buffer), _) => {
                let (import, segments) = dmabuf::Import::new(
                    &inside,
                    buffer.clone(),
                    permissions,
                    any_distance,
                    mapping.clone(),
                )?;
                (Memory::DmaBuf { import }, segments, address)
            }
            (None, Some(pages)) => {
                let (pages, segments, offset) = host::Pages::new(device, pages)?;
                (Memory::Host(pages), segments, offset)
            }
            (None, None) => {
                let (pages, segments, offset) = nvidia::Pages::new(
                    device,
                    address,
                    length,
                    permissions,
                    any_distance,
                    mapping.clone(),
                )?;
                (Memory::Nvidia { _pages: pages }, segments, offset)
            }
        };
        let mut region = Region {
            board: self.board.clone(),
            mapping,
            memory,
            _pinned: pinned,
            key: wanted.key,
            _space: wanted.space.clone(),
            retired: false,
            given_back: 0,
        };
        let placed = region
            .mapping
            .place(segments, offset, length, permissions);
        // The board never hears of one that has no place.
        region.retired = placed.is_err();
        placed?;
        if permissions.read() && kind.is_peer() && self.board.proves_peers() {
            let prove = |proofs: &mut Proofs<'_>| region.mapping.prove(proofs);
            self.board.with_proofs(device, wanted.may_risk, prove)?;
        }
        region.describe(arguments)?;
        let held = self.regions.lock().admit(region);
        // A region that was refused is dropped without the lock.
        arguments.handle = held.map_err(|(_, error)| error)?;
        trace::registered(&self.board, self.channel, arguments);
        Ok(())
    }
}

/// A region that a caller wants.
struct Wanted {
    key: Key,
    space: Option<ARef<Mm>>,
    permissions: Permissions,
    /// A first read from a device may be tried.
    may_risk: bool,
    buffer: Option<dmabuf::Buffer>,
}
